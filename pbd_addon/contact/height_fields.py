"""Height fields: which pieces of surfaces can not meet themselves now, as their normals lie in a narrow cone.

A neighborhood counts if the normals of all of its patches are in a cone around the axis of its central patch. That
holds if those of each patch are in a cone around its own axis that is narrower by the angle between both, which is what
is checked in every substep.
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels import Kernels
from .cells import Cells, Level
from .patches import CELL_DEPTH, PATCH_DEPTH

CONES = math.radians(35.0), math.radians(45.0)
"""Half-angle of the normal cone of a piece that is left out with itself, at the query and for as long as that holds;
one that was there before may stay in between."""

SMOOTH_CONES = math.radians(45.0), math.radians(55.0)
"""The same where a surface is smooth."""

SMOOTH_PATCHES = 0.75
"""A surface is smooth if this share of its patches have flat neighborhoods. Only then these are left out: where
cloth crumples, more neighbors would become contacts, and none again, as it moves."""


class HeightFields:
    """Pieces of surfaces that are height fields.

    Args:
        cells: The cells of the surfaces.
        surfaces: Number of all surfaces in the scene, k.

    Attributes:
        left_out: Which patches, and which neighborhoods, are height fields, as nodes of the tree of cells.
        is_smooth: Of which surfaces nearly all is one, (k + 1,) bool: few candidates are to be expected.
        are_known: For which surfaces they have been looked for, (k + 1,) bool.
    """

    def __init__(self, cells: Cells, surfaces: int) -> None:
        self._cells, self.left_out = cells, cells.left_out
        self.left_out.is_flat[:] = False
        self.is_smooth, self.are_known = np.zeros((2, surfaces + 1), bool)
        # Patches of each level, the axes of their cones, and the cosines of the half-angles.
        self._checks = [(np.zeros(0, int), np.zeros((3, 0)), np.zeros(0)) for _ in cells.levels]

    def update(self, kernels: Kernels, p: np.ndarray, fresh: np.ndarray, only_fresh: bool) -> np.ndarray:
        """Find those of surfaces `fresh` (k + 1,) anew at p (3, N) [m], and of others that may have lost some.

        only_fresh: Whether to let the others be.

        Returns:
            Particles of pieces of other surfaces that are none any more, some repeated, (m,) int.
        """
        lost = np.zeros_like(fresh)
        if not only_fresh:
            for level, are_outside in zip(self._cells.levels, self._are_outside(kernels, p)):
                lost[level.owner[are_outside]] = True
            lost &= ~fresh
        if fresh.any():
            for level in self._cells.levels:
                self._is_flat(level)[:, fresh.take(level.owner)] = False
        before = [self._is_flat(level).copy() for level in self._cells.levels]
        if (fresh | lost).any():
            self._find(kernels, p, fresh | lost)
        if not lost.any():
            return np.zeros(0, int)
        return np.concatenate([
            self._particles_around(level, (old & ~self._is_flat(level)).any(axis=0))
            for level, old in zip(self._cells.levels, before)
        ])  # fmt: skip

    def _find(self, kernels: Kernels, p: np.ndarray, which: np.ndarray) -> None:
        """Find those of surfaces `which` (k + 1,) at p (3, N); those that were there are more likely to stay."""
        cells = self._cells
        some = np.flatnonzero(which.take(cells.owner).repeat(np.diff(cells.levels[-1].first_faces)[: len(cells.owner)]))
        normals = np.zeros((3, cells.faces.shape[1]))
        normals[:, some] = kernels.unit_normals(p, cells.faces.take(some, axis=1))
        is_known = np.zeros(1, bool)  # as part of a larger neighborhood
        for number, level in enumerate(cells.levels):
            before, theirs = self._is_flat(level), which.take(level.owner) & (level.owner >= 0)
            is_known = is_known.repeat(len(theirs) // len(is_known))
            wanted = theirs & ~is_known
            first_members, members = level.neighborhoods
            angles, axes, turn = kernels.normal_cones(normals, level.first_faces, first_members, members, wanted)
            may_be = level.can_be_flat & wanted
            if level.height == PATCH_DEPTH - CELL_DEPTH:
                is_smooth = is_known | ((angles <= SMOOTH_CONES[0]) & may_be)[1]
                counts = (np.bincount(level.owner[theirs], each[theirs], len(which)) for each in (is_smooth, theirs))
                smooth, all_patches = counts
                self.is_smooth[which] = (smooth >= SMOOTH_PATCHES * np.maximum(all_patches, 1.0))[which]
            is_smooth = self.is_smooth.take(level.owner) & (level.height <= PATCH_DEPTH - CELL_DEPTH)
            narrow, wide = np.where(is_smooth, np.array([SMOOTH_CONES]).T, np.array([CONES]).T)
            is_flat = (angles <= np.where(before, 0.5 * (narrow + wide), narrow)) & may_be
            is_flat[0] |= is_flat[1]
            rows = np.flatnonzero(is_flat[1].repeat(np.diff(first_members)))
            most = np.where(is_flat[0], 0.0, -1.0)
            np.maximum.at(most, members[rows], turn[rows])
            before[:, theirs] = is_flat[:, theirs]
            others = np.flatnonzero(~theirs[self._checks[number][0]])
            checked = np.flatnonzero(theirs & (most >= 0.0))
            now = checked, axes.take(checked, axis=1), np.cos(wide - most)[checked]
            kept = (column.take(others, axis=-1) for column in self._checks[number])
            self._checks[number] = tuple(np.concatenate(both, axis=-1) for both in zip(kept, now))
            is_known = is_known | is_flat[1]
        self.are_known[which] = True

    def outside(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Particles of pieces that are no longer known to be height fields at p (3, N), some repeated, (k,) int."""
        pairs = zip(self._cells.levels, self._are_outside(kernels, p))
        return np.concatenate([
            self._particles_around(level, np.bincount(outside, minlength=len(level.owner)) > 0)
            for level, outside in pairs
        ] or [np.zeros(0, int)])  # fmt: skip

    def _is_flat(self, level: Level) -> np.ndarray:
        """Which patches and neighborhoods of a partition are height fields, (2, patches) bool, a view."""
        return self.left_out.is_flat[:, len(level.owner) : 2 * len(level.owner)]

    def _are_outside(self, kernels: Kernels, p: np.ndarray) -> list[np.ndarray]:
        """Which of the checked patches of each partition have normals outside their cones at p (3, N), (k,) int."""
        faces = self._cells.faces
        return [
            checked[kernels.outside_cones(p, faces, level.first_faces, checked, axes, cosines)]
            for level, (checked, axes, cosines) in zip(self._cells.levels, self._checks)
        ]

    def _particles_around(self, level: Level, is_meant: np.ndarray) -> np.ndarray:
        """Particles of patches (patches,) bool and of the neighborhoods that they are in, some repeated, (k,) int."""
        if not is_meant.any():
            return np.zeros(0, int)
        first_members, members = level.neighborhoods
        is_meant[members[is_meant.repeat(np.diff(first_members))]] = True
        return self._cells.faces[:, is_meant.repeat(np.diff(level.first_faces))].ravel()
