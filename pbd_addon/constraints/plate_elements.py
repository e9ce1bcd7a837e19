"""Plate elements: the bending energy of a thin sheet on any triangle mesh (Morley 1968), without Poisson's effect.

A triangle's curvature is measured by how much the slopes at its three sides differ from its plane. The slope at a side
is a vector that both adjacent triangles share: the derivative of the position across the side, a unit vector in the
sheet. With a side's length l, its outward unit normal n in the triangle's plane, and the triangle's area A,

    A H = sum over the sides of l (slope - own derivative across the side) n n^T,      E = B/2 sum of A |H|²

Where B is that along a warp, and r times as much along the weft, |H|² is H11² + r H22² + 2 sqrt(r) H12²: the product of
two normals is then that of their parts along the warp and sqrt(r) times that of the parts across.

H is the Hessian of the piecewise quadratic function with these positions and slopes, for each of x, y and z. Slopes
have no mass: they take the values of minimum energy. Where the rest shape is folded by the angle f, a triangle's own
derivative is rotated by f/2 out of its plane, as with the mid-edge normals of Grinspun et al. 2006, and lengthened by
1 / cos(f/2): the forces, which leave out that normals rotate with the positions, then resist a fold as they do a plane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..meshes.creases import Creases
from ..meshes.mesh import half_edges, pair_keys

FLAT = 1e-3
"""A hinge counts as flat at rest below this dihedral angle [rad]."""

SHARPEST = np.radians(150.0)
"""Sharper folds at rest are taken for this [rad]. At 180° slopes would be infinite; from 165° on the contact distance
keeps the faces of paper and foil from what they are pressed to, and they tremble at 0.1 m/s."""


class PlateElements(NamedTuple):
    """Quadratic energies of triangles for B = 1 N·m, in their corners and the slopes of their sides.

    Slopes are multiplied by `size`, so that all unknowns are lengths. With u (6, 3), the energy of a triangle with the
    unit normal n is u · energy u / 2 − (push · u) · n + a constant.

    Attributes:
        corners: (t, 3) int.
        sides: Inner edge across each corner, −1 at the boundary, where the slope is free and eliminated, (t, 3) int.
        ends: Vertices of each inner edge, (e, 2) int.
        energy: (t, 6, 6) [1/m²].
        push: Load of the rest angles, (t, 6) [1/m]; zeros for a flat rest shape.
        per_turn: The same per tangent of half the angle at each side, (t, 6, 3) [1/m].
        turn: Half the rest angle at each side, a valley above 0, (3 t,) [rad].
        size: Factor on slopes [m].
        hinges: Edge start, edge end, left tip, right tip of each pair of triangles, (h, 4) int.
        first_sides: Side of the first triangle of each pair, as 3 · triangle + corner, (h,) int.
        hinge_sides: The same of the second triangle, (h,) int.
    """

    corners: np.ndarray
    sides: np.ndarray
    ends: np.ndarray
    energy: np.ndarray
    push: np.ndarray
    per_turn: np.ndarray
    turn: np.ndarray
    size: float
    hinges: np.ndarray
    first_sides: np.ndarray
    hinge_sides: np.ndarray


def plate_elements(
    rest: np.ndarray,
    triangles: np.ndarray,
    keeps_angles: bool,
    creases: Creases,
    warp: np.ndarray | None = None,
    weft: float = 1.0,
) -> PlateElements:
    """Elements of triangles (t, 3) of a rest shape (n, 3) [m].

    Args:
        rest: Rest positions.
        triangles: All with an area. More than two at an edge share one slope.
        keeps_angles: Whether rest angles are those of the rest shape; else they are 0.
        creases: Edges with rest angles and a stiffness of their own.
        warp: Unit vectors in the triangles along the stiffness B, (t, 3); None where it is the same in all directions.
        weft: Ratio of the stiffness across to that.
    """
    corners = triangles.astype(np.int64)
    half, _ = half_edges(corners)
    half = half.reshape(-1, 3, 2)[:, [1, 2, 0]].reshape(-1, 2)  # side k is across corner k
    tips = corners.ravel()
    keys = pair_keys(half, len(rest))
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys[order], keys[order])
    later = np.arange(len(order)) > first
    one, other = order[first[later]], order[later]
    usable = tips[one] != tips[other]
    one, other = one[usable], other[usable]
    inner, edge_of_one = np.unique(one, return_inverse=True)
    sides, sign = np.full(len(tips), -1), np.zeros(len(tips))
    sides[inner], sign[inner] = np.arange(len(inner)), 1.0
    sides[other], sign[other] = edge_of_one.reshape(-1), -1.0

    points = rest[corners]
    along = np.roll(points, -2, axis=1) - np.roll(points, -1, axis=1)
    lengths = np.linalg.norm(along, axis=2)
    crossed = np.cross(along[:, 2], -along[:, 1])
    double = np.linalg.norm(crossed, axis=1)
    normals = crossed / double[:, None]
    outward = np.cross(along / lengths[:, :, None], normals[:, None])
    area = 0.5 * double
    cosines = np.einsum("tkx,tjx->tkj", outward, outward)
    weighed = cosines
    if warp is not None:
        along = np.einsum("tkx,tx->tk", outward, warp)
        weighed = np.sqrt(weft) * cosines + (1.0 - np.sqrt(weft)) * along[:, :, None] * along[:, None]
    weight = lengths[:, :, None] * lengths[:, None] * weighed**2 / area[:, None, None]
    across = -lengths[:, None] * cosines / double[:, None, None]
    for k in range(3):
        open_side = (sides.reshape(-1, 3)[:, k] < 0).astype(float)
        column = weight[:, :, k] * (open_side / weight[:, k, k].clip(min=1e-300))[:, None]
        weight = weight - column[:, :, None] * weight[:, None, k]

    turn = np.zeros(len(tips))
    if keeps_angles and len(one):
        turn = _half_angles(outward.reshape(-1, 3), np.repeat(normals, 3, axis=0), one, other, inner, edge_of_one, sign)
    angles, factors = creases.of_edges(half[inner], len(rest))
    creased, per_side = ~np.isnan(angles), np.ones(len(tips))
    for half_edges_, edges in ((inner, np.arange(len(inner))), (other, edge_of_one.reshape(-1))):
        folded = creased[edges]
        turn[half_edges_[folded]] = -0.5 * angles[edges[folded]]
        per_side[half_edges_] = factors[edges]
    weight = _with_factors(weight, per_side.reshape(-1, 3))
    size = float(np.sqrt(area.mean())) if len(area) else 1.0
    to_slopes = (sign / size).reshape(-1, 3)[:, :, None] * np.eye(3)
    operator = np.concatenate([-across, to_slopes], axis=2)
    weighted = np.einsum("tkj,tki->tij", weight, operator)
    return PlateElements(
        corners, sides.reshape(-1, 3), half[inner], np.einsum("tik,tkj->tij", weighted, operator),
        _push(weighted, turn), weighted, turn, size, np.column_stack([half[one], tips[one], tips[other]]), one, other,
    )  # fmt: skip


def refolded(elements: PlateElements, changed: np.ndarray, angles: np.ndarray) -> PlateElements:
    """The same elements with other rest angles (h,) [rad] of the hinges that have `changed`, (h,) bool."""
    turn = elements.turn.copy()
    for sides in (elements.first_sides, elements.hinge_sides):
        turn[sides[changed]] = -0.5 * angles[changed]
    return elements._replace(push=_push(elements.per_turn, turn))


def push_of(elements: PlateElements, angles: np.ndarray) -> np.ndarray:
    """Load of these rest angles (h,) [rad] instead of those of the elements, (t, 6) [1/m]."""
    return _push(elements.per_turn, _turns(elements, angles))


def curvature_norms(elements: PlateElements, rest: np.ndarray) -> np.ndarray:
    """Squared norm of the curvature of each triangle, as a form in the tangents at its sides, (t, 3, 3) [1/m²]."""
    sign = np.zeros(3 * len(elements.corners))
    sign[elements.hinge_sides], sign[elements.first_sides] = -1.0, 1.0
    a, b, c = rest[elements.corners.T]
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    scale = elements.size * sign.reshape(-1, 3) / area[:, None]
    return np.asarray(scale[:, :, None] * elements.per_turn[:, 3:])


def curvatures(elements: PlateElements, norms: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Curvature of triangles whose hinges are bent by angles (h,) [rad], (t,) [1/m]; norms: see `curvature_norms`."""
    tangents = np.tan(_turns(elements, angles)).reshape(-1, 3)
    return np.sqrt(np.maximum(np.einsum("tj,tjk,tk->t", tangents, norms, tangents), 0.0))


def _turns(elements: PlateElements, angles: np.ndarray) -> np.ndarray:
    turn = np.zeros(3 * len(elements.corners))
    turn[elements.first_sides] = turn[elements.hinge_sides] = -0.5 * angles
    return turn


def _push(per_turn: np.ndarray, turn: np.ndarray) -> np.ndarray:
    tangents = np.tan(np.clip(turn, -0.5 * SHARPEST, 0.5 * SHARPEST)).reshape(-1, 3)
    return np.einsum("tik,tk->ti", per_turn, tangents)


def _with_factors(weight: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Weights (t, 3, 3) of triangles whose sides resist folding `factors` (t, 3) times as much.

    A stiffer side has a spring beside it. A weaker one has a joint whose spring s in series gives
    1 / (1 / s + 1 / w) = factor · w; the joint takes the angle of minimum energy.
    """
    weight, own = weight.copy(), np.einsum("tkk->tk", weight).copy()
    for k in range(3):
        missing = np.maximum(1.0 - factors[:, k], 0.0)
        share = missing / (missing * weight[:, k, k] + factors[:, k] * own[:, k]).clip(min=1e-300)
        weight -= share[:, None, None] * weight[:, :, k, None] * weight[:, k, None]
        weight[:, k, k] += np.maximum(factors[:, k] - 1.0, 0.0) * own[:, k]
    return weight


def _half_angles(
    outward: np.ndarray,
    normals: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    inner: np.ndarray,
    edge_of_one: np.ndarray,
    sign: np.ndarray,
) -> np.ndarray:
    """Angle between the slope at rest and the plane of each side's triangle, (3 t,) [rad]."""
    first = np.full(len(inner), len(one))
    np.minimum.at(first, edge_of_one.reshape(-1), np.arange(len(one)))
    there = -outward[other[first]]
    fold = np.arctan2((there * normals[inner]).sum(axis=1), (there * outward[inner]).sum(axis=1))
    half = 0.5 * fold[:, None]
    slope = np.cos(half) * outward[inner] + np.sin(half) * normals[inner]
    turn = np.zeros(len(outward))
    for half_edges_, edges in ((inner, np.arange(len(inner))), (other, edge_of_one.reshape(-1))):
        own = sign[half_edges_][:, None] * slope[edges]
        sine, cosine = (own * normals[half_edges_]).sum(axis=1), (own * outward[half_edges_]).sum(axis=1)
        turn[half_edges_] = np.arctan2(sine, cosine)
    turn[np.abs(turn) < 0.5 * FLAT] = 0.0
    return turn


def triangle_normals(p: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Unit normals of triangles (t, 3) at positions p (n, 3), (t, 3); 0 without an area."""
    a, b, c = p[corners.T]
    normals = np.cross(b - a, c - a)
    return normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]


def side_forces(elements: PlateElements, factors: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of a sheet at positions p (n, 3), and the force on each, for B = 1 N·m.

    The slopes are those of minimum energy, found by conjugate gradients: the condition of their matrix depends on the
    worst triangle, not on the size of the mesh.

    Args:
        elements: Elements of the sheet.
        factors: Factor on each triangle's energy, (t,).
        p: Positions.

    Returns:
        Slopes seen from the second triangle of each hinge, (h, 3) [1], and the derivative of that triangle's energy
        with respect to them, (h, 3) [1].
    """
    corners, sides = elements.corners, elements.sides
    energy, count = elements.energy * factors[:, None, None], len(elements.ends)
    places = np.where(sides < 0, count, sides)
    fixed = np.einsum("tki,tix->tkx", energy[:, 3:, :3], p[corners])
    fixed -= (elements.push[:, 3:] * factors[:, None])[:, :, None] * triangle_normals(p, corners)[:, None]
    stiff = energy[:, 3:, 3:]

    def gather(per_side: np.ndarray) -> np.ndarray:
        total = [np.bincount(places.ravel(), per_side[..., k].ravel(), count + 1)[:count] for k in range(3)]
        return np.stack(total, axis=1)

    def apply(slopes: np.ndarray) -> np.ndarray:
        padded = np.concatenate([slopes, np.zeros((1, 3))])
        return np.einsum("tkj,tjx->tkx", stiff, padded[places])

    diagonal = np.bincount(places.ravel(), np.einsum("tkk->tk", stiff).ravel(), count + 1)[:count, None]
    diagonal = np.where(diagonal > 0.0, diagonal, 1.0)
    slopes = np.zeros((count, 3))
    residual = -gather(fixed)
    direction = residual / diagonal
    square = start = float((residual * direction).sum())
    for _ in range(10 * count):
        if square <= 1e-24 * start:
            break
        image = gather(apply(direction))
        step = square / float((direction * image).sum())
        slopes += step * direction
        residual -= step * image
        better = residual / diagonal
        before, square = square, float((residual * better).sum())
        direction = better + (square / before) * direction
    by_slope = (fixed + apply(slopes)).reshape(-1, 3)[elements.hinge_sides]
    return -slopes[sides.ravel()[elements.hinge_sides]] / elements.size, -elements.size * by_slope
