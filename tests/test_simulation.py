"""Simulation: what its calls promise, and the sentences with which they refuse."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.batches import find
from helpers.crossings import count_between
from helpers.inside import model_of
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, FrameInputs, Material, Plane, Simulation, SolverSettings
from pbd_addon.solver import ChangedError
from pbd_addon.stepping import time_stepping
from pbd_addon.timing import stopwatch

DT = 1 / 24


def cloth(**settings) -> Body:
    return Body(*grid(4, 4, 1.0, 1.0), Material(**settings), pins=[0, 4], name="Flag")


def run(simulation: Simulation, frames: int) -> Simulation:
    for _ in range(frames):
        simulation.step(DT)
    return simulation


def test_set_material_equals_a_body_made_of_it():
    """A material that is set before the first step acts as if the body had been made of it, to the bit."""
    wanted = Material(density=0.4, stretch=300.0, compression=200.0, shear=50.0, bend=1e-3, drag=1.0, damping=2.0,
                      stretch_damping=0.01, thickness=0.01, tethers=False)  # fmt: skip
    changed, made = cloth(), Body(*grid(4, 4, 1.0, 1.0), wanted, pins=[0, 4])
    simulations = [Simulation([body], [Plane((0.0, 0.0, -0.3))]) for body in (changed, made)]
    simulations[0].set_material(changed, wanted)
    for simulation in simulations:
        run(simulation, 5)
    np.testing.assert_array_equal(simulations[0].positions(changed), simulations[1].positions(made))


def test_set_material_acts_from_the_next_step():
    """Frames that are there stay as they are; the state does not move; the next step differs."""
    bodies = [cloth(), cloth()]
    simulations = [run(Simulation([body]), 4) for body in bodies]
    before = simulations[0].positions(bodies[0]).copy()
    frames = [simulations[0].cached_positions(bodies[0], frame).copy() for frame in range(5)]
    simulations[0].set_material(bodies[0], Material(stretch=20.0, compression=20.0, density=1.0))
    np.testing.assert_array_equal(simulations[0].positions(bodies[0]), before)
    for frame, positions in enumerate(frames):
        np.testing.assert_array_equal(simulations[0].cached_positions(bodies[0], frame), positions)
    for simulation in simulations:
        simulation.step(DT)
    moved = [simulation.positions(body) for simulation, body in zip(simulations, bodies)]
    assert np.abs(moved[0] - moved[1]).max() > 1e-5


def test_setting_the_same_material_changes_nothing():
    """Rewriting the arrays with the same values leaves no trace, to the bit."""
    bodies = [cloth(), cloth()]
    simulations = [run(Simulation([body]), 3) for body in bodies]
    simulations[0].set_material(bodies[0], bodies[0].material)
    simulations[0].set_settings(simulations[0].settings)
    for simulation in simulations:
        run(simulation, 3)
    np.testing.assert_array_equal(simulations[0].positions(bodies[0]), simulations[1].positions(bodies[1]))


def test_density_changes_masses():
    """Twice the density sags twice as far on the same soft pins."""
    sags = []
    for density in (0.2, 0.4):
        body = Body(*grid(1, 1, 1.0, 1.0), Material(pin_stiffness=20.0, drag=8.0), pins=dict.fromkeys(range(4), 0.5))
        simulation = Simulation([body])
        simulation.set_material(body, dataclasses.replace(body.material, density=density))
        sags.append(-run(simulation, 72).positions(body)[:, 2].mean())
    assert sags[0] == pytest.approx(0.2 / 4 * 9.81 / 20.0, rel=1e-3)
    assert sags[1] == pytest.approx(2.0 * sags[0], rel=1e-3)


def test_set_settings_equals_a_simulation_made_with_them():
    """Settings given later act as those given first."""
    settings = SolverSettings(method="PBD", substeps=3, iterations=4, gravity=(1.0, 0.0, -2.0))
    bodies = [cloth(), cloth()]
    later = Simulation([bodies[0]])
    later.set_settings(settings)
    first = Simulation([bodies[1]], gravity=(1.0, 0.0, -2.0), method="PBD", substeps=3, iterations=4)
    np.testing.assert_array_equal(run(later, 4).positions(bodies[0]), run(first, 4).positions(bodies[1]))
    assert later.settings == first.settings


def test_a_stiffness_of_zero_removes_the_constraint():
    """Without any stiffness, vertices fall on their own: nothing holds them to the pins."""
    body = cloth(stretch=0.0, compression=0.0, shear=0.0, bend=0.0, drag=0.0, damping=0.0)
    simulation = Simulation([body], self_collision=False)
    assert simulation.constraints == []
    run(simulation, 24)
    free = np.setdiff1d(np.arange(25), body.pin_ids)
    np.testing.assert_allclose(simulation.positions(body)[free, 2], -4.905, rtol=0.01)


def test_all_substeps_are_equally_long(monkeypatch):
    """To the last digit, by their effective length: when it changes, constraints scale all their compliances anew."""
    simulation = Simulation([cloth()], substeps=17)
    lengths = []
    for constraints in simulation.constraints:
        begin = constraints.begin_substep
        monkeypatch.setattr(
            constraints, "begin_substep", lambda h, fraction, begin=begin: (lengths.append(h), begin(h, fraction))
        )
    simulation.step(1 / 24)
    simulation.step(1 / 24)
    assert len(lengths) >= 14
    assert set(lengths) == {1 / 24 / float(time_stepping.lengths(17, True).sum())}


def test_a_frame_in_slices_is_that_of_a_step():
    """To the last bit, also after a frame that was left in the middle."""
    ends = []
    for sliced in (False, True):
        body = cloth()
        ball = Collider(*icosphere(2, 0.3))
        simulation = Simulation([body], [ball], substeps=5)
        for frame in range(1, 13):
            simulation.move_collider(ball, ball.vertices + np.array([0.0, 0.0, 0.01 * min(frame, 8)]))
            if sliced:
                left = simulation.slices(DT)
                next(left), next(left)  # In the first frame both while it looks for what intersects.
                left.close()
                shares = list(simulation.slices(DT))
                assert frame > 1 or shares[:2] == [0.0, 0.0]
                # A frame that begins in second order and meets the ball begins again.
                assert [share for share in shares if share][-4:] == [0.2, 0.4, 0.6, 0.8]
            else:
                simulation.step(DT)
        assert simulation.reports[simulation.frames.last].contacts > 0
        ends.append(simulation.positions(body).copy())
    np.testing.assert_array_equal(*ends)


def test_a_simulation_that_is_built_in_slices_is_that_of_one_go():
    ends = []
    for in_slices in (False, True):
        body = cloth()
        simulation = Simulation([body], [Collider(*icosphere(2, 0.3))], substeps=5, in_slices=in_slices)
        if in_slices:
            assert len(list(simulation.prepare())) >= 4
        simulation.step(DT)
        ends.append(simulation.positions(body).copy())
    np.testing.assert_array_equal(*ends)


def test_the_time_between_slices_is_not_that_of_the_frame(monkeypatch):
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(stopwatch.time, "perf_counter", clock)
    simulation = Simulation([cloth()])
    for _share in simulation.slices(DT):
        now[0] += 1e6
    assert simulation.reports[1].seconds < 1e6


def test_a_simulation_that_was_changed_in_a_slice_says_so():
    simulation = Simulation([cloth()])
    left = simulation.slices(DT)
    next(left)
    simulation.reset()
    with pytest.raises(ChangedError, match="was changed while"):
        list(left)


def test_the_report_tells_of_strain_and_substeps():
    """Mean, 95th percentile and maximum are those of the edges, contacts those of the floor."""
    body = cloth(stretch=50.0, compression=50.0)
    simulation = Simulation([body], [Plane((0.0, 0.0, -0.5))], substeps=6)
    report = [simulation.step(DT) for _ in range(20)][-1]
    x = simulation.positions(body)
    free = np.abs(body.edge_strain(x))  # none of the edges lies between two pins
    assert report.strain_mean == pytest.approx(free.mean(), rel=1e-9)
    assert report.strain_max == pytest.approx(free.max(), rel=1e-9)
    assert report.strain_p95 == pytest.approx(np.percentile(free, 95.0, method="higher"), rel=1e-9)
    assert report.strain_max > 0.01
    assert report.substeps == 6
    assert report.seconds > 0.0
    assert report.contacts == (x[:, 2] < -0.5 + body.material.thickness + 1e-12).sum() > 0


def test_the_report_tells_where_the_time_went():
    """Every kind of constraint that is there, and what it took; all together are the whole."""
    simulation = Simulation([cloth()], [Plane((0.0, 0.0, -1e-3))])  # touched at once, or substeps are one call
    searched = simulation.step(DT).times["contact search"]
    report = simulation.step(DT)
    kinds = {constraints.name for constraints in simulation.constraints}
    assert {"stretch", "plane", "contact"} <= kinds
    assert set(report.times) == {"prediction", "contact search", "report"} | kinds
    assert min(report.times.values()) >= 0.0
    assert report.times["stretch"] > 0.0
    assert searched > 0.0
    assert sum(report.times.values()) == pytest.approx(report.seconds)


def test_edge_strain_is_relative_lengthening():
    """(L - L0) / L0, measured against the rest shape."""
    body = cloth()
    np.testing.assert_allclose(body.edge_strain(1.3 * body.vertices), 0.3, rtol=1e-12)


def test_positions_are_views_of_the_state():
    """Positions and velocities are (n, 3) float64 in metres; to write into them moves the body."""
    body = cloth()
    simulation = Simulation([body])
    assert simulation.positions(body).dtype == np.float64
    assert simulation.positions(body).shape == simulation.velocities(body).shape == (25, 3)
    simulation.velocities(body)[12] = [0.0, 0.0, 1.0]
    assert simulation.velocities(body)[12, 2] == 1.0


def test_several_bodies_and_planes_are_told_apart():
    """Targets go to the pins of their body, places to their plane."""
    bodies = [Body(*grid(2, 2, 1.0, 1.0), pins=pins) for pins in ([0], [], [8, 2])]
    planes = [Plane((0.0, 0.0, -3.0)), Plane((0.0, 0.0, -9.0))]
    simulation = Simulation(bodies, planes)
    wanted = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    simulation.advance_to(
        1, lambda _: FrameInputs({bodies[2]: wanted}, {planes[1]: ((0.0, 0.0, -7.0), (0.0, 0.0, 2.0))}), DT
    )
    np.testing.assert_allclose(simulation.positions(bodies[2])[[2, 8]], wanted)
    np.testing.assert_allclose(simulation.positions(bodies[0])[0], bodies[0].vertices[0])
    heights = [constraints.point[2] for constraints in simulation.constraints if constraints.name == "plane"]
    assert heights == [-3.0, -7.0]


def test_scenes_of_particles_alone():
    """Bodies without faces, but with edges, are simulated."""
    body = Body([[0.0, 0, 0], [0, 0, -1.0], [0, 0, -2.0]], edges=[[0, 1], [1, 2]], pins=[0])
    simulation = run(Simulation([body]), 24)
    np.testing.assert_allclose(simulation.positions(body)[:, 2], [0.0, -1.0, -2.0], atol=0.01)


def test_particles_that_keep_apart():
    """Pairs keep their distance at least, and are free to part."""
    bodies = [Body(*grid(1, 1, 1.0, 1.0), Material(drag=0.0)) for _ in range(2)]
    simulation = Simulation(bodies, gravity=(0.0, 0.0, 0.0))
    simulation.positions(bodies[1])[:] += [0.0, 0.0, 0.3]
    simulation.velocities(bodies[1])[:, 2] = -2.0
    simulation.keep_apart(bodies[0], range(4), bodies[1], range(4), 0.25)
    for _ in range(12):
        simulation.step(DT)
        gap = simulation.positions(bodies[1])[:, 2] - simulation.positions(bodies[0])[:, 2]
        assert gap.min() >= 0.25 - 1e-9
    simulation.velocities(bodies[1])[:, 2] += 2.0
    run(simulation, 12)
    gap = simulation.positions(bodies[1])[:, 2] - simulation.positions(bodies[0])[:, 2]
    assert gap.min() > 0.9


def test_forces_are_newtons_after_a_step_and_zero_before():
    """The public batches tell values, gradients, multipliers and forces."""
    body = cloth()
    simulation = Simulation([body])
    stretch = find(simulation, "stretch")
    assert (stretch.forces() == 0.0).all()
    run(simulation, 30)
    assert np.abs(stretch.forces()).max() > 0.01
    assert stretch.values(simulation.positions(body)).shape == stretch.forces().shape == stretch.multipliers.shape


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda s, b: s.step(0.0), "dt must be above 0 s, not 0"),
        (lambda s, b: s.step(-1.0), "dt must be above 0 s, not -1"),
        (lambda s, b: s.step(float("nan")), "dt must be a finite number, not nan"),
        (
            lambda s, b: s.set_pin_targets(b, np.zeros((3, 3))),
            r"targets of Flag must have shape \(2, 3\), not \(3, 3\)",
        ),
        (lambda s, b: s.set_pin_targets(b, np.full((2, 3), np.nan)), "targets of Flag must be finite"),
        (lambda s, b: s.move_plane(model_of(s).planes[0], (0, 0, 0), (0, 0, 0)), "normal"),
        (lambda s, b: s.keep_apart(b, [0], b, [1, 2], 0.1), "vertices has 1 entries, other_vertices has 2"),
        (lambda s, b: s.keep_apart(b, [0], b, [1], 0.0), "distance must be above 0 m, not 0"),
        (lambda s, b: Simulation([]), "bodies is empty"),
        (lambda s, b: Simulation([b], kernels="fortran"), "kernels must be auto or one of .*numpy.*, not 'fortran'"),
        (lambda s, b: Simulation([b], substeps=0), "SolverSettings.substeps must be at least 1, not 0"),
        (lambda s, b: Simulation([b], iterations=0), "SolverSettings.iterations must be at least 1"),
        (lambda s, b: Simulation([b], method="FEM"), "SolverSettings.method must be one of"),
        (lambda s, b: Simulation([b], gravity=(0.0, 0.0, np.inf)), "SolverSettings.gravity must be three finite"),
        (
            lambda s, b: Simulation([b], self_collision="SLOW"),
            "self_collision must be True, False or .FAST., not 'SLOW'",
        ),
        (
            lambda s, b: Simulation([b], self_collision="fast"),
            "self_collision must be True, False or .FAST., not 'fast'",
        ),
        (lambda s, b: Simulation([b], self_collision=None), "self_collision must be True, False or .FAST., not None"),
        (lambda s, b: Simulation([b], [b]), "colliders"),
        (lambda s, b: Simulation([b], ["floor"]), "colliders"),
        (lambda s, b: SolverSettings(collisions="NONE"), "SolverSettings.collisions must be one of .*, not 'NONE'"),
        (lambda s, b: Material(self_distance=-0.1), "Material.self_distance must be at least 0 m, not -0.1"),
        (lambda s, b: Material(thickness=-0.1), "Material.thickness must be at least 0 m, not -0.1"),
        (lambda s, b: Material(friction=np.nan), "Material.friction must be a finite number, not nan"),
    ],
)
def test_wrong_calls_are_refused(act, sentence):
    """One sentence names the argument and the number it got, and the simulation goes on unharmed."""
    body = cloth()
    simulation = Simulation([body], [Plane((0.0, 0.0, -5.0))])
    with pytest.raises(ValueError, match=sentence) as refusal:
        act(simulation, body)
    assert "\n" not in str(refusal.value)
    simulation.step(DT)
    assert np.isfinite(simulation.positions(body)).all()


def test_kernels_are_named():
    """The backend at work is told by its name."""
    assert Simulation([cloth()], kernels="numpy").kernels_name == "numpy"
    assert Simulation([cloth()]).kernels_name in ("numpy", "numba")


def test_another_bending_model_acts_from_the_next_step():
    """A sheet that is flat at rest and is told to keep rest angles gets dihedral rows instead of isometric ones."""
    body = Body(*grid(3, 3, 1.0, 1.0), Material(bend_model="ISOMETRIC"))
    simulation = Simulation([body])
    simulation.step(1 / 24)
    assert "isometric bend" in [kind.name for kind in simulation.constraints]
    simulation.set_material(body, Material(bend_model="DIHEDRAL"))
    simulation.step(1 / 24)
    names = [kind.name for kind in simulation.constraints]
    assert "dihedral bend" in names
    assert "isometric bend" not in names


def landing(colliders, **more) -> tuple[Simulation, Body]:
    """A sheet of nine vertices a millimetre over z = 0.002, where it comes to lie on colliders at z = 0."""
    vertices, quads = grid(2, 2, 0.2, 0.2)
    body = Body(vertices + np.array([0.001, 0.002, 0.003]), quads, Material(thickness=0.002, **more))
    return Simulation([body], colliders), body


def square(place=(0.0, 0.0, 0.0), size: float = 1.0) -> Collider:
    vertices, quads = grid(1, 1, size, size)
    return Collider(vertices + np.array(place), quads, thickness=0.0)


def test_contacts_are_particles_that_touch_an_obstacle():
    """None in flight, all that lie on a collider or a plane, and only those of bodies."""
    flying = landing([square((0.0, 0.0, -5.0))])[0]
    assert run(flying, 3).reports[3].contacts == 0
    for obstacles in ([square()], [Plane()]):
        report = run(landing(obstacles)[0], 4).reports[4]
        assert report.contacts == 9
        assert report.self_contacts == report.crossings == 0


@pytest.mark.parametrize("floor", [Plane, square])
def test_a_particle_that_touches_twice_is_one_contact(floor):
    """A sheet that lies on a floor and is pressed against a wall has nine particles that touch, three of them both."""
    simulation, _ = landing([floor(), Plane((-0.101, 0.0, 0.0), (1.0, 0.0, 0.0))])
    simulation.set_settings(SolverSettings(gravity=(-3.0, 0.0, -9.81)))
    report = run(simulation, 4).reports[4]
    walls = [constraints for constraints in simulation.constraints if constraints.name == "plane"]
    assert len(walls[-1].touching()) == 3
    assert report.contacts == 9


def test_contacts_of_part_of_a_cloth():
    """What hangs over the edge of a table does not count, nor do pins."""
    simulation, body = landing([square((-0.5, 0.0, 0.0))])  # ends below the middle of the sheet
    report = run(simulation, 1).reports[1]
    below = body.vertices[:, 0] < 0.0
    assert 0 < below.sum() < 9
    assert report.contacts == below.sum() + 3  # and the middle ones, 1 mm beside the border


def test_self_contacts_are_particles_that_touch_cloth():
    """Of itself or of another body; a cloth on a floor has none, and no crossings either."""
    vertices, quads = grid(4, 4, 0.2, 0.2)
    material = Material(self_distance=0.01)
    lower = Body(vertices, quads, material, pins=range(25))
    upper = Body(vertices + np.array([0.004, 0.003, 0.012]), quads, material)
    far = Body(vertices + np.array([5.0, 0.0, 0.0]), quads, material)
    simulation = run(Simulation([lower, upper, far]), 4)
    report = simulation.reports[4]
    assert report.contacts == report.crossings == 0
    # 25 of each but those whose neighbours carry them all.
    assert 30 <= report.self_contacts <= 50
    simulation.positions(upper)[:] += [0.0, 0.0, 1.0]
    assert simulation.step(DT).self_contacts == 0


def test_crossings_are_those_of_the_beginning():
    """Edges through faces where a run begins tangled: as many as there are, and none once it is pulled apart."""
    vertices, quads = grid(4, 4, 0.2, 0.2)
    upright = vertices[:, [2, 1, 0]] + np.array([0.012, 0.007, 0.003])
    bodies = [Body(points, quads, Material(self_distance=0.01)) for points in (vertices, upright)]
    simulation = Simulation(bodies, gravity=(0.0, 0.0, 0.0))
    triangles = bodies[0].mesh.triangles
    expected = count_between(vertices, triangles, upright, triangles)
    assert simulation.step(DT).crossings == expected > 0
    assert Simulation(bodies, gravity=(0.0, 0.0, 0.0), self_collision=False).step(DT).crossings == 0
    simulation.positions(bodies[1])[:] += [1.0, 0.0, 0.0]
    simulation.step(DT)
    assert simulation.step(DT).crossings == 0
    assert simulation.reports[1].crossings == expected
    simulation.reset()
    assert simulation.step(DT).crossings == expected
