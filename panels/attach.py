"""The surface of another object, which vertices follow."""

from ..pbd_addon.blender.kinds import Context, Layout, Object
from .maps import draw_vertex_group
from .places import BodyPanel
from .rows import draw_group


class Attach(BodyPanel):
    """Vertices that follow the surface of another object: a body, a mast. Attach Selected is at the top in Edit Mode"""

    parent = "shape"
    is_rare = True

    @classmethod
    def is_used(cls, obj: Object) -> bool:
        return obj.pbd.type == "CLOTH" or obj.pbd.attach_object is not None

    def draw_settings(self, context: Context, layout: Layout) -> None:
        obj = context.object
        col = layout.column()
        col.prop(obj.pbd, "attach_object")
        col = layout.column()
        col.active = layout.active and obj.pbd.attach_object is not None
        draw_vertex_group(col, context, obj, "attach_group")
        draw_group(col, obj.pbd, "attaching")
