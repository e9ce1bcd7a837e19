"""Look for what will go wrong before a run, show it, and mend it."""

import bpy
import numpy as np

from ..pbd_addon.blender.doctor import doctor, mesh_findings, misplaced
from ..pbd_addon.blender.doctor.mesh_exam import MeshExam, count_in, examine
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object, Scene
from ..pbd_addon.blender.read import mesh_io
from ..pbd_addon.blender.read.bodies import read_body
from ..pbd_addon.blender.timeline import session
from ..pbd_addon.contact import intersections
from . import checks
from .base import NO_UNDO, Action, rpt


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


def show(context: Context, finding: str, exam: MeshExam) -> None:
    """Select what was found in Edit Mode."""
    obj = exam.obj
    context.view_layer.objects.active = obj
    if finding == "intersections":
        domain, ids = "FACE", intersecting(context.scene, obj)
    elif finding == "wrong_side":
        domain, ids = "VERT", misplaced.on_wrong_side(obj, exam.beginning).ids
    elif finding == "on_a_surface":
        domain, ids = "VERT", misplaced.on_a_surface(obj, exam.usual_edge, exam.beginning).ids
    elif finding == "uneven_seams":
        sewn = np.concatenate([seam.pairs for seam in mesh_findings.find_uneven_seams(exam)])
        domain, ids = "VERT", np.unique(exam.body.seams[sewn])
    else:
        domain, ids = "EDGE", np.flatnonzero(mesh_findings.faces_of_edges(exam) > 2)
    select(context, obj, domain, ids)


class OBJECT_OT_pbd_doctor_check(Action, bpy.types.Operator):
    """Check all cloth and balloons in the scene for what will go wrong when they are simulated"""

    bl_idname = "object.pbd_doctor_check"
    bl_label = "Check"
    bl_options = NO_UNDO
    needs = (checks.has_live_body,)

    def run(self, context: Context) -> str:
        count = len(doctor.check(context.scene))
        return count_in(count, rpt("1 finding"), rpt("{count} findings")) or rpt("No problems found")


class OBJECT_OT_pbd_doctor_fix(Action, bpy.types.Operator):
    """Fix this, or select it in Edit Mode where only you can; the simulation starts over"""

    bl_idname = "object.pbd_doctor_fix"
    bl_label = "Fix"
    needs = (checks.has_live_body,)

    check: bpy.props.StringProperty(name="Finding", options={"HIDDEN"})
    body: bpy.props.StringProperty(name="Object", options={"HIDDEN"})

    def run(self, context: Context) -> str | None:
        scene = context.scene
        obj: Object | None = scene.objects.get(self.body)
        said = None
        if self.check == doctor.UNLOCKED:
            scene.render.use_lock_interface = True
        elif obj is None or obj not in session.live_bodies(scene) or self.check not in doctor.CHECKS:
            missing = rpt("There is no '{check}' of '{name}' to fix: press Check")
            raise PBDError(missing.format(check=self.check, name=self.body))
        else:
            find, action = doctor.CHECKS[self.check]
            exam = examine(obj, misplaced.beginning(scene))
            sentence = find(exam)
            if not sentence:
                said = rpt("It is mended already")
            elif callable(action):
                action(obj)
                session.clear_cache(scene)
            elif action == doctor.SHOW:
                show(context, self.check, exam)
                return None
            else:
                raise PBDError(f"'{obj.name}': {sentence}")
            context.view_layer.update()
        doctor.check(scene)
        return said


class OBJECT_OT_pbd_select_intersections(Action, bpy.types.Operator):
    """Select the faces that go through others at the start, in Edit Mode: pull them apart there, then Reset"""

    bl_idname = "object.pbd_select_intersections"
    bl_label = "Select Intersections"
    needs = (checks.is_active_body,)

    def run(self, context: Context) -> str:
        obj = context.object
        if obj.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        found = intersecting(context.scene, obj)
        select(context, obj, "FACE", found)
        said = rpt(
            "{count} faces of '{name}' go through others"
            if len(found) != 1
            else "1 face of '{name}' goes through others"
        )
        return said.format(count=len(found), name=obj.name)
