"""The particles of all bodies: which belong to which body, are pinned, or hang together."""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..meshes.factors import TAKES_PART, of_particles
from ..meshes.mesh import TriMesh

if TYPE_CHECKING:
    from ..bodies.body import Body
    from ..bodies.material import Material


class Sewn(NamedTuple):
    """What was sewn before.

    Attributes:
        roped: Of which bodies the edges that can be seams are ropes, (bodies,) bool.
        welded: Which pairs are one particle, (pairs,) bool.
        joined: The particle that stands for each where cloth is not torn, (n,) int; (0,) if nothing can tear.
    """

    roped: np.ndarray
    welded: np.ndarray
    joined: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """The particles of bodies, their pins and islands.

    Attributes:
        bodies: Simulated meshes.
        slices: The range of each body's particles.
        pins: Pinned particles of all bodies, (k,) int; `pin_slices` are the ranges of each body's pins.
        firm_pins: Indices into `pins` of those with weight 1 that are held, (f,) int; `soft_pins` are other held ones,
            `loose_pins` those that do not hold.
        pinned: Particles with firm pins, (f,) int.
        free: Particles that can move, (m,) int: neither firmly pinned nor isolated.
        islands: Connected component of every particle, (n,) int.
        body_of_island: Index of each island's body, (islands,) int.
        extents: Largest extent of each body at rest, the diagonal of its box, (bodies,) [m].
        sewn: What was sewn before.
        follows: Particles whose rest shape can change, (d,) int.
        seam_pairs: Both particles of all pairs that can be sewn, (s, 2) int; seam_body: body of each, (s,) int.
    """

    bodies: tuple[Body, ...]
    slices: tuple[slice, ...]
    pins: np.ndarray
    pin_slices: tuple[slice, ...]
    firm_pins: np.ndarray
    soft_pins: np.ndarray
    loose_pins: np.ndarray
    pinned: np.ndarray
    free: np.ndarray
    islands: np.ndarray
    body_of_island: np.ndarray
    extents: np.ndarray
    sewn: Sewn
    follows: np.ndarray
    seam_pairs: np.ndarray
    seam_body: np.ndarray

    @property
    def rest_vertices(self) -> np.ndarray:
        """Rest positions of all particles, (n, 3) [m]."""
        rest = [body.rest_vertices for body in self.bodies]
        return rest[0] if len(rest) == 1 else np.concatenate(rest)

    def rope_edges(self) -> list[np.ndarray]:
        """Which edges of each body are ropes, (e,) bool: those without a face, unless they are seams."""
        return [body.is_loose & (roped | ~body.is_seam) for body, roped in zip(self.bodies, self.sewn.roped)]

    def meshes(self) -> list[TriMesh]:
        """The mesh of each body, without the edges that are seams."""
        meshes = []
        for body, roped in zip(self.bodies, self.sewn.roped):
            mesh = body.mesh
            if not roped and len(body.seams):
                mesh = copy.copy(mesh)
                mesh.edges, mesh.edge_areas = mesh.edges[~body.is_seam], mesh.edge_areas[~body.is_seam]
            meshes.append(mesh)
        return meshes

    def stacked(self, rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Vertex numbers of each body as particle numbers of the scene, and the body of each row."""
        return _stacked(rows, self.slices)

    @staticmethod
    def of_body(particles: np.ndarray, part: slice) -> np.ndarray:
        """Vertex numbers of those particles that are in a body's range."""
        return particles[(particles >= part.start) & (particles < part.stop)] - part.start

    def maps_of_particles(self, maps: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """The maps that any body has, (n,) each."""
        counts = [len(body.vertices) for body in self.bodies]
        found = {kind: of_particles(kind, maps, counts) for kind in dict.fromkeys(itertools.chain(*maps))}
        return {kind: factors for kind, factors in found.items() if factors is not None}


def lay_out(bodies: Sequence[Body], held: np.ndarray, sewn: Sewn) -> Layout:
    """The particles of bodies, with the pins that hold, (k,) bool."""
    slices = _slices([len(body.vertices) for body in bodies])
    bodies = [_as_joined(body, sewn.joined[part] - part.start) for body, part in zip(bodies, slices)]
    pins = np.concatenate([body.pin_ids + part.start for body, part in zip(bodies, slices)])
    is_firm = held & (np.concatenate([body.pin_weights for body in bodies]) >= 1.0)
    still = np.concatenate([body.isolated for body in bodies])
    still[pins[is_firm]] = True
    islands = [int(body.mesh.islands.max()) + 1 for body in bodies]
    before = np.cumsum([0, *islands])
    seam_pairs, seam_body = _stacked([body.seams for body in bodies], slices)
    return Layout(
        bodies=tuple(bodies),
        slices=slices,
        pins=pins,
        pin_slices=_slices([len(body.pin_ids) for body in bodies]),
        firm_pins=np.flatnonzero(is_firm),
        soft_pins=np.flatnonzero(held & ~is_firm),
        loose_pins=np.flatnonzero(~held),
        pinned=pins[is_firm],
        free=np.flatnonzero(~still),
        islands=np.concatenate([body.mesh.islands + at for body, at in zip(bodies, before)]).astype(np.int64),
        body_of_island=np.repeat(np.arange(len(bodies)), islands),
        extents=np.array([np.linalg.norm(np.ptp(body.rest_vertices, axis=0)) for body in bodies]),
        sewn=sewn,
        follows=np.flatnonzero(np.repeat([body.dynamic_mesh for body in bodies], [len(b.vertices) for b in bodies])),
        seam_pairs=seam_pairs,
        seam_body=seam_body,
    )


def _stacked(rows: Sequence[np.ndarray], slices: Sequence[slice]) -> tuple[np.ndarray, np.ndarray]:
    """As `Layout.stacked`."""
    shifted = [ids + part.start if part.start else ids for ids, part in zip(rows, slices)]
    owner = np.repeat(np.arange(len(rows)), [len(ids) for ids in rows])
    return (shifted[0] if len(rows) == 1 else np.concatenate(shifted)), owner


def held_pins(
    bodies: Sequence[Body], materials: Sequence[Material], maps: Sequence[Mapping[str, np.ndarray]]
) -> np.ndarray:
    """Which pins of all bodies hold, (k,) bool."""
    shares = [
        own["hold"][body.pin_ids] if "hold" in own else np.ones(len(body.pin_ids)) for body, own in zip(bodies, maps)
    ]
    return np.concatenate([m.hold_pins & (share >= TAKES_PART) for m, share in zip(materials, shares)])


def initial_joints(bodies: Sequence[Body], materials: Sequence[Material]) -> np.ndarray:
    """`Sewn.joined` before anything is torn."""
    parts = [body.origin.holding(material) for body, material in zip(bodies, materials)]
    starts = np.cumsum([0, *map(len, parts[:-1])])
    joined = np.concatenate([part + start for part, start in zip(parts, starts)])
    return joined if (joined != np.arange(len(joined))).any() else np.zeros(0, int)


def _as_joined(body: Body, joined: np.ndarray) -> Body:
    """The body where vertices are one that `joined` says, (n,) int or (0,) for none."""
    return body.connected(joined) if (joined != np.arange(len(joined))).any() else body.origin


def _slices(counts: Sequence[int]) -> tuple[slice, ...]:
    ends = np.cumsum(counts)
    return tuple(slice(int(end - count), int(end)) for count, end in zip(counts, ends))
