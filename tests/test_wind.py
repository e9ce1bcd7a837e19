"""Gusts: how strong, free of sources, carried by the wind, repeated in a loop; and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation, Wind
from pbd_addon.air.surroundings import Surroundings
from pbd_addon.kernels import available, load, numpy as numpy_kernels
from pbd_addon.parts.air import AirOfFrame, Memory, build_surface
from pbd_addon.settings.solver_settings import AIR_DENSITY

KERNELS = pytest.mark.parametrize("kernels", [load(name) for name in available()], ids=available())
DT = 1 / 24


def gusts(wind: Wind, points: np.ndarray, kernels=numpy_kernels, lags: np.ndarray | float = 0.0) -> np.ndarray:
    waves = wind.waves
    return kernels.gusts(points, waves.vectors, waves.amplitudes, waves.phases - lags)


@KERNELS
@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize("size", [0.6, 1.5])
def test_gusts_are_equally_strong_along_each_axis(kernels, seed, size):
    """The root mean square over a box of many eddies is 1, to what a box that is not endless leaves."""
    points = np.random.default_rng(3).uniform(-20.0 * size, 20.0 * size, (3, 20_000))
    found = gusts(Wind((1.0, 0.0, 0.0), seed=seed, eddy_size=size), points, kernels)
    np.testing.assert_allclose(np.sqrt((found**2).mean(axis=1)), 1.0, atol=0.02)
    assert np.abs(found.mean(axis=1)).max() < 0.05


def test_nothing_comes_from_nowhere():
    """The divergence, from central differences, is rounding beside the gradients."""
    points, step = np.random.default_rng(4).uniform(-3.0, 3.0, (3, 500)), 1e-4
    gradients = np.zeros((3, 3, 500))
    for axis in range(3):
        shift = np.zeros((3, 1))
        shift[axis] = step
        wind = Wind((5.0, 1.0, 0.0), seed=2)
        gradients[axis] = (gusts(wind, points + shift) - gusts(wind, points - shift)) / (2.0 * step)
    divergence = np.einsum("iim->m", gradients)
    assert np.abs(divergence).max() < 1e-5 * np.abs(gradients).max()


def test_gusts_travel_with_the_wind():
    """After t seconds they are where the wind has carried them, unchanged."""
    wind, seconds = Wind((6.0, -2.0, 1.0), eddy_size=0.8), 0.7
    velocity = np.array(wind.velocity)
    points = np.random.default_rng(5).uniform(-2.0, 2.0, (3, 200))
    later = gusts(wind, points + seconds * velocity[:, None], lags=wind.frequencies(velocity) * seconds)
    np.testing.assert_allclose(later, gusts(wind, points), atol=1e-12)


def memory_after(winds: list[Wind]) -> Memory:
    """What the last of some frames with these winds at their ends leaves."""
    surface = build_surface([], [], [], np.zeros(0), np.zeros(0), AIR_DENSITY)
    memory = np.zeros(0)
    for wind in winds:
        memory = AirOfFrame(surface, Surroundings(wind=wind), memory, DT).memory()
    return Memory.of(memory)


@pytest.mark.parametrize("frames", [24, 100])
def test_a_loop_closes(frames):
    wind = Wind((7.0, 3.0, 0.5), loop_seconds=frames * DT)
    memory = memory_after([wind] * frames)
    assert memory.time == pytest.approx(frames * DT)
    turns = memory.lags / (2.0 * math.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)
    halfway = memory_after([wind] * (frames // 2)).lags / (2.0 * math.pi)
    assert np.abs(halfway - np.round(halfway)).max() > 0.4  # it is not a loop of half the length
    without = memory_after([Wind((7.0, 3.0, 0.5))] * frames).lags / (2.0 * math.pi)
    assert np.abs(without - np.round(without)).max() > 0.1


def test_gusts_do_not_jump_where_the_speed_is_keyed():
    """The way that they have travelled is the integral of the velocity, not the time times the present one."""
    speeds = np.linspace(0.0, 12.0, 13)[1:]
    memory = memory_after([Wind((speed, 0.0, 0.0)) for speed in speeds])
    between = 0.5 * (np.concatenate([speeds[:1], speeds[:-1]]) + speeds)
    way = np.array([DT * between.sum(), 0.0, 0.0])
    turns = (Wind((1.0, 0.0, 0.0)).waves.vectors.T @ way - memory.lags) / (2.0 * math.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)


def test_each_seed_has_its_own_gusts_and_the_same_ones_always():
    points = np.zeros((3, 1))
    first, again, other = (gusts(Wind((1.0, 0.0, 0.0), seed=seed), points) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert np.abs(first - other).max() > 0.05


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"velocity": (math.nan, 0.0, 0.0)}, r"Wind.velocity must be three finite numbers .*"),
        ({"velocity": (math.inf, 0.0, 0.0)}, r"Wind.velocity must be three finite numbers .*"),
        ({"velocity": (2000.0, 0.0, 0.0)}, r"Wind.velocity must be at most 1000 m/s, not 2000"),
        ({"velocity": 5.0}, r"Wind.velocity must be three finite numbers .*, not 5.0"),
        ({"turbulence": -0.1}, r"Wind.turbulence must be at least 0, not -0.1"),
        ({"turbulence": math.nan}, r"Wind.turbulence must be a finite number, not nan"),
        ({"eddy_size": 0.0}, r"Wind.eddy_size must be at least 0.001 m, not 0"),
        ({"seed": 1.5}, r"Wind.seed must be a whole number, not 1.5"),
        ({"loop_seconds": -1.0}, r"Wind.loop_seconds must be at least 0 s, not -1"),
    ],
)
def test_bad_wind_is_refused_in_one_sentence(settings, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Wind(**{"velocity": (1.0, 0.0, 0.0), **settings})


@pytest.mark.parametrize("kernels", available())
def test_it_goes_on_from_any_frame_with_the_same_bits(kernels):
    """Also while the wind changes: its last velocity and the way of its gusts are part of the state."""

    def make() -> tuple[Simulation, Body]:
        body = Body(*grid(8, 6, 0.8, 0.6), Material.preset("Silk"), pins=range(0, 63, 9))
        return Simulation([body], self_collision=False, kernels=kernels, substeps=8), body

    winds = [Wind((speed, 2.0, 0.0), eddy_size=0.5) for speed in (3.0, 3.0, 8.0, 12.0, 12.0, 5.0)]
    (one, body), states = make(), []
    for wind in winds:
        one.set_wind(wind)
        one.step(DT)
        states.append(one.frames.state(one.frames.last))
    other = make()[0]
    other.step(DT)
    other.restore(1, states[2])
    for wind, expected in zip(winds[3:], states[3:]):
        other.set_wind(wind)
        other.step(DT)
        assert np.array_equal(other.frames.state(other.frames.last).x, expected.x)
    one.truncate(3)
    for wind, expected in zip(winds[3:], states[3:]):
        one.set_wind(wind)
        one.step(DT)
        assert np.abs(one.positions(body) - expected.x.T).max() < 1e-4  # frames in the cache are float32
