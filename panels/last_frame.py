"""What the solver says of its last frame: where its time went, why it took so many steps, what is still short."""

import math
from typing import Any

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Layout, Scene
from ..pbd_addon.blender.timeline import cost_estimate, session
from .places import BodyPanel
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
    # Fast halves frames of cloth of 1,600 vertices that lies in folds, 114 to 52 ms; on a ball it saves a sixth.
    mainly_itself = report.self_contacts > report.contacts
    return said, meets_itself and mainly_itself and scene.pbd.collisions == "ACCURATE"


def draw_costs(layout: Layout, context: Context, report: Any) -> None:
    """A sentence, and the button that helps."""
    said, fast_helps = costs(context.scene, report)
    if not said:
        return
    col = layout.column(align=True)
    draw_sentence(col, context, said, "TIME")
    if fast_helps:
        col.prop_enum(context.scene.pbd, "collisions", "FAST", text="Fast Self Collisions")


def causes() -> dict[str, str]:
    """What steps can be due to, as the panels call it."""
    return {
        "motion": iface("Motion"),
        "stretch": iface("Tension"),
        "shear": iface("Shear"),
        "bend": iface("Bending"),
        "volume": iface("Volume"),
        "pressure": iface("Pressure"),
        "colliders": iface("Colliders"),
        "rigid": iface("Rigid Body"),
    }


def short_advice(report: Any) -> str:
    """What the status line says of a shape that is farther from the converged one than accepted, "" of others."""
    advice = None if report is None else report.advice
    if advice is None:
        return ""
    share = math.ceil(100.0 * report.shape_error)
    if advice.kind == "seams":
        return iface("Seams still pull: let them close")
    if advice.substeps:
        return iface("{kind} {share} % off: Quality {steps}").format(
            kind=causes()[advice.kind], share=share, steps=advice.substeps
        )
    return iface("{kind} {share} % off, see Details").format(kind=causes()[advice.kind], share=share)


def draw_convergence(layout: Layout, context: Context, report: Any) -> None:
    """A line where steps were chosen or added, and one that says how far the shape is from the converged one."""
    names = causes()
    if report.reason in names:
        line = iface("{steps} steps a frame, because of: {why}")
        draw_sentence(layout, context, line.format(steps=report.substeps, why=names[report.reason]), "INFO")
    advice = report.advice
    if not any(report.residuals.values()):
        return  # PBD has no other shape than its own
    if advice is None:
        line = iface("Shape within {share} %").format(share=max(1, math.ceil(100.0 * report.shape_error)))
        draw_sentence(layout, context, line, "INFO")
        return
    if advice.kind == "seams":
        draw_sentence(layout, context, "Seams still pull: how exact the shape is shows once they have closed", "INFO")
        return
    if advice.substeps:
        line = iface("Shape only within {share} %, because of {kind}: {steps} Quality Steps would do")
    else:
        line = iface("Shape only within {share} %, because of {kind}: too stiff, light or fine for more steps")
    share = math.ceil(100.0 * report.shape_error)
    line = line.format(kind=names[advice.kind], share=share, steps=advice.substeps)
    col = layout.column(align=True)
    draw_sentence(col, context, line, "ERROR")
    if advice.substeps:
        text = iface("Quality {steps}").format(steps=advice.substeps)
        col.operator("object.pbd_raise_quality", text=text, icon="CHECKMARK", translate=False)


class Times(BodyPanel):
    """Milliseconds of the last simulated frame, by kind of constraint"""

    parent = "advanced"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        running = session.get(context.scene)
        if running is None or running.report is None:
            draw_sentence(layout, context, "Press Space to simulate", "INFO")
            return
        layout.use_property_split = False
        report = running.report
        shown = {**report.times, "scene and keys": running.exchange}
        flow = layout.column_flow(columns=2)
        for name in shown:
            flow.label(text=name.capitalize())
        for seconds in shown.values():
            flow.label(text=f"{1000.0 * seconds:.1f} ms", translate=False)
        layout.label(text=iface("{count} substeps").format(count=report.substeps), translate=False)
