"""What the solver says of its last frame: why it took so many steps, and what is still short."""

from __future__ import annotations

from typing import Any

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Layout
from .rows import draw_sentence


def draw_convergence(layout: Layout, context: Context, report: Any) -> None:
    """A line where steps were chosen or added, and one where a kind of constraint is so short that it shows."""
    names = {
        "motion": iface("Motion"),
        "stretch": iface("Tension"),
        "shear": iface("Shear"),
        "bend": iface("Bending"),
        "volume": iface("Volume"),
        "pressure": iface("Pressure"),
        "colliders": iface("Colliders"),
    }
    if report.reason in names:
        line = iface("{steps} steps a frame, because of: {why}")
        draw_sentence(layout, context, line.format(steps=report.substeps, why=names[report.reason]), "INFO")
    advice = report.advice
    if advice is None:
        return
    if advice.substeps:
        line = iface("{kind} {share:.0f} % short: {steps} Quality Steps would do")
    else:
        line = iface("{kind} {share:.1f} % short: too stiff for more steps, {softer:.1g} times its value would do")
    line = line.format(kind=names[advice.kind], share=100.0 * advice.short, steps=advice.substeps, softer=advice.softer)
    draw_sentence(layout, context, line, "ERROR")
