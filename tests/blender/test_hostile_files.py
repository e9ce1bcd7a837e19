"""Files from strangers: whatever lies in a cache folder or stands in a .blend, only files of ours are touched.

Each attack is played with the user's own files beside it, whose bytes are compared afterwards. What is read is refused
in one sentence, with no traceback, in little time and memory.
"""

import copy
import io
import json
import os
import random
import shutil
import sys
import time
import tracemalloc
import zipfile
import zlib

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play

pytestmark = pytest.mark.usefixtures("few_substeps")

LAST = 4
INDEX, STATE, BODY = "index.json", "frame_{:06d}.npz", "Flag.pc2"
RANDOM = pytest.mark.parametrize("changes", [range(40), pytest.param(range(40, 200), marks=pytest.mark.slow)])
"""Random changes of each kind; in the oldest Blender only the first of them."""

POSIX = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")


@pytest.fixture(scope="module")
def template(extension, tmp_path_factory):
    """A folder with a .blend and its cache of 4 frames: cloth on a moving collider, in the field of a mesh."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene, folder = bpy.context.scene, tmp_path_factory.mktemp("template")
    scene.pbd.substeps, scene.pbd.use_disk_cache, scene.pbd.wind_speed = 5, True, 3.0
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    obj.modifiers.new("Wave", "WAVE").height = 0.01
    ground = scenes.add_grid("Ground", pbd=False)
    ground.location.z, ground.pbd_collider.enabled = -0.3, True
    ground.modifiers.new("Wave", "WAVE").height = 0.05
    scenes.animate_location(ground, 1, 8, (0.0, 0.0, 0.1))
    magnet = scenes.add_grid("Magnet", pbd=False)
    magnet.location.z = 1.0
    bpy.ops.object.forcefield_toggle()
    magnet.field.type, magnet.field.shape, magnet.field.strength = "FORCE", "SURFACE", 1.0
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "flag.blend"))
    play([obj], 1, LAST)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True)
    assert (folder / "cache_pbd/flag/Scene" / STATE.format(LAST)).is_file()
    return folder


@pytest.fixture
def place(template, tmp_path):
    """A copy of it to be attacked: the folder of the cache."""
    shutil.copytree(template, tmp_path / "project")
    return tmp_path / "project" / "cache_pbd" / "flag" / "Scene"


@pytest.fixture
def users(place, tmp_path):
    """The user's own files, elsewhere and in the folder of the cache, some of which look like ours."""
    folder = tmp_path / "users"
    folder.mkdir()
    for name in (INDEX, BODY, STATE.format(2)):
        shutil.copy(place / name, folder / name)
    (folder / "thesis.txt").write_text("years of work")
    (place / "thesis.txt").write_text("more of it")
    (place.parent / "other.pc2").write_bytes((place / BODY).read_bytes())
    return folder


def bytes_of(folder, but=()):
    """All files below a folder with their bytes, but for some below others; links are not followed."""
    found = {}
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(at, name) not in map(str, but)]
        names = [name for name in names if os.path.join(at, name) not in map(str, but)]
        found |= {os.path.join(at, name): None for name in (*names, *folders)}
        for name in names:
            path = os.path.join(at, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    found[path] = file.read()
    return found


def use(extension, place):
    """Open the file, play it, change a setting and play on, save, load the cache, bake, and delete all of it."""
    session = extension.bridge("timeline.session")
    bpy.ops.wm.open_mainfile(filepath=str(place.parents[2] / "flag.blend"))
    note = session.get(bpy.context.scene).disk_note
    obj = bpy.data.objects["Flag"]
    play([obj], 1, LAST + 2)
    go(2)
    obj.pbd.drag = 3.0
    play([obj], 3, LAST + 2)
    assert session.get(bpy.context.scene).message == ""
    assert session.get(bpy.context.scene).last_frame == LAST + 2
    bpy.ops.wm.save_mainfile()
    for operator in (bpy.ops.object.pbd_disk_cache_load, bpy.ops.object.pbd_disk_cache_delete):
        if operator.poll():
            try:
                operator()
            except RuntimeError as error:
                assert len(str(error).strip().splitlines()) == 1
    return note


def now_and_then(some):
    """Whether to play what was loaded, which takes longer: one time in ten."""
    return some.random() < 0.1


def change_index(place, change):
    """Write the index of a cache anew, changed by a function, with the mark of ours."""
    index = json.loads((place / INDEX).read_text())
    change(index)
    (place / INDEX).write_text(json.dumps(index, separators=(",", ":")))


def link(there):
    """An attack: this file of the cache leads to the user's file of that name."""

    def attack(place, users):
        (place / there[0]).unlink(missing_ok=True)
        (place / there[0]).symlink_to(users / there[1])

    return attack


def name_in_index(name):
    def attack(place, users):
        there = name.format(users=users.as_posix())
        change_index(place, lambda index: index["bodies"][0].__setitem__(0, there))

    return attack


def linked_folder(levels):
    """An attack: the folder of the cache, or one above it, is a link to one of the user's with the same files."""

    def attack(place, users):
        folder = (place, *place.parents)[levels]
        shutil.move(folder, users / "theirs")
        folder.symlink_to(users / "theirs", target_is_directory=True)

    return attack


def hard_link(place, users):
    (place / BODY).unlink()
    os.link(users / BODY, place / BODY)


def pipe(place, users):
    (place / INDEX).unlink()
    os.mkfifo(place / INDEX)


LINKS = {
    "body": link((BODY, BODY)),
    "state": link((STATE.format(2), STATE.format(2))),
    "next state": link((STATE.format(LAST + 1), "thesis.txt")),
    "index": link((INDEX, INDEX)),
    "unfinished index": link((f"{INDEX}.new", "thesis.txt")),
    "unfinished state": link((f"{STATE.format(LAST + 1)}.new", "thesis.txt")),
    "to nowhere": link((f"{STATE.format(LAST + 1)}.new", "yet to be made")),
    "folder": linked_folder(0),
    "folder of the file": linked_folder(1),
    "folder of all files": linked_folder(2),
    "hard link": hard_link,
    "pipe": pipe,
}
NAMES = {
    "absolute": name_in_index("{users}/" + BODY),
    "above": name_in_index("../../../../users/" + BODY),
    "above on Windows": name_in_index("..\\..\\..\\..\\users\\" + BODY),
    "beside": name_in_index("../other.pc2"),
    "the user's in it": name_in_index("thesis.txt"),
    "a stream of Windows": name_in_index("thesis.txt:Flag.pc2"),
    "a device of Windows": name_in_index("CON"),
}


@pytest.mark.parametrize("attack", [*NAMES, *(pytest.param(name, marks=POSIX) for name in LINKS)])
def test_no_file_of_the_users_is_touched(extension, place, users, capfd, attack):
    (NAMES | LINKS)[attack](place, users)
    project = place.parents[2]
    ours = [place, project / "flag.blend", project / "flag.blend1"]
    before, own = bytes_of(project.parent, but=ours), (place / "thesis.txt").read_text()
    note = use(extension, place)
    after = bytes_of(project.parent, but=ours)
    assert (place / "thesis.txt").read_text() == own
    assert after == before
    assert "Traceback" not in "".join(capfd.readouterr())
    if attack in NAMES:
        assert note == "The cache on disk is damaged: index.json.bodies[0][0] cannot be: delete or restore it"
    elif "folder" in attack or attack == "index":
        what = "file" if attack == "index" else "folder"
        assert note.startswith("The cache on disk cannot be read: ")
        assert note.endswith(f" is a link, put a {what} in its place")


# ------------------------------------------------------------------------------------------ bakes


@pytest.fixture
def baked(extension, tmp_path):
    """A flag whose bake plays a file, in a saved .blend."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.context.scene.frame_end = 3
    obj = scenes.add_grid()
    obj.select_set(True)
    bpy.ops.object.pbd_bake(mode="MESH_CACHE")
    return obj


@pytest.mark.parametrize("kind", ["text", "PC2 of others", pytest.param("link", marks=POSIX), "folder", "longer"])
def test_delete_bake_deletes_no_file_that_a_bake_has_not_written(extension, baked, tmp_path, kind):
    ours = tmp_path / "cache_pbd" / "scene_Flag_bake.pc2"
    path = tmp_path / "theirs.pc2"
    if kind == "text":
        path.write_text("years of work")
    elif kind == "link":
        path.symlink_to(ours)
    elif kind == "folder":
        path.mkdir()
    else:  # As exporters of other programs write it, or with more behind our mark.
        path.write_bytes(ours.read_bytes()[:-21] if kind == "PC2 of others" else ours.read_bytes() + b"more")
    baked.modifiers["PBD Bake"].filepath = str(path)
    before = bytes_of(tmp_path)
    assert bpy.ops.object.pbd_delete_bake(with_files=True) == {"FINISHED"}
    assert not baked.pbd.baked and not baked.modifiers
    assert bytes_of(tmp_path) == before


def test_no_file_says_that_its_bake_is_deleted_from_the_disk_too(extension, baked):
    """It is asked each time, with the path, and Blender does not remember the answer."""
    operator = extension.module("operators.bake").OBJECT_OT_pbd_delete_bake
    assert not hasattr(baked.pbd, "delete_file")
    assert operator.files(bpy.context) == [bpy.path.abspath(baked.modifiers["PBD Bake"].filepath)]
    path = operator.files(bpy.context)[0]
    assert bpy.ops.object.pbd_delete_bake() == {"FINISHED"}
    assert os.path.isfile(path)
    properties = bpy.ops.object.pbd_delete_bake.get_rna_type().properties
    assert properties["with_files"].is_skip_save and not properties["with_files"].default


@POSIX
def test_a_bake_is_not_written_through_a_link(extension, tmp_path):
    (tmp_path / "users").mkdir()
    thesis = tmp_path / "users" / "thesis.txt"
    thesis.write_text("years of work")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.context.scene.frame_end = 3
    obj, folder = scenes.add_grid(), tmp_path / "cache_pbd"
    obj.select_set(True)
    folder.mkdir()
    (folder / "scene_Flag_bake.pc2").symlink_to(thesis)
    (folder / "scene_Flag_2_bake.pc2.unfinished").symlink_to(thesis)
    with pytest.raises(RuntimeError, match=r"'scene_Flag_2_bake\.pc2\.unfinished' is a link, put a file in its place"):
        bpy.ops.object.pbd_bake(mode="MESH_CACHE")
    (folder / "scene_Flag_2_bake.pc2.unfinished").unlink()
    assert bpy.ops.object.pbd_bake(mode="MESH_CACHE") == {"FINISHED"}
    assert obj.modifiers["PBD Bake"].filepath == "//cache_pbd/scene_Flag_2_bake.pc2"
    assert bpy.ops.object.pbd_delete_bake() == {"FINISHED"}
    shutil.rmtree(folder)
    folder.symlink_to(tmp_path / "users", target_is_directory=True)
    with pytest.raises(RuntimeError, match="'cache_pbd' is a link, put a folder in its place"):
        bpy.ops.object.pbd_bake(mode="MESH_CACHE")
    for path in (tmp_path / "scene.unfinished.usdc", tmp_path / "Textures.unfinished.glb"):
        path.symlink_to(thesis)
        with pytest.raises(RuntimeError, match="is in the way, move it away"):
            bpy.ops.object.pbd_export(filepath=str(path).replace(".unfinished", ""),
                                      format="USD" if path.suffix == ".usdc" else "GLTF")  # fmt: skip
    assert bytes_of(tmp_path / "users") == {str(thesis): b"years of work"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_folders_whose_names_are_no_text(extension, tmp_path, capfd):
    """Latin 1, for example. Blender's own texts take no such letters."""
    folder = str(tmp_path / "d\udce9j\udce0")
    os.mkdir(folder)
    bpy.ops.wm.save_as_mainfile(filepath=f"{folder}/vu\udce9.blend")
    bpy.context.scene.frame_end = 3
    obj = scenes.add_grid()
    obj.select_set(True)
    assert bpy.ops.object.pbd_bake(mode="MESH_CACHE") == {"FINISHED"}
    assert obj.pbd.bake_file == obj.modifiers["PBD Bake"].filepath == "//cache_pbd/vu\udce9_Flag_bake.pc2"
    with open(extension.bridge("baking.mesh_cache").absolute(obj.pbd.bake_file), "ab") as file:
        file.write(b"more")
    assert bpy.ops.object.pbd_delete_bake(with_files=True) == {"FINISHED"}
    bpy.context.scene.pbd.bake_folder = f"{folder}/vu\udce9.blend/x"
    with pytest.raises(RuntimeError, match="could not be written"):
        bpy.ops.object.pbd_bake(mode="MESH_CACHE")
    assert "Traceback" not in "".join(capfd.readouterr())


@POSIX
def test_textures_of_an_export_are_not_written_through_a_link(extension, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.context.scene.frame_end = 2
    scenes.add_grid().select_set(True)
    (tmp_path / "users").mkdir()
    (tmp_path / "textures").symlink_to(tmp_path / "users", target_is_directory=True)
    with pytest.raises(RuntimeError, match="'textures' is a link, put a folder in its place"):
        bpy.ops.object.pbd_export(filepath=str(tmp_path / "flag.usdc"), format="USD")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scene.blend", "textures", "users"]


# ------------------------------------------------------------------------------------------ what is read


@pytest.fixture
def opened(extension, place):
    """The .blend is open. A function that loads the cache as it is now and shows two frames; returns why not."""
    session = extension.bridge("timeline.session")
    bpy.ops.wm.open_mainfile(filepath=str(place.parents[2] / "flag.blend"))
    bpy.context.scene.pbd.substeps = 5

    def attempt(plays=True):
        scene = bpy.context.scene
        why = session.load_from_disk(scene)
        if not why and plays:
            scene.pbd.use_disk_cache = False  # so that what was attacked stays
            go(2), go(LAST)
            assert np.isfinite(scenes.shown(bpy.data.objects["Flag"])).all()
            assert session.get(scene).message == ""
            scene.pbd.use_disk_cache = True
        session.drop(scene)
        assert "\n" not in why
        return why

    assert attempt() == ""
    return attempt


def set_state(place, frame, arrays, raw=None):
    """Replace the data of a frame, and make the index say so."""
    if raw is None:
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        raw = packed.getvalue()
    (place / STATE.format(frame)).write_bytes(raw)

    def change(index):
        index["frames"][frame - 1][-2:] = [zlib.crc32(raw), len(raw)]

    change_index(place, change)


def state(place, frame):
    with np.load(place / STATE.format(frame)) as arrays:
        return dict(arrays)


WRONG = [
    *(None, True, False, -1, 0, 3, 10**9, 2**63, 10**400, 1.5, -1e308, float("nan"), float("inf")),
    *("", "0", "9999999", "\ud800", "a\0b", "../x", "x" * 5000),
    *([], [[]], [None], {}, {"": 0}, [0] * 7, {"0": {"1": [2]}}),
]
"""Valid JSON that nobody expects."""


def places_in(data, path=()):
    """Paths to all values in JSON data."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    yield path
    for key, value in inside:
        yield from places_in(value, (*path, key))


def put(data, path, value):
    """Data in which one value is another."""
    if not path:
        return value
    changed = copy.deepcopy(data)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


@RANDOM
def test_an_index_may_say_anything(place, opened, capfd, changes):
    """Each of its values is replaced by each of a few, which may be right by chance; then some at random."""
    whole = json.loads((place / INDEX).read_text())
    some = random.Random(100 + changes.start)
    paths = [path for path in places_in(whole) if len(path) < 4]
    said = set()
    tried = [(path, value) for path in paths if len(path) < 3 for value in some.sample(WRONG, 1)]
    tried += [(some.choice(paths), some.choice(WRONG)) for _ in changes]
    for path, value in tried:
        (place / INDEX).write_text(json.dumps(put(whole, path, value)))
        said.add(opened(now_and_then(some)))
    for raw in (b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"", b"null", b"0" * 5000):
        (place / INDEX).write_bytes(raw)
        said.add(opened())
    assert "The cache on disk is damaged: index.json cannot be read: delete or restore it" in said
    assert len(said) > 20
    assert "Traceback" not in "".join(capfd.readouterr())


@RANDOM
def test_what_a_frame_says_may_be_anything(place, opened, capfd, changes):
    arrays, whole = state(place, 2), {name: (place / name).read_bytes() for name in (INDEX, STATE.format(2))}
    note = json.loads(arrays["note"].tobytes())
    some, paths = random.Random(200 + changes.start), list(places_in(note))
    for _ in changes:
        wrong = json.dumps(put(note, some.choice(paths), some.choice(WRONG))).encode()
        set_state(place, 2, arrays | {"note": np.frombuffer(wrong, np.uint8)})
        opened(now_and_then(some))
    for wrong in (b"[" * 100_000, b"", b"\xff"):
        set_state(place, 2, arrays | {"note": np.frombuffer(wrong, np.uint8)})
        assert opened() == ""
    for name, raw in whole.items():
        (place / name).write_bytes(raw)
    assert "Traceback" not in "".join(capfd.readouterr())


def other_array(some, array):
    """An array of another shape, type or range."""
    kind = some.randrange(9)
    if kind == 0:
        return array[..., :-1] if array.ndim and array.shape[-1] else np.zeros(7, array.dtype)
    if kind == 1:
        return np.zeros(some.choice([(0,), (1,), (3, 3), (2, 2, 2), ()]), array.dtype)
    if kind == 2:
        return array.astype(
            some.choice([np.int8, np.int64, np.uint64, np.float16, np.complex128, "S3", "datetime64[s]"])
        )
    changed = np.array(array, copy=True)
    if not changed.size or kind == 3:
        return np.concatenate([np.atleast_1d(changed)] * 2)
    which = some.randrange(changed.size)
    extreme = [np.nan, np.inf, -1e300, 1e30, -1.0, 1e9] if changed.dtype.kind == "f" else [-1, 127, -128, 2**31 - 1]
    with np.errstate(all="ignore"):
        changed.flat[which] = np.array(some.choice(extreme)).astype(changed.dtype)
    return changed if kind < 7 else np.full_like(changed, changed.flat[which])


@RANDOM
def test_arrays_of_a_frame_may_be_anything(place, opened, capfd, changes):
    """The first, the last and one in between, from which the simulation goes on as well."""
    some, whole = random.Random(300 + changes.start), {name: (place / name).read_bytes() for name in os.listdir(place)}
    for _ in changes:
        frame = some.choice([1, 3, LAST])
        arrays = state(place, frame)
        name = some.choice(sorted(arrays))
        changed = dict(arrays)
        if some.random() < 0.1:
            del changed[name]
        else:
            with np.errstate(all="ignore"):
                changed[name] = other_array(some, arrays[name])
        set_state(place, frame, changed)
        opened(now_and_then(some))
        for name in (STATE.format(frame), INDEX):
            (place / name).write_bytes(whole[name])
    assert "Traceback" not in "".join(capfd.readouterr())


def test_faces_whose_starts_overflow_are_refused(place, opened):
    """Each start seems to lie after the one before, in 32 bits."""
    arrays = state(place, 1)
    name = next(name for name in arrays if name.startswith("starts_"))
    ends = np.array([0, 2 * 10**9, -2 * 10**9, len(arrays[name.replace("starts", "corners")])], np.int32)
    set_state(place, 1, arrays | {name: ends})
    assert opened() == f"The cache on disk is damaged: '{name}' cannot be: delete or restore it"


def test_the_scene_is_no_member_of_itself(place, opened, capfd):
    shutil.copy(place / BODY, place / "Scene.pc2")

    def change(index):
        index["bodies"].append(["Scene.pc2", index["bodies"][0][1]])
        for row in index["frames"]:
            row.insert(0, row[0])
        about = index["about"]
        about["members"].append(str(about["names"].index("")))
        for name in ("fingerprints", "shapes", "painted"):
            about[name] *= 2

    change_index(place, change)
    assert opened() == "The cache on disk is damaged: index.json.about.members cannot be: delete or restore it"
    assert "Traceback" not in "".join(capfd.readouterr())


def test_numbers_of_another_size_become_those_that_kernels_know(extension, place, opened):
    arrays = state(place, LAST)
    small = {name: array.astype(np.float32) for name, array in arrays.items() if array.dtype == np.float64}
    set_state(place, LAST, arrays | small)
    assert opened(plays=False) == ""
    session, scene = extension.bridge("timeline.session"), bpy.context.scene
    session.load_from_disk(scene)
    held = session.get(scene).scene_sim.simulation.frames.state(LAST)
    large = held.x, held.v, held.memory["tethers"]["strain"], held.memory["air"]["past"]
    assert small and all(array.dtype == np.float64 for array in large)
    session.drop(scene)


def test_a_collider_that_is_too_far_away_is_refused(place, opened, capfd):
    """Its faces fit those of the first frame, so that no new one is made of it."""
    arrays = state(place, LAST)
    name = next(name for name in arrays if name.startswith("points_"))
    set_state(place, LAST, arrays | {name: np.full_like(arrays[name], 1e38)})
    assert "a surface is too far away" in opened()
    assert "Warning" not in "".join(capfd.readouterr())


@RANDOM
def test_archives_may_be_anything(place, opened, capfd, changes):
    """Bytes changed at random, and files that unpack to much more than they are: refused before they are unpacked."""
    some, raw = random.Random(400 + changes.start), (place / STATE.format(2)).read_bytes()
    for _ in changes:
        changed = bytearray(raw)
        for _ in range(some.randrange(1, 9)):
            at = some.choice([some.randrange(len(raw)), some.randrange(len(raw) - 3000, len(raw)), some.randrange(200)])
            changed[at] = some.randrange(256)
        set_state(place, 2, {}, bytes(changed[: some.choice([len(raw), len(raw), some.randrange(len(raw))])]))
        opened(now_and_then(some))
    assert "Traceback" not in "".join(capfd.readouterr())


def bomb(members, size, compression=zipfile.ZIP_DEFLATED):
    """An archive of a few MB that holds arrays of `members` times `size` bytes."""
    packed = io.BytesIO()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (size // 8,)})
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for number in range(members):
            with archive.open(f"x{number}.npy", "w", force_zip64=True) as file:
                file.write(header.getvalue())
                for _ in range(size >> 20):
                    file.write(bytes(1 << 20))
    return packed.getvalue()


def claims(shape):
    """An archive with an array that says it is much larger than it is."""
    packed, header = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x.npy", header.getvalue() + bytes(80))
    return packed.getvalue()


def measured(attempt):
    """The processor time [s] and the most memory [bytes] of a call."""
    began = time.process_time()
    attempt()
    took = time.process_time() - began
    tracemalloc.start()
    try:
        attempt()
        return took, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


MANY = {
    "packed": lambda: bomb(1, 1 << 29),
    "claimed": lambda: claims((1 << 40,)),
    "claimed in turn": lambda: claims((1 << 32, 1 << 32, 0, 7)),
    "many arrays": lambda: bomb(40_000, 0, zipfile.ZIP_STORED),
}


@pytest.mark.parametrize("kind", MANY)
def test_a_small_file_takes_no_more_than_its_size(place, opened, kind):
    raw = MANY[kind]()
    set_state(place, 2, {}, raw)
    seconds, most = measured(opened)
    assert seconds < 2.0 and most < 60e6


@pytest.mark.parametrize("rows", [100_000, 1_000_000])
def test_an_index_of_very_many_frames_is_quickly_read_or_refused(place, opened, rows):
    change_index(place, lambda index: index.update(frames=index["frames"] + [index["frames"][-1]] * rows))
    seconds, most = measured(opened)
    assert seconds < 1.5 and most < 200e6


def test_scenes_whose_names_look_alike_have_caches_of_their_own(extension, tmp_path):
    folder_of, scene = extension.bridge("timeline.disk_cache").folder_of, bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    names = ["A?B", "A*B", "A_B", "a_b", "CON", "con", "..", ".", " x", "x", "x.", "NUL.txt", "_", "ü", "Ü", "🎈"]
    folders = set()
    for name in names:
        made = bpy.data.scenes.new(name)
        assert made.name == name
    for made in bpy.data.scenes:
        folder = folder_of(made)
        assert os.path.dirname(folder) == str(tmp_path / "cache_pbd" / "flag")
        os.makedirs(folder)
        folders.add(os.path.basename(folder).casefold())
    assert len(folders) == len(names) + 1 and folder_of(scene).endswith("Scene")


def test_the_name_of_a_file_does_not_lead_out_of_the_folder(extension, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "...blend"))
    folder = extension.bridge("timeline.disk_cache").folder_of(bpy.context.scene)
    assert os.path.dirname(os.path.dirname(os.path.normpath(folder))) == str(tmp_path / "cache_pbd")
