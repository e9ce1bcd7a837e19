"""Tethers, or long range attachments: limits on the distance of particles from their pins.

C = (1 + slack) d − |p − a| >= 0        a: the pin; d: the distance at rest along the surface
∇C = −(p − a) / |p − a| at p
α = 0
from: Kim et al. 2012, with slack for the elastic strain

A sweep over the edges propagates the pull of a pin by one edge, so a fine mesh sags like rubber. A tether acts at once,
but only where the cloth would be overstretched; the rest is left to the edges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.protocol.frames import Call
from ..kernels.protocol.projections import Tethered
from ..meshes.mesh import TriMesh, connected_components
from ..settings.solver_settings import SolverSettings
from .base import Constraints
from .distance import DistanceConstraints
from .spring_rows import is_soft
from .surface_graph import SurfaceGraph

if TYPE_CHECKING:
    from ..bodies.material import Material

PER_PARTICLE = 2
"""Tethers of a particle, to the nearest groups of pins. The nearest does most: a curtain of 48 x 48 on two corners
has a mean strain of 0.016, 0.015, 0.015 % with 1, 2, 4."""

MANY_GROUPS = 8
"""With more pin groups than this, each particle gets only one tether, to the nearest pin: each group takes a search
over the whole mesh, see `surface_graph.STRIDE`."""

SLACK_MARGIN = 1.1
"""Ratio of a tether's slack to the elastic strain. The same curtain of 500 N/m is strained by 8.3, 9.1, 9.8, 17 % at
most with 1, 1.1, 1.3, 2, and by 7.5 % with 160 substeps."""

STRAIN_MEMORY = 0.1
"""Time in which the remembered elastic strain decays by a factor e [s]: about two frames. From 0.02 to 0.5 s that
curtain is strained by 8.5 to 10.6 % at most."""

DYNAMIC_LOAD = 3.0
"""Load, in multiples of its own weight, that a soft cloth may bear before its multipliers show the strain: what falls
into its pins bears more than the twice of a load put on at once. From 1 to 6 that curtain is strained by 8.1 to 10.8
%."""


def tether_rows(mesh: TriMesh, rest: np.ndarray, pins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tethers of one body.

    Args:
        mesh: Topology.
        rest: Rest positions, (n, 3) [m].
        pins: Firmly pinned vertices, (k,) int.

    Returns:
        particles (m,) int, anchors (m,) int, lengths (m,) [m]: the geodesic rest distance along edges, diagonals and
        unfolded hinges.
    """
    n = len(rest)
    graph = SurfaceGraph(mesh, rest)
    pinned = np.zeros(n, bool)
    pinned[pins] = True
    inside = graph.pairs[pinned[graph.pairs].all(axis=1)]
    group = connected_components(inside, n)[pins]
    groups = [pins[group == label] for label in np.unique(group)]
    if len(groups) > MANY_GROUPS:
        groups = [pins]
    found = [graph.distances(sources) for sources in groups]
    lengths = np.stack([distance for distance, _ in found])
    anchors = np.stack([anchor for _, anchor in found])
    nearest = np.argsort(lengths, axis=0, kind="stable")[:PER_PARTICLE]
    lengths = np.take_along_axis(lengths, nearest, axis=0)
    anchors = np.take_along_axis(anchors, nearest, axis=0)
    particles = np.broadcast_to(np.arange(n), lengths.shape)
    use = np.isfinite(lengths) & ~pinned
    return particles[use], anchors[use], lengths[use]


class TetherConstraints(Constraints):
    """Tethers of all bodies.

    The slack follows the elastic strain of the stretch constraints, or soft cloth would become rigid: it is
    `SLACK_MARGIN` times the largest strain by their multipliers, which decays slowly, and at least what the cloth's own
    weight can cause.

    Args:
        particles, anchors: (m,) int.
        lengths: (m,) [m].
        sizes: Largest extent of each body at rest, (bodies,) [m].

    Attributes:
        strain: Remembered elastic strain of each body, (bodies,).
    """

    name = "tether"
    inverse_masses: np.ndarray

    def __init__(
        self, particles: np.ndarray, anchors: np.ndarray, lengths: np.ndarray, body: np.ndarray, sizes: np.ndarray
    ) -> None:
        bodies = len(sizes)
        order = np.lexsort((particles, _rank(particles)))
        self.particles, self.anchors = particles[order], anchors[order]
        self.lengths = self.unmapped = lengths[order]
        self.body = body[order]
        counts = np.bincount(_rank(particles))
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.longest = np.zeros(bodies)
        np.maximum.at(self.longest, self.body, self.lengths)
        self.bodies, self.sizes = bodies, sizes
        self.softer = self._longer = self.grown = np.ones(bodies)
        self.multipliers = np.zeros(len(self.lengths))
        self.strain = np.zeros(bodies)

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        """Tethers are at least as long and as slack as the longest and softest path through their body."""
        particles, body = np.concatenate([self.particles, self.anchors]), np.tile(self.body, 2)
        self._longer, self.softer = worst_case_factors(maps, particles, body, self.bodies)
        self.grow(self.grown)

    def grow(self, factors: np.ndarray) -> None:
        """Let the rest shape of each body be so many times as long, (bodies,) [1]."""
        self.grown = factors
        longer = self._longer * factors
        self.lengths = self.unmapped if (longer == 1.0).all() else self.unmapped * longer[self.body]
        self.h = 0.0

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self.inverse_masses = w
        self._weigh()
        stretch = "k_stretch" if settings.method == "PBD" else "stretch"
        used = np.array([is_tethered(m) and getattr(m, stretch) > 0.0 for m in materials])
        self.least_strain = np.zeros(self.bodies)
        if settings.method == "XPBD":
            self.least_strain = least_strain(materials, settings, self.longest * self.softer)
        # Soft cloth stretches most on the bias, by shear, which edges do not show; it needs no tethers.
        used &= ~is_soft(materials, settings, self.sizes)
        # The reach of those without tethers is infinite.
        self.least_strain = np.where(used, self.least_strain, 1.0)
        self.shares = np.stack([np.where(used, SLACK_MARGIN, np.inf), np.full(self.bodies, 1.0 / DYNAMIC_LOAD)])
        self.slack = np.empty_like(self.shares)
        self.active = bool(used[self.body].any())
        self.gravity = float(np.linalg.norm(settings.gravity))
        self.h = 0.0

    def _lay_out(self) -> None:
        self.particles, self.anchors, self.body = (
            each.astype(self.kernels.INDEX, copy=False) for each in (self.particles, self.anchors, self.body)
        )
        self._weigh()

    def _weigh(self) -> None:
        self.weights = np.zeros(0) if self.kernels.PACKED else self.inverse_masses[self.particles]

    def remembered_strain(self, before: np.ndarray, stretch: DistanceConstraints, duration: float) -> np.ndarray:
        """Elastic strain of each body to remember, (bodies,): that of the last substep, or `before` as it has decayed.

        duration: Length of the substep [s].
        """
        elastic = stretch.elastic_strain()
        if self.bodies == 1:
            now = elastic.max(initial=0.0)
        else:
            now = np.zeros(self.bodies)
            np.maximum.at(now, stretch.rows.body, elastic)
        return np.maximum(now, math.exp(-duration / STRAIN_MEMORY) * before)

    def begin_substep(self, h: float, fraction: float) -> None:
        if fraction >= 1.0:  # they are asked for only there
            self.multipliers[:] = 0.0
        strain = np.maximum(self.strain, self.least_strain)
        self.h = h
        # Predicted positions have fallen by g h² more than they will once the edges have pulled them back.
        np.multiply(self.shares, strain, out=self.slack)
        self.fallen = self.gravity * h**2

    def begin_calls(self) -> list[Call]:
        return [
            Call("clear", 0, (self.multipliers,)),
            Call("slacken", 1, (self.least_strain, self.shares, self.slack)),
        ]

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        tethers = Tethered(self.particles, self.anchors, self.starts, self.weights, self.lengths, self.body)
        return [Call("project_tether", 1, (tethers, self.slack, self.fallen, self.multipliers))]

    def values(self, x: np.ndarray) -> np.ndarray:
        least, usual = self.slack[:, self.body]
        reach = self.lengths * (1.0 + np.maximum(least, usual + self.fallen / self.lengths))
        return reach - np.linalg.norm(x[self.particles] - x[self.anchors], axis=1)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        d = x[self.anchors] - x[self.particles]
        n = d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
        return self.particles[:, None], n[:, None]

    def forces(self) -> np.ndarray:
        return self.multipliers / self.h**2 if self.h else np.zeros_like(self.multipliers)


def is_tethered(material: Material) -> bool:
    """Whether a material that resists stretching has tethers: its lengths are those of the rest shape."""
    return material.tethers and material.pressure_mode == "OFF" and not material.stretch_yield


def least_strain(materials: Sequence[Material], settings: SolverSettings, lengths: np.ndarray) -> np.ndarray:
    """Strain that bodies of these lengths [m] may have before their multipliers show it, (bodies,)."""
    load = np.array([m.density for m in materials]) * float(np.linalg.norm(settings.gravity)) * lengths
    return np.asarray(DYNAMIC_LOAD * load / np.maximum([m.least_stretch for m in materials], 1e-300))


def worst_case_factors(
    maps: Mapping[str, np.ndarray], particles: np.ndarray, body: np.ndarray, bodies: int
) -> tuple[np.ndarray, np.ndarray]:
    """Worst-case factors of maps in each body, on lengths and on the strain under its own weight.

    Args:
        maps: Factors of all particles, (n,) each.
        particles: The particles to consider, (m,) int.
        body: Body index of each, (m,) int.
        bodies: Number of bodies.

    Returns:
        The largest factor on lengths and on strain, (bodies,) each; arbitrary for bodies without such particles.
    """

    def extreme(kind: str, most: np.ufunc, start: float) -> np.ndarray:
        if kind not in maps:
            return np.ones(bodies)
        found = np.full(bodies, start)
        most.at(found, body, maps[kind][particles])
        return found

    softest = np.maximum(extreme("stretch", np.minimum, np.inf), 1e-9)
    return extreme("shrink", np.maximum, 0.0), extreme("density", np.maximum, 0.0) / softest


def _rank(particles: np.ndarray) -> np.ndarray:
    """Number of equal entries before each entry, (m,) int."""
    order = np.argsort(particles, kind="stable")
    ordered = particles[order]
    rank = np.empty(len(particles), int)
    rank[order] = np.arange(len(particles)) - np.searchsorted(ordered, ordered)
    return rank
