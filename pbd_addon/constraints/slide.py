"""Sliding pins: vertices that stay at their distance from a moving surface or line, and slide along it freely.

C = |p − q| − d        q: the nearest point of the rail, on which it stays as p moves; d: the distance at the start
∇C = (p − q) / |p − q|
α = 0, or of soft pins as in `attachment`
from: the distance constraint of Müller et al. 2007, sec. 4.1, whose q moves without friction, and so has no gradient
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..meshes.factors import TAKES_PART
from ..meshes.surface_points import closest_weights, nearest_points
from ..settings.solver_settings import SolverSettings
from .base import Constraints, compliances, relaxation

if TYPE_CHECKING:
    from ..bodies.material import Material

ON_RAIL = 1e-4
"""What is nearer than this is on the rail [m]. A coordinate in 32 bits is wrong by up to 4e-6 m where it is 100 m."""

MOST_STEPS = 10
"""Most elements that a vertex passes in one projection: it goes on in the next one."""


class Sliding(NamedTuple):
    """What slides along one rail.

    Attributes:
        body: Index of the body.
        particles: (k,) int.
        weights: As of pins, in (0, 1], (k,).
        vertices: The rail at the start, (n, 3) [m].
        elements: `Rail.elements`, (t, 3) int.
        places: Where the particles are then, (k, 3) [m].
    """

    body: int
    particles: np.ndarray
    weights: np.ndarray
    vertices: np.ndarray
    elements: np.ndarray
    places: np.ndarray


class SlideConstraints(Constraints):
    """All sliding pins of a scene.

    The distance is that of the start; what is farther away or nearer gets there evenly within a frame. A particle looks
    for q among the neighbors of the element where q was, so it does not leap to another part of the rail, and C is
    negative on the other side of it.

    Args:
        sliding: What slides along each rail.

    Attributes:
        distances: Those of the start, (m,) [m]; `targets` those of the current substep.
    """

    name = "sliding pin"

    def __init__(self, sliding: Sequence[Sliding]) -> None:
        starts = np.cumsum([0, *(len(one.vertices) for one in sliding)])
        self.sliding = sliding
        self.particles = np.concatenate([np.zeros(0, int), *(one.particles for one in sliding)])
        self.pin_weights = np.concatenate([np.zeros(0), *(one.weights for one in sliding)])
        self.body = np.repeat([one.body for one in sliding], [len(one.particles) for one in sliding]).astype(int)
        none = np.zeros((0, 3), int)
        self.elements = np.concatenate([none, *(one.elements + at for one, at in zip(sliding, starts))])
        self._around = _neighbors(self.elements)
        self.path = np.zeros((2, int(starts[-1]), 3))
        self.gaps = np.zeros(0)
        self.hold = np.ones(len(self.particles))
        if sliding:
            rails = [one.vertices.T for one in sliding]
            self._enter(np.concatenate([one.places for one in sliding]), rails, rails, 0.0)
        self.targets = self.distances = np.where(np.abs(self.gaps) < ON_RAIL, 0.0, self.gaps)
        self.multipliers = np.zeros(len(self.particles))

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        self.hold = maps["hold"][self.particles] if "hold" in maps else np.ones(len(self.particles))

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        held = np.array([m.hold_pins for m in materials])[self.body] & (self.hold >= TAKES_PART)
        self.weights = np.where(held, w[self.particles], 0.0)
        stiffness = np.array([m.pin_stiffness for m in materials])[self.body]
        firm = self.pin_weights >= 1.0
        soft = compliances(stiffness * self.pin_weights / np.maximum(1.0 - self.pin_weights, 1e-300))
        self.compliance = np.where(firm | (settings.method == "PBD"), 0.0, soft)
        self.k = relaxation(self.pin_weights, settings)
        self.active = bool(held.any())
        self.h = 0.0

    def begin_frame(
        self, x: np.ndarray, start: Sequence[np.ndarray], end: Sequence[np.ndarray], fraction: float
    ) -> None:
        """Find the nearest elements.

        Args:
            x: Positions, (3, n) [m].
            start: Vertices of each rail at the beginning of the frame, (3, n) [m] each.
            end: Those at its end.
            fraction: Of the frame, at which it is begun.
        """
        if self.sliding:
            self._enter(x.take(self.particles, axis=1).T, start, end, fraction)

    def _enter(
        self, points: np.ndarray, start: Sequence[np.ndarray], end: Sequence[np.ndarray], fraction: float
    ) -> None:
        """As `begin_frame`, for points (m, 3)."""
        self.path = np.stack([np.concatenate(places, axis=1).T for places in (start, end)])
        self.fraction = self.begun = fraction
        vertices, found, at = self._vertices(np.arange(self.path.shape[1])), [], 0
        first = 0
        for one in self.sliding:
            own, elements = points[at : at + len(one.particles)], self.elements[first : first + len(one.elements)]
            found.append(nearest_points(own, vertices, elements)[0] + first)
            at, first = at + len(own), first + len(elements)
        self.at = np.concatenate(found)
        self.normals = np.zeros_like(points)
        self.gaps, self.normals = self._feet(points)

    def _vertices(self, ids: np.ndarray) -> np.ndarray:
        """Where vertices of the rails are at present, (..., 3) [m]."""
        start, end = self.path[0][ids], self.path[1][ids]
        return np.asarray(start + self.fraction * (end - start))

    def begin_substep(self, h: float, fraction: float) -> None:
        super().begin_substep(h, fraction)
        self.fraction = fraction
        self.alpha = self.compliance / h**2
        left = np.where(self.alpha > 0.0, 0.0, (1.0 - fraction) / (1.0 - self.begun))
        self.targets = self.distances + left * (self.gaps - self.distances)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        points = p.take(self.particles, axis=1).T
        gaps, self.normals = self._feet(points)
        inverse = 1.0 / np.maximum(self.weights + self.alpha, 1e-300)
        step = self.k * (self.targets - gaps - self.alpha * self.multipliers) * inverse
        step[self.weights == 0.0] = 0.0
        self.multipliers += step
        p[:, self.particles] = (points + (self.weights * step)[:, None] * self.normals).T

    def _feet(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For points (m, 3), how far from the rail they are [m] and the directions away from it, (m, 3)."""
        starts, neighbors = self._around
        for _ in range(MOST_STEPS):
            counts = starts[self.at + 1] - starts[self.at]
            row = np.repeat(np.arange(len(points)), counts)
            place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
            element = neighbors[starts[self.at][row] + place]
            corners = self._vertices(self.elements[element])
            feet = np.einsum("ki,kij->kj", closest_weights(points[row], corners), corners)
            squares = ((points[row] - feet) ** 2).sum(axis=1)
            best = np.lexsort((place, squares, row))[np.cumsum(counts) - counts]
            moved = element[best] != self.at
            self.at = element[best]
            if not moved.any():
                break
        d = points - feet[best]
        gaps = np.sqrt((d**2).sum(axis=1))
        side = np.where((d * self.normals).sum(axis=1) < 0.0, -1.0, 1.0)
        normals = np.where(gaps[:, None] > 0.0, d * (side / np.maximum(gaps, 1e-300))[:, None], self.normals)
        return side * gaps, normals

    def values(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._feet(x[self.particles])[0] - self.targets)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.particles[:, None], self._feet(x[self.particles])[1][:, None]


def _neighbors(elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each element (t, 3), itself and then all that share a vertex with it: starts (t + 1,) and these."""
    count = len(elements)
    owner = np.repeat(np.arange(count), 3)
    order = np.argsort(elements.ravel(), kind="stable")
    vertex, owner = elements.ravel()[order], owner[order]
    starts = np.searchsorted(vertex, np.arange(elements.max(initial=-1) + 2))
    sizes = np.diff(starts)[vertex]
    one = np.repeat(owner, sizes)
    other = owner[np.repeat(starts[vertex], sizes) + np.arange(len(one)) - np.repeat(np.cumsum(sizes) - sizes, sizes)]
    pairs = np.unique(np.stack([one, other != one, other]), axis=1)
    return np.searchsorted(pairs[0], np.arange(count + 1)), pairs[2]
