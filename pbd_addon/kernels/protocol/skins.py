"""What skins under pressure carry from substep to substep, and the masses that they act on; see `constraints.skin`.

Common arguments: k pieces; n particles; m rows of a kind; square = h² of the substep [s²].
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .arrays import Columns, DenseIds, DenseNumbers, Flags, Ids, Numbers, Vectors
from .inflation import SkinRows, Surface
from .motion import Islands

LEAST_COMPLIANCE = 1e-12
"""[m/N]: rigid rows have none, and their tension is not known by their length."""


class SkinMemory(NamedTuple):
    """What is left of the substep before, but for tensions.

    Attributes:
        pressures: [Pa], displaced: volume that came in after it was projected [m³], targets: volume aimed at [m³], of
            each piece, (k,) each.
        taken: Energy that `rebound` has taken from each island, (islands,) [J].
    """

    pressures: Numbers
    displaced: Numbers
    targets: Numbers
    taken: Numbers


class SkinLoads(NamedTuple):
    """What pieces are under, (k,) each.

    Attributes:
        set_strain: Strain by the pressure that is set; sizes: the volume that it is for [m³].
        scale: Stiffness of all rows times square lengths [N m]; softness: how many times softer they are at the moment,
            and that in steps, in which masses follow it.
        held: Strain by the target; ratio: largest multiple of its own strain that counts.
        from_weight: Pressure that comes of the weight [Pa].
        target: Volume [m³]; steps: what it follows in steps of, negative: what is reached.
        fixed: Whether the strain is that of `set_strain` in any case; works: whether there is any pressure.
    """

    set_strain: Numbers
    sizes: Numbers
    scale: Numbers
    softness: Numbers
    softened: Numbers
    held: Numbers
    ratio: Numbers
    from_weight: Numbers
    target: Numbers
    steps: Numbers
    fixed: Flags
    works: Flags


class SkinLimits(NamedTuple):
    """Numbers of `constraints.skin`, see there.

    Attributes:
        least_strain, slack_strain, per_load, carried: `LEAST_STRAIN`, `SLACK_STRAIN`, `CARRIED_PER_LOAD`, and
            `CARRIED_SHARE` times h².
        mass: `MASS_RATIO` times h²; step: largest change of a target; decay: of the energy that is taken; grade:
            `STRAIN_STEP`.
    """

    least_strain: float
    slack_strain: float
    per_load: float
    carried: float
    mass: float
    step: float
    decay: float
    grade: float


class SkinParticles(NamedTuple):
    """Of each particle its mass [kg], the stiffness over length that pulls it [N/m], its piece int, and whether it is
    free, bool, (n,) each.
    """

    masses: Numbers
    pull: Numbers
    pieces: Ids
    free: Flags


class SkinNow(NamedTuple):
    """What `weigh_skin` finds, in place.

    Attributes:
        changed: Whether masses have changed, (1,) bool.
        grades: The steps in which masses follow the logarithm of strain, and that of softness, (2, k).
        strain: That by the former, (k,).
        heavy: Inverse effective masses, (n,) [1/kg].
        kept: Fraction of tensions that is carried over, and pressures times h² that are, (k,) each.
        aim, away: See `Contents`; taken: see `SkinMemory`.
    """

    changed: Flags
    grades: Columns
    strain: Numbers
    heavy: Numbers
    kept: Numbers
    pressures: Numbers
    aim: Numbers
    away: Numbers
    taken: Numbers


class CarriedRows(NamedTuple):
    """What rows carry over, (m,) each.

    Attributes:
        stiffness: [N/m]; free: whether their piece is free, bool.
        share, own: Fractions of the tensions before, and of those by length, in and out.
        most: Largest absolute value of the multiplier, in and out; infinite for struts.
        found: The multipliers, out.
    """

    stiffness: Numbers
    free: Flags
    share: Numbers
    own: Numbers
    most: Numbers
    found: Numbers


class CarriedLimits(NamedTuple):
    """`CARRIED_SHARE`, `SWEPT_SOFTNESS`, `OWN_SHARE`, and `MOST_CARRIED` times h²; is_strut: for rows across pieces."""

    carried: float
    swept: float
    own: float
    most: float
    is_strut: bool


class WholePieces(NamedTuple):
    """Masses of particles (n,) [kg], the island of each (n,) int; of islands the masses and whether they are free,
    (islands,) each, and how gravity accelerates them, (3, islands) [m/s²]; and whether they meet only colliders.
    """

    masses: DenseNumbers
    of: DenseIds
    sums: DenseNumbers
    free: Flags
    falling: Columns
    one_by_one: bool


class Skins(Protocol):
    """Between substeps."""

    def sum_tensions(self, tensions: Numbers, rest_lengths: Numbers, pieces: Ids, sums: Numbers) -> None:
        """Add tensions (m,) [N] times lengths to the sums (k,) of their pieces."""

    def weigh_skin(
        self,
        sums: Numbers,
        before: SkinMemory,
        loads: SkinLoads,
        limits: SkinLimits,
        particles: SkinParticles,
        exponentials: Numbers,
        known: bool,
        now: SkinNow,
    ) -> None:
        """Find how much of its tensions a skin carries over and, if its strain has changed by a step, its masses.

        sums: of `sum_tensions`. exponentials: those of the grades 0, -1, ... known: whether there was a substep before;
        if not, strain is that by pressure.
        """

    def carry_tensions(
        self,
        p: Vectors,
        x: Vectors,
        rows: SkinRows,
        tensions: Numbers,
        carried: CarriedRows,
        limits: CarriedLimits,
        now: SkinNow,
        softened: Numbers,
        square: float,
    ) -> None:
        """Multipliers with which rows begin, -h² (kept share tensions + own tensions by length at x), in place.

        Shares anew if masses have changed. With s = 1 / (h² stiffness sum w), rows are carried min(1, sqrt(s / swept))
        and, where they are free, own s, so that both make up 1 at most; 0 for others.
        """

    def keep_tensions(self, multipliers: Numbers, square: float, tensions: Numbers) -> None:
        """Tensions (m,) [N] by multipliers (m,), in place."""

    def keep_skin(
        self,
        p: Vectors,
        surface: Surface,
        multipliers: Numbers,
        last: Numbers,
        most: Numbers,
        now: SkinNow,
        square: float,
        after: SkinMemory,
    ) -> None:
        """Fill `after` at positions p, from multipliers and volumes `last` (k,); `displaced` is at most `most` (k,)."""

    def correct_fall(
        self,
        p: Vectors,
        x: Vectors,
        v: Vectors,
        before: Vectors,
        is_blown: bool,
        gravity: tuple[float, float, float],
        fraction: Numbers,
        heavy: Numbers,
        w: Numbers,
        concerned: Flags,
        islands: Islands,
        square: float,
        h: float,
    ) -> None:
        """Make gravity, and if it `is_blown` what has changed velocities from `before` to v, act on the true masses w
        of particles that are `concerned` (n,): see `PressurizedSkin.correct_fall`. fraction (n,): of gravity.
        """

    def undo_momentum(
        self, p: Vectors, x: Vectors, start: Vectors, islands: Islands, gain: Columns, after: Vectors
    ) -> None:
        """Add to p `gain` (1, islands) times the rigid part of its way from `start`, and note it in `after`."""

    def rebound(
        self,
        p: Vectors,
        x: Vectors,
        v: Vectors,
        before: Vectors,
        inner: Vectors,
        outer: Vectors,
        pieces: WholePieces,
        heavy: Numbers,
        taken: Numbers,
        h: float,
    ) -> None:
        """Add rigid velocity to v, in place, see `PressurizedSkin.rebound`; `taken` (islands,) [J] in and out.

        What has pushed them from outside: p - inner, less x - before, and outer, (3, n) or (3, 0) for nothing.
        """
