"""Plasticity: what is bent or stretched beyond its yield point stays so.

It remembers, for each hinge of all bodies, by how much its rest angle has changed [rad], and then, for each edge
and each diagonal, by how much its rest length has, as a fraction of it; (0,) while nothing has yielded. It is float32,
as in the files of the disk cache, and never changed in place, so that frames may share it.

Bending is elastic and perfectly plastic: the moment of a hinge is at most bend · yield curvature per length, and what
is bent to a curvature c and let go keeps c - yield curvature. For a sheet of thickness t that yields at the strain e,
the curvature 3 e / t gives the springback of elastic-plastic bending (Gardiner 1957), where bent much further.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints import DistanceConstraints
from ..constraints.plate_elements import SHARPEST
from ..kernels.numpy import dihedral_angles
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, remembers
from ..settings.fields import Checked, setting

STRETCHED = 2.0
"""A rest length stays within this factor of the first one; beyond, the mesh would be too coarse or too narrow."""

DIAGONAL = 0.5
"""Yield strain of diagonals in that of edges: a sheet stretched along its edges, whose width stays, lengthens them half
as much; in pure shear it is 1 / sqrt(3), by von Mises' criterion."""

FLOW_TIME = 1.0 / 120.0
"""Least time between two looks at what has yielded [s], which take 7 ms for the bending of 10,000 vertices."""


@dataclasses.dataclass(frozen=True)
class Yielding(Checked):
    """What stays deformed."""

    bend_yield: float = setting(
        0.0,
        "Yield Curvature",
        "Curvature in 1/m, 1 over the radius, beyond which it stays bent. Foil 90, paper 150, steel of 1 mm 3, "
        "0 springs back always",
        unit="1/m",
        low=0.0,
        soft_high=200.0,
        rigid=0.0,
        panel="yield",
        short="Curvature",
    )
    stretch_yield: float = setting(
        0.0,
        "Yield Strain",
        "Lengthening beyond which it stays longer; Tethers are off then. Paper 0.005, film 0.02, 0 springs back always",
        low=0.0,
        soft_high=0.2,
        rigid=0.0,
        panel="yield",
        short="Strain",
    )
    plastic_rate: float = setting(
        100.0,
        "Yield Rate",
        "Rate in 1/s at which what is beyond these limits becomes permanent. Metal and paper 100, dough 5",
        unit="1/s",
        low=0.0,
        soft_high=200.0,
        panel="yield rate",
        short="Rate",
    )


class Plasticity(Part):
    """What can yield in a scene, or has."""

    FIELDS = Yielding
    name = "plasticity"
    MEMORY = remembers(yielded=Kept(lambda model, x: np.zeros(0, np.float32), any_rows=True, most=10.0))

    def place(self, model: Model, state: State) -> None:
        begin(model, state)  # cloth tears before a frame begins, by the rest lengths of the last

    def begin_frame(self, frame: Frame) -> YieldingFrame | None:
        begin(frame.model, frame.state)
        if not _is_plastic(frame.model):
            return None
        # If cloth has torn in this frame, some time may wait already.
        before = (one.flowing for one in frame.acting if isinstance(one, YieldingFrame))
        return YieldingFrame(self, frame, next(before, 0.0))

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return _is_plastic(model)

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        state.memory[self.name]["yielded"] = inherited(before, state, after)


class YieldingFrame(Acting):
    """What yields in a frame; `flowing` is the time since that was looked at [s]."""

    def __init__(self, part: Plasticity, frame: Frame, flowing: float) -> None:
        super().__init__(part, frame)
        self.flowing = flowing

    def remember(self, duration: float, stop: float) -> None:
        self.flowing += duration
        if stop >= 1.0 or self.flowing >= FLOW_TIME * (1.0 - 1e-9):
            flow(self.frame.model, self.frame.state, self.flowing)
            self.flowing = 0.0


def _is_plastic(model: Model) -> bool:
    """Whether anything can yield."""
    return any(material.bend_yield or material.stretch_yield for material in model.materials)


def begin(model: Model, state: State) -> None:
    """Give the rest angles and lengths of a state to the constraints."""
    _, _, dihedral = model.bends
    if len(state.memory[Plasticity.name]["yielded"]) or any(
        kind.yielded for kind in (dihedral, model.stretch, model.shear)
    ):
        _give(model, _known(model, state))


def flow(model: Model, state: State, seconds: float) -> None:
    """Let what is beyond its yield point yield for so long, in the state and in the constraints."""
    known = _known(model, state)
    plastic = known.astype(float)
    share = -np.expm1(-seconds * np.array([material.plastic_rate for material in model.materials]))
    _bend(model, state.x, plastic[: len(model.folds.body)], share)
    for kind, factor in ((model.stretch, 1.0), (model.shear, DIAGONAL)):
        _stretch(model, kind, factor, state.x, plastic, share)
    stored = plastic.astype(np.float32)
    if not np.array_equal(stored, known):
        state.memory[Plasticity.name]["yielded"] = stored
        _give(model, stored)


def refold(model: Model, state: State) -> None:
    """Give the constraints the rest angles of the rest shape, with what has yielded."""
    _fold(model, _known(model, state))


def inherited(model: Model, state: State, after: Model) -> np.ndarray:
    """What a state remembers, for a model of which some has torn since `model`."""
    yielded, joined = (state.memory[part][name] for part, name in ((Plasticity.name, "yielded"), ("tearing", "joined")))
    if not len(yielded):
        return yielded
    parts, start = [], 0
    for old, new in zip(_ends(model), _ends(after)):
        parts.append(of_torn(yielded[start : start + len(old)], old, new, joined))
        start += len(old)
    return np.concatenate(parts)


def of_torn(values: np.ndarray, old: np.ndarray, new: np.ndarray, joined: np.ndarray) -> np.ndarray:
    """Values (m,) float32 of edges or hinges `old` (m, k), for `new` ones, after a tear; joined: see `Tearing`."""
    rows = np.concatenate([old, joined[new]])
    pairs = np.sort(rows.reshape(len(rows), -1, 2), axis=2).reshape(len(rows), -1)
    number = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    known = np.zeros(number.max(initial=-1) + 1, np.float32)
    known[number[: len(old)]] = values
    return known[number[len(old) :]]


def _ends(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Particles of what has a number in the memory: hinges (m, 4), edges (e, 2), and diagonals (d, 2)."""
    edges, diagonals = (
        np.concatenate([rows + part.start for rows, part in zip(kind, model.slices)])
        for kind in zip(*((body.mesh.edges, body.mesh.diagonals) for body in model.bodies))
    )
    return model.folds.hinges.T, edges, diagonals


def _bend(model: Model, x: np.ndarray, plastic: np.ndarray, share: np.ndarray) -> None:
    """Change the rest angles (hinges,) [rad] at positions x (3, n); share: of what is beyond, per body."""
    folds = model.folds
    most = np.array([material.bend_yield for material in model.materials])[folds.body] * folds.spans
    some = np.flatnonzero(most)
    if not len(some):
        return
    first = folds.current[some]
    angles = dihedral_angles(x[:, folds.hinges[:, some]], with_gradients=False)[0]
    beyond = angles - first - plastic[some]
    beyond -= 2.0 * np.pi * np.round(beyond / (2.0 * np.pi))
    beyond = np.sign(beyond) * np.maximum(np.abs(beyond) - most[some], 0.0)
    sharpest = np.maximum(SHARPEST, np.abs(first))
    plastic[some] = np.clip(first + plastic[some] + share[folds.body[some]] * beyond, -sharpest, sharpest) - first


def _stretch(
    model: Model, kind: DistanceConstraints, factor: float, x: np.ndarray, plastic: np.ndarray, share: np.ndarray
) -> None:
    """Change the rest lengths of edges or diagonals, as `_bend`; factor: on the yield strain."""
    most = factor * np.array([material.stretch_yield for material in model.materials])[kind.rows.body]
    some = np.flatnonzero(most)
    if not len(some):
        return
    one, other = kind.rows.indices[:, some]
    strain = np.linalg.norm(x[:, one] - x[:, other], axis=0) / kind.rest_lengths[some] - 1.0
    beyond = np.sign(strain) * np.maximum(np.abs(strain) - most[some], 0.0)
    at = len(model.folds.body) + kind.first_number + kind.numbers[some]
    longer = (1.0 + plastic[at]) * (1.0 + share[kind.rows.body[some]] * beyond)
    plastic[at] = longer.clip(1.0 / STRETCHED, STRETCHED) - 1.0


def _give(model: Model, plastic: np.ndarray) -> None:
    count = len(model.folds.body)
    _fold(model, plastic)
    for kind in (model.stretch, model.shear):
        kind.lengthen(1.0 + plastic[count + kind.first_number :].astype(float)[kind.numbers])


def _fold(model: Model, plastic: np.ndarray) -> None:
    plates, _, dihedral = model.bends
    folds = model.folds
    changes = folds.current - folds.angles + plastic[: len(folds.body)]
    plates.fold(changes, folds)
    dihedral.fold(folds.angles + changes)


def _known(model: Model, state: State) -> np.ndarray:
    """What a state remembers, zeros if it is from before anything has yielded."""
    count = len(model.folds.body) + sum(len(body.mesh.edges) + len(body.mesh.diagonals) for body in model.bodies)
    yielded = state.memory[Plasticity.name]["yielded"]
    return yielded if len(yielded) == count else np.zeros(count, np.float32)
