"""Bending against stretching: each stiffness does its own work, and a strip bends as a beam does."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from benchmarks.figures.sheets import BEND, STRETCH, hang
from helpers.meshes import fold, grid
from pbd_addon import Body, Material, Simulation
from pbd_addon.kernels.numpy import dihedral_angles

GRAVITY = 9.81


@pytest.mark.slow
@pytest.mark.newest
@pytest.mark.parametrize("method", ["PBD", "XPBD"])
def test_bending_and_stretching_are_independent(method):
    """Six cloths as in Mueller 2007, Fig. 3: three stretching stiffnesses by bending on and off. Folds depend on the
    one, lengthening on the other."""
    hung = {(s, b): hang(method, s, b) for s in STRETCH[method][1] for b in BEND[method][1]}
    cloths = {stiffnesses: (one.strain, one.fold) for stiffnesses, one in hung.items()}
    stiff, limp = BEND[method][1]
    strains = []
    for stretch in STRETCH[method][1]:
        (strain, fold_angle), (limp_strain, limp_angle) = cloths[stretch, stiff], cloths[stretch, limp]
        assert strain == pytest.approx(limp_strain, rel=0.25)  # bending hardly changes how far it stretches
        assert fold_angle < 0.25 * limp_angle  # stiff: flat, however far it stretches; limp: folded, however little
        assert fold_angle < 1.0
        strains.append(strain)
    assert strains[1] > 3.0 * strains[0]
    assert strains[2] > 3.0 * strains[1]


def test_six_cloths_are_told_apart_by_both_stiffnesses():
    """Without shear and at one bending stiffness, the stretching stiffness does not set the fold of a lone hinge:
    C of the hinge does not change when its triangles are stretched along the edge or away from it."""
    q = fold(70.0)
    edge = q[1] - q[0]
    stretched = q + np.outer([0.0, 0.8, 0.0, 0.0], edge)
    angle = dihedral_angles(q.T[:, :, None], with_gradients=False)[0][0]
    assert dihedral_angles(stretched.T[:, :, None], with_gradients=False)[0][0] == pytest.approx(angle, abs=1e-12)
    stretched = q.copy()
    stretched[2] += 0.7 * (q[2] - q[0])
    assert dihedral_angles(stretched.T[:, :, None], with_gradients=False)[0][0] == pytest.approx(angle, abs=1e-12)


def strip(columns: int, rows: int, length: float) -> tuple[np.ndarray, list[list[int]]]:
    """A strip of equilateral triangles from x = 0 to `length`, and two columns of vertices before 0 to clamp it by."""
    side = length / columns
    i, j = np.meshgrid(np.arange(-2, columns + 1), np.arange(rows + 1))
    x = (i + 0.5 * (j % 2)) * side
    vertices = np.column_stack([x.ravel(), 0.5 * np.sqrt(3.0) * side * j.ravel(), np.zeros(x.size)])
    width, triangles = columns + 3, []
    for row in range(rows):
        for k in range(row * width, (row + 1) * width - 1):
            above = k + width
            if row % 2:
                triangles += [[k, k + 1, above + 1], [k, above + 1, above]]
            else:
                triangles += [[k, k + 1, above], [k + 1, above + 1, above]]
    return vertices, triangles


PLATE = 1.0
"""Flexural rigidity of a sheet of equilateral triangles over `bend`. A hinge between two of them, of side s, height
t = s sqrt(3)/2 and edge curvatures n across and t along it, is folded by (3 n - t) s / (2 sqrt(3)); with the row
stiffness bend s² / (A1 + A2) the energy of three such edges at 60 degrees is bend / 6 x (mean of (3 n - t)²) per
area, (3 n - t) = 2 m + 4 d cos 2 psi for the mean m and half the difference d of the principal curvatures. For a
cylinder of curvature k, m = d = k / 2: (1 + 2) / 3 = 1 times bend k² / 2."""
BEAM = 8.0 / 9.0
"""The same of a narrow strip that is free to curve across: the minimum over the second curvature, at k / 3."""


@functools.cache
def tip(model: str, load: float, bend: float, columns: int, rows: int, length: float, **settings) -> float:
    """How far the end of a clamped strip comes down under its weight of `load` [N/m²], at rest [m]."""
    density = 0.2
    material = Material(density=density, stretch=200.0, compression=200.0, bend=bend, bend_model=model,
                        drag=2.5, damping=0.0, tethers=False)  # fmt: skip
    vertices, triangles = strip(columns, rows, length)
    body = Body(vertices, triangles, material, pins=np.flatnonzero(vertices[:, 0] < 1e-9))
    simulation = Simulation([body], gravity=(0.0, 0.0, -load / density), **settings)
    for _ in range(108):
        simulation.step(1 / 24)
    assert np.abs(simulation.velocities(body)).max() < 2e-3 * length
    return -float(simulation.positions(body)[vertices[:, 0] > length - 1e-9, 2].mean())


@pytest.mark.newest
@pytest.mark.parametrize("model", ["ISOMETRIC", "DIHEDRAL"])
def test_a_cantilever_bends_as_a_beam(model):
    """Tip deflection q L⁴ / (8 E I) for a small load (Euler-Bernoulli), E I / width = 8/9 bend for this mesh (see
    BEAM) and the length from half a triangle before the clamp, where the first row of hinges gives way. 5 % are
    allowed: 1 % for the mesh, 1 % for what is not at rest, and 3 % for one sweep per substep of 1/480 s."""
    length, columns, bend = 1.0, 8, 4.5e-2
    load = 0.05 * length * 8.0 * BEAM * bend / length**4
    effective = length * (1.0 + 0.5 / columns)
    expected = load * effective**4 / (8.0 * BEAM * bend)
    assert tip(model, load, bend, columns, 2, length, substeps=20) == pytest.approx(expected, rel=0.05)


@pytest.mark.slow
def test_bending_stiffness_is_proportional():
    """Twice the stiffness and twice the load bend alike; twice the load alone bends twice, up to the slope squared."""
    one = tip("ISOMETRIC", 0.03, 9e-2, 4, 1, 1.0, substeps=20)
    assert 0.02 < one < 0.1
    assert tip("ISOMETRIC", 0.06, 18e-2, 4, 1, 1.0, substeps=20) == pytest.approx(one, rel=0.02)
    assert tip("ISOMETRIC", 0.06, 9e-2, 4, 1, 1.0, substeps=20) == pytest.approx(2.0 * one, rel=0.03)


def test_both_models_agree_at_small_angles():
    """|sum K p|² = l² / (A1 + A2) x angle² up to angle⁴: one material, two models, one behaviour."""
    flat = fold(0.0)
    body = Body(flat, [[0, 1, 2], [1, 0, 3]], Material(bend_model="ISOMETRIC", bend=1e-3))
    (isometric,) = (c for c in Simulation([body]).constraints if c.name == "isometric bend")
    edge = np.linalg.norm(flat[1] - flat[0])
    areas = sum(0.5 * np.linalg.norm(np.cross(flat[1] - flat[0], flat[tip] - flat[0])) for tip in (2, 3))
    for degrees in (0.1, 1.0, 5.0, 20.0):
        value = isometric.values(fold(degrees))[0]
        angle = np.radians(degrees)
        expected = edge * angle / np.sqrt(areas)
        assert value == pytest.approx(expected, rel=angle**2 / 20.0)  # 2 sin(angle / 2) = angle (1 - angle² / 24)


@pytest.mark.newest
def test_both_models_hold_a_cantilever_alike():
    """The deflections differ by less than a tenth of the square of the slope at the end, (4 x 0.18 / 3)² = 6 %."""
    tips = [tip(model, 0.06, 9e-2, 4, 1, 1.0, substeps=20) for model in ("ISOMETRIC", "DIHEDRAL")]
    assert 0.1 < tips[0] < 0.3
    assert tips[0] == pytest.approx(tips[1], rel=0.006)


@pytest.mark.newest
def test_dihedral_knows_a_rest_angle_and_its_side():
    """A creased sheet springs back to its crease; Automatic takes the model that can."""
    crease = np.array([[0.0, -0.5, 0], [0, 0.5, 0], [-0.5, 0, 0.3], [0.5, 0, 0.3]])
    faces = [[0, 1, 2], [1, 0, 3]]
    flat = crease * [1.0, 1.0, 0.0]
    turned = crease * [1.0, 1.0, -0.1]
    for start in (flat, turned):
        material = Material(bend=0.15, drag=4.0, damping=0.0)
        body = Body(start, faces, material, rest_vertices=crease)
        simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
        assert "dihedral bend" in {constraints.name for constraints in simulation.constraints}
        for _ in range(96):
            simulation.step(1 / 24)
        angles = [dihedral_angles(pose.T[:, body.mesh.hinges.T], with_gradients=False)[0][0]
                  for pose in (simulation.positions(body), crease)]  # fmt: skip
        assert angles[0] == pytest.approx(angles[1], abs=0.01)


def test_automatic_takes_isometric_for_flat_sheets():
    """A flat rest shape gets the quick model, a ball the one with rest angles."""
    names = {c.name for c in Simulation([Body(*grid(2, 2, 1.0, 1.0))]).constraints}
    assert "isometric bend" in names
    assert "dihedral bend" not in names


def test_bending_is_removed_by_a_stiffness_of_zero():
    """bend 0 leaves no bending constraint, and more bending is brought back by a new material."""
    body = Body(*grid(2, 2, 1.0, 1.0), Material(bend=0.0))
    simulation = Simulation([body])
    assert not any("bend" in constraints.name for constraints in simulation.constraints)
    simulation.set_material(body, Material(bend=1e-4))
    assert any("bend" in constraints.name for constraints in simulation.constraints)


@pytest.mark.parametrize("rx", [1, 4])
def test_shear_is_a_modulus(rx):
    """A square whose lower edge is held and that is pulled sideways by its weight leans by rho g H² / (2 S): both
    diagonals of a quad together have the energy S / 2 x area x angle². The edges are stiff. One sweep per substep
    leaves some of the shear short, as much as the residual says."""
    vertices, quads = grid(rx, rx, 1.0, 1.0)
    stiff = {"stretch": 1e5, "compression": 1e5, "bend": 0.0, "tethers": False}
    body = Body(vertices, quads, Material(density=0.2, shear=40.0, drag=10.0, **stiff), pins=range(rx + 1))
    simulation = Simulation([body], gravity=(4.0, 0.0, 0.0))
    for _ in range(48):
        simulation.step(1 / 24)
    lean = (simulation.positions(body) - vertices)[-rx - 1 :, 0].mean()
    short = simulation.reports[simulation.frames.last].residuals["shear"]
    assert short < 0.04
    assert lean * (1.0 - short) == pytest.approx(0.2 * 4.0 / (2.0 * 40.0), rel=0.005)
