"""Cloth from another .blend: linked, overridden, and overridden with a mesh of its own."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

LINKED = "'Flag' is linked: make a local copy"
LINKED_MESH = "The mesh of 'Flag' is linked: make it local"
OVERRIDDEN_MESH = "The mesh of 'Flag' is a library override: make it local"


@pytest.fixture
def library(extension, tmp_path):
    """A .blend with the collection "Props": the cloth "Flag" and the plain mesh "Plate"."""
    props = bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(props)
    for name, pbd in (("Flag", True), ("Plate", False)):
        obj = scenes.add_grid(name, rx=6, ry=6, pbd=pbd)
        bpy.context.scene.collection.objects.unlink(obj)
        props.objects.link(obj)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.frame_end = 6
    return path


def bring(path, overridden=(), with_mesh=False):
    """Link the objects of the library; override some of them."""
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.objects = ["Flag", "Plate"]
    for obj in here.objects:
        bpy.context.scene.collection.objects.link(obj)
    for obj in [obj for obj in here.objects if obj.name in overridden]:
        own = obj.override_create(remap_local_usages=True)
        if with_mesh:
            own.data.override_create(remap_local_usages=True)
    return find("Flag"), find("Plate")


def find(name):
    return next(obj for obj in bpy.context.scene.objects if obj.name == name)


def select(obj):
    for other in bpy.context.scene.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


def save_and_reload(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    return find("Flag"), find("Plate")


@pytest.mark.parametrize(
    ("overridden", "with_mesh", "sentence"),
    [((), False, LINKED), (("Flag",), False, LINKED_MESH), (("Flag",), True, OVERRIDDEN_MESH)],
)
def test_what_cannot_be_simulated_says_so_and_holds_up_nothing(extension, library, overridden, with_mesh, sentence):
    flag, _plate = bring(library, overridden, with_mesh)
    select(flag)
    for press in (bpy.ops.object.pbd_add, bpy.ops.object.pbd_reset, bpy.ops.object.pbd_bake):
        with pytest.raises(RuntimeError, match=sentence.replace("(", r"\(")):
            press()
    assert play([flag], 1, 3)[3][0][:, 2].max() == 0.0
    assert extension.bridge("timeline.session").get(bpy.context.scene).message.startswith(sentence)
    own = scenes.add_grid("Own")
    for _ in range(2):
        assert play([own], 1, 4)[4][0][:, 2].mean() < -0.05
        assert extension.bridge("timeline.session").get(bpy.context.scene).message == ""
        bpy.ops.object.pbd_clear_cache()
    assert flag.modifiers.keys() == [] and flag.data.shape_keys is None


def test_it_cannot_be_removed_from_what_is_linked(library):
    flag, _plate = bring(library)
    select(flag)
    with pytest.raises(RuntimeError, match=LINKED):
        bpy.ops.object.pbd_remove()
    assert flag.pbd.enabled


def test_made_local_as_the_sentence_says_it_is_simulated(library):
    flag, _plate = bring(library, ("Flag",), with_mesh=True)
    select(flag)
    bpy.ops.object.make_local(type="SELECT_OBDATA")
    assert play([find("Flag")], 1, 4)[4][0][:, 2].mean() < -0.05


@pytest.mark.parametrize("mode", ["ABSOLUTE", "MESH_CACHE"])
def test_an_override_with_a_mesh_of_its_own_is_saved_with_all_that_is_ours(library, tmp_path, mode):
    flag, plate = bring(library, ("Flag", "Plate"))
    flag.data = flag.data.copy()
    plate.pbd_collider.enabled, plate.pbd_collider.friction = True, 0.75
    flag.pbd.density, flag.location.z = 0.35, 0.2
    seen = play([flag], 1, 6)
    assert seen[6][0][:, 2].mean() < 0.1
    for _ in range(2):  # What is read is written again.
        flag, plate = save_and_reload(tmp_path)
        assert flag.override_library and plate.override_library
        assert plate.pbd_collider.enabled and plate.pbd_collider.friction == pytest.approx(0.75)
        assert flag.pbd.enabled and flag.pbd.density == pytest.approx(0.35)
        assert flag.data.shape_keys.key_blocks.keys() == ["Basis", flag.pbd.live_key]
    select(flag)
    bpy.ops.object.pbd_bake(mode=mode)
    flag, _plate = save_and_reload(tmp_path)
    assert flag.pbd.baked and flag.pbd.baked_as == mode
    for frame in (1, 4, 6):
        go(frame)
        assert np.abs(shown(flag) - seen[frame][0]).max() < 1e-5, frame
    select(flag)
    bpy.ops.object.pbd_delete_bake()
    bpy.ops.object.pbd_remove()
    assert not flag.modifiers and (flag.data.shape_keys is None or len(flag.data.shape_keys.key_blocks) < 2)
    flag, _plate = save_and_reload(tmp_path)
    assert not flag.pbd.enabled and not flag.pbd.baked


def test_an_override_that_has_lost_what_it_overrides_is_saved(library, tmp_path, capfd):
    """What was linked is removed from the file."""
    flag, _plate = bring(library, ("Flag",))
    bpy.data.objects.remove(flag.override_library.reference)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert "Traceback" not in capfd.readouterr().err


def test_a_new_mesh_goes_where_something_can_be_added(library):
    with bpy.data.libraries.load(library, link=True) as (_there, here):
        here.collections = ["Props"]
    props = here.collections[0]
    bpy.context.scene.collection.children.link(props)
    props.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    flag = next(obj for obj in bpy.data.objects if obj.name == "Flag" and obj.override_library)
    flag.data = flag.data.copy()
    seen = play([flag], 1, 4)[4][0]
    select(flag)
    assert bpy.ops.object.pbd_apply(result="MESH") == {"FINISHED"}
    assert np.abs(shown(bpy.context.object) - seen).max() < 1e-6


def append(library):
    """As File › Append."""
    bpy.ops.wm.append(directory=f"{library}/Object/", filename="Flag")


def append_by_script(library):
    """Blender is not told that the scene has a new object before the frame changes."""
    with bpy.data.libraries.load(library) as (_there, here):
        here.objects = ["Flag"]
    bpy.context.scene.collection.objects.link(here.objects[0])


def append_in_exchange(library):
    """There are as many objects afterwards as before."""
    other = scenes.add_grid("Other", pbd=False)
    go(1)
    bpy.data.objects.remove(other)
    append_by_script(library)


@pytest.mark.parametrize("bring_in", [append, append_by_script, append_in_exchange])
def test_cloth_that_was_appended_moves_at_once(extension, library, bring_in):
    extension.bridge("handlers").disarm()
    go(1)
    bring_in(library)
    for frame in range(2, 6):
        go(frame)
    assert shown(find("Flag"))[:, 2].mean() < -0.05
    assert extension.bridge("timeline.session").get(bpy.context.scene).first_frame == 1


def test_plain_objects_arm_nothing(extension, library):
    handlers = extension.bridge("handlers")
    handlers.disarm()
    scenes.add_grid("Other", pbd=False)
    bpy.ops.wm.append(directory=f"{library}/Object/", filename="Plate")
    for frame in (2, 3):
        go(frame)
    assert handlers.on_frame_change not in bpy.app.handlers.frame_change_post


@pytest.mark.parametrize(("overridden", "with_mesh"), [((), False), (("Flag",), False), (("Flag",), True)])
def test_a_button_makes_the_override_that_plays(library, tmp_path, overridden, with_mesh):
    flag, _plate = bring(library, overridden, with_mesh)
    select(flag)
    assert bpy.ops.object.pbd_make_override() == {"FINISHED"}
    flag = bpy.context.object
    assert flag.override_library and flag.data.library is None and flag.data.override_library is None
    assert [obj.name for obj in bpy.context.scene.objects if obj.name.startswith("Flag")] == ["Flag"]
    assert not bpy.ops.object.pbd_make_override.poll()
    assert play([flag], 1, 4)[4][0][:, 2].mean() < -0.05
    flag, _plate = save_and_reload(tmp_path)
    assert flag.override_library and flag.pbd.enabled
    assert play([flag], 1, 4)[4][0][:, 2].mean() < -0.05


def test_a_button_overrides_the_linked_collection_that_holds_it(library):
    with bpy.data.libraries.load(library, link=True) as (_there, here):
        here.collections = ["Props"]
    bpy.context.scene.collection.children.link(here.collections[0])
    select(find("Flag"))
    assert bpy.ops.object.pbd_make_override() == {"FINISHED"}
    assert bpy.context.object.override_library
    assert len([obj for obj in bpy.context.scene.objects if obj.name.startswith("Flag")]) == 1
    assert play([bpy.context.object], 1, 4)[4][0][:, 2].mean() < -0.05
