"""The wind of the scene and how its air acts on the body, and which of Blender's force fields do."""

import bpy

from ..pbd_addon.blender import gpu_drawing
from ..pbd_addon.blender.doctor import field_findings
from ..pbd_addon.blender.kinds import Context, Layout, Object
from ..pbd_addon.blender.overlay import wind_lines
from ..pbd_addon.blender.settings.field_weights import NAMES
from . import overlay
from .places import BodyPanel
from .rows import columns, draw_group, draw_sentence

ARROW = (0.5, 0.85, 1.0, 0.9)
"""Its color, red, green, blue and opacity."""


class Wind(BodyPanel):
    """Air that moves"""

    parent = "main"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        scene = context.scene.pbd
        draw_group(columns(layout), scene, "wind")
        col = layout.column()
        col.active = layout.active and scene.wind_speed > 0.0
        col.prop(scene, "wind_object")
        if scene.wind_object is None:
            col.prop(scene, "wind_direction")
        draw_group(columns(col), scene, "gusts")
        draw_group(columns(col), scene, "shelter")
        for sentence in field_findings.wind(context.object, context.scene):
            draw_sentence(layout, context, sentence, "INFO")


class Air(BodyPanel):
    """How air acts on the surface"""

    parent = "wind"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        flow = columns(layout)
        draw_group(flow, context.object.pbd, "air on the surface")
        draw_group(flow, context.scene.pbd, "air")


class FieldWeights(BodyPanel):
    """How much of Blender's force fields, and of gravity, the body feels"""

    parent = "main"
    is_rare = True

    @classmethod
    def is_used(cls, obj: Object) -> bool:
        weights = obj.pbd.field_weights
        return weights.collection is not None or any(getattr(weights, name) != 1.0 for name in NAMES)

    def draw_settings(self, context: Context, layout: Layout) -> None:
        weights = context.object.pbd.field_weights
        layout.prop(context.scene.pbd, "field_reading")
        layout.prop(weights, "collection")
        draw_group(columns(layout), weights, "field weights")
        for sentence in field_findings.fields(context.object, context.scene):
            draw_sentence(layout, context, sentence, "INFO")


def draw() -> None:
    """Draw the arrow into the view that is being drawn."""
    context = bpy.context
    if context.scene.pbd.wind_speed and overlay.is_on(context):
        gpu_drawing.draw_lines(wind_lines(context.scene), ARROW)


_handles: list[object] = []


def register() -> None:
    """Draw from now on, where there is a window."""
    if overlay.HANGS:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    """Undo `register`."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
