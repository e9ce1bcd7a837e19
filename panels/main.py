"""The root panel: type, material, quality, playback, bake, and one line that says how it goes."""

from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.timeline import session
from . import editing, status
from .places import BodyPanel, is_live
from .presets import draw_chosen, draw_header_icon
from .rows import columns, draw_group, fit_side_by_side, row_of_buttons


class Main(BodyPanel):
    """Cloth, balloon or rigid body of the active object"""

    is_open = True
    bl_label = ""

    def draw_header(self, context: Context) -> None:
        settings = context.object.pbd
        self.layout.prop(settings, "active", text="")
        # As in Blender's own headers, the name is no part of the check box: a click on it folds the panel.
        if settings.rigid:
            self.layout.label(text="PBD Rigid Body")
        else:
            self.layout.label(text="PBD Balloon" if settings.type == "BALLOON" else "PBD Cloth")

    def draw_header_preset(self, context: Context) -> None:
        if not context.object.pbd.rigid:
            draw_header_icon(self.layout, context.object)
        self.layout.operator("object.pbd_remove", text="", icon="X")

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        editing_mesh = context.object.mode == "EDIT"
        if editing_mesh:  # In the place of what has to wait until it ends.
            layout = layout.column()  # Its rows are closer: a pinned balloon needs at most 900 pixels.
            editing.draw(context, layout)
        draw_body(context, layout)
        if not editing_mesh:
            draw_playback(context, layout)
        status.draw_line(context, layout)
        status.draw_problems(context, layout)


def draw_body(context: Context, layout: Layout) -> None:
    """Type of the object, its material, and quality of the scene."""
    settings = context.object.pbd
    col = layout.column()
    col.active = is_live(context.object)
    if context.object.mode != "EDIT":
        row = col.row(align=True)
        row.operator("object.pbd_add", text="Cloth", depress=settings.type == "CLOTH").type = "CLOTH"
        row.operator("object.pbd_add", text="Balloon", depress=settings.type == "BALLOON").type = "BALLOON"
        row.operator("object.pbd_add", text="Rigid", depress=settings.type == "RIGID").type = "RIGID"
    if not settings.rigid:
        draw_chosen(col, context.object)
    flow = columns(col)
    draw_group(flow, context.scene.pbd, "quality")
    if context.scene.pbd.automatic:
        draw_group(flow, context.scene.pbd, "accuracy")


def draw_playback(context: Context, layout: Layout) -> None:
    """Play, step and reset, bake and delete the bake, grab; a bake shows its progress in the place of its buttons."""
    playing = context.screen.is_animation_playing
    settings, running = context.object.pbd, session.get(context.scene)
    col = layout.column(align=True)
    row = row_of_buttons(col, context, "Play", "Step", "Reset", icon=True)
    row.operator("screen.animation_play", text="Pause" if playing else "Play", icon="PAUSE" if playing else "PLAY")
    row.operator("object.pbd_step", icon="FRAME_NEXT")
    row.operator("object.pbd_reset", icon="LOOP_BACK")
    fits = fit_side_by_side(context, "Bake", "Delete Bake", icon=True)
    row = col.row(align=True) if fits else col.column(align=True)
    if running is not None and running.bake is not None:
        row.scale_y = 1.0 if fits else 2.0  # As high as the buttons, so that nothing below it moves.
        row.progress(factor=running.bake.share, text=running.bake.describe(), translate=False)
    else:
        row.operator("object.pbd_bake", icon="KEY_HLT").mode = settings.bake_mode
        row.operator("object.pbd_delete_bake", icon="TRASH")
    col.operator("object.pbd_grab", icon="VIEW_PAN")
