"""Fit in Blender: cloth that begins in a closed collider is outside before the first step, and the panel says so."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def skirt_on_hips(pinned=False):
    """A tube, 2 cm inside of a ball all around its waist; through the operators, as an artist makes it."""
    bpy.context.scene.use_gravity = False
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12, radius=0.2, location=(0.0, 0.0, 1.0))
    hips = bpy.context.object
    bpy.ops.object.pbd_collider_add()
    bpy.ops.mesh.primitive_cylinder_add(
        vertices=32, radius=0.18, depth=0.2, end_fill_type="NOTHING", location=(0.0, 0.0, 1.0)
    )
    skirt = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.pbd_add(type="CLOTH")
    if pinned:
        top = [vertex.index for vertex in skirt.data.vertices if vertex.co.z > 0.09]
        scenes.pin(skirt, top)
        return skirt, hips, top
    return skirt, hips, []


def within(obj):
    """Which vertices are inside of the ball, whose facets are 1 % inside of it."""
    return np.linalg.norm(shown(obj) - (0.0, 0.0, 1.0), axis=1) < 0.198


def test_it_is_outside_from_the_first_frame_on(session):
    skirt, _, _ = skirt_on_hips()
    assert skirt.pbd.fit and within(skirt).any()
    count = int(within(skirt).sum())
    go(1)
    for frame in (2, 3, 1):
        go(frame)
        assert not within(skirt).any(), frame
    moved, left = session.get(bpy.context.scene).scene_sim.brought_out(skirt.session_uid)
    assert len(moved) >= count and not len(left)


@pytest.mark.slow
def test_off_it_begins_as_modeled(session):
    skirt, _, _ = skirt_on_hips()
    modeled = shown(skirt)
    go(1)
    go(2)
    skirt.pbd.fit = False
    go(1)
    np.testing.assert_allclose(shown(skirt), modeled, atol=1e-6)


def test_pins_that_stay_are_shown(session):
    skirt, _, top = skirt_on_hips(pinned=True)
    skirt.location.z = 0.93  # Its top is inside.
    inside = [one for one in top if within(skirt)[one]]
    go(1)
    go(2)
    assert inside
    assert bpy.ops.object.pbd_select_in_colliders() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = {vertex.index for vertex in skirt.data.vertices if vertex.select}
    assert set(inside) <= chosen <= set(session.get(bpy.context.scene).scene_sim.brought_out(skirt.session_uid)[1])


def test_nothing_is_shown_before_it_is_simulated():
    skirt_on_hips()
    with pytest.raises(RuntimeError, match="Nothing is simulated yet"):
        bpy.ops.object.pbd_select_in_colliders()
