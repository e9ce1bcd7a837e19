"""Skins under pressure in NumPy."""

from __future__ import annotations

import numpy as np

from ..protocol.guards import SMALLEST
from .layout import by_sign as _by_sign, cross as _cross, dot as _dot, lengths as _lengths, ways as _ways


def sum_by_piece(pieces, values, count):
    # To add to one bin over and over takes 20 times as long as a sum.
    return values.sum(keepdims=True) if count == 1 else np.bincount(pieces, values, count)


def volume_gradients(q, triangles, pieces, piece_count):
    a, b, c = q.take(triangles, axis=1).swapaxes(0, 1)
    of_a, of_b, of_c = _cross(b, c), _cross(c, a), _cross(a, b)
    volumes = np.bincount(pieces, _dot(of_a, a), piece_count) / 6.0
    corners = triangles.ravel()
    per_corner = np.concatenate([of_a, of_b, of_c], axis=1)
    gradients = np.stack([np.bincount(corners, per_corner[axis], q.shape[1]) for axis in range(3)])
    return volumes, gradients / 6.0


def enclosed_volumes(p, surface, piece_count):
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (_closed(p, surface).take(corner, axis=1) for corner in surface[0])
    six = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return sum_by_piece(surface[1], six, piece_count) / 6.0


def tension_pattern(p, gradients, edges, multipliers, carried, pull, skin):
    indices, rest_lengths, alpha, row_pieces = edges
    w, pieces, works = skin
    count, n, (start, end) = len(works), p.shape[1], indices
    normals = gradients / np.maximum(_lengths(gradients), SMALLEST)
    direction = _ways(p, indices)
    length = np.maximum(_lengths(direction), SMALLEST)
    direction /= length
    error = length - rest_lengths
    if len(carried):
        multipliers += carried
        pull += _gathered(direction * carried, indices, n)
        pull *= w
    give = _by_sign(error, alpha)
    growth = _dot(direction, normals.take(start, axis=1) - normals.take(end, axis=1))
    pattern = np.where(works[row_pieces], np.maximum(growth, 0.0) / alpha[0], 0.0)
    direction *= pattern
    force = _gathered(direction, indices, n)
    heavy = w * force
    sums = np.stack([
        sum_by_piece(pieces, _dot(heavy, force), count) + sum_by_piece(row_pieces, give * pattern**2, count),
        sum_by_piece(pieces, _dot(heavy, gradients), count),
        sum_by_piece(pieces, w * _dot(gradients, gradients), count),
        sum_by_piece(row_pieces, pattern * (error + give * multipliers), count),
        np.zeros(count),
    ])  # fmt: skip
    if len(carried):
        sums[3] += sum_by_piece(pieces, _dot(force, pull), count)
        sums[4] = sum_by_piece(pieces, _dot(gradients, pull), count)
    return pattern, force, sums


def edge_forces(p, indices, multipliers):
    direction = _ways(p, indices)
    direction *= multipliers / np.maximum(_lengths(direction), SMALLEST)
    return _gathered(direction, indices, p.shape[1])


def volume_errors(volumes, contents, multipliers, square):
    aim, away, gas, most, constant, smallest, holds, _, fixed = contents
    volumes = volumes + away
    if holds.all():
        return volumes - aim, np.zeros_like(volumes)
    bounded, gas = np.maximum(volumes, smallest), np.minimum(gas, most)
    missing = square * (constant + gas / bounded) - multipliers
    give = np.zeros_like(bounded)
    np.divide(bounded**2, square * gas, out=give, where=gas > 0.0)
    return np.where(holds, volumes - aim, np.where(fixed, missing, -missing * give)), give


def measure_skin(p, surface, factors, pieces, pressures, multipliers, measured):
    start, volumes, gradients, blown, pull = measured
    start[:] = p
    volumes[:], gradients[:] = measure_volume(p, surface, len(volumes))
    if len(factors):
        np.multiply(gradients, factors, out=blown)
    if len(pressures):
        multipliers += pressures
        np.multiply(blown, pressures[pieces], out=pull)


def measure_volume(p, surface, piece_count):
    triangles, owners, rims, rim_caps, rim_sizes = surface
    n = p.shape[1]
    volumes, gradients = volume_gradients(_closed(p, surface), triangles, owners, piece_count)
    if len(rims):
        shares, gradients = gradients[:, n:] / rim_sizes, gradients[:, :n].copy()
        for axis in range(3):
            gradients[axis] += np.bincount(rims, shares[axis][rim_caps], n)
    return volumes, gradients


def pull_along(p, indices, carried, multipliers, pull):
    multipliers += carried
    pull += edge_forces(p, indices, carried)


def respond(p, measured, edges, multipliers, carried, skin, contents, pressed, square):
    _, volumes, gradients, blown, pull = measured
    w, pieces, works = skin
    count = len(works)
    pattern, force, sums = tension_pattern(p, gradients, edges, multipliers, carried, pull, skin)
    stretch, back, swell, wrong, grown = sums
    error, give = volume_errors(volumes + grown, contents, pressed, square)
    cross = back
    if blown is not gradients:
        cross = sum_by_piece(pieces, w * np.einsum("ij,ij->j", force, blown), count)
        swell = sum_by_piece(pieces, w * np.einsum("ij,ij->j", gradients, blown), count)
    size, push = _balance(stretch, cross, back, swell + give, wrong, error, works, contents[-1])
    pressed += push
    multipliers += size[edges[-1]] * pattern
    p += w * (force * size[pieces] + blown * push[pieces])
    if len(carried):
        p += pull


def hold_volume(p, surface, push, pieces, k, contents, multipliers, last, square):
    volumes, gradients = measure_volume(p, surface, len(last))
    (error, give), (works, fixed) = volume_errors(volumes, contents, multipliers, square), contents[-2:]
    swell = sum_by_piece(pieces, push * _dot(gradients, gradients), len(error))
    slope = swell + give
    step = np.where(fixed, error, -k * error / np.maximum(slope, SMALLEST))
    step = np.where(works & (slope > 0.0), step, 0.0)
    p += gradients * (push * step[pieces])
    multipliers += step
    last[:] = volumes + swell * step


def _balance(stretch, cross, back, swell, wrong, error, works, fixed):
    """Size and push of each piece, (k,) each, the solution of its equations; 0 where nothing works."""
    swell = np.where(fixed, 1.0, swell)
    back = np.where(fixed, 0.0, back)
    error = np.where(fixed, -error, error)
    tense = stretch > 0.0
    scale = np.where(tense, stretch, 1.0)
    determinant = scale * swell - cross * back
    good = works & (determinant > 0.0)
    safe = np.where(good, determinant, 1.0)
    size = np.where(good & tense, (cross * error - swell * wrong) / safe, 0.0)
    return size, np.where(good, (back * wrong - scale * error) / safe, 0.0)


def _closed(p: np.ndarray, surface: tuple[np.ndarray, ...]) -> np.ndarray:
    """Particles at p (3, n) and centers of caps, relative to a particle, (3, n + caps) [m]."""
    _, _, rims, rim_caps, rim_sizes = surface
    q = p - p[:, :1]  # products of large coordinates lose digits
    if not len(rims):
        return q
    centers = np.stack([np.bincount(rim_caps, row[rims], len(rim_sizes)) for row in q])
    return np.concatenate([q, centers / rim_sizes], axis=1)


def _gathered(pulls: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """Sums of pulls (3, m) on the first particle of each row (2, m), and of the opposite on the second, (3, n)."""
    start, end = indices
    return np.stack([np.bincount(start, row, n) - np.bincount(end, row, n) for row in pulls])
