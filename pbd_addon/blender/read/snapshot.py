"""A snapshot of a scene at a frame: the transforms, shapes and settings that the simulation reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..errors import PBDError
from ..kinds import Depsgraph, Object, Scene
from ..scene import fields, poses, surfaces
from ..scene.fields import FieldPlace
from ..scene.poses import Pose
from ..scene.scene_objects import find
from ..scene.surfaces import Surface
from ..settings.raw_settings import Key, Settings, field_settings
from . import deformed_input, mesh_io
from .user_state import FirstFrameInputs, UserState, settings_of


class SceneSnapshot(NamedTuple):
    """Everything that the simulation reads from the scene at one frame."""

    poses: dict[int, Pose] | None  # by object uid; None where nothing was evaluated
    settings: Settings  # raw, by key
    surfaces: dict[int, Surface] = {}  # of colliders, attachment targets, absorbers of fields, by uid
    deformed: dict[int, np.ndarray] = {}  # output of modifiers, of all vertices or the pins, float32, object space [m]
    user: UserState | None = None  # what the user has set, if it was read
    first_inputs: dict[int, FirstFrameInputs] = {}  # inputs of the first frame, by uid, if they were read
    fields: dict[int, FieldPlace] = {}  # force fields, by object uid

    def uids(self, kind: str) -> set[int]:
        """Uids of all objects of a kind: "collider", "field", or "absorber", what takes a share of the fields."""
        return {uid for uid in self.standing(kind) if (kind, uid) in self.settings}

    def standing(self, kind: str) -> dict[int, FieldPlace] | dict[int, Surface]:
        """Where objects of a kind stand, by uid."""
        return self.fields if kind == "field" else self.surfaces

    @property
    def colliders_in_order(self) -> list[int]:
        """Uids of the colliders, in an order that is the same after the file was opened again, with other uids."""
        return sorted(self.uids("collider"), key=lambda uid: self.surfaces[uid].name)

    def blend(self, other: SceneSnapshot, fraction: float) -> SceneSnapshot:
        """The linear interpolation to `other`, with the settings of `other`."""
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
        blown = {
            uid: self.fields[uid].blend(place, fraction) if uid in self.fields else place
            for uid, place in other.fields.items()
        }
        return SceneSnapshot(between, other.settings, moving, shapes, fields=blown)

    def completing(self, earlier: SceneSnapshot) -> SceneSnapshot:
        """The `earlier` snapshot, with objects that it lacks taken from this one; only this one's objects."""
        known = {uid: earlier.poses.get(uid, pose) for uid, pose in self.poses.items()}
        standing = {uid: earlier.surfaces.get(uid, surface) for uid, surface in self.surfaces.items()}
        shapes = {uid: earlier.deformed.get(uid, shape) for uid, shape in self.deformed.items()}
        settings = {key: earlier.settings.get(key, raw) for key, raw in self.settings.items()}
        blown = {uid: earlier.fields.get(uid, place) for uid, place in self.fields.items()}
        return SceneSnapshot(known, settings, standing, shapes, fields=blown)

    def has_poses_of(self, other: SceneSnapshot) -> bool:
        """Whether the objects that both have are in the same pose."""
        return all(pose.is_like(other.poses[uid]) for uid, pose in self.poses.items() if uid in other.poses)

    def has_surroundings_of(self, other: SceneSnapshot) -> bool:
        """Whether both have the same surfaces, and modifiers give the same shapes."""
        same = self.surfaces.keys() == other.surfaces.keys() and self.has_shapes_of(other)
        same = same and self.fields.keys() == other.fields.keys()
        same = same and all(place.is_like(other.fields[uid]) for uid, place in self.fields.items())
        return same and all(surface.is_like(other.surfaces[uid]) for uid, surface in self.surfaces.items())

    def has_shapes_of(self, other: SceneSnapshot) -> bool:
        """Whether modifiers give the objects that both have the same shapes."""
        both = self.deformed.keys() & other.deformed.keys()
        return all(np.array_equal(self.deformed[uid], other.deformed[uid]) for uid in both)


def read_snapshot(
    scene: Scene,
    depsgraph: Depsgraph,
    objects: list[Object],
    user: UserState | None = None,
    colliders: Iterable[Object] = (),
) -> SceneSnapshot:
    """The scene as `depsgraph` has evaluated it, without surfaces; of the objects `colliders` only the settings.

    Settings in `user` are not read again, except in a render.
    """
    if user is not None and depsgraph.mode != "RENDER":
        settings = user.settings
    else:
        owners: dict[Key, Object | Scene] = {one.session_uid: one for one in (*objects, scene)}
        owners |= {("collider", one.session_uid): one for one in colliders}
        settings = {key: settings_of(key, one, depsgraph) for key, one in owners.items()}
    return SceneSnapshot({obj.session_uid: poses.read_pose(obj, depsgraph) for obj in objects}, settings, user=user)


def read_surroundings(
    scene: Scene, depsgraph: Depsgraph, snapshot: SceneSnapshot, objects: list[Object], known: dict[int, Surface]
) -> SceneSnapshot:
    """Add to a snapshot the surfaces and settings of all colliders, and the shapes and surfaces that pins follow.

    The viewport decides which objects take part: a render that leaves one out uses the surface read last. Surfaces
    `known` before, by uid, are shared. Raises a `PBDError` if an object cannot be used as a collider or target.
    """
    simulated = {obj.session_uid for obj in objects}
    settings, found = dict(snapshot.settings), {}
    for obj in surfaces.colliders(scene):
        uid = obj.session_uid
        if uid in simulated or not surfaces.takes_part(obj, depsgraph):
            continue
        surface = _read(obj, depsgraph, known)
        if surface is None:
            continue
        if surface.has_faces:
            found[uid], settings["collider", uid] = surface, settings_of(("collider", uid), obj, depsgraph)
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
    snapshot = snapshot._replace(settings=settings, surfaces=found, deformed=read_deformed(objects, depsgraph))
    blowing = fields.acting(scene, depsgraph)
    return _with_fields(scene, depsgraph, snapshot, blowing, known) if blowing else snapshot


def _with_fields(
    scene: Scene, depsgraph: Depsgraph, snapshot: SceneSnapshot, blowing: list[Object], known: dict[int, Surface]
) -> SceneSnapshot:
    """A snapshot with these force fields, their settings, and the surfaces that absorb them, if any does."""
    settings, found = dict(snapshot.settings), dict(snapshot.surfaces)
    for obj in blowing:
        key = ("field", obj.session_uid)
        settings[key] = settings_of(key, obj, depsgraph)
    if any(field_settings(settings, obj.session_uid).use_absorption for obj in blowing):
        for obj in fields.absorbers(scene):
            uid = obj.session_uid
            if uid not in found and surfaces.takes_part(obj, depsgraph):
                surface = _read(obj, depsgraph, known)
                found |= {} if surface is None else {uid: surface}
            if uid in found:
                settings["absorber", uid] = settings_of(("absorber", uid), obj, depsgraph)
    places = {obj.session_uid: fields.read_place(obj, depsgraph) for obj in blowing}
    return snapshot._replace(settings=settings, surfaces=found, fields=places)


def read_deformed(objects: list[Object], depsgraph: Depsgraph, evaluate: bool = True) -> dict[int, np.ndarray]:
    """The shapes that modifiers give to objects whose pins follow modifiers.

    If `evaluate`, those that the last evaluation does not give are evaluated again, which may raise a `PBDError`;
    otherwise they are left out.
    """
    look = deformed_input.read if evaluate else deformed_input.peek
    shapes = {obj.session_uid: look(obj, depsgraph) for obj in objects if deformed_input.follows(obj)}
    return {uid: shape for uid, shape in shapes.items() if shape is not None}


def _read(obj: Object, depsgraph: Depsgraph, known: dict[int, Surface]) -> Surface | None:
    """The surface of an object, or None if it is not evaluated; a render that leaves it out uses the last one."""
    earlier = known.get(obj.session_uid)
    if obj.evaluated_get(depsgraph).is_evaluated:
        return surfaces.read(obj, depsgraph, known=earlier)
    if depsgraph.mode != "RENDER":
        return None
    return surfaces.read(obj, depsgraph) if earlier is None else earlier


def _check_target(scene: Scene, obj: Object, target: Object) -> None:
    """Raise a `PBDError` if an object cannot be attached to `target`."""
    where = f"'{obj.name}' is attached to '{target.name}'"
    if target == obj:
        raise PBDError(f"'{obj.name}' is attached to itself: choose another object under Attach To")
    if find(scene, target.session_uid, target.name) is None:
        raise PBDError(f"{where}, which is not in the scene: choose another object under Attach To")
    if target.type not in surfaces.SURFACE_TYPES:  # The panel offers meshes; a script may set anything.
        raise PBDError(
            f"'{obj.name}' is attached to '{target.name}', which has no surface: choose a mesh under Attach To"
        )
    if surfaces.is_simulated(target):
        raise PBDError(f"{where}, which is simulated itself: choose an object that is not, or bake it first")
