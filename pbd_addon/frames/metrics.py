"""Figures of many frames: as a table, in a few numbers, and as an array for files."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Mapping

import numpy as np

from .report import StepReport

COLUMNS = (
    *("seconds", "substeps", "strain_mean", "strain_p95", "strain_max", "kinetic_energy", "potential_energy"),
    *("contacts", "self_contacts", "crossings", "inside", "pierced"),
)
"""What a table says of each frame: attributes of `StepReport`."""

WHOLE = [one.name for one in dataclasses.fields(StepReport) if one.type == "int"]
"""Those of them that are whole numbers, among others."""


def figures(report: StepReport) -> np.ndarray:
    """What a table says of a frame, (c,) float64, by `COLUMNS`."""
    return np.array([getattr(report, name) for name in COLUMNS], float)


def report_of(figures: np.ndarray) -> StepReport:
    """A report with the figures (c,) of a frame, and nothing else."""
    values = dict(zip(COLUMNS, figures.tolist(), strict=True))
    return StepReport(**values | {name: int(values[name]) for name in WHOLE if name in values})


def table(reports: Mapping[int, StepReport]) -> str:
    """The reports by frame as comma-separated values: a line of names, and one for each frame, in order."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(("frame", *COLUMNS))
    for frame in sorted(reports):
        values = (getattr(reports[frame], name) for name in COLUMNS)
        writer.writerow((frame, *(f"{one:.9g}" if isinstance(one, float) else one for one in values)))
    return lines.getvalue()


def summary(reports: Mapping[int, StepReport]) -> dict[str, float | int | None]:
    """The largest strain and number of crossings of any frame; None where there are no frames."""
    kept = reports.values()
    return {
        "strain_p95": round(max(one.strain_p95 for one in kept), 9) if kept else None,
        "strain_max": round(max(one.strain_max for one in kept), 9) if kept else None,
        "crossings": max(one.crossings for one in kept) if kept else None,
    }
