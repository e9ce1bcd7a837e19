"""Take the pictures of the panels that the guide and the README show, in a Blender with a window.

    blender --python docs/make_screenshots.py

The extension has to be installed and switched on. Nothing is saved but docs/images/panel*.png, and Blender quits at the
end. A panel is drawn with its neighbors away, opened out of a sample that was played for some frames.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import bpy
import gpu
import numpy as np

HERE = Path(__file__).resolve().parent
PREFIX = "VIEW3D_PT_pbd_"
TAB = "PBD"
FRAMES = 12
"""How long a sample is played before its panels are shown."""

SHOTS = (
    (
        "panel",
        "curtain",
        (
            *("details", "physical", "stiffness", "weave", "damping", "initial_velocity", "shape", "sewing", "attach"),
            *("cloth_pressure", "wind", "modifiers", "doctor", "advanced"),
        ),
    ),
    ("panel_stiffness", "curtain", ("physical", "stiffness")),
    ("panel_bake", "curtain", ("cache",)),
    ("panel_pressure", "balloon", ("pressure",)),
    ("panel_collisions", "tablecloth", ("object_collisions", "floor", "self_collisions")),
)
"""Name of the picture, sample, and which sub-panels stand below the main one."""

OPENED = ("stiffness", "cache", "object_collisions", "floor", "self_collisions", "pressure")
"""Sub-panels that a user has opened."""

BACKGROUND = 0.19
"""Gray behind the panels of Blender's dark theme, where a region over the 3D View is transparent."""


def run(steps: Iterator[float]) -> None:
    """Take steps between which Blender draws: each yields after how many seconds the next one is due."""

    def step():
        try:
            return next(steps)
        except StopIteration:
            pass
        except Exception:  # Without a way out of the timer the window would stay for ever.
            traceback.print_exc()
        bpy.ops.wm.quit_blender()
        return None

    bpy.app.timers.register(step, first_interval=1.0, persistent=True)


def take_all() -> Iterator[float]:
    """All pictures, one after the other."""
    if not hasattr(bpy.types.Object, "pbd"):
        sys.stderr.write("Install PBD Cloth & Balloons and switch it on first.\n")
        return
    panels = [getattr(bpy.types, name) for name in registered()]
    played = ""
    for name, sample, wanted in SHOTS:
        if sample != played:
            yield from play(sample)
            played = sample
        show_only(panels, wanted)
        area = max((area for area in window().screen.areas if area.type == "VIEW_3D"), key=lambda area: area.width)
        area.spaces.active.show_region_ui = True
        yield 1.0
        region = next(region for region in area.regions if region.type == "UI")
        region.active_panel_category = TAB
        taken: list[np.ndarray] = []
        handler = bpy.types.SpaceView3D.draw_handler_add(take, (taken,), "UI", "POST_PIXEL")
        try:
            while len(taken) < 2:  # The first drawing still finds room for the panels.
                region.tag_redraw()
                yield 0.5
        finally:
            bpy.types.SpaceView3D.draw_handler_remove(handler, "UI")
            show_only(panels, tuple(panel.__name__.removeprefix(PREFIX) for panel in panels))
        write(HERE / "images" / f"{name}.png", trimmed(taken[-1]))


def play(sample: str) -> Iterator[float]:
    """Open a sample and go to the frame that is shown."""
    bpy.ops.wm.open_mainfile(filepath=str(HERE.parent / "sample_blends" / f"{sample}.blend"), load_ui=False)
    yield 0.5
    scene = bpy.context.scene
    bpy.context.view_layer.objects.active = next(obj for obj in scene.objects if obj.pbd.enabled)
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
    while is_late(scene):
        yield 0.5


def is_late(scene: bpy.types.Scene) -> bool:
    """Whether frames are still to come, as they are with progress after one that takes long."""
    name = next(name for name in sys.modules if name.endswith("pbd_addon.blender.timeline.session"))
    found = sys.modules[name].get(scene)
    return found.is_late or found.bake is not None


def window() -> bpy.types.Window:
    """The main window; a timer has none in its context."""
    return bpy.context.window_manager.windows[0]


def registered() -> list[str]:
    """Names of the sub-panels of the sidebar, parents first."""
    names = [name for name in dir(bpy.types) if name.startswith(PREFIX)]
    parents = {name: getattr(getattr(bpy.types, name), "bl_parent_id", "") for name in names}
    names = [name for name in names if parents[name]]
    return sorted(names, key=lambda name: (parents[name] in names, name))


def show_only(panels: list[type], wanted: tuple[str, ...]) -> None:
    """Leave only these sub-panels, in this order; those of `OPENED` are open."""
    for panel in reversed(panels):
        if panel.is_registered:
            bpy.utils.unregister_class(panel)
    for name in wanted:
        panel = next(panel for panel in panels if panel.__name__ == PREFIX + name)
        panel.bl_options = set(panel.bl_options) - {"DEFAULT_CLOSED"} if name in OPENED else panel.bl_options
        bpy.utils.register_class(panel)


def take(taken: list[np.ndarray]) -> None:
    """Append what was drawn into the present region, (height, width, 4) float32, first row at the top."""
    region = bpy.context.region
    buffer = gpu.state.active_framebuffer_get().read_color(0, 0, region.width, region.height, 4, 0, "FLOAT")
    buffer.dimensions = region.width * region.height * 4
    taken.append(np.array(buffer, np.float32).reshape(region.height, region.width, 4)[::-1])


def trimmed(picture: np.ndarray) -> np.ndarray:
    """The rows with panels on them, on the gray of the theme."""
    rows = np.flatnonzero(picture[:, picture.shape[1] // 2, 3] > 0.5)
    picture = picture[: rows[-1] + 1].copy()
    drawn = picture[:, :, :3].any(axis=2, keepdims=True)  # Beside the panels the region is black, with an alpha of 1.
    share = picture[:, :, 3:] * drawn
    picture[:, :, :3] = picture[:, :, :3] * share + BACKGROUND * (1.0 - share)
    return picture


def write(path: Path, picture: np.ndarray) -> None:
    """Save a picture as PNG."""
    height, width = picture.shape[:2]
    image = bpy.data.images.new(path.stem, width, height, alpha=False)
    image.colorspace_settings.name = "Non-Color"
    image.pixels.foreach_set(np.ascontiguousarray(picture[::-1]).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)
    print(f"{path.name}: {width} x {height}, {path.stat().st_size / 1024:.0f} KiB", flush=True)


run(take_all())
