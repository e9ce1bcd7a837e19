"""One simulation of all PBD objects of a scene: built from them, fed by them, and matched to them again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ... import Collider, FrameInputs, Plane, Simulation
from ..errors import PBDError
from ..kinds import Object, Scene
from ..read.snapshot import SceneSnapshot
from ..scene import poses, surfaces, user_keys
from ..scene.scene_objects import find, is_body, live_bodies
from ..scene.simulated_range import frame_range
from ..scene.surfaces import Surface
from ..settings import maps, raw_settings
from ..settings.raw_settings import Floor, Key, as_collider
from . import intersections
from .simulated_object import SimulatedObject, check_faces, check_surface, other_output, read_member

UP = (0.0, 0.0, 1.0)
PIN_SPEED = 2.0
"""How fast pins that a hand has left go from the mesh to their places when the simulation begins [m/s]."""

FAR_BELOW = -1e6
"""Where the floor waits while there is none [m]."""

SELF_COLLISION: dict[str, bool | str] = {"ACCURATE": True, "FAST": "FAST", "OFF": False}
"""What `Simulation` calls the scene's choices of collisions."""


class ColliderBinding(NamedTuple):
    """One collider: the solver's, and what it was made from."""

    collider: Collider
    surface: Surface
    inside: bool


class SceneSimulation:
    """A simulation, its members, and the settings it runs with.

    Attributes:
        simulation: The `Simulation`.
        members: One per simulated object, in the order of its bodies.
        obstacles: The colliders, by object uid.
        applied: Raw settings that the simulation has now, by key.
        rested: Steps that were taken in place.
        fields: Names of the force fields, by object uid.
        is_blown: Whether wind or a force field acts.
    """

    def __init__(self, scene: Scene, objects: list[Object], moment: SceneSnapshot) -> None:
        """Build from the user's shapes as they stand at `moment`.

        Raises:
            PBDError: An object cannot be simulated.
        """
        self.members = [read_member(obj, moment) for obj in objects]
        raw = moment.settings[scene.session_uid]
        settings = raw_settings.settings_from(raw, scene.name)
        self.floor = floor_plane(raw.floor, scene.name)
        self.obstacles = {uid: obstacle(moment, uid) for uid in sorted(moment.cast)}
        self._placed: dict[int, tuple[Surface, np.ndarray]] = {}
        self.simulation = Simulation(
            [member.body for member in self.members],
            colliders=self._all_colliders(),
            gravity=settings.gravity,
            method=settings.method,
            substeps=settings.substeps,
            iterations=settings.iterations,
            self_collision=SELF_COLLISION[settings.collisions],
            automatic=settings.automatic,
            kernels="numpy",
            air_density=settings.air_density,
        )
        for member in self.members:
            self._set_maps(member, moment.settings[member.uid])
        self.applied = dict(moment.settings)
        self.rested = 0
        self.fields = {uid: place.name for uid, place in moment.fields.items()}
        self.is_blown = False

    def _all_colliders(self) -> list[Plane | Collider]:
        """The solver's colliders, in order."""
        return [self.floor, *(one.collider for one in self.obstacles.values())]

    def recast(self, moment: SceneSnapshot) -> Any:
        """Meet the colliders of a moment from the next step on: others than before, or some with other faces.

        State and cache stay.

        Returns:
            Whether anything changed.

        Raises:
            PBDError: One of them is not fit to collide with.
        """
        kept = {uid: one for uid, one in self.obstacles.items() if uid in moment.cast and still_fits(one, moment, uid)}
        if kept.keys() == self.obstacles.keys() == moment.cast:
            return False
        self.obstacles = {uid: kept.get(uid) or obstacle(moment, uid) for uid in sorted(moment.cast)}
        self.simulation.set_colliders(self._all_colliders())
        self._placed = {uid: placed for uid, placed in self._placed.items() if uid in kept}
        return True

    def objects(self, scene: Scene) -> list[tuple[SimulatedObject, Object]]:
        """The members that are still PBD objects of the scene, as pairs of member and object."""
        found = ((member, find(scene, member.uid, member.name)) for member in self.members)
        return [(member, obj) for member, obj in found if obj is not None and is_body(obj)]

    def held(self, moment: SceneSnapshot) -> SceneSnapshot:
        """A moment with the pinned vertices alone of the deformed shapes: no more is needed to step."""
        shapes = {}
        for member in self.members:
            shape, ids = moment.deformed.get(member.uid), member.body.pin_ids
            if shape is not None and len(shape) in (len(ids), len(member.body.vertices)):  # Else the mesh was edited.
                shapes[member.uid] = shape if len(shape) == len(ids) else shape[ids]
        return moment._replace(deformed=shapes)

    def apply(self, scene: Scene, settings: dict[Key, Any]) -> None:
        """Hand changed settings to the simulation; they act from the next step.

        Raises:
            PBDError: A value is outside of its range.
        """
        for member in self.members:
            raw = settings.get(member.uid)
            if raw is not None and raw != self.applied.get(member.uid):
                self.simulation.set_material(member.body, raw_settings.material_from(raw, member.name))
                if raw_settings.maps_from(raw) != raw_settings.maps_from(self.applied[member.uid]):
                    self._read_maps(scene, member, raw)
                    self._set_maps(member, raw)
                self.applied[member.uid] = raw
        for uid, one in self.obstacles.items():
            raw = settings.get(as_collider(uid))
            if raw is not None and raw != self.applied.get(as_collider(uid)):
                values = raw_settings.collider_from(raw)
                for name in ("thickness", "friction", "static_friction", "restitution"):
                    setattr(one.collider, name, values[name])
                self.applied[as_collider(uid)] = raw
        raw = settings[scene.session_uid]
        if raw != self.applied.get(scene.session_uid):
            self.floor.friction = floor_plane(raw.floor, scene.name).friction
            self.simulation.set_settings(raw_settings.settings_from(raw, scene.name))
            self.applied[scene.session_uid] = raw

    def _read_maps(self, scene: Scene, member: SimulatedObject, raw: Any) -> None:
        """Read the weights of a member's maps again if other groups are theirs now; raises `PBDError`."""
        names = maps.groups(raw_settings.maps_from(raw))
        if names == maps.groups(raw_settings.maps_from(self.applied[member.uid])):
            return
        read = maps.read(find(scene, member.uid, member.name), names)
        member.weights.clear()
        member.weights.update(read)

    def _set_maps(self, member: SimulatedObject, raw: Any) -> None:
        """Hand the maps to the simulation."""
        factors = maps.factors(raw_settings.maps_from(raw), member.weights)
        if factors or self.simulation.maps(member.body):
            self.simulation.set_maps(member.body, factors)

    def count_tangled(self) -> dict[int, int]:
        """How many faces of each member something went through at the start, by uid; none are left out."""
        found = intersections.tangled_faces([member.body for member in self.members])
        return {member.uid: len(faces) for member, faces in zip(self.members, found, strict=True) if len(faces)}

    def notes(self) -> dict[int, tuple[str, ...]]:
        """What is worth knowing about each member, sentences by uid."""
        # A body notes its openings if it is built under pressure; pressure may be switched on later.
        return {member.uid: tuple(dict.fromkeys((*member.body.notes, *self._caps(member)))) for member in self.members}

    def newcomers(self, scene: Scene) -> dict[int, tuple[str, ...]]:
        """Tell objects that became PBD in the middle when they will join, by uid."""
        members = {member.uid for member in self.members}
        note, first = iface("'{name}' joins the simulation at frame {frame}, or on Reset"), frame_range(scene)[0]
        new = [obj for obj in live_bodies(scene) if obj.session_uid not in members]
        return {obj.session_uid: (note.format(name=obj.name, frame=first),) for obj in new}

    def check(self, scene: Scene, moment: SceneSnapshot, earlier: Iterable[SceneSnapshot]) -> None:
        """Raise a `PBDError` if an object cannot be stepped from where it stands now, after earlier snapshots."""
        for member, obj in self.objects(scene):
            check_faces(member, obj)
            other = other_output(member, obj, earlier)
            if other:
                raise PBDError(other)
            if poses.is_flat(moment.poses[member.uid].matrix):
                raise PBDError(f"'{obj.name}' has a scale of zero: give it a scale to simulate it")

    def _caps(self, member: SimulatedObject) -> tuple[str, ...]:
        """A sentence on the openings of a mesh under pressure."""
        count = len(member.body.mesh.boundary_loops)
        material = raw_settings.material_from(self.applied[member.uid], member.name)
        if material.pressure_mode == "OFF" or not count:
            return ()
        note = "1 opening is closed by a virtual cap" if count == 1 else "{count} openings are closed by virtual caps"
        return (iface(note).format(count=count),)

    def inputs(self, scene: Scene, moment: SceneSnapshot) -> FrameInputs:
        """Pin targets, floor and colliders at a moment, as `FrameInputs` in world space.

        Raises:
            PBDError: What an object is attached to has other faces than before, or the floor's place is invalid.
        """
        held, targets = self.held(moment).deformed, {}
        for member, obj in self.objects(scene):
            ids, pose, shape = member.body.pin_ids, moment.poses.get(member.uid), held.get(member.uid)
            # Pins whose place is not known stay: those of a baked cloth, or of one that a render leaves out.
            if not len(ids) or pose is None or (shape is None and member.follows[0]):
                continue
            if shape is None:
                shape = user_keys.user_shape(obj, pose.key_values, member.masks)[ids]
            targets[member.body] = poses.to_world(shape, pose.matrix) + self._pin_ways(member, moment, scene)
        for member in self.members:
            bound = member.attachment
            if bound is not None and member.body in targets:
                surface = moment.surfaces.get(bound.uid)
                check_surface(member, bound.surface, surface)
                targets[member.body][bound.rows] = bound.points.follow(self._place(bound.uid, surface))
        colliders = {
            one.collider: self._place(uid, moment.surfaces[uid])
            for uid, one in self.obstacles.items()
            if uid in moment.surfaces
        }
        floor = floor_plane(moment.settings[scene.session_uid].floor, scene.name)
        planes = {self.floor: (floor.point.tolist(), UP)}
        return FrameInputs(pin_targets=targets, planes=planes, colliders=colliders)

    def _pin_ways(self, member: SimulatedObject, moment: SceneSnapshot, scene: Scene) -> np.ndarray:
        """How far pins that a hand has left are from their place in the mesh, (k, 3) [m].

        From there they go at `PIN_SPEED` when the simulation begins, because the cloth begins as the mesh.
        """
        ways = member.pin_offsets @ moment.poses[member.uid].matrix[:3, :3].T
        steps = self.simulation.frames.last - self.simulation.frames.first + 1 + self.rested
        reach = PIN_SPEED * steps * moment.settings[scene.session_uid].frame_seconds
        lengths = np.linalg.norm(ways, axis=1, keepdims=True)
        return ways * np.minimum(reach / np.maximum(lengths, 1e-9), 1.0)

    def _place(self, uid: int, surface: Surface) -> np.ndarray:
        """SceneSimulation positions (n, 3) [m] of a surface; computed only when it has moved."""
        placed = self._placed.get(uid)
        if placed is None or not surface.stands_like(placed[0]):
            placed = self._placed[uid] = (surface, surface.world())
        return placed[1]


def floor_plane(floor: Floor, name: str) -> Plane:
    """The floor that the settings of a scene ask for; raises `PBDError`."""
    try:
        point = (0.0, 0.0, raw_settings.clean(floor.height) if floor.used else FAR_BELOW)
        return Plane(point, UP, friction=floor.friction)
    except ValueError as error:
        why = "Height or Friction of the floor is too large or no number: change it"
        raise PBDError(f"{name}: {why}") from error


def obstacle(moment: SceneSnapshot, uid: int) -> ColliderBinding:
    """The collider of that uid as it stands at a moment; raises `PBDError`."""
    surface, values = moment.surfaces[uid], raw_settings.collider_from(moment.settings[as_collider(uid)])
    try:
        # Turned around where the transform mirrors them, so that they look outward in the world too.
        faces = surfaces.turned_around(surface.faces) if surface.mirrored else surface.faces
        collider = Collider(surface.world(), faces, name=surface.name, **values)
    except ValueError as error:
        raise PBDError(str(error)) from error
    return ColliderBinding(collider, surface, values["inside"])


def still_fits(one: ColliderBinding, moment: SceneSnapshot, uid: int) -> bool:
    """Whether an obstacle can become by moving what it is at a moment."""
    inside = raw_settings.collider_from(moment.settings[as_collider(uid)])["inside"]
    return one.inside == inside and one.surface.fits(moment.surfaces[uid])
