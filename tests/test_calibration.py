"""The calibration of fabrics: its targets, what it counts, and what its report says of what was not run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.calibration import measure, report
from benchmarks.truth.drapes import FOLDS, Drape, Hung, disc
from pbd_addon import Material
from pbd_addon.bodies.presets import FIGURES

FABRICS, SOURCES = measure.fabrics()


@pytest.mark.parametrize("fabric", FABRICS, ids=lambda fabric: fabric.name)
def test_every_target_has_a_source_and_a_material(fabric):
    assert isinstance(fabric.material, Material)
    assert bool(fabric.drape) == bool(fabric.source)
    assert {str(number) for number in fabric.source} <= set(SOURCES)
    assert not fabric.drape or 0.0 < fabric.drape[0] < fabric.drape[1] < 100.0


def test_every_fabric_among_the_presets_is_there():
    others = {"Rubber Sheet", "Paper"}
    sheets = {name for name, figures in FIGURES.items() if "pressure_mode" not in figures} - others
    assert sheets <= {fabric.name for fabric in FABRICS}


def test_a_tester_is_read_at_twice_the_bending_length():
    """Peirce 1930: at 41.5° what hangs over is twice the bending length."""
    weights, slopes = measure._peirce()
    assert np.interp(measure.SLOPE, slopes, weights) == pytest.approx(8.0, rel=0.02)
    assert measure.SLOPE == pytest.approx(math.tan(math.radians(41.5)))


@pytest.mark.parametrize("mesh", measure.MESHES.values())
def test_the_folds_of_a_start_are_counted(mesh):
    body = disc(Drape("Cotton", 0.015, mesh, 0.0), 0)
    assert measure.folds(Hung(0.0, 20, body, body.vertices)) == FOLDS


def test_a_report_keeps_what_was_measured_and_says_what_was_not():
    fabric = next(each for each in FABRICS if each.name == "Cotton")
    drapes = [measure.Draped(0.015, "quads", [56.0, 61.0], 6, 20.0)] * 4
    found = measure.Measured(fabric, drapes, np.eye(2), [], 12.0, 1.0)
    again = measure.Measured.of(fabric, found.row())
    assert again.drapes == drapes
    page = report.page([again], FABRICS, SOURCES, "numba")
    assert "0 of 4 are inside" in page and "**58** (5)" in page
    assert page.count("not run") == 4 * (len(FABRICS) - 1)
    assert "Not run: " in page
    assert report.picture([again]).count("<polygon") == 1
