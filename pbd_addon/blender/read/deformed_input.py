"""The mesh as the modifiers before the simulation deform it: it gives the pin targets and the starting shape.

Our modifier stores it as an attribute, so one evaluation gives both this and the shown mesh. If later modifiers spoil
the attribute, the object is evaluated again with our modifier and all after it temporarily switched off.
"""

import contextlib
from collections.abc import Iterator

import bpy
import numpy as np

from ..errors import PBDError
from ..kinds import Depsgraph, Mesh, Object
from ..output import output, output_choice, output_modifier
from ..scene.arrays import values
from ..scene.user_keys import read_vertices
from . import mesh_io

CARRIERS = output_modifier.KEEPERS | {"ARRAY", "EDGE_SPLIT", "MIRROR", "SOLIDIFY", "SUBSURF"}
"""Modifiers that keep their input vertices first, with attributes, and append new ones."""


def follows(obj: Object) -> bool:
    """Whether the pins of an object follow its modifiers."""
    return not obj.pbd.baked and output_choice.is_modifier(obj)


def read(obj: Object, depsgraph: Depsgraph) -> np.ndarray | None:
    """The shape (n, 3) float32 of the input, object space [m], or None in a render that leaves the object out.

    The depsgraph may be updated, which invalidates evaluated data read before. Raises a `PBDError` if the mesh is being
    edited, its modifiers do not keep the vertices, a vertex has invalid coordinates, or nothing is evaluated.
    """
    mesh_io.check_editable(obj)
    output.check(obj)
    if _evaluated_mesh(obj, depsgraph) is None:
        if depsgraph.mode == "RENDER":
            return None
        raise PBDError(f"'{obj.name}' is disabled in viewports, so its modifiers are unknown: enable it")
    shape = peek(obj, depsgraph)
    if shape is None:
        with _switched_off(obj, depsgraph):
            depsgraph.update()
            shape = read_vertices(_evaluated_mesh(obj, depsgraph))
    count = len(obj.data.vertices)
    if len(shape) != count:
        raise PBDError(
            f"The modifiers before the simulation make {len(shape)} vertices of the {count} of '{obj.name}': "
            "apply those that do, or move them after it"
        )
    bad = np.flatnonzero(~np.isfinite(shape).all(axis=1))
    if len(bad):
        raise PBDError(
            f"The modifiers of '{obj.name}' give vertex {bad[0]} invalid coordinates: switch them off one by one"
        )
    return shape


def peek(obj: Object, depsgraph: Depsgraph) -> np.ndarray | None:
    """The input (n, 3) float32 from the last evaluation, or None where the attribute does not give it."""
    mesh = _evaluated_mesh(obj, depsgraph)
    count = len(obj.data.vertices)
    switch = "show_render" if depsgraph.mode == "RENDER" else "show_viewport"
    earlier, later = (
        {one.type for one in modifiers if getattr(one, switch)}
        for modifiers in (output_modifier.before(obj), output_modifier.after(obj))
    )
    if mesh is None or obj.data.is_editmode or not earlier <= output_modifier.KEEPERS or not later <= CARRIERS:
        return None
    if output_modifier.find(obj) is None:
        is_input = not later and not obj.pbd.live_key and len(mesh.vertices) == count
        return read_vertices(mesh) if is_input else None
    kept: bpy.types.FloatVectorAttribute | None = mesh.attributes.get(output_modifier.INPUT)
    index: bpy.types.IntAttribute | None = mesh.attributes.get(output_modifier.INDEX)
    if kept is None or index is None:
        return None
    if not np.array_equal(values(index.data, "value", np.int32)[:count], np.arange(count)):
        return None
    shape = values(kept.data, "vector", size=3)
    return shape[:count].copy() if len(shape) > count else shape


def is_subdivided(obj: Object) -> bool:
    """Whether a modifier subdivides the simulated shape in the viewport."""
    return any(one.type == "SUBSURF" and one.show_viewport for one in output_modifier.after(obj))


def _evaluated_mesh(obj: Object, depsgraph: Depsgraph) -> Mesh | None:
    """The mesh after all modifiers, or None if it was not evaluated."""
    evaluated = obj.evaluated_get(depsgraph)
    return evaluated.data if evaluated.is_evaluated and evaluated.type == "MESH" else None


@contextlib.contextmanager
def _switched_off(obj: Object, depsgraph: Depsgraph) -> Iterator[None]:
    """Switch our modifier and those after it off temporarily."""
    try:
        with output_modifier.off(list(obj.modifiers)[output_modifier.place(obj) :]):
            _tag(obj, depsgraph)
            yield
    finally:
        _tag(obj, depsgraph)


def _tag(obj: Object, depsgraph: Depsgraph) -> None:
    """Tag the object for evaluation; TIME keeps the animated values, which in a render only its own copies have."""
    obj.update_tag(refresh={"OBJECT", "DATA", "TIME"} if depsgraph.mode == "RENDER" else {"OBJECT", "DATA"})
