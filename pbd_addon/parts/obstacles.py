"""Floors, walls, colliders, and other cloth: where they are, and what contact remembers from frame to frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..arrays.arguments import FARTHEST
from ..constraints import SeamConstraints
from ..contact.stretch_coupling import couple_stretch_and_contact, strained_particles
from ..model.model import Model, Place, State, Targets
from ..model.part import Acting, Frame, Kept, Part, Plan, Substep, remembers
from ..settings.fields import Checked, chooses, multiplies, setting, varies


def as_array(planes: Sequence[Place]) -> np.ndarray:
    """Planes, a point and a unit normal each, as (planes, 2, 3) float64 [m]."""
    return np.array(planes, float).reshape(-1, 2, 3)


def _are_errors(array: np.ndarray, first: np.ndarray) -> bool:
    """Whether an array can be prediction errors: NaN where nothing is known."""
    return array.shape == first.shape and bool((np.isnan(array) | (np.abs(array) <= FARTHEST)).all())


@dataclasses.dataclass(frozen=True)
class Touch(Checked):
    """How a surface meets others."""

    thickness: float = setting(
        0.002,
        "Distance",
        "How far the cloth stays away from obstacles. Cotton 0.001 m, velvet 0.002 m",
        unit="m",
        low=0.0,
        soft_high=0.02,
    )
    friction: float = setting(
        0.4,
        "Friction",
        "Coulomb coefficient against obstacles, other cloth and itself. Silk 0.2, cotton 0.5, rubber 1",
        low=0.0,
        soft_high=2.0,
    )
    self_collision: bool = setting(
        True,
        "Self Collision",
        "Keep the layers of this object apart where it folds onto itself",
        rigid=False,
    )
    join_borders: bool = setting(
        True,
        "Join Borders",
        "Make borders that lie at the same place one cloth, as UV seams of imported meshes are. Key it off to let "
        "them part",
        rigid=False,
    )
    self_distance: float = setting(
        0.0,
        "Self Distance",
        "How far layers of cloth stay away from each other. Usually 0 m: half the length of a usual edge is taken. "
        "Less than a fifth of an edge may not hold",
        unit="m",
        low=0.0,
        soft_high=0.02,
    )


class Obstacles(Part):
    """Planes and contact, which are fields of the model: everything else asks for them.

    They remember where planes (point and unit normal, (planes, 2, 3) [m]) and colliders were at the end of the last
    frame; prediction errors, see `ContactConstraints.prediction_error`; which colliders are around or through which
    bodies, see `ContactConstraints.penetrated`; and whether nothing intersects, () bool, False if that is unknown.
    """

    FIELDS = Touch
    MAPS = varies(
        friction=multiplies("Friction", "Friction", 0.0, "A slippery patch 0.1, a rubber sole 3"),
        collision=chooses(
            "Object Collisions",
            "What meets obstacles, floor and other cloth",
            "Vertex group of what meets obstacles, floor and other cloth: weights from 0.5 on. "
            "A face with a vertex below passes through. None: all of it",
        ),
        self_collision=chooses(
            "Self Collisions",
            "What meets the rest of the same cloth",
            "Vertex group of what meets the rest of the same cloth: weights from 0.5 on. "
            "A face with a vertex below passes through. None: all of it",
        ),
    )
    name = "obstacles"
    MEMORY = remembers(
        planes=Kept(lambda model, x: as_array([(plane.point, plane.normal) for plane in model.planes])),
        colliders=Kept(lambda model, x: [one.vertices.T.copy() for one in model.colliders], is_scene=True),
        prediction_error=Kept(lambda model, x: np.full(x.shape[1] + len(model.bodies), np.nan), fits=_are_errors),
        penetrated=Kept(
            lambda model, x: np.zeros((len(model.bodies), len(model.colliders)), bool),
            fits=lambda array, first: array.ndim == 2 and len(array) == len(first),
        ),
        is_apart=Kept(lambda model, x: np.array(False)),
    )
    reason = "colliders"

    def begin_frame(self, frame: Frame) -> QuietObstacles:
        model, here, targets = frame.model, frame.state.memory[self.name], frame.targets
        for plane, start, end in zip(model.plane_constraints, here["planes"], targets.planes):
            plane.lay_path(start, end, frame.dt)
        model.contact.lay_path(here["colliders"], targets.colliders, frame.fraction)
        return (MeetingObstacles if model.contact.active else QuietObstacles)(self, frame)

    def substeps(self, model: Model, state: State, targets: Targets, quality: int, dt: float) -> float:
        """Those in which bodies and colliders that may meet move by at most an edge relative to each other.

        Rotation and deformation of a collider count twice, because contact planes follow straight paths only.
        """
        if all(surface is None for surface in model.contact.surfaces):
            return 1.0
        stood = state.memory[self.name]["colliders"]
        moving = [(a, b) for a, b in zip(stood, targets.colliders) if a is not b and a.shape[1]]
        start, end = (np.concatenate(each, axis=1) for each in zip((state.x, state.x + dt * state.v), *moving))
        sizes = np.array([part.stop - part.start for part in model.slices] + [a.shape[1] for a, _ in moving])
        surfaces = model.contact.surfaces
        edge = np.array([surface.edge if surface else 0.0 for surface in surfaces] + [np.inf] * len(moving))
        at, bodies = np.cumsum(sizes) - sizes, slice(len(model.slices))
        way = np.add.reduceat(end - start, at, axis=1) / sizes
        off = end - start - way.repeat(sizes, axis=1)
        turning = np.sqrt(np.maximum.reduceat(np.einsum("im,im->m", off, off), at))
        turning[bodies] = 0.0
        low = np.minimum.reduceat(np.minimum(start, end), at, axis=1)
        high = np.maximum.reduceat(np.maximum(start, end), at, axis=1)
        least = np.minimum(edge[bodies, None], edge)
        meet = (least > 0.0) & (np.arange(len(model.slices))[:, None] < np.arange(len(edge)))
        meet &= (low[:, bodies, None] - least <= high[:, None]).all(axis=0)
        meet &= (high[:, bodies, None] + least >= low[:, None]).all(axis=0)
        relative = np.linalg.norm(way[:, bodies, None] - way[:, None], axis=0) + 2.0 * turning
        return float((relative[meet] / least[meet]).max(initial=1.0))

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        memory, joined = state.memory[self.name], state.memory["tearing"]["joined"]
        if begun:
            memory["penetrated"] = before.contact.penetrated
        errors = before.contact.prediction_error if begun else memory["prediction_error"].copy()
        errors[: len(joined)] = errors[joined]
        memory["prediction_error"] = errors


class QuietObstacles(Acting):
    """Planes and colliders in a frame in which no surfaces meet."""

    def end_frame(self) -> None:
        targets, contact = self.frame.targets, self.frame.model.contact
        planes, self.memory["colliders"] = as_array(targets.planes), targets.colliders
        if not np.array_equal(planes, self.memory["planes"]):  # else states share them
            self.memory["planes"] = planes
        self.memory["prediction_error"], self.memory["penetrated"] = contact.prediction_error, contact.penetrated


class MeetingObstacles(QuietObstacles):
    """The same where they may."""

    def predict(self, substep: Substep) -> None:
        """Let what is led out of a collider rest where something strains it."""
        model, penetration = self.frame.model, self.frame.model.contact.penetration
        if len(penetration.exiting):
            penetration.rest_at(strained_particles(self.frame.kernels, model.springs, substep.x))

    def __init__(self, part: Obstacles, frame: Frame) -> None:
        super().__init__(part, frame)
        self._seams = frame.model.kind(SeamConstraints)

    def compiled(self, plan: Plan) -> None:
        """Nothing, in substeps in which nothing meets."""

    def couple(self, substep: Substep) -> None:
        """Project springs and contact in turn, where contact has stretched cloth."""
        model = self.frame.model
        couple_stretch_and_contact(
            self.frame.kernels, model.contact, model.springs, self._seams, substep.p, substep.x, model.can_tear
        )
        self.frame.watch.lap(model.contact.name)
