"""The frames: their range, how they are kept and baked, and what to do with the present shape."""

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.baking import background_bake
from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.timeline import session
from .export import BYTES_PER_VERTEX, draw_reduction
from .places import BodyPanel
from .rows import draw_group, draw_sentence, file_size, row_of_buttons


class Cache(BodyPanel):
    """Frame range, where frames are kept, how they are baked, apply the shape"""

    parent = "main"
    bl_label = "Cache and Bake"

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        running = session.get(context.scene)
        layout.enabled = running is None or running.bake is None
        draw_range(context, layout)
        draw_store(context, layout)
        draw_bake(context, layout)
        draw_apply(context, layout)


def draw_range(context: Context, layout: Layout) -> None:
    """The frames that are simulated: of the scene, or its own simulation range."""
    settings = context.scene.pbd
    col = layout.column(align=True)
    draw_group(col, settings, "range")
    if settings.use_range:
        draw_group(col, settings, "range of its own")


def draw_store(context: Context, layout: Layout) -> None:
    """Where simulated frames are kept."""
    settings = context.scene.pbd
    col = layout.column()
    draw_group(col, settings, "store")
    running = session.get(context.scene)
    if settings.use_disk_cache:
        stored = 0 if running is None else running.disk_bytes
        line = iface("{size} on disk").format(size=file_size(stored)) if stored else iface("Nothing on disk yet")
        draw_sentence(col, context, line, "DISK_DRIVE")
        if not bpy.data.filepath:
            draw_sentence(col, context, "Save the file first: until then frames are kept in memory alone", "ERROR")
        row = row_of_buttons(col, context, "Load", "Find", "Delete")
        row.operator("object.pbd_disk_cache_load", text="Load")
        row.operator("object.pbd_disk_cache_find", text="Find")
        row.operator("object.pbd_disk_cache_delete", text="Delete")


def draw_bake(context: Context, layout: Layout) -> None:
    """How a bake is kept, its size before it is made, the bake in the background; Bake itself stands at the top."""
    obj = context.object
    settings = obj.pbd
    col = layout.column()
    col.active = not settings.baked
    col.prop(settings, "bake_mode")
    if not settings.baked:
        draw_size(context, col)
        draw_background(context, col)
    layout.operator("object.pbd_clear_cache")


def draw_size(context: Context, layout: Layout) -> None:
    """What the bake will take, and where."""
    obj = context.object
    settings = obj.pbd
    if settings.bake_mode == "REDUCED":
        draw_reduction(context, layout)
        return
    first, last = session.frame_range(context.scene)
    frames = max(last - first + 1, 0)
    size = file_size(BYTES_PER_VERTEX * len(obj.data.vertices) * frames)
    if settings.bake_mode == "MESH_CACHE":
        layout.prop(context.scene.pbd, "bake_folder")
        line = iface("{frames} frames: {size} in a file of its own").format(frames=frames, size=size)
        draw_sentence(layout, context, line, "FILE_CACHE")
    else:
        line = iface("{frames} frames: {size} in the file").format(frames=frames, size=size)
        draw_sentence(layout, context, line, "FILE_BLEND")


def draw_background(context: Context, layout: Layout) -> None:
    """The bake in a second Blender: begin, how far it is, cancel, why it failed."""
    running = background_bake.job()
    if running is None:
        layout.operator("object.pbd_bake_background").mode = context.object.pbd.bake_mode
        if background_bake.message():
            draw_sentence(layout, context, background_bake.message(), "ERROR")
        return
    row = layout.row(align=True)
    row.progress(factor=running.share, text=running.text, translate=False)
    row.operator("object.pbd_cancel_background", text="", icon="X")


def draw_apply(context: Context, layout: Layout) -> None:
    """Keep the shape of this frame."""
    col = layout.column(align=True)
    col.label(text="Apply the shape of this frame as")
    row = row_of_buttons(col, context, "Base", "Shape Key", "New Mesh")
    sub = row.row(align=True)
    sub.enabled = not context.object.pbd.baked
    sub.operator("object.pbd_apply", text="Base").result = "BASE"
    sub.operator("object.pbd_apply", text="Shape Key").result = "SHAPE_KEY"
    row.operator("object.pbd_apply", text="New Mesh").result = "MESH"
