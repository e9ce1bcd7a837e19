"""A garment from faces of a figure: cut out, set off from it, and freed where it would go through it.

All of it happens in the pose that is shown. Vertices are raised along the garment's own normals, which are smoothed, so
that it spans hollows like an armpit; those that are still in the way of the figure are raised further, round by round.
"""

from typing import NamedTuple

import bmesh
import bpy
import numpy as np

from ..meshes.mesh import TriMesh, fans
from ..contact.crossings import crossing_pairs
from .doctor import fixes
from .errors import PBDError
from .kinds import Context, Object
from .output import output_modifier
from .read import mesh_io
from .scene import surfaces, user_keys
from .scene.surfaces import Surface

SAME_PLACE = 1e-4
"""Vertices closer than this share of the median edge are one: figures are often cut at the seams of their UV maps."""

SMOOTH_ROUNDS = 10
"""Rounds in which normals, and then borders, take the mean of their neighbors; a zigzag of triangles is gone after 4."""

MOST_ROUNDS = 8
"""Most rounds in which vertices that cross the figure are raised: to five times the distance, no farther."""

FARTHER = 0.5
"""Share of the distance by which they are raised in each."""


class Freed(NamedTuple):
    """How a garment fits.

    Attributes:
        moved: Number of vertices that were raised beyond the distance.
        crossing: Vertices at edges or faces that still go through the figure, (k,) int.
    """

    moved: int
    crossing: np.ndarray


def cut_out(figure: Object, faces: np.ndarray, wanted: int) -> Object:
    """A new object with some faces of a figure in Object Mode, in its pose: with its rig, weights and collections.

    Args:
        figure: A mesh object.
        faces: Which of its faces, (f,) bool.
        wanted: Number of vertices; faces are subdivided until there are as many.

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
    geometry = bmesh.new()
    geometry.from_mesh(garment.data)
    rest = [face for face, stays in zip(geometry.faces, faces.tolist()) if not stays]
    bmesh.ops.delete(geometry, geom=rest, context="FACES")
    edge = float(np.median([edge.calc_length() for edge in geometry.edges]))
    borders = [vertex for vertex in geometry.verts if vertex.is_boundary]
    bmesh.ops.remove_doubles(geometry, verts=borders, dist=SAME_PLACE * edge)
    cuts = fixes.cuts_for(geometry, wanted) if len(geometry.verts) < wanted else 0
    bmesh.ops.subdivide_edges(geometry, edges=geometry.edges[:], cuts=cuts, use_grid_fill=True)
    geometry.to_mesh(garment.data)
    geometry.free()
    return garment


class Fitting:
    """A garment on its figure.

    Args:
        context: Where both are shown.
        garment: A mesh object whose vertices lie on the figure.
        figure: The figure.

    Attributes:
        mesh: Of the garment.
        base: Its vertices on the figure, (n, 3) [object space].
    """

    def __init__(self, context: Context, garment: Object, figure: Object) -> None:
        self.context, self.garment = context, garment
        self.base = user_keys.read_vertices(garment.data).astype(float)
        self.mesh = TriMesh(self.base, mesh_io.read_polygons(garment.data))
        context.view_layer.update()
        self.figure = surfaces.read(figure, context.view_layer.depsgraph)

    def free(self, distance: float) -> Freed:
        """Set the garment off by a distance [m], farther where it would cross the figure, and smooth its borders."""
        posed, edges = self._shown().world(), self.mesh.edges
        scale = _length(self.base[edges[:, 1]] - self.base[edges[:, 0]]).sum()
        scale /= max(_length(posed[edges[:, 1]] - posed[edges[:, 0]]).sum(), 1e-300)
        normals = self._smooth_normals()
        self._smooth_borders()
        height = np.full(len(self.base), 1.0)
        for rounds in range(MOST_ROUNDS + 1):
            self._write(self.base + (scale * distance * height)[:, None] * normals)
            crossing = self._crossing()
            if not len(crossing) or rounds == MOST_ROUNDS:
                break
            height[crossing] += FARTHER
        return Freed(int((height > 1.0).sum()), crossing)

    def top_border(self) -> np.ndarray:
        """The vertices of the border that is highest in the pose, (k,) int; none where there is no border."""
        places = self._shown().world()
        return max(self.mesh.boundary_loops, key=lambda loop: places[loop, 2].mean(), default=np.zeros(0, int))

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
        corners = self.base[self.mesh.triangles]
        areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = np.zeros_like(self.base)
        np.add.at(normals, self.mesh.triangles, areas[:, None])
        for _round in range(SMOOTH_ROUNDS):
            normals /= np.maximum(_length(normals), 1e-300)[:, None]
            normals += self._mean(normals, self.mesh.edges)
        return np.asarray(normals / np.maximum(_length(normals), 1e-300)[:, None])

    def _smooth_borders(self) -> None:
        loops = self.mesh.boundary_loops
        along = np.concatenate([np.stack([loop, np.roll(loop, -1)], axis=1) for loop in loops] or [np.zeros((0, 2), int)])
        for _round in range(SMOOTH_ROUNDS):
            self.base = 0.5 * (self.base + self._mean(self.base, along))

    def _crossing(self) -> np.ndarray:
        """Vertices at what goes through the figure as shown, (k,) int."""
        places = self._shown().world()
        x = np.ascontiguousarray(np.concatenate([places, self.figure.world()]).T)
        faces = fans(self.figure.faces).T + len(places)
        sides = np.unique(np.sort(np.concatenate([faces[[0, 1]], faces[[1, 2]], faces[[2, 0]]], axis=1), axis=0), axis=1)
        edge, _ = crossing_pairs(x, self.mesh.edges.T, faces)
        _, triangle = crossing_pairs(x, sides, self.mesh.triangles.T)
        return np.unique(np.concatenate([self.mesh.edges[edge].ravel(), self.mesh.triangles[triangle].ravel()]))


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
