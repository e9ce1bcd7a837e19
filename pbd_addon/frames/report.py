"""Report: the cost and quality of a frame."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from ..model.model import Model, State
from ..parts.sewing import are_pulling
from ..stepping import adaptive
from ..timing.stopwatch import Stopwatch

MOST_STEPS = 200
"""More quality steps than this are not advised: a frame would take ten times as long as usual."""

ADVISED_POWER, ADVISED_SHARE = 1.0, 0.6
"""`adaptive.POWER` and `adaptive.AIMED_SHARE` for an advice, which is not corrected afterwards: the least power that
was measured, and a margin, because with more steps bending may go on without rounds."""


SLOW_UNDER_PRESSURE = ("stretch", "volume")
"""Causes whose errors hardly fall with more steps where skins are under pressure, as these act on larger masses: foil
letters are 18 % off with 20 steps and 14 % with 120, drapes 3 %."""


class Advice(NamedTuple):
    """A shape error that is larger than accepted, and what helps.

    Attributes:
        kind: "stretch", "shear", "bend" or "volume": what most of it is due to; "seams" while those pull.
        substeps: Quality steps that would fix it; 0 if it takes more than `MOST_STEPS`, or if none are known to.
    """

    kind: str
    substeps: int


class Retries(NamedTuple):
    """How many substeps of a frame were discarded, and done again in halves, and why.

    Attributes:
        overrun: An edge was overstretched by a motion too long for one substep.
        crossing: Colliders pinched cloth, or the crossing guard came to no end.
        unsound: Numbers that are no positions, or speeds beyond all bounds.
    """

    overrun: int = 0
    crossing: int = 0
    unsound: int = 0


class Convergence(NamedTuple):
    """How far a frame is from the converged one.

    Attributes:
        residuals, shape_error, advice: See `StepReport`.
    """

    residuals: dict[str, float] = {}  # noqa: RUF012  # never changed
    shape_error: float = math.nan
    advice: Advice | None = None


class Judgment:
    """The `Convergence` of a frame, found when it is first asked for, as that takes as long as many substeps.

    Args:
        find: Finds it, as long as the simulation stands at the frame; None if it is not known.
    """

    def __init__(self, find: Callable[[], Convergence] | None = None) -> None:
        self._find, self._found = find, Convergence()

    def settle(self) -> Convergence:
        """What is found, now or before."""
        if self._find:
            self._found, self._find = self._find(), None
        return self._found

    def expire(self) -> None:
        """Never find it any more: the simulation goes on."""
        self._find = None


@dataclasses.dataclass(frozen=True)
class StepReport:
    """Figures of one frame.

    What `judgment` tells is known of the last frame, and of an earlier one if it was asked for before the next began,
    or if substeps are automatic.

    Attributes:
        seconds: Wall time [s].
        substeps: Number of substeps: that of the settings or automatic, or more where pressure, fine soft cloth or a
            fast collider needs them. Smooth frames take half as many, of second order, see `time_stepping`.
        reason: Why that many, one of `model.REASONS`.
        no_room: Whether closed colliders pinched cloth in the frame, or overlap around it.
        inside: Number of particles inside of closed colliders, when that was looked for last.
        pierced: Number of edges of cloth through closed colliders, and of these through cloth, then.
        retries: Substeps that were done again.
        is_cut_short: Whether retries were given up because the frame had spent its budget, see `CutFrame.is_spent`.
        strain_mean: Mean of |length / rest length - 1| over the edges.
        strain_p95: Its 95th percentile, rounded up to the strain of an edge.
        strain_max: Its maximum.
        contacts: Number of particles that touched a collider: a surface during the frame, a plane at its end.
        self_contacts: Number of particles that touched cloth.
        crossings: Number of edges that intersect faces of cloth and of open colliders, all since the beginning; the
            solver makes none.
        kinetic_energy: Of all particles [J].
        potential_energy: Of their weight, against the origin [J].
        times: Wall time [s] by name: "prediction", each kind of constraint, "contact search", "report".
        judgment: What finds `residuals`, `shape_error` and `advice`.
    """

    seconds: float
    substeps: int
    strain_mean: float
    strain_p95: float
    strain_max: float
    contacts: int
    self_contacts: int = 0
    crossings: int = 0
    times: dict[str, float] = dataclasses.field(default_factory=dict)
    reason: str = "settings"
    no_room: bool = False
    inside: int = 0
    pierced: int = 0
    retries: Retries = dataclasses.field(default_factory=Retries)
    is_cut_short: bool = False
    kinetic_energy: float = 0.0
    potential_energy: float = 0.0
    judgment: Judgment = dataclasses.field(default_factory=Judgment, repr=False, compare=False)

    @property
    def residuals(self) -> dict[str, float]:
        """Fraction of the deformation of each elastic kind, by name, that no force accounts for, in [0, 1]: 0 is
        converged; at 0.5 cloth is about half as stiff as its material (`Constraints.residual`). {} if unknown.
        """
        return self.judgment.settle().residuals

    @property
    def shape_error(self) -> float:
        """Estimate of how far the shape is from the converged one, over its size, in [0, 1]; NaN if unknown."""
        return self.judgment.settle().shape_error

    @property
    def advice(self) -> Advice | None:
        """What helps, if that is more than the settings accept; or None."""
        return self.judgment.settle().advice


def advise(
    found: Sequence[adaptive.Found], substeps: int, accepted: float, inflated: bool = False, sewing: bool = False
) -> tuple[float, Advice | None]:
    """The shape error of a frame with that many substeps, and advice if it is larger than accepted.

    It names steps only where they were measured to help: not where skins are inflated and these are off, nor while
    seams pull, which strain cloth until they have closed: around a body that is too wide for it, it is 24 to 100 % off
    with 20 steps, and 22 % with 160.
    """
    errors = adaptive.shape_errors(found)
    error = min(sum(errors), 1.0)
    if error <= accepted:
        return error, None
    if sewing:
        return error, Advice("seams", 0)
    cause = found[int(np.argmax(errors))][0].cause
    enough = int(5.0 * math.ceil(substeps * adaptive.growth(error, ADVISED_SHARE * accepted, ADVISED_POWER) / 5.0))
    helps = enough <= MOST_STEPS and not (inflated and cause in SLOW_UNDER_PRESSURE)
    return error, Advice(cause, enough if helps else 0)


def make_report(
    model: Model,
    before: State,
    state: State,
    substeps: int,
    reason: str,
    measure: Callable[[], Sequence[adaptive.Found]],
    kernels: Kernels,
    watch: Stopwatch,
) -> StepReport:
    """The report of the frame from the state `before` that has just ended in `state`, with the times of the watch.

    measure: Finds the residuals, while the simulation stands there.
    """
    strain = kernels.strains(state.x, model.stretch.rows.indices, model.stretch.rest_lengths)
    mean, p95, largest = 0.0, 0.0, 0.0
    if len(strain):
        place = (95 * len(strain)) // 100
        mean, p95, largest = float(strain.mean()), float(np.partition(strain, place)[place]), float(strain.max())
    contact = model.contact
    met = [plane.touching() for plane in model.plane_constraints]
    contacts = len(np.unique(np.concatenate([contact.touching(with_colliders=True), *met])))
    layers = len(contact.touching(with_colliders=False))
    watch.lap("report")
    watch.rebook(contact.candidate_list.query_seconds, contact.name, "contact search")
    seconds = sum(watch.seconds.values())
    crossings = contact.penetration.crossings
    # Also in the frame that ends with the last seam closed.
    pulled = len(model.seam_body) > 0 and are_pulling(model, before)

    def judge() -> Convergence:
        found, accepted = measure(), model.settings.shape_error
        residuals = {constraints.name: residual.short for constraints, residual in found}
        return Convergence(residuals, *advise(found, substeps, accepted, adaptive.is_inflated(model), pulled))

    return StepReport(
        seconds, substeps, mean, p95, largest, contacts, layers, crossings, dict(watch.seconds),
        reason, contact.has_pinched, contact.penetration.inside,
        contact.penetration.pierced, Retries(*(watch.counts[name] for name in Retries._fields)),
        watch.counts["cut short"] > 0, *energies(model, state), Judgment(judge),
    )  # fmt: skip


def energies(model: Model, state: State) -> tuple[float, float]:
    """The kinetic energy of all particles that move, and the potential energy of their weight [J]."""
    # Without products of matrices, which wake threads that spin for as long as a frame of few vertices takes.
    moving = np.where(model.w > 0.0, model.masses, 0.0)
    kinetic = 0.5 * np.einsum("n,n->", moving, np.einsum("in,in->n", state.v, state.v))
    weighed = np.einsum("in,n->i", state.x, moving * model.gravity_fraction)
    return float(kinetic), -sum(map(operator.mul, model.settings.gravity, weighed.tolist()))
