"""A folder that may not be written: a sentence, nothing half done, and what was there stays."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import bpy
import pytest

from helpers import scenes
from helpers.folders import OLD, names
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

NOBODY = 65534
"""A user who owns nothing; root may write everywhere, whatever a folder says."""


@pytest.fixture
def folder():
    """A folder that everybody can reach, unlike those of pytest."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@contextlib.contextmanager
def read_only(*folders):
    """Nothing can be made, changed or removed in these folders; as root, not by this process either."""
    for folder in folders:
        folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        for folder in folders:
            folder.chmod(0o755)


@pytest.fixture
def flag(extension):
    """A selected cloth in a scene of 8 frames."""
    bpy.context.scene.frame_end = 8
    obj = scenes.add_grid()
    obj.select_set(True)
    return obj


def test_such_a_folder_takes_nothing(folder):
    """The helper keeps what it promises, for root too."""
    (folder / "file").write_bytes(OLD)
    with read_only(folder):
        with pytest.raises(PermissionError):
            (folder / "new").touch()
        with pytest.raises(PermissionError):
            (folder / "file").unlink()
    (folder / "new").touch()


def load_exporter(file_format, folder):
    """Let Blender load what it needs of an exporter, which another user may not read."""
    first = folder / "first"
    first.mkdir()
    assert bpy.ops.object.pbd_export(format=file_format, filepath=str(first / "flag")) == {"FINISHED"}
    shutil.rmtree(first)


@pytest.mark.parametrize(
    ("file_format", "suffix"),
    [("ALEMBIC", ".abc"), ("USD", ".usdc"), ("USD", ".usdz"), ("GLTF", ".glb"), ("GLTF", ".gltf")],
)
@pytest.mark.parametrize("before", [True, False])
def test_an_export(flag, folder, file_format, suffix, before):
    path = folder / f"flag{suffix}"
    load_exporter(file_format, folder)
    if before:
        path.write_bytes(OLD)
    seen, own = play([flag], 1, 8), scenes.mesh_bytes(flag)
    there = names(folder)
    with read_only(folder), pytest.raises(RuntimeError) as said:
        bpy.ops.object.pbd_export(format=file_format, filepath=str(path))
    assert str(said.value).strip() == f"Error: '{path.name}' could not be written: Permission denied"
    assert names(folder) == there and (not before or path.read_bytes() == OLD)
    assert scenes.mesh_bytes(flag) == own
    go(8)
    assert (shown(flag) == seen[8][0]).all()
    assert bpy.ops.object.pbd_export(format=file_format, filepath=str(path)) == {"FINISHED"}
    assert path.read_bytes() != OLD


@pytest.mark.parametrize(("file_format", "suffix"), [("ALEMBIC", ".abc"), ("USD", ".usdc"), ("GLTF", ".glb")])
def test_an_export_into_a_folder_that_is_yet_to_be_made(flag, folder, file_format, suffix):
    with read_only(folder), pytest.raises(RuntimeError) as said:
        bpy.ops.object.pbd_export(format=file_format, filepath=str(folder / "new" / f"flag{suffix}"))
    assert str(said.value).strip() == f"Error: 'flag{suffix}' could not be written: Permission denied"
    assert names(folder) == []


@pytest.mark.parametrize("before", [True, False])
def test_a_bake_to_a_file(flag, folder, before):
    """A file of the same name that is not ours is there, or the folder of the bake is yet to be made."""
    other, path = folder / "Flag_bake.pc2", folder / ("Flag_2_bake.pc2" if before else "new/Flag_bake.pc2")
    bpy.context.scene.pbd.bake_folder = str(path.parent)
    if before:
        other.write_bytes(OLD)
    play([flag], 1, 8)
    own = scenes.mesh_bytes(flag)
    with read_only(folder), pytest.raises(RuntimeError) as said:
        bpy.ops.object.pbd_bake(mode="MESH_CACHE")
    assert str(said.value).strip() == f"Error: '{path}' could not be written: Permission denied"
    assert not flag.pbd.baked and not flag.modifiers and scenes.mesh_bytes(flag) == own
    assert names(folder) == (["Flag_bake.pc2"] if before else [])
    assert bpy.ops.object.pbd_bake(mode="MESH_CACHE") == {"FINISHED"}
    assert path.is_file() and (not before or other.read_bytes() == OLD)


def test_delete_bake_with_its_file(flag, folder):
    bpy.context.scene.pbd.bake_folder = str(folder)
    bpy.ops.object.pbd_bake(mode="MESH_CACHE")
    path, seen = folder / "Flag_bake.pc2", play([flag], 1, 8)
    with read_only(folder):
        assert bpy.ops.object.pbd_delete_bake(with_files=True) == {"FINISHED"}
    assert path.is_file() and not flag.pbd.baked and not flag.modifiers
    go(8)
    assert abs(shown(flag) - seen[8][0]).max() < 1e-5


@pytest.fixture
def cached(extension, flag, folder):
    """The file of the flag, saved, with its cache on disk."""
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "flag.blend"))
    bpy.context.scene.pbd.use_disk_cache = True
    return extension.bridge("timeline.session")


NOTE = "Frames are kept in memory alone, the disk takes none: Permission denied"


def test_a_disk_cache_that_cannot_begin(cached, flag, folder):
    scene = bpy.context.scene
    with read_only(folder):
        play([flag], 1, 8)
        assert cached.get(scene).disk_note == NOTE
    assert cached.get(scene).last_frame == 8 and cached.get(scene).message == ""
    assert names(folder) == ["flag.blend"]
    bpy.ops.wm.save_mainfile()
    assert cached.get(scene).disk_note == "" and cached.get(scene).disk.files.last == 8


def test_a_disk_cache_that_cannot_go_on(cached, flag, folder):
    """Frames that are there stay, and those that follow are in memory until the file is saved."""
    scene, place = bpy.context.scene, folder / "cache_pbd" / "flag" / "Scene"
    play([flag], 1, 4)
    before = {entry.name: entry.read_bytes() for entry in place.iterdir()}
    with read_only(place):
        seen = play([flag], 5, 8)
        assert cached.get(scene).disk_note == NOTE
    assert {entry.name: entry.read_bytes() for entry in place.iterdir()} == before
    assert cached.get(scene).last_frame == 8 and cached.get(scene).message == ""
    bpy.ops.wm.save_mainfile()
    assert cached.get(scene).disk_note == "" and cached.get(scene).disk.files.last == 8
    bpy.ops.wm.open_mainfile(filepath=str(folder / "flag.blend"))
    go(8)
    assert abs(shown(bpy.data.objects["Flag"]) - seen[8][0]).max() < 1e-6


def test_a_disk_cache_that_cannot_be_deleted(cached, flag, folder):
    place = folder / "cache_pbd" / "flag" / "Scene"
    play([flag], 1, 4)
    before = names(folder)
    with read_only(place, place.parent), pytest.raises(RuntimeError) as said:
        bpy.ops.object.pbd_disk_cache_delete()
    assert "Permission denied" in str(said.value) and len(str(said.value).strip().splitlines()) == 1
    assert names(folder) == before
    assert cached.get(bpy.context.scene).last_frame == 4
