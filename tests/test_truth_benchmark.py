"""What the benchmark of truth compares with: the elastica, shadows; and its table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.truth import drapes, rod
from benchmarks.truth.check import Check, table, timed
from helpers.meshes import grid


def test_the_elastica_is_a_beam_where_it_bends_little():
    """A tip sinks by load L⁴ / 8; half of a strip that buckles is a wave of a cosine of 2 √ε L / π."""
    assert rod.hanging(1.0, 0.01) == pytest.approx(0.01 / 8.0, rel=1e-4)
    assert rod.buckled(1.0, 1e-4)[:, 1].max() == pytest.approx(2.0 * math.sqrt(1e-4) / np.pi, rel=1e-3)


def test_a_loop_of_no_weight_scales_and_keeps_its_length():
    one, two = rod.pear(0.1, 0.0), rod.pear(0.2, 0.0)
    np.testing.assert_allclose(two, 2.0 * one, atol=1e-9)
    assert np.linalg.norm(np.diff(two, axis=0), axis=1).sum() == pytest.approx(0.1)
    assert abs(two[-1, 0]) < 1e-9
    heavy = rod.pear(0.2, 1e5)
    assert heavy[:, 0].max() < two[:, 0].max()
    assert heavy[-1, 1] < two[-1, 1]


def test_a_shadow_is_counted_once():
    """A level square covers its area, also if it is folded in half on itself, where it covers half."""
    x, quads = grid(10, 10, 0.2, 0.2)
    triangles = np.array([half for a, b, c, d in quads for half in ([a, b, c], [a, c, d])])
    assert drapes.shadow(x, triangles) == pytest.approx(0.04, rel=0.01)
    folded = np.column_stack([np.abs(x[:, 0]), x[:, 1], 0.01 * np.sign(x[:, 0])])
    assert drapes.shadow(folded, triangles) == pytest.approx(0.02, rel=0.01)


def test_the_table_has_value_bar_cost_and_load():
    checks = list(timed([Check("loop", "width [%]", -57.0, 5.0), Check("strip", "rise [%]", 1.0, 3.0)]))
    assert all(check.cpu >= 0.0 and check.load >= 0.0 for check in checks)
    lines = table([check._replace(cpu=1.25, load=3.0) for check in checks]).splitlines()
    assert lines[0] == "1 of 2 bars hold."
    assert "| loop | width [%] | **-57** | 5 | 1.2 | 3.0 |" in lines
    assert "CPU" not in table([Check("loop", "width [%]", -57.0, 5.0)])
