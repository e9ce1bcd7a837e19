"""Height fields: which pieces of a surface can not meet themselves now, as their normals lie in a narrow cone.

A neighborhood counts if the normals of all of its patches are in a cone around the axis of its central patch. That
holds if those of each patch are in a cone around its own axis that is narrower by the angle between both, which is what
is checked in every substep.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..kernels import Kernels
from .bvh import LeftOut
from .patches import Partition
from .surface import Surface

CONES = math.radians(35.0), math.radians(45.0)
"""Half-angle of the normal cone of a piece that is left out with itself, at the query and for as long as that holds;
one that was there before may stay in between."""

SMOOTH_CONES = math.radians(45.0), math.radians(55.0)
"""The same where a surface is smooth."""

SMOOTH_PATCHES = 0.75
"""A surface is smooth if this share of its large patches have flat neighborhoods. Only then these are left out: where
cloth crumples, more neighbors would become contacts, and none again, as it moves."""


class HeightFields:
    """Pieces of a surface that are height fields.

    Attributes:
        left_out: Which patches, and which neighborhoods, are height fields, as nodes of the surface's tree of cells.
        is_smooth: Whether nearly all of the surface is: few candidates are to be expected.
        are_known: Whether they have been looked for.
    """

    def __init__(self, surface: Surface) -> None:
        self._surface, self._levels = surface, surface.patches.levels
        self.is_smooth = self.are_known = False
        neighbors = surface.patches.neighbors
        self.left_out = LeftOut(np.zeros((2, len(neighbors.first) - 1), bool), *neighbors)
        self._checks: list[tuple[Partition, np.ndarray, np.ndarray, np.ndarray]] = []

    def find(self, kernels: Kernels, p: np.ndarray) -> None:
        """Find those at positions p (3, N) [m]; those that were there are more likely to stay."""
        self._checks = []
        normals = kernels.unit_normals(p, self._surface.patches.faces)
        is_known = np.zeros(1, bool)  # as part of a larger neighborhood
        for number, level in enumerate(self._levels):
            before = self._is_flat(level)
            is_known = is_known.repeat(level.count // len(is_known))
            first_members, members = level.neighborhoods
            angles, axes, turn = kernels.normal_cones(normals, level.first_faces, first_members, members, ~is_known)
            may_be = level.can_be_flat & ~is_known
            is_large = number < len(self._levels) - 2
            if number == len(self._levels) - 2:
                is_smooth = is_known | ((angles <= SMOOTH_CONES[0]) & may_be)[1]
                self.is_smooth = bool(is_smooth.mean() >= SMOOTH_PATCHES)
            narrow, wide = SMOOTH_CONES if self.is_smooth and not is_large else CONES
            is_flat = (angles <= np.where(before, 0.5 * (narrow + wide), narrow)) & may_be
            is_flat[0] |= is_flat[1]
            rows = np.flatnonzero(is_flat[1].repeat(np.diff(first_members)))
            most = np.where(is_flat[0], 0.0, -np.inf)
            np.maximum.at(most, members[rows], turn[rows])
            checked = np.flatnonzero(most >= 0.0)
            self._checks.append((level, checked, axes.take(checked, axis=1), np.cos(wide - most[checked])))
            before[:] = is_flat
            is_known = is_known | is_flat[1]
        self.are_known = True

    def hold(self, kernels: Kernels, p: np.ndarray) -> bool:
        """Whether all are still known to be height fields at p (3, N) [m]."""
        return not any(are_outside.any() for are_outside in self._are_outside(kernels, p))

    def forget(self) -> None:
        """Let nothing be a height field."""
        self.left_out.is_flat[:] = False

    def renew(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Find them anew at p (3, N) [m]; particles of those that are none any more, some repeated, (k,) int."""
        before = [self._is_flat(level).copy() for level in self._levels]
        self.find(kernels, p)
        lost = []
        for level, old in zip(self._levels, before):
            lost.append(self._particles_around(level, (old & ~self._is_flat(level)).any(axis=0)))
        return np.concatenate(lost)

    def outside(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Particles of pieces that are no longer known to be height fields at p (3, N), some repeated, (k,) int."""
        particles = [np.zeros(0, int)]
        for (level, checked, _, _), are_outside in zip(self._checks, self._are_outside(kernels, p)):
            unknown = np.zeros(level.count, bool)
            unknown[checked[are_outside]] = True
            particles.append(self._particles_around(level, unknown))
        return np.concatenate(particles)

    def _is_flat(self, level: Partition) -> np.ndarray:
        """Which patches and neighborhoods of a partition are height fields, (2, patches) bool, a view."""
        return self.left_out.is_flat[:, level.count : 2 * level.count]

    def _are_outside(self, kernels: Kernels, p: np.ndarray) -> Iterator[np.ndarray]:
        """Which of the checked patches of each partition have normals outside their cones at p (3, N), (k,) bool."""
        for level, *check in self._checks:
            yield kernels.outside_cones(p, self._surface.patches.faces, level.first_faces, *check)

    def _particles_around(self, level: Partition, is_meant: np.ndarray) -> np.ndarray:
        """Particles of patches (patches,) bool and of the neighborhoods that they are in, some repeated, (k,) int."""
        first_members, members = level.neighborhoods
        is_meant[members[is_meant.repeat(np.diff(first_members))]] = True
        return self._surface.patches.faces[:, is_meant.repeat(np.diff(level.first_faces))].ravel()
