"""Layer in Blender: tangled cloths are in order from the first frame on, a change starts anew, and failure is told."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.crossings import count_between
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

SIDE = 9


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def dressed(shirt=1, jacket=2):
    """Two upright sheets that cross along a line; the shirt faces to -Y."""
    u, v = (axis.ravel() for axis in np.meshgrid(*2 * [np.linspace(-0.15, 0.15, SIDE)]))
    ids = np.arange(SIDE**2).reshape(SIDE, SIDE)
    quads = np.stack((ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]), axis=-1).reshape(-1, 4)
    places = {"Shirt": (u, 0.0 * u, v), "Jacket": (u, 0.1 * u + 0.001, v + 0.007)}
    found = [
        scenes.add_mesh(name, np.stack(axes, axis=-1), quads, layer=layer)
        for (name, axes), layer in zip(places.items(), (shirt, jacket))
    ]
    bpy.context.scene.use_gravity = False
    return found


def crossings(objects):
    """Edges of one of two sheets that go through faces of the other, where the viewport shows them."""
    halves = [np.array([corners for quad in faces(obj) for corners in (quad[:3], quad[[0, 2, 3]])]) for obj in objects]
    (one, other), (some, others) = map(shown, objects), halves
    return count_between(one, some, other, others)


def faces(obj):
    return np.array([polygon.vertices[:] for polygon in obj.data.polygons])


def test_tangled_cloth_is_in_order_from_the_first_frame_on(session):
    shirt, jacket = dressed()
    modelled = shown(jacket)
    assert crossings([shirt, jacket]) > 10
    for frame in (1, 2, 3, 1):
        go(frame)
        assert crossings([shirt, jacket]) == 0
    assert (shown(jacket) - shown(shirt))[:, 1].mean() < -0.003
    assert session.get(bpy.context.scene).scene_sim.simulation.crossing_layers == 0
    bpy.ops.object.pbd_remove()
    np.testing.assert_allclose(shown(jacket), modelled, atol=1e-6)


def test_a_change_starts_anew_at_the_first_frame(session):
    objects = shirt, jacket = dressed(0, 0)
    as_modelled = play(objects, 1, 3)
    jacket.pbd.layer, shirt.pbd.layer = 1, 2
    go(4)
    assert session.get(bpy.context.scene).last_frame == 4  # Simulated frames stay until the first one is shown.
    in_order = play(objects, 1, 3)
    assert crossings(objects) == 0
    assert (in_order[3][0] - in_order[3][1])[:, 1].mean() < -0.003  # The jacket, which is inside, faces to -Y.
    shirt.pbd.layer = jacket.pbd.layer = 0
    again = play(objects, 1, 3)
    for frame in as_modelled:
        np.testing.assert_array_equal(again[frame], as_modelled[frame])


def test_the_disk_cache_knows_it(session, tmp_path):
    objects = dressed()
    bpy.context.scene.pbd.use_disk_cache = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "dressed.blend"))
    seen = play(objects, 1, 3)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    objects = [bpy.data.objects[name] for name in ("Shirt", "Jacket")]
    assert session.get(bpy.context.scene).disk_note == ""
    again = play(objects, 1, 3)
    for frame in seen:
        np.testing.assert_allclose(again[frame], seen[frame], atol=1e-6)
    objects[0].pbd.layer = 3
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    note = session.get(bpy.context.scene).disk_note
    assert note.endswith("the mesh, Output, Rest Shape, Initial Velocity or Layer of 'Shirt' changed")


def test_a_bake_begins_in_order(extension):
    objects = dressed()
    bpy.context.scene.frame_end = 3
    bpy.ops.object.pbd_bake(mode="ABSOLUTE")
    go(1)
    assert crossings(objects) == 0


def test_what_stays_tangled_is_told(session):
    """Pinned vertices stay where they are."""
    shirt, jacket = dressed()
    for obj in (shirt, jacket):
        scenes.pin(obj, range(1, SIDE**2))
    go(1)
    count = session.get(bpy.context.scene).scene_sim.simulation.crossing_layers
    assert count == crossings([shirt, jacket]) > 10
