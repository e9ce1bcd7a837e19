"""The solver's own settings."""

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender import about
from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.timeline import backends, session
from .places import BodyPanel
from .preferences import draw_choice
from .rows import columns, draw_group, draw_sentence, row_of_buttons

KERNEL_NAMES = {"numpy": "NumPy", "numba": "Numba"}


class Advanced(BodyPanel):
    """Method, iterations, and what computes them"""

    parent = "main"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.scene.pbd
        flow = columns(layout)
        if not settings.automatic:  # Else it stands beside Automatic.
            draw_group(flow, settings, "accuracy")
        draw_group(flow, settings, "solver")
        row = layout.row(align=True)
        row.prop(settings, "settle")
        row.operator("object.pbd_settle", text="", icon="FORCE_FORCE")
        running = session.get(context.scene)
        name = "" if running is None else running.kernels_name
        line = iface("Computed by {kernels}").format(kernels=KERNEL_NAMES.get(name, "–"))
        layout.label(text=line, icon="SYSTEM", translate=False)
        if name != "numba":
            draw_sentence(layout, context, backends.status(context.scene), "INFO")
        layout.use_property_split = False
        draw_choice(context, layout)
        layout.prop(settings, "lock_interface")
        layout.operator("object.pbd_copy_to_selected", icon="COPYDOWN")
        layout.label(text=iface("Version {version}").format(version=about.version()), translate=False)
        row = row_of_buttons(layout, context, "What's New", "Report a Bug", icon=True)
        row.operator("object.pbd_whats_new", icon="URL")
        row.operator("object.pbd_report_bug", icon="URL")
