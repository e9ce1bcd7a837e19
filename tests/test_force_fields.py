"""Force fields without Blender: what moves between two frames, what is computed together, and what is not finite.

That each does what it does in Blender is tested in Blender.
"""

import math

import numpy as np
import pytest

from pbd_addon.air.field import KINDS, Field, Outside
from pbd_addon.air.field_formulas import NOISE_RMS, fade, wave
from pbd_addon.air.force_fields import FieldForces
from pbd_addon.air.lattice_noise import LatticeNoise

UP = (0.0, 0.0, 1.0)
HERE = (0.0, 0.0, 0.0)


def some(count=20, seed=1):
    random = np.random.default_rng(seed)
    return random.uniform(-1.0, 1.0, (count, 3)), random.uniform(-1.0, 1.0, (count, 3))


def acting(*fields, weights=None, seconds=1.0, outside=Outside()):  # noqa: B008
    return FieldForces(fields, fields, [1.0] * len(fields) if weights is None else weights, seconds, outside)


def perlin(points):
    """Noise near lattice points with gradients of a made-up table, as Blender would answer."""
    cells = np.rint(points)
    table = np.random.default_rng(7).integers(-1, 2, (256, 3))
    at = (cells @ (1, 57, 113)).astype(int) % 256
    return ((points - cells) * table[at]).sum(axis=1)


def test_a_field_moves_and_grows_during_a_frame():
    x, v = some()
    before = Field("FORCE", HERE, UP, strength=2.0, power=1.0)
    after = Field("FORCE", (0.4, 0.0, 0.2), UP, strength=6.0, power=1.0)
    force = FieldForces([before], [after], [1.0], 0.04)
    force(x, v, 3.0)
    middle = Field("FORCE", (0.2, 0.0, 0.1), UP, strength=4.0, power=1.0)
    assert force(x, v, 3.02) == pytest.approx(acting(middle)(x, v, 0.0), rel=1e-12)
    assert force(x, v, 3.04) == pytest.approx(acting(after)(x, v, 0.0), rel=1e-12)


def test_a_field_turns_during_a_frame():
    x, v = some()
    force = FieldForces([Field("WIND", HERE, UP)], [Field("WIND", HERE, (1.0, 0.0, 0.0))], [1.0], 1.0)
    force(x, v, 0.0)
    assert force(x, v, 0.5) == pytest.approx(np.tile([math.sqrt(0.5), 0.0, math.sqrt(0.5)], (20, 1)))


@pytest.mark.parametrize("kind", KINDS)
def test_fields_add_up_whatever_is_computed_together(kind):
    x, v = some()
    random = np.random.default_rng(3)
    outside = Outside(
        turbulence=lambda at, size: np.sin(at) * (size or 1.0),
        texture=lambda _name, at: (np.cos(np.c_[at, at[:, :1]]), True),
    )
    fields = [
        Field(kind, tuple(random.uniform(-1, 1, 3)), UP, strength=s, flow=0.1 * s, power=s % 3, size=0.2 * s, uid=s)
        for s in range(1, 100)
    ]
    together = acting(*fields, outside=outside)(x, v, 0.0)
    assert together == pytest.approx(sum(acting(one, outside=outside)(x, v, 0.0) for one in fields), rel=1e-9)
    assert together.any()


def test_weights_may_differ_between_particles():
    x, v = some()
    weights = np.linspace(0.0, 1.0, len(x))
    force = acting(Field("FORCE", HERE, UP), weights=[weights])(x, v, 0.0)
    assert force == pytest.approx(weights[:, None] * acting(Field("FORCE", HERE, UP))(x, v, 0.0))


def test_what_does_not_reach_does_not_brake():
    """Damping and the drag of a vortex have no falloff, and end with it all the same, as in Blender."""
    x, v = some()
    for kind in ("HARMONIC", "VORTEX"):
        assert not acting(Field(kind, (9.0, 0.0, 0.0), UP, most=1.0))(x, v, 0.0).any()


def test_nothing_is_divided_by_zero():
    v = np.ones((1, 3))
    for kind in KINDS:
        for shape in ("POINT", "PLANE", "LINE"):
            for falloff in ("SPHERE", "TUBE", "CONE"):
                one = Field(kind, HERE, UP, shape, falloff, gravitation=True, rest_length=1.0, power=2.0)
                assert np.isfinite(acting(one)(np.zeros((1, 3)), v, 0.0)).all(), (kind, shape, falloff)


def test_falloff():
    limits = np.array([2.0]), np.array([1.0]), np.array([4.0])
    assert fade(np.array([0.0, 1.0, 2.0, 4.0, 4.1]), *limits).tolist() == [1.0, 1.0, 0.25, 0.0625, 0.0]


def test_noise_of_a_field_is_smooth_and_as_strong_as_blenders():
    t = np.linspace(0.0, 200.0, 20_001)
    moved = np.array([wave(5, at) for at in t])
    assert np.sqrt((moved**2).mean()) == pytest.approx(NOISE_RMS, rel=0.05)
    assert np.abs(np.diff(moved)).max() < 2.0 * math.pi * 4.0 * 0.01 * math.sqrt(16.0) * NOISE_RMS


def test_many_pairs_are_computed_once_a_frame():
    x, v = some(2000)
    fields = [Field("FORCE", (0.1 * at, 0.0, 0.0), UP, power=2.0) for at in range(200)]
    force = acting(*fields)
    first = force(x, v, 0.0)
    assert np.array_equal(force(x + 0.01, v, 0.5), first)


def test_noise_asks_for_each_lattice_point_once():
    asked = []

    def ask(points):
        asked.append(len(points))
        return perlin(points)

    noise, x = LatticeNoise(ask), 3.0 * some(500)[0]
    found = noise.vectors(x, 0.5)
    assert noise.vectors(x, 0.5) == pytest.approx(found) and found.shape == x.shape
    told = len(asked)
    noise.vectors(x[:100], 0.5)
    assert len(asked) == told


def test_noise_is_smooth_and_vanishes_at_lattice_points():
    noise = LatticeNoise(perlin)
    points = np.array([[3.0, -2.0, 7.0], [300.0, 0.0, -1.0]])
    assert noise.noise(points) == pytest.approx([0.0, 0.0])
    along = np.c_[np.linspace(-2.0, 2.0, 4001), np.full(4001, 0.3), np.full(4001, -0.7)]
    steps = np.diff(noise.noise(along))
    assert np.abs(steps).max() < 0.005 and np.abs(np.diff(steps)).max() < 2e-5


def test_turbulence_of_no_size_counts_as_one_meter():
    noise, x = LatticeNoise(perlin), some()[0]
    assert noise.vectors(x, 0.0) == pytest.approx(noise.vectors(x, 1.0))
