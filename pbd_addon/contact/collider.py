"""Collider: a surface that cloth meets, moved by someone else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import arguments
from ..meshes import joints
from ..meshes.mesh import TriMesh, as_polygons


class Collider:
    """An obstacle: any triangle mesh, closed or open, still, moving or deforming.

    Cloth stays on the side of an open surface where it is. A closed surface is solid: what is inside of it is pushed
    out, or with `inside` what is outside is pushed in.

    Args:
        vertices: Positions at the start, (n, 3) [m], world space.
        faces: (t, 3) or (t, 4) int array, a list of polygons, or `mesh.Polygons`.
        thickness: Distance that is kept in addition to the material's own [m].
        friction: Coulomb coefficient while sliding; in a contact, the mean of the collider's and the material's counts.
        static_friction: The coefficient that must be overcome to start sliding; default: `friction`.
        restitution: Share of the speed of approach that a bounce gives back, 0 to 1.
        inside: Keep cloth inside of a closed surface instead of outside.
        join_borders: Whether borders that start at the same place are one, as UV seams of imported figures are. They
            are meant to move together: of each place, the first vertex counts.
        name: Used in messages.

    Attributes:
        mesh: The topology, a `TriMesh`.
        closed: Whether the surface has no border.
        notes: Hints about the mesh, in sentences.

    `thickness`, `friction`, `static_friction`, `restitution` may be changed between steps.

    Raises:
        ValueError: One sentence that names the argument and the number it got.
    """

    def __init__(
        self,
        vertices: np.ndarray | Sequence[Sequence[float]],
        faces: object,
        thickness: float = 0.002,
        friction: float = 0.4,
        static_friction: float | None = None,
        restitution: float = 0.0,
        inside: bool = False,
        join_borders: bool = True,
        name: str = "Collider",
    ) -> None:
        self.name = arguments.instance("name", name, str)
        self.vertices = arguments.vectors(f"{name}: vertices", vertices)
        polygons = as_polygons(f"{name}: faces", faces, len(self.vertices))
        join_borders = arguments.switch(f"{name}: join_borders", join_borders)
        self.mesh, joined = (
            joints.obstacle(self.vertices, polygons) if join_borders else (TriMesh(self.vertices, polygons), 0)
        )
        self.notes = (joints.AT_ONE_PLACE.format(count=joined),) if joined else ()
        if not len(self.mesh.triangles):
            raise ValueError(f"{name}: there is no face to collide with")
        self.closed = not self.mesh.boundary_loops
        self.thickness = arguments.number(f"{name}: thickness", thickness, low=0.0, unit="m")
        self.friction = arguments.number(f"{name}: friction", friction, low=0.0)
        static_friction = friction if static_friction is None else static_friction
        self.static_friction = arguments.number(f"{name}: static_friction", static_friction, low=0.0)
        self.restitution = arguments.number(f"{name}: restitution", restitution, low=0.0, high=1.0)
        self.inside = arguments.switch(f"{name}: inside", inside)
        if self.inside and not self.closed:
            openings = len(self.mesh.boundary_loops)
            raise ValueError(f"{name}: inside needs a closed surface, this one has {openings} openings")
