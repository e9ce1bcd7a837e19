"""The table of what the simulation says of each frame."""

import csv

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play

HEADER = (
    "frame,seconds,substeps,strain_mean,strain_p95,strain_max,kinetic_energy,potential_energy,"
    "contacts,self_contacts,crossings,inside,pierced"
)


def falling():
    """Two steps of cloth of 1 m by 0.6 m that falls."""
    obj = scenes.add_grid(density=0.5, drag=0.0, air_normal=0.0, air_tangent=0.0)
    obj.select_set(True)
    play([obj], 1, 7)
    return obj


def test_a_row_for_each_frame_that_was_stepped(tmp_path):
    falling()
    assert bpy.ops.object.pbd_export_metrics(filepath=str(tmp_path / "figures")) == {"FINISHED"}
    text = (tmp_path / "figures.csv").read_text(encoding="utf-8")
    assert text.splitlines()[0] == HEADER
    rows = list(csv.DictReader(text.splitlines()))
    assert [int(row["frame"]) for row in rows] == list(range(2, 8))
    last, mass = rows[-1], 0.5 * 0.6
    depth = scenes.fallen(6)
    # What falls freely trades height for speed: m g h of both, to what time steps of second order are off.
    assert float(last["potential_energy"]) == pytest.approx(-mass * 9.81 * depth, rel=1e-3)
    assert float(last["kinetic_energy"]) == pytest.approx(0.5 * mass * (9.81 * 6 / 24) ** 2, rel=1e-2)
    assert float(last["strain_max"]) < 1e-5 and last["crossings"] == "0"


def test_frames_that_do_not_hold_are_no_rows(tmp_path):
    obj = falling()
    go(4)
    obj.pbd.drag = 2.0
    go(5)
    assert bpy.ops.object.pbd_export_metrics(filepath=str(tmp_path / "figures.csv")) == {"FINISHED"}
    rows = list(csv.DictReader((tmp_path / "figures.csv").read_text(encoding="utf-8").splitlines()))
    assert [int(row["frame"]) for row in rows] == [2, 3, 4, 5]


def exported(path):
    assert bpy.ops.object.pbd_export_metrics(filepath=str(path)) == {"FINISHED"}
    return path.read_text(encoding="utf-8").splitlines()


def test_a_cache_on_disk_holds_the_figures(extension, tmp_path):
    """Opened again, the file says of each frame what it said before, and of one whose file lost it nothing."""
    bpy.context.scene.pbd.use_disk_cache = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "falling.blend"))
    falling()
    bpy.ops.wm.save_mainfile()
    before = exported(tmp_path / "before.csv")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "falling.blend"))
    go(9)
    after = exported(tmp_path / "after.csv")
    assert len(before) == 7 and after[:7] == before
    assert [row.split(",")[0] for row in after[7:]] == ["8", "9"]
    disk_format, errors = extension.bridge("timeline.disk_format"), extension.module("pbd_addon.io.frame_files")
    assert disk_format.read_report({}) is None
    for wrong in (np.zeros(3), np.full(12, np.nan), np.zeros(12, int)):
        with pytest.raises(errors.DamagedError, match="'report' cannot be"):
            disk_format.read_report({"report": wrong})


def test_refusals(tmp_path):
    obj = scenes.add_grid()
    obj.select_set(True)
    operator = bpy.ops.object.pbd_export_metrics
    with pytest.raises(RuntimeError, match="No frame was simulated since the file was opened: press Reset"):
        operator(filepath=str(tmp_path / "figures.csv"))
    play([obj], 1, 3)
    with pytest.raises(RuntimeError, match="Choose a file to export to"):
        operator(filepath="")
    with pytest.raises(RuntimeError, match="could not be written"):
        operator(filepath=str(tmp_path / "nowhere" / "figures.csv"))
    assert not list(tmp_path.iterdir())
