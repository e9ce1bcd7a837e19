"""Cloth on a rig through bake, undo, saving, rendering and removal: nothing of the user's is lost."""

import bpy
import numpy as np
import pytest

from helpers import rigs, scenes
from helpers.rigs import (
    EXACT,
    LAST,
    add_dressed,
    bevel,
    check_frame,
    names,
    off,
    pinned,
    simulated,
    state,
    subdivide,
    switches,
)
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


@pytest.fixture
def bake(extension):
    return extension.bridge("baking.bake")


@pytest.mark.parametrize("mode", ["ABSOLUTE", "RELATIVE"])
def test_a_bake_plays_without_the_extension(extension, session, bake, mode, tmp_path):
    _, cape, _ = add_dressed()
    cape.modifiers["Armature"].show_render = False
    bpy.context.scene.frame_end = LAST
    seen = {frame: positions[0] for frame, positions in play([cape], 1, LAST).items()}
    list(bake.start(bpy.context.scene, [cape], mode, 1, LAST))
    assert [on for _, _, on, _ in switches(cape)] == [False, False]
    path = str(tmp_path / "cape.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    extension.disable()
    bpy.ops.wm.open_mainfile(filepath=path)
    cape = bpy.data.objects["Cape"]
    for frame in (*range(1, LAST + 1), 5, 16):
        go(frame)
        assert off(shown(cape), seen[frame]) < EXACT, frame
    extension.enable()


def test_a_bake_without_playing_first(session, bake):
    """The bake goes through the frames itself; it equals what is played."""
    _, cape, twin = add_dressed()
    subdivide(cape)
    list(bake.start(bpy.context.scene, [cape], "ABSOLUTE", 1, LAST))
    cape.modifiers["Subdivision"].show_viewport = False
    baked = {frame: positions[0] for frame, positions in play([cape], 1, LAST).items()}
    for frame in (1, 6, 11, LAST):
        go(frame)
        assert off(baked[frame][pinned()], shown(twin)[pinned()]) < EXACT
    bake.delete(bpy.context.scene, [cape])
    session.clear_cache(bpy.context.scene)
    again = play([cape], 1, LAST)
    assert max(off(again[frame][0], baked[frame]) for frame in again) < EXACT


@pytest.mark.parametrize("mode", ["ABSOLUTE", "RELATIVE"])
def test_deleting_the_bake_restores_everything(session, bake, mode):
    _, cape, twin = add_dressed()
    cape.modifiers["Armature"].show_render = False
    play([cape], 1, LAST)
    go(1)
    before = state(cape)
    seen = {frame: simulated(session, cape, frame) for frame in range(1, LAST + 1)}
    list(bake.start(bpy.context.scene, [cape], mode, 1, LAST))
    assert state(cape) != before
    go(1)
    bake.delete(bpy.context.scene, [cape])
    assert state(cape) == before
    go(12)
    assert off(shown(cape), seen[12]) < EXACT
    check_frame(session, cape, twin, 12)


def test_a_parent_that_deforms_is_put_back(session, bake):
    cape = rigs.add_cape()
    cape.parent, cape.parent_type = rigs.add_rig(), "ARMATURE"
    play([cape], 1, 5)
    seen = simulated(session, cape, 5)
    list(bake.start(bpy.context.scene, [cape], "ABSOLUTE", 1, 5))
    go(5)
    assert off(shown(cape), seen) < EXACT
    assert cape.parent_type == "OBJECT"
    bake.delete(bpy.context.scene, [cape])
    assert cape.parent_type == "ARMATURE"
    go(5)
    assert off(shown(cape), seen) < EXACT


@pytest.mark.parametrize("mode", ["ABSOLUTE", "MESH_CACHE"])
def test_a_bake_does_not_take_the_frames_of_another(session, bake, mode, tmp_path):
    cape, flag = rigs.add_cape(), scenes.add_grid()
    cape.parent, cape.parent_type = rigs.add_rig(), "ARMATURE"
    scenes.let_through()
    play([cape, flag], 1, 6)
    bpy.context.scene.pbd.bake_folder = str(tmp_path)
    list(bake.start(bpy.context.scene, [cape], mode, 1, 6))
    for frame in (1, 4):
        go(frame)
    running = session.get(bpy.context.scene)
    assert running.last_frame == 6 and session.fits(bpy.context.scene)


def test_switches_that_are_animated_are_refused(extension, bake):
    _, cape, _ = add_dressed()
    play([cape], 1, 2)
    cape.modifiers["Armature"].keyframe_insert("show_viewport", frame=1)
    with pytest.raises(extension.bridge("timeline.session").PBDError, match="switched by animation"):
        bake.start(bpy.context.scene, [cape], "ABSOLUTE", 1, 5)


def test_removing_restores_the_modifiers(session):
    _, cape, _ = add_dressed()
    subdivide(cape)
    cape.pbd.enabled = False
    before = state(cape)
    count = len(bpy.data.node_groups)
    bpy.context.view_layer.objects.active = cape
    bpy.ops.object.pbd_add(type="CLOTH")
    assert names(cape) == ["Armature", "PBD Output", "Subdivision"]
    play([cape], 1, 6)
    bpy.ops.object.pbd_remove()
    assert state(cape) == before
    assert len(bpy.data.node_groups) == count


def test_removing_from_a_baked_cape_keeps_its_animation(session, bake):
    _, cape, _ = add_dressed()
    seen = play([cape], 1, 6)
    list(bake.start(bpy.context.scene, [cape], "ABSOLUTE", 1, 6))
    bpy.context.view_layer.objects.active = cape
    bpy.ops.object.pbd_remove()
    assert names(cape) == ["Armature"] and "pbd_position" not in cape.data.attributes
    go(4)
    assert off(shown(cape), seen[4][0]) < EXACT


def test_one_group_for_all(session):
    rig, cape, _ = add_dressed()
    other = rigs.add_cape("Other")
    rigs.arm(other, rig)
    scenes.let_through()
    play([cape, other], 1, 3)
    groups = {obj.modifiers["PBD Output"].node_group for obj in (cape, other)}
    assert len(groups) == 1 == len(bpy.data.node_groups)
    for obj in (cape, other):
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.select_all(action="DESELECT")
        bpy.ops.object.pbd_remove()
        assert len(bpy.data.node_groups) == (1 if obj == cape else 0)


def test_a_group_of_that_name_is_the_users(session):
    mine = bpy.data.node_groups.new("PBD Output", "GeometryNodeTree")
    mine.use_fake_user = True
    _, cape, twin = add_dressed()
    play([cape], 1, 3)
    check_frame(session, cape, twin, 3)
    assert cape.modifiers["PBD Output"].node_group != mine and len(mine.nodes) == 0


def test_undo_of_adding(session):
    _, cape, _ = add_dressed()
    cape.pbd.enabled = False
    go(1)
    bpy.context.view_layer.objects.active = cape
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.pbd_add(type="CLOTH")
    bpy.ops.ed.undo_push(message="add")
    play([cape], 1, 5)
    bpy.ops.ed.undo_push(message="play")
    seen = shown(cape)
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    cape, twin = bpy.data.objects["Cape"], bpy.data.objects["Twin"]
    assert not cape.pbd.enabled and names(cape) == ["Armature"] and not bpy.data.node_groups
    go(5)
    assert off(shown(cape), shown(twin)) < EXACT
    bpy.ops.ed.redo()
    cape, twin = bpy.data.objects["Cape"], bpy.data.objects["Twin"]
    assert names(cape) == ["Armature", "PBD Output"]
    play([cape], 1, 5)
    check_frame(session, cape, twin, 5)
    assert off(shown(cape), seen) < EXACT


def test_it_plays_on_after_saving(session, tmp_path):
    _, cape, _ = add_dressed()
    subdivide(cape)
    seen = play([cape], 1, 8)
    go(5)
    path = str(tmp_path / "cape.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    cape = bpy.data.objects["Cape"]
    assert names(cape) == ["Armature", "PBD Output", "Subdivision"] and len(bpy.data.node_groups) == 1
    assert off(shown(cape), seen[5][0]) < EXACT, "the file shows the frame it was saved at"
    again = play([cape], 1, 8)
    assert max(off(again[frame][0], seen[frame][0]) for frame in again) < EXACT


def test_a_duplicate_is_simulated_too(session):
    _, cape, twin = add_dressed()
    play([cape], 1, 3)
    go(1)
    copy = cape.copy()
    copy.data = cape.data.copy()
    copy.name = "Copy"
    copy.location.y = 3.0
    bpy.context.scene.collection.objects.link(copy)
    session.clear_cache(bpy.context.scene)
    play([cape, copy], 1, 5)
    assert names(copy) == ["Armature", "PBD Output"]
    check_frame(session, cape, twin, 5)
    assert off(shown(copy), simulated(session, copy, 5)) < EXACT
    assert off(shown(copy)[pinned()] - (0.0, 3.0, 0.0), shown(twin)[pinned()]) > EXACT


@pytest.mark.parametrize("add", [subdivide, bevel])
def test_a_render_steps_the_same(session, add, tmp_path):
    """Frames that only a render steps: it evaluates a scene of its own and hands nothing back."""
    _, cape, _ = add_dressed()
    cast = cape.modifiers.new("Cast", "CAST")
    for frame, factor in ((1, 0.0), (LAST, 0.8)):
        cast.factor = factor
        cast.keyframe_insert("factor", frame=frame)
    add(cape)
    play([cape], 1, 6)
    want = simulated(session, cape, 6)
    session.clear_cache(bpy.context.scene)
    go(1)
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine, scene.cycles.samples = camera, "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.frame_start, scene.frame_end, scene.render.filepath = 1, 6, str(tmp_path / "frame")
    bpy.ops.render.render(animation=True)
    assert off(simulated(session, cape, 6), want) < EXACT


def test_apply_makes_a_mesh_of_the_shape(session):
    _, cape, _ = add_dressed()
    subdivide(cape)
    play([cape], 1, 6)
    want = shown(cape)
    bpy.context.view_layer.objects.active = cape
    cape.select_set(True)
    for result in ("BASE", "SHAPE_KEY"):
        with pytest.raises(RuntimeError, match="apply its shape as a new mesh"):
            bpy.ops.object.pbd_apply(result=result)
    bpy.ops.object.pbd_apply(result="MESH")
    copy = bpy.data.objects["Cape Shape"]
    assert names(copy) == ["Subdivision"] and names(cape) == ["Armature", "PBD Output", "Subdivision"]
    assert off(shown(copy), want) < EXACT
    assert "pbd_position" not in copy.data.attributes


def test_attached_vertices_begin_in_the_pose(session):
    """Attached vertices keep to the body where the pose has put them."""
    rig, cape, twin = add_dressed()
    body = rigs.add_cape("Body", pbd=False)
    rigs.arm(body, rig)
    cape.pbd.pin_group = ""
    cape.pbd.attach_object, cape.pbd.attach_group = body, "Pin"
    scenes.let_through()
    for frame in range(1, 12):
        go(frame)
        if frame > 1:
            check_frame(session, cape, twin, frame)


def test_switched_off_it_shows_what_the_rig_makes(session):
    _, cape, twin = add_dressed()
    play([cape], 1, 6)
    cape.pbd.active = False
    go(7)
    assert off(shown(cape), shown(twin)) < EXACT
    cape.pbd.active = True
    session.clear_cache(bpy.context.scene)
    go(4)
    assert np.isfinite(shown(cape)).all()
