"""Springs whose compliance changes, compiled by Numba."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .compile import kernel


@kernel()
def release_rows(p, indices, rest_lengths, lost, release, back, strains, factors):
    share, decay, turn, least = release
    for r in range(len(rest_lengths)):
        a, b = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = p[0, a] - p[0, b], p[1, a] - p[1, b], p[2, a] - p[2, b]
        way = share * (sqrt(dx * dx + dy * dy + dz * dz) / rest_lengths[r] - 1.0 - strains[r])
        shortened = -way / (turn * max(strains[r], least))
        back[r] = min(max(decay * back[r] + shortened, 0.0), 1.0)
        strains[r] += way
        factors[r] = 1.0 / (1.0 - lost[r] * back[r])


@kernel()
def soften_rows(given, softness, released, compliance):
    for side in range(len(given)):
        for r in range(given.shape[1]):
            found = given[side, r]
            if side == 0 and len(softness):
                found *= softness[r]
            if side == 0 and len(released):
                found *= released[r]
            compliance[side, r] = found


@kernel()
def scale_rows(compliance, square, alpha):
    for side in range(len(alpha)):
        for r in range(alpha.shape[1]):
            alpha[side, r] = compliance[side, r] / square


@kernel()
def strain_rows(alpha, rest_lengths, strains):
    for r in range(len(strains)):
        strains[r] = -alpha[0, r] / rest_lengths[r]


@kernel()
def take_rows(alpha, rows, real, taken):
    for side in range(len(taken)):
        for k in range(len(rows)):
            if not len(real) or real[k]:
                taken[side, k] = alpha[side, np.uint64(rows[k])]


@kernel()
def rescale(changed, w, indices, k, gamma, alpha, scale):
    if not changed[0]:
        return
    for side in range(len(scale)):
        for r in range(scale.shape[1]):
            weight = w[np.uint64(indices[0, r])] + w[np.uint64(indices[1, r])]
            weight *= 1.0 + gamma[r] if len(gamma) else 1.0
            part = k[side, r] if k.shape[1] > 1 else k[side if len(k) > 1 else 0, 0]
            scale[side, r] = -part / (weight + alpha[side, r])
