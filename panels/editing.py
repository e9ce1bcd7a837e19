"""The buttons of Edit Mode, at the top: what is done with the selected vertices, edges and faces."""

from ..pbd_addon.blender.kinds import Context, Layout
from .rows import row_of_buttons


def draw(context: Context, layout: Layout) -> None:
    """Pins and attachments; of cloth and balloons, seams, creases and tears too."""
    col = layout.column(align=True)
    row = row_of_buttons(col, context, "Pin Selected", "Unpin Selected")
    row.operator("object.pbd_pin_selected")
    row.operator("object.pbd_unpin_selected")
    col.operator("object.pbd_attach_selected", icon="LINKED")
    if context.object.pbd.rigid:
        return
    col = layout.column(align=True)
    row = row_of_buttons(col, context, "Set Crease", "Clear Crease")
    row.operator("object.pbd_set_crease")
    row.operator("object.pbd_clear_crease")
    row = row_of_buttons(col, context, "Add Seam", "Split Selected")
    row.operator("object.pbd_add_seam")
    row.operator("object.pbd_split", text="Split Selected").where = "SELECTED"
