"""Dynamic Mesh: lengths, angles and volumes at rest follow another shape, evenly, and come back the same."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.meshes import grid, icosphere
from pbd_addon import Body, Creases, FrameInputs, Material, Simulation
from pbd_addon.kernels import available

DT = 1 / 24
QUIET = {"air_normal": 0.0, "air_tangent": 0.0, "self_collision": False}
FLOATING = (0.0, 0.0, 0.0)


def sheet(preset: str = "Cotton", cells: tuple[int, int] = (10, 10), size: float = 0.02, **more) -> Body:
    """A sheet of square cells; what is no setting of the material is an argument of the body."""
    vertices, faces = grid(*cells, size * cells[0], size * cells[1])
    settings = {name: more.pop(name) for name in list(more) if name in Material.__dataclass_fields__}
    material = dataclasses.replace(Material.preset(preset), **{**QUIET, **settings})
    return Body(vertices, faces, material, dynamic_mesh=True, **more)


def follow(simulation: Simulation, body: Body, shape, frames: int, still: int = 0):
    """Let the rest shape be `shape`, a function of the share of the way, and hold still; the last report."""
    for k in range(1, frames + still + 1):
        simulation.set_rest_shape(body, shape(min(k / frames, 1.0)))
        report = simulation.step(DT)
    return report


def rolled(body: Body, curvature: float) -> np.ndarray:
    """The vertices of a flat sheet, rolled around the y axis."""
    x = body.vertices.copy()
    if curvature:
        x[:, 2] = (1.0 - np.cos(curvature * x[:, 0])) / curvature
        x[:, 0] = np.sin(curvature * x[:, 0]) / curvature
    return x


def curvatures(body: Body, x: np.ndarray) -> np.ndarray:
    """Angles between the cells of the middle row over the cells' length [1/m]."""
    along = np.diff(x[np.abs(body.vertices[:, 1]) < 1e-9], axis=0)
    lengths = np.linalg.norm(along, axis=1)
    along /= lengths[:, None]
    return np.arccos((along[1:] * along[:-1]).sum(axis=1).clip(-1.0, 1.0)) / lengths[1:]


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize("method", ["XPBD", "PBD"])
@pytest.mark.newest
def test_a_free_sheet_takes_the_size_of_its_rest_shape(method, kernels):
    body = sheet()
    simulation = Simulation([body], gravity=FLOATING, kernels=kernels, method=method)
    report = follow(simulation, body, lambda share: body.vertices * (1.0 + share), 24, 24)
    np.testing.assert_allclose(np.ptp(simulation.positions(body), axis=0)[:2], 0.4, rtol=0.002)
    assert report.strain_max < 1e-3


@pytest.mark.newest
def test_a_hanging_sheet_grows_in_spite_of_its_tethers():
    body = sheet(pins=range(0, 121, 11))
    simulation = Simulation([body])
    assert any(kind.name == "tether" for kind in simulation.constraints)
    report = follow(simulation, body, lambda share: body.vertices * (1.0 + share, 1.0, 1.0), 24, 24)
    assert report.strain_p95 < 0.001
    end = simulation.positions(body)[10] - simulation.positions(body)[0]
    assert np.linalg.norm(end) == pytest.approx(0.4, rel=0.02)


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize(
    ("preset", "size", "kind", "grown"), [("Paper", 0.02, "dihedral bend", 2.0), ("Paper", 0.01, "plate bend", 1.0)]
)
@pytest.mark.newest
def test_a_flat_sheet_takes_the_curvature_of_its_rest_shape(preset, size, kind, grown, kernels):
    """By hinges, and by the elements of a stiff sheet, of which those of twice the size follow in steps."""
    body = sheet(preset, (12, 4), size, drag=3.0)
    simulation = Simulation([body], gravity=FLOATING, kernels=kernels)
    follow(simulation, body, lambda share: (1.0 + (grown - 1.0) * share) * rolled(body, 10.0 * share), 12, 60)
    assert any(one.name == kind for one in simulation.constraints)
    found = curvatures(body, simulation.positions(body))
    np.testing.assert_allclose(found, 10.0 / grown, rtol=0.02)


@pytest.mark.newest
def test_with_isometric_bending_and_in_creases_rest_angles_stay():
    flat = sheet("Paper", (24, 4), drag=5.0, bend_model="ISOMETRIC")
    simulation = Simulation([flat], gravity=FLOATING)
    follow(simulation, flat, lambda share: rolled(flat, 10.0 * share), 12, 12)
    assert curvatures(flat, simulation.positions(flat)).max() < 1e-6
    across = np.flatnonzero(np.abs(sheet(cells=(24, 4)).vertices[:, 0]) < 1e-9)
    creases = Creases(np.column_stack([across[:-1], across[1:]]), np.full(4, 0.5), np.ones(4))
    folded = sheet("Paper", (24, 4), drag=5.0, creases=creases)
    simulation = Simulation([folded], gravity=FLOATING)
    follow(simulation, folded, lambda share: rolled(folded, 10.0 * share), 12, 60)
    angles = 0.02 * curvatures(folded, simulation.positions(folded))
    assert angles[11] == pytest.approx(0.5, abs=0.02)
    np.testing.assert_allclose(angles[[2, -3]], 0.2, atol=0.02)


@pytest.mark.parametrize(
    "mode", ["VOLUME", *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("GAS", "OVERPRESSURE"))]
)
@pytest.mark.newest
def test_a_balloon_gets_the_volume_of_one_that_was_made_so(mode):
    vertices, faces = icosphere(1, 0.15)
    settings = {**QUIET, "pressure_mode": mode, "overpressure": 100.0, "pressure": 1.2}
    material = dataclasses.replace(Material.preset("Party Balloon"), **settings)
    volumes = []
    for body in (Body(vertices, faces, material, dynamic_mesh=True), Body(1.5 * vertices, faces, material)):
        simulation = Simulation([body], gravity=FLOATING)
        if body.dynamic_mesh:
            follow(simulation, body, lambda share: vertices * (1.0 + 0.5 * share), 12, 24)
        else:
            for _ in range(24):
                simulation.step(DT)
        volumes.append(body.volume(simulation.positions(body)))
    assert volumes[0] == pytest.approx(volumes[1], rel=0.005)


def test_growth_is_even_within_a_frame():
    """All at once at the beginning of a frame, growth by 2 % would be twenty times as fast."""
    body = sheet(damping=0.0, drag=0.0)
    simulation = Simulation([body], gravity=FLOATING)
    for k in range(1, 7):
        simulation.set_rest_shape(body, body.vertices * 1.02**k)
        simulation.step(DT)
    edge = 0.1 * np.sqrt(2.0) * 1.02**6
    assert np.linalg.norm(simulation.velocities(body), axis=1).max() < 1.2 * 0.02 * edge / DT


def test_the_center_of_mass_stays():
    body = sheet("Paper", (24, 4))
    simulation = Simulation([body], gravity=FLOATING)
    follow(simulation, body, lambda share: rolled(body, 20.0 * share) + np.array([share, 0.0, 0.0]), 12)
    x = simulation.positions(body)
    assert np.abs(np.average(x, axis=0, weights=body.masses())).max() < 1e-9


PAST = {
    "hinges": {},
    "plastic": {"bend_yield": 1.0, "stretch_yield": 0.01},
    "plates": {"preset": "Paper", "size": 0.01},
    "foam": {"internal_springs": True},
}


@pytest.mark.parametrize("kind", PAST)
def test_going_on_from_a_frame_gives_the_same_bits(kind):
    body = sheet(**PAST[kind])
    simulation = Simulation([body])

    def inputs(frame: int) -> FrameInputs:
        return FrameInputs(rest_shapes={body: (1.0 + 0.02 * frame) * rolled(body, 2.0 * frame)})

    simulation.advance_to(4, inputs, DT)
    exact = simulation.frames.state(4)
    simulation.advance_to(8, inputs, DT)
    expected = simulation.positions(body).copy()
    simulation.restore(4, exact)
    np.testing.assert_array_equal(simulation.frames.state(4).memory["rest"]["shape"], inputs(4).rest_shapes[body].T)
    simulation.advance_to(8, inputs, DT)
    np.testing.assert_array_equal(simulation.positions(body), expected)
    simulation.truncate(2)
    assert simulation.frames.state(2).memory["rest"]["shape"] is not exact.memory["rest"]["shape"]


@pytest.mark.newest
def test_cloth_that_tears_keeps_its_rest_shape():
    """The model is built anew where it tears, from the first rest shape."""
    vertices, faces = grid(10, 10, 0.2, 0.2)
    split = np.asarray(faces).reshape(-1)
    corners = np.arange(len(split)).reshape(np.asarray(faces).shape)
    material = dataclasses.replace(Material.preset("Cotton"), tear_strength=300.0, **QUIET)
    pins = np.flatnonzero(np.abs(vertices[split][:, 0]) > 0.1 - 1e-9)
    body = Body(vertices[split], corners, material, pins, dynamic_mesh=True)
    simulation = Simulation([body], gravity=FLOATING)
    whole = len(np.unique(simulation.frames.state(0).memory["tearing"]["joined"]))
    follow(simulation, body, lambda share: body.vertices * (1.0 - 0.3 * share), 12, 24)
    joined = simulation.frames.state(simulation.frames.last).memory["tearing"]["joined"]
    assert len(np.unique(joined)) > whole
    stretch = next(kind for kind in simulation.constraints if kind.name == "stretch")
    assert np.median(stretch.rest_lengths) == pytest.approx(0.7 * 0.02, rel=1e-6)


def test_a_rest_shape_without_size_and_one_that_is_not_asked_for():
    body = sheet("Paper", size=0.01)
    simulation = Simulation([body])
    follow(simulation, body, lambda share: body.vertices * (1.0 - share), 6, 6)
    assert np.isfinite(simulation.positions(body)).all()
    plain = Body(*grid(2, 2, 1.0, 1.0), name="Towel")
    with pytest.raises(ValueError, match="body Towel must have dynamic_mesh"):
        Simulation([plain]).set_rest_shape(plain, plain.vertices)
    with pytest.raises(ValueError, match="vertices of Body"):
        simulation.set_rest_shape(body, body.vertices[:3])
