"""An animation render, whose handlers run with a scene of their own, shows what the bake shows."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

LAST = 4
SIZE = 32


def render(scene, folder, name):
    """Render the range; returns the pixels of each frame."""
    scene.render.filepath = str(folder / name)
    bpy.ops.render.render(animation=True)
    frames = range(scene.frame_start, scene.frame_end + 1, scene.frame_step)
    pixels = np.empty((len(frames), SIZE * SIZE * 4), np.float32)
    for frame, row in zip(frames, pixels, strict=True):
        image = bpy.data.images.load(f"{scene.render.filepath}{frame:04d}.exr")
        image.pixels.foreach_get(row)
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
    list(extension.bridge("baking.bake").start(scene, [obj], "ABSOLUTE", 1, LAST))
    baked = render(scene, tmp_path, "baked")
    assert len(np.unique(live.mean(axis=1))) == LAST
    assert np.abs(live - baked).max() < 1e-3


def test_a_render_simulates_what_is_missing(extension, tmp_path):
    scene = lit_stage()
    obj = scenes.add_grid(rx=8, ry=8)
    scene.render.use_motion_blur = False
    go(1)
    render(scene, tmp_path, "live")
    running = extension.bridge("timeline.session").get(scene)
    assert (running.message, running.first_frame, running.last_frame) == ("", 1, LAST)
    assert obj.data.shape_keys is not None


@pytest.mark.parametrize("loaded", [False, True])
def test_a_render_begins_at_its_first_frame_wherever_the_window_stands(extension, tmp_path, loaded):
    """Ctrl+F12 in the middle of the timeline, and a file that was saved there and is rendered from the command line."""
    scene = lit_stage()
    obj = scenes.add_grid(rx=8, ry=8)
    scenes.pin(obj, [0, 7])
    scenes.animate_location(obj, 1, LAST, (0.3, 0.0, 0.0))
    seen = play([obj], 1, LAST)
    session = extension.bridge("timeline.session")
    go(3)
    if loaded:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "stage.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "stage.blend"))
        scene, obj = bpy.context.scene, bpy.data.objects["Flag"]
    else:
        session.drop(scene)
    render(scene, tmp_path, "live")
    running = session.get(scene)
    assert (running.message, running.first_frame, running.last_frame) == ("", 1, LAST)
    for frame in range(1, LAST + 1):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-6


def test_a_render_meets_the_colliders_of_the_viewport(extension, tmp_path):
    """Also those that are not rendered; what is not shown in viewports is none. Attached vertices follow too."""
    scene = lit_stage()
    scene.render.use_motion_blur = False
    obj = scenes.add_grid(rx=8, ry=8)
    obj.vertex_groups.new(name="Attach").add([0, 7], 1.0, "REPLACE")
    body, proxy, ghost = (scenes.add_grid(name, pbd=False) for name in ("Body", "Proxy", "Ghost"))
    for number, other in enumerate((body, proxy, ghost)):
        other.location.z = -0.5 * (number + 1)
        other.pbd_collider.enabled = True
    scenes.animate_location(body, 1, LAST, (0.2, 0.0, 0.0))
    obj.pbd.attach_object, obj.pbd.attach_group = body, "Attach"
    proxy.hide_render = True
    ghost.hide_viewport = True
    go(1)
    render(scene, tmp_path, "live")
    session = extension.bridge("timeline.session")
    running = session.get(scene)
    assert (running.message, running.last_frame) == ("", LAST)
    assert {one.surface.name for one in running.scene_sim.colliders.values()} == {"Body", "Proxy"}
    rendered = running.scene_sim.simulation.cached_positions(running.scene_sim.members[0].body, LAST)
    session.drop(scene)
    played = play([obj], 1, LAST)[LAST][0]
    assert np.abs(rendered - played).max() < 1e-5


def steps_of_all_simulations(extension, monkeypatch):
    """The frames that are stepped from now on, whatever simulation steps them."""
    simulation, steps = extension.module("pbd_addon.simulation").Simulation, []
    slices = simulation.slices

    def counted(self, dt, in_place=False):
        steps.append(self.frames.last + 1)
        return slices(self, dt, in_place)

    monkeypatch.setattr(simulation, "slices", counted)
    return steps


def test_a_render_of_cached_frames_steps_nothing(extension, tmp_path, monkeypatch):
    """The animation, then one frame, as with F12; motion blur on; a pinned object and settings are animated."""
    scene = lit_stage()
    obj = scenes.add_grid(rx=8, ry=8)
    scenes.pin(obj, [0, 7])
    scenes.animate_location(obj, 1, LAST, (0.3, 0.0, 0.0))
    for frame, drag in ((1, 0.0), (LAST, 8.0)):
        obj.pbd.drag = drag
        obj.pbd.keyframe_insert("drag", frame=frame)
    play([obj], 1, LAST)
    go(1)
    steps = steps_of_all_simulations(extension, monkeypatch)
    render(scene, tmp_path, "live")
    go(2)
    bpy.ops.render.render()
    assert steps == []


def test_a_live_render_steps_each_frame_once(extension, tmp_path, monkeypatch):
    scene = lit_stage()
    obj = scenes.add_grid(rx=8, ry=8)
    scenes.pin(obj, [0, 7])
    go(1)
    steps = steps_of_all_simulations(extension, monkeypatch)
    render(scene, tmp_path, "live")
    assert steps == [2, 3, 4]
    render(scene, tmp_path, "again")
    assert steps == [2, 3, 4]


def test_a_render_waits_for_a_frame_far_ahead(extension, tmp_path, monkeypatch):
    """In a window a jump ahead stops after a while, and goes on from there; a picture has no second try."""
    scene = lit_stage()
    scene.render.use_motion_blur = False
    scene.use_custom_simulation_range = True
    scene.simulation_frame_start, scene.simulation_frame_end, scene.pbd.settle = 1, 12, 3
    scenes.add_grid(rx=8, ry=8)
    go(1)
    monkeypatch.setattr(extension.bridge("timeline.follow"), "PATIENCE", 0.0)
    scene.frame_start = scene.frame_end = 12
    scene.render.filepath = str(tmp_path / "far")
    bpy.ops.render.render(animation=True)
    running = extension.bridge("timeline.session").get(scene)
    assert (running.message, running.last_frame, running.settled) == ("", 12, 3)


@pytest.mark.parametrize("blurred", [False, True])
def test_a_picture_of_a_loaded_file_shows_what_its_window_shows(extension, tmp_path, blurred):
    """Nothing is simulated yet, and no cache is on disk: cloth is as it was saved; at the first frame as it begins."""
    scene = lit_stage()
    scene.frame_end, scene.render.use_motion_blur = 12, blurred
    obj = scenes.add_grid(rx=8, ry=8)
    scenes.pin(obj, [0, 7])
    seen = play([obj], 1, 10)
    path = str(tmp_path / "stage.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.render.render()
    obj = bpy.data.objects["Flag"]
    assert np.abs(shown(obj) - seen[10][0]).max() < 1e-6
    bpy.context.scene.render.filepath = str(tmp_path / "later")
    bpy.context.scene.frame_end = 3
    bpy.ops.render.render(animation=True)
    running = extension.bridge("timeline.session").get(bpy.context.scene)
    assert (running.first_frame, running.last_frame) == (1, 3)
    for frame in (1, 3):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-6


def test_motion_blur_of_a_live_render_goes_on_beyond_the_last_frame(extension, tmp_path, monkeypatch):
    """Free fall in front of the camera: pictures are those of cached frames but for half of gravity times dt²."""
    scene = lit_stage()
    scene.cycles.samples = 64
    scene.gravity = (0.0, 0.0, -60.0)
    scenes.add_grid(rx=3, ry=3, drag=0.0)
    go(1)
    live = render(scene, tmp_path, "live")
    cached = render(scene, tmp_path, "cached")
    extension.bridge("timeline.session").drop(scene)
    go(1)
    simulation = extension.module("pbd_addon.simulation").Simulation
    coast = simulation.coasting_positions
    monkeypatch.setattr(simulation, "coasting_positions", lambda self, body, seconds: coast(self, body, 0.0))
    still = render(scene, tmp_path, "still")
    off = [np.abs(live[frame] - cached[frame]).mean() for frame in (1, 2)]
    without = [np.abs(still[frame] - cached[frame]).mean() for frame in (1, 2)]
    print(f"mean difference of pixels: {off} coasting, {without} standing still")
    assert max(off) < 0.5 * min(without)


def test_a_render_of_a_loaded_file_reads_its_disk_cache(extension, tmp_path, monkeypatch):
    """As from the command line, where a file is loaded and rendered; and so does the bake."""
    scene = lit_stage()
    obj = scenes.add_grid(rx=8, ry=8)
    scenes.pin(obj, [0, 7])
    scene.pbd.use_disk_cache = True
    path = str(tmp_path / "stage.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    play([obj], 1, LAST)
    go(1)
    bpy.ops.wm.save_mainfile()
    first = render(scene, tmp_path, "first")
    bpy.ops.wm.open_mainfile(filepath=path)
    steps = steps_of_all_simulations(extension, monkeypatch)
    second = render(bpy.context.scene, tmp_path, "second")
    assert np.abs(first - second).max() < 1e-3
    assert extension.bridge("baking.command_line").main([path]) == 0
    assert bpy.data.objects["Flag"].pbd.baked
    assert steps == []


@pytest.mark.parametrize("cached", [0, 1, 3])
def test_what_a_render_jumps_over_is_visited(extension, tmp_path, cached):
    """Every third frame, or one far ahead: pins and colliders go their ways, which are not straight."""
    scene = lit_stage()
    scene.frame_end, scene.frame_step, scene.render.use_motion_blur = 10, 3, False
    obj, plate = scenes.add_grid(rx=8, ry=8), scenes.add_grid("Plate", pbd=False)
    scenes.pin(obj, [0, 7])
    plate.pbd_collider.enabled = True
    for frame in range(1, 11):
        obj.location.x, plate.location.z = 0.1 * np.sin(frame), -0.2 + 0.1 * np.cos(frame)
        obj.keyframe_insert("location", frame=frame)
        plate.keyframe_insert("location", frame=frame)
    seen = play([obj], 1, 10)
    session = extension.bridge("timeline.session")
    session.drop(scene)
    for frame in range(1, cached + 1):
        go(frame)
    if cached == 0:
        scene.frame_start = 10
        scene.use_custom_simulation_range, scene.simulation_frame_start, scene.simulation_frame_end = True, 1, 10
    live = render(scene, tmp_path, "jumps")
    running = session.get(scene)
    assert (running.message, running.first_frame, running.last_frame, running.first_guess) == ("", 1, 10, None)
    assert np.abs(render(scene, tmp_path, "again") - live).max() < 1e-3
    for frame in range(1, 11):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-6
