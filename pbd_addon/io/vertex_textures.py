"""Vertex animation textures: a mesh that a shader moves, by a pixel for each vertex and frame.

Vertex i of frame f is the pixel in column i mod width of row f · rows + i div width, counted from the top; a frame
takes `rows` rows. A coordinate of the mesh, kept at each of its corners so that vertices that an engine splits look at
the same pixel, is the middle of the pixel of frame 0; other frames are below by a fixed step.

Files are written here, not by an image library: no color management comes between, and nothing is scaled.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

import numpy as np

LARGEST = 8192
"""Most pixels along a side: what engines accept on all desktop hardware."""

STEPS = 65535
"""Largest value of a channel of 16 bits."""


class Axes(NamedTuple):
    """The space of an engine: what its importer of glTF makes of our axes and meters.

    Attributes:
        matrix: From ours, (3, 3); a rotation or a mirroring, times the unit.
        rows: The same in words: what its x, y and z are.
        unit: Meters in one of its units.
        is_v_up: Whether texture coordinates begin at the bottom.
    """

    matrix: tuple[tuple[float, ...], ...]
    rows: str
    unit: float
    is_v_up: bool


ENGINES = {
    "UNREAL": Axes(((100.0, 0.0, 0.0), (0.0, -100.0, 0.0), (0.0, 0.0, 100.0)), "x, -y, z", 0.01, False),
    "UNITY": Axes(((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)), "-x, z, -y", 1.0, True),
    "GODOT": Axes(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)), "x, z, -y", 1.0, False),
}
"""glTF has (x, z, -y) in meters, which Godot keeps. Importers for Unity negate its x (UnityGLTF, SchemaExtensions);
Unreal's swaps its y and z (GLTFCoreUtilities) and counts in centimeters. Both mirror, and turn the corners of faces."""


class Layout(NamedTuple):
    """Where the pixels of vertices are."""

    vertices: int
    frames: int
    width: int
    rows: int  # of one frame

    @property
    def height(self) -> int:
        """Rows of all frames."""
        return self.frames * self.rows

    def coordinates(self) -> np.ndarray:
        """Where frame 0 of each vertex is, (n, 2) float32, from the lower left, as Blender has texture coordinates."""
        row, column = np.divmod(np.arange(self.vertices), self.width)
        return np.stack([(column + 0.5) / self.width, 1.0 - (row + 0.5) / self.height], axis=1).astype(np.float32)


def layout(vertices: int, frames: int) -> Layout:
    """As few rows for each frame as `LARGEST` allows.

    Raises:
        ValueError: All frames do not fit.
    """
    rows = -(-vertices // LARGEST)
    made = Layout(vertices, frames, -(-vertices // rows), rows)
    if made.height > LARGEST:
        raise ValueError(
            f"{vertices} vertices in {frames} frames take a texture of {made.width} x {made.height} pixels, "
            f"and {LARGEST} is the most: export {LARGEST // rows} frames at most, or a coarser mesh"
        )
    return made


def pixels(values: np.ndarray, places: Layout) -> np.ndarray:
    """Values (f, n, 3) of all frames as a picture, (height, width, 3) from the top; what no vertex has is 0."""
    picture = np.zeros((places.frames, places.rows * places.width, 3), values.dtype)
    picture[:, : places.vertices] = values
    return picture.reshape(places.height, places.width, 3)


def values(picture: np.ndarray, places: Layout) -> np.ndarray:
    """The values (f, n, 3) of a picture (height, width, 3): what a shader reads."""
    return picture.reshape(places.frames, -1, 3)[:, : places.vertices]


def bounds(deltas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least values (3,) of deltas (f, n, 3), and the sizes of their ranges, (3,); a range that is none counts as 1."""
    low = deltas.min(axis=(0, 1)).astype(np.float64)
    size = deltas.max(axis=(0, 1)) - low
    return low, np.where(size > 0.0, size, 1.0)


def quantized(deltas: np.ndarray, low: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Values as whole numbers of 16 bits, 0 for `low` and `STEPS` for `low` + `size`."""
    return np.rint(np.clip((deltas - low) / size, 0.0, 1.0) * STEPS).astype(np.uint16)


def png(picture: np.ndarray) -> bytes:
    """A PNG file of a picture (h, w, 3) uint16: RGB, 16 bits, no color space."""
    height, width, _channels = picture.shape
    lines = np.ascontiguousarray(picture, ">u2").view(np.uint8).reshape(height, -1)
    raw = np.pad(lines, ((0, 0), (1, 0))).tobytes()  # Each line begins with its filter, 0 for none.
    header = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 6)), (b"IEND", b""))
    file = b"\x89PNG\r\n\x1a\n"
    for kind, data in chunks:
        file += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return file


def exr(picture: np.ndarray) -> bytes:
    """An OpenEXR file of a picture (h, w, 3) float32: RGB, 32 bits, scan lines without compression."""
    height, width, _channels = picture.shape
    box = struct.pack("<4i", 0, 0, width - 1, height - 1)
    # Each channel: name, type 2 for float32, linear or not and three reserved bytes, sampling along x and y.
    channels = b"".join(name + b"\0" + struct.pack("<iiii", 2, 0, 1, 1) for name in (b"B", b"G", b"R")) + b"\0"
    attributes = (
        ("channels", "chlist", channels),
        ("compression", "compression", b"\0"),
        ("dataWindow", "box2i", box),
        ("displayWindow", "box2i", box),
        ("lineOrder", "lineOrder", b"\0"),
        ("pixelAspectRatio", "float", struct.pack("<f", 1.0)),
        ("screenWindowCenter", "v2f", struct.pack("<ff", 0.0, 0.0)),
        ("screenWindowWidth", "float", struct.pack("<f", 1.0)),
    )
    header = struct.pack("<II", 20000630, 2)
    for name, kind, data in attributes:
        header += f"{name}\0{kind}\0".encode() + struct.pack("<i", len(data)) + data
    header += b"\0"
    # A line: its number, its size, and the channels one after the other.
    size = 3 * width * 4
    lines = np.zeros(height, np.dtype([("y", "<i4"), ("size", "<i4"), ("data", "<f4", (3, width))]))
    lines["y"], lines["size"] = np.arange(height), size
    lines["data"] = np.swapaxes(picture[:, :, ::-1], 1, 2)
    offsets = len(header) + 8 * height + np.arange(height, dtype="<u8") * lines.itemsize
    return header + offsets.astype("<u8").tobytes() + lines.tobytes()
