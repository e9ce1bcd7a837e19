"""Edges in chains, solved directly. Arguments as in `projections`."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .arrays import DenseIdColumns, DenseIds, DenseIndices, DenseNumbers, IdColumns, Indices, Numbers, Vectors


class Along(NamedTuple):
    """Where chains of edges run, one after the other.

    Attributes:
        vertices: Particles along them, (q + 1,) in `INDEX`.
        levels: Halvings of the longest chain by cyclic reduction; not used by Numba.
        rings: First and last step of closed chains, (2, r) int; their matrix also has entries in its corners.
        joints: Which of the q steps are not edges but lead to the next chain, (j,) int.
        groups: Of each group of chains side by side, the steps of the longest one, and the number k of chains, one of
            `WIDTHS`, (g, 2) int; these come first in all arrays. Step e of the chain in lane c is at k e + c from where
            its group begins, and leads to the next vertex of the lane, at k (e + 1) + c. Shorter chains repeat their
            last vertex, with steps of `NO_STIFFNESS`. Only for gamma (0,); neither rings nor joints are in groups.
    """

    vertices: DenseIndices
    levels: int
    rings: IdColumns
    joints: DenseIds
    groups: DenseIdColumns


class Links(NamedTuple):
    """The springs along these chains, arbitrary at joints.

    Attributes:
        weights: Inverse masses of the vertices, (q + 1,); (0,) if `PACKED`.
        rest_lengths: Of every step, (q,) [m].
        alpha: In tension and in compression, (2, q), or (1, q) for both.
        gamma: (q,) or (0,).
    """

    weights: DenseNumbers
    rest_lengths: DenseNumbers
    alpha: Vectors
    gamma: DenseNumbers


class Chains(Protocol):
    """Whole chains of edges.

    Attributes:
        WIDTHS: Numbers of chains that `project_chains` solves side by side, the largest first; () if it does not.
    """

    WIDTHS: tuple[int, ...]

    def project_chains(
        self, p: Vectors, x: Vectors, along: Along, links: Links, multipliers: DenseNumbers, passes: int, fresh: bool
    ) -> None:
        """The distance constraints of whole chains of edges: (J W J^T + alpha) d_lambda = -C - alpha lambda.

        Edges of a chain share vertices only with their neighbors in it, hence the matrix is tridiagonal.

        Args:
            p: Packed positions, as in `projections`.
            x: As in `projections`.
            along: The chains.
            links: Their springs.
            multipliers: Of every step, (q,).
            passes: Number of passes, each at the positions that the last one reached.
            fresh: Whether multipliers count as 0, whatever they hold.
        """

    def put(self, values: Numbers, places: Indices, into: Numbers, rows: Indices) -> None:
        """into[rows] = values[places], (m,) in `INDEX`, no row twice; (0,) of either is for 0 to m - 1."""
