"""The benchmark in small: real processes, a contestant that fails in each way there is, and what the text says."""

import json
import math
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import bars, contact_report, contestants, cost, details, picture, report, run
from benchmarks.contact_race import ContactResult
from benchmarks.contestants import CLOTH, OURS, PEER, Contestant
from benchmarks.curtain import Curtain, Result
from benchmarks.processes import Processes, merged
from pbd_addon import kernels as backends

ROOT = Path(__file__).resolve().parents[1]

FAILING = """
import os, time
from benchmarks.contestants import LeftOut

class Crash:
    def __init__(self, curtain):
        os.abort()

class Raise:
    def __init__(self, curtain):
        raise ValueError("no such thing")

class Absent:
    def __init__(self, curtain):
        raise LeftOut("it is not installed")

class Hang:
    setup = 0.0
    def __init__(self, curtain):
        self.curtain = curtain
    def step(self, frame):
        time.sleep(0.2)
    def positions(self):
        return self.curtain.vertices
"""


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Contestants that fail, by the name of their class."""
    (tmp_path / "failing.py").write_text(FAILING, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    return lambda name: Contestant(name, "", f"failing:{name}", {})


def race(processes, who, frames=3, patience=60.0, rounds=1):
    job = {"task": "curtain", "scene": {"n": 8}, "frames": frames}
    return {contestant.solver: fields for contestant, fields, _ in processes.race(who, job, rounds, patience)}


@pytest.mark.slow
def test_who_fails_is_a_line_and_the_others_have_figures(failing):
    said = []
    processes = Processes(None, said.append)
    names = ["Crash", "Raise", "Absent", "Hang"]
    found = race(processes, [failing(name) for name in names], frames=4, patience=0.05)
    assert "crashed with exit code" in found["Crash"]["trouble"]
    assert found["Raise"]["trouble"] == "ValueError: no such thing"
    assert processes.left_out == {"Absent, ": "it is not installed"}
    assert found["Hang"]["trouble"].startswith("stopped after 1 of 4 frames")
    assert found["Hang"]["wall"] >= 0.2
    assert "Absent" not in found
    assert len(said) == 4


@pytest.mark.slow
def test_a_process_that_never_ends_is_stopped(failing):
    job = {"task": "curtain", "scene": {"n": 8}, "maker": "failing:Hang", "options": {}, "frames": 10**6}
    found = Processes(None, print).run({**job, "patience": 1e9}, limit=3.0)
    assert found == {"trouble": "stopped after 3 s"}


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("bpy"), reason="needs bpy")
def test_the_command_line_gives_rows_for_ours_and_blender(tmp_path):
    options = ["--only", "curtain", "--sizes", "8", "--frames", "3", "--rounds", "1", "--output", tmp_path]
    options += ["--solvers", OURS, CLOTH]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.run", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "curtain.json").read_text(encoding="utf-8"))
    rows = {(row["solver"], row["setting"]): row for row in results["curtain"]}
    for who in ((OURS, "NumPy"), (CLOTH, PEER)):
        assert rows[who]["trouble"] == ""
        assert rows[who]["frames"] == 3
        assert 0.0 < rows[who]["cpu"] < 10.0
        assert -0.2 < rows[who]["lowest"] < -0.02
    table = (tmp_path / "curtain.md").read_text(encoding="utf-8")
    assert "| 8 × 8   | ours, NumPy " in table
    assert (tmp_path / "curtain.svg").read_text(encoding="utf-8").startswith("<svg")


def test_runs_become_medians_and_a_failure_among_them_is_told():
    runs = [{"cpu": cpu, "frames": 50, "trouble": ""} for cpu in (3.0, 1.0, 2.0)]
    assert merged(runs) == {"cpu": 2.0, "frames": 50, "trouble": "", "runs": 3, "spread": 1.0}
    lost = merged([*runs[:1], {"trouble": "crashed"}])
    assert lost["cpu"] == 3.0
    assert lost["trouble"] == "in one of 2 runs: crashed"
    assert merged([{"trouble": "crashed"}]) == {"trouble": "crashed", "runs": 1}
    assert Result("8 × 8", 8, OURS, "NumPy", **merged([{"trouble": "crashed"}])).runs == 1
    times = [{"mean": 1.0, "median": 2.0, "p95": 3.0}, {"mean": 3.0, "median": 4.0, "p95": 5.0}]
    contact = ContactResult.of("fold", OURS, "NumPy", merged([{"cpu": t, "wall": t, "setup": math.nan} for t in times]))
    assert (contact.cpu.mean, contact.wall.p95, contact.runs) == (2.0, 4.0, 2)


@pytest.mark.slow
def test_each_round_begins_with_another_contestant(failing):
    said = []
    race(Processes(None, said.append), [failing("Hang"), Contestant("Hang", "2", "failing:Hang", {})], 1, rounds=2)
    assert [line.split(":")[1].strip() for line in said] == ["Hang,", "Hang, 2", "Hang, 2", "Hang,"]


def test_the_curtain_has_the_mass_and_edges_of_a_sheet():
    for unstructured in (False, True):
        sheet = Curtain.of_size(9, unstructured)
        corners = sheet.vertices[sheet.triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert (normals[:, 2] > 0.0).all()
        assert normals[:, 2].sum() / 2 == pytest.approx(1.0)
        assert sheet.shares.sum() == pytest.approx(1.0)
        assert sheet.shares @ sheet.vertices == pytest.approx(np.zeros(3), abs=2e-2 if unstructured else 1e-12)
        assert np.allclose(sheet.vertices[list(sheet.pins)], [[-0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
        assert not sheet.strain(sheet.vertices).any()
    assert len(Curtain.of_size(9).edges) == 2 * 9 * 8


@pytest.mark.newest
def test_each_kind_of_constraint_has_a_cost_with_each_backend(monkeypatch):
    monkeypatch.setattr(cost, "PATIENCE", 0.0)
    costs = details.costs(8, 1)
    kinds = {(kind["kind"], kind["kernels"]) for kind in costs["kinds"]}
    names = "stretch", "shear", "isometric bend", "attachment", "pairs", "volume", "plane"
    assert kinds >= {(name, kernels) for name in names for kernels in backends.available()}
    assert all(kind["seconds"] > 0.0 for kind in costs["kinds"] if kind["rows"])
    assert all(sum(frame.values()) > 0.0 for frame in costs["frames"].values())


def results():
    """Everybody at two sizes, Blender twice as slow as ours and three times as stretchy; one failed."""
    found = []
    for n in (32, 64):
        for who in contestants.of_the_curtain(n):
            cpu, strain = (0.01, 0.001) if who.solver == OURS else (0.02, 0.003)
            found.append(Result(f"{n} × {n}", n, who.solver, who.setting, 50, cpu, cpu, strain_mean=strain))
    return [*found, Result("200 × 200", 200, OURS, "NumPy", trouble="crashed with exit code -6")]


def test_the_report_states_ratios_and_failures():
    text = report.curtains(results())
    assert "\n200 × 200, ours, NumPy: crashed with exit code -6" in text
    small, _, lost = report.verdicts(results())
    assert small.startswith("At 32 × 32 a frame of ours takes 10.0 ms with Numba, 10.0 ms with NumPy, at 0.10 %")
    assert f"{CLOTH}, {PEER}: 2.0 times the time, 3.0 times the strain" in small
    assert lost == "At 200 × 200 ours has no figure."
    assert report.absent({"pyPBD, a": "no wheel", "pyPBD, b": "no wheel"}) == (
        "- Left out, pyPBD, a; pyPBD, b: no wheel."
    )


def test_the_readme_gets_a_table_between_its_markers(tmp_path, monkeypatch):
    text = run.README.read_text(encoding="utf-8")
    copy = tmp_path / "README.md"
    copy.write_text(text, encoding="utf-8")
    monkeypatch.setattr(run, "README", copy)
    begin, end = (marker.format("curtain") for marker in run.MARKERS)
    for _ in range(2):
        run.write_readme("curtain", report.readme(results(), {"Blender": "9.9", "Processor": "a fine one"}))
        written = copy.read_text(encoding="utf-8")
        before, inside, after = written.split(begin)[0], written.split(begin)[1].split(end)[0], written.split(end)[1]
        assert before == text.split(begin)[0]
        assert after == text.split(end)[1]
        assert "Blender 9.9, a fine one" in inside
        rows = [line for line in inside.splitlines() if line.startswith("| ")]
        assert 1 < len(rows) <= 5  # a head and up to four solvers


def test_the_contact_table_has_a_row_for_each_scene():
    """Blender's Cloth at its first setting, and a dash for what was not run."""
    fields = {"cpu": {"mean": 0.1, "median": 0.1, "p95": 0.1}, "crossings": 7}
    found = [
        ContactResult.of("drape", OURS, "Numba", fields),
        ContactResult.of("drape", CLOTH, contestants.LIGHT, fields | {"crossings": 9}),
        ContactResult.of("drape", CLOTH, f"{contestants.DEFAULT}, self distance 0.3 of an edge", fields),
        ContactResult.of("drape", CLOTH, f"{contestants.DEFAULT}, default self distance", fields | {"crossings": 9}),
        ContactResult.of("fold", OURS, "NumPy", fields | {"crossings": 0}),
    ]
    rows = [line.split("|")[1:-1] for line in contact_report.readme(found, {}).splitlines() if line.startswith("| ")]
    assert [[cell.strip() for cell in row] for row in rows[2:]] == [
        ["drape", "100", "–", "100", "7", "7"],
        ["fold", "–", "100", "–", "0", "–"],
    ]


def test_bars_are_shares_of_the_main_thread_of_blender():
    """Not of all its threads; what misses its bar is bold, what has none is left out."""
    ours = [Result("32 × 32", 32, OURS, name, cpu=cpu, load=3.0) for name, cpu in (("Numba", 0.004), ("NumPy", 0.01))]
    peer = Result("32 × 32", 32, CLOTH, PEER, cpu=0.9, main=0.024)
    large = Result(bars.LARGE, 400, OURS, "Numba", cpu=0.3, load=1.0)
    found = bars.of_curtains([*ours, peer, large, Result("9 × 9", 9, OURS, "Numba", cpu=1.0)])
    found.append(bars.of_many({"trouble": "crashed"}))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in bars.text(found).splitlines()[2:]]
    assert rows == [
        ["32 × 32", "Numba", "4.0", "24.0", "**1/6.0**", "1/12.0", "2.0", "3.0"],
        ["32 × 32", "NumPy", "10.0", "24.0", "1/2.4", "1/1.6", "15.0", "3.0"],
        ["400 × 400", "Numba", "300", "–", "–", "–", "500", "1.0"],
        [bars.MANY, "Numba", "–", "–", "**missed**", "–", "40.0", "–"],
    ]


def test_no_label_of_the_picture_covers_another():
    drawn = picture.draw(picture.curves(results()))
    names = [line for line in drawn.splitlines() if 'font-weight="bold"' in line and "Curtain" not in line]
    heights = sorted(float(line.split('y="')[1].split('"')[0]) for line in names)
    assert len(heights) == len(contestants.of_the_curtain(32))
    assert np.diff(heights).min() > picture.LABEL_HEIGHT - 0.11
    assert 0 < heights[0] and heights[-1] < picture.HEIGHT
