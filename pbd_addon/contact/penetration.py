"""Penetration: what to do with cloth that intersects itself, or is inside of a closed collider, at the start."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..arrays.distinct import distinct
from ..kernels import EDGES, Kernels
from .broad_phase import SurfacePair
from .bvh import BVH
from .candidates import Candidates, concatenate, no_candidates
from .crossings import crossing_pairs, inside
from .exits import SURFACE_EPSILON, exit_contacts, limit_speed, without_opposed
from .together import NearCollider, Together, near_colliders

ROUNDING = 1e-12
"""What is this close touches, as a share of the coordinates: nothing says which side of it is whose."""


RINGS = 3
"""Edges around what is inside or pierced in which strain says nothing of the length of a substep."""


class Penetration:
    """What intersects or penetrates something, and which candidates would lock it there.

    Nothing is untangled: candidates between intersecting faces are left out (as in Baraff, Witkin & Kass 2003, without
    their flypapering), so that intersections stay calm until they come free; vertices inside of a closed collider get
    a contact that leads out of its nearest face. Moving colliders may go through pinched cloth: what they pierce does
    not collide with them until the two are apart.

    Attributes:
        crossings: Edges that go through faces of cloth and of open colliders, as counted last.
        pierced: Edges of cloth through closed colliders, and of these through cloth, as counted last.
        has_no_way_out: Whether closed colliders overlap around cloth: each way out of one leads into another.
        is_known: Whether it was detected since the particles were put where they are.
        has_unresolved: Whether a substep was kept since then in which something may have crossed.
        intersecting: Particles of edges and faces of cloth that cross or touch, (N,) bool; (0,) before the first
            detection. What crosses an open collider is apart: it meets everything else.
        beside: Particles within `RINGS` edges of what is inside of a closed collider or pierced by any, (N,) bool, or
            (0,) for none.
    """

    def __init__(self) -> None:
        self.crossings = self.pierced = 0
        self.reset()

    def reset(self) -> None:
        """Forget everything: the particles have been put somewhere else."""
        self.is_known = self.has_unresolved = False
        self.intersecting = np.zeros(0, bool)
        self.beside = np.zeros(0, bool)
        self._penetrating: dict[NearCollider, np.ndarray] = {}
        self._pierced_by_closed: dict[NearCollider, np.ndarray] = {}
        self._pierced_by_open: dict[NearCollider, np.ndarray] = {}
        self._exit_contacts = no_candidates()
        self._is_resting = np.zeros(0, bool)
        self.has_no_way_out = False

    @property
    def is_due(self) -> bool:
        """Whether to detect: something intersects or penetrates, or nothing is known."""
        if not self.is_known or self.has_unresolved or self.intersecting.any():
            return True
        return bool(self._penetrating or self._pierced_by_closed or self._pierced_by_open)

    @property
    def penetrated(self) -> np.ndarray:
        """Numbers of the pairs whose surfaces are inside of each other or go through each other, (k,) int."""
        found = [*self._penetrating.items(), *self._pierced_by_closed.items()]
        return distinct(np.concatenate([np.zeros(0, int), *(near.numbers(particles) for near, particles in found)]))

    def met_by(self, part: slice) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Particles in a part that are inside of closed colliders, and those of what goes through any, (k,) int each.

        By the collider's name, as detected last.
        """
        found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        through = {
            **self._pierced_by_closed,
            **{near: np.flatnonzero(on) for near, on in self._pierced_by_open.items()},
        }
        for near in {**self._penetrating, **through}:
            inside, pierced = (
                some[(some >= part.start) & (some < part.stop)] - part.start
                for some in (each.get(near, np.zeros(0, int)) for each in (self._penetrating, through))
            )
            if near.collider is not None and len(inside) + len(pierced):
                found[near.collider.name] = inside, pierced
        return found

    @property
    def inside(self) -> int:
        """Number of particles inside of closed colliders, as counted last."""
        return sum(map(len, self._penetrating.values()))

    def detect(
        self,
        kernels: Kernels,
        x: np.ndarray,
        w: np.ndarray,
        n: int,
        pairs: list[SurfacePair],
        may_be_pierced: np.ndarray,
    ) -> Generator[None, None, None]:
        """Detect what intersects and what penetrates, in slices; all is to be queried anew then.

        Args:
            kernels: Module of kernels.
            x: Positions, (3, N) [m].
            w: Inverse masses, (N,) [1/kg].
            n: Number of particles of bodies, which come first.
            pairs: All pairs of surfaces that are near.
            may_be_pierced: Numbers of those whose collider may have gone through the cloth, (k,) int; others keep all
                candidates.
        """
        marked, self.crossings = yield from intersecting(kernels, x, [pair for pair in pairs if pair.collider is None])
        self.intersecting = marked | (w == 0.0) & marked.any()
        self.intersecting[n:] = False  # of colliders, those far away too
        self._penetrating, self._pierced_by_closed, self._pierced_by_open = {}, {}, {}
        self.pierced, parts = 0, [no_candidates()]
        for near in near_colliders(pairs):
            if not near.is_solid:  # what is in a closed one is pushed out
                marked, count = yield from intersecting(kernels, x, near.pairs)
                self.crossings += count
                if marked.any():
                    marked[near.other.part] = True
                    self._pierced_by_open[near] = marked
                continue
            vertices = near.vertices.astype(np.int64)
            vertices = penetrating(kernels, x, near, vertices[near.takes_part(vertices[None])])
            if len(vertices):
                self._penetrating[near] = vertices
                parts.append(exit_contacts(kernels, x, near, vertices))
            some = near.among(np.append(may_be_pierced, near.numbers(vertices)))
            if some is not None:
                particles, count = pierced(kernels, x, some)
                self.pierced += count
                if len(particles):
                    self._pierced_by_closed[near] = particles
            yield
        exits = concatenate(parts)
        exits = exits.take(np.argsort(exits.pair, kind="stable"))
        self._exit_contacts = without_opposed(exits)
        self.has_no_way_out = self._exit_contacts.size < exits.size
        self._is_resting = np.zeros(self._exit_contacts.size, bool)
        self.beside = self._find_beside(len(w))
        self.is_known, self.has_unresolved = True, False

    def _find_beside(self, count: int) -> np.ndarray:
        """`beside`, of `count` particles."""
        beside = np.zeros(count, bool)
        for found in (self._penetrating, self._pierced_by_closed):
            for particles in found.values():
                beside[particles] = True
        for near, marked in self._pierced_by_open.items():
            beside[near.vertices] |= marked[near.vertices]
        bodies = [near.one.edges for near in {**self._penetrating, **self._pierced_by_closed, **self._pierced_by_open}]
        for _ in range(RINGS):
            touched = [edges[:, beside.take(edges).any(axis=0)] for edges in bodies]
            for edges in touched:
                beside[edges] = True
        return beside if beside.any() else beside[:0]

    @property
    def stuck(self) -> np.ndarray:
        """Particles beside an intersection, (N,) bool, or (0,) before the first detection."""
        stuck = self.intersecting.copy()
        for near, marked in self._pierced_by_open.items():
            stuck[near.vertices] |= marked[near.vertices]
        return stuck

    @property
    def exiting(self) -> np.ndarray:
        """Particles that exit contacts lead out, (k,) int."""
        return self._exit_contacts.particles[0]

    @property
    def exiting_pairs(self) -> list[int]:
        """Numbers of the pairs of which one surface is inside of the other."""
        found = [near.numbers(particles) for near, particles in self._penetrating.items()]
        return distinct(np.concatenate([np.zeros(0, int), *found])).tolist()

    def rest_at(self, strained: np.ndarray) -> None:
        """Let exit contacts rest whose vertex is one of these particles (n,) bool: pins hold it where it is."""
        self._is_resting = strained.take(self.exiting)

    def without_resting(self, which: np.ndarray) -> np.ndarray:
        """Filtered candidates `which` (k,) int, in ascending order, without exit contacts that rest."""
        exits = np.searchsorted(which, len(self._is_resting))  # they come first
        return np.concatenate([which[:exits][~self._is_resting[which[:exits]]], which[exits:]])

    def limit_speed(self, p: np.ndarray, x: np.ndarray, h: float) -> None:
        """Shorten the displacements x -> p (3, N) of what is led out, in a substep of h seconds; in place."""
        limit_speed(self._exit_contacts.take(~self._is_resting), p, x, h)

    def filter(self, candidates: Candidates) -> Candidates:
        """Leave out candidates that would lock what intersects or penetrates, and add the exit contacts."""
        if self.intersecting.any():
            locked = self.intersecting.take(candidates.particles).all(axis=0)
            candidates = candidates.take(np.flatnonzero(~locked))
        masks = list(self._pierced_by_open.items())
        for near, particles in self._pierced_by_closed.items():
            masks.append((near, np.zeros(len(self.intersecting), bool)))
            masks[-1][1][particles] = masks[-1][1][near.other.part] = True
        for near, marked in masks:
            locked = near.concerns(candidates.particles) & marked.take(candidates.particles).all(axis=0)
            candidates = candidates.take(np.flatnonzero(~locked))
        for near, particles in self._penetrating.items():
            is_inside = np.zeros(len(self.intersecting), bool)
            is_inside[particles] = True
            locked = near.concerns(candidates.particles) & is_inside.take(candidates.particles).any(axis=0)
            candidates = candidates.take(np.flatnonzero(~locked))
        return concatenate([self._exit_contacts, candidates]) if self._exit_contacts.size else candidates


def intersecting(
    kernels: Kernels, x: np.ndarray, pairs: list[SurfacePair]
) -> Generator[None, None, tuple[np.ndarray, int]]:
    """Particles of edges and faces that cross or touch each other, (N,) bool, and the number of crossings; in slices.

    Args:
        kernels: Module of kernels.
        x: Positions, (3, N) [m].
        pairs: Pairs of surfaces that meet.
    """
    marked = np.zeros(x.shape[1], bool)
    if not pairs:
        return marked, 0
    together = Together(pairs)
    count = 0
    for of_edges, of_faces in together.sides:
        edge, face = crossing_pairs(
            x, of_edges.edges, of_faces.triangles, (of_edges.edge_tree, of_faces.triangle_tree), kernels
        )
        edge, face = together.meeting(of_edges.of_edge, edge, of_faces.of_triangle, face)
        crossing = np.concatenate([of_edges.edges[:, edge], of_faces.triangles[:, face]])
        crossing = crossing[:, together.take_part(of_edges.of_edge[edge] == of_faces.of_triangle[face], crossing)]
        marked[crossing] = True
        count += crossing.shape[1]
        yield
    marked |= touching(kernels, x, pairs, together)
    yield
    return marked, count


def crosses_anew(kernels: Kernels, p: np.ndarray, x: np.ndarray, pairs: list[SurfacePair]) -> bool:
    """Whether something crosses at p (3, N) [m] that does not at x (3, N): what differs between the two is looked at.

    Args:
        kernels: Module of kernels.
        p: Positions, (3, N) [m].
        x: Others, where most particles are at the same place.
        pairs: Pairs of surfaces that meet.
    """
    moved = (p != x).any(axis=0)
    for pair in pairs:
        for of_edges, of_faces in {(pair.one, pair.other), (pair.other, pair.one)}:
            edges, faces = of_edges.edges, of_faces.triangles
            some, few = (np.flatnonzero(moved.take(each).any(axis=0)) for each in (edges, faces))
            here, there = (
                distinct(
                    np.concatenate(
                        [
                            _crossing_keys(kernels, q, (edges, some, None), (faces, None, of_faces.triangle_tree)),
                            _crossing_keys(kernels, q, (edges, None, of_edges.edge_tree), (faces, few, None)),
                        ]
                    )
                )
                for q in (x, p)
            )
            if len(np.setdiff1d(there, here, assume_unique=True)):
                return True
    return False


def _crossing_keys(
    kernels: Kernels, x: np.ndarray, *sides: tuple[np.ndarray, np.ndarray | None, BVH | None]
) -> np.ndarray:
    """A number for each crossing at x (3, N) of edges and faces: all of them with their tree, or some by number."""
    chosen = [each if some is None else each[:, some] for each, some, _ in sides]
    if not all(each.size for each in chosen):
        return np.zeros(0, int)
    trees = [tree or BVH.of_points(x.take(each, axis=1).mean(axis=1).T) for each, (_, _, tree) in zip(chosen, sides)]
    found = crossing_pairs(x, chosen[0], chosen[1], (trees[0], trees[1]), kernels)
    edge, face = (at if some is None else some[at] for at, (_, some, _) in zip(found, sides))
    return np.asarray(edge * sides[1][0].shape[1] + face)


def touching(kernels: Kernels, x: np.ndarray, pairs: list[SurfacePair], together: Together) -> np.ndarray:
    """Particles of faces and loose edges with a corner on an edge that touches another, as where a sheet was cut,
    (N,) bool.

    No plane is between what touches, so that nothing says which side of it is whose. Edges at borders, of one body if
    they touch at rest too, do within the float32 of a mesh. All else is guarded, however close it is pressed.

    Args:
        kernels: Module of kernels.
        x: Positions, (3, N) [m].
        pairs: Pairs of surfaces that meet.
        together: The same.
    """
    one, other = together.sides[0]
    size = np.array([max(np.abs(x[:, side.vertices]).max(), side.edge) for side in together.surfaces])
    most = max(SURFACE_EPSILON * together.edge.max(), ROUNDING * size.max())
    first = one.edge_tree.refit(_boxes(x, one.edges, most), kernels=kernels)
    second = first if one is other else other.edge_tree.refit(_boxes(x, other.edges, most), kernels=kernels)
    shared, marked, at_border = np.zeros((3, x.shape[1]), bool)
    for surface in together.surfaces:
        at_border[surface.border_edges] = True
    roped = [pair for pair in pairs if pair.rest is not None and pair.one.loose_edges.size]
    numbers = [together.surfaces.index(pair.one) for pair in roped]
    for edge, other_edge in first.query_in_blocks(second):
        edge, other_edge = together.meeting(one.of_edge, edge, other.of_edge, other_edge)
        particles = np.concatenate([one.edges[:, edge], other.edges[:, other_edge]], dtype=np.int64)
        apart = (particles[:2, None] != particles[None, 2:]).all(axis=(0, 1))
        particles, owner = particles[:, apart], np.stack([one.of_edge[edge], other.of_edge[other_edge]])[:, apart]
        exact = ROUNDING * size.take(owner).max(axis=0)
        reach = np.maximum(SURFACE_EPSILON * together.edge.take(owner).min(axis=0), exact)
        kind, is_own = np.full(particles.shape[1], EDGES, np.int8), owner[0] == owner[1]
        was_cut = np.asarray(at_border.take(particles).reshape(2, 2, -1).any(axis=1).all(axis=0))
        gap = kernels.closest_points(x, particles, kind)[1]
        if together.rest is not None:
            own = np.flatnonzero(is_own)
            at_rest = kernels.closest_points(together.rest, particles.take(own, axis=1), kind[own])[1]
            was_cut[own] &= at_rest <= reach[own]
        for number, pair in zip(numbers, roped):
            some = np.flatnonzero(is_own & (owner[0] == number))
            gap[some[~pair.are_apart_at_rest(kernels, particles.take(some, axis=1), kind[some])]] = np.inf
        shared[particles[:, gap <= np.where(was_cut, reach, exact)]] = True
    if shared.any():
        for surface in together.surfaces:
            for faces in (surface.triangles, surface.loose_edges):
                marked[faces[:, shared.take(faces).any(axis=0)]] = True
    return marked


def _boxes(x: np.ndarray, primitives: np.ndarray, margin: float) -> np.ndarray:
    """Boxes around primitives (k, m), lower corners and negated upper ones, (6, m) [m]."""
    corners = x.take(primitives, axis=1)
    return np.concatenate([corners.min(axis=1), -corners.max(axis=1)]) - margin


def penetrating(kernels: Kernels, x: np.ndarray, pair: SurfacePair | NearCollider, vertices: np.ndarray) -> np.ndarray:
    """Those of the particles `vertices` (k,) on the wrong side of the pair's closed collider, or on it, (j,) int.

    What counts as on it is not guarded: in edges of a large floor, that would be all that is pressed against it.
    """
    collider = pair.other
    here = x[:, vertices]
    margin = ROUNDING * max(np.abs(x[:, collider.part]).max(), collider.edge)
    if not pair.is_container:
        solid = x[:, collider.part]
        near = (here >= solid.min(axis=1)[:, None] - margin).all(axis=0)
        near &= (here <= solid.max(axis=1)[:, None] + margin).all(axis=0)
        vertices, here = vertices[near], here[:, near]
    if not len(vertices):
        return vertices
    # A direction along no face of a usual mesh.
    aside = margin * np.array([[1.0], [0.7], [0.4]])
    points = np.concatenate([here, here + aside, here - aside], axis=1)
    wrong = inside(points, x, collider.triangles, collider.triangle_tree, kernels) == (not pair.is_container)
    return vertices[wrong.reshape(3, -1).any(axis=0)]


def pierced(kernels: Kernels, x: np.ndarray, pair: SurfacePair | NearCollider) -> tuple[np.ndarray, int]:
    """Particles of edges and faces of cloth that go through the pair's closed collider, or it through them, (k,) int,
    and the number of crossings.

    Args:
        kernels: Module of kernels.
        x: Positions, (3, N) [m].
        pair: A surface, or several, and a closed collider.
    """
    cloth, solid = pair.one, pair.other
    trees = (cloth.edge_tree, solid.triangle_tree), (solid.edge_tree, cloth.triangle_tree)
    edges = cloth.edges[:, crossing_pairs(x, cloth.edges, solid.triangles, trees[0], kernels)[0]]
    faces = cloth.triangles[:, crossing_pairs(x, solid.edges, cloth.triangles, trees[1], kernels)[1]]
    parts = [part[:, pair.takes_part(part)] for part in (edges, faces)]
    return distinct(np.concatenate([part.ravel() for part in parts])), sum(part.shape[1] for part in parts)
