"""Exits: which way what is inside of a closed collider is led out, and how fast.

A vertex goes to its nearest face. Where the nearest faces of a piece of cloth lie on different sides, as for a sheet
through the middle of a ball, that would tear it apart: all of it goes the same way, the one that is out soonest.
"""

from __future__ import annotations

import numpy as np

from ..kernels import FACE, Kernels
from ..meshes.mesh import connected_components
from .bvh import BVH
from .candidates import Candidates, concatenate, no_candidates
from .crossings import hits_above, inside
from .narrow_phase import DEPENETRATION_SPEED
from .together import NearCollider

SURFACE_EPSILON = 1e-5
"""A vertex this close to a surface is on it, in edges of the surface; of the finer one where two meet."""

OPPOSED = 1e-6
"""Two unit normals of an obtuse angle have a sum whose square is less than 2, beyond rounding."""

MAX_DOUBLINGS = 12
"""Doublings of the distance within which the nearest face is looked for."""

EXIT_STRAIN = 0.1
"""A piece whose edges would be strained by more than this on the way to the nearest faces goes one way."""


def exit_contacts(kernels: Kernels, x: np.ndarray, near: NearCollider, vertices: np.ndarray) -> Candidates:
    """Contacts that lead the particles `vertices` (k,) out of the collider, or into it if cloth belongs there.

    Args:
        kernels: Module of kernels.
        x: Positions, (3, N) [m].
        near: A closed collider and bodies near it.
        vertices: Particles on the wrong side of it.
    """
    nearest = nearest_exits(kernels, x, near, vertices)
    vertices = nearest.particles[0]
    place = np.full(x.shape[1], -1)
    place[vertices] = np.arange(len(vertices))
    ends = place.take(near.one.edges)
    ends = ends[:, (ends >= 0).all(axis=0)]
    way = -np.einsum("ijm,jm->im", x.take(nearest.particles, axis=1), nearest.weights)
    before = x[:, vertices[ends[0]]] - x[:, vertices[ends[1]]]
    before, after = (np.sqrt((d**2).sum(axis=0)) for d in (before, before + way[:, ends[0]] - way[:, ends[1]]))
    piece = connected_components(ends.T, len(vertices))
    torn = np.unique(piece[ends[0, np.abs(after - before) > EXIT_STRAIN * before]])
    parts = [nearest]
    for number in torn:
        members = np.flatnonzero(piece == number)
        together = _common_exits(kernels, x, near, vertices[members], nearest.normals[:, members])
        if together.size:
            piece[members] = -1
            parts.append(together)
    parts[0] = nearest.take(piece >= 0)
    return concatenate(parts)


def limit_speed(exits: Candidates, p: np.ndarray, x: np.ndarray, h: float) -> None:
    """Shorten displacements x -> p (3, N) of vertices with exit contacts; in place.

    Relative to the collider, they move out no faster than `DEPENETRATION_SPEED` in a substep of h seconds. Along its
    surface they are free: what a swinging arm leads out is not glued to it.
    """
    displacement = p.take(exits.particles, axis=1) - x.take(exits.particles, axis=1)
    excess = np.einsum("ijm,jm,im->m", displacement, exits.weights, exits.normals) - DEPENETRATION_SPEED * h
    fast = np.flatnonzero(excess > 0.0)
    p[:, exits.particles[0, fast]] -= excess[fast] * exits.normals[:, fast]


def without_opposed(exits: Candidates) -> Candidates:
    """Exit contacts without those of particles between solids that overlap: each would lead into the other solid.

    They stay between the solids until one of them leaves.
    """
    particles, normals = exits.particles[0], exits.normals
    count = np.bincount(particles)
    sums = np.stack([np.bincount(particles, along) for along in normals])
    is_opposed = np.einsum("im,im->m", sums, sums) < (1.0 - OPPOSED) * count
    return exits.take(np.flatnonzero(~is_opposed[particles]))


def _common_exits(
    kernels: Kernels, x: np.ndarray, near: NearCollider, vertices: np.ndarray, normals: np.ndarray
) -> Candidates:
    """Contacts that lead the particles `vertices` (k,) one way, the one on which the last of them is out soonest.

    normals: to their nearest faces, (3, k). The ways tried are the axes, those of the piece, and the mean normal.
    """
    collider, here = near.other, x[:, vertices]
    off = here - here.mean(axis=1, keepdims=True)
    axes = np.concatenate([np.eye(3)[:, ::-1], np.linalg.svd(off, full_matrices=True)[0]], axis=1)
    ways = np.concatenate([axes, -axes, normals.mean(axis=1, keepdims=True)], axis=1).T
    ways = ways[np.linalg.norm(ways, axis=1) > 0.1]
    best, soonest = no_candidates(), np.inf
    trees = BVH.of_points(here.T), collider.triangle_tree  # turning leaves neighbors neighbors
    for way in ways / np.linalg.norm(ways, axis=1, keepdims=True):
        across = np.linalg.svd(way[None])[2][1:]
        turned = np.stack([*across, way])
        start = turned @ here
        start[2] -= SURFACE_EPSILON * collider.edge
        corners = np.einsum("ij,jkm->ikm", turned, x.take(collider.triangles, axis=1))
        ray, triangle, height = hits_above(start, corners, trees, kernels)
        order = np.lexsort((height, ray))
        first = order[np.append(True, np.diff(ray[order]) > 0)] if len(order) else order
        if len(first) < len(vertices) or height[first].max() >= (1.0 - OPPOSED) * soonest:
            continue
        soonest = height[first].max()
        point, (a, b, c) = start[:2], corners[:2][:, :, triangle[first]].swapaxes(0, 1)
        areas = np.stack([_area(point, b, c), _area(point, c, a), _area(point, a, b)])
        particles = np.concatenate([vertices[None], collider.triangles[:, triangle[first]]])
        weights = np.concatenate([np.ones((1, len(first))), -areas / areas.sum(axis=0)])
        best = _exits(near, particles, weights, np.repeat(way[:, None], len(first), axis=1))
    return best


def _area(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Twice the signed area of triangles in the plane, (2, m) each."""
    return np.asarray((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def nearest_exits(kernels: Kernels, x: np.ndarray, near: NearCollider, vertices: np.ndarray) -> Candidates:
    """Contacts that lead the particles `vertices` (k,) to the nearest face of the collider and through it."""
    collider = near.other
    best = np.full(len(vertices), np.inf)
    face = np.zeros(len(vertices), int)
    reach, missing = np.maximum(near.distances(vertices), collider.edge), np.arange(len(vertices))
    triangles = x.take(collider.triangles, axis=1)
    boxes = np.concatenate([triangles.min(axis=1), -triangles.max(axis=1)])
    faces = collider.triangle_tree.refit(boxes, kernels=kernels)
    for _ in range(MAX_DOUBLINGS):
        if not len(missing):
            break
        here = x[:, vertices[missing]]
        box = np.concatenate([here - reach[missing], -(here + reach[missing])])
        around = BVH.of_points(here.T).refit(box, kernels=kernels)
        which, triangle = around.query_pairs(faces)
        particles = np.concatenate([vertices[missing[which]][None], collider.triangles[:, triangle]])
        gap = kernels.closest_points(x, particles, np.full(len(which), FACE, np.int8))[1]
        order = np.argsort(gap, kind="stable")[::-1]
        best[missing[which[order]]], face[missing[which[order]]] = gap[order], triangle[order]
        missing = np.flatnonzero(best > reach)
        reach *= 2.0
    found = np.flatnonzero(np.isfinite(best))
    if not len(found):
        return no_candidates()
    particles = np.concatenate([vertices[found][None], collider.triangles[:, face[found]]])
    kind = np.full(len(found), FACE, np.int8)
    weights, gap, normals = kernels.closest_points(x, particles, kind)
    normals *= -1.0
    on = np.flatnonzero(gap < 4.0 * SURFACE_EPSILON * collider.edge)
    if len(on):
        point, a, b, c = x.take(particles[:, on], axis=1).swapaxes(0, 1)
        across = np.cross(b - a, c - a, axis=0)
        across /= np.maximum(np.sqrt(np.einsum("im,im->m", across, across)), 1e-300)
        beside = point + 10.0 * SURFACE_EPSILON * collider.edge * across
        wrong = inside(beside, x, collider.triangles, collider.triangle_tree, kernels) == (not near.is_container)
        normals[:, on] = np.where(wrong, -across, across)
    return _exits(near, particles, weights, normals)


def _exits(near: NearCollider, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray) -> Candidates:
    """Exit contacts, from columns as in `Candidates`."""
    count, vertices = particles.shape[1], particles[0]
    return Candidates(
        particles, weights, normals, near.distances(vertices), np.full(count, FACE, np.int8), near.numbers(vertices),
        np.ones(count, bool),
    )  # fmt: skip
