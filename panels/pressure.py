"""What inflates the body."""

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.timeline import session
from .places import BodyPanel
from .rows import columns, draw_group, draw_sentence


class Pressure(BodyPanel):
    """Volume, overpressure or an amount of gas inside of the mesh"""

    parent = "main"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.prop(settings, "pressure_mode", text="Mode")
        mode = settings.pressure_mode
        if mode == "OFF":
            return
        if context.scene.pbd.method == "PBD":
            group = "volume, PBD" if mode == "VOLUME" else "overpressure, PBD"
        else:
            group = "volume" if mode == "VOLUME" else "overpressure"
        flow = columns(layout)
        draw_group(flow, settings, group)
        if mode in ("VOLUME", "GAS"):
            draw_group(flow, settings, "contents")
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


class Gas(BodyPanel):
    """What is inside of the skin"""

    parent = "pressure"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.active = layout.active and settings.pressure_mode != "OFF"
        layout.prop(settings, "gas")
        flow = columns(layout)
        draw_group(flow, settings, "gas")
        pump = flow.column()
        pump.active = layout.active and settings.pressure_mode == "GAS"
        draw_group(pump, settings, "pump")
        draw_group(flow, settings, "burst")
