"""Prediction and velocities in NumPy."""

from __future__ import annotations

import numpy as np


def extrapolate(v, before, earlier, share):
    found = before - earlier
    found *= share
    found += v
    return found


def predict(x, v, before, past_x, past_v, share, early, gravity, fraction, h):
    start = extrapolate(x, x, past_x, share) if share else x
    if early:
        start -= early * (v - before)
    p = extrapolate(v, before, past_v, share) if share else v.copy()
    for row, along in zip(p, gravity):
        if along:
            row += h * along * fraction
    p *= h
    p += start
    return start, p


def velocities(p, start, h, limit):
    v = p - start
    v /= h
    return v, bool(np.abs(v).max() < limit)
