"""The wind of the scene and how its air acts on the body, and which of Blender's force fields do."""

from __future__ import annotations

import bpy

from ..pbd_addon.blender import gpu_drawing, wind_arrow
from ..pbd_addon.blender.doctor import field_findings
from ..pbd_addon.blender.kinds import Context, Layout
from . import overlay
from .places import BodyPanel, in_both_places
from .rows import columns, draw_rows, draw_sentence

ARROW = (0.5, 0.85, 1.0, 0.9)
"""Its color, red, green, blue and opacity."""


class Wind(BodyPanel):
    """Air that moves"""

    name = "wind"
    parent = "main"
    bl_label = "Wind"
    bl_options = frozenset({"DEFAULT_CLOSED"})

    def draw_settings(self, context: Context, layout: Layout) -> None:
        scene = context.scene.pbd
        draw_rows(columns(layout), scene, "wind_speed", labels={"wind_speed": "Speed"})
        col = layout.column()
        col.active = layout.active and scene.wind_speed > 0.0
        col.prop(scene, "wind_object")
        if scene.wind_object is None:
            col.prop(scene, "wind_direction")
        draw_rows(columns(col), scene, "wind_turbulence", "wind_eddy", "wind_seed", "wind_loop")
        draw_rows(columns(col), scene, "wind_shelter")
        for sentence in field_findings.wind(context.object, context.scene):
            draw_sentence(layout, context, sentence, "INFO")


class Air(BodyPanel):
    """How air acts on the surface"""

    name = "air"
    parent = "wind"
    bl_label = "Air"
    bl_options = frozenset({"DEFAULT_CLOSED"})

    def draw_settings(self, context: Context, layout: Layout) -> None:
        flow = columns(layout)
        draw_rows(flow, context.object.pbd, "air_normal", "air_tangent")
        draw_rows(flow, context.scene.pbd, "air_density")


class FieldWeights(BodyPanel):
    """How much of Blender's force fields, and of gravity, the body feels"""

    name = "field_weights"
    parent = "main"
    bl_label = "Field Weights"
    bl_options = frozenset({"DEFAULT_CLOSED"})

    def draw_settings(self, context: Context, layout: Layout) -> None:
        weights = context.object.pbd.field_weights
        layout.prop(context.scene.pbd, "field_reading")
        layout.prop(weights, "collection")
        draw_rows(
            columns(layout),
            weights,
            *("gravity", "all", "force", "vortex", "magnetic", "harmonic", "wind", "turbulence", "drag", "texture"),
            *("charge", "lennardjones", "curve_guide", "smokeflow", "boid"),
            labels={"lennardjones": "Lennard-J."},
        )
        for sentence in field_findings.fields(context.object, context.scene):
            draw_sentence(layout, context, sentence, "INFO")


class Gas(BodyPanel):
    """What is inside of the skin"""

    name = "gas"
    parent = "pressure"
    bl_label = "Gas"
    bl_options = frozenset({"DEFAULT_CLOSED"})

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.active = layout.active and settings.pressure_mode != "OFF"
        layout.prop(settings, "gas")
        flow = columns(layout)
        draw_rows(flow, settings, "gas_density")
        pump = flow.column()
        pump.active = layout.active and settings.pressure_mode == "GAS"
        draw_rows(pump, settings, "pump")
        draw_rows(flow, settings, "burst_pressure", "burst_strain")


def draw() -> None:
    """Draw the arrow into the view that is being drawn."""
    context = bpy.context
    if context.scene.pbd.wind_speed and overlay.is_on(context):
        gpu_drawing.draw_lines(wind_arrow.lines(context.scene), ARROW)


_handles: list[object] = []
_register, _unregister = bpy.utils.register_classes_factory(in_both_places(Wind, Air, FieldWeights, Gas))


def register() -> None:
    """Register the panels; draw from now on, where there is a window."""
    _register()
    if overlay.HANGS:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    """Undo `register`."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    _unregister()
