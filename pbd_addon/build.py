"""Building a `Model`: bodies and colliders become arrays and kinds of constraints.

A model never changes. `with_materials` and its like return another one that shares what stays the same; it takes over
the kinds of constraints, so the old model must no longer be stepped.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from .air import build_surface
from .body import ROPE_WIDTH, Body
from .constraints import (
    AttachmentConstraints,
    Constraints,
    DihedralConstraints,
    DistanceConstraints,
    Folds,
    Grab,
    GrabConstraints,
    InflationConstraints,
    IsometricConstraints,
    LevelConstraints,
    Piece,
    Plane,
    PlaneConstraints,
    PlateConstraints,
    PressurizedSkin,
    RopeBendConstraints,
    SeamConstraints,
    SeamFoldConstraints,
    Sheet,
    SlideConstraints,
    Sliding,
    StrutConstraints,
    TetherConstraints,
    VolumeConstraints,
    WeldConstraints,
    folds_across,
    hinge_geometry,
    levels_of,
    rope_rows,
    tether_rows,
)
from .constraints.chains import is_structured
from .constraints.distance import is_soft
from .constraints.plate_elements import FLAT
from .contact import Collider, ContactConstraints, SeamNeighbors, Surface
from .lift import Lift
from .maps import MAPS, TAKES_PART, of_particles
from .mesh import TriMesh, connected_components, half_edges, rest_volume
from .model import Layout, Model, Sewn, initial_joints
from .settings import Material, SolverSettings
from .slices import finish
from .struts import Recipe, struts_of

PIN_SHARE = 1e3
"""Ratio of the mass of an island's firm pins to that of its free particles, for the rigid motion that damping keeps.

Real pins have infinite mass. With this value only 0.1 % of the damping acts on a swing about a single pin, and where
pins lie on a line to within 3 % of the island's size, the free particles decide how it turns about them.
"""

RING_SHARE = 0.3
"""Mass of the ring that a sliding vertex stands for, over that of the cloth that hangs from each pin or sliding vertex.

The mass m of one vertex is nothing against the mass M of what hangs there: each substep takes it off its rail by about
M / m g h². While a curtain of 1 m x 1.5 m, 41 x 61 vertices, is drawn along a rod by 0.6 m in a second, its nine rings
are up to 61, 1.7, 0.7, 0.2 mm off the rod with shares of 0, 0.1, 0.3, 1. Springs that see only the directions in which
such a vertex can move hold it as well as a pin while the cloth is flat, and are unstable where it is folded."""

SOFT_ROUNDS = 2
"""Number of rounds in which shear and stretch of soft cloth are solved in turn; multipliers carry over.

Error of the top sag of a sheet of 100 N/m on two corners, 33 vertices a side, 20 substeps: 10.7, 2.7, 1.0 % with 1, 2,
3 rounds; the second costs less than the 1.7 times as many substeps that would do as much."""


def build_model(
    bodies: Sequence[Body],
    planes: Sequence[Plane],
    colliders: Sequence[Collider],
    settings: SolverSettings,
    materials: Sequence[Material] | None = None,
    maps: Sequence[Mapping[str, np.ndarray]] | None = None,
    sewn: Sewn | None = None,
) -> Generator[None, None, Model]:
    """The model of bodies and colliders, in slices; materials and maps are the bodies' own and nothing is sewn yet by
    default.
    """
    materials = tuple(materials or (body.material for body in bodies))
    maps = tuple(maps or (body.maps for body in bodies))
    if sewn is None:
        roped = np.array([not material.sewing for material in materials])
        joined = initial_joints(bodies, materials)
        sewn = Sewn(roped, np.zeros(sum(len(body.seams) for body in bodies), bool), joined)
    layout = _lay_out(bodies, _held_pins(bodies, materials, maps), sewn)
    yield
    volume = VolumeConstraints(_closed_pieces(layout), len(layout.islands))
    inertia = _inertia(layout, materials, maps, settings, volume)
    w = inertia["w"]
    owner = np.repeat(np.arange(len(bodies)), [len(body.vertices) for body in bodies])
    soft = layout.pins[layout.soft_pins]
    weights = np.concatenate([body.pin_weights for body in bodies])[layout.soft_pins]
    stretch, shear = _build_stretch(layout, w), _build_shear(layout, w)
    struts = _build_struts(layout, w, materials)
    yield
    plane_constraints = tuple(PlaneConstraints(plane, layout.free, owner[layout.free]) for plane in planes)
    pairs, owners = _stacked(layout, [body.seams for body in bodies])
    usual = [float(np.median(body.rest_lengths[~body.is_seam])) if len(body.seams) else 0.0 for body in bodies]
    seams = SeamConstraints(pairs, owners, np.array(usual)[owners], w)
    welds = _build_welds(layout, seams, len(w))
    contact = _build_contact(layout, colliders, plane_constraints, seams, welds)
    yield
    bends, folds = _build_bends(layout, w, materials)
    yield
    skin = PressurizedSkin(volume, [stretch, shear], struts, [*plane_constraints, contact], layout.islands, layout.pins)
    model = Model(
        **vars(layout),
        planes=tuple(planes),
        colliders=tuple(colliders),
        materials=materials,
        maps=maps,
        settings=settings,
        sizes=layout.extents,
        **inertia,
        attachment=AttachmentConstraints(soft, weights, owner[soft]),
        grabs=GrabConstraints(sewn.joined),
        seams=seams,
        slides=_build_slides(layout),
        inflation=InflationConstraints(volume, stretch, skin),
        bends=bends,
        folds=folds,
        ropes=_build_ropes(layout),
        levels=_build_levels(layout, w),
        tethers=_build_tethers(layout),
        struts=struts,
        shear=shear,
        stretch=stretch,
        seam_folds=_build_seam_folds(layout, w, welds),
        welds=welds,
        volume=volume,
        skin=skin,
        further=(),
        plane_constraints=plane_constraints,
        contact=contact,
    )
    yield
    return with_materials(model, materials, maps, settings)


def with_materials(
    model: Model,
    materials: Sequence[Material],
    maps: Sequence[Mapping[str, np.ndarray]],
    settings: SolverSettings,
    opened: np.ndarray | None = None,
    sewn: Sewn | None = None,
) -> Model:
    """The model with other masses and compliances.

    Another bending model needs new rows, other welds new contact, and other held pins, ropes or joints a new model.

    opened: which closed pieces leak or have burst, see `VolumeConstraints.opened`; default: those of before, none with
    other joints.
    sewn: the same of what was sewn and is joined.
    """
    opened, sewn = model.volume.opened if opened is None else opened, sewn or model.sewn
    same_pins = np.array_equal(np.flatnonzero(~_held_pins(model.bodies, materials, maps)), model.loose_pins)
    same_joints = np.array_equal(sewn.joined, model.sewn.joined)
    if not same_pins or not same_joints or not np.array_equal(sewn.roped, model.sewn.roped):
        built = finish(build_model(model.bodies, model.planes, model.colliders, settings, materials, maps, sewn))
        # A copy of what is grabbed: the old model is stepped again if its frame is given up.
        grabs = copy.copy(model.grabs)
        grabs.joined = sewn.joined
        model = dataclasses.replace(built, grabs=grabs, further=model.further, around=model.around)
        grabs.set_materials(materials, settings, model.w)
        if not same_joints:
            return _in_order(model)
    elif not np.array_equal(sewn.welded, model.sewn.welded):
        model = dataclasses.replace(model, sewn=sewn)
        welds = _build_welds(model, model.seams, len(model.w))
        seam_folds = _build_seam_folds(model, model.w, welds)
        model = dataclasses.replace(model, welds=welds, seam_folds=seam_folds)
        model = _with_contact(model, model.colliders)
    model.volume.opened = opened
    inertia = _inertia(model, materials, maps, settings, model.volume)
    bends, folds = model.bends, model.folds
    if list(map(_bends_as, materials)) != list(map(_bends_as, model.materials)):
        bends, folds = _build_bends(model, inertia["w"], materials)
    if list(map(Recipe.of, materials)) != list(map(Recipe.of, model.materials)):
        model = dataclasses.replace(model, struts=_build_struts(model, inertia["w"], materials))
        model.skin.struts = model.struts
    means = [{kind: factors.mean() for kind, factors in own.items()} for own in maps]
    sizes = model.extents * [own.get("density", 1.0) / max(own.get("stretch", 1.0), 1e-9) for own in means]
    model = dataclasses.replace(
        model, materials=tuple(materials), maps=tuple(maps), settings=settings, sizes=sizes, bends=bends, folds=folds,
        **inertia,
    )  # fmt: skip
    model.shear.sizes = model.tethers.sizes = sizes
    factors = _maps_of_particles(model, maps)
    for constraints in model.kinds:
        constraints.set_maps(factors)
        constraints.set_materials(materials, settings, model.w)
    model.skin.set_materials(settings, model.w, model.masses)
    rigid = model.w, model.damping_masses, model.islands, model.damping_island_masses
    model.levels.surround(*rigid)
    model.welds.surround(model.springs, *rigid)
    return _in_order(model)


def with_constraints(model: Model, added: Constraints) -> Model:
    """The model with one more kind of constraint, before planes and contact."""
    return _renewed(dataclasses.replace(model, further=(*model.further, added)))


def with_colliders(model: Model, colliders: Sequence[Collider]) -> Model:
    """The model with other colliders."""
    return _renewed(_with_contact(model, colliders))


def _with_contact(model: Model, colliders: Sequence[Collider]) -> Model:
    """The model with these colliders and its welds; `_renewed` or the like follows."""
    contact = _build_contact(model, colliders, model.plane_constraints, model.seams, model.welds, model.contact)
    model.skin.outside = [*model.plane_constraints, contact]
    return dataclasses.replace(model, colliders=tuple(colliders), contact=contact)


def with_grabs(model: Model, grabs: Sequence[Grab]) -> Model:
    """The model with exactly these grabs."""
    model.grabs.grabs, model.grabs.active = list(grabs), bool(grabs)
    return _in_order(model)


def _renewed(model: Model) -> Model:
    return with_materials(model, model.materials, model.maps, model.settings)


def _in_order(model: Model) -> Model:
    """The model with the active kinds in order; for soft cloth, an iteration solves shear and stretch in turn."""
    constraints = tuple(kind for kind in model.kinds if kind.active)
    pair = tuple(kind for kind in constraints if kind in (model.shear, model.stretch))
    sequence = constraints
    if len(pair) == 2 and is_soft(model.materials, model.settings, model.sizes).any():
        after = constraints.index(model.stretch) + 1
        sequence = (*constraints[:after], *pair * (SOFT_ROUNDS - 1), *constraints[after:])
    others = model.contact.active or model.skin.active or model.welds.active
    others = others or len(model.sewn.joined) > 0  # what can tear asks for forces within a frame
    for kind in (model.shear, model.bends[1]):
        kind.once = model.settings.iterations == 1 and sequence.count(kind) == 1 and not others
    outer = tuple(kind for kind in constraints if type(kind).pushing is not Constraints.pushing)
    return dataclasses.replace(model, constraints=constraints, sequence=sequence, outer=outer)


def _held_pins(
    bodies: Sequence[Body], materials: Sequence[Material], maps: Sequence[Mapping[str, np.ndarray]]
) -> np.ndarray:
    """Which pins of all bodies hold, (k,) bool."""
    shares = [
        own["hold"][body.pin_ids] if "hold" in own else np.ones(len(body.pin_ids)) for body, own in zip(bodies, maps)
    ]
    return np.concatenate([m.hold_pins & (share >= TAKES_PART) for m, share in zip(materials, shares)])


def _lay_out(bodies: Sequence[Body], held: np.ndarray, sewn: Sewn) -> Layout:
    slices = _slices([len(body.vertices) for body in bodies])
    bodies = [_as_joined(body, sewn.joined[part] - part.start) for body, part in zip(bodies, slices)]
    pins = np.concatenate([body.pin_ids + part.start for body, part in zip(bodies, slices)])
    is_firm = held & (np.concatenate([body.pin_weights for body in bodies]) >= 1.0)
    still = np.concatenate([body.isolated for body in bodies])
    still[pins[is_firm]] = True
    islands = [int(body.mesh.islands.max()) + 1 for body in bodies]
    before = np.cumsum([0, *islands])
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
    )


def _as_joined(body: Body, joined: np.ndarray) -> Body:
    """The body where vertices are one that `joined` says, (n,) int or (0,) for none."""
    return body.connected(joined) if (joined != np.arange(len(joined))).any() else body.origin


def _maps_of_particles(layout: Layout, maps: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The maps that any body has, (n,) each."""
    counts = [len(body.vertices) for body in layout.bodies]
    found = {kind: of_particles(kind, maps, counts) for kind in MAPS}
    return {kind: factors for kind, factors in found.items() if factors is not None}


def _inertia(
    layout: Layout,
    materials: Sequence[Material],
    maps: Sequence[Mapping[str, np.ndarray]],
    settings: SolverSettings,
    volume: VolumeConstraints,
) -> dict[str, Any]:
    """The masses and rates of a `Model`, arrays by name, what feels air, and what lifts."""
    bodies, free, pinned, islands = layout.bodies, layout.free, layout.pinned, layout.islands
    counts = [len(body.vertices) for body in bodies]
    weighing = np.concatenate([body.masses(m, roped) for body, m, roped in zip(bodies, materials, layout.sewn.roped)])
    own = np.repeat([body.own_masses is not None for body in bodies], counts)
    weighing *= np.where(own, 1.0, _maps_of_particles(layout, maps).get("density", 1.0))
    density = settings.air_density
    air = np.concatenate([body.air_masses(m, density) for body, m in zip(bodies, materials)])
    for number in np.flatnonzero(volume.burst):
        air[volume.pieces[number].triangles] = 0.0
    for body, part in zip(bodies, layout.slices):
        if len(body.slide_ids) and body.own_masses is None:
            hung = weighing[part].sum() / (len(body.pin_ids) + len(body.slide_ids))
            weighing[body.slide_ids + part.start] += RING_SHARE * hung
    masses = weighing + air
    gravity_fraction, w = np.zeros_like(masses), np.zeros_like(masses)
    gravity_fraction[free], w[free] = weighing[free] / masses[free], 1.0 / masses[free]
    count = len(layout.body_of_island)
    hanging = np.bincount(islands[free], masses[free], count)
    firm = np.bincount(islands[pinned], minlength=count)
    anchored = pinned[hanging[islands[pinned]] > 0.0]
    damping_masses = masses.copy()
    damping_masses[anchored] = PIN_SHARE * hanging[islands[anchored]] / firm[islands[anchored]]
    return {
        "masses": masses,
        "w": w,
        "gravity_fraction": gravity_fraction,
        "drag": np.repeat([m.drag for m in materials], counts),
        "damping": np.array([m.damping for m in materials], float)[layout.body_of_island],
        "damping_masses": damping_masses,
        "damping_island_masses": np.bincount(islands, damping_masses),
        "surface": build_surface(bodies, [part.start for part in layout.slices], materials, masses, w, density),
        "lift": Lift(volume.pieces, materials, settings, volume.burst, len(masses)),
    }


def _build_contact(
    layout: Layout,
    colliders: Sequence[Collider],
    planes: Sequence[PlaneConstraints],
    seams: SeamConstraints,
    welds: WeldConstraints,
    before: ContactConstraints | None = None,
) -> ContactConstraints:
    """Contact of the surfaces of all bodies and colliders; particles of colliders come after those of bodies.

    It knows of welded particles only the first of each group. It takes over the surfaces of colliders that were there
    `before`: those of a character take longer to build than all else.
    """
    rest = np.concatenate([body.rest_vertices for body in layout.bodies])
    surfaces = []
    for body, part, is_rope in zip(layout.bodies, layout.slices, _ropes(layout)):
        loose = body.mesh.edges[is_rope]
        has_any = len(body.mesh.triangles) + len(loose) > 0
        shape = body.mesh, body.rest_vertices, part.start
        surfaces.append(Surface(*shape, first=welds.first[part], loose_edges=loose) if has_any else None)
    known = dict(zip(before.colliders, before.obstacles)) if before else {}
    obstacles, at = [], len(rest)
    for collider in colliders:
        obstacle = known.get(collider)
        if obstacle is None or obstacle.part.start != at:
            obstacle = Surface(collider.mesh, collider.vertices, at, exact=True)
        obstacles.append(obstacle)
        at += len(collider.vertices)
    sewn = ~layout.sewn.roped[seams.body]
    edges = _stacked(layout, [mesh.edges for mesh in _meshes(layout)])[0]
    usual_edges = [surface.edge if surface else 0.0 for surface in surfaces]
    of_particles = np.repeat(usual_edges, [len(body.vertices) for body in layout.bodies])
    beside = SeamNeighbors(seams.pairs[sewn], edges, welds.first, of_particles)
    return ContactConstraints(surfaces, obstacles, list(colliders), rest.T.copy(), list(planes), welds, beside)


def _build_welds(layout: Layout, seams: SeamConstraints, count: int) -> WeldConstraints:
    """What is sewn is one, and so are the ends of ropes' edges without a length, as a curve has with doubled points."""
    points = [
        body.mesh.edges[is_rope & ~body.is_seam & (body.rest_lengths == 0.0)]
        for body, is_rope in zip(layout.bodies, _ropes(layout))
    ]
    return WeldConstraints(np.concatenate([seams.pairs[layout.sewn.welded], _stacked(layout, points)[0]]), count)


def _ropes(layout: Layout) -> list[np.ndarray]:
    """Which edges of each body are ropes, (e,) bool: those without a face, unless they are seams."""
    return [body.is_loose & (roped | ~body.is_seam) for body, roped in zip(layout.bodies, layout.sewn.roped)]


def _meshes(layout: Layout) -> list[TriMesh]:
    """The mesh of each body, without the edges that are seams."""
    meshes = []
    for body, roped in zip(layout.bodies, layout.sewn.roped):
        mesh = body.mesh
        if not roped and len(body.seams):
            mesh = copy.copy(mesh)
            mesh.edges, mesh.edge_areas = mesh.edges[~body.is_seam], mesh.edge_areas[~body.is_seam]
        meshes.append(mesh)
    return meshes


def _stacked(layout: Layout, rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Vertex numbers of each body as particle numbers of the scene, and the body of each row."""
    shifted = [ids + part.start for ids, part in zip(rows, layout.slices)]
    return np.concatenate(shifted), np.repeat(np.arange(len(rows)), [len(ids) for ids in rows])


def _build_stretch(layout: Layout, w: np.ndarray) -> DistanceConstraints:
    kept = [~b.is_seam | roped for b, roped in zip(layout.bodies, layout.sewn.roped)]
    edges, body = _stacked(layout, [b.mesh.edges[some] for b, some in zip(layout.bodies, kept)])
    lengths = np.concatenate([b.rest_lengths[some] for b, some in zip(layout.bodies, kept)])
    area = np.concatenate([b.mesh.edge_areas[some] for b, some in zip(layout.bodies, kept)])
    own = np.concatenate([b.edge_compliances[some] for b, some in zip(layout.bodies, kept)])
    rest = np.concatenate([b.rest_vertices for b in layout.bodies])
    # Van Gelder 1998: the stiffness of a sheet does not depend on the resolution of its mesh.
    geometry = np.where(area > 0.0, area / np.maximum(lengths, 1e-300), ROPE_WIDTH) / np.maximum(lengths, 1e-300)
    usable = lengths > 0.0
    built = DistanceConstraints(
        "stretch", edges[usable], lengths[usable], geometry[usable], body[usable], w,
        ("stretch", "compression"), own[usable], rest, is_rope=area[usable] == 0.0,
    )  # fmt: skip
    built.numbers = np.flatnonzero(np.concatenate(kept))[usable][built.rows.order]
    return built


def _build_shear(layout: Layout, w: np.ndarray) -> DistanceConstraints:
    diagonals, body = _stacked(layout, [b.mesh.diagonals for b in layout.bodies])
    area = np.concatenate([b.mesh.diagonal_areas for b in layout.bodies])
    rest = np.concatenate([b.rest_vertices for b in layout.bodies])
    lengths = np.linalg.norm(rest[diagonals[:, 0]] - rest[diagonals[:, 1]], axis=1)
    geometry = 2.0 * area / lengths**2
    built = DistanceConstraints(
        "shear", diagonals, lengths, geometry, body, w, ("shear", "shear"), None, rest, layout.extents
    )
    built.numbers = built.rows.order + sum(len(b.mesh.edges) for b in layout.bodies)
    return built


def _build_slides(layout: Layout) -> SlideConstraints:
    return SlideConstraints(
        [
            Sliding(
                number, body.slide_ids + part.start, body.slide_weights, body.rail.vertices, body.rail.elements,
                body.vertices[body.slide_ids],
            )
            for number, (body, part) in enumerate(zip(layout.bodies, layout.slices))
            if body.rail is not None
        ]
    )  # fmt: skip


def _build_struts(layout: Layout, w: np.ndarray, materials: Sequence[Material]) -> StrutConstraints:
    ends, areas = [], []
    for body, material in zip(layout.bodies, materials):
        recipe = Recipe.of(material)
        pairs, sizes = (np.zeros((0, 2), int), np.zeros((0, 2))) if recipe is None else struts_of(body, recipe)
        ends.append(pairs)
        areas.append(sizes)
    pairs, owner = _stacked(layout, ends)
    if len(layout.sewn.joined):
        pairs = layout.sewn.joined[pairs]
    rest = np.concatenate([body.rest_vertices for body in layout.bodies])
    lengths = np.linalg.norm(rest[pairs[:, 0]] - rest[pairs[:, 1]], axis=1)
    return StrutConstraints(pairs, lengths, np.concatenate(areas), owner, w)


def _bends_as(material: Material) -> tuple[str, bool]:
    """Bending model, and whether rest angles change: then every hinge needs one."""
    return material.bend_model, material.bend_yield > 0.0


def _build_bends(
    layout: Layout, w: np.ndarray, materials: Sequence[Material]
) -> tuple[tuple[PlateConstraints, IsometricConstraints, DihedralConstraints], Folds]:
    hinges, body = _stacked(layout, [b.mesh.hinges for b in layout.bodies])
    rest = np.concatenate([b.rest_vertices for b in layout.bodies])
    angles, geometry, stencils = hinge_geometry(rest, hinges)
    creased = [b.creases.of_edges(b.mesh.hinges[:, :2], len(b.vertices)) for b in layout.bodies]
    fold, factors = np.concatenate([own[0] for own in creased]), np.concatenate([own[1] for own in creased])
    spans = np.linalg.norm(rest[hinges[:, 1]] - rest[hinges[:, 0]], axis=1) / geometry
    angles, geometry, stencils = np.where(np.isnan(fold), angles, fold), geometry * factors, stencils * np.sqrt(factors)
    model = np.array([material.bend_model for material in materials])[body]
    sheets = [
        Sheet(
            part.start, b.rest_vertices, b.mesh.triangles, b.mesh.corner_areas,
            levels_of(b.rest_vertices, b.mesh.triangles, _sheets(b.mesh)), m.bend_model != "ISOMETRIC", b.creases,
            b.dynamic_mesh,
        )
        for b, part, m in zip(layout.bodies, layout.slices, materials)
    ]  # fmt: skip
    plates = PlateConstraints(sheets)
    is_flat = np.abs(angles) < FLAT
    isometric = ((model == "ISOMETRIC") & (np.isnan(fold) | is_flat)) | ((model == "AUTO") & is_flat)
    angles = np.where(isometric, 0.0, angles)
    # Where rest angles change, each hinge has one; the stencils of a flat sheet are for one size.
    dynamic = np.array([b.dynamic_mesh for b in layout.bodies])[body]
    isometric &= ~np.array([material.bend_yield > 0.0 for material in materials])[body] & ~dynamic
    numbers = np.flatnonzero(~isometric)
    bends = (
        plates,
        IsometricConstraints(hinges[isometric], stencils[:, isometric], body[isometric], w, plates),
        DihedralConstraints(
            hinges[numbers], angles[numbers], geometry[numbers], body[numbers], w, plates, numbers
        ),
    )  # fmt: skip
    follows = dynamic & np.isnan(fold) & (model != "ISOMETRIC")
    return bends, Folds(hinges.T, body, angles, angles.copy(), follows, spans)


def _build_seam_folds(layout: Layout, w: np.ndarray, welds: WeldConstraints) -> SeamFoldConstraints:
    triangles = _stacked(layout, [b.mesh.triangles for b in layout.bodies])[0]
    rest = np.concatenate([b.rest_vertices for b in layout.bodies])
    hinges, geometry = folds_across(triangles, welds.first, rest)
    return SeamFoldConstraints(hinges, geometry, layout.body_of_island[layout.islands[hinges[:, 0]]], w)


def _build_ropes(layout: Layout) -> RopeBendConstraints:
    """Bending of loose edges, as of a ribbon of `ROPE_WIDTH`; not where masses or compliances are given."""
    found = []
    for body, mesh in zip(layout.bodies, _meshes(layout)):
        loose = mesh.edges[(mesh.edge_areas == 0.0) & (mesh.edge_lengths(body.rest_vertices) > 0.0)]
        found.append(rope_rows(loose if _is_usual(body) else loose[:0], len(body.vertices)))
    rows, owner = _stacked(layout, found)
    rest = np.concatenate([body.rest_vertices for body in layout.bodies])
    return RopeBendConstraints(rows, owner, rest, ROPE_WIDTH)


def _sheets(mesh: TriMesh) -> np.ndarray:
    """Connected component of each vertex by faces alone, (n,) int: strings and seams bend nothing."""
    return connected_components(half_edges(mesh.triangles)[0], mesh.vertex_count)


def _build_tethers(layout: Layout) -> TetherConstraints:
    rows = []
    for body, part, mesh in zip(layout.bodies, layout.slices, _meshes(layout)):
        firm = _own(layout.pinned, part) if _is_usual(body) else np.zeros(0, int)
        nothing = (np.zeros(0, int), np.zeros(0, int), np.zeros(0))
        rows.append(tether_rows(mesh, body.rest_vertices, firm) if len(firm) else nothing)
    particles, body_of = _stacked(layout, [row[0] for row in rows])
    anchors = _stacked(layout, [row[1] for row in rows])[0]
    lengths = np.concatenate([row[2] for row in rows])
    return TetherConstraints(particles, anchors, lengths, body_of, layout.extents)


def _build_levels(layout: Layout, w: np.ndarray) -> LevelConstraints:
    """Levels for triangle meshes whose chains are not straight; on grids, chains alone do better.

    Meshes with soft pins have none: a level moves whole neighborhoods, which a spring at one vertex cannot resist.
    Neither have meshes with quads, which may shear into diamonds: levels would keep the lengths of their diagonals.
    """
    crooked = [
        (number, part.start, mesh)
        for number, (body, part, mesh) in enumerate(zip(layout.bodies, layout.slices, _meshes(layout)))
        if _is_usual(body)
        and not len(_own(layout.pins[layout.soft_pins], part))
        and not len(mesh.diagonals)
        and not is_structured(mesh.edges, body.rest_vertices)
    ]
    rest = np.concatenate([body.rest_vertices for body in layout.bodies])
    return LevelConstraints(crooked, rest, layout.extents, w)


def _closed_pieces(layout: Layout) -> list[Piece]:
    pieces = []
    for number, (body, part) in enumerate(zip(layout.bodies, layout.slices)):
        mesh, rest = body.mesh, body.rest_vertices
        of_triangle = mesh.islands[mesh.triangles[:, 0]] if len(mesh.triangles) else np.zeros(0, int)
        for island in np.unique(of_triangle):
            triangles = mesh.triangles[of_triangle == island]
            caps = [rim for rim in mesh.boundary_loops if mesh.islands[rim[0]] == island]
            volume = rest_volume(rest, triangles, caps)
            pieces.append(Piece(number, triangles + part.start, [rim + part.start for rim in caps], volume))
    return pieces


def _own(particles: np.ndarray, part: slice) -> np.ndarray:
    """Vertex numbers of those particles that are in a body's range."""
    return particles[(particles >= part.start) & (particles < part.stop)] - part.start


def _is_usual(body: Body) -> bool:
    """Whether neither masses nor compliances are given, so that its stretch under its own weight can be predicted."""
    return body.own_masses is None and bool(np.isnan(body.edge_compliances).all())


def _slices(counts: Sequence[int]) -> tuple[slice, ...]:
    ends = np.cumsum(counts)
    return tuple(slice(int(end - count), int(end)) for count, end in zip(counts, ends))
