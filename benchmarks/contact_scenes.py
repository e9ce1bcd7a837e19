"""Scenes of contact: a sheet over a ball, a sheet that folds on a floor, a balloon on a floor. Without Blender."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np

from pbd_addon import PRESETS, Body, Collider, Material, Plane, Simulation

from . import contact_measures
from .contestants import FABRIC
from .curtain import Curtain

DRAPE_FRAMES, FOLD_FRAMES, BALLOON_FRAMES = 40, 50, 50
BALL_RADIUS = 0.3
BALL_SUBDIVISIONS = 4
"""Of the ball under the sheet: 5120 triangles."""

DROP = 0.05
"""Height over the obstacle at the start [m]."""

NOISE = 1e-4
"""Standard deviation of the unevenness of the sheet that stands on edge [m]; else it would stay standing."""

BALLOONS = (4, 5, 6)
"""Subdivisions as Blender counts them: 642, 2562 and 10242 vertices."""


@dataclasses.dataclass(frozen=True)
class ContactScene:
    """A cloth or balloon, and what it meets.

    Attributes:
        kind: "drape", "fold" or "balloon".
        name: What the tables call it.
        vertices: Where it starts, (n, 3) [m].
        rest_vertices: Where its lengths and angles are at rest, (n, 3) [m].
        faces: Quads or triangles, (f, 3 or 4) int.
        triangles: The faces cut into triangles, (t, 3) int.
        edges: Sides of the faces, each once, (e, 2) int; strain is theirs.
        obstacle_vertices, obstacle_faces: The obstacle's mesh, (m, 3) [m] and (g, 3 or 4) int.
        solid: The obstacle's true shape: of a floor, all that is below it.
        is_floor: Whether the obstacle is the plane z = 0.
        frames: How many are simulated.
        self_collision: Whether the cloth meets itself.
        inflated: Whether it is to hold its volume.
        material: Of ours.
    """

    kind: str
    name: str
    vertices: np.ndarray
    rest_vertices: np.ndarray
    faces: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    obstacle_vertices: np.ndarray
    obstacle_faces: np.ndarray
    solid: contact_measures.Convex
    is_floor: bool
    frames: int
    self_collision: bool
    inflated: bool
    material: Material

    @property
    def mass(self) -> float:
        """Of the whole cloth [kg]."""
        corners = self.rest_vertices[self.triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return float(self.material.density * 0.5 * np.linalg.norm(normals, axis=1).sum())

    @property
    def edge(self) -> float:
        """Median length of the edges [m]."""
        return float(np.median(self._lengths(self.rest_vertices)))

    def strain(self, x: np.ndarray) -> np.ndarray:
        """|length / rest length - 1| of every edge at positions x (n, 3), (e,)."""
        return np.asarray(np.abs(self._lengths(x) / self._lengths(self.rest_vertices) - 1.0))

    def volume(self, x: np.ndarray) -> float:
        """Enclosed volume at positions x (n, 3) over that at the start."""
        return _volume(x, self.triangles) / _volume(self.rest_vertices, self.triangles)

    def depth(self, x: np.ndarray) -> float:
        """How far the deepest point is inside the obstacle at positions x (n, 3) [m]; below 0, the gap.

        Vertices, edges and faces are sampled: see `contact_measures.samples`.
        """
        return self.solid.deepest(contact_measures.samples(x, self.triangles, self._all_edges))

    def crossings(self, x: np.ndarray) -> int:
        """Number of edges through faces at positions x (n, 3), counted in pairs."""
        return contact_measures.crossings(x, self.triangles, self._all_edges)

    @property
    def _all_edges(self) -> np.ndarray:
        if "all_edges" not in self.__dict__:
            self.__dict__["all_edges"] = contact_measures.edges_of(self.triangles)
        return np.asarray(self.__dict__["all_edges"])

    def _lengths(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.norm(x[self.edges[:, 0]] - x[self.edges[:, 1]], axis=1))

    def simulation(self, self_collision: bool | str | None = None, **options: object) -> tuple[Body, Simulation]:
        """The scene in our solver, which is at its defaults but for `options` of `Simulation`."""
        body = Body(self.vertices, self.faces, material=self.material, rest_vertices=self.rest_vertices, name=self.name)
        if self.is_floor:
            obstacle: Plane | Collider = Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        else:
            obstacle = Collider(self.obstacle_vertices, self.obstacle_faces, name="Ball")
        meets_itself = self.self_collision if self_collision is None else self_collision
        return body, Simulation([body], [obstacle], self_collision=meets_itself, **options)  # type: ignore[arg-type]


def drape(n: int, self_collision: bool, frames: int = DRAPE_FRAMES) -> ContactScene:
    """A sheet of 1 m, n × n vertices, falls on a ball."""
    sheet = Curtain.of_size(n)
    vertices = sheet.vertices + np.array([0.0, 0.0, BALL_RADIUS + DROP])
    ball, triangles = icosphere(BALL_SUBDIVISIONS, BALL_RADIUS)
    return ContactScene(
        "drape", f"drape {n} × {n}{', self' if self_collision else ''}", vertices, vertices, sheet.faces,
        _cut(sheet.faces), sheet.edges, ball, triangles, contact_measures.Convex.of_mesh(ball, triangles), False,
        frames, self_collision, False, PRESETS[FABRIC],
    )  # fmt: skip


def fold(n: int, self_collision: bool = True, frames: int = FOLD_FRAMES, noise: float = NOISE) -> ContactScene:
    """A sheet of 1 m, n × n vertices, stands on edge, falls on a floor and folds."""
    sheet = Curtain.of_size(n)
    x, y, _ = sheet.vertices.T
    flat = np.column_stack([x, np.zeros_like(x), y - y.min() + DROP])
    vertices = flat.copy()
    vertices[:, 1] = noise * np.random.default_rng(7).standard_normal(len(x))
    return ContactScene(
        "fold", f"fold {n} × {n}{', self' if self_collision else ''}", vertices, flat, sheet.faces, _cut(sheet.faces),
        sheet.edges, *_floor(), True, frames, self_collision, False, PRESETS[FABRIC],
    )  # fmt: skip


def balloon(subdivisions: int, self_collision: bool = False, frames: int = BALLOON_FRAMES) -> ContactScene:
    """A ball that holds its volume falls on a floor; `subdivisions` as Blender counts them."""
    vertices, triangles = icosphere(subdivisions - 1, BALL_RADIUS)
    vertices[:, 2] += BALL_RADIUS + DROP
    material = dataclasses.replace(PRESETS[FABRIC], pressure_mode="VOLUME", pressure=1.0)
    return ContactScene(
        "balloon", f"balloon of {len(vertices)}{', self' if self_collision else ''}", vertices, vertices, triangles,
        triangles, contact_measures.edges_of(triangles), *_floor(), True, frames, self_collision, True, material,
    )  # fmt: skip


def of_kind(kind: str, size: int, self_collision: bool, **options: int) -> ContactScene:
    """A "drape" or "fold" of size × size vertices, or a "balloon" of `size` subdivisions."""
    make = {"drape": drape, "fold": fold, "balloon": balloon}[kind]
    return make(size, self_collision, **options)  # type: ignore[arg-type]


def icosphere(subdivisions: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """A ball around the origin, an icosahedron whose triangles are cut in four `subdivisions` times.

    Returns:
        Vertices (10 * 4**subdivisions + 2, 3) float64 [m]; triangles (20 * 4**subdivisions, 3) int, facing out.
    """
    golden = (1.0 + 5.0**0.5) / 2.0
    corners = [np.roll((0.0, one, long), turn) for turn in range(3) for one in (-1, 1) for long in (-golden, golden)]
    x = np.array(corners)
    # The faces of an icosahedron are the triples of corners that are all one side, 2, apart.
    near = np.isclose(np.linalg.norm(x[:, None] - x, axis=2), 2.0)
    faces = [face for face in combinations(range(12), 3) if near[face, np.roll(face, 1)].all()]
    triangles = np.array([(a, b, c) if np.linalg.det(x[[a, b, c]]) > 0.0 else (a, c, b) for a, b, c in faces])
    for _ in range(subdivisions):
        sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        unique, inverse = np.unique(sides, axis=0, return_inverse=True)
        (a, b, c), (ab, bc, ca) = triangles.T, (len(x) + inverse.reshape(-1, 3)).T
        x = np.concatenate([x, x[unique].mean(axis=1)])
        x /= np.linalg.norm(x, axis=1)[:, None]
        cuts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        triangles = np.concatenate([np.column_stack(cut) for cut in cuts])
    return radius * x / np.linalg.norm(x, axis=1)[:, None], triangles


def _floor() -> tuple[np.ndarray, np.ndarray, contact_measures.Convex]:
    """A square of 4 m at z = 0, and the half-space below it."""
    vertices = np.array([[-2.0, -2.0, 0.0], [2.0, -2.0, 0.0], [2.0, 2.0, 0.0], [-2.0, 2.0, 0.0]])
    return vertices, np.array([[0, 1, 2, 3]]), contact_measures.Convex(np.array([[0.0, 0.0, 1.0]]), np.zeros(1))


def _cut(quads: np.ndarray) -> np.ndarray:
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _volume(x: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (x[triangles[:, corner]] - x[0] for corner in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)
