"""Projections row by row, and their geometry. Common arguments:

p: Predicted positions, (3, n) float64 [m]; changed in place. Packed, see `packing`, of distances, isometric hinges,
    tethers and chains.
x: Positions at the beginning of the substep, (3, n) float64 [m]; read for damping and friction.
weights: Inverse masses of every row's particles, (k, m) float64 [1/kg]. Packed particles have their own, so that Numba
    does not read those of distances and tethers, nor the leverage of hinges.
alpha: Compliance over squared substep, in the constraint's own units over kg, (m,) float64.
gamma: Damping time over substep, (m,) float64 [1], or (0,) for none (Macklin et al. 2016, eq. 26).
k: Relaxation of each row: 1 for XPBD, k' of Müller et al. 2007 for PBD, (m,) float64.
scale: Factor from a residual to a step, if it does not depend on positions: -k / ((1 + gamma) g W g + alpha) with the
    gradient g, (m,) float64.
indices: Particles of every row, (k, m) in `INDEX` and `ORDER`, where nothing else is said.
multipliers: Lagrange multipliers of this substep; accumulated in place.

Where only one pass a substep is made, and nothing asks for its multipliers, distances and isometric hinges may have
none, (0,) or (3, 0): they count as 0 and are not written.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .arrays import (
    Columns,
    DenseIds,
    DenseIndices,
    DenseNumbers,
    IdColumns,
    Ids,
    IndexColumns,
    Numbers,
    Vectors,
)

LEAST_GIVE = 0.02
"""Least share of its compliance that a hinge keeps, whatever its neighbors resolve: in later passes of a substep the
step is an over-relaxed one, by less than 2 for any compliance."""


class Colored(NamedTuple):
    """Rows sorted by color.

    Attributes:
        indices: Particles of every row, (k, m).
        starts: Where each color begins, (colors + 1,) int.
        layouts: Orders of the particles of wide colors, see `numpy.layout`; not used by Numba.
    """

    indices: IndexColumns
    starts: Ids
    layouts: IdColumns


class Springs(NamedTuple):
    """Weights (2, m), rest lengths (m,) [m], alpha and scale in tension and in compression, (2, m), or (1, m) for both,
    and gamma.
    """

    weights: Columns
    rest_lengths: Numbers
    alpha: Columns
    scale: Columns
    gamma: Numbers


class Hinges(NamedTuple):
    """Weights (4, m), rest angles (m,) [rad], alpha, gamma, k, and the share of g W g that neighbors take back, (m,).

    A step is -k (C + alpha lambda) / (g W g + alpha'), alpha' = alpha - share g W g, at least `LEAST_GIVE` alpha. Dry
    friction adds a moment, within +-limit, as if C at rest were shifted by up to that: it is what a spring from `held`
    has, of stuck / (1 - stuck) times the stiffness. held and limits (m,) [rad], stuck (m,); all (0,) for none.
    """

    weights: Columns
    rest_angles: Numbers
    alpha: Numbers
    gamma: Numbers
    k: Numbers
    shares: Numbers
    held: DenseNumbers
    limits: DenseNumbers
    stuck: DenseNumbers


class FlatHinges(NamedTuple):
    """Stencils K and leverage W K, (4, m) each, alpha, which may be (0,) in a fresh pass, scale and gamma."""

    stencils: Columns
    leverage: Columns
    alpha: DenseNumbers
    scale: DenseNumbers
    gamma: DenseNumbers


class Rubbing(NamedTuple):
    """Friction of flat hinges, as of `Hinges`, of C along the mean normal, which is e x (left - right) times facing;
    holding is what scale is while it holds; (m,) each.
    """

    held: DenseNumbers
    limits: DenseNumbers
    facing: DenseNumbers
    holding: DenseNumbers
    stuck: DenseNumbers


class Attached(NamedTuple):
    """Particles (m,) int, their targets (3, m) [m], weights, alpha and k."""

    indices: Ids
    targets: Columns
    weights: Numbers
    alpha: Numbers
    k: Numbers


class Tethered(NamedTuple):
    """Tethers: indices, anchors and body (m,) int; starts of colors; weights of the free particles; lengths [m]."""

    indices: DenseIndices
    anchors: DenseIndices
    starts: Ids
    weights: DenseNumbers
    lengths: DenseNumbers
    body: DenseIndices


class Projections(Protocol):
    """Springs, hinges, pins and tethers."""

    def project_distance(
        self, p: Vectors, x: Vectors, rows: Colored, springs: Springs, multipliers: Numbers, passes: int
    ) -> None:
        """C = |p1 - p2| - rest length, with separate stiffness in tension and compression.

        passes: over all rows, with accumulated multipliers.
        """

    def strains(self, p: Vectors, indices: IndexColumns, rest_lengths: Numbers) -> DenseNumbers:
        """|length / rest length - 1| of distances, (m,); indices (2, m); rest_lengths (m,)."""

    def strained(self, p: Vectors, indices: IndexColumns, rest_lengths: Numbers, limit: float) -> DenseIds:
        """Which of `strains` are above a limit, which is less than 1, (k,) int."""

    def project_dihedral(self, p: Vectors, x: Vectors, rows: Colored, hinges: Hinges, multipliers: Numbers) -> None:
        """C = dihedral angle - rest angle of rows (4, m): edge start, edge end, left tip, right tip."""

    def project_isometric(
        self, p: Vectors, x: Vectors, rows: Colored, hinges: FlatHinges, multipliers: Vectors, fresh: bool
    ) -> None:
        """C = sum K_i p_i, a vector that is 0 where a hinge (4, m) is flat (Bergou et al. 2006).

        multipliers (3, m) count as 0 if `fresh`, whatever they hold: the first pass of a substep writes without
        reading. The gradient is the constant K, so this kernel needs no square root, arc cosine or division.
        """

    def project_rubbing(
        self,
        p: Vectors,
        x: Vectors,
        rows: Colored,
        hinges: FlatHinges,
        rubbing: Rubbing,
        multipliers: Vectors,
        fresh: bool,
    ) -> None:
        """`project_isometric` with friction."""

    def flat_bends(self, x: Vectors, indices: IndexColumns, stencils: Columns, facing: DenseNumbers) -> DenseNumbers:
        """C of isometric hinges along their mean normals, see `Rubbing`, (m,)."""

    def hinge_changes(
        self, x: Vectors, hinges: IdColumns, one: Vectors, other: Vectors
    ) -> tuple[DenseNumbers, DenseNumbers, DenseNumbers]:
        """Angles of hinges (4, m) as in `project_dihedral`, and by how much two ways (3, n) [m] change each, if they
        were short, as absolute values, (m,) [rad] each.
        """

    def project_attachment(self, p: Vectors, pins: Attached, multipliers: Columns) -> None:
        """C = p - target, a vector. multipliers (3, m)."""

    def project_tether(
        self, p: Vectors, tethers: Tethered, slack: Vectors, fallen: float, multipliers: DenseNumbers
    ) -> None:
        """C = reach - |p - anchor| >= 0; only the free particle moves (Kim et al. 2012).

        The reach of a row of the body k is its length L + max(slack[0, k] L, slack[1, k] L + fallen); slack
        (2, bodies), fallen [m].
        """
