"""One simulation of all PBD objects of a scene: built from them, fed by them, and matched to them again.

Blender's objects come and go (undo makes new ones of all), so nothing here keeps one: they are found by name and
checked by `session_uid`.
"""

from typing import NamedTuple

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from .. import Body, Collider, FrameInputs, Plane, Simulation
from ..contact.surface_points import SurfacePoints
from . import (
    animation,
    deformed_input,
    linked,
    maps,
    mesh_io,
    output_choice,
    poses,
    properties,
    surfaces,
    tangles,
    user_keys,
)
from .errors import PBDError
from .surfaces import Surface

UP = (0.0, 0.0, 1.0)
PIN_SPEED = 2.0
"""How fast pins that a hand has left go from the mesh to their places when the simulation begins [m/s]."""

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
    deformed: dict[int, np.ndarray] = {}  # shapes that modifiers make, (n, 3) float32 in object space; or pins (k, 3)

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
        shapes = {
            uid: self.deformed[uid] + np.float32(fraction) * (shape - self.deformed[uid])
            if np.shape(self.deformed.get(uid)) == shape.shape
            else shape
            for uid, shape in other.deformed.items()
        }
        return Moment(between, other.settings, moving, shapes)

    def completing(self, earlier):
        """The `earlier` moment, with the objects that it did not know as they are at this one."""
        known = {uid: earlier.poses.get(uid, pose) for uid, pose in self.poses.items()}
        standing = {uid: earlier.surfaces.get(uid, surface) for uid, surface in self.surfaces.items()}
        shapes = {uid: earlier.deformed.get(uid, shape) for uid, shape in self.deformed.items()}
        settings = {key: earlier.settings.get(key, raw) for key, raw in self.settings.items()}
        return Moment(known, settings, standing, shapes)

    def seeing(self, shown):
        """The same moment, with the objects whose deformed shape was seen only when its frame was `shown`."""
        unseen = shown.deformed.keys() - self.poses.keys()
        return self._replace(
            poses={**self.poses, **{uid: shown.poses[uid] for uid in unseen}},
            deformed={**self.deformed, **{uid: shown.deformed[uid] for uid in unseen}},
        )

    def stands_like(self, other):
        """Whether the objects that both know stand in the same place and shape."""
        return all(pose.is_like(other.poses[uid]) for uid, pose in self.poses.items() if uid in other.poses)

    def surrounds_like(self, other):
        """Whether there are the same surfaces in the same places and shapes, and modifiers deform alike."""
        same = self.surfaces.keys() == other.surfaces.keys() and self.deforms_like(other)
        return same and all(surface.stands_like(other.surfaces[uid]) for uid, surface in self.surfaces.items())

    def deforms_like(self, other):
        """Whether modifiers deform the objects that both know to the same shapes."""
        both = self.deformed.keys() & other.deformed.keys()
        return all(np.array_equal(self.deformed[uid], other.deformed[uid]) for uid in both)


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
    undeformed: np.ndarray  # (n, 3) float64, the user's shape at the start, without modifiers, world space [m]
    follows: tuple  # as from `followed`
    attached_to: tuple[int, str] | None = None  # as the object said
    attachment: Attachment | None = None
    pin_offsets: np.ndarray | None = None  # (k, 3) float32, object space [m]
    weights: dict[str, np.ndarray] = {}  # of the maps; read anew when their groups are others


def bodies(scene):
    """The PBD objects of a scene that are switched on, baked or not; linked ones, which cannot be, if all are."""
    found = [obj for obj in scene.objects if obj.type == "MESH" and obj.pbd.enabled and obj.pbd.active]
    return [obj for obj in found if not linked.problem(obj)] or found


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
    """A moment with the surfaces and settings of all colliders, and the shapes and surfaces that pins follow.

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
    return Moment(moment.poses, settings, found, read_deformed(objects, depsgraph))


def read_deformed(objects, depsgraph):
    """The shapes of objects as modifiers deform them, for those whose pins follow modifiers; raises `PBDError`."""
    posed = [obj for obj in objects if deformed_input.follows(obj)]
    shapes = {obj.session_uid: deformed_input.read(obj, depsgraph) for obj in posed}
    return {uid: shape for uid, shape in shapes.items() if shape is not None}


def peek_deformed(objects, depsgraph):
    """As `read_deformed`, without an evaluation: those that cannot be seen are left out."""
    posed = [obj for obj in objects if deformed_input.follows(obj)]
    shapes = {obj.session_uid: deformed_input.peek(obj, depsgraph) for obj in posed}
    return {uid: shape for uid, shape in shapes.items() if shape is not None}


def followed(obj):
    """What decides of the shape in which a simulation of an object begins: whether of modifiers, and the rest shape."""
    follows = output_choice.choose(obj).modifier
    return (follows, obj.pbd.rest_shape) if follows else (False, "BASIS")


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
    seen = peek_deformed(objects, depsgraph)
    # One whose shape cannot be seen begins in that of the frame to come, so in the pose of that frame too.
    unseen = {obj.session_uid for obj in objects if deformed_input.follows(obj)} - seen.keys()
    known_poses = {uid: pose for uid, pose in moment.poses.items() if uid not in unseen}
    return moment._replace(poses=known_poses, surfaces=found, deformed=seen)


class World:
    """A simulation, its members, and the settings it runs with.

    Attributes:
        simulation: The `Simulation`.
        members: One per simulated object, in the order of its bodies.
        obstacles: The colliders, by object uid.
        applied: Raw settings that the simulation has now, by key.
        rested: Steps that were taken in place.
    """

    def __init__(self, scene, objects, moment):
        """Build from the user's shapes as they stand at `moment`.

        Raises:
            PBDError: An object cannot be simulated.
        """
        self.members = []
        for obj in objects:
            masks = user_keys.read_masks(obj)
            pose, deformed = moment.poses[obj.session_uid], moment.deformed.get(obj.session_uid)
            body = mesh_io.read_body(obj, pose=pose, masks=masks, deformed=deformed)
            undeformed = body.vertices if deformed is None else user_world(obj, pose, masks)
            bound, goal = attachment(obj, body, moment), mesh_io.attached_to(obj)
            offsets = mesh_io.read_offsets(obj.data)[body.pin_ids]
            weights = maps.read(obj, maps.groups(properties.maps_from(moment.settings[obj.session_uid])))
            self.members.append(
                Member(
                    obj.session_uid,
                    obj.name,
                    body,
                    mesh_io.fingerprint(obj),
                    masks,
                    undeformed,
                    followed(obj),
                    goal,
                    bound,
                    offsets,
                    weights,
                )
            )
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
        for member in self.members:
            self._set_maps(member, moment.settings[member.uid])
        self.applied = dict(moment.settings)
        self.rested = 0

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

    def held(self, moment):
        """A moment with the pinned vertices alone of the deformed shapes: no more is needed to step."""
        shapes = {}
        for member in self.members:
            shape, ids = moment.deformed.get(member.uid), member.body.pin_ids
            if shape is not None and len(shape) in (len(ids), len(member.body.vertices)):  # Else the mesh was edited.
                shapes[member.uid] = shape if len(shape) == len(ids) else shape[ids]
        return moment._replace(deformed=shapes)

    def apply(self, scene, settings):
        """Hand changed settings to the simulation; they act from the next step.

        Raises:
            PBDError: A value is outside of its range.
        """
        for member in self.members:
            raw = settings.get(member.uid)
            if raw is not None and raw != self.applied.get(member.uid):
                self.simulation.set_material(member.body, properties.material_from(raw, member.name))
                if properties.maps_from(raw) != properties.maps_from(self.applied[member.uid]):
                    self._read_maps(scene, member, raw)
                    self._set_maps(member, raw)
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

    def _read_maps(self, scene, member, raw):
        """Read the weights of a member's maps again if other groups are theirs now; raises `PBDError`."""
        names = maps.groups(properties.maps_from(raw))
        if names == maps.groups(properties.maps_from(self.applied[member.uid])):
            return
        read = maps.read(find(scene, member.uid, member.name), names)
        member.weights.clear()
        member.weights.update(read)

    def _set_maps(self, member, raw):
        """Hand the maps to the simulation."""
        factors = maps.factors(properties.maps_from(raw), member.weights)
        if factors or self.simulation.maps(member.body):
            self.simulation.set_maps(member.body, factors)

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
        note = "1 opening is closed by a virtual cap" if count == 1 else "{count} openings are closed by virtual caps"
        return (iface(note).format(count=count),)

    def inputs(self, scene, moment):
        """Pin targets, floor and colliders at a moment, as `FrameInputs` in world space.

        Raises:
            PBDError: What an object is attached to has other faces than before.
        """
        held = self.held(moment).deformed
        targets = {
            member.body: mesh_io.pin_targets(
                obj, member.body, moment.poses[member.uid], member.masks, held.get(member.uid)
            )
            for member, obj in self.objects(scene)
            # Pins whose place is not known stay: those of a baked cloth, or of one that a render leaves out.
            if len(member.body.pin_ids) and member.uid in moment.poses and (member.uid in held or not member.follows[0])
        }
        for member in self.members:
            if member.body in targets:
                targets[member.body] += self._pin_ways(member, moment, scene)
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

    def _pin_ways(self, member, moment, scene):
        """How far pins that a hand has left are from their place in the mesh, (k, 3) [m].

        From there they go at `PIN_SPEED` when the simulation begins, because the cloth begins as the mesh.
        """
        ways = member.pin_offsets @ moment.poses[member.uid].matrix[:3, :3].T
        steps = self.simulation.last_frame - self.simulation.first_frame + 1 + self.rested
        reach = PIN_SPEED * steps * properties.frame_seconds(moment.settings[scene.session_uid])
        lengths = np.linalg.norm(ways, axis=1, keepdims=True)
        return ways * np.minimum(reach / np.maximum(lengths, 1e-9), 1.0)

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
    if not np.array_equal(user_world(obj, pose, member.masks), member.undeformed):
        return False
    if not obj.pbd.baked and followed(obj) != member.follows:
        return False
    painted = maps.read(obj, maps.groups(properties.maps_from(properties.raw_material(obj.pbd))))
    if painted.keys() == member.weights.keys() and not all(
        np.array_equal(weights, member.weights[kind]) for kind, weights in painted.items()
    ):
        return False
    if not pins:
        return True
    if mesh_io.attached_to(obj) != member.attached_to:
        return False
    return mesh_io.read_pins(obj) == dict(
        zip(member.body.pin_ids.tolist(), member.body.pin_weights.tolist(), strict=True)
    )


def user_world(obj, pose, masks):
    """World positions (n, 3) float64 [m] of the user's shape under a pose, without modifiers."""
    return poses.to_world(user_keys.user_shape(obj, pose.key_values, masks), pose.matrix)


def check_faces(member, obj):
    """Raise a `PBDError` if the counts fit but the faces run through other vertices."""
    check_fit(member, obj)
    if mesh_io.fingerprint(obj) != member.fingerprint:
        raise PBDError(f"Mesh of '{obj.name}' has other faces than the simulation was built for: press Reset")
