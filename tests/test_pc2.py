"""PC2 files: the bytes that other programs expect, and nothing half written that is read as whole."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest

from pbd_addon.io import pc2


def samples(count, points, seed=0):
    """Positions (count, points, 3) float32."""
    return np.random.default_rng(seed).normal(size=(count, points, 3)).astype(np.float32)


def test_the_bytes_are_those_of_the_format(tmp_path):
    path = tmp_path / "two.pc2"
    shapes = samples(2, 3)
    assert pc2.write(str(path), 3, shapes, start=5.0) == 2
    raw = path.read_bytes()
    assert raw[:32] == b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 3, 5.0, 1.0, 2)
    assert raw[32:] == shapes.astype("<f4").tobytes() + pc2.OURS
    assert pc2.is_ours(str(path))


def test_what_was_written_is_read(tmp_path):
    path = str(tmp_path / "some.pc2")
    shapes = samples(4, 7)
    pc2.write(path, 7, iter(shapes), start=-2.0, rate=0.5)
    header, found = pc2.read(path)
    assert header == pc2.Header(7, 4, -2.0, 0.5)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, shapes)
    with open(path, "rb") as file:
        np.testing.assert_array_equal(pc2.read_sample(file, pc2.read_header(file), 2), shapes[2])


def test_samples_are_appended_one_by_one():
    file, header = io.BytesIO(), pc2.Header(5)
    pc2.write_header(file, header)
    shapes = samples(3, 5)
    for count, shape in enumerate(shapes, 1):
        header = pc2.append(file, header, shape.astype(float))
        assert pc2.read_header(file) == header == pc2.Header(5, count)
    for number, shape in enumerate(shapes):
        np.testing.assert_array_equal(pc2.read_sample(file, header, number), shape)


def test_a_file_that_ends_too_early_is_never_read(tmp_path):
    path = tmp_path / "cut.pc2"
    pc2.write(str(path), 4, samples(3, 4))
    whole = path.read_bytes()
    for length in range(len(whole) - len(pc2.OURS)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="PC2 file"):
            pc2.read(str(path))


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (b"NOTACACHE2!\0" + struct.pack("<iiffi", 1, 0, 1.0, 1.0, 0), "no PC2 file"),
        (b"POINTCACHE2\0" + struct.pack("<iiffi", 2, 0, 1.0, 1.0, 0), "version 2 is not known"),
        (b"POINTCACHE2\0" + struct.pack("<iiffi", 1, -1, 1.0, 1.0, 1), "cannot be"),
    ],
)
def test_other_files_are_refused(header, sentence):
    with pytest.raises(ValueError, match=sentence):
        pc2.read_header(io.BytesIO(header))


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "kept.pc2"
    pc2.write(str(path), 2, samples(2, 2))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"positions must have shape \(2, 3\), not \(3, 3\)"):
        pc2.write(str(path), 2, [np.zeros((2, 3)), np.zeros((3, 3))])
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.pc2"]


@pytest.mark.parametrize("sample", [-1, 2])
def test_samples_that_are_not_there_are_refused(sample):
    file, header = io.BytesIO(), pc2.Header(1)
    pc2.write_header(file, header)
    for shape in samples(2, 1):
        header = pc2.append(file, header, shape)
    with pytest.raises(ValueError, match=f"no sample {sample}, only 2"):
        pc2.read_sample(file, header, sample)
