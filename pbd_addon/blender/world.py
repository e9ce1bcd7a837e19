"""One simulation of all PBD objects of a scene: built from them, fed by them, and matched to them again.

Blender's objects come and go (undo makes new ones of all), so nothing here keeps one: they are found by name and
checked by `session_uid`.
"""

from typing import NamedTuple

import numpy as np

from .. import Body, FrameInputs, Plane, Simulation
from . import animation, mesh_io, poses, properties, user_keys
from .errors import PBDError

UP = (0.0, 0.0, 1.0)
FAR_BELOW = -1e6
"""Where the floor waits while there is none [m]."""


class Moment(NamedTuple):
    """All that the simulation takes from the scene at one frame."""

    poses: dict[int, poses.Pose]  # by object uid
    settings: dict[int, tuple]  # raw settings by uid of the object, and of the scene

    def blend(self, other, fraction):
        """The moment on the straight way to `other`, with the settings of `other`."""
        between = {
            uid: pose.blend(other.poses[uid], fraction) for uid, pose in self.poses.items() if uid in other.poses
        }
        return Moment(between, other.settings)

    def completing(self, earlier):
        """The `earlier` moment, with the objects that it did not know as they are at this one."""
        known = {uid: earlier.poses.get(uid, pose) for uid, pose in self.poses.items()}
        return Moment(known, {**self.settings, **earlier.settings})

    def agrees(self, other):
        """Whether all settings that both know are the same."""
        return all(other.settings.get(uid, raw) == raw for uid, raw in self.settings.items())

    def stands_like(self, other):
        """Whether the objects that both know stand in the same place and shape."""
        return all(
            np.array_equal(pose.matrix, other.poses[uid].matrix) and pose.key_values == other.poses[uid].key_values
            for uid, pose in self.poses.items()
            if uid in other.poses
        )


class Member(NamedTuple):
    """One simulated object: how to find it, and what it was when the simulation was built."""

    uid: int
    name: str
    body: Body
    fingerprint: tuple
    masks: dict[str, np.ndarray]


def bodies(scene):
    """The PBD objects of a scene that are switched on, baked or not."""
    return [obj for obj in scene.objects if obj.type == "MESH" and obj.pbd.enabled and obj.pbd.active]


def live_bodies(scene):
    """The PBD objects of a scene that are simulated: switched on and not baked."""
    return [obj for obj in bodies(scene) if not obj.pbd.baked]


def find(scene, uid, name):
    """The object of that uid in the scene, or None; `name` is where to look first."""
    obj = scene.objects.get(name)
    if obj is not None and obj.session_uid == uid:
        return obj
    return next((obj for obj in scene.objects if obj.session_uid == uid), None)


def read_moment(scene, depsgraph, objects):
    """The moment that `depsgraph` has evaluated."""
    settings = {obj.session_uid: properties.raw_material(animation.animated(obj, depsgraph).pbd) for obj in objects}
    settings[scene.session_uid] = properties.raw_scene(animation.animated(scene, depsgraph))
    return Moment({obj.session_uid: poses.read_pose(obj, depsgraph) for obj in objects}, settings)


def read_last_moment(scene, objects):
    """The moment that was evaluated last, as the original objects remember it."""
    settings = {obj.session_uid: properties.raw_material(obj.pbd) for obj in objects}
    settings[scene.session_uid] = properties.raw_scene(scene)
    return Moment({obj.session_uid: poses.read_last_pose(obj) for obj in objects}, settings)


class World:
    """A simulation, its members, and the settings it runs with.

    Attributes:
        simulation: The `Simulation`.
        members: One per simulated object, in the order of its bodies.
        applied: Raw settings that the simulation has now, by uid.
    """

    def __init__(self, scene, objects, moment):
        """Build from the user's shapes as they stand at `moment`.

        Raises:
            PBDError: An object cannot be simulated.
        """
        self.members = []
        for obj in objects:
            masks = user_keys.read_masks(obj)
            body = mesh_io.read_body(obj, pose=moment.poses[obj.session_uid], masks=masks)
            self.members.append(Member(obj.session_uid, obj.name, body, mesh_io.fingerprint(obj), masks))
        raw = moment.settings[scene.session_uid]
        settings = properties.settings_from(raw, scene.name)
        floor = properties.floor_from(raw)
        self.floor = Plane(self._floor_point(floor), UP, friction=floor[2])
        self.simulation = Simulation(
            [member.body for member in self.members],
            colliders=[self.floor],
            gravity=settings.gravity,
            method=settings.method,
            substeps=settings.substeps,
            iterations=settings.iterations,
        )
        self.applied = dict(moment.settings)

    @staticmethod
    def _floor_point(floor):
        used, height, _friction = floor
        return (0.0, 0.0, properties.clean(height) if used else FAR_BELOW)

    def objects(self, scene):
        """The members that are still PBD objects of the scene, as pairs of member and object."""
        found = ((member, find(scene, member.uid, member.name)) for member in self.members)
        return [(member, obj) for member, obj in found if obj is not None and obj.pbd.enabled]

    def apply(self, scene, settings):
        """Hand changed settings to the simulation; they act from the next step.

        Raises:
            PBDError: A value is outside of its range.
        """
        for member in self.members:
            raw = settings.get(member.uid)
            if raw is not None and raw != self.applied.get(member.uid):
                self.simulation.set_material(member.body, properties.material_from(raw, member.name))
                self.applied[member.uid] = raw
        raw = settings[scene.session_uid]
        if raw != self.applied.get(scene.session_uid):
            self.floor.friction = properties.floor_from(raw)[2]
            self.simulation.set_settings(properties.settings_from(raw, scene.name))
            self.applied[scene.session_uid] = raw

    def notes(self):
        """What is worth knowing about each member, sentences by uid."""
        # A body notes its openings if it is built under pressure; pressure may be switched on later.
        return {member.uid: tuple(dict.fromkeys((*member.body.notes, *self._caps(member)))) for member in self.members}

    def _caps(self, member):
        """A sentence on the openings of a mesh under pressure."""
        count = len(member.body.mesh.boundary_loops)
        material = properties.material_from(self.applied[member.uid], member.name)
        if material.pressure_mode == "OFF" or not count:
            return ()
        return (
            f"{count} opening is closed by a virtual cap"
            if count == 1
            else f"{count} openings are closed by virtual caps",
        )

    def inputs(self, scene, moment):
        """Pin targets and floor at a moment, as `FrameInputs` in world space."""
        targets = {
            member.body: mesh_io.pin_targets(obj, member.body, moment.poses[member.uid], member.masks)
            for member, obj in self.objects(scene)
            if len(member.body.pin_ids) and member.uid in moment.poses
        }
        floor = properties.floor_from(moment.settings[scene.session_uid])
        return FrameInputs(pin_targets=targets, planes={self.floor: (self._floor_point(floor), UP)})


def check_fit(member, obj):
    """Raise a `PBDError` if the mesh is not the one that the simulation was built for; quick."""
    mesh_io.check_mesh(obj)
    built = member.fingerprint[0]
    now = mesh_io.counts(obj.data)
    for what, old, new in zip(("vertices", "edges", "face corners", "faces"), built, now, strict=True):
        if old != new:
            raise PBDError(f"Mesh of '{obj.name}' has {new} {what}, the simulation was built for {old}: press Reset")


def fits(member, obj):
    """Whether the mesh is, by its counts, the one that the simulation was built for."""
    return obj.mode != "EDIT" and mesh_io.counts(obj.data) == member.fingerprint[0]


def is_unedited(member, obj, pose, pins):
    """Whether the user's shape under that pose, and on request the pins, are those of the member's body."""
    shape = user_keys.user_shape(obj, pose.key_values, member.masks)
    if not np.array_equal(poses.to_world(shape, pose.matrix), member.body.vertices):
        return False
    if not pins:
        return True
    return mesh_io.read_pins(obj) == dict(
        zip(member.body.pin_ids.tolist(), member.body.pin_weights.tolist(), strict=True)
    )


def check_faces(member, obj):
    """Raise a `PBDError` if the counts fit but the faces run through other vertices."""
    check_fit(member, obj)
    if mesh_io.fingerprint(obj) != member.fingerprint:
        raise PBDError(f"Mesh of '{obj.name}' has other faces than the simulation was built for: press Reset")
