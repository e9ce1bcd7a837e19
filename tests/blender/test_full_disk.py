"""A disk that is full: a sentence, no half file that is read as whole, and the old file stays.

A limit on the size of files, which Linux and macOS have, stands for the full disk: writing fails for real.
"""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.folders import OLD, files_of_at_most, names
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

pytest.importorskip("resource")


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


def paint(obj):
    """Give an object an image, which is exported beside or with it."""
    material = bpy.data.materials.new("Cloth")
    if bpy.app.version < (5, 0, 0):  # Later it has them anyway, and it is deprecated to say so.
        material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    texture = nodes.new("ShaderNodeTexImage")
    texture.image = bpy.data.images.new("Weave", 16, 16)
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    obj.data.materials.append(material)
    if not obj.data.uv_layers:
        obj.data.uv_layers.new()


PARTS = {".gltf": ["Weave.png", "flag.bin", "flag.gltf"], ".usdz": ["flag.usdz"]}
"""The files of an export, by the extension of the one that was asked for."""


@pytest.mark.parametrize(
    ("file_format", "extension_of", "size"),
    [("USD", ".usdz", 500), ("USD", ".usdz", 0.98), *(("GLTF", ".gltf", size) for size in (500, 10_000, 60_000, 0.98))],
)
def test_an_export_of_parts_that_does_not_fit(flag, tmp_path, file_format, extension_of, size):
    """At a share of its size the largest file alone does not fit, after others were written whole."""
    path = tmp_path / f"flag{extension_of}"
    paint(flag)
    play([flag], 1, 8)
    export = {"format": file_format, "filepath": str(path)}
    if size < 1:
        assert bpy.ops.object.pbd_export(**export) == {"FINISHED"}
        size = int(size * max(entry.stat().st_size for entry in tmp_path.iterdir()))
    for name in PARTS[extension_of]:
        (tmp_path / name).write_bytes(OLD)
    with files_of_at_most(size), pytest.raises(RuntimeError, match=f"'{path.name}' could not be written: ") as said:
        bpy.ops.object.pbd_export(**export)
    assert len(str(said.value).strip().splitlines()) == 1 and "Traceback" not in str(said.value)
    assert names(tmp_path) == PARTS[extension_of]
    assert all((tmp_path / name).read_bytes() == OLD for name in PARTS[extension_of])
    assert bpy.ops.object.pbd_export(**export) == {"FINISHED"}
    assert names(tmp_path) == PARTS[extension_of]
    assert all((tmp_path / name).read_bytes() != OLD for name in PARTS[extension_of])


@pytest.mark.parametrize("blocked", ["flag.gltf", "flag.bin", "Weave.png"])
def test_a_part_that_cannot_be_replaced_takes_none_of_the_others(flag, tmp_path, blocked):
    """A folder is in the way of one of them."""
    path = tmp_path / "flag.gltf"
    paint(flag)
    for name in PARTS[".gltf"]:
        (tmp_path / name).mkdir() if name == blocked else (tmp_path / name).write_bytes(OLD)
    (tmp_path / blocked / "mine").write_bytes(OLD)
    with pytest.raises(RuntimeError, match=r"'flag\.gltf' could not be written: "):
        bpy.ops.object.pbd_export(format="GLTF", filepath=str(path))
    files = [entry for entry in tmp_path.rglob("*") if entry.is_file()]
    assert len(files) == 3 and all(file.read_bytes() == OLD for file in files)


@pytest.mark.parametrize("blocked", ["flag.bin", "Weave.png"])
def test_of_an_export_that_fails_nothing_is_left(flag, tmp_path, blocked):
    paint(flag)
    (tmp_path / blocked).mkdir()
    with pytest.raises(RuntimeError, match=r"'flag\.gltf' could not be written: "):
        bpy.ops.object.pbd_export(format="GLTF", filepath=str(tmp_path / "flag.gltf"))
    assert names(tmp_path) == [blocked]


def test_an_export_asks_for_room_first(extension, flag, tmp_path):
    """Alembic's exporter ends Blender when the disk is full, so that it must not begin."""
    check, frames = extension.bridge("baking.export").check_room, 10**12
    with pytest.raises(extension.bridge("errors").PBDError, match=r"'flag.abc' may take \d+\.0 MB, and the disk has"):
        check(str(tmp_path / "flag.abc"), [flag], frames)
    check(str(tmp_path / "flag.abc"), [flag], 8)


@pytest.mark.parametrize("file_format", ["ALEMBIC", "USD"])
def test_an_export_without_room_does_not_begin(extension, flag, tmp_path, monkeypatch, file_format):
    monkeypatch.setattr(extension.bridge("baking.export"), "CORNER_BYTES", 10**15)
    path = tmp_path / ("flag.abc" if file_format == "ALEMBIC" else "flag.usdc")
    path.write_bytes(OLD)
    with pytest.raises(RuntimeError, match=f"'{path.name}' may take"):
        bpy.ops.object.pbd_export(format=file_format, filepath=str(path))
    assert path.read_bytes() == OLD
    assert names(tmp_path) == [path.name]


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
    session, scene = extension.bridge("timeline.session"), bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    scene.pbd.use_disk_cache = True
    scene.frame_end = 14
    with files_of_at_most(21 * 20 * 20 * 6):  # Ten samples and a half; the state of a frame takes six.
        seen = play([flag], 1, 14)
    note = session.get(scene).disk_note
    assert note == "Frames are kept in memory alone, the disk takes none: File too large"
    assert session.get(scene).last_frame == 14
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "flag.blend"), load_ui=False)
    scene = bpy.context.scene
    scene.pbd.use_disk_cache, scene.frame_end = True, 14
    bpy.ops.object.pbd_disk_cache_load()
    assert (session.get(scene).first_frame, session.get(scene).last_frame) == (1, 10)
    for frame in range(1, 15):
        go(frame)
        assert np.array_equal(shown(bpy.data.objects["Flag"]), seen[frame][0]), frame
    assert session.get(scene).disk_note == "" and session.get(scene).disk.files.last == 14


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
