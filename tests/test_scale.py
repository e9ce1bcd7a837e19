"""Small cloth: distances follow its edges, and the speeds at which overlaps open its size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.crossings import is_inside
from helpers.meshes import box, grid, icosphere
from pbd_addon import Body, Collider, Material, Plane, Simulation
from pbd_addon.settings.scale import USUAL_DISTANCE, WHOLE_SPEED_SIZE, calm_speed, distance_at

DT = 1 / 24


def test_a_distance_follows_the_edges_up_to_the_usual_one():
    assert distance_at(0.002, 0.008) == 0.002  # a sheet of 1 m with 125 vertices a side
    assert distance_at(0.002, 0.0008) == pytest.approx(0.0002)
    assert distance_at(0.0001, 0.0008) == 0.0001
    assert distance_at(0.003, 0.0008) == 0.003  # what was asked for
    assert USUAL_DISTANCE == Material().thickness == Collider(*box((1.0, 1.0, 1.0))).thickness


def test_speeds_of_small_bodies_keep_the_number_of_froude():
    assert calm_speed(WHOLE_SPEED_SIZE) == calm_speed(10.0) == 1.0
    assert calm_speed(0.04) / calm_speed(0.01) == pytest.approx(2.0)
    assert calm_speed(0.0) == 0.0


@pytest.mark.newest
@pytest.mark.parametrize("size", [0.02, 1.0])
def test_cloth_lies_on_a_box_and_on_the_floor_by_its_edges(size):
    """Of 2 cm, it hovered 4 mm above the box."""
    vertices, quads = grid(12, 12, size, size)
    corners, faces = box((2.0 * size, 2.0 * size, size))
    solid = Collider(corners - [0.0, 0.0, corners[:, 2].max()], faces)
    for collider, sides in ((solid, 2), (Plane(), 1)):
        body = Body(vertices + np.array([0.0, 0.0, 0.1 * size]), quads)
        simulation = Simulation([body], [collider])
        for _ in range(10):
            simulation.step(DT)
        height = simulation.positions(body)[:, 2]
        wanted = sides * min(0.002, 0.25 * size / 12)
        assert height == pytest.approx(wanted, abs=0.02 * wanted)


@pytest.mark.newest
def test_a_collider_that_changes_its_distance_is_followed():
    vertices, quads = grid(8, 8, 0.02, 0.02)
    corners, faces = box((0.1, 0.1, 0.01))
    solid = Collider(corners - [0.0, 0.0, corners[:, 2].max()], faces)
    body = Body(vertices + np.array([0.0, 0.0, 0.002]), quads)
    simulation = Simulation([body], [solid])
    heights = []
    for thickness in (0.002, 0.003):
        solid.thickness = thickness
        for _ in range(10):
            simulation.step(DT)
        heights.append(simulation.positions(body)[:, 2].mean())
    assert heights == pytest.approx([2 * 0.25 * 0.0025, 0.003 + 0.25 * 0.0025], rel=0.02)


@pytest.mark.newest
def test_what_starts_inside_comes_out_as_calmly_as_it_is_small():
    """A sheet of 2 cm in a ball moves by a third of what larger cloth does in a frame, and is out at the end."""
    size = 0.02
    vertices, quads = grid(8, 8, 0.7 * size, 0.7 * size)
    ball, faces = icosphere(2, 0.5 * size)
    body = Body(vertices + np.array([0.0, 0.0, 0.1 * size]), quads)
    simulation = Simulation([body], [Collider(ball, faces)], gravity=(0.0, 0.0, 0.0))
    speed = 0.5 * math.sqrt(math.hypot(0.7 * size, 0.7 * size) / WHOLE_SPEED_SIZE)
    for frame in range(12):
        before = simulation.positions(body).copy()
        simulation.step(DT)
        x = simulation.positions(body)
        held = is_inside(before, ball, faces) & is_inside(x, ball, faces)
        assert np.linalg.norm(x - before, axis=1)[held].max(initial=0.0) < 1.2 * speed * DT
        assert held.any() or frame  # at 0.5 m/s, it would be out after one frame
    assert not is_inside(x, ball, faces).any()


def test_what_is_below_the_floor_rises_as_calmly_as_it_is_small():
    vertices, quads = grid(4, 4, 0.02, 0.02)
    body = Body(vertices - np.array([0.0, 0.0, 0.1]), quads)
    simulation = Simulation([body], [Plane()], gravity=(0.0, 0.0, 0.0))
    simulation.step(DT)
    risen = simulation.positions(body)[:, 2] + 0.1
    assert risen == pytest.approx(DT * math.sqrt(math.hypot(0.02, 0.02) / WHOLE_SPEED_SIZE), rel=0.01)
