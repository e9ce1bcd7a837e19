"""The members of a simulation: what each object was when it was built, and whether it still matches."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ... import Body
from ...meshes.mesh import fans
from ...meshes.surface_points import SurfacePoints
from ..errors import PBDError, refused
from ..kinds import Object
from ..output import output_choice
from ..read import bodies, mesh_io, pins, user_state
from ..read.snapshot import SceneSnapshot
from ..read.user_state import Role
from ..scene import poses, user_keys
from ..scene.surfaces import Surface
from ..settings import maps, raw_settings
from ..settings.raw_settings import object_settings


class Attachment(NamedTuple):
    """The pins of a member that follow the surface of another object, or where its vertices slide along that."""

    uid: int  # of that object
    rows: np.ndarray  # (k,) int, indices into the body's pins
    points: SurfacePoints | None  # of these pins; None if vertices slide
    surface: Surface  # at the time of binding


class SimulatedObject(NamedTuple):
    """One simulated object: how to find it, and what it was when the simulation was built."""

    uid: int
    name: str
    body: Body
    fingerprint: tuple
    masks: dict[str, np.ndarray]
    undeformed: np.ndarray  # (n, 3) float64, the user's shape at the start, without modifiers, world space [m]
    follows: tuple  # of `user_state.followed`
    posed_after: bool  # of `output_choice.by_modifier_and_posed_after`
    attached_to: tuple[int, str, bool] | None = None  # of `mesh_io.attached_to`
    attachment: Attachment | None = None
    pin_offsets: np.ndarray | None = None  # (k, 3) float32, object space [m]
    loose: int = 0  # of `mesh_io.loose_check`
    basis: np.ndarray | None = None  # (n, 3) float32, the mesh without keys, object space [m]
    weights: dict[str, np.ndarray] = {}  # of the maps; read again when their vertex groups change

    @property
    def is_led(self) -> bool:
        """Whether its frames depend on the pose of the object: it has pins, or a rest shape that follows."""
        return len(self.body.pin_ids) > 0 or self.body.dynamic_mesh


def read_member(obj: Object, snapshot: SceneSnapshot) -> SimulatedObject:
    """An object of a snapshot, ready to be simulated; raises `PBDError`."""
    masks = user_keys.read_masks(obj)
    pose, deformed = snapshot.poses[obj.session_uid], snapshot.deformed.get(obj.session_uid)
    tied = mesh_io.attached_to(obj)
    target = snapshot.surfaces.get(tied[0]) if tied else None
    body = bodies.read_body(obj, pose=pose, masks=masks, deformed=deformed, target=target)
    return SimulatedObject(
        uid=obj.session_uid,
        name=obj.name,
        body=body,
        fingerprint=mesh_io.fingerprint(obj),
        loose=mesh_io.loose_check(obj.data),
        masks=masks,
        undeformed=body.vertices
        if deformed is None
        else poses.to_world(user_keys.user_shape(obj, pose.key_values, masks), pose.matrix),
        follows=user_state.followed(obj),
        posed_after=output_choice.by_modifier_and_posed_after(obj)[1],
        attached_to=tied,
        attachment=attachment(obj, body, snapshot),
        basis=user_keys.basis_shape(obj),
        pin_offsets=pins.read_offsets(obj.data)[body.pin_ids],
        weights=maps.read(
            obj, maps.groups(raw_settings.maps_from(object_settings(snapshot.settings, obj.session_uid)))
        ),
    )


def attachment(obj: Object, body: Body, snapshot: SceneSnapshot) -> Attachment | None:
    """The binding of an object's vertices to another object of a snapshot, or None; raises `PBDError`."""
    if body.rail is not None:
        uid = obj.pbd.attach_object.session_uid
        return Attachment(uid, np.zeros(0, int), None, snapshot.surfaces[uid])
    weights = mesh_io.read_attached(obj)
    rows = np.flatnonzero(weights[body.pin_ids] > 0.0)
    if not len(rows):
        return None
    target = obj.pbd.attach_object
    surface = snapshot.surfaces.get(target.session_uid)
    if surface is None or not surface.has_faces:
        raise PBDError(f"'{target.name}' has no faces to attach '{obj.name}' to: add faces, or choose another object")
    points = body.vertices[body.pin_ids[rows]]
    with refused(f"'{obj.name}' cannot be attached to '{target.name}': "):
        bound = SurfacePoints(points, surface.world(), fans(surface.faces))
    return Attachment(target.session_uid, rows, bound, surface)


def check_surface(member: SimulatedObject, bound: Surface, now: Surface) -> None:
    """Raise a `PBDError` if a member can no longer follow its surface."""
    if now is None:
        raise PBDError(f"'{member.name}' was attached to '{bound.name}', which is gone: press Reset")
    if len(now.points) != len(bound.points) or not all(map(np.array_equal, now.faces, bound.faces)):
        raise PBDError(
            f"'{bound.name}', to which '{member.name}' is attached, has other faces than at the start "
            f"({len(now.points)} vertices, then {len(bound.points)}): press Reset"
        )


def check_fit(member: SimulatedObject, obj: Object) -> None:
    """Raise a `PBDError` if the mesh differs in its counts from the one that the simulation was built for."""
    mesh_io.check_mesh(obj)
    built = member.fingerprint[0]
    now = mesh_io.counts(obj.data)
    for what, old, new in zip(("vertices", "edges", "face corners", "faces"), built, now, strict=True):
        if old != new:
            raise PBDError(f"Mesh of '{obj.name}' has {new} {what}, the simulation was built for {old}: press Reset")


def check_faces(member: SimulatedObject, obj: Object) -> None:
    """Raise a `PBDError` if the mesh differs in its counts or its faces' corners."""
    check_fit(member, obj)
    if mesh_io.corner_check(obj.data) != member.fingerprint[1]:
        raise PBDError(f"Mesh of '{obj.name}' has other faces than the simulation was built for: press Reset")
    if len(member.body.seams) and mesh_io.loose_check(obj.data) != member.loose:
        raise PBDError(f"Mesh of '{obj.name}' has other loose edges than the simulation was built for: press Reset")


def fits(member: SimulatedObject, obj: Object) -> bool:
    """Whether the mesh has the counts that the simulation was built for."""
    return not obj.data.is_editmode and mesh_io.counts(obj.data) == member.fingerprint[0]


def is_edited(member: SimulatedObject, obj: Object) -> bool:
    """Whether vertices were moved in Edit Mode since the simulation was built, which acts on its start."""
    return fits(member, obj) and not np.array_equal(user_keys.basis_shape(obj), member.basis)


def suits_output(member: SimulatedObject, role: Role, snapshots: Iterable[SceneSnapshot]) -> bool:
    """Whether the object's current output deforms these frames exactly once.

    A frame made from posed vertices would be posed twice as a shape key; one made to be posed after its shape key
    would not be posed at all by our modifier.
    """
    if role.baked:
        return True
    if role.by_modifier:
        return not member.posed_after
    return not role.posed_after or all(member.uid not in one.deformed for one in snapshots)


def other_output(member: SimulatedObject, role: Role, snapshots: Iterable[SceneSnapshot]) -> str:
    """One sentence on what to do if frames were made for another output than an object has in this role, or ""."""
    if suits_output(member, role, snapshots):
        return ""
    return f"Output of '{role.name}' changed: go to the first frame, or press Reset"
