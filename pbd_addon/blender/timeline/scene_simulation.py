"""One `Simulation` of all PBD objects of a scene: built from their meshes and given their inputs for each frame."""

import math
from collections.abc import Generator, Iterable
from typing import NamedTuple

import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ... import Collider, FrameInputs, Plane, Simulation
from ...contact import intersections
from ...meshes.mesh import turned_around
from ...settings.scale import calm_speed
from ..errors import PBDError, refused
from ..kinds import Object, Scene
from ..read import user_state
from ..read.snapshot import SceneSnapshot
from ..scene import poses, user_keys
from ..scene.scene_objects import find, is_body, live_bodies, objects_of
from ..scene.simulated_range import frame_range
from ..scene.surfaces import Surface
from ..settings import maps, raw_settings
from ..settings.raw_settings import (
    ColliderSettings,
    Floor,
    ObjectSettings,
    Settings,
    collider_settings,
    object_settings,
    scene_settings,
)
from .simulated_object import SimulatedObject, check_faces, check_surface, is_edited, other_output, read_member

UP = (0.0, 0.0, 1.0)
"""Normal of the floor."""

PIN_SPEED = 2.0
"""Speed at which pins placed by grabbing move from the mesh to their places when the simulation begins [m/s]; less of
small bodies, see `scale.calm_speed`."""

FAR_BELOW = -1e6
"""Height of the floor plane while the floor is off [m]."""

SELF_COLLISION: dict[str, bool | str] = {"ACCURATE": True, "FAST": "FAST", "OFF": False}
"""The scene's Collisions setting as the argument of `Simulation`."""


class ColliderBinding(NamedTuple):
    """A collider of the solver, and what it was made from."""

    collider: Collider
    surface: Surface
    kind: tuple[bool, bool]  # what makes another collider: Keep Inside and Join Borders


class SceneSimulation:
    """A simulation, its members, and its settings.

    Attributes:
        simulation: The `Simulation`.
        members: One per simulated object, in the order of the bodies.
        colliders: The colliders, by object uid.
        applied: The raw settings in use, by key.
        in_place_steps: Number of steps taken in place.
        fields: Names of the force fields, by object uid.
        absorbers: Names of what takes a share of the fields, by object uid.
        notes: Hints for the user about each member, sentences by uid.
        is_blown: Whether wind or a force field acts.
    """

    def __init__(self, scene: Scene, objects: list[Object], snapshot: SceneSnapshot) -> None:
        """Read the shapes of objects in a snapshot, raises `PBDError`; `prepare` has to come before anything else."""
        self.members = [read_member(obj, snapshot) for obj in objects]
        raw = scene_settings(snapshot.settings, scene)
        settings = raw_settings.settings_from(raw, scene.name)
        self.floor = floor_plane(raw.floor, scene.name)
        self.colliders = {uid: bind_collider(snapshot, uid) for uid in snapshot.colliders_in_order}
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
            shape_error=settings.shape_error,
            kernels="numpy",
            air_density=settings.air_density,
            in_slices=True,
        )
        self.applied = dict(snapshot.settings)
        self.in_place_steps = 0
        self.notes: dict[int, tuple[str, ...]] = {}
        self.fields: dict[int, str] = {}
        self.absorbers: dict[int, str] = {}
        self.update_fields(snapshot)
        self.is_blown = False

    def prepare(self) -> Generator[None, None, None]:
        """Build the simulation, in slices; raises `PBDError`."""
        yield from self.simulation.prepare()
        for member in self.members:
            self._set_maps(member, object_settings(self.applied, member.uid))
            self.notes[member.uid] = self._notes_on(member)

    def _all_colliders(self) -> list[Plane | Collider]:
        """The solver's colliders, in order."""
        return [self.floor, *(one.collider for one in self.colliders.values())]

    def update_colliders(self, snapshot: SceneSnapshot) -> bool:
        """Use the colliders of a snapshot from the next step on, where objects or faces differ; keeps state and cache.

        Returns whether anything changed; raises a `PBDError` if a collider is invalid.
        """
        kept = {
            uid: one
            for uid, one in self.colliders.items()
            if uid in snapshot.uids("collider") and still_fits(one, snapshot, uid)
        }
        if kept.keys() == self.colliders.keys() == snapshot.uids("collider"):
            return False
        self.colliders = {uid: kept.get(uid) or bind_collider(snapshot, uid) for uid in snapshot.colliders_in_order}
        self.simulation.set_colliders(self._all_colliders())
        self._placed = {uid: placed for uid, placed in self._placed.items() if uid in kept}
        return True

    def update_fields(self, snapshot: SceneSnapshot) -> bool:
        """Note which force fields, and which absorbers of them, a snapshot has; returns whether they are others."""
        if self.fields.keys() == snapshot.fields.keys() and self.absorbers.keys() == snapshot.uids("absorber"):
            return False
        self.fields = {uid: place.name for uid, place in snapshot.fields.items()}
        self.absorbers = {uid: snapshot.surfaces[uid].name for uid in snapshot.uids("absorber")}
        return True

    @property
    def around(self) -> dict[str, dict[int, ColliderBinding] | dict[int, str]]:
        """What surrounds the members, by kind and object uid."""
        return {"collider": self.colliders, "field": self.fields, "absorber": self.absorbers}

    def objects(self, scene: Scene) -> list[tuple[SimulatedObject, Object]]:
        """Pairs (member, object) of the members that are still PBD objects of the scene."""
        names = {member.uid: member.name for member in self.members}
        found = {obj.session_uid: obj for obj in objects_of(scene, names) if is_body(obj)}
        return [(member, found[member.uid]) for member in self.members if member.uid in found]

    def split(self, positions: np.ndarray) -> dict[int, np.ndarray]:
        """The parts (3, n) of each member, by uid, in positions (3, m) of all."""
        ends = np.cumsum([len(member.body.vertices) for member in self.members])
        return dict(zip((member.uid for member in self.members), np.split(positions, ends[:-1], axis=1), strict=True))

    def with_pins_only(self, snapshot: SceneSnapshot) -> SceneSnapshot:
        """The snapshot with its deformed shapes reduced to what a step needs: pins, or all of a Dynamic Mesh."""
        shapes = {}
        for member in self.members:
            shape, body = snapshot.deformed.get(member.uid), member.body
            ids = np.arange(len(body.vertices)) if body.dynamic_mesh else body.pin_ids
            if shape is not None and len(shape) in (len(ids), len(body.vertices)):  # Else the mesh was edited.
                shapes[member.uid] = shape if len(shape) == len(ids) else shape[ids]
        return snapshot._replace(deformed=shapes)

    def apply(self, scene: Scene, settings: Settings) -> None:
        """Apply changed settings from the next step on; raises a `PBDError` if a value is out of range."""
        for member in self.members:
            raw = settings.get(member.uid)
            if isinstance(raw, ObjectSettings) and raw != self.applied.get(member.uid):
                self.simulation.set_material(member.body, raw_settings.material_from(raw, member.name))
                if raw_settings.maps_from(raw) != raw_settings.maps_from(object_settings(self.applied, member.uid)):
                    self._read_maps(scene, member, raw)
                    self._set_maps(member, raw)
                self.applied[member.uid] = raw
                self.notes[member.uid] = self._notes_on(member)
        for uid, one in self.colliders.items():
            of_collider = settings.get(("collider", uid))
            if isinstance(of_collider, ColliderSettings) and of_collider != self.applied.get(("collider", uid)):
                values = raw_settings.collider_from(of_collider)
                for name in ("thickness", "friction", "static_friction", "restitution"):
                    setattr(one.collider, name, values[name])
                self.applied["collider", uid] = of_collider
        of_scene = scene_settings(settings, scene)
        if of_scene != self.applied.get(scene.session_uid):
            self.floor.friction = floor_plane(of_scene.floor, scene.name).friction
            self.simulation.set_settings(raw_settings.settings_from(of_scene, scene.name))
            self.applied[scene.session_uid] = of_scene

    def _read_maps(self, scene: Scene, member: SimulatedObject, raw: ObjectSettings) -> None:
        """Read the weights of a member's maps again if their vertex groups changed; raises `PBDError`."""
        names = maps.groups(raw_settings.maps_from(raw))
        if names == maps.groups(raw_settings.maps_from(object_settings(self.applied, member.uid))):
            return
        read = maps.read(find(scene, member.uid, member.name), names)
        member.weights.clear()
        member.weights.update(read)

    def _set_maps(self, member: SimulatedObject, raw: ObjectSettings) -> None:
        """Set the maps of the simulation."""
        factors = maps.factors(raw_settings.maps_from(raw), member.weights)
        if factors or self.simulation.maps(member.body):
            self.simulation.set_maps(member.body, factors)

    def is_edited(self, obj: Object) -> bool:
        """Whether vertices of an object were moved in Edit Mode since the simulation was built."""
        return any(member.uid == obj.session_uid and is_edited(member, obj) for member in self.members)

    def count_intersecting(self) -> dict[int, int]:
        """Number of faces of each member that intersected others at the start, by uid; zeros are left out."""
        found = intersections.intersecting_faces([member.body for member in self.members])
        return {member.uid: len(faces) for member, faces in zip(self.members, found, strict=True) if len(faces)}

    def brought_out(self, uid: int) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of a member that were brought out of colliders at the start, and those that were not, (k,) int."""
        found = [self.simulation.brought_out(member.body) for member in self.members if member.uid == uid]
        return found[0] if found else (np.zeros(0, int), np.zeros(0, int))

    def met_by(self, uid: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Vertices of a member inside of closed colliders, and those that go through any, (k,) int, by their names."""
        found = [self.simulation.met_by(member.body) for member in self.members if member.uid == uid]
        return found[0] if found else {}

    def sewn_until(self, uid: int, scene: Scene) -> int:
        """The frame until which gravity and wind wait for the seams of a member, 0 if they do not or not any more."""
        waiting = [one for one in self.members if one.uid == uid and self.simulation.is_sewn_first(one.body)]
        if not waiting:
            return 0
        raw = object_settings(self.applied, uid)
        seconds = raw_settings.material_from(raw, waiting[0].name).closing_time
        first, frame = self.simulation.frames.first, scene_settings(self.applied, scene).frame_seconds
        return max(first + math.ceil(seconds / frame), self.simulation.frames.last + 1)

    def _notes_on(self, member: SimulatedObject) -> tuple[str, ...]:
        """Hints for the user about a member, in sentences."""
        # A body notes its openings only if it is built under pressure, which may be switched on later.
        return tuple(dict.fromkeys((*member.body.notes, *self._caps(member))))

    def newcomers(self, scene: Scene) -> dict[int, tuple[str, ...]]:
        """A note for each object that became PBD mid-run: when it will join, by uid."""
        members = {member.uid for member in self.members}
        note, first = iface("'{name}' joins the simulation at frame {frame}, or on Reset"), frame_range(scene)[0]
        new = [obj for obj in live_bodies(scene) if obj.session_uid not in members]
        return {obj.session_uid: (note.format(name=obj.name, frame=first),) for obj in new}

    def check(self, scene: Scene, snapshot: SceneSnapshot, earlier: Iterable[SceneSnapshot]) -> None:
        """Raise a `PBDError` if an object cannot be stepped on after earlier snapshots."""
        for member, obj in self.objects(scene):
            check_faces(member, obj)
            other = other_output(member, user_state.role(obj), earlier)
            if other:
                raise PBDError(other)
            if poses.is_flat(snapshot.poses[member.uid].matrix):
                raise PBDError(f"'{obj.name}' has a scale of zero: give it a scale to simulate it")

    def _caps(self, member: SimulatedObject) -> tuple[str, ...]:
        """A sentence about the openings of a mesh under pressure."""
        count = len(member.body.whole.mesh.boundary_loops)
        material = raw_settings.material_from(object_settings(self.applied, member.uid), member.name)
        if material.pressure_mode == "OFF" or not count:
            return ()
        note = "1 opening is closed by a virtual cap" if count == 1 else "{count} openings are closed by virtual caps"
        return (iface(note).format(count=count),)

    def inputs(self, scene: Scene, snapshot: SceneSnapshot) -> FrameInputs:
        """Pin targets, rails, rest shapes, floor and colliders of a snapshot, in world space; raises `PBDError`."""
        shapes = self.with_pins_only(snapshot).deformed
        targets, rests, rails = {}, {}, {}
        for member, obj in self.objects(scene):
            body, pose, shape = member.body, snapshot.poses.get(member.uid), shapes.get(member.uid)
            # All stays as it is where the pose is unknown: baked cloth, or cloth that a render leaves out.
            if not member.is_led or pose is None or (shape is None and member.follows[0]):
                continue
            if shape is None:
                shape = user_keys.user_shape(obj, pose.key_values, member.masks)
            if body.dynamic_mesh:
                rests[body] = poses.to_world(shape, pose.matrix)
            if len(body.pin_ids):
                pinned = shape if len(shape) == len(body.pin_ids) else shape[body.pin_ids]
                targets[body] = poses.to_world(pinned, pose.matrix) + self._pin_ways(member, snapshot, scene)
        for member in self.members:
            bound = member.attachment
            slides = bound is not None and bound.points is None and member.uid in snapshot.poses
            if bound is not None and (slides or member.body in targets):
                surface = snapshot.surfaces.get(bound.uid)
                check_surface(member, bound.surface, surface)
                place = self._place(bound.uid, surface)
                if bound.points is None:
                    rails[member.body] = place
                else:
                    targets[member.body][bound.rows] = bound.points.follow(place)
        colliders = {
            one.collider: self._place(uid, snapshot.surfaces[uid])
            for uid, one in self.colliders.items()
            if uid in snapshot.surfaces
        }
        floor = floor_plane(scene_settings(snapshot.settings, scene).floor, scene.name)
        planes = {self.floor: (floor.point.tolist(), UP)}
        return FrameInputs(pin_targets=targets, planes=planes, colliders=colliders, rest_shapes=rests, rails=rails)

    def _pin_ways(self, member: SimulatedObject, snapshot: SceneSnapshot, scene: Scene) -> np.ndarray:
        """Offsets (k, 3) [m] of pins placed by grabbing from the mesh.

        The cloth begins as the mesh, so the offsets grow at `PIN_SPEED` from the first step on.
        """
        if not member.pin_offsets.any():
            return member.pin_offsets
        ways = member.pin_offsets @ snapshot.poses[member.uid].matrix[:3, :3].T
        steps = self.simulation.frames.last - self.simulation.frames.first + 1 + self.in_place_steps
        extent = float(np.linalg.norm(np.ptp(member.body.rest_vertices, axis=0)))
        reach = PIN_SPEED * calm_speed(extent) * steps * scene_settings(snapshot.settings, scene).frame_seconds
        lengths = np.linalg.norm(ways, axis=1, keepdims=True)
        return ways * np.minimum(reach / np.maximum(lengths, 1e-9), 1.0)

    def _place(self, uid: int, surface: Surface) -> np.ndarray:
        """World positions (n, 3) [m] of a surface; computed only when it has moved."""
        placed = self._placed.get(uid)
        if placed is None or not surface.is_like(placed[0]):
            placed = self._placed[uid] = (surface, surface.world())
        return placed[1]


def floor_plane(floor: Floor, name: str) -> Plane:
    """The floor of a scene's settings; raises `PBDError`."""
    try:
        point = (0.0, 0.0, raw_settings.clean(floor.height) if floor.used else FAR_BELOW)
        return Plane(point, UP, friction=floor.friction)
    except ValueError as error:
        why = "Height or Friction of the floor is too large or no number: change it"
        raise PBDError(f"{name}: {why}") from error


def bind_collider(snapshot: SceneSnapshot, uid: int) -> ColliderBinding:
    """The collider of that uid in a snapshot; raises `PBDError`."""
    surface, values = (
        snapshot.surfaces[uid],
        raw_settings.collider_from(collider_settings(snapshot.settings, uid)),
    )
    # A mirroring transform flips the normals: flip the faces so that they look outward in the world.
    faces = turned_around(surface.faces) if surface.mirrored else surface.faces
    with refused():
        collider = Collider(surface.world(), faces, name=surface.name, **values)
    return ColliderBinding(collider, surface, (values["inside"], values["join_borders"]))


def still_fits(one: ColliderBinding, snapshot: SceneSnapshot, uid: int) -> bool:
    """Whether moving its vertices turns a collider into what it is in a snapshot."""
    values = raw_settings.collider_from(collider_settings(snapshot.settings, uid))
    return one.kind == (values["inside"], values["join_borders"]) and one.surface.fits(snapshot.surfaces[uid])
