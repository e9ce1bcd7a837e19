"""Fixes of findings, one function per check that can be fixed; all take the object."""

from collections.abc import Callable

import bmesh
import bpy
import mathutils
import numpy as np

from ..errors import PBDError
from ..kinds import Object
from ..output import shape_keys
from ..scene import user_keys
from ..settings.field_properties import unset
from . import mesh_findings, setup_findings
from .mesh_exam import examine
from .splitting import split

HALF = 0.5
"""Fraction of the median edge length that a distance is set to."""


def edit(obj: Object, change: Callable[[bmesh.types.BMesh], object]) -> None:
    """Let a function change the mesh as a BMesh, which keeps shape keys, groups and UVs; removes the live key."""
    shape_keys.remove_live_key(obj)
    geometry = bmesh.new()
    geometry.from_mesh(obj.data)
    change(geometry)
    geometry.to_mesh(obj.data)
    geometry.free()
    obj.data.update()


def shared(obj: Object) -> None:
    """Make the mesh single user."""
    obj.data = obj.data.copy()


def absolute_keys(obj: Object) -> None:
    """Make the shape keys relative."""
    obj.data.shape_keys.use_relative = True


def too_coarse(obj: Object) -> None:
    """Subdivide to about `FINE` vertices; edges with two pinned ends stay pinned."""
    groups = [name for name in (obj.pbd.pin_group, obj.pbd.attach_group) if name in obj.vertex_groups]
    weights = {name: user_keys.read_weights(obj, name) for name in groups}
    count = len(obj.data.vertices)

    def subdivide(geometry: bmesh.types.BMesh) -> None:
        large = [face for face in geometry.faces if len(face.verts) > 4]
        bmesh.ops.triangulate(geometry, faces=large)
        bmesh.ops.subdivide_edges(
            geometry, edges=geometry.edges[:], cuts=cuts_for(geometry, setup_findings.FINE), use_grid_fill=True
        )

    edit(obj, subdivide)
    for name, before in weights.items():
        if not before.any():
            continue
        # Between a pinned and a free vertex Blender interpolates the weight, which would pin the whole quad.
        after = user_keys.read_weights(obj, name)
        softer = np.flatnonzero((after > 0.0) & (after < before[before > 0.0].min() - 1e-6))
        obj.vertex_groups[name].remove(softer[softer >= count].tolist())


def cuts_for(geometry: bmesh.types.BMesh, wanted: int) -> int:
    """The smallest number of cuts per edge that gives a mesh of triangles and quads at least `wanted` vertices."""
    quads = sum(len(face.verts) == 4 for face in geometry.faces)
    triangles = len(geometry.faces) - quads
    for cuts in range(1, wanted):
        inside = quads * cuts**2 + triangles * cuts * (cuts - 1) // 2
        if len(geometry.verts) + cuts * len(geometry.edges) + inside >= wanted:
            return cuts
    return wanted


def unit_scale(_obj: Object) -> None:
    """Show lengths as they are simulated."""
    bpy.context.scene.unit_settings.scale_length = 1.0


def no_scale(obj: Object) -> None:
    """Set the scale of flat axes to 1."""
    obj.scale = [value if abs(value) > 1e-6 else 1.0 for value in obj.scale.to_tuple()]


def uneven_scale(obj: Object) -> None:
    """Apply the scale to the mesh and its shape keys; raises `PBDError` if something depends on it."""
    if obj.children or obj.parent or obj.animation_data or obj.constraints:
        raise PBDError(f"The scale of '{obj.name}' is animated, inherited or handed on: even it out by hand")
    obj.data.transform(mathutils.Matrix.Diagonal(obj.scale).to_4x4(), shape_keys=True)
    if np.prod(obj.scale.to_tuple()) < 0.0:
        obj.data.flip_normals()
    obj.scale = (1.0, 1.0, 1.0)
    obj.data.update()


def doubles(obj: Object) -> None:
    """Merge doubles."""
    edit(obj, lambda geometry: bmesh.ops.weld_verts(geometry, targetmap=mesh_findings.double_targets(geometry)))


def not_split(obj: Object) -> None:
    """Split the mesh everywhere."""
    split(obj, "EVERYWHERE")


def open_chambers(obj: Object) -> None:
    """Fill each opening with a face."""

    def fill(geometry: bmesh.types.BMesh) -> None:
        bmesh.ops.holes_fill(geometry, edges=[edge for edge in geometry.edges if edge.is_boundary], sides=0)

    edit(obj, fill)


def no_area(obj: Object) -> None:
    """Dissolve faces that are lines or points."""

    def dissolve(geometry: bmesh.types.BMesh) -> None:
        lengths = [edge.calc_length() for edge in geometry.edges]
        bmesh.ops.dissolve_degenerate(
            geometry, edges=geometry.edges[:], dist=mesh_findings.SAME_PLACE * float(np.median(lengths))
        )

    edit(obj, dissolve)


def loose_vertices(obj: Object) -> None:
    """Delete loose vertices."""

    def delete(geometry: bmesh.types.BMesh) -> None:
        alone = [vertex for vertex in geometry.verts if not vertex.link_edges]
        bmesh.ops.delete(geometry, geom=alone, context="VERTS")

    edit(obj, delete)


def opposed_normals(obj: Object) -> None:
    """Make all normals point outward."""
    edit(obj, lambda geometry: bmesh.ops.recalc_face_normals(geometry, faces=geometry.faces[:]))


def wide_distance(obj: Object) -> None:
    """Set the distance to half the median edge length."""
    obj.pbd.thickness = HALF * examine(obj).usual_edge


def wide_self_distance(obj: Object) -> None:
    """Make the self distance automatic."""
    obj.pbd.self_distance = 0.0


def lost_pins(obj: Object) -> None:
    """Clear the pin group."""
    obj.pbd.pin_group = ""


def lost_attached(obj: Object) -> None:
    """Clear the attach group."""
    obj.pbd.attach_group = ""


def lost_maps(obj: Object) -> None:
    """Clear the groups that do not exist."""
    unset(obj.pbd, (f"{kind}_group" for kind in setup_findings.missing_maps(obj)))


def all_held(obj: Object) -> None:
    """Clear the pin group, or else the attach group; the vertex group itself is kept."""
    if obj.pbd.pin_group:
        obj.pbd.pin_group = ""
    else:
        obj.pbd.attach_group = ""


def second_simulation(obj: Object) -> None:
    """Switch Blender's own simulation off."""
    found = setup_findings.first_modifier(obj, setup_findings.SIMULATE)
    found.show_viewport = found.show_render = False


def added_geometry(obj: Object) -> None:
    """Apply the modifier; raises `PBDError` if shape keys or earlier modifiers prevent it."""
    shape_keys.remove_live_key(obj)
    if obj.data.shape_keys is not None:
        raise PBDError(f"'{obj.name}' has shape keys, so that no modifier can be applied: apply it before adding keys")
    found = setup_findings.first_modifier(obj, setup_findings.ADD_GEOMETRY)
    if any(one.show_viewport for one in obj.modifiers[: obj.modifiers.find(found.name)]):
        raise PBDError(f"Modifiers before '{found.name}' come first: apply those you want to keep, or remove it")
    with bpy.context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
        bpy.ops.object.modifier_apply(modifier=found.name)
