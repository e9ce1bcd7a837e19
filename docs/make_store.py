"""Bake samples in real Blender and render the pictures of the extension's page, in the sizes of Blender's platform.

    make store                             docs/store/still_*.jpg and icon.png
    make store ARGS="dress"                one of them

What the page says beside them is in docs/store/page.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "sample_blends")]

import make_demo  # noqa: E402
from make_samples import load_tool  # noqa: E402

STILLS = {"dress": 30, "cape": 50, "tablecloth": 50, "letters": 60, "party_balloons": 54}
"""Samples and the frame that is shown."""

SHIFTS = {"cape": -0.09}
"""How far the camera looks to the right, in widths of the picture: a wide one of the cape would show the end of the
backdrop."""

STILL = 1920, 1080
ICON = 256, 256
"""Width and height of the platform's pictures and of its icon [px]."""

ICON_SAMPLE, ICON_FRAME, ICON_ZOOM = "cushion", 60, 1.8
"""What the icon shows, and how much nearer than its sample."""


def main() -> None:
    """Make what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--samples", type=int, default=32, help="rays per pixel")
    arguments = parser.parse_args()
    (HERE / "store").mkdir(exist_ok=True)
    with load_tool("extension").installed():
        for name in arguments.names or ["icon", *STILLS]:
            if name == "icon":
                photograph(ICON_SAMPLE, ICON_FRAME, ICON, arguments.samples, HERE / "store" / "icon.png")
            else:
                photograph(name, STILLS[name], STILL, arguments.samples, HERE / "store" / f"still_{name}.jpg")


def photograph(name: str, frame: int, size: tuple[int, int], samples: int, path: Path) -> None:
    """Bake a sample up to a frame and render that."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(make_demo.HERE / f"{name}.blend"))
    scene = bpy.context.scene
    make_demo.bake_all(scene, frame)
    make_demo.prepare(scene, size[0], samples)
    scene.render.resolution_y = size[1]
    # The samples are framed for 4:3, and a lens sees as much across whatever the height: a wider picture needs more.
    scene.camera.data.lens *= ICON_ZOOM if size == ICON else min(size[1] / size[0] / 0.75, 1.0)
    scene.camera.data.shift_x += SHIFTS.get(name, 0.0)
    settings = scene.render.image_settings
    settings.file_format = "JPEG" if path.suffix == ".jpg" else "PNG"
    settings.quality, settings.compression = 90, 100
    scene.render.filepath = str(path)
    scene.frame_set(frame)
    bpy.ops.render.render(write_still=True)
    make_demo.say(f"{path.name}: {size[0]} x {size[1]}, {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
