"""Meshes of sewing patterns: read from a file, triangulated by Blender, with seams, UVs and vertex groups."""

from pathlib import Path

import bpy
import numpy as np
from mathutils.geometry import delaunay_2d_cdt

from ...io import sewing_pattern, svg_pattern
from ...meshes.panels import Pattern, Sewn, mesh_pattern
from ..errors import PBDError, refused
from ..kinds import Mesh, Object

READERS = {".json": sewing_pattern.read, ".svg": svg_pattern.read}
"""What reads a file, by its extension."""

NEAREST = 1e-6
"""Points that Blender's triangulation takes for one, in sizes of a panel: ten roundings of 32 bits."""


def read(path: Path) -> Pattern:
    """The pattern of a file; raises `PBDError`."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise PBDError(f"'{path.name}' is no pattern: choose a file that ends in .json or .svg")
    try:
        with path.open("rb") as file:
            raw = file.read(sewing_pattern.MOST_BYTES + 1)
    except OSError as error:
        raise PBDError(f"'{path}' could not be read: {error.strerror or error}") from error
    with refused(f"'{path.name}': "):
        return reader(raw)


def mesh(pattern: Pattern, edge: float, name: str) -> Sewn:
    """A pattern as a mesh of triangles with edges of about this length [m]; raises `PBDError`."""
    with refused(f"'{name}': "):
        return mesh_pattern(pattern, edge, triangulate)


def triangulate(points: np.ndarray, border: int) -> np.ndarray:
    """Delaunay triangles of points (n, 2), of which the first ones are a border that stays whole, (t, 3) int32."""
    low, size = points.min(axis=0), np.ptp(points, axis=0).max()
    edges = np.column_stack([np.arange(border), np.roll(np.arange(border), -1)])
    places = ((points - low) / size).tolist()
    found, _, faces, origins, *_ = delaunay_2d_cdt(places, edges.tolist(), [], 0, NEAREST)
    if len(found) != len(points):
        raise ValueError("crosses or touches itself")
    triangles = np.array([origins[vertex][0] for face in faces for vertex in face], np.int32).reshape(-1, 3)
    a, b, c = points[triangles].transpose(1, 0, 2)
    turned = (b - a)[:, 0] * (c - a)[:, 1] < (b - a)[:, 1] * (c - a)[:, 0]
    return np.where(turned[:, None], triangles[:, ::-1], triangles)


def make(sewn: Sewn, name: str) -> Mesh:
    """A new mesh with smooth faces, loose edges as seams, and the flat pattern as UV."""
    count, corners = len(sewn.vertices), np.ascontiguousarray(sewn.triangles.ravel(), np.int32)
    made = bpy.data.meshes.new(name)
    made.vertices.add(count)
    made.edges.add(len(sewn.seams))
    made.loops.add(corners.size)
    made.polygons.add(len(sewn.triangles))
    made.attributes["position"].data.foreach_set("vector", sewn.vertices.astype(np.float32).ravel())
    made.edges.foreach_set("vertices", sewn.seams.astype(np.int32).ravel())
    made.loops.foreach_set("vertex_index", corners)
    made.polygons.foreach_set("loop_start", np.arange(0, corners.size, 3, dtype=np.int32))
    uvs = (sewn.flat / sewn.flat.max())[corners].astype(np.float32)
    made.uv_layers.new(name="UVMap").uv.foreach_set("vector", uvs.ravel())
    made.shade_smooth()
    made.update(calc_edges=True, calc_edges_loose=True)
    return made


def add_groups(obj: Object, groups: dict[str, np.ndarray]) -> None:
    """A vertex group for each panel and label."""
    for name, ids in groups.items():
        obj.vertex_groups.new(name=name).add(ids.tolist(), 1.0, "REPLACE")
