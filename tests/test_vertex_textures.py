"""Vertex animation textures: where pixels are, how exact they are, and that their files are what they say."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from pbd_addon.io import vertex_textures
from pbd_addon.io.vertex_textures import ENGINES, STEPS


@pytest.fixture
def deltas():
    """Three frames of more vertices than fit into a row, in meters."""
    return np.random.default_rng(5).uniform(-0.7, 1.9, (3, 20_001, 3)).astype(np.float32)


def test_every_vertex_has_a_pixel_of_its_own(deltas):
    places = vertex_textures.layout(20_001, 3)
    assert (places.width, places.rows, places.height) == (6667, 3, 9)
    picture = vertex_textures.pixels(deltas, places)
    assert np.array_equal(vertex_textures.values(picture, places), deltas)
    u, v = places.coordinates().astype(np.float64).T
    assert len(set(zip(u.tolist(), v.tolist(), strict=True))) == 20_001
    for frame in range(3):
        row = ((1.0 - v + frame * places.rows / places.height) * places.height).astype(int)
        assert np.array_equal(picture[row, (u * places.width).astype(int)], deltas[frame])


def test_a_png_is_off_by_half_a_step_at_most(deltas):
    places = vertex_textures.layout(20_001, 3)
    low, size = vertex_textures.bounds(deltas)
    file = vertex_textures.png(vertex_textures.pixels(vertex_textures.quantized(deltas, low, size), places))
    width, height = struct.unpack(">II", file[16:24])
    at, data = 8, b""
    while at < len(file):
        (count,), kind = struct.unpack(">I", file[at : at + 4]), file[at + 4 : at + 8]
        content = file[at + 8 : at + 8 + count]
        assert zlib.crc32(kind + content) == struct.unpack(">I", file[at + 8 + count : at + 12 + count])[0]
        data += content if kind == b"IDAT" else b""
        at += 12 + count
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 6 * width)[:, 1:]
    read = vertex_textures.values(np.ascontiguousarray(lines).view(">u2").reshape(height, width, 3), places)
    off = np.abs(low + read / STEPS * size - deltas)
    assert off.max() <= 0.5001 * size.max() / STEPS


def test_an_exr_holds_the_very_numbers(deltas):
    places = vertex_textures.layout(20_001, 3)
    file = vertex_textures.exr(vertex_textures.pixels(deltas, places))
    start = len(file) - 9 * (8 + 12 * 6667)
    assert struct.unpack("<Q", file[start - 9 * 8 : start - 8 * 8]) == (start,)
    lines = np.frombuffer(file[start:], np.dtype([("y", "<i4"), ("size", "<i4"), ("data", "<f4", (3, 6667))]))
    assert lines["y"].tolist() == list(range(9))
    picture = np.swapaxes(lines["data"], 1, 2)[:, :, ::-1]
    assert np.array_equal(vertex_textures.values(picture, places), deltas)


def test_a_still_axis_counts_as_one_meter():
    flat = np.zeros((2, 3, 3), np.float32)
    low, size = vertex_textures.bounds(flat)
    assert not low.any() and (size == 1.0).all() and not vertex_textures.quantized(flat, low, size).any()


@pytest.mark.parametrize(
    ("vertices", "frames", "sentence"),
    [
        (8193, 4097, "take a texture of 4097 x 8194 pixels, and 8192 is the most: export 4096 frames at most"),
        (10, 8193, "take a texture of 10 x 8193 pixels, and 8192 is the most: export 8192 frames at most"),
    ],
)
def test_too_large(vertices, frames, sentence):
    with pytest.raises(ValueError, match=sentence):
        vertex_textures.layout(vertices, frames)


def test_the_axes_of_engines_are_rotations_or_mirrorings_times_their_unit():
    for axes in ENGINES.values():
        matrix = np.array(axes.matrix) * axes.unit
        assert np.array_equal(matrix @ matrix.T, np.eye(3))
        names = axes.rows.split(", ")
        for row, name in zip(matrix, names, strict=True):
            assert row["xyz".index(name[-1])] == (-1.0 if name[0] == "-" else 1.0)
