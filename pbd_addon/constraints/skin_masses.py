"""Effective masses of skins under pressure, by how much these are strained, and what a substep leaves for the next.

The mass of a particle follows the tension of its edges, and this the strain of its piece: by the tensions of the last
substep, by the pressure that is set, or by the volume that is to be held. `skin` says what the masses are for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..kernels.protocol.frames import Call
from ..kernels.protocol.inflation import Measured, SkinRows
from ..kernels.protocol.motion import Islands
from ..kernels.protocol.skins import (
    CarriedLimits,
    CarriedRows,
    SkinLimits,
    SkinLoads,
    SkinMemory,
    SkinNow,
    SkinParticles,
)
from ..settings.solver_settings import SolverSettings
from .base import NO_STIFFNESS
from .distance import DistanceConstraints
from .struts import StrutConstraints
from .volume import VolumeConstraints

MASS_RATIO = 4.0
"""Ratio of a particle's effective mass to h² times the sum of tension over length of its edges.

A tension T pulls a particle back with T / l per edge, and a pass applies that pull at the predicted position. One
explicit step is stable while h² times the largest eigenvalue of the pull over mass is below 4/3. By Gershgorin's
theorem that eigenvalue is at most twice the largest sum of T / l over mass: 1.5 is enough for one step; the rest is for
the sweep, the volume after it, and carried tensions. With 3, Foil without damping never comes to rest."""

STABLE_RATIO = 1.5 * 0.75
"""No effective mass is needed where h² times the largest sum of T / l over mass is below 1 / this: on triangle meshes
the largest eigenvalue is about 3/2 of that sum. This predicts 40.5 substeps where 40 were measured."""

CARRIED_SHARE, SWEPT_SOFTNESS = 0.8, 0.2
"""Fraction of the tensions that is carried over, and alpha / sum w below which it decreases with the square root.

With none, a sweep from 0 leaves stiff skins 5 to 25 % too soft. If all were carried over, an impact would never decay;
and because it lags, it feeds waves that a sweep hardly damps: with 0.9 Foil boils at 80 substeps or more, with 0.8 not
even at 200."""

WEIGHT_PRESSURE = 7.0
"""Largest pressure by weight on a floor, times the area of a side of a cube of that volume, over the weight.
Measured: 1.5 to 3."""

OWN_SHARE = 0.5
"""Largest fraction of a row's own tension, by its length, that makes up for what is not carried over: times
alpha / sum w, so that this explicit part moves a row by at most half of its error.

It makes a skin at rest an exact fixed point: without it uneven skins show 5 to 14 % too little pressure, with it up to
1 %, and Foil 2 %. With 0.7 Foil without damping boils at 200 substeps, with 0.5 it does not. On skins that hang from
pins it would feed their swing."""

MOST_CARRIED = 4.0
"""Limit of the carried tension of a row, over that of an evenly strained skin. Shaped skins have up to 3 times that."""

SIMILAR_EDGES = 4.0
"""The effective mass of a particle is at least that for this many edges like its stiffest one.

A row at rest is exact if `CARRIED_SHARE` and `OWN_SHARE` make up all of its tension: if alpha / sum w, which is half of
`MASS_RATIO` times its strain times the number of similar edges at its ends, is 0.4. At the pole of a UV sphere only two
of the stiffest edges meet. A sphere of 48 x 24 quads at 1.2 times its volume stretches there by 12.5, 11.5, 10.8, 10.3,
10.3 % with 2, 2.5, 3, 4, 6; by 10.4 % when converged. Four is the number in a grid."""

SLACK_STRAIN = 1e-4
"""Strain below which a skin counts as slack."""

LEAST_SET = 1e-4
"""Least strain that a skin which blows with a pressure counts with. Two discs of foil of 22.5 cm, 500 vertices, at 15
Pa move by 226 mm/s without it, by 1.3 mm/s with it; letters whose pressure is raised over a second fold before it is
there. With 3e-4, discs of 1700 vertices have 13 % too little volume at 50 Pa, with this 6 %; above 200 Pa it adds
nothing."""

LEAST_STRAIN = 0.03
"""Strain of a skin below which its effective mass is not reduced in proportion.

A sweep corrects an edge by the fraction 1 / (1 + alpha / sum w), and that quotient is about 9 times the strain. Below
0.1 carried tensions build up faster than a sweep spreads them; 0.02 to 0.04 were stable."""

STRAIN_RATIO = 4.0
"""Limit of that minimum strain, as a multiple of the skin's own: a slack skin keeps its own mass."""

SET_RATIO = 8.0
"""The same limit where a pressure is set instead of a volume. Skins that are blown up from flat sheets strain at their
crimps: two discs of foil, 22.5 cm, 300 Pa, keep 0.68, 0.57, 0.44 % mean strain with 4, 6, 8, and 4.5 to 10 mm/s; with 8
their volume is 1.9 % below that of skin that does not stretch at all, with 16 5 %."""

CARRIED_PER_LOAD = 2.0
"""Nothing is carried over where weight alone strains a skin, and all where at least half of the strain is due to its
target or to the pressure of walls. Strain by weight fluctuates: carried over, a bear of 2 kg/m² on a floor gains energy
until it jumps, and 7 of 30 bodies that hold their volume never come to rest; otherwise all do."""

VOLUME_STEP = 0.01
"""Largest relative change of a volume target in a substep: a jump tangles the poles of UV spheres permanently."""

VOLUME_RATE = 2.0
"""Largest relative change of a volume target per second. A body that grows quickly jumps off the floor: at 5, a ball of
1 m that inflates to twice its volume flies 1 to 2.6 m high, depending on the substeps."""

ENERGY_MEMORY = 0.3
"""Time in which the energy that `rebound` has taken, and may return, decays to a third [s]. A bounce takes that long;
what comes to rest must not have energy for a jump. Foil discs of 45 cm that have fallen 0.5 m rock by 51 and 57 mm/s
after 3 and 4 s with 1, by 18 and 15 with 0.5, and 28 and 16 with 0.3; beach balls of 0.3 to 1 m bounce as high."""

THIN = 1.0 / 12.0
"""Least volume that counts for the effective mass, over the sum of (A1 + A2) l of the edges, which is three times area
times edge. Sheets that lie on each other enclose nothing and would begin with their true mass: blown by 300 Pa, foil
would go 3 cm in the first substep."""

STRAIN_STEP = 0.05
"""Step in the logarithm of the strain by which the mass follows it, so that weights rarely change."""


EXPONENTIALS = np.exp(-STRAIN_STEP * np.arange(2.0 - np.log(SLACK_STRAIN) / STRAIN_STEP))
"""The strains that a mass follows, by their number: from 1 down to `SLACK_STRAIN`."""


class Before(NamedTuple):
    """What skins remember of the last substep: tensions of each kind of rows, (m,) [N], and of pieces and islands."""

    tensions: list[np.ndarray]
    skin: SkinMemory


class Weighted(Protocol):
    """A kind of constraint that can use other masses than the true ones."""

    def use_weights(self, w: np.ndarray) -> None:
        """Use these inverse masses, (n,) [1/kg]."""


class SkinMasses:
    """Masses of `PressurizedSkin`, where arguments and attributes are explained."""

    def __init__(
        self, volume: VolumeConstraints, skin: Sequence[DistanceConstraints], struts: StrutConstraints,
        outside: Sequence[Weighted], hinges: Sequence[Weighted], islands: np.ndarray, pinned: np.ndarray,
    ) -> None:  # fmt: skip
        self.volume, self.skin, self.struts, self.outside = volume, list(skin), struts, list(outside)
        self.hinges = list(hinges)
        self.islands, self.pinned = islands, islands[pinned]
        self.island_of_piece = np.array([islands[piece.triangles[0, 0]] for piece in volume.pieces], int)
        self.active = False

    def set_materials(self, settings: SolverSettings, w: np.ndarray, masses: np.ndarray, weighty: np.ndarray) -> None:
        """Set stiffnesses, inverse masses w (n,) and inertia (n,) [kg]; to be called after the kinds of constraints.

        weighty: Fraction of each particle's inertia that has weight, (n,).
        """
        volume, count = self.volume, len(self.volume.pieces)
        self.springs = [rows for rows in (*self.skin, self.struts) if len(rows.rest_lengths)]
        self.active = settings.method == "XPBD" and volume.active and len(self.skin[0].rest_lengths) > 0
        self.w = self.heavy = w
        self.masses, self.island_masses = masses, np.bincount(self.islands, masses)
        self.whole = Islands(masses, self.islands, self.island_masses)
        heavy = np.bincount(self.islands, masses * weighty) / np.maximum(self.island_masses, 1e-300)
        self.falling = np.outer(settings.gravity, heavy)
        self.h, self.carries = 0.0, False
        self.has_passed = False
        self.outer: np.ndarray | None = None
        self.corrects_fall = False
        if not self.active:
            return
        self.pieces = [volume.piece_of_particle[rows.rows.indices[0]] for rows in self.springs]
        works = volume.working
        inside = np.zeros(len(w), bool)  # Ropes belong to no piece.
        for piece in volume.pieces:
            inside[piece.triangles] = True
        self.stiffness = [
            (works[piece] & inside[rows.rows.indices].all(axis=0) & (rows.compliance[0] < NO_STIFFNESS))
            / rows.compliance[0].clip(1e-12)
            for rows, piece in zip(self.springs, self.pieces)
        ]
        self.pull, self.scale, self.thin = np.zeros(len(w)), np.full(count, 1e-300), np.zeros(count)
        stiffest = np.zeros(len(w))
        for rows, piece, stiffness in zip(self.springs, self.pieces, self.stiffness):
            if rows is self.struts:
                continue
            for ends in rows.rows.indices:
                self.pull += np.bincount(ends, stiffness, len(w))
                np.maximum.at(stiffest, ends, stiffness)
            self.scale += np.bincount(piece, stiffness * rows.rest_lengths**2, count)
        edges, lengths = self.skin[0], self.skin[0].rest_lengths
        self.thin += THIN * np.bincount(
            self.pieces[0], edges.unmapped[1] * (self.stiffness[0] > 0.0) * lengths**3, count
        )
        self.mass_pull = np.maximum(self.pull, SIMILAR_EDGES * stiffest)
        self.softness = np.ones(count)
        free = np.zeros(len(self.island_masses), bool)
        free[self.island_of_piece[works]] = True
        free[self.pinned] = False
        one, other = self.islands[self.struts.rows.indices]
        free[np.concatenate([one[one != other], other[one != other]])] = False
        self.mapped, uneven = volume.mean_factors()
        free[self.island_of_piece[uneven]] = False  # An uneven map of pressure propels a piece.
        self.free, self.is_free = free, w > 0.0
        self.free_rows = [free[self.islands[rows.rows.indices[0]]] for rows in self.springs]
        weights = np.linalg.norm(settings.gravity) * self.island_masses[self.island_of_piece]
        self.from_weight = WEIGHT_PRESSURE * weights / np.maximum(volume.sizes, 1e-300) ** (2 / 3)
        self.blown = np.zeros(len(free), bool)
        self.blown[self.island_of_piece[works]] = True
        self.hung = self.blown & (np.bincount(self.pinned, minlength=len(free)) > 0)
        self.corrects_fall = bool(self.hung.any())
        ends = np.cumsum([0, *map(len, self.pieces), count, count, count, len(free)]).tolist()
        self.places = [slice(start, end) for start, end in zip(ends, ends[1:])]
        self.limp = np.where(volume.working & ~volume.sets_pressure, np.inf, 0.0)
        held = np.cbrt(volume.target / np.maximum(volume.sizes, 1e-300)) - 1.0
        self.filled = volume.flat & ~volume.sets_pressure
        self.held = np.where(volume.holds_volume, held, 0.0)
        self.blows = np.zeros(len(w), bool)
        self.blows[inside] = (volume.sets_pressure | self.filled)[volume.piece_of_particle[inside]]

        self._allocate()

    def _allocate(self) -> None:
        """Make the arrays that substeps fill, and those that are the same in all."""
        volume, n, count = self.volume, len(self.w), len(self.volume.pieces)
        changed, grades, heavy = np.zeros(1, bool), np.full((2, count), np.nan), self.w.copy()
        strain, kept, pressures, aim, away = np.zeros((5, count))
        taken = np.zeros(len(self.island_masses))
        self.now = SkinNow(changed, grades, strain, heavy, kept, pressures, aim, away, taken)
        self.heavy, self.sums = heavy, np.zeros(count)
        gradients = np.zeros((3, n))
        blown = gradients if volume.factors is None else np.zeros((3, n))
        self.measured = Measured(np.zeros((3, n)), np.zeros(count), gradients, blown, np.zeros((3, n)))
        self.before, self.inner = np.zeros((3, n)), np.zeros((3, n))
        self.carried = [
            CarriedRows(stiffness, free, *np.zeros((4, len(stiffness))))
            for stiffness, free in zip(self.stiffness, self.free_rows)
        ]
        self.particles = SkinParticles(self.masses, self.mass_pull, volume.piece_of_particle, self.is_free)
        self.ratio = np.where(volume.sets_pressure | self.filled, SET_RATIO, STRAIN_RATIO)
        self.steps = np.where(volume.flat, volume.sizes, -1.0)
        self.most_away = np.where(volume.holds_volume, VOLUME_STEP * volume.target, self.limp)
        self.kept = np.zeros(self.places[-1].stop)
        self.left = [self.kept[place] for place in self.places]
        self.loads: SkinLoads | None = None
        self.gain = -self.free.astype(float)[None]
        blown_particles, hung = self.blown[self.islands], self.hung[self.islands]
        self.concerned = {True: blown_particles, False: hung}

    @property
    def is_plain(self) -> bool:
        """Whether what it is under depends on nothing but what a substep has left."""
        fixed = self.volume.sets_pressure | self.filled
        return not fixed.any() and not any(len(rows.softness) for rows in self.skin)

    def _loads(self, x: np.ndarray) -> SkinLoads:
        """What pieces are under at x (3, n)."""
        if self.loads is not None and self.is_plain:
            return self.loads
        volume = self.volume
        self.softness = self._softness()
        set_strain, sizes = self._set_strain(x)
        softened = np.exp(STRAIN_STEP * np.round(np.log(self.softness) / STRAIN_STEP))
        of_piece = self.held, self.ratio, self.from_weight, volume.target, self.steps
        fixed = volume.sets_pressure | self.filled
        found = SkinLoads(set_strain, sizes, self.scale, self.softness, softened, *of_piece, fixed, volume.working)
        self.loads = found if self.is_plain else None
        return found

    def _limits(self, h: float) -> SkinLimits:
        step = min(VOLUME_STEP, VOLUME_RATE * h)
        decay = float(np.exp(-h / ENERGY_MEMORY))
        masses = CARRIED_SHARE * h**2, MASS_RATIO * h**2
        return SkinLimits(LEAST_STRAIN, SLACK_STRAIN, CARRIED_PER_LOAD, *masses, step, decay, STRAIN_STEP)

    def begin_calls(self, before: Before, known: bool, x: np.ndarray, h: float) -> list[Call]:
        """The calls that set masses and what is carried over into a substep of h [s], which begins at x (3, n).

        The `sums` are 0 before.
        """
        loads, now = self._loads(x), self.now
        calls = []
        for rows, tensions, piece in zip(self.springs, before.tensions, self.pieces):
            if rows is not self.struts:
                calls.append(Call("sum_tensions", 0, (tensions, rows.rest_lengths, piece, self.sums)))
        weighed = before.skin, loads, self._limits(h), self.particles, EXPONENTIALS, known, now
        calls.append(Call("weigh_skin", 0, (self.sums, *weighed)))
        for rows, tensions, piece, carried in zip(self.springs, before.tensions, self.pieces, self.carried):
            own = SkinRows(rows.rows.indices, rows.rest_lengths, rows.compliance, piece)
            limits = CarriedLimits(CARRIED_SHARE, SWEPT_SOFTNESS, OWN_SHARE, MOST_CARRIED * h**2, rows is self.struts)
            given = own, tensions, carried, limits, now, loads.softened, h**2
            calls.append(Call("carry_tensions", 2, given))
        return calls

    def remember_calls(self, left: Sequence[np.ndarray]) -> list[Call]:
        """The calls that fill what a substep leaves: tensions of each kind of rows, and what is of pieces."""
        volume, square = self.volume, self.h**2
        calls = [
            Call("keep_tensions", 0, (rows.multipliers, square, tensions)) for rows, tensions in zip(self.springs, left)
        ]
        given = volume.surface(volume.kernels), volume.multipliers, volume.last, self.most_away, self.now, square
        return [*calls, Call("keep_skin", 1, (*given, SkinMemory(*left[len(self.springs) :])))]

    def use_masses(self) -> None:
        """Let everything that does so act on the effective masses, which have changed."""
        for kind in (self.volume, *self.outside, *self.springs):
            kind.use_weights(self.heavy)
        if self.blows.any():
            for kind in self.hinges:
                kind.use_weights(np.where(self.blows, self.heavy, self.w))

    def _softness(self) -> np.ndarray:
        """How many times softer than its material the skin of each piece is at the moment, (pieces,)."""
        if not any(len(rows.softness) for rows in self.skin):
            return np.ones(len(self.scale))
        stiff = [
            self.volume.kernels.sum_by_piece(
                piece,
                stiffness * rows.rest_lengths**2 / (rows.softness if len(rows.softness) else 1.0),
                len(self.scale),
            )
            for rows, piece, stiffness in zip(self.springs, self.pieces, self.stiffness)
            if rows is not self.struts
        ]
        total = sum(stiff)
        return np.divide(self.scale, total, out=np.ones(len(self.scale)), where=total > 0.0)

    def _set_strain(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Strain of the skin of each piece by the pressure that is set, by virtual work, (pieces,) >= 0.

        Also returns the volume that it is for, (pieces,) [m³]: that at rest or, where a pressure is set, that at
        x (3, n), because sheets that are blown up enclose nothing at rest.
        """
        volume = self.volume
        sizes = volume.sizes
        if volume.sets_pressure.any():
            now = np.maximum(volume.enclosed(volume.kernels, x), self.thin)
            sizes = np.where(volume.sets_pressure, now, sizes)
        strain = 3.0 * volume.set_pressure * sizes * self.mapped * self.softness / self.scale
        if self.filled.any():
            strain = np.where(self.filled, np.maximum(self._lengthened(x), LEAST_SET), strain)
        strain = self._limited(strain)
        return np.where(volume.sets_pressure, np.maximum(strain, LEAST_SET), strain), sizes

    def _lengthened(self, x: np.ndarray) -> np.ndarray:
        """Strain of the skin of each piece by the lengths of its edges at x (3, n), (pieces,)."""
        pulls = [
            self.volume.kernels.sum_by_piece(
                piece, stiffness * rows.rest_lengths**2 * (rows.stretches(x) - 1.0), len(self.scale)
            )
            for rows, piece, stiffness in zip(self.springs, self.pieces, self.stiffness)
            if rows is not self.struts
        ]
        return np.asarray(sum(pulls) / self.scale)

    def _strain(self, before: Before | None, set_strain: np.ndarray) -> np.ndarray:
        """Strain of the skin of each piece, by its tensions, its target or its pressure, (pieces,) >= 0.

        Tensions of the last substep say nothing of what is blown up quickly: a mass that lags behind them feeds motion.
        """
        volume = self.volume
        if not before or volume.sets_pressure.all():
            return set_strain
        self.sums[:] = 0.0
        for rows, tensions, piece in zip(self.springs, before.tensions, self.pieces):
            if rows is not self.struts:
                volume.kernels.sum_tensions(tensions, rows.rest_lengths, piece, self.sums)
        return np.where(
            volume.sets_pressure | self.filled, set_strain, self._limited(self.sums * self.softness / self.scale)
        )

    def _limited(self, strain: np.ndarray) -> np.ndarray:
        """That strain (pieces,), or more where a target needs more; 0 where there is no pressure."""
        return np.minimum(np.maximum(np.maximum(self.held, strain), 0.0), 1.0) * self.volume.working

    def substeps(self, memory: np.ndarray, x: np.ndarray, dt: float) -> np.ndarray:
        """Substeps of dt seconds from x (3, n) that need no effective mass anywhere in an island, (islands,)."""
        need = np.zeros(len(self.island_masses))
        if self.active:
            self.softness = self._softness()
            strain = self._strain(self._recall(memory), self._set_strain(x)[0])
            pull = self._pull(self.pull, strain, self.softness)
            rate = np.divide(pull, self.masses, out=np.zeros_like(pull), where=self.w > 0.0)
            np.maximum.at(need, self.islands, rate)
        return dt * np.sqrt(STABLE_RATIO * need)

    def _pull(self, stiffness: np.ndarray, strain: np.ndarray, softness: np.ndarray) -> np.ndarray:
        """Sum of tension over length at each particle of pieces that are strained and softened so far, (n,) [N/m]."""
        return (strain / (1.0 + strain) / softness)[self.volume.piece_of_particle] * stiffness

    def _recall(self, memory: np.ndarray, left: Sequence[np.ndarray] = ()) -> Before | None:
        """What a substep has left; None if `memory` is of other rows. left: its parts, if they are known."""
        if len(memory) != self.places[-1].stop:
            return None
        count = len(self.springs)
        left = list(left or (memory[place] for place in self.places))
        return Before(left[:count], SkinMemory(*left[count:]))

    def pressures(self, memory: np.ndarray) -> np.ndarray:
        """Overpressure in each piece by the result of `remember`, (pieces,) [Pa]; 0 if it is not known."""
        before = self._recall(memory)
        return before.skin.pressures if before else np.zeros(len(self.volume.pieces))
