"""Internal Springs in Blender: they hold a block up, where a group says, by keys, and frames come back the same."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

ACROSS = 6
COUNT = ACROSS * ACROSS
THICK = 0.1
LAST = 8


def slab(**settings):
    """Two sheets of 0.3 m above each other that face out, the lower one pinned; upright springs between them."""
    u, v = np.meshgrid(np.linspace(-0.15, 0.15, ACROSS), np.linspace(-0.15, 0.15, ACROSS))
    lower = np.stack((u, v, np.zeros_like(u)), axis=-1).reshape(-1, 3)
    ids = np.arange(COUNT).reshape(ACROSS, ACROSS)
    quads = np.stack((ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]), axis=-1).reshape(-1, 4)
    vertices = np.concatenate([lower, lower + np.array([0.0, 0.0, THICK])])
    settings = {"internal_springs": True, "internal_spring_diversion": 0.0, "internal_compression": 500.0} | settings
    obj = scenes.add_mesh("Block", vertices, np.concatenate([quads[:, ::-1], quads + COUNT]), **settings)
    scenes.pin(obj, ids.ravel())
    return obj


def height(positions):
    return float(positions[COUNT:, 2].mean())


def springs(extension):
    simulation = extension.bridge("timeline.session").get(bpy.context.scene).scene_sim.simulation
    return next((kind for kind in simulation.constraints if kind.name == "struts"), None)


def test_they_hold_a_block_up(extension):
    """Off by default, when the upper sheet falls; the angle is that of Blender's Cloth."""
    obj = slab(internal_compression=20_000.0)
    assert height(play([obj], 1, LAST)[LAST][0]) == pytest.approx(THICK, rel=0.01)
    assert len(springs(extension).forces()) == COUNT
    go(1)
    obj.pbd.property_unset("internal_springs")
    assert not obj.pbd.internal_springs
    assert height(play([obj], 1, LAST)[LAST][0]) < 0.5 * THICK
    ours, theirs = obj.pbd.bl_rna.properties, bpy.types.ClothSettings.bl_rna.properties
    lean, of_cloth = ours["internal_spring_diversion"], theirs["internal_spring_max_diversion"]
    assert lean.default == pytest.approx(of_cloth.default)
    assert lean.hard_max == pytest.approx(of_cloth.hard_max, rel=1e-4)


def test_a_vertex_group_says_where_they_are(extension):
    obj = slab()
    group = obj.vertex_groups.new(name="Tufts")
    group.add([14, 14 + COUNT], 1.0, "REPLACE")
    obj.pbd.internal_group = group.name
    play([obj], 1, 3)
    found = springs(extension)
    (held,) = np.flatnonzero(found.geometry)
    assert found.rows.indices[:, held].tolist() == [14, 14 + COUNT]


def test_a_keyed_stiffness_takes_the_frames_after_it(extension):
    obj = slab()
    for frame, modulus in ((1, 2000.0), (10, 2000.0), (11, 5.0)):
        obj.pbd.internal_compression = modulus
        obj.pbd.keyframe_insert("internal_compression", frame=frame)
    seen = play([obj], 1, 16)
    assert height(seen[10][0]) > 0.97 * THICK
    assert height(seen[16][0]) < height(seen[10][0]) - 0.01
    obj.pbd.internal_compression = 2000.0
    obj.pbd.keyframe_insert("internal_compression", frame=11)
    go(10)
    assert extension.bridge("timeline.session").valid_frames(bpy.context.scene) == (1, 10)
    assert height(play([obj], 11, 16)[16][0]) > 0.97 * THICK


def test_scrubbing_back_gives_the_same_frames(extension):
    """Also where other springs were made, and taken back."""
    obj = slab()
    first = play([obj], 1, LAST)
    go(4)
    obj.pbd.internal_spring_length = 0.5 * THICK  # none is that short
    others = play([obj], 5, LAST)
    go(4)
    obj.pbd.internal_spring_length = 0.0
    again = play([obj], 5, LAST)
    assert height(others[LAST][0]) < height(first[LAST][0]) - 0.01
    for frame in range(5, LAST + 1):
        np.testing.assert_array_equal(first[frame][0], again[frame][0])


def test_the_disk_cache_goes_on_with_them(extension, tmp_path):
    obj = slab()
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "block.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    seen = play([obj], 1, 4)
    bpy.ops.wm.save_mainfile()
    session, runs = extension.bridge("timeline.session"), []
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=path)
        again = bpy.data.objects["Block"]
        assert session.valid_frames(bpy.context.scene) == (1, 4)
        for frame in range(1, 5):
            go(frame)
            np.testing.assert_array_equal(shown(again), seen[frame][0])
        bpy.context.scene.pbd.use_disk_cache = False
        runs.append(play([again], 5, LAST)[LAST][0])
        assert len(springs(extension).forces()) == COUNT
    np.testing.assert_array_equal(*runs)


def test_presets_leave_them_alone(extension):
    presets = extension.bridge("settings.presets")
    kept = (*presets.fields("pbd_cloth"), *presets.fields("pbd_balloon"))
    assert not [name for name in kept if name.startswith("internal_")]
