"""What users do to whole objects, meshes, scenes and files, one function each, for the sequences of `soak.py`."""

import bpy
import numpy as np
import scenes
from soak_truth import (
    MOST_MESHES,
    Refused,
    action,
    call,
    choose,
    folder,
    installer,
    is_local,
    leave_mode,
    meshes,
    own_shape,
    remember,
    render_small,
)

MOST_SCENES = 3


def middle(obj):
    """Sum of the user's vertices in the world, (3,)."""
    matrix = np.array(obj.matrix_world)
    return (own_shape(obj) @ matrix[:3, :3].T + matrix[:3, 3]).sum(axis=0)


@action(3)
def join(rng):
    others = [obj for obj in meshes() if obj.visible_get()]
    chosen = rng.sample(sorted(others, key=lambda one: one.name), min(len(others), rng.randint(2, 3)))
    if len(chosen) < 2 or abs(np.linalg.det(np.array(chosen[0].matrix_world)[:3, :3])) < 1e-6:
        raise Refused("there is nothing to join")
    stacks = [obj.data.shape_keys for obj in chosen if obj.data.shape_keys]
    basis = chosen[0].data.shape_keys.reference_key.name if chosen[0].data.shape_keys else ""
    if any(basis in keys.key_blocks and basis != keys.reference_key.name for keys in stacks):
        raise Refused("Blender joins keys by name: a key of another shape would become the basis")
    into = choose(rng, chosen[:1], chosen)
    bpy.context.view_layer.update()
    count, before = sum(len(obj.data.vertices) for obj in chosen), sum(middle(obj) for obj in chosen)
    call(bpy.ops.object.join)
    assert len(into.data.vertices) == count, "vertices were lost by joining"
    assert np.allclose(middle(into), before, atol=1e-3 * count), "the user's shapes were lost by joining"
    remember(into)


@action()
def separate(rng):
    obj = choose(rng, [obj for obj in meshes() if obj.data.users == 1 and not obj.pbd.baked])
    if len(meshes()) >= MOST_MESHES:
        raise Refused("enough meshes")
    before, first = {*bpy.data.objects}, rng.randint(1, max(len(obj.data.polygons) - 1, 1))
    obj.active_shape_key_index = 0
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for face in obj.data.polygons[:first]:
        face.select = True
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        call(bpy.ops.mesh.separate, type="SELECTED")
    finally:
        leave_mode()
        for one in {obj, *bpy.data.objects} - (before - {obj}):
            remember(one)


@action()
def convert(rng):
    objects = [obj for obj in bpy.context.scene.objects if obj.type in {"MESH", "CURVE"} and is_local(obj)]
    choose(rng, objects)
    call(bpy.ops.object.convert, target=rng.choice(("MESH", "CURVE")), keep_original=rng.random() < 0.3)
    remember(bpy.context.view_layer.objects.active)


@action()
def swap_the_mesh(rng):
    obj, other = choose(rng, meshes()), rng.choice(sorted(meshes(), key=lambda one: one.name))
    how = rng.choice(("share", "copy", "new"))
    if how == "new":
        mesh = bpy.data.meshes.new("Sheet")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
        obj.data = mesh
        remember(obj)
    else:
        obj.data = other.data if how == "share" else other.data.copy()


@action()
def make_single_user(rng):
    choose(rng, meshes())
    call(bpy.ops.object.make_single_user, object=True, obdata=True)


@action()
def copy_from_another(rng):
    """Ctrl L: modifiers, meshes, groups or animation of the active object go to another one."""
    choose(rng, meshes(), meshes())
    call(bpy.ops.object.make_links_data, type=rng.choice(("MODIFIERS", "OBDATA", "ANIMATION", "EFFECTS")))


@action()
def add_a_shape_key(rng):
    obj = choose(rng, meshes())
    if obj.data.shape_keys is not None and not obj.data.shape_keys.use_relative:
        raise Refused("an absolute key would be played")
    call(bpy.ops.object.shape_key_add, from_mix=False)
    if obj.active_shape_key_index > 0:
        block = obj.active_shape_key
        block.name, block.value = rng.choice(("Wave", "PBD", "Smile")), rng.choice((0.0, 0.5))
        block.data[0].co.z += 0.1
    remember(obj)


@action()
def change_a_shape_key(rng):
    """Rename, delete, move or copy any key, also one of ours."""
    obj = choose(rng, [obj for obj in meshes() if obj.data.shape_keys is not None])
    blocks = obj.data.shape_keys.key_blocks
    obj.active_shape_key_index = rng.randrange(len(blocks))
    how = rng.choice(("rename", "rename", "delete", "basis", "move", "copy", "all"))
    if how == "rename":
        obj.active_shape_key.name = rng.choice(("Mine", "Basis", "PBD", "PBD 0003"))
    elif how == "delete":
        call(bpy.ops.object.shape_key_remove)
    elif how == "basis":
        obj.active_shape_key_index = 0
        call(bpy.ops.object.shape_key_remove)
    elif how == "move":
        call(bpy.ops.object.shape_key_move, type=rng.choice(("TOP", "UP", "DOWN", "BOTTOM")))
    elif how == "all":
        call(bpy.ops.object.shape_key_clear)
    elif "shape_key_copy" in dir(bpy.ops.object):
        call(bpy.ops.object.shape_key_copy)
    bpy.context.view_layer.update()
    remember(obj)


@action()
def add_or_apply_a_modifier(rng):
    obj = choose(rng, meshes())
    if not obj.modifiers or rng.random() < 0.4:
        kind = rng.choice(("SUBSURF", "SMOOTH", "SOLIDIFY", "DECIMATE"))
        if len(obj.data.vertices) > 100 or len(obj.modifiers) > 3:
            raise Refused("enough vertices")
        obj.modifiers.new("Modifier", kind)
        return
    call(bpy.ops.object.modifier_apply, modifier=rng.choice(obj.modifiers.keys()))
    remember(obj)


@action()
def purge(_rng):
    leave_mode()
    call(bpy.ops.outliner.orphans_purge, do_recursive=True)


@action(1)
def delete_an_attribute(rng):
    obj = choose(rng, meshes())
    names = [one.name for one in obj.data.attributes if not one.is_required and not one.name.startswith(".")]
    if not names:
        raise Refused("there is none")
    obj.data.attributes.remove(obj.data.attributes[rng.choice(names)])


# Scenes


@action()
def add_a_scene(rng):
    leave_mode()
    if len(bpy.data.scenes) >= MOST_SCENES:
        raise Refused("enough scenes")
    call(bpy.ops.scene.new, type=rng.choice(("NEW", "EMPTY", "LINK_COPY", "LINK_COPY", "FULL_COPY", "FULL_COPY")))
    render_small(bpy.context.scene)
    if bpy.context.scene.camera is None:
        bpy.context.scene.camera = bpy.data.objects.get("Camera")


@action(3)
def switch_the_scene(rng):
    leave_mode()
    bpy.context.window.scene = rng.choice(list(bpy.data.scenes))


@action(1)
def delete_the_scene(_rng):
    leave_mode()
    call(bpy.ops.scene.delete)


@action(1)
def step_another_scene(rng):
    """As a script does, of a scene that no window shows."""
    leave_mode()
    scene = rng.choice(list(bpy.data.scenes))
    scene.frame_set(scene.frame_current + 1)


# Files


@action()
def use_a_library(rng):
    """Save a copy of the file, and link or append something from it, perhaps as an override."""
    leave_mode()
    if len(bpy.context.scene.objects) > 2 * MOST_MESHES:
        raise Refused("enough objects")
    path = str(folder / f"library_{rng.randint(0, 1)}.blend")
    if path not in {bpy.path.abspath(one.filepath) for one in bpy.data.libraries}:
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    with bpy.data.libraries.load(path, link=rng.random() < 0.6) as (there, here):
        here.objects = [rng.choice(sorted(there.objects))]
    obj = here.objects[0]
    if obj is None:
        raise Refused("it is not there any more")
    if obj not in {*bpy.context.scene.objects}:
        bpy.context.scene.collection.objects.link(obj)
    what = rng.choice(("leave", "override", "local", "own mesh"))
    if obj.library is not None and obj.type == "MESH" and what != "leave":
        if what == "local":
            obj.make_local()
            return
        own = obj.override_create(remap_local_usages=True)
        if own is not None and what == "own mesh":
            own.data = own.data.copy()


@action(1)
def remove_what_is_linked(rng):
    leave_mode()
    linked = [obj for obj in bpy.data.objects if obj.library or obj.override_library]
    if not linked:
        raise Refused("nothing is linked")
    bpy.data.objects.remove(rng.choice(sorted(linked, key=lambda one: one.name_full)))


@action(1)
def export_with_blender(rng):
    """Blender's own exporters, of what is shown."""
    leave_mode()
    bpy.context.scene.frame_end = 3
    path = str(folder / "whole")
    which = rng.choice(("OBJ", "PLY", "STL", "ALEMBIC", "USD"))
    if which == "OBJ":
        call(bpy.ops.wm.obj_export, filepath=path + ".obj")
    elif which == "PLY":
        call(bpy.ops.wm.ply_export, filepath=path + ".ply")
    elif which == "STL":
        call(bpy.ops.wm.stl_export, filepath=path + ".stl")
    elif which == "ALEMBIC":
        call(bpy.ops.wm.alembic_export, filepath=path + ".abc", start=1, end=3)
    else:
        call(bpy.ops.wm.usd_export, filepath=path + ".usdc", export_animation=True)


@action(1)
def work_without_the_extension(rng):
    """What happens meanwhile is not seen by any handler of ours."""
    leave_mode()
    what = rng.choice(("join", "duplicate", "play", "delete", "swap"))
    bpy.ops.preferences.addon_disable(module=installer.PACKAGE)
    try:
        everything = [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and is_local(obj)]
        obj = choose(rng, everything, everything if what == "join" else ())
        if what == "join" and abs(np.linalg.det(np.array(obj.matrix_world)[:3, :3])) > 1e-6:
            call(bpy.ops.object.join)
        elif what == "duplicate" and len(everything) < MOST_MESHES:
            call(bpy.ops.object.duplicate, linked=rng.random() < 0.5)
        elif what == "delete" and len(everything) > 1:
            call(bpy.ops.object.delete)
        elif what == "swap":
            obj.data = rng.choice(everything).data
        else:
            scenes.go(bpy.context.scene.frame_current + 1)
    finally:
        bpy.ops.preferences.addon_enable(module=installer.PACKAGE)
        for one in meshes() if what == "join" else ():
            remember(one)
