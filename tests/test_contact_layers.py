"""Layers of cloth stay apart by the self distance, and what is nearer than that at rest is left in peace."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.crossings import crossing_pairs, distances
from helpers.meshes import box, grid, icosphere
from pbd_addon import Body, Collider, Material, Simulation

pytestmark = pytest.mark.slow

DT = 1 / 24
LAYERS = 6
EDGE = 0.0125
COLUMNS, ROWS = 12, 8
"""Quads of a layer."""


def zigzag(gap: float, **settings) -> Body:
    """A strip folded to `LAYERS` layers, one over the other `gap` [m] apart, from z = 0 on; it is flat at rest.

    Each layer has (COLUMNS + 1) x (ROWS + 1) vertices. Along the strip, the edge between two layers is as long as the
    gap and all others are `EDGE`, so that nothing is strained but by bending.
    """
    columns = LAYERS * (COLUMNS + 1)
    layer, step = np.divmod(np.arange(columns), COLUMNS + 1)
    x = np.where(layer % 2 == 0, step, COLUMNS - step) * EDGE
    flat, quads = grid(columns - 1, ROWS, 1.0, ROWS * EDGE)
    along = np.cumsum(np.where(step == 0, gap, EDGE)) - gap
    folded, rest = flat.copy(), flat.copy()
    folded[:, 0], folded[:, 2] = np.tile(x, ROWS + 1), np.tile(layer * gap, ROWS + 1)
    rest[:, 0] = np.tile(along, ROWS + 1)
    return Body(folded, quads, Material(**settings), rest_vertices=rest)


def gaps(x: np.ndarray, body: Body) -> np.ndarray:
    """Least distance of the inner vertices of each layer to the inner triangles of the next, (LAYERS - 1,) [m]."""
    number, step = np.divmod(np.tile(np.arange(LAYERS * (COLUMNS + 1)), ROWS + 1), COLUMNS + 1)
    inner = (step >= 2) & (step <= COLUMNS - 2)
    found = []
    for layer in range(LAYERS - 1):
        here, there = inner & (number == layer), inner & (number == layer + 1)
        lower = body.mesh.triangles[here[body.mesh.triangles].all(axis=1)]
        upper = body.mesh.triangles[there[body.mesh.triangles].all(axis=1)]
        found.append(min(distances(x[here], x, upper).min(), distances(x[there], x, lower).min()))
    return np.array(found)


def test_six_layers_keep_their_distance():
    """Under its own weight on a floor, a strip folded in six keeps 0.8 of the self distance between all layers."""
    distance = 0.004
    body = zigzag(1.1 * distance, self_distance=distance, bend=1e-6, density=0.3)
    np.testing.assert_allclose(body.edge_strain(body.vertices), 0.0, atol=1e-9)
    np.testing.assert_allclose(gaps(body.vertices, body), 1.1 * distance)
    floor = Collider(*grid(1, 1, 1.0, 1.0), 0.001)
    floor_at = floor.vertices - [0.0, 0.0, 0.005]
    floor = Collider(floor_at, floor.mesh.triangles, 0.001)
    simulation, speeds = Simulation([body], [floor]), []
    for frame in range(1, 61):
        report = simulation.step(DT)
        x = simulation.positions(body)
        speeds.append(np.sqrt((simulation.velocities(body) ** 2).sum(axis=1).mean()))
        if frame % 10 == 0:
            assert len(crossing_pairs(x, body.mesh.triangles)) == 0, f"crossings in frame {frame}"
            assert gaps(x, body).min() >= 0.8 * distance, f"frame {frame}: {np.round(1e3 * gaps(x, body), 2)} mm"
    assert report.self_contacts > 0
    assert x[:, 2].min() > -0.005
    np.testing.assert_allclose(x[:, 2].max(), (LAYERS - 1) * distance, atol=2.0 * distance)  # it is still a pile
    assert np.median(speeds[-10:]) < 0.01  # in single frames a layer still slips


def test_layers_fall_together_without_self_collision():
    """A material that does not meet itself lets all layers sink to the floor; and so does the solver when it is off."""
    floor = Collider(*grid(1, 1, 1.0, 1.0), 0.0)
    for body, on in ((zigzag(0.0066, self_collision=False, bend=1e-6), True), (zigzag(0.0066, bend=1e-6), False)):
        placed = Body(
            body.vertices + np.array([0.0, 0.0, 0.003]),
            body.mesh.triangles,
            body.material,
            rest_vertices=body.rest_vertices,
        )
        simulation = Simulation([placed], [floor], self_collision=on)
        for _ in range(24):
            assert simulation.step(DT).self_contacts == 0
        assert gaps(simulation.positions(placed), body).min() < 0.001
        assert simulation.positions(placed)[:, 2].min() > 0.0


def test_a_material_that_does_not_meet_itself_still_meets_others():
    """Two sheets without self collision of their own land on each other and stay apart."""
    vertices, quads = grid(10, 10, 0.2, 0.2)
    material = Material(self_collision=False, self_distance=0.008)
    upper = Body(vertices + np.array([0.013, 0.004, 0.03]), quads, material)
    lower = Body(vertices, quads, material, pins=range(len(vertices)))
    simulation = Simulation([upper, lower])
    for _ in range(24):
        simulation.step(DT)
    x = simulation.positions(upper)
    inner = np.abs(vertices[:, :2]).max(axis=1) < 0.07
    assert distances(x[inner], vertices, lower.mesh.triangles).min() >= 0.8 * 0.008
    assert 0.0 < x[inner, 2].min()
    assert x[inner, 2].max() < 0.02


def jittered(cuts: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    """A flat sheet of uneven triangles."""
    vertices, quads = grid(cuts, cuts, width, width)
    vertices[:, :2] += np.random.default_rng(0).uniform(-0.3, 0.3, (len(vertices), 2)) * width / cuts
    a, b, c, d = np.array(quads).T
    return vertices, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


MESHES = {
    "fine sheet": grid(20, 20, 0.05, 0.05),
    "uneven sheet": jittered(20, 0.05),
    "small ball": icosphere(3, 0.02),
    "thin pillow": box((0.08, 0.08, 0.001), 8),
}
"""Edges, or layers, that are closer than 6 mm."""


@pytest.mark.usefixtures("first_order")  # of second order, the bending of the pillow moves it by a micron
@pytest.mark.parametrize("name", MESHES)
def test_what_is_close_at_rest_does_not_repel(name):
    """Vertices, edges and layers of one cloth that are nearer at rest than the self distance: it stays still."""
    body = Body(*MESHES[name], Material(self_distance=0.006, damping=0.0))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    for _ in range(12):
        simulation.step(DT)
    np.testing.assert_allclose(simulation.positions(body), body.vertices, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(simulation.velocities(body), 0.0, atol=1e-7)


@pytest.mark.parametrize("name", ["fine sheet", "small ball"])
def test_what_is_close_at_rest_flies_as_one(name):
    """Thrown and spinning, a fine cloth moves as it does without self collision."""
    places = []
    for on in (True, False):
        body = Body(*MESHES[name], Material(self_distance=0.006))
        simulation = Simulation([body], self_collision=on)
        simulation.velocities(body)[:] = np.cross([3.0, 2.0, 5.0], body.vertices) + np.array([1.0, 0.0, 2.0])
        for _ in range(12):
            simulation.step(DT)
        places.append(simulation.positions(body).copy())
    np.testing.assert_allclose(*places, rtol=0.0, atol=1e-6)


def test_a_fine_sheet_still_folds():
    """Layers of a mesh that is finer than the self distance do meet, away from the fold."""
    vertices, quads = grid(24, 6, 0.12, 0.03)
    folded = vertices.copy()
    folded[:, 0] = np.abs(vertices[:, 0]) * 0.8
    folded[:, 2] = vertices[:, 0] * 0.6
    body = Body(folded, quads, Material(self_distance=0.012, bend=1e-7), rest_vertices=vertices)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    simulation.velocities(body)[:, 2] = -5.0 * folded[:, 2]
    for _ in range(12):
        simulation.step(DT)
        x = simulation.positions(body)
        assert len(crossing_pairs(x, body.mesh.triangles)) == 0
    outer = vertices[:, 0] < -0.035
    triangles = body.mesh.triangles[(vertices[:, 0] > 0.03)[body.mesh.triangles].all(axis=1)]
    gap = distances(x[outer], x, triangles)
    assert gap.min() >= 0.8 * 0.012
    assert gap.min() < 0.03  # they did come near
