"""Loops: the pair that is found, the seam, and what a fade leaves of lengths, pins and obstacles."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from helpers.meshes import grid, icosphere
from pbd_addon import Body, Material, Simulation, Wind
from pbd_addon.contact.crossings import crossing_pairs
from pbd_addon.frames import loop
from pbd_addon.frames.loop import Cloth, Obstacle, Pair

FADE = 8
FRAMES = 70


def steps(looped):
    """Largest step of a vertex from each frame of a loop to the next one, and from the last to the first (f,) [m]."""
    return np.linalg.norm(np.roll(looped, -1, axis=0) - looped, axis=2).max(axis=1)


@functools.cache
def flag():
    """A flag in gusts that do not repeat, and its frames (f, n, 3)."""
    vertices, quads = grid(16, 10, 1.2, 0.8)
    vertices = vertices[:, [0, 2, 1]]
    pole = np.flatnonzero(vertices[:, 0] < -0.599)
    cotton = Material.preset("Cotton")
    body = Body(vertices, quads, material=cotton, pins=pole)
    simulation = Simulation([body], self_collision=False, substeps=10)
    simulation.set_wind(Wind((6.0, 1.0, 0.0), turbulence=0.3))
    frames = []
    for _ in range(FRAMES):
        simulation.step(1 / 24)
        frames.append(simulation.positions(body).copy())
    return body, np.array(frames)


def closed(projected=True):
    """The flag's loop, and how it came about."""
    body, frames = flag()
    pair = loop.find([frames[10:]], FADE)
    first = 10 + pair.first
    early, late = frames[first : first + FADE], frames[first + pair.length : first + pair.length + FADE]
    fade = loop.blend(early, late)
    if projected:
        fade = loop.project(
            fade,
            early,
            late,
            Cloth(body.mesh.edges, body.mesh.diagonals, np.isin(np.arange(len(fade[0])), body.pin_ids)),
        )
    return body, frames, pair, np.concatenate([fade, frames[first + FADE : first + pair.length]])


def p95(body, frames):
    """95th percentile of |length / rest length - 1| over all edges and frames."""
    ends = frames[:, body.mesh.edges]
    return np.percentile(np.abs(np.linalg.norm(ends[:, :, 0] - ends[:, :, 1], axis=2) / body.rest_lengths - 1), 95)


def test_a_wave_is_cut_at_its_period():
    time = np.arange(60)[:, None, None]
    wave = np.concatenate([np.sin(2 * np.pi * time / 23 + k) * [[[1.0, 0.5, 0.0]]] for k in range(7)], axis=1)
    found = loop.find([wave], 5)
    assert found.length in (23, 46) and found.apart < 1e-6
    assert loop.find([wave], 5, length=20).length == 20
    assert loop.find([wave], 5, multiple=10).length % 10 == 0


def test_velocity_tells_the_way_there_from_the_way_back():
    """A pendulum passes each place twice; only every second time it moves as before."""
    swing = np.sin(2 * np.pi * np.arange(80) / 32)[:, None, None] * [[[1.0, 0.0, 0.0]]]
    assert loop.find([swing], 6).length in (32, 64)


@pytest.mark.newest
def test_the_step_over_the_seam_is_like_others():
    _body, frames, pair, looped = closed()
    sizes = steps(looped)
    assert len(looped) == pair.length >= 20
    assert sizes[-1] <= 1.3 * sizes[:-1].max()
    assert sizes.max() <= 1.5 * steps(frames)[10:-1].max()


def test_projection_repairs_what_the_fade_has_shrunk():
    body, frames, _pair, looped = closed()
    simulated, faded, projected = (p95(body, one) for one in (frames[10:], closed(False)[3][:FADE], looped[:FADE]))
    assert faded > 0.01
    assert projected < simulated + 0.001


def test_cells_do_not_fold_up():
    """Edges alone would let the diagonals of a cell go: the worst became shorter by 83 %."""
    body, frames, pair, looped = closed()
    first = 10 + pair.first
    share, lengths = loop.weights(FADE), []
    for part in (frames[first:], frames[first + pair.length :], looped):
        ends = part[:FADE, body.mesh.diagonals]
        lengths.append(np.linalg.norm(ends[:, :, 0] - ends[:, :, 1], axis=2).T)
    off = np.abs(lengths[2] / ((1.0 - share) * lengths[0] + share * lengths[1]) - 1.0)
    assert off.max() < 0.2 and np.percentile(off, 95) < 0.04


def test_what_is_held_stays():
    body, frames, _pair, looped = closed()
    assert np.abs(looped[:, body.pin_ids] - frames[0, body.pin_ids]).max() < 1e-12


def far(count):
    """Whether the edges of a sheet of that many vertices hold nothing: all of it is free."""
    return np.zeros(count, bool)


def test_no_vertex_stays_in_a_ball():
    """Between two drapes beside a ball the mean goes through it."""
    vertices, quads = grid(12, 12, 0.6, 0.6)
    body = Body(vertices, quads)
    ball, triangles = icosphere(2, 0.2)
    early, late = (np.repeat((vertices + np.array([x, 0.0, 0.15]))[None], 4, axis=0) for x in (-0.5, 0.5))
    blended = loop.blend(early, late)
    assert np.linalg.norm(blended, axis=2).min() < 0.19
    obstacle = [Obstacle(ball, triangles, 0.01, 1)] * 4
    found = loop.project(
        blended, early, late, Cloth(body.mesh.edges, body.mesh.diagonals, far(len(vertices))), [obstacle] * 4
    )
    flat = np.linalg.norm(ball[triangles].mean(axis=1), axis=1).min()
    assert np.linalg.norm(found, axis=2).min() > flat + 0.0095


def test_an_open_obstacle_has_two_sides():
    """Cloth lies on one side of a roof, then on the other: the mean is under the ridge. Or it hangs below."""
    vertices, quads = grid(4, 4, 0.2, 0.2)
    body, (roof, faces) = Body(vertices, quads), grid(20, 20, 2.0, 2.0)
    roof[:, 2] = -np.abs(roof[:, 0])
    triangles = np.array(quads_to_triangles(faces))
    for way in (1.0, -1.0):
        shapes = []
        for side in (-1.0, 1.0):
            place = vertices + np.array([0.3 * side, 0.0, 0.0])
            place[:, 2] = way * 0.02 * np.sqrt(2.0) - np.abs(place[:, 0])
            shapes.append(np.repeat(place[None], 4, axis=0))
        blended = loop.blend(*shapes)
        above = blended[:, :, 2] + np.abs(blended[:, :, 0])
        assert above.min() < -0.1 and (above.max() > 0.0) == (way > 0.0)
        cloth = Cloth(body.mesh.edges, body.mesh.diagonals, far(len(vertices)))
        found = loop.project(blended, *shapes, cloth, [[Obstacle(roof, triangles, 0.01, 0)]] * 4)
        assert (way * (found[:, :, 2] + np.abs(found[:, :, 0]))).min() > 0.0095 * np.sqrt(2.0) - 1e-9


def quads_to_triangles(quads):
    """Both halves of each."""
    return [half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))]


def crossings(shape, faces, other=None, other_faces=None):
    """How many edges of two meshes go through faces of the other, or of one through its own."""
    places = np.concatenate([shape, np.zeros((0, 3)) if other is None else other])
    one, two = np.asarray(faces), np.asarray(faces if other is None else other_faces) + (other is not None) * len(shape)
    sides = [np.concatenate([some[:, [k, k - 2]] for k in range(3)]) for some in (one, two)]
    x = np.ascontiguousarray(places.T)
    return sum(len(crossing_pairs(x, a.T, b.T)[0]) for a, b in ((sides[0], two), (sides[1], one)))


def test_layers_that_a_fade_puts_through_each_other_come_apart():
    """A folded sheet with a bulge in its upper layer, which has turned over into the lower one: lengths are right."""
    vertices, quads = grid(20, 10, 1.0, 0.5)
    body, turn = Body(vertices, quads), vertices[:, 0] / 0.02
    flat = np.column_stack([-np.abs(vertices[:, 0]), vertices[:, 1], 0.02 * np.tanh(turn)])
    bulge = np.where(turn > 0, 0.06 * np.exp(-(((flat[:, :2] - [-0.25, 0.0]) / 0.1) ** 2).sum(axis=1)), 0.0)
    folded, bulged = (flat + way * bulge[:, None] * [0.0, 0.0, 1.0] for way in (1.0, -1.0))
    early, wrong = (np.repeat(some[None], 3, axis=0) for some in (folded, bulged))
    faces = body.mesh.triangles
    assert not crossings(folded, faces) and crossings(bulged, faces) > 10
    cloth = Cloth(body.mesh.edges, body.mesh.diagonals, far(len(vertices)), faces, meets_itself=True)
    for found in loop.project(wrong, early, early, cloth):
        assert not crossings(found, faces)
        assert np.abs(found - folded).max() < 0.12
    assert crossings(loop.project(wrong, early, early, cloth._replace(meets_itself=False))[0], faces) > 10


@pytest.mark.parametrize("side", [1, -1])
def test_a_small_ball_in_a_large_face_comes_out(side):
    """No vertex is near it; or the cloth belongs into a tall box, whose edges it has around its own."""
    vertices, quads = grid(3, 3, 0.9, 0.9)
    body = Body(vertices, quads)
    if side > 0:
        points, triangles = icosphere(2, 0.05)
        points[:, 2] -= 0.02
    else:
        points, triangles = icosphere(1, 0.6)
    blended = np.repeat(vertices[None], 2, axis=0)
    cloth = Cloth(body.mesh.edges, body.mesh.diagonals, far(len(vertices)), body.mesh.triangles)
    assert crossings(vertices, body.mesh.triangles, points, triangles)
    found = loop.project(blended, blended, blended, cloth, [[Obstacle(points, triangles, 0.005, side)]] * 2)
    assert not any(crossings(one, body.mesh.triangles, points, triangles) for one in found)
    assert np.abs(found - blended).max() < 0.1 + 0.2 * (side < 0)


def test_a_loop_is_in_time_with_the_range():
    looped = np.arange(10.0)[:, None, None] * np.ones((1, 2, 3))
    shown = loop.turned(looped, Pair(4, 10, 0.0))
    assert len(shown) == 11
    assert shown[4, 0, 0] == 0.0 and shown[0, 0, 0] == 6.0
    assert np.array_equal(shown[0], shown[10])


@pytest.mark.parametrize(
    ("frames", "arguments", "sentence"),
    [
        (9, {"fade": 5}, "9 frames are too few to fade over 5: it takes 10 at least"),
        (30, {"fade": 5, "length": 28}, "30 frames with a fade of 5 hold a loop of 25 at most, not of 28"),
        (30, {"fade": 5, "multiple": 26}, "30 frames with a fade of 5 hold a loop of 0 at most, not of 26"),
    ],
)
def test_too_few_frames(frames, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        loop.find([np.zeros((frames, 4, 3))], **arguments)
