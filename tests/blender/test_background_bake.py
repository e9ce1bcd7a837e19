"""Bake in Background: a second Blender computes, this one goes on, and takes the result in as one undo step.

The second Blender is the module bpy in a process of its own; without a window this one runs no timers, so the tests
call what the timer calls.
"""

import os
import stat
import sys
import tempfile
import time
from pathlib import Path

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.bakes import FIRST, LAST, flag
from helpers.scenes import go, play, shown

PROGRAM = Path(__file__).parents[1] / "helpers" / "blender_program.py"
PATIENCE = 120.0

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the program that stands in for Blender's is a shell script")


@pytest.fixture
def background(extension, monkeypatch):
    monkeypatch.setenv("PBD_KERNELS", "numpy")  # the second Blender begins sooner than with Numba
    found = extension.bridge("baking.background_bake")
    yield found
    if hasattr(bpy.types.Object, "pbd"):
        found.cancel()
    bpy.app.binary_path = ""


def program(folder, script):
    """Let a shell script be Blender's program."""
    path = folder / "blender"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    bpy.app.binary_path = str(path)


@pytest.fixture
def blender(tmp_path, background):
    program(tmp_path, f'exec "{sys.executable}" "{PROGRAM}" "$@"')


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, to look for what is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def begin(*objects, mode="ABSOLUTE"):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    for obj in objects:
        obj.select_set(True)
    return bpy.ops.object.pbd_bake_background(mode=mode)


def wait(background, until=lambda job: False):
    """Do what the timer does until there is no job, or what is waited for; returns the shares that were seen."""
    deadline, shares = time.monotonic() + PATIENCE, []
    while background.job() is not None and not until(background.job()):
        assert time.monotonic() < deadline, background.job().text
        time.sleep(0.02)
        background.watch()
        if background.job() is not None:
            shares.append(background.job().share)
    return shares


@pytest.mark.parametrize("mode", ["ABSOLUTE", "REDUCED", "MESH_CACHE"])
def test_it_gives_what_a_bake_gives(background, blender, temporary, tmp_path, mode):
    scenes.let_through()
    obj, other = flag(), scenes.add_grid("-x Other", rx=3)
    obj.pbd.reduce_error = other.pbd.reduce_error = 0.001
    bpy.context.scene.pbd.bake_folder = str(tmp_path / "cache")
    assert begin(obj, other, mode=mode) == {"FINISHED"}
    assert len(list(temporary.iterdir())) == 1
    seen = play([obj, other], FIRST, LAST)
    go(3)
    shares = wait(background)
    assert background.message() == ""
    assert shares == sorted(shares)
    assert len(set(shares)) > 2
    assert not list(temporary.iterdir())
    assert bpy.context.scene.frame_current == 3
    bound = 0.001 if mode == "REDUCED" else 1e-5
    for frame in range(FIRST, LAST + 1):
        go(frame)
        for place, one in enumerate((obj, other)):
            assert one.pbd.baked
            assert np.linalg.norm(shown(one) - seen[frame][place], axis=1).max() < bound, frame


def test_it_closes_a_loop_as_a_bake_does(extension, background, blender):
    """The second Blender has the frames with all that stood around them; what came out plays on here."""
    pbd = bpy.context.scene.pbd
    pbd.use_loop, pbd.loop_fade, pbd.loop_length, pbd.loop_gap = True, 3, 8, 10.0
    obj = flag()
    assert begin(obj) == {"FINISHED"}
    wait(background)
    assert background.message() == ""
    assert (obj.pbd.bake_loop, obj.pbd.bake_start, obj.pbd.bake_end) == (8, 1, 9)
    apart, points = obj.pbd.bake_apart, [point.co.copy() for point in obj.data.shape_keys.key_blocks[3].points]
    bake = extension.bridge("baking.bake")
    bake.delete(bpy.context.scene, [obj])
    list(bake.start(bpy.context.scene, [obj], "ABSOLUTE", FIRST, LAST))
    assert obj.pbd.bake_apart == pytest.approx(apart, rel=1e-4)
    assert np.abs(np.array(points) - [point.co for point in obj.data.shape_keys.key_blocks[3].points]).max() < 1e-5


def test_work_goes_on_and_the_result_is_one_undo_step(background, blender):
    obj = flag()
    cube = scenes.add_grid("Cube", pbd=False)
    bpy.context.view_layer.objects.active = obj
    begin(obj)
    cube.location.x = 4.0
    bpy.ops.ed.undo_push(message="move")
    wait(background)
    obj = bpy.data.objects["Flag"]
    assert obj.pbd.baked and len(obj.data.shape_keys.key_blocks) == LAST + 1
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Flag"]
    assert not obj.pbd.baked and bpy.data.objects["Cube"].location.x == 4.0
    go(2)
    bpy.ops.ed.redo()
    assert bpy.data.objects["Flag"].pbd.baked
    bpy.ops.object.select_all(action="DESELECT")
    obj = bpy.data.objects["Flag"]
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.pbd_delete_bake() == {"FINISHED"}
    assert not obj.pbd.baked


def test_an_unsaved_change_is_in_it_and_the_file_is_not_touched(background, blender, tmp_path):
    obj = flag()
    path = tmp_path / "mine.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    before = path.read_bytes()
    obj.pbd.drag = 12.0
    begin(obj)
    wait(background)
    assert path.read_bytes() == before
    assert bpy.data.filepath == str(path)
    go(LAST)
    baked = shown(obj)
    bpy.ops.object.pbd_delete_bake()
    assert np.abs(play([obj], FIRST, LAST)[LAST][0] - baked).max() < 1e-5


def test_cancel_ends_the_process_and_leaves_nothing(background, blender, temporary):
    obj = flag()
    before = scenes.mesh_bytes(obj)
    begin(obj)
    process = background.job().process
    assert process.poll() is None
    assert not bpy.ops.object.pbd_bake_background.poll()
    assert bpy.ops.object.pbd_cancel_background() == {"FINISHED"}
    assert process.poll() is not None
    assert background.job() is None and background.message() == ""
    assert not list(temporary.iterdir())
    assert not bpy.app.timers.is_registered(background.watch)
    assert scenes.mesh_bytes(obj) == before and not obj.pbd.baked


def test_a_killed_process_is_one_sentence(background, blender, temporary):
    obj = flag()
    before = scenes.mesh_bytes(obj)
    begin(obj)
    wait(background, until=lambda job: job.share > 0.0)
    background.job().process.kill()
    wait(background)
    assert background.message() == "Background bake: Blender was ended before it was done (code -9)"
    assert scenes.mesh_bytes(obj) == before and not obj.pbd.baked
    assert not list(temporary.iterdir())


def test_it_settles_first(background, blender):
    obj = flag()
    bpy.context.scene.pbd.settle = 40
    begin(obj)
    wait(background, until=lambda job: job.text.startswith("Settles: "))
    assert 0.0 < background.job().share <= 1.0
    wait(background)
    assert background.message() == "" and obj.pbd.baked
    go(FIRST)
    settled = shown(obj)
    bpy.ops.object.pbd_delete_bake()
    bpy.ops.object.pbd_settle()
    assert np.abs(shown(obj) - settled).max() < 1e-5
    assert np.abs(settled[:, 2]).max() > 0.1


def test_a_bake_that_fails_says_why(background, blender, tmp_path):
    obj = flag()
    obj.pbd.pin_group = "Nowhere"
    begin(obj)
    wait(background)
    assert background.message().startswith("Background bake: 'Flag' has no vertex group 'Nowhere'")
    assert not obj.pbd.baked
    obj.pbd.pin_group = "Pin"
    begin(obj)
    assert background.message() == ""
    wait(background)
    assert obj.pbd.baked


def test_a_program_that_cannot_be_started(background, tmp_path, temporary):
    obj = flag()
    (tmp_path / "blender").write_text("no program")
    bpy.app.binary_path = str(tmp_path / "blender")
    with pytest.raises(RuntimeError, match=r"Blender could not be started in the background: .*Permission denied"):
        begin(obj)
    assert background.job() is None and not list(temporary.iterdir())


def test_a_program_that_knows_no_such_command(background, tmp_path):
    obj = flag()
    program(tmp_path, "echo Unrecognized command; exit 1")
    begin(obj)
    wait(background)
    assert background.message() == "Background bake: Blender was ended before it was done (code 1)"
    assert not obj.pbd.baked


def test_without_a_program_the_button_says_so(background):
    obj = flag()
    bpy.app.binary_path = ""
    with pytest.raises(RuntimeError, match="There is no Blender program to start: use Bake"):
        begin(obj)


@pytest.mark.parametrize("change", ["mesh", "deleted", "baked"])
def test_a_result_that_does_not_fit_any_more_is_not_kept(background, blender, change):
    obj = flag()
    begin(obj)
    if change == "mesh":
        obj.data.clear_geometry()
        obj.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    elif change == "deleted":
        bpy.data.objects.remove(obj)
    else:
        bpy.ops.object.pbd_bake(mode="RELATIVE")
    wait(background)
    sentence = {
        "mesh": "the mesh of 'Flag' is another one now",
        "deleted": "an object was deleted in the meantime",
        "baked": "'Flag' is baked",
    }
    assert sentence[change] in background.message()
    if change == "mesh":
        assert len(obj.data.vertices) == 3 and not obj.pbd.baked
    if change == "baked":
        assert obj.data.shape_keys.use_relative


def test_edit_mode_is_waited_for(background, blender):
    obj = flag()
    begin(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    wait(background, until=lambda job: job.share == 1.0 and job.text.startswith("Done"))
    assert background.job().text == "Done: leave Edit Mode to take it in"
    assert not obj.pbd.baked
    bpy.ops.object.mode_set(mode="OBJECT")
    wait(background)
    assert obj.pbd.baked


def test_loading_another_file_ends_it(background, blender, temporary):
    begin(flag())
    process = background.job().process
    bpy.ops.wm.read_homefile(use_empty=True)
    assert background.job() is None and process.poll() is not None
    assert not list(temporary.iterdir())


def test_switching_the_extension_off_ends_it(extension, background, blender, temporary):
    begin(flag())
    process = background.job().process
    extension.disable()
    assert process.poll() is not None
    assert not list(temporary.iterdir())


def test_it_needs_no_saved_file_and_shares_no_folder(background, blender, temporary):
    """The copy lies in a folder of its own, which another user cannot read."""
    begin(flag())
    (folder,) = temporary.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    background.cancel()
