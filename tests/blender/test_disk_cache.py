"""The cache on disk: there again after loading, never of another scene, never half, and never in the way."""

import json
import os
import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.folders import files_of_at_most
from helpers.scenes import count_steps, go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


@pytest.fixture
def stage(tmp_path):
    """A saved file with a pinned flag and a disk cache; returns the path of the file."""
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    bpy.context.scene.pbd.use_disk_cache = True
    path = tmp_path / "flag.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def load(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))


def save():
    bpy.ops.wm.save_mainfile()


def running(session):
    return session.get(bpy.context.scene)


def flag():
    return bpy.data.objects["Flag"]


def cache_of(path):
    return path.parent / "cache_pbd" / path.stem / "Scene"


def files_of(path):
    """All files of a cache with their bytes."""
    return {entry.name: entry.read_bytes() for entry in cache_of(path).iterdir()} if cache_of(path).exists() else {}


def simulate(session, path, last):
    """Play up to a frame and save; returns what was shown."""
    seen = play([flag()], 1, last)
    save()
    assert running(session).disk_note == ""
    return seen


def test_nothing_is_written_unasked(session, tmp_path):
    obj = scenes.add_grid()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    play([obj], 1, 4)
    save()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["flag.blend", "flag.blend1"]


def test_an_unsaved_file_stays_in_memory_until_it_is_saved(session, tmp_path):
    obj = scenes.add_grid()
    bpy.context.scene.pbd.use_disk_cache = True
    play([obj], 1, 4)
    assert running(session).disk_note == "Save the file first: until then frames are kept in memory alone"
    path = tmp_path / "late.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert running(session).disk_note == ""
    load(path)
    assert running(session).last_frame == 4


def test_cached_frames_play_after_loading_without_a_step(session, stage):
    seen = simulate(session, stage, 12)
    load(stage)
    found = running(session)
    assert (found.first_frame, found.last_frame, found.disk_note) == (1, 12, "")
    steps = count_steps(found)
    for frame in (12, 3, 7, 1, 11):
        go(frame)
        assert np.allclose(shown(flag()), seen[frame][0], atol=1e-6), frame
    go(5, 0.25)
    assert np.allclose(shown(flag()), 0.75 * seen[5][0] + 0.25 * seen[6][0], atol=1e-6)
    assert steps == []


@pytest.mark.parametrize("automatic", [False, True])
def test_going_on_gives_what_an_unbroken_run_gives(session, tmp_path, automatic):
    """With a soft pin, an attachment to a moving mast, a moving deforming collider, and settings changed on the way."""
    obj = scenes.add_grid(rx=8, ry=6)
    scenes.pin(obj, [0], weight=0.6)
    mast, ball = (scenes.add_grid(name, pbd=False) for name in ("Mast", "Ball"))
    obj.vertex_groups.new(name="Attach").add([7], 1.0, "REPLACE")
    obj.pbd.attach_object, obj.pbd.attach_group = mast, "Attach"
    scenes.animate_location(mast, 1, 24, (0.3, 0.2, 0.1))
    ball.location.z = -0.2
    ball.pbd_collider.enabled = True
    scenes.animate_location(ball, 1, 24, (0.0, 0.0, 0.15))
    wave = ball.modifiers.new("Wave", "WAVE")
    wave.height = 0.05
    bpy.context.scene.pbd.automatic = automatic
    bpy.context.scene.pbd.use_disk_cache = True
    path = tmp_path / "flag.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))

    def part(first, last):
        seen = {}
        for frame in range(first, last + 1):
            if frame == 6:
                flag().pbd.drag = 2.0
            go(frame)
            seen[frame] = shown(flag())
        return seen

    unbroken = part(1, 20)
    session.drop(bpy.context.scene)
    flag().pbd.drag = 0.2
    part(1, 12)
    save()
    load(path)
    steps = count_steps(running(session))
    broken = part(13, 20)
    assert steps == list(range(13, 21))
    for frame, positions in broken.items():
        assert np.abs(positions - unbroken[frame]).max() < 2e-5, frame


def test_going_on_from_an_earlier_frame_too(session, stage):
    seen = simulate(session, stage, 12)
    load(stage)
    go(6)
    flag().pbd.drag = 15.0
    go(7)
    found = running(session)
    assert (found.last_frame, found.disk.files.last) == (7, 7)
    assert not np.allclose(shown(flag()), seen[7][0], atol=1e-5)
    flag().pbd.drag = 0.2
    go(6)
    assert np.allclose(shown(flag()), seen[6][0], atol=1e-6)


def test_frames_that_a_change_took_are_not_there_after_loading(session, stage):
    play([flag()], 1, 12)
    go(8)
    flag().pbd.drag = 9.0
    save()
    load(stage)
    assert (running(session).last_frame, running(session).disk_note) == (8, "")
    assert pytest.approx(9.0) == flag().pbd.drag


def test_a_renamed_object_is_found(session, stage):
    play([flag()], 1, 5)
    flag().name = "Banner"
    save()
    load(stage)
    assert (running(session).last_frame, running(session).disk_note) == (5, "")


def test_a_renamed_object_with_keys_and_a_moved_one_are_found(session, stage):
    """Keys edited but not looked at yet take their frames; what a hand has moved is known for the bake."""
    for frame, drag in ((1, 1.0), (6, 1.0), (12, 1.0)):
        flag().pbd.drag = drag
        flag().pbd.keyframe_insert("drag", frame=frame)
    play([flag()], 1, 10)
    go(4)
    flag().location.x = 0.1
    play([flag()], 5, 12)
    flag().pbd.drag = 5.0
    flag().pbd.keyframe_insert("drag", frame=12)
    flag().name = "Banner"
    save()
    load(stage)
    found = running(session)
    assert (found.last_frame, found.disk_note) == (6, "")
    assert found.moved_by_hand == {bpy.data.objects["Banner"].session_uid}
    assert not session.fits(bpy.context.scene)


def test_the_cache_moves_with_the_file(session, stage, tmp_path):
    seen = simulate(session, stage, 8)
    there = tmp_path / "elsewhere" / "flag.blend"
    there.parent.mkdir()
    bpy.ops.wm.read_homefile(use_empty=True)
    shutil.move(stage, there)
    shutil.move(stage.parent / "cache_pbd", there.parent / "cache_pbd")
    load(there)
    steps = count_steps(running(session))
    go(8)
    assert np.allclose(shown(flag()), seen[8][0], atol=1e-6)
    assert steps == []


def test_save_as_takes_the_cache_along_and_leaves_the_old_one(session, stage):
    simulate(session, stage, 6)
    old = files_of(stage)
    copy = stage.with_name("second.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(copy))
    go(7)
    assert running(session).disk_note == ""
    assert files_of(stage) == old
    load(copy)
    assert running(session).last_frame == 7
    load(stage)
    assert running(session).last_frame == 6


def test_a_copy_saved_aside_leaves_the_cache_where_it_is(session, stage):
    simulate(session, stage, 4)
    bpy.ops.wm.save_as_mainfile(filepath=str(stage.with_name("aside.blend")), copy=True)
    go(5)
    assert not cache_of(stage.with_name("aside.blend")).exists()
    assert (cache_of(stage) / "frame_000005.npz").exists()


def give(obj, mesh):
    """Exchange the mesh, as another program might."""
    obj.shape_key_clear()
    obj.pbd.live_key = ""
    obj.data = mesh
    obj.vertex_groups.new(name="Pin").add([0], 1.0, "REPLACE")


def other_faces(obj):
    mesh = bpy.data.meshes.new("Other")
    mesh.from_pydata([vertex.co for vertex in obj.data.vertices], [], [(0, 1, 6), (0, 6, 5)])
    give(obj, mesh)


def fewer_vertices(obj):
    mesh = bpy.data.meshes.new("Less")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    give(obj, mesh)


def another_shape(obj):
    for points in (obj.data.vertices, obj.data.shape_keys.key_blocks["Basis"].data):
        points[7].co.z = 0.1


def keyed_drag(obj):
    obj.pbd.keyframe_insert("drag", frame=1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (fewer_vertices, "'Flag' has 3 vertices and 1 faces, the cache 20 and 12"),
        (other_faces, "'Flag' has 20 vertices and 2 faces, the cache 20 and 12"),
        (another_shape, "the shape or place of 'Flag' at frame 1 changed"),
        (lambda obj: setattr(obj.pbd, "stretch", 77.0), "Tension of 'Flag' changed"),
        (lambda obj: setattr(bpy.context.scene.pbd, "substeps", 7), "Quality Steps changed"),
        (lambda obj: setattr(bpy.context.scene.render, "fps", 60), "Speed or frame rate changed"),
        (lambda obj: obj.vertex_groups["Pin"].add([2], 1.0, "REPLACE"), "other vertices of 'Flag' are held"),
        (lambda obj: setattr(obj.location, "x", 3.0), "'Flag' was moved"),
        (lambda obj: setattr(obj, "name", "Sail"), "'Flag' is not in the scene"),
        (lambda obj: scenes.add_grid("Second"), "object 'Second' is not in the cache"),
        (lambda obj: setattr(obj.pbd, "active", False), ""),
        (
            lambda obj: setattr(scenes.add_grid("Wall", pbd=False).pbd_collider, "enabled", True),
            "there are other colliders",
        ),
        (keyed_drag, "animation of 'Flag' changed"),
    ],
)
def test_a_cache_of_another_scene_is_not_shown(extension, session, stage, change, sentence):
    """The .blend was changed where the extension could not see it."""
    simulate(session, stage, 6)
    before = files_of(stage)
    extension.disable()
    load(stage)
    extension.enable()
    handlers = extension.bridge("handlers")
    for function in handlers.before_save, handlers.on_save:
        for listed in bpy.app.handlers.save_pre, bpy.app.handlers.save_post:
            if function in listed:
                listed.remove(function)
    change(flag() if "Flag" in bpy.data.objects else bpy.context.object)
    save()
    load(stage)
    found = running(session)
    if sentence:
        assert found.scene_sim is None
        assert found.disk_note == f"The cache on disk does not fit: {sentence}"
    else:
        assert found is None
    go(2), go(3)
    assert files_of(stage) == before
    if sentence:
        assert (running(session).message, running(session).last_frame) == ("", 3)
        assert "holds another run: load or delete it" in running(session).disk_note


def test_a_missing_cache_is_told(session, stage):
    simulate(session, stage, 6)
    shutil.rmtree(stage.parent / "cache_pbd")
    load(stage)
    assert running(session).disk_note == "6 frames were on disk, but //cache_pbd/flag/Scene is gone"
    play([flag()], 1, 3)
    assert (running(session).last_frame, running(session).disk_note) == (3, "")


def test_a_cut_off_cache_gives_the_frames_before(session, stage):
    seen = simulate(session, stage, 8)
    path = cache_of(stage) / "Flag.pc2"
    path.write_bytes(path.read_bytes()[:-300])
    load(stage)
    found = running(session)
    assert found.last_frame == 6
    assert found.disk_note == "The cache on disk is damaged: 2 of 8 frames are cut off or missing"
    go(8)
    assert np.allclose(shown(flag()), seen[8][0], atol=1e-5)
    assert (found.last_frame, found.disk.files.last) == (8, 8)


def test_a_damaged_frame_is_simulated_again(session, stage):
    seen = simulate(session, stage, 8)
    path = cache_of(stage) / "Flag.pc2"
    raw = bytearray(path.read_bytes())
    raw[32 + 12 * 20 * 4 + 5] ^= 64
    path.write_bytes(raw)
    load(stage)
    go(3)
    assert running(session).last_frame == 8
    go(5)
    found = running(session)
    assert np.allclose(shown(flag()), seen[5][0], atol=1e-5)
    assert found.last_frame == 5
    assert found.invalidated.why == "the cache on disk is damaged"


def test_a_damaged_state_gives_the_frames_before(session, stage):
    simulate(session, stage, 8)
    path = cache_of(stage) / "frame_000005.npz"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 64
    path.write_bytes(raw)
    load(stage)
    assert running(session).disk_note == "The cache on disk is damaged: 4 of 8 frames are damaged"
    assert running(session).last_frame == 4
    go(5)
    assert running(session).disk.files.last == 5


def test_an_unreadable_index_is_told_and_left_alone(session, stage):
    simulate(session, stage, 4)
    (cache_of(stage) / "index.json").write_text("{")
    load(stage)
    assert running(session).disk_note == (
        "The cache on disk is damaged: index.json cannot be read: delete or restore it"
    )
    play([flag()], 1, 3)
    assert (cache_of(stage) / "index.json").read_text() == "{"


OLDER = [
    lambda index: index | {"version": 0},
    lambda index: index | {"about": {name: said for name, said in index["about"].items() if name != "layout"}},
    lambda index: index | {"about": index["about"] | {"layout": 1}},
]


@pytest.mark.parametrize("older", OLDER, ids=["format", "before layouts were written", "layout"])
def test_a_cache_of_another_version_is_told_and_left_alone(session, stage, older):
    """Nothing is damaged and nothing is lost: the frames are simulated as before, the files stay."""
    seen = simulate(session, stage, 4)
    index = cache_of(stage) / "index.json"
    index.write_text(json.dumps(older(json.loads(index.read_text()))))
    before = files_of(stage)
    load(stage)
    said = "it stays as it is, and its frames are simulated again"
    assert running(session).disk_note == f"The cache on disk is of another version of this extension: {said}"
    with pytest.raises(RuntimeError, match="of another version"):
        bpy.ops.object.pbd_disk_cache_load()
    again = play([flag()], 1, 4)
    assert np.array_equal(again[4][0], seen[4][0]) and files_of(stage) == before


def test_load_after_the_scene_is_as_it_was(session, stage):
    simulate(session, stage, 6)
    index = cache_of(stage) / "index.json"
    whole = index.read_text()
    index.write_text(whole.replace('"colliders":[]', '"colliders":["Wall"]'))
    load(stage)
    assert running(session).disk_note == "The cache on disk does not fit: there are other colliders"
    with pytest.raises(RuntimeError, match="there are other colliders"):
        bpy.ops.object.pbd_disk_cache_load()
    index.write_text(whole)
    assert bpy.ops.object.pbd_disk_cache_load() == {"FINISHED"}
    assert running(session).last_frame == 6


def test_delete_takes_the_files_of_this_blend_alone(session, stage):
    seen = simulate(session, stage, 6)
    copy = stage.with_name("second.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(copy))
    (cache_of(copy) / "notes.txt").write_text("the user's")
    old = files_of(stage)
    assert bpy.ops.object.pbd_disk_cache_delete() == {"FINISHED"}
    assert files_of(stage) == old
    assert list(files_of(copy)) == ["notes.txt"]
    assert not bpy.context.scene.pbd.use_disk_cache
    steps = count_steps(running(session))
    go(4)
    assert np.array_equal(shown(flag()), seen[4][0])
    go(7)
    assert steps == [7]
    assert list(files_of(copy)) == ["notes.txt"]


def test_delete_says_before_what_becomes_of_the_frames(extension, session, stage):
    """A frame that was read when the file was loaded is on disk alone, and is not shown any more without it."""
    consequence = extension.module("operators.cache").OBJECT_OT_pbd_disk_cache_delete.consequence
    seen = simulate(session, stage, 3)
    assert consequence(bpy.context.scene) == "The frames in memory stay"
    load(stage)
    assert consequence(bpy.context.scene) == "They exist only there and will have to be simulated again"
    assert np.array_equal(shown(flag()), seen[3][0])
    bpy.ops.object.pbd_disk_cache_delete()
    assert not np.array_equal(shown(flag()), seen[3][0])


def test_clear_cache_takes_frames_that_are_on_disk_alone(session, stage):
    simulate(session, stage, 3)
    load(stage)
    assert running(session).cache_bytes == 0
    assert bpy.ops.object.pbd_clear_cache() == {"FINISHED"}
    assert running(session) is None


def test_delete_leaves_no_empty_folders(session, stage):
    simulate(session, stage, 3)
    load(stage)
    assert bpy.ops.object.pbd_disk_cache_delete() == {"FINISHED"}
    assert [entry.name for entry in stage.parent.iterdir() if entry.name.startswith("cache")] == []
    assert not bpy.ops.object.pbd_disk_cache_delete.poll()
    play([flag()], 1, 3)
    assert running(session).last_frame == 3


def test_find_copies_a_cache_from_elsewhere(session, stage, tmp_path):
    seen = simulate(session, stage, 6)
    renamed = tmp_path / "renamed.blend"
    bpy.ops.wm.read_homefile(use_empty=True)
    shutil.copy(stage, renamed)
    load(renamed)
    assert running(session).disk_note == "6 frames were on disk, but //cache_pbd/renamed/Scene is gone"
    before = files_of(stage)
    with pytest.raises(RuntimeError, match="There is no PBD cache in"):
        bpy.ops.object.pbd_disk_cache_find(directory=str(tmp_path))
    assert bpy.ops.object.pbd_disk_cache_find(directory=str(cache_of(stage).parent)) == {"FINISHED"}
    steps = count_steps(running(session))
    go(6)
    assert np.allclose(shown(flag()), seen[6][0], atol=1e-6)
    assert steps == []
    go(7)
    assert files_of(stage) == before
    with pytest.raises(RuntimeError, match="holds a cache already: delete it first"):
        bpy.ops.object.pbd_disk_cache_find(directory=str(cache_of(stage)))


def test_a_place_that_takes_no_files_is_told_once(session, stage, tmp_path):
    """Where the folder should be there is a file: as with a folder that is read only, nothing can be made in it."""
    (tmp_path / "cache_pbd").write_text("a file")
    seen = play([flag()], 1, 6)
    found = running(session)
    assert found.message == ""
    assert found.disk_note.startswith("Frames are kept in memory alone, the disk takes none: ")
    assert found.last_frame == 6
    assert seen[6][0][:, 2].min() < -0.05
    (tmp_path / "cache_pbd").unlink()
    save()
    assert found.disk_note == ""
    load(stage)
    assert running(session).last_frame == 6


@pytest.mark.skipif(os.name == "nt", reason="Windows does not limit the size of files")
def test_a_full_disk_is_told_and_the_simulation_goes_on(session, stage):
    ground = scenes.add_grid("Ground", pbd=False)
    ground.location.z, ground.pbd_collider.enabled = -0.4, True
    scenes.animate_location(ground, 1, 8, (0.0, 0.0, 0.1))
    ground.modifiers.new("Wave", "WAVE")
    want = play([flag()], 1, 8)
    session.drop(bpy.context.scene)
    play([flag()], 1, 4)
    with files_of_at_most(1000):  # bytes
        seen = play([flag()], 5, 8)
    found = running(session)
    assert found.disk_note == "Frames are kept in memory alone, the disk takes none: File too large"
    assert (found.message, found.last_frame) == ("", 8)
    assert np.array_equal(seen[8][0], want[8][0])
    save()
    assert found.disk_note == ""
    load(stage)
    assert (running(session).last_frame, running(session).disk_note) == (8, "")
    go(8)
    assert np.allclose(shown(flag()), want[8][0], atol=1e-6)
    go(9)
    assert running(session).message == ""


def add_big_mesh():
    """Its frames take 0.28 MB each, nearly all of it vertices without faces, which cost no time."""
    scene = bpy.context.scene
    scene.pbd.substeps, scene.pbd.collisions, scene.pbd.cache_limit = 1, "OFF", 1
    vertices = np.zeros((10_000, 3))
    vertices[:4] = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    return scenes.add_mesh("Sheet", vertices, [(0, 1, 2, 3)])


def test_a_full_memory_stops_the_simulation_with_a_sentence(session):
    obj = add_big_mesh()
    seen = play([obj], 1, 6)
    found = running(session)
    last = found.last_frame
    assert 2 <= last < 6
    assert found.cache_bytes < 1e6
    assert found.message == (
        f"The cache is full: frames 1 to {last} take the 1 MB that it may have. "
        "Raise Memory Limit, or switch on Disk Cache"
    )
    assert np.array_equal(seen[6][0], seen[last][0])
    bpy.context.scene.pbd.cache_limit = 100
    go(6)
    assert (found.message, found.last_frame) == ("", 6)


def test_with_the_disk_a_full_memory_is_no_limit(session, tmp_path):
    obj = add_big_mesh()
    bpy.context.scene.pbd.use_disk_cache = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "sheet.blend"))
    seen = play([obj], 1, 10)
    found = running(session)
    assert (found.message, found.last_frame) == ("", 10)
    assert found.cache_bytes < 1e6
    steps = count_steps(found)
    for frame in (2, 10, 5):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0])
    assert steps == []
    go(4)
    bpy.context.scene.use_gravity = False
    go(5)
    assert found.last_frame == 5
    assert not np.array_equal(shown(obj), seen[5][0])


def test_reset_begins_the_files_anew(session, stage):
    simulate(session, stage, 6)
    bpy.ops.object.pbd_reset()
    go(2), go(3)
    save()
    load(stage)
    assert (running(session).last_frame, running(session).disk_note) == (3, "")


def test_two_scenes_have_caches_of_their_own(session, stage):
    simulate(session, stage, 3)
    go(1)
    bpy.ops.scene.new(type="FULL_COPY")
    second = bpy.context.scene
    second.name = "Night/2"
    for frame in (1, 2):
        second.frame_set(frame)
    assert session.get(second).disk_note == ""
    (index,) = stage.parent.glob("cache_pbd/flag/Night_2_*/index.json")  # "Night_2" is another name.
    assert json.loads(index.read_text())["first"] == 1
    assert len(files_of(stage)) == 5


def test_a_bake_leaves_a_cache_that_fits(extension, session, stage):
    scene = bpy.context.scene
    list(extension.bridge("baking.bake").start(scene, [flag()], "ABSOLUTE", 1, 5))
    extension.bridge("baking.bake").delete(scene, [flag()])
    save()
    load(stage)
    assert (running(session).last_frame, running(session).disk_note) == (5, "")
    assert Path(running(session).disk.files.folder) == cache_of(stage)


# What a hand and settling have made


DOWN = np.array((0.0, 0.0, -1.0))


@pytest.fixture
def take_hold(extension):
    """A function that takes a corner of the flag into a hand at the present frame and lifts it."""

    def take(ticks=8):
        scene, depsgraph = bpy.context.scene, bpy.context.evaluated_depsgraph_get
        hand = extension.bridge("timeline.grab").GrabSession(scene, depsgraph())
        origin = shown(flag())[-1] + (-0.01, -0.01, 2.0)
        assert hand.take(scene, origin, DOWN, 0.3)
        for tick in range(ticks):
            hand.move(origin + np.array((0.02 * tick, 0.0, 0.0)), DOWN)
            hand.rest(scene, depsgraph())
        return hand

    return take


def test_a_settled_first_frame_is_there_again(session, stage):
    bpy.context.scene.pbd.settle = 12
    go(1)
    save()
    first = shown(flag())
    assert first[:, 2].min() < -0.05
    load(stage)
    found = running(session)
    assert (found.last_frame, found.settled, found.disk_note) == (1, 12, "")
    steps = count_steps(found)
    go(1)
    assert np.allclose(shown(flag()), first, atol=1e-6)
    assert steps == []
    seen = play([flag()], 2, 6)
    save()
    bpy.ops.object.pbd_reset()
    again = play([flag()], 2, 6)
    assert np.allclose(again[6][0], seen[6][0], atol=2e-5)


def test_settling_that_was_changed_unseen_is_told(session, stage):
    bpy.context.scene.pbd.settle = 5
    simulate(session, stage, 3)
    whole = files_of(stage)
    bpy.context.scene.pbd.use_disk_cache = False
    bpy.context.scene.pbd.settle = 9
    bpy.context.scene.pbd.use_disk_cache = True
    session.drop(bpy.context.scene)
    save()
    load(stage)
    assert running(session).disk_note == "The cache on disk does not fit: Settle changed"
    assert files_of(stage) == whole


def test_what_a_hand_has_shaped_is_there_again(session, stage, take_hold):
    simulate(session, stage, 8)
    go(5)
    before = shown(flag())
    hand = take_hold()
    hand.finish(bpy.context.scene)
    shaped = shown(flag())
    assert np.abs(shaped - before).max() > 0.02
    save()
    load(stage)
    found = running(session)
    assert (found.last_frame, found.disk_note) == (5, "")
    assert (found.first_disturbed, found.disturbed_by, found.scene_sim.in_place_steps) == (5, "HAND", 8)
    go(4), go(5)
    assert np.allclose(shown(flag()), shaped, atol=1e-6)
    assert not session.fits(bpy.context.scene)


def test_a_first_frame_that_a_hand_has_shaped_is_there_again(session, stage, take_hold):
    go(1)
    hand = take_hold()
    hand.finish(bpy.context.scene)
    shaped = shown(flag())
    after = play([flag()], 2, 4)
    save()
    load(stage)
    found = running(session)
    assert (found.first_frame, found.last_frame, found.shaped, found.disk_note) == (1, 4, True, "")
    steps = count_steps(found)
    go(1)
    assert np.allclose(shown(flag()), shaped, atol=1e-6)
    go(4)
    assert np.allclose(shown(flag()), after[4][0], atol=1e-6)
    assert steps == []


def test_a_hand_that_was_undone_is_not_on_disk(session, stage, take_hold):
    seen = simulate(session, stage, 8)
    go(5)
    hand = take_hold()
    hand.put_back(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    save()
    load(stage)
    found = running(session)
    assert (found.last_frame, found.first_disturbed, found.disk_note) == (5, None, "")
    go(5)
    assert np.allclose(shown(flag()), seen[5][0], atol=1e-6)
    go(8)
    assert np.allclose(shown(flag()), seen[8][0], atol=2e-5)


def test_nothing_is_written_while_a_hand_holds(session, stage, take_hold):
    simulate(session, stage, 3)
    hand = take_hold()
    go(4), go(5)
    found = running(session)
    assert (found.last_frame, found.disk.files.last, found.disk_note) == (5, 2, "")
    hand.finish(bpy.context.scene)
    go(6)
    assert found.disk.files.last == 6
    assert all(
        np.array_equal(found.disk.positions(at), found.scene_sim.simulation.frames.positions(at)) for at in (3, 6)
    )


def test_a_run_that_a_hand_has_pinned_stays_in_memory(session, stage, take_hold):
    simulate(session, stage, 3)
    hand = take_hold()
    assert hand.let_go(bpy.context.scene, pin=True) > 0
    hand.finish(bpy.context.scene)
    seen = play([flag()], 4, 8)
    found = running(session)
    assert (found.last_frame, found.message) == (8, "")
    assert found.disk_note == (
        "Frames are kept in memory alone from where a hand has pinned vertices: press Reset to have all on disk"
    )
    assert found.disk.files.last == 2
    save()
    assert bpy.context.scene.pbd.frames_on_disk == 2
    go(5)
    assert np.array_equal(shown(flag()), seen[5][0])
    bpy.ops.screen.frame_jump(end=False)
    bpy.ops.object.pbd_reset()
    play([flag()], 2, 4)
    save()
    assert running(session).disk_note == ""
    load(stage)
    assert (running(session).last_frame, running(session).disk_note) == (4, "")


def test_a_hand_that_the_file_does_not_know_of_is_told(session, stage, take_hold):
    """Blender is left without saving what a hand has done; the frames are on disk already."""
    simulate(session, stage, 3)
    hand = take_hold()
    hand.finish(bpy.context.scene)
    go(4)
    load(stage)
    assert running(session).disk_note == (
        "The cache on disk does not fit: a hand has changed the cloth since the file was saved"
    )


def test_painted_weights_belong_to_the_cache(session, stage):
    group = flag().vertex_groups.new(name="Hem")
    group.add(range(20), 1.0, "REPLACE")
    flag().pbd.density_group = "Hem"
    simulate(session, stage, 4)
    load(stage)
    assert (running(session).last_frame, running(session).disk_note) == (4, "")
    session.drop(bpy.context.scene)
    flag().vertex_groups["Hem"].add([3], 0.25, "REPLACE")
    save()
    load(stage)
    assert running(session).disk_note == (
        "The cache on disk does not fit: vertex group 'Hem' of 'Flag' has other weights"
    )
