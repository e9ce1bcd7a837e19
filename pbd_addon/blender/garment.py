"""A garment from faces of a figure: cut out, lengthened, set off from it, and freed where it would go through it.

All of it happens in the pose that is shown. Vertices are raised along the garment's own normals, which are smoothed, so
that it spans hollows like an armpit; those that are still in the way of the figure are raised further, round by round.
"""

from typing import NamedTuple

import bmesh
import mathutils
import numpy as np

from ..contact.crossings import crossing_faces, crossing_pairs
from ..meshes.mesh import TriMesh, connected_components, fans, half_edges
from .doctor import fixes
from .errors import PBDError
from .kinds import Context, Object
from .output import output_modifier
from .read import mesh_io
from .scene import remeshing, surfaces, user_keys
from .scene.arrays import values
from .scene.surfaces import Surface

HANGING = "pbd_hanging"
"""Name of the attribute of vertices that were made below the lowest border, while a garment is fitted."""

SAME_PLACE = 1e-4
"""Vertices closer than this share of the median edge are one: figures are often cut at the seams of their UV maps."""

FLARE = 0.3
"""How far what hangs down is farther outside at its hem, in its length: a skirt in the shape of an A."""

SMOOTH_ROUNDS = 10
"""Rounds in which normals, and then borders, take the mean of their neighbors; a zigzag is gone after 4."""

FARTHER = 0.5
"""Share of the distance by which vertices that cross the figure are raised in each round; neighbors by half of it."""

PATIENCE = 6
"""Rounds in which as much crosses as before until raising ends. A skirt before legs that walk takes 15."""

MOST_RAISED = 8.0
"""Farthest that what lies on the figure is raised, in distances. What does not fit then is between two parts of it, an
arm and the chest, and would go around one of them: a tunic with arms that hang down became a balloon around these. To
span the hollow between two legs takes 6.5."""

MOST_TRIES = 5
"""How often what has no room is left out; a shirt on a figure whose arms go into its chest takes 2."""

MOST_LEFT_OUT = 0.25
"""Share of the faces that may be left out; beyond it the garment is not the one that was wanted. A tunic, a shirt and a
vest on a figure whose arms go into its chest lose 0.12, 0.14 and 0.18 below the arms."""

BIT = 0.05
"""Share of the faces below which a piece that what is left out cuts off goes with it. A sleeve has 0.1 and more."""


DIPS = 1.0 / 3.0
"""Height of a border, in its width, from which it is not level: a waistband has up to 0.15, a tunic below arms 0.5."""


HOLE = 0.25
"""Share of the longest border below which one is a hole. A neck has 0.4 of a hem, a hole at a shoulder 0.1."""


class Freed(NamedTuple):
    """How a garment fits.

    Attributes:
        moved: Number of vertices that were raised beyond the distance.
        left_out: Number of faces for which there was no room.
        crossing: Vertices at edges or faces that still go through the figure, or through the garment, (k,) int.
    """

    moved: int
    left_out: int
    crossing: np.ndarray


def cut_out(figure: Object, faces: np.ndarray) -> Object:
    """A new object with some faces of a figure in Object Mode, in its pose: with its rig, weights and collections.

    Args:
        figure: A mesh object.
        faces: Which of its faces, (f,) bool.

    Raises:
        PBDError: Something else of the stack of modifiers makes the shape.
    """
    mirror = next((one.name for one in figure.modifiers if one.type == "MIRROR" and one.show_viewport), None)
    if mirror is not None:
        raise PBDError(f"'{mirror}' makes half of '{figure.name}': apply it first, or the garment has one side")
    shape = mesh_io.base_shape(figure)
    garment = figure.copy()
    garment.data = figure.data.copy()
    garment.name = garment.data.name = f"{figure.name} Garment"
    garment.shape_key_clear()
    garment.data.attributes["position"].data.foreach_set("vector", shape.ravel())
    garment.data.materials.clear()
    for modifier in [one for one in garment.modifiers if one.type not in output_modifier.MOVERS]:
        garment.modifiers.remove(modifier)
    for collection in figure.users_collection:
        collection.objects.link(garment)

    def keep(geometry: bmesh.types.BMesh) -> None:
        _keep(geometry, faces)
        edge = float(np.median([edge.calc_length() for edge in geometry.edges]))
        borders = [vertex for vertex in geometry.verts if vertex.is_boundary]
        bmesh.ops.remove_doubles(geometry, verts=borders, dist=SAME_PLACE * edge)

    fixes.edit(garment, keep)
    return garment


def straighten(garment: Object) -> None:
    """Smooth borders along the surface: a selection of triangles ends in a zigzag."""

    def smooth(geometry: bmesh.types.BMesh) -> None:
        if _is_of_triangles(geometry):
            remeshing.straighten(geometry, SMOOTH_ROUNDS)

    fixes.edit(garment, smooth)


def subdivide(garment: Object, wanted: int) -> None:
    """Make as many vertices as wanted: quads are subdivided evenly, a surface of triangles is remeshed."""

    def cut(geometry: bmesh.types.BMesh) -> None:
        if wanted and _is_of_triangles(geometry):
            remeshing.remesh(geometry, wanted)
            return
        cuts = fixes.cuts_for(geometry, wanted) if len(geometry.verts) < wanted else 0
        bmesh.ops.subdivide_edges(geometry, edges=geometry.edges[:], cuts=cuts, use_grid_fill=True)

    fixes.edit(garment, cut)


class Fitting:
    """A garment on its figure.

    Args:
        context: Where both are shown.
        garment: A mesh object whose vertices lie on the figure.
        figure: The figure.

    Attributes:
        mesh: Of the garment.
        base: Its vertices on the figure, (n, 3) [object space].
        scale: Length in object space of what is 1 m in the pose.
        obstacle, obstacle_faces, obstacle_edges: What it has to be outside of, (m, 3) [m], (3, t) and (2, e) int.
    """

    def __init__(self, context: Context, garment: Object, figure: Object) -> None:
        self.context, self.garment = context, garment
        context.view_layer.update()
        self.figure = surfaces.read(figure, context.view_layer.depsgraph)
        self._read()

    def _read(self) -> None:
        self.base = user_keys.read_vertices(self.garment.data).astype(float)
        self.mesh = TriMesh(self.base, mesh_io.read_polygons(self.garment.data))
        posed, edges = self._shown().world(), self.mesh.edges
        self.scale = _length(self.base[edges[:, 1]] - self.base[edges[:, 0]]).sum()
        self.scale /= max(_length(posed[edges[:, 1]] - posed[edges[:, 0]]).sum(), 1e-300)

    def lengthen(self, length: float) -> None:
        """Let cloth of a length [m] hang from the border that is lowest in the pose, wider at its hem."""
        loop = self._border(lowest=True)
        if not length or not len(loop):
            return
        usual = float(np.median(_length(self.base[loop] - self.base[np.roll(loop, 1)])))
        rows = max(1, round(length * self.scale / max(usual, 1e-300)))
        along = {frozenset(pair) for pair in zip(loop.tolist(), np.roll(loop, -1).tolist())}
        up = self._up()
        away = self.base[loop] - self.base[loop].mean(axis=0)
        away -= (away @ up)[:, None] * up
        ways = dict(zip(loop.tolist(), length * self.scale / rows * (FLARE * _unit(away) - up)))

        def hang(geometry: bmesh.types.BMesh) -> None:
            geometry.verts.ensure_lookup_table()
            edges = [edge for edge in geometry.edges if frozenset(vertex.index for vertex in edge.verts) in along]
            number = geometry.verts.layers.int.new("pbd_border")
            for vertex in ways:
                geometry.verts[vertex][number] = vertex
            hangs = _hanging(geometry)
            for _row in range(rows):
                made = bmesh.ops.extrude_edge_only(geometry, edges=edges)["geom"]
                edges = [one for one in made if isinstance(one, bmesh.types.BMEdge)]
                for one in made:
                    if isinstance(one, bmesh.types.BMVert):
                        one.co = one.co + mathutils.Vector(ways[one[number]])
                        one[hangs] = 1.0
            geometry.verts.layers.int.remove(number)

        fixes.edit(self.garment, hang)

    def free(self, distance: float, least: float) -> Freed:
        """Set the garment off by a distance [m], farther where it would cross the figure, and smooth its borders.

        least: The distance that contact keeps [m], for which there is to be room everywhere.

        Where there is no room for it, as in an armpit under an arm that lies on the chest, it has a hole.
        """
        left_out, faces = 0, len(self.garment.data.polygons)
        self._surround(least)
        for _try in range(MOST_TRIES + 1):
            self._read()
            ground = self.base.copy()
            height, crossing = self._raise(distance)
            if not len(crossing) or _try == MOST_TRIES:
                break
            drop = self._without_room(crossing)
            if not drop.any() or left_out + drop.sum() > MOST_LEFT_OUT * faces:
                break
            left_out += int(drop.sum())
            self._write(ground)
            fixes.edit(self.garment, lambda geometry: _leave_out(geometry, drop))  # noqa: B023  # called here
        if hangs := self.garment.data.attributes.get(HANGING):
            self.garment.data.attributes.remove(hangs)
        return Freed(int((height > 1.0).sum()), left_out, crossing)

    def _raise(self, distance: float) -> tuple[np.ndarray, np.ndarray]:
        """How far each vertex was raised, (n,) [distances], and what crosses something all the same, (k,) int.

        What crosses the figure is raised, as far as `MOST_RAISED`; then, what crosses the garment itself is smoothed.
        What does not fit stays at the distance, where the figure hides it.
        """
        normals = self._smooth_normals()
        self._smooth_borders()
        hangs = self.garment.data.attributes.get(HANGING)
        most = np.full(len(self.base), MOST_RAISED)
        if hangs:
            most[values(hangs.data, "value", float) > 0.0] = np.inf
        height, fewest, since = np.ones(len(self.base)), 2 * len(self.base), 0
        while True:
            self._write(self.base + (self.scale * distance * height)[:, None] * normals)
            places = self._shown().world()
            crossing, own = self._crossing(places), np.zeros(0, int)
            if not len(crossing):
                own = np.unique(self.mesh.triangles[crossing_faces(places, self.mesh.triangles)])
            left = len(own) or len(self.base) + len(crossing)
            fewest, since = (left, 0) if left < fewest else (fewest, since + 1)
            if not len(crossing) + len(own) or since == PATIENCE:
                break
            height = np.minimum(height + self._spread(crossing, FARTHER), most)
            share = self._spread(own, 1.0)[:, None]
            self.base += share * (self._mean(self.base, self.mesh.edges) - self.base)
        if len(crossing):
            height[(self._spread(crossing, 1.0) > 0.0) & np.isfinite(most)] = 1.0
            self._write(self.base + (self.scale * distance * height)[:, None] * normals)
        return height, np.union1d(crossing, own)

    def _spread(self, vertices: np.ndarray, value: float) -> np.ndarray:
        """A value at vertices (k,) int, half of it at their neighbors, else 0; (n,)."""
        found, beside = np.zeros((2, len(self.base)))
        found[vertices] = value
        for here, there in (self.mesh.edges.T, self.mesh.edges.T[::-1]):
            np.maximum.at(beside, here, 0.5 * found[there])
        return np.asarray(np.maximum(found, beside))

    def _without_room(self, vertices: np.ndarray) -> np.ndarray:
        """Which faces have one of these vertices (k,) int, and bits that they would cut off, (f,) bool."""
        at, starts = mesh_io.read_polygons(self.garment.data)
        found = np.logical_or.reduceat(np.isin(at, vertices), starts[:-1])
        following = np.arange(1, len(at) + 1)
        following[starts[1:] - 1] = starts[:-1]
        pairs = np.stack([at, at[following]], axis=1)[~np.repeat(found, np.diff(starts))]
        piece = connected_components(pairs, len(self.base))[at[starts[:-1]]]
        sizes = np.bincount(piece[~found], minlength=len(self.base))
        return np.asarray(found | (sizes[piece] < BIT * len(found)))

    def top_border(self) -> np.ndarray:
        """The vertices of the border that is highest in the pose, (k,) int; none where there is no border.

        Of one that dips, as below arms, the upper half: skin stretches there, on figures of few vertices eight times.
        """
        loop, places = self._border(lowest=False), self._shown().world()
        if not len(loop):
            return loop
        low, high = places[loop].min(axis=0), places[loop].max(axis=0)
        dips = high[2] - low[2] > DIPS * max(high[:2] - low[:2])
        return loop[places[loop, 2] >= 0.5 * (low[2] + high[2])] if dips else loop

    def _border(self, lowest: bool) -> np.ndarray:
        """The highest or lowest border, of those that are not short: small holes are no waist."""
        heights, least = self._shown().world()[:, 2], HOLE * max(map(len, self.mesh.boundary_loops), default=0)
        loops = [loop for loop in self.mesh.boundary_loops if len(loop) >= least]
        loops.sort(key=lambda loop: float(heights[loop].mean()))
        return loops[0 if lowest else -1] if loops else np.zeros(0, int)

    def _up(self) -> np.ndarray:
        """What the pose turns upward, as closely as one rotation can, (3,) [object space] (Kabsch 1976)."""
        posed = self._shown().world()
        sides, _, others = np.linalg.svd((self.base - self.base.mean(axis=0)).T @ (posed - posed.mean(axis=0)))
        turn = sides @ np.diag([1.0, 1.0, np.linalg.det(sides @ others)]) @ others
        return np.asarray(turn[:, 2])

    def _shown(self) -> Surface:
        self.context.view_layer.update()
        return surfaces.read(self.garment, self.context.view_layer.depsgraph)

    def _write(self, shape: np.ndarray) -> None:
        self.garment.data.attributes["position"].data.foreach_set("vector", shape.astype(np.float32).ravel())
        self.garment.data.update()

    def _mean(self, of: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """The mean of what the neighbors of each vertex along edges (e, 2) have, (n, k); its own where it has none."""
        total, count = np.zeros_like(of), np.zeros(len(of))
        for here, there in (edges.T, edges.T[::-1]):
            np.add.at(total, here, of[there])
            count += np.bincount(here, minlength=len(of))
        return np.where(count[:, None] > 0.0, total / np.maximum(count, 1.0)[:, None], of)

    def _smooth_normals(self) -> np.ndarray:
        normals = _sums(self.base, self.mesh.triangles)
        for _round in range(SMOOTH_ROUNDS):
            normals = _unit(normals)
            normals += self._mean(normals, self.mesh.edges)
        return _unit(normals)

    def _smooth_borders(self) -> None:
        loops = self.mesh.boundary_loops
        pairs = [np.stack([loop, np.roll(loop, -1)], axis=1) for loop in loops]
        along = np.concatenate([*pairs, np.zeros((0, 2), int)])
        for _round in range(SMOOTH_ROUNDS):
            self.base = 0.5 * (self.base + self._mean(self.base, along))

    def _surround(self, distance: float) -> None:
        """Note the figure, and what is at this distance [m] around it, as one surface."""
        points, faces = self.figure.world(), fans(self.figure.faces)
        around = points + distance * _unit(_sums(points, faces)) * (-1.0 if self.figure.mirrored else 1.0)
        self.obstacle = np.concatenate([points, around])
        self.obstacle_faces = np.concatenate([faces, faces + len(points)]).T
        self.obstacle_edges = np.unique(np.sort(half_edges(self.obstacle_faces.T)[0], axis=1), axis=0).T

    def _crossing(self, places: np.ndarray) -> np.ndarray:
        """Vertices at what goes through the figure or around it, with the garment at places (n, 3) [m]; (k,) int."""
        x = np.ascontiguousarray(np.concatenate([places, self.obstacle]).T)
        edge, _ = crossing_pairs(x, self.mesh.edges.T, self.obstacle_faces + len(places))
        _, triangle = crossing_pairs(x, self.obstacle_edges + len(places), self.mesh.triangles.T)
        return np.unique(np.concatenate([self.mesh.edges[edge].ravel(), self.mesh.triangles[triangle].ravel()]))


def _hanging(geometry: bmesh.types.BMesh) -> bmesh.types.BMLayerItem:
    """The layer that says which vertices do not lie on the figure: above 0."""
    layers = geometry.verts.layers.float
    return layers.get(HANGING) or layers.new(HANGING)


def _is_of_triangles(geometry: bmesh.types.BMesh) -> bool:
    """Whether most faces that lie on the figure are triangles."""
    hangs = _hanging(geometry)
    found = [len(face.verts) == 3 for face in geometry.faces if not all(vertex[hangs] for vertex in face.verts)]
    return 2 * sum(found) > len(found)


def _keep(geometry: bmesh.types.BMesh, faces: np.ndarray) -> None:
    """Delete all but these faces, (f,) bool."""
    rest = [face for face, stays in zip(geometry.faces, faces.tolist()) if not stays]
    bmesh.ops.delete(geometry, geom=rest, context="FACES")


def _leave_out(geometry: bmesh.types.BMesh, faces: np.ndarray) -> None:
    """Delete these faces, (f,) bool, and straighten the new borders."""
    _keep(geometry, ~faces)
    if _is_of_triangles(geometry):
        remeshing.straighten(geometry, SMOOTH_ROUNDS)


def _sums(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The sum of the normals of the triangles (t, 3) around each point (n, 3), by area, (n, 3)."""
    corners = points[triangles]
    normals = np.zeros_like(points)
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.add.at(normals, triangles, areas[:, None])
    return normals


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.maximum(_length(vectors), 1e-300)[:, None])
