"""The same cloth hangs the same, however finely it is cut: stiffness and mass are per metre, not per vertex."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation

GRAVITY = 9.81


def hanging(rx: int, stretch: float, shear: float, substeps: int = 20, kind: str = "quads", **settings) -> float:
    """How much a square metre lengthens under its own weight, held by its upper edge [m]."""
    vertices, quads = grid(rx, rx, 1.0, 1.0)
    faces = quads
    if kind == "triangles":
        faces = [t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])]
    elif kind == "uneven":
        inner = np.abs(vertices[:, :2]).max(axis=1) < 0.499
        vertices[inner, :2] += np.random.default_rng(1).uniform(-0.25, 0.25, (inner.sum(), 2)) / rx
    material = Material(stretch=stretch, compression=stretch, shear=shear, bend=0.0, drag=6.0, damping=0.0, **settings)
    body = Body(vertices[:, [0, 2, 1]], faces, material, pins=range(rx * (rx + 1), (rx + 1) ** 2))
    simulation = Simulation([body], substeps=substeps)
    for _ in range(40):
        simulation.step(1 / 24)
    assert np.abs(simulation.velocities(body)).max() < 0.01
    return -0.5 - float(simulation.positions(body)[: rx + 1, 2].mean())


@pytest.mark.parametrize(("stretch", "tethers"), [(30.0, False), (30.0, True), (300.0, True), (3000.0, False)])
@pytest.mark.newest
def test_soft_cloth_hangs_by_its_weight_at_any_resolution(stretch, tethers):
    """Lengthening = rho g H² / (2 E), at three resolutions: warp threads are E times their width, wefts carry
    nothing. 1 % is allowed for what is not yet at rest."""
    expected = 0.15 * GRAVITY / (2.0 * stretch)
    for rx in (4, 8, 16):
        assert hanging(rx, stretch, 0.0, tethers=tethers) == pytest.approx(expected, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("stretch", [100.0])
@pytest.mark.newest
def test_sheared_cloth_hangs_alike_at_any_resolution(stretch):
    """With shear at work there is no pencil answer, but the three resolutions agree within 5 %: the diagonals' share
    differs where the cloth cannot narrow, in the row below the pins."""
    depths = [hanging(rx, stretch, 0.2 * stretch) for rx in (4, 8, 16)]
    assert max(depths) < 1.05 * min(depths)
    assert max(depths) < 0.15 * GRAVITY / (2.0 * stretch)


@pytest.mark.slow
@pytest.mark.newest
def test_triangles_and_uneven_meshes_hang_alike():
    """Van Gelder's k = E A / l² is made for any triangles: other meshes of the same cloth lengthen by as much, within
    a third, of which most is the honest stiffness of the added diagonals."""
    expected = 0.15 * GRAVITY / (2.0 * 100.0)
    for kind in ("triangles", "uneven"):
        depths = [hanging(rx, 100.0, 20.0, kind=kind) for rx in (4, 7, 12)]
        assert max(depths) < 1.12 * min(depths), (kind, depths)
        assert min(depths) > expected / 1.5


def curtain(rx: int, **settings) -> np.ndarray:
    """Lowest point and mean height of a square metre that hangs from two corners, drawn 0.3 m together [m].

    It starts 1 cm off its plane: whether and how a flat one folds would be a matter of rounding.
    """
    vertices, quads = grid(rx, rx, 1.0, 1.0)
    pins = [rx * (rx + 1), rx * (rx + 2)]
    rest = vertices[:, [0, 2, 1]]
    start = rest + 0.01 * np.cos(2.0 * np.pi * rest[:, :1]) * [0.0, 1.0, 0.0]
    start[pins] = rest[pins]
    body = Body(start, quads, Material(drag=2.0, damping=2.0, **settings), pins=pins, rest_vertices=rest)
    simulation = Simulation([body])
    simulation.set_pin_targets(body, rest[pins] + [[0.15, 0.0, 0.0], [-0.15, 0.0, 0.0]])
    for _ in range(48):
        simulation.step(1 / 24)
    z = simulation.positions(body)[:, 2]
    return np.array([z.min(), z.mean()])


@pytest.mark.parametrize(
    ("stretch", "converged"),
    [
        (100.0, [(-0.558, -0.043), (-0.564, -0.057), (-0.565, -0.069)]),
        (5000.0, [(-0.548, -0.026), (-0.541, -0.032), (-0.536, -0.036)]),
    ],
)
@pytest.mark.newest
@pytest.mark.slow
def test_a_curtain_hangs_to_the_same_depth_at_three_resolutions(stretch, converged):
    """Held by two corners, the lowest point and the mean height agree within 5 % of its side, although fine cloth
    has folds that coarse cloth cannot have, and within 2 % with the same mesh at 80 substeps x 5 iterations."""
    shapes = [curtain(rx, stretch=stretch, compression=stretch, shear=0.2 * stretch) for rx in (4, 8, 16)]
    assert np.ptp(shapes, axis=0).max() < 0.05
    assert np.abs(np.array(shapes) - converged).max() < 0.02


def test_mass_is_that_of_the_cloth():
    """A square metre weighs its density at any resolution."""
    for rx in (1, 5, 13):
        assert Body(*grid(rx, rx, 1.0, 1.0), Material(density=0.37)).masses().sum() == pytest.approx(0.37, rel=1e-12)
