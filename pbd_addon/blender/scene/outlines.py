"""Outlines of texts and curves: closed polygons in their own plane."""

import contextlib
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from ..errors import PBDError
from ..kinds import Object
from .arrays import edge_vertices, values


def has_outlines(obj: Object) -> bool:
    """Whether an object is a text or a curve."""
    return obj.type in ("FONT", "CURVE")


def checked(obj: Object | None) -> Object:
    """That object, if it is a text or a curve."""
    if obj is None or not has_outlines(obj):
        raise PBDError("There is no text or curve to take the shape of: select one, or type some letters")
    return obj


def of_text(text: str, size: float, bold: float) -> list[np.ndarray]:
    """Outlines of a text in Blender's own font, centered, each (k, 2) [m].

    size: height of a line [m]; bold: how much wider strokes are at either side, over that.
    """
    if not text.strip():
        raise PBDError("There is no text: type some letters")
    curve: Any = bpy.data.curves.new(text, "FONT")  # the stubs do not know that it is one of text
    curve.body, curve.size, curve.align_x, curve.align_y = text, size, "CENTER", "CENTER"
    curve.offset = bold * size
    try:
        outlines = _outlines(curve, text)
    finally:
        bpy.data.curves.remove(curve)
    if not outlines:
        raise PBDError("There is no text: type some letters")
    return outlines


def of_object(obj: Object) -> list[np.ndarray]:
    """Outlines of a text or of closed curves, each (k, 2), in the object's own plane."""
    curve = obj.data.copy()
    try:
        outlines = _outlines(curve, obj.name)
    finally:
        bpy.data.curves.remove(curve)
    if not outlines:
        raise PBDError(f"'{obj.name}' encloses nothing: draw a closed curve, or type some letters")
    return outlines


def _outlines(curve: bpy.types.Curve, name: str) -> list[np.ndarray]:
    """Those of a curve of our own, which is changed: without thickness, a text is flat faces, a curve is edges."""
    curve.extrude = curve.bevel_depth = 0.0
    curve.bevel_object = curve.taper_object = None
    is_text = isinstance(curve, bpy.types.TextCurve)
    if not is_text:
        curve.dimensions = "3D"
    with _as_mesh(curve) as mesh:
        if mesh is None:  # nothing was drawn
            return []
        x, edges = values(mesh.vertices, "co", size=3)[:, :2].astype(float), edge_vertices(mesh)
        if is_text:
            sides = np.array([key for face in mesh.polygons for key in face.edge_keys], int).reshape(-1, 2)
            edges, counts = np.unique(sides, axis=0, return_counts=True)
            edges = edges[counts % 2 == 1]  # closed, whatever faces overlap: each has an even number at every vertex
    return [x[loop] for loop in _loops(edges, name) if len(loop) > 2]


@contextlib.contextmanager
def _as_mesh(curve: bpy.types.Curve) -> Iterator[bpy.types.Mesh | None]:
    obj = bpy.data.objects.new(curve.name, curve)
    try:
        yield obj.to_mesh()
    finally:
        obj.to_mesh_clear()
        bpy.data.objects.remove(obj)


def _loops(edges: np.ndarray, name: str) -> list[list[int]]:
    """Closed runs of edges (e, 2) int, as vertices in order."""
    beside: dict[int, list[int]] = {}
    for one, other in edges.tolist():
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    loops = []
    while beside:
        at = next(iter(beside))
        loop = []
        while beside.get(at):
            loop.append(at)
            following = beside[at].pop()
            beside[following].remove(at)
            at = following
        if at != loop[0]:
            raise PBDError(f"'{name}' has an open curve: close it with Toggle Cyclic in Edit Mode")
        loops.append(loop)
        beside = {vertex: left for vertex, left in beside.items() if left}
    return loops
