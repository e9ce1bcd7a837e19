"""The wind of a scene as an arrow for a 3D View. Nothing here draws."""

import numpy as np

from .kinds import Scene
from .scene import poses
from .scene.scene_objects import live_bodies
from .settings import wind

SECONDS = 0.1
"""The arrow is as long as the way of the air in this time: 1 m at 10 m/s."""

HEAD = 0.2
"""Length of its barbs, as a share of its own."""


def lines(scene: Scene) -> np.ndarray:
    """The arrow, (2 k, 3) float32 in world space [m], two ends after another; none without wind.

    It stands above the middle of what is simulated, or above the origin.
    """
    along = np.array(wind.direction(scene.pbd))
    length, speed = float(np.linalg.norm(along)), scene.pbd.wind_speed
    if not (0.0 < length < np.inf and 0.0 < speed < np.inf):
        return np.zeros((0, 3), np.float32)
    boxes = [poses.to_world(np.array(obj.bound_box), np.array(obj.matrix_world)) for obj in live_bodies(scene)]
    corners = np.concatenate(boxes if boxes else [np.zeros((1, 3))])
    way = SECONDS * speed * along / length
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    middle[2] = corners[:, 2].max() + 0.1
    tail, tip = middle - 0.5 * way, middle + 0.5 * way
    aside = np.cross(way, np.eye(3)[np.argmin(np.abs(way))])
    aside *= HEAD * np.linalg.norm(way) / np.linalg.norm(aside)
    up = np.cross(aside, way) / np.linalg.norm(way)
    barbs = [tip - HEAD * way + 0.5 * side for side in (aside, -aside, up, -up)]
    return np.array([tail, tip, *(end for barb in barbs for end in (tip, barb))], np.float32)
