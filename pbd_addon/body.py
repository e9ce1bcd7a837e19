"""Body: one piece of cloth, balloon or rope, as the user hands it over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .maps import checked_maps
from .mesh import EMPTY, TriMesh, as_polygons, enclosed_volume
from .settings import AIR_DENSITY, Material

ROPE_WIDTH = 0.01
"""A loose edge weighs and pulls like a ribbon of its body's material of this width [m]."""


class Body:
    """A simulated mesh. Its topology is fixed; its material can change.

    Args:
        vertices: Positions at the start, (n, 3) [m], world space.
        faces: (t, 3) or (t, 4) int array, a list of polygons, or `mesh.Polygons`.
        material: What it is made of.
        pins: Vertices that are held: ids, or {id: weight in (0, 1]}; a weight below 1 holds softly.
        rest_vertices: Where lengths, angles and volume are measured, (n, 3) [m]; default: `vertices`.
        edges: Edges beside those of the faces, (e, 2) int: ropes, seams.
        masses: Masses of all vertices, (n,) [kg]; default: from the material's density.
        compliances: Compliance of every row of `edges`, (e,) [m/N]; default: from the material.
        name: Used in messages.
        maps: Factors on the material by the names in `maps.MAPS`, each (n,) [1]. "stretch" counts for tension,
            compression and shear, "shrink" for rest lengths; "density" does nothing where masses were given.

    Attributes:
        mesh: The topology, a `TriMesh`.
        pin_ids: Pinned vertices in ascending order, (k,) int; `pin_weights` beside them, (k,).
        notes: Sentences about what was mended or left out.

    Raises:
        ValueError: One sentence that names the argument and the number it got.
    """

    def __init__(
        self,
        vertices: np.ndarray | Sequence[Sequence[float]],
        faces: object = (),
        material: Material | None = None,
        pins: Mapping[int, float] | Iterable[int] = (),
        rest_vertices: np.ndarray | Sequence[Sequence[float]] | None = None,
        edges: np.ndarray | Sequence[Sequence[int]] = (),
        masses: np.ndarray | Sequence[float] | None = None,
        compliances: np.ndarray | Sequence[float] | None = None,
        name: str = "Body",
        maps: Mapping[str, np.ndarray | Sequence[float]] | None = None,
    ) -> None:
        self.name = name
        self.material = Material() if material is None else material
        self.vertices = self._positions("vertices", vertices)
        n = len(self.vertices)
        self.rest_vertices = self.vertices if rest_vertices is None else self._positions("rest_vertices", rest_vertices)
        if len(self.rest_vertices) != n:
            raise ValueError(f"{name}: rest_vertices has {len(self.rest_vertices)} rows, vertices has {n}")
        polygons = as_polygons(faces)
        loose = np.asarray(edges, int).reshape(-1, 2)
        self._check_range("faces", polygons.corners, n)
        self._check_range("edges", loose, n)
        if not len(polygons.corners) and not len(loose):
            raise ValueError(f"{name}: there are neither faces nor edges to simulate")
        self.mesh = TriMesh(self.rest_vertices, polygons, loose)
        self.edge_compliances = self._own_compliances(loose, compliances)
        self.pin_ids, self.pin_weights = self._pins(pins)
        self.rest_lengths = self.mesh.edge_lengths(self.rest_vertices)
        self._area_of_vertices = self._weighed_areas()
        self.own_masses = None if masses is None else self._masses(masses)
        self.maps = checked_maps(maps, n, name)
        self.notes = self._notes()

    def masses(self, material: Material | None = None) -> np.ndarray:
        """Mass of every vertex: its share of the faces around it times density, (n,) float64 [kg]."""
        if self.own_masses is not None:
            return self.own_masses
        return (material or self.material).density * self._area_of_vertices

    def air_masses(self, material: Material | None = None) -> np.ndarray:
        """Mass of the air that moves with every vertex of a balloon, (n,) float64 [kg]; it has inertia and no weight.

        The air inside must be moved along, and so must half as much outside (the added mass of a ball in a fluid). It
        outweighs a thin skin many times. Each vertex gets its share by area; nothing without pressure, or where masses
        were given.
        """
        if self.own_masses is not None or (material or self.material).pressure_mode == "OFF":
            return np.zeros(len(self.vertices))
        air = 1.5 * AIR_DENSITY * abs(self.volume(self.rest_vertices))
        return air * self._area_of_vertices / self._area_of_vertices.sum()

    def edge_strain(self, x: np.ndarray) -> np.ndarray:
        """Lengthening of `mesh.edges` over their rest lengths at positions x (n, 3), (e,) [1]."""
        rest = np.maximum(self.rest_lengths, 1e-300)
        return np.asarray(self.mesh.edge_lengths(np.asarray(x, float)) / rest - 1.0)

    def volume(self, x: np.ndarray) -> float:
        """Volume that positions x (n, 3) enclose, openings closed by caps [m³]; negative if normals point inwards."""
        return enclosed_volume(np.asarray(x, float), self.mesh.triangles, self.mesh.boundary_loops)

    def _positions(self, argument: str, values: np.ndarray | Sequence[Sequence[float]]) -> np.ndarray:
        x = np.array(values, float)
        if x.ndim != 2 or x.shape[1] != 3 or not len(x):
            raise ValueError(f"{self.name}: {argument} must have shape (n, 3) with n > 0, not {x.shape}")
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        if len(bad):
            raise ValueError(f"{self.name}: {argument} must be finite numbers, vertex {bad[0]} is {x[bad[0]].tolist()}")
        return x

    def _check_range(self, argument: str, ids: np.ndarray, n: int) -> None:
        if ids.size and (ids.min() < 0 or ids.max() >= n):
            wrong = ids.min() if ids.min() < 0 else ids.max()
            raise ValueError(f"{self.name}: {argument} names vertex {wrong}, but there are {n} vertices")

    def _pins(self, pins: Mapping[int, float] | Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        weights = dict(pins) if isinstance(pins, Mapping) else {int(vertex): 1.0 for vertex in pins}
        ids = np.array(sorted(weights), int)
        self._check_range("pins", ids, len(self.vertices))
        values = np.array([weights[vertex] for vertex in ids.tolist()], float)
        if len(values) and not ((values > 0.0) & (values <= 1.0)).all():
            wrong = values[~((values > 0.0) & (values <= 1.0))][0]
            raise ValueError(f"{self.name}: pin weights must lie in (0, 1], not {wrong:g}")
        return ids, values

    def _own_compliances(self, loose: np.ndarray, values: np.ndarray | Sequence[float] | None) -> np.ndarray:
        """Given compliance of every mesh edge, (e,), NaN where there is none."""
        result = np.full(len(self.mesh.edges), np.nan)
        if values is None:
            return result
        given = np.asarray(values, float)
        if given.shape != (len(loose),):
            raise ValueError(f"{self.name}: compliances has shape {given.shape}, edges has {len(loose)} rows")
        if not (given >= 0.0).all():
            raise ValueError(f"{self.name}: compliances must be at least 0 m/N, not {given.min():g}")
        keys = self.mesh.edges[:, 0].astype(np.int64) * len(self.vertices) + self.mesh.edges[:, 1]
        wanted = loose.min(axis=1) * len(self.vertices) + loose.max(axis=1)
        result[np.searchsorted(keys, wanted)] = given
        return result

    def _masses(self, values: np.ndarray | Sequence[float]) -> np.ndarray:
        masses = np.array(values, float)
        if masses.shape != (len(self.vertices),):
            raise ValueError(f"{self.name}: masses has shape {masses.shape}, vertices has {len(self.vertices)} rows")
        if not (np.isfinite(masses) & (masses > 0.0)).all():
            raise ValueError(f"{self.name}: masses must be above 0 kg, not {masses.min():g}")
        return masses

    def _weighed_areas(self) -> np.ndarray:
        """Area of each vertex, (n,) [m²]; those without any get the mean, so that none is weightless."""
        area = self.mesh.corner_areas.copy()
        ropes = self.mesh.edge_areas == 0.0
        ends, lengths = self.mesh.edges[ropes], self.rest_lengths[ropes]
        area += np.bincount(ends.ravel(), np.repeat(0.5 * ROPE_WIDTH * lengths, 2), len(area))
        heavy = area > 0.0
        if not heavy.any():
            raise ValueError(f"{self.name}: no face has an area and no edge has a length")
        area[~heavy] = area[heavy].mean()
        return area

    def _notes(self) -> tuple[str, ...]:
        mesh, notes = self.mesh, []
        used = np.zeros(len(self.vertices), bool)
        used[mesh.edges.ravel()] = True
        for count, one, many in (
            (int((~used).sum()), "isolated vertex stays where it is", "isolated vertices stay where they are"),
            (mesh.zero_area_faces, "triangle without area is ignored", "triangles without area are ignored"),
            (mesh.duplicate_faces, "duplicate face is ignored", "duplicate faces are ignored"),
            (mesh.non_manifold_edges, "edge has more than two faces", "edges have more than two faces"),
        ):
            if count:
                notes.append(f"{count} {one if count == 1 else many}")
        self.isolated = ~used
        if self.material.pressure_mode != "OFF":
            openings = len(mesh.boundary_loops)
            if openings:
                notes.append(
                    "1 opening is closed by a virtual cap"
                    if openings == 1
                    else f"{openings} openings are closed by virtual caps"
                )
            if abs(self.volume(self.rest_vertices)) < EMPTY * mesh.corner_areas.sum() ** 1.5:
                notes.append("It encloses no volume at rest: only Overpressure can inflate it")
        return tuple(notes)
