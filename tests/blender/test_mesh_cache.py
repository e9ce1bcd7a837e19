"""Bakes outside of the mesh: the PC2 file plays without the add-on, and goes without a trace."""

import os
from pathlib import Path

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.bakes import FIRST, LAST, flag, keyed_flag, run
from helpers.scenes import go, play, shown

MARK = b"\0PBD Cloth & Balloons"
"""Behind the last sample of a file of ours."""

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def bake(extension):
    return extension.bridge("baking.bake")


@pytest.fixture
def saved(tmp_path):
    """The file has a place on the disk, so that // means something."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    return tmp_path


def test_the_modifier_plays_the_same_without_the_extension(extension, bake, saved):
    obj = flag()
    seen = play([obj], FIRST, LAST)
    run(bake, [obj], "MESH_CACHE")
    assert (saved / "cache_pbd" / "scene_Flag_bake.pc2").stat().st_size == 32 + 12 * 20 * LAST + len(MARK)
    assert obj.modifiers[0].filepath == "//cache_pbd/scene_Flag_bake.pc2"
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis"]
    extension.disable()
    for frame in range(FIRST, LAST + 1):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-6, frame
    obj.animation_data_clear()
    go(LAST + 20)
    obj.location.x += 1.0
    assert np.abs(shown(obj) - seen[LAST][0] - (shown(obj) - seen[LAST][0])[0]).max() < 1e-5


def test_a_range_that_begins_late_is_on_time(bake, saved):
    obj = flag()
    seen = play([obj], FIRST, LAST)
    run(bake, [obj], "MESH_CACHE", 6, 11)
    for frame in range(6, 12):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-6, frame
    go(8, 0.5)
    half = shown(obj)
    bake.delete(bpy.context.scene, [obj])
    go(8, 0.5)
    assert np.abs(half - shown(obj)).max() < 1e-5


def test_the_users_keys_are_in_the_file(extension, bake, saved):
    obj = keyed_flag()
    before = scenes.mesh_bytes(obj)
    seen = play([obj], FIRST, LAST)
    go(FIRST)
    run(bake, [obj], "MESH_CACHE")
    for frame in range(FIRST, LAST + 1):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-5, frame
    go(FIRST)
    bake.delete(bpy.context.scene, [obj])
    extension.bridge("output.shape_keys").remove_live_key(obj)
    assert scenes.mesh_bytes(obj) == before


def test_it_stands_before_the_users_modifiers_and_goes_alone(bake, saved):
    obj = flag()
    obj.modifiers.new("Smooth", "SUBSURF").levels = 1
    play([obj], FIRST, LAST)
    go(9)
    want = shown(obj)
    run(bake, [obj], "MESH_CACHE")
    assert [modifier.name for modifier in obj.modifiers] == ["PBD Bake", "Smooth"]
    go(9)
    assert np.abs(shown(obj) - want).max() < 1e-5
    obj.modifiers["PBD Bake"].name = "Mine now"
    bake.delete(bpy.context.scene, [obj])
    assert [modifier.name for modifier in obj.modifiers] == ["Smooth"]
    assert not obj.pbd.bake_modifier and not obj.pbd.bake_file and not obj.pbd.baked
    go(9)
    assert np.abs(shown(obj) - want).max() < 1e-5


def test_deleting_restores_every_byte_and_keeps_the_file(bake, saved):
    obj = flag()
    play([obj], FIRST, LAST)
    go(FIRST)
    before = scenes.mesh_bytes(obj)
    run(bake, [obj], "MESH_CACHE")
    bake.delete(bpy.context.scene, [obj])
    assert scenes.mesh_bytes(obj) == before
    assert list((saved / "cache_pbd").iterdir()) == [saved / "cache_pbd" / "scene_Flag_bake.pc2"]


def test_the_file_goes_when_asked_for_and_nobody_else_plays_it(bake, saved):
    obj = flag()
    run(bake, [obj], "MESH_CACHE")
    file = saved / "cache_pbd" / "scene_Flag_bake.pc2"
    twin = obj.copy()
    twin.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    bake.delete(bpy.context.scene, [obj], with_files=True)
    assert file.exists()
    bake.delete(bpy.context.scene, [twin], with_files=True)
    assert not file.exists()


def test_a_file_that_another_object_plays_is_not_written_over(bake, saved):
    obj = flag()
    run(bake, [obj], "MESH_CACHE")
    twin = obj.copy()
    twin.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    bake.delete(bpy.context.scene, [obj])
    run(bake, [obj], "MESH_CACHE", 1, 3)
    names = sorted(path.name for path in (saved / "cache_pbd").iterdir())
    assert names == ["scene_Flag_2_bake.pc2", "scene_Flag_bake.pc2"]


def test_an_unsaved_file_needs_an_absolute_folder(extension, bake, tmp_path):
    obj = flag()
    with pytest.raises(extension.bridge("errors").PBDError, match="Save the file first, or choose a Folder"):
        run(bake, [obj], "MESH_CACHE")
    assert not obj.pbd.baked
    bpy.context.scene.pbd.bake_folder = str(tmp_path / "deep" / "er")
    run(bake, [obj], "MESH_CACHE")
    assert (tmp_path / "deep" / "er" / "Flag_bake.pc2").is_file()


def test_a_folder_that_cannot_be_made_leaves_everything(extension, bake, tmp_path):
    obj, other = flag(), scenes.add_grid("Other")
    play([obj], FIRST, LAST)
    go(FIRST)
    (tmp_path / "file").write_text("in the way")
    before = scenes.mesh_bytes(obj), scenes.mesh_bytes(other)
    bpy.context.scene.pbd.bake_folder = str(tmp_path / "file" / "folder")
    with pytest.raises(extension.bridge("errors").PBDError, match="could not be written"):
        run(bake, [obj, other], "MESH_CACHE")
    assert (scenes.mesh_bytes(obj), scenes.mesh_bytes(other)) == before
    assert not obj.modifiers and not other.pbd.baked


def test_the_second_that_fails_takes_back_the_first(extension, bake, tmp_path):
    obj, other = flag(), scenes.add_grid("Other")
    folder = tmp_path / "cache"
    (folder / "Other_bake.pc2.unfinished").mkdir(parents=True)
    bpy.context.scene.pbd.bake_folder = str(folder)
    with pytest.raises(extension.bridge("errors").PBDError, match="could not be written"):
        run(bake, [obj, other], "MESH_CACHE")
    assert not obj.modifiers and not obj.pbd.baked
    assert [path.name for path in folder.iterdir()] == ["Other_bake.pc2.unfinished"]


def test_it_plays_after_reload_in_another_folder(extension, bake, saved):
    obj = flag()
    seen = play([obj], FIRST, LAST)
    run(bake, [obj], "MESH_CACHE")
    (saved / "else").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(saved / "else" / "moved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(saved / "else" / "moved.blend"))
    obj = bpy.data.objects["Flag"]
    go(7)
    assert np.abs(shown(obj) - seen[7][0]).max() < 1e-6
    bake.delete(bpy.context.scene, [obj], with_files=True)
    assert not list((saved / "cache_pbd").iterdir())


def test_undo_and_redo(bake, saved):
    obj = flag()
    seen = play([obj], FIRST, LAST)
    bpy.ops.ed.undo_push(message="before")
    run(bake, [obj], "MESH_CACHE")
    bpy.ops.ed.undo_push(message="bake")
    bake.delete(bpy.context.scene, [obj])
    bpy.ops.ed.undo_push(message="delete")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Flag"]
    assert obj.pbd.baked and len(obj.modifiers) == 1
    go(9)
    assert np.abs(shown(obj) - seen[9][0]).max() < 1e-6
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Flag"]
    assert not obj.pbd.baked and not obj.modifiers
    go(5)
    assert np.abs(shown(obj) - seen[5][0]).max() < 1e-6
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Flag"]
    go(11)
    assert np.abs(shown(obj) - seen[11][0]).max() < 1e-6


def test_the_operators(saved):
    obj = flag()
    bpy.context.scene.frame_end = 5
    obj.select_set(True)
    assert bpy.ops.object.pbd_bake(mode="MESH_CACHE") == {"FINISHED"}
    file = Path(bpy.path.abspath(obj.modifiers[0].filepath))
    assert file.is_file()
    assert bpy.ops.object.pbd_delete_bake(with_files=True) == {"FINISHED"}
    assert not file.exists() and not obj.modifiers


@pytest.mark.parametrize("other", ["FLAG", "flag"])
def test_files_are_others_where_systems_take_upper_for_lower_case(extension, saved, other):
    objects = [scenes.add_grid(), scenes.add_grid(other)]
    paths = extension.bridge("baking.mesh_cache").choose_paths(bpy.context.scene, objects)
    assert len({path.casefold() for path in paths.values()}) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_a_pipe_is_not_replaced(extension, saved):
    (saved / "cache_pbd").mkdir()
    os.mkfifo(saved / "cache_pbd" / "scene_Flag_bake.pc2")
    paths = extension.bridge("baking.mesh_cache").choose_paths(bpy.context.scene, [scenes.add_grid()])
    assert list(paths.values()) == ["//cache_pbd/scene_Flag_2_bake.pc2"]
