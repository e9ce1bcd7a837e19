"""Patches: a partition of the faces of a surface, and which of its neighborhoods cannot meet themselves.

A piece of a surface whose face normals lie in a cone of less than 90° is a height field over the plane across the
cone's axis: as long as its outline does not meet itself there, neither does the piece (Volino & Magnenat-Thalmann 1994;
Provot 1997), and two of its points are at least as far apart as the cosine of the half-angle of the cone times their
way along the cloth. The outline is not tested while it moves: only pieces take part that are compact at rest, without
slits and holes. A map of a convex piece of the plane that changes no length by more than a factor of cos 45° = 1 / √2
beside another is one to one (F. John 1968), so that an outline could meet itself only with strains far above those of
cloth.

Pieces that overlap leave no seams between them: each patch is one piece, and with the patches around it another, its
neighborhood. Vertices and edges belong to one representative face each (Curtis, Tamstorf & Manocha 2008), so that all
hierarchies share the patches.
"""

from __future__ import annotations

import math

import numpy as np

from .bvh import median_split_order

LARGE_PATCH_DEPTH, PATCH_DEPTH = 5, 3
"""Levels of the tree of faces below large and small patches: these have up to 32 and 8 faces, and more than half."""

MAX_ASPECT = 6.0
"""Largest squared length of a piece over its area. A strip of that aspect meets its own end at a strain of a half."""

MAX_REFLEX = math.radians(30.0)
"""How much farther than straight the border of the mesh may turn into a piece, in sum: a slit has 180°."""

MAX_VALENCE = 16
"""Most patches at a vertex that count as neighbors of each other: the pole of a fan has no neighborhood."""


class Patches:
    """Partitions of the faces of a mesh into patches, in the order of one hierarchy.

    Args:
        corners: Rest positions of the corners of each face, (t, 3, 3) [m].
        vertex: Number of the vertex at each corner, (t, 3) int.
        edge: Number of the edge from each corner to the next, (t, 3) int.

    Attributes:
        levels: Partitions into large patches and into small ones.
        count: Patches of the finest one.
        face_leaves, vertex_leaves, edge_leaves: The primitive in each leaf of its hierarchy, -1 for none: as many
            leaves in each patch of the finest partition, (count * 2**i,) int.
        vertices: Corners of the faces of each of these patches, some of them repeated, (c, count) int.
    """

    def __init__(self, corners: np.ndarray, vertex: np.ndarray, edge: np.ndarray) -> None:
        leaves = median_split_order(corners.mean(axis=1))
        used = np.flatnonzero(leaves >= 0)
        places = np.zeros(len(corners), int)
        places[leaves[used]] = used
        turns = _turns_of_border(corners, vertex, edge)
        self.levels = [
            Partition(places * count // len(leaves), leaves[used], corners, vertex, *turns)
            for count in (max(len(leaves) >> depth, 1) for depth in (LARGE_PATCH_DEPTH, PATCH_DEPTH))
        ]
        finest = self.levels[-1]
        self.count = finest.count
        self.face_leaves = leaves
        self.vertex_leaves, self.edge_leaves = (finest.leaves_of(places, each) for each in (vertex, edge))
        first = np.searchsorted(finest.owner, np.arange(self.count + 1))
        slot = np.arange(np.diff(first).max())[:, None]
        self.vertices = finest.vertex[np.minimum(first[:-1] + slot, first[1:] - 1)]


class Partition:
    """A partition of faces into patches, and the neighborhoods of these.

    Args:
        of_face: The patch of each face, (t,) int.
        faces: All faces patch by patch, (t,) int.
        corners: Rest positions of the corners of each face, (t, 3, 3) [m].
        vertex: Number of the vertex at each corner, (t, 3) int.
        reflex: How much farther than straight the border of the mesh turns at each vertex [rad].
        joints: Number of edges of each face that belong to more than two faces, (t,) int.

    Attributes:
        count: Number of patches.
        of_face, faces: As above.
        first_faces: Where the faces of each patch begin, and how many there are, (count + 1,) int.
        owner, vertex: Pairs of a patch and one of its vertices, sorted, (i,) int each.
        center, member: Pairs of a patch and one in its neighborhood, itself included, sorted, (m,) int each.
        starts: Where the members of each neighborhood begin, (count,) int.
        can_be_flat: Whether patches, and whether neighborhoods, can be height fields, (2, count) bool.
    """

    def __init__(
        self,
        of_face: np.ndarray,
        faces: np.ndarray,
        corners: np.ndarray,
        vertex: np.ndarray,
        reflex: np.ndarray,
        joints: np.ndarray,
    ) -> None:
        self.of_face, self.faces, self.count = of_face, faces, int(of_face.max()) + 1
        self.first_faces = np.searchsorted(of_face[faces], np.arange(self.count + 1))
        vertices = len(reflex)
        self.owner, self.vertex = np.divmod(np.unique(of_face[:, None] * vertices + vertex), vertices)
        self._find_neighborhoods()
        self._find_compact(corners, reflex, joints)

    def faces_of(self, patches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Faces of patches (k,), one patch after the other, (j,) int, and how many each has, (k,) int."""
        counts = np.diff(self.first_faces)[patches]
        skipped = self.first_faces[patches] - (np.cumsum(counts) - counts)
        return self.faces[np.arange(counts.sum()) + np.repeat(skipped, counts)], counts

    def are_neighbors(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Whether patches (k,) and (k,) share a vertex, (k,) bool."""
        keys = one * self.count + other
        return np.asarray(self._keys.take(np.searchsorted(self._keys, keys), mode="clip") == keys)

    def leaves_of(self, places: np.ndarray, primitive: np.ndarray) -> np.ndarray:
        """Leaves with each primitive in the patch of the first of its faces, and in the order of these.

        places: leaf of each face, (t,); primitive: number of the vertices or edges of each face, (t, 3).
        """
        place, ids = np.repeat(places, 3), primitive.ravel()
        order = np.lexsort((place, ids))
        firsts = order[np.append(True, np.diff(ids[order]) > 0)]
        firsts = firsts[np.lexsort((ids[firsts], place[firsts]))]
        patch = self.of_face[firsts // 3]
        count = np.bincount(patch, minlength=self.count)
        slots = 1 << max(int(count.max()) - 1, 0).bit_length()
        leaves = np.full(self.count * slots, -1)
        leaves[patch * slots + np.arange(len(patch)) - (np.cumsum(count) - count)[patch]] = ids[firsts]
        return leaves

    def _find_neighborhoods(self) -> None:
        """Note which patches share a vertex."""
        order = np.argsort(self.vertex, kind="stable")
        owner, vertex = self.owner[order], self.vertex[order]
        keys = [np.arange(self.count) * (self.count + 1)]
        for shift in range(1, MAX_VALENCE):
            one, other = (each[vertex[shift:] == vertex[:-shift]] for each in (owner[:-shift], owner[shift:]))
            keys += [one * self.count + other, other * self.count + one]
        self._keys = np.unique(np.concatenate(keys))
        self.center, self.member = np.divmod(self._keys, self.count)
        self.starts = np.searchsorted(self.center, np.arange(self.count))

    def _find_compact(self, corners: np.ndarray, reflex: np.ndarray, joints: np.ndarray) -> None:
        """Note which pieces are compact and nearly convex at rest."""
        a, b, c = corners.swapaxes(0, 1)
        area = np.bincount(self.of_face, 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))
        turn = np.bincount(self.owner, reflex[self.vertex]) + math.pi * np.bincount(self.of_face, joints)
        low = np.minimum.reduceat(corners.min(axis=1)[self.faces], self.first_faces[:-1])
        high = np.maximum.reduceat(corners.max(axis=1)[self.faces], self.first_faces[:-1])

        def is_compact(area: np.ndarray, turn: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
            longest = (high - low).max(axis=1)
            return np.asarray((longest**2 <= MAX_ASPECT * area) & (turn <= MAX_REFLEX))

        def around(function: np.ufunc, values: np.ndarray) -> np.ndarray:
            return np.asarray(function.reduceat(values[self.member], self.starts))

        area_around, turn_around = around(np.add, area), around(np.add, turn)
        bounds = around(np.minimum, low), around(np.maximum, high)
        self.can_be_flat = np.stack([is_compact(area, turn, low, high), is_compact(area_around, turn_around, *bounds)])


def _turns_of_border(corners: np.ndarray, vertex: np.ndarray, edge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much farther than straight the border turns at each vertex [rad], and edges of each face with many faces."""
    forward, back = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    lengths = np.linalg.norm(forward, axis=2) * np.linalg.norm(back, axis=2)
    cosine = (forward * back).sum(axis=2) / np.maximum(lengths, 1e-300)
    angle = np.bincount(vertex.ravel(), np.arccos(cosine.clip(-1.0, 1.0)).ravel())
    faces_at_edge = np.bincount(edge.ravel())[edge]
    borders = faces_at_edge == 1
    is_border = np.zeros(len(angle), bool)
    is_border[vertex[borders]] = is_border[np.roll(vertex, -1, axis=1)[borders]] = True
    return np.where(is_border, np.maximum(angle - math.pi, 0.0), 0.0), (faces_at_edge > 2).sum(axis=1)
