"""Stretch and contact together: what contact holds back stays there, and the cloth around it follows.

Constraints are projected in turn, contact last. Where few vertices carry much cloth, as on a spike or in front of a
ball, contact moves these alone: each substep stretches the edges around them by about M / m · g · h², with the mass M
that hangs there and the mass m of what touches. So stretch and shear are solved again with the particles that colliders
hold as nearly immovable (mass scaling, as in the shock propagation of Guendelman et al. 2003, from the obstacle
outwards), and contact after them, until edges are no longer than before or a few rounds have passed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..constraints import SeamConstraints
from ..constraints.distance import DistanceConstraints
from ..kernels import Kernels
from .contact_constraints import ContactConstraints

ROUNDS = 4
"""Most rounds of stretch and contact in a substep: with 2, 3 and 4, a spike strains cloth by 58, 30 and 18 % where what
is pushed from several sides is not held; with 8, cloth pinched between balls fails its test in one of eight cases."""

HELD_SHARE = 0.03
"""Share of its inverse mass that a particle keeps which a collider pushes or leads out: M / m is up to some hundreds.

Cloth between balls that overlap is thrown at 3.1 m/s where what is led out keeps 0.001, at 1.5 with 0.03 and 0.1."""

ALLOWED_STRAIN = 0.03
"""What contact may add to the strain of an edge in a substep before there is another round."""

OVERRUN, OVERRUN_STRAIN = 0.2, 0.1
"""A substep is too long in which the ends of an edge move apart, or around each other, by more than this share of it,
and which leaves it strained by more than that and more than before: cloth that was thrown or that a fast collider
pushes. With 0.4, two of three starts of a ball at 50 m/s strain cloth by 21 and 90 instead of 15 and 12 %."""

SHORT = 0.5
"""Edges shorter than this share of a usual one of their body count as if they were as long: what strains them by half
is less than what strains others by a tenth. In a skirt of a figure's own faces, edges of 1.7 mm beside those of 20 made
all substeps of each frame too long: 3.3 s a frame."""

YIELD_STRAIN = 0.05
"""What is led out of a collider rests while one of its edges is strained by more than this: something holds it."""

FREE_EXCESS = 0.2
"""The most of `excess_of_overrun` that is let pass where nothing is driven or pushed: that of one edge at 30 %.

A curtain of 10 000 jittered triangles swings with one to four at 10 to 29 %, which shorter substeps do not improve: its
frames take 115 ms on average without it, 27 with 0.1 to 0.3. A finely divided monkey of cotton, 1 m wide, that
collapses without contact is strained by 76 to 112, 65 to 118, 70 to 110 and 108 to 122 % with 0, 0.1, 0.2 and 0.3
(three starts each), in 370, 295, 218 and 212 ms a frame."""


def couple_stretch_and_contact(
    kernels: Kernels,
    contact: ContactConstraints,
    springs: Sequence[DistanceConstraints],
    seams: SeamConstraints | None,
    p: np.ndarray,
    x: np.ndarray,
    can_tear: bool = False,
) -> None:
    """Project springs and contact in turn while contact, which was projected last, stretches edges; in place.

    Args:
        kernels: Those of a backend.
        contact: Contact.
        springs: Shear and stretch, as far as they are active, stretch last.
        seams: What the springs must not open again, if there is any.
        p: Predicted positions, (3, n) [m]; changed.
        x: Positions before the substep, (3, n) [m].
        can_tear: Whether cloth may give way instead where it meets nothing but cloth: a balloon that bursts only
            shrinks if its lips are relaxed.
    """
    start = contact.unprojected
    if start is None or not springs or contact.is_pinched:  # pinched cloth must not be held where it is
        return
    excused = np.zeros(0, bool)
    for _ in range(ROUNDS):
        if not is_stretched(kernels, springs[-1], start, p, excused, contact.usual_edges):
            return
        excused = contact.penetration.beside
        held = contact.held(kernels)
        held[contact.penetration.exiting] = True
        share = np.where(held, HELD_SHARE, 1.0)
        if can_tear and share.min() == 1.0:
            return
        before = p.copy()
        contact.welds.solve_springs(kernels, [*springs, seams] if seams else springs, p, x, share)
        contact.withhold(kernels, np.where(held, p - before, 0.0), HELD_SHARE)
        contact.project_again(kernels, p)


def counted_lengths(stretch: DistanceConstraints, some: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Lengths by which strains of edges `some` (k,) count, (k,) [m], see `SHORT`; usual: as in `excess_of_overrun`."""
    return np.asarray(np.maximum(stretch.rest_lengths.take(some), SHORT * usual.take(stretch.rows.body.take(some))))


def excess_of_overrun(
    kernels: Kernels,
    springs: Sequence[DistanceConstraints],
    x: np.ndarray,
    p: np.ndarray,
    excused: np.ndarray,
    usual: np.ndarray,
) -> float:
    """Sum of the strains above `OVERRUN_STRAIN` of edges for which the substep x -> p (3, n) was too long.

    It overstretched them and moved their ends far apart or around. Not soft ones, whose stiffness is less than what
    inertia is in a substep: they stretch by what pulls at them.

    Args:
        kernels: Those of a backend.
        springs: As in `couple_stretch_and_contact`.
        x: Positions before the substep [m].
        p: Positions after it [m].
        excused: Particles whose edges do not count, (N,) bool with N >= n, or (0,) for none.
        usual: Length of a usual edge of each body, (bodies,) [m].
    """
    if not springs:
        return 0.0
    stretch = springs[-1]
    some = kernels.strained(p, stretch.rows.indices, stretch.rest_lengths, OVERRUN_STRAIN)
    if excused.any():
        some = some[~excused.take(stretch.rows.indices[:, some]).any(axis=0)]
    if not len(some):
        return 0.0
    start, end = stretch.rows.indices[:, some]
    lengths = counted_lengths(stretch, some, usual)
    moved = p - x
    moved = moved[:, start] - moved[:, end]
    fast = np.einsum("ij,ij->j", moved, moved) > (OVERRUN * lengths) ** 2
    fast &= stretch.weights[:, some].sum(axis=0) > stretch.alpha[0, some]
    some, share = some[fast], (stretch.rest_lengths[some] / lengths)[fast]
    now, before = (share * stretch.strains(q, some) for q in (p, x))
    return float((now - OVERRUN_STRAIN)[(now > before + 0.1 * OVERRUN_STRAIN) & (now > OVERRUN_STRAIN)].sum())


def is_stretched(
    kernels: Kernels,
    stretch: DistanceConstraints,
    start: np.ndarray,
    p: np.ndarray,
    excused: np.ndarray,
    usual: np.ndarray,
) -> bool:
    """Whether the way from positions `start` to p (3, n) adds more than `ALLOWED_STRAIN` to the strain of an edge.

    excused, usual: as in `excess_of_overrun`.
    """
    some = kernels.strained(p, stretch.rows.indices, stretch.rest_lengths, ALLOWED_STRAIN)
    rows = stretch.rows.indices.take(some, axis=1), stretch.rest_lengths.take(some)
    added = kernels.strains(p, *rows) - kernels.strains(start, *rows)
    longer = some[added * rows[1] > ALLOWED_STRAIN * counted_lengths(stretch, some, usual)]
    if not (len(longer) and excused.any()):
        return bool(len(longer))
    return not excused.take(stretch.rows.indices[:, longer]).any(axis=0).all()


def strained_particles(kernels: Kernels, springs: Sequence[DistanceConstraints], x: np.ndarray) -> np.ndarray:
    """Particles with an edge that is strained by more than `YIELD_STRAIN` at x (3, n) [m], (n,) bool."""
    strained = np.zeros(x.shape[1], bool)
    for stretch in springs[-1:]:
        some = kernels.strained(x, stretch.rows.indices, stretch.rest_lengths, YIELD_STRAIN)
        strained[stretch.rows.indices[:, some]] = True
    return strained
