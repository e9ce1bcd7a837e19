"""What is ours and has lost its owner goes; what plays without the add-on, and what the user made, stays."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.calls import entered
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


def activate(obj, *others):
    """Make it the active object, selected with these others alone."""
    for one in bpy.context.view_layer.objects:
        one.select_set(one == obj or one in others)
    bpy.context.view_layer.objects.active = obj


def join(into, *others):
    activate(into, *others)
    bpy.ops.object.join()
    bpy.context.view_layer.update()


def ours():
    """Names of all that is ours in what would be saved: keys, attributes, modifiers, groups."""
    meshes = [mesh for mesh in bpy.data.meshes if mesh.users]
    keys = [block.name for mesh in meshes if mesh.shape_keys for block in mesh.shape_keys.key_blocks]
    attributes = [one.name for mesh in meshes for one in mesh.attributes if one.name.startswith("pbd_")]
    modifiers = [one.name for obj in bpy.data.objects for one in obj.modifiers if one.name.startswith("PBD")]
    return [*keys, *attributes, *modifiers, *(tree.name for tree in bpy.data.node_groups if tree.users)]


def points(obj):
    return scenes.mesh_bytes(obj)[0]


@pytest.fixture
def bake(extension):
    """Bake frames 1 to 4 of an object."""
    module = extension.bridge("baking.bake")

    def run(obj, mode="ABSOLUTE"):
        list(module.start(bpy.context.scene, [obj], mode, 1, 4))
        bpy.context.view_layer.update()

    return run


@pytest.fixture(params=["SHAPE_KEY", "MODIFIER"])
def live(request):
    """A live cloth at frame 3, colored by strain, beside a plain grid."""
    bpy.context.scene.pbd.heat_map = "STRAIN"
    plain = scenes.add_grid("Plain", pbd=False)
    obj = scenes.add_grid("Live", output=request.param)
    play([obj], 1, 3)
    assert ours()
    return obj, plain


def test_a_live_cloth_that_is_joined_into_a_plain_mesh(live):
    obj, plain = live
    join(plain, obj)
    assert ours() == []
    assert len(plain.data.vertices) == 40 and shown(plain)[:, 2].max() == shown(plain)[:, 2].min() == 0.0


def test_what_a_setting_keeps_in_the_file_is_joined(extension):
    """The joined cloth stays among the objects, and both meshes have keys before and after."""
    plain, obj = scenes.add_grid("Plain", pbd=False), scenes.add_grid("Live", output="SHAPE_KEY")
    plain.shape_key_add(name="Basis")
    plain.pbd.rest_object = obj
    play([obj], 1, 3)
    join(plain, obj)
    assert not obj.users_scene and obj.name in bpy.data.objects
    assert [block.name for block in plain.data.shape_keys.key_blocks] == ["Basis"]


def test_keys_of_the_user_are_joined_and_stay(live):
    obj, plain = live
    plain.shape_key_add(name="Basis"), obj.shape_key_add(name="Wave", from_mix=False)
    join(plain, obj)
    assert plain.data.shape_keys.key_blocks.keys() == ["Basis", "Wave"]


@pytest.mark.parametrize("how", ["delete", "purge"])
def test_deleting_the_body_that_shares_its_mesh(how):
    obj = scenes.add_grid("Live")
    play([obj], 1, 3)
    plain = bpy.data.objects.new("Plain", obj.data)
    bpy.context.scene.collection.objects.link(plain)
    before = points(plain)
    bpy.data.objects.remove(obj)
    if how == "purge":
        bpy.ops.outliner.orphans_purge(do_recursive=True)
    bpy.context.view_layer.update()
    assert ours() == [] and points(plain) == before


def test_another_mesh(live):
    obj, plain = live
    old, obj.data = obj.data, plain.data.copy()
    old.use_fake_user = True
    obj.shape_key_add(name="Basis")
    user = obj.shape_key_add(name="PBD", from_mix=False)
    user.value = 0.5
    before = scenes.mesh_bytes(obj)[1][0][1]
    bpy.context.view_layer.update()
    assert old.shape_keys is None and not [one for one in old.attributes if one.name.startswith("pbd_")]
    go(1), go(2)
    assert scenes.mesh_bytes(obj)[1][0][1] == before, "a key of the user's with the name of ours"
    assert user.value == 0.5


def test_a_renamed_live_key_is_still_ours(extension):
    obj = scenes.add_grid("Live")
    seen = play([obj], 1, 6)
    obj.data.shape_keys.key_blocks["PBD"].name = "Mine"
    for frame in (4, 6):
        go(frame)
        assert np.allclose(shown(obj), seen[frame][0], atol=1e-6)
        assert obj.data.shape_keys.key_blocks.keys() == ["Basis", "Mine"]
    activate(obj)
    bpy.ops.object.pbd_remove()
    assert obj.data.shape_keys is None


@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_our_key_does_not_become_the_reference(extension, how):
    obj = scenes.add_grid("Live")
    seen = play([obj], 1, 6)
    go(4)
    before, marks = shown(obj), extension.bridge("scene.marks")
    activate(obj)
    if how == "deleted":
        obj.active_shape_key_index = 0
        bpy.ops.object.shape_key_remove()
    else:
        obj.active_shape_key_index = 1
        bpy.ops.object.shape_key_move(type="UP")
    bpy.context.view_layer.update()
    assert not marks.is_marked(obj.data.shape_keys.reference_key, marks.LIVE)
    base = points(obj)
    go(5), go(6)
    assert points(obj) == base
    assert obj.data.shape_keys.reference_key.name.startswith("Basis") and obj.pbd.live_key == "PBD"
    assert np.allclose(shown(obj), seen[6][0], atol=1e-6)
    go(2)
    assert points(obj) == base
    bpy.ops.object.pbd_remove()
    assert points(obj) == base
    assert how == "moved" or np.allclose(shown(obj), before, atol=1e-6)


@pytest.mark.parametrize("target", ["MESH", "CURVE"])
def test_a_conversion(live, target):
    obj, _plain = live
    activate(obj)
    bpy.ops.object.convert(target=target)
    bpy.context.view_layer.update()
    left = ours()
    assert left == [] if target == "CURVE" else not {"pbd_input", "pbd_index", "PBD"} & {*left}
    activate(obj)
    if target == "MESH":
        bpy.ops.object.pbd_remove()
    assert ours() == []


def test_a_conversion_of_what_became_cloth_without_a_look():
    """Nothing else tells that there is one body more."""
    scenes.add_grid("Other")
    obj = scenes.add_grid("Live", pbd=False)
    play([obj], 1, 3)
    obj.pbd.enabled, obj.pbd.output = True, "MODIFIER"
    play([obj], 1, 3)
    activate(obj)
    bpy.ops.object.convert(target="MESH")
    bpy.context.view_layer.update()
    assert not {"pbd_input", "pbd_index"} & {one.name for one in obj.data.attributes}


def test_an_applied_output_modifier():
    obj = scenes.add_grid("Live", output="MODIFIER")
    play([obj], 1, 3)
    activate(obj)
    bpy.ops.object.modifier_apply(modifier="PBD Output")
    bpy.context.view_layer.update()
    assert not [one for one in obj.data.attributes if one.name in {"pbd_input", "pbd_index"}]


def test_copied_modifiers():
    obj, plain = scenes.add_grid("Live", output="MODIFIER"), scenes.add_grid("Plain", pbd=False)
    play([obj], 1, 3)
    activate(obj, plain)
    bpy.ops.object.make_links_data(type="MODIFIERS")  # Afterwards our node group has one more user, that is all.
    bpy.context.view_layer.update()
    assert plain.modifiers.keys() == [] and obj.modifiers.keys() == ["PBD Output"]


def test_what_bound_a_mesh_to_a_proxy(extension):
    obj = scenes.add_grid("Fine", 8, 8)
    activate(obj)
    assert bpy.ops.object.pbd_make_proxy(vertices=9) == {"FINISHED"}
    leftovers = extension.bridge("doctor.leftovers")
    leftovers.sweep()
    assert len([one for one in obj.data.attributes if one.name.startswith("pbd_proxy_")]) == 4
    bpy.data.objects.remove(bpy.data.objects["Fine Proxy"])
    obj.modifiers.remove(obj.modifiers["PBD Proxy"])
    leftovers.sweep()
    assert ours() == [] and "PBD Proxy" not in bpy.data.node_groups


def test_a_mesh_that_followed_a_proxy_and_was_converted():
    obj = scenes.add_grid("Fine", 8, 8)
    activate(obj)
    assert bpy.ops.object.pbd_make_proxy(vertices=9) == {"FINISHED"}
    play([bpy.data.objects["Fine Proxy"]], 1, 3)
    activate(obj)
    bpy.ops.object.convert(target="MESH")
    bpy.context.view_layer.update()
    assert not obj.modifiers and not [one.name for one in obj.data.attributes if one.name.startswith("pbd_")]


@pytest.mark.parametrize("mode", ["ABSOLUTE", "RELATIVE", "REDUCED"])
def test_baked_keys_that_nothing_plays(extension, bake, mode):
    obj, plain = scenes.add_grid("Baked"), scenes.add_grid("Plain", pbd=False)
    bake(obj, mode)
    join(plain, obj)
    extension.bridge("doctor.leftovers").sweep()  # nothing is live, so no handler looks
    assert ours() == []


@pytest.mark.parametrize(
    ("how", "mode"),
    [
        *(("duplicated", mode) for mode in ("ABSOLUTE", "RELATIVE", "REDUCED", "MESH_CACHE")),
        *(("removed", mode) for mode in ("ABSOLUTE", "MESH_CACHE")),
        *(("its mesh on another object", mode) for mode in ("ABSOLUTE", "RELATIVE")),
        *(("off and on", mode) for mode in ("RELATIVE", "MESH_CACHE")),
    ],
)
def test_a_bake_that_plays_is_the_users(extension, bake, tmp_path, mode, how):
    bpy.context.scene.pbd.bake_folder = str(tmp_path)
    obj = scenes.add_grid("Baked")
    bake(obj, mode)
    seen = play([obj], 1, 4)
    activate(obj)
    if how == "duplicated":
        bpy.ops.object.duplicate()
        bpy.data.objects.remove(obj)
    elif how == "removed":
        bpy.ops.object.pbd_remove()
    elif how == "off and on":
        extension.disable()
        extension.enable()
    else:
        mesh = obj.data
        bpy.data.objects.remove(obj)
        bpy.context.scene.collection.objects.link(bpy.data.objects.new("Plain", mesh))
    obj = bpy.context.scene.objects[0]
    extension.bridge("doctor.leftovers").sweep()
    for frame in (1, 3, 4):
        go(frame)
        assert np.allclose(shown(obj), seen[frame][0], atol=1e-5)


def test_keys_of_a_bake_that_was_given_up_stay_without_animation(extension, bake):
    obj = scenes.add_grid("Baked")
    bake(obj, "RELATIVE")
    activate(obj)
    bpy.ops.object.pbd_remove()
    obj.data.shape_keys.animation_data_clear()
    extension.bridge("doctor.leftovers").sweep()
    assert len(obj.data.shape_keys.key_blocks) == 5


@pytest.mark.skipif(bpy.app.version < (4, 5, 0), reason="Blender cannot copy shape keys")
def test_a_copy_of_the_live_key_is_the_users():
    obj = scenes.add_grid("Live")
    play([obj], 1, 4)
    activate(obj)
    obj.active_shape_key_index = 1
    bpy.ops.object.shape_key_copy()
    bpy.context.view_layer.update()
    kept = scenes.mesh_bytes(obj)[1][0][2]
    go(5), go(6)
    assert scenes.mesh_bytes(obj)[1][0][2] == kept
    bpy.ops.object.pbd_remove()
    assert obj.data.shape_keys.key_blocks.keys() == ["Basis", kept[0]]


def test_saving_and_loading_sweep(extension, tmp_path):
    obj, plain = scenes.add_grid("Live"), scenes.add_grid("Plain", pbd=False)
    play([obj], 1, 3)
    path = str(tmp_path / "left.blend")
    activate(plain, obj)
    bpy.ops.object.join()  # Nothing is evaluated before it is saved.
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert ours() == []
    keep = extension.bridge("scene.marks")
    plain.shape_key_add(name="Basis")
    keep.mark(plain.shape_key_add(name="PBD"), keep.LIVE)
    extension.disable()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    extension.enable()
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.data.objects["Plain"].data.shape_keys.key_blocks.keys() == ["Basis"]


def test_undo_of_a_join_brings_the_cloth_back(capfd):
    obj, plain = scenes.add_grid("Live"), scenes.add_grid("Plain", pbd=False)
    seen = play([obj], 1, 4)
    bpy.ops.ed.undo_push(message="before")
    join(plain, obj)
    bpy.ops.ed.undo_push(message="joined")
    bpy.ops.ed.undo()
    go(3)
    assert np.allclose(shown(bpy.data.objects["Live"]), seen[3][0], atol=1e-6)
    bpy.ops.ed.redo()
    go(4)
    assert ours() == []
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err


def test_a_look_costs_next_to_nothing(extension):
    """As many calls with a thousand objects as with none, and no evaluated mesh."""

    def look():
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return entered(lambda: extension.bridge("doctor.leftovers").sweep_if_lost(depsgraph))

    scenes.add_grid()
    go(1), go(2)
    look()
    few = look()
    for number in range(1000):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(f"Empty {number}", None))
    look()
    print(few)
    assert look() == few
