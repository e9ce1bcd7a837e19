"""What tests look at in a simulation: its batches of constraints, its momentum."""

from __future__ import annotations

import numpy as np

from helpers.guide_code import area
from pbd_addon import Body, Material, Plane, Rail, Simulation
from pbd_addon.constraints import Constraints

SINGLE = (
    "attachment",
    "sliding pin",
    "isometric bend",
    "dihedral bend",
    "tether",
    "shear",
    "stretch",
    "volume",
    "pairs",
    "area",
    "rigid",
    "plane",
)

HINGE = [[0, 1, 2], [1, 0, 3]]
TETRAHEDRON = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
NOTHING = {"stretch": 0.0, "compression": 0.0, "shear": 0.0, "bend": 0.0, "tethers": False}


def find(simulation: Simulation, kind: str) -> Constraints:
    return next(constraints for constraints in simulation.constraints if constraints.name == kind)


def jacobian(constraints: Constraints, x: np.ndarray) -> np.ndarray:
    """Given gradients as a dense matrix, (rows, n, 3)."""
    particles, gradients = constraints.gradients(x)
    dense = np.zeros((len(particles), *x.shape))
    np.add.at(dense, (np.arange(len(particles))[:, None], particles), gradients)
    return dense


def inertia(body: Body) -> np.ndarray:
    """Mass of every vertex and of the air that moves with it, (n,) [kg]."""
    return body.masses() + body.air_masses()


def momentum(simulation: Simulation, body: Body) -> np.ndarray:
    return inertia(body) @ simulation.velocities(body)


def angular_momentum(simulation: Simulation, body: Body, center=(0.0, 0.0, 0.0)) -> np.ndarray:
    """Sum m r x v about a point [kg m²/s]."""
    arms = simulation.positions(body) - np.asarray(center)
    return inertia(body) @ np.cross(arms, simulation.velocities(body))


def single(kind: str, seed: int) -> tuple[Simulation, np.ndarray]:
    """A simulation with one constraint of a kind, or two that share no particle, and a pose that violates it."""
    rng = np.random.default_rng(seed)
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0.4, 0.9, 0], [0.6, -0.8, 0.0]]) + rng.normal(0.0, 0.05, (4, 3))
    planes, pins, edges, faces, slides, rail = [], {}, [], HINGE, (), None
    settings = dict(NOTHING)
    if kind == "attachment":
        pins, settings["pin_stiffness"] = {2: 0.4}, 5e4
    elif kind == "sliding pin":
        slides, rail = [0, 2], Rail(rng.normal(0.0, 1.0, (3, 3)), edges=[[0, 1], [1, 2]])
    elif kind == "stretch":
        faces, edges, settings["stretch"], settings["compression"] = [], [[0, 1], [2, 3]], 4e6, 9e6
    elif kind == "shear":
        faces, settings["shear"] = [[0, 3, 1, 2]], 3e4
    elif kind == "dihedral bend":
        settings["bend"], settings["bend_model"] = 2e3, "DIHEDRAL"
    elif kind == "isometric bend":
        settings["bend"], settings["bend_model"] = 2e3, "ISOMETRIC"
    elif kind == "volume":
        vertices[3] += [0.0, 1.0, 0.9]
        faces, settings["pressure_mode"], settings["pressure"] = TETRAHEDRON, "VOLUME", 1.2
    elif kind == "tether":
        faces, edges, pins = [], [[0, 1], [2, 3]], [0, 2]
        settings["tethers"], settings["stretch"], settings["compression"] = True, 1e9, 1e9
    elif kind == "rigid":
        settings["rigid"] = True
    elif kind == "plane":
        planes = [Plane((0.0, 0.0, 0.6), (0.1, 0.2, 1.0))]
    masses = None if kind == "tether" else rng.uniform(0.1, 1.0, 4)  # with masses given there are no tethers
    body = Body(vertices, faces, Material(**settings), pins, edges=edges, masses=masses, rail=rail, slides=slides)
    simulation = Simulation([body], planes, gravity=(0.0, 0.0, 0.0))
    if kind == "pairs":
        simulation.keep_apart(body, [0, 2], body, [1, 3], 3.0)
    elif kind == "area":
        simulation.add_constraints(body, [[3, 1, 2]], area(np.full(1, 0.2)), compliance=2e-6, name="area")
    pose = vertices + rng.normal(0.0, 0.1, (4, 3))
    return simulation, (pose * 1.5 if kind == "tether" else pose)
