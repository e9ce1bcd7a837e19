"""The surfaces that meet: which, at what distance, with what friction, and where colliders are in a frame.

Materials, maps and settings say it; how what touches is kept apart is in `contact_constraints`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..constraints import PlaneConstraints, RigidConstraints, WeldConstraints
from ..meshes.factors import left_out
from ..settings.scale import calm_speed, distance_at
from ..settings.solver_settings import SolverSettings
from .broad_phase import Rules
from .candidate_list import CandidateList
from .collider import Collider
from .contact_rows import ContactRows
from .contacts import Contacts
from .friction import read_coefficients
from .narrow_phase import NearSearch
from .penetration import Penetration
from .seam_neighbors import SeamNeighbors
from .surface import Surface

if TYPE_CHECKING:
    from ..bodies.material import Material

AUTO_DISTANCE = 0.5
"""Default distance between layers of cloth, in edges."""


class ContactScene(ContactRows):
    """Surfaces of `ContactConstraints`, where arguments and attributes are explained."""

    def __init__(
        self,
        surfaces: Sequence[Surface | None],
        obstacles: Sequence[Surface],
        colliders: Sequence[Collider],
        rest: np.ndarray,
        planes: Sequence[PlaneConstraints],
        welds: WeldConstraints,
        seam_neighbors: SeamNeighbors,
        rigid: RigidConstraints,
        piece: np.ndarray | None = None,
    ) -> None:
        self.rigid, self._piece = rigid, piece
        self.welds = welds
        self.surfaces, self.obstacles, self.colliders = list(surfaces), list(obstacles), list(colliders)
        self.planes, self.n = planes, len(welds.first)
        self.rest = self._unmapped_rest = rest
        self.usual_edges = np.array([surface.edge if surface else 0.0 for surface in self.surfaces])
        # That of the largest body: in a scene of dolls, all are small.
        extents = [np.linalg.norm(np.ptp(rest[:, one.part], axis=1)) for one in self.surfaces if one is not None]
        self.calm = calm_speed(float(max(extents, default=1.0)))
        self._scale = np.ones(len(self.surfaces))
        self._friction_map: np.ndarray | None = None
        total = rest.shape[1] + sum(len(collider.vertices) for collider in colliders)
        self._p, self._x = np.zeros((3, total)), np.zeros((3, total))
        self._left_out: list[np.ndarray | None] = [None, None]
        self._path = self._p[:, self.n :], self._p[:, self.n :]
        self.penetration = Penetration()
        self.candidate_list = CandidateList(surfaces, obstacles, self.n, total, seam_neighbors, self.penetration)
        self._near = NearSearch()
        self.unprojected: np.ndarray | None = None
        self.reset()

    def reset(self, is_apart: bool = False) -> None:
        """Forget everything, also intersections: the particles have been put somewhere else.

        is_apart: `is_apart` when they were there.
        """
        self.candidate_list.reset()
        self.penetration.reset()
        if is_apart:
            self.penetration.is_known, self.penetration.intersecting = True, np.zeros(self._p.shape[1], bool)
        self.is_crossing_free = True
        self._was_pinched = False
        self._touched = np.zeros((2, self._p.shape[1]), bool)
        self._contacts = Contacts.none()
        self._rounds: list[Contacts] = []
        self.h = self._fraction = self._start = 0.0

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        """Friction, what takes no part, and the distance of neighbors: that of the most shrunken place of a body."""
        self._friction_map = maps.get("friction")
        rest, scale = self._unmapped_rest.copy(), np.ones(len(self.surfaces))
        for number, surface in enumerate(self.surfaces):
            if "shrink" in maps and surface is not None:
                scale[number] = maps["shrink"][surface.part].min()
                rest[:, surface.part] *= scale[number]
        if not np.array_equal(scale, self._scale):
            self.rest, self._scale = rest, scale
            self.candidate_list.forget_rules()  # candidates keep the distances that they were found with
        out = [left_out(kind, maps, self._p.shape[1]) for kind in ("collision", "self_collision")]
        before = self._left_out
        if not all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in zip(out, before)):
            self._left_out = out
            self.candidate_list.forget_rules()

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        if not self.rest.size:
            self.active = False
            return
        self._w = self._counted = self.welds.merged(w)
        if self.colliders:
            self._w = self._counted = np.concatenate([self._w, np.zeros(self._p.shape[1] - self.n)])
        self._pieces = np.split(self.rigid.particles, self.rigid.starts[1:]) if self.rigid.active else []
        self._gravity = float(np.linalg.norm(settings.gravity))
        self._frictions = [material.friction for material in materials]
        if self.candidate_list.set_rules(self._rules(materials, settings), self.colliders):
            self._contacts = Contacts.none()
        self.active = self.candidate_list.active
        self.is_crossing_free = True

    def use_weights(self, w: np.ndarray) -> None:
        """Count forces with these inverse masses, (n,) [1/kg]; what is pushed moves by its true mass."""
        if self.active:
            self._counted = np.concatenate([self.welds.merged(w), self._w[self.n :]])

    def lay_path(self, start: Sequence[np.ndarray], end: Sequence[np.ndarray], fraction: float = 0.0) -> None:
        """Say where the colliders' vertices are at the beginning and at the end of a frame, (3, m) [m] each.

        A substep from `fraction` of it follows.
        """
        nothing = np.zeros((3, 0))
        self._fraction = self._start = fraction
        self._path = np.concatenate([nothing, *start], axis=1), np.concatenate([nothing, *end], axis=1)
        self.candidate_list.set_still([np.array_equal(a, b) for a, b in zip(start, end)])
        for part in (self._x, self._p):
            part[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])

    def rewind(self, fraction: float) -> None:
        """Put the colliders where they were at a fraction of the frame: a substep from there is tried again."""
        if fraction == self._start:
            self.candidate_list.bounds.advance(fraction - self._fraction, 1.0 - fraction)
        else:
            self.candidate_list.bounds.invalidate()
        self._fraction = self._start = fraction
        self.penetration.has_unresolved = False
        self._p[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])

    @property
    def solid(self) -> np.ndarray:
        """Which closed colliders bodies can penetrate: all that have a surface, (bodies, colliders) bool."""
        has_surface = np.array([surface is not None for surface in self.surfaces], bool)
        return has_surface[:, None] & np.array([collider.closed for collider in self.colliders], bool)

    def _numbers_of(self, which: np.ndarray) -> np.ndarray:
        """Numbers of pairs of bodies and colliders (bodies, colliders) bool, (k,) int."""
        one, other = np.nonzero(which)
        return np.asarray(one * (len(self.surfaces) + len(self.obstacles) + 1) + len(self.surfaces) + other)

    @property
    def penetrated(self) -> np.ndarray:
        """Which closed colliders are around or through bodies, or may have pinched them, (bodies, colliders) bool.

        Besides the places, detection depends on nothing else: what a collider went through must not meet it.
        """
        if self.penetration.has_unresolved or not self.colliders:
            return self.solid
        every = self._numbers_of(np.ones((len(self.surfaces), len(self.colliders)), bool))
        return np.isin(every, self.penetration.penetrated).reshape(len(self.surfaces), -1)

    def _rules(self, materials: Sequence[Material], settings: SolverSettings) -> Rules:
        """Which surfaces meet; notes the materials."""
        self._materials = list(materials)
        meet, is_rigid = settings.collisions != "OFF", np.array([material.rigid for material in materials], bool)
        between = np.array([
            (material.self_distance or AUTO_DISTANCE * surface.edge * scale) if surface else 0.0
            for material, surface, scale in zip(materials, self.surfaces, self._scale)
        ])  # fmt: skip
        self._between = 0.5 * (between[:, None] + between)
        thickness = self._thickness()
        self._between = np.where(is_rigid | is_rigid[:, None], thickness[:, None] + thickness, self._between)
        is_self = np.array([meet and material.self_collision for material in materials], bool)
        is_fast = settings.collisions == "FAST"
        return Rules(self._distances(), is_self, meet, is_fast, self.rest, self._left_out, self._piece)

    def _thickness(self) -> np.ndarray:
        return np.array([material.thickness for material in self._materials])

    def _distances(self) -> np.ndarray:
        """As `Rules.distance`: that to colliders may change between frames."""
        of_colliders, own = np.array([collider.thickness for collider in self.colliders]), self._thickness()
        edge = np.array([surface.edge if surface else np.inf for surface in self.surfaces])
        edge[[material.rigid for material in self._materials]] = np.inf
        near = distance_at(own, edge)[:, None] + distance_at(of_colliders, edge[:, None])
        return np.concatenate([self._between, near], axis=1)

    def _read_colliders(self) -> None:
        """Distance, friction and restitution of each pair: a collider's may change between frames."""
        self.candidate_list.set_distance(self._distances())
        of_bodies = None if self._friction_map is None else self._friction_map.copy()
        for surface, friction in zip(self.surfaces, self._frictions):
            if surface is not None and of_bodies is not None:
                of_bodies[surface.part] *= friction
        self._coefficients = read_coefficients(self._materials, self.colliders, of_bodies)
