"""Contacts: which candidates are some, how they push and rub. Arguments as in `closest`."""

from __future__ import annotations

from typing import Protocol

import numpy as np

LEVER = 2.0
"""A contact moves no particle farther than so many times what its gap lacks: where the others cannot move, as pins and
colliders, one that has a thousandth of the weight would go a thousand gaps far, and throws what hangs there.

Where all corners of a side are free and as heavy, it is 1 for a vertex and 1.37 at most; a tight dress, whose pinned
waist lies within the distance of the body, is thrown at 1000 m/s without it, and its frames took up to 12 s."""


class Contacts(Protocol):
    """Contacts."""

    def closing_motion(self, p: np.ndarray, before: np.ndarray) -> float:
        """By how much any two particles can have come closer on their ways from `before` to p (3, n) [m].

        Twice the largest difference from a motion that all have in common; infinite if some positions are not finite.
        """

    def near_candidates(
        self,
        p: np.ndarray,
        particles: np.ndarray,
        normals: np.ndarray,
        kind: np.ndarray,
        distance: np.ndarray,
        spare: np.ndarray,
        closed: float,
    ) -> np.ndarray:
        """Candidates whose `clearances` at p are below their distances (m,) [m]: their numbers, (k,) int.

        spare: (m,) [m], in place: how much closer particles may have come in all before each is measured again, which
            is what it was apart beyond its distance plus what `closed` was then; -infinity before the first time.
        closed: How much closer particles can have come in all so far [m].
        """

    def find_contacts(
        self,
        p: np.ndarray,
        x: np.ndarray,
        w: np.ndarray,
        near: np.ndarray,
        particles: np.ndarray,
        kind: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        distance: np.ndarray,
        is_exit: np.ndarray,
        is_stuck: np.ndarray,
        reach: float,
        opening_rate: float,
        most_opening: float,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Contacts among candidates: those closer than their distance at p or not apart, with planes between them.

        A plane lies between the closest points at p, or at x where these have crossed since. Its side is that of the
        candidate's normal, or where this is not between the sides, that at x.

        Args:
            p: Positions now, (3, n) [m].
            x: Positions before the substep, (3, n) [m].
            w: Inverse masses, (n,) [1/kg].
            near: Numbers of candidates that may be closer than their distance, (k,) int.
            particles: Of all candidates, (4, m) int.
            kind: Theirs, (m,) int8.
            weights: Theirs, (4, m); counts for exits only.
            normals: Theirs, of earlier planes, (3, m).
            distance: They are to keep, (m,) [m].
            is_exit: Contacts of a vertex on the wrong side of a closed collider, which keep their weights and normals
                and are always returned, (m,) bool.
            is_stuck: Particles whose overlaps must not open, (n,) bool, or (0,) for none.
            reach: Factor of the distance below which a candidate is a contact, 1 or a little more.
            opening_rate: Share of an overlap before the substep that opens in it.
            most_opening: The most of it [m].

        Returns:
            The numbers of the contacts among the candidates, (j,) int; their particles (4, j), weights (4, j), normals
            (3, j), inverse masses (4, j) and distances (j,); and lengths (4, j) [m]: the gap along the normal before
            the substep, how far an overlap opens, the gap to reach, and how the gap changed from x to p.
        """

    def project_contacts(
        self,
        p: np.ndarray,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        inverse_masses: np.ndarray,
        target_gap: np.ndarray,
        enough: np.ndarray,
        relaxations: np.ndarray,
        passes: int,
        multipliers: np.ndarray,
        plane_normals: np.ndarray,
        plane_heights: np.ndarray,
        plane_pushes: np.ndarray,
    ) -> None:
        """Jacobi passes over C = n . (sum w_i p_i) - target_gap >= 0, all contacts at once, and over planes after each.

        Averaged as in Macklin et al. 2014 (sec. 4.2), but by contact instead of by particle: a contact is weakened by
        the sum of absolute weights of all contacts at its particles. As one multiplier still moves all four of its
        particles, momentum is conserved, which averaging by particle does not do. Contacts give way where else they
        would move particles too far, see `LEVER`.

        Args:
            p: Positions; changed.
            particles: Of each contact.
            weights: Of their closest points.
            normals: Theirs.
            inverse_masses: Of the particles of each contact, (4, m) [1/kg].
            target_gap: Gap to reach, (m,) [m].
            enough: Gaps that are no reason for another pass, (m,) [m].
            relaxations: Over-relaxation of the first passes and, its last, of all others, (r,); at least as many are
                made as there are.
            passes: Most passes.
            multipliers: In place, (m,) [kg m], never below 0.
            plane_normals: Unit normals, (planes, 3).
            plane_heights: How high along the normal of each plane a particle must be, (planes, n) [m]; -infinity for
                those that pass it.
            plane_pushes: By how far each plane pushed each particle, in place, (planes, n) [m], never below 0.
        """

    def apply_contact_friction(
        self,
        p: np.ndarray,
        x: np.ndarray,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        inverse_masses: np.ndarray,
        static: np.ndarray,
        sliding: np.ndarray,
        multipliers: np.ndarray,
        passes: int,
        tangential: np.ndarray,
    ) -> None:
        """Jacobi passes of Coulomb friction over contacts that push: take back slip, up to friction x multiplier.

        static, sliding (m,): coefficients; tangential (3, m): tangential multipliers, accumulated.
        """

    def pushed_one_way(
        self,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        multipliers: np.ndarray,
        first: int,
        count: int,
    ) -> np.ndarray:
        """Of `count` particles, those that particles from number `first` on push, all of them to one side, (count,)
        bool.

        Unit normals without an obtuse angle among them have a sum whose square is at least their number. What is
        pushed from both sides is pinched. multipliers (m,): contacts with one above 0 push.
        """

    def carried_loads(
        self,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        multipliers: np.ndarray,
        first: int,
        load: np.ndarray,
    ) -> np.ndarray:
        """What contacts that push with particles from number `first` on carry of the load of each particle, (m,).

        A particle's load (3, n) [kg m] is shared by its contacts as their weights; along their normals, towards them.
        multipliers (m,): contacts with one above 0 push; 0 for all others.
        """
