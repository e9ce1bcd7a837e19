"""Rounds: where springs undo much of what bending does, both are solved in turn; see `constraints/rounds.py`.

Each frame measures it for the next one: the angles that shear and stretch take back after bending, beside all angles.
Where the angles of a frame change by more than that, it does not show, and one round is enough. What stretch undoes of
shear counts too, and what sweeps over irregular triangles leave.
"""

from __future__ import annotations

import numpy as np

from ..constraints.base import SAMPLE, within_half_turn
from ..constraints.rounds import of_bending, ways_between
from ..kernels import Kernels
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, remembers
from .hysteresis import Hysteresis

MOST_UNDONE = 0.05
"""Share of the angles that springs may take back. A loop that hangs is too narrow by 0.7 times that: loops of denim and
silk, 0.15 and 0.13, by 11 and 12 %, of paper, 0.71, by 57."""

MOST_SHEARED = 0.04
"""Shape error by shear up to which one round is enough. What stretch undoes of shear is as large in coarse cells, where
bending is hardly undone: a drape of cotton of 20 mm covers 37 % in one round, 59 in four, 60 with 160 steps."""

HELD, HELD_SHEARED, HELD_BLURRED = 0.5, 0.05, 0.1
"""Rounds go on down to these shares of the three limits. Without them they come and go: each time a loop of denim moves
so much that they are not needed while it does, and it never comes to rest; with 0.5 of the last one, loops of paper
with 25 and of leather with 35 steps swing from 12 to 45 mm for ever. Rounds leave a tenth to a half of the error by
shear: with 0.1, a disc of paper that lies still with 0.05 flutters at 150 mm/s for ever."""

BLURRED_SHARE = 0.2
"""The same over the change of the angles in a frame, where it does not show: as in `stepping.adaptive`."""

LEAST_ANGLE = 2e-3
"""Mean angle of the hinges of a body below which it counts as flat [rad]: that of cells of 1 cm on a radius of 5 m."""


class Rounds(Part):
    """It remembers whether the next frame is one with rounds, (1,)."""

    name = "rounds"
    MEMORY = remembers(wanted=Kept(lambda model, x: np.zeros(1)))

    def begin_frame(self, frame: Frame) -> Undone | None:
        model = frame.model
        if not model.rounds:
            return None
        on = bool(frame.state.memory[self.name]["wanted"][0])
        frame.sequence = model.rounds if on else model.sequence
        for kind in model.frugal:
            kind.once_apart = not on
            kind.once = kind.once_apart and not model.contact.active
        for way in ways_between(frame.sequence):
            way.lay_out(frame.kernels)
        return Undone(self, frame)


class Undone(Acting):
    """What springs undo in a frame."""

    def end_frame(self) -> None:
        frame, on = self.frame, bool(self.memory["wanted"][0])
        way = sum(one.of_particles() for one in of_bending(ways_between(frame.sequence)))
        undone, angles, changes = _sums(frame.model, frame.state, np.ascontiguousarray(way), frame.dt, frame.kernels)
        enough, sheared, blurred = (HELD, HELD_SHEARED, HELD_BLURRED) if on else (1.0, 1.0, 1.0)
        shows = undone > blurred * BLURRED_SHARE * changes
        wanted = bool((shows & (undone > enough * MOST_UNDONE * angles)).any())
        if not wanted and (undone if on else shows).any():
            wanted = self._is_sheared(sheared * MOST_SHEARED, blurred * BLURRED_SHARE)
        self.memory["wanted"] = np.array([float(wanted)])

    def _is_sheared(self, most: float, blurred: float) -> bool:
        """Whether shear, or edges in no chain, leave more than this shape error, and an error that shows.

        blurred: share of the change in a frame up to which an error does not.
        """
        model, x, way = self.frame.model, self.frame.state.x, self.frame.dt * self.frame.state.v
        swept = [model.stretch] if model.stretch.is_swept_between else []
        for kind in (kind for kind in (model.shear, *swept) if kind.active):
            left = kind.residual(x)._replace(folded=model.folds.folded(x))
            if kind.shape_error(left) > most and left.error > blurred * kind.change(x, way):
                return True
        return False


def _sums(
    model: Model, state: State, way: np.ndarray, dt: float, kernels: Kernels
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums over hinges of each body, (bodies,) [rad]: of the angles that a way (3, n) [m] changes, of all beside those
    at rest, and of those that change in dt seconds.
    """
    folds, count = model.folds, len(model.bodies)
    some = slice(None, None, max(folds.hinges.shape[1] // SAMPLE, 1))
    hinges, body = folds.hinges[:, some].astype(np.int64), folds.body[some]
    angles, undone, changes = kernels.hinge_changes(state.x, hinges, way, dt * state.v)
    angles = np.abs(within_half_turn(angles - folds.current[some]))
    friction = model.part(Hysteresis)
    if friction and friction.acts:  # which has a moment of its own, at any angle
        angles += friction.angles[some]
    sums = [np.bincount(body, each, count) for each in (undone, angles, changes)]
    flat = sums[1] <= LEAST_ANGLE * np.bincount(body, minlength=count)
    return np.where(flat, 0.0, sums[0]), sums[1], sums[2]
