"""Sewing patterns as meshes: flat panels with curved sides, each in its place, and the seams between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .mesh import connected_components

FREE_SHARE = 0.6
"""How near a point inside of a panel may be to its border, in edges: nearer, triangles are thin."""

MOST_VERTICES = 200_000
"""Largest mesh that is made: Blender takes half a minute to triangulate it, and frames of it take seconds."""

MOST_CELLS = 10 * MOST_VERTICES
"""Points of the grid over a panel: a strip across its diagonal takes few of them."""

FARTHEST = 1000.0
"""Farthest place of a panel from the origin [m]: at 1 km, the mesh's 32 bits still tell 0.06 mm apart."""

ROOM = 4_000_000
"""Pairs of points and sides that are looked at at once, which bounds the memory."""


class Panel(NamedTuple):
    """A piece of cloth.

    Attributes:
        name: What the pattern calls it.
        sides: Points along each side, (k, 2) [m]; where one ends, the next begins, around the panel.
        rotation: From the plane to world space, z up, (3, 3).
        place: Where the origin of the plane is [m], (3,).
        labels: Names for all of the panel.
        side_labels: Names for some sides, and which.
    """

    name: str
    sides: list[np.ndarray]
    rotation: np.ndarray
    place: np.ndarray
    labels: list[str]
    side_labels: dict[str, list[int]]


class Stitch(NamedTuple):
    """Two sides that are sewn together, each as the numbers of a panel and of its side.

    Front comes beside front: sides run in opposite directions, unless the cloth is turned over at the seam.
    """

    one: tuple[int, int]
    other: tuple[int, int]
    turned: bool = False


class Pattern(NamedTuple):
    """All panels of a garment.

    Attributes:
        panels: At least one.
        stitches: Perhaps none.
        unread: What the file holds beside them, as its reader names it.
    """

    panels: list[Panel]
    stitches: list[Stitch]
    unread: list[str]


class Sewn(NamedTuple):
    """A pattern as a mesh.

    Attributes:
        flat: Vertices in the plane, panel beside panel, (n, 2) [m].
        vertices: In world space, (n, 3) [m].
        triangles: They turn as the panel's sides do, (t, 3) int.
        seams: Pairs of vertices, (s, 2) int.
        groups: Vertices of each panel and each label.
    """

    flat: np.ndarray
    vertices: np.ndarray
    triangles: np.ndarray
    seams: np.ndarray
    groups: dict[str, np.ndarray]


Triangulate = Callable[[np.ndarray, int], np.ndarray]
"""Delaunay triangles, counter-clockwise, (t, 3) int, of points (n, 2); the first ones are a border that stays whole.

Raises `ValueError` where the border crosses itself. Triangles outside of the border do no harm."""


def mesh_pattern(pattern: Pattern, edge: float, triangulate: Triangulate) -> Sewn:
    """Mesh a pattern with edges of about this length [m]; both sides of a stitch get as many vertices.

    Raises a `ValueError` that names the panel which cannot be meshed.
    """
    counts = _counts(pattern, edge)
    expected = sum(map(sum, counts)) + sum(abs(area(np.concatenate(panel.sides))) for panel in pattern.panels) / (
        0.75**0.5 * edge**2
    )
    if expected > MOST_VERTICES:
        raise ValueError(
            f"The pattern would have {expected:,.0f} vertices: choose longer edges, for at most {MOST_VERTICES:,}"
        )
    flat, vertices, triangles, borders, start = [], [], [], [], 0
    groups: dict[str, list[np.ndarray]] = {}
    for panel, numbers in zip(pattern.panels, counts):
        if sum(numbers) < 3:
            raise ValueError(f"Panel '{panel.name}' is too small for edges of {edge:g} m: choose shorter edges")
        outline = np.concatenate([resampled(side, count)[:-1] for side, count in zip(panel.sides, numbers)])
        ends = np.cumsum([0, *numbers])
        borders.append([start + np.arange(a, b + 1) % len(outline) for a, b in zip(ends[:-1], ends[1:])])
        try:
            points, faces = fill(outline, edge, triangulate)
        except ValueError as error:
            raise ValueError(f"Panel '{panel.name}' {error}") from error
        turned = area(outline) < 0.0
        placed = np.column_stack([points, np.zeros(len(points))]) @ panel.rotation.T + panel.place
        if not (np.abs(placed) < FARTHEST).all():
            raise ValueError(f"Panel '{panel.name}' is farther than {FARTHEST:g} m away: its units may be wrong")
        flat.append(points)
        vertices.append(placed)
        triangles.append(start + (faces[:, ::-1] if turned else faces))
        for label in (panel.name, *panel.labels):
            groups.setdefault(label, []).append(start + np.arange(len(points)))
        for label, some in panel.side_labels.items():
            groups.setdefault(label, []).extend(borders[-1][number] for number in some)
        start += len(points)
    corners = laid_out(np.array([np.ptp(points, axis=0) for points in flat]), 2.0 * edge)
    flat = [points - points.min(axis=0) + corner for points, corner in zip(flat, corners)]
    seams = [np.empty((0, 2), int)]
    for (here, one), (there, other), as_drawn in pattern.stitches:
        sewn = borders[there][other]
        seams.append(np.column_stack([borders[here][one], sewn if as_drawn else sewn[::-1]]))
    pairs = np.unique(np.sort(np.concatenate(seams), axis=1), axis=0)
    return Sewn(
        np.concatenate(flat),
        np.concatenate(vertices),
        np.concatenate(triangles),
        pairs[pairs[:, 0] != pairs[:, 1]],
        {label: np.unique(np.concatenate(ids)) for label, ids in groups.items()},
    )


def raised(pattern: Pattern, label: str, height: float) -> Pattern:
    """A pattern whose panels stand so high that their sides with a label are at a height [m]; others stay."""
    panels = []
    for panel in pattern.panels:
        labeled = [panel.sides[number] for number in panel.side_labels.get(label, ())]
        if labeled:
            found = np.concatenate(labeled) @ panel.rotation[2, :2] + panel.place[2]
            panel = panel._replace(place=panel.place + np.array([0.0, 0.0, height - found.mean()]))
        panels.append(panel)
    return pattern._replace(panels=panels)


def _counts(pattern: Pattern, edge: float) -> list[list[int]]:
    """Edges of each side of each panel: the same number for all that are sewn to one another."""
    lengths = [np.array([length(side) for side in panel.sides]) for panel in pattern.panels]
    first = np.cumsum([0, *map(len, lengths)])
    links = [(first[a] + b, first[c] + d) for (a, b), (c, d), _ in pattern.stitches]
    together = connected_components(np.array(links, int).reshape(-1, 2), int(first[-1]))
    mean = np.bincount(together, np.concatenate(lengths)) / np.maximum(np.bincount(together), 1)
    counts = np.maximum(np.rint(np.minimum(mean / edge, 2.0 * MOST_VERTICES)), 1).astype(int)[together]
    return [part.tolist() for part in np.split(counts, first[1:-1])]


def length(side: np.ndarray) -> float:
    """Length along points (k, 2)."""
    return float(np.linalg.norm(np.diff(side, axis=0), axis=1).sum())


def resampled(side: np.ndarray, count: int) -> np.ndarray:
    """Count + 1 points at the same distance from one another along points (k, 2)."""
    way = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(side, axis=0), axis=1)))
    places = np.linspace(0.0, way[-1], count + 1)
    return np.column_stack([np.interp(places, way, axis) for axis in side.T])


def bezier(points: np.ndarray, count: int = 100) -> np.ndarray:
    """Points (count + 1, 2) along the Bézier curve with these control points (k, 2)."""
    share = np.linspace(0.0, 1.0, count + 1)[:, None, None]
    curve = np.broadcast_to(points, (count + 1, *np.shape(points)))
    while curve.shape[1] > 1:  # de Casteljau
        curve = (1.0 - share) * curve[:, :-1] + share * curve[:, 1:]
    return curve[:, 0]


def arc(start: np.ndarray, end: np.ndarray, radius: float, is_large: bool, is_left: bool) -> np.ndarray:
    """Points (101, 2) along an arc of a circle; it turns to the left or to the right, by more or less than 180°.

    A radius that is too small for the ends becomes half of their distance.
    """
    chord = end - start
    half = 0.5 * float(np.linalg.norm(chord))
    radius = max(abs(radius), half)
    across = np.array([-chord[1], chord[0]]) / max(2.0 * half, 1e-300)
    center = 0.5 * (start + end) + across * np.sqrt(radius**2 - half**2) * (-1.0 if is_large == is_left else 1.0)
    one, other = (np.arctan2(*(point - center)[::-1]) for point in (start, end))
    turn = (other - one) % (2.0 * np.pi)
    angles = one + np.linspace(0.0, turn if is_left else turn - 2.0 * np.pi, 101)
    points = center + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    points[[0, -1]] = start, end
    return points


def area(outline: np.ndarray) -> float:
    """Area of a polygon (k, 2), above 0 if it is counter-clockwise [m²]."""
    x, y = (outline - outline[0]).T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def fill(outline: np.ndarray, edge: float, triangulate: Triangulate) -> tuple[np.ndarray, np.ndarray]:
    """Mesh a polygon with triangles of about this edge: those of an even grid inside, Delaunay to the border.

    Args:
        outline: Counter-clockwise or clockwise, (k, 2) [m].
        edge: Length [m].
        triangulate: Makes the triangles.

    Returns:
        Vertices, first those of the outline, (n, 2) [m]; triangles, counter-clockwise, (t, 3) int.

    Raises:
        ValueError: The polygon crosses itself, has no area, or is large and thin.
    """
    if abs(area(outline)) < 1e-6 * np.ptp(outline, axis=0).max() ** 2:
        raise ValueError("has no area")
    low, high = outline.min(axis=0), outline.max(axis=0)
    cells = np.ceil((high - low) / (edge * np.array([1.0, 0.75**0.5]))) + 2.0
    if cells.prod() > MOST_CELLS:
        raise ValueError(f"is too large for edges of {edge:g} m: choose longer edges")
    columns, rows = cells.astype(int)
    column, row = (axis.ravel() for axis in np.meshgrid(np.arange(columns), np.arange(rows)))
    grid = low + edge * np.column_stack([column - 0.5 * (row % 2), 0.75**0.5 * row])
    grid = grid[_is_free(grid, outline, FREE_SHARE * edge)]
    points = np.concatenate([outline, grid])
    triangles = triangulate(points, len(outline))
    return points, triangles[_is_free(points[triangles].mean(axis=1), outline, 0.0)]


def _is_free(points: np.ndarray, outline: np.ndarray, distance: float) -> np.ndarray:
    """Which points (n, 2) are inside of a polygon (k, 2) and farther than a distance from its sides, (n,) bool."""
    some, following = max(ROOM // len(outline), 1), np.roll(outline, -1, axis=0)
    free = np.zeros(len(points), bool)
    for start in range(0, len(points), some):
        part = points[start : start + some]
        inside = np.flatnonzero(_is_inside(part, outline))
        free[start + inside] = distances(part[inside], outline, following).min(axis=1) > distance if distance else True
    return free


def _is_inside(points: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """Which points (n, 2) are inside of a polygon (k, 2), (n,) bool: a ray along x leaves it an odd number of times."""
    a, b = outline, np.roll(outline, -1, axis=0)
    x, y = points.T[:, :, None]
    passes = (a[:, 1] > y) != (b[:, 1] > y)
    rise = np.where(passes, b[:, 1] - a[:, 1], 1.0)
    return ((x < a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0])) & passes).sum(axis=1) % 2 == 1


def distances(points: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Distances of points (n, 2) from lines between two points, (k, 2) each, (n, k)."""
    way, to = ends - starts, points[:, None] - starts
    share = np.clip((to * way).sum(axis=2) / np.maximum((way * way).sum(axis=1), 1e-300), 0.0, 1.0)
    return np.asarray(np.linalg.norm(to - share[..., None] * way, axis=2))


def laid_out(boxes: np.ndarray, gap: float) -> np.ndarray:
    """Where boxes (k, 2) [m] lie beside one another in rows, of a square about, by size: their corners (k, 2) [m]."""
    places, order = np.zeros(boxes.shape), np.argsort(-boxes[:, 1], kind="stable")
    across = max(float(np.sqrt(boxes.prod(axis=1).sum())) * 1.2, float(boxes[:, 0].max()))
    x = y = height = 0.0
    for number in order.tolist():
        if x + boxes[number, 0] > across + 1e-9:
            x, y, height = 0.0, y + height + gap, 0.0
        places[number] = x, y
        x, height = x + boxes[number, 0] + gap, max(height, boxes[number, 1])
    return places
