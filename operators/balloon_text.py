"""Add > Mesh > Balloon from Text: foil letters, flat as they are sold, that fill up when the animation plays."""

import bpy
import numpy as np
from mathutils import Matrix

from ..pbd_addon.blender.kinds import Context, Event, Object, Result
from ..pbd_addon.blender.output import flange
from ..pbd_addon.blender.read.pins import ensure_group
from ..pbd_addon.blender.scene import flat_balloons, outlines
from ..pbd_addon.blender.settings import presets
from . import primitives
from .base import rpt

FOIL = "Foil Balloon"

KEEP = 0.0015
"""Stiffness of the soft pins that keep a letter's shape, over its overpressure and the length of its edges.

Foil that is sealed along a curve curls when it is filled: the arms of a U close, the legs of an M cross. Of "UM" at
1000 Pa the rim is off by up to 153 mm without these pins, by 25 mm with them, and by 12 mm with pins three times as
stiff, which make strokes a tenth thinner.
"""

HOLDS = (
    ("STAY", "Stay", "No gravity, and each letter keeps its shape: else a U closes, as foil that is curved curls"),
    ("FLOAT", "Float", "No gravity, and letters curl as foil does"),
    ("HANG", "Hang", "Each letter hangs from its two highest points, which are pinned"),
    ("FALL", "Fall", "The letters fall like any balloon"),
)


class MESH_OT_primitive_pbd_balloon_text_add(primitives.AddBody, bpy.types.Operator):
    """Add foil balloons in the shape of a text or of the selected text or curve"""

    bl_idname = "mesh.primitive_pbd_balloon_text_add"
    bl_label = "Add Balloon from Text"

    from_selected: bpy.props.BoolProperty(
        name="From Selected",
        description="Take the shape of the active text or curve object, which is hidden",
        options={"SKIP_SAVE"},
    )
    text: bpy.props.StringProperty(name="Text", description="What the balloons say", default="Hello")
    size: primitives.length("Size", "Height of a line of text. Party balloons 0.4 m, large ones 1 m", 0.5)
    bold: bpy.props.FloatProperty(
        name="Bold",
        description="How much wider strokes are at either side, over the size. As the font has them 0, like foil 0.03",
        default=0.03,
        min=0.0,
        max=0.1,
    )
    cells: bpy.props.IntProperty(
        name="Cells",
        description="Edges across a stroke. 4 make plain tubes, 8 show wrinkles and take four times as long",
        default=4,
        min=3,
        max=24,
    )
    pressure: bpy.props.FloatProperty(
        name="Overpressure",
        description="Pressure above the air outside, in pascals. Soft 200, usual 1000, taut 3000 Pa",
        default=1000.0,
        min=1.0,
        soft_max=5000.0,
        precision=0,
    )
    seconds: bpy.props.FloatProperty(
        name="Inflate For",
        description="Seconds in which the pressure rises from the start on, by two keys. Usually 1 s, at once 0",
        default=1.0,
        min=0.0,
        soft_max=5.0,
        subtype="TIME_ABSOLUTE",
    )
    flange: bpy.props.FloatProperty(
        name="Flange",
        description="Width of the seam that stands out around letters; drawn, not simulated. None 0 m, usual 0.006 m",
        default=0.0,
        min=0.0,
        soft_max=0.05,
        subtype="DISTANCE",
        precision=4,
    )
    neck: bpy.props.FloatProperty(
        name="Neck",
        description="Length of a neck at the lowest place of each letter, where it is filled. None 0 m, usual 0.03 m",
        default=0.0,
        min=0.0,
        soft_max=0.2,
        subtype="DISTANCE",
        precision=3,
    )
    string: bpy.props.FloatProperty(
        name="String",
        description="Length of a string that hangs from each letter. None 0 m, a ribbon 0.5 m",
        default=0.0,
        min=0.0,
        soft_max=2.0,
        subtype="DISTANCE",
    )
    hold: bpy.props.EnumProperty(name="Hold", description="What keeps them up", items=HOLDS, default="STAY")

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "from_selected")
        if not self.from_selected:
            layout.prop(self, "text")
            layout.prop(self, "size")
            layout.prop(self, "bold")
        layout.prop(self, "cells")
        field = layout.row(align=True)
        field.prop(self, "pressure")
        field.label(text="Pa", translate=False)
        for name in ("seconds", "hold", "flange", "neck", "string"):
            layout.prop(self, name)

    def invoke(self, context: Context, _event: Event) -> Result:
        """From a selected text or curve if there is one."""
        source = context.object
        self.from_selected = source is not None and source.select_get() and outlines.has_outlines(source)
        return self.execute(context)

    def run(self, context: Context) -> str | None:
        source = outlines.checked(context.object) if self.from_selected else None
        name = source.name if source else self.text
        found = outlines.of_object(source) if source else outlines.of_text(self.text, self.size, self.bold)
        pose = source.matrix_world.copy() if source else Matrix.Rotation(np.pi / 2.0, 4, "X")
        _, turn, scale = pose.decompose()
        found = [loop * scale[:2] for loop in found]
        edge = flat_balloons.stroke_width(found) / self.cells
        if self.neck:
            found = flat_balloons.with_necks(found, self.neck)
        sheets = flat_balloons.between(found, edge, name)
        x = sheets.x @ np.array(turn.to_matrix()).T
        more, edges = flat_balloons.strings(x, sheets, self.string) if self.string else (x[:0], np.zeros((0, 2), int))
        mesh = flat_balloons.mesh(name, np.concatenate([x, more]), edges, sheets.triangles)
        obj = primitives.add_body(self, context, mesh, "BALLOON")
        if source:
            obj.matrix_world = Matrix.Translation(pose.translation)
            source.hide_render = True
            source.hide_set(True)
        if self.hold == "HANG":
            ensure_group(obj, "pin_group").add(flat_balloons.tops(x, sheets).tolist(), 1.0, "REPLACE")
        if self.flange:
            flange.add(obj, sheets.rim, self.flange)
        self._fill(context, obj)
        if self.hold == "STAY":
            stiffness = KEEP * self.pressure * edge
            obj.pbd.pin_stiffness = 1.0
            ensure_group(obj, "pin_group").add(sheets.rim.tolist(), stiffness / (1.0 + stiffness), "REPLACE")
        return rpt("{count} vertices, which fill up when you play").format(count=len(mesh.vertices))

    def _fill(self, context: Context, obj: Object) -> None:
        """Foil, with a pressure that rises."""
        settings, scene = obj.pbd, context.scene
        presets.apply(settings, FOIL)
        settings.pressure_mode, settings.overpressure = "OVERPRESSURE", self.pressure
        settings.self_collision = False
        if self.hold in ("STAY", "FLOAT"):
            settings.field_weights.gravity = 0.0
        if self.seconds:
            first, rate = scene.frame_start, scene.render.fps / scene.render.fps_base
            for frame, pressure in ((first, 0.0), (first + max(round(self.seconds * rate), 1), self.pressure)):
                settings.overpressure = pressure
                settings.keyframe_insert("overpressure", frame=frame)


def draw_menu(self: bpy.types.Menu, _context: Context) -> None:
    """A row of Add > Mesh."""
    self.layout.operator(MESH_OT_primitive_pbd_balloon_text_add.bl_idname, text="Balloon from Text", icon="FONT_DATA")


def register() -> None:
    """Put the operator into Add > Mesh, below the other primitives."""
    bpy.types.VIEW3D_MT_mesh_add.append(draw_menu)


def unregister() -> None:
    """Undo `register`."""
    bpy.types.VIEW3D_MT_mesh_add.remove(draw_menu)
