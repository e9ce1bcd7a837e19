"""Skins under pressure: effective masses for stability, with correct momentum and pressure."""

from __future__ import annotations

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.inflation import Carried, SkinRows
from ..kernels.protocol.motion import Islands
from ..settings.solver_settings import ATMOSPHERE
from .base import NOTHING
from .skin_masses import CARRIED_SHARE, SLACK_STRAIN, SkinMasses

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


class PressurizedSkin(SkinMasses):
    """Effective masses, carried tensions and rigid motion of closed pieces under pressure.

    A solver pass treats the stiffness along an edge implicitly, but not that across it, due to its tension. Therefore:

    - Volume, stretch and shear of such a skin act on the mass max(m, `MASS_RATIO` h² sum T / l) instead of m, with the
      sum of at least `SIMILAR_EDGES` edges. For short substeps that is m.
    - They start from most of the multipliers of the previous substep and some of the tensions by lengths. So a skin at
      rest carries its load, and its pressure balances its tensions, whatever the mass.
    - Their changes of momentum and angular momentum are undone (`end_pass`): gradients are taken at p, but
      v = (p - x) / h rotates about x.
    - Pushes by floors and colliders act on the true mass of what they touch. The rest of the impulse by the effective
      mass is given to the whole piece as rigid motion (`rebound`), or a skin would sag under its effective weight.

    Args:
        volume: The closed surfaces of the scene.
        skin: Edges and diagonals.
        struts: What connects the sides of the skin.
        outside: Planes and contact, whose forces must use the effective masses.
        hinges: Those that bend the skin; where there is a pressure instead of a volume, they use the effective masses.
        islands: Connected piece of each particle, (n,) int.
        pinned: Particles with pins, (k,) int: momentum is not preserved for their islands.

    Attributes:
        active: Whether there is any pressure; if not, all methods return at once.
        corrects_fall: Whether any piece under pressure has pins, see `correct_fall`.
        blown: Which islands have a piece under pressure, (islands,) bool.
        heavy: Inverse effective masses, (n,) [1/kg].
        carried: Carried multipliers of each kind of rows and of the pieces; empty after the first pass.
    """

    def begin_substep(self, kernels: Kernels, memory: np.ndarray, x: np.ndarray, h: float) -> None:
        """Set the effective masses for a substep of h [s], and carry tensions over.

        memory: the result of `remember` after the previous substep, or empty; x (3, n) [m].
        """
        if not self.active:
            return
        volume, count = self.volume, len(self.volume.pieces)
        before = self._recall(memory)
        self.softness = self._softness()
        set_strain, sizes = self._set_strain(x)
        strain = self._strain(before, set_strain)
        ratio = np.where(volume.sets_pressure | self.filled, SET_RATIO, STRAIN_RATIO)
        self._set_masses(kernels, np.maximum(strain, np.minimum(LEAST_STRAIN, ratio * strain)), h)
        self.carried = []
        if before:
            walls = 3.0 * np.maximum(before.pressures - self.from_weight, 0.0) * sizes * self.softness / self.scale
            load = set_strain + np.minimum(
                walls, 1.0
            )  # as any strain: where nothing stretches, it is beyond all numbers
            kept = np.minimum(1.0, CARRIED_PER_LOAD * load / np.maximum(strain, SLACK_STRAIN))
            self.carried = [
                kernels.carried_tensions(
                    x,
                    SkinRows(rows.rows.indices, rows.rest_lengths, rows.compliance, piece),
                    Carried(tensions, kept, *shares, most),
                    h,
                )
                for rows, tensions, shares, most, piece in zip(
                    self.springs, before.tensions, self.shares, self.most, self.pieces
                )
            ]
            self.carried.append(CARRIED_SHARE * h**2 * kept * before.pressures)
        volume.pushed_away = before.displaced if before else np.zeros(count)
        reached = before.targets if before else volume.enclosed(kernels, x)
        self.taken = before.taken * np.exp(-h / ENERGY_MEMORY) if before else np.zeros(len(self.island_masses))
        most = min(VOLUME_STEP, VOLUME_RATE * h)
        step = most * np.where(volume.flat, volume.sizes, reached)
        volume.aim = np.minimum(np.maximum(volume.target, reached - step), reached + step)
        if self.filled.any():
            held = before.pressures if before else np.zeros(count)
            coming = (ATMOSPHERE + held) * (volume.enclosed(kernels, x) + step)
            volume.most = np.where(self.filled, np.maximum(coming, 0.0), np.inf)
        self.before = x.copy()
        self.inner, self.outer = None, None

    def correct_fall(
        self, kernels: Kernels, p: np.ndarray, x: np.ndarray, fall: np.ndarray, masses: np.ndarray,
        island_masses: np.ndarray, everywhere: bool = False,
    ) -> None:  # fmt: skip
        """Make gravity act on the true mass of pinned pieces, or they would bear their effective weight.

        The displacement of p (3, n) by gravity, `fall` (3, n) [m], is treated as a force on the effective mass, except
        for its rigid part, see `Model.damping_masses`: so the piece swings at the right speed. `everywhere`: also for
        pieces without pins, which gravity alone does not bend, but wind and lift do.
        """
        if everywhere not in self.unweighted:
            share = np.divide(self.heavy, self.w, out=np.ones_like(self.w), where=self.is_free)
            concerned = self.blown if everywhere else self.hung
            self.unweighted[everywhere] = np.where(concerned[self.islands], 1.0 - share, 0.0)
        unweighted = self.unweighted[everywhere]
        if unweighted.any():
            center, push, spin = kernels.island_motion(x, fall, Islands(masses, self.islands, island_masses))
            bent = fall.copy()
            kernels.add_rigid(bent, x, self.islands, (center, -push, -spin))
            p -= unweighted * bent

    def begin_pass(self, p: np.ndarray) -> None:
        """Remember the positions p (3, n) at the beginning of a pass of the inner kinds."""
        if not self.active:
            return
        if self.inner is not None:
            self.outer = p - self.inner if self.outer is None else self.outer + (p - self.inner)
        self.start = p.copy()

    def apply_carried(self, kernels: Kernels, p: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add carried multipliers to all rows but the edges, whose own are returned, (m,).

        Also returns what those of all others do to the particles at p, times h², (3, n). Both are empty if there are
        none.
        """
        if not self.carried:
            return NOTHING, np.zeros((3, 0))
        edges, *others, pressures = self.carried
        self.carried = []
        force = gradients * pressures[self.volume.piece_of_particle]
        self.volume.multipliers += pressures
        for rows, carried in zip(self.springs[1:], others):
            if rows.active:
                rows.multipliers += carried
                rows.fresh = False
                force += kernels.edge_forces(p, rows.rows.indices, carried)
        return edges, force

    def end_pass(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        """Undo the changes of the momenta of free pieces by the inner kinds in this pass, in place."""
        if self.active:
            self._add_rigid(kernels, p, x, p - self.start, -self.free.astype(float))
            self.inner = p.copy()

    def keep_momentum(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, alone: np.ndarray) -> None:
        """Undo what contact with themselves did to the momenta of free pieces, in p and x (3, n), in place.

        Contact moves particles by their true masses, of which one with a thousand times the effective mass of another
        may have the same: two discs of foil with self-collision turn at 0.8 m/s after 3 s.

        alone: islands that met nothing but themselves, (islands,) bool.
        """
        alone = alone & self.free
        if not self.active or self.inner is None or not alone.any():
            return
        for q, start in ((p, self.inner), (x, self.before)):
            if not np.array_equal(q, start):
                self._add_rigid(kernels, q, start, q - start, -alone.astype(float))

    def rebound(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, v: np.ndarray, one_by_one: bool) -> None:
        """Apply the rest of pushes from outside to whole pieces, as rigid velocity added to v (3, n), in place.

        A push is an impulse on the true mass of the particles that were hit, and moves the piece accordingly. With f
        the fraction of the piece that was hit and q the ratio of effective to true mass there, the impulse should be
        (1 + g) times that, g = (q - 1) (1 - f) / (1 + f (q - 1)). It returns no more energy than it has taken, or a
        ball would bounce higher each time (a passivity observer: Hannaford and Ryu 2002). What holds a body that lies
        takes none, only the fall of that substep: counted, it would feed a rocking foil balloon for ever.

        Args:
            kernels: Module of kernels.
            p: Positions after the substep, (3, n) [m].
            x: Positions before it.
            v: Velocities, (3, n) [m/s].
            one_by_one: Whether pieces meet only colliders; if not, one factor for all keeps action and reaction equal.
        """
        if not self.active or self.inner is None:
            return
        outer = p - self.inner
        outer -= x - self.before
        if self.outer is not None:
            outer += self.outer
        is_hit = outer.any(axis=0)
        if not is_hit.any():
            return
        hit = self.masses * is_hit
        count = len(self.island_masses)
        met = np.bincount(self.islands, hit, count)
        effective = np.divide(hit, self.heavy * self.masses, out=np.zeros_like(hit), where=self.heavy > 0.0)
        heavy_met = np.bincount(self.islands, effective, count)
        excess = np.divide(heavy_met, met, out=np.ones(count), where=met > 0.0) - 1.0
        share = met / self.island_masses
        gain = excess * (1.0 - share) / (1.0 + share * excess) * self.free
        if not one_by_one:
            gain = np.where(met > 0.0, gain[met > 0.0].min(), 0.0)
        if not gain.any():
            return
        center, push, spin = kernels.island_motion(x, outer, self.whole)
        pushed = np.zeros_like(v)
        kernels.add_rigid(pushed, x, self.islands, (center, push * (gain / self.h), spin * (gain / self.h)))
        work = np.bincount(self.islands, self.masses * np.einsum("ij,ij->j", v, pushed), count)
        kept = work - self.h * self.island_masses * np.einsum("ij,ij->j", self.falling, push * (gain / self.h))
        part = np.divide(np.minimum(work, self.taken), work, out=np.ones(count), where=work > 0.0)
        if not one_by_one:
            part[:] = part.min()
        self.taken -= np.where(work > 0.0, part * work, part * np.minimum(kept, 0.0))
        v += part[self.islands] * pushed

    def _add_rigid(
        self, kernels: Kernels, target: np.ndarray, x: np.ndarray, moved: np.ndarray, gain: np.ndarray
    ) -> None:
        """Add `gain` (islands,) times the rigid part of a displacement (3, n) to `target` (3, n)."""
        center, velocity, spin = kernels.island_motion(x, moved, self.whole)
        kernels.add_rigid(target, x, self.islands, (center, velocity * gain, spin * gain))

    def remember(self, kernels: Kernels, x: np.ndarray) -> np.ndarray:
        """Data for the next substep, flat; x (3, n) [m] are the positions after this one."""
        if not self.active:
            return np.zeros(0)
        volume = self.volume
        away = np.where(volume.working & ~volume.sets_pressure, volume.enclosed(kernels, x) - volume.last, 0.0)
        # Without a limit walls too close would crush it.
        most = np.where(volume.holds_volume, VOLUME_STEP * volume.target, np.inf)
        away = np.minimum(np.maximum(away, -most), most)
        pressures = volume.multipliers / self.h**2
        return np.concatenate([*(rows.forces() for rows in self.springs), pressures, away, volume.aim, self.taken])
