"""The doctor: what will go wrong, found before a run. Every check is a function; `remedies` has what mends it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import bmesh
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from .. import Body
from . import linked, maps, mesh_io, poses, tangles, user_keys
from .errors import PBDError
from .scene_objects import live_bodies

SAME_PLACE = 1e-4
"""Vertices closer than this share of the usual edge are doubles."""

NO_AREA = 1e-10
"""A face without area has less than this share of its girth squared."""

SMALL, LARGE = 0.01, 50.0
"""What is smaller or larger than this was hardly modelled in metres [m]."""

ADD_GEOMETRY = (
    "ARRAY",
    "BOOLEAN",
    "BUILD",
    "DECIMATE",
    "MASK",
    "MIRROR",
    "REMESH",
    "SCREW",
    "SKIN",
    "WELD",
    "WIREFRAME",
)
"""Modifiers that give or take parts which the simulation does not know; to refine or thicken is no harm."""

SIMULATE = ("CLOTH", "SOFT_BODY")
"""Modifiers of Blender's that move the same vertices."""


class Finding(NamedTuple):
    """Something that will go wrong."""

    check: str  # name of the check, see `CHECKS`
    body: str  # name of the object, "" for the scene
    sentence: str
    action: str  # label of the button that helps, "Fix" or "Show"; "" if there is none


class Patient(NamedTuple):
    """An object as the checks look at it."""

    obj: Any
    world: np.ndarray  # (n, 3) float64 [m], the user's shape
    edges: np.ndarray  # (e, 2) int32
    polygons: Any
    body: Body | None  # None where none can be made

    @property
    def usual_edge(self):
        """Median length of an edge [m]; 0 without edges."""
        ends = self.world[self.edges]
        return float(np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1))) if len(ends) else 0.0


def count_in(count, one, many):
    """The sentence that fits a number, with that in it; "" for none."""
    return (one if count == 1 else many).format(count=count) if count else ""


def examine(obj):
    """Read an object in Object Mode, as a `Patient`."""
    mesh = obj.data
    edges = np.empty((len(mesh.edges), 2), np.int32)
    mesh.edges.foreach_get("vertices", edges.ravel())
    world = poses.to_world(mesh_io.base_shape(obj), poses.read_last_pose(obj).matrix)
    try:
        body = mesh_io.read_body(obj)
    except PBDError:
        body = None
    return Patient(obj, world, edges, mesh_io.read_polygons(mesh), body)


def shared(patient):
    """Objects that share a mesh cannot have shapes of their own."""
    mesh = patient.obj.data
    sharers = mesh.users - mesh.use_fake_user
    return iface("The mesh is shared by {count} objects").format(count=sharers) if sharers > 1 else ""


def absolute_keys(patient):
    """The live key is a relative one."""
    keys = patient.obj.data.shape_keys
    absolute = keys is not None and not keys.use_relative
    return iface("The shape keys are absolute, the simulation needs relative ones") if absolute else ""


def no_faces(patient):
    """There must be something to simulate."""
    return "" if len(patient.polygons.starts) > 1 else iface("The mesh has no faces: there is nothing to simulate")


def no_scale(patient):
    """What is squeezed flat by its transform cannot be written back."""
    flat = poses.is_flat(poses.read_last_pose(patient.obj).matrix)
    return iface("The object has a scale of zero") if flat else ""


def uneven_scale(patient):
    """The simulation runs in metres whatever the scale; modifiers that measure in the object's space do not."""
    scale = np.abs(patient.obj.matrix_world.to_scale())
    thick = [modifier.name for modifier in patient.obj.modifiers if modifier.type == "SOLIDIFY"]
    if not thick or scale.max() - scale.min() <= 1e-3 * scale.max():
        return ""
    sentence = iface("The scale differs between the axes, so that modifier '{name}' is not equally thick everywhere")
    return sentence.format(name=thick[0])


def unusual_size(patient):
    """Cloth of a wrong size behaves like that size, not as it looks."""
    if no_scale(patient) or not len(patient.world):
        return ""
    size = float(np.ptp(patient.world, axis=0).max())
    if SMALL <= size <= LARGE:
        return ""
    sentence = iface("It is {size:.3g} m large and will move like that: scale it if it was not modelled in metres")
    return sentence.format(size=size)


def doubles(patient):
    """Vertices in the same place: the cloth is cut open there."""
    count = len(double_targets(patient.obj.data))
    return count_in(
        count,
        iface("{count} vertex lies on another: the cloth is cut open there"),
        iface("{count} vertices lie on another: the cloth is cut open there"),
    )


def double_targets(mesh, geometry=None):
    """Which vertices of a BMesh, or of a mesh, to merge into which, as Blender's own Merge by Distance has it."""
    own = bmesh.new() if geometry is None else geometry
    if geometry is None:
        own.from_mesh(mesh)
    lengths = [edge.calc_length() for edge in own.edges]
    found = {}
    if lengths:
        distance = SAME_PLACE * float(np.median(lengths))
        found = bmesh.ops.find_doubles(own, verts=own.verts[:], dist=distance)["targetmap"]
        found = dict.fromkeys(range(len(found))) if geometry is None else found
    if geometry is None:
        own.free()
    return found


def areas(patient):
    """Areas (f,) [m²] and girths (f,) [m] of the faces."""
    corners, starts = patient.polygons
    sizes = np.diff(starts)
    following = np.arange(len(corners)) + 1
    following[starts[1:] - 1] = starts[:-1]
    x, after = patient.world[corners], patient.world[corners[following]]
    center = np.repeat(patient.world[corners[starts[:-1]]], sizes, axis=0)
    vectors = np.add.reduceat(np.cross(x - center, after - center), starts[:-1], axis=0)
    return 0.5 * np.linalg.norm(vectors, axis=1), np.add.reduceat(np.linalg.norm(after - x, axis=1), starts[:-1])


def no_area(patient):
    """Faces that are lines or points are left out."""
    if len(patient.polygons.starts) < 2 or no_scale(patient):
        return ""
    area, girth = areas(patient)
    count = int((area <= NO_AREA * girth**2).sum())
    return count_in(
        count,
        iface("{count} face has no area and will not be simulated"),
        iface("{count} faces have no area and will not be simulated"),
    )


def faces_of_edges(patient):
    """Number of faces at each edge, (e,) int."""
    rows = np.empty(len(patient.obj.data.loops), np.int32)
    patient.obj.data.loops.foreach_get("edge_index", rows)
    return np.bincount(rows, minlength=len(patient.edges))


def crowded_edges(patient):
    """Edges with more than two faces do not bend."""
    count = int((faces_of_edges(patient) > 2).sum())
    return count_in(
        count,
        iface("{count} edge has more than two faces and will not bend"),
        iface("{count} edges have more than two faces and will not bend"),
    )


def loose_vertices(patient):
    """Vertices without an edge stay where they are."""
    used = np.zeros(len(patient.world), bool)
    used[patient.edges.ravel()] = True
    count = int((~used).sum())
    return count_in(
        count,
        iface("{count} vertex belongs to no edge and will not move"),
        iface("{count} vertices belong to no edge and will not move"),
    )


def opposed_normals(patient):
    """Pressure pushes along the normals: neighbours must agree on them."""
    if patient.obj.pbd.pressure_mode == "OFF":
        return ""
    corners, starts = patient.polygons
    following = np.arange(len(corners)) + 1
    following[starts[1:] - 1] = starts[:-1]
    ways = corners.astype(np.int64) * len(patient.world) + corners[following]
    count = int((np.unique(ways, return_counts=True)[1] > 1).sum())
    return count_in(
        count,
        iface("The normals disagree at {count} edge: pressure would push both ways"),
        iface("The normals disagree at {count} edges: pressure would push both ways"),
    )


def wide_distance(patient):
    """A distance to obstacles that is longer than the edges makes cloth hover in folds."""
    distance, edge = patient.obj.pbd.thickness, patient.usual_edge
    if not 0.0 < edge < distance:
        return ""
    sentence = iface("Distance, {distance:.3g} mm, is more than the usual edge, {edge:.3g} mm")
    return sentence.format(distance=1e3 * distance, edge=1e3 * edge)


def wide_self_distance(patient):
    """Layers cannot be kept farther apart than the mesh is fine."""
    settings, edge = patient.obj.pbd, patient.usual_edge
    if not settings.self_collision or not 0.0 < edge < settings.self_distance:
        return ""
    sentence = iface("Self Distance, {distance:.3g} mm, is more than the usual edge, {edge:.3g} mm")
    return sentence.format(distance=1e3 * settings.self_distance, edge=1e3 * edge)


def lost_pins(patient):
    """A pin group that is not there, or that holds nothing."""
    obj, name = patient.obj, patient.obj.pbd.pin_group
    if not name:
        return ""
    if name not in obj.vertex_groups:
        return iface("The pin group '{name}' does not exist").format(name=name)
    empty = not user_keys.read_weights(obj, name).any()
    return iface("The pin group '{name}' is empty: nothing is held").format(name=name) if empty else ""


def lost_maps(patient):
    """A weight map whose group is not there."""
    lost = missing_maps(patient.obj)
    sentence = iface("The group '{name}' of a weight map does not exist")
    return sentence.format(name=next(iter(lost.values()))) if lost else ""


def missing_maps(obj):
    """Names of the groups of weight maps that do not exist, by map."""
    named = ((kind, getattr(obj.pbd, f"{kind}_group")) for kind in maps.LABELS)
    return {kind: name for kind, name in named if name and name not in obj.vertex_groups}


def all_held(patient):
    """Something must be free to move."""
    obj = patient.obj
    weights = np.zeros(len(patient.world), np.float32)
    for name in (obj.pbd.pin_group, obj.pbd.attach_group if obj.pbd.attach_object else ""):
        if name in obj.vertex_groups:
            weights = np.maximum(weights, user_keys.read_weights(obj, name))
    return iface("All vertices are held: nothing can move") if len(weights) and (weights >= 1.0).all() else ""


def intersections(patient):
    """Contact cannot pull apart what goes through itself at the start."""
    if patient.body is None:
        return ""
    count = len(tangles.tangled_faces([patient.body])[0])
    return count_in(
        count,
        iface("{count} face goes through others at the start"),
        iface("{count} faces go through others at the start"),
    )


def added_geometry(patient):
    """Modifiers come after the simulation, which knows nothing of what they add."""
    found = first_modifier(patient.obj, ADD_GEOMETRY)
    sentence = iface("What '{name}' changes in the mesh comes after the simulation, which does not know it")
    return sentence.format(name=found.name) if found else ""


def second_simulation(patient):
    """Blender's own cloth would move it once more."""
    found = first_modifier(patient.obj, SIMULATE)
    sentence = iface("Modifier '{name}' simulates the same vertices once more")
    return sentence.format(name=found.name) if found else ""


def first_modifier(obj, types):
    """The first modifier of one of these types that is switched on, or None."""
    return next((one for one in obj.modifiers if one.type in types and (one.show_viewport or one.show_render)), None)


FIX, SHOW, NONE = "Fix", "Show", ""

CHECKS: dict[str, tuple[Callable[[Patient], str], str]] = {
    check.__name__: (check, action)
    for check, action in (
        (shared, FIX),
        (absolute_keys, FIX),
        (no_faces, NONE),
        (no_scale, FIX),
        (unusual_size, NONE),
        (uneven_scale, FIX),
        (doubles, FIX),
        (no_area, FIX),
        (loose_vertices, FIX),
        (crowded_edges, SHOW),
        (opposed_normals, FIX),
        (intersections, SHOW),
        (wide_distance, FIX),
        (wide_self_distance, FIX),
        (lost_pins, FIX),
        (lost_maps, FIX),
        (all_held, FIX),
        (second_simulation, FIX),
        (added_geometry, FIX),
    )
}
"""The checks of an object, each a sentence or "", and what the button beside it does."""

UNLOCKED = "unlocked"
"""Name of the only finding of a scene."""

_findings: dict[int, tuple[Finding, ...]] = {}


def check(scene):
    """Look at all live objects of a scene and keep what was found."""
    found = []
    for obj in live_bodies(scene):
        if obj.mode == "EDIT" or linked.problem(obj):
            continue
        patient = examine(obj)
        sentences = ((name, function(patient), action) for name, (function, action) in CHECKS.items())
        found += [Finding(name, obj.name, sentence, action) for name, sentence, action in sentences if sentence]
    if live_bodies(scene) and not scene.render.use_lock_interface:
        sentence = iface("Lock Interface is off: rendering while cloth is simulated can crash Blender")
        found.append(Finding(UNLOCKED, "", sentence, FIX))
    _findings[scene.session_uid] = tuple(found)
    return found


def findings(scene):
    """What the last check of a scene has found, or None if there was none."""
    return _findings.get(scene.session_uid)


def forget():
    """Forget what was found: another file is loaded, or something was undone."""
    _findings.clear()
