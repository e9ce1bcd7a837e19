"""What a slow frame spends its time on, with the button that makes it quicker where there is one."""

from __future__ import annotations

from typing import Any

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Layout, Scene
from ..pbd_addon.blender.timeline import cost_estimate, session
from .rows import draw_sentence

MAINLY = 0.5
"""From this share of a frame on contact is what takes the time; to save on what takes less helps less than it seems."""


def in_contact(report: Any) -> float:
    """How long the last frame looked for contacts and solved them [s]."""
    times: dict[str, float] = report.times
    return times.get("contact", 0.0) + times.get("contact search", 0.0)


def is_mainly_contact(report: Any) -> bool:
    """Whether contact takes most of the last frame."""
    return in_contact(report) >= MAINLY * report.seconds


def costs(scene: Scene, report: Any) -> tuple[str, bool]:
    """What takes the time of a frame that is stepped in slices, "" for a quick one; and whether *Fast* would help."""
    if report is None or report.seconds < cost_estimate.SLICED:
        return "", False
    if not is_mainly_contact(report):
        said = iface("{time} s a frame: {steps} steps of {count} vertices")
        count = f"{cost_estimate.count_vertices(scene):,}"
        return said.format(time=f"{report.seconds:.1f}", steps=report.substeps, count=count), False
    said = iface("{time} s a frame, {contact} of them contact")
    said = said.format(time=f"{report.seconds:.1f}", contact=f"{in_contact(report):.1f}")
    meets_itself = any(obj.pbd.self_collision for obj in session.live_bodies(scene))
    return said, meets_itself and scene.pbd.collisions == "ACCURATE"


def draw_costs(layout: Layout, context: Context, report: Any) -> None:
    """A sentence, and the button that helps."""
    said, fast_helps = costs(context.scene, report)
    if not said:
        return
    col = layout.column(align=True)
    draw_sentence(col, context, said, "TIME")
    if fast_helps:
        col.prop_enum(context.scene.pbd, "collisions", "FAST", text="Fast Self Collisions")
