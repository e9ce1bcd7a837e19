"""Skins under pressure: effective masses for stability, with correct momentum and pressure."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import Call
from ..kernels.protocol.motion import Islands
from ..kernels.protocol.skins import SkinMemory, WholePieces
from ..settings.solver_settings import ATMOSPHERE
from .base import NO_PULL, make
from .distance import ALWAYS
from .skin_masses import VOLUME_RATE, VOLUME_STEP, Before, SkinMasses


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
        carries: Whether tensions and pressures are carried over into the pass.
    """

    def begin_substep(self, kernels: Kernels, memory: np.ndarray, x: np.ndarray, h: float) -> None:
        """Set the effective masses for a substep of h [s], and carry tensions over.

        memory: the result of `remember` after the previous substep, or empty; x (3, n) [m].
        """
        if not self.active:
            return
        self._begin(kernels, self._recall(memory), x, h)

    def prepare(self, kernels: Kernels, memory: np.ndarray, x: np.ndarray, h: float) -> bool:
        """Begin a substep that is to be repeated by the same calls, with the memory in an array of its own.

        Whether it can be: not before the first substep, nor where a pressure is set, rubber softens, or there is a map.
        """
        if len(memory) != len(self.kept) or not self.is_plain or self.volume.factors is not None:
            return False
        self.kept[:] = memory
        self._begin(kernels, self._recall(self.kept, self.left), x, h)
        return True

    def predict_calls(self) -> list[Call]:
        """What `prepare` has called, and what depends on it."""
        before = self._recall(self.kept, self.left)
        assert before is not None
        found = [Call("clear", 0, (self.sums,)), *self.begin_calls(before, True, self.before, self.h)]
        for rows in self.springs:
            found += rows.reweigh_calls(ALWAYS if len(rows.released) else self.now.changed) if rows.active else []
        return found

    def _begin(self, kernels: Kernels, before: Before | None, x: np.ndarray, h: float) -> None:
        volume, count = self.volume, len(self.volume.pieces)
        if h != self.h:
            self.h, self.now.grades[:] = h, np.nan
        known, nothing = before is not None, np.zeros(count)
        if before is None:
            reached = SkinMemory(nothing, nothing, volume.enclosed(kernels, x), np.zeros(len(self.island_masses)))
            before = Before([np.zeros(len(piece)) for piece in self.pieces], reached)
        self.sums[:] = 0.0
        make(kernels, self.begin_calls(before, known, x, h), x, x)
        if self.now.changed[0]:
            self.use_masses()
        volume.pushed_away, volume.aim, self.carries = self.now.away, self.now.aim, known
        if self.filled.any():
            step = min(VOLUME_STEP, VOLUME_RATE * h) * np.where(volume.flat, volume.sizes, before.skin.targets)
            coming = (ATMOSPHERE + before.skin.pressures) * (volume.enclosed(kernels, x) + step)
            volume.most = np.where(self.filled, np.maximum(coming, 0.0), np.inf)
        self.before[:] = x
        self.has_passed, self.outer = False, None

    def fall_call(
        self, gravity: tuple[float, float, float], fraction: np.ndarray, islands: Islands, everywhere: bool
    ) -> Call:
        """What makes gravity act on the true mass of pinned pieces, or they would bear their effective weight.

        The displacement of p (3, n) by gravity, of which particles feel a `fraction` (n,), is treated as a force on the
        effective mass, except for its rigid part, see `Model.damping_masses`: so the piece swings at the right speed.
        `everywhere`: also for pieces without pins, and with what else has changed velocities; these gravity alone does
        not bend, but wind and lift do.
        """
        given = everywhere, gravity, fraction, self.heavy, self.w, self.concerned[everywhere], islands
        return Call("correct_fall", 4, (*given, self.h**2, self.h))

    def begin_pass(self, p: np.ndarray) -> None:
        """Note what has moved p (3, n) since the pass of the inner kinds before this one."""
        if self.active and self.has_passed:
            self.outer = p - self.inner if self.outer is None else self.outer + (p - self.inner)

    def end_calls(self) -> list[Call]:
        """What undoes the changes of the momenta of free pieces by the inner kinds in this pass."""
        return [Call("undo_momentum", 2, (self.measured.start, self.whole, self.gain, self.inner))]

    def keep_momentum(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, alone: np.ndarray) -> None:
        """Undo what contact with themselves did to the momenta of free pieces, in p and x (3, n), in place.

        Contact moves particles by their true masses, of which one with a thousand times the effective mass of another
        may have the same: two discs of foil with self-collision turn at 0.8 m/s after 3 s.

        alone: islands that met nothing but themselves, (islands,) bool.
        """
        alone = alone & self.free
        if not self.active or not self.has_passed or not alone.any():
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
        if not self.active or not self.has_passed:
            return
        given: Any = self.rebound_call(one_by_one).arguments
        kernels.rebound(p, x, v, self.before, *given)

    def rebound_call(self, one_by_one: bool) -> Call:
        """What `rebound` calls, given p, x, v and positions before the substep."""
        pieces = WholePieces(*self.whole, self.free, self.falling, one_by_one)
        outer = NO_PULL if self.outer is None else self.outer
        return Call("rebound", 4, (self.inner, outer, pieces, self.heavy, self.now.taken, self.h))

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
        found = np.empty(self.places[-1].stop)
        make(kernels, self.remember_calls([found[place] for place in self.places]), x, x)
        return found
