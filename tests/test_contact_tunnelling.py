"""Nothing goes through: cloth and obstacles of all sizes, at 1 and 20 m/s, judged in every frame.

At 20 m/s a frame is 0.8 m, several times the size of everything here, so who is where after a frame says whether
something went through in between.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.crossings import count_between, crossing_pairs, faces_above, is_closed, is_inside
from helpers.meshes import UP, box, grid, obstacle, turned
from pbd_addon import Body, Collider, Material, Simulation

pytestmark = pytest.mark.slow

DT = 1 / 24
FRAMES = 8
COARSE, FINE = 8, 40
WIDTH = 0.5


def cloth(cuts: int, height: float, middle_of_a_face: bool = False, **settings) -> Body:
    """A level sheet; the z axis goes through the middle of one of its faces, or near its middle."""
    vertices, quads = grid(cuts, cuts, WIDTH, WIDTH)
    body = Body(vertices, quads, name="Cloth")
    middle = vertices[body.mesh.triangles].mean(axis=1)
    shift = middle[np.argmin(np.linalg.norm(middle, axis=1))] if middle_of_a_face else np.array([0.0137, -0.0083, 0.0])
    return Body(vertices - shift + height * UP, quads, Material(**({"drag": 0.0} | settings)))


def meet(kind: str, cuts: int, speed: float, thickness: float, mover: str) -> None:
    """Let a sheet meet an obstacle from 20 mm away."""
    vertices, triangles = obstacle(kind)
    body = cloth(cuts, 0.02 + thickness, kind == "spike", thickness=0.0)
    collider = Collider(vertices, triangles, thickness=thickness)
    simulation = Simulation([body], [collider], gravity=(0.0, 0.0, 0.0), self_collision=False)
    if mover == "cloth":
        simulation.velocities(body)[:, 2] = -speed
    # Those that the obstacle comes for: around the axis, well within its outline.
    around = np.linalg.norm(body.vertices[:, :2], axis=1)
    inner = around <= max(np.sort(around)[2], 0.0 if kind == "spike" else 0.07)
    touched = 0
    for frame in range(1, FRAMES + 1):
        stands = vertices + (speed * frame * DT * UP if mover == "collider" else 0.0)
        simulation.move_collider(collider, stands)
        touched += simulation.step(DT).contacts
        x = simulation.positions(body)
        assert count_between(x, body.mesh.triangles, stands, triangles) == 0, f"crossings in frame {frame}"
        if is_closed(triangles):
            assert not is_inside(x, stands, triangles).any(), f"vertices inside in frame {frame}"
        behind = faces_above(x[inner], stands, triangles, UP)[0] > 0
        assert not behind.any(), f"{behind.sum()} of {inner.sum()} vertices behind the obstacle in frame {frame}"
    assert touched > 0


@pytest.mark.parametrize(
    ("speed", "mover", "thickness"), [(1.0, "collider", 0.001), (20.0, "cloth", 0.001), (20.0, "collider", 0.005)]
)
@pytest.mark.parametrize("kind", ["box", "fine box", "spike", "open sheet"])
def test_coarse_cloth_is_not_gone_through(kind, speed, thickness, mover):
    """Edges of 62 mm, so that corners and spikes come between the vertices."""
    meet(kind, COARSE, speed, thickness, mover)


@pytest.mark.parametrize(("speed", "mover", "thickness"), [(20.0, "cloth", 0.005), (20.0, "collider", 0.001)])
@pytest.mark.parametrize("kind", ["box", "fine box", "spike", "open sheet"])
def test_fine_cloth_is_not_gone_through(kind, speed, thickness, mover):
    """Edges of 12.5 mm, of which 20 m/s are three in a substep of 1/480 s."""
    meet(kind, FINE, speed, thickness, mover)


@pytest.mark.parametrize("cuts", [COARSE, FINE])
def test_a_turning_paddle_sweeps_and_does_not_cut(cuts):
    """A board that turns about its edge at 12 rad/s hits a sheet that hangs still in the air, at up to 7 m/s."""
    sizes, thickness = np.array([0.6, 0.6, 0.04]), 0.002
    vertices, triangles = box(tuple(sizes), 4)
    vertices = vertices + np.array([0.3, 0.0, -0.02])
    body = cloth(cuts, 0.0, thickness=0.0)
    body = Body(body.vertices + np.array([0.35, 0.0, 0.0]), body.mesh.triangles, body.material)
    collider = Collider(turned(vertices, 0.15, 1), triangles, thickness=thickness)
    simulation = Simulation([body], [collider], gravity=(0.0, 0.0, 0.0), self_collision=False)
    inner = np.abs(body.vertices - [0.35, 0.0, 0.0]).max(axis=1) < 0.2
    for frame in range(1, FRAMES + 1):
        angle = 0.15 - 0.5 * frame  # about y, minus is upwards at +x
        stands = turned(vertices, angle, 1)
        simulation.move_collider(collider, stands)
        simulation.step(DT)
        x = simulation.positions(body)
        assert count_between(x, body.mesh.triangles, stands, triangles) == 0, f"crossings in frame {frame}"
        assert not is_inside(x, stands, triangles).any(), f"vertices inside in frame {frame}"
        if frame <= 3:  # later, it may have been thrown over the edge
            ahead = turned(UP[None], angle, 1)[0]
            assert not faces_above(x[inner], stands, triangles, ahead)[0].any(), f"behind the board in frame {frame}"


@pytest.mark.parametrize("cuts", [COARSE, FINE])
def test_a_spinning_box_catches_nothing(cuts):
    """Cloth that falls at 5 m/s on a box that spins about a slanting axis by 0.4 rad a frame."""
    vertices, triangles = box((0.2, 0.2, 0.2), 3)
    vertices = turned(vertices, 0.6, 0)
    body = cloth(cuts, 0.2, thickness=0.0)
    collider = Collider(vertices, triangles, thickness=0.002)
    simulation = Simulation([body], [collider], gravity=(0.0, 0.0, 0.0), self_collision=False)
    simulation.velocities(body)[:, 2] = -5.0
    inner = np.linalg.norm(body.vertices[:, :2], axis=1) < 0.07
    for frame in range(1, FRAMES + 1):
        stands = turned(turned(turned(vertices, -0.4, 0), 0.4 * frame, 1), 0.4, 0)
        simulation.move_collider(collider, stands)
        simulation.step(DT)
        x = simulation.positions(body)
        assert count_between(x, body.mesh.triangles, stands, triangles) == 0, f"crossings in frame {frame}"
        assert not is_inside(x, stands, triangles).any(), f"vertices inside in frame {frame}"
        if frame <= 3:  # later, what it holds by friction has gone round with it
            assert not faces_above(x[inner], stands, triangles, UP)[0].any(), f"behind the box in frame {frame}"


@pytest.mark.parametrize("speed", [1.0, 20.0])
@pytest.mark.parametrize(("cuts", "other_cuts"), [(COARSE, FINE), (FINE, COARSE), (FINE, FINE)])
def test_cloth_does_not_go_through_cloth(cuts, other_cuts, speed):
    """A sheet flies at another one of any fineness that is as free; they never cross and never change places."""
    upper = cloth(cuts, 0.06)
    lower = cloth(other_cuts, 0.0)
    lower = Body(turned(lower.vertices, 0.3, 2), lower.mesh.triangles, lower.material)
    simulation = Simulation([upper, lower], gravity=(0.0, 0.0, 0.0))
    simulation.velocities(upper)[:, 2] = -speed
    triangles = np.concatenate([upper.mesh.triangles, lower.mesh.triangles + len(upper.vertices)])
    inner, other_inner = (np.linalg.norm(body.vertices[:, :2], axis=1) < 0.15 for body in (upper, lower))
    touched = 0
    for frame in range(1, FRAMES + 1):
        report = simulation.step(DT)
        touched += report.self_contacts
        x, y = simulation.positions(upper), simulation.positions(lower)
        assert len(crossing_pairs(np.concatenate([x, y]), triangles)) == 0, f"crossings in frame {frame}"
        assert x[inner, 2].mean() > y[other_inner, 2].mean(), f"places changed in frame {frame}"
        if frame <= 4:  # later, borders curl over what lies beside them
            # A fold that hangs over a vertex has a face that looks up and one that looks down.
            behind = faces_above(x[inner], y, lower.mesh.triangles, UP)[1] != 0
            assert not behind.any(), f"{behind.sum()} of {inner.sum()} vertices went through in frame {frame}"
        assert report.crossings == 0
    assert touched > 0


@pytest.mark.parametrize("closed", [True, False])
def test_a_leaping_collider_is_survived(closed):
    """An obstacle that leaps by 2 m within a frame, through the cloth and back, leaves sound numbers."""
    vertices, triangles = box((0.3, 0.3, 0.3), 2)
    if not closed:
        triangles = triangles[:-4]
    body = cloth(12, 0.0)
    collider = Collider(vertices - UP, triangles)
    assert collider.closed == closed
    simulation = Simulation([body], [collider])
    start = vertices - UP
    for frame in range(1, 9):
        simulation.move_collider(collider, start + (2.0 * UP if frame % 2 else 0.0))
        simulation.step(DT)
        x, v = simulation.positions(body), simulation.velocities(body)
        assert np.isfinite(x).all()
        # Twice what a perfect bounce off an obstacle at 48 m/s would give.
        assert np.linalg.norm(v, axis=1).max() < 200.0
    assert 1.0 < np.linalg.norm(x.mean(axis=0)) < 50.0  # it was hit
    for _ in range(24):
        simulation.step(DT)
    assert simulation.reports[simulation.frames.last].strain_p95 < 0.05
