"""Coarse copies of meshes: by rows of a grid, by Blender's Decimate, or by its voxel Remesh, which closes them."""

import contextlib
from collections.abc import Iterator
from typing import Any

import bmesh
import bpy
import numpy as np

from ...meshes import grids
from ..errors import PBDError
from ..kinds import Context, Mesh, Object
from .arrays import values

VOXELS = 100
"""Voxels along the longest side of a figure: fingers are apart, holes of a neck or sleeve are closed."""


def of_cloth(context: Context, obj: Object, count: int) -> Mesh:
    """A new mesh with the borders, faces and weights of an object's mesh and about so many vertices."""
    mesh = obj.data
    corners = values(mesh.loops, "vertex_index", int)
    if len(corners) == 4 * len(mesh.polygons):
        grid = grids.rows_and_columns(corners.reshape(-1, 4), len(mesh.vertices))
        if grid is not None:
            return _of_rows(mesh, grids.coarser(grid, count))
    return _decimated(context, mesh, count)


def of_figure(context: Context, obj: Object, count: int) -> Mesh:
    """A new closed mesh around an object's mesh, with about so many vertices."""
    size = float(np.ptp(values(obj.data.vertices, "co", size=3), axis=0).max())
    if not size:
        raise PBDError(f"'{obj.name}' holds no volume to make a collider of")
    with _modified(context, obj.data) as (add, result):
        remesh = add("REMESH")
        remesh.mode, remesh.voxel_size = "VOXEL", size / VOXELS
        closed = result()
    if not closed.polygons:
        bpy.data.meshes.remove(closed)
        raise PBDError(f"'{obj.name}' holds no volume to make a collider of")
    try:
        return _decimated(context, closed, count)
    finally:
        bpy.data.meshes.remove(closed)


def _of_rows(mesh: Mesh, grid: np.ndarray) -> Mesh:
    """The rows and columns that are left of a grid, with their weights."""
    keep = np.zeros(len(mesh.vertices), bool)
    keep[grid] = True
    geometry = bmesh.new()
    geometry.from_mesh(mesh)
    geometry.verts.ensure_lookup_table()
    bmesh.ops.delete(geometry, geom=[geometry.verts[k] for k in np.flatnonzero(~keep).tolist()], context="VERTS")
    bmesh.ops.delete(geometry, geom=geometry.edges[:], context="EDGES_FACES")
    geometry.verts.ensure_lookup_table()
    ids = np.cumsum(keep)[grid] - 1
    quads = np.stack([ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]], axis=-1).reshape(-1, 4)
    for quad in quads.tolist():
        geometry.faces.new([geometry.verts[k] for k in quad]).smooth = True
    coarse = bpy.data.meshes.new(mesh.name)
    geometry.to_mesh(coarse)
    geometry.free()
    return coarse


def _decimated(context: Context, mesh: Mesh, count: int) -> Mesh:
    with _modified(context, mesh) as (add, result):
        decimate = add("DECIMATE")
        decimate.ratio = min(count / len(mesh.vertices), 1.0)
        return result()


@contextlib.contextmanager
def _modified(context: Context, mesh: Mesh) -> Iterator[tuple[Any, Any]]:
    """How to add modifiers to a copy of a mesh, and how to get the result as a new mesh."""
    copy = mesh.copy()
    obj = bpy.data.objects.new("Coarse", copy)
    if copy.shape_keys:
        obj.shape_key_clear()
    context.scene.collection.objects.link(obj)

    def result() -> Mesh:
        depsgraph = context.evaluated_depsgraph_get()
        return bpy.data.meshes.new_from_object(
            obj.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph
        )

    try:
        yield (lambda kind: obj.modifiers.new(kind, kind)), result
    finally:
        bpy.data.objects.remove(obj)
        bpy.data.meshes.remove(copy)
