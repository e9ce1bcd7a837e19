"""Prediction and velocities compiled by Numba: each array is read or written once."""

from __future__ import annotations

import numpy as np

from .compile import kernel


@kernel()
def extrapolate(v, before, earlier, share):
    found = np.empty(v.shape)
    for axis in range(3):
        for i in range(v.shape[1]):
            found[axis, i] = v[axis, i] + share * (before[axis, i] - earlier[axis, i])
    return found


@kernel()
def predict(x, v, before, past_x, past_v, share, early, gravity, fraction, h):
    p = np.empty(x.shape)
    start = np.empty(x.shape) if share else x
    for axis in range(3):
        fall = h * gravity[axis]
        if share:
            for i in range(x.shape[1]):
                gone = v[axis, i] - before[axis, i]
                start[axis, i] = x[axis, i] + share * (x[axis, i] - past_x[axis, i]) - early * gone
                flying = v[axis, i] + share * (before[axis, i] - past_v[axis, i])
                p[axis, i] = start[axis, i] + h * (flying + fall * fraction[i])
        else:
            for i in range(x.shape[1]):
                p[axis, i] = x[axis, i] + h * (v[axis, i] + fall * fraction[i])
    return start, p


@kernel()
def velocities(p, start, h, limit):
    v, wild = np.empty(p.shape), 0
    for axis in range(3):
        for i in range(p.shape[1]):
            one = (p[axis, i] - start[axis, i]) / h
            v[axis, i] = one
            wild += 0 if abs(one) < limit else 1
    return v, wild == 0
