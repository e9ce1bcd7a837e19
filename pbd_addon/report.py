"""Report: what a frame took and how well it came out."""

from __future__ import annotations

import dataclasses

import numpy as np

from .model import Model, State
from .stopwatch import Stopwatch


@dataclasses.dataclass(frozen=True)
class StepReport:
    """Figures of one frame.

    Attributes:
        seconds: Wall time [s].
        substeps: Number of substeps: as set or chosen, or more where a pressure or a fast collider needs them.
        strain_mean: Mean of |length / rest length - 1| over the edges.
        strain_p95: Its 95th percentile.
        strain_max: Its maximum.
        contacts: Number of particles that touched an obstacle: a surface in the frame, a plane at its end.
        self_contacts: Number of particles that touched cloth.
        crossings: Edges that go through faces since the beginning; the solver makes none.
        times: Where the wall time went [s]: "prediction", each kind of constraint by name, "contact search", "report".
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


def make_report(model: Model, state: State, substeps: int, watch: Stopwatch) -> StepReport:
    """The report of the frame that has just ended in `state`, with what the watch has booked for it."""
    strain = model.stretch.strains(state.x)
    mean, p95, largest = (
        (float(strain.mean()), float(np.percentile(strain, 95.0)), float(strain.max())) if len(strain) else (0.0,) * 3
    )
    contact = model.contact
    met = [plane.touching() for plane in model.plane_constraints]
    contacts = len(np.unique(np.concatenate([contact.touching(with_colliders=True), *met])))
    layers = len(contact.touching(with_colliders=False))
    watch.lap("report")
    watch.rebook(contact.query_seconds, contact.name, "contact search")
    seconds = sum(watch.seconds.values())
    crossings = contact.penetration.crossings
    return StepReport(seconds, substeps, mean, p95, largest, contacts, layers, crossings, dict(watch.seconds))
