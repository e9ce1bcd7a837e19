"""What is inside of a closed collider: what of it is limited on its way out, and what of it is known at the start."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.batches import find
from helpers.meshes import box, grid, turned
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.contact.candidates import Candidates
from pbd_addon.contact.exits import exit_contacts, limit_speed
from pbd_addon.contact.narrow_phase import DEPENETRATION_SPEED
from pbd_addon.contact.penetration import penetrating, pierced
from pbd_addon.contact.together import near_colliders
from pbd_addon.kernels import FACE, numpy as kernels

H = 0.01


@pytest.mark.parametrize(
    ("moved", "expected"),
    [
        ([0.03, 0.0, 0.0], [0.03, 0.0, 0.0]),
        ([0.0, 0.0, 0.03], [0.0, 0.0, DEPENETRATION_SPEED * H]),
        ([0.02, -0.01, 0.03], [0.02, -0.01, DEPENETRATION_SPEED * H]),
        ([0.0, 0.0, -0.03], [0.0, 0.0, -0.03]),
    ],
)
@pytest.mark.parametrize("plane", [[0.0, 0.0, 0.0], [0.2, 0.1, 0.0], [0.0, 0.0, 0.05]])
def test_only_the_way_out_of_a_moving_plane_has_a_limit(plane, moved, expected):
    """Along the plane what is led out is free: glued to an arm that swings, it would be torn off where it is pinned."""
    x = np.array([[0.2, 0.2, -0.1], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).T
    row = Candidates(
        np.arange(4)[:, None], np.array([[1.0, -0.6, -0.2, -0.2]]).T, np.array([[0.0, 0.0, 1.0]]).T, np.full(1, 0.01),
        np.full(1, FACE, np.int8), np.zeros(1, int), np.ones(1, bool),
    )  # fmt: skip
    p = x + np.array([plane]).T
    p[:, 0] = x[:, 0] + [moved[0], moved[1], plane[2] + moved[2]]
    limit_speed(row, p, x, H)
    np.testing.assert_allclose(p[:, 0] - x[:, 0], [expected[0], expected[1], plane[2] + expected[2]], atol=1e-12)


@pytest.mark.parametrize("rows_inside", [0, 3])
def test_what_a_closed_collider_goes_through_at_the_start_is_known_at_once(rows_inside):
    """A sheet hangs through the top of a box, and one row of it is 2 mm above: that row would be held there.

    It meets the box only where no edge of it goes through.
    """
    vertices, quads = grid(6, 6, 0.3, 0.3)
    corners, triangles = box((1.0, 1.0, 1.0), 4)
    upright = turned(vertices, np.pi / 2, 0)
    height = 0.502 - 0.05 * rows_inside - upright[:, 2].min()
    body = Body(upright + np.array([0.013, 0.007, height]), quads)
    simulation = Simulation([body], [Collider(corners, triangles)], gravity=(0.0, 0.0, 0.0))
    simulation.step(1 / 24)
    contact = find(simulation, "contact")
    row = np.flatnonzero(np.abs(body.vertices[:, 2] - 0.502) < 1e-6)
    pair = contact.candidate_list.pair(0, 1)
    face = np.repeat(pair.other.triangles[:, :1], len(row), axis=1)
    candidates = Candidates(
        np.concatenate([row[None], face]), np.ones((4, len(row))), np.ones((3, len(row))), np.ones(len(row)),
        np.full(len(row), FACE, np.int8), np.full(len(row), pair.number), np.zeros(len(row), bool),
    )  # fmt: skip
    left = contact.penetration.filter(candidates)
    assert len(row) == 7
    assert (~left.is_exit).sum() == (0 if rows_inside else 7)
    assert left.is_exit.sum() == 7 * rows_inside


def test_bodies_in_one_collider_go_out_as_each_would_alone():
    """What is in a collider or goes through it, and its exits, are those of each pair: distances differ."""
    vertices, quads = grid(5, 5, 0.2, 0.2)
    corners, triangles = box((1.0, 1.0, 1.0), 3)
    places = [([0.013, 0.007, 0.45], 0.0), ([0.21, 0.03, 0.5], 0.4), ([-0.3, 0.2, 0.3], 1.5), ([0.0, 0.0, 2.0], 0.0)]
    bodies = [
        Body(turned(vertices, angle, 0) + np.array(place), quads, Material(thickness=0.001 * (k + 1)))
        for k, (place, angle) in enumerate(places)
    ]
    solid = Collider(corners, triangles)
    contact = find(Simulation(bodies, [solid], kernels="numpy"), "contact")
    x = np.concatenate([*(body.vertices for body in bodies), solid.vertices]).T
    pairs = [contact.candidate_list.pair(k, len(bodies)) for k in range(len(bodies))]
    found = []
    for near in (near_colliders([pair])[0] for pair in pairs):
        inside = penetrating(kernels, x, near, near.vertices.astype(int))
        found.append((inside, *exit_contacts(kernels, x, near, inside), *pierced(kernels, x, near)))
    (near,) = near_colliders(pairs)
    inside = penetrating(kernels, x, near, near.vertices.astype(int))
    exits = exit_contacts(kernels, x, near, inside)
    exits = exits.take(np.argsort(exits.pair, kind="stable"))
    assert sum(len(each[0]) > 0 for each in found) == 3 and len(np.unique(exits.min_distance)) == 3
    for together, alone in zip((inside, *exits, *pierced(kernels, x, near)), zip(*found)):
        expected = sum(alone) if isinstance(together, int) else np.concatenate(alone, axis=-1)
        np.testing.assert_array_equal(together, expected)
    some = near.among(np.array([pairs[2].number]))
    np.testing.assert_array_equal(pierced(kernels, x, some)[0], found[2][-2])
