"""Pairs of primitives: which can meet, and which cross.

Cells hold a few primitives each, and pairs of cells are what a search in boxes has found.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


class Primitives(NamedTuple):
    """Vertices, edges or triangles of cells.

    Attributes:
        leaves: Those of each cell, -1 behind the last, (cells, slots) int32.
        particles: Of each, (1 to 3, m) int32.
        cosines: Of the dihedral angles of edges in cells that are asked for, (m,); (0,) where all count as sharp.
    """

    leaves: np.ndarray
    particles: np.ndarray
    cosines: np.ndarray


class Bounds(NamedTuple):
    """Where particles can be.

    Attributes:
        margin: How far each may be from its predicted position, (n,) [m].
        displacement: Predicted for each, (3, n) [m].
        drift: How far along each axis the surface of each as a whole may be off as well, (n,) [m].
        together: Whether both sides are one surface, whose vertices move together; else one may move before the other.
    """

    margin: np.ndarray
    displacement: np.ndarray
    drift: np.ndarray
    together: bool


class Pairs(Protocol):
    """Pairs of primitives."""

    def close_pairs(
        self,
        x: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        cells: np.ndarray,
        one: Primitives,
        other: Primitives,
        kind: int,
        owner: np.ndarray,
        tables: np.ndarray,
        flat_share: float,
        bounds: Bounds,
        is_late: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of primitives in pairs of cells, without a common particle, that can come closer than their distance.

        Args:
            x: Positions now, (3, n) [m].
            low: Lower corners of boxes in which each particle stays, (3, n) [m].
            high: Their upper corners.
            cells: Pairs of cells, (2, k) int; where both are the same, each pair of edges or points counts once.
            one: The primitives of the first side.
            other: Those of the second.
            kind: Kind of all pairs.
            owner: Number of the surface of each particle, (n,) int, all of a cell the same.
            tables: Of each pair of surfaces, the smaller first, (4, s, s): the distance to keep [m], how far apart
                boxes are that count [m], and the cosines of the angles up to which edges are flat and from which on
                they are sharp.
            flat_share: Share of the distance that is kept where one of two edges is flat.
            bounds: How their particles move.
            is_late: If not empty, only pairs with such a particle count, (n,) bool.

        Returns:
            particles, weights, normals and distance of the contacts, in the order of the cells and of what is in them.
        """

    def crossing(
        self,
        x: np.ndarray,
        edges: np.ndarray,
        triangles: np.ndarray,
        edge: np.ndarray,
        triangle: np.ndarray,
        rounding: float,
    ) -> np.ndarray:
        """Which edges go through triangles that they share no particle with, (k,) int.

        Args:
            x: Positions, (3, n) [m].
            edges: (2, e) int32.
            triangles: (3, t) int32.
            edge: Number of the edge of each pair, (m,) int.
            triangle: Number of its triangle, (m,) int.
            rounding: Error of a volume, in its edges and the distance from the origin: what touches does not cross.
        """
