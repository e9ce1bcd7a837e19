"""Bodies: wrong input is refused with one sentence that names the argument and what it got."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Material, Plane, Simulation

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
QUAD = [[0, 1, 2, 3]]


def changed(row: int, value: float) -> np.ndarray:
    vertices = SQUARE.copy()
    vertices[row, 1] = value
    return vertices


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"vertices": changed(2, np.nan)}, r"Flag: vertices.* 2\b"),
        ({"vertices": changed(1, np.inf)}, r"Flag: vertices.* 1\b"),
        ({"vertices": SQUARE[:, :2]}, r"Flag: vertices must have shape \(n, 3\).*\(4, 2\)"),
        ({"vertices": np.zeros((0, 3))}, r"Flag: vertices must have shape"),
        ({"rest_vertices": changed(3, np.nan)}, r"Flag: rest_vertices"),
        ({"rest_vertices": SQUARE[:3]}, r"Flag: rest_vertices must have shape \(4, 3\), not \(3, 3\)"),
        ({"faces": []}, r"Flag: there are neither faces nor edges"),
        ({"faces": [[0, 1]]}, r"Flag: faces need at least 3 corners each, face 0 has 2"),
        ({"faces": [[0, 1, 4]]}, r"Flag: faces names vertex 4, but there are 4"),
        ({"faces": [[0, 1, -1]]}, r"Flag: faces names vertex -1"),
        ({"faces": np.array([[0.0, 1.0, 2.0]])}, r"Flag: faces must be integers"),
        ({"faces": [], "edges": [[0, 7]]}, r"Flag: edges names vertex 7"),
        ({"vertices": np.zeros((4, 3))}, r"Flag: no face has an area"),
        ({"pins": [9]}, r"Flag: pins names vertex 9"),
        ({"pins": {0: 0.0}}, r"Flag: pin weights\[0\] must be above 0, not 0"),
        ({"pins": {0: 1.5}}, r"Flag: pin weights must be at most 1, not 1.5"),
        ({"pins": {0: np.nan}}, r"Flag: pin weights"),
        ({"masses": [1.0, 1.0]}, r"Flag: masses must have shape \(4,\), not \(2,\)"),
        ({"masses": [1.0, 1.0, 0.0, 1.0]}, r"Flag: masses\[2\] must be above 0 kg, not 0"),
        ({"masses": [1.0, 1.0, np.nan, 1.0]}, r"Flag: masses\[2\] must be a finite number, not nan"),
        ({"edges": [[0, 2]], "compliances": [0.1, 0.2]}, r"Flag: compliances must have shape \(1,\), not \(2,\)"),
        ({"edges": [[0, 2]], "compliances": [-0.1]}, r"Flag: compliances\[0\] must be at least 0 m/N, not -0.1"),
    ],
)
def test_bad_bodies_are_refused(arguments, sentence):
    """One sentence with the body's name, the argument and the value."""
    with pytest.raises(ValueError, match=sentence) as refusal:
        Body(**{"vertices": SQUARE, "faces": QUAD, "name": "Flag", **arguments})
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Plane(normal=(0.0, 0.0, 0.0)), "Plane.normal"),
        (lambda: Plane(normal=(0.0, np.nan, 1.0)), "Plane.normal"),
        (lambda: Plane(point=(0.0, np.inf, 1.0)), "Plane.point"),
        (lambda: Plane(point=(0.0, 1.0)), "Plane.point"),
        (lambda: Plane(thickness=-0.1), "Plane.thickness must be at least 0 m, not -0.1"),
        (lambda: Plane(friction=-0.1), "Plane.friction must be at least 0, not -0.1"),
    ],
)
def test_bad_planes_are_refused(make, sentence):
    """The same for floors and walls."""
    with pytest.raises(ValueError, match=sentence):
        make()


def test_pins_are_sorted_with_their_weights():
    """Pins come in the order of their vertices, the order of the targets."""
    body = Body(SQUARE, QUAD, pins={3: 0.25, 1: 1.0})
    assert body.pin_ids.tolist() == [1, 3]
    assert body.pin_weights.tolist() == [1.0, 0.25]


def test_a_body_keeps_copies():
    """Changing an array that was handed over does not reach the body."""
    vertices = SQUARE.copy()
    body = Body(vertices, QUAD)
    vertices[:] = 7.0
    np.testing.assert_array_equal(body.vertices, SQUARE)


def test_rest_shape_rules_lengths_and_volume():
    """Strain is measured against the rest shape: a sheet that starts 10 % larger has 10 % strain and contracts."""
    vertices, quads = grid(3, 3, 1.0, 1.0)
    body = Body(1.1 * vertices, quads, rest_vertices=vertices)
    np.testing.assert_allclose(body.edge_strain(body.vertices), 0.1, rtol=1e-12)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    simulation.step(1 / 24)
    assert np.ptp(simulation.positions(body), axis=0)[:2].max() < 1.1


def test_a_body_that_is_pinned_all_over_does_not_move():
    """Nothing is free, so nothing happens, without a warning."""
    body = Body(SQUARE, QUAD, Material(pressure_mode="OVERPRESSURE"), pins=range(4))
    simulation = Simulation([body], [Plane((0.0, 0.0, -1.0))])
    simulation.step(1 / 24)
    np.testing.assert_array_equal(simulation.positions(body), SQUARE)
