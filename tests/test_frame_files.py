"""Frames on disk: what was appended is read again, and nothing else, whatever happened to the writer or the files."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from helpers.frames_on_disk import POINTS, append, shape, write
from pbd_addon.io import pc2
from pbd_addon.io.frame_files import DamagedError, FrameFiles, copy, delete, plain_name, unpack

ROOT = Path(__file__).resolve().parent.parent


def sound_frames(folder: Path) -> int:
    """How many frames a folder gives; each of them must be exactly what was written."""
    files = FrameFiles.open(folder)
    for frame in range(files.first, files.last + 1):
        try:
            found, rest = files.positions(frame), files.rest(frame)
        except DamagedError:
            return frame - files.first
        for points, count in zip(found, POINTS.values()):
            np.testing.assert_array_equal(points, shape(frame, count))
        assert (rest["v"] == frame).all()
    return files.last - files.first + 1


def test_what_was_appended_is_read(tmp_path):
    write(tmp_path / "deep" / "cache")
    files = FrameFiles.open(tmp_path / "deep" / "cache")
    assert (files.first, files.last, files.about, files.damage) == (3, 6, {"what": "a test"}, "")
    assert sound_frames(files.folder) == 4
    append(files)
    assert sound_frames(files.folder) == 5
    size = sum(path.stat().st_size for path in files.folder.iterdir() if path.name != "index.json")
    assert files.nbytes == size


def test_other_programs_read_the_pc2_files(tmp_path):
    write(tmp_path)
    header, samples = pc2.read(str(tmp_path / "Flag.pc2"))
    assert header == pc2.Header(7, 4, 3.0)
    np.testing.assert_array_equal(samples[2], shape(5, 7))


def test_truncating_takes_frames_away_for_good(tmp_path):
    files = write(tmp_path, 6)
    files.truncate(4)
    assert sound_frames(tmp_path) == 2
    assert pc2.read(str(tmp_path / "Ball.pc2"))[0].samples == 2
    assert sorted(path.name for path in tmp_path.glob("frame_*")) == ["frame_000003.npz", "frame_000004.npz"]
    append(files)
    assert sound_frames(tmp_path) == 3


def test_a_new_run_replaces_the_old_one(tmp_path):
    write(tmp_path, 5)
    (tmp_path / "notes.txt").write_text("the user's")
    write(tmp_path, 2)
    assert sound_frames(tmp_path) == 2
    assert (tmp_path / "notes.txt").exists()


def test_deleting_takes_ours_alone(tmp_path):
    write(tmp_path)
    for name in ("notes.txt", "frame_1.png", "index.json.bak", "mine.pc2"):
        (tmp_path / name).write_text("the user's")
    delete(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "frame_1.png",
        "index.json.bak",
        "mine.pc2",
        "notes.txt",
    ]


def test_of_damaged_frames_goes_what_is_marked_as_ours(tmp_path):
    """Nothing says any more whose the PC2 files are, and whether there was an index of ours."""
    write(tmp_path)
    (tmp_path / "frame_000009.npz").write_bytes(b"PK of the user's")
    (tmp_path / "index.json").write_text("{")
    stays = ["Ball.pc2", "Flag.pc2", "frame_000009.npz", "index.json"]
    assert sorted(delete(tmp_path)) == stays
    assert sorted(path.name for path in tmp_path.iterdir()) == stays


def test_a_copy_is_whole_and_leaves_the_users_files(tmp_path):
    write(tmp_path / "one")
    (tmp_path / "one" / "notes.txt").write_text("the user's")
    copy(tmp_path / "one", tmp_path / "two")
    assert sound_frames(tmp_path / "two") == 4
    assert not (tmp_path / "two" / "notes.txt").exists()


def test_names_that_are_no_file_names(tmp_path):
    bodies = {"Flag": 1, "flag": 1, "a/b": 1, "..": 1, "a:b": 1}
    files = FrameFiles.create(tmp_path / "cache", 1, bodies, {})
    names = [name for name, _count in files.bodies]
    assert len({name.casefold() for name in names}) == 5
    assert all((tmp_path / "cache" / name).is_file() for name in names)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


@pytest.mark.parametrize("sign", ["x", "ü", "漢", "🎈"])
def test_the_longest_names_that_blender_has_are_names_of_files(tmp_path, sign):
    long = sign * (255 // len(sign.encode()))
    FrameFiles.create(tmp_path / plain_name(long), 1, {long: 1, long[:-1]: 1, long[:-2]: 1}, {})
    assert len(list((tmp_path / plain_name(long)).iterdir())) == 4


def of_array(descr: str, shape: tuple[int, ...], numbers: bytes, order: bool = False, spaces: int = 0) -> bytes:
    """An archive of one array, in NumPy's format."""
    says = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}{' ' * spaces}\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(says).to_bytes(2, "little") + says + numbers)
    return packed.getvalue()


@pytest.mark.parametrize("descr", ["|b8", "<b2", "<b1", "<f1", "|f1", "|f8", "|u4"])
def test_types_that_numpy_has_not_are_refused(descr):
    with pytest.raises(ValueError):
        unpack(of_array(descr, (1,), bytes(int(descr[2]))))


def test_a_mask_holds_true_and_false():
    assert unpack(of_array("|b1", (2,), b"\0\1"))["x"].tolist() == [False, True]
    with pytest.raises(ValueError):
        unpack(of_array("|b1", (2,), b"\1\2"))


@pytest.mark.parametrize("order", [False, True])
@pytest.mark.parametrize("spaces", range(4))
def test_arrays_lie_in_memory_as_compiled_code_expects_it(order, spaces):
    numbers = np.arange(6.0).reshape(2, 3)
    found = unpack(of_array("<f8", (2, 3), numbers.tobytes("F" if order else "C"), order, spaces))["x"]
    assert found.flags.aligned and found.flags.c_contiguous
    np.testing.assert_array_equal(found, numbers)


def test_an_index_with_a_long_text_takes_no_memory(tmp_path):
    write(tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    rows = [["x" * 100_000, 1, 1, 1]] + [[1, 1, 1, 1]] * 200
    (tmp_path / "index.json").write_text(json.dumps(index | {"frames": rows}))
    tracemalloc.start()
    try:
        with pytest.raises(DamagedError):
            FrameFiles.open(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 2e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["Flag.pc2", "Ball.pc2", "frame_000005.npz"])
def test_a_file_cut_off_anywhere_gives_the_frames_before(tmp_path, name):
    write(tmp_path)
    whole = (tmp_path / name).read_bytes()
    kept = []
    for length in range(0, len(whole), 5):
        (tmp_path / name).write_bytes(whole[:length])
        kept.append(sound_frames(tmp_path))
        assert FrameFiles.open(tmp_path).damage == f"{4 - kept[-1]} of 4 frames are cut off or missing"
    assert max(kept) < 4
    assert kept == sorted(kept)


def test_an_index_cut_off_anywhere_is_refused(tmp_path):
    write(tmp_path)
    whole = (tmp_path / "index.json").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "index.json").write_bytes(whole[:length])
        with pytest.raises(DamagedError, match="index"):
            FrameFiles.open(tmp_path)


@pytest.mark.parametrize("name", ["Flag.pc2", "Ball.pc2", "frame_000005.npz"])
def test_a_changed_byte_is_noticed(tmp_path, name):
    write(tmp_path)
    whole = (tmp_path / name).read_bytes()
    start = pc2.Header(POINTS.get(name[:4], 0)).offset(2) if name.endswith("pc2") else 0
    for place in range(start, len(whole), 11):
        (tmp_path / name).write_bytes(whole[:place] + bytes([whole[place] ^ 64]) + whole[place + 1 :])
        assert sound_frames(tmp_path) < 4, place


@pytest.mark.parametrize(
    "change",
    [
        {"format": "another"},
        {"version": 4},
        {"bodies": [["Flag.pc2"]]},
        {"first": None},
        {"frames": [[1, "x"]]},
        {"about": 1},
    ],
)
def test_an_index_of_something_else_is_refused(tmp_path, change):
    write(tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    (tmp_path / "index.json").write_text(json.dumps(index | change))
    with pytest.raises(DamagedError):
        FrameFiles.open(tmp_path)


def test_a_frame_that_could_not_be_written_does_not_count(tmp_path):
    files = write(tmp_path)
    (tmp_path / "index.json.new").mkdir()
    with pytest.raises(OSError):
        append(files)
    assert files.last == 6
    assert sound_frames(tmp_path) == 4
    (tmp_path / "index.json.new").rmdir()
    append(files)
    assert sound_frames(tmp_path) == 5


WRITER = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from helpers.frames_on_disk import append, write
files = write(Path(sys.argv[1]), 1)
print("ready", flush=True)
while True:
    append(files)
"""


@pytest.mark.parametrize("milliseconds", [1, 4, 9, 17, 30, 61])
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_writer_leaves_whole_frames(tmp_path, milliseconds):
    program = WRITER.format(path=[str(ROOT), str(ROOT / "tests")])
    writer = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    time.sleep(milliseconds / 1000.0)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    files = FrameFiles.open(tmp_path)
    assert files.damage == ""
    count = sound_frames(tmp_path)
    assert count == files.last - files.first + 1 >= 1
    append(files)
    assert sound_frames(tmp_path) == count + 1
