"""Contacts: which there are, how they push and rub.

A contact ties four particles: a vertex and the corners of a triangle, or the ends of two edges (Provot 1997; Bridson,
Fedkiw & Anderson 2002). Common arguments:

    p, x: Positions now and at the beginning of the substep, (3, n) float64 [m], C-contiguous.
    particles: Those of each contact, (4, m) int.
    kind: `FACE`, `EDGES` or `POINTS`, (m,) int8.
    weights: Barycentric weights of the closest points, (4, m) float64: 1 in sum on the first side, -1 on the second.
    normals: Unit vectors from the second side to the first, (3, m) float64.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

LEVER = 2.0
"""A contact moves no particle farther than so many times what its gap lacks: where the others cannot move, as pins and
colliders, one that has a thousandth of the weight would go a thousand gaps far, and throws what hangs there.

Where all corners of a side are free and as heavy, it is 1 for a vertex and 1.37 at most; a tight dress, whose pinned
waist lies within the distance of the body, is thrown at 1000 m/s without it, and its frames took up to 12 s."""


class Primitives(NamedTuple):
    """Vertices, edges or triangles of cells.

    Attributes:
        leaves: Those of each cell, -1 behind the last, (cells, slots) int32.
        particles: Of each, (1 to 3, m) int32.
        cosines: Of the dihedral angles of edges in cells that are asked for, (m,); (0,) where all count as sharp.
    """

    leaves: np.ndarray
    particles: np.ndarray
    cosines: np.ndarray


class Bounds(NamedTuple):
    """Where particles can be.

    Attributes:
        margin: How far each may be from its predicted position, (n,) [m].
        displacement: Predicted for each, (3, n) [m].
        drift: How far along each axis the surface of each as a whole may be off as well, (n,) [m].
        together: Whether both sides are one surface, whose vertices move together; else one may move before the other.
    """

    margin: np.ndarray
    displacement: np.ndarray
    drift: np.ndarray
    together: bool


class Contacts(Protocol):
    """Contacts."""

    def close_pairs(
        self,
        x: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        cells: np.ndarray,
        one: Primitives,
        other: Primitives,
        kind: int,
        owner: np.ndarray,
        tables: np.ndarray,
        flat_share: float,
        bounds: Bounds,
        is_late: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of primitives in pairs of cells, without a common particle, that can come closer than their distance.

        Args:
            x: Positions now, (3, n) [m].
            low: Lower corners of boxes in which each particle stays, (3, n) [m].
            high: Their upper corners.
            cells: Pairs of cells, (2, k) int; where both are the same, each pair of edges or points counts once.
            one: The primitives of the first side.
            other: Those of the second.
            kind: Kind of all pairs.
            owner: Number of the surface of each particle, (n,) int, all of a cell the same.
            tables: Of each pair of surfaces, the smaller first, (4, s, s): the distance to keep [m], how far apart
                boxes are that count [m], and the cosines of the angles up to which edges are flat and from which on
                they are sharp.
            flat_share: Share of the distance that is kept where one of two edges is flat.
            bounds: How their particles move.
            is_late: If not empty, only pairs with such a particle count, (n,) bool.

        Returns:
            particles, weights, normals and distance of the contacts, in the order of the cells and of what is in them.
        """

    def crossing(
        self,
        x: np.ndarray,
        edges: np.ndarray,
        triangles: np.ndarray,
        edge: np.ndarray,
        triangle: np.ndarray,
        rounding: float,
    ) -> np.ndarray:
        """Which edges go through triangles that they share no particle with, (k,) int.

        Args:
            x: Positions, (3, n) [m].
            edges: (2, e) int32.
            triangles: (3, t) int32.
            edge: Number of the edge of each pair, (m,) int.
            triangle: Number of its triangle, (m,) int.
            rounding: Error of a volume, in its edges and the distance from the origin: what touches does not cross.
        """

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

    def closest_points(
        self, p: np.ndarray, particles: np.ndarray, kind: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights of the closest points of each contact, (4, m), their distances (m,) [m], and normals (3, m).

        A normal is 0 where the points coincide.
        """

    def clearances(self, p: np.ndarray, particles: np.ndarray, normals: np.ndarray, kind: np.ndarray) -> np.ndarray:
        """How far the sides of each contact are apart along its normal, (m,) [m].

        Above 0 the plane lies between them: they do not cross.
        """

    def heights(self, p: np.ndarray, particles: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Positions of the particles (4, m) of each contact along its normal, (4, m) [m]."""

    def gaps(self, p: np.ndarray, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Gaps n . (sum w_i p_i) of contacts, (m,) [m]."""

    def unseparated(
        self,
        p: np.ndarray,
        x: np.ndarray,
        particles: np.ndarray,
        normals: np.ndarray,
        kind: np.ndarray,
        which: np.ndarray,
        at_p: bool,
    ) -> np.ndarray:
        """Those of the contacts `which` (k,) int whose sides are not apart at both x and p along one direction.

        It is their normal or, if `at_p`, else that between the closest points at p; (j,) int.
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
