"""Prediction and velocities in NumPy."""

from __future__ import annotations

import numpy as np


def extrapolate(v: np.ndarray, before: np.ndarray, earlier: np.ndarray, share: float) -> np.ndarray:
    found = before - earlier
    found *= share
    found += v
    return found


def predict(
    x: np.ndarray,
    v: np.ndarray,
    before: np.ndarray,
    past_x: np.ndarray,
    past_v: np.ndarray,
    share: float,
    early: float,
    gravity: tuple[float, float, float],
    fraction: np.ndarray,
    h: float,
) -> tuple[np.ndarray, np.ndarray]:
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


def velocities(p: np.ndarray, start: np.ndarray, h: float, limit: float) -> tuple[np.ndarray, bool]:
    v = p - start
    v /= h
    return v, bool(np.abs(v).max() < limit)
