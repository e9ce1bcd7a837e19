"""A garment from the selected faces of a figure."""

import bpy
import numpy as np

from ..pbd_addon.blender import error_sentences, garment
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object
from ..pbd_addon.blender.read.pins import ensure_group
from ..pbd_addon.blender.scene.arrays import edge_vertices, values
from ..pbd_addon.blender.scene.surfaces import Surface
from ..pbd_addon.blender.settings.field_properties import unset
from ..pbd_addon.blender.timeline import cost_estimate
from ..pbd_addon.contact.crossings import crossing_faces
from ..pbd_addon.meshes.mesh import connected_components, fans
from . import body, checks, colliders, proxy
from .base import Action, rpt

HEAVY = 10_000
"""Cloth of 1,024 vertices on a ball of 3,000 that breathes takes 0.25 s of CPU a frame, on one of 10,000 0.34 s, of
30,000 0.84 s, of 100,000 3.4 s: from about here on a proxy is worth it [vertices]."""

PINS = (
    ("TOP", "Top Border", "The highest border follows the figure: a waistband, a collar"),
    ("NONE", "None", "Nothing is pinned: the garment rests on the figure"),
)


class MESH_OT_pbd_garment_from_selection(Action, bpy.types.Operator):
    """Make cloth of the selected faces: a new object, set off from the figure, which follows its rig and meets it"""

    bl_idname = "mesh.pbd_garment_from_selection"
    bl_label = "Garment from Selection"

    distance: bpy.props.FloatProperty(
        name="Distance",
        description="How far the garment is from the figure. A shirt 0.01 m, a coat 0.03 m",
        default=0.01,
        min=0.0001,
        soft_max=0.1,
        subtype="DISTANCE",
        precision=4,
    )
    length: bpy.props.FloatProperty(
        name="Length",
        description="How far cloth hangs down from the lowest border. Usually 0 m, a skirt 0.4 m",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        subtype="DISTANCE",
    )
    vertices: bpy.props.IntProperty(
        name="Vertices",
        description="Faces are subdivided until there are about as many. Usually 1000, 0 leaves the faces as they are",
        default=1000,
        min=0,
        soft_max=10_000,
    )
    proxy: bpy.props.BoolProperty(
        name="Collider Proxy",
        description="Cloth meets a simple closed body of about 3,000 vertices that follows the figure: quicker where "
        "the figure is heavy, calmer where it goes through itself",
    )
    pin: bpy.props.EnumProperty(name="Pin", description="Vertices that follow the figure", items=PINS, default="TOP")

    @staticmethod
    def is_figure(context: Context) -> checks.Why:
        obj, done = context.object, context.window_manager.operators
        if done and done[-1].bl_idname == MESH_OT_pbd_garment_from_selection.__name__:
            return ""  # Else what it has made, in Object Mode, would hide the panel at the lower left.
        if obj is None or obj.mode != "EDIT" or obj.type != "MESH":
            return "Select faces of a figure in Edit Mode"
        return f"'{obj.name}' is PBD itself: take faces of what is not" if obj.pbd.enabled else ""

    needs = (is_figure,)

    def run(self, context: Context) -> str:
        figure = context.object
        if figure is None or figure.mode != "EDIT" or figure.type != "MESH" or not figure.data.total_face_sel:
            raise PBDError("Select the faces that the garment is to cover first")
        bpy.ops.object.mode_set(mode="OBJECT")
        try:
            made = garment.cut_out(figure, values(figure.data.polygons, "select", bool))
        except PBDError:
            bpy.ops.object.mode_set(mode="EDIT")
            raise
        body.forget_settings(made)
        unset(made.pbd_collider)
        garment.straighten(made)
        fitting = garment.Fitting(context, made, figure)
        fitting.lengthen(self.length)
        garment.subdivide(made, self.vertices)
        least = figure.pbd_collider.thickness + made.pbd.thickness  # Nearer, contact would push it away at once.
        freed = fitting.free(max(self.distance, least), least)
        held = fitting.top_border() if self.pin == "TOP" else np.zeros(0, int)
        body.make_body(made, "CLOTH")
        made.pbd.rest_shape = "DEFORMED"  # It was fitted in the pose: the mesh below would be strained by that.
        if len(held):
            ensure_group(made, "pin_group").add(held.tolist(), 1.0, "REPLACE")
        if not colliders.problem(figure):
            figure.pbd_collider.enabled = True
            self.meet(context, figure, fitting.figure)
        checks.select_only(context, [made])
        for sentence in filter(None, (cost_estimate.sentence(context.scene), body.lock_interface(context.scene))):
            self.report({"INFO"}, sentence)
        return self.say(made, freed)

    def meet(self, context: Context, figure: Object, surface: Surface) -> None:
        """Let cloth meet a proxy of the figure, or say why that would be better."""
        if self.proxy:
            try:
                proxy.make_collider(context, figure)
            except PBDError as error:
                self.report({"WARNING"}, error_sentences.in_users_language(str(error)))
                return
            return
        count = len(surface.points)
        if count > HEAVY:
            said = rpt("'{name}' has {count} vertices: tick Collider Proxy, which is quicker to meet")
            self.report({"WARNING"}, said.format(name=figure.name, count=f"{count:,}"))
            return
        crossed = int(crossing_faces(surface.world(), fans(surface.faces)).sum())
        if crossed:
            said = rpt("'{name}' goes through itself at {count} faces: tick Collider Proxy if cloth is caught there")
            self.report({"WARNING"}, said.format(name=figure.name, count=crossed))

    def say(self, made: Object, freed: garment.Freed) -> str:
        """How the garment fits; what goes through the figure is selected."""
        if len(freed.crossing):
            made.data.vertices.foreach_set("select", np.isin(np.arange(len(made.data.vertices)), freed.crossing))
            said = rpt("{count} vertices of '{name}' still go through something: leave out the faces there")
            self.report({"WARNING"}, said.format(count=len(freed.crossing), name=made.name))
        said = rpt("'{name}' has {count} vertices; {left} faces left out: there was no room for them")
        pieces = 1
        if not freed.left_out:
            said = rpt("'{name}' has {count} vertices")
            pieces = len(np.unique(connected_components(edge_vertices(made.data), len(made.data.vertices))))
        if pieces > 1:  # Hands hang beside hips, and x-ray selects through.
            said = rpt("'{name}' has {count} vertices in {pieces} pieces: undo and deselect what does not belong")
        return said.format(name=made.name, count=len(made.data.vertices), left=freed.left_out, pieces=pieces)
