"""Going on from a frame on disk gives what simulating straight through gives, to the bit, whatever is in the scene."""

import math
import shutil

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go

LAST = 8
"""By then cloth has torn, been sewn and yielded."""


ACROSS = 7
IDS = np.arange(ACROSS**2).reshape(ACROSS, ACROSS)


def sew():
    """Two panels, of which one is held, and the edges that draw them together."""
    u, v = (axis.ravel() for axis in np.meshgrid(*[np.linspace(-0.15, 0.15, ACROSS)] * 2))
    front, sides = np.stack((u, 0.0 * u - 0.03, v), axis=-1), np.concatenate([IDS[:, 0], IDS[:, -1]])
    quads = np.stack((IDS[:-1, :-1], IDS[:-1, 1:], IDS[1:, 1:], IDS[1:, :-1]), axis=-1).reshape(-1, 4)
    faces, pairs = np.concatenate([quads, quads[:, ::-1] + IDS.size]), np.column_stack([sides, sides + IDS.size])
    vertices = np.concatenate([front, front + np.array([0.0, 0.06, 0.0])])
    shirt = scenes.add_mesh("Shirt", vertices, faces, edges=pairs.tolist(), sewing=True, closing_time=0.15)
    scenes.pin(shirt, IDS[:, 2:-2].ravel())
    shirt.location.x = -0.8


def add_ball(name, radius, location, subdivisions=1):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=subdivisions, radius=radius, location=location)
    bpy.context.object.name = name
    return bpy.context.object


def everything():
    """Cloth that a ram tears, panels that are sewn, a balloon with gas, a rigid ball on paper on a ball; in wind."""
    scene = bpy.context.scene
    torn = scenes.add_grid("Torn", ACROSS, ACROSS, 0.3, 0.3)
    torn.location, torn.rotation_euler.x = (0.0, 0.0, 0.4), math.pi / 2
    scenes.pin(torn, IDS[-1])
    bpy.ops.object.pbd_split(where="EVERYWHERE")
    torn.pbd.tear_strength = 20.0
    sew()
    balloon = add_ball("Balloon", 0.1, (0.5, 0.0, 0.11), subdivisions=2)
    bpy.ops.object.pbd_add(type="BALLOON")
    balloon.pbd.pressure_mode, balloon.pbd.overpressure = "GAS", 100.0
    add_ball("Rigid", 0.03, (1.0, 0.0, 0.15))
    bpy.ops.object.pbd_add(type="RIGID")
    bpy.context.object.pbd.mass = 0.01
    paper = scenes.add_grid("Paper", 6, 6, 0.2, 0.2, bend=3e-5, bend_yield=5.0, stretch_yield=0.01)
    paper.location = (1.0, 0.0, 0.1)
    for name, location in (("Zenith", (1.0, 0.0, 0.02)), ("Ram", (0.0, -0.15, 0.4))):
        add_ball(name, 0.06, location)
        bpy.ops.object.pbd_collider_add()
    scenes.animate_location(bpy.data.objects["Ram"], 1, LAST, (0.0, 0.2, 0.0))
    scene.pbd.use_floor, scene.pbd.substeps = True, 5
    for frame, speed in ((1, 2.0), (5, 4.0), (8, 0.0)):
        scene.pbd.wind_speed = speed
        scene.pbd.keyframe_insert("wind_speed", frame=frame)


def bits(extension, record):
    """All of the exact state of the last frame."""
    simulation = record.scene_sim.simulation
    arrays = extension.module("pbd_addon.io.state_files").arrays_of(simulation.frames.state(simulation.frames.last))
    return {name: np.array(array) for name, array in arrays.items()}


def differing(one, other):
    """Names of the arrays that differ in any bit."""
    return [name for name in one if one[name].tobytes() != other[name].tobytes()]


@pytest.mark.newest
def test_going_on_is_exact(extension, tmp_path):
    """From the frame before the last one, and from others, to which the cache is cut back."""
    session, step = (extension.bridge(f"timeline.{name}") for name in ("session", "step"))
    everything()
    bpy.context.scene.pbd.use_disk_cache = True
    path, straight = tmp_path / "all.blend", {}
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    go(1)
    for frame in range(2, LAST + 1):
        go(frame)
        straight[frame] = bits(extension, session.get(bpy.context.scene))
    first, last = straight[2], straight[LAST]
    assert len(np.unique(last["tearing.joined"])) > len(np.unique(first["tearing.joined"]))  # torn
    assert (last["sewing.pairs"][2] > 0).any() and last["plasticity.yielded"].any()
    assert last["skin.carried"].size and last["springs.pushed"].all()
    bpy.ops.wm.save_mainfile()
    kept = shutil.copytree(tmp_path / "cache_pbd", tmp_path / "kept")
    for back_to in (LAST - 1, 4, 1):
        shutil.rmtree(tmp_path / "cache_pbd")
        shutil.copytree(kept, tmp_path / "cache_pbd")
        bpy.ops.wm.open_mainfile(filepath=str(path))
        record = session.get(bpy.context.scene)
        assert (record.last_frame, record.disk_note) == (LAST, "")
        step.truncate(record, back_to, "for a test")
        assert record.scene_sim.simulation.frames.in_memory(back_to) is None
        for frame in (back_to + 1, back_to + 2)[: LAST - back_to]:
            go(frame)
            assert differing(bits(extension, record), straight[frame]) == [], frame
