"""What wind and force fields do to a simulation in a frame, handed to it as functions."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ... import AirVelocity, Wind
from ...air.field import Field, Outside
from ...air.force_fields import FieldForces, as_blenders_cloth
from ..errors import PBDError, refused
from ..kinds import Scene
from ..read import fields
from ..read.snapshot import SceneSnapshot
from ..scene.surfaces import Surface
from ..settings import raw_settings
from ..settings.field_weights import BLENDERS_NAME, NAMES
from ..settings.raw_settings import (
    ObjectSettings,
    SceneSettings,
    absorber_settings,
    clean,
    field_settings,
    object_settings,
    scene_settings,
)
from .scene_simulation import SceneSimulation
from .simulated_object import SimulatedObject

GRAVITY = NAMES.index("gravity")

Force = Callable[[np.ndarray, np.ndarray, float], np.ndarray]
"""What acts on particles, as a function of their positions, velocities and the time."""

Part = tuple[slice, Force]
"""Which particles, and what acts on them."""


def surround(scene_sim: SceneSimulation, scene: Scene, before: SceneSnapshot, now: SceneSnapshot) -> None:
    """Let wind and fields act in the next frame, at whose ends the scene stands as in these snapshots; `PBDError`."""
    raw = scene_settings(now.settings, scene)
    wind, forces = wind_of(raw, scene.name), _forces(scene_sim, scene, before, now)
    if wind is not None or forces or scene_sim.is_blown:
        scene_sim.simulation.set_wind(wind)
        scene_sim.simulation.set_forces(forces)
        _shade(scene_sim, now, wind if raw.wind.shelter else None)
    scene_sim.is_blown = wind is not None or bool(forces)


def wind_of(raw: SceneSettings, name: str) -> Wind | None:
    """The wind that the settings of a scene ask for; None if nothing blows. Raises `PBDError`."""
    said = raw.wind
    if said.speed == 0.0:
        return None
    along = np.array(said.direction)
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise PBDError(f"{name}: the wind has no direction: set Direction, or choose another object to blow along")
    velocity = tuple((clean(said.speed) * along / length).tolist())
    loop = said.loop * raw.frame_seconds
    with refused(f"{name}: "):
        return Wind(velocity, clean(said.turbulence) / 100.0, clean(said.eddy), said.seed, loop)


def _forces(
    scene_sim: SceneSimulation, scene: Scene, before: SceneSnapshot, now: SceneSnapshot
) -> list[Force | AirVelocity]:
    """Functions of all particles for what acts, few or none."""
    raw, pairs = scene_settings(now.settings, scene), list(_pairs(before, now))
    fps = scene.render.fps / clean(scene.render.fps_base)
    pulls: list[Part] = []
    blows: list[Part] = []
    for member in scene_sim.members:
        material = now.settings.get(member.uid)
        if not isinstance(material, ObjectSettings):  # It was removed while it was simulated, and stays as it was last.
            continue
        part, gravity = scene_sim.simulation.particles(member.body), clean(material.field_weights[GRAVITY])
        if gravity != 1.0:
            weight, inertia = _inertia(scene_sim, member)  # Gravity pulls at what has weight.
            pull = (gravity - 1.0) * (weight / inertia)[:, None] * np.array(scene_sim.simulation.settings.gravity)
            pulls.append((part, lambda _x, _v, _t, pull=pull: pull))
        felt = [
            (a, b)
            for a, b in pairs
            if b.uid != member.uid and (material.fields is None or now.fields[b.uid].name in material.fields)
        ]
        if not felt:
            continue
        weights = dict(zip(NAMES, map(clean, material.field_weights), strict=True))
        x = scene_sim.simulation.positions(member.body)
        shares = [weights["all"] * weights[BLENDERS_NAME[b.kind]] * _seen(b, x, now) for _, b in felt]
        outside = fields.outside(before.fields | {uid: now.fields[uid] for uid in now.fields.keys() - before.fields})
        said = [(a, b, share) for (a, b), share in zip(felt, shares, strict=True) if np.any(share)]
        if raw.field_reading == "CLOTH":
            acting = _acting(said, raw.frame_seconds, outside)
            pulls.append((part, _as_blenders_cloth(scene_sim, member, acting, fps)))
            continue
        winds = [(_without_flow(a), _without_flow(b), share) for a, b, share in said if b.kind == "WIND"]
        others = [one for one in said if one[1].kind != "WIND"]
        if winds:
            blows.append((part, _acting(winds, raw.frame_seconds, outside)))
        if others:
            pulls.append((part, _acting(others, raw.frame_seconds, outside)))
    return [*([_together(pulls)] if pulls else []), *([AirVelocity(_together(blows))] if blows else [])]


def _pairs(before: SceneSnapshot, now: SceneSnapshot) -> Iterator[tuple[Field, Field]]:
    """The fields at both ends of the frame; those that are new stand still in it."""
    for uid, place in now.fields.items():
        end = fields.field_from(uid, field_settings(now.settings, uid), place)
        if end is None:
            continue
        begin = None
        if uid in before.fields and ("field", uid) in before.settings:
            begin = fields.field_from(uid, field_settings(before.settings, uid), before.fields[uid])
        begin = begin if begin is not None and begin.like == end.like else end
        if begin.acts or end.acts:
            yield begin, end


def _acting(said: list[tuple[Field, Field, float | np.ndarray]], seconds: float, outside: Outside) -> FieldForces:
    return FieldForces([a for a, _, _ in said], [b for _, b, _ in said], [one[2] for one in said], seconds, outside)


def _without_flow(field: Field) -> Field:
    """Wind as a velocity of air, which needs no flow to be one."""
    return dataclasses.replace(field, flow=0.0)


def _together(parts: list[Part]) -> Force:
    """One function of all particles."""

    def fields_of_scene(x: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        total = np.zeros_like(x)
        for part, force in parts:
            total[part] += force(x[part], v[part], t)
        return total

    return fields_of_scene


def _inertia(scene_sim: SceneSimulation, member: SimulatedObject) -> tuple[np.ndarray, np.ndarray]:
    """What has weight and what has inertia of a member's particles, (n,) each [kg]."""
    material = raw_settings.material_from(object_settings(scene_sim.applied, member.uid), member.name)
    masses = member.body.masses(material)
    return masses, masses + member.body.air_masses(material)


def _as_blenders_cloth(scene_sim: SceneSimulation, member: SimulatedObject, acting: FieldForces, fps: float) -> Force:
    """A function with what Blender's own cloth would feel."""
    triangles, (_weight, inertia) = member.body.mesh.triangles, _inertia(scene_sim, member)
    return lambda x, v, t: as_blenders_cloth(acting, x, v, t, fps, triangles, inertia)


# ------------------------------------------------------------------------------------------ what is in the way


def _shade(scene_sim: SceneSimulation, now: SceneSnapshot, wind: Wind | None) -> None:
    """Keep the wind off triangles that have a collider or another body to windward; None shelters nothing."""
    simulation = scene_sim.simulation
    trees: list[tuple[BVHTree, SimulatedObject | None]] = []
    if wind is not None:
        surfaces = [now.surfaces[uid] for uid in scene_sim.colliders if uid in now.surfaces]
        trees += [(BVHTree.FromPolygons(one.world().tolist(), _polygons(one)), None) for one in surfaces]
        for member in scene_sim.members:
            x, faces = simulation.positions(member.body).tolist(), member.body.mesh.triangles.tolist()
            trees.append((BVHTree.FromPolygons(x, faces), member))
    for member in scene_sim.members:
        others = [tree for tree, owner in trees if owner is not member]
        if wind is None or not others:
            simulation.set_shade(member.body, None)
            continue
        upwind = -Vector(wind.velocity)
        centers = simulation.positions(member.body)[member.body.mesh.triangles].mean(axis=1).tolist()
        rays = [any(tree.ray_cast(center, upwind)[0] is not None for tree in others) for center in map(Vector, centers)]
        simulation.set_shade(member.body, 1.0 - np.array(rays, float))


def _seen(field: Field, x: np.ndarray, now: SceneSnapshot) -> float | np.ndarray:
    """How much of a field gets through to particles at x (n, 3) [m], (n,); 1 if it is not absorbed.

    As in Blender, rays go from the particles to the nearest point of the field. Its trees take one at a time; this is
    asked once a frame.
    """
    if not field_settings(now.settings, field.uid).use_absorption:
        return 1.0
    seen, ways = np.ones(len(x)), field.nearest(x) - x
    lengths = np.linalg.norm(ways, axis=1)
    rays = list(zip(map(Vector, x.tolist()), map(Vector, ways.tolist()), lengths.tolist(), strict=True))
    for uid in now.uids("absorber") - {field.uid}:
        absorption, surface = absorber_settings(now.settings, uid).absorption, now.surfaces[uid]
        if absorption:
            tree: Any = BVHTree.FromPolygons(surface.world().tolist(), _polygons(surface))
            hit = np.array([length > 0.0 and tree.ray_cast(p, way, length)[0] is not None for p, way, length in rays])
            seen[hit] *= min(max(1.0 - absorption, 0.0), 1.0)
    return seen


def _polygons(surface: Surface) -> list[list[int]]:
    faces = np.split(surface.faces.corners, surface.faces.starts[1:-1])
    return [face.tolist() for face in faces if len(face) > 2]
