"""A mass on a spring and a chain: Macklin et al. 2016, Fig. 2 and 3, against exact solutions of the same steps."""

from __future__ import annotations

import numpy as np

from pbd_addon import Body, Material, Simulation
from pbd_addon.constraints.custom import distance_beyond

GRAVITY = 9.81
STEP = 0.008
"""Step of the oscillator [s]. The paper names none but this one, for its beam (sec. 6.3)."""

CHAIN_STEP = 1 / 60
"""Step of the chain [s]; the paper names none, and with this one our errors are like its own."""

PLAIN = {"shear": 0.0, "bend": 0.0, "damping": 0.0, "drag": 0.0, "tethers": False}

OSCILLATOR_COMPLIANCE = 1e-3
"""Compliance of the oscillator [m/N]; its rest length, start and mass: 1 m, 1.5 m, 1 kg (sec. 6.1)."""

LINKS, CHAIN_COMPLIANCE, CHAIN_FRAMES = 19, 1e-8, 100
"""Links between 20 particles of 1 kg, their compliance [m/N], steps (sec. 6.2)."""


def raw(k: float, iterations: int) -> float:
    """The k of which k' = 1 - (1 - k)^(1/iterations) is the raw k in each iteration."""
    return 1.0 - (1.0 - k) ** iterations


def oscillate(method: str, iterations: int, steps: int, k: float = 1.0, substeps: int = 1) -> np.ndarray:
    """Place of the mass after every step of `STEP` seconds, with that at the start, (steps + 1,) [m]."""
    body = Body(
        [[0.0, 0, 0], [1.5, 0, 0]], edges=[[0, 1]], rest_vertices=[[0.0, 0, 0], [1, 0, 0]], pins=[0],
        masses=[1.0, 1.0], compliances=[OSCILLATOR_COMPLIANCE],
        material=Material(k_stretch=k, k_compression=k, **PLAIN),
    )  # fmt: skip
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), method=method, substeps=substeps, iterations=iterations)
    places = [1.5]
    for _ in range(steps):
        simulation.step(STEP)
        places.append(float(simulation.positions(body)[1, 0]))
    return np.array(places)


def implicit_oscillation(steps: int) -> np.ndarray:
    """The same by implicit Euler, v' = v - h (x' - 1) / compliance, solved exactly; (steps + 1,) [m]."""
    x, v, places = 1.5, 0.0, [1.5]
    stiffness = 1.0 / OSCILLATOR_COMPLIANCE
    for _ in range(steps):
        v = (v - STEP * stiffness * (x - 1.0)) / (1.0 + STEP**2 * stiffness)
        x += STEP * v
        places.append(x)
    return np.array(places)


def period(places: np.ndarray) -> float:
    """Mean period of an oscillation about 1, by its crossings, in steps; NaN with less than one period."""
    off = places - 1.0
    at = np.flatnonzero(off[:-1] * off[1:] < 0.0)
    crossings = at + off[at] / (off[at] - off[at + 1])
    return 2.0 * float(np.diff(crossings).mean()) if len(crossings) > 2 else float("nan")


def chain() -> Body:
    """20 particles in a level row, 1 m apart, the first one held."""
    vertices = np.column_stack([np.arange(LINKS + 1.0), np.zeros((LINKS + 1, 2))])
    edges = [[k, k + 1] for k in range(LINKS)]
    return Body(
        vertices, edges=edges, pins=[0], masses=np.ones(LINKS + 1), compliances=np.full(LINKS, CHAIN_COMPLIANCE),
        material=Material(**PLAIN, stretch=1.0 / CHAIN_COMPLIANCE),
    )  # fmt: skip


def falling_chain(iterations: int, by_chains: bool, frames: int = CHAIN_FRAMES) -> tuple[np.ndarray, np.ndarray]:
    """Force at the support after every step, (frames,) [N], and the final shape, (20, 3) [m].

    Args:
        iterations: Solver passes.
        by_chains: Whether the links are solved as stretch of a body, which is solved by chains, or by the paper's plain
            sweeps of Gauss-Seidel.
        frames: Number of steps.
    """
    body = chain()
    if not by_chains:
        loose = Material(**PLAIN, stretch=0.0, compression=0.0)
        body = Body(body.vertices, edges=body.mesh.edges, pins=[0], masses=np.ones(LINKS + 1), material=loose)
    simulation = Simulation(
        [body], gravity=(0.0, 0.0, -GRAVITY), substeps=1, iterations=iterations, self_collision=False
    )
    if by_chains:
        (links,) = simulation.constraints
    else:
        links = simulation.add_constraints(body, body.mesh.edges, distance_beyond(1.0), compliance=CHAIN_COMPLIANCE)
    first = int(np.flatnonzero((links.gradients(body.vertices)[0] == 0).any(axis=1))[0])
    forces = []
    for _ in range(frames):
        simulation.step(CHAIN_STEP)
        forces.append(abs(float(links.forces()[first])))
    return np.array(forces), simulation.positions(body).copy()


def newton_chain(frames: int = CHAIN_FRAMES) -> tuple[np.ndarray, np.ndarray]:
    """The same by Newton's method on implicit Euler, eq. 8 and 9 of the paper: force (frames,) [N], shape (20, 3) [m].

    Unknowns are the positions and multipliers; the matrix holds the geometric stiffness, which XPBD leaves out.
    """
    x = chain().vertices.copy()
    v = np.zeros_like(x)
    alpha = CHAIN_COMPLIANCE / CHAIN_STEP**2
    free = 3 * LINKS
    forces = []
    for _ in range(frames):
        start, target = x.copy(), x + CHAIN_STEP * v + CHAIN_STEP**2 * np.array([0.0, 0.0, -GRAVITY])
        x, multipliers = target.copy(), np.zeros(LINKS)
        x[0] = start[0]
        for _ in range(100):
            d = x[1:] - x[:-1]
            length = np.linalg.norm(d, axis=1)
            n = d / length[:, None]
            # Gradient of each link: -n at its start, n at its end; the held particle has no column.
            gradients = np.zeros((LINKS, LINKS, 3))
            k = np.arange(LINKS)
            gradients[k, k] = n
            gradients[k[1:], k[:-1]] = -n[1:]
            jacobian = gradients.reshape(LINKS, free)
            bend = (np.eye(3) - n[:, :, None] * n[:, None, :]) * (multipliers / length)[:, None, None]
            stiff = np.zeros((LINKS, 3, LINKS, 3))
            for row in range(LINKS):
                stiff[row, :, row] += bend[row]
                if row:
                    stiff[row - 1, :, row - 1] += bend[row]
                    stiff[row, :, row - 1] -= bend[row]
                    stiff[row - 1, :, row] -= bend[row]
            residual = (x - target)[1:].ravel() - jacobian.T @ multipliers
            errors = length - 1.0 + alpha * multipliers
            matrix = np.block(
                [[np.eye(free) - stiff.reshape(free, free), -jacobian.T], [jacobian, alpha * np.eye(LINKS)]]
            )
            step = np.linalg.solve(matrix, -np.concatenate([residual, errors]))
            x[1:] += step[:free].reshape(-1, 3)
            multipliers += step[free:]
            if np.abs(step[:free]).max() < 1e-13:
                break
        else:
            raise ArithmeticError("Newton's method did not converge")
        v = (x - start) / CHAIN_STEP
        forces.append(abs(float(multipliers[0])) / CHAIN_STEP**2)
    return np.array(forces), x
