"""An animation render, whose handlers run with a scene of their own, shows what the bake shows."""

import bpy
import numpy as np
import scenes
from scenes import go, play

LAST = 4
SIZE = 32


def render(scene, folder, name):
    """Render the range; returns the pixels of each frame."""
    scene.render.filepath = str(folder / name)
    bpy.ops.render.render(animation=True)
    pixels = np.empty((LAST, SIZE * SIZE * 4), np.float32)
    for frame in range(1, LAST + 1):
        image = bpy.data.images.load(f"{scene.render.filepath}{frame:04d}.exr")
        image.pixels.foreach_get(pixels[frame - 1])
    return pixels


def lit_stage():
    """Few pixels, one sample, motion blur."""
    scene = bpy.context.scene
    scene.frame_end = LAST
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.cycles.use_denoising = False
    scene.render.use_motion_blur = True
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.image_settings.file_format = "OPEN_EXR"
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -2.0, 0.3), (1.4, 0.0, 0.0)
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    for obj in (camera, sun):
        scene.collection.objects.link(obj)
    scene.camera = camera
    return scene


def test_a_render_of_cached_frames_is_that_of_the_bake(extension, tmp_path):
    scene = lit_stage()
    obj = scenes.add_grid(rx=8, ry=8)
    scenes.pin(obj, [0, 7])
    scenes.animate_location(obj, 1, LAST, (0.3, 0.0, 0.0))
    play([obj], 1, LAST)
    go(1)
    live = render(scene, tmp_path, "live")
    list(extension.bridge("bake").start(scene, [obj], "ABSOLUTE", 1, LAST))
    baked = render(scene, tmp_path, "baked")
    assert len(np.unique(live.mean(axis=1))) == LAST
    assert np.abs(live - baked).max() < 1e-3


def test_a_render_simulates_what_is_missing(extension, tmp_path):
    scene = lit_stage()
    obj = scenes.add_grid(rx=8, ry=8)
    scene.render.use_motion_blur = False
    go(1)
    render(scene, tmp_path, "live")
    running = extension.bridge("session").get(scene)
    assert (running.message, running.first_frame, running.last_frame) == ("", 1, LAST)
    assert obj.data.shape_keys is not None
