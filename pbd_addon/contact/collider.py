"""Collider: a surface that cloth meets, moved by someone else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..mesh import TriMesh, as_polygons


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
        name: Used in messages.

    Attributes:
        mesh: The topology, a `TriMesh`.
        closed: Whether the surface has no border.

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
        name: str = "Collider",
    ) -> None:
        self.name = name
        self.vertices = np.array(vertices, float)
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3 or not len(self.vertices):
            raise ValueError(f"{name}: vertices must have shape (n, 3) with n > 0, not {self.vertices.shape}")
        if not np.isfinite(self.vertices).all():
            raise ValueError(f"{name}: vertices must be finite numbers")
        polygons = as_polygons(faces)
        corners = polygons.corners
        if corners.size and (corners.min() < 0 or corners.max() >= len(self.vertices)):
            wrong = corners.min() if corners.min() < 0 else corners.max()
            raise ValueError(f"{name}: faces names vertex {wrong}, but there are {len(self.vertices)} vertices")
        self.mesh = TriMesh(self.vertices, polygons)
        if not len(self.mesh.triangles):
            raise ValueError(f"{name}: there is no face to collide with")
        self.closed = not self.mesh.boundary_loops
        self.thickness, self.friction = float(thickness), float(friction)
        self.static_friction = self.friction if static_friction is None else float(static_friction)
        self.restitution, self.inside = float(restitution), bool(inside)
        for what, value, high in (
            ("thickness", self.thickness, np.inf),
            ("friction", self.friction, np.inf),
            ("static_friction", self.static_friction, np.inf),
            ("restitution", self.restitution, 1.0),
        ):
            if not (0.0 <= value <= high and np.isfinite(value)):
                limits = "from 0 to 1" if high == 1.0 else "at least 0"
                raise ValueError(f"{name}: {what} must be {limits}, not {value:g}")
        if self.inside and not self.closed:
            openings = len(self.mesh.boundary_loops)
            raise ValueError(f"{name}: inside needs a closed surface, this one has {openings} openings")
