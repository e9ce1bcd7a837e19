"""Attached vertices that slide: along a wire, a curve or a surface, wherever that goes."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

RINGS = (15, 16, 17, 18, 19)


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def message(session):
    return session.get(bpy.context.scene).message


def add_rod(name="Rod"):
    """A wire along X, 4 m long, at the last row of the curtain."""
    rod = scenes.add_mesh(name, [(-2.0, 0, 0), (0.0, 0, 0), (2.0, 0, 0)], [], pbd=False, edges=[(0, 1), (1, 2)])
    rod.location.y = 0.3
    return rod


def add_curve():
    """The same as a curve."""
    data = bpy.data.curves.new("Rod", "CURVE")
    data.dimensions = "3D"
    line = data.splines.new("POLY")
    line.points.add(1)
    line.points[0].co, line.points[1].co = (-2.0, 0, 0, 1), (2.0, 0, 0, 1)
    rod = bpy.data.objects.new("Rod", data)
    bpy.context.scene.collection.objects.link(rod)
    rod.location.y = 0.3
    return rod


def add_curtain(rod, ids=RINGS, **settings):
    """A sheet whose last row slides along the rod."""
    obj = scenes.add_grid("Curtain", **{"drag": 2.0, **settings})
    obj.vertex_groups.new(name="Attach").add(list(ids), 1.0, "REPLACE")
    obj.pbd.attach_group, obj.pbd.attach_object, obj.pbd.attach_slide = "Attach", rod, True
    return obj


def off(obj, rod, ids=RINGS):
    """How far vertices are from the X axis of the rod [m]."""
    matrix = np.linalg.inv(np.array(rod.matrix_world))
    local = shown(obj)[list(ids)] @ matrix[:3, :3].T + matrix[:3, 3]
    return np.linalg.norm(local[:, 1:], axis=1)


@pytest.mark.parametrize("add", [add_rod, add_curve])
def test_a_curtain_slides_down_a_rod_that_is_tilted(session, add):
    """The rod tilts by 30° within a second and carries the rings along; on it, they run down."""
    rod = add()
    obj = add_curtain(rod)
    rod.keyframe_insert("rotation_euler", frame=1)
    rod.rotation_euler.y = np.pi / 6
    rod.keyframe_insert("rotation_euler", frame=25)
    rod.rotation_euler.y = 0.0
    scenes.straighten(rod)
    for frame in range(1, 31):
        go(frame)
        assert off(obj, rod).max() < 0.01, frame
    assert message(session) == ""
    assert shown(obj)[list(RINGS), 0].min() > 0.2
    assert shown(obj)[list(RINGS), 2].max() < 0.0


def test_a_rod_that_moves_along_itself_leaves_them(session):
    rod = add_rod()
    obj = add_curtain(rod)
    go(1)
    start = shown(obj)[list(RINGS)]
    scenes.animate_location(rod, 1, 20, (0.5, 0.0, 0.2))
    play([obj], 2, 20)
    ends = shown(obj)[list(RINGS)]
    assert abs(ends[:, 0].mean() - start[:, 0].mean()) < 0.02
    assert abs(ends[:, 2].mean() - 0.2) < 0.01


def test_they_keep_their_distance_from_a_surface(session):
    """A sheet falls beside a wall and along it: the attached row stays 5 cm before it while the wall comes nearer."""
    wall = scenes.add_grid("Wall", rx=5, ry=5, width=8.0, height=8.0, pbd=False)
    wall.data.transform(((1, 0, 0, 0), (0, 0, -1, 0), (0, 1, 0, 0), (0, 0, 0, 1)))
    wall.location.y = 0.35
    obj = add_curtain(wall)
    scenes.animate_location(wall, 1, 13, (0.0, -0.3, 0.0))
    for frame in range(1, 13):
        go(frame)
        np.testing.assert_allclose(wall.matrix_world.translation.y - shown(obj)[list(RINGS), 1], 0.05, atol=2e-3)
    assert shown(obj)[list(RINGS), 2].max() < -0.5


def test_all_of_it_may_slide(session):
    obj = add_curtain(add_rod(), ids=range(20))
    play([obj], 1, 4)
    assert message(session) == ""


def test_a_jump_and_a_run_that_goes_on_after_loading_are_the_same(session, tmp_path):
    """With the disk cache, over a keyed rod: what follows a loaded frame is what an unbroken run gives."""
    rod = add_rod()
    obj = add_curtain(rod)
    scenes.pin(obj, [15])
    obj.vertex_groups["Attach"].remove([15])
    scenes.animate_location(rod, 1, 20, (0.0, 0.3, 0.3))
    want = play([obj], 1, 20)[20][0]
    session.clear_cache(bpy.context.scene)
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "curtain.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    play([obj], 1, 10)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    assert session.get(bpy.context.scene).last_frame == 10
    obj = bpy.data.objects["Curtain"]
    play([obj], 10, 20)
    assert np.abs(shown(obj) - want).max() < 1e-4


def test_another_way_to_attach_belongs_to_another_cache(session, tmp_path):
    rod = scenes.add_grid("Rod", pbd=False)
    obj = add_curtain(rod)
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "curtain.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    play([obj], 1, 5)
    obj.pbd.attach_slide = False
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    record = session.get(bpy.context.scene)
    assert record is None or record.last_frame < 5


def test_an_edited_rod_takes_the_frames_after_the_shown_one(session):
    rod = add_rod()
    obj = add_curtain(rod)
    play([obj], 1, 8)
    go(4)
    rod.data.vertices[1].co.z = 0.2
    rod.data.update()
    bpy.context.view_layer.update()
    go(5)
    assert session.get(bpy.context.scene).last_frame == 5
    assert message(session) == ""


def test_hold_lets_them_go(session):
    obj = add_curtain(add_rod())
    obj.pbd.hold_pins = True
    obj.pbd.keyframe_insert("hold_pins", frame=5)
    obj.pbd.hold_pins = False
    obj.pbd.keyframe_insert("hold_pins", frame=6)
    play([obj], 1, 12)
    assert shown(obj)[list(RINGS), 2].max() < -0.2


def test_what_has_no_edges_is_refused(session):
    points = scenes.add_mesh("Points", [(0.0, 0, 0), (1.0, 0, 0)], [], pbd=False)
    add_curtain(points)
    go(1), go(2)
    want = "'Points' has no faces or edges for 'Curtain' to slide along: choose another object"
    assert message(session) == want


def test_a_rod_with_other_edges_in_the_middle_is_told(session):
    rod = add_rod()
    obj = add_curtain(rod)
    play([obj], 1, 4)
    rod.modifiers.new("Array", "ARRAY").count = 2
    go(5)
    assert message(session) == (
        "'Rod', to which 'Curtain' is attached, has other faces than at the start (6 vertices, then 3): press Reset"
    )


def test_attach_to_a_curve_by_operator(session):
    rod = add_curve()
    obj = scenes.add_grid("Curtain")
    obj.vertex_groups.new(name="Attach").add(list(RINGS), 1.0, "REPLACE")
    obj.pbd.attach_group = "Attach"
    for one in bpy.context.scene.objects:
        one.select_set(True)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.pbd_attach_selected() == {"FINISHED"}
    assert obj.pbd.attach_object == rod
