"""The whole-chain solve in front of the sweep gives what solving all equations of a chain together gives."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.batches import find, jacobian
from helpers.inside import model_of
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Material, Simulation
from pbd_addon.constraints import distance
from pbd_addon.constraints.chains import find_families
from pbd_addon.kernels import numpy as numpy_kernels


@pytest.mark.parametrize("sizes", [[1], [2], [7], [8], [9], [3, 1, 5], [16, 2, 2, 31]])
def test_tridiagonal_systems_are_solved(sizes):
    """Cyclic reduction equals a dense solve, for blocks of any length."""
    rng = np.random.default_rng(sum(sizes))
    levels = int(np.ceil(np.log2(max(sizes) + 1)))
    size = -(-sum(sizes) // 2**levels) * 2**levels
    coupling = rng.uniform(-1.0, 1.0, size)
    coupling[np.cumsum(sizes) - 1] = 0.0
    coupling[sum(sizes) :] = 0.0
    diagonal = 2.05 + rng.uniform(0.0, 1.0, size)
    right = rng.normal(size=size)
    dense = np.diag(diagonal) + np.diag(coupling[:-1], 1) + np.diag(coupling[:-1], -1)
    solution = numpy_kernels.solve_tridiagonal(diagonal, coupling, right, levels)
    np.testing.assert_allclose(solution, np.linalg.solve(dense, right), rtol=1e-12, atol=1e-12)


def rope(count: int, **settings) -> Body:
    """A crooked rope of particles of uneven masses, pinned at its first."""
    rng = np.random.default_rng(count)
    vertices = np.column_stack([np.arange(count), 0.03 * rng.normal(size=count), np.zeros(count)])
    edges = [[k, k + 1] for k in range(count - 1)]
    compliances = rng.uniform(1e-4, 1e-3, count - 1)
    masses = rng.uniform(0.1, 1.0, count)
    return Body(vertices, [], Material(tethers=False, **settings), [0], edges=edges, compliances=compliances,
                masses=masses)  # fmt: skip


@pytest.mark.parametrize("count", [3, 6, 17])
@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_a_chain_takes_one_newton_step_together(count, damping):
    """(J W J^T (1 + gamma) + a) d_lambda = -C - gamma J (p - x), all edges of a rope in one go."""
    simulation = Simulation([rope(count, stretch_damping=damping)])
    stretch = find(simulation, "stretch")
    rng = np.random.default_rng(0)
    (body,) = simulation.bodies
    x = body.vertices
    p = (x + rng.normal(0.0, 0.05, x.shape)).T.copy()
    h = 1 / 240
    stretch.begin_substep(h, 1.0)
    (chained,) = stretch.chains
    dense = jacobian(stretch, p.T).reshape(count - 1, -1)
    w = np.repeat(model_of(simulation).w, 3)
    values = stretch.values(p.T)
    alpha = np.where(values < 0.0, stretch.compliance[-1], stretch.compliance[0]) / h**2
    gamma = damping / h
    matrix = (dense * w) @ dense.T * (1.0 + gamma) + np.diag(alpha)
    right = -values - gamma * dense @ (p.T - x).ravel()
    expected = p.T + (w * (np.linalg.solve(matrix, right) @ dense)).reshape(-1, 3)
    numpy_kernels.project_chains(p, x.T, chained.along, chained.links, np.zeros(len(chained.row_of_step)), 1, True)
    np.testing.assert_allclose(p.T, expected, rtol=0.0, atol=1e-10)


def test_families_share_no_vertex_and_no_edge():
    """Chains of a family can be solved at once, no edge is in two of them, and only a ring meets itself, at its end."""
    for vertices, faces in (grid(8, 5, 1.0, 1.0), icosphere(2, 1.0)):
        edges = Body(vertices, faces).mesh.edges
        families = find_families(edges, vertices)
        assert families
        rows = np.concatenate([family.rows for family in families])
        assert len(np.unique(rows)) == len(rows)
        for family in families:
            first, last = family.rings
            np.testing.assert_array_equal(family.vertices[first], family.vertices[last + 1])
            once = np.delete(family.vertices, last + 1)
            assert len(np.unique(once)) == len(once)
            for link, row in zip(family.links, family.rows):
                assert set(family.vertices[link : link + 2].tolist()) == set(edges[row].tolist())


def test_all_edges_of_a_grid_are_in_chains():
    """The rows and the columns of a grid are its chains."""
    vertices, quads = grid(8, 5, 1.0, 1.0)
    families = find_families(Body(vertices, quads).mesh.edges, vertices)
    assert sorted(len(family.rows) for family in families) == [5 * 9, 8 * 6]


def ring(count: int) -> tuple[np.ndarray, np.ndarray]:
    angles = 2 * np.pi * np.arange(count) / count
    points = np.column_stack([np.cos(angles), np.sin(angles), 0.1 * np.sin(2 * angles)])
    return points, np.column_stack([np.arange(count), (np.arange(count) + 1) % count])


@pytest.mark.parametrize("count", [8, 9, 12])
def test_a_ring_is_one_chain(count):
    """All edges of a ring are in it, closed at its first vertex."""
    points, edges = ring(count)
    (family,) = find_families(edges, points)
    assert len(family.rows) == count
    assert family.rings.shape == (2, 1)


@pytest.mark.parametrize("counts", [[8], [10, 8, 11]])
@pytest.mark.parametrize("pinned", [False, True])
def test_rings_take_one_newton_step_together(counts, pinned):
    """(J W J^T + a) d_lambda = -C holds around closed chains too, several in one family, with a pin in one or none."""
    parts = [ring(count) for count in counts]
    starts = np.concatenate([[0], np.cumsum(counts)])
    x = np.concatenate([points + np.array([3.0 * k, 0.0, 0.0]) for k, (points, _) in enumerate(parts)])
    edges = np.concatenate([pairs + start for (_, pairs), start in zip(parts, starts)])
    rng = np.random.default_rng(0)
    body = Body(x, [], Material(tethers=False), [2] if pinned else [], edges=edges,
                compliances=rng.uniform(1e-4, 1e-3, len(edges)), masses=rng.uniform(0.1, 1.0, len(x)))  # fmt: skip
    simulation = Simulation([body])
    stretch = find(simulation, "stretch")
    p = (x + rng.normal(0.0, 0.03, x.shape)).T.copy()
    h = 1 / 240
    stretch.begin_substep(h, 1.0)
    dense = jacobian(stretch, p.T).reshape(len(edges), -1)
    w = np.repeat(model_of(simulation).w, 3)
    matrix = (dense * w) @ dense.T + np.diag(stretch.compliance[0] / h**2)
    expected = p.T + (w * (np.linalg.solve(matrix, -stretch.values(p.T)) @ dense)).reshape(-1, 3)
    (chained,) = stretch.chains
    numpy_kernels.project_chains(p, x.T, chained.along, chained.links, np.zeros(len(chained.row_of_step)), 1, True)
    np.testing.assert_allclose(p.T, expected, rtol=0.0, atol=1e-10)


def hung_by_corners(n: int) -> tuple[Body, Simulation]:
    vertices, quads = grid(n - 1, n - 1, 1.0, 1.0)
    body = Body(vertices, quads, Material.preset("Cotton"), pins=[n * (n - 1), n * n - 1])
    return body, Simulation([body], self_collision=False)


@pytest.mark.usefixtures("fastest_kernels")
def test_edges_around_a_few_pins_are_swept_again(monkeypatch):
    """A curtain that falls and swings on two corners strains most there, and half as much as by its chains alone."""
    largest = []
    for near in (0, distance.PIN_EDGES):
        monkeypatch.setattr(distance, "PIN_EDGES", near)
        body, simulation = hung_by_corners(64)
        swept = find(simulation, "stretch").near_pins
        assert len(swept) == 2 * near * (near + 1)
        strains = [simulation.step(1 / 24) and body.edge_strain(simulation.positions(body)).max() for _ in range(50)]
        largest.append(np.mean(strains[-10:]))
    assert largest[1] < 0.5 * largest[0]


def test_a_curtain_on_a_whole_border_is_not_swept_again():
    vertices, quads = grid(63, 63, 1.0, 1.0)
    simulation = Simulation([Body(vertices, quads, pins=range(64))])
    assert not len(find(simulation, "stretch").near_pins)
