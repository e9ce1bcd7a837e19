"""Kernels in NumPy: the reference, and the backend that runs everywhere.

Array layout and the meaning of `indices` and `starts`: see the package's docstring. Common arguments:

    p: Predicted positions, (3, n) float64 [m]; changed in place.
    x: Positions at the beginning of the substep, (3, n) float64 [m]; read for damping and friction.
    weights: Inverse masses of every row's particles, (k, m) float64 [1/kg].
    alpha: Compliance over squared substep, in the constraint's own units over kg, (m,) float64.
    gamma: Damping time over substep, (m,) float64 [1], or (0,) for none (Macklin et al. 2016, eq. 26).
    k: Relaxation of each row: 1 for XPBD, k' of Müller et al. 2007 for PBD, (m,) float64.
    multipliers: Lagrange multipliers of this substep; accumulated in place.
"""

from __future__ import annotations

import numpy as np

from .numpy_boxes import (
    bounds_of as bounds_of,
    fit_boxes as fit_boxes,
    overlaps as overlaps,
)
from .numpy_contact import (
    clearances as clearances,
    closest_points as closest_points,
    heights as heights,
    planes_between as planes_between,
    push_apart as push_apart,
    rows_in_reach as rows_in_reach,
    rub_contacts as rub_contacts,
)
from .numpy_levels import (
    follow as follow,
    pull_together as pull_together,
)

TINY = 1e-12


def _scatter(p: np.ndarray, particles: np.ndarray, values: np.ndarray) -> None:
    """p[:, particles] = values, an axis at a time, which is what NumPy does fastest."""
    for axis in range(3):
        p[axis][particles] = values[axis]


def project_distance(
    p: np.ndarray,
    x: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    rest_lengths: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    k: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = |p1 - p2| - rest length, softer or harder when pushed than when pulled.

    indices (2, m); rest_lengths (m,); alpha and k (2, m): in tension and in compression; k may be (2, 0) for all 1.
    """
    for start, stop in zip(starts[:-1], starts[1:]):
        rows = slice(start, stop)
        ends, w = indices[:, rows], weights[:, rows]
        q = p.take(ends, axis=1)
        n = q[:, 0] - q[:, 1]
        length = np.sqrt(np.einsum("ij,ij->j", n, n)) + TINY
        n /= length
        error = length - rest_lengths[rows]
        pushed = error < 0.0
        give = np.where(pushed, alpha[1, rows], alpha[0, rows])
        residual = error + give * multipliers[rows]
        stiffness = w[0] + w[1]
        if len(gamma):
            before = x.take(ends, axis=1)
            residual += gamma[rows] * (length - np.einsum("ij,ij->j", n, before[:, 0] - before[:, 1]))
            stiffness *= 1.0 + gamma[rows]
        step = residual / -(stiffness + give)
        if k.shape[1]:
            step *= np.where(pushed, k[1, rows], k[0, rows])
        multipliers[rows] += step
        n *= step
        q[:, 0] += w[0] * n
        q[:, 1] -= w[1] * n
        _scatter(p, ends, q)


def project_chains(
    p: np.ndarray,
    x: np.ndarray,
    vertices: np.ndarray,
    links: np.ndarray,
    rows: np.ndarray,
    levels: int,
    rings: np.ndarray,
    weights: np.ndarray,
    rest_lengths: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """The distance constraints of whole chains of edges: (J W J^T + alpha) d_lambda = -C - alpha lambda.

    vertices (q + 1,): particles along the chains, one chain after the other; links (e,): which of the q steps are
    edges; rows (e,): their rows in `multipliers`; weights (q + 1,); rest_lengths (e,); alpha (2, e); gamma (e,) or
    (0,). Edges of a chain share vertices only with their neighbours in it, hence the matrix is tridiagonal. rings
    (2, r): first and last step of closed chains; there the matrix has two more entries, in its corners.
    """
    q = p.take(vertices, axis=1)
    n = q[:, 1:] - q[:, :-1]
    length = np.sqrt(_dot(n, n)) + TINY
    n /= length
    error = length[links] - rest_lengths
    give = np.where(error < 0.0, alpha[1], alpha[0])
    residual = error + give * multipliers[rows]
    if len(gamma):
        before = x.take(vertices, axis=1)
        residual += gamma * (length - _dot(n, before[:, 1:] - before[:, :-1]))[links]
        residual /= 1.0 + gamma
        give = give / (1.0 + gamma)
    size = len(length)
    padded = -(-size // 2**levels) * 2**levels
    diagonal, coupling, right = np.ones(padded), np.zeros(padded), np.zeros(padded)
    is_link = np.zeros(size)
    is_link[links] = 1.0
    diagonal[links] = (weights[1:] + weights[:-1])[links] + give
    coupling[: size - 1] = _dot(n[:, :-1], n[:, 1:]) * -weights[1:-1] * (is_link[:-1] * is_link[1:])
    right[links] = -residual
    first, last = rings
    corner = -weights[first] * _dot(n[:, first], n[:, last])
    step = _solve_with_corners(diagonal, coupling, right, levels, first, last, corner)[:size]
    multipliers[rows] += step[links]
    n *= step
    move = np.zeros_like(q)
    move[:, 1:] = weights[1:] * n
    move[:, :-1] -= weights[:-1] * n
    move[:, first] += move[:, last + 1]
    move[:, last + 1] = move[:, first]
    _scatter(p, vertices, q + move)


def _solve_with_corners(
    diagonal: np.ndarray,
    coupling: np.ndarray,
    right: np.ndarray,
    levels: int,
    first: np.ndarray,
    last: np.ndarray,
    corner: np.ndarray,
) -> np.ndarray:
    """Solve as `solve_tridiagonal`, with an entry `corner` (r,) between the unknowns `first` and `last` of some blocks.

    By the formula of Sherman and Morrison, from the tridiagonal system and a second right hand side.
    """
    if not len(first):
        return solve_tridiagonal(diagonal, coupling, right, levels)
    pivot = -diagonal[first]
    diagonal[first] -= pivot
    diagonal[last] -= corner**2 / pivot
    both = np.stack([right, np.zeros_like(right)])
    both[1, first], both[1, last] = pivot, corner
    plain, extra = solve_tridiagonal(diagonal, coupling, both, levels)
    ratio = corner / pivot
    factor = (plain[first] + ratio * plain[last]) / (1.0 + extra[first] + ratio * extra[last])
    # `extra` is 0 outside of the blocks with corners.
    block = np.searchsorted(np.sort(first), np.arange(len(right)), side="right") - 1
    return plain - factor[np.argsort(first)][block] * extra


def solve_tridiagonal(diagonal: np.ndarray, coupling: np.ndarray, right: np.ndarray, levels: int) -> np.ndarray:
    """Solve a symmetric tridiagonal system that falls apart into blocks shorter than 2**levels, by cyclic reduction.

    Args:
        diagonal: (m,), m a multiple of 2**levels.
        coupling: Entry beside the diagonal between unknown k and k + 1, (m,); 0 between blocks and at the end.
        right: Right hand sides, (..., m).
        levels: Halvings.

    Returns:
        The solutions, (..., m). Each halving eliminates the even unknowns with whole arrays.
    """
    if levels == 0:
        return right / diagonal
    inverse = 1.0 / diagonal[0::2]
    right_even = right[..., 0::2]
    inner, outer = coupling[0::2], coupling[1::2]
    from_left = inner * inverse
    from_right = np.zeros_like(from_left)
    from_right[:-1] = outer[:-1] * inverse[1:]
    reduced_coupling = np.zeros_like(from_left)
    reduced_coupling[:-1] = -from_right[:-1] * inner[1:]
    reduced_right = right[..., 1::2] - from_left * right_even
    reduced_right[..., :-1] -= from_right[:-1] * right_even[..., 1:]
    reduced_diagonal = diagonal[1::2] - from_left * inner - from_right * outer
    odd = solve_tridiagonal(reduced_diagonal, reduced_coupling, reduced_right, levels - 1)
    solution = np.empty_like(right)
    solution[..., 1::2] = odd
    solution[..., 0::2] = right_even * inverse - from_left * odd
    solution[..., 2::2] -= from_right[:-1] * odd[..., :-1]
    return solution


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
    weights: np.ndarray,
    rest_angles: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    k: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = dihedral angle - rest angle. indices (4, m): edge start, edge end, left tip, right tip; rest_angles (m,)."""
    for start, stop in zip(starts[:-1], starts[1:]):
        rows = slice(start, stop)
        corners, w = indices[:, rows], weights[:, rows]
        q = p.take(corners, axis=1)
        angle, gradients = dihedral_angles(q)
        error = angle - rest_angles[rows]
        error -= 2.0 * np.pi * np.round(error / (2.0 * np.pi))
        residual = error + alpha[rows] * multipliers[rows]
        stiffness = np.einsum("ijk,ijk,jk->k", gradients, gradients, w)
        if len(gamma):
            moved = np.einsum("ijk,ijk->k", gradients, q - x.take(corners, axis=1))
            residual += gamma[rows] * moved
            stiffness *= 1.0 + gamma[rows]
        step = k[rows] * residual / -np.maximum(stiffness + alpha[rows], TINY)
        multipliers[rows] += step
        gradients *= w * step
        q += gradients
        _scatter(p, corners, q)


def project_isometric(
    p: np.ndarray,
    x: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    stencils: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    k: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """C = sum K_i p_i, a vector that is 0 where a hinge is flat (Bergou et al. 2006).

    indices (4, m); stencils K (4, m) [1]; multipliers (3, m). The gradient is the constant K, so that there is
    neither a root nor an arc cosine in this kernel.
    """
    for start, stop in zip(starts[:-1], starts[1:]):
        rows = slice(start, stop)
        corners, stencil = indices[:, rows], stencils[:, rows]
        q = p.take(corners, axis=1)
        residual = np.einsum("ijk,jk->ik", q, stencil)
        leverage = weights[:, rows] * stencil
        stiffness = np.einsum("jk,jk->k", leverage, stencil)
        if len(gamma):
            # Only its change along itself: a fold that turns with the whole sheet is not to be braked.
            change = residual - np.einsum("ijk,jk->ik", x.take(corners, axis=1), stencil)
            residual *= 1.0 + gamma[rows] * _dot(residual, change) / np.maximum(_dot(residual, residual), TINY**2)
            stiffness *= 1.0 + gamma[rows]
        residual += alpha[rows] * multipliers[:, rows]
        step = residual * (k[rows] / -(stiffness + alpha[rows]))
        multipliers[:, rows] += step
        q += step[:, None] * leverage
        _scatter(p, corners, q)


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
        rows = slice(start, stop)
        free = indices[rows]
        q = p.take(free, axis=1)
        d = q - p.take(anchors[rows], axis=1)
        length = np.sqrt(_dot(d, d)) + TINY
        excess = np.maximum(length - reach[rows], 0.0)
        multipliers[rows] += excess / np.maximum(weights[rows], TINY)
        _scatter(p, free, q - d * (excess / length))


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


def rub_plane(
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
