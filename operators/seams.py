"""Sew borders together, and split a mesh where it can tear."""

import bmesh
import bpy
import numpy as np

from ..pbd_addon.blender.doctor.splitting import split
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context
from ..pbd_addon.blender.read import mesh_io
from ..pbd_addon.blender.scene import animation, linked, poses
from ..pbd_addon.blender.timeline import session
from ..pbd_addon.meshes.seam_pairs import face_each_other, pair_up
from . import checks
from .base import Action, rpt

EDGES = (
    ("EVERYWHERE", "Everywhere", "Each face can tear off"),
    ("SELECTED", "Selected Edges", "Along the edges that are selected in Edit Mode"),
    ("SEAM", "Marked Seams", "Along the edges with Mark Seam"),
    ("SHARP", "Sharp Edges", "Along the edges with Mark Sharp"),
    ("GROUP", "Vertex Group", "Along the edges inside of the active vertex group"),
)

SEWING_TIME = 1.25
"""How long gravity is off, in closing times: seams are closed after one, and what they leave crumpled calms down."""

LEAST_SEWING = 0.5
"""Shortest closing time that this looks at [s]."""


class OBJECT_OT_pbd_add_seam(Action, bpy.types.Operator):
    """Connect two selected borders of the mesh with loose edges, which Sewing draws together"""

    bl_idname = "object.pbd_add_seam"
    bl_label = "Add Seam"
    needs = (checks.is_edited_body,)

    mirror: bpy.props.BoolProperty(
        name="Mirrored",
        description="Pair the borders in the other direction, so that the cloth between them is turned over",
    )
    slide: bpy.props.BoolProperty(
        name="Slide Vertices",
        description="Slide vertices along the borders until those that are sewn together are equally far along, by "
        "at most half an edge, or seams of uneven edges stay strained",
        default=True,
    )

    def run(self, context: Context) -> str:
        obj = context.object
        linked.check(obj)
        geometry = bmesh.from_edit_mesh(obj.data)
        (one, closed), (other, _) = selected_borders(geometry)
        world = np.array(obj.matrix_world)
        if poses.is_flat(world):
            raise PBDError(f"'{obj.name}' has a scale of zero: give it a scale to sew it")
        here, there = (np.array([vertex.co for vertex in border]) @ world[:3, :3].T for border in (one, other))
        if self.slide and not (np.ptp(here, axis=0).any() and np.ptp(there, axis=0).any()):
            raise PBDError("A selected border has no length: move its vertices apart, or switch Slide Vertices off")
        numbers = pair_up(here, there, closed, self.mirror)
        slid = 0
        if self.slide:
            for border, places in zip((one, other), face_each_other(here, there, numbers, closed)):
                slid += slide(border, places)
        pairs = [(one[i], other[j]) for i, j in numbers.tolist()]
        for pair in pairs:
            if geometry.edges.get(pair) is None:
                geometry.edges.new(pair)
        bmesh.update_edit_mesh(obj.data, loop_triangles=False)
        if not obj.pbd.sewing:
            obj.pbd.sewing = obj.pbd.sew_first = True
        session.clear_cache(context.scene)
        left = abs(len(one) - len(other))
        said = [rpt("{count} seams added").format(count=len(pairs))]
        if left:
            said.append(rpt("{left} vertices of the longer border stay free").format(left=left))
        if slid:
            said.append(rpt("{slid} vertices slid").format(slid=slid))
        return "; ".join(said)


class OBJECT_OT_pbd_sew(Action, bpy.types.Operator):
    """Close the seams before gravity acts: switch Sewing on, key Gravity off until then, and play from the start"""

    bl_idname = "object.pbd_sew"
    bl_label = "Sew"
    needs = (checks.is_free, checks.in_object_mode, checks.is_active_body)

    def run(self, context: Context) -> str:
        obj, scene = context.object, context.scene
        linked.check(obj)
        if obj.pbd.baked:
            raise PBDError(f"'{obj.name}' is baked: delete the bake first")
        if not len(mesh_io.read_loose_edges(obj.data)):
            raise PBDError(f"'{obj.name}' has no seams: add some with Add Seam in Edit Mode")
        obj.pbd.sewing = True
        first, _ = session.timeline_frames(scene, *session.frame_range(scene))
        seconds = SEWING_TIME * max(obj.pbd.closing_time, LEAST_SEWING)
        last = first + round(seconds * scene.render.fps / scene.render.fps_base)
        weights = obj.pbd.field_weights
        path = weights.path_from_id("gravity")
        is_keyed = any(curve.data_path == path for curve in animation.curves(obj) or ())
        if not is_keyed:
            usual = weights.gravity
            for frame, weight in ((first, 0.0), (last, 0.0), (last + 1, usual)):
                weights.gravity = weight
                weights.keyframe_insert("gravity", frame=frame)
        session.drop(scene)
        session.go_to_first(scene)
        if context.screen and not context.screen.is_animation_playing:
            bpy.ops.screen.animation_play()
        if is_keyed:
            return rpt("'{name}' is sewn; the keys on its Gravity stay as they are").format(name=obj.name)
        return rpt("'{name}' is sewn without gravity until frame {frame}").format(name=obj.name, frame=last)


def slide(border: list[bmesh.types.BMVert], places: np.ndarray) -> int:
    """Move vertices of a border along it, to places in numbers of its vertices; returns how many are moved."""
    at = np.array([vertex.co for vertex in border])
    numbers = np.floor(places).astype(int)
    shares = (places - numbers)[:, None]
    moved = (1.0 - shares) * at[numbers] + shares * at[(numbers + 1) % len(at)]
    changed = np.flatnonzero(places != np.arange(len(at))).tolist()
    for k in changed:
        border[k].co = moved[k]
    return len(changed)


def selected_borders(geometry: bmesh.types.BMesh) -> list[tuple[list[bmesh.types.BMVert], bool]]:
    """The vertices of the two selected borders in order, and whether they are loops.

    Raises a `PBDError` if there are not two, one forks, or only one is a loop.
    """
    neighbors: dict[bmesh.types.BMVert, list[bmesh.types.BMVert]] = {}
    for edge in geometry.edges:
        if edge.select and len(edge.link_faces) == 1:
            for vertex in edge.verts:
                neighbors.setdefault(vertex, []).append(edge.other_vert(vertex))
    forks = [vertex.index for vertex, beside in neighbors.items() if len(beside) > 2]
    if forks:
        raise PBDError(f"The selected border forks at vertex {forks[0]}: select two rows of edges without branches")
    borders = []
    ends = [vertex for vertex, beside in neighbors.items() if len(beside) == 1]
    for start in (*ends, *neighbors):  # What has ends begins at one of them.
        if start not in neighbors:
            continue
        border, closed = [start], len(neighbors[start]) == 2
        while True:
            following = [vertex for vertex in neighbors.pop(border[-1]) if vertex in neighbors]
            if not following:
                break
            border.append(following[0])
        borders.append((border, closed))
    if len(borders) != 2:
        raise PBDError(f"Select two borders to sew together, edges with one face each: {len(borders)} are selected")
    if borders[0][1] != borders[1][1]:
        raise PBDError("One border is a loop and the other is not: select two loops or two rows of edges")
    return borders


class OBJECT_OT_pbd_split(Action, bpy.types.Operator):
    """Split the mesh along edges where it can tear; until its Tear Strength is exceeded, it holds together as before"""

    bl_idname = "object.pbd_split"
    bl_label = "Split for Tearing"
    needs = (checks.is_active_body,)

    where: bpy.props.EnumProperty(name="Where", description="Which edges can tear", items=EDGES, default="EVERYWHERE")

    def run(self, context: Context) -> str:
        obj = context.object
        before = len(obj.data.vertices)
        after = split(obj, self.where)
        session.clear_cache(context.scene)
        return rpt("{before} vertices are {after} now").format(before=f"{before:,}", after=f"{after:,}")
