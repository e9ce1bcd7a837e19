"""Coloring: inside of a color no two constraints share a particle, or a whole-array update would lose corrections."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid, icosphere
from pbd_addon import Body
from pbd_addon.arrays.coloring import color
from pbd_addon.constraints.base import laid_out, sort_rows
from pbd_addon.kernels import load


def rows_of(scene: str) -> tuple[np.ndarray, int]:
    if scene == "random":
        rng = np.random.default_rng(5)
        return np.array([rng.choice(40, 4, replace=False) for _ in range(300)]), 40
    vertices, faces = icosphere(2, 1.0) if scene.startswith("sphere") else grid(9, 7, 1.0, 1.0)
    mesh = Body(vertices, faces).mesh
    return (mesh.hinges if scene.endswith("hinges") else mesh.edges), len(vertices)


@pytest.mark.parametrize("scene", ["grid edges", "grid hinges", "sphere edges", "sphere hinges", "random"])
def test_no_color_has_a_particle_twice(scene):
    """All particles of the rows of one color differ."""
    rows, n = rows_of(scene)
    order, starts = color(rows, n)
    for start, stop in zip(starts[:-1], starts[1:]):
        particles = rows[order[start:stop]].ravel()
        assert len(particles) > 0
        assert len(np.unique(particles)) == len(particles)


@pytest.mark.parametrize("scene", ["grid edges", "sphere hinges", "random"])
def test_every_row_is_in_one_color(scene):
    """The order is a permutation and the colors cover it."""
    rows, n = rows_of(scene)
    order, starts = color(rows, n)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert starts[0] == 0
    assert starts[-1] == len(rows)


def test_few_colors():
    """First fit needs at most 2 (valence - 1) + 1 colors for edges; on a grid, whose valence is 4, not over 7."""
    rows, n = rows_of("grid edges")
    assert len(color(rows, n)[1]) - 1 <= 7


def test_no_rows_have_no_color():
    """Nothing to color is no error."""
    order, starts = color(np.zeros((0, 2), int), 3)
    assert len(order) == 0
    assert starts.tolist() == [0]


def test_rows_between_pins_are_left_out():
    """A constraint of which no particle can move is not projected; all others are, each once."""
    rows = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    sorted_rows = sort_rows(rows, np.array([0, 1, 2, 3]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert sorted(sorted_rows.order.tolist()) == [1, 2, 3]
    np.testing.assert_array_equal(sorted_rows.indices.T, rows[sorted_rows.order])
    np.testing.assert_array_equal(sorted_rows.body, sorted_rows.order)


def test_layouts_lead_to_the_particles_of_each_wide_color():
    """Following them from color to color, the rows' particles come first, and at the end everyone is known again."""
    random = np.random.default_rng(1)
    rows = np.stack([random.permutation(60)[:2] for _ in range(150)])
    ordered = laid_out(sort_rows(rows, np.zeros(150, int), np.ones(60)), load("numpy"))
    wide = len(ordered.layouts) - 1
    assert 1 < wide < len(ordered.starts) - 1
    present = np.arange(60)
    for layout, start, stop in zip(ordered.layouts[:-1], ordered.starts, ordered.starts[1:]):
        present = present[layout]
        np.testing.assert_array_equal(present[: 2 * (stop - start)], ordered.indices[:, start:stop].ravel())
    np.testing.assert_array_equal(present, ordered.layouts[-1])
