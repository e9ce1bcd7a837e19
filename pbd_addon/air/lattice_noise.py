"""Improved Perlin noise (Perlin 2002) whose gradients are asked of whoever has the table, once a lattice point.

Blender's turbulence fields are made of it. Its gradients are looked up instead of copied: at a small step e from a
lattice point, the noise is e times the component of the gradient along the step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PERIOD = 256
"""The noise repeats after so many cells along each axis."""

STEP = 2.0**-8
"""How far from a lattice point a gradient is asked [cells]: exact in float32 up to `PERIOD` cells from the origin."""

OCTAVES = 3
"""Of turbulence: each has half the size and half the amplitude of the one before; amplitudes add up to 7/4."""

CORNERS = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
"""Of a cell, (8, 3): one at 1 along an axis is in the next cell."""

Ask = Callable[[np.ndarray], np.ndarray]
"""A function of places (k, 3) in cells that gives the noise there, (k,), from -1 to 1."""


class LatticeNoise:
    """Noise of places, in arrays; it remembers the gradients that it has asked."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._keys = np.zeros(0, np.int64)
        self._gradients = np.zeros((0, 3))

    def noise(self, places: np.ndarray) -> np.ndarray:
        """The noise at places (k, 3) in cells, (k,), from -1 to 1."""
        cells = np.floor(places)
        t = places - cells
        corners = (cells.astype(np.int64)[:, None] + CORNERS) % PERIOD
        gradients = self._gradients_at((corners[..., 0] * PERIOD + corners[..., 1]) * PERIOD + corners[..., 2])
        slopes = np.einsum("kci,kci->kc", gradients, t[:, None] - CORNERS)
        fade = t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
        for axis in range(3):  # Each halves what is left of the corners: along x, then y, then z.
            low, high = slopes[:, : slopes.shape[1] // 2], slopes[:, slopes.shape[1] // 2 :]
            slopes = low + fade[:, axis : axis + 1] * (high - low)
        return slopes[:, 0]

    def turbulence(self, places: np.ndarray, size: float) -> np.ndarray:
        """Blender's turbulence of places (k, 3) [m], (k,), from -1 to 1; a size [m] of 0 counts as 1."""
        cells = places / (size or 1.0)
        octaves = [0.5**octave * self.noise(2.0**octave * cells) for octave in range(OCTAVES)]
        return np.sum(octaves, axis=0) / (2.0 - 0.5 ** (OCTAVES - 1))

    def vectors(self, places: np.ndarray, size: float) -> np.ndarray:
        """Turbulence in three directions at places (k, 3) [m], (k, 3): coordinates are turned around for each."""
        turned = [np.roll(places, -axis, axis=1) for axis in range(3)]
        return self.turbulence(np.concatenate(turned), size).reshape(3, -1).T

    def _gradients_at(self, keys: np.ndarray) -> np.ndarray:
        """Gradients of lattice points, (..., 3); those that are not known yet are asked."""
        wanted, back = np.unique(keys, return_inverse=True)
        new = np.setdiff1d(wanted, self._keys, assume_unique=True)
        if len(new):
            points = np.stack([new // PERIOD**2, new // PERIOD % PERIOD, new % PERIOD], axis=1).astype(float)
            asked = np.concatenate([points + STEP * axis for axis in np.eye(3)])
            found = np.rint(self._ask(asked) / STEP).reshape(3, -1).T
            keys_now = np.concatenate([self._keys, new])
            order = np.argsort(keys_now)
            self._keys, self._gradients = keys_now[order], np.concatenate([self._gradients, found])[order]
        found = self._gradients[np.searchsorted(self._keys, wanted)]
        return np.asarray(found[back.reshape(keys.shape)])
