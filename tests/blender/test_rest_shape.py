"""The rest shape of a body: its mesh, one of its shape keys, or another object."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, shown

SMALLER = 0.8


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def add_head(**settings):
    """Blender's Suzanne as new cloth of 0.5 m with nothing that pulls at it."""
    bpy.ops.mesh.primitive_monkey_add(size=0.5)
    head = bpy.context.object
    head.pbd.enabled = True
    bpy.context.scene.use_gravity = False
    scenes.let_through()
    for name, value in settings.items():
        setattr(head.pbd, name, value)
    return head


def copy_of(obj, factor, name="Pattern"):
    """A copy of an object whose mesh has another size, turned and put aside."""
    copy = bpy.data.objects.new(name, obj.data.copy())
    bpy.context.scene.collection.objects.link(copy)
    for vertex in copy.data.vertices:
        vertex.co *= factor
    copy.location, copy.rotation_euler = (3.0, 0.0, 1.0), (0.3, 0.2, 2.0)
    return copy


def edges_of(obj):
    """Lengths of the edges as they are shown [m]."""
    ids = np.array([edge.vertices[:] for edge in obj.data.edges])
    points = shown(obj)
    return np.linalg.norm(points[ids[:, 0]] - points[ids[:, 1]], axis=1)


def sized(obj):
    """The factor by which eight frames of simulation change the mean length of an edge."""
    go(1)
    before = edges_of(obj)
    for frame in range(2, 10):
        go(frame)
    return (edges_of(obj) / before).mean()


def test_cloth_shrinks_to_a_smaller_shape_key(extension):
    head = add_head()
    small = scenes.add_key(head, "Small", (0.0, 0.0, 0.0), [0], value=0.0)
    for point in small.data:
        point.co *= SMALLER
    head.pbd.rest_shape, head.pbd.rest_key = "KEY", "Small"
    assert sized(head) == pytest.approx(SMALLER, rel=0.02)


def test_cloth_takes_the_size_of_another_object_wherever_it_lies(extension):
    head = add_head()
    head.pbd.rest_shape, head.pbd.rest_object = "OBJECT", copy_of(head, 0.5)
    head.pbd.rest_object.scale = 3 * [2.0 * SMALLER]
    bpy.context.view_layer.update()
    assert sized(head) == pytest.approx(SMALLER, rel=0.02)


def test_a_mirrored_balloon_has_the_same_sign_of_volume_at_rest(session):
    head = add_head(type="BALLOON")
    head.pbd.rest_shape, head.pbd.rest_object = "OBJECT", copy_of(head, SMALLER)
    go(1)
    go(2)
    plain = session.get(bpy.context.scene).scene_sim.members[0].body
    head.scale.x = -1.0
    go(1)
    go(2)
    mirrored = session.get(bpy.context.scene).scene_sim.members[0].body
    assert mirrored is not plain
    assert mirrored.volume(mirrored.rest_vertices) == pytest.approx(plain.volume(plain.rest_vertices), rel=1e-4)
    assert mirrored.volume(mirrored.vertices) > 0.0


@pytest.mark.parametrize("kind", ["KEY", "OBJECT"])
def test_a_new_pattern_takes_all_frames_at_the_first_one(session, kind):
    head = add_head(rest_shape=kind)
    pattern = copy_of(head, 1.0)
    key = scenes.add_key(head, "Small", (0.0, 0.0, 0.0), [0], value=0.0)
    head.pbd.rest_key, head.pbd.rest_object = "Small", pattern
    for frame in range(1, 4):
        go(frame)
    before = edges_of(head).mean()
    go(1)
    for point in key.data if kind == "KEY" else pattern.data.vertices:
        point.co *= SMALLER
    go(1)
    go(2)
    go(3)
    assert edges_of(head).mean() < 0.99 * before


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("KEY", "choose the key"),
        ("GONE", "another key"),
        ("OBJECT", "choose the object"),
        ("OTHER", "duplicate the mesh"),
    ],
)
def test_a_rest_shape_that_cannot_be_used_is_told(session, kind, expected):
    head = add_head(rest_shape={"GONE": "KEY", "OTHER": "OBJECT"}.get(kind, kind))
    if kind == "GONE":
        head.pbd.rest_key = "Nowhere"
    if kind == "OTHER":
        head.pbd.rest_object = scenes.add_grid("Sheet", pbd=False)
    before = scenes.mesh_bytes(head)
    go(1)
    go(2)
    assert expected in session.get(bpy.context.scene).message
    assert scenes.mesh_bytes(head) == before
