"""Several surfaces as one: what is looked for in all of them is looked for once."""

from __future__ import annotations

import functools

import numpy as np

from .broad_phase import SurfacePair, take_part
from .bvh import BVH
from .surface import Surface


class Gathered:
    """Several surfaces as one, with what a `Surface` calls these.

    Attributes:
        vertices, edges, triangles: (v,), (2, e) and (3, t) int.
        of_edge, of_triangle: Number of the surface of each, (e,) and (t,) int.
        edge_tree, triangle_tree: Trees over all.
    """

    def __init__(self, surfaces: list[Surface], numbers: list[int]) -> None:
        self.edges, self.of_edge, self.edge_tree = _side_by_side(
            [(one.edges, one.edge_tree) for one in surfaces], numbers
        )
        self.vertices = np.concatenate([one.vertices for one in surfaces])
        self.triangles, self.of_triangle, self.triangle_tree = _side_by_side(
            [(one.triangles, one.triangle_tree) for one in surfaces], numbers
        )


class Together:
    """Pairs of surfaces that are looked at together.

    Attributes:
        surfaces: All of them; edge: the usual edge of each, (k,) [m].
        sides: Those whose edges and those whose faces meet: all with all, unless all meet the same one, another.
        rest: Rest positions, (3, N) [m]; None if no surface meets itself.
    """

    def __init__(self, pairs: list[SurfacePair]) -> None:
        self.surfaces = list(dict.fromkeys(side for pair in pairs for side in (pair.one, pair.other)))
        self.edge = np.array([surface.edge for surface in self.surfaces])
        number = {surface: k for k, surface in enumerate(self.surfaces)}
        self._meet = np.zeros((len(number), len(number)), bool)
        self._left_out: list[np.ndarray | None] = [None, None]
        self.rest: np.ndarray | None = None
        for pair in pairs:
            one, other = number[pair.one], number[pair.other]
            self._meet[[one, other], [other, one]] = True
            self._left_out[int(one == other)] = pair.left_out
            self.rest = pair.rest if one == other else self.rest
        ones, others = ({getattr(pair, side) for pair in pairs} for side in ("one", "other"))
        if len(others) == 1 and not ones & others:
            parts = [[surface for surface in self.surfaces if surface in side] for side in (ones, others)]
            both = [Gathered(part, [number[surface] for surface in part]) for part in parts]
            self.sides = [(both[0], both[1]), (both[1], both[0])]
        else:
            everything = Gathered(self.surfaces, list(range(len(number))))
            self.sides = [(everything, everything)]

    def meeting(
        self, of_one: np.ndarray, one: np.ndarray, of_other: np.ndarray, other: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Those of the pairs of primitives (m,) and (m,), with the surfaces of all, that meet, (k,) int each."""
        meet = self._meet[of_one[one], of_other[other]]
        return one[meet], other[meet]

    def take_part(self, is_own: np.ndarray, particles: np.ndarray) -> np.ndarray:
        """Which pairs of primitives, particles (k, m), take part, (m,) bool; is_own (m,): whether of one surface."""
        different, own = (take_part(left_out, particles) for left_out in self._left_out)
        return np.asarray(np.where(is_own, own, different))


class NearCollider:
    """Bodies near a collider; like a `SurfacePair`, whose first surface is all of theirs.

    Args:
        pairs: Each with this collider, in the order of the bodies.

    Attributes:
        pairs: The same.
        other: Surface of the collider.
        collider: The collider.
        is_solid, is_container: As of a pair.
        vertices: Those of all bodies, (v,) int32.
    """

    def __init__(self, pairs: list[SurfacePair]) -> None:
        self.pairs, first = pairs, pairs[0]
        self.other, self.collider = first.other, first.collider
        self.is_solid, self.is_container = first.is_solid, first.is_container
        self.vertices = np.concatenate([pair.one.vertices for pair in pairs])
        self.takes_part = first.takes_part
        self._starts = np.array([pair.one.part.start for pair in pairs])
        self._numbers = np.array([pair.number for pair in pairs])
        self._distances = np.array([pair.distance for pair in pairs])

    @functools.cached_property
    def one(self) -> Gathered:
        """The surfaces of the bodies."""
        return Gathered([pair.one for pair in self.pairs], list(range(len(self.pairs))))

    def _place(self, particles: np.ndarray) -> np.ndarray:
        """Which of the pairs particles of bodies (k,) belong to, (k,) int."""
        return np.searchsorted(self._starts, particles, "right") - 1

    def numbers(self, particles: np.ndarray) -> np.ndarray:
        """Number of the pair of each particle of bodies (k,), (k,) int."""
        return self._numbers[self._place(particles)]

    def distances(self, particles: np.ndarray) -> np.ndarray:
        """Distance that each particle of bodies (k,) keeps from the collider, (k,) [m]."""
        return self._distances[self._place(particles)]

    def among(self, numbers: np.ndarray) -> NearCollider | None:
        """Those of the bodies whose pairs have these numbers (k,) int; None for none."""
        some = np.flatnonzero(np.isin(self._numbers, numbers))
        if len(some) in (0, len(self.pairs)):
            return self if len(some) else None
        return NearCollider([self.pairs[k] for k in some])

    def concerns(self, particles: np.ndarray) -> np.ndarray:
        """Which candidates, particles (4, m), are with the collider, (m,) bool."""
        return np.asarray(((particles >= self.other.part.start) & (particles < self.other.part.stop)).any(axis=0))


def near_colliders(pairs: list[SurfacePair]) -> list[NearCollider]:
    """Those of pairs of surfaces that are with colliders, by collider."""
    found: dict[Surface, list[SurfacePair]] = {}
    for pair in pairs:
        if pair.collider is not None:
            found.setdefault(pair.other, []).append(pair)
    return list(map(NearCollider, found.values()))


def _side_by_side(parts: list[tuple[np.ndarray, BVH]], numbers: list[int]) -> tuple[np.ndarray, np.ndarray, BVH]:
    """Primitives (k, m) of several surfaces side by side, the `numbers` of their surfaces (m,), and one tree.

    Larger trees come first: as the number of leaves of each is a power of two, it stays a tree of its own.
    """
    if len(parts) == 1:
        return parts[0][0], np.full(parts[0][0].shape[1], numbers[0]), parts[0][1]
    counts = [primitives.shape[1] for primitives, _ in parts]
    starts = np.cumsum(counts) - counts
    order = sorted(range(len(parts)), key=lambda k: -len(parts[k][1].leaves))
    leaves = [np.where(parts[k][1].leaves < 0, -1, parts[k][1].leaves + starts[k]) for k in order]
    total = sum(map(len, leaves))
    leaves.append(np.full((1 << (total - 1).bit_length()) - total, -1))
    return np.concatenate([part for part, _ in parts], axis=1), np.repeat(numbers, counts), BVH(np.concatenate(leaves))
