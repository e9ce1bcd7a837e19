"""The frame cache: what was simulated is read, never stepped again, and can be gone on from."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, FrameInputs, Material, Plane, Simulation

DT = 1 / 24


class Scene:
    """A cloth whose pins move with the frame, and a record of the frames that were asked for."""

    def __init__(self, first: int = 1) -> None:
        self.body = Body(*grid(4, 4, 1.0, 1.0), Material(), pins=[0, 4])
        self.simulation = Simulation([self.body], substeps=5)
        self.simulation.begin(first)
        self.first, self.asked = first, []

    def inputs(self, frame: int) -> FrameInputs:
        self.asked.append(frame)
        targets = self.body.vertices[self.body.pin_ids] + [0.02 * (frame - self.first), 0.0, 0.0]
        return FrameInputs(pin_targets={self.body: targets})

    def go(self, frame: int):
        return self.simulation.advance_to(frame, self.inputs, DT)


def test_a_new_simulation_has_its_first_frame():
    """`begin` calls the present state a frame; it can be read, the next cannot."""
    scene = Scene(7)
    simulation = scene.simulation
    assert (simulation.frames.first, simulation.frames.last) == (7, 7)
    assert simulation.frames.holds(7)
    assert not simulation.frames.holds(6)
    assert not simulation.frames.holds(8)
    assert not simulation.frames.holds(7.5)
    np.testing.assert_allclose(simulation.cached_positions(scene.body, 7), scene.body.vertices, atol=1e-7)


def test_missing_frames_are_stepped_in_order():
    """A jump ahead steps through the gap, asking for the inputs of each frame once."""
    scene = Scene()
    report = scene.go(5)
    assert scene.asked == [2, 3, 4, 5]
    assert scene.simulation.frames.last == 5
    assert sorted(scene.simulation.reports) == [2, 3, 4, 5]
    assert report is scene.simulation.reports[5]
    assert all(scene.simulation.frames.holds(frame) for frame in (1, 2.5, 5))


def test_a_jump_gives_the_same_as_frame_by_frame():
    """Advancing to frame 6 at once equals advancing to 2, 3, ... 6, to the bit."""
    jump, walk = Scene(), Scene()
    jump.go(6)
    for frame in range(2, 7):
        walk.go(frame)
    np.testing.assert_array_equal(jump.simulation.positions(jump.body), walk.simulation.positions(walk.body))


def test_cached_frames_are_never_stepped():
    """Going to a frame that is there does nothing and asks for nothing."""
    scene = Scene()
    scene.go(5)
    before = [scene.simulation.cached_positions(scene.body, frame).copy() for frame in range(1, 6)]
    scene.asked.clear()
    for frame in (5, 3, 1, 4, 0):
        assert scene.go(frame) is None
    assert scene.asked == []
    assert scene.simulation.frames.last == 5
    for frame, positions in enumerate(before, 1):
        np.testing.assert_array_equal(scene.simulation.cached_positions(scene.body, frame), positions)


def test_positions_are_kept_in_single_precision():
    """A cached frame is the state to float32, as an array (n, 3) of its own."""
    scene = Scene()
    scene.go(4)
    cached = scene.simulation.cached_positions(scene.body, 4)
    assert cached.dtype == np.float32
    assert cached.shape == (25, 3)
    np.testing.assert_array_equal(cached, scene.simulation.positions(scene.body).astype(np.float32))
    cached[:] = 0.0
    assert scene.simulation.cached_positions(scene.body, 4).any()


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.9])
def test_subframes_lie_between_their_neighbours(share):
    """Between two frames, positions are interpolated linearly."""
    scene = Scene()
    scene.go(4)
    read = scene.simulation.cached_positions
    expected = (1.0 - share) * read(scene.body, 2).astype(float) + share * read(scene.body, 3)
    np.testing.assert_allclose(read(scene.body, 2 + share), expected, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("frame", [0, 0.5, 4.5, 5])
def test_frames_that_are_not_there_are_refused(frame):
    """One sentence says which frame is missing and which are there."""
    scene = Scene()
    scene.go(4)
    with pytest.raises(ValueError, match=rf"frame {frame:g} is not simulated; frames 1 to 4 are"):
        scene.simulation.cached_positions(scene.body, frame)


def test_truncating_forgets_and_goes_on_as_before():
    """After `truncate`, the later frames are gone, the state is that of the frame, and stepping again gives what came
    before, to float32 (1e-6 m)."""
    scene = Scene()
    scene.go(10)
    before = [scene.simulation.cached_positions(scene.body, frame).copy() for frame in range(1, 11)]
    scene.simulation.truncate(4)
    assert scene.simulation.frames.last == 4
    assert sorted(scene.simulation.reports) == [2, 3, 4]
    assert not scene.simulation.frames.holds(5)
    np.testing.assert_array_equal(scene.simulation.positions(scene.body).astype(np.float32), before[3])
    scene.asked.clear()
    scene.go(10)
    assert scene.asked == [5, 6, 7, 8, 9, 10]
    for frame, positions in enumerate(before, 1):
        np.testing.assert_allclose(scene.simulation.cached_positions(scene.body, frame), positions, atol=2e-6)


def test_truncating_takes_pins_and_planes_back():
    """The pins go on from where they stood at the frame, not from where they got to later; so do planes."""
    body = Body(*grid(2, 2, 1.0, 1.0), Material(), pins=[0])
    floor = Plane((0.0, 0.0, -5.0))
    simulation = Simulation([body], [floor], substeps=4)

    def inputs(frame: int) -> FrameInputs:
        return FrameInputs(
            {body: body.vertices[:1] + np.array([0.0, 0.1 * frame, 0.0])}, {floor: ((0, 0, -5 - frame), (0, 0, 1))}
        )

    simulation.advance_to(6, inputs, DT)
    simulation.truncate(2)
    simulation.advance_to(3, inputs, DT)
    np.testing.assert_allclose(simulation.velocities(body)[0], [0.0, 2.4, 0.0], rtol=1e-5, atol=1e-5)
    (plane,) = (constraints for constraints in simulation.constraints if constraints.name == "plane")
    np.testing.assert_allclose(plane.path[0][0], [0.0, 0.0, -7.0])
    np.testing.assert_allclose(plane.point, [0.0, 0.0, -8.0])


def test_truncating_at_or_after_the_end_changes_nothing():
    """There is nothing to forget, and no digit is lost."""
    scene = Scene()
    scene.go(4)
    exact = scene.simulation.positions(scene.body).copy()
    scene.simulation.truncate(4)
    scene.simulation.truncate(9)
    assert scene.simulation.frames.last == 4
    np.testing.assert_array_equal(scene.simulation.positions(scene.body), exact)


def test_truncating_before_the_start_does_not_break_the_cache():
    """A frame before the first cannot be gone back to: the first frame stays."""
    scene = Scene(3)
    scene.go(5)
    with contextlib.suppress(ValueError):
        scene.simulation.truncate(1)
    assert scene.simulation.frames.first == 3
    assert scene.simulation.frames.last >= 3
    assert np.isfinite(scene.simulation.cached_positions(scene.body, 3)).all()


def test_the_cache_grows_by_24_bytes_per_vertex_and_frame():
    """Positions and velocities in float32, and the pins' targets."""
    scene = Scene()
    scene.go(3)
    before = scene.simulation.frames.nbytes
    scene.go(4)
    grown = scene.simulation.frames.nbytes - before
    assert 24 * 25 <= grown <= 24 * 25 + 200


def test_all_states_are_exact_until_a_store_has_them():
    """Then only the first and the last, from which the simulation goes on to the bit; others are rounded to float32."""
    scene, exact = Scene(), {}
    frames = scene.simulation.frames
    frames.keeps_all = True
    for frame in range(2, 6):
        scene.go(frame)
        exact[frame] = scene.simulation.positions(scene.body).T.copy()
    for frame, x in exact.items():
        np.testing.assert_array_equal(frames.state(frame).x, x)
    frames.forget_exact(3)
    assert [bool((frames.state(frame).x == x).all()) for frame, x in exact.items()] == [False, False, True, True]
    np.testing.assert_array_equal(frames.state(3).x, exact[3].astype(np.float32))
    scene.simulation.truncate(1)
    scene.go(5)
    np.testing.assert_array_equal(frames.state(5).x, exact[5])


def test_reset_and_begin_empty_the_cache():
    """`reset` goes back to the first frame, `begin` calls it by another number; both forget the rest."""
    scene = Scene(5)
    scene.go(8)
    scene.simulation.reset()
    assert (scene.simulation.frames.first, scene.simulation.frames.last) == (5, 5)
    assert scene.simulation.reports == {}
    np.testing.assert_array_equal(scene.simulation.positions(scene.body), scene.body.vertices)
    scene.go(7)
    scene.simulation.begin(100)
    assert (scene.simulation.frames.first, scene.simulation.frames.last) == (100, 100)
    np.testing.assert_array_equal(scene.simulation.velocities(scene.body), 0.0)


def test_frames_may_be_negative():
    """A timeline may begin before 0."""
    scene = Scene(-3)
    scene.go(0)
    assert scene.asked == [-2, -1, 0]
    assert scene.simulation.frames.holds(-2.5)
    assert not scene.simulation.frames.holds(-3.5)
