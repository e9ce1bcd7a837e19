"""The heat map: colors of the vertices by strain or contact, and nothing left of them when it is off."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play

pytestmark = pytest.mark.usefixtures("few_substeps")


def colors(obj):
    """Colors (n, 4) of the heat map, or None."""
    attribute = obj.data.attributes.get("pbd_strain")
    if attribute is None:
        return None
    assert (attribute.data_type, attribute.domain) == ("FLOAT_COLOR", "POINT")
    values = np.empty((len(obj.data.vertices), 4), np.float32)
    attribute.data.foreach_get("color", values.ravel())
    return values


def switch(kind):
    assert bpy.ops.object.pbd_heat_map(kind=kind) == {"FINISHED"}


@pytest.mark.usefixtures("usual_substeps")
def test_red_is_where_it_is_stretched(extension):
    obj = scenes.add_grid(rx=9, ry=9, stretch=20.0, compression=20.0, shear=5.0, tethers=False)
    scenes.pin(obj, range(72, 81))
    obj.rotation_euler = (np.pi / 2, 0.0, 0.0)
    bpy.context.view_layer.update()
    bpy.context.scene.pbd.heat_full = 5.0
    play([obj], 1, 8)
    assert colors(obj) is None
    switch("STRAIN")
    seen = colors(obj)
    body = extension.bridge("timeline.session").get(bpy.context.scene).scene_sim.members[0].body
    strain = np.abs(body.edge_strain(scenes.shown(obj)))
    edges = body.mesh.edges
    worst = edges[strain.argmax()]
    assert strain.max() > 0.05
    assert seen[worst, 0] == pytest.approx(0.9, abs=0.02)
    calm = np.array([strain[(edges == vertex).any(axis=1)].max() for vertex in range(81)]) < 0.005
    if calm.any():
        assert (seen[calm, 2] > 0.5).all()
    share = np.array([strain[(edges == vertex).any(axis=1)].max() for vertex in range(81)]) / 0.05
    assert np.allclose(seen, extension.bridge("timeline.heat_map").colors(share), atol=2e-3)


def test_full_scale_is_in_percent_as_the_strain_beside_it(extension):
    field = bpy.types.Scene.bl_rna.properties["pbd"].fixed_type.properties["heat_full"]
    assert (field.subtype, field.default) == ("PERCENTAGE", 5.0)


def test_colors_follow_the_frame_also_backwards(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [15, 19])
    bpy.context.scene.pbd.heat_full = 0.1
    go(1)
    switch("STRAIN")
    seen = {frame: (go(frame), colors(obj))[1] for frame in range(1, 7)}
    assert np.abs(seen[6] - seen[2]).max() > 0.01
    go(2)
    assert np.array_equal(colors(obj), seen[2])


def test_contact_is_red_where_the_floor_is_touched(extension):
    scene = bpy.context.scene
    scene.pbd.use_floor = True
    scene.pbd.floor_height = -0.05
    obj = scenes.add_grid()
    scenes.pin(obj, [15, 16, 17, 18, 19])
    switch("CONTACT")
    play([obj], 1, 12)
    red = colors(obj)[:, 0] > 0.5
    low = scenes.shown(obj)[:, 2] < -0.045
    assert 0 < red.sum() < 20
    assert not red[15:].any()
    assert (low[red]).all()


def test_the_users_colors_come_back(extension):
    obj = scenes.add_grid()
    mine = obj.data.color_attributes.new("Mine", "BYTE_COLOR", "CORNER")
    obj.data.color_attributes.new("Other", "BYTE_COLOR", "CORNER")
    obj.data.color_attributes.active_color = mine
    before = {attribute.name for attribute in obj.data.attributes}
    play([obj], 1, 3)
    switch("STRAIN")
    assert obj.data.color_attributes.active_color.name == "pbd_strain"
    go(4)
    switch("CONTACT")
    switch("OFF")
    assert {attribute.name for attribute in obj.data.attributes} == before
    assert obj.data.color_attributes.active_color.name == "Mine"
    go(5)
    assert colors(obj) is None


def test_a_script_may_switch_it_too(extension):
    obj = scenes.add_grid()
    play([obj], 1, 2)
    bpy.context.scene.pbd.heat_map = "STRAIN"
    go(3)
    assert colors(obj) is not None
    bpy.context.scene.pbd.heat_map = "OFF"
    go(4)
    assert colors(obj) is None


def test_nothing_is_left_by_removing_or_baking(extension):
    scene = bpy.context.scene
    scene.frame_end = 4
    gone, baked = scenes.add_grid("Gone"), scenes.add_grid("Baked")
    baked.location.z = 1.0
    switch("STRAIN")
    play([gone, baked], 1, 3)
    assert colors(gone) is not None
    bpy.context.view_layer.objects.active = gone
    gone.select_set(True)
    baked.select_set(False)
    bpy.ops.object.pbd_remove()
    assert colors(gone) is None
    bpy.context.view_layer.objects.active = baked
    bpy.ops.object.pbd_bake()
    go(2)
    assert colors(baked) is None


def test_the_shrunken_length_is_no_strain(extension):
    heat_map = extension.bridge("timeline.heat_map")
    body_class = extension.module("pbd_addon.bodies.body").Body
    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    body = body_class(square, [(0, 1, 2, 3)])
    strain = heat_map.strain_of_vertices(body, {"shrink": np.full(4, 0.5)}, 0.5 * np.array(square, float))
    assert np.allclose(strain, 0.0)
    assert np.allclose(heat_map.strain_of_vertices(body, {}, 0.5 * np.array(square, float)), 0.5)
