"""Each kind of constraints of a scene, from its layout and masses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..bodies.material import Material
from ..constraints import (
    DihedralConstraints,
    DistanceConstraints,
    Folds,
    IsometricConstraints,
    Piece,
    PlaneConstraints,
    PlateConstraints,
    RigidConstraints,
    Sheet,
    WeldConstraints,
    hinge_geometry,
    resolved_shares,
)
from ..constraints.base import once_if_equal
from ..constraints.plate_elements import FLAT
from ..contact import Collider, ContactConstraints, SeamNeighbors, Surface
from ..meshes.mesh import TriMesh, connected_components, half_edges, rest_volume, triangle_areas
from ..meshes.weave import Weave, Woven
from ..model.layout import Layout
from ..parts.ropes import ROPE_WIDTH
from ..settings.solver_settings import SolverSettings


def can_meet(colliders: Sequence[Collider], materials: Sequence[Material], settings: SolverSettings) -> bool:
    """Whether anything can touch these colliders, other cloth or itself."""
    return bool(colliders) or (settings.collisions != "OFF" and (len(materials) > 1 or materials[0].self_collision))


def contact(
    layout: Layout,
    colliders: Sequence[Collider],
    planes: Sequence[PlaneConstraints],
    welds: WeldConstraints,
    materials: Sequence[Material],
    settings: SolverSettings,
    rigid: RigidConstraints,
    before: ContactConstraints | None = None,
) -> ContactConstraints:
    """Contact of the surfaces of all bodies and colliders; particles of colliders come after those of bodies.

    Where nothing can meet, bodies have no surface. It knows of welded particles only the first of each group. It takes
    over the surfaces of colliders that were there `before`: those of a character take longer to build than all else.
    """
    meet, surfaces = can_meet(colliders, materials, settings), []
    rest = layout.rest_vertices if meet else np.zeros((0, 3))
    for body, part, is_rope in zip(layout.bodies, layout.slices, layout.rope_edges()):
        loose = body.mesh.edges[is_rope]
        has_any = meet and len(body.mesh.triangles) + len(loose) > 0
        shape = body.mesh, body.rest_vertices, part.start
        surfaces.append(Surface(*shape, first=welds.first[part], loose_edges=loose) if has_any else None)
    known = dict(zip(before.colliders, before.obstacles)) if before else {}
    obstacles, at = [], len(welds.first)
    for collider in colliders:
        obstacle = known.get(collider)
        if obstacle is None or obstacle.part.start != at:
            obstacle = Surface(collider.mesh, collider.vertices, at)
        obstacles.append(obstacle)
        at += len(collider.vertices)
    sewn = ~layout.sewn.roped[layout.seam_body]
    edges = layout.stacked([mesh.edges for mesh in layout.meshes()])[0]
    usual_edges = [surface.edge if surface else 0.0 for surface in surfaces]
    of_particles = np.repeat(usual_edges, [len(body.vertices) for body in layout.bodies])
    beside = SeamNeighbors(layout.seam_pairs[sewn], edges, welds.first, of_particles)
    piece = _pieces_at_rest(layout, welds) if sewn.any() else None
    return ContactConstraints(
        surfaces, obstacles, list(colliders), rest.T.copy(), list(planes), welds, beside, rigid, piece
    )


def _pieces_at_rest(layout: Layout, welds: WeldConstraints) -> np.ndarray:
    """As `broad_phase.Rules.piece` has it, where there are seams.

    Panels lie somewhere at rest, perhaps on one another; only if a body starts so, that says how far apart they are.
    What is sewn at several places is at none of them.
    """
    rest, parts = layout.rest_vertices, []
    for number, (body, mesh, roped) in enumerate(zip(layout.bodies, layout.meshes(), layout.sewn.roped)):
        own = np.zeros(len(body.vertices), int)
        if len(body.seams) and not roped and not np.array_equal(body.vertices, body.rest_vertices):
            own = connected_components(mesh.edges, len(own)).astype(int)
        parts.append(own + layout.slices[number].start)
    piece = np.concatenate(parts)
    several = welds.first[(rest != rest[welds.first]).any(axis=1)]
    piece[several] = -1 - several
    return piece


def welds(layout: Layout) -> WeldConstraints:
    """What is sewn is one, and so are the ends of ropes' edges without a length, as a curve has with doubled points."""
    points = [
        body.mesh.edges[is_rope & ~body.is_seam & (body.rest_lengths == 0.0)]
        for body, is_rope in zip(layout.bodies, layout.rope_edges())
    ]
    pairs = np.concatenate([layout.seam_pairs[layout.sewn.welded], layout.stacked(points)[0]])
    return WeldConstraints(pairs, len(layout.islands))


def _weave(layout: Layout) -> Weave:
    """Where the threads of all bodies run."""
    parts = zip(layout.bodies, layout.slices)
    return Weave([Woven(part.start, body.rest_vertices, body.mesh, body.warp) for body, part in parts])


def stretch(layout: Layout, w: np.ndarray) -> DistanceConstraints:
    """A spring along each edge that has a length, except seams."""
    kept = [~b.is_seam | roped for b, roped in zip(layout.bodies, layout.sewn.roped)]
    edges, body = layout.stacked([b.mesh.edges[some] for b, some in zip(layout.bodies, kept)])
    lengths = np.concatenate([b.rest_lengths[some] for b, some in zip(layout.bodies, kept)])
    area = np.concatenate([b.mesh.edge_areas[some] for b, some in zip(layout.bodies, kept)])
    own = np.concatenate([b.edge_compliances[some] for b, some in zip(layout.bodies, kept)])
    rest, weave = layout.rest_vertices, _weave(layout)
    # Van Gelder 1998: the stiffness of a sheet does not depend on the resolution of its mesh.
    geometry = np.where(area > 0.0, area / np.maximum(lengths, 1e-300), ROPE_WIDTH) / np.maximum(lengths, 1e-300)
    usable = lengths > 0.0
    built = DistanceConstraints(
        "stretch", edges[usable], lengths[usable], geometry[usable], body[usable], w,
        ("stretch", "compression"), own[usable], rest, is_rope=area[usable] == 0.0, weave=weave,
    )  # fmt: skip
    if not usable.all() or not all(some.all() for some in kept):
        built.numbers = np.flatnonzero(np.concatenate(kept))[usable][built.rows.order].astype(np.int32)
    return built


def shear(layout: Layout, w: np.ndarray) -> DistanceConstraints:
    """A spring along each other diagonal of a quad."""
    diagonals, body = layout.stacked([b.mesh.diagonals for b in layout.bodies])
    area = np.concatenate([b.mesh.diagonal_areas for b in layout.bodies])
    rest = layout.rest_vertices
    lengths = np.linalg.norm(rest[diagonals[:, 0]] - rest[diagonals[:, 1]], axis=1)
    geometry = 2.0 * area / lengths**2
    built = DistanceConstraints(
        "shear", diagonals, lengths, geometry, body, w, ("shear", "shear"), None, rest, alone=True, weave=_weave(layout)
    )
    built.first_number = sum(len(b.mesh.edges) for b in layout.bodies)
    return built


def bends_as(material: Material) -> tuple[str, bool, bool]:
    """Bending model, whether rest angles change: then every hinge needs one; and whether hinges are known by number."""
    return material.bend_model, material.bend_yield > 0.0, material.bend_friction > 0.0


def bends(
    layout: Layout, w: np.ndarray, materials: Sequence[Material]
) -> tuple[tuple[PlateConstraints, IsometricConstraints, DihedralConstraints], Folds]:
    """The three models of bending; `Folds` has the rest angles that can change."""
    hinges, body = layout.stacked([b.mesh.hinges for b in layout.bodies])
    rest = layout.rest_vertices
    angles, geometry, stencils = hinge_geometry(rest, hinges)
    creased = [b.creases.of_edges(b.mesh.hinges[:, :2], len(b.vertices)) for b in layout.bodies]
    weave = _weave(layout)
    fold, factors = np.concatenate([own[0] for own in creased]), np.concatenate([own[1] for own in creased])
    spans = np.broadcast_to(0.0, len(hinges))
    if any(material.bend_yield > 0.0 for material in materials):
        spans = np.linalg.norm(rest[hinges[:, 1]] - rest[hinges[:, 0]], axis=1) / geometry
    angles, geometry, stencils = np.where(np.isnan(fold), angles, fold), geometry * factors, stencils * np.sqrt(factors)
    model = np.array([material.bend_model for material in materials])[body]
    sheets = [
        Sheet(
            part.start, b.rest_vertices, b.mesh.triangles, b.mesh.corner_areas,
            _sheets(b.mesh), m.bend_model != "ISOMETRIC", b.creases, b.dynamic_mesh, woven,
        )
        for b, part, m, woven in zip(layout.bodies, layout.slices, materials, weave.bodies)
    ]  # fmt: skip
    plates = PlateConstraints(sheets)
    is_flat = np.abs(angles) < FLAT
    isometric = ((model == "ISOMETRIC") & (np.isnan(fold) | is_flat)) | ((model == "AUTO") & is_flat)
    angles = np.where(isometric, 0.0, angles)
    # Where rest angles change, each hinge has one; the stencils of a flat sheet are for one size.
    dynamic = np.array([b.dynamic_mesh for b in layout.bodies])[body]
    isometric &= ~np.array([material.bend_yield > 0.0 for material in materials])[body] & ~dynamic
    rubs = any(material.bend_friction > 0.0 for material in materials)
    flat, numbers = np.flatnonzero(isometric), np.flatnonzero(~isometric)
    shares = resolved_shares(hinges, stencils, rest, w)
    bends = (
        plates,
        IsometricConstraints(
            hinges[flat], stencils[:, flat], body[flat], w, plates, flat if rubs else flat[:0], shares[flat],
            weave,
        ),
        DihedralConstraints(
            hinges[numbers], angles[numbers], geometry[numbers], body[numbers], w, plates, numbers, shares[numbers],
            weave,
        ),
    )  # fmt: skip
    follows = dynamic & np.isnan(fold) & (model != "ISOMETRIC")
    angles, body, follows = (once_if_equal(each) for each in (angles, body.astype(np.int32), follows))
    return bends, Folds(hinges.T, body, angles, angles.copy() if follows.any() else angles, follows, spans)


def _sheets(mesh: TriMesh) -> np.ndarray:
    """Connected component of each vertex by faces alone, (n,) int: strings and seams bend nothing."""
    return connected_components(half_edges(mesh.triangles)[0], mesh.vertex_count)


def rigid(layout: Layout, materials: Sequence[Material]) -> RigidConstraints:
    """The rigid bodies, each with the shape in which it starts; the islands of one stay together."""
    still = np.concatenate([body.isolated for body in layout.bodies])
    body = layout.body_of_island[layout.islands]
    own = np.array([material.rigid for material in materials])[body] & ~still
    pieces = [np.flatnonzero(own & (body == number)) for number in np.unique(body[own])]
    return RigidConstraints(pieces, np.concatenate([body.vertices for body in layout.bodies]))


def closed_pieces(layout: Layout) -> list[Piece]:
    """The islands with faces, with their caps and volumes at rest."""
    pieces = []
    for number, (body, part) in enumerate(zip(layout.bodies, layout.slices)):
        mesh, rest = body.mesh, body.rest_vertices
        of_triangle = mesh.islands[mesh.triangles[:, 0]] if len(mesh.triangles) else np.zeros(0, int)
        for island in np.unique(of_triangle):
            own = of_triangle == island
            triangles = mesh.triangles if own.all() else mesh.triangles[own]
            caps = [rim for rim in mesh.boundary_loops if mesh.islands[rim[0]] == island]
            volume, area = rest_volume(rest, triangles, caps), float(triangle_areas(rest, triangles).sum())
            triangles = triangles + part.start if part.start else triangles
            pieces.append(Piece(number, triangles, [rim + part.start for rim in caps], volume, area))
    return pieces
