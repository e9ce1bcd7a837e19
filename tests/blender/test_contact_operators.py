"""Buttons and settings of contact: marking colliders, self-collision, faces that intersect, presets."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1] if objects else None


def add_plate(name="Plate"):
    return scenes.add_grid(name, pbd=False)


# ------------------------------------------------------------------------------------------ colliders


def test_add_collider_marks_all_that_is_selected(extension):
    one, two, other = add_plate("One"), add_plate("Two"), add_plate("Other")
    select(one, two)
    assert bpy.ops.object.pbd_collider_add() == {"FINISHED"}
    assert [obj.pbd_collider.enabled for obj in (one, two, other)] == [True, True, False]
    assert bpy.ops.object.pbd_collider_remove() == {"FINISHED"}
    assert not one.pbd_collider.enabled and not two.pbd_collider.enabled


def test_add_collider_leaves_cloth_alone(extension):
    plate, cloth = add_plate(), scenes.add_grid("Cloth")
    select(cloth, plate)
    assert bpy.ops.object.pbd_collider_add() == {"FINISHED"}
    assert (plate.pbd_collider.enabled, cloth.pbd_collider.enabled) == (True, False)
    select(cloth)
    assert not bpy.ops.object.pbd_collider_add.poll()


def test_nothing_to_mark(extension):
    select()
    assert not bpy.ops.object.pbd_collider_add.poll()
    assert not bpy.ops.object.pbd_collider_remove.poll()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    select(empty)
    assert not bpy.ops.object.pbd_collider_add.poll()
    plate = add_plate()
    select(plate)
    assert bpy.ops.object.pbd_collider_add.poll()
    assert not bpy.ops.object.pbd_collider_remove.poll()


def test_remove_collider_forgets_its_settings(extension):
    plate = add_plate()
    select(plate)
    bpy.ops.object.pbd_collider_add()
    plate.pbd_collider.thickness = 0.2
    plate.pbd_collider.inside = True
    bpy.ops.object.pbd_collider_remove()
    for prop in plate.pbd_collider.bl_rna.properties:
        assert not plate.pbd_collider.is_property_set(prop.identifier) or prop.identifier == "rna_type"


def test_a_linked_object_cannot_be_marked(extension, tmp_path):
    plate = add_plate()
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {plate})
    bpy.data.objects.remove(plate)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Plate"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    select(linked)
    with pytest.raises(RuntimeError, match="'Plate' is linked: make a library override of it"):
        bpy.ops.object.pbd_collider_add()


def test_undo_of_marking(extension):
    plate = add_plate()
    select(plate)
    bpy.ops.ed.undo_push(message="made")
    bpy.ops.object.pbd_collider_add()
    bpy.ops.ed.undo_push(message="marked")
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Plate"].pbd_collider.enabled
    bpy.ops.ed.redo()
    assert bpy.data.objects["Plate"].pbd_collider.enabled


def test_removing_pbd_keeps_the_collider_mark(extension):
    cloth = scenes.add_grid("Cloth")
    cloth.pbd_collider.enabled = True
    select(cloth)
    bpy.ops.object.pbd_remove()
    assert cloth.pbd_collider.enabled and not cloth.pbd.enabled


def test_every_collider_setting_can_be_animated_and_overridden(extension):
    plate = add_plate()
    collider = extension.module("pbd_addon").Collider
    defaults = collider([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    for name in extension.bridge("settings.raw_settings").COLLIDER_FIELDS:
        prop = plate.pbd_collider.bl_rna.properties[name]
        assert prop.is_overridable and (prop.is_animatable or prop.type == "STRING")  # the name of a group
        assert len(prop.description) > 20
        usual = getattr(
            defaults, name, name == "join_borders" or ""
        )  # It keeps all but this, which is on, and the group.
        assert getattr(plate.pbd_collider, name) == pytest.approx(usual), name
    assert plate.pbd_collider.bl_rna.properties["thickness"].unit == "LENGTH"


def test_static_friction_is_at_least_friction(extension):
    plate = add_plate()
    plate.pbd_collider.friction = 0.9
    raw_settings = extension.bridge("settings.raw_settings")
    values = raw_settings.collider_from(raw_settings.raw_collider(plate.pbd_collider))
    assert values["static_friction"] == values["friction"] == 0.9


# ------------------------------------------------------------------------------------------ self-collision


def fold(name="Fold", gap=0.05):
    """A strip of 16 by 4 quads that is folded over itself, its upper half over the lower one."""
    u = np.linspace(0.0, 2.0, 17)
    along = np.where(u <= 1.0, u, 2.0 - u)
    height = np.clip((u - 0.75) / 0.5, 0.0, 1.0) * gap
    x = np.repeat(along[:, None], 5, axis=1)
    y = np.repeat(np.linspace(-0.25, 0.25, 5)[None], 17, axis=0)
    z = np.repeat(height[:, None], 5, axis=1)
    ids = np.arange(85).reshape(17, 5)
    quads = np.stack((ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]), axis=-1).reshape(-1, 4)
    return scenes.add_mesh(name, np.stack((x, y, z), axis=-1).reshape(-1, 3), quads, self_distance=0.01)


def layer_gap(obj):
    """Least height of the upper half over the lower one, away from the fold [m]."""
    z = shown(obj)[:, 2].reshape(17, 5)
    return (z[:4:-1][:6] - z[:6]).min()


@pytest.mark.parametrize("collisions", ["ACCURATE", "OFF"])
@pytest.mark.parametrize("own", [True, False])
def test_folds_stay_apart_if_both_settings_say_so(session, collisions, own):
    scene = bpy.context.scene
    scene.pbd.use_floor, scene.pbd.floor_height = True, -0.02
    scene.pbd.collisions = collisions
    obj = fold()
    obj.pbd.self_collision = own
    play([obj], 1, 24)
    gap = layer_gap(obj)
    if own and collisions == "ACCURATE":
        assert gap > 0.008
        assert session.get(scene).report.self_contacts > 10
    else:
        assert gap < 0.005


def test_self_collision_can_be_switched_on_while_playing(session):
    scene = bpy.context.scene
    scene.pbd.use_floor, scene.pbd.floor_height = True, -0.3
    scene.pbd.collisions = "OFF"
    obj = fold()
    play([obj], 1, 3)
    scene.pbd.collisions = "ACCURATE"
    play([obj], 4, 30)
    assert layer_gap(obj) > 0.008


def add_crossed(name="Crossed"):
    """Two sheets of 6 by 6 quads in one mesh; the second stands across the first and goes through it."""
    u, v = (grid.ravel() for grid in np.meshgrid(np.linspace(-0.5, 0.5, 7), np.linspace(-0.5, 0.5, 7)))
    flat = np.stack((u, v, np.zeros_like(u)), axis=-1)
    upright = np.stack((np.full_like(u, 0.03), v * 0.5 + 0.02, u + 0.04), axis=-1)
    ids = np.arange(49).reshape(7, 7)
    quads = np.stack((ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]), axis=-1).reshape(-1, 4)
    return scenes.add_mesh(name, np.concatenate((flat, upright)), np.concatenate((quads, quads + 49)))


def test_select_intersections(extension, session):
    obj = add_crossed()
    select(obj)
    assert bpy.ops.object.pbd_select_intersections() == {"FINISHED"}
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = {polygon.index for polygon in obj.data.polygons if polygon.select}
    # The upright sheet meets the column of flat faces around x = 0.03 between y = -0.23 and 0.27, all with its edges;
    # the edges of those meet some of its faces, in the row around z = 0.
    centres = {polygon.index: polygon.center for polygon in obj.data.polygons}
    flat = {index for index in chosen if index < 36}
    assert flat == {i for i, c in centres.items() if i < 36 and abs(c.x - 0.083) < 0.01 and abs(c.y) < 0.26}
    row = {index for index, centre in centres.items() if index >= 36 and abs(centre.z + 0.043) < 0.01}
    assert len(chosen - flat) >= 3
    assert chosen - flat <= row
    assert bpy.context.scene.tool_settings.mesh_select_mode[:] == (False, False, True)


def test_the_panel_is_told_how_many_faces_intersect(extension, session):
    obj = add_crossed()
    clean = scenes.add_grid("Clean")
    clean.location.x = 5.0
    play([obj], 1, 3)
    running = session.get(bpy.context.scene)
    assert running.intersecting.keys() == {obj.session_uid}
    select(obj)
    bpy.ops.object.pbd_select_intersections()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert running.intersecting[obj.session_uid] == sum(polygon.select for polygon in obj.data.polygons)
    session.clear_cache(bpy.context.scene)
    clean.location.x = 6.0
    bpy.data.objects.remove(obj)
    play([clean], 1, 3)
    assert session.get(bpy.context.scene).intersecting == {}


def test_faces_given_twice_do_not_shift_the_selection(extension):
    obj = add_crossed()
    geometry = [vertex.co[:] for vertex in obj.data.vertices]
    faces = [tuple(polygon.vertices) for polygon in obj.data.polygons]
    again = scenes.add_mesh("Twice", geometry, [faces[0], faces[0], *faces[1:]])
    bpy.data.objects.remove(obj)
    select(again)
    bpy.ops.object.pbd_select_intersections()
    bpy.ops.object.mode_set(mode="OBJECT")
    found = [again.data.polygons[i] for i in range(37) if again.data.polygons[i].select]
    assert found
    assert all(abs(polygon.center.x - 0.083) < 0.01 for polygon in found)


def test_select_intersections_needs_a_cloth(extension):
    select(add_plate())
    assert not bpy.ops.object.pbd_select_intersections.poll()
    pinned = scenes.add_grid("Held")
    scenes.pin(pinned, range(20))
    select(pinned)
    with pytest.raises(RuntimeError, match="All 20 vertices of 'Held' are pinned"):
        bpy.ops.object.pbd_select_intersections()


def test_two_cloths_meet(session):
    """A small sheet falls on one that is held by its border, and stays on it."""
    net = scenes.add_grid("Net", rx=9, ry=9, width=1.0, height=1.0, friction=1.0)
    rim = [i for i in range(81) if i % 9 in (0, 8) or i // 9 in (0, 8)]
    scenes.pin(net, rim)
    patch = scenes.add_grid("Patch", rx=5, ry=5, width=0.25, height=0.25, friction=1.0)
    patch.location.z = 0.1
    play([net, patch], 1, 30)
    assert shown(patch)[:, 2].min() > shown(net)[:, 2].min()
    assert shown(patch)[:, 2].max() > -0.3


def test_presets_leave_self_collision_alone(extension):
    obj = scenes.add_grid()
    obj.pbd.self_collision, obj.pbd.self_distance = False, 0.013
    for kind in ("pbd_cloth", "pbd_balloon"):
        assert not {"self_collision", "self_distance"} & set(extension.bridge("settings.presets").fields(kind))


def test_contacts_with_a_collider_are_counted(session):
    cloth, plate = scenes.add_grid("Cloth"), add_plate()
    cloth.location.z = 0.02
    plate.scale = (2.0, 2.0, 1.0)
    plate.pbd_collider.enabled = True
    play([cloth], 1, 12)
    report = session.get(bpy.context.scene).report
    assert report.contacts >= 12
    assert report.self_contacts == 0
    plate.pbd_collider.enabled = False
    go(13), go(14), go(15)
    assert session.get(bpy.context.scene).report.contacts == 0
