"""The rows of the benchmark of bodies in small, and what they are made of: a figure, a pattern, a mesh of a panel."""

import json

import numpy as np
import pytest

from benchmarks.bodies import figure, pattern, report, rows, shared
from benchmarks.contact_measures import crossing_pairs
from benchmarks.truth.check import Check
from pbd_addon import Body, Collider
from pbd_addon.io import sewing_pattern
from pbd_addon.meshes import panels

LONG = {"skirt", "skirt_open", "layers", "sword", "ball20_100", "ball50_40", "ball50_100"}
PHYSICAL = ("crossings of cloth", "crossings with colliders, worst", "largest strain", "frames that were not")


@pytest.mark.newest
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in rows.ROWS])
def test_a_row_in_small_crosses_nothing(name):
    """Without the bars on time, which depend on the machine, and without what a few frames cannot lead out."""
    pytest.importorskip("numba")
    checks, seen = rows.play(name, "numba", own=True, small=True)
    found = [check for check in checks if check.figure.startswith(PHYSICAL)]
    assert [check for check in found if not check.holds] == []
    assert len(seen.cpu) == len(seen.crossings) == rows.ROWS[name].small[1]
    assert len(found) == 3


def test_the_figure_is_closed_and_crosses_itself_at_armpits_and_hips():
    x, triangles, bone = figure.figure()
    assert Collider(x, triangles).closed
    standing = figure.pose(swing=0.0).place(x, bone)
    edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    edge, face = crossing_pairs(standing, triangles, edges).T
    crossed = {
        tuple(sorted((figure.BONES[a].name, figure.BONES[b].name)))
        for a, b in zip(bone[edges[edge, 0]], bone[triangles[face, 0]])
    }
    assert {("torso", "upper arm l"), ("torso", "upper arm r"), ("thigh l", "thigh r")} <= crossed
    corners = x[triangles]
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert volume > 0.03  # faces look out


def test_the_open_figure_is_cut_where_the_closed_one_has_a_meridian():
    closed, open_ = figure.figure(True)[0], figure.figure(False)
    assert not Collider(*open_[:2], join_borders=False).closed
    places = np.unique(np.round(open_[0], 9), axis=0)
    assert np.allclose(places, np.unique(np.round(closed, 9), axis=0))


def test_a_step_takes_a_second_and_bones_keep_their_length():
    x, _, bone = figure.figure()
    first, later = (figure.pose(2.0 * np.pi * frame / figure.STEP).place(x, bone) for frame in (3, 3 + figure.STEP))
    assert np.allclose(first, later)
    for number in range(len(figure.BONES)):
        some = x[bone == number]
        moved = first[bone == number]
        assert np.allclose(np.linalg.norm(some - some[0], axis=1), np.linalg.norm(moved - moved[0], axis=1))
    raised = figure.pose(swing=0.0, raised=1.0).place(x, bone)
    hand = [figure.BONES[b].name == "forearm l" for b in bone]
    assert raised[hand, 0].min() > x[hand, 0].max()
    assert raised[hand, 2].min() > x[hand, 2].min() + 0.1


def test_panels_are_filled_with_even_delaunay_triangles():
    outline = np.array([[0.0, 0.0], [0.3, 0.0], [0.3, 0.1], [0.12, 0.1], [0.12, 0.4], [0.0, 0.4]])  # an L
    fine = np.concatenate([np.linspace(a, b, 12)[:-1] for a, b in zip(outline, np.roll(outline, -1, axis=0))])
    points, triangles = panels.fill(fine, 0.02, pattern.delaunay)
    a, b, c = points[triangles].transpose(1, 0, 2)
    areas = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    assert areas.min() > 0.0
    assert areas.sum() == pytest.approx(0.3 * 0.1 + 0.12 * 0.3)
    assert len(np.unique(triangles)) == len(points)
    circles = pattern._circles(points, pattern.delaunay(points))
    near = np.linalg.norm(points[:, None] - circles[:, :2], axis=2)
    assert (near > np.sqrt(circles[:, 2]) * (1.0 - 1e-6)).all()


def test_both_edges_of_a_stitch_have_as_many_vertices_and_meet_without_twist():
    sewn = pattern.sew(figure.shirt(), 0.03)
    body = Body(sewn.vertices, sewn.triangles, rest_vertices=np.pad(sewn.flat, ((0, 0), (0, 1))), edges=sewn.seams)
    assert len(body.seams) == len(sewn.seams) > 100
    assert len(body.mesh.boundary_loops) == 6  # as many as panels
    assert not body.notes
    gaps = np.linalg.norm(sewn.vertices[sewn.seams[:, 0]] - sewn.vertices[sewn.seams[:, 1]], axis=1)
    assert gaps.max() < 0.55  # a twisted side seam would span the panel
    # Each edge of a stitch is as long as the other, within the ease of a sleeve.
    shirt = sewing_pattern.of_specification(figure.shirt())
    for one, other, _turned in shirt.stitches:
        lengths = [panels.length(shirt.panels[panel].sides[side]) for panel, side in (one, other)]
        assert lengths[0] == pytest.approx(lengths[1], rel=0.15)


def test_the_published_shirt_is_sewn_in_pairs_around_the_published_body():
    path, body = (shared.find(name) for name in ("shirt_mean_specification.json", "mean_all.obj"))
    if not path or not body:
        pytest.skip("the files of others are not here")
    sewn = pattern.sew(json.loads(path.read_text(encoding="utf-8")), 0.0205)
    assert len(sewn.seams) == 181
    x, triangles = shared.read_obj(body)
    assert (len(x), len(triangles)) == (23752, 47500)
    raised = rows.with_arms_raised(x, 0.7)
    moved = np.linalg.norm(raised - x, axis=1)
    assert moved[np.abs(x[:, 0]) > 0.3].min() > 0.05
    assert moved[(np.abs(x[:, 0]) < 0.08) | (x[:, 2] < 0.85)].max() < 1e-9
    assert raised[np.argmax(x[:, 0]), 2] > x[np.argmax(x[:, 0]), 2] + 0.3


def test_a_folder_can_be_named_for_the_files_of_others(tmp_path, monkeypatch):
    monkeypatch.setenv(shared.FOLDER, str(tmp_path))
    assert shared.find("cape.npz") is None
    (tmp_path / "cape.npz").write_bytes(b"")
    assert shared.find("cape.npz") == tmp_path / "cape.npz"


def test_the_page_has_a_row_for_each_run_with_value_and_bar():
    checks = [Check("cape", "mean of a frame [ms]", 240.0, 120.0), Check("cape", "worst frame [ms]", 300.0, 450.0)]
    run = {"checks": [check._asdict() for check in checks], "load": 2.0, "cpu": [0.24]}
    runs = {
        ("cape", "numba"): run,
        ("cape_open", "numba"): {**run, "cpu": [0.12]},
        ("leaves", "numba"): {"trouble": "x"},
    }
    text = report.of_rows(runs, {"cape": {"cpu": [0.6], "crossings": [3], "hits": [4]}})
    line = next(line for line in text.splitlines() if line.startswith("| cape  "))
    for part in ("**240** ≤ 120", "300 ≤ 450", "600, 3 + 4"):
        assert part in line
    assert "100 cloths of 196 vertices, apart, Numba: x" in text
    (ratio,) = report.ratios(runs)
    assert (ratio.value, ratio.holds) == (pytest.approx(2.0), False)
    fast = report.against_blender("drape", [("ours", 0.1), ("Blender's Cloth", 0.9), ("Blender's Cloth", 0.8)], 0.2)
    assert fast[0].value == pytest.approx(0.125)
