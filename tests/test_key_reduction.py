"""Few keys for many frames: the promised error is held, and fewer keys than frames, or than plain components, do."""

import numpy as np
import pytest

from pbd_addon.io import key_reduction


def waves(frames=40, side=12, seed=3):
    """A sheet over which bumps run on ways of their own: (frames, side², 3) float32 [m]."""
    random = np.random.default_rng(seed)
    u, v = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))
    begins, ends = random.uniform(0, 1, (2, 5, 2))
    shapes = np.empty((frames, side * side, 3), np.float32)
    for frame in range(frames):
        time = frame / frames
        middles = begins + time * (ends - begins)
        height = sum(np.exp(-40.0 * ((u - a) ** 2 + (v - b) ** 2)) for a, b in middles)
        shapes[frame] = np.stack((u, v + 0.3 * time, 0.1 * height), axis=-1).reshape(-1, 3)
    return shapes


def off(shapes, found):
    """Largest distance of a vertex in any frame, from the arrays that are written, in the way Blender adds them up."""
    played = found.offset + np.einsum("fk,kni->fni", found.values, found.keys)
    return np.linalg.norm(played - shapes, axis=2).max()


@pytest.mark.parametrize("bound", [0.02, 0.005, 0.001, 1e-5])
def test_the_error_is_held_and_told(bound):
    shapes = waves()
    found = key_reduction.within(shapes, bound)
    assert off(shapes, found) <= bound
    assert found.error == pytest.approx(off(shapes, found), abs=1e-6)
    assert found.total == len(found.keys) + 1 == found.values.shape[1] + 1
    assert found.total <= len(shapes)
    assert [part.dtype for part in found[:3]] == [np.float32] * 3


def test_values_are_what_every_engine_can_play():
    found = key_reduction.within(waves(), 0.003)
    assert found.values.min() >= 0.0
    assert found.values.max() <= 1.0
    assert np.allclose(found.values.max(axis=0), 1.0)


@pytest.mark.newest
def test_a_finer_error_takes_more_keys():
    counts = [key_reduction.within(waves(), bound).total for bound in (0.03, 0.01, 0.003, 0.001)]
    assert counts == sorted(counts)
    assert 1 < counts[0] < counts[-1] < 40


def test_fewer_keys_than_plain_components():
    shapes = waves()
    bound = 0.004
    moves = (shapes - shapes.mean(axis=0)).reshape(len(shapes), -1).astype(float)
    left, size, right = np.linalg.svd(moves, full_matrices=False)
    errors = [
        np.linalg.norm((moves - (left[:, :k] * size[:k]) @ right[:k]).reshape(shapes.shape), axis=2).max()
        for k in range(len(shapes))
    ]
    plain = next(k for k, error in enumerate(errors) if error <= bound) + 1
    assert key_reduction.within(shapes, bound).total < plain


def test_by_count():
    shapes = waves()
    errors = []
    for count in (1, 4, 12, 40, 99):
        found = key_reduction.by_count(shapes, count)
        assert found.total == min(count, 40)
        assert found.error == pytest.approx(off(shapes, found), abs=1e-6)
        errors.append(found.error)
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 1e-6


def test_what_stands_still_takes_one_key():
    shapes = np.repeat(waves(1), 5, axis=0)
    found = key_reduction.within(shapes, 1e-4)
    assert found.total == 1
    assert off(shapes, found) < 1e-6


def test_one_frame():
    found = key_reduction.within(waves(1), 1e-4)
    assert found.total == 1
    assert found.values.shape == (1, 0)


def test_what_moves_along_one_line_takes_two_keys():
    rest = waves(1)[0]
    away = rest + np.float32(0.3)
    shapes = np.stack([rest + share * (away - rest) for share in np.linspace(0, 1, 9, dtype=np.float32)])
    assert key_reduction.within(shapes, 1e-5).total == 2


@pytest.mark.newest
def test_a_vertex_that_is_not_sampled_holds_the_error_too(monkeypatch):
    monkeypatch.setattr(key_reduction, "SAMPLED_VERTICES", 16)
    shapes = waves()
    shapes[20:23, 5] += np.float32(0.2)  # Vertex 5 of 144 is not among 16 evenly spaced ones.
    found = key_reduction.within(shapes, 0.01)
    assert off(shapes, found) <= 0.01
    assert found.total < 40


def test_it_is_repeatable():
    one, two = (key_reduction.within(waves(), 0.004) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one[:3], two[:3], strict=True))


def test_a_bound_that_cannot_be_held_is_refused():
    with pytest.raises(ValueError, match=r"an error of 1e-12 m is finer than 32-bit numbers"):
        key_reduction.within(waves(), 1e-12)


@pytest.mark.parametrize("shapes", [np.zeros((4, 3)), np.zeros((0, 5, 3)), np.zeros((4, 5, 2))])
def test_other_arrays_are_refused(shapes):
    with pytest.raises(ValueError, match="shapes must have shape"):
        key_reduction.within(shapes, 0.01)


def test_no_key_is_refused():
    with pytest.raises(ValueError, match="1 key at least, not 0"):
        key_reduction.by_count(waves(), 0)
