"""Show where a mesh goes through itself, or through other cloth, at the start."""

from __future__ import annotations

import bpy
import numpy as np

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object, Result, Scene
from ..pbd_addon.blender.read import mesh_io
from ..pbd_addon.blender.read.bodies import read_body
from ..pbd_addon.blender.timeline import intersections, session
from . import checks
from .checks import rpt


def intersecting(scene: Scene, obj: Object) -> np.ndarray:
    """Faces of a PBD object that something goes through where the simulation starts, (k,) int; raises `PBDError`."""
    running = session.get(scene)
    members = running.scene_sim.members if running is not None and running.scene_sim is not None else ()
    uids = [member.uid for member in members]
    if obj.session_uid in uids and mesh_io.counts(obj.data) == members[uids.index(obj.session_uid)].fingerprint[0]:
        bodies = [member.body for member in members]
    else:
        others = [other for other in session.live_bodies(scene) if other != obj and not checks.mesh_problem(other)]
        uids = [other.session_uid for other in (obj, *others)]
        bodies = [read_body(other) for other in (obj, *others)]
    found = intersections.intersecting_faces(bodies)[uids.index(obj.session_uid)]
    return intersections.kept_faces(mesh_io.read_polygons(obj.data))[found]


def select(context: Context, obj: Object, domain: str, ids: np.ndarray) -> None:
    """Go into Edit Mode with only these vertices, edges or faces selected, (k,) int; the object is active."""
    context.scene.tool_settings.mesh_select_mode = (domain == "VERT", domain == "EDGE", domain == "FACE")
    # Deselected by the edit mode: Blender 5.0 crashes where edges that never were selected are written to.
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    items = {"VERT": obj.data.vertices, "EDGE": obj.data.edges, "FACE": obj.data.polygons}[domain]
    chosen = np.zeros(len(items), bool)
    chosen[ids] = True
    items.foreach_set("select", chosen)
    bpy.ops.object.mode_set(mode="EDIT")


class OBJECT_OT_pbd_select_intersections(bpy.types.Operator):
    """Select the faces that go through others at the start, in Edit Mode: pull them apart there, then Reset"""

    bl_idname = "object.pbd_select_intersections"
    bl_label = "Select Intersections"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return checks.is_active_body(cls, context)

    def execute(self, context: Context) -> Result:
        obj = context.object
        if obj.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            found = intersecting(context.scene, obj)
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        select(context, obj, "FACE", found)
        said = rpt(
            "{count} faces of '{name}' go through others"
            if len(found) != 1
            else "1 face of '{name}' goes through others"
        )
        self.report({"INFO"}, said.format(count=len(found), name=obj.name))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_select_intersections,))
