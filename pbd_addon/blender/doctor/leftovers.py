"""Data of ours that has lost its owner: joined into or copied to another mesh, or left by a conversion or mesh swap.

`sweep` finds it by its `marks` and removes it. What plays without the add-on belongs to the user and stays: baked keys
with their animation, and the modifier of a Mesh Cache bake whose file matches.
"""

import contextlib
from collections.abc import Iterator

import bpy

from ...io import pc2
from ..kinds import Depsgraph, Keys, Mesh, Object
from ..output import output_modifier, proxy_modifier, shape_keys
from ..read import pins
from ..scene import animation, marks
from ..scene.scene_objects import is_body
from ..timeline import heat_map

IN_PASSING = {output_modifier.INPUT, output_modifier.INDEX}
"""Attributes that should exist only during evaluation; a mesh has them after a modifier was applied."""

_swept: dict[str, tuple] = {}
"""The counts after the last sweep, and the output state of each object that ours shows, with its name."""


def sweep_if_lost(depsgraph: Depsgraph) -> None:
    """Sweep if something may have lost its owner since the last time; otherwise this costs a few microseconds.

    Joining, converting, copying and deleting change the number of objects, meshes or Key data-blocks, or the output
    state of an object that is simulated or follows a proxy.
    """
    if depsgraph.mode == "RENDER":
        return
    if _counts() != _swept.get("counts") or any(_output_state(name) != state for name, state in _swept["shown"]):
        sweep()


def forget() -> None:
    """Make the next `sweep_if_lost` sweep."""
    _swept.clear()


def sweep() -> None:
    """Remove data of ours that has no owner; meshes that are being edited or sculpted are skipped."""
    users_of: dict[int, list] = {}
    for obj in bpy.data.objects:
        if obj.type == "MESH":
            users_of.setdefault(obj.data.session_uid, []).append(obj)
    _remove_homeless_keys()
    for mesh in list(bpy.data.meshes):
        users = users_of.get(mesh.session_uid, [])
        edited = mesh.is_editmode or any(obj.mode in {"EDIT", "SCULPT"} for obj in users)
        if not edited and mesh.library is None and mesh.override_library is None:
            _sweep_keys(mesh, users)
            _sweep_attributes(mesh, users)
    for obj in bpy.data.objects:
        if obj.library is None and obj.override_library is None:
            _sweep_object(obj)
    groups = bpy.data.node_groups
    for tree in [tree for tree in groups if tree.get(output_modifier.MARK) or tree.get(proxy_modifier.MARK)]:
        if tree.users == 0 and tree.library is None:
            groups.remove(tree)
    _swept["counts"] = _counts()
    shown = [obj.name for obj in bpy.data.objects if is_body(obj) or proxy_modifier.find(obj) is not None]
    _swept["shown"] = tuple((name, _output_state(name)) for name in shown)


def _counts() -> tuple:
    """Numbers of objects, meshes and Key data-blocks, and the mode, because Edit Mode may have prevented a sweep.

    What was joined stays among the objects of the file while a setting names it, and is missing in the view layer only.
    """
    every, shown = len(bpy.data.objects), len(bpy.context.view_layer.objects)
    return every, shown, len(bpy.data.meshes), len(bpy.data.shape_keys), bpy.context.mode


def _output_state(name: str) -> tuple:
    """What shows an object: mesh, keys and the mark of their reference, modifiers, PBD; () if it is no mesh any more.

    Copying our modifier to another object adds a user to our node group.
    """
    obj: Object | None = bpy.data.objects.get(name)
    if obj is None or obj.type != "MESH":
        return ()
    keys = obj.data.shape_keys
    key_state = (0, 0.0) if keys is None else (len(keys.key_blocks), keys.reference_key.slider_max)
    nodes = (one for one in obj.modifiers if isinstance(one, bpy.types.NodesModifier))
    group_users = [one.node_group.users for one in nodes if one.node_group]
    pbd = obj.pbd.enabled, obj.pbd.baked
    return obj.session_uid, obj.data.session_uid, key_state, len(obj.modifiers), group_users, *pbd


def _remove_homeless_keys() -> None:
    """Remove our keys without a mesh, which undo can bring back: Blender would keep them and print warnings."""
    every = bpy.data.shape_keys
    lost = [keys for keys in every if getattr(keys.user, "shape_keys", None) != keys]
    kinds = marks.LIVE, marks.BAKED, marks.BASIS
    bpy.data.batch_remove([keys for keys in lost if any(marks.is_marked(block, *kinds) for block in keys.key_blocks)])


# ------------------------------------------------------------------------------------------ shape keys


def _sweep_keys(mesh: Mesh, users: list[Object]) -> None:
    """Remove live keys that nothing writes and baked keys that nothing plays; unmark those that a user has copied."""
    keys = mesh.shape_keys
    if keys is None:
        return
    shape_keys.give_up_reference(keys)
    bodies = [obj for obj in users if is_body(obj)]
    live = next((obj for obj in bodies if not obj.pbd.baked), None)
    lost = marks.marked(keys, marks.LIVE)
    if live is not None:
        written = shape_keys.live_key(live)
        for block in lost:
            if block != written:
                marks.give_up(block)  # A copy that the user has made.
        name = "" if written is None else written.name
        if live.pbd.live_key != name:
            live.pbd.live_key = name
        lost = []
    if not any(obj.pbd.baked for obj in bodies):
        played = _played(keys)
        for block in marks.marked(keys, marks.BAKED):
            if block.name in played:
                marks.give_up(block)
            else:
                lost.append(block)
    for block in marks.marked(keys, marks.BASIS):
        marks.give_up(block)
    is_left = not bodies and marks.is_marked(keys.reference_key, marks.BASIS)
    if lost or is_left:
        with _some_object(mesh, users) as obj:
            shape_keys.remove_keys(obj, lost)
            if is_left:
                shape_keys.remove_own_basis(obj)
            mesh.update()


def _played(keys: Keys) -> set[str]:
    """Names of the keys whose values are animated."""
    data = keys.animation_data
    curves = [] if data is None else [*(animation.curves(keys) or ()), *data.drivers]
    paths = {curve.data_path for curve in curves}
    everything = (data is not None and bool(data.nla_tracks)) or (not keys.use_relative and "eval_time" in paths)
    names = [block.name for block in keys.key_blocks]
    return {name for name in names if everything or animation.value_path(name) in paths}


@contextlib.contextmanager
def _some_object(mesh: Mesh, users: list[Object]) -> Iterator[Object]:
    """An object with that mesh, temporary if there is none: shape keys can be removed only through an object."""
    if users:
        yield users[0]
        return
    temporary = bpy.data.objects.new("PBD", mesh)
    try:
        yield temporary
    finally:
        bpy.data.objects.remove(temporary)


# ------------------------------------------------------------------------------------------ attributes and modifiers


def _sweep_attributes(mesh: Mesh, users: list[Object]) -> None:
    """Remove attributes of ours that nothing reads."""
    bodies = [obj for obj in users if is_body(obj)]
    has_output = any(output_modifier.find(obj) is not None for obj in bodies)
    is_colored = any(not obj.pbd.baked for obj in bodies) and any(
        scene.pbd.heat_map != "OFF" for scene in bpy.data.scenes
    )
    owned = {output_modifier.POSITION: has_output, pins.PIN_OFFSET: bool(bodies), heat_map.ATTRIBUTE: is_colored}
    owned |= dict.fromkeys(proxy_modifier.ATTRIBUTES, any(proxy_modifier.find(obj) is not None for obj in users))
    for name in [one.name for one in mesh.attributes if one.name.startswith(marks.PREFIX)]:
        if name not in IN_PASSING and owned.get(name, True):
            continue
        if name == heat_map.ATTRIBUTE and bodies:
            heat_map.remove(bodies[0])
        else:
            mesh.attributes.remove(mesh.attributes[name])
        mesh.update()


def _sweep_object(obj: Object) -> None:
    """Remove our modifiers and the notes of a bake from an object that is no longer PBD, or no longer baked."""
    body = is_body(obj)
    nodes = (one for one in obj.modifiers if isinstance(one, bpy.types.NodesModifier))
    ours = list(filter(output_modifier.is_ours, nodes))
    for modifier in ours[1:] if body else ours:
        obj.modifiers.remove(modifier)
    if not (body and obj.pbd.baked):
        for player in [one for one in output_modifier.players(obj) if _is_useless_bake(obj, one)]:
            obj.modifiers.remove(player)
    if obj.type != "MESH" and obj.pbd.bake_action is not None:
        obj.pbd.bake_action = None


def _is_useless_bake(obj: Object, modifier: bpy.types.MeshCacheModifier) -> bool:
    """Whether this is a bake's modifier whose file belongs to another mesh; a missing file may be found again."""
    if not modifier.name.startswith(marks.BAKE_MODIFIER) or not modifier.filepath.endswith(marks.BAKE_SUFFIX):
        return False
    with contextlib.suppress(OSError, ValueError), open(bpy.path.abspath(modifier.filepath), "rb") as file:
        return obj.type == "MESH" and pc2.read_header(file).points != len(obj.data.vertices)
    return False
