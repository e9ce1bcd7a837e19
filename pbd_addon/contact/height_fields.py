"""Height fields: which pieces of surfaces can not meet themselves now, as their normals lie in a narrow cone.

A neighborhood counts if the normals of all of its patches are in a cone around the axis of its central patch. That
holds if those of each patch are in a cone around its own axis that is narrower by the angle between both, which is what
is checked in every substep.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..arrays.distinct import distinct
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


class ConeChecks(NamedTuple):
    """Patches whose normals have to stay in cones.

    Attributes:
        level: Number of the partition of each, (m,) int.
        patch: Its number there, (m,) int.
        first, stop: Where its faces begin and end, (m,) int32.
        axes: Those of the cones, (3, m).
        cosines: Of their half-angles, (m,).
    """

    level: np.ndarray
    patch: np.ndarray
    first: np.ndarray
    stop: np.ndarray
    axes: np.ndarray
    cosines: np.ndarray


class HeightFields:
    """Pieces of surfaces that are height fields.

    Args:
        cells: The cells of the surfaces.
        surfaces: Number of all surfaces in the scene, k.

    Attributes:
        left_out: Which patches, and which neighborhoods, are height fields, as nodes of the tree of cells.
        is_smooth: Of which surfaces nearly all is one, (k + 1,) bool: few candidates are to be expected.
        are_known: For which surfaces they have been looked for, (k + 1,) bool.
        checks: What is looked at in every substep.
    """

    def __init__(self, cells: Cells, surfaces: int) -> None:
        self._cells, self.left_out = cells, cells.left_out
        self.left_out.is_flat[:] = False
        self.is_smooth, self.are_known = np.zeros((2, surfaces + 1), bool)
        nothing, none = np.zeros(0, int), np.zeros(0, np.int32)
        self.checks = ConeChecks(nothing, nothing, none, none, np.zeros((3, 0)), np.zeros(0))

    def update(self, kernels: Kernels, p: np.ndarray, fresh: np.ndarray, only_fresh: bool) -> np.ndarray:
        """Find those of surfaces `fresh` (k + 1,) anew at p (3, N) [m], and of others that may have lost some.

        only_fresh: Whether to let the others be.

        Returns:
            Particles of pieces of other surfaces that are none any more, some repeated, (m,) int.
        """
        lost = np.zeros_like(fresh)
        if not only_fresh:
            for number, patches in self._outside(kernels, p):
                lost[self._cells.levels[number].owner[patches]] = True
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
        meant = which.take(cells.owner)
        if meant.all():
            normals = kernels.unit_normals(p, cells.faces)
        else:
            some = np.flatnonzero(meant.repeat(np.diff(cells.levels[-1].first_faces)[: len(meant)]))
            normals = np.zeros((3, cells.faces.shape[1]))
            normals[:, some] = kernels.unit_normals(p, cells.faces.take(some, axis=1))
        is_known = np.zeros(1, bool)  # as part of a larger neighborhood
        parts = [self._checks_but(which)]
        for number, level in enumerate(cells.levels):
            before, theirs = self._is_flat(level), which.take(level.owner) & (level.owner >= 0)
            is_known = is_known.repeat(len(theirs) // len(is_known))
            wanted, is_usual = theirs & ~is_known, level.height == PATCH_DEPTH - CELL_DEPTH
            if not wanted.any() and not is_usual:
                before[:, theirs] = False
                continue
            first_members, members = level.neighborhoods
            angles, axes, turn = kernels.normal_cones(normals, level.first_faces, first_members, members, wanted)
            may_be = level.can_be_flat & wanted
            if is_usual:
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
            checked = np.flatnonzero(theirs & (most >= 0.0))
            faces = level.first_faces[checked], level.first_faces[checked + 1]
            cones = axes.take(checked, axis=1), np.cos(wide - most)[checked]
            parts.append(ConeChecks(np.full(len(checked), number), checked, *faces, *cones))
            is_known = is_known | is_flat[1]
        self.checks = ConeChecks(*(np.concatenate(columns, axis=-1) for columns in zip(*parts)))
        self.are_known[which] = True

    def _checks_but(self, which: np.ndarray) -> ConeChecks:
        """The checks of all surfaces but `which` (k + 1,) bool."""
        kept = np.ones(len(self.checks.level), bool)
        for number, level in enumerate(self._cells.levels):
            some = np.flatnonzero(self.checks.level == number)
            kept[some] = ~which.take(level.owner.take(self.checks.patch[some]))
        others = np.flatnonzero(kept)
        return ConeChecks(*(column.take(others, axis=-1) for column in self.checks))

    def outside(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Particles of pieces that are no longer known to be height fields at p (3, N), some repeated, (k,) int."""
        found, levels = [np.zeros(0, int)], self._cells.levels
        for number, patches in self._outside(kernels, p):
            is_outside = np.zeros(len(levels[number].owner), bool)
            is_outside[patches] = True
            found.append(self._particles_around(levels[number], is_outside))
        return np.concatenate(found)

    def _is_flat(self, level: Level) -> np.ndarray:
        """Which patches and neighborhoods of a partition are height fields, (2, patches) bool, a view."""
        return self.left_out.is_flat[:, len(level.owner) : 2 * len(level.owner)]

    def _outside(self, kernels: Kernels, p: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Numbers of partitions with patches whose normals are outside their cones at p (3, N), and these, (k,) int."""
        checks = self.checks
        outside = np.flatnonzero(kernels.outside_cones(p, self.faces, *checks[2:]))
        levels, patches = checks.level[outside], checks.patch[outside]
        return [(number, patches[levels == number]) for number in distinct(levels).tolist()]

    @property
    def faces(self) -> np.ndarray:
        """Particles of all triangles and loose edges, as `Cells.faces`."""
        return self._cells.faces

    def _particles_around(self, level: Level, is_meant: np.ndarray) -> np.ndarray:
        """Particles of patches (patches,) bool and of the neighborhoods that they are in, some repeated, (k,) int."""
        if not is_meant.any():
            return np.zeros(0, int)
        first_members, members = level.neighborhoods
        is_meant[members[is_meant.repeat(np.diff(first_members))]] = True
        return self._cells.faces[:, is_meant.repeat(np.diff(level.first_faces))].ravel()
