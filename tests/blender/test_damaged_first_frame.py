"""The first frame on disk is damaged, and that is found out while something else takes the frames after it."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play

pytestmark = pytest.mark.usefixtures("few_substeps")

LAST = 6


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


@pytest.fixture
def damaged(session, tmp_path):
    """A pinned flag over a plate, loaded with frames on disk, at the first one, whose state was damaged since."""
    flag, plate = scenes.add_grid(), scenes.add_grid("Plate", pbd=False)
    scenes.pin(flag, [0, 4])
    plate.pbd_collider.enabled, plate.location.z = True, -0.3
    scene = bpy.context.scene
    scene.frame_end, scene.pbd.use_disk_cache = LAST, True
    path = tmp_path / "flag.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    play([flag], 1, LAST)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    go(1)
    assert session.get(bpy.context.scene).last_frame == LAST
    file = tmp_path / "cache_pbd" / "flag" / "Scene" / "frame_000001.npz"
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 64
    file.write_bytes(raw)
    return file


def reshape():
    plate = bpy.data.objects["Plate"]
    for vertex in plate.data.vertices:
        vertex.co.z += 0.1
    plate.data.update()
    bpy.context.view_layer.update()


def move_plate():
    bpy.data.objects["Plate"].location.z += 0.1


def reshape_and_move():
    reshape()
    move_plate()


def move_flag():
    bpy.data.objects["Flag"].location.x += 0.1


def limp():
    bpy.data.objects["Flag"].pbd.bend *= 0.5


def undone():
    """As undo of a move that was not looked at yet."""
    bpy.app.handlers.undo_post[-1](bpy.context.scene)
    move_plate()


CHANGES = [reshape, move_plate, reshape_and_move, move_flag, limp, undone]


def unbroken():
    """What the changed scene gives from the first frame on."""
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = bpy.data.objects["Flag"]
    go(1)
    bpy.ops.object.pbd_reset()
    return play([bpy.data.objects["Flag"]], 1, LAST)


@pytest.mark.parametrize("change", CHANGES)
def test_the_run_begins_anew(session, damaged, capfd, change):
    change()
    seen = play([bpy.data.objects["Flag"]], 2, LAST)
    running = session.get(bpy.context.scene)
    assert "Traceback" not in capfd.readouterr().err
    assert (running.first_frame, running.last_frame, running.message) == (1, LAST, "")
    assert running.first_disturbed is None and not running.moved_by_hand
    again = unbroken()
    for frame in seen:
        assert np.abs(seen[frame][0] - again[frame][0]).max() < 1e-6, frame


@pytest.mark.parametrize("change", [change for change in CHANGES if change is not undone])
def test_a_save_claims_no_frames(session, damaged, capfd, change):
    change()
    bpy.ops.wm.save_mainfile()
    assert "Traceback" not in capfd.readouterr().err
    assert bpy.context.scene.pbd.frames_on_disk == 0
    assert np.isfinite(play([bpy.data.objects["Flag"]], 2, LAST)[LAST][0]).all()
