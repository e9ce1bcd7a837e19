"""Kinds of constraints that a script adds; their gradients and momentum: test_gradients.py and test_momentum.py."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from helpers.guide_code import PHYSICS, area, own_kind, own_kind_run
from helpers.inside import model_of
from helpers.meshes import grid
from pbd_addon import Body, Collider, Material, Simulation

NOTHING = {"stretch": 0.0, "compression": 0.0, "shear": 0.0, "bend": 0.0, "drag": 0.0, "damping": 0.0}


def height(p, rows):
    """C = z of a particle [m]."""
    return p[:, 0, 2], np.broadcast_to([[[0.0, 0.0, 1.0]]], p.shape)


def spread(p, rows):
    """C = distance of two particles - 1 [m]."""
    d = p[:, 0] - p[:, 1]
    length = np.linalg.norm(d, axis=1)
    n = d / length[:, None]
    return length - 1.0, np.stack([n, -n], axis=1)


def particles(count: int, mass: float = 0.3) -> Body:
    vertices = np.column_stack([np.arange(count), np.zeros(count), np.zeros(count)])
    material = Material(**NOTHING, k_stretch=0.0, k_compression=0.0)
    return Body(vertices, [], material, edges=[[k, k + 1] for k in range(count - 1)], masses=[mass] * count)


def sheet(name: str = "Sheet") -> Body:
    return Body(*grid(6, 5, 1.0, 0.8), Material(stretch=200.0), pins=[0, 6], name=name)


def stiff_areas(simulation: Simulation, body: Body, **options):
    triangles = body.mesh.triangles
    return simulation.add_constraints(body, triangles, area(np.full(len(triangles), 0.8 / 60)), **options)


def run(simulation: Simulation, frames: int = 3) -> np.ndarray:
    for _ in range(frames):
        simulation.step(1 / 24)
    return simulation.positions(simulation.bodies[0]).copy()


@pytest.mark.newest
def test_the_example_of_the_guide():
    """It is short, prints what the page says, and does what it says: it halves the growth of the area, and more."""
    assert len(own_kind().splitlines()) <= 30
    said, _, without = re.search(
        r"prints `(.*?)`.*?would be ([\d.]+) m and ([\d.]+)", PHYSICS.read_text("utf-8")
    ).groups()
    assert own_kind_run()[1] == said
    names: dict = {}
    exec(own_kind().replace("kept = simulation.add", "kept = Simulation([sheet]).add").replace("print(", "str("), names)
    total = names["kept"].values(names["p"]).sum() + 1.0
    assert total == pytest.approx(float(without), abs=5e-4)


@pytest.mark.parametrize(
    ("kernels", "substeps", "iterations"), [("numpy", 1, 1), ("numpy", 20, 1), ("numpy", 5, 8), ("numba", 5, 8)]
)
def test_compliance_is_metres_per_newton(kernels, substeps, iterations):
    """A mass on a spring of one's own sags m g compliance, and its force is its weight, at any quality."""
    pytest.importorskip(kernels)
    material = Material(**(NOTHING | {"drag": 20.0}))
    body = Body([[0.0, 0, 0], [1.0, 0, 0]], [], material, edges=[[0, 1]], masses=[0.3, 0.6])
    simulation = Simulation([body], substeps=substeps, iterations=iterations, kernels=kernels)
    held = simulation.add_constraints(body, [[0], [1]], height, compliance=[0.01, 0.02])
    run(simulation, 60)
    sag = 9.81 * np.array([0.3, 0.6]) * [0.01, 0.02]
    np.testing.assert_allclose(simulation.positions(body)[:, 2], -sag, rtol=1e-3)
    np.testing.assert_allclose(held.forces(), 9.81 * np.array([0.3, 0.6]), rtol=1e-3)


@pytest.mark.parametrize("iterations", [1, 4])
def test_pbd_corrects_the_share_k(iterations):
    """k of a lone row's error goes in a substep, into however many iterations it is cut (Mueller 2007, sec. 3.3)."""
    body = particles(4)
    simulation = Simulation([body], gravity=(0, 0, 0), method="PBD", substeps=1, iterations=iterations)
    simulation.add_constraints(body, [[0, 1], [2, 3]], spread, compliance=5.0, k=[0.25, 0.75])
    simulation.positions(body)[1::2, 0] += 0.4
    simulation.step(1 / 24)
    x = simulation.positions(body)[:, 0]
    np.testing.assert_allclose([x[1] - x[0] - 1.0, x[3] - x[2] - 1.0], [0.3, 0.1], atol=1e-12)


def test_rows_that_share_particles_are_colored():
    """A chain of rows is solved as by Gauss-Seidel: all of them hold, and no push is lost."""
    body = particles(12)
    simulation = Simulation([body], gravity=(0, 0, 0), substeps=4, iterations=200)
    chain = simulation.add_constraints(body, [[k, k + 1] for k in range(11)], spread)
    assert len(chain.colors) == 2
    simulation.velocities(body)[:] = np.random.default_rng(3).normal(size=(12, 3))
    before = simulation.velocities(body).sum(axis=0)
    run(simulation)
    np.testing.assert_allclose(chain.values(simulation.positions(body)), 0.0, atol=1e-6)
    np.testing.assert_allclose(simulation.velocities(body).sum(axis=0), before, atol=1e-12)


def test_one_sided_rows_only_push():
    body = particles(4)
    simulation = Simulation([body], gravity=(0, 0, 0))
    kept = simulation.add_constraints(body, [[0, 1], [2, 3]], spread, one_sided=True)
    simulation.velocities(body)[:, 0] = [1.0, -1.0, -1.0, 1.0]
    simulation.step(1 / 24)
    gap = np.diff(simulation.positions(body)[:, 0])[::2]
    assert gap[0] == pytest.approx(1.0, abs=1e-9)
    assert gap[1] == pytest.approx(1.0 + 2.0 / 24.0)
    assert kept.forces()[1] == 0.0


def test_columns_may_be_of_different_bodies():
    """A rod between two bodies holds its length; the rows of a pinned pair are left alone."""
    bodies = [
        Body([[0.0, y, 0.0], [0.0, y, 1.0]], [], Material(**NOTHING), [0], edges=[[0, 1]], masses=[1, 1])
        for y in (0.0, 1.0)
    ]
    simulation = Simulation(bodies, self_collision=False)
    rod = simulation.add_constraints(bodies, [[1, 1], [0, 0]], spread, name="rod")
    assert simulation.constraints == [rod]
    run(simulation)
    gap = simulation.positions(bodies[1]) - simulation.positions(bodies[0])
    assert np.linalg.norm(gap[1]) == pytest.approx(1.0, abs=1e-9)
    assert rod.multipliers[1] == 0.0
    assert rod.values(np.concatenate([simulation.positions(body) for body in bodies])).shape == (2,)


@pytest.mark.parametrize("method", ["XPBD", "PBD"])
@pytest.mark.newest
def test_same_bits_again(method):
    """Also after reset, after truncate, from another first frame, and with a function that failed in between."""

    def made(function=None):
        body = sheet()
        simulation = Simulation([body], method=method, substeps=4)
        return simulation, stiff_areas(simulation, body, compliance=1e-5, k=0.8)

    simulation, kind = made()
    first = run(simulation, 4)
    np.testing.assert_array_equal(run(made()[0], 4), first)
    simulation.reset()
    np.testing.assert_array_equal(run(simulation, 4), first)
    simulation.begin(10)
    right = kind.function
    run(simulation, 2)
    kind.function = lambda p, rows: (np.full(len(rows), np.nan), p)
    with pytest.raises(ValueError, match="finite"):
        simulation.step(1 / 24)
    kind.function = right
    np.testing.assert_array_equal(run(simulation, 2), first)
    simulation.truncate(12)
    np.testing.assert_allclose(run(simulation, 2), first, atol=1e-6)  # frames are kept in float32


@pytest.mark.newest
def test_it_survives_other_materials_settings_and_colliders():
    body = sheet()
    simulation = Simulation([body], substeps=4)
    kind = stiff_areas(simulation, body, compliance=1e-5)
    ball = Collider(*grid(1, 1, 3.0, 3.0))
    ball = Collider(ball.vertices + np.array([0.0, 0.0, -1.0]), [[0, 1, 3, 2]])
    acts = [
        lambda: simulation.set_material(body, dataclasses.replace(body.material, density=0.5, bend_model="DIHEDRAL")),
        lambda: simulation.set_settings(dataclasses.replace(simulation.settings, method="PBD", iterations=3)),
        lambda: simulation.set_colliders([ball]),
        lambda: simulation.set_colliders([]),
        lambda: simulation.set_settings(dataclasses.replace(simulation.settings, method="XPBD", iterations=1)),
        lambda: simulation.use_kernels("numpy"),
        simulation.reset,
    ]
    for act in acts:
        act()
        assert sum(one is kind for one in simulation.constraints) == 1
        assert simulation.constraints.index(kind) < simulation.constraints.index(model_of(simulation).contact)
        report = simulation.step(1 / 24)
        assert report.times["custom"] > 0.0
        assert np.abs(kind.multipliers).max() > 0.0
    np.testing.assert_array_equal(kind.weights[0], model_of(simulation).w[kind.particles[0]])


def good(p, rows):
    return np.zeros(len(rows)), np.zeros(p.shape)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"vertices": [0, 1, 2]}, r"vertices must be whole numbers of shape \(m, k\), not int64 of shape \(3,\)"),
        ({"vertices": [[0.0, 1.0]]}, "vertices must be whole numbers of shape .* not float64"),
        ({"vertices": [[True, False]]}, "vertices must be whole numbers of shape .* not bool"),
        ({"vertices": [[0, 1], [2]]}, "vertices must have equally many in each row"),
        ({"vertices": [[0, 1], [2, 42]]}, r"vertices must be from 0 to 41 for Sheet, not 42 \(row 1\)"),
        ({"vertices": [[0, -1]]}, r"vertices must be from 0 to 41 for Sheet, not -1 \(row 0\)"),
        ({"vertices": [[0, 1], [3, 3]]}, r"vertices must be different in each row, not \[3, 3\] \(row 1\)"),
        ({"bodies": sheet("Other")}, "bodies must be one of this simulation, not 'Other'"),
        ({"bodies": 3}, "bodies must be a list, not 3"),
        ({"bodies": []}, "bodies has 0 entries, vertices has 2 columns"),
        ({"function": "area"}, "function must be callable, not 'area'"),
        ({"function": lambda p, rows: p}, "function of mine must return values and gradients, not ndarray"),
        ({"function": lambda p, rows: (p, p)}, r"must return values as numbers of shape \(2,\), not .* \(2, 2, 3\)"),
        ({"function": lambda p, rows: (rows, p[:, 0])}, r"must return gradients as numbers of shape \(2, 2, 3\)"),
        ({"function": lambda p, rows: (np.array(["", ""]), p)}, "must return values as numbers"),
        ({"function": lambda p, rows: (0.0 / (rows - 1.0), p)}, "must return finite numbers, but does not for row 1"),
        ({"function": lambda p, rows: (rows, p + np.inf * (rows[:, None, None] == 1))}, "does not for row"),
        ({"compliance": -1.0}, r"compliance must be from 0 to 1.27e\+30, not -1"),
        ({"compliance": np.nan}, r"compliance must be from 0 to 1.27e\+30, not nan"),
        ({"compliance": [1.0, 2.0, 3.0]}, r"compliance must be a number or 2 of them, not of shape \(3,\)"),
        ({"compliance": "soft"}, "compliance must be real numbers, not 'soft'"),
        ({"k": 1.5}, "k must be from 0 to 1, not 1.5"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_input_is_refused_by_name(arguments, sentence):
    body = sheet()
    simulation = Simulation([body])
    before = list(simulation.constraints)
    given = {"bodies": body, "vertices": [[1, 2], [3, 4]], "function": good, "name": "mine"} | arguments
    with pytest.raises(ValueError, match=sentence):
        simulation.add_constraints(**given)
    assert simulation.constraints == before


def test_a_step_names_the_row_whose_value_is_not_finite():
    body = particles(4)
    simulation = Simulation([body], gravity=(0, 0, 0))
    simulation.add_constraints(body, [[0, 1], [2, 3]], spread, name="rod")
    simulation.positions(body)[3] = simulation.positions(body)[2]
    with (
        pytest.raises(ValueError, match="function of rod must return finite numbers, but does not for row 1"),
        np.errstate(invalid="ignore"),
    ):
        simulation.step(1 / 24)
