"""Skins under pressure: what keeps them calm, their momentum right, and their pressure true."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from ..settings import SolverSettings
from .base import NO_STIFFNESS
from .distance import DistanceConstraints
from .volume import VolumeConstraints

BRACE = 4.0
"""Least effective mass, in h² times the tension per length of all edges at a particle.

A tension T pulls a particle back with T / l per edge, and a pass takes that pull where the particle was predicted. That
is stable while h² times the largest eigenvalue of the pull over mass is below 4/3. By Gershgorin's theorem that
eigenvalue is at most twice the largest sum of T / l over mass: 3/2 is enough for one explicit step, and as much again
for the sweep and the volume that follow it. 2 calms balls of equal triangles, 4 also the poles of UV spheres.
"""

STIFF = 0.03
"""Strain of a skin below which the mass is not lowered in proportion.

A sweep corrects an edge by the share 1 / (1 + alpha / sum w), and with the mass above alpha / sum w is 12 times the strain.
Below 0.2 to 0.4 of it the tensions that are carried over build up faster than a sweep spreads them."""

SLACK = 4.0
"""Multiple of its strain that a skin counts as strained at most for that; so a slack skin has its own mass."""

CARRIED, SWEPT = 0.7, 0.2
"""Share of the tensions that is carried over, and alpha / sum w below which it is less, as its root.

With nothing carried over, a sweep from 0 leaves stiff skins up to 20 % softer than they are; 0.9 leaves 1 %, but does not
calm every ball of 5 % that lies on a floor; 0.7 does."""

MOST = 2.0
"""Most that is carried over, in tensions of a skin that is strained evenly: an impact must not be carried on."""

RAMP = 0.01
"""Most that a volume to hold changes in a substep, over itself: a leap tangles the poles of UV spheres for good."""

GRADE = 0.05
"""Steps in the logarithm of the strain by which the mass follows it, so that weights rarely change."""


class PressurizedSkin:
    """Effective masses, carried tensions and rigid motion of closed pieces under pressure.

    A solver pass treats the stiffness along an edge implicitly, but not that across it, which its tension gives. So:

    - The constraints of such a skin act on the mass max(m, `BRACE` h² sum T / l) instead of m. Where substeps are short
      enough, that is m.
    - They start from the multipliers of the substep before. So a skin at rest carries its load exactly, and its pressure
      is that which its tensions balance, whatever the mass.
    - What they change of momentum and angular momentum is taken back (`end_pass`). Gradients are taken at p, but
      v = (p - x) / h turns about x.
    - What floors and obstacles push acts on the true mass of what they meet. What the effective mass asks for beyond that is
      given to the whole piece as rigid motion (`recoil`), or a skin would sag under its effective weight.

    Args:
        volume: The closed surfaces of the scene.
        skin: Edges and diagonals.
        islands: Connected piece of each particle, (n,) int.
        pinned: Particles with pins, (k,) int: their islands keep no momentum.

    Attributes:
        active: Whether there is any pressure; if not, nothing of this costs anything.
        heavy: Inverse effective masses, (n,) [1/kg].
        carried: Multipliers that are carried over, of each kind of rows and of the pieces; empty after the first pass.
    """

    def __init__(
        self, volume: VolumeConstraints, skin: Sequence[DistanceConstraints], islands: np.ndarray, pinned: np.ndarray
    ) -> None:
        self.volume, self.skin = volume, list(skin)
        self.pieces = [volume.piece_of_particle[rows.rows.indices[0]] for rows in skin]
        self.islands, self.pinned = islands, islands[pinned]
        self.island_of_piece = np.array([islands[piece.triangles[0, 0]] for piece in volume.pieces], int)
        self.active = False

    def set_materials(self, settings: SolverSettings, w: np.ndarray, masses: np.ndarray) -> None:
        """Take over stiffnesses, inverse masses w (n,) and inertia (n,) [kg]; after the kinds of constraints."""
        volume, count = self.volume, len(self.volume.pieces)
        self.active = settings.method == "XPBD" and volume.active
        self.w = self.heavy = w
        self.masses, self.island_masses = masses, np.bincount(self.islands, masses)
        self.h, self.grade = 0.0, np.zeros(0)
        self.carried: list[np.ndarray] = []
        if not self.active:
            return
        works = volume.working
        self.stiffness = [
            np.where(works[piece] & (rows.compliance[0] < NO_STIFFNESS), 1.0 / rows.compliance[0].clip(1e-300), 0.0)
            for rows, piece in zip(self.skin, self.pieces)
        ]
        self.pull, self.scale = np.zeros(len(w)), np.full(count, 1e-300)
        for rows, piece, stiffness in zip(self.skin, self.pieces, self.stiffness):
            for ends in rows.rows.indices:
                self.pull += np.bincount(ends, stiffness, len(w))
            self.scale += np.bincount(piece, stiffness * rows.rest_lengths**2, count)
        free = np.zeros(len(self.island_masses), bool)
        free[self.island_of_piece[works]] = True
        free[self.pinned] = False
        self.free = free

    def begin_substep(self, kernels: ModuleType, memory: np.ndarray, x: np.ndarray, h: float) -> None:
        """Give the kinds of constraints of skins the mass that a substep of h [s] takes, and carry tensions over.

        memory: what `remember` gave after the substep before, or empty; x (3, n) [m].
        """
        if not self.active:
            return
        volume, count = self.volume, len(self.volume.pieces)
        sizes = np.cumsum([*(len(piece) for piece in self.pieces), count, count])
        parts = np.split(memory, sizes) if len(memory) == sizes[-1] + count else []
        self._brace(self._strain(parts), h)
        self.carried = []
        if parts:
            self.carried = [
                np.clip(-(h**2) * share * tension, -most, most)
                for tension, share, most in zip(parts, self.share, self.most)
            ]
            self.carried.append(CARRIED * h**2 * parts[-3])
        volume.pushed_away = parts[-2] if parts else np.zeros(count)
        reached = parts[-1] if parts else volume.measure(kernels, x)[0]
        volume.aim = np.clip(volume.target, (1.0 - RAMP) * reached, (1.0 + RAMP) * reached)
        self.before, self.outer = x.copy(), np.zeros_like(x)
        self.inner: np.ndarray | None = None

    def _brace(self, strain: np.ndarray, h: float) -> None:
        """Set effective masses and what follows from them, if they are not those of the last substep."""
        with np.errstate(divide="ignore"):
            grade = np.ceil(np.log(strain) / GRADE)
        if h == self.h and np.array_equal(grade, self.grade):
            return
        self.h, self.grade = h, grade
        strain = np.exp(grade * GRADE)
        heavy = BRACE * h**2 * (strain / (1.0 + strain))[self.volume.piece_of_particle] * self.pull
        self.heavy = np.where(self.w > 0.0, 1.0 / np.maximum(self.masses, heavy), 0.0)
        self.volume.use_weights(self.heavy)
        self.most, self.share = [], []
        for rows, piece, stiffness in zip(self.skin, self.pieces, self.stiffness):
            rows.use_weights(self.heavy)
            self.most.append(MOST * h**2 * stiffness * rows.rest_lengths * strain[piece])
            softness = 1.0 / np.maximum(h**2 * stiffness * rows.weights.sum(axis=0), 1e-300)
            self.share.append(CARRIED * np.minimum(1.0, np.sqrt(softness / SWEPT)))

    def _strain(self, parts: list[np.ndarray]) -> np.ndarray:
        """How far the skin of each piece is strained at least, (pieces,) >= 0."""
        volume, count = self.volume, len(self.volume.pieces)
        size = np.maximum(volume.sizes, 1e-300)
        held = np.where(volume.holds_volume & (volume.sizes > 0.0), np.cbrt(volume.target / size) - 1.0, 0.0)
        if parts:
            pulls = zip(parts, self.skin, self.pieces)
            known = sum(np.bincount(piece, tension * rows.rest_lengths, count) for tension, rows, piece in pulls)
        else:
            known = 3.0 * volume.set_pressure * volume.sizes
        strain = np.maximum(np.maximum(held, known / self.scale), 0.0) * volume.working
        return np.minimum(np.maximum(strain, np.minimum(STIFF, SLACK * strain)), 1.0)

    def begin_pass(self, p: np.ndarray) -> None:
        """Remember where a pass begins: p (3, n)."""
        if self.active:
            if self.inner is not None:
                self.outer += p - self.inner
            self.start = p.copy()

    def take_up(self, kernels: ModuleType, p: np.ndarray, gradients: np.ndarray) -> np.ndarray | None:
        """Put the carried multipliers on the rows; their forces times h² at p (3, n), or None if there are none."""
        if not self.carried:
            return None
        force = gradients * self.carried[-1][self.volume.piece_of_particle]
        self.volume.multipliers += self.carried[-1]
        for rows, carried in zip(self.skin, self.carried):
            if rows.active and len(carried):
                rows.multipliers += carried
                force += kernels.edge_forces(p, rows.rows.indices, carried)
        self.carried = []
        return force

    def end_pass(self, kernels: ModuleType, p: np.ndarray, x: np.ndarray) -> None:
        """Take back what the inner kinds changed of the momenta of free pieces in this pass, in place."""
        if self.active:
            self._add_rigid(kernels, p, x, p - self.start, -self.free.astype(float))
            self.inner = p.copy()

    def recoil(self, kernels: ModuleType, p: np.ndarray, x: np.ndarray, v: np.ndarray, one_by_one: bool) -> None:
        """Hand what pushed at a braced piece from outside on to the whole of it, as velocity (3, n), in place.

        An impulse moves the braced particles by less than their true mass, and the piece by what that mass took. With
        f the share of the piece that was hit and q the effective over the true mass there, the impulse should have been
        (1 + g) times that, g = (q - 1) (1 - f) / (1 + f (q - 1)).

        Args:
            kernels: Module of kernels.
            p, x: Positions after and before the substep, (3, n) [m].
            v: Velocities, (3, n) [m/s].
            one_by_one: Whether pieces meet only obstacles; if not, one factor for all keeps action and reaction equal.
        """
        if not self.active or self.inner is None:
            return
        outer = self.outer + (p - self.inner) - (x - self.before)
        hit = self.masses * (np.abs(outer).max(axis=0) > 0.0)
        if not hit.any():
            return
        count = len(self.island_masses)
        met = np.bincount(self.islands, hit, count)
        braced = np.bincount(self.islands, np.divide(hit, self.heavy * self.masses, out=np.zeros_like(hit), where=self.heavy > 0.0), count)
        excess = np.divide(braced, met, out=np.ones(count), where=met > 0.0) - 1.0
        share = met / self.island_masses
        gain = excess * (1.0 - share) / (1.0 + share * excess) * self.free
        if not one_by_one:
            gain = np.where(met > 0.0, gain[met > 0.0].min(), 0.0)
        if gain.any():
            self._add_rigid(kernels, v, x, outer, gain / self.h)

    def _add_rigid(
        self, kernels: ModuleType, target: np.ndarray, x: np.ndarray, moved: np.ndarray, gain: np.ndarray
    ) -> None:
        """Add `gain` (islands,) times the rigid part of a displacement (3, n) to `target` (3, n)."""
        center, velocity, spin = kernels.island_motion(x, moved, self.masses, self.islands, self.island_masses)
        kernels.add_rigid(target, x, self.islands, center, velocity * gain, spin * gain)

    def remember(self, kernels: ModuleType, x: np.ndarray) -> np.ndarray:
        """What the next substep takes over, flat; x (3, n) [m] after this one."""
        if not self.active:
            return np.zeros(0)
        volume = self.volume
        away = np.zeros(len(volume.pieces))
        if volume.gas.any():
            away = np.where(volume.gas > 0.0, volume.measure(kernels, x)[0] - volume.last, 0.0)
        pressures = volume.multipliers / self.h**2
        return np.concatenate([*(rows.forces() for rows in self.skin), pressures, away, volume.aim])
