"""`blender --command pbd_bake`: what it writes, what it says, what it returns."""

import csv
import json

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


def test_settings_and_what_a_bake_says(command, file, tmp_path, capfd):
    """A line of JSON, which a shell takes apart, and a table of the frames."""
    path, seen = file
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.data.objects["Two"].name = "Two.001"
    bpy.ops.wm.save_mainfile()
    out, table = str(tmp_path / "out.blend"), tmp_path / "table.csv"
    capfd.readouterr()
    settings = ["--set", "Two.001.pbd.drag=0", "--set", "Scene.pbd.substeps=7", "--set", "One.pbd.velocity=0,0,1.5"]
    more = ["--set", "Scene.pbd.use_floor=on", "--set", "One.pbd.field_weights.gravity=0.5"]
    frames = ["--frames", "1", "6", "--metrics", str(table)]
    assert command.main([path, "--output", out, *settings, *more, *frames]) == 0
    said = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert said["objects"] == ["One", "Two.001"] and said["frames"] == [1, 6] and said["mode"] == "absolute"
    assert said["output"] == out and said["set"][0] == "Two.001.pbd.drag=0" and said["version"].count(".") == 2
    assert said["seconds"] > 0.0 and said["crossings"] == 0 and 0.0 < said["strain_p95"] <= said["strain_max"] < 0.2
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [row["frame"] for row in rows] == list("23456")
    assert max(float(row["strain_p95"]) for row in rows) == pytest.approx(said["strain_p95"], rel=1e-6)
    assert all(row["substeps"] in ("7", "4") and float(row["kinetic_energy"]) > 0.0 for row in rows)
    bpy.ops.wm.open_mainfile(filepath=out)
    one, two, scene = bpy.data.objects["One"].pbd, bpy.data.objects["Two.001"].pbd, bpy.context.scene.pbd
    assert (two.drag, scene.substeps, tuple(one.velocity), scene.use_floor) == (0.0, 7, (0.0, 0.0, 1.5), True)
    assert one.field_weights.gravity == 0.5
    go(6)
    assert np.abs(shown(bpy.data.objects["Two.001"]) - seen[6][1]).max() > 1e-4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One.pbd.drag", "'One.pbd.drag' is no setting: write OBJECT.pbd.name=value"),
        ("One.location=3", "'One.location=3' is no setting: write OBJECT.pbd.name=value"),
        ("Three.pbd.drag=3", "there is no object or scene 'Three' in scene 'Scene'"),
        ("One.pbd.drog=3", "'One' has no setting 'pbd.drog': is it drag?"),
        ("One.pbd.baked=true", "'One' has no setting 'pbd.baked'"),
        ("One.pbd.drag.x=3", "'One' has no settings 'pbd.drag.x'"),
        ("One.pbd.drag=much", "One.pbd.drag must be a number, not 'much'"),
        ("One.pbd.drag=nan", "One.pbd.drag must be from 0 to "),
        ("One.pbd.drag=-1", "One.pbd.drag must be from 0 to "),
        ("Scene.pbd.substeps=2.5", "Scene.pbd.substeps must be a whole number, not '2.5'"),
        ("Scene.pbd.use_floor=maybe", "Scene.pbd.use_floor must be true or false, not 'maybe'"),
        ("One.pbd.velocity=1,2", "One.pbd.velocity must be 3 numbers with commas between them, not '1,2'"),
        ("Scene.pbd.method=FEM", "Scene.pbd.method must be one of XPBD, PBD, not 'FEM'"),
        ("One.pbd.attach_object=Three", "One.pbd.attach_object must be the name of one of the file's objects"),
        ("One.pbd.bend=3", "'One.pbd.bend' is animated, so it cannot be set to one value"),
    ],
)
def test_bad_settings(command, file, capfd, text, sentence):
    bpy.ops.wm.open_mainfile(filepath=file[0])
    bpy.data.objects["One"].pbd.keyframe_insert("bend", frame=1)
    bpy.ops.wm.save_mainfile()
    capfd.readouterr()
    assert command.main([file[0], "--set", text]) == 2
    said = capfd.readouterr()
    assert f"pbd_bake: {sentence}" in said.err and said.err.count("pbd_bake: ") == 1 and '"command"' not in said.out
    bpy.ops.wm.open_mainfile(filepath=file[0])
    assert not bpy.data.objects["One"].pbd.baked


def test_the_arguments_of_the_job_type_of_flamenco(command, file, tmp_path):
    """As docs/pbd_wedges.js puts them together, see tests/test_flamenco.py."""
    out = str(tmp_path / "flags_0001.blend")
    arguments = ["--frames", "1", "3", "--mode", "absolute", "--output", out, "--set", "One.pbd.drag=2"]
    assert command.main([file[0], *arguments, "--set", "Scene.pbd.substeps=10"]) == 0
    bpy.ops.wm.open_mainfile(filepath=out)
    assert bpy.data.objects["One"].pbd.drag == 2.0 and bpy.data.objects["One"].pbd.bake_end == 3


def test_a_loop_by_command(command, file, capfd):
    path, _seen = file
    loop = ["use_loop=true", "loop_fade=2", "loop_length=5", "loop_gap=100"]
    capfd.readouterr()
    assert command.main([path, *(part for text in loop for part in ("--set", f"Scene.pbd.{text}"))]) == 0
    said = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert said["loop"] == 5 and said["frames"] == [1, 6]


def test_help(command, capfd):
    assert command.main(["--help"]) == 0
    assert "--relative" in capfd.readouterr().out
