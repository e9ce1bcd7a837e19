"""What contact leaves out between two looks at the same candidates, and floors between its passes."""

from __future__ import annotations

import numpy as np
import pytest

from pbd_addon import Material, Plane, SolverSettings
from pbd_addon.constraints import PlaneConstraints, RigidConstraints
from pbd_addon.constraints.plane import floors
from pbd_addon.contact.candidates import Candidates
from pbd_addon.contact.narrow_phase import NearSearch
from pbd_addon.kernels import EDGES, FACE, available, load

COUNT, PARTICLES = 2000, 300


def candidates(random: np.random.Generator, p: np.ndarray) -> Candidates:
    """Some between random particles, with normals of where they are."""
    particles = np.stack([random.permutation(PARTICLES)[:4] for _ in range(COUNT)], axis=1)
    kind = np.where(np.arange(COUNT) % 2, FACE, EDGES).astype(np.int8)
    weights, _, normals = load("numpy").closest_points(p, particles, kind)
    return Candidates(
        particles, weights, normals, np.full(COUNT, 0.05), kind, np.zeros(COUNT, int), np.zeros(COUNT, bool)
    )


@pytest.mark.parametrize("kernels", available())
def test_what_is_found_again_is_what_a_whole_search_finds(kernels):
    """While particles drift, fly as one, jump, are nowhere for a moment, and among other candidates."""
    module, random = load(kernels), np.random.default_rng(3)
    p = random.uniform(0.0, 1.0, (3, PARTICLES))
    search, rows, sizes = NearSearch(), candidates(random, p), set()
    for number in range(40):
        p = p + 0.004 * random.standard_normal((3, PARTICLES)) + np.array([[0.3], [0.1], [-0.2]])
        if number == 15:
            p = p.take(random.permutation(PARTICLES), axis=1)
        if number == 20:
            lost = p.copy()
            lost[:, 7] = np.nan
            search.find(module, rows, lost)
        if number == 30:
            rows = candidates(random, p)
        apart = module.clearances(p, rows.particles, rows.normals, rows.kind)
        found = search.find(module, rows, p)
        assert found.tolist() == np.flatnonzero(apart < 0.05 * (1.0 + 1e-6)).tolist(), number
        sizes.add(len(found))
    assert len(sizes) > 10


@pytest.mark.parametrize("kernels", available())
def test_floors_between_passes_are_those_of_planes(kernels):
    """The same positions and multipliers as `project`: a plane that moves and tilts, and what begins in it."""
    module, random = load(kernels), np.random.default_rng(4)
    free, settings = np.arange(2, PARTICLES), SolverSettings()
    w = np.where(np.arange(PARTICLES) < 2, 0.0, random.uniform(50.0, 500.0, PARTICLES))
    one, other = (
        PlaneConstraints(
            Plane(thickness=0.002),
            free,
            np.zeros(len(free), int),
            RigidConstraints([], np.zeros((PARTICLES, 3))),
            np.ones((1, 2)),
        )
        for _ in range(2)
    )
    x = random.uniform(-0.02, 0.02, (3, PARTICLES))
    p = x + random.uniform(-0.005, 0.005, (3, PARTICLES))
    for plane in (one, other):
        plane.set_materials([Material(thickness=0.001)], settings, w)
        plane.lay_path(
            (np.zeros(3), np.array([0.0, 0.0, 1.0])), (np.array([0.0, 0.0, 0.05]), np.array([0.6, 0.0, 0.8])), 0.05
        )
        plane.begin_substep(0.002, 0.3)
    expected = p.copy()
    none = np.zeros((4, 0))
    for push in (0.0, -0.001, 0.001):
        expected[2] += push
        p[2] += push
        one.project(module, expected, x)
        floor = floors([other], x)
        module.project_contacts(
            p, np.zeros((4, 0), int), none, none[:3], none, none[0], none[0], np.ones(1), 1, none[0].copy(), *floor
        )
        other.take_pushes(floor[2][0])
        np.testing.assert_allclose(p, expected, atol=1e-15)
        np.testing.assert_allclose(other.multipliers, one.multipliers, atol=1e-17)
    assert 20 < np.count_nonzero(one.multipliers) < PARTICLES - 20
