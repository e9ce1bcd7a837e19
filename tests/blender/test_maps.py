"""Weight maps: painted groups that make parts of a cloth stiffer, heavier, shorter or rougher."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown


def group(obj, name, weights):
    """A vertex group of these weights, by vertex."""
    made = obj.vertex_groups.new(name=name)
    for vertex, weight in enumerate(weights):
        made.add([vertex], float(weight), "REPLACE")
    return made


def lengths(obj):
    """Lengths of the edges as shown [m]."""
    x = shown(obj)
    ends = np.array([edge.vertices for edge in obj.data.edges])
    return np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1)


def paint(kind):
    return bpy.ops.object.pbd_paint_map(map=kind)


@pytest.mark.parametrize("kind", ["STRETCH", "BEND", "SHRINK", "DENSITY", "PRESSURE", "FRICTION", "COLLISION"])
def test_the_brush_makes_a_group_that_changes_nothing_yet(extension, kind):
    obj = scenes.add_grid()
    scenes.pin(obj, [15, 19])
    go(1)
    before = play([obj], 1, 5)[5][0]
    bpy.ops.object.pbd_reset()
    assert paint(kind) == {"FINISHED"}
    assert obj.mode == "WEIGHT_PAINT"
    name = getattr(obj.pbd, f"{kind.lower()}_group")
    assert obj.vertex_groups.active.name == name
    assert np.array_equal(extension.bridge("scene.user_keys").read_weights(obj, name), np.ones(20))
    assert paint(kind) == {"FINISHED"}
    assert obj.mode == "OBJECT"
    bpy.ops.object.pbd_reset()
    assert np.allclose(play([obj], 1, 5)[5][0], before, atol=1e-7)


def test_the_brush_of_the_pins_pins_nothing_by_itself(extension):
    obj = scenes.add_grid()
    paint("PIN")
    assert obj.vertex_groups.active.name == obj.pbd.pin_group == "Pin"
    assert extension.bridge("read.mesh_io").read_pins(obj) == {}


def test_a_group_that_is_there_is_painted_on_as_it_is(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [3], weight=0.25)
    half = group(obj, "Half", [0.5] * 20)
    obj.pbd.bend_group = "Half"
    paint("BEND")
    assert obj.vertex_groups.active == half
    assert half.weight(7) == 0.5
    paint("PIN")
    assert (obj.mode, obj.vertex_groups.active.name) == ("WEIGHT_PAINT", "Pin")
    assert len(obj.vertex_groups) == 2


def test_paint_is_refused_without_cloth(extension):
    scenes.add_grid(pbd=False)
    with pytest.raises(RuntimeError, match="is not PBD"):
        paint("BEND")


def test_making_a_group_is_undone_in_one_step(extension):
    obj = scenes.add_grid()
    bpy.ops.ed.undo_push(message="Before")
    paint("DENSITY")
    bpy.ops.ed.undo_push(message="Painted")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Flag"]
    assert (len(obj.vertex_groups), obj.pbd.density_group) == (0, "")


@pytest.mark.newest
def test_the_painted_part_shrinks(extension):
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    obj = scenes.add_grid(rx=9, ry=9, width=0.8, height=0.8, drag=5.0)
    scenes.pin(obj, [0])
    rest = lengths(obj)
    x = np.array([vertex.co[0] for vertex in obj.data.vertices])
    group(obj, "Band", x < 0.01)
    obj.pbd.shrink_group, obj.pbd.shrink_low, obj.pbd.shrink_high = "Band", 1.0, 0.7
    play([obj], 1, 40)
    ends = np.array([edge.vertices for edge in obj.data.edges])
    inner, outer = (x[ends] < -0.25).all(axis=1), (x[ends] > 0.25).all(axis=1)
    assert (lengths(obj) / rest)[inner] == pytest.approx(0.7, abs=0.03)
    assert (lengths(obj) / rest)[outer] == pytest.approx(1.0, abs=0.03)


def test_shrink_is_animated_by_its_factors(extension):
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    obj = scenes.add_grid(drag=5.0)
    rest = lengths(obj)
    group(obj, "All", np.ones(20))
    obj.pbd.shrink_group = "All"
    obj.pbd.keyframe_insert("shrink_high", frame=5)
    obj.pbd.shrink_high = 0.8
    obj.pbd.keyframe_insert("shrink_high", frame=15)
    seen = {frame: (go(frame), lengths(obj) / rest)[1] for frame in range(1, 31)}
    assert seen[5] == pytest.approx(1.0, abs=1e-4)
    assert 0.81 < seen[10].mean() < 0.99
    assert seen[30] == pytest.approx(0.8, abs=2e-3)


def test_a_changed_factor_acts_while_it_plays_and_rebuilds_nothing(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [15, 19])
    group(obj, "All", np.ones(20))
    obj.pbd.density_group = "All"
    play([obj], 1, 5)
    running = extension.bridge("timeline.session").get(bpy.context.scene)
    built, w = running.scene_sim, running.scene_sim.simulation.constraints
    go(5)
    obj.pbd.density_high = 4.0
    go(6)
    assert running.scene_sim is built
    assert {kind.name for kind in w} == {kind.name for kind in built.simulation.constraints}
    assert running.first_frame == 1
    factors = built.simulation.maps(built.members[0].body)
    assert np.array_equal(factors["density"], np.full(20, 4.0))


def test_another_group_acts_at_once_and_new_paint_at_the_restart(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [15, 19])
    all_of_it, none = group(obj, "All", np.ones(20)), group(obj, "None", np.zeros(20))
    obj.pbd.bend_group = all_of_it.name
    play([obj], 1, 4)
    running = extension.bridge("timeline.session").get(bpy.context.scene)

    def factor():
        return running.scene_sim.simulation.maps(running.scene_sim.members[0].body)["bend"].mean()

    obj.pbd.bend_group = none.name
    go(5)
    assert factor() == pytest.approx(obj.pbd.bend_low)
    none.add(range(20), 0.5, "REPLACE")
    go(6)
    assert factor() == pytest.approx(obj.pbd.bend_low)
    go(1)
    go(2)
    assert running.last_frame == 2
    assert factor() == pytest.approx(0.5 * (obj.pbd.bend_low + 1.0))


def test_a_missing_group_is_named(extension):
    obj = scenes.add_grid()
    obj.pbd.friction_group = "Nowhere"
    go(2)
    message = extension.bridge("timeline.session").get(bpy.context.scene).message
    assert message == "'Flag' has no vertex group 'Nowhere' for its Friction map: choose another group"


def test_every_map_of_the_solver_has_its_properties(extension):
    known = extension.module("pbd_addon.parts").MAPS
    properties = scenes.add_grid().pbd.bl_rna.properties
    for kind in known:
        assert properties[f"{kind}_low"].is_animatable
        assert f"{kind}_group" in properties
        assert properties[f"{kind}_high"].default == 1.0
