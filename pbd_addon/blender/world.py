"""One simulation of all PBD objects of a scene: built from them, fed by them, and matched to them again.

Blender's objects come and go (undo makes new ones of all), so nothing here keeps one: they are found by name and
checked by `session_uid`.
"""

from typing import NamedTuple

import bpy
import numpy as np

from .. import Body, Collider, FrameInputs, Plane, Simulation
from ..contact.surface_points import SurfacePoints
from . import animation, mesh_io, poses, properties, surfaces, tangles, user_keys
from .errors import PBDError
from .surfaces import Surface

UP = (0.0, 0.0, 1.0)
FAR_BELOW = -1e6
"""Where the floor waits while there is none [m]."""

SELF_COLLISION: dict[str, bool | str] = {"ACCURATE": True, "FAST": "FAST", "OFF": False}
"""What `Simulation` calls the scene's choices of collisions."""


Key = int | tuple[str, int]
"""Whose settings: the uid of a simulated object or of the scene; of a collider, `as_collider` of its uid."""


def as_collider(uid):
    """The key of an object's settings as a collider; it may have others as a cloth."""
    return ("collider", uid)


class Moment(NamedTuple):
    """All that the simulation takes from the scene at one frame."""

    poses: dict[int, poses.Pose]  # by object uid
    settings: dict[Key, tuple]  # raw settings
    surfaces: dict[int, Surface] = {}  # of colliders and of what cloth is attached to, by object uid

    @property
    def cast(self):
        """Uids of the colliders."""
        return {uid for uid in self.surfaces if as_collider(uid) in self.settings}

    def blend(self, other, fraction):
        """The moment on the straight way to `other`, with the settings of `other`."""
        between = {
            uid: pose.blend(other.poses[uid], fraction) for uid, pose in self.poses.items() if uid in other.poses
        }
        moving = {
            uid: self.surfaces[uid].blend(surface, fraction) if uid in self.surfaces else surface
            for uid, surface in other.surfaces.items()
        }
        return Moment(between, other.settings, moving)

    def completing(self, earlier):
        """The `earlier` moment, with the objects that it did not know as they are at this one."""
        known = {uid: earlier.poses.get(uid, pose) for uid, pose in self.poses.items()}
        standing = {uid: earlier.surfaces.get(uid, surface) for uid, surface in self.surfaces.items()}
        return Moment(known, {key: earlier.settings.get(key, raw) for key, raw in self.settings.items()}, standing)

    def stands_like(self, other):
        """Whether the objects that both know stand in the same place and shape."""
        return all(pose.is_like(other.poses[uid]) for uid, pose in self.poses.items() if uid in other.poses)

    def surrounds_like(self, other):
        """Whether there are the same surfaces in the same places and shapes."""
        return self.surfaces.keys() == other.surfaces.keys() and all(
            surface.stands_like(other.surfaces[uid]) for uid, surface in self.surfaces.items()
        )


class Start(NamedTuple):
    """The frame at which a simulation begins, and how the scene stood there."""

    frame: int
    moment: Moment


class Attachment(NamedTuple):
    """The held vertices of a member that follow the surface of another object."""

    uid: int  # of that object
    rows: np.ndarray  # (k,) int, places among the body's pins
    points: SurfacePoints
    surface: Surface  # when they were bound


class Obstacle(NamedTuple):
    """One collider: the solver's, and what it was made from."""

    collider: Collider
    surface: Surface
    inside: bool


class Member(NamedTuple):
    """One simulated object: how to find it, and what it was when the simulation was built."""

    uid: int
    name: str
    body: Body
    fingerprint: tuple
    masks: dict[str, np.ndarray]
    attached_to: tuple[int, str] | None = None  # as the object said
    attachment: Attachment | None = None


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


def layer_of(scene):
    """The view layer of a scene that is shown."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]


def read_moment(scene, depsgraph, objects, obstacles=()):
    """The moment that `depsgraph` has evaluated, without surfaces; of `obstacles`, objects, only the settings."""
    settings = {obj.session_uid: properties.raw_material(animation.animated(obj, depsgraph).pbd) for obj in objects}
    settings[scene.session_uid] = properties.raw_scene(animation.animated(scene, depsgraph))
    settings.update((as_collider(obj.session_uid), raw_collider(obj, depsgraph)) for obj in obstacles)
    return Moment({obj.session_uid: poses.read_pose(obj, depsgraph) for obj in objects}, settings)


def raw_collider(obj, depsgraph=None):
    """The settings of an object as a collider: its own if it is marked as one, else the defaults."""
    if not obj.pbd_collider.enabled:
        return properties.default_collider()
    return properties.raw_collider(animation.animated(obj, depsgraph).pbd_collider)


def read_surroundings(scene, depsgraph, moment, objects, known):
    """A moment with the surfaces and settings of all colliders, and the surfaces that objects are attached to.

    Which objects, the viewport decides: a render that leaves one out finds it as it was read last.

    Args:
        scene: Whose colliders.
        depsgraph: What evaluates them.
        moment: Without surfaces.
        objects: Those that are simulated.
        known: Surfaces read before, by object uid.

    Raises:
        PBDError: A surface cannot be collided with or attached to.
    """
    simulated = {obj.session_uid for obj in objects}
    settings, found = dict(moment.settings), {}
    for obj in surfaces.colliders(scene):
        uid = obj.session_uid
        if uid in simulated or not surfaces.takes_part(obj, depsgraph):
            continue
        surface = _read(obj, depsgraph, known)
        if surface is None:
            continue
        if len(surface.faces.starts) > 1:
            found[uid], settings[as_collider(uid)] = surface, raw_collider(obj, depsgraph)
        elif obj.pbd_collider.enabled:
            raise PBDError(f"'{obj.name}' has no faces to collide with: add faces, or remove the collider")
    for obj in objects:
        target = obj.pbd.attach_object
        if mesh_io.attached_to(obj) and target.session_uid not in found:
            _check_target(scene, obj, target)
            surface = _read(target, depsgraph, known)
            if surface is None:
                raise PBDError(
                    f"'{obj.name}' is attached to '{target.name}', which is disabled in viewports: enable it"
                )
            found[target.session_uid] = surface
    return Moment(moment.poses, settings, found)


def _read(obj, depsgraph, known):
    """The surface of an object; None if it is not evaluated, but for renders, which may leave out what cloth meets."""
    earlier = known.get(obj.session_uid)
    if surfaces.is_evaluated(obj, depsgraph):
        return surfaces.read(obj, depsgraph, known=earlier)
    if depsgraph.mode != "RENDER":
        return None
    return surfaces.read(obj, depsgraph) if earlier is None else earlier


def _check_target(scene, obj, target):
    """Raise a `PBDError` if an object cannot be attached to that one."""
    where = f"'{obj.name}' is attached to '{target.name}'"
    if target == obj:
        raise PBDError(f"'{obj.name}' is attached to itself: choose another object under Attach To")
    if find(scene, target.session_uid, target.name) is None:
        raise PBDError(f"{where}, which is not in the scene: choose another object under Attach To")
    if surfaces.is_simulated(target):
        raise PBDError(f"{where}, which is simulated itself: choose an object that is not, or bake it first")


def read_last_moment(scene, objects, depsgraph=None, known=None):
    """The moment that was evaluated last, as the original objects remember it.

    Surfaces are there only with a `depsgraph`, the one that evaluated it, and if all of them can be read.
    """
    settings = {obj.session_uid: properties.raw_material(obj.pbd) for obj in objects}
    settings[scene.session_uid] = properties.raw_scene(scene)
    moment = Moment({obj.session_uid: poses.read_last_pose(obj) for obj in objects}, settings)
    if depsgraph is None:
        return moment
    around = {obj.session_uid: obj for obj in surfaces.colliders(scene)}
    settings.update((as_collider(uid), raw_collider(obj)) for uid, obj in around.items())
    targets = (obj.pbd.attach_object for obj in objects if mesh_io.attached_to(obj))
    around.update((obj.session_uid, obj) for obj in targets)
    try:
        found = {
            uid: surfaces.read(obj, depsgraph, matrix=poses.last_matrix(obj), known=(known or {}).get(uid))
            for uid, obj in around.items()
        }
    except PBDError:  # What cannot be read is complained of when the frame is stepped.
        found = {}
    return moment._replace(surfaces=found)


class World:
    """A simulation, its members, and the settings it runs with.

    Attributes:
        simulation: The `Simulation`.
        members: One per simulated object, in the order of its bodies.
        obstacles: The colliders, by object uid.
        applied: Raw settings that the simulation has now, by key.
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
            bound, goal = attachment(obj, body, moment), mesh_io.attached_to(obj)
            self.members.append(Member(obj.session_uid, obj.name, body, mesh_io.fingerprint(obj), masks, goal, bound))
        raw = moment.settings[scene.session_uid]
        settings = properties.settings_from(raw, scene.name)
        floor = properties.floor_from(raw)
        self.floor = Plane(self._floor_point(floor), UP, friction=floor[2])
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
        )
        self.applied = dict(moment.settings)

    def _all_colliders(self):
        """The solver's colliders, in order."""
        return [self.floor, *(one.collider for one in self.obstacles.values())]

    def recast(self, moment):
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
        for uid, one in self.obstacles.items():
            raw = settings.get(as_collider(uid))
            if raw is not None and raw != self.applied.get(as_collider(uid)):
                values = properties.collider_from(raw)
                for name in ("thickness", "friction", "static_friction", "restitution"):
                    setattr(one.collider, name, values[name])
                self.applied[as_collider(uid)] = raw
        raw = settings[scene.session_uid]
        if raw != self.applied.get(scene.session_uid):
            self.floor.friction = properties.floor_from(raw)[2]
            self.simulation.set_settings(properties.settings_from(raw, scene.name))
            self.applied[scene.session_uid] = raw

    def count_tangled(self):
        """How many faces of each member something went through at the start, by uid; none are left out."""
        found = tangles.tangled_faces([member.body for member in self.members])
        return {member.uid: len(faces) for member, faces in zip(self.members, found, strict=True) if len(faces)}

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
        """Pin targets, floor and colliders at a moment, as `FrameInputs` in world space.

        Raises:
            PBDError: What an object is attached to has other faces than before.
        """
        targets = {
            member.body: mesh_io.pin_targets(obj, member.body, moment.poses[member.uid], member.masks)
            for member, obj in self.objects(scene)
            if len(member.body.pin_ids) and member.uid in moment.poses
        }
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
        floor = properties.floor_from(moment.settings[scene.session_uid])
        planes = {self.floor: (self._floor_point(floor), UP)}
        return FrameInputs(pin_targets=targets, planes=planes, colliders=colliders)

    def _place(self, uid, surface):
        """World positions (n, 3) [m] of a surface; computed only when it has moved."""
        placed = self._placed.get(uid)
        if placed is None or not surface.stands_like(placed[0]):
            placed = self._placed[uid] = (surface, surface.world())
        return placed[1]


def obstacle(moment, uid):
    """The collider of that uid as it stands at a moment; raises `PBDError`."""
    surface, values = moment.surfaces[uid], properties.collider_from(moment.settings[as_collider(uid)])
    try:
        collider = Collider(surface.world(), surface.outward_faces(), name=surface.name, **values)
    except ValueError as error:
        raise PBDError(str(error)) from error
    return Obstacle(collider, surface, values["inside"])


def still_fits(one, moment, uid):
    """Whether an obstacle can become by moving what it is at a moment."""
    inside = properties.collider_from(moment.settings[as_collider(uid)])["inside"]
    return one.inside == inside and one.surface.fits(moment.surfaces[uid])


def attachment(obj, body, moment):
    """How vertices of an object's body are bound to another object as it stands at a moment, or None.

    Raises:
        PBDError: That object has no surface.
    """
    weights = mesh_io.read_attached(obj)
    rows = np.flatnonzero(weights[body.pin_ids] > 0.0)
    if not len(rows):
        return None
    target = obj.pbd.attach_object
    surface = moment.surfaces.get(target.session_uid)
    if surface is None or len(surface.faces.starts) < 2:
        raise PBDError(f"'{target.name}' has no faces to attach '{obj.name}' to: add faces, or choose another object")
    points = body.vertices[body.pin_ids[rows]]
    try:
        bound = SurfacePoints(points, surface.world(), surfaces.fans(surface.faces))
    except ValueError as error:
        raise PBDError(f"'{obj.name}' cannot be attached to '{target.name}': {error}") from error
    return Attachment(target.session_uid, rows, bound, surface)


def check_surface(member, bound, now):
    """Raise a `PBDError` if a member cannot follow a surface any more."""
    if now is None:
        raise PBDError(f"'{member.name}' was attached to '{bound.name}', which is gone: press Reset")
    if len(now.points) != len(bound.points) or not all(map(np.array_equal, now.faces, bound.faces)):
        raise PBDError(
            f"'{bound.name}', to which '{member.name}' is attached, has other faces than at the start "
            f"({len(now.points)} vertices, then {len(bound.points)}): press Reset"
        )


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
    if mesh_io.attached_to(obj) != member.attached_to:
        return False
    return mesh_io.read_pins(obj) == dict(
        zip(member.body.pin_ids.tolist(), member.body.pin_weights.tolist(), strict=True)
    )


def check_faces(member, obj):
    """Raise a `PBDError` if the counts fit but the faces run through other vertices."""
    check_fit(member, obj)
    if mesh_io.fingerprint(obj) != member.fingerprint:
        raise PBDError(f"Mesh of '{obj.name}' has other faces than the simulation was built for: press Reset")
