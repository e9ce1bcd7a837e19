"""Springs whose compliance changes, in NumPy."""

from __future__ import annotations

import numpy as np

from .layout import lengths as _lengths, ways as _ways


def release_rows(p, indices, rest_lengths, lost, release, back, strains, factors):
    share, decay, turn, least = release
    way = share * (_lengths(_ways(p, indices)) / rest_lengths - 1.0 - strains)
    shortened = -way / (turn * np.maximum(strains, least))
    back[:] = np.clip(decay * back + shortened, 0.0, 1.0)
    strains += way
    factors[:] = 1.0 / (1.0 - lost * back)


def soften_rows(given, softness, released, compliance):
    compliance[:] = given
    for factors in (softness, released):
        if len(factors):
            compliance[0] *= factors


def scale_rows(compliance, square, alpha):
    np.divide(compliance, square, out=alpha)


def strain_rows(alpha, rest_lengths, strains):
    np.divide(-alpha[0], rest_lengths, out=strains)


def take_rows(alpha, rows, real, taken):
    found = alpha.take(rows, axis=1)
    taken[:] = np.where(real, found, taken) if len(real) else found


def rescale(changed, w, indices, k, gamma, alpha, scale):
    if changed[0]:
        weights = w.take(indices).sum(axis=0)
        scale[:] = -k / (weights * (1.0 + gamma if len(gamma) else 1.0) + alpha)
