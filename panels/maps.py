"""Weight maps: where on the mesh settings count more or less."""

from ..pbd_addon.blender.kinds import Context, Layout, Object
from ..pbd_addon.parts import MAPS
from .places import BodyPanel


class Maps(BodyPanel):
    """Vertex groups that make parts of the body stiffer, heavier, shorter or rougher"""

    parent = "main"
    bl_label = "Property Weights"
    is_rare = True

    @classmethod
    def is_used(cls, obj: Object) -> bool:
        return any(getattr(obj.pbd, f"{kind}_group") for kind, one in MAPS.items() if not one.panel)

    def draw_settings(self, context: Context, layout: Layout) -> None:
        is_soft = not context.object.pbd.rigid
        if is_soft:
            draw_map(context, layout, "stretch")
            draw_map(context, layout, "bend")
            draw_map(context, layout, "shrink")
        draw_map(context, layout, "density")
        if is_soft:
            draw_map(context, layout, "pressure")
        draw_map(context, layout, "friction")
        if is_soft:
            draw_map(context, layout, "tear")


def draw_map(context: Context, layout: Layout, kind: str, text: str | None = None) -> None:
    """The group of a map with its brush, and below it the factors at weight 0 and at weight 1."""
    obj = context.object
    group = getattr(obj.pbd, f"{kind}_group")
    col = layout.column(align=True)
    draw_vertex_group(col, context, obj, f"{kind}_group", kind.upper(), text)
    if group:
        row = col.row(align=True)
        row.prop(obj.pbd, f"{kind}_low", text="Low, High")
        row.prop(obj.pbd, f"{kind}_high", text="")


def draw_vertex_group(
    layout: Layout, context: Context, obj: Object, name: str, which: str = "", text: str | None = None
) -> None:
    """A vertex group of the settings and, for a map or the pins, the brush that paints it."""
    row = layout.row(align=True)
    row.prop_search(obj.pbd, name, obj, "vertex_groups", text=text)
    if which:
        group = obj.vertex_groups.active
        painted = obj.mode == "WEIGHT_PAINT" and group is not None and group.name == getattr(obj.pbd, name)
        row.operator("object.pbd_paint_map", text="", icon="BRUSH_DATA", depress=painted).map = which
