"""What inflates the body."""

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.settings.gases import SAME
from ..pbd_addon.blender.timeline import session
from .places import BodyPanel
from .preferences import shows_all
from .rows import columns, draw_group, draw_sentence


class Pressure(BodyPanel):
    """What inflates the balloon: volume, overpressure or an amount of gas, and which gas"""

    is_open = True
    parent = "main"
    of_rigid = False
    of_type = "BALLOON"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return super().poll(context) and context.object.pbd.type == cls.of_type

    def draw_settings(self, context: Context, layout: Layout) -> None:
        draw_pressure(context, layout)


def draw_pressure(context: Context, layout: Layout) -> None:
    """What inflates the body, and what is inside of it."""
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
    if mode == "GAS" or (mode == "VOLUME" and (settings.contents or shows_all(context))):
        draw_group(flow, settings, "contents")
    flow.column().prop(settings, "gas")
    if settings.gas != SAME:
        draw_group(flow, settings, "gas")
    if mode == "GAS":
        draw_group(flow, settings, "pump")
    if shows_all(context) or settings.burst_pressure or settings.burst_strain:
        draw_group(flow, settings, "burst")
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
