"""What stiffness depends on (seed report on XPBD, Fig. 5; Macklin et al. 2016, Fig. 6).

PBD with a raw k per iteration: the more iterations, the stiffer. k' = 1 - (1 - k)^(1/n) (Mueller 2007, sec. 3.3)
mends that for a constraint that is alone: n iterations remove the share k, whatever n is. It does not mend

- constraints that share particles: each iteration spoils the neighbours' work, so n still counts, if only by percents;
- the number of substeps, or the frame rate: the share k is removed in every substep.

XPBD depends on none of these once the iterations have converged: its stiffness is in N/m.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation

GRAVITY = 9.81
ITERATIONS = (1, 3, 9)


@functools.cache
def sag(method: str, iterations: int, substeps: int, stiffness: float) -> float:
    """How much a square metre that hangs from its upper edge lengthens, at rest [m]."""
    rx = 6
    vertices, quads = grid(rx, rx, 1.0, 1.0)
    share = {"k_stretch": stiffness, "k_compression": stiffness, "k_shear": 0.0, "k_bend": 0.0}
    newtons = {"stretch": stiffness, "compression": stiffness, "shear": 0.0, "bend": 0.0}
    material = Material(**(share if method == "PBD" else newtons), drag=3.0, damping=0.0, tethers=False)
    body = Body(vertices[:, [0, 2, 1]], quads, material, pins=range(rx * (rx + 1), (rx + 1) ** 2))
    simulation = Simulation([body], method=method, substeps=substeps, iterations=iterations)
    for _ in range(48):
        simulation.step(1 / 24)
    return -0.5 - float(simulation.positions(body)[: rx + 1, 2].mean())


def raw(k: float, iterations: int) -> float:
    """The k of which this engine's k' is the raw k in each of that many iterations."""
    return 1.0 - (1.0 - k) ** iterations


@pytest.mark.newest
def test_raw_pbd_gets_stiffer_with_iterations():
    """The same raw k in each iteration: three times the iterations, less than half of the sag, and again."""
    sags = [sag("PBD", count, 5, raw(0.1, count)) for count in ITERATIONS]
    assert sags[1] < 0.5 * sags[0]
    assert sags[2] < 0.5 * sags[1]


@pytest.mark.newest
def test_xpbd_is_as_stiff_with_any_number_of_iterations():
    """Once converged, the sag does not change with iterations, and it is rho g H² / (2 E)."""
    sags = [sag("XPBD", count, 5, 20.0) for count in ITERATIONS]
    assert sags[1] == pytest.approx(sags[2], rel=1e-4)
    assert sags[0] == pytest.approx(sags[2], rel=0.01)
    assert sags[2] == pytest.approx(0.15 * GRAVITY / (2 * 20.0), rel=0.01)


@pytest.mark.newest
def test_xpbd_is_as_stiff_with_any_number_of_substeps():
    """Neither do substeps change it, once there are enough iterations in each."""
    assert sag("XPBD", 8, 2, 20.0) == pytest.approx(sag("XPBD", 4, 10, 20.0), rel=0.01)


def test_pbd_depends_on_substeps_in_spite_of_k_prime():
    """The share k is removed in every substep: five times the substeps, far less sag."""
    assert sag("PBD", 4, 5, 0.5) < 0.25 * sag("PBD", 4, 1, 0.5)


@pytest.mark.newest
def test_k_prime_leaves_a_dependence_where_constraints_share_particles():
    """In a cloth, k' gives nearly, but not exactly, the same sag for any number of iterations."""
    one, many = sag("PBD", 1, 5, 0.5), sag("PBD", 9, 5, 0.5)
    assert many == pytest.approx(one, rel=0.1)
    assert abs(many - one) > 0.01 * one


@pytest.mark.parametrize("k", [0.1, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("iterations", [1, 2, 7, 30])
def test_k_prime_makes_a_lone_constraint_independent(k, iterations):
    """After any number of iterations, 1 - k of the error is left."""
    body = Body([[0.0, 0, 0], [0, 0, 1.5]], edges=[[0, 1]], rest_vertices=[[0.0, 0, 0], [0, 0, 1.0]], masses=[0.3, 0.1],
                material=Material(k_stretch=k, drag=0.0, damping=0.0))  # fmt: skip
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), method="PBD", substeps=1, iterations=iterations)
    simulation.step(1 / 24)
    length = np.ptp(simulation.positions(body)[:, 2])
    assert length - 1.0 == pytest.approx(0.5 * (1.0 - k), abs=1e-9)


@pytest.mark.parametrize("kind", ["bend", "volume", "compression", "pin"])
@pytest.mark.parametrize("iterations", [1, 6])
def test_k_prime_holds_for_every_kind(kind, iterations):
    """Each kind of constraint that has a k removes that share of a small error, whatever the iterations."""
    error = 1e-3
    off = {"k_stretch": 0.0, "k_compression": 0.0, "k_shear": 0.0, "k_bend": 0.0, "k_volume": 0.0}
    off |= {"drag": 0.0, "damping": 0.0}
    square = np.array([[0.0, -0.5, 0], [0, 0.5, 0], [-0.5, 0, 0], [0.5, 0, 0]])
    if kind == "bend":
        start = square + np.outer([0, 0, 1, 1], [0.0, 0, error])
        body = Body(start, [[0, 1, 2], [1, 0, 3]], Material(**(off | {"k_bend": 0.6})), rest_vertices=square)
        names = ["isometric bend"]
    elif kind == "volume":
        corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
        material = Material(**(off | {"k_volume": 0.6}), pressure_mode="VOLUME")
        body = Body(corners * (1 + error), faces, material, rest_vertices=corners)
        names = ["volume"]
    elif kind == "compression":
        rest = np.array([[0.0, 0, 0], [1, 0, 0]])
        body = Body(rest * (1 - error), edges=[[0, 1]], material=Material(**(off | {"k_compression": 0.6})),
                    rest_vertices=rest)  # fmt: skip
        names = ["stretch"]
    else:
        body = Body(square, [[0, 1, 2], [1, 0, 3]], Material(**off), pins={0: 0.6})
        names = ["attachment"]
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), method="PBD", substeps=1, iterations=iterations)
    if kind == "pin":
        simulation.set_pin_targets(body, body.vertices[:1] + np.array([error, 0.0, 0.0]))
    (constraints,) = (c for c in simulation.constraints if c.name in names)
    if kind == "pin":
        constraints.targets = body.vertices[:1].T + np.array([[error], [0.0], [0.0]])
    before = constraints.values(simulation.positions(body)).copy()
    simulation.step(1 / 24)
    after = constraints.values(simulation.positions(body))
    np.testing.assert_allclose(after, 0.4 * before, rtol=5e-3)
