"""Rigid pieces: particles that keep their arrangement, by shape matching, and what turns them.

C = sqrt(Σ m_i |p_i − g_i|² / M)        g: the shape of a piece, turned and moved so that C is smallest
∇C = m_i (p_i − g_i) / (M C)
α = 0
from: Müller et al. 2005, sec. 3.3

A piece is one row, and one projection puts every particle on its goal. What pushes them in contact meets the mass of
the whole piece, see `rigid_contacts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import Kernels
from ..settings.solver_settings import SolverSettings
from .base import Constraints

if TYPE_CHECKING:
    from ..bodies.material import Material

SMALLEST_MOMENT = 1e-10
"""A moment of inertia below this share of the largest counts as zero: a straight rod does not turn about itself."""

TURN_ROUNDS = 8
"""Most fixed-point rounds for the turn of a substep. A brick at 10 rad/s, 20 substeps, turns by 0.02 rad in one: each
round leaves a hundredth of the error, so that rounding is reached. At 100 rad/s a tenth is left: 1e-8 at the end."""

TURN_ROUNDING = 1e-15
"""Turns are not told apart by less [rad]."""

LARGEST_TURN = 1.0
"""Largest turn of a piece in one substep [rad]: beyond, chords do not tell how fast it spins."""


class RigidConstraints(Constraints):
    """Rigid pieces; momentum and angular momentum stay, because the goals fit best.

    Firmly pinned particles weigh as much as `inertia.PIN_SHARE` says, so that a piece follows its pins.

    Args:
        pieces: Particles of each piece, (k,) int each.
        vertices: Positions in which all particles have the arrangement that they keep, (n, 3) [m].

    Attributes:
        particles: Of all pieces, one after the other, (r,) int; piece: of which each is, (r,) int; starts: of each
            piece among them, (b,) int.
        firsts: First particle of each piece, (b,) int.
        number: Piece of every particle, (n,) int; -1 for those that are not rigid.
        masses: Of `particles`, (r,) [kg]; mass: of each piece, (b,) [kg].
    """

    name = "rigid"

    def __init__(self, pieces: Sequence[np.ndarray], vertices: np.ndarray) -> None:
        sizes = [len(own) for own in pieces]
        self.particles = np.concatenate([np.zeros(0, int), *pieces])
        self.piece = np.repeat(np.arange(len(pieces)), sizes)
        self.starts = np.cumsum([0, *sizes])[:-1]
        self.number = np.full(len(vertices), -1)
        self.number[self.particles] = self.piece
        self.firsts = self.particles[self.starts]
        self._vertices = vertices.take(self.particles, axis=0).T
        self.multipliers = np.zeros(len(pieces))
        self.active = len(pieces) > 0

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self._pinned = self.particles[w[self.particles] == 0.0]
        self.h = 0.0

    def weigh(self, masses: np.ndarray) -> None:
        """Set the masses of all particles, (n,) [kg], those of pins as they count for the motion of a whole."""
        if self.active:
            self.masses = masses[self.particles]
            self.mass = self.sums(self.masses)
            self._shape = self.about_centers_of(self._vertices)[1]

    def predict(self, p: np.ndarray, x: np.ndarray) -> None:
        """Let pieces go from x to where they get by themselves, instead of to p (3, n), in place.

        Straight ways widen what turns, and to shrink it again would take 0.5 (omega h)² of its spin. Of all rigid
        motions from x, this one has the momentum and the angular momentum sum m x cross (p - x) of the ways to p: so
        that chords, of which velocities are made, keep them to rounding (the discrete rigid body of Moser and Veselov
        1991). Pins are where they are to be.
        """
        if not self.active:
            return
        pinned = p[:, self._pinned]
        arms = self.about_centers(x)[1]
        center, ways = self.about_centers(p)
        turning = self.sums(self.masses * cross(arms, ways))
        self.place(p, center, turned(arms, turns(turning, self.inertia(arms)), self.piece))
        p[:, self._pinned] = pinned

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        pinned, goals = p[:, self._pinned], self.goals(p)
        self.multipliers -= self.mass * self._errors(p, goals)
        p[:, self.particles] = goals
        p[:, self._pinned] = pinned

    def goals(self, p: np.ndarray) -> np.ndarray:
        """Where the shapes fit positions p (3, n) best, of `particles`, (3, r) [m]."""
        center, arms = self.about_centers(p)
        moments = self.sums((self.masses * arms)[:, None] * self._shape).transpose(2, 0, 1)
        left, _, right = np.linalg.svd(moments)
        left[:, :, 2] *= np.sign(np.linalg.det(left @ right))[:, None]  # a rotation, not a reflection
        return center.take(self.piece, axis=1) + by_piece(left @ right, self._shape, self.piece)

    def _errors(self, p: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """C of each piece at positions p (3, n), (b,) [m]."""
        off = p.take(self.particles, axis=1) - goals
        return np.sqrt(self.sums(self.masses * np.einsum("ir,ir->r", off, off)) / self.mass)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of values (..., r) over each piece, (..., b)."""
        return np.add.reduceat(values, self.starts, axis=-1)

    def about_centers(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centers of mass at positions q (3, n) of all particles, (3, b), and `particles` about them, (3, r) [m]."""
        return self.about_centers_of(q.take(self.particles, axis=1))

    def about_centers_of(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same at positions q (3, r) of `particles`."""
        center = self.sums(self.masses * q) / self.mass
        return center, q - center.take(self.piece, axis=1)

    def inertia(self, arms: np.ndarray) -> np.ndarray:
        """Moments of inertia of particles about their centers (3, r), (b, 3, 3) [kg m²]."""
        second = self.sums((self.masses * arms)[:, None] * arms).transpose(2, 0, 1)
        return np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second

    def place(self, q: np.ndarray, center: np.ndarray, arms: np.ndarray) -> None:
        """Put pieces with these arms (3, r) at centers (3, b), in q (3, n), in place."""
        q[:, self.particles] = center.take(self.piece, axis=1) + arms

    def with_whole_pieces(self, ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Particles ids (k,) and what they have (k,), where all particles of a piece have the most of any of them."""
        pieces = self.number[ids]
        soft, most = pieces < 0, np.zeros(len(self.mass))
        np.maximum.at(most, pieces[~soft], values[~soft])
        return np.append(ids[soft], self.particles), np.append(values[soft], most[self.piece])

    def values(self, x: np.ndarray) -> np.ndarray:
        return self._errors(x.T, self.goals(x.T))

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As of all kinds; rows of small pieces are filled with their first particle and zeros."""
        goals = self.goals(x.T)
        scale = self.masses / (self.mass * np.maximum(self._errors(x.T, goals), 1e-300))[self.piece]
        rows = np.arange(len(self.particles)) - self.starts[self.piece]
        particles = np.repeat(self.firsts[:, None], rows.max() + 1, axis=1)
        gradients = np.zeros((*particles.shape, 3))
        particles[self.piece, rows] = self.particles
        gradients[self.piece, rows] = scale[:, None] * (x[self.particles] - goals.T)
        return particles, gradients


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products of columns, (3, m)."""
    found = np.empty(np.broadcast(a, b).shape)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[j], b[k], out=found[i])
        found[i] -= a[k] * b[j]
    return found


def inverse_inertia(inertia: np.ndarray) -> np.ndarray:
    """Inverses of moments of inertia, (b, 3, 3), with 0 about axes that have none."""
    moments, axes = np.linalg.eigh(inertia)
    usable = moments > SMALLEST_MOMENT * moments[:, -1:]
    return np.asarray(axes * (usable / np.where(usable, moments, 1.0))[:, None] @ axes.transpose(0, 2, 1))


def turns(turning: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Rotation vectors f (3, b) [rad] of bodies with sum m r cross R(f) r = `turning` (3, b) [kg m²].

    That sum is (sin t / t) I f + ((1 - cos t) / t²) f cross I f, with the angle t = |f|.
    """
    inverse, found = inverse_inertia(inertia), np.zeros_like(turning)
    for _ in range(TURN_ROUNDS):
        before, (straight, sideways) = found, series(found)
        gyration = cross(found, np.einsum("bij,jb->ib", inertia, found))
        found = limited(np.einsum("bij,jb->ib", inverse, turning - sideways * gyration) / straight)
        if np.abs(found - before).max() < TURN_ROUNDING:
            break
    return found


def limited(turn: np.ndarray) -> np.ndarray:
    """Rotation vectors (3, b), no longer than `LARGEST_TURN`."""
    angle = np.sqrt(np.einsum("ib,ib->b", turn, turn))
    return np.asarray(turn * np.minimum(1.0, LARGEST_TURN / np.maximum(angle, 1e-300)))


def series(turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sin t / t and (1 - cos t) / t² of the angles t = |turn|, (b,) each."""
    angle = np.sqrt(np.einsum("ib,ib->b", turn, turn))
    half = np.sinc(angle / (2.0 * np.pi))
    return np.sinc(angle / np.pi), 0.5 * half**2


def turned(arms: np.ndarray, turn: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """Arms (3, r) turned by the rotation vectors (3, b) of their pieces (r,): Rodrigues' formula."""
    straight, sideways = series(turn)
    crossing = np.zeros((turn.shape[1], 3, 3))  # crossing a = turn x a
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        crossing[:, k, j], crossing[:, j, k] = turn[i], -turn[i]
    crossing *= straight[:, None, None]
    twice = crossing @ crossing
    twice *= (sideways / straight**2)[:, None, None]
    return by_piece(np.eye(3) + crossing + twice, arms, piece)


def by_piece(matrices: np.ndarray, arms: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """Matrices (b, 3, 3) of pieces times the arms (3, r) of their particles, whose pieces are (r,) int; (3, r)."""
    if len(matrices) == 1:
        return np.einsum("ij,jr->ir", matrices[0], arms)
    return np.einsum("rij,jr->ir", matrices.take(piece, axis=0), arms)
