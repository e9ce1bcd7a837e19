"""Every kind of constraint: its gradient is the derivative of its value, and a projection moves along it."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from helpers.batches import NOTHING, SINGLE, find, jacobian, single
from helpers.guide_code import area
from helpers.inside import model_of, state_of
from helpers.meshes import fold, grid, icosphere
from pbd_addon import Body, Material, Plane, Rail, Simulation
from pbd_addon.constraints import Constraints
from pbd_addon.kernels import numpy as numpy_kernels
from pbd_addon.timing.slices import finish

STEP = 1e-6
"""Displacement for central differences [m]: their error is about STEP² |C'''|/6 plus 1e-16 |C| / STEP, below 1e-9."""


@functools.cache
def scene(seed: int) -> tuple[Simulation, np.ndarray]:
    """A simulation with every kind of constraint, and a random pose (n, 3) [m] of all of its particles; not to be
    changed."""
    sheet_vertices, quads = grid(3, 2, 0.9, 0.6)
    sheet = Body(
        sheet_vertices, quads, Material(bend_model="ISOMETRIC", bend=1e-3), pins={0: 1.0, 3: 1.0, 5: 0.5, 11: 0.25}
    )
    creased = Body(
        sheet_vertices + np.array([0.0, 2.0, 0.0]), quads, Material(bend_model="DIHEDRAL", bend=1e-3), pins=[0],
        rail=Rail([[-1.0, 1.8, 0.3], [1.0, 1.9, 0.2]], edges=[[0, 1]]), slides=[7, 9],
    )  # fmt: skip
    ball_vertices, triangles = icosphere(0, 0.5)
    balloon = Body(ball_vertices + np.array([3.0, 0.0, 0.0]), triangles, Material(pressure_mode="VOLUME", pressure=1.3))
    open_balloon = Body(
        ball_vertices + np.array([6.0, 0.0, 0.0]),
        triangles[2:, ::-1],
        Material(pressure_mode="GAS", overpressure=500.0),
    )
    cover = Body(creased.vertices + np.array([0.05, 0.02, 0.1]), quads)  # nearer than half an edge: they touch
    brick = Body(ball_vertices + np.array([9.0, 0.0, 0.0]), triangles, Material(rigid=True))
    simulation = Simulation(
        [sheet, creased, balloon, open_balloon, cover, brick], [Plane((0.0, 0.0, -0.2), (0.2, 0.3, 1.0))]
    )
    simulation.keep_apart(sheet, [1, 2, 4], creased, [1, 2, 4], 1.8)
    simulation.add_constraints(balloon, triangles, area(np.full(len(triangles), 0.3)), name="area")
    simulation.step(1 / 24)
    rng = np.random.default_rng(seed)
    x = np.concatenate([body.vertices for body in simulation.bodies])
    return simulation, x + rng.normal(0.0, 0.08, x.shape)


KINDS = (*SINGLE, "contact")


def differences(constraints: Constraints, x: np.ndarray) -> np.ndarray:
    """Central differences of all values in all coordinates, (rows, n, 3)."""
    columns = []
    for particle in range(len(x)):
        for axis in range(3):
            there, back = x.copy(), x.copy()
            there[particle, axis] += STEP
            back[particle, axis] -= STEP
            columns.append((constraints.values(there) - constraints.values(back)) / (2.0 * STEP))
    return np.array(columns).T.reshape(-1, *x.shape)


def test_all_kinds_are_here():
    """None is left out here but inflation, which projects volume and stretch together, and levels (see there)."""
    assert {constraints.name for constraints in scene(1)[0].constraints} - {"inflation", "levels"} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_gradients_are_derivatives(kind, seed):
    """dC/dx by central differences equals `gradients`, for every row and coordinate, and is 0 elsewhere."""
    simulation, x = scene(seed)
    constraints = find(simulation, kind)
    expected = differences(constraints, x)
    if kind == "tether":  # only the free particle moves, so that the anchor's share is not asked for
        expected[:, constraints.anchors, :] = 0.0
    largest = np.abs(expected).max()
    assert largest > 0.0
    np.testing.assert_allclose(jacobian(constraints, x), expected, rtol=0.0, atol=2e-7 * max(1.0, largest))


ANGLES = [-179.0, -150.0, -90.0, -30.0, -1e-3, 0.0, 1e-6, 10.0, 60.0, 120.0, 170.0, 179.9]


@pytest.mark.parametrize("degrees", ANGLES)
def test_dihedral_angle_is_the_fold(degrees):
    """The angle of a hinge folded by phi is +-phi, the sign telling the side, also where arccos loses its digits."""
    angle = numpy_kernels.dihedral_angles(fold(degrees).T[:, :, None])[0][0]
    assert abs(angle) == pytest.approx(abs(np.radians(degrees)), abs=1e-12)
    other = numpy_kernels.dihedral_angles(fold(-degrees).T[:, :, None])[0][0]
    assert other == pytest.approx(-angle, abs=1e-12)


@pytest.mark.parametrize("degrees", ANGLES)
def test_dihedral_gradient_at_any_fold(degrees):
    """The derivative is right from flat to nearly closed, where that of arccos(n1 . n2) is not even finite."""
    q = fold(degrees)
    gradients = numpy_kernels.dihedral_angles(q.T[:, :, None])[1][:, :, 0].T
    for corner in range(4):
        for axis in range(3):
            there, back = q.copy(), q.copy()
            there[corner, axis] += STEP
            back[corner, axis] -= STEP
            angles = [numpy_kernels.dihedral_angles(pose.T[:, :, None])[0][0] for pose in (there, back)]
            slope = np.angle(np.exp(1j * (angles[0] - angles[1]))) / (2.0 * STEP)
            assert gradients[corner, axis] == pytest.approx(slope, abs=1e-7)


def test_dihedral_angle_is_that_of_the_paper():
    """phi = arccos(n1 . n2), Mueller 2007, with n1 = p2 x p3 / |..|, n2 = p2 x p4 / |..| up to the way n2 faces."""
    for seed in range(20):
        q = np.random.default_rng(seed).normal(size=(4, 3))
        start, end, left, right = q
        n1, n2 = np.cross(end - start, left - start), np.cross(right - start, end - start)
        cosine = n1 @ n2 / np.linalg.norm(n1) / np.linalg.norm(n2)
        angle = numpy_kernels.dihedral_angles(q.T[:, :, None])[0][0]
        assert abs(angle) == pytest.approx(np.arccos(np.clip(cosine, -1.0, 1.0)), abs=1e-9)


def test_volume_is_that_of_the_paper():
    """C = 1/6 sum (p1 x p2) . p3 - k V0 (Mueller 2007, eq. 14), of a body far from the origin too."""
    vertices, triangles = icosphere(1, 0.5)
    body = Body(vertices + np.array([500.0, 0.0, 0.0]), triangles, Material(pressure_mode="VOLUME", pressure=1.25))
    simulation = Simulation([body])
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    rest = np.einsum("ij,ij->", np.cross(a, b), c) / 6.0
    (volume,) = (constraints for constraints in simulation.constraints if constraints.name == "volume")
    assert volume.values(body.vertices)[0] == pytest.approx(-0.25 * rest, rel=1e-9)


@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("h", [1 / 24, 1 / 480])
def test_projection_is_the_step_of_the_paper(kind, seed, h):
    """dx = w grad C d_lambda with d_lambda = (-C - a lambda) / (sum w |grad C|^2 + a), a = compliance / h^2
    (Macklin et al. 2016, eq. 17 and 18), from lambda = 0 and again from the lambda that this left."""
    simulation, x = single(kind, seed)
    constraints = find(simulation, kind)
    w = model_of(simulation).w
    constraints.begin_substep(h, 1.0)
    p = x.T.copy()
    compliance = getattr(constraints, "compliance", np.zeros(len(constraints.values(x))))
    total = np.zeros(len(constraints.values(x)))
    one_sided = kind in ("tether", "plane", "pairs")
    # What a plane finds behind it was in front before the substep: it pushes that out at once.
    start = x + 2.0 * constraints.normal if kind == "plane" else x
    for _ in range(2):
        before = p.T.copy()
        values, dense = constraints.values(before), jacobian(constraints, before)
        alpha = np.where(values < 0.0, compliance[-1], compliance[0]) if compliance.ndim == 2 else compliance
        alpha = (np.zeros_like(total) if one_sided else alpha) / h**2
        step = (-values - alpha * total) / (np.einsum("rij,rij,i->r", dense, dense, w) + alpha)
        if one_sided:
            step = np.where(values < -1e-12, step, 0.0)
        total += step
        constraints.project(numpy_kernels, p, start.T)
        expected = before + w[:, None] * np.einsum("rij,r->ij", dense, step)
        np.testing.assert_allclose(p.T, expected, rtol=0.0, atol=1e-9)
        assert np.abs(expected - x).max() > 1e-3
    assert np.abs(constraints.forces()) == pytest.approx(np.abs(total) / h**2, rel=1e-6)


def crossed_edges(seed: int) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """Two triangles whose nearest edges come closer than they may and touch nowhere else; positions (6, 3) [m] before
    and after."""
    rng = np.random.default_rng(seed)
    upper = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.1, 0.3, 0.9]]) + rng.normal(0.0, 0.004, (3, 3))
    lower = np.array([[0.0, -0.5, 0.0], [0.0, 0.5, 0.0], [0.3, 0.1, -0.9]]) + rng.normal(0.0, 0.004, (3, 3))
    material = Material(**NOTHING, self_distance=0.05)
    bodies = [Body(points, [[0, 1, 2]], material, masses=rng.uniform(0.1, 1.0, 3)) for points in (upper, lower)]
    simulation = Simulation(bodies, gravity=(0.0, 0.0, 0.0))
    before = np.concatenate([upper + np.array([0.0, 0.0, 0.1]), lower])
    return simulation, before, before - np.repeat([[0.0, 0.0, 0.07], [0.0, 0.0, 0.0]], 3, axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_a_lone_contact_is_the_step_of_the_paper(seed):
    """Where one row is alone, contact makes dx = w grad C (-C) / sum w |grad C|^2 of it, and turns and pushes nothing.

    Candidates that share particles are averaged, which has no such formula; their momentum is in test_contact_momentum.
    """
    simulation, before, x = crossed_edges(seed)
    contact = find(simulation, "contact")
    model = model_of(simulation)
    state = state_of(simulation)
    finish(
        contact.begin_frame(
            numpy_kernels,
            before.T.copy(),
            np.zeros_like(before.T),
            np.zeros(1, bool),
            state.memory["obstacles"]["prediction_error"],
            state.memory["obstacles"]["penetrated"],
        )
    )
    contact.begin_substep(1 / 10, 1.0)
    p = x.T.copy()
    contact.project(numpy_kernels, p, before.T.copy())
    particles = contact.gradients(x)[0]
    np.testing.assert_array_equal(np.sort(particles, axis=1), [[0, 1, 3, 4]])
    dense, value = jacobian(contact, x)[0], contact.values(x)[0]
    assert -0.05 < value < -0.001
    step = -value / np.einsum("ij,ij,i->", dense, dense, model.w)
    np.testing.assert_allclose(p.T, x + model.w[:, None] * dense * step, rtol=0.0, atol=1e-9)
    assert contact.values(p.T)[0] == pytest.approx(0.0, abs=1e-9)
    assert contact.multipliers == pytest.approx([step], rel=1e-6)
    assert contact.forces() == pytest.approx([step * 100.0], rel=1e-6)
    pushes = model.masses[:, None] * (p.T - x)
    assert np.abs(pushes.sum(axis=0)).max() <= 1e-12 * np.abs(pushes).sum()
    assert np.abs(np.cross(x, pushes).sum(axis=0)).max() <= 1e-10 * np.abs(pushes).sum()
