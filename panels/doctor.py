"""The doctor: what will go wrong, with a button beside each finding that helps."""

from ..pbd_addon.blender.doctor import doctor
from ..pbd_addon.blender.kinds import Context, Icon, Layout
from .places import BodyPanel
from .rows import draw_group, draw_sentence


class Doctor(BodyPanel):
    """What will go wrong when the scene is simulated, and a map of what goes on while it plays"""

    parent = "main"

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.operator("object.pbd_doctor_check", icon="VIEWZOOM")
        found = doctor.findings(context.scene)
        if found is not None and not found:
            draw_sentence(layout, context, "No problems found", "CHECKMARK")
        for finding in found or ():
            draw_finding(context, layout, finding)


class HeatMap(BodyPanel):
    """Colors of the vertices that show strain or contact while frames play"""

    parent = "doctor"

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        kind = context.scene.pbd.heat_map
        row = layout.row(align=True)
        row.operator("object.pbd_heat_map", text="Off", depress=kind == "OFF").kind = "OFF"
        row.operator("object.pbd_heat_map", text="Strain", depress=kind == "STRAIN").kind = "STRAIN"
        row.operator("object.pbd_heat_map", text="Contact", depress=kind == "CONTACT").kind = "CONTACT"
        row = layout.row()
        row.active = kind == "STRAIN"
        draw_group(row, context.scene.pbd, "heat map")


def draw_finding(context: Context, layout: Layout, finding: doctor.Finding) -> None:
    """One sentence, and the button that helps."""
    box = layout.box()
    where = f"{finding.body}: " if finding.body else ""
    draw_sentence(box, context, f"{where}{finding.sentence}", "ERROR")
    if finding.action:
        shows = finding.action == doctor.SHOW
        icon: Icon = "RESTRICT_SELECT_OFF" if shows else "CHECKMARK"
        button = box.operator("object.pbd_doctor_fix", text="Show" if shows else "Fix", icon=icon)
        button.check, button.body = finding.check, finding.body
