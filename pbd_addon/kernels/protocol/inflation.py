"""A skin that responds to pressure as a whole; see `constraints.inflation`.

Common arguments: p (3, n) [m]; gradients of the volume at every particle, (3, n) [m²]; w (n,) [1/kg].
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .arrays import (
    Columns,
    DenseNumbers,
    Flags,
    Ids,
    IndexColumns,
    Indices,
    Numbers,
    Vectors,
)


class SkinRows(NamedTuple):
    """Edges, or other springs, of closed pieces.

    Attributes:
        indices: (2, m) in `INDEX`.
        rest_lengths: (m,) [m].
        alpha: In tension and in compression, (2, m), or (1, m) for both: as of distances, or the compliance itself.
        pieces: The piece of each row, (m,) int.
    """

    indices: IndexColumns
    rest_lengths: Numbers
    alpha: Columns
    pieces: Ids


class Carried(NamedTuple):
    """What rows carry over from the substep before.

    Attributes:
        tensions: Of that one, (m,) [N].
        kept: Fraction of these that a piece keeps, (k,).
        share, own: Fractions of tensions, and of those by length, (m,).
        most: Largest absolute value of the multiplier, (m,).
    """

    tensions: Numbers
    kept: Numbers
    share: Numbers
    own: Numbers
    most: Numbers


class Skin(NamedTuple):
    """Inverse masses (n,) [1/kg], the closed piece of each particle (n,) int, and which have a pressure, (k,) bool."""

    w: Numbers
    pieces: Ids
    works: Flags


class Balance(NamedTuple):
    """The equations in `constraints.inflation`, of each piece, (k,) each.

    Attributes:
        stretch, cross, back, swell: Their matrix, row by row.
        wrong, error: Their right side.
        works: Which pieces have a pressure, bool.
        fixed: Where the multiplier itself is set and `error` is what is missing of it, bool.
    """

    stretch: Numbers
    cross: Numbers
    back: Numbers
    swell: Numbers
    wrong: Numbers
    error: Numbers
    works: Flags
    fixed: Flags


class Volumes(NamedTuple):
    """Errors and compliances of volumes, the relaxation k, and `works` and `fixed` as for `Balance`, (k,) each."""

    error: Numbers
    give: Numbers
    k: Numbers
    works: Flags
    fixed: Flags


class Inflation(Protocol):
    """Skins under pressure."""

    def sum_by_piece(self, pieces: Ids, values: Numbers, count: int) -> DenseNumbers:
        """Sums of values (m,) over the pieces (m,) int that they belong to, (count,)."""

    def enclosed_volumes(self, q: Vectors, triangles: IndexColumns, pieces: Indices, piece_count: int) -> DenseNumbers:
        """The volumes of `volume_gradients` alone, (pieces,) [m³]."""

    def carried_shares(
        self,
        w: Numbers,
        indices: IndexColumns,
        stiffness: Numbers,
        free: Flags,
        h: float,
        carried: float,
        swept: float,
        own: float,
    ) -> tuple[DenseNumbers, DenseNumbers]:
        """The shares of `Carried` for rows (2, m) of this stiffness (m,) [N/m] in a substep of h [s].

        With s = 1 / (h² stiffness sum w), they are carried min(1, sqrt(s / swept)) and, for `free` rows (m,) bool,
        own s, so that both make up 1 at most; 0 for others.
        """

    def carried_tensions(self, x: Vectors, rows: SkinRows, carried: Carried, h: float) -> DenseNumbers:
        """Multipliers with which rows begin a substep of h [s], -h² (kept share tensions + own tensions by length)."""

    def tension_pattern(
        self,
        p: Vectors,
        gradients: Columns,
        edges: SkinRows,
        multipliers: Numbers,
        carried: Numbers,
        pull: Vectors,
        skin: Skin,
    ) -> tuple[DenseNumbers, Vectors, Vectors]:
        """How growth along the normals stretches the edges of a skin, once carried multipliers have acted.

        The multipliers grow by `carried` (m,), and `pull` (3, n), what other carried multipliers do to the particles,
        becomes the displacement W (pull + J^T carried); without any, both are empty.

        Returns:
            mu, the proportion of the edges' multipliers, (m,), 0 where growth does not stretch; J^T mu, (3, n); and for
            each piece the sums mu . (J W J^T + alpha) mu, mu . J W grad V, grad V . W grad V, mu . (C + alpha lambda)
            and the change of V, the last two after that displacement, (5, k).
        """

    def balance(self, equations: Balance) -> tuple[DenseNumbers, DenseNumbers]:
        """Size and push of each piece, (k,) each, the solution of its equations; 0 where nothing works."""

    def inflate(
        self,
        p: Vectors,
        gradients: Columns,
        skin: Skin,
        pattern: DenseNumbers,
        force: Vectors,
        moved: Vectors,
        size: Numbers,
        push: Numbers,
        row_pieces: Ids,
        multipliers: Numbers,
    ) -> None:
        """Move p by W (J^T mu size + grad V push) and by `moved`, (3, n) or (3, 0); multipliers by mu size.

        size and push (k,) are of each piece, row_pieces (m,) int the pieces of the edges.
        """

    def project_volume(
        self, p: Vectors, gradients: Columns, push: Numbers, pieces: Ids, volumes: Volumes
    ) -> tuple[DenseNumbers, DenseNumbers]:
        """One step on the volume of each piece that works.

        push (n,): inverse mass times the map of pressure; pieces (n,) int.

        Returns:
            The steps of the multipliers and the changes of volume by p, which moves, (k,) each.
        """

    def edge_forces(self, p: Vectors, indices: IndexColumns, multipliers: Numbers) -> Vectors:
        """J^T lambda of distance constraints, (3, n): the effect of multipliers (m,) of rows (2, m) on particles."""
