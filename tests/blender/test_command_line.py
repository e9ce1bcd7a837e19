"""`blender --command pbd_bake`: what it writes, what it says, what it returns."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown


@pytest.fixture
def command(extension):
    return extension.bridge("baking.command_line")


@pytest.fixture
def file(tmp_path):
    """A saved file with two flags, and what they do."""
    bpy.context.scene.frame_end = 10
    scenes.let_through()
    objects = [scenes.add_grid("One"), scenes.add_grid("Two", drag=3.0)]
    for obj in objects:
        scenes.pin(obj, [0, 4])
    seen = play(objects, 1, 10)
    path = str(tmp_path / "flags.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    return path, seen


def test_bakes_and_saves_the_file_itself(command, file):
    path, seen = file
    assert command.main([path]) == 0
    bpy.ops.wm.open_mainfile(filepath=path)
    for place, name in enumerate(("One", "Two")):
        obj = bpy.data.objects[name]
        assert obj.pbd.baked and not obj.data.shape_keys.use_relative
        go(10)
        assert np.abs(shown(obj) - seen[10][place]).max() < 1e-5


def test_settles_first(command, file):
    path, _seen = file
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.scene.pbd.settle = 30
    bpy.ops.wm.save_mainfile()
    assert command.main([path, "--frames", "1", "2"]) == 0
    bpy.ops.wm.open_mainfile(filepath=path)
    go(1)
    assert shown(bpy.data.objects["One"])[:, 2].min() < -0.3


def test_chosen_objects_frames_and_output(command, file, tmp_path):
    path, seen = file
    out = str(tmp_path / "out.blend")
    assert command.main([path, "--objects", "Two", "--frames", "2", "6", "--output", out, "--relative"]) == 0
    bpy.ops.wm.open_mainfile(filepath=path)
    assert not bpy.data.objects["Two"].pbd.baked
    bpy.ops.wm.open_mainfile(filepath=out)
    obj = bpy.data.objects["Two"]
    assert not bpy.data.objects["One"].pbd.baked
    assert (obj.pbd.bake_start, obj.pbd.bake_end) == (2, 6)
    assert obj.data.shape_keys.use_relative
    go(6)
    assert np.abs(shown(obj) - seen[6][1]).max() < 1e-5


@pytest.mark.parametrize("mode", ["reduced", "mesh_cache"])
def test_other_modes(command, tmp_path, mode):
    bpy.context.scene.frame_end = 6
    scenes.let_through()
    obj = scenes.add_grid("Flag")
    scenes.pin(obj, [0, 4])
    seen = play([obj], 1, 6)
    path, out = tmp_path / "flags.blend", tmp_path / "elsewhere" / "out.blend"
    out.parent.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert command.main([str(path), "--mode", mode, "--output", str(out)]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    obj = bpy.data.objects["Flag"]
    assert obj.pbd.baked_as == mode.upper()
    bound = obj.pbd.reduce_error if mode == "reduced" else 1e-5
    for frame in (2, 6):
        go(frame)
        assert np.linalg.norm(shown(obj) - seen[frame][0], axis=1).max() < bound
    assert [path.name for path in tmp_path.glob("cache_pbd/*")] == ["flags_Flag_bake.pc2"] * (mode == "mesh_cache")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "the following arguments are required: FILE"),
        (["no.blend"], "there is no file no.blend"),
        (["FILE", "--frames", "9", "3"], "frames 9 to 3 are none"),
        (["FILE", "--frames", "a", "3"], "argument --frames: invalid int value: 'a'"),
        (["FILE", "--objects", "Three"], "scene 'Scene' has no PBD cloth or balloon 'Three'"),
        (["FILE", "--order", "no folder"], "there is no order in no folder: [Errno 2] No such file or directory: "),
        (["FILE", "--sideways"], "unrecognized arguments: --sideways"),
    ],
)
def test_bad_arguments(command, file, capfd, arguments, sentence):
    capfd.readouterr()
    assert command.main([file[0] if argument == "FILE" else argument for argument in arguments]) == 2
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("pbd_bake")]
    assert len(said) == 1 and said[0].startswith(f"pbd_bake: {sentence}")


def test_a_file_that_is_no_blend(command, tmp_path, capfd):
    path = tmp_path / "text.blend"
    path.write_text("no file of Blender's")
    assert command.main([str(path)]) == 2
    assert capfd.readouterr().err.count("pbd_bake: ") == 1


def test_nothing_to_bake(command, tmp_path, capfd):
    path = str(tmp_path / "empty.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert command.main([path]) == 2
    assert "has no PBD cloth or balloon to bake" in capfd.readouterr().err


def test_a_failed_bake_saves_nothing(command, tmp_path, capfd):
    obj = scenes.add_grid(pin_group="Nowhere")
    path = tmp_path / "bad.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    before = path.read_bytes()
    assert command.main([str(path)]) == 3
    assert "pbd_bake: 'Flag' has no vertex group 'Nowhere'" in capfd.readouterr().err
    assert path.read_bytes() == before
    assert obj is not None


def test_an_output_that_cannot_be_written(command, file, tmp_path, capfd):
    assert command.main([file[0], "--output", str(tmp_path / "no" / "folder" / "out.blend")]) == 3
    assert capfd.readouterr().err.count("pbd_bake: ") == 1


def test_help(command, capfd):
    assert command.main(["--help"]) == 0
    assert "--relative" in capfd.readouterr().out
