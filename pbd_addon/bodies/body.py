"""Body: a cloth, balloon or rope, as given by the user."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..arrays import arguments
from ..meshes import joints
from ..meshes.creases import Creases, checked_creases
from ..meshes.mesh import EMPTY, TriMesh, as_polygons, connected_components, enclosed_volume, half_edges, pair_keys
from ..parts.ropes import ROPE_WIDTH
from ..settings.solver_settings import AIR_DENSITY
from .maps import checked_maps
from .material import Material
from .rail import Rail

FASTEST_START = 1e3
"""No vertex may start faster [m/s]: a tenth of `time_stepping.RUNAWAY_SPEED`."""

SMALLEST = 1e-5
"""Least size of a body at rest [m]: a fiber of cotton is as thick, and what is smaller is no cloth. Coordinates of
Blender, of 32 bits, are 1e-7 m apart at a distance of 1 m."""

SHORT = 0.02
"""Edges of a skin under pressure that are shorter than this share of the usual edge are no edges: their ends are one.

Voxel Remesh leaves 50 of 4632 in letters thinner than a voxel. Each is up to 70 000 times as stiff as the usual
one, and makes its ends 1e8 times heavier: foil with them flies apart, with or without self-collision. Merged by 1e-4 it
still moves at 1.4 m/s, by 0.02 it is calm."""

ARE_ONE = "{count} vertices are one with others that are closer than 2 % of an edge"
"""The hint that some are."""


NO_WARP = "{count} faces have no direction in the UV map: there the warp runs along the X axis"
"""The hint that some have none."""


class Body:
    """A simulated mesh. Its topology is fixed; its material can change.

    Args:
        vertices: Positions at the start, (n, 3) [m], world space.
        faces: (t, 3) or (t, 4) int array, a list of polygons, or `mesh.Polygons`.
        material: Its material.
        pins: Pinned vertices: ids, or {id: weight in (0, 1]}; a weight below 1 is a soft pin.
        rest_vertices: Positions in which rest lengths, angles and volume are measured, (n, 3) [m]; default: `vertices`.
        edges: Edges in addition to those of the faces, (e, 2) int: ropes, or seams if they join two faces and the
            material has `sewing`.
        masses: Masses of all vertices, (n,) [kg]; default: from the material's density.
        compliances: Compliance of every row of `edges`, (e,) [m/N]; default: from the material.
        name: Used in messages.
        maps: Factors on the material by the names in `parts.MAPS`, each (n,) [1]. "stretch" applies to tension,
            compression and shear, "shrink" to rest lengths; "density" does nothing where masses are given. Where
            "collision" or "self_collision" is below a half, a vertex and its faces meet no other object, or no other
            part of the body; where "hold" is, a pin does not hold.
        creases: Edges that are folded at rest; default: none.
        velocity: At which it starts, (3,) [m/s].
        angular_velocity: At which it starts to turn about its center of mass, (3,) [rad/s]: along the axis.
        dynamic_mesh: Whether `Simulation.set_rest_shape` may change its rest shape.
        rail: What `slides` slide along, each at the distance that it has at the start.
        slides: Vertices that slide, given as `pins`.
        fit: Whether what begins inside of a closed collider, or goes through it, begins outside.
        layer: Which cloth lies outside where bodies start tangled: that with the higher number, on the side to which
            the faces of the other look; see `layers`. 0: it is left as it is.
        warp: Where the warp of its weave runs at rest: a vector (3,), with edges along the threads; or a vector for
            each face, (f, 3), in cloth that is cut anyhow, 0 where the face has none. See `meshes.weave`.

    Attributes:
        mesh: The topology, a `TriMesh`.
        pin_ids: Pinned vertices in ascending order, (k,) int; `pin_weights` beside them, (k,).
        slide_ids, slide_weights: The same of sliding ones.
        is_loose: Which of `mesh.edges` have no face, (e,) bool.
        is_seam: Which of these can be seams, (e,) bool: both of their ends have faces.
        seams: Their vertices, (s, 2) int.
        origin: The body as given, itself unless it was made by `connected`.
        notes: Sentences about what was repaired or left out.

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
        creases: Creases | None = None,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        angular_velocity: Sequence[float] = (0.0, 0.0, 0.0),
        dynamic_mesh: bool = False,
        rail: Rail | None = None,
        slides: Mapping[int, float] | Iterable[int] = (),
        layer: int = 0,
        fit: bool = False,
        warp: np.ndarray | Sequence[float] = (1.0, 0.0, 0.0),
    ) -> None:
        self.name = arguments.instance("name", name, str)
        material = Material() if material is None else material
        self.material = arguments.instance(f"{name}: material", material, Material)
        self.vertices = arguments.vectors(f"{name}: vertices", vertices)
        n = len(self.vertices)
        self.rest_vertices = self.vertices
        if rest_vertices is not None:
            self.rest_vertices = arguments.vectors(f"{name}: rest_vertices", rest_vertices, n)
        polygons = as_polygons(f"{name}: faces", faces, n)
        loose = arguments.ids(f"{name}: edges", edges, n, width=2)
        if not len(polygons.corners) and not len(loose):
            raise ValueError(f"{name}: there are neither faces nor edges to simulate")
        self.origin, self.polygons, self._loose, self._compliances = self, polygons, loose, compliances
        self._measure(None)
        size = float(np.linalg.norm(np.ptp(self.rest_vertices, axis=0)))
        if size < SMALLEST:
            where = "vertices" if rest_vertices is None else "rest_vertices"
            raise ValueError(f"{name}: {where} must span at least {SMALLEST:g} m, not {size:.3g} m: scale them up")
        self.seams = self.mesh.edges[self.is_seam].astype(np.int64)
        self.pin_ids, self.pin_weights = self._pins("pin", pins)
        self.slide_ids, self.slide_weights = self._pins("slide", slides)
        self.rail: Rail | None = None if rail is None else arguments.instance(f"{name}: rail", rail, Rail)
        both = np.intersect1d(self.pin_ids, self.slide_ids)
        if len(both):
            raise ValueError(f"{name}: vertex {both[0]} cannot both be pinned and slide")
        if len(self.slide_ids) and self.rail is None:
            raise ValueError(f"{name}: slides need a rail, got {len(self.slide_ids)} vertices and none")
        self.own_masses = None
        if masses is not None:
            self.own_masses = arguments.per_vertex(f"{name}: masses", masses, n, above=0.0, unit="kg")
        self.maps = checked_maps(maps, n, name)
        self.layer = arguments.whole(f"{name}: layer", layer, low=0)
        self.fit = arguments.switch(f"{name}: fit", fit)
        self.creases = checked_creases(creases, n, name)
        self.warp = arguments.real_array(f"{name}: warp", warp)
        if self.warp.ndim == 2:
            self.warp = arguments.vectors(f"{name}: warp", warp, len(polygons.starts) - 1)
        elif not arguments.vector(f"{name}: warp", warp).any():
            arguments.refuse(f"{name}: warp", "a vector with a length", warp)
        self.velocity = arguments.vector(f"{name}: velocity", velocity)
        self.angular_velocity = arguments.vector(f"{name}: angular_velocity", angular_velocity)
        self.dynamic_mesh = arguments.switch(f"{name}: dynamic_mesh", dynamic_mesh)
        fastest = np.linalg.norm(self.initial_velocities(self.vertices), axis=1).max()
        if fastest > FASTEST_START:
            raise ValueError(
                f"{name}: a vertex would start at {fastest:.4g} m/s; lower velocity and angular_velocity to "
                f"{FASTEST_START:g} m/s"
            )
        self.notes = self._notes()

    def _measure(self, joined: np.ndarray | None) -> None:
        """Set what follows from the topology where `joined` (n,) int are one, as `TriMesh` has it."""
        loose = self._loose if joined is None else joined[self._loose]
        self.mesh = TriMesh(self.rest_vertices, self.polygons, self._loose, joined)
        self._find_loose_edges(loose)
        self.edge_compliances = self._own_compliances(loose, self._compliances)
        self.rest_lengths = self.mesh.edge_lengths(self.rest_vertices)
        self._area_of_vertices = self._weighed_areas()
        self.isolated = np.ones(len(self.vertices), bool)
        self.isolated[self.mesh.edges] = False

    @functools.cached_property
    def joints(self) -> np.ndarray:
        """The vertex that stands for each where all are one that can be, (n,) int: borders at the same place."""
        return joints.fans(self.polygons, joints.coincident(self.rest_vertices, self.polygons), self._is_held)

    @property
    def is_usual(self) -> bool:
        """Whether neither masses nor compliances are given: its stretch under its own weight can be predicted."""
        return self.own_masses is None and bool(np.isnan(self.edge_compliances).all())

    @property
    def _is_held(self) -> np.ndarray:
        """Which vertices are pinned or slide, (n,) bool."""
        held = np.zeros(len(self.vertices), bool)
        held[self.pin_ids] = held[self.slide_ids] = True
        return held

    @functools.cached_property
    def merged_borders(self) -> np.ndarray:
        """The same where the material has `join_borders`, (n,) int32: of what is at one place at rest and at the start.

        Seams stay what they are, though their ends begin at the same place.
        """
        same = joints.coincident(np.hstack([self.rest_vertices, self.vertices]), self.polygons)
        one, other = self.seams.T
        sewn = self.seams[same[one] == same[other]].ravel()
        same[sewn] = sewn
        return joints.fans(self.polygons, same, self._is_held).astype(np.int32)

    @functools.cached_property
    def merged_edges(self) -> np.ndarray:
        """The same where the ends of `SHORT` edges of faces are one too, unless both are held."""
        edges, lengths = self.origin.mesh.edges, self.origin.rest_lengths
        of_faces = ~self.origin.is_loose
        if not of_faces.any() or lengths[of_faces].min() >= SHORT * np.median(lengths[of_faces]):
            return self.merged_borders
        is_short = of_faces & (lengths < SHORT * np.median(lengths[of_faces])) & ~self._is_held[edges].all(axis=1)
        ids = np.arange(len(self.vertices))
        group = connected_components(
            np.concatenate([edges[is_short], np.stack([ids, self.merged_borders], 1)]), len(ids)
        )
        order = np.lexsort((~self._is_held, group))
        first = order[np.searchsorted(group[order], np.arange(len(ids)))[group]]
        return np.asarray(first, np.int32)

    def holding(self, material: Material | None = None) -> np.ndarray:
        """The vertex that stands for each while nothing is torn, (n,) int."""
        material = self._material(material)
        if material.tear_strength > 0.0:
            return self.joints
        if not material.join_borders:
            return np.arange(len(self.vertices))
        is_rigid_or_grows = material.rigid or self.dynamic_mesh
        return self.merged_borders if material.pressure_mode == "OFF" or is_rigid_or_grows else self.merged_edges

    @functools.cached_property
    def is_rim(self) -> np.ndarray:
        """Which vertices are at an opening while nothing is torn, (n,) bool."""
        rim = np.zeros(len(self.vertices), bool)
        for loop in self.connected(self.holding()).mesh.boundary_loops:
            rim[loop] = True
        return rim[self.holding()]

    @functools.cached_property
    def _whole_mesh(self) -> TriMesh:
        """The mesh as given, with all that holds together; after a tear, that."""
        return self.whole.mesh if self is self.origin else self.mesh

    @property
    def whole(self) -> Body:
        """This body before anything is torn."""
        holding = self.holding()
        return self.connected(holding) if (holding != np.arange(len(holding))).any() else self.origin

    def connected(self, joined: np.ndarray) -> Body:
        """This body where some vertices are one: `joined` (n,) int stand for each, and the others are isolated."""
        body = copy.copy(self.origin)
        body.__dict__.pop("_whole_mesh", None)
        body._measure(joined)
        body.seams = joined[self.origin.seams]
        body.creases = self.creases._replace(edges=joined[self.origin.creases.edges])
        body._area_of_vertices = np.where(joined == np.arange(len(joined)), body._area_of_vertices, 0.0)
        if self.own_masses is not None:
            body.own_masses = np.bincount(joined, self.origin.own_masses, len(joined))
        return body

    def masses(self, material: Material | None = None, with_seams: bool | None = None) -> np.ndarray:
        """Mass of every vertex: its share of the faces around it times density, (n,) float64 [kg].

        Those of a rigid body share its mass in the same way, without isolated vertices.

        with_seams: Whether edges that can be seams are ropes, which weigh; default: unless the material has `sewing`.
        """
        if self.own_masses is not None:
            return self.own_masses
        material = self._material(material)
        if material.rigid:
            return material.mass * self._area_of_vertices / self._area_of_vertices[~self.isolated].sum()
        with_seams = not material.sewing if with_seams is None else with_seams
        return material.density * (self._area_of_vertices + (self._area_of_seams if with_seams else 0.0))

    def air_masses(self, material: Material | None = None, air_density: float = AIR_DENSITY) -> np.ndarray:
        """Mass of the air that moves with every vertex of a balloon, (n,) float64 [kg]; it has inertia and no weight.

        The gas inside must be moved along, and so must half as much of the air outside, of `air_density` [kg/m³] (the
        added mass of a ball in a fluid). It outweighs a thin skin many times. Each vertex gets its share by area;
        nothing without pressure or gas, or where masses were given.
        """
        material = self._material(material)
        if self.own_masses is not None or (material.pressure_mode == "OFF" and not material.gas_density):
            return np.zeros(len(self.vertices))
        inside = material.gas_density or air_density
        air = (inside + 0.5 * air_density) * abs(self.volume(self.rest_vertices))
        return air * self._area_of_vertices / self._area_of_vertices.sum()

    def initial_velocities(self, x: np.ndarray) -> np.ndarray:
        """Those that `velocity` and `angular_velocity` give its vertices at positions x (n, 3), (n, 3) [m/s]."""
        center = np.average(x, axis=0, weights=self.origin.masses())
        return np.asarray(self.velocity + np.cross(self.angular_velocity, x - center))

    def edge_strain(self, x: np.ndarray) -> np.ndarray:
        """Strain of `mesh.edges`, length / rest length - 1, at positions x (n, 3), (e,) [1]."""
        rest = np.maximum(self.rest_lengths, 1e-300)
        x = arguments.vectors("x", x, len(self.vertices))
        return np.asarray(self.mesh.edge_lengths(x) / rest - 1.0)

    def volume(self, x: np.ndarray) -> float:
        """Volume enclosed at positions x (n, 3), openings closed by caps [m³]; negative if normals point inward."""
        x, mesh = arguments.vectors("x", x, len(self.vertices)), self._whole_mesh
        return enclosed_volume(x, mesh.triangles, mesh.boundary_loops)

    def _material(self, other: Material | None) -> Material:
        return self.material if other is None else arguments.instance("material", other, Material)

    def _pins(self, what: str, pins: Mapping[int, float] | Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """Pinned vertices in ascending order, (k,) int64, and their weights, (k,) float64."""
        given = arguments.ids(
            f"{self.name}: {what}s", list(pins) if isinstance(pins, Mapping) else pins, len(self.vertices)
        )
        ids, at = np.unique(given, return_index=True)
        weights = list(pins.values()) if isinstance(pins, Mapping) else np.ones(len(given))
        values = arguments.per_vertex(f"{self.name}: {what} weights", weights, len(given), above=0.0)[at]
        if len(values) and values.max() > 1.0:
            raise ValueError(f"{self.name}: {what} weights must be at most 1, not {values.max():g}")
        return ids, values

    def _own_compliances(self, loose: np.ndarray, values: np.ndarray | Sequence[float] | None) -> np.ndarray:
        """The given compliance of every mesh edge, (e,); NaN where none is given."""
        result = np.broadcast_to(np.nan, len(self.mesh.edges))
        if values is None:
            return result
        result = result.copy()
        given = arguments.per_vertex(f"{self.name}: compliances", values, len(loose), low=0.0, unit="m/N")
        if (self._loose[:, 0] == self._loose[:, 1]).any():
            raise ValueError(f"{self.name}: edges must join different vertices where compliances are given")
        apart = loose[:, 0] != loose[:, 1]
        loose, given = loose[apart], given[apart]
        keys = self.mesh.edges[:, 0].astype(np.int64) * len(self.vertices) + self.mesh.edges[:, 1]
        wanted = loose.min(axis=1) * len(self.vertices) + loose.max(axis=1)
        result[np.searchsorted(keys, wanted)] = given
        return result

    def _weighed_areas(self) -> np.ndarray:
        """Area of each vertex, (n,) [m²]; those without any get the mean, so that none has mass zero."""
        is_rope = (self.mesh.edge_areas == 0.0) & ~self.is_seam
        area = self.mesh.corner_areas
        self._area_of_seams = self._areas_of_ropes(self.is_seam)
        if is_rope.any() or not area.all():
            area = area + self._areas_of_ropes(is_rope)
        heavy = area > 0.0
        if not heavy.any():
            raise ValueError(f"{self.name}: no face has an area and no edge has a length")
        area[~heavy] = area[heavy].mean()
        return area

    def _areas_of_ropes(self, which: np.ndarray) -> np.ndarray:
        """What these edges, (e,) bool, add to the area of each vertex, (n,) [m²]."""
        if not which.any():
            return np.broadcast_to(0.0, len(self.vertices))
        shares = np.repeat(0.5 * ROPE_WIDTH * self.rest_lengths[which], 2)
        return np.bincount(self.mesh.edges[which].ravel(), shares, len(self.vertices))

    def _find_loose_edges(self, loose: np.ndarray) -> None:
        """Note `is_loose` and `is_seam` among the edges that were given, (e, 2) int."""
        mesh, n = self.mesh, len(self.vertices)
        has_face = np.zeros(n, bool)
        has_face[mesh.triangles] = True
        keys = pair_keys(mesh.edges, n)
        of_faces = np.isin(keys, pair_keys(half_edges(mesh.triangles)[0], n))
        self.is_loose = np.isin(keys, pair_keys(loose, n)) & ~of_faces
        self.is_seam = self.is_loose & has_face[mesh.edges].all(axis=1)

    def _notes(self) -> tuple[str, ...]:
        mesh, notes = self._whole_mesh, []
        for count, one, many in (
            (int(self.isolated.sum()), "isolated vertex stays where it is", "isolated vertices stay where they are"),
            (
                self.origin.mesh.zero_area_faces,
                "triangle without area is ignored",
                "triangles without area are ignored",
            ),
            (mesh.duplicate_faces, "duplicate face is ignored", "duplicate faces are ignored"),
            (mesh.non_manifold_edges, "edge has more than two faces", "edges have more than two faces"),
        ):
            if count:
                notes.append(f"{count} {one if count == 1 else many}")
        unknown = 0 if self.warp.ndim == 1 else int((~self.warp.any(axis=1)).sum())
        if unknown:
            notes.append(NO_WARP.format(count=unknown))
        if not self.material.tear_strength:
            ids, holding = np.arange(len(self.vertices)), self.holding()
            borders = int((self.merged_borders != ids).sum()) if self.material.join_borders else 0
            short = int((holding != ids).sum()) - borders
            for count, hint in ((borders, joints.AT_ONE_PLACE), (short, ARE_ONE)):
                if count:
                    notes.append(hint.format(count=count))
        if self.material.pressure_mode != "OFF":
            openings = len(mesh.boundary_loops)
            if openings:
                notes.append(
                    "1 opening is closed by a virtual cap"
                    if openings == 1
                    else f"{openings} openings are closed by virtual caps"
                )
            if abs(self.volume(self.rest_vertices)) < EMPTY * mesh.corner_areas.sum() ** 1.5:
                notes.append("It encloses no volume at rest: Overpressure, Contents or a Pump can inflate it")
        return tuple(notes)
