"""Ropes, which are chains of loose edges, lie on colliders, on cloth and on each other, and go through nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.agreement import backends_agree
from helpers.crossings import crossing_pairs
from helpers.inside import model_of
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.kernels import available

DT = 1 / 24


def chain(points: int, start: int = 0) -> np.ndarray:
    """Edges of a rope of so many points in a row."""
    return start + np.column_stack([np.arange(points - 1), np.arange(1, points)])


def rope(points: np.ndarray, pins=(), edges=None, velocity=(0.0, 0.0, 0.0), **settings) -> Body:
    material = dataclasses.replace(Material.preset("Cotton"), **settings)
    edges = chain(len(points)) if edges is None else edges
    return Body(points, [], material, pins, edges=edges, velocity=velocity)


def between(start, end, count: int = 100) -> np.ndarray:
    return np.linspace(start, end, count)


def hanging(count: int, half: float, depth: float) -> np.ndarray:
    """Points along x on a parabola between two ends at z = 0."""
    x = np.linspace(-half, half, count)
    return np.column_stack([x, 0.0 * x, depth * ((x / half) ** 2 - 1.0)])


def sheet(cells: int, height: float, pinned: bool = True) -> Body:
    """A square meter of cotton, held at its four corners."""
    vertices, faces = grid(cells, cells, 1.0, 1.0)
    corners = [0, cells, cells * (cells + 1), (cells + 1) ** 2 - 1]
    up = np.array([0.0, 0.0, height])
    return Body(vertices + up, faces, Material.preset("Cotton"), corners if pinned else ())


def floor() -> Collider:
    return Collider(*grid(4, 4, 4.0, 4.0))


def ball() -> Collider:
    vertices, faces = icosphere(3, 0.25)
    return Collider(vertices + np.array([0.0, 0.0, 0.3]), faces)


class Scene:
    """A simulation that looks for edges that go through faces."""

    def __init__(self, bodies: list[Body], colliders: list[Collider], kernels: str) -> None:
        self.simulation = Simulation(bodies, colliders=colliders, kernels=kernels)
        self.bodies, self.colliders = bodies, colliders
        meshes = [each.mesh for each in (*bodies, *colliders)]
        starts = np.cumsum([0, *(mesh.vertex_count for mesh in meshes)])
        self.edges = np.concatenate([mesh.edges + at for mesh, at in zip(meshes, starts)])
        self.triangles = np.concatenate([mesh.triangles + at for mesh, at in zip(meshes, starts)])

    def play(self, seconds: float) -> float:
        """Step, and see that nothing crosses, five times; the largest strain at the end."""
        frames, self._speeds = round(seconds / DT), []
        for frame in range(frames, 0, -1):
            report = self.simulation.step(DT)
            velocities = [self.simulation.velocities(body) for body in self.bodies]
            self._speeds.append([np.linalg.norm(each, axis=1).max() for each in velocities])
            if (frame - 1) % (frames // 5):
                continue
            x = [self.at(body) for body in self.bodies] + [one.vertices for one in self.colliders]
            assert not len(crossing_pairs(np.concatenate(x), self.triangles, self.edges))
        return report.strain_max

    def at(self, body: Body) -> np.ndarray:
        return self.simulation.positions(body)

    def speed(self, body: Body) -> float:
        """Of the fastest vertex, median of the last second: what lies may still slip once, at any moment."""
        return float(np.median([frame[self.bodies.index(body)] for frame in self._speeds[-round(1.0 / DT) :]]))


BACKENDS = pytest.mark.parametrize("kernels", available())


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
def test_a_rope_comes_to_rest_on_a_floor(kernels):
    way = np.linspace(-1.0, 1.0, 100)
    body = rope(np.column_stack([way, 0.1 * np.sin(4.0 * way), 0.5 + 0.05 * np.cos(7.0 * way)]))
    scene = Scene([body], [floor()], kernels)
    strain = scene.play(3.0)
    height = scene.at(body)[:, 2]
    np.testing.assert_allclose(height, body.material.thickness + floor().thickness, rtol=0.01)
    assert strain < 0.01 and scene.speed(body) < 0.02


@pytest.mark.slow
def test_a_rope_hangs_over_a_ball():
    body = rope(between([-1.0, 0.01, 0.8], [1.0, 0.03, 0.8]))
    scene = Scene([body], [ball(), floor()], "auto")
    strain = scene.play(6.0)
    x = scene.at(body)
    off = np.linalg.norm(x - [0.0, 0.0, 0.3], axis=1)
    assert x[:, 2].min() > 0.9 * 0.003 and off.min() > 0.25
    assert x[:, 2].max() > 0.55, "it lies on the ball"
    assert strain < 0.01 and scene.speed(body) < 0.02


@pytest.mark.slow
def test_a_rope_coils_on_a_floor():
    """It falls upright, on itself."""
    body = rope(between([0.0, 0.0, 0.05], [0.003, 0.002, 2.05]))
    scene = Scene([body], [floor()], "auto")
    strain = scene.play(4.0)
    x = scene.at(body)
    assert 0.0 < x[:, 2].min() and 0.01 < x[:, 2].max() < 0.1, "it lies, in more than one layer"
    assert strain < 0.02 and scene.speed(body) < 0.02


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.parametrize("speed", [1.0, 20.0])
def test_cloth_carries_a_rope_that_is_thrown_at_it(speed, kernels):
    body, cloth = rope(between([-0.6, -0.2, 0.4], [0.6, 0.3, 0.5], 60), velocity=(0.0, 0.0, -speed)), sheet(24, 0.3)
    scene = Scene([body, cloth], [], kernels)
    scene.play(1.0)
    inside = (np.abs(scene.at(body)[:, :2]) < 0.3).all(axis=1)
    assert inside.sum() > 20
    assert (scene.at(body)[inside, 2] > scene.at(cloth)[:, 2].min()).all(), "nothing of it hangs below"


@pytest.mark.slow
def test_a_rope_carries_cloth():
    """A line of 40 g/m, pinned at both ends: the cloth weighs 50 g."""
    cloth, points = sheet(15, 0.0, pinned=False), hanging(60, 0.6, 0.1)
    cloth = Body(0.5 * cloth.vertices, cloth.polygons, cloth.material)
    body = rope(points - [0.0, 0.0, 0.02], [0, 59], density=4.0, stretch=50000.0)
    scene = Scene([cloth, body], [], "auto")
    scene.play(1.5)
    assert scene.at(cloth)[:, 2].max() > scene.at(body)[:, 2].min()
    assert scene.at(cloth)[:, 2].min() > -0.6


@pytest.mark.slow
@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
def test_a_rope_rests_on_another(kernels):
    """Both are pinned at their ends and cross; the one above has more slack."""
    below, above = hanging(61, 0.5, 0.1), hanging(61, 0.5, 0.15)[:, [1, 0, 2]] + [0.011, 0.0, 0.055]
    bodies = [rope(below, [0, 60]), rope(above, [0, 60])]
    scene = Scene(bodies, [], kernels)
    scene.play(3.0)
    one, other = (scene.at(body)[30, 2] for body in bodies)
    assert 0.9 * 0.5 / 60 < other - one < 1.5 * 0.5 / 60, "as far apart as half of an edge"
    assert max(map(scene.speed, bodies)) < 0.05


@BACKENDS
def test_a_rope_does_not_pass_through_another(kernels):
    """At 20 m/s it moves by five times the distance of both in a substep, and then hangs over the other."""
    below, above = hanging(61, 0.5, 0.1), hanging(31, 0.25, 0.0)[:, [1, 0, 2]] + [0.011, 0.0, 0.1]
    bodies = [rope(below, [0, 60], density=4.0), rope(above, velocity=(0.0, 0.0, -20.0))]
    scene = Scene(bodies, [], kernels)
    scene.play(0.25)
    one, other = (scene.at(body) for body in bodies)
    top = other[other[:, 2].argmax()]
    assert top[2] > one[np.linalg.norm(one - top, axis=1).argmin(), 2]


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
def test_the_string_of_a_kite_lies_on_its_own_cloth(kernels):
    vertices, faces = grid(14, 14, 0.6, 0.6)
    n, up = len(vertices), np.array([0.0, 0.0, 0.3])
    string = vertices[n // 2] + between([0.0, 0.0, 0.0], [0.02, 0.01, 1.6], 81)[1:]
    edges = np.concatenate([[[n // 2, n]], chain(80, n)])
    kite = Body(np.concatenate([vertices, string]) + up, faces, Material.preset("Cotton"), edges=edges)
    scene = Scene([kite], [floor()], kernels)
    scene.play(3.0)
    x = scene.at(kite)
    lies = (np.abs(x[n:, :2]) < 0.25).all(axis=1)
    assert lies.sum() > 20 and (x[n:][lies, 2] > x[:n, 2].mean()).all()
    assert scene.speed(kite) < 0.25


def test_seams_take_no_part_and_without_sewing_they_are_ropes():
    vertices, faces = grid(4, 4, 0.4, 0.4)
    both = np.concatenate([vertices, vertices + np.array([0.0, 0.0, 0.1])])
    faces = [*faces, *([corner + 25 for corner in face] for face in faces)]
    edges = np.column_stack([np.arange(5), np.arange(25, 30)])
    found = []
    for sewing in (True, False):
        material = dataclasses.replace(Material.preset("Cotton"), sewing=sewing)
        surface = model_of(Simulation([Body(both, faces, material, edges=edges)])).contact.surfaces[0]
        found.append(surface.loose_edges.shape[1])
    assert found == [0, 5]


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.parametrize("length", [1e-4, 0.0])
def test_a_rope_with_doubled_points_stays_whole(length, kernels):
    """As curves have them: points that are next to each other, or at the same place, with an edge between them."""
    points = between([-0.5, 0.01, 0.7], [0.5, 0.03, 0.7], 50)
    for at in (15, 35):
        points = np.insert(points, at, points[at - 1] + [length, 0.0, 0.0], axis=0)
    body = rope(points)
    scene = Scene([body], [ball(), floor()], kernels)
    scene.play(1.5)
    gaps = np.linalg.norm(np.diff(scene.at(body), axis=0), axis=1)
    assert np.abs(gaps - np.linalg.norm(np.diff(points, axis=0), axis=1)).max() < 1e-3
    assert scene.at(body)[:, 2].max() > 0.54, "it hangs over the ball"


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
def test_ropes_that_start_at_one_place_come_to_rest(kernels):
    """Two splines that end at the same point, without an edge in common."""
    points = between([-0.5, 0.01, 0.3], [0.5, 0.02, 0.32], 50)
    body = rope(np.concatenate([points[:26], points[25:]]), edges=np.concatenate([chain(26), chain(25, 26)]))
    scene = Scene([body], [floor()], kernels)
    strain = scene.play(1.0)
    assert strain < 0.01 and scene.speed(body) < 0.02


@BACKENDS
def test_struts_that_cross_do_not_hold_each_other(kernels):
    """A frame of all edges between the corners of a cube: it turns as it does where it does not meet itself."""
    corners = np.array([[x, y, z] for x in (0.0, 0.1) for y in (0.0, 0.1) for z in (0.0, 0.1)])
    edges = np.array([[i, j] for i in range(8) for j in range(i)])
    ends = []
    for self_collision in (True, False):
        material = dataclasses.replace(Material.preset("Paper"), self_collision=self_collision)
        frame = Body(corners, [], material, edges=edges, velocity=(0.0, 0.0, 1.0), angular_velocity=(6.0, 2.0, 1.0))
        scene = Scene([frame], [], kernels)
        scene.play(0.25)
        ends.append(scene.at(frame))
    np.testing.assert_array_equal(*ends)


@pytest.mark.newest
def test_backends_agree_on_a_rope_and_frames_come_back():
    def scene(kernels: str) -> tuple[Simulation, Body]:
        body, cloth = rope(between([-0.4, 0.0, 0.1], [0.4, 0.1, 0.1], 41)), sheet(10, 0.05)
        return Simulation([body, cloth], kernels=kernels), body

    backends_agree(scene, 4)
