"""Take the steps of the guide's pages in real Blender and render what they lead to.

    make pictures                              docs/images/guide_*.png
    make pictures ARGS="first_balloon"         those of one page

The steps are those of `walkthrough.py`, which the tests compare with the pages. The pictures of panels need a window:
`make_screenshots.py` makes them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "sample_blends"), str(HERE)]

import make_demo  # noqa: E402
from make_samples import load_tool  # noqa: E402

CLOTH_VIEW = ((2.9, -6.2, 0.7), (0.0, 0.1, -0.85))
LOW_VIEW = ((1.8, -4.4, 0.9), (0.0, 0.0, -0.62))
BALLOON_VIEW = ((1.0, -3.2, 1.0), (0.0, 0.0, 0.58))
SKIRT_VIEW = ((2.2, -2.3, 1.0), (0.0, 0.0, 0.05))
SHIRT_VIEW = ((1.3, -2.6, 0.9), (0.0, 0.0, 0.03))
PLEATS_VIEW = ((1.1, -1.6, 0.55), (0.0, 0.0, -0.02))
TEAR_VIEW = ((1.1, -2.1, 1.75), (0.0, 0.0, 0.85))
MATTRESS_VIEW = ((1.5, -2.3, 1.3), (0.0, 0.0, 0.06))
LETTERS_VIEW = ((0.35, -1.9, 0.25), (0.0, 0.0, -0.02))
CUSHION_VIEW = ((0.9, -1.6, 0.8), (0.0, 0.0, 0.12))
"""Where the camera stands and what it looks at [m]."""

PICTURES = {
    "Hang a cloth": ("cloth_hang", (1, 24, 48), -2.3, CLOTH_VIEW),
    "Choose what it is made of": ("cloth_rubber", (16, 40, 48), -2.5, CLOTH_VIEW),
    "Pin an edge": ("cloth_edge", (8, 14, 30), -2.3, CLOTH_VIEW),
    "Drop it on something": ("cloth_ball", (1, 10, 40), -1.7, LOW_VIEW),
    "Give it a floor": ("cloth_floor", (10, 16, 50), -1.1, LOW_VIEW),
    "Drop a ball": ("balloon_drop", (1, 12, 96), 0.0, BALLOON_VIEW),
    "Hold a volume": ("balloon_volume", (1, 4, 12), 0.0, BALLOON_VIEW),
    "Blow with a pressure": ("balloon_pressure", (1, 4, 12), 0.0, BALLOON_VIEW),
    "Blow up a mesh of your own": ("balloon_cushion", (1, 6, 30), 0.0, BALLOON_VIEW),
    "Sew a skirt around a body": ("garment_skirt", (1, 18, 60), -0.5, SKIRT_VIEW),
    "Open the seams": ("garment_open", (60, 63, 67), -0.5, SKIRT_VIEW),
    "Sew a cushion": ("garment_cushion", (1, 14, 72), 0.0, CUSHION_VIEW),
    "Sew a shirt from four panels": ("garment_shirt", (1, 16, 48), -0.57, SHIRT_VIEW),
    "Put one garment over another": ("garment_layers", (1, 12, 48), -0.5, SKIRT_VIEW),
    "Fold pleats into a skirt": ("garment_pleats", (1, 12, 60), -0.35, PLEATS_VIEW),
    "Fill a word": ("letters_word", (1, 12, 48), -0.21, LETTERS_VIEW),
    "Hold it together in rows": ("inner_rows", (1, 4, 12), 0.0, MATTRESS_VIEW),
    "Send a ball through a sheet": ("tearing_sheet", (6, 9, 20), 0.0, TEAR_VIEW),
}
"""By the section's heading: name of the picture, its frames, height of the ground [m], and the view."""

LEVELS = 100
"""Shades of each color in a picture: what the eye tells apart, and noise that only makes the file larger goes."""


def main() -> None:
    """Make the pictures of the pages that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="first_cloth, garments, ...; default: all")
    parser.add_argument("--samples", type=int, default=16, help="rays per pixel")
    arguments = parser.parse_args()
    with load_tool("extension").installed(), tempfile.TemporaryDirectory(prefix="pbd-guide-") as scratch:
        # Only now: Blender takes its profile from the environment when it is first imported.
        import bpy
        import walkthrough

        for page in arguments.pages or (
            "first_cloth",
            "first_balloon",
            "garments",
            "letters",
            "tearing",
            "inner_structure",
        ):
            bpy.ops.wm.read_homefile(app_template="")
            set_up()
            for section in getattr(walkthrough, page)(lambda *_: None):
                if section in PICTURES:
                    name, frames, ground, view = PICTURES[section]
                    row = photograph(frames, ground, view, arguments.samples, Path(scratch))
                    make_demo.write(HERE / "images" / f"guide_{name}.png", make_demo.sheet([row]))


def set_up() -> None:
    """Blender's default scene in the studio of the samples."""
    import bpy
    import stage

    for name in ("Camera", "Light"):
        bpy.data.objects.remove(bpy.data.objects[name])
    stage.build((0.5, 0.53, 0.58), warmth=0.4)
    stage.add_camera(*CLOTH_VIEW).data.dof.use_dof = False  # The views differ, and all of them are to be sharp.
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.exposure = -0.5  # The balloons are near the lamps.


def photograph(frames, ground, view, samples, scratch):
    """Render frames that are simulated already, and come back; pictures (height, width, 4) float32."""
    import bpy
    import stage

    scene = bpy.context.scene
    here = scene.frame_current
    stage.aim(scene.camera, *view)
    bpy.data.objects["Backdrop"].location.z = ground
    for obj in scene.objects:
        if obj.type == "MESH" and not obj.data.materials:
            obj.data.materials.append(paint(obj))
    make_demo.prepare(scene, make_demo.TILE, samples)
    pictures = []
    for frame in frames:
        scene.frame_set(frame)
        scene.render.filepath = str(scratch / f"{frame:03d}.png")
        bpy.ops.render.render(write_still=True)
        pictures.append(np.round(make_demo.read(scene.render.filepath) * LEVELS) / LEVELS)
    scene.frame_set(here)
    return pictures


def paint(obj):
    """A material for what the object is."""
    import stage

    if not obj.pbd.enabled:
        return stage.matte("Ball", (0.25, 0.28, 0.32))
    if obj.pbd.preset == "Foil Balloon":
        return stage.metal("Foil", (0.85, 0.5, 0.12))
    if obj.pbd.type == "BALLOON":
        return stage.rubber("Balloon", (0.75, 0.09, 0.06))
    if obj.pbd.layer > 1:
        return stage.fabric("Jacket", (0.5, 0.12, 0.06))
    return stage.fabric("Cloth", (0.05, 0.22, 0.5))


if __name__ == "__main__":
    main()
