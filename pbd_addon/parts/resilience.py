"""Resilience: cloth gives back only a part of the work that stretches or shears it.

The yarns of a fabric straighten and rub on one another when it is pulled. What a test sheet calls RT is the work that
it gives back, over that which was done (Kawabata's tensile tester). So an edge that shortens pulls with a share of the
tension that it had at the same length when it got longer, such that RT is what comes back, however fast that goes:
what is thrown up by cloth has lost the rest. What holds still pulls with all of its tension after a while, so that no
shape at rest depends on RT.

How far each edge is on its way from one branch to the other is remembered, but only while a body has stored so much
work that it matters, as a hammock does that catches a ball, and no curtain that hangs.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from ..constraints.base import NOTHING, make
from ..constraints.distance import ALWAYS, DistanceConstraints
from ..kernels.protocol.frames import Call
from ..kernels.protocol.springs import Release
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, Plan, remembers
from ..settings.fields import Checked, setting

SMOOTH = 0.005
"""Time over which strains are smoothed [s]. Where contact pushes, edges get longer and shorter by some percent of their
strain from substep to substep: a ball that falls from 0.7 m into a hammock of RT 0.5 comes back to 0.25, 0.19 m with 3
and 5 ms, and with 20 ms, which begin late, to 0.26."""

TURN = 0.2
"""Share of its strain by which an edge has to shorten until it is on the way back, and to lengthen until it is not."""

KEPT_IN_TURN = (1.0 - math.exp(-2.0 * TURN)) / (2.0 * TURN)
"""Share of what lies between both branches that a loop has, as an edge changes over by ln(strain) / `TURN`."""

MOST = 0.95
"""Largest share of its tension that an edge loses."""

RELAXING = 1.0
"""Time in which an edge that holds still comes back to all of its tension, to a factor e [s]. A hammock throws a ball
up in 0.15 s."""

LEAST_STRAIN = 1e-4
"""Smaller strains count as this: they store no work to speak of."""

STANDARD_GRAVITY = 9.81
"""That of the Earth [m/s²], also where a scene has none: what matters is what cloth could throw."""

STORED, GONE = 0.1, 0.1
"""Work that is stored in a body over its weight times its size, from which on it matters: all of it would lift the
body by this share of its size. A curtain that hangs from two corners has 1e-3, a flag in a wind of 15 m/s 0.1, a
hammock with a ball in it 1 to 3. And the share of that below which it has come back."""


@dataclasses.dataclass(frozen=True)
class Returning(Checked):
    """What stretching gives back."""

    resilience: float = setting(
        1.0,
        "Resilience",
        "Share of the work of stretching that comes back, RT of a test sheet: the less, the lower cloth throws what "
        "falls into it. Cotton 0.5, 1 loses nothing",
        low=0.1,
        high=1.0,
        rigid=1.0,
    )


class Own(NamedTuple):
    """A kind of springs, which share of its tension each row loses, and what is remembered of it, (m,) each."""

    kind: DistanceConstraints
    lost: np.ndarray
    back: np.ndarray
    strains: np.ndarray


class Resilience(Part):
    """What loses work where it is stretched.

    It remembers of all edges, then of all diagonals, how far each is on its way back, in [0, 1], and its strain,
    smoothed: (2, edges and diagonals) float32, or (2, 0) where nothing that matters is stored.

    Attributes:
        kinds: Springs that may lose work.
        lost: The share of their tension that those of a body lose on the way back, (bodies,).
        least: What is stored in a body that matters, (bodies,) [J].
        count: Number of edges and diagonals.
    """

    FIELDS = Returning
    name = "resilience"
    MEMORY = remembers(back=Kept(lambda model, x: np.zeros((2, 0), np.float32), any_rows=True))

    def settle(self, model: Model) -> None:
        lost = np.array([1.0 - material.resilience for material in model.materials])
        self.acts = bool(lost.any()) and not model.stretch.relaxed
        self.kinds, self.lost = model.springs, np.minimum(lost / KEPT_IN_TURN, MOST)
        self.count = sum(len(body.mesh.edges) + len(body.mesh.diagonals) for body in model.bodies)
        masses = np.array([model.masses[part].sum() for part in model.slices])
        least = STORED * STANDARD_GRAVITY * masses * model.sizes
        self.least = np.where(lost > 0.0, least, np.inf)
        self._own: tuple[np.ndarray, list[Own]] | None = None

    @property
    def rows(self) -> tuple[np.ndarray, list[Own]]:
        """Arrays for what is remembered of all rows, (2, rows), and what is of each kind."""
        if self._own is None:
            ends = np.cumsum([0, *(len(kind.rest_lengths) for kind in self.kinds)]).tolist()
            both, found = np.zeros((2, ends[-1])), []
            for kind, start, stop in zip(self.kinds, ends, ends[1:]):
                lost = np.where(np.isnan(kind.own_compliance) & ~kind.is_rope, self.lost[kind.rows.body], 0.0)
                found.append(Own(kind, lost, both[0, start:stop], both[1, start:stop]))
            self._own = both, found
        return self._own

    def numbers(self) -> np.ndarray:
        """Of all rows among edges and diagonals, (rows,) int."""
        return np.concatenate([kind.first_number + kind.numbers for kind in self.kinds])

    def strains(self, x: np.ndarray) -> np.ndarray:
        """Of all rows at positions x (3, n) [m], (rows,)."""
        return np.concatenate([kind.stretches(x) - 1.0 for kind in self.kinds])

    def release(self) -> None:
        """Soften rows that are on their way back."""
        for own in self.rows[1]:
            own.kind.release(1.0 / (1.0 - own.lost * own.back))

    def begin_frame(self, frame: Frame) -> Stretched:
        known = frame.state.memory[self.name]["back"].shape[1] == self.count
        return (Releasing if known else Stretched)(self, frame)

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return state.memory[self.name]["back"].shape[1] > 0


class Stretched(Acting):
    """A frame that begins with nothing stored."""

    part: Resilience

    def __init__(self, part: Resilience, frame: Frame) -> None:
        super().__init__(part, frame)
        self.back = self.strains = NOTHING
        self.begin()

    def begin(self) -> None:
        for kind in self.part.kinds:
            kind.release(NOTHING)

    def end_frame(self) -> None:
        """Remember what goes on, if enough is stored by the tensions of the last substep."""
        part, count = self.part, len(self.part.least)
        least = GONE * part.least if len(self.back) else part.least
        matters = sum(kind.most_work() for kind in part.kinds) > least.min()
        if matters:
            stored = sum(np.bincount(kind.rows.body, kind.work(), count) for kind in part.kinds)
            matters = bool((stored > least).any())
        back = np.zeros((2, part.count if matters else 0), np.float32)
        if back.size:
            numbers = part.numbers()
            back[0, numbers] = self.back if len(self.back) else 0.0
            back[1, numbers] = self.strains if len(self.strains) else part.strains(self.frame.state.x)
        self.memory["back"] = back


class Releasing(Stretched):
    """A frame in which what is stored may be given back."""

    def begin(self) -> None:
        both = self.part.rows[0]
        both[:] = self.memory["back"][:, self.part.numbers()]
        self.back, self.strains = both
        self.part.release()

    def compiled(self, plan: Plan) -> None:
        """Nothing that differs from substep to substep."""

    def prepare(self, h: float) -> bool:
        self._h = h
        return True

    def predict_calls(self) -> list[Call]:
        """Springs are as soft as the last substep has left them; skins under pressure follow."""
        calls = [call for kind in self.part.kinds for call in kind.scale_calls()]
        if self.frame.model.volume.active:
            return calls
        return calls + [call for kind in self.part.kinds for call in kind.reweigh_calls(ALWAYS)]

    def remember_calls(self) -> list[Call]:
        return self._calls(self._h)

    def _calls(self, duration: float) -> list[Call]:
        """What takes the rows along by what they have shortened in a substep."""
        release = Release(-math.expm1(-duration / SMOOTH), math.exp(-duration / RELAXING), TURN, LEAST_STRAIN)
        found = []
        for kind, lost, back, strains in self.part.rows[1]:
            given = kind.rows.indices, kind.rest_lengths, lost, release, back, strains, kind.released
            found += [Call("release_rows", 1, given), *kind.soften_calls()]
        return found

    def remember(self, duration: float, stop: float) -> None:
        """Take the rows along."""
        x = self.frame.state.x
        make(self.frame.kernels, self._calls(duration), x, x)
        self.ran()

    def ran(self) -> None:
        for kind in self.part.kinds:
            kind.reweigh()
