"""Creases: edges of a body that are folded at rest, or resist folding more or less than the cloth around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import arguments
from .mesh import pair_keys


class Creases(NamedTuple):
    """Edges with a rest angle and a bending stiffness of their own; those with other than two faces have no effect.

    Attributes:
        edges: Their vertices, (c, 2) int.
        angles: Angle between the faces at rest, (c,) [rad], from -pi to pi: 0 is flat, above 0 a ridge, seen from the
            side that the normals point to, and below 0 a valley.
        factors: Factor on the bending stiffness, above 0, (c,) [1].
    """

    edges: np.ndarray | Sequence[Sequence[int]] = ()
    angles: np.ndarray | Sequence[float] = ()
    factors: np.ndarray | Sequence[float] = ()

    def of_edges(self, edges: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Rest angles (e,) [rad], NaN for those that are no creases, and factors (e,), 1 for those, of edges (e, 2).

        n: number of vertices of the mesh.
        """
        angles, factors = np.full(len(edges), np.nan), np.ones(len(edges))
        if len(self.edges):
            own, order = np.unique(pair_keys(np.asarray(self.edges), n), return_index=True)
            keys = pair_keys(edges, n)
            place = np.minimum(np.searchsorted(own, keys), len(own) - 1)
            found = own[place] == keys
            row = order[place[found]]
            angles[found], factors[found] = np.asarray(self.angles)[row], np.asarray(self.factors)[row]
        return angles, factors


def checked_creases(creases: Creases | None, n: int, name: str) -> Creases:
    """Creases of a body called `name` with n vertices, as arrays.

    Raises:
        ValueError: A vertex is unknown, lengths differ, or an angle or factor is out of range.
    """
    if creases is None:
        return Creases(np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0))
    given = arguments.instance(f"{name}: creases", creases, Creases)
    edges = arguments.ids(f"{name}: edges of creases", given.edges, n, width=2)
    angles = arguments.per_vertex(f"{name}: angles of creases", given.angles, len(edges), -np.pi, "rad")
    if angles.max(initial=0.0) > np.pi:
        raise ValueError(f"{name}: angles of creases must be at most pi rad, not {angles.max():g}")
    factors = arguments.per_vertex(f"{name}: factors of creases", given.factors, len(edges), above=0.0)
    return Creases(edges, angles, factors)
