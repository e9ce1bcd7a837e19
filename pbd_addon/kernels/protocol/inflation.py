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


class Skin(NamedTuple):
    """Inverse masses (n,) [1/kg], the closed piece of each particle (n,) int, and which have a pressure, (k,) bool."""

    w: Numbers
    pieces: Ids
    works: Flags


class Surface(NamedTuple):
    """Closed surfaces.

    Attributes:
        triangles: Of all pieces, outward, (3, t) in `INDEX`; centers of caps follow the n particles.
        owners: The piece of each triangle, (t,) in `INDEX`.
        rims: Particles around openings, (r,) int, and rim_caps, the number of the opening of each.
        rim_sizes: How many particles an opening has, (caps,) float64.
    """

    triangles: IndexColumns
    owners: Indices
    rims: Ids
    rim_caps: Ids
    rim_sizes: Numbers


class Contents(NamedTuple):
    """What is to be in each piece, (k,) each, see `constraints.volume`.

    Attributes:
        aim: Volume to hold [m³].
        away: What volumes are counted as more than they are [m³].
        gas, most: Pressure times volume, and at most [Pa m³].
        constant: Pressure in addition to that of the gas [Pa].
        smallest: Least volume that counts [m³].
        holds, works, fixed: Whether it holds a volume, has any pressure, has a pressure that is set, bool.
    """

    aim: Numbers
    away: Numbers
    gas: Numbers
    most: Numbers
    constant: Numbers
    smallest: Numbers
    holds: Flags
    works: Flags
    fixed: Flags


class Measured(NamedTuple):
    """What `measure_skin` finds.

    Attributes:
        start: Positions, (3, n) [m].
        volumes: (k,) [m³].
        gradients: Of volume, (3, n) [m²].
        blown: The same times a map of pressure, the same array where there is none.
        pull: What carried pressures do to particles, times h², (3, n), or (3, 0) where nothing is carried over.
    """

    start: Vectors
    volumes: DenseNumbers
    gradients: Vectors
    blown: Vectors
    pull: Vectors


class Inflation(Protocol):
    """Skins under pressure."""

    def sum_by_piece(self, pieces: Ids, values: Numbers, count: int) -> DenseNumbers:
        """Sums of values (m,) over the pieces (m,) int that they belong to, (count,)."""

    def volume_gradients(
        self, q: Vectors, triangles: IndexColumns, pieces: Indices, piece_count: int
    ) -> tuple[DenseNumbers, Vectors]:
        """Enclosed volume of each closed piece and its gradient at every particle.

        Args:
            q: Positions, (3, n) [m], for accuracy near the origin.
            triangles: (3, t) in `INDEX`, outward.
            pieces: Piece of each triangle, (t,) in `INDEX`.
            piece_count: Number of pieces.

        Returns:
            V = 1/6 sum (p1 x p2) . p3, (pieces,) [m³]; gradients (3, n) [m²].
        """

    def enclosed_volumes(self, p: Vectors, surface: Surface, piece_count: int) -> DenseNumbers:
        """The volumes of `measure_volume` alone, (pieces,) [m³]."""

    def measure_volume(self, p: Vectors, surface: Surface, piece_count: int) -> tuple[DenseNumbers, Vectors]:
        """`volume_gradients` of particles at p, in which rims have those of their caps: (pieces,) [m³], (3, n) [m²]."""

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

    def edge_forces(self, p: Vectors, indices: IndexColumns, multipliers: Numbers) -> Vectors:
        """J^T lambda of distance constraints, (3, n): the effect of multipliers (m,) of rows (2, m) on particles."""

    def volume_errors(
        self, volumes: Numbers, contents: Contents, multipliers: Numbers, square: float
    ) -> tuple[DenseNumbers, DenseNumbers]:
        """The error of each piece and the compliance of its constraint in a substep of h, square = h² [s²], (k,) each.

        The error is one of volume [m³], or the missing multiplier if the pressure is set. A pressure that depends on
        the volume is a constraint with the linearized compliance -1 / (h² P'(V)).
        """

    def measure_skin(
        self,
        p: Vectors,
        surface: Surface,
        factors: Numbers,
        pieces: Ids,
        pressures: Numbers,
        multipliers: Numbers,
        measured: Measured,
    ) -> None:
        """Fill `measured`, and add carried pressures (k,), times h², to the multipliers (k,), unless there are none.

        factors (n,): map of pressure, or (0,); pieces (n,) int.
        """

    def pull_along(
        self, p: Vectors, indices: IndexColumns, carried: Numbers, multipliers: Numbers, pull: Vectors
    ) -> None:
        """Add carried multipliers (m,) of rows (2, m) to their multipliers, and what they do to particles to `pull`."""

    def respond(
        self,
        p: Vectors,
        measured: Measured,
        edges: SkinRows,
        multipliers: Numbers,
        carried: Numbers,
        skin: Skin,
        contents: Contents,
        pressed: Numbers,
        square: float,
    ) -> None:
        """Solve volume and edges together, see `constraints.inflation`: p, `multipliers` (m,) and `pressed` (k,), those
        of volumes, in place. Other arguments as of `tension_pattern` and `volume_errors`.
        """

    def hold_volume(
        self,
        p: Vectors,
        surface: Surface,
        push: Numbers,
        pieces: Ids,
        k: Numbers,
        contents: Contents,
        multipliers: Numbers,
        last: Numbers,
        square: float,
    ) -> None:
        """One step on the volume of each piece that works: p, multipliers and the volumes then, `last`, in place.

        push (n,): inverse mass times the map of pressure; k (k,): relaxation.
        """
