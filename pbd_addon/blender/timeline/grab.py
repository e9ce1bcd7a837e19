"""The hand: takes hold of simulated cloth under the pointer, moves it, lets it go or pins it where it is.

Everything is in world space [m]. Nothing here needs a window: the pointer is a ray.
"""

from typing import NamedTuple

import numpy as np

from ..errors import PBDError
from ..read import pins
from ..scene import user_keys
from ..scene.scene_objects import find
from . import follow, session, step
from .simulated_object import SimulatedObject

PINNED_SHARE = 0.5
"""What is held at least so firmly, compared with the middle of the grip, is pinned by the hand."""

EDGE = 1e-9
"""So much beyond its edges a triangle is met, as a share of them: no ray slips between two by rounding."""


class Hit(NamedTuple):
    """Where a ray meets cloth."""

    member: SimulatedObject
    point: np.ndarray  # (3,)
    vertex: int  # the nearest corner


def first_hit(origin, direction, positions, triangles):
    """Distance along a ray to the nearest triangle, from either side, and its number; None if it meets none.

    Möller and Trumbore 1997, for all triangles at once.

    Args:
        origin: Where the ray begins, (3,).
        direction: Of the ray, (3,).
        positions: (n, 3) float.
        triangles: (t, 3) int.
    """
    a, b, c = (positions[triangles[:, k]].astype(float) for k in range(3))
    first, second, start = b - a, c - a, np.asarray(origin, float) - a
    across = np.cross(direction, second)
    determinant = np.einsum("ij,ij->i", first, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("ij,ij->i", start, across) / determinant
        turned = np.cross(start, first)
        v = turned @ np.asarray(direction, float) / determinant
        t = np.einsum("ij,ij->i", second, turned) / determinant
        met = np.flatnonzero((u >= -EDGE) & (v >= -EDGE) & (u + v <= 1.0 + EDGE) & (t > 0.0))
    if not len(met):
        return None
    nearest = met[np.argmin(t[met])]
    return float(t[nearest]), int(nearest)


def on_plane(origin, direction, point, normal):
    """Where a ray meets the plane through a point, (3,); None if it is parallel to it or looks away."""
    slope = float(np.dot(direction, normal))
    way = float(np.dot(np.subtract(point, origin), normal))
    if abs(slope) < 1e-9 or way / slope <= 0.0:
        return None
    return np.asarray(origin, float) + way / slope * np.asarray(direction, float)


def falloff(positions, point, radius):
    """Vertices within a radius of a point, (m,) int, and how firmly each is held, (m,), 1 in the middle."""
    share = np.linalg.norm(positions - point, axis=1) / radius
    ids = np.flatnonzero(share < 1.0)
    return ids, (1.0 - share[ids] ** 2) ** 2


class Hand:
    """The hand at work, from the start of the tool to its end.

    Raises:
        PBDError: There is nothing to take hold of at the present frame.
    """

    def __init__(self, scene, depsgraph):
        frame = session.last_shown(scene)
        first = session.frame_range(scene)[0]
        found = session.get(scene)
        if (found is None or found.world is None) and frame != first:
            raise PBDError(f"Frame {frame} is not simulated: go to frame {first}, or play")
        self.record = session.ensure(scene, depsgraph)
        if session.shown_frame(scene) != frame or not self.record.world.simulation.is_cached(frame):
            raise PBDError(f"Frame {frame} is not simulated: play up to it")
        self.simulation = self.record.world.simulation
        self.changed = False
        self.held = None
        self._way = np.zeros(3)
        self._before = step.keep(self.record, scene, frame)
        self._pins = {}

    @property
    def is_valid(self):
        """Whether the simulation that the hand works in is still the one that runs."""
        return self.record.world is not None and self.record.world.simulation is self.simulation

    def renewed(self, scene, depsgraph):
        """This hand, or one for the simulation that runs now, if that was built anew before anything was taken.

        Raises:
            PBDError: What the hand has changed is gone, or there is nothing to take hold of any more.
        """
        if self.is_valid and session.get(scene) is self.record:
            return self
        if self.changed:
            raise PBDError("The simulation began anew, without what was done by hand")
        return Hand(scene, depsgraph)

    def pick(self, scene, origin, direction):
        """What a ray meets first of the shown cloth, as a `Hit`, or None."""
        best = None
        frame = min(max(session.last_shown(scene), self.record.first_frame), self.record.last_frame)
        for member, obj in self.record.world.objects(scene):
            if obj.pbd.baked or not obj.pbd.active:
                continue
            positions = self.simulation.cached_positions(member.body, frame)
            found = first_hit(origin, direction, positions, member.body.mesh.triangles)
            if found is not None and (best is None or found[0] < best[0]):
                point = np.asarray(origin, float) + found[0] * np.asarray(direction, float)
                corners = member.body.mesh.triangles[found[1]]
                nearest = corners[np.argmin(np.linalg.norm(positions[corners] - point, axis=1))]
                best = found[0], Hit(member, point, int(nearest))
        return best[1] if best else None

    def take(self, scene, origin, direction, radius):
        """Take hold of the cloth that a ray meets, within a radius [m] around; whether there is any."""
        hit = self.pick(scene, origin, direction)
        if hit is None:
            return False
        self.let_go(scene)
        step.disturb(self.record, session.last_shown(scene))
        positions = self.simulation.positions(hit.member.body)
        ids, weights = falloff(positions, positions[hit.vertex], radius)
        grab = self.simulation.grab(hit.member.body, ids, weights)
        self.held = hit, np.asarray(direction, float), grab, ids, weights
        self._way = np.zeros(3)
        self.changed = True
        return True

    def move(self, origin, direction):
        """Move what is held to where a ray meets the plane that faces the view, at the depth where it was taken."""
        if self.held is None:
            return
        hit, normal, grab, _ids, _weights = self.held
        place = on_plane(origin, direction, hit.point, normal)
        if place is not None:
            self._way = place - hit.point
            grab.move(self._way)

    def let_go(self, scene, pin=False):
        """Let go, or pin the middle of what is held where the hand is; the number of pinned vertices."""
        if self.held is None:
            return 0
        hit, _normal, grab, ids, weights = self.held
        self.held = None
        grab.release()
        obj = find(scene, hit.member.uid, hit.member.name)
        if not pin or obj is None or not self.is_valid:
            return 0
        middle = ids[weights >= PINNED_SHARE * weights.max()]
        fixed = self.simulation.grab(hit.member.body, middle, compliance=0.0)
        step.hold(self.record, session.last_shown(scene), fixed)
        self._remember_pins(obj)
        positions = self.simulation.positions(hit.member.body)[middle]
        pose = self.record.snapshots[self.record.last_frame].poses[hit.member.uid]
        pins.pin_where_they_are(obj, middle, positions, pose)
        return len(middle)

    def rest(self, scene, depsgraph):
        """Let the cloth follow while the frame stands still: a step in place; raises `PBDError`."""
        if session.last_shown(scene) == self.record.last_frame:
            step.rest(self.record, scene)
            follow.show_again(self.record, scene, depsgraph)

    def finish(self, scene):
        """Keep what was done; undoing it takes the cloth back too."""
        self.let_go(scene)
        if self.changed and self.is_valid:
            step.note_hand(self.record, scene, self._before)

    def put_back(self, scene, depsgraph):
        """Take everything back that the hand has done."""
        self.let_go(scene)
        for uid, (name, group, weights, offsets) in self._pins.items():
            obj = find(scene, uid, name)
            if obj is not None:
                pins.restore(obj, group, weights, offsets)
        if self.changed and self.is_valid:
            step.go_back_to(self.record, self._before)
            follow.show_again(self.record, scene, depsgraph)

    def _remember_pins(self, obj):
        if obj.session_uid not in self._pins:
            group = obj.pbd.pin_group
            weights = user_keys.read_weights(obj, group) if group in obj.vertex_groups else None
            self._pins[obj.session_uid] = obj.name, group, weights, pins.read_offsets(obj.data)
