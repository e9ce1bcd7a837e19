"""Kernels in NumPy: the reference, and the backend that runs everywhere.

Array layout and the meaning of `indices` and `starts`: see the package's docstring. Common arguments:

    p: Predicted positions, (3, n) float64 [m]; changed in place.
    x: Positions at the beginning of the substep, (3, n) float64 [m]; read for damping and friction.
    layouts: Orders of the particles of wide colors, see `numpy_layout`; Numba does without.
    weights: Inverse masses of every row's particles, (k, m) float64 [1/kg].
    alpha: Compliance over squared substep, in the constraint's own units over kg, (m,) float64.
    gamma: Damping time over substep, (m,) float64 [1], or (0,) for none (Macklin et al. 2016, eq. 26).
    k: Relaxation of each row: 1 for XPBD, k' of Müller et al. 2007 for PBD, (m,) float64.
    scale: What turns a residual into a step where that does not depend on positions: -k / ((1 + gamma) g W g + alpha)
        with the gradient g, (m,) float64.
    multipliers: Lagrange multipliers of this substep; accumulated in place.
"""

from __future__ import annotations

import numpy as np

from .numpy_blocks import solve_blocks as solve_blocks
from .numpy_bvh import (
    NODE_ORDER as NODE_ORDER,
    primitive_bounds as primitive_bounds,
    query_pairs as query_pairs,
    refit as refit,
)
from .numpy_chains import (
    project_chains as project_chains,
    solve_tridiagonal as solve_tridiagonal,
)
from .numpy_cones import (
    find_flat_patches as find_flat_patches,
    outside_cones as outside_cones,
)
from .numpy_contact import (
    apply_contact_friction as apply_contact_friction,
    clearances as clearances,
    closest_points as closest_points,
    cull_pairs as cull_pairs,
    heights as heights,
    project_contacts as project_contacts,
    separating_planes as separating_planes,
)
from .numpy_inflation import (
    edge_forces as edge_forces,
    inflate as inflate,
    tension_pattern as tension_pattern,
)
from .numpy_layout import by_color as _by_color, scatter as _scatter
from .numpy_levels import (
    follow as follow,
    pull_together as pull_together,
)
from .numpy_motion import (
    accelerate as accelerate,
    add_rigid as add_rigid,
    approach as approach,
    island_motion as island_motion,
)

TINY = 1e-12


def project_distance(
    p: np.ndarray,
    x: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
    layouts: np.ndarray,
    weights: np.ndarray,
    rest_lengths: np.ndarray,
    alpha: np.ndarray,
    scale: np.ndarray,
    gamma: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = |p1 - p2| - rest length, softer or harder when pushed than when pulled.

    indices (2, m); rest_lengths (m,); alpha and scale (2, m): in tension and in compression, or (1, m) in both.
    """
    for rows, q in _by_color(p, indices, starts, layouts):
        n = q[:, 0] - q[:, 1]
        length = np.sqrt(_dot(n, n)) + TINY
        error = length - rest_lengths[rows]
        give, leverage = alpha[0, rows], scale[0, rows]
        if len(alpha) > 1:
            pushed = error < 0.0
            give, leverage = np.where(pushed, alpha[1, rows], give), np.where(pushed, scale[1, rows], leverage)
        error += give * multipliers[rows]
        if len(gamma):
            before = x.take(indices[:, rows], axis=1)
            error += gamma[rows] * (length - _dot(n, before[:, 0] - before[:, 1]) / length)
        step = error * leverage
        multipliers[rows] += step
        step /= length
        n *= step
        q[:, 0] += weights[0, rows] * n
        q[:, 1] -= weights[1, rows] * n


def dihedral_angles(q: np.ndarray, with_gradients: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Signed angles by which hinges are folded out of the plane, and their gradients.

    Args:
        q: Positions of edge start, edge end, left tip, right tip of each hinge, (3, 4, m) [m].
        with_gradients: Whether to compute the gradients.

    Returns:
        (m,) [rad] in (-pi, pi], 0 where flat; (3, 4, m) [rad/m] (empty when not asked for), 0 where a triangle has
        no area. The angle equals arccos(n1 . n2) of Müller et al. 2007 up to the sign and the direction of one normal;
        the gradients are those of Bridson et al. 2003, which stay finite where arccos does not.
    """
    edge = q[:, 1] - q[:, 0]
    left, right = q[:, 2] - q[:, 0], q[:, 3] - q[:, 0]
    n1, n2 = _cross(edge, left), _cross(right, edge)
    length = np.sqrt(_dot(edge, edge)) + TINY
    angle = np.arctan2(_dot(_cross(n1, n2), edge) / length, _dot(n1, n2))
    if not with_gradients:
        return angle, q[:, :0]
    n1 /= np.maximum(_dot(n1, n1), TINY * length**4)
    n2 /= np.maximum(_dot(n2, n2), TINY * length**4)
    gradients = np.empty_like(q)
    gradients[:, 2] = -length * n1
    gradients[:, 3] = -length * n2
    along_left, along_right = _dot(left, edge) / length, _dot(right, edge) / length
    gradients[:, 1] = along_left * n1 + along_right * n2
    gradients[:, 0] = (length - along_left) * n1 + (length - along_right) * n2
    return angle, gradients


def project_dihedral(
    p: np.ndarray,
    x: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
    layouts: np.ndarray,
    weights: np.ndarray,
    rest_angles: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    k: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = dihedral angle - rest angle. indices (4, m): edge start, edge end, left tip, right tip; rest_angles (m,)."""
    for rows, q in _by_color(p, indices, starts, layouts):
        w = weights[:, rows]
        angle, gradients = dihedral_angles(q)
        error = angle - rest_angles[rows]
        error -= 2.0 * np.pi * np.round(error / (2.0 * np.pi))
        residual = error + alpha[rows] * multipliers[rows]
        stiffness = np.einsum("ijk,ijk,jk->k", gradients, gradients, w)
        if len(gamma):
            moved = np.einsum("ijk,ijk->k", gradients, q - x.take(indices[:, rows], axis=1))
            residual += gamma[rows] * moved
            stiffness *= 1.0 + gamma[rows]
        step = k[rows] * residual / -np.maximum(stiffness + alpha[rows], TINY)
        multipliers[rows] += step
        gradients *= w * step
        q += gradients


def project_isometric(
    p: np.ndarray,
    x: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
    layouts: np.ndarray,
    stencils: np.ndarray,
    leverage: np.ndarray,
    alpha: np.ndarray,
    scale: np.ndarray,
    gamma: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = sum K_i p_i, a vector that is 0 where a hinge is flat (Bergou et al. 2006).

    indices (4, m); stencils K and leverage W K (4, m); multipliers (3, m). The gradient is the constant K, so that
    there is neither a root nor an arc cosine in this kernel, nor a division.
    """
    for rows, q in _by_color(p, indices, starts, layouts):
        stencil = stencils[:, rows]
        residual = np.einsum("ijk,jk->ik", q, stencil)
        if len(gamma):
            # Only its change along itself: a fold that turns with the whole sheet is not to be braked.
            change = residual - np.einsum("ijk,jk->ik", x.take(indices[:, rows], axis=1), stencil)
            residual *= 1.0 + gamma[rows] * _dot(residual, change) / np.maximum(_dot(residual, residual), TINY**2)
        residual += alpha[rows] * multipliers[:, rows]
        residual *= scale[rows]
        multipliers[:, rows] += residual
        q += residual[:, None] * leverage[:, rows]


def volume_gradients(
    q: np.ndarray, triangles: np.ndarray, pieces: np.ndarray, piece_count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Enclosed volume of each closed piece and its gradient at every particle.

    Args:
        q: Positions, (3, n) [m], best near the origin.
        triangles: (3, t) int, outward.
        pieces: Piece of each triangle, (t,) int.
        piece_count: Number of pieces.

    Returns:
        V = 1/6 sum (p1 x p2) . p3, (pieces,) [m³]; gradients (3, n) [m²].
    """
    a, b, c = q.take(triangles, axis=1).swapaxes(0, 1)
    of_a, of_b, of_c = _cross(b, c), _cross(c, a), _cross(a, b)
    volumes = np.bincount(pieces, _dot(of_a, a), piece_count) / 6.0
    corners = triangles.ravel()
    per_corner = np.concatenate([of_a, of_b, of_c], axis=1)
    gradients = np.stack([np.bincount(corners, per_corner[axis], q.shape[1]) for axis in range(3)])
    return volumes, gradients / 6.0


def project_attachment(
    p: np.ndarray,
    indices: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    alpha: np.ndarray,
    k: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = p - target, a vector. indices (m,); targets (3, m) [m]; weights (m,); multipliers (3, m)."""
    q = p.take(indices, axis=1)
    step = (q - targets + alpha * multipliers) * (k / -(weights + alpha))
    multipliers += step
    _scatter(p, indices, q + weights * step)


def project_tether(
    p: np.ndarray,
    indices: np.ndarray,
    anchors: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    reach: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = reach - |p - anchor| >= 0; only the free particle moves (Kim et al. 2012).

    indices, anchors (m,) int; reach (m,) [m]; weights (m,) of the free particles.
    """
    for start, stop in zip(starts[:-1], starts[1:]):
        d = p.take(indices[start:stop], axis=1)
        d -= p.take(anchors[start:stop], axis=1)
        square = _dot(d, d)
        far = np.flatnonzero(square > reach[start:stop] ** 2)  # few: cloth mostly hangs within its reach
        length = np.sqrt(square[far]) + TINY
        far += start
        excess = length - reach[far]
        multipliers[far] += excess / np.maximum(weights[far], TINY)
        free = indices[far]
        _scatter(p, free, p.take(free, axis=1) - d.take(far - start, axis=1) * (excess / length))


def project_plane(
    p: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    thickness: np.ndarray,
    point: np.ndarray,
    normal: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = (p - point) . normal - thickness >= 0. indices, weights, thickness (m,); point, normal (3,)."""
    q = p.take(indices, axis=1)
    depth = thickness - np.einsum("i,ij->j", normal, q - point[:, None])
    push = np.maximum(depth, -multipliers * weights)
    multipliers += push / weights
    _scatter(p, indices, q + normal[:, None] * push)


def apply_plane_friction(
    p: np.ndarray,
    x: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    friction: np.ndarray,
    normal: np.ndarray,
    motion: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """Take back slip along a plane by Coulomb's law, at most friction x push (Macklin et al. 2014, eq. 24).

    friction (m,); motion (3,): how far the plane moved in this substep [m]; multipliers (m,) of `project_plane`.
    """
    hit = np.flatnonzero(multipliers > 0.0)
    particles = indices[hit]
    q = p.take(particles, axis=1)
    slip = q - x.take(particles, axis=1) - motion[:, None]
    slip -= normal[:, None] * np.einsum("i,ij->j", normal, slip)
    length = np.sqrt(_dot(slip, slip)) + TINY
    grip = friction[hit] * multipliers[hit] * weights[hit]
    _scatter(p, particles, q - slip * np.minimum(1.0, grip / length))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Dot products of the columns of two (3, m) arrays."""
    return np.einsum("ij,ij->j", a, b)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products of the columns of two (3, m) arrays."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
