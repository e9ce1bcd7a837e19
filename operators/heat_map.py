"""Color cloth by strain or by contact while it plays."""

import bpy

from ..pbd_addon.blender.kinds import Context
from ..pbd_addon.blender.timeline import heat_map, session
from . import checks
from .base import Action

KINDS = (
    ("OFF", "Off", "No colors; the settings they changed are restored"),
    ("STRAIN", "Strain", "How much the edges are longer or shorter than at rest"),
    ("CONTACT", "Contact", "Red where a vertex has touched an obstacle or cloth in this frame, from now on"),
)


def views(context: Context) -> list[bpy.types.SpaceView3D]:
    """The 3D Views of the window."""
    areas = context.screen.areas if context.screen is not None else ()
    return [area.spaces.active for area in areas if area.type == "VIEW_3D"]


class OBJECT_OT_pbd_heat_map(Action, bpy.types.Operator):
    """Color all cloth and balloons from blue to red at Full Scale and let the 3D Views show it in Solid shading"""

    bl_idname = "object.pbd_heat_map"
    bl_label = "Heat Map"
    needs = (checks.in_object_mode,)

    kind: bpy.props.EnumProperty(
        name="Colors",
        description="What the colors of the vertices show while frames play",
        items=KINDS,
        default="STRAIN",
    )

    def run(self, context: Context) -> None:
        scene = context.scene
        before, scene.pbd.heat_map = scene.pbd.heat_map, self.kind
        for obj in scene.objects:
            if self.kind == "OFF" and obj.type == "MESH":
                heat_map.remove(obj)
        running = session.get(scene)
        if running is not None and running.scene_sim is not None:
            heat_map.color(running, scene)
        for view in views(context):
            if self.kind != "OFF":
                if before == "OFF":
                    scene.pbd.shading_before = view.shading.color_type
                view.shading.color_type = "VERTEX"
            elif before != "OFF" and scene.pbd.shading_before:
                view.shading.color_type = scene.pbd.shading_before
