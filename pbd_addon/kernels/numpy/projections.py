"""Constraints in NumPy, a color at a time."""

from __future__ import annotations

import numpy as np

from ..protocol.guards import TINY
from ..protocol.projections import LEAST_GIVE
from .layout import by_color as _by_color, cross as _cross, dot as _dot, scatter as _scatter


def project_distance(p, x, rows, springs, multipliers, passes):
    weights, rest_lengths, alpha, scale, gamma = springs
    colors = (color for _ in range(passes) for color in _by_color(p, *rows))
    for some, q in colors:
        n = q[:, 0] - q[:, 1]
        length = np.sqrt(_dot(n, n)) + TINY
        error = length - rest_lengths[some]
        give, leverage = alpha[0, some], scale[0, some]
        if len(alpha) > 1:
            pushed = error < 0.0
            give, leverage = np.where(pushed, alpha[1, some], give), np.where(pushed, scale[1, some], leverage)
        if len(multipliers):
            error += give * multipliers[some]
        if len(gamma):
            before = x.take(rows.indices[:, some], axis=1)
            error += gamma[some] * (length - _dot(n, before[:, 0] - before[:, 1]) / length)
        step = error * leverage
        if len(multipliers):
            multipliers[some] += step
        step /= length
        n *= step
        q[:, 0] += weights[0, some] * n
        q[:, 1] -= weights[1, some] * n


def strains(p, indices, rest_lengths):
    d = p.take(indices[0], axis=1)
    d -= p.take(indices[1], axis=1)
    return np.abs(np.sqrt(_dot(d, d)) / rest_lengths - 1.0)


def dihedral_angles(q: np.ndarray, with_gradients: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Signed angles by which hinges are folded out of the plane, and their gradients.

    Args:
        q: Positions of edge start, edge end, left tip, right tip of each hinge, (3, 4, m) [m].
        with_gradients: Whether to compute the gradients.

    Returns:
        (m,) [rad] in (-pi, pi], 0 where flat; (3, 4, m) [rad/m] (empty when not asked for), 0 where a triangle has
        no area. The angle equals arccos(n1 . n2) of Müller et al. 2007 up to the sign and the direction of one
        normal; the gradients are those of Bridson et al. 2003, which stay finite where arccos does not.
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


def strained(p, indices, rest_lengths, limit):
    # l² < (1 - limit)² L² or l² > (1 + limit)² L²
    start, end = indices
    d = p.take(start, axis=1)
    d -= p.take(end, axis=1)
    usual = rest_lengths * rest_lengths
    off = _dot(d, d)
    off -= (1.0 + limit * limit) * usual
    usual *= 2.0 * limit
    return np.flatnonzero(np.abs(off, out=off) > usual)


def project_dihedral(p, x, rows, hinges, multipliers):
    weights, rest_angles, alpha, gamma, k, shares, held, limits, stuck = hinges
    for some, q in _by_color(p, *rows):
        w = weights[:, some]
        angle, gradients = dihedral_angles(q)
        error = angle - rest_angles[some]
        error -= 2.0 * np.pi * np.round(error / (2.0 * np.pi))
        residual = error + alpha[some] * multipliers[some]
        stiffness = np.einsum("ijk,ijk,jk->k", gradients, gradients, w)
        if len(gamma):
            moved = np.einsum("ijk,ijk->k", gradients, q - x.take(rows.indices[:, some], axis=1))
            residual += gamma[some] * moved
            stiffness *= 1.0 + gamma[some]
        give = np.maximum(alpha[some] - shares[some] * stiffness, LEAST_GIVE * alpha[some])
        step = k[some] * residual / -np.maximum(stiffness + give, TINY)
        if len(limits):
            least = (1.0 - stuck[some]) * alpha[some]
            holding = np.maximum(least - shares[some] * stiffness, LEAST_GIVE * least)
            slip = k[some] * limits[some] / np.maximum(stiffness + give, TINY)
            still = residual - stuck[some] * (alpha[some] * multipliers[some] + held[some])
            still *= k[some] / -np.maximum(stiffness + holding, TINY)
            step = still.clip(step - slip, step + slip)
        multipliers[some] += step
        gradients *= w * step
        q += gradients


def project_isometric(p, x, rows, hinges, multipliers, fresh):
    project_rubbing(p, x, rows, hinges, None, multipliers, fresh)


def project_rubbing(p, x, rows, hinges, rubbing, multipliers, fresh):
    stencils, leverage, alpha, scale, gamma = hinges
    held, limits, facing, holding, stuck = rubbing or (scale[:0],) * 5
    for some, q in _by_color(p, *rows):
        stencil = stencils[:, some]
        residual = np.einsum("ijk,jk->ik", q, stencil)
        if len(gamma):
            # Only the change along itself: a fold that rotates with the whole sheet must not be damped.
            change = residual - np.einsum("ijk,jk->ik", x.take(rows.indices[:, some], axis=1), stencil)
            residual *= 1.0 + gamma[some] * _dot(residual, change) / np.maximum(_dot(residual, residual), TINY**2)
        if not fresh:
            residual += alpha[some] * multipliers[:, some]
        if rubbing:
            normal = _mean_normal(q, facing[some])
            along = _dot(residual, normal)
            still = along - stuck[some] * held[some]
            if not fresh:
                still -= stuck[some] * alpha[some] * _dot(multipliers[:, some], normal)
            still *= holding[some]
            usual, slip = scale[some] * along, -scale[some] * limits[some]
            rubbed = (still.clip(usual - slip, usual + slip) - usual) * normal
        residual *= scale[some]
        if rubbing:
            residual += rubbed
        if fresh and multipliers.size:
            multipliers[:, some] = residual
        elif not fresh:
            multipliers[:, some] += residual
        q += residual[:, None] * leverage[:, some]


def _mean_normal(q, facing):
    """Of both triangles of hinges at q (3, 4, m), of nearly unit length, (3, m)."""
    return facing * _cross(q[:, 1] - q[:, 0], q[:, 2] - q[:, 3])


def flat_bends(x, indices, stencils, facing):
    q = x.take(indices, axis=1)
    return _dot(np.einsum("ijk,jk->ik", q, stencils), _mean_normal(q, facing))


def hinge_changes(x, hinges, one, other):
    angles, gradients = dihedral_angles(x[:, hinges])
    by_one, by_other = (np.abs(np.einsum("ijk,ijk->k", gradients, way[:, hinges])) for way in (one, other))
    return angles, by_one, by_other


def project_attachment(p, pins, multipliers):
    indices, targets, weights, alpha, k = pins
    q = p.take(indices, axis=1)
    step = (q - targets + alpha * multipliers) * (k / -(weights + alpha))
    multipliers += step
    _scatter(p, indices, q + weights * step)


def project_tether(p, tethers, slack, fallen, multipliers):
    indices, anchors, starts, weights, lengths, body = tethers
    for start, stop in zip(starts[:-1], starts[1:]):
        d = p.take(indices[start:stop], axis=1)
        d -= p.take(anchors[start:stop], axis=1)
        square = _dot(d, d)
        least, usual = slack if slack.shape[1] == 1 else slack.take(body[start:stop], axis=1)
        own = lengths[start:stop]
        reach = usual * own
        reach += fallen
        np.maximum(reach, least * own, out=reach)
        reach += own
        far = np.flatnonzero(square > reach * reach)  # few: cloth mostly hangs within its reach
        length = np.sqrt(square[far]) + TINY
        excess = length - reach[far]
        far += start
        multipliers[far] += excess / np.maximum(weights[far], TINY)
        free = indices[far]
        _scatter(p, free, p.take(free, axis=1) - d.take(far - start, axis=1) * (excess / length))
