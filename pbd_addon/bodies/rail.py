"""Rail: what vertices of a body slide along, moved by someone else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import arguments
from ..meshes.mesh import TriMesh, as_polygons


class Rail:
    """A surface, or lines such as a curtain rod, along which vertices slide.

    Args:
        vertices: Positions at the start, (n, 3) [m], world space.
        faces: As in `Body`.
        edges: Lines in addition to the faces, (e, 2) int.
        name: Used in messages.

    Attributes:
        elements: Vertices of the triangles and lines, (t, 3) int; of a line, the second one occurs twice.

    Raises:
        ValueError: One sentence that names the argument and the number it got.
    """

    def __init__(
        self,
        vertices: np.ndarray | Sequence[Sequence[float]],
        faces: object = (),
        edges: np.ndarray | Sequence[Sequence[int]] = (),
        name: str = "Rail",
    ) -> None:
        self.name = arguments.instance("name", name, str)
        self.vertices = arguments.vectors(f"{name}: vertices", vertices)
        polygons = as_polygons(f"{name}: faces", faces, len(self.vertices))
        lines = arguments.ids(f"{name}: edges", edges, len(self.vertices), width=2)
        triangles = TriMesh(self.vertices, polygons).triangles
        self.elements = np.concatenate([triangles, lines[:, [0, 1, 1]]]).astype(np.int64)
        if not len(self.elements):
            raise ValueError(f"{name}: there are neither faces nor edges to slide along")
