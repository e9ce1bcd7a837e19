"""Floors, walls, colliders, and other cloth: where they are, and what contact remembers from frame to frame."""

from __future__ import annotations

import numpy as np

from ..constraints import SeamConstraints
from ..contact.stretch_coupling import couple_stretch_and_contact, strained_particles
from ..model.model import Model, State, Targets
from ..model.part import Frame, Part, Substep


class Obstacles(Part):
    """Planes and contact, which are fields of the model: everything else asks for them."""

    reason = "colliders"

    @classmethod
    def build(cls, model: Model, before: Obstacles | None) -> Obstacles:
        return before or cls()

    def begin_frame(self, frame: Frame) -> QuietObstacles:
        model, state, targets = frame.model, frame.state, frame.targets
        for plane, start, end in zip(model.plane_constraints, state.planes, targets.planes):
            plane.lay_path(start, end, frame.dt)
        model.contact.lay_path(state.colliders, targets.colliders, frame.fraction)
        return MeetingObstacles(frame) if model.contact.active else QuietObstacles(frame)

    def substeps(self, model: Model, state: State, targets: Targets, quality: int, dt: float) -> float:
        """Those in which bodies and colliders that may meet move by at most an edge relative to each other.

        Rotation and deformation of a collider count twice, because contact planes follow straight paths only.
        """
        moving = [(a, b) for a, b in zip(state.colliders, targets.colliders) if a is not b and a.shape[1]]
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
        if begun:
            state.prediction_error, state.penetrated = before.contact.prediction_error, before.contact.penetrated
        errors = state.prediction_error.copy()
        errors[: len(state.joined)] = errors[state.joined]
        state.prediction_error = errors


class QuietObstacles:
    """Planes and colliders in a frame in which no surfaces meet."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def end_frame(self) -> None:
        state, targets, contact = self.frame.state, self.frame.targets, self.frame.model.contact
        state.planes, state.colliders = targets.planes, targets.colliders
        state.prediction_error, state.penetrated = contact.prediction_error, contact.penetrated


class MeetingObstacles(QuietObstacles):
    """The same where they may."""

    def predict(self, substep: Substep) -> None:
        """Let what is led out of a collider rest where something strains it."""
        model, penetration = self.frame.model, self.frame.model.contact.penetration
        if len(penetration.exiting):
            penetration.rest_at(strained_particles(self.frame.kernels, model.springs, substep.x))

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self._seams = frame.model.kind(SeamConstraints)

    def couple(self, substep: Substep) -> None:
        """Project springs and contact in turn, where contact has stretched cloth."""
        model = self.frame.model
        couple_stretch_and_contact(
            self.frame.kernels, model.contact, model.springs, self._seams, substep.p, substep.x, model.can_tear
        )
        self.frame.watch.lap(model.contact.name)
