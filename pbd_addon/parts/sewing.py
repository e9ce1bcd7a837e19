"""Sewing over frames: how long seams are, which pairs have become one, and how they come apart again.

It remembers, for each pair of each body, its gap when it began to close [m], the time since then [s], and whether
it is welded (0 or 1). The time is 0 before that, when the pair may be a rope, and -1 after it was let go: then it is
nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays.distinct import distinct
from ..constraints import SeamConstraints, SeamFoldConstraints, WeldConstraints, folds_across
from ..constraints.seams import LATE_FACTOR
from ..meshes.mesh import connected_components
from ..model.layout import Sewn
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, Substep, remembers
from ..settings.fields import Checked, setting
from .tearing import joined_in

if TYPE_CHECKING:
    from ..bodies.material import Material

MOST_WAITING = 2.0
"""Longest time that gravity and wind wait for seams, in closing times: what pins hold open would float for ever."""

LET_GO = -1.0
"""Time of a pair that was let go."""

WELD_SHARE = 0.25
"""Largest gap of a pair that becomes one, in usual edges of the body.

Where four panels meet, they lie on one another, three times `contact.seam_neighbors.DISTANCE_SHARE` apart: with 0.1,
the seams below the arms of a shirt may stay open. Each vertex moves by half of the gap at once, which strains the edges
there by at most 12 %, for some substeps."""

LATE_SHARE = 0.5
"""The same of a pair that is open after its closing time.

Where four panels meet, as below the arms of a shirt, what has become one may have the rest between it: 8 of 209 pairs
stay 0.25 to 0.42 edges apart there, at rest."""

WELD_ROUNDS = 4
"""Rounds in which what would cross something is left out of what becomes one; then nothing does in this frame."""


HALF_TURN = 3.1415927
"""180° in the eight digits that 32 bits keep [rad]."""


@dataclasses.dataclass(frozen=True)
class Seam(Checked):
    """What is sewn."""

    sewing: bool = setting(
        False,
        "Sewing",
        "Draw the ends of loose edges between faces together and weld them. Key it off to open the seams",
        rigid=False,
    )
    closing_time: float = setting(
        1.0,
        "Closing Time",
        "Time in s in which seams close. Panels around a body 1 s; sooner, cloth is stretched",
        unit="s",
        low=0.0,
        soft_high=5.0,
        panel="sewing",
    )
    sew_first: bool = setting(
        False,
        "Sew First",
        "Gravity and wind begin when all seams have closed, or after twice the closing time. Usually on",
        panel="sewing",
    )
    sewing_force: float = setting(
        0.0,
        "Max Sewing Force",
        "Largest force in N with which each seam pulls until it is closed. Usually 0 N: no limit",
        unit="N",
        low=0.0,
        soft_high=1.0,
        panel="sewing",
        short="Max Force",
    )
    seam_bend: float = setting(
        0.0,
        "Seam Bending",
        "Factor on Bending across closed seams. 0 lets panels fold there freely, 1 makes them one cloth, a hem 5",
        low=0.0,
        soft_high=5.0,
        panel="sewing",
        short="Bending",
    )
    seam_angle: float = setting(
        0.0,
        "Seam Angle",
        "Angle at which closed seams rest: above 0 a ridge, seen from the front of the faces, 0 flat. A box 90°",
        unit="rad",
        low=-HALF_TURN,
        high=HALF_TURN,
        panel="sewing",
        short="Angle",
    )


class Sewing(Part):
    """The pairs of a scene that can be sewn, and bending across what is welded."""

    FIELDS = Seam
    name = "sewing"
    reshapes = True
    MEMORY = remembers(pairs=Kept(lambda model, x: np.zeros((3, len(model.seam_pairs))), any_rows=True))

    def __init__(self, model: Model, seams: SeamConstraints) -> None:
        triangles = model.stacked([body.mesh.triangles for body in model.bodies])[0]
        hinges, geometry = folds_across(triangles, model.welds.first, model.rest_vertices)
        owner = model.body_of_island[model.islands[hinges[:, 0]]]
        self.seams, self.welds = seams, model.welds
        self.constraints = (SeamFoldConstraints(hinges, geometry, owner, model.w), seams)

    @classmethod
    def build(cls, model: Model, before: Sewing | None) -> Sewing | None:
        if not len(model.seam_pairs):
            return None
        if before and before.welds is model.welds:
            return before
        usual = np.array(
            [np.median(body.rest_lengths[~body.is_seam]) if len(body.seams) else 0.0 for body in model.bodies]
        )
        pairs, owner = model.seam_pairs, model.seam_body
        return cls(
            model, before.seams if before else SeamConstraints(pairs, owner, usual[owner], model.w, model.extents)
        )

    def begin_frame(self, frame: Frame) -> SeamsInFrame:
        waiting = waiting_bodies(frame.model, frame.state)
        return WaitingSeams(self, frame, waiting) if waiting else SeamsInFrame(self, frame)

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return self.seams.active


class SeamsInFrame(Acting):
    """How seams close in a frame.

    Attributes:
        excused: Ends of pairs that are still to become one, and their neighbors, (n,) bool. They are pulled together
            through what is between them, by as much as it takes: no shorter substep strains them less.
    """

    def __init__(self, part: Sewing, frame: Frame) -> None:
        super().__init__(part, frame)
        self.seams, self.excused = part.seams, np.zeros(len(frame.model.w), bool)
        if self.seams.active:
            self._close()
            self._excuse()

    def _close(self) -> None:
        """Tell the seams how long they are; notes in the state how far apart new ones are."""
        model, state, seams = self.frame.model, self.frame.state, self.seams
        length, time, welded = _known(model, state).copy()
        sewing, closing = _of_pairs(model)
        new = sewing & (time <= 0.0)
        length[new], time[new] = gaps(model, state.x)[new], 0.0
        done = np.minimum((time + np.array([[0.0], [self.frame.dt]])) / np.maximum(closing, 1e-9), 1.0)
        # At rest when it begins, and when the cloth meets.
        seams.path = length * (1.0 - done**2 * (3.0 - 2.0 * done))
        late = np.clip(time / np.maximum(closing, 1e-9) - 1.0, 0.0, 1.0)
        seams.late = 1.0 + (LATE_FACTOR - 1.0) * late
        self.memory["pairs"] = np.stack([length, time, welded])

    def _excuse(self) -> None:
        model = self.frame.model
        _, time, welded = _known(model, self.frame.state)
        self.excused[self.seams.pairs[_of_pairs(model)[0] & (time >= 0.0) & (welded == 0.0)]] = True
        edges = model.stretch.rows.indices
        self.excused[edges[:, self.excused.take(edges).any(axis=0)]] = True

    def end_frame(self) -> None:
        """Let pairs that have met become one, and those that are sewn no more come apart.

        Those wait whose ends would cross something on their way to each other: the crossing guard has the last word.
        After the closing time it is enough that nothing crosses once they are one.
        """
        model, state, kernels = self.frame.model, self.frame.state, self.frame.kernels
        length, time, welded = known = _known(model, state).copy()
        sewing, closing = _of_pairs(model)
        time[sewing] += self.frame.dt
        let_go = ~sewing & (time > 0.0)
        length[let_go], time[let_go], welded[let_go] = 0.0, LET_GO, 0.0
        is_late = sewing & (time > closing)
        near = np.where(is_late, LATE_SHARE, WELD_SHARE) * self.seams.usual_edges
        meeting = sewing & (welded == 0.0) & (gaps(model, state.x) <= near)
        for _round in range(WELD_ROUNDS if meeting.any() else 0):
            new, welds, there = _united(model, state.x, welded > 0.0, meeting)
            asked = there.copy()
            held = distinct(welds.first[model.contact.hold_back(kernels, there, state.x, welds.first)])
            is_held = np.isin(welds.first[model.seam_pairs[new, 0]], held)
            if is_held[is_late[new]].any() and not model.contact.crosses_anew(kernels, asked, state.x):
                is_held[is_late[new]] = False
            meeting[:] = False
            meeting[new[~is_held]] = True
            if not is_held.any():
                welds.unite(state.x, state.v)
                welded[new] = 1.0
                break
        self.memory["pairs"] = known


class WaitingSeams(SeamsInFrame):
    """How seams close in a frame before gravity begins, in the bodies with these numbers."""

    def __init__(self, part: Sewing, frame: Frame, waiting: Sequence[int]) -> None:
        super().__init__(part, frame)
        model = frame.model
        self.weight = np.zeros(len(model.w))
        for number in waiting:
            self.weight[model.slices[number]] = model.gravity_fraction[model.slices[number]]

    def predict(self, substep: Substep) -> None:
        """Take back what gravity has added."""
        for row, along in zip(substep.p, self.frame.model.settings.gravity):
            row -= substep.h * substep.h * along * self.weight


def waiting_bodies(model: Model, state: State) -> list[int]:
    """Numbers of the bodies that gravity and wind do not act on yet, see `Seam.sew_first`."""
    waits = [material.sewing and material.sew_first for material in model.materials]
    if not any(waits):
        return []
    _, time, welded = _known(model, state)
    _, closing = _of_pairs(model)
    is_open = (welded == 0.0) & (time >= 0.0) & (time < MOST_WAITING * closing)
    return [number for number in np.unique(model.seam_body[is_open]).tolist() if waits[number]]


def are_pulling(model: Model, state: State) -> bool:
    """Whether any seams are still to close."""
    _, time, welded = _known(model, state)
    return bool((_of_pairs(model)[0] & (time >= 0.0) & (welded == 0.0)).any()) if len(welded) else False


def sewn(model: Model, state: State, materials: Sequence[Material]) -> Sewn:
    """What a model has to be to go on from a state with these materials."""
    _, time, welded = _known(model, state)
    sewing = np.array([material.sewing for material in materials])
    was_sewn = np.bincount(model.seam_body, time != 0.0, len(sewing)) > 0
    return Sewn(~sewing & ~was_sewn, (welded > 0.0) & sewing[model.seam_body], joined_in(state))


def _united(
    model: Model, x: np.ndarray, welded: np.ndarray, meeting: np.ndarray
) -> tuple[np.ndarray, WeldConstraints, np.ndarray]:
    """Those of the pairs `meeting`, (pairs,) bool, that can become one, (k,) int, all welds then, and x (3, n) then."""
    new = _allowed(model, welded, meeting)
    is_one = welded.copy()
    is_one[new] = True
    welds = WeldConstraints(model.seam_pairs[is_one], len(model.w))
    welds.set_materials(model.materials, model.settings, model.w)
    there = x.copy()
    welds.unite(there)
    return new, welds, there


def gaps(model: Model, x: np.ndarray) -> np.ndarray:
    """How far apart all pairs are at x (3, n), (pairs,) [m]."""
    one, other = model.seam_pairs.T
    return np.asarray(np.linalg.norm(x.take(one, axis=1) - x.take(other, axis=1), axis=0))


def _allowed(model: Model, welded: np.ndarray, meeting: np.ndarray) -> np.ndarray:
    """Those of the pairs `meeting`, (pairs,) bool, that join no two firm pins to one particle, (k,) int."""
    pairs = np.flatnonzero(meeting)
    label = connected_components(model.seam_pairs[welded | meeting], len(model.w))
    pinned = np.bincount(label[model.pinned], minlength=len(model.w))
    return pairs[pinned[label[model.seam_pairs[pairs, 0]]] <= 1]


def _of_pairs(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Of each pair, whether it is sewn, (pairs,) bool, and the time in which it closes, (pairs,) [s]."""
    sewing, closing = zip(*((material.sewing, material.closing_time) for material in model.materials))
    return np.array(sewing)[model.seam_body], np.array(closing)[model.seam_body]


def _known(model: Model, state: State) -> np.ndarray:
    """What a state remembers, (3, pairs); nothing where there are no pairs."""
    known = state.memory[Sewing.name]["pairs"] if Sewing.name in state.memory else np.zeros((3, 0))
    count = len(model.seam_pairs)
    return known if known.shape == (3, count) else np.zeros((3, count))
