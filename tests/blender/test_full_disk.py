"""A disk that is full: a sentence, no half file that is read as whole, and the old file stays.

A limit on the size of files, which Linux and macOS have, stands for the full disk: writing fails for real.
"""

import contextlib

import bpy
import numpy as np
import pytest
import scenes
from scenes import go, play, shown

resource = pytest.importorskip("resource")

OLD = b"what was here before"


@contextlib.contextmanager
def files_of_at_most(size):
    """No file may grow beyond so many bytes; what would is refused as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def flag(extension):
    """A selected cloth of 400 vertices, in a scene of 8 frames."""
    bpy.context.scene.frame_end = 8
    obj = scenes.add_grid(rx=20, ry=20)
    obj.select_set(True)
    return obj


@pytest.mark.parametrize(("file_format", "extension_of"), [("USD", ".usdc"), ("GLTF", ".glb")])
def test_an_export_that_does_not_fit(flag, tmp_path, file_format, extension_of):
    path = tmp_path / f"flag{extension_of}"
    path.write_bytes(OLD)
    play([flag], 1, 8)
    with files_of_at_most(10_000), pytest.raises(RuntimeError) as said:
        bpy.ops.object.pbd_export(format=file_format, filepath=str(path))
    sentence = str(said.value).strip()
    assert f"'{path.name}' could not be written: " in sentence
    assert len(sentence.splitlines()) == 1 and "Traceback" not in sentence
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name] and path.read_bytes() == OLD
    assert bpy.ops.object.pbd_export(format=file_format, filepath=str(path)) == {"FINISHED"}
    assert path.stat().st_size > 10_000 and path.read_bytes()[:4] in (b"PXR-", b"glTF")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_export_asks_for_room_first(extension, flag, tmp_path):
    """Alembic's exporter ends Blender when the disk is full, so that it must not begin."""
    check, frames = extension.bridge("whole_files").check_room, 10**12
    with pytest.raises(extension.bridge("errors").PBDError, match=r"'flag.abc' may take \d+\.0 MB, and the disk has"):
        check(str(tmp_path / "flag.abc"), [flag], frames)
    check(str(tmp_path / "flag.abc"), [flag], 8)


@pytest.mark.parametrize(("file_format", "extension_of"), [("ALEMBIC", ".abc"), ("USD", ".usdc"), ("GLTF", ".glb")])
def test_an_export_that_cannot_begin(flag, tmp_path, file_format, extension_of):
    (tmp_path / f"flag.unfinished{extension_of}").mkdir()
    path = tmp_path / f"flag{extension_of}"
    path.write_bytes(OLD)
    with pytest.raises(RuntimeError, match=f"'{path.name}' could not be written: "):
        bpy.ops.object.pbd_export(format=file_format, filepath=str(path))
    assert path.read_bytes() == OLD


def test_a_baked_file_that_does_not_fit(flag, tmp_path):
    bpy.context.scene.pbd.bake_folder = str(tmp_path)
    path = tmp_path / "Flag_bake.pc2"
    path.write_bytes(OLD)
    with files_of_at_most(10_000), pytest.raises(RuntimeError, match="could not be written: File too large"):
        bpy.ops.object.pbd_bake(mode="MESH_CACHE")
    assert not flag.pbd.baked and not flag.modifiers
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name] and path.read_bytes() == OLD


def test_a_disk_cache_that_does_not_fit_goes_on_in_memory(extension, flag, tmp_path):
    session, scene = extension.bridge("session"), bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    scene.pbd.use_disk_cache = True
    with files_of_at_most(3 * 20 * 20 * 12):  # Two samples and a half.
        seen = play([flag], 1, 8)
    note = session.get(scene).disk_note
    assert note == "Frames are kept in memory alone, the disk takes none: File too large"
    assert session.get(scene).last_frame == 8
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "flag.blend"), load_ui=False)
    scene = bpy.context.scene
    scene.pbd.use_disk_cache = True
    bpy.ops.object.pbd_disk_cache_load()
    assert (session.get(scene).first_frame, session.get(scene).last_frame) == (1, 2)
    for frame in range(1, 9):
        go(frame)
        assert np.abs(shown(bpy.data.objects["Flag"]) - seen[frame][0]).max() < 1e-6, frame
    assert session.get(scene).disk_note == "" and session.get(scene).disk.files.last == 8


def test_a_cache_that_cannot_be_copied_leaves_nothing(flag, tmp_path):
    scene, old = bpy.context.scene, tmp_path / "cache_pbd" / "flag" / "Scene"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    scene.pbd.use_disk_cache = True
    play([flag], 1, 8)
    (tmp_path / "there").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "there" / "flag.blend"))
    bpy.ops.object.pbd_disk_cache_delete()
    before = {entry.name: entry.read_bytes() for entry in old.iterdir()}
    largest = max(map(len, before.values()))
    with files_of_at_most(largest - 1), pytest.raises(RuntimeError, match="could not be copied: File too large"):
        bpy.ops.object.pbd_disk_cache_find(directory=str(old))
    assert [entry.name for entry in (tmp_path / "there").rglob("*") if entry.is_file()] == ["flag.blend"]
    assert {entry.name: entry.read_bytes() for entry in old.iterdir()} == before
    assert bpy.ops.object.pbd_disk_cache_find(directory=str(old)) == {"FINISHED"}
