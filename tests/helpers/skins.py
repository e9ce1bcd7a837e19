"""What the skin of a balloon pulls with and how it moves, from its shape alone.

Like `meshes`, it works in tests/blender and for benchmarks too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pbd_addon import Body


def pulls(body: Body, x: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Edges, then diagonals at x (n, 3): their ends (m, 2), lengths (m,) [m] and tensions (m,) [N]."""
    material, mesh = body.material, body.mesh
    for ends, stretch, compression, areas in (
        (mesh.edges, material.stretch, material.compression, mesh.edge_areas),
        (mesh.diagonals, material.shear, material.shear, 2.0 * mesh.diagonal_areas),
    ):
        rest = np.linalg.norm(body.rest_vertices[ends[:, 0]] - body.rest_vertices[ends[:, 1]], axis=1)
        lengths = np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1)
        longer = lengths / rest - 1.0
        pulled = mooney_rivlin(lengths / rest) if material.rubber else longer
        yield ends, lengths, np.where(longer > 0.0, stretch * pulled, compression * longer) * areas / rest


def mooney_rivlin(stretch: np.ndarray, stiffening: float = 0.06) -> np.ndarray:
    """Tension of the edges of a rubber skin over their stiffness at rest, at stretches (m,), see `parts.rubber`."""
    x, k = np.asarray(stretch), stiffening
    return np.asarray((x - x**-5) * (1.0 + k * x**2) / (6.0 * (1.0 + k)))


def needed_pressure(body: Body, x: np.ndarray, floor: bool = False, walls: float = 0.0) -> float:
    """Overpressure that balances skin, weight on a floor at z = 0, and walls at x (n, 3), by virtual work [Pa].

    Grown by a share s about the origin, P 3 V s is the work sum T L s of edges and diagonals, m g z s of weight, and s
    times `walls` [N m]: the sum of what walls push with times how far they are.
    """
    work = walls + sum(float(lengths @ tensions) for _, lengths, tensions in pulls(body, x))
    if floor:
        work += 9.81 * float(body.masses() @ x[:, 2])
    return work / (3.0 * abs(body.volume(x)))


def push_on_half(body: Body, x: np.ndarray, pressure: float) -> float:
    """Force upwards of a pressure [Pa] and the skin on vertices above z = 0: what a wall there bears [N]; x (n, 3)."""
    forces = np.zeros_like(x)
    corners = [x[body.mesh.triangles[:, i]] for i in range(3)]
    for i in range(3):
        gradients = np.cross(corners[(i + 1) % 3], corners[(i + 2) % 3]) / 6.0
        np.add.at(forces, body.mesh.triangles[:, i], pressure * gradients)
    for ends, lengths, tensions in pulls(body, x):
        along = (tensions / lengths)[:, None] * (x[ends[:, 1]] - x[ends[:, 0]])
        np.add.at(forces, ends[:, 0], along)
        np.add.at(forces, ends[:, 1], -along)
    return float(forces[x[:, 2] > 0.0, 2].sum())


def inner_motion(body: Body, x: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Root mean square of the motion that is not rigid [m/s], and the largest spin [rad/s]; x, v (n, 3).

    Each piece has a rigid motion of its own: eyes that lie loose in a head roll without making its skin boil.
    """
    masses, left, spins = body.masses() + body.air_masses(), 0.0, []
    for piece in np.unique(body.mesh.islands):
        part = body.mesh.islands == piece
        m = masses[part]
        r, u = x[part] - m @ x[part] / m.sum(), v[part] - m @ v[part] / m.sum()
        inertia = float(m @ (r**2).sum(axis=1)) * np.eye(3) - (m[:, None] * r).T @ r
        spin = np.linalg.solve(inertia, m @ np.cross(r, u))
        left += float(m @ ((u - np.cross(spin, r)) ** 2).sum(axis=1))
        spins.append(float(np.linalg.norm(spin)))
    return float(np.sqrt(left / masses.sum())), max(spins)
