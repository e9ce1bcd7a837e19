"""The modifier that shows the simulated shape of a mesh that other modifiers deform.

It is a Geometry Nodes group. Modifiers before it make the input: the group stores their result as the attribute
`INPUT`, which the simulation reads. Then it moves the vertices to the mesh attribute `POSITION`, the simulated shape
(n, 3) float32 in object space [m]. Modifiers after it, such as Subdivision, act on the cloth.
"""

import contextlib
from typing import Any, cast

import bpy
import numpy as np

from ..errors import PBDError
from ..kinds import Modifier, Object
from ..scene import animation
from ..scene.arrays import values
from ..scene.temporary import changed

NAME = "PBD Output"
MARK = "pbd_output"
"""Custom property that identifies our node group; the user may have one of the same name."""

POSITION = "pbd_position"
INPUT = "pbd_input"
INDEX = "pbd_index"
"""Index of each vertex of `INPUT`: later modifiers may reorder, remove or add vertices."""

MOVERS = {
    *("ARMATURE", "CAST", "CURVE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "SIMPLE_DEFORM"),
    *("SURFACE_DEFORM", "WARP", "WAVE"),
}
"""Modifiers that pose a mesh: cloth should follow them, not be deformed by them again."""

DEFORMERS = MOVERS | {"CORRECTIVE_SMOOTH", "DISPLACE", "LAPLACIANSMOOTH", "SHRINKWRAP", "SMOOTH"}
"""Modifiers that only move vertices."""

KEEPERS = DEFORMERS | {
    *("DATA_TRANSFER", "NORMAL_EDIT", "TRIANGULATE", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT"),
    *("VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL"),
}
"""Modifiers that keep the number of vertices and their attributes."""

GROWERS = {
    *("ARRAY", "BEVEL", "BOOLEAN", "BUILD", "DECIMATE", "EDGE_SPLIT", "EXPLODE", "MASK", "MIRROR", "REMESH", "SCREW"),
    *("SKIN", "SOLIDIFY", "SUBSURF", "WELD", "WIREFRAME"),
}
"""Modifiers that change the number of vertices."""

TEAR_WELD = "Tear Weld"
"""Name of the modifier that merges what is split for tearing and still holds together, for the eye."""

FIRST = {"MULTIRES", "SOFT_BODY"}
"""Modifiers that Blender requires before any node group, because they need the original mesh."""


def movers(obj: Object) -> list[Modifier]:
    """The modifiers that pose the mesh, in order, without the one that plays our bake."""
    found = [one for one in obj.modifiers if one.type in MOVERS]
    if not found:
        return found
    name, file = obj.pbd.bake_modifier, obj.pbd.bake_file
    return [
        one
        for one in found
        if not (name and isinstance(one, bpy.types.MeshCacheModifier) and (one.name == name or one.filepath == file))
    ]


def players(obj: Object) -> list[bpy.types.MeshCacheModifier]:
    """The modifiers of an object that play files."""
    return [one for one in obj.modifiers if isinstance(one, bpy.types.MeshCacheModifier)]


def is_bound_to_parent(obj: Object) -> bool:
    """Whether the parent, an armature or lattice, deforms the mesh without a modifier in the stack."""
    return (
        obj.parent is not None
        and obj.parent_type in {"ARMATURE", "LATTICE"}
        and obj.parent.type in {"ARMATURE", "LATTICE"}
    )


def find(obj: Object) -> bpy.types.NodesModifier | None:
    """Our modifier on an object, or None."""
    nodes = (one for one in obj.modifiers if isinstance(one, bpy.types.NodesModifier))
    return next(filter(is_ours, nodes), None)


def is_ours(modifier: bpy.types.NodesModifier) -> bool:
    """Whether a Geometry Nodes modifier has our group."""
    return modifier.node_group is not None and modifier.node_group.get(MARK) is not None


def place(obj: Object) -> int:
    """The index of our modifier in the stack, or the one it would get: after the last that poses the mesh."""
    ours = find(obj)
    if ours is not None:
        return obj.modifiers.find(ours.name)
    return 1 + max((obj.modifiers.find(modifier.name) for modifier in movers(obj)), default=-1)


def before(obj: Object) -> list[Modifier]:
    """The modifiers that make the input of the simulation."""
    return list(obj.modifiers)[: place(obj)]


def after(obj: Object) -> list[Modifier]:
    """The modifiers that act on the simulated shape."""
    return [modifier for modifier in list(obj.modifiers)[place(obj) :] if modifier != find(obj)]


def ensure(obj: Object) -> bool:
    """Give an object our modifier; returns whether anything changed.

    It stays where the user has moved it, but is moved behind newly added modifiers that pose the mesh.
    """
    ours, added = find(obj), False
    if ours is None:
        at = place(obj)
        ours, added = cast(bpy.types.NodesModifier, obj.modifiers.new(NAME, "NODES")), True
        ours.node_group = group()
        ours.show_expanded = ours.show_in_editmode = False
        obj.modifiers.move(obj.modifiers.find(ours.name), at)
    names = [modifier.name for modifier in movers(obj)]
    known = set(obj.pbd.output_after.splitlines())
    late = [at for at, modifier in enumerate(obj.modifiers) if modifier.name in set(names) - known]
    here = obj.modifiers.find(ours.name)
    moved = not added and bool(late) and late[-1] > here
    if moved:
        obj.modifiers.move(here, late[-1])
    if known != set(names):
        obj.pbd.output_after = "\n".join(names)
    return added or moved


def remove(obj: Object) -> bool:
    """Remove our modifier, its attribute and, if unused, its group; returns whether there was anything."""
    ours = find(obj)
    found = ours is not None
    if found:
        used = ours.node_group
        obj.modifiers.remove(ours)
        if used.library is None and used.users == 0:
            bpy.data.node_groups.remove(used)
    if obj.data.attributes.get(POSITION) is not None:
        show_input(obj)
        found = True
    if obj.pbd.output_after:
        obj.pbd.output_after = ""
    return found


def write(obj: Object, shape: np.ndarray) -> None:
    """Show a shape (n, 3) float32, object space [m]."""
    attributes = obj.data.attributes
    attribute = attributes.get(POSITION)
    if attribute is not None and (attribute.data_type, attribute.domain) != ("FLOAT_VECTOR", "POINT"):
        attributes.remove(attribute)
        attribute = None
    if attribute is None:
        attribute = attributes.new(POSITION, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", np.ascontiguousarray(shape, np.float32).ravel())
    obj.data.update()


def read(obj: Object) -> np.ndarray | None:
    """The shown shape (n, 3) float32, object space [m], or None."""
    attribute = obj.data.attributes.get(POSITION)
    return None if attribute is None or find(obj) is None else values(attribute.data, "vector", size=3)


def show_input(obj: Object) -> None:
    """Show the input of our modifier, by removing the attribute `POSITION`."""
    attribute = obj.data.attributes.get(POSITION)
    if attribute is not None:
        obj.data.attributes.remove(attribute)
        obj.data.update()


# ------------------------------------------------------------------------------------------ bakes


def check_switches(obj: Object) -> None:
    """Raise a `PBDError` if animation would switch on modifiers that a bake switches off."""
    if find(obj) is None:
        return
    names = (bpy.utils.escape_identifier(modifier.name) for modifier in (*before(obj), find(obj)))
    paths = tuple(f'modifiers["{name}"].show_' for name in names)
    drivers = obj.animation_data.drivers if obj.animation_data else ()
    if any(curve.data_path.startswith(paths) for curve in (*(animation.curves(obj) or ()), *drivers)):
        raise PBDError(f"Modifiers of '{obj.name}' are switched by animation: remove that to bake their result")


def off(modifiers: list[Modifier]) -> contextlib.AbstractContextManager[None]:
    """A context in which modifiers are off."""
    return changed(*((modifier, show, False) for modifier in modifiers for show in ("show_viewport", "show_render")))


def switch_off(obj: Object) -> None:
    """Switch off what baked keys already include: our modifier, those before it, and deformation by the parent."""
    if find(obj) is not None:
        _switch_off(obj, before(obj))


def switch_off_overwritten(obj: Object) -> None:
    """Switch off our modifier and the deformers directly before it, because a modifier in its place sets all positions.

    Other modifiers change faces, weights or UV maps, and may depend on the deformers before them.
    """
    if find(obj) is None:
        return
    earlier = before(obj)
    needed = max((at + 1 for at, modifier in enumerate(earlier) if modifier.type not in DEFORMERS), default=0)
    _switch_off(obj, earlier[needed:], with_parent=not needed)


def _switch_off(obj: Object, earlier: list[Modifier], with_parent: bool = True) -> None:
    """Switch off our modifier, `earlier` ones, and deformation by the parent; noted on ``Object.pbd``."""
    modifiers = [*earlier, find(obj)]
    notes = [f"{modifier.show_viewport:d}{modifier.show_render:d}{modifier.name}" for modifier in modifiers]
    obj.pbd.bake_switched_off = "\n".join(notes)
    for modifier in modifiers:
        modifier.show_viewport = modifier.show_render = False
    if with_parent and is_bound_to_parent(obj):
        obj.pbd.bake_parent_type = obj.parent_type
        obj.parent_type = "OBJECT"


def switch_on(obj: Object) -> None:
    """Undo `switch_off` or `switch_off_overwritten`."""
    for note in obj.pbd.bake_switched_off.splitlines():
        modifier: Modifier | None = obj.modifiers.get(note[2:])
        if modifier is not None:
            modifier.show_viewport, modifier.show_render = note[0] == "1", note[1] == "1"
    if obj.pbd.bake_parent_type and obj.parent is not None:
        obj.parent_type = obj.pbd.bake_parent_type


# ------------------------------------------------------------------------------------------ the node group


def group() -> bpy.types.NodeTree:
    """Our node group, which all objects share; created if there is none."""
    trees = bpy.data.node_groups
    return next((tree for tree in trees if tree.get(MARK) and tree.library is None), None) or make_group()


def make_group() -> bpy.types.NodeTree:
    """Geometry → store positions and indices → set positions to the attribute, if it exists → Geometry."""
    tree: Any = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    tree[MARK] = 1
    tree.is_modifier = True
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes, links = tree.nodes, tree.links
    kinds = (
        "NodeGroupInput",
        "GeometryNodeStoreNamedAttribute",
        "GeometryNodeStoreNamedAttribute",
        "GeometryNodeSetPosition",
        "NodeGroupOutput",
    )
    chain = [nodes.new(kind) for kind in kinds]
    for at, (left, right) in enumerate(zip(chain[:-1], chain[1:], strict=True)):
        links.new(left.outputs[0], right.inputs[0])
        left.location.x, right.location.x = 220.0 * at, 220.0 * (at + 1)
    _, keep, count, move, _ = chain
    named = nodes.new("GeometryNodeInputNamedAttribute")
    named.data_type = "FLOAT_VECTOR"
    named.inputs["Name"].default_value = POSITION
    for store, kind, name, source in (
        (keep, "FLOAT_VECTOR", INPUT, nodes.new("GeometryNodeInputPosition")),
        (count, "INT", INDEX, nodes.new("GeometryNodeInputIndex")),
    ):
        store.data_type, store.domain = kind, "POINT"
        store.inputs["Name"].default_value = name
        links.new(source.outputs[0], socket(store.inputs, "Value"))
        source.location = (store.location.x - 220.0, -220.0)
    links.new(socket(named.outputs, "Attribute"), move.inputs["Position"])
    links.new(named.outputs["Exists"], move.inputs["Selection"])
    named.location = (move.location.x - 220.0, -220.0)
    return tree


def socket(sockets: Any, name: str) -> Any:
    """The socket of that name for the data type of its node."""
    return next(found for found in sockets if found.name == name and found.enabled)
