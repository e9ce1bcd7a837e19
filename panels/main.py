"""The root panel: type, quality, playback and what the simulation says."""

from __future__ import annotations

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.scene import linked
from ..pbd_addon.blender.timeline import cost_estimate, session
from .convergence import draw_convergence
from .places import BodyPanel, in_both_places, is_live
from .presets import draw_header_icon
from .rows import columns, draw_rows, draw_sentence, file_size, row_of_buttons

DISTURBED = {
    "COLLIDERS": "Colliders changed at frame {frame}: Reset to start again",
    "HAND": "Changed by hand from frame {frame} on; a bake leaves that out",
    "SETTLE": "Frame {frame} is not settled to the end: press the button beside Settle",
}
"""What makes the cached frames differ from a run in one go."""


class Main(BodyPanel):
    """Cloth or balloon of the active object"""

    name = "main"
    bl_label = ""

    def draw_header(self, context):
        settings = context.object.pbd
        self.layout.prop(settings, "active", text="PBD Balloon" if settings.type == "BALLOON" else "PBD Cloth")

    def draw_header_preset(self, context):
        draw_header_icon(self.layout, context.object)
        self.layout.operator("object.pbd_remove", text="", icon="X")

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        draw_body(context, layout)
        draw_playback(context, layout)
        draw_status(context, layout)


def draw_body(context, layout):
    """Type of the object and quality of the scene."""
    settings = context.object.pbd
    col = layout.column()
    col.active = is_live(context.object)
    row = col.row(align=True)
    row.operator("object.pbd_add", text="Cloth", depress=settings.type == "CLOTH").type = "CLOTH"
    row.operator("object.pbd_add", text="Balloon", depress=settings.type == "BALLOON").type = "BALLOON"
    draw_rows(columns(col), context, context.scene.pbd, "substeps", "automatic", "speed")


def draw_playback(context, layout):
    """Play, step and reset."""
    playing = context.screen.is_animation_playing
    row = row_of_buttons(layout, context, "Play", "Step", "Reset", icon=True)
    row.operator("screen.animation_play", text="Pause" if playing else "Play", icon="PAUSE" if playing else "PLAY")
    row.operator("object.pbd_step", icon="FRAME_NEXT")
    row.operator("object.pbd_reset", icon="LOOP_BACK")
    layout.operator("object.pbd_grab", icon="VIEW_PAN")


def draw_status(context, layout):
    """What the running simulation reports, and what went wrong."""
    obj = context.object
    if obj.pbd.baked:
        line = iface("Baked, frames {first} to {last}").format(first=obj.pbd.bake_start, last=obj.pbd.bake_end)
        layout.label(text=line, icon="LOCKED", translate=False)
        return
    foreign = linked.problem(obj)
    if foreign:
        draw_sentence(layout, context, foreign, "ERROR")
        return
    running = session.get(context.scene)
    if running is None:
        draw_sentence(layout, context, "Press Space to simulate", "INFO")
        takes = cost_estimate.sentence(context.scene)
        if takes:
            draw_sentence(layout, context, takes, "TIME")
        return
    if running.message:
        col = layout.column()
        col.alert = True
        draw_sentence(col, context, running.message, "ERROR")
        if running.is_late:
            col.operator("object.pbd_catch_up", icon="FF")
    if running.shaped:
        draw_sentence(
            layout, context, "Starts from a shape made by hand: Reset forgets it, Apply as Base keeps it", "VIEW_PAN"
        )
    report = running.report
    if report is not None:
        line = iface("{time:.0f} ms a frame, {steps} steps, {strain:.1f} % stretched").format(
            time=1000.0 * report.seconds, steps=report.substeps, strain=100.0 * report.strain_p95
        )
        draw_sentence(layout, context, line, "TIME")
        draw_convergence(layout, context, report)
        line = iface("{obstacles} vertices touch obstacles, {cloth} touch cloth").format(
            obstacles=report.contacts, cloth=report.self_contacts
        )
        draw_sentence(layout, context, line, "MOD_PHYSICS")
    if running.world is not None:
        first, last = session.valid_frames(context.scene)
        line = iface("Frames {first} to {last} simulated, {size} in memory").format(
            first=first, last=last, size=file_size(running.cache_bytes)
        )
        if first <= last:
            draw_sentence(layout, context, line, "FILE_CACHE")
    lost = session.lost_frames(context.scene)
    if lost is not None:
        line = iface("From frame {first} on: {why}").format(first=lost.first, why=lost.why)
        draw_sentence(layout, context, line, "INFO")
    if running.disk_note:
        draw_sentence(layout, context, running.disk_note, "ERROR")
    if running.first_disturbed is not None:
        line = iface(DISTURBED[running.disturbed_by]).format(frame=running.first_disturbed)
        draw_sentence(layout, context, line, "INFO")
    for note in running.notes.get(obj.session_uid, ()):
        draw_sentence(layout, context, note, "INFO")


register, unregister = bpy.utils.register_classes_factory(in_both_places(Main))
