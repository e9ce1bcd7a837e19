"""Dynamic Mesh: the rest shape of a body follows another shape, evenly from one frame to the next.

Rest lengths and angles follow in every substep. The volume, the size of stiff sheets, and how far tethers and levels
reach are those of the frame's end throughout it.
"""

from __future__ import annotations

import numpy as np

from ..constraints import LevelConstraints, RopeBendConstraints, StrutConstraints, TetherConstraints
from ..constraints.plate_elements import FLAT
from ..kernels.numpy import dihedral_angles
from ..meshes.mesh import rest_volume, triangle_areas
from ..model.model import Model, State, Targets
from ..model.part import Acting, Frame, Kept, Part, Substep, remembers
from . import plasticity
from .skin import Skin

SHORTEST = 1e-3
"""A rest length is at least this share of the first one: an edge of none has no direction in which to push."""

GRADE = 0.1
"""Step in the logarithm of the size by which stiff sheets and ropes follow it, whose system is factorized anew: a
sheet in 0.02 s with 2500 vertices, in 3 s with 10,000. Half a step turns their folds by 5 % more or less."""


def rest_shape(model: Model, state: State) -> np.ndarray:
    """The rest shape of all bodies in a state, (n, 3) [m]."""
    return _whole(model, state.memory[RestShapes.name]["shape"]) if len(model.follows) else model.rest_vertices


def _whole(model: Model, shape: np.ndarray) -> np.ndarray:
    """The rest shape of all bodies, (n, 3) [m], where that of the bodies with `dynamic_mesh` is (3, d) [m]."""
    rest = np.concatenate([body.rest_vertices for body in model.bodies])
    rest[model.follows] = shape.T
    return rest


class RestShapes(Part):
    """The bodies of a scene whose rest shape can change; it remembers that, one after another, (3, d) [m]."""

    name = "rest"
    MEMORY = remembers(shape=Kept(lambda model, x: model.rest_vertices[model.follows].T.copy()))

    @classmethod
    def is_in(cls, model: Model) -> bool:
        return len(model.follows) > 0

    def place(self, model: Model, state: State) -> None:
        RestPath(model, state, Targets.of(state)).reach(1.0)

    def begin_frame(self, frame: Frame) -> FollowedRest:
        return FollowedRest(self, frame)


class FollowedRest(Acting):
    """Rest shapes in a frame."""

    def __init__(self, part: RestShapes, frame: Frame) -> None:
        super().__init__(part, frame)
        self.path = RestPath(frame.model, frame.state, frame.targets)

    def begin_substep(self, substep: Substep) -> None:
        self.path.reach(substep.stop)

    def end_frame(self) -> None:
        self.memory["shape"] = self.frame.targets.rest


class RestPath:
    """The rest lengths and angles of a frame."""

    def __init__(self, model: Model, state: State, targets: Targets) -> None:
        self.model, self.state = model, state
        self.dynamic = np.array([body.dynamic_mesh for body in model.bodies])
        self.hinges = np.flatnonzero(model.folds.follows)
        struts, self.ropes = model.kind(StrutConstraints), model.kind(RopeBendConstraints)
        self.springs = [kind for kind in (model.stretch, model.shear, struts) if kind is not None]
        end = _whole(model, targets.rest)
        self.start = self._measure(end)
        self.way = [np.zeros_like(values) for values in self.start]
        if targets.rest is not state.memory[RestShapes.name]["shape"]:
            ends, self.start = self.start, self._measure(rest_shape(model, state))
            self.way = [one - other for one, other in zip(ends, self.start)]
            self.way[-1] -= 2.0 * np.pi * np.round(self.way[-1] / (2.0 * np.pi))  # the short way round
        self._enclose(end)
        self._grow()

    def _measure(self, rest: np.ndarray) -> list[np.ndarray]:
        """Lengths of each kind of springs [m], curls of ropes, angles of hinges [rad] of a rest shape (n, 3) [m]."""
        found = []
        for kind in self.springs:
            some, lengths = self.dynamic[kind.rows.body], kind.unmapped[0].copy()
            one, other = kind.rows.indices[:, some]
            lengths[some] = np.maximum(np.linalg.norm(rest[one] - rest[other], axis=1), SHORTEST * lengths[some])
            found.append(lengths)
        corners = rest.T[:, self.model.folds.hinges[:, self.hinges]]
        curls = self.ropes.measure(rest) if self.ropes else np.zeros(0)
        return [*found, curls, dihedral_angles(corners, with_gradients=False)[0]]

    def _enclose(self, rest: np.ndarray) -> None:
        """Use the volumes of a rest shape (n, 3) [m]."""
        model, volume = self.model, self.model.volume
        before = list(volume.pieces)
        for number, piece in enumerate(before):
            if self.dynamic[piece.body]:
                size = rest_volume(rest, piece.triangles, piece.caps)
                area = float(triangle_areas(rest, piece.triangles).sum())
                volume.pieces[number] = piece._replace(rest_volume=size, area=area)
        if [piece.rest_volume for piece in before] != [piece.rest_volume for piece in volume.pieces]:
            volume.set_materials(model.materials, model.settings, model.w)
            skin = model.part(Skin)
            if skin:
                skin.settle(model)

    def _grow(self) -> None:
        """Use the sizes of the bodies at the end of the frame: by its edges, the largest is safe and the mean usual."""
        model, count = self.model, len(self.model.bodies)
        body, ratio = model.stretch.rows.body, (self.start[0] + self.way[0]) / model.stretch.unmapped[0]
        most = np.ones(count)
        most[body] = 0.0
        np.maximum.at(most, body, ratio)
        logs = np.bincount(body, np.log(ratio), count) / np.maximum(np.bincount(body, minlength=count), 1)
        for kind in (model.kind(TetherConstraints), model.kind(LevelConstraints)):
            if kind:
                kind.grow(most)
        for stiff in (model.bends[0], self.ropes):
            if stiff:
                stiff.grow(np.exp(GRADE * np.round(logs / GRADE)))

    def reach(self, fraction: float) -> None:
        """Use the rest lengths and angles at a fraction of the frame."""
        *lengths, curls, angles = (start + fraction * way for start, way in zip(self.start, self.way))
        for kind, values in zip(self.springs, lengths):
            kind.measure(values)
        if self.ropes:
            self.ropes.curls = curls
        if len(self.hinges):
            self.model.folds.current[self.hinges] = np.where(np.abs(angles) < FLAT, 0.0, angles)
            plasticity.refold(self.model, self.state)
