"""Building a `Model`: bodies and colliders become arrays and kinds of constraints.

A model never changes. `with_materials` and its like return another one that shares what stays the same; it takes over
the kinds of constraints, so the old model must no longer be stepped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping, Sequence

import numpy as np

from ..bodies.body import Body
from ..bodies.material import Material
from ..constraints import Constraints, Grab, Plane, PlaneConstraints, VolumeConstraints
from ..constraints.rounds import BEND, in_rounds, measured
from ..constraints.spring_rows import is_soft
from ..contact import Collider
from ..model.inertia import inertia_of
from ..model.layout import Sewn, held_pins, initial_joints, lay_out
from ..model.model import Model
from ..model.part import Part
from ..parts import ORDER, PARTS
from ..parts.grabs import Grabs
from ..parts.skin import EndOfPass, Skin
from ..settings.solver_settings import SolverSettings
from ..timing.slices import finish
from . import builders

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
    parts: Sequence[Part] = (),
) -> Generator[None, None, Model]:
    """The model of bodies and colliders, in slices; materials and maps are the bodies' own and nothing is sewn yet by
    default.

    parts: those of another model that hand something on, see `Part.outlives`.
    """
    materials = tuple(materials or (body.material for body in bodies))
    maps = tuple(maps or (body.maps for body in bodies))
    if sewn is None:
        roped = np.array([not material.sewing for material in materials])
        joined = initial_joints(bodies, materials)
        sewn = Sewn(roped, np.zeros(sum(len(body.seams) for body in bodies), bool), joined)
    layout = lay_out(bodies, held_pins(bodies, materials, maps), sewn)
    yield
    volume = VolumeConstraints(builders.closed_pieces(layout), len(layout.islands))
    inertia = inertia_of(layout, materials, maps, settings, volume)
    w = inertia["w"]
    stretch, shear = builders.stretch(layout, w), builders.shear(layout, w)
    yield
    rigid = builders.rigid(layout, materials)
    sizes = np.column_stack([[np.median(body.rest_lengths) for body in layout.bodies], layout.extents])
    free = layout.free, layout.body_of_island[layout.islands[layout.free]]
    plane_constraints = tuple(PlaneConstraints(plane, *free, rigid, sizes) for plane in planes)
    welds = builders.welds(layout)
    contact = builders.contact(layout, colliders, plane_constraints, welds, materials, settings, rigid)
    yield
    bends, folds = builders.bends(layout, w, materials)
    yield
    model = Model(
        **vars(layout),
        **inertia,
        planes=tuple(planes),
        colliders=tuple(colliders),
        materials=materials,
        maps=maps,
        settings=settings,
        sizes=layout.extents,
        bends=bends,
        folds=folds,
        shear=shear,
        stretch=stretch,
        welds=welds,
        volume=volume,
        rigid=rigid,
        plane_constraints=plane_constraints,
        contact=contact,
        parts=tuple(parts),
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

    Another bending model needs new rows, other welds new contact, and so does what can meet at last or no more; other
    held pins, ropes, joints or rigid bodies need a new model.

    opened: which closed pieces leak or have burst, see `VolumeConstraints.opened`; default: those of before, none with
    other joints.
    sewn: the same of what was sewn and is joined.
    """
    opened, sewn = model.volume.opened if opened is None else opened, sewn or model.sewn
    same_pins = np.array_equal(np.flatnonzero(~held_pins(model.bodies, materials, maps)), model.loose_pins)
    same_joints = np.array_equal(sewn.joined, model.sewn.joined)
    same_rigid = [m.rigid for m in materials] == [m.rigid for m in model.materials]
    met = builders.can_meet(model.colliders, model.materials, model.settings)
    if not same_pins or not same_joints or not same_rigid or not np.array_equal(sewn.roped, model.sewn.roped):
        handed = [part for part in model.parts if part.outlives]
        scene = model.bodies, model.planes, model.colliders
        built = finish(build_model(*scene, settings, materials, maps, sewn, handed))
        model = dataclasses.replace(built, further=model.further, around=model.around)
        if not same_joints:
            return _in_order(model)
    elif not np.array_equal(sewn.welded, model.sewn.welded):
        model = dataclasses.replace(model, sewn=sewn)
        model = dataclasses.replace(model, welds=builders.welds(model))
        model = _with_contact(model, model.colliders, materials, settings)
    elif met != builders.can_meet(model.colliders, materials, settings):
        model = _with_contact(model, model.colliders, materials, settings)
    model.volume.opened = opened
    inertia = inertia_of(model, materials, maps, settings, model.volume)
    bends, folds = model.bends, model.folds
    if list(map(builders.bends_as, materials)) != list(map(builders.bends_as, model.materials)):
        bends, folds = builders.bends(model, inertia["w"], materials)
    means = [{kind: factors.mean() for kind, factors in own.items()} for own in maps]
    sizes = model.extents * [own.get("density", 1.0) / max(own.get("stretch", 1.0), 1e-9) for own in means]
    model = dataclasses.replace(
        model, materials=tuple(materials), maps=tuple(maps), settings=settings, sizes=sizes, bends=bends, folds=folds,
        **inertia,
    )  # fmt: skip
    found = [kind.build(model, model.part(kind)) for kind in PARTS]
    model = _with_parts(model, [part for part in found if part is not None])
    factors = model.maps_of_particles(maps)
    for constraints in model.kinds:
        constraints.set_maps(factors)
        constraints.set_materials(materials, settings, model.w)
    for part in model.parts:
        part.settle(model)
    return _in_order(model)


def _with_parts(model: Model, parts: Sequence[Part]) -> Model:
    """The model with these parts, and all kinds in the order of projection."""
    parts = tuple(sorted(parts, key=lambda part: PARTS.index(type(part))))
    own = (model.shear, model.stretch, model.welds, model.volume, model.rigid, model.contact)
    kinds = [*own, *model.bends, *model.plane_constraints, *(kind for part in parts for kind in part.constraints)]
    kinds.sort(key=lambda kind: ORDER.index(kind.name))
    before = sum(ORDER.index(kind.name) < ORDER.index("") for kind in kinds)
    return dataclasses.replace(model, parts=parts, kinds=(*kinds[:before], *model.further, *kinds[before:]))


def with_constraints(model: Model, added: Constraints) -> Model:
    """The model with one more kind of constraint, before planes and contact."""
    return _renewed(dataclasses.replace(model, further=(*model.further, added)))


def with_colliders(model: Model, colliders: Sequence[Collider]) -> Model:
    """The model with other colliders."""
    return _renewed(_with_contact(model, colliders, model.materials, model.settings))


def _with_contact(
    model: Model, colliders: Sequence[Collider], materials: Sequence[Material], settings: SolverSettings
) -> Model:
    """The model with contact for these colliders and its welds; `_renewed` or the like follows."""
    contact = builders.contact(
        model,
        colliders,
        model.plane_constraints,
        model.welds,
        materials,
        settings,
        model.rigid,
        model.contact,
    )
    return dataclasses.replace(model, colliders=tuple(colliders), contact=contact)


def with_grabs(model: Model, grabs: Sequence[Grab]) -> Model:
    """The model with exactly these grabs."""
    others = [part for part in model.parts if not isinstance(part, Grabs)]
    held = [Grabs(model, grabs)] if grabs else []
    for part in held:
        part.grabs.set_materials(model.materials, model.settings, model.w)
    return _in_order(_with_parts(model, [*others, *held]))


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
    skin = model.part(Skin)
    is_pressed = skin is not None and skin.pressurized.active
    others = is_pressed or model.welds.active or model.can_tear  # which asks for forces within a frame
    frugal = []
    for kind in (model.shear, model.bends[1]):
        kind.once_apart = model.settings.iterations == 1 and sequence.count(kind) == 1 and not others
        kind.once = kind.once_apart and not model.contact.active
        frugal += [kind] if kind.once_apart else []
    rounds: tuple[Constraints, ...] = ()
    bends = [kind for kind in constraints if kind.name.endswith(BEND)]
    one_pass = model.settings.method == "XPBD" and model.settings.iterations == 1
    if one_pass and bends and model.stretch.active and not model.volume.active:
        rounds = in_rounds(constraints, bends, model.shear, model.stretch, len(model.w))
        sequence = measured(sequence, bends, len(model.w))
    if skin and is_pressed:
        after = sequence.index(model.volume) + 1
        sequence = (*sequence[:after], EndOfPass(skin.pressurized), *sequence[after:])
    outer = tuple(kind for kind in constraints if type(kind).pushing is not Constraints.pushing)
    acting = tuple(part for part in model.parts if part.acts)
    return dataclasses.replace(
        model, acting=acting, constraints=constraints, sequence=sequence, rounds=rounds, frugal=tuple(frugal),
        outer=outer, scratch={},
    )  # fmt: skip
