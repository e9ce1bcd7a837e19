"""Colliders as an artist has them: marked, moved, deformed, hidden, undone, saved; what cloth shows is the judge."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

CALM = {"drag": 2.0, "friction": 1.0}


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


@pytest.fixture(autouse=True)
def alone(extension):
    """These tests are about obstacles: cloth does not meet cloth."""
    scenes.let_through()


def running(session):
    return session.get(bpy.context.scene)


def add_box(name="Table", size=(1.6, 1.6, 0.2), top=0.0, mark=True, **settings):
    """A closed box whose upper side is at height `top` [m], at the origin of its object."""
    corners = [(x, y, z) for z in (-size[2], 0.0) for y in (-0.5 * size[1], 0.5 * size[1])
               for x in (-0.5 * size[0], 0.5 * size[0])]  # fmt: skip
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    obj = scenes.add_mesh(name, corners, faces, pbd=False)
    obj.location.z = top
    if mark:
        obj.pbd_collider.enabled = True
        for setting, value in settings.items():
            setattr(obj.pbd_collider, setting, value)
    return obj


def add_cloth(name="Cloth", height=0.05, rx=9, ry=7, **settings):
    """A small sheet that hovers over the origin."""
    obj = scenes.add_grid(name, rx=rx, ry=ry, **{**CALM, **settings})
    obj.location.z = height
    return obj


def lies_at(obj, height, tolerance=2e-3):
    """Whether all of a cloth lies at a height, at its own and the collider's Distance over it [m]."""
    z = shown(obj)[:, 2]
    return np.abs(z - (height + 0.004)).max() < tolerance


def fell(obj, depth=0.3):
    return shown(obj)[:, 2].max() < -depth


def linear(obj):
    scenes.straighten(obj)


# ------------------------------------------------------------------------------------------ what holds


def test_without_a_collider_it_falls(session):
    obj = add_cloth()
    add_box(mark=False)
    play([obj], 1, 20)
    assert fell(obj)


def test_a_still_collider_holds_cloth(session):
    obj, _ = add_cloth(), add_box()
    play([obj], 1, 20)
    assert lies_at(obj, 0.0)
    assert running(session).report.contacts > 20


def test_distances_add_up(session):
    obj = add_cloth(thickness=0.01)
    add_box(thickness=0.03)
    play([obj], 1, 20)
    assert shown(obj)[:, 2].min() == pytest.approx(0.04, abs=2e-3)


def test_several_colliders_and_two_cloths(session):
    one, two = add_cloth("One", height=0.05), add_cloth("Two", height=1.05)
    two.location.x = 3.0
    add_box("Low")
    high = add_box("High", top=1.0)
    high.location.x = 3.0
    play([one, two], 1, 20)
    assert lies_at(one, 0.0)
    assert lies_at(two, 1.0)


@pytest.mark.parametrize("scale", [(1.0, 1.0, -1.0), (-2.0, 1.0, 1.0), (3.0, 0.8, 1.0)])
def test_a_scaled_or_mirrored_collider_is_solid(session, scale):
    obj = add_cloth(rx=7, ry=5)
    box = add_box()
    box.scale = scale
    if scale[2] < 0.0:
        box.location.z = -0.2
    play([obj], 1, 20)
    assert lies_at(obj, 0.0)


def test_mirrored_faces_look_outward(session):
    add_cloth()
    box = add_box()
    box.scale.x = -1.0
    go(1), go(2)
    (one,) = running(session).scene_sim.colliders.values()
    a, b, c = (one.collider.vertices[one.collider.mesh.triangles[:, k]] for k in range(3))
    assert (np.cross(a, b) * c).sum() / 6.0 == pytest.approx(1.6 * 1.6 * 0.2, rel=1e-5)


def test_a_turned_and_moved_collider_is_where_it_is_shown(session):
    obj = add_cloth()
    obj.location = (2.0, -1.0, 0.55)
    box = add_box(top=0.5)
    box.location.xy = (2.0, -1.0)
    box.rotation_euler = (0.0, 0.0, 0.6)
    play([obj], 1, 20)
    assert lies_at(obj, 0.5)


def test_a_collider_with_a_parent(session):
    obj = add_cloth(height=0.55)
    box = add_box()
    empty = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(empty)
    box.parent = empty
    empty.location.z = 0.5
    play([obj], 1, 20)
    assert lies_at(obj, 0.5)


# ------------------------------------------------------------------------------------------ what moves


def test_an_animated_collider_lifts_cloth(session):
    obj, box = add_cloth(), add_box()
    scenes.animate_location(box, 10, 34, (0.0, 0.0, 0.5))
    seen = play([obj, box], 1, 34)
    for frame in range(6, 35):
        cloth, solid = seen[frame]
        assert cloth[:, 2].min() > solid[:, 2].max() + 1e-3, frame
    assert seen[34][0][:, 2].max() < 0.55


def test_a_jump_gives_the_collider_a_straight_way(session):
    obj, box = add_cloth(), add_box()
    scenes.animate_location(box, 10, 34, (0.0, 0.0, 0.5))
    want = play([obj], 1, 30)[30][0]
    session.clear_cache(bpy.context.scene)
    play([obj], 1, 12)
    go(30)
    assert np.abs(shown(obj) - want).max() < 1e-4
    assert running(session).first_guess is None


def test_moved_while_playing(session):
    """The collider is grabbed and lifted a little at each frame, as with G; frames before stay."""
    obj, box = add_cloth(), add_box()
    seen = play([obj], 1, 12)
    for frame in range(13, 31):
        box.location.z += 0.02
        bpy.context.view_layer.update()
        go(frame)
        seen[frame] = [shown(obj)]
        assert seen[frame][0][:, 2].min() > box.location.z + 1e-3, frame
    assert (running(session).first_frame, running(session).last_frame) == (1, 30)
    assert running(session).first_disturbed == 13
    for frame in (30, 12, 20, 1, 13, 5):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0]), frame
    assert running(session).last_frame == 30


def test_moved_on_a_cached_frame_forgets_the_frames_after_it(session):
    obj, box = add_cloth(), add_box()
    seen = play([obj], 1, 20)
    go(8)
    box.location.z = -5.0
    go(9)
    assert running(session).last_frame == 9
    play([obj], 10, 25)
    assert fell(obj)
    go(8)
    assert np.array_equal(shown(obj), seen[8][0])


def test_moved_on_the_first_frame_starts_anew(session):
    obj, box = add_cloth(), add_box()
    play([obj], 1, 10)
    go(1)
    box.location.z = -0.5
    play([obj], 2, 40)
    assert running(session).first_disturbed is None
    assert lies_at(obj, -0.5)


def test_animation_is_no_move_by_hand(session):
    obj, box = add_cloth(), add_box()
    scenes.animate_location(box, 1, 20, (0.0, 0.0, 0.3))
    seen = play([obj], 1, 20)
    for frame in (5, 19, 2, 11, 1, 20):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0]), frame
    assert running(session).first_disturbed is None
    assert running(session).last_frame == 20


def test_a_bake_after_a_move_by_hand_is_of_one_place(extension, session):
    scene = bpy.context.scene
    scene.frame_end = 20
    obj, box = add_cloth(), add_box()
    play([obj], 1, 8)
    box.location.z = -0.1
    play([obj], 9, 12)
    list(extension.bridge("baking.bake").start(scene, [obj], "ABSOLUTE", 1, 20))
    baked = play([obj], 1, 20)
    extension.bridge("baking.bake").delete(scene, [obj])
    session.clear_cache(scene)
    fresh = play([obj], 1, 20)
    for frame in (5, 9, 20):
        assert np.abs(baked[frame][0] - fresh[frame][0]).max() < 1e-5, frame


# ------------------------------------------------------------------------------------------ what deforms


def test_shape_keys_of_a_collider(session):
    obj, box = add_cloth(), add_box()
    box.shape_key_add(name="Basis")
    raised = box.shape_key_add(name="Raised")
    for point in raised.data:
        point.co.z += 0.4
    raised.value = 0.0
    raised.keyframe_insert("value", frame=10)
    raised.value = 1.0
    raised.keyframe_insert("value", frame=34)
    linear(box.data.shape_keys)
    seen = play([obj, box], 1, 34)
    assert seen[34][1][:, 2].max() == pytest.approx(0.4, abs=1e-4)
    for frame in range(6, 35):
        assert seen[frame][0][:, 2].min() > seen[frame][1][:, 2].max() + 1e-3, frame


def test_an_armature_deforms_a_collider(session):
    obj, box = add_cloth(), add_box()
    bones = bpy.data.armatures.new("Bones")
    rig = bpy.data.objects.new("Rig", bones)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = bones.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, -1), (0, 0, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    box.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    box.modifiers.new("Armature", "ARMATURE").object = rig
    pose = rig.pose.bones["Bone"]
    pose.keyframe_insert("location", frame=10)
    pose.location.y = 0.4
    pose.keyframe_insert("location", frame=34)
    linear(rig)
    seen = play([obj, box], 1, 34)
    assert seen[34][1][:, 2].max() == pytest.approx(0.4, abs=1e-4)
    for frame in range(6, 35):
        assert seen[frame][0][:, 2].min() > seen[frame][1][:, 2].max() + 1e-3, frame


def test_modifiers_of_a_collider_count(session):
    obj, box = add_cloth(rx=5, ry=5, width=0.3, height=0.05), add_box()
    subdivision = box.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.subdivision_type = 2, "SIMPLE"
    displace = box.modifiers.new("Displace", "DISPLACE")
    displace.strength, displace.direction, displace.mid_level = 0.3, "Z", 0.0
    obj.location.z = 0.35
    play([obj], 1, 20)
    (one,) = running(session).scene_sim.colliders.values()
    assert len(one.collider.vertices) > 90
    assert lies_at(obj, 0.3)


def test_another_number_of_vertices_in_the_middle(session):
    """A modifier is added while frames play: contact goes on, the frames before stay."""
    obj, box = add_cloth(), add_box()
    seen = play([obj], 1, 10)
    subdivision = box.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.subdivision_type = 1, "SIMPLE"
    play([obj], 11, 20)
    assert running(session).message == ""
    (one,) = running(session).scene_sim.colliders.values()
    assert len(one.collider.vertices) == 26
    assert lies_at(obj, 0.0)
    go(7)
    assert np.array_equal(shown(obj), seen[7][0])


def test_a_mirror_in_the_middle_keeps_the_outside_outside(session):
    obj, box = add_cloth(), add_box()
    play([obj], 1, 6)
    box.scale.x = -1.0
    play([obj], 7, 16)
    (one,) = running(session).scene_sim.colliders.values()
    a, b, c = (one.collider.vertices[one.collider.mesh.triangles[:, k]] for k in range(3))
    assert (np.cross(a, b) * c).sum() > 0.0
    assert lies_at(obj, 0.0)


def test_a_still_collider_is_read_but_not_kept_twice(session):
    obj = add_cloth()
    add_box()
    play([obj], 1, 6)
    moments = running(session).snapshots
    first = next(iter(moments[1].surfaces.values()))
    for frame in range(2, 7):
        surface = next(iter(moments[frame].surfaces.values()))
        assert surface.points is first.points
        assert surface.faces is first.faces


# ------------------------------------------------------------------------------------------ which objects


def add_collection(*objects):
    made = bpy.data.collections.new("Stage")
    bpy.context.scene.collection.children.link(made)
    for obj in objects:
        bpy.context.scene.collection.objects.unlink(obj)
        made.objects.link(obj)
    bpy.context.scene.pbd.collider_collection = made
    return made


def test_the_collection(session):
    obj, box = add_cloth(), add_box(mark=False)
    add_collection(box)
    play([obj], 1, 20)
    assert lies_at(obj, 0.0)


def test_the_collection_within_the_collection(session):
    obj, box = add_cloth(), add_box(mark=False)
    outer = add_collection()
    inner = bpy.data.collections.new("Inner")
    outer.children.link(inner)
    bpy.context.scene.collection.objects.unlink(box)
    inner.objects.link(box)
    play([obj], 1, 20)
    assert lies_at(obj, 0.0)


def test_cloth_and_lights_in_the_collection_are_no_colliders(session):
    obj, box = add_cloth(), add_box(mark=False)
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "POINT"))
    empty_mesh = bpy.data.objects.new("Nothing", bpy.data.meshes.new("Nothing"))
    for other in (light, empty_mesh):
        bpy.context.scene.collection.objects.link(other)
    add_collection(obj, box, light, empty_mesh)
    play([obj], 1, 20)
    assert running(session).message == ""
    assert [one.surface.name for one in running(session).scene_sim.colliders.values()] == ["Table"]
    assert lies_at(obj, 0.0)


def test_a_marked_object_of_the_collection_has_its_own_settings(session):
    obj, box = add_cloth(), add_box(thickness=0.03)
    add_collection(box)
    play([obj], 1, 20)
    assert shown(obj)[:, 2].min() == pytest.approx(0.032, abs=2e-3)


def test_an_unmarked_object_of_the_collection_has_the_defaults(session):
    box = add_box(mark=False)
    add_cloth()
    box.pbd_collider.thickness = 0.3
    add_collection(box)
    go(1), go(2)
    (one,) = running(session).scene_sim.colliders.values()
    assert one.collider.thickness == 0.002


@pytest.mark.parametrize("how", ["hide_viewport", "exclude", "collection"])
def test_a_disabled_object_is_no_collider(session, how):
    obj, box = add_cloth(), add_box()
    if how == "exclude":
        add_collection(box)
        bpy.context.view_layer.layer_collection.children["Stage"].exclude = True
    elif how == "collection":
        add_collection(box).hide_viewport = True
    else:
        box.hide_viewport = True
    play([obj], 1, 20)
    assert fell(obj)


@pytest.mark.parametrize("how", ["eye", "render"])
def test_a_hidden_object_is_a_collider(session, how):
    obj, box = add_cloth(), add_box()
    if how == "eye":
        box.hide_set(True)
    else:
        box.hide_render = True
    play([obj], 1, 20)
    assert lies_at(obj, 0.0)


def test_simulated_cloth_is_no_collider_even_if_it_is_marked(session):
    obj, other = add_cloth(), add_cloth("Other", height=1.0)
    other.pbd_collider.enabled = True
    play([obj], 1, 10)
    assert not running(session).scene_sim.colliders
    assert running(session).message == ""


def test_a_baked_cloth_that_is_marked_is_a_collider(extension, session):
    scene = bpy.context.scene
    scene.frame_end = 25
    rug = add_cloth("Rug", height=0.0, width=2.0, rx=5, ry=5)
    scenes.pin(rug, [0, 1, 2, 3, 4, 5, 9, 10, 14, 15, 19, 20, 21, 22, 23, 24])
    list(extension.bridge("baking.bake").start(scene, [rug], "ABSOLUTE", 1, 25))
    rug.pbd_collider.enabled = True
    obj = add_cloth(height=0.1, width=0.4)
    play([obj], 1, 25)
    assert [one.surface.name for one in running(session).scene_sim.colliders.values()] == ["Rug"]
    assert shown(obj)[:, 2].min() > shown(rug)[:, 2].min() + 1e-3


def test_text_and_curves_collide_too(session):
    bpy.ops.object.text_add()
    text = bpy.context.object
    text.data.extrude = 0.1
    text.pbd_collider.enabled = True
    bpy.ops.curve.primitive_bezier_circle_add()
    ring = bpy.context.object
    ring.data.bevel_depth = 0.1
    ring.pbd_collider.enabled = True
    add_cloth(height=1.0)
    go(1), go(2)
    assert {one.surface.name for one in running(session).scene_sim.colliders.values()} == {text.name, ring.name}
    assert running(session).message == ""


def test_linked_data(session, tmp_path):
    """A collider from another file, and two colliders that share one mesh."""
    box = add_box()
    path = str(tmp_path / "stage.blend")
    bpy.data.libraries.write(path, {box})
    bpy.data.objects.remove(box)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Table"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    twin = bpy.data.objects.new("Twin", wanted.objects[0].data)
    twin.location = (3.0, 0.0, 1.0)
    bpy.context.scene.collection.objects.link(twin)
    twin.pbd_collider.enabled = True
    obj, other = add_cloth(), add_cloth("Other", height=1.05)
    other.location.x = 3.0
    play([obj, other], 1, 20)
    assert lies_at(obj, 0.0)
    assert lies_at(other, 1.0)


def test_a_duplicate_is_a_collider_of_its_own(session):
    obj, box = add_cloth(), add_box()
    copy = box.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.location.x = 3.0
    other = add_cloth("Other")
    other.location.x = 3.0
    play([obj, other], 1, 20)
    assert len(running(session).scene_sim.colliders) == 2
    assert lies_at(obj, 0.0)
    assert lies_at(other, 0.0)


# ------------------------------------------------------------------------------------------ coming and going


def test_removed_while_running(session):
    obj, box = add_cloth(), add_box()
    seen = play([obj], 1, 10)
    bpy.data.objects.remove(box)
    play([obj], 11, 25)
    assert running(session).message == ""
    assert not running(session).scene_sim.colliders
    assert fell(obj)
    for frame in (10, 4, 1):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0])
    assert running(session).last_frame == 25


@pytest.mark.parametrize("cached", [False, True])
def test_unmarked_while_running(session, cached):
    obj, box = add_cloth(), add_box()
    seen = play([obj], 1, 15 if cached else 10)
    go(10)
    box.pbd_collider.enabled = False
    go(11)
    assert running(session).last_frame == 11
    play([obj], 12, 25)
    assert fell(obj)
    go(9)
    assert np.array_equal(shown(obj), seen[9][0])


@pytest.mark.parametrize("cached", [False, True])
def test_added_while_running(session, cached):
    obj = add_cloth()
    seen = play([obj], 1, 9 if cached else 5)
    go(5)
    add_box(top=-0.6)
    bpy.context.view_layer.update()
    go(6)
    assert running(session).last_frame == 6
    play([obj], 7, 35)
    assert running(session).message == ""
    assert lies_at(obj, -0.6)
    assert running(session).first_disturbed == 6
    go(4)
    assert np.array_equal(shown(obj), seen[4][0])


def test_disabled_in_the_middle(session):
    obj, box = add_cloth(), add_box()
    play([obj], 1, 10)
    box.hide_viewport = True
    bpy.context.view_layer.update()
    play([obj], 11, 25)
    assert fell(obj)


def test_settings_of_a_collider_act_from_the_frame_on_show(session):
    obj, box = add_cloth(), add_box()
    seen = play([obj], 1, 20)
    go(14)
    box.pbd_collider.thickness = 0.05
    go(15)
    assert running(session).last_frame == 15
    play([obj], 16, 30)
    assert shown(obj)[:, 2].min() == pytest.approx(0.052, abs=2e-3)
    go(14)
    assert np.array_equal(shown(obj), seen[14][0])


def test_animated_settings_of_a_collider(session):
    obj, box = add_cloth(), add_box()
    for frame, thickness in ((10, 0.002), (30, 0.1)):
        box.pbd_collider.thickness = thickness
        box.pbd_collider.keyframe_insert("thickness", frame=frame)
    seen = play([obj], 1, 40)
    assert shown(obj)[:, 2].min() == pytest.approx(0.102, abs=3e-3)
    for frame in (12, 35, 3, 40):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0]), frame
    assert running(session).last_frame == 40


def test_switching_to_inside_in_the_middle(session):
    obj, box = add_cloth(), add_box()
    play([obj], 1, 5)
    box.pbd_collider.inside = True
    go(6)
    (one,) = running(session).scene_sim.colliders.values()
    assert one.collider.inside
    assert running(session).message == ""


def test_undo_and_redo_of_a_move(session):
    obj, box = add_cloth(), add_box()
    bpy.ops.ed.undo_push(message="made")
    seen = play([obj], 1, 12)
    go(8)
    bpy.ops.ed.undo_push(message="frame 8")
    box.location.z = -0.7
    bpy.ops.ed.undo_push(message="moved")
    go(9), go(10)
    assert shown(obj)[:, 2].max() < seen[10][0][:, 2].min()
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Cloth"]
    assert bpy.data.objects["Table"].location.z == 0.0
    for frame in (8, 9, 10, 12):
        go(frame)
        assert np.allclose(shown(obj), seen[frame][0], atol=1e-4), frame
    bpy.ops.ed.redo()
    play([bpy.data.objects["Cloth"]], 9, 40)
    assert lies_at(bpy.data.objects["Cloth"], -0.7)


def test_undo_of_adding_a_collider(session):
    obj, box = add_cloth(), add_box(mark=False)
    bpy.ops.ed.undo_push(message="made")
    box.pbd_collider.enabled = True
    bpy.ops.ed.undo_push(message="collider")
    play([obj], 1, 8)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Cloth"]
    assert not bpy.data.objects["Table"].pbd_collider.enabled
    play([obj], 9, 25)
    assert fell(obj)


def test_undo_of_a_deletion(session):
    obj, box = add_cloth(), add_box()
    seen = play([obj], 1, 6)
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects.remove(box)
    bpy.ops.ed.undo_push(message="deleted")
    go(7)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Cloth"]
    play([obj], 7, 20)
    assert lies_at(obj, 0.0)
    go(5)
    assert np.array_equal(shown(obj), seen[5][0])


def test_save_and_reload(session, tmp_path):
    obj, box = add_cloth(), add_box(thickness=0.02, friction=0.9, static_friction=1.1, restitution=0.25)
    add_collection(box)
    seen = play([obj], 1, 12)
    path = str(tmp_path / "stage.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    settings = bpy.data.objects["Table"].pbd_collider
    assert settings.enabled and not settings.inside
    values = [settings.thickness, settings.friction, settings.static_friction, settings.restitution]
    assert values == pytest.approx([0.02, 0.9, 1.1, 0.25])
    assert bpy.context.scene.pbd.collider_collection.name == "Stage"
    again = play([bpy.data.objects["Cloth"]], 1, 12)
    assert np.array_equal(again[12][0], seen[12][0])


def test_editing_a_collider_in_the_middle(session):
    """In Edit Mode the collider stands as it is drawn there."""
    obj, box = add_cloth(), add_box()
    play([obj], 1, 10)
    bpy.context.view_layer.objects.active = box
    bpy.ops.object.mode_set(mode="EDIT")
    play([obj], 11, 15)
    assert running(session).message == ""
    assert lies_at(obj, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    play([obj], 16, 18)
    assert lies_at(obj, 0.0)


def test_renaming_in_the_middle(session):
    obj, box = add_cloth(), add_box()
    play([obj], 1, 8)
    box.name = "Desk"
    add_box("Table", mark=False)
    play([obj], 9, 15)
    assert lies_at(obj, 0.0)
    assert running(session).first_disturbed is None


# ------------------------------------------------------------------------------------------ what is refused


def test_no_faces(session):
    add_cloth()
    wire = scenes.add_mesh("Wire", [(0, 0, 0), (1, 0, 0)], [], pbd=False, edges=[(0, 1)])
    wire.pbd_collider.enabled = True
    go(1), go(2)
    sentence = "'Wire' has no faces to collide with: add faces, or remove the collider"
    assert running(session).message == sentence
    wire.pbd_collider.enabled = False
    go(1), go(2)
    assert running(session).message == ""


def test_flat_collider(session):
    add_cloth()
    add_box().scale = (0.0, 0.0, 0.0)
    go(1), go(2)
    assert running(session).message == "Table: there is no face to collide with"


def test_a_box_with_a_border_around_each_face_is_solid(session):
    """As figures are that are imported with UV seams; with the switch off, cloth inside is not led out."""
    box = add_box(top=0.1, size=(1.6, 1.6, 0.4))
    corners = [box.data.vertices[v].co[:] for face in box.data.polygons for v in face.vertices]
    cut = scenes.add_mesh("Cut", corners, np.arange(24).reshape(6, 4).tolist(), pbd=False)
    cut.location, cut.pbd_collider.enabled = box.location, True
    bpy.data.objects.remove(box)
    cloth = add_cloth(height=0.05)
    play([cloth], 1, 20)
    assert lies_at(cloth, 0.1)
    (bound,) = running(session).scene_sim.colliders.values()
    assert bound.collider.notes == ("16 vertices of borders are one with others at the same place",)
    go(1)
    cut.pbd_collider.join_borders = False
    play([cloth], 1, 20)
    assert shown(cloth)[:, 2].max() < 0.09


def test_inside_of_an_open_surface(session):
    add_cloth()
    scenes.add_grid("Sheet", pbd=False).pbd_collider.enabled = True
    bpy.data.objects["Sheet"].pbd_collider.inside = True
    go(1), go(2)
    assert running(session).message == "Sheet: inside needs a closed surface, this one has 1 openings"


def test_no_number(session):
    add_cloth()
    box = add_box()
    box.data.vertices[3].co.x = float("nan")
    go(1), go(2)
    assert running(session).message == "Vertex 3 of 'Table' has invalid coordinates (NaN): delete or move it"


def test_no_number_in_the_middle(session):
    obj, box = add_cloth(), add_box()
    play([obj], 1, 4)
    box.location.x = float("nan")
    go(5)
    assert running(session).message.startswith("vertices of Table must be finite numbers")
    assert running(session).last_frame == 4


# ------------------------------------------------------------------------------------------ command line


def test_the_command_line_evaluates_colliders(extension, tmp_path):
    bpy.context.scene.frame_end = 24
    obj, box = add_cloth(), add_box()
    scenes.animate_location(box, 8, 24, (0.0, 0.0, 0.4))
    seen = play([obj], 1, 24)
    path = str(tmp_path / "stage.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert extension.bridge("baking.command_line").main([path]) == 0
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Cloth"]
    for frame in (1, 12, 24):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-5, frame
    assert shown(obj)[:, 2].min() > 0.39


def test_a_vertex_group_says_what_cloth_meets(session):
    """Of two tables that are one object, with a modifier, cloth lands on the one in the group alone."""
    near_one, far_one = (add_cloth(name) for name in ("Here", "There"))
    far_one.location.x = 3.0
    table, other = add_box(mark=False), add_box("Other", mark=False)
    other.location.x = 3.0
    with bpy.context.temp_override(active_object=table, object=table, selected_editable_objects=[table, other]):
        bpy.ops.object.join()
    table.pbd_collider.enabled = True
    table.modifiers.new("Subdivision", "SUBSURF").subdivision_type = "SIMPLE"
    here = [vertex.index for vertex in table.data.vertices if vertex.co.x < 1.5]
    table.vertex_groups.new(name="Met").add(here, 1.0, "REPLACE")
    table.pbd_collider.group = "Met"
    play([near_one, far_one], 1, 16)
    assert lies_at(near_one, 0.0, 0.02) and fell(far_one, 0.2)
    assert len({id(one.faces) for frame in running(session).snapshots.values() for one in frame.surfaces.values()}) == 1
    table.pbd_collider.group = ""
    go(1)
    bpy.ops.object.pbd_reset()
    play([near_one, far_one], 1, 16)
    assert lies_at(far_one, 0.0, 0.02)
    table.pbd_collider.group = "Gone"
    go(1)
    bpy.context.view_layer.objects.active = near_one
    with pytest.raises(RuntimeError, match="'Table' has no vertex group 'Gone' to collide with"):
        bpy.ops.object.pbd_reset()
