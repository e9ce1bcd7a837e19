"""A cached frame is looked up: its cost does not grow with the mesh, and nothing is stepped or read twice."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.calls import entered
from helpers.scenes import go, play


def cached(size, folder=None):
    """The calls of a change to a cached frame of a grid of size × size vertices; from disk when given a folder."""
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.pbd.substeps, bpy.context.scene.pbd.use_disk_cache = 1, folder is not None
    scenes.add_grid(rx=size, ry=size)
    if folder:
        path = str(folder / f"sheet_{size}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
    for frame in range(1, 6):
        go(frame)
    if folder:
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=path)
    go(2), go(3)
    return entered(lambda: go(4))


@pytest.mark.newest
@pytest.mark.parametrize("on_disk", [False, True])
def test_a_cached_frame_costs_as_many_calls_for_many_vertices(extension, tmp_path, on_disk):
    folder = tmp_path if on_disk else None
    few, many = cached(10, folder), cached(40, folder)
    assert few == many
    assert few["handlers.py", "on_frame_change"] == 1
    assert not [each for each in few if each[0] in ("solver.py", "model.py", "mesh.py")]


MOST_FILES = 10
"""So many of our files may be entered by a frame that is in the cache, when nothing was changed since it was shown."""


@pytest.mark.usefixtures("few_substeps")
@pytest.mark.parametrize("played", ["stepped", "shown again", "in a window"])
def test_an_unchanged_frame_enters_few_files(extension, played):
    ground = scenes.add_grid("Ground", rx=5, ry=5, pbd=False)
    ground.location.z, ground.pbd_collider.enabled = -1.0, True
    if played == "in a window":
        ground.parent = bpy.data.objects.new("Handle", None)
        bpy.context.scene.collection.objects.link(ground.parent)
    flag = scenes.add_grid()
    scenes.pin(flag, [0, 4])
    for frame, bend in ((1, 1e-5), (8, 1e-4)):
        flag.pbd.bend = bend
        flag.pbd.keyframe_insert("bend", frame=frame)
    play([flag], 1, 8)
    if played == "shown again":
        play([flag], 2, 8)
    else:
        go(6)
    if played == "in a window":  # Which evaluates what the handler has written, and tells of it.
        flag.data.update()
        bpy.context.view_layer.update()
    calls = entered(lambda: go(4))
    files = sorted({file for file, _ in calls})
    assert len(files) <= MOST_FILES, files
    assert "changes.py" not in files and ("shape_keys.py", "write_live_key") in calls


@pytest.mark.usefixtures("few_substeps")
def test_what_is_shown_again_is_what_was_shown(extension):
    flag = scenes.add_grid()
    scenes.pin(flag, [0, 4])
    first = play([flag], 1, 8)
    again = play([flag], 2, 8)
    assert all(np.array_equal(again[frame][0], first[frame][0]) for frame in again)


def test_a_collider_that_stands_still_is_not_placed_again(extension):
    def calls(size, moves=False):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.context.scene.pbd.substeps = 1
        ground = scenes.add_grid("Ground", rx=size, ry=size, pbd=False)
        ground.pbd_collider.enabled = True
        ground.location.z = -50.0
        if moves:
            ground.keyframe_insert("location", frame=1)
            ground.location.z = -40.0
            ground.keyframe_insert("location", frame=6)
        scenes.add_grid()
        go(1), go(2), go(3)
        return entered(lambda: go(4))

    still = calls(100)
    assert calls(10) == still
    placed = ("surfaces.py", "world")
    assert (still[placed], calls(10, moves=True)[placed]) == (0, 1)


@pytest.mark.usefixtures("few_substeps")
def test_settings_of_many_objects_are_read_when_one_was_set(extension):
    scenes.let_through()
    flags = [scenes.add_grid(f"Flag {number}", rx=3, ry=3, bend=1e-4) for number in range(20)]
    session = extension.bridge("timeline.session")
    play(flags, 1, 9), play(flags, 2, 9)

    def read(frame):
        """So many groups of settings; that of the scene always."""
        return entered(lambda: go(frame))["raw_settings.py", "<lambda>"] - 1

    assert read(8) == 0
    flags[3].pbd.bend = 1e-3
    assert read(7) == 1
    assert session.get(bpy.context.scene).last_frame == 8
    assert session.get(bpy.context.scene).invalidated.why == "Bending of 'Flag 3' changed"
    flags[12].pbd.keyframe_insert("bend", frame=1)
    play(flags, 3, 6)
    assert read(4) == 1  # What is animated is read always.


def test_a_setting_that_was_animated_is_read_anew(extension):
    flags = [scenes.add_grid(f"Flag {number}", rx=3, ry=3) for number in range(20)]
    raw, last = extension.bridge("settings.raw_settings"), flags[-1]
    play(flags, 1, 2)
    for flag in flags:
        raw.raw_material(flag)
    last.driver_add("pbd.bend").driver.expression = "0.5"
    go(3)
    last.animation_data_clear()
    assert raw.material_from(raw.raw_material(last), "").bend == pytest.approx(last.pbd.bend) == pytest.approx(0.5)


@pytest.mark.usefixtures("few_substeps")
@pytest.mark.parametrize(
    ("unset", "why"),
    [
        (lambda flag: flag.pbd.property_unset("bend"), "Bending of 'Flag 12' changed"),
        (lambda flag: flag.pbd.field_weights.property_unset("wind"), "Field Weights of 'Flag 12' changed"),
    ],
)
def test_a_setting_that_a_script_unsets_is_noticed_at_once(extension, unset, why):
    """Blender tells nobody of it."""
    scenes.let_through()
    flags = [scenes.add_grid(f"Flag {number}", rx=3, ry=3, bend=1e-4) for number in range(20)]
    flags[12].pbd.field_weights.wind = 0.5
    session = extension.bridge("timeline.session")
    play(flags, 1, 9), play(flags, 2, 9)
    go(5)
    unset(flags[12])
    go(6)
    assert session.get(bpy.context.scene).invalidated == (6, 9, why)
