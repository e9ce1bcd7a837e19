"""Grabbing simulated cloth under the pointer: move it, release it or pin it where it is.

Everything is in world space [m]. No window is needed: the pointer is a ray.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from mathutils.bvhtree import BVHTree

from ...constraints import Grab
from ..errors import PBDError
from ..kinds import Depsgraph, Object, Scene
from ..read import pins
from ..scene import user_keys
from ..scene.scene_objects import find
from . import follow, session, step
from .simulated_object import SimulatedObject

PINNED_SHARE = 0.5
"""Grabbed vertices of at least this weight, relative to the largest one, can be pinned."""


class Hit(NamedTuple):
    """Where a ray hits cloth."""

    member: SimulatedObject
    point: np.ndarray  # (3,)
    vertex: int  # nearest corner of the triangle


class Held(NamedTuple):
    """What a hand holds."""

    hit: Hit
    normal: np.ndarray  # (3,), of the plane in which it is moved
    grab: Grab
    ids: np.ndarray  # (m,) int
    weights: np.ndarray  # (m,)


def first_hit(
    origin: np.ndarray, direction: np.ndarray, positions: np.ndarray, triangles: np.ndarray
) -> tuple[float, int] | None:
    """Distance along a ray to the nearest triangle (t, 3), from either side, and its number; None if there is none."""
    tree: Any = BVHTree.FromPolygons(positions.tolist(), triangles.tolist(), all_triangles=True)
    _place, _normal, number, distance = tree.ray_cast(origin, direction)
    return None if number is None else (distance, number)


def on_plane(origin: np.ndarray, direction: np.ndarray, point: np.ndarray, normal: np.ndarray) -> np.ndarray | None:
    """Where a ray hits the plane through a point, (3,); None if it is parallel to the plane or points away."""
    slope = float(np.dot(direction, normal))
    way = float(np.dot(np.subtract(point, origin), normal))
    if abs(slope) < 1e-9 or way / slope <= 0.0:
        return None
    return np.asarray(origin, float) + way / slope * np.asarray(direction, float)


def falloff(positions: np.ndarray, point: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (m,) int within a radius of a point, and their weights (m,), 1 at the point."""
    share = np.linalg.norm(positions - point, axis=1) / radius
    ids = np.flatnonzero(share < 1.0)
    return ids, (1.0 - share[ids] ** 2) ** 2


class GrabSession:
    """One use of the Grab tool, from its start to its end.

    Raises:
        PBDError: The current frame is not simulated.
    """

    def __init__(self, scene: Scene, depsgraph: Depsgraph) -> None:
        frame = session.last_shown(scene)
        first = session.frame_range(scene)[0]
        found = session.get(scene)
        if (found is None or found.scene_sim is None) and frame != first:
            raise PBDError(f"Frame {frame} is not simulated: go to frame {first}, or play")
        if frame == first:
            session.show(scene, depsgraph)  # Objects may have come or gone since it was simulated.
        self.record = session.ensure(scene, depsgraph)
        if session.shown_frame(scene) != frame or not self.record.scene_sim.simulation.frames.holds(frame):
            raise PBDError(f"Frame {frame} is not simulated: play up to it")
        step.undo_grabs(self.record, scene.pbd.hand_count)  # An undo of an earlier use that no frame was shown after.
        self.simulation = self.record.scene_sim.simulation
        self.changed = False
        self.held: Held | None = None
        self._way = np.zeros(3)
        self._before = step.undo_state(self.record, scene, frame)
        self._pins: dict[int, tuple] = {}

    @property
    def is_valid(self) -> bool:
        """Whether the record still has the same simulation."""
        return self.record.scene_sim is not None and self.record.scene_sim.simulation is self.simulation

    def renewed(self, scene: Scene, depsgraph: Depsgraph) -> GrabSession:
        """This one, or a new one if the simulation was rebuilt before anything was grabbed; else raises `PBDError`."""
        if self.is_valid and session.get(scene) is self.record:
            return self
        if self.changed:
            raise PBDError("The simulation began anew, without what was done by hand")
        return GrabSession(scene, depsgraph)

    def pick(self, scene: Scene, origin: np.ndarray, direction: np.ndarray) -> Hit | None:
        """The first `Hit` of a ray on the shown cloth, or None."""
        best = None
        frame = min(max(session.last_shown(scene), self.record.first_frame), self.record.last_frame)
        for member, obj in self.record.scene_sim.objects(scene):
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

    def take(self, scene: Scene, origin: np.ndarray, direction: np.ndarray, radius: float) -> bool:
        """Grab the cloth around the point that a ray hits, within a radius [m]; returns whether it hits any."""
        hit = self.pick(scene, origin, direction)
        if hit is None:
            return False
        self.let_go(scene)
        step.disturb(self.record, session.last_shown(scene))
        positions = self.simulation.positions(hit.member.body)
        ids, weights = falloff(positions, positions[hit.vertex], radius)
        grab = self.simulation.grab(hit.member.body, ids.tolist(), weights.tolist())
        self.held = Held(hit, np.asarray(direction, float), grab, ids, weights)
        self._way = np.zeros(3)
        self.changed = True
        return True

    def move(self, origin: np.ndarray, direction: np.ndarray) -> None:
        """Move grabbed cloth to where a ray hits the plane that faces the view at the depth of the grabbed point."""
        if self.held is None:
            return
        place = on_plane(origin, direction, self.held.hit.point, self.held.normal)
        if place is not None:
            self._way = place - self.held.hit.point
            self.held.grab.move(self._way)

    def let_go(self, scene: Scene, pin: bool = False) -> int:
        """Release the cloth, or pin its middle where it is; returns the number of pinned vertices."""
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
        step.note_pin(self.record, session.last_shown(scene), fixed)
        self._remember_pins(obj)
        positions = self.simulation.positions(hit.member.body)[middle]
        pose = self.record.snapshots[self.record.last_frame].poses[hit.member.uid]
        pins.pin_where_they_are(obj, middle, positions, pose)
        return len(middle)

    def rest(self, scene: Scene, depsgraph: Depsgraph) -> None:
        """Let the cloth follow at the current frame by a step in place; raises `PBDError`."""
        if session.last_shown(scene) == self.record.last_frame:
            step.step_in_place(self.record, scene)
            follow.show_again(self.record, scene, depsgraph)

    def finish(self, scene: Scene) -> None:
        """Keep the changes; undo will restore the cloth too."""
        self.let_go(scene)
        if self.changed and self.is_valid:
            step.note_grab(self.record, scene, self._before)

    def put_back(self, scene: Scene, depsgraph: Depsgraph) -> None:
        """Undo everything that was done."""
        self.let_go(scene)
        for uid, (name, group, weights, offsets) in self._pins.items():
            obj = find(scene, uid, name)
            if obj is not None:
                pins.restore(obj, group, weights, offsets)
        if self.changed and self.is_valid:
            step.restore(self.record, self._before)
            follow.show_again(self.record, scene, depsgraph)

    def _remember_pins(self, obj: Object) -> None:
        if obj.session_uid not in self._pins:
            group = obj.pbd.pin_group
            weights = user_keys.read_weights(obj, group) if group in obj.vertex_groups else None
            self._pins[obj.session_uid] = obj.name, group, weights, pins.read_offsets(obj.data)
