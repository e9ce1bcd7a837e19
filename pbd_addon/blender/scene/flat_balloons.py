"""Flat balloons: two sheets between outlines, which are one at the rim, as foil balloons are before they are filled.

The mesh decides how foil crimps: triangles of one size, no straight rows to fold along, and at the rim no inner edge
between two vertices of it, which would hold both sheets together there.
"""

from typing import NamedTuple

import bpy
import numpy as np
from mathutils.geometry import delaunay_2d_cdt

from ...meshes.mesh import connected_components
from ..errors import PBDError
from ..kinds import Mesh

CORNER = np.cos(np.radians(30.0))
"""An outline keeps a vertex where it turns by more than 30 degrees: fonts turn by less within their curves."""

MARGIN = 0.6
"""No inner vertex is closer to the outline than this, in edges: a triangle of even sides is 0.87 high."""

SHAKEN = 0.2
"""By how much inner vertices are off the grid along each axis, in edges: crimps find no row to run along."""

ROUNDS = 8
"""Most rounds in which inner edges between two vertices of the rim are cut in halves; letters take two or three."""

APART = 0.05
"""How far each sheet is off the plane, in edges: sheets at the same place would be doubled vertices to merge. It
lengthens edges at the rim by 0.1 %."""

MOST = 200_000
"""Most vertices: more take a minute to make, and seconds a frame."""


LINKS = 12
"""Edges of a string."""

NECK_SHARE = 0.35
"""Width of a neck over that of a stroke: those of party balloons are 15 to 25 mm wide, their strokes 50 to 70 mm."""


class Sheets(NamedTuple):
    """A flat balloon.

    Attributes:
        x: (n, 3) [m], in the plane z = 0 but for `APART`.
        triangles: (t, 3) int, facing out.
        rim: Vertices of both sheets, (r,) int.
        letter: Number of the piece of each vertex, (n,) int.
    """

    x: np.ndarray
    triangles: np.ndarray
    rim: np.ndarray
    letter: np.ndarray


def stroke_width(outlines: list[np.ndarray]) -> float:
    """Mean width of what outlines enclose [m]: of a strip, twice its area over its circumference."""
    around = sum(float(np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1).sum()) for loop in outlines)
    return 2.0 * abs(sum(_area(loop) for loop in _oriented(outlines))) / max(around, 1e-300)


def with_necks(outlines: list[np.ndarray], length: float) -> list[np.ndarray]:
    """Outlines, (k, 2) [m] each, with a neck of that length [m] at the lowest place of each that is no hole.

    Where that is a side, the neck is in its middle.
    """
    width = NECK_SHARE * stroke_width(outlines)
    oriented = _oriented(outlines)
    return [_with_neck(loop, width, length) if _area(loop) > 0.0 else loop for loop in oriented]


def _with_neck(loop: np.ndarray, width: float, length: float) -> np.ndarray:
    """A counterclockwise polygon (k, 2) with a neck around its lowest place instead of what is near to that."""
    loop = np.roll(loop, -int(loop[:, 1].argmax()), axis=0)  # It begins far away from there.
    closed = np.concatenate([loop, loop[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    low = np.flatnonzero(loop[:, 1] < loop[:, 1].min() + 0.05 * width)
    low = low[: 1 + (np.diff(low, append=len(loop) + 1) > 1).argmax()]  # The first foot of an M.
    here = along[low[[0, -1]]].mean()
    ends = here - 0.5 * width, here + 0.5 * width
    roots = np.array([[np.interp(end, along, closed[:, axis]) for axis in (0, 1)] for end in ends])
    tips = np.column_stack([roots[:, 0], np.full(2, loop[:, 1].min() - length)])
    return np.concatenate([loop[along[:-1] < ends[0]], roots[:1], tips, roots[1:], loop[along[:-1] > ends[1]]])


def between(outlines: list[np.ndarray], edge: float, name: str) -> Sheets:
    """Two sheets between closed outlines, (k, 2) [m] each, with edges of about that length [m]; name: used in messages.

    What lies in an odd number of outlines is filled: an outline within another one is a hole.
    """
    low, high = (np.min([loop.min(axis=0) for loop in outlines], axis=0) - edge,
                 np.max([loop.max(axis=0) for loop in outlines], axis=0) + edge)  # fmt: skip
    if 2.0 * abs(sum(_area(loop) for loop in _oriented(outlines))) / (0.87 * edge**2) > MOST:
        raise PBDError(f"'{name}' would have more than {MOST} vertices: lower Cells")
    loops = [_even(loop, edge) for loop in _oriented(outlines)]
    starts = np.cumsum([0, *map(len, loops)])
    sides = np.concatenate([
        np.stack([np.arange(len(loop)), np.roll(np.arange(len(loop)), -1)], axis=1) + start
        for loop, start in zip(loops, starts)
    ])  # fmt: skip
    rim = np.concatenate(loops)
    inner = _grid(low, high, edge)
    inner = inner[_is_inside(inner, rim, sides) & (_distance(inner, rim, sides) > MARGIN * edge)]
    for _ in range(ROUNDS):
        points, triangles = _triangulated(rim, sides, inner)
        edges, counts = np.unique(
            np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0, return_counts=True
        )
        is_rim = np.zeros(len(points), bool)
        is_rim[edges[counts == 1]] = True
        across = edges[(counts == 2) & is_rim[edges].all(axis=1)]
        if not len(across):
            break
        inner = np.concatenate([inner, points[across].mean(axis=1)])
    if not len(triangles):
        raise PBDError(f"'{name}' encloses nothing: draw a closed curve, or type some letters")
    letter = connected_components(edges, len(points))
    below = np.arange(len(points))
    below[~is_rim] = len(points) + np.arange(np.count_nonzero(~is_rim))
    height = np.where(is_rim, 0.0, APART * edge)
    x = np.concatenate([np.column_stack([points, height]), np.column_stack([points, -height])[~is_rim]])
    both = np.concatenate([triangles, below[triangles][:, ::-1]])
    return Sheets(x, both, np.flatnonzero(is_rim), np.concatenate([letter, letter[~is_rim]]))


def _area(loop: np.ndarray) -> float:
    """Area within a closed polygon (k, 2), positive if it runs counterclockwise [m²]."""
    ahead = np.roll(loop, -1, axis=0)
    return 0.5 * float((loop[:, 0] * ahead[:, 1] - loop[:, 1] * ahead[:, 0]).sum())


def _oriented(outlines: list[np.ndarray]) -> list[np.ndarray]:
    """Outlines that run counterclockwise around what is filled, and clockwise around holes."""
    found = []
    for number, loop in enumerate(outlines):
        depth = sum(_is_within(loop, other) for k, other in enumerate(outlines) if k != number)
        found.append(loop if (_area(loop) > 0.0) == (depth % 2 == 0) else loop[::-1])
    return found


def _is_within(loop: np.ndarray, other: np.ndarray) -> bool:
    """Whether all of a polygon lies in another one."""
    if (loop.min(axis=0) < other.min(axis=0)).any() or (loop.max(axis=0) > other.max(axis=0)).any():
        return False
    at = np.arange(len(other))
    return bool(_is_inside(loop, other, np.stack([at, np.roll(at, -1)], axis=1)).all())


def _even(loop: np.ndarray, edge: float) -> np.ndarray:
    """A closed polygon with corners where it had them, and vertices at even distances of about an edge in between."""
    loop = loop[np.linalg.norm(loop - np.roll(loop, 1, axis=0), axis=1) > 1e-6 * edge]
    ahead = np.roll(loop, -1, axis=0) - loop
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    corners = np.flatnonzero((ahead * np.roll(ahead, 1, axis=0)).sum(axis=1) < CORNER)
    loop = np.roll(loop, -corners[0], axis=0) if len(corners) else loop
    corners = corners - corners[0] if len(corners) else np.zeros(1, int)
    closed = np.concatenate([loop, loop[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    ends = along[np.append(corners, len(loop))]
    least = 1 if len(corners) > 2 else 3
    places = [
        np.linspace(start, stop, max(round((stop - start) / edge), least), endpoint=False)
        for start, stop in zip(ends, ends[1:])
    ]
    at = np.concatenate(places)
    return np.stack([np.interp(at, along, axis) for axis in closed.T], axis=1)


def _grid(low: np.ndarray, high: np.ndarray, edge: float) -> np.ndarray:
    """Vertices of triangles with even sides between two corners, shaken, (k, 2) [m]."""
    across, up = np.meshgrid(np.arange(low[0], high[0], edge), np.arange(low[1], high[1], 0.5 * np.sqrt(3.0) * edge))
    across[1::2] += 0.5 * edge
    points = np.stack([across.ravel(), up.ravel()], axis=1)
    return points + SHAKEN * edge * np.random.default_rng(0).uniform(-1.0, 1.0, points.shape)


CHUNK = 2048
"""Points that are compared with all sides at a time: memory."""


def _is_inside(points: np.ndarray, x: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Whether points (k, 2) are enclosed by oriented sides (s, 2) int between vertices x, by winding number, (k,)."""
    (x0, y0), (x1, y1) = x[sides[:, 0]].T, x[sides[:, 1]].T
    turns = []
    for at in range(0, len(points), CHUNK):
        px, py = points[at : at + CHUNK].T[:, :, None]
        left = (x1 - x0) * (py - y0) - (px - x0) * (y1 - y0)
        up, down = (y0 <= py) & (y1 > py) & (left > 0.0), (y0 > py) & (y1 <= py) & (left < 0.0)
        turns.append(up.sum(axis=1) - down.sum(axis=1))
    return np.concatenate([*turns, np.zeros(0, int)]) != 0


def _distance(points: np.ndarray, x: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Distance of points (k, 2) from the nearest of the sides (s, 2) int between vertices x, (k,) [m]."""
    start, along = x[sides[:, 0]], x[sides[:, 1]] - x[sides[:, 0]]
    length = np.maximum((along**2).sum(axis=1), 1e-300)
    found = [np.zeros(0)]
    for at in range(0, len(points), CHUNK):
        away = points[at : at + CHUNK, None] - start
        share = np.clip((away * along).sum(axis=2) / length, 0.0, 1.0)
        found.append(np.sqrt(((away - share[:, :, None] * along) ** 2).sum(axis=2).min(axis=1)))
    return np.concatenate(found)


def _triangulated(rim: np.ndarray, sides: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 2) and Delaunay's triangles (t, 3) between them that lie within the sides, counterclockwise."""
    given = np.concatenate([rim, inner])
    found = delaunay_2d_cdt(given.tolist(), sides.tolist(), [], 0, 1e-7 * float(np.ptp(given, axis=0).max()), False)
    points, triangles = np.array(found[0], float).reshape(-1, 2), np.array(found[2], int).reshape(-1, 3)
    triangles = triangles[_is_inside(points[triangles].mean(axis=1), rim, sides)]
    a, b, c = points[triangles].swapaxes(0, 1)
    turned = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) < (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    triangles[turned] = triangles[turned][:, ::-1]
    used, triangles = np.unique(triangles, return_inverse=True)
    return points[used], triangles.reshape(-1, 3)


def tops(x: np.ndarray, sheets: Sheets) -> np.ndarray:
    """The highest vertices of each letter's rim at either side of its middle, where it can hang, (k,) int; x (n, 3)."""
    found = []
    for letter in np.unique(sheets.letter):
        own = sheets.rim[sheets.letter[sheets.rim] == letter]
        away = x[own, :2] - x[own, :2].mean(axis=0)
        along = away @ np.linalg.svd(away, full_matrices=False)[2][0]
        found += [own[side][x[own[side], 2].argmax()] for side in (along > 0.0, along <= 0.0) if side.any()]
    return np.array(found)


def strings(x: np.ndarray, sheets: Sheets, length: float) -> tuple[np.ndarray, np.ndarray]:
    """A string down from the lowest vertex of each letter: its vertices (k, 3) [m] and edges (e, 2) int.

    Both are numbered after the vertices of the sheets as they stand, x (n, 3) [m].
    """
    held = []
    for letter in np.unique(sheets.letter):
        own = sheets.rim[sheets.letter[sheets.rim] == letter]
        held.append(own[x[own, 2].argmin()])
    down = np.arange(1, LINKS + 1)[:, None] / LINKS * [0.0, 0.0, -length]
    points = x[held][:, None] + down
    ids = np.column_stack([held, len(x) + np.arange(len(held) * LINKS).reshape(-1, LINKS)])
    return points.reshape(-1, 3), np.stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()], axis=1)


def mesh(name: str, x: np.ndarray, edges: np.ndarray, triangles: np.ndarray) -> Mesh:
    """A smooth mesh of vertices (n, 3) [m], loose edges (e, 2) and triangles (t, 3) int."""
    made = bpy.data.meshes.new(name)
    made.from_pydata(x.tolist(), edges.tolist(), triangles.tolist())
    made.shade_smooth()
    made.update()
    return made
