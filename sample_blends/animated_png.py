"""Animated PNG: a short film that any browser plays, written with NumPy and zlib.

All frames share a palette; each one after the first holds only the rectangle in which something changed, and in it
what stays is transparent. See the PNG specification, third edition, for the chunks.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

COLORS = 224
"""Of the palette, one of them transparent: the smooth backgrounds of the samples show no bands from about 100 on."""

UNSEEN = 4.0 / 255.0
"""A pixel whose channels change by less stays as it is: what denoised pictures flicker by, and eyes do not see."""

ROUNDS = 12
"""Of k-means; more change less than a level of 255."""


def write(path: Path, frames: Sequence[np.ndarray], delay: float) -> Path:
    """Save frames as an animated PNG that repeats for ever; returns the path.

    Args:
        path: File.
        frames: (height, width, 3 or more) float in [0, 1] each, first row at the top.
        delay: Of each frame [s].
    """
    steady = [np.asarray(frames[0], float)[..., :3]]
    for frame in frames[1:]:
        new = np.asarray(frame, float)[..., :3]
        still = (np.abs(new - steady[-1]) < UNSEEN).all(axis=2, keepdims=True)
        steady.append(np.where(still, steady[-1], new))
    palette = palette_of(np.stack(steady))
    indices = [nearest(frame, palette) for frame in steady]
    height, width = indices[0].shape
    transparent = len(palette)
    colors = np.rint(255.0 * np.vstack([palette, np.zeros((1, 3))])).astype(np.uint8)
    found = [
        b"\x89PNG\r\n\x1a\n",
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        chunk(b"acTL", struct.pack(">II", len(indices), 0)),
        chunk(b"PLTE", colors.tobytes()),
        chunk(b"tRNS", bytes([255] * transparent + [0])),
    ]
    number = 0
    for k, index in enumerate(indices):
        changed = index != indices[k - 1] if k else np.ones_like(index, bool)
        rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
        top, left = (rows[0], columns[0]) if len(rows) else (0, 0)
        bottom, right = (rows[-1] + 1, columns[-1] + 1) if len(rows) else (1, 1)
        part = np.where(changed, index, transparent)[top:bottom, left:right].astype(np.uint8)
        place = (right - left, bottom - top, left, top)
        found.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, *place, round(1000 * delay), 1000, 0, 1)))
        data = zlib.compress(np.pad(part, ((0, 0), (1, 0))).tobytes(), 9)  # each row begins with the filter "none"
        found.append(chunk(b"IDAT", data) if k == 0 else chunk(b"fdAT", struct.pack(">I", number + 1) + data))
        number += 1 if k == 0 else 2
    path.write_bytes(b"".join([*found, chunk(b"IEND", b"")]))
    return path


def palette_of(frames: np.ndarray) -> np.ndarray:
    """Colors (k, 3) that stand for all pixels (..., 3), by k-means on some of them; the same for the same frames."""
    pixels = frames.reshape(-1, 3)[:: max(frames.size // 3 // 20_000, 1)]
    order = np.argsort(pixels @ [0.3, 0.59, 0.11], kind="stable")
    palette = pixels[order[np.linspace(0, len(order) - 1, COLORS - 1).astype(int)]]
    for _ in range(ROUNDS):
        owner = nearest(pixels, palette)
        counts = np.bincount(owner, minlength=len(palette))
        sums = np.stack([np.bincount(owner, pixels[:, axis], len(palette)) for axis in range(3)], axis=1)
        palette = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], palette)
    return palette


def nearest(pixels: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Number of the nearest color of each pixel (..., 3), (...) int."""
    flat = pixels.reshape(-1, 3)
    squares = (palette**2).sum(axis=1)
    found = [
        (squares - 2.0 * part @ palette.T).argmin(axis=1) for part in np.array_split(flat, len(flat) // 50_000 + 1)
    ]
    return np.concatenate(found).reshape(pixels.shape[:-1])


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file: length, kind, data, checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
