"""Bake sample scenes in real Blender and render frames of them into one picture.

    make demo                           dist/demo.png
    make demo ARGS="--strip flag 40"    dist/strip_flag.png, 24 frames on end, to look for jitter
    make demo ARGS=--docs               docs/images/samples.png, stills of all samples
    make demo ARGS=--film               docs/images/moving.png, the moving picture of the README

Needs the bpy module; everything is rendered by Cycles on the CPU, the only engine that needs no display. The
extension is built from this folder and installed into an empty profile first, by Blender's own tools.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import animated_png
import numpy as np
from make_samples import HERE, load_tool

if TYPE_CHECKING:
    import bpy

ROOT = HERE.parent
QUICK = {
    "curtain": (1, 10, 22, 60),
    "balloon": (1, 30, 52, 96),
    "tablecloth": (1, 10, 20, 60),
    "barrel": (1, 14, 30, 45),
    "pillow_fight": (1, 10, 16, 40),
    "gears": (1, 20, 40, 56),
    "dress": (1, 16, 30, 44),
    "laundry": (1, 16, 44, 50),
    "hot_air_balloon": (1, 44, 66, 88),
    "party_balloons": (1, 12, 24, 52),
    "torn_flag": (1, 16, 36, 52),
    "burst_balloon": (1, 35, 37, 41),
    "torn_sheet": (1, 11, 18, 26),
}
"""The rows that `make demo` shows: samples that are soon baked, and which of their frames."""

STILLS = {
    "curtain": (26,),
    "flag": (44,),
    "balloon": (90,),
    "cushion": (60,),
    "air_mattress": (90,),
    "letters": (60,),
    "tablecloth": (50,),
    "barrel": (40,),
    "pillow_fight": (16,),
    "bed": (60,),
    "gears": (30,),
    "dress": (30,),
    "cape": (50,),
    "shirt": (58,),
    "laundry": (49,),
    "spinnaker": (44,),
    "hot_air_balloon": (66,),
    "party_balloons": (54,),
    "torn_flag": (45,),
    "burst_balloon": (38,),
    "torn_sheet": (18,),
    "stiffness_grid": (60,),
}
"""The picture of all samples: which frames of each."""

STILLS_ACROSS, STILL_TILE = 4, 240
"""Pictures in a row of it, and their width [px]."""

STRIP, STRIP_ACROSS = 24, 6
"""Consecutive frames of a strip, a second of them, and how many stand in a row."""

TILE = 280
"""Width of a picture of a sheet [px]."""

FILM_STEP = 3
FILM = tuple(range(1, 46, FILM_STEP))
"""Frames of the moving picture, every third of nearly two seconds: the curtain swings down and back."""

FILM_TILE = 220
"""Width of each half of the moving picture [px]."""

GAP = 6
"""White between the pictures of a sheet [px]."""


def main() -> None:
    """Render what is asked for and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", action="store_true", help="write the picture of all samples")
    parser.add_argument("--strip", nargs=2, metavar=("NAME", "FIRST"), help="24 frames of a sample from this one on")
    parser.add_argument("--film", action="store_true", help="write the moving picture of the README")
    parser.add_argument("--samples", type=int, default=24, help="rays per pixel")
    arguments = parser.parse_args()
    began = time.monotonic()

    with load_tool("extension").installed(), tempfile.TemporaryDirectory(prefix="pbd-demo-") as scratch:
        if arguments.film:
            made = [moving_picture(Path(scratch), arguments.samples)]
        elif arguments.docs:
            made = [picture_of_all(Path(scratch), arguments.samples)]
        elif arguments.strip:
            name, first = arguments.strip[0], int(arguments.strip[1])
            shots = film(name, tuple(range(first, first + STRIP)), TILE, arguments.samples, Path(scratch))
            made = [write(ROOT / "dist" / f"strip_{name}.png", sheet(in_rows(shots, STRIP_ACROSS)))]
        else:
            rows = [film(name, frames, TILE, arguments.samples, Path(scratch)) for name, frames in QUICK.items()]
            made = [write(ROOT / "dist" / "demo.png", sheet(rows))]
    say(f"Done in {time.monotonic() - began:.0f} s:")
    for path in made:
        say(str(path))


def moving_picture(scratch: Path, samples: int) -> Path:
    """The moving picture of the README: two samples beside each other; returns its path."""
    shots = [film(name, FILM, FILM_TILE, samples, scratch) for name in ("curtain", "cushion")]
    frames = [np.hstack(pair) for pair in zip(*shots)]
    path = animated_png.write(ROOT / "docs" / "images" / "moving.png", frames, delay=FILM_STEP / 24)
    say(f"{path.name}: {len(frames)} frames, {path.stat().st_size / 1024:.0f} KiB")
    return path


def picture_of_all(scratch: Path, samples: int) -> Path:
    """The picture of all samples in the README; returns its path."""
    shots = [film(name, frames, STILL_TILE, samples, scratch) for name, frames in STILLS.items()]
    stills = [picture for shot in shots for picture in shot]
    return write(ROOT / "docs" / "images" / "samples.png", sheet(in_rows(stills, STILLS_ACROSS)))


def in_rows(pictures: list[np.ndarray], across: int) -> list[list[np.ndarray]]:
    """Pictures in rows of so many, the last one filled up with white."""
    pictures = [*pictures, *[np.ones_like(pictures[0])] * (-len(pictures) % across)]
    return [pictures[start : start + across] for start in range(0, len(pictures), across)]


def film(name: str, frames: tuple[int, ...], width: int, samples: int, scratch: Path) -> list[np.ndarray]:
    """Open a sample, bake it with the operator, render some of its frames.

    Args:
        name: Of the sample.
        frames: Which to render.
        width: Of a picture [px]; its height is three quarters of that.
        samples: Rays per pixel.
        scratch: Folder for the pictures as Blender writes them.

    Returns:
        A picture (height, width, 4) float32 for each frame, first row at the top.
    """
    import bpy

    began = time.monotonic()
    bpy.ops.wm.open_mainfile(filepath=str(HERE / f"{name}.blend"))
    scene = bpy.context.scene
    bake_all(scene, max(frames))
    baked = time.monotonic()
    render = scene.render
    prepare(scene, width, samples)
    pictures = []
    for frame in frames:
        scene.frame_set(frame)
        render.filepath = str(scratch / f"{name}_{frame:03d}.png")
        bpy.ops.render.render(write_still=True)
        pictures.append(read(render.filepath))
    say(f"{name}: baked in {baked - began:.0f} s, rendered in {time.monotonic() - baked:.0f} s")
    return pictures


def bake_all(scene: bpy.types.Scene, last: int) -> None:
    """Bake all of the open scene up to a frame."""
    import bpy

    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None  # nothing chosen: all of the scene
    scene.frame_end = last
    bpy.ops.object.pbd_bake(mode="ABSOLUTE")


def prepare(scene: bpy.types.Scene, width: int, samples: int) -> None:
    """Have a scene rendered in pictures of this width [px], with so many rays per pixel."""
    render, cycles = scene.render, scene.cycles
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, width * 3 // 4, 100
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.dither_intensity = 0.0  # noise that only makes the file larger
    cycles.device, cycles.samples, cycles.use_denoising = "CPU", samples, can_denoise()


def can_denoise() -> bool:
    """Whether this build of Blender has Open Image Denoise."""
    import _cycles

    return bool(getattr(_cycles, "with_openimagedenoise", False))


def sheet(rows: list[list[np.ndarray]]) -> np.ndarray:
    """Pictures of one size in rows, with white between them, as one picture."""
    return np.vstack([spaced(np.hstack([spaced(picture, 1) for picture in row])[:, :-GAP], 0) for row in rows])[:-GAP]


def spaced(picture: np.ndarray, axis: int) -> np.ndarray:
    """A picture with a white strip below (axis 0) or to the right (axis 1)."""
    border = [(0, 0)] * 3
    border[axis] = (0, GAP)
    return np.pad(picture, border, constant_values=1.0)


def read(path: str) -> np.ndarray:
    """The pixels (height, width, 4) float32 of a file as they are stored, first row at the top."""
    import bpy

    image = bpy.data.images.load(path)
    pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(image.size[1], image.size[0], 4)[::-1]
    bpy.data.images.remove(image)
    return pixels


def write(path: Path, picture: np.ndarray) -> Path:
    """Save a picture as PNG, as small as Blender can; returns the path."""
    import bpy

    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = picture.shape[:2]
    image = bpy.data.images.new(path.stem, width, height, alpha=False)
    image.colorspace_settings.name = "Non-Color"
    image.pixels.foreach_set(np.ascontiguousarray(picture[::-1], np.float32).ravel())
    settings = bpy.data.scenes.new("Sheet")  # only a scene knows how hard to compress
    settings.view_settings.view_transform = "Raw"
    settings.render.dither_intensity = 0.0
    output = settings.render.image_settings
    output.file_format, output.color_mode, output.compression = "PNG", "RGB", 100
    image.save_render(str(path), scene=settings)
    bpy.data.scenes.remove(settings)
    bpy.data.images.remove(image)
    say(f"{path.name}: {width} x {height}, {path.stat().st_size / 1024:.0f} KiB")
    return path


def say(text: str) -> None:
    """Print a line now, also between what Blender prints."""
    print(text, flush=True)


if __name__ == "__main__":
    main()
