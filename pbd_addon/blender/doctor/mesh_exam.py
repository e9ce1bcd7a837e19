"""What the doctor reads of an object, once for all checks."""

from typing import NamedTuple

import numpy as np

from ... import Body, Polygons
from ..errors import PBDError
from ..kinds import Object
from ..read import bodies, mesh_io
from ..read.snapshot import SceneSnapshot
from ..scene import poses
from ..scene.arrays import edge_vertices


class MeshExam(NamedTuple):
    """Data of an object for the checks."""

    obj: Object
    positions: np.ndarray  # (n, 3) float64, world positions of the user's shape [m]
    edges: np.ndarray  # (e, 2) int32
    polygons: Polygons
    body: Body | None  # None if the mesh cannot be simulated
    beginning: SceneSnapshot | None  # of the first frame

    @property
    def usual_edge(self) -> float:
        """Median edge length [m]; 0 without edges."""
        return median_edge(self.positions, self.edges)

    @property
    def is_flat(self) -> bool:
        """Whether the transform flattens the object to a plane, a line or a point."""
        return poses.is_flat(poses.read_last_pose(self.obj).matrix)


def median_edge(places: np.ndarray, edges: np.ndarray) -> float:
    """Median length of edges (e, 2) int between positions (n, 3) [m]; 0 without edges."""
    ends = places[edges]
    return float(np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1))) if len(ends) else 0.0


def usual_edge(obj: Object) -> float:
    """Median edge length of an object in Object Mode, in world space [m]; 0 without edges."""
    return median_edge(_world(obj), edge_vertices(obj.data))


def _world(obj: Object) -> np.ndarray:
    return poses.to_world(mesh_io.base_shape(obj), poses.read_last_pose(obj).matrix)


def examine(obj: Object, beginning: SceneSnapshot | None = None) -> MeshExam:
    """Read an object in Object Mode; without a snapshot its surroundings are not checked."""
    try:
        body = bodies.read_body(obj)
    except PBDError:
        body = None
    return MeshExam(obj, _world(obj), edge_vertices(obj.data), mesh_io.read_polygons(obj.data), body, beginning)


def count_in(count: int, one: str, many: str) -> str:
    """The singular or plural sentence with the count filled in; "" for 0."""
    return (one if count == 1 else many).format(count=count) if count else ""
