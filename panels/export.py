"""What other programs get: which format, and for games how many keys."""

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.baking import key_plan
from ..pbd_addon.blender.kinds import Context, Layout
from .places import BodyPanel
from .rows import draw_sentence, file_size

BYTES_PER_VERTEX = 12
"""Of one frame or morph target: three 32-bit numbers."""


class Export(BodyPanel):
    """Files for other programs and for games"""

    parent = "cache"

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        row = layout.row(align=True)
        row.operator("object.pbd_export", text="Alembic").format = "ALEMBIC"
        row.operator("object.pbd_export", text="USD").format = "USD"
        layout.separator()
        layout.label(text="Reduced keys, for games")
        draw_reduction(context, layout)
        layout.operator("object.pbd_export", text="glTF").format = "GLTF"
        layout.separator()
        layout.operator("object.pbd_export_vertex_animation")
        layout.operator("object.pbd_export_metrics")


def draw_reduction(context: Context, layout: Layout) -> None:
    """How many keys there may be, and what that will come to."""
    obj = context.object
    settings = obj.pbd
    col = layout.column()
    col.prop(settings, "reduce_by")
    if settings.reduce_by == "COUNT":
        col.prop(settings, "reduce_count")
    else:
        col.prop(settings, "reduce_error", slider=True)
    if settings.baked:
        return
    plan = key_plan.get(context.scene, obj)
    if plan is None:
        col.operator("object.pbd_count_keys")
        return
    size = file_size(BYTES_PER_VERTEX * len(obj.data.vertices) * plan.total)
    line = iface("{keys} keys, {size}, off by {error:.2g} mm at most").format(
        keys=plan.total, size=size, error=1000.0 * plan.error
    )
    draw_sentence(col, context, line, "KEYFRAME")
