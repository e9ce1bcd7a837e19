"""What holds the body, and its rest shape."""

from ..pbd_addon.blender.kinds import Context, Layout, Object
from .maps import draw_map, draw_vertex_group
from .places import BodyPanel
from .preferences import shows_all
from .rows import columns, draw_group, draw_sentence


class Shape(BodyPanel):
    """What holds it: pinned vertices follow the object. Its rest shape, seams and tears"""

    is_open = True
    parent = "main"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        obj = context.object
        draw_vertex_group(layout, context, obj, "pin_group", "PIN")
        if obj.pbd.pin_group:
            draw_group(layout, obj.pbd, "pins")
        if obj.pbd.pin_group or obj.pbd.attach_object:
            draw_group(layout, obj.pbd, "holding")
            if obj.pbd.hold_group or shows_all(context):
                col = layout.column()
                col.active = layout.active and obj.pbd.hold_pins
                draw_map(context, col, "hold")
        elif obj.mode != "EDIT":
            draw_sentence(layout, context, "Pin vertices in Edit Mode", "PINNED")
        if obj.pbd.rigid:
            return
        draw_group(layout, obj.pbd, "rest")
        if obj.pbd.rest_shape == "OBJECT":
            draw_group(layout, obj.pbd, "rest object")
        elif obj.pbd.rest_shape == "KEY" and obj.data.shape_keys:
            layout.prop_search(obj.pbd, "rest_key", obj.data.shape_keys, "key_blocks")
        elif obj.pbd.rest_shape == "KEY":
            draw_sentence(layout, context, "Add a shape key first", "INFO")
        if obj.mode != "EDIT":
            layout.operator("object.pbd_make_proxy", icon="MOD_DECIM").kind = "CLOTH"


class Sewing(BodyPanel):
    """Seams: loose edges between faces draw their ends together. Add Seam stands at the top in Edit Mode"""

    parent = "shape"
    of_rigid = False

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.object.pbd, "sewing", text="")

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.active = layout.active and settings.sewing
        draw_group(columns(layout), settings, "sewing")


class Tearing(BodyPanel):
    """Cloth comes apart where it is pulled too hard, along edges at which its mesh was split before"""

    parent = "shape"
    of_rigid = False
    is_rare = True

    @classmethod
    def is_used(cls, obj: Object) -> bool:
        return obj.pbd.tear_strength > 0.0

    def draw_settings(self, context: Context, layout: Layout) -> None:
        layout.operator_menu_enum("object.pbd_split", "where", icon="MOD_EDGESPLIT")
        draw_group(columns(layout), context.object.pbd, "tearing")


class InternalSprings(BodyPanel):
    """Springs through the inside of the mesh: foam, or the threads and straps of a quilt or mattress"""

    parent = "shape"
    of_rigid = False
    is_rare = True

    @classmethod
    def is_used(cls, obj: Object) -> bool:
        return obj.pbd.internal_springs

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.object.pbd, "internal_springs", text="")

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.active = layout.active and settings.internal_springs
        draw_group(columns(layout), settings, "internal springs")
