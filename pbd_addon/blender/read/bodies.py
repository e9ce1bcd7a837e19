"""From Blender's objects to the solver's bodies."""

import numpy as np

from ... import Body, Rail
from ...meshes.mesh import turned_around
from ..errors import PBDError, refused
from ..kinds import Object
from ..scene import poses, user_keys
from ..scene.poses import Pose
from ..scene.surfaces import Surface
from ..settings import raw_settings
from . import mesh_io, rest_shape, warps


def read_body(
    obj: Object,
    pose: Pose | None = None,
    masks: dict[str, np.ndarray] | None = None,
    deformed: np.ndarray | None = None,
    target: Surface | None = None,
) -> Body:
    """A `Body` in world space, made from the user's shape under a pose, by default the last one; raises `PBDError`.

    It begins in the shape `deformed`, (n, 3) float32 in object space, if modifiers made one. The faces of a mirrored
    object are flipped, so that they look outward in the world as well. Attached vertices that slide do so along
    `target`; without it they are free.
    """
    mesh_io.check_mesh(obj)
    pose = pose or poses.read_last_pose(obj)
    if poses.is_flat(pose.matrix):
        raise PBDError(f"'{obj.name}' has a scale of zero: give it a scale to simulate it")
    shape = user_keys.user_shape(obj, pose.key_values, user_keys.read_masks(obj) if masks is None else masks)
    bad = np.flatnonzero(~np.isfinite(shape).all(axis=1))
    if len(bad):
        raise PBDError(f"Vertex {bad[0]} of '{obj.name}' has invalid coordinates (NaN): delete or move it")
    faces = mesh_io.read_polygons(obj.data)
    if np.linalg.det(pose.matrix[:3, :3]) < 0.0:
        faces = turned_around(faces)
    slides = {} if target is None else mesh_io.read_slides(obj)
    vertices = poses.to_world(shape if deformed is None else deformed, pose.matrix)
    rest = rest_shape.read(obj, shape, vertices, pose.matrix)
    warp, note = warps.read(obj, rest, pose.matrix)
    with refused():
        body = Body(
            vertices,
            faces,
            material=raw_settings.material_from(raw_settings.raw_material(obj), obj.name),
            pins=mesh_io.read_pins(obj),
            rest_vertices=rest,
            edges=mesh_io.read_loose_edges(obj.data),
            name=obj.name,
            creases=mesh_io.read_creases(obj),
            velocity=tuple(map(raw_settings.clean, obj.pbd.velocity)),
            angular_velocity=tuple(map(raw_settings.clean, obj.pbd.angular_velocity)),
            dynamic_mesh=obj.pbd.rest_shape == "DYNAMIC",
            rail=_rail(obj, target) if slides else None,
            slides=slides,
            layer=obj.pbd.layer,
            fit=obj.pbd.fit,
            warp=warp,
        )
    body.notes += note
    return body


def _rail(obj: Object, target: Surface) -> Rail:
    """What the attached vertices of an object slide along; raises `PBDError`."""
    corners, starts = target.faces
    if len(starts) < 2:
        raise PBDError(f"'{target.name}' has no faces or edges for '{obj.name}' to slide along: choose another object")
    faces, edges = (target.faces, ()) if target.has_faces else ((), corners.reshape(-1, 2))
    return Rail(target.world(), faces, edges, name=target.name)
