"""What inflates the body."""

from __future__ import annotations

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.timeline import session
from .places import BodyPanel, in_both_places
from .rows import columns, draw_rows, draw_sentence


class Pressure(BodyPanel):
    """Volume, overpressure or an amount of gas inside of the mesh"""

    name = "pressure"
    parent = "main"
    bl_label = "Pressure"
    bl_options = frozenset({"DEFAULT_CLOSED"})

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.prop(settings, "pressure_mode", text="Mode")
        mode = settings.pressure_mode
        if mode == "OFF":
            return
        names = ["pressure" if mode == "VOLUME" else "overpressure"]
        if context.scene.pbd.method == "PBD":
            names.append("k_volume")
        draw_rows(columns(layout), settings, *names)
        draw_measured(context, layout)


def draw_measured(context: Context, layout: Layout) -> None:
    """Pressure after the last step, in a line that is always there."""
    running, measured = session.get(context.scene), []
    if running is not None and running.scene_sim is not None and running.last_frame > running.first_frame:
        measured = [
            f"{pascals:.0f}"
            for member in running.scene_sim.members
            if member.uid == context.object.session_uid
            for pascals in running.scene_sim.simulation.pressure(member.body)
        ]
    line = iface("Not measured yet")
    if measured:
        line = iface("{pressures} Pa measured at frame {frame}").format(
            pressures=", ".join(measured), frame=running.last_frame
        )
    draw_sentence(layout, context, line, "FORCE_FORCE")


register, unregister = bpy.utils.register_classes_factory(in_both_places(Pressure))
