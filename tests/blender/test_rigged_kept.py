"""Cloth on a rig in files: Mesh Cache bakes, exports and the cache on disk show what was simulated, deformed once."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.exports import SHARED, counterparts, read_back
from helpers.rigs import EXACT, add_dressed, driven_key, off, pinned, state, subdivide, switches
from helpers.scenes import count_steps, go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

FIRST, LAST = 1, 12


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


@pytest.fixture
def bake(extension):
    return extension.bridge("baking.bake")


@pytest.fixture
def saved(tmp_path):
    """The file has a place on the disk, so that // means something."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "cape.blend"))
    return tmp_path / "cape.blend"


def run(bake, obj, mode):
    list(bake.start(bpy.context.scene, [obj], mode, FIRST, LAST))


def load(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects["Cape"]


# ------------------------------------------------------------------------------------------ Mesh Cache


def smooth_before(cape):
    cape.modifiers.new("Smooth", "SMOOTH").iterations = 2
    cape.modifiers.move(cape.modifiers.find("Smooth"), 1)


def triangulate_before(cape):
    cape.modifiers.new("Triangulate", "TRIANGULATE")
    cape.modifiers.move(cape.modifiers.find("Triangulate"), 1)


def parent_instead(cape):
    cape.parent, cape.parent_type = cape.modifiers["Armature"].object, "ARMATURE"
    cape.modifiers.remove(cape.modifiers["Armature"])


def keyed(cape):
    cape.modifiers.clear()
    driven_key(cape)


def nothing(_cape):
    pass


STACKS = {
    nothing: "-Armature PBD_Bake -PBD_Output Subdivision",
    smooth_before: "-Armature -Smooth PBD_Bake -PBD_Output Subdivision",
    triangulate_before: "Armature Triangulate PBD_Bake -PBD_Output Subdivision",
    parent_instead: "PBD_Bake -PBD_Output Subdivision",
    keyed: "-Armature PBD_Bake -PBD_Output Subdivision",
}
"""What the modifiers are while a cape is baked; those with a dash are off."""


def corners(obj):
    """Vertices of the evaluated faces."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return [tuple(face.vertices) for face in mesh.polygons]


@pytest.mark.parametrize("change", STACKS)
def test_a_mesh_cache_plays_without_the_extension_and_goes_without_a_trace(extension, session, bake, saved, change):
    _, cape, _ = add_dressed()
    change(cape)
    cape.modifiers.new("Subdivision", "SUBSURF").levels = 1
    go(FIRST)
    if change in (smooth_before, triangulate_before):
        cape.modifiers.move(cape.modifiers.find("PBD Output"), 2)
    seen = play([cape], FIRST, LAST)
    faces = corners(cape)
    go(FIRST)
    before = switches(cape), scenes.mesh_bytes(cape), cape.parent_type
    run(bake, cape, "MESH_CACHE")
    stack = [f"{'' if on else '-'}{name.replace(' ', '_')}" for name, _, on, _ in switches(cape)]
    assert " ".join(stack) == STACKS[change]
    assert all(on == rendered for _, _, on, rendered in switches(cape))
    bpy.ops.wm.save_mainfile()
    extension.disable()
    cape = load(saved)
    for frame in (9, 5, *range(FIRST, LAST + 1)):
        go(frame)
        assert off(shown(cape), seen[frame][0]) < EXACT, frame
    assert corners(cape) == faces
    extension.enable()
    cape = bpy.data.objects["Cape"]
    go(FIRST)
    bake.delete(bpy.context.scene, [cape], with_files=True)
    assert (switches(cape), scenes.mesh_bytes(cape), cape.parent_type) == before
    assert not list((saved.parent / "cache_pbd").iterdir())
    again = play([cape], FIRST, LAST)
    assert max(off(again[frame][0], seen[frame][0]) for frame in again) < EXACT


def test_a_mesh_cache_of_ours_does_not_pose(extension, session, bake, saved):
    """The modifier of a bake is none that pins are to follow: the frames of other cloth in the scene stay."""
    flag, other = scenes.add_grid(), scenes.add_grid("Other")
    scenes.let_through()
    bpy.ops.wm.save_mainfile()
    play([flag, other], FIRST, LAST)
    run(bake, flag, "MESH_CACHE")
    choice = extension.bridge("output.output_choice").choose(flag)
    assert choice == (False, "By shape key, as no modifier poses this mesh")
    running = session.get(bpy.context.scene)
    steps = count_steps(running)
    for frame in (FIRST, 7):
        go(frame)
    assert running.last_frame == LAST and session.fits(bpy.context.scene) and steps == []
    flag.modifiers["PBD Bake"].name = "Mine now"
    assert not extension.bridge("output.output_choice").choose(flag).modifier


@pytest.mark.parametrize("mode", ["ABSOLUTE", "REDUCED", "MESH_CACHE"])
def test_what_the_first_bake_kept_the_next_keeps(session, bake, saved, mode):
    """A bake that is deleted leaves frames that hold: the next one simulates nothing."""
    _, cape, _ = add_dressed()
    seen = play([cape], FIRST, LAST)
    cape.pbd.reduce_error = 1e-4
    run(bake, cape, mode)
    bake.delete(bpy.context.scene, [cape])
    steps = count_steps(session.get(bpy.context.scene))
    run(bake, cape, mode)
    assert steps == []
    go(7)
    assert off(shown(cape), seen[7][0]) < (1e-4 if mode == "REDUCED" else 0.0) + EXACT


# ------------------------------------------------------------------------------------------ exports


@pytest.mark.parametrize(
    ("suffix", "how"),
    [("abc", "LIVE"), ("usdc", "LIVE"), ("glb", "LIVE"), ("usdc", "ABSOLUTE"), ("glb", "MESH_CACHE")],
)
def test_exports_hold_what_was_simulated(extension, bake, saved, suffix, how):
    rig, cape, twin = add_dressed()
    bpy.data.objects.remove(twin)
    cape.pbd.reduce_error = 0.001
    seen = play([cape], FIRST, LAST)
    if how != "LIVE":
        run(bake, cape, how)
    go(5)
    bpy.context.view_layer.objects.active = cape
    bpy.ops.object.select_all(action="DESELECT")
    cape.select_set(True)
    before, posed_by = state(cape), cape.modifiers["Armature"].object
    rest = np.array([vertex.co for vertex in cape.data.vertices], np.float32)
    path = saved.parent / f"cape.{suffix}"
    formats = {"abc": "ALEMBIC", "usdc": "USD", "glb": "GLTF"}
    assert bpy.ops.object.pbd_export(format=formats[suffix], filepath=str(path)) == {"FINISHED"}
    assert state(cape) == before and cape.modifiers["Armature"].object == posed_by == rig
    back = read_back(extension, path)
    assert not bpy.data.armatures
    ids, shift, error = slice(None), 0, SHARED
    if suffix == "glb":
        points = np.array([point.co for point in back.data.shape_keys.key_blocks[0].points], np.float32)
        ids, shift, error = counterparts(points, rest), -FIRST, 0.001 + SHARED
    for frame in range(FIRST, LAST + 1):
        go(frame + shift)
        assert off(shown(back), seen[frame][0][ids]) < error, frame


# ------------------------------------------------------------------------------------------ the cache on disk


@pytest.fixture
def on_disk(session, saved):
    """A cape that a rig and a Cast pose, played and saved with its frames on disk; what was shown."""
    _, cape, _ = add_dressed()
    cape.modifiers.new("Cast", "CAST").factor = 0.1
    subdivide(cape)
    bpy.context.scene.frame_end, bpy.context.scene.pbd.use_disk_cache = LAST + 4, True
    seen = play([cape], FIRST, LAST)
    bpy.ops.wm.save_mainfile()
    assert session.get(bpy.context.scene).disk_note == ""
    return {frame: shapes[0] for frame, shapes in seen.items()}


def test_a_disk_cache_is_taken_up_and_goes_on(session, saved, on_disk):
    cape = load(saved)
    running = session.get(bpy.context.scene)
    assert (running.disk_note, running.first_frame, running.last_frame) == ("", FIRST, LAST)
    steps = count_steps(running)
    for frame in (LAST, 4, FIRST, 9, 2):
        go(frame)
        assert off(shown(cape), on_disk[frame]) < EXACT, frame
    assert running.last_frame == LAST and session.fits(bpy.context.scene) and steps == []
    broken = play([cape], LAST + 1, LAST + 4)
    assert steps == [LAST + 1, LAST + 2, LAST + 3, LAST + 4]
    session.clear_cache(bpy.context.scene)
    unbroken = play([cape], FIRST, LAST + 4)
    assert max(off(broken[frame][0], unbroken[frame][0]) for frame in broken) < 2 * EXACT


def test_a_pose_that_was_changed_after_loading_is_noticed(session, saved, on_disk):
    """Nothing but the pins tells that a modifier has another value now."""
    cape = load(saved)
    running = session.get(bpy.context.scene)
    cape.modifiers["Cast"].factor = 0.3
    go(9)
    assert (running.invalidated.first, running.invalidated.last) == (9, LAST)
    assert running.invalidated.why == "modifiers put the pins of 'Cape' elsewhere"
    assert running.last_frame == 9
    twin = bpy.data.objects["Twin"]
    twin.modifiers.new("Cast", "CAST").factor = 0.3
    cape.modifiers["Subdivision"].show_viewport = False
    assert off(shown(cape)[pinned()], shown(twin)[pinned()]) < EXACT


def lift(cape):
    cape.data.vertices[0].co.z += 0.1
    cape.data.update()


@pytest.mark.parametrize(
    "change",
    [
        lift,
        lambda cape: setattr(cape.pbd, "rest_shape", "DEFORMED"),
        lambda cape: setattr(cape.pbd, "output", "SHAPE_KEY"),
    ],
)
def test_a_cache_of_another_garment_is_not_shown(extension, session, saved, on_disk, change):
    """The .blend was changed where the extension could not see it."""
    cape = load(saved)
    handlers = extension.bridge("handlers")
    change(cape)
    for function, listed in (
        (handlers.before_save, bpy.app.handlers.save_pre),
        (handlers.on_save, bpy.app.handlers.save_post),
    ):
        listed.remove(function)
    bpy.ops.wm.save_mainfile()
    load(saved)
    running = session.get(bpy.context.scene)
    assert running.scene_sim is None
    said = "The cache on disk does not fit: the mesh, Output, Rest Shape, Initial Velocity or Layer of 'Cape' changed"
    assert running.disk_note == said


def test_a_render_with_other_modifiers_takes_no_frames(session, saved, tmp_path):
    """What is off in renders poses the cached frames all the same."""
    _, cape, _ = add_dressed()
    cape.modifiers["Armature"].show_render = False
    seen = play([cape], FIRST, LAST)
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine, scene.cycles.samples = camera, "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.frame_end, scene.render.filepath = 4, str(tmp_path / "frame")
    steps = count_steps(session.get(scene))
    bpy.ops.render.render(animation=True)
    assert session.get(scene).last_frame == LAST and steps == []
    go(10)
    assert off(shown(cape), seen[10][0]) < EXACT
