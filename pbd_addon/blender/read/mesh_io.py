"""What is read from Blender's meshes: shapes, faces, pins, fingerprints."""

import zlib

import numpy as np

from ... import Creases, Polygons
from ..errors import PBDError
from ..kinds import Mesh, Object
from ..output import output
from ..scene import linked, user_keys
from ..scene.arrays import edge_vertices, face_corners, values

MOST_FACTOR = 1e6
"""Largest factor of a crease: stiffer than any, and far from overflow."""

MOST_CREASE_ANGLE = np.pi + 1e-6
"""Largest angle of a crease [rad]: 180° in 32 bits may be more than pi."""


def base_shape(obj: Object) -> np.ndarray:
    """The user's shape (n, 3) float32: the mesh with the user's relative keys, without the simulation's."""
    return user_keys.user_shape(obj, user_keys.key_values(obj), user_keys.read_masks(obj))


def check_editable(obj: Object) -> None:
    """Raise a `PBDError` if the object's shape keys cannot be written."""
    mesh = obj.data
    linked.check(obj)
    if obj.mode == "EDIT":
        raise PBDError(f"'{obj.name}' is in Edit Mode: leave it first")
    sharers = mesh.users - mesh.use_fake_user
    if sharers > 1:
        raise PBDError(
            f"Mesh '{mesh.name}' of '{obj.name}' is shared by {sharers} objects: "
            "make it single user (Object > Relations > Make Single User)"
        )


def check_mesh(obj: Object) -> None:
    """Raise a `PBDError` if the object's mesh cannot be simulated."""
    check_editable(obj)
    mesh = obj.data
    if not mesh.polygons and not mesh.edges:
        raise PBDError(f"'{obj.name}' has no faces: add faces to simulate it")
    if mesh.shape_keys is not None and not mesh.shape_keys.use_relative:
        raise PBDError(f"'{obj.name}' has absolute shape keys: switch them to Relative to simulate it")
    output.check(obj)


def read_polygons(mesh: Mesh) -> Polygons:
    """The faces of a mesh in Object Mode."""
    starts = values(mesh.polygons, "loop_start", np.int32)
    return Polygons(face_corners(mesh), np.append(starts, np.int32(len(mesh.loops))))


def read_loose_edges(mesh: Mesh) -> np.ndarray:
    """Vertices (e, 2) int32 of the loose edges, which are simulated as strings or seams."""
    return edge_vertices(mesh)[values(mesh.edges, "is_loose", bool)]


def loose_check(mesh: Mesh) -> int:
    """A hash of the vertices of the loose edges."""
    return zlib.crc32(read_loose_edges(mesh).tobytes())


CREASE_ANGLE, CREASE_STIFFNESS = "pbd_crease_angle", "pbd_crease_stiffness"
"""Attributes of edges: the angle at rest [rad], and the factor on Bending; an edge is a crease where it is not 0."""


def read_creases(obj: Object) -> Creases:
    """The creases of an object's mesh; raises `PBDError` if its attributes are of another kind or out of range."""
    mesh = obj.data
    if CREASE_STIFFNESS not in mesh.attributes:
        return Creases(np.zeros((0, 2), np.int32), np.zeros(0), np.zeros(0))
    factors, angles = _edge_values(obj, CREASE_STIFFNESS), np.zeros(len(mesh.edges), np.float32)
    if CREASE_ANGLE in mesh.attributes:
        angles = _edge_values(obj, CREASE_ANGLE)
    wrong = np.flatnonzero(~((factors >= 0.0) & (factors < MOST_FACTOR) & (np.abs(angles) < MOST_CREASE_ANGLE)))
    if len(wrong):
        raise PBDError(
            f"Edge {wrong[0]} of '{obj.name}' has a crease of {np.degrees(angles[wrong[0]]):g}° with stiffness "
            f"{factors[wrong[0]]:g}: set or clear it again"
        )
    found = np.flatnonzero(factors)
    return Creases(
        edge_vertices(mesh)[found], angles[found].astype(float).clip(-np.pi, np.pi), factors[found].astype(float)
    )


def _edge_values(obj: Object, name: str) -> np.ndarray:
    """An attribute of edges (e,) float32; raises `PBDError` if it is of another kind."""
    attribute = obj.data.attributes[name]
    if attribute.domain != "EDGE" or attribute.data_type != "FLOAT":
        raise PBDError(f"Attribute '{name}' of '{obj.name}' must hold a float for each edge: remove or rename it")
    return values(attribute.data, "value")


def crease_check(obj: Object) -> int:
    """A hash of the creases; 0 if there are none, or they cannot be used."""
    try:
        creases = read_creases(obj)
    except PBDError:
        return 0
    return zlib.crc32(b"".join(np.asarray(one).tobytes() for one in creases)) if len(creases.edges) else 0


def read_pins(obj: Object) -> dict[int, float]:
    """Weights in (0, 1] of pinned and attached vertices, by vertex id; the attach weight wins. Not of sliding ones.

    Raises a `PBDError` if a group is missing, or all vertices have weight 1.
    """
    weights = np.zeros(len(obj.data.vertices), np.float32)
    name = obj.pbd.pin_group
    if name:
        if name not in obj.vertex_groups:
            raise PBDError(f"'{obj.name}' has no vertex group '{name}' to pin it: choose another pin group")
        weights = user_keys.read_weights(obj, name)
        if (weights >= 1.0).all():
            raise PBDError(f"All {len(weights)} vertices of '{obj.name}' are pinned: unpin some to simulate it")
    attached = read_attached(obj)
    weights = np.where(attached > 0.0, 0.0 if obj.pbd.attach_slide else attached, weights)
    if (weights >= 1.0).all():
        raise PBDError(f"All {len(weights)} vertices of '{obj.name}' are held: let some go to simulate it")
    ids = np.flatnonzero(weights > 0.0)
    return dict(zip(ids.tolist(), weights[ids].tolist(), strict=True))


def read_slides(obj: Object) -> dict[int, float]:
    """Weights in (0, 1] of attached vertices that slide, by vertex id; raises `PBDError` if the group is missing."""
    weights = read_attached(obj)
    ids = np.flatnonzero(weights > 0.0) if obj.pbd.attach_slide else np.zeros(0, int)
    return dict(zip(ids.tolist(), weights[ids].tolist(), strict=True))


def attached_to(obj: Object) -> tuple[int, str, bool] | None:
    """Uid of the object that this one is attached to, the name of its attach group, whether that slides; or None."""
    target, group = obj.pbd.attach_object, obj.pbd.attach_group
    return (target.session_uid, group, obj.pbd.attach_slide) if target is not None and group else None


def read_attached(obj: Object) -> np.ndarray:
    """Weights (n,) float32 of the attached vertices, zero for the others; raises `PBDError` without the group."""
    if attached_to(obj) is None:
        return np.zeros(len(obj.data.vertices), np.float32)
    name = obj.pbd.attach_group
    if name not in obj.vertex_groups:
        raise PBDError(f"'{obj.name}' has no vertex group '{name}' to attach it: choose another attach group")
    return user_keys.read_weights(obj, name)


def counts(mesh: Mesh) -> tuple[int, int, int, int]:
    """Numbers of vertices, edges, face corners and faces; cheap to compare at every frame."""
    return len(mesh.vertices), len(mesh.edges), len(mesh.loops), len(mesh.polygons)


def fingerprint(obj: Object) -> tuple:
    """What must stay the same for a simulation to match: the counts, `corner_check`, and a hash of all of the faces."""
    corners, starts = read_polygons(obj.data)
    of_corners = zlib.crc32(corners.tobytes())
    return counts(obj.data), of_corners, zlib.crc32(starts.tobytes(), of_corners)


def corner_check(mesh: Mesh) -> int:
    """A hash of the vertices of the faces' corners; cheap to compare at every frame."""
    return zlib.crc32(face_corners(mesh).tobytes())
