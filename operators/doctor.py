"""Look for what will go wrong before a run, and mend it."""

from __future__ import annotations

import bpy
import numpy as np

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.doctor import doctor, fixes, mesh_findings, misplaced, touching
from ..pbd_addon.blender.doctor.mesh_exam import MeshExam, count_in, examine
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.timeline import session
from . import checks, tangles
from .checks import rpt


def show(context: Context, finding: str, exam: MeshExam) -> None:
    """Select what was found in Edit Mode."""
    obj = exam.obj
    context.view_layer.objects.active = obj
    if finding == "intersections":
        tangles.select(context, obj, "FACE", tangles.intersecting(context.scene, obj))
    elif finding == "wrong_side":
        tangles.select(context, obj, "VERT", misplaced.find(obj, exam.beginning).ids)
    elif finding == "on_a_surface":
        tangles.select(context, obj, "VERT", touching.find(obj, exam.usual_edge, exam.beginning).ids)
    elif finding == "uneven_seams":
        sewn = np.concatenate([seam.pairs for seam in mesh_findings.find_uneven_seams(exam)])
        tangles.select(context, obj, "VERT", np.unique(exam.body.seams[sewn]))
    else:
        tangles.select(context, obj, "EDGE", np.flatnonzero(mesh_findings.faces_of_edges(exam) > 2))


class OBJECT_OT_pbd_doctor_check(bpy.types.Operator):
    """Check all cloth and balloons in the scene for what will go wrong when they are simulated"""

    bl_idname = "object.pbd_doctor_check"
    bl_label = "Check"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return checks.has_live_body(cls, context)

    def execute(self, context: Context) -> Result:
        count = len(doctor.check(context.scene))
        said = count_in(count, rpt("1 finding"), rpt("{count} findings"))
        self.report({"INFO"}, said or rpt("No problems found"))
        return {"FINISHED"}


class OBJECT_OT_pbd_doctor_fix(bpy.types.Operator):
    """Fix this, or select it in Edit Mode where only you can; the simulation starts over"""

    bl_idname = "object.pbd_doctor_fix"
    bl_label = "Fix"
    bl_options = {"REGISTER", "UNDO"}

    check: bpy.props.StringProperty(name="Finding", options={"HIDDEN"})
    body: bpy.props.StringProperty(name="Object", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        return checks.has_live_body(cls, context)

    def execute(self, context: Context) -> Result:
        scene = context.scene
        if self.check == doctor.UNLOCKED:
            scene.render.use_lock_interface = True
            doctor.check(scene)
            return {"FINISHED"}
        obj = scene.objects.get(self.body)
        if obj is None or obj not in session.live_bodies(scene) or self.check not in doctor.CHECKS:
            said = rpt("There is no '{check}' of '{name}' to fix: press Check")
            self.report({"ERROR"}, said.format(check=self.check, name=self.body))
            return {"CANCELLED"}
        find, action = doctor.CHECKS[self.check]
        try:
            exam = examine(obj, misplaced.beginning(scene))
            sentence = find(exam)
            if not sentence:
                self.report({"INFO"}, rpt("It is mended already"))
            elif action == doctor.NONE:
                raise PBDError(f"'{obj.name}': {sentence}")
            elif action == doctor.SHOW:
                show(context, self.check, exam)
                return {"FINISHED"}
            else:
                fixes.BY_NAME[self.check](obj)
                session.clear_cache(scene)
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        context.view_layer.update()
        doctor.check(scene)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_doctor_check, OBJECT_OT_pbd_doctor_fix))
