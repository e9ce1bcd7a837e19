"""Contact takes energy and gives none: kinetic, elastic and that of height together, frame by frame.

The cloth here is soft: one pass in a substep leaves stiff springs a small error, whose energy is larger than that of
any motion. With 20 N/m the sum rises by less than a thousandth where nothing is touched, which the first test shows.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import box, grid, icosphere, turned
from pbd_addon import Body, Collider, Material, Simulation

pytestmark = pytest.mark.slow

DT = 1 / 24
GRAVITY = 9.81
SOFT = {"drag": 0.0, "damping": 0.0, "stretch": 20.0, "compression": 20.0, "shear": 8.0}
SUBSTEPS = 40
SPRINGS = ("stretch", "shear", "isometric bend", "dihedral bend")


def energies(simulation: Simulation) -> tuple[float, float]:
    """Kinetic energy, and all of it with that of height and of the springs [J]."""
    bodies = simulation.bodies
    masses = np.concatenate([body.masses() for body in bodies])
    x = np.concatenate([simulation.positions(body) for body in bodies])
    v = np.concatenate([simulation.velocities(body) for body in bodies])
    kinetic = 0.5 * masses @ (v**2).sum(axis=1)
    height = -masses @ x @ simulation.settings.gravity
    elastic = 0.0
    for springs in simulation.constraints:
        if springs.name in SPRINGS:
            error = springs.values(x)
            give = springs.compliance
            give = np.where(error > 0.0, give[0], give[-1]) if give.ndim == 2 else give
            elastic += 0.5 * (error**2 / np.maximum(give, 1e-300)).sum()
    return kinetic, kinetic + height + elastic


def run(simulation: Simulation, frames: int, share: float = 0.01) -> int:
    """Step, and demand that no frame ends with more energy than the one before, but for a share (1 %) of what was
    exchanged: the largest kinetic energy that there was, which is what contact stopped. Returns how often
    a particle touched something."""
    kinetic, totals, touched = [], [], 0
    for frame in range(frames + 1):
        if frame:
            report = simulation.step(DT)
            touched += report.contacts
            touched += report.self_contacts
        one, total = energies(simulation)
        kinetic.append(one)
        totals.append(total)
    rises = np.diff(totals)
    worst = int(np.argmax(rises))
    assert rises[worst] <= share * max(kinetic), f"{rises[worst]:.2g} J of {max(kinetic):.2g} J in frame {worst + 1}"
    return touched


@pytest.mark.usefixtures("first_order")  # as the others are; of second order, the first frame gains 0.14 %
@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_a_sheet_that_crumples_in_the_air_makes_no_energy(speed):
    """What the other tests measure with: without contact, a dented and sheared sheet keeps to it ten times as well."""
    vertices, quads = grid(16, 16, 0.5, 0.5)
    body = Body(vertices, quads, Material(**SOFT))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), self_collision=False, substeps=SUBSTEPS)
    v = simulation.velocities(body)
    v[:, 2] = speed * (1.0 - np.exp(-(vertices**2).sum(axis=1) / 0.01))
    v[:, 0] = 0.2 * speed * np.sin(7.0 * vertices[:, 1])
    run(simulation, 16, share=0.001)


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_falling_on_a_ball_makes_no_energy(friction):
    """A sheet drapes over a ball, swings and folds against itself."""
    vertices, quads = grid(20, 20, 0.8, 0.8)
    body = Body(vertices + np.array([0.02, 0.01, 0.36]), quads, Material(**SOFT, friction=friction))
    ball = Collider(*icosphere(3, 0.25), friction=friction)
    simulation = Simulation([body], [ball], substeps=SUBSTEPS)
    assert run(simulation, 30) > 0
    if friction:
        assert simulation.positions(body)[:, 2].max() > 0.2  # it lies on the ball


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_hitting_a_corner_makes_no_energy(friction):
    """A sheet flies at 3 m/s at a tilted box, in free space: what it has afterwards came from before."""
    vertices, quads = grid(16, 16, 0.5, 0.5)
    body = Body(vertices + np.array([0.01, 0.02, 0.2]), quads, Material(**SOFT, friction=friction))
    corners, triangles = box((0.2, 0.2, 0.2))
    obstacle = Collider(turned(turned(corners, 0.5, 0), 0.5, 1), triangles, friction=friction)
    simulation = Simulation([body], [obstacle], gravity=(0.0, 0.0, 0.0), substeps=SUBSTEPS)
    simulation.velocities(body)[:, 2] = -3.0
    before = energies(simulation)[1]
    run(simulation, 16)
    assert energies(simulation)[1] < 0.9 * before  # it did hit


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_cloth_on_cloth_makes_no_energy(friction):
    """Two sheets fly at each other at 4 m/s."""
    vertices, quads = grid(16, 16, 0.5, 0.5)
    material = Material(**SOFT, friction=friction, self_distance=0.01)
    bodies = [
        Body(turned(vertices, 0.2, 0) + np.array([0.03, 0.0, 0.08]), quads, material),
        Body(turned(vertices, 0.5, 2), quads, material),
    ]
    simulation = Simulation(bodies, gravity=(0.0, 0.0, 0.0), substeps=SUBSTEPS)
    simulation.velocities(bodies[0])[:, 2] = -4.0
    before = energies(simulation)[1]
    run(simulation, 16)
    assert energies(simulation)[1] < 0.9 * before


def test_folding_up_on_the_floor_makes_no_energy():
    """A sheet that stands on its edge falls and folds onto itself."""
    vertices, quads = grid(16, 16, 0.4, 0.4)
    noise = np.random.default_rng(0).normal(0.0, 1e-4, vertices.shape)
    standing = turned(vertices, np.pi / 2, 0) + np.array([0.0, 0.0, 0.21]) + noise
    body = Body(standing, quads, Material(**SOFT, self_distance=0.01), rest_vertices=vertices)
    floor = Collider(*grid(2, 2, 2.0, 2.0))
    simulation = Simulation([body], [floor], substeps=SUBSTEPS)
    run(simulation, 30)
    assert simulation.positions(body)[:, 2].max() < 0.35  # it did fall
    assert simulation.positions(body)[:, 2].min() > 0.0
