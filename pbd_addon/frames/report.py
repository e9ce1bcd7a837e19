"""Report: the cost and quality of a frame."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..constraints import Constraints
from ..constraints.base import Residual
from ..kernels import Kernels
from ..model.model import Model, State
from ..stepping import adaptive
from ..timing.stopwatch import Stopwatch

REPORTED_RESIDUAL = 0.2
"""Residual that is reported: a strip bends that much too far. Cotton at 1.6 cm is 7 to 16 % short while it swings."""

MOST_STEPS = 200
"""More quality steps than this are not advised: a frame would take ten times as long as usual."""


class Advice(NamedTuple):
    """A residual that shows, and what helps.

    Attributes:
        kind: "stretch", "shear", "bend" or "volume".
        short: Fraction of its deformation that no force accounts for, above `REPORTED_RESIDUAL`.
        substeps: Quality steps that would fix it; 0 if it takes more than `MOST_STEPS`.
        softer: Fraction of the material's stiffness that the current steps can resolve.
    """

    kind: str
    short: float
    substeps: int
    softer: float


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


@dataclasses.dataclass(frozen=True)
class StepReport:
    """Figures of one frame.

    Attributes:
        seconds: Wall time [s].
        substeps: Number of substeps: that of the settings or automatic, or more where pressure, fine soft cloth or a
            fast collider needs them. Smooth frames take half as many, of second order, see `time_stepping`.
        reason: Why that many, one of `model.REASONS`.
        residuals: Fraction of the deformation of each elastic kind, by name, that no force accounts for, in [0, 1]: 0
            is converged; at 0.5 cloth is about half as stiff as its material (`Constraints.residual`).
        advice: The worst residual that shows, and what helps; or None.
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
        times: Wall time [s] by name: "prediction", each kind of constraint, "contact search", "report".
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
    residuals: dict[str, float] = dataclasses.field(default_factory=dict)
    advice: Advice | None = None
    no_room: bool = False
    inside: int = 0
    pierced: int = 0
    retries: Retries = dataclasses.field(default_factory=Retries)
    is_cut_short: bool = False


def advise(found: Sequence[tuple[Constraints, Residual]], substeps: int) -> Advice | None:
    """Advice on the worst residual of a frame with that many substeps, or None if none shows."""
    worst = None
    for constraints, residual in found:
        shows = residual.short > REPORTED_RESIDUAL and residual.error > adaptive.REPORTED_MULTIPLE * adaptive.tolerance(
            constraints, residual
        )
        if shows and (worst is None or residual.short > worst.short):
            enough = int(5.0 * math.ceil(substeps * adaptive.factor(constraints, residual) / 5.0))
            odds = residual.short / max(1.0 - residual.short, 1e-12)
            softer = adaptive.ACCEPTED_RESIDUAL / (1.0 - adaptive.ACCEPTED_RESIDUAL) / odds
            worst = Advice(constraints.cause, residual.short, enough if enough <= MOST_STEPS else 0, softer)
    return worst


def make_report(
    model: Model,
    state: State,
    substeps: int,
    reason: str,
    found: Sequence[tuple[Constraints, Residual]],
    kernels: Kernels,
    watch: Stopwatch,
) -> StepReport:
    """The report of the frame that has just ended in `state`, with the times of the watch."""
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
    residuals = {constraints.name: residual.short for constraints, residual in found}
    return StepReport(
        seconds, substeps, mean, p95, largest, contacts, layers, crossings, dict(watch.seconds),
        reason, residuals, advise(found, substeps), contact.has_pinched, contact.penetration.inside,
        contact.penetration.pierced, Retries(*(watch.counts[name] for name in Retries._fields)),
        watch.counts["cut short"] > 0,
    )  # fmt: skip
