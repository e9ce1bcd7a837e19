"""Constraints compiled by Numba, row by row.

The rows of a color share no particle, so this gives the same result as whole colors at once, up to rounding, and
`starts` is not needed. `p` and `x` must be C-contiguous.

Particle indices are made unsigned, or Numba would check each for being negative.
"""

from __future__ import annotations

from math import atan2, sqrt

import numpy as np

from .compile import helper, kernel

TINY = 1e-12
TURN = 2.0 * np.pi


@kernel("void(f8[:,::1], f8[:,::1], i8[:,:], i8[:], i8[:,:], f8[:,:], f8[:], f8[:,:], f8[:,:], f8[:], f8[:])")
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
    damped, pushed = len(gamma) > 0, len(alpha) - 1
    for r in range(indices.shape[1]):
        i, j = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = p[0, i] - p[0, j], p[1, i] - p[1, j], p[2, i] - p[2, j]
        length = sqrt(dx * dx + dy * dy + dz * dz) + TINY
        error = length - rest_lengths[r]
        side = np.uint64(pushed if error < 0.0 else 0)
        residual = error + alpha[side, r] * multipliers[r]
        inverse = 1.0 / length
        if damped:
            before = dx * (x[0, i] - x[0, j]) + dy * (x[1, i] - x[1, j]) + dz * (x[2, i] - x[2, j])
            residual += gamma[r] * (length - before * inverse)
        step = residual * scale[side, r]
        multipliers[r] += step
        step *= inverse
        wi, wj = weights[0, r] * step, weights[1, r] * step
        p[0, i] += wi * dx
        p[1, i] += wi * dy
        p[2, i] += wi * dz
        p[0, j] -= wj * dx
        p[1, j] -= wj * dy
        p[2, j] -= wj * dz


@helper
def _hinge(q: np.ndarray, gradients: np.ndarray) -> float:
    """Dihedral angle of one hinge at q (3, 4); its gradients are written to `gradients`, (3, 4)."""
    ex, ey, ez = q[0, 1] - q[0, 0], q[1, 1] - q[1, 0], q[2, 1] - q[2, 0]
    lx, ly, lz = q[0, 2] - q[0, 0], q[1, 2] - q[1, 0], q[2, 2] - q[2, 0]
    rx, ry, rz = q[0, 3] - q[0, 0], q[1, 3] - q[1, 0], q[2, 3] - q[2, 0]
    ax, ay, az = ey * lz - ez * ly, ez * lx - ex * lz, ex * ly - ey * lx
    bx, by, bz = ry * ez - rz * ey, rz * ex - rx * ez, rx * ey - ry * ex
    square = ex * ex + ey * ey + ez * ez
    length = sqrt(square) + TINY
    sine = ((ay * bz - az * by) * ex + (az * bx - ax * bz) * ey + (ax * by - ay * bx) * ez) / length
    angle = atan2(sine, ax * bx + ay * by + az * bz)
    least = TINY * (length * length) * (length * length)
    a, b = 1.0 / max(ax * ax + ay * ay + az * az, least), 1.0 / max(bx * bx + by * by + bz * bz, least)
    along_left, along_right = (lx * ex + ly * ey + lz * ez) / length, (rx * ex + ry * ey + rz * ez) / length
    for axis, one, other in ((0, ax * a, bx * b), (1, ay * a, by * b), (2, az * a, bz * b)):
        gradients[axis, 2] = -length * one
        gradients[axis, 3] = -length * other
        gradients[axis, 1] = along_left * one + along_right * other
        gradients[axis, 0] = (length - along_left) * one + (length - along_right) * other
    return angle


@kernel("void(f8[:,::1], f8[:,::1], i8[:,:], i8[:], i8[:,:], f8[:,:], f8[:], f8[:], f8[:], f8[:], f8[:])")
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
    damped = len(gamma) > 0
    q, gradients = np.empty((3, 4)), np.empty((3, 4))
    for r in range(indices.shape[1]):
        for corner in range(4):
            particle = np.uint64(indices[corner, r])
            for axis in range(3):
                q[axis, corner] = p[axis, particle]
        error = _hinge(q, gradients) - rest_angles[r]
        error -= TURN * np.rint(error / TURN)
        residual = error + alpha[r] * multipliers[r]
        stiffness, moved = 0.0, 0.0
        for corner in range(4):
            square = 0.0
            for axis in range(3):
                square += gradients[axis, corner] * gradients[axis, corner]
            stiffness += square * weights[corner, r]
        if damped:
            for corner in range(4):
                particle = np.uint64(indices[corner, r])
                for axis in range(3):
                    moved += gradients[axis, corner] * (q[axis, corner] - x[axis, particle])
            residual += gamma[r] * moved
            stiffness *= 1.0 + gamma[r]
        step = -k[r] * residual / max(stiffness + alpha[r], TINY)
        multipliers[r] += step
        for corner in range(4):
            particle = np.uint64(indices[corner, r])
            push = weights[corner, r] * step
            for axis in range(3):
                p[axis, particle] = q[axis, corner] + push * gradients[axis, corner]


@kernel("void(f8[:,::1], f8[:,::1], i8[:,:], i8[:], i8[:,:], f8[:,:], f8[:,:], f8[:], f8[:], f8[:], f8[:,:])")
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
    damped = len(gamma) > 0
    for r in range(indices.shape[1]):
        i, j = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        m, n = np.uint64(indices[2, r]), np.uint64(indices[3, r])
        a, b, c, d = stencils[0, r], stencils[1, r], stencils[2, r], stencils[3, r]
        rx = a * p[0, i] + b * p[0, j] + c * p[0, m] + d * p[0, n]
        ry = a * p[1, i] + b * p[1, j] + c * p[1, m] + d * p[1, n]
        rz = a * p[2, i] + b * p[2, j] + c * p[2, m] + d * p[2, n]
        if damped:
            cx = rx - (a * x[0, i] + b * x[0, j] + c * x[0, m] + d * x[0, n])
            cy = ry - (a * x[1, i] + b * x[1, j] + c * x[1, m] + d * x[1, n])
            cz = rz - (a * x[2, i] + b * x[2, j] + c * x[2, m] + d * x[2, n])
            square = max(rx * rx + ry * ry + rz * rz, TINY * TINY)
            more = 1.0 + gamma[r] * (rx * cx + ry * cy + rz * cz) / square
            rx, ry, rz = rx * more, ry * more, rz * more
        sx = (rx + alpha[r] * multipliers[0, r]) * scale[r]
        sy = (ry + alpha[r] * multipliers[1, r]) * scale[r]
        sz = (rz + alpha[r] * multipliers[2, r]) * scale[r]
        multipliers[0, r] += sx
        multipliers[1, r] += sy
        multipliers[2, r] += sz
        wa, wb, wc, wd = leverage[0, r], leverage[1, r], leverage[2, r], leverage[3, r]
        p[0, i] += wa * sx
        p[1, i] += wa * sy
        p[2, i] += wa * sz
        p[0, j] += wb * sx
        p[1, j] += wb * sy
        p[2, j] += wb * sz
        p[0, m] += wc * sx
        p[1, m] += wc * sy
        p[2, m] += wc * sz
        p[0, n] += wd * sx
        p[1, n] += wd * sy
        p[2, n] += wd * sz


@kernel("Tuple((f8[::1], f8[:,::1]))(f8[:,::1], i8[:,:], i8[:], i8)")
def volume_gradients(
    q: np.ndarray, triangles: np.ndarray, pieces: np.ndarray, piece_count: int
) -> tuple[np.ndarray, np.ndarray]:
    volumes, gradients = np.zeros(piece_count), np.zeros((3, q.shape[1]))
    for t in range(triangles.shape[1]):
        i, j, k = np.uint64(triangles[0, t]), np.uint64(triangles[1, t]), np.uint64(triangles[2, t])
        ax, ay, az = q[0, i], q[1, i], q[2, i]
        bx, by, bz = q[0, j], q[1, j], q[2, j]
        cx, cy, cz = q[0, k], q[1, k], q[2, k]
        ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        volumes[pieces[t]] += ux * ax + uy * ay + uz * az
        gradients[0, i] += ux
        gradients[1, i] += uy
        gradients[2, i] += uz
        gradients[0, j] += cy * az - cz * ay
        gradients[1, j] += cz * ax - cx * az
        gradients[2, j] += cx * ay - cy * ax
        gradients[0, k] += ay * bz - az * by
        gradients[1, k] += az * bx - ax * bz
        gradients[2, k] += ax * by - ay * bx
    return volumes / 6.0, gradients / 6.0


@kernel("void(f8[:,::1], i8[:], f8[:,:], f8[:], f8[:], f8[:], f8[:,:])")
def project_attachment(
    p: np.ndarray,
    indices: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    alpha: np.ndarray,
    k: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    for r in range(len(indices)):
        i = np.uint64(indices[r])
        scale = -k[r] / (weights[r] + alpha[r])
        for axis in range(3):
            step = (p[axis, i] - targets[axis, r] + alpha[r] * multipliers[axis, r]) * scale
            multipliers[axis, r] += step
            p[axis, i] += weights[r] * step


@kernel("void(f8[:,::1], i8[:], i8[:], i8[:], f8[:], f8[:], f8[:])")
def project_tether(
    p: np.ndarray,
    indices: np.ndarray,
    anchors: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    reach: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    for r in range(len(indices)):
        i, j = np.uint64(indices[r]), np.uint64(anchors[r])
        dx, dy, dz = p[0, i] - p[0, j], p[1, i] - p[1, j], p[2, i] - p[2, j]
        square = dx * dx + dy * dy + dz * dz
        if square > reach[r] * reach[r]:
            length = sqrt(square) + TINY
            excess = length - reach[r]
            multipliers[r] += excess / max(weights[r], TINY)
            share = excess / length
            p[0, i] -= dx * share
            p[1, i] -= dy * share
            p[2, i] -= dz * share


@kernel("void(f8[:,::1], i8[:], f8[:], f8[:], f8[:], f8[:], f8[:])")
def project_plane(
    p: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    thickness: np.ndarray,
    point: np.ndarray,
    normal: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    for r in range(len(indices)):
        i = np.uint64(indices[r])
        height = normal[0] * (p[0, i] - point[0]) + normal[1] * (p[1, i] - point[1]) + normal[2] * (p[2, i] - point[2])
        push = max(thickness[r] - height, -multipliers[r] * weights[r])
        if push != 0.0:
            multipliers[r] += push / weights[r]
            for axis in range(3):
                p[axis, i] += normal[axis] * push
