"""Friction and restitution: how surfaces that touch act on each other along the contact plane, and across it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..constraints import RigidConstraints
from ..kernels import Kernels
from .collider import Collider
from .contacts import Contacts

if TYPE_CHECKING:
    from ..bodies.material import Material

FRICTION_PASSES = 2
"""Jacobi passes of friction over all contacts."""


class Coefficients(NamedTuple):
    """Coefficients of all pairs of surfaces.

    Attributes:
        static: Of friction at rest, (pairs,).
        sliding: Of friction in motion, (pairs,).
        restitution: Share of the approach that is given back, (pairs,).
        per_particle: Of friction at rest and in motion of each particle, (2, N), where a map makes them vary.
    """

    static: np.ndarray
    sliding: np.ndarray
    restitution: np.ndarray
    per_particle: np.ndarray | None

    def friction(self, contacts: Contacts, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Friction at rest and in motion of contacts `which` (k,), (k,) each: with a map, at the points that touch."""
        if self.per_particle is None:
            pair = contacts.pair.take(which)
            return self.static[pair], self.sliding[pair]
        halves = 0.5 * np.abs(contacts.weights.take(which, axis=1))
        there = self.per_particle.take(contacts.particles.take(which, axis=1), axis=1)
        static, sliding = np.einsum("jm,ijm->im", halves, there)
        return np.maximum(static, sliding), sliding


def read_coefficients(
    materials: Sequence[Material], colliders: Sequence[Collider], of_bodies: np.ndarray | None
) -> Coefficients:
    """The coefficients as they are now: those of colliders may change.

    Args:
        materials: Those of the bodies, in the order of their surfaces, ...
        colliders: ... and all colliders, which come after them. Pairs are numbered as in `broad_phase.Rules`.
        of_bodies: Friction of each particle of the bodies, (n,), where a map makes it vary; else None.
    """
    mine = np.array([material.friction for material in materials])[:, None]
    others = [(one.friction, one.friction, 0.0) for one in materials]
    others += [(one.friction, one.static_friction, one.restitution) for one in colliders]
    friction, static_friction, bounce = np.array([*others, (0.0, 0.0, 0.0)]).T
    sliding = 0.5 * (mine + friction)
    static = np.maximum(sliding, 0.5 * (mine + static_friction))
    restitution = np.broadcast_to(bounce, sliding.shape)
    per_particle = None
    if of_bodies is not None:
        own = [np.tile([[one.static_friction], [one.friction]], len(one.vertices)) for one in colliders]
        per_particle = np.concatenate([np.stack([of_bodies, of_bodies]), *own], axis=1)
    return Coefficients(static.ravel(), sliding.ravel(), restitution.ravel(), per_particle)


def apply_friction_and_restitution(
    kernels: Kernels,
    contacts: Contacts,
    coefficients: Coefficients,
    p: np.ndarray,
    x: np.ndarray,
    least_approach: float,
    frictionless: Sequence[int],
    rigid: RigidConstraints,
) -> None:
    """Friction and restitution of all contacts that push; in place.

    Friction is Coulomb's law on positions (Macklin et al. 2014, eq. 24), in Jacobi passes with accumulated
    multipliers.

    Args:
        kernels: Module of kernels.
        contacts: The contacts, after their projection.
        coefficients: Of all pairs of surfaces.
        p: Positions after the substep, (3, N) [m]; changed.
        x: Positions before it, (3, N) [m].
        frictionless: Numbers of pairs without friction: what is led out of a collider does not stick to it.
        rigid: Which particles are rigid.
        least_approach: Slower approaches do not bounce [m per substep].
    """
    pushing = contacts.pushing
    multipliers = contacts.pushes[pushing]
    if frictionless:
        multipliers[np.isin(contacts.pair[pushing], frictionless)] = 0.0
    static, sliding = coefficients.friction(contacts, pushing)
    passes = contacts.passes(rigid, p, pushing)
    passes.apply_friction(kernels, p, x, static, sliding, multipliers, FRICTION_PASSES)
    if not coefficients.restitution.any():
        return
    restitution, approach = coefficients.restitution[contacts.pair], contacts.approach
    bounces = (contacts.pushes > 0.0) & (restitution > 0.0) & (-approach > least_approach)
    some = np.flatnonzero(bounces)
    if len(some):
        target = contacts.gap_before[some] - restitution[some] * approach[some]
        passes = contacts.passes(rigid, p, some)
        passes.project(kernels, p, target, 1.0, np.zeros(len(some)))
        passes.place(p)
