"""Loops: what was recorded, joined to a cycle before it is written."""

import numpy as np

from ... import Material
from ...frames import loop
from ...frames.loop import Cloth, Obstacle, Pair
from ...settings.scale import distance_at
from ..errors import PBDError, refused
from ..kinds import Scene
from ..scene import poses
from ..settings import raw_settings
from ..settings.raw_settings import object_settings, scene_settings
from ..timeline import session
from ..timeline.record import Record
from ..timeline.simulated_object import SimulatedObject
from .recording import Recording

GROUND = 10.0
"""How far the floor reaches around cloth [m], which moves less in a fade."""


def find(scene: Scene, kept: dict[int, Recording]) -> Pair:
    """The best pair by the scene's settings; raises a `PBDError` if there are too few frames."""
    settings = scene.pbd
    multiple = settings.wind_loop if settings.wind_speed and settings.wind_loop else 1
    if settings.loop_length % multiple:
        raise PBDError(
            f"A loop of {settings.loop_length} frames does not fit the wind, which repeats itself "
            f"every {multiple}: change Length, or Loop of the wind"
        )
    shapes = [one.stretch * np.asarray(one.shapes) for one in kept.values()]
    with refused("No loop: "):
        return loop.find(shapes, settings.loop_fade, settings.loop_length, multiple)


def close(scene: Scene, kept: dict[int, Recording], frame_start: int) -> dict[int, Recording]:
    """The recordings of live objects from a frame on, as a loop and once more its first frame, if the scene wants one.

    Raises a `PBDError` if no frames are alike enough.
    """
    settings = scene.pbd
    if not settings.use_loop:
        return kept
    pair = find(scene, kept)
    first, second = frame_start + pair.first, frame_start + pair.first + pair.length
    if pair.apart > settings.loop_gap:
        raise PBDError(
            f"Frames {first} and {second} are the most alike, and {pair.apart:.3g} m apart, more than Largest Gap, "
            f"{settings.loop_gap:.3g} m: simulate more frames, or raise it"
        )
    running = session.of(scene)
    members = {member.uid: member for member in running.scene_sim.members}
    return {
        uid: _closed(running, scene, members[uid], one, pair, frame_start, settings.loop_fade)
        for uid, one in kept.items()
    }


def _closed(
    running: Record, scene: Scene, member: SimulatedObject, kept: Recording, pair: Pair, frame_start: int, fade: int
) -> Recording:
    """The loop of one object: shapes fade in object space, lengths and obstacles count in the world."""
    first = frame_start + pair.first
    early = np.array([_shape(running, member, first + k) for k in range(fade)])
    late = np.array([_shape(running, member, first + pair.length + k) for k in range(fade)])
    matrices = [running.snapshots[first + k].poses[member.uid].matrix for k in range(fade)]
    faded, early, late = (
        np.array([poses.to_world(shape, matrix) for shape, matrix in zip(shapes, matrices, strict=True)])
        for shapes in (loop.blend(early, late), early, late)
    )
    body = member.body
    held = np.zeros(len(body.vertices), bool)
    held[body.pin_ids[body.pin_weights >= 1.0]] = held[body.slide_ids] = True
    obstacles = [_obstacles(running, scene, member, first + k, faded[k]) for k in range(fade)]
    simulation, material = running.scene_sim.simulation, _material(running, member)
    meets = simulation.settings.collisions != "OFF" and material.self_collision
    cloth = Cloth(body.mesh.edges, body.mesh.diagonals, held, body.mesh.triangles, meets)
    moves = loop.project(faded, early, late, cloth, obstacles) - faded
    shapes = np.asarray(kept.shapes)
    begin, end = pair.first, pair.first + pair.length
    own = loop.blend(shapes[begin : begin + fade], shapes[end : end + fade])
    own += [move @ np.linalg.inv(matrix[:3, :3]).T for move, matrix in zip(moves, matrices, strict=True)]
    looped = np.concatenate([own, shapes[begin + fade : end]]).astype(np.float32)
    return Recording(list(loop.turned(looped, pair)), kept.stretch, pair.length, pair.apart)


def _shape(running: Record, member: SimulatedObject, frame: int) -> np.ndarray:
    """The simulated shape (n, 3) of a member at a frame, with all keys, in object space [m]."""
    positions = running.scene_sim.simulation.cached_positions(member.body, frame)
    return poses.to_object(positions, running.snapshots[frame].poses[member.uid].matrix)


def _material(running: Record, member: SimulatedObject) -> Material:
    """The material that a member has now."""
    return raw_settings.material_from(object_settings(running.scene_sim.applied, member.uid), member.name)


def _obstacles(running: Record, scene: Scene, member: SimulatedObject, frame: int, x: np.ndarray) -> list[Obstacle]:
    """Colliders and floor as they stand at a frame, for a member whose vertices are at x (n, 3) [m]."""
    snapshot, material = running.snapshots[frame], _material(running, member)
    edge = np.median(member.body.rest_lengths)
    thickness = material.thickness if material.rigid else float(distance_at(material.thickness, edge))
    found = []
    for uid, one in running.scene_sim.colliders.items():
        if uid in snapshot.surfaces:
            collider = one.collider
            side = (-1 if collider.inside else 1) if collider.closed else 0
            distance = thickness + collider.thickness
            found.append(Obstacle(snapshot.surfaces[uid].world(), collider.mesh.triangles, distance, side))
    floor = scene_settings(snapshot.settings, scene).floor
    if floor.used:
        low, high = x.min(axis=0) - GROUND, x.max(axis=0) + GROUND
        corners = [[at_x, at_y, floor.height] for at_x in (low[0], high[0]) for at_y in (low[1], high[1])]
        found.append(Obstacle(np.array(corners), np.array([[0, 2, 3], [0, 3, 1]]), thickness, 1))
    return found
