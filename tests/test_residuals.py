"""What the solver has left of each kind at the end of a frame is told, asks for substeps, and comes with advice."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.inside import model_of
from helpers.meshes import fold, grid
from pbd_addon import PRESETS, Body, Material, Plane, Simulation
from pbd_addon.constraints import Constraints
from pbd_addon.constraints.base import Residual, residual_of, sampled
from pbd_addon.frames.report import ADVISED_SHARE, MOST_STEPS, advise
from pbd_addon.kernels import available
from pbd_addon.model.model import REASONS
from pbd_addon.parts import rounds
from pbd_addon.stepping.adaptive import BLURRED_SHARE, POWER, growth, shape_errors

DT = 1 / 24
FAST = available()[-1]


class Kind(Constraints):
    """A kind of which nothing counts but its words and figures: shapes are off by its errors."""

    def __init__(self, cause: str = "bend") -> None:
        self.name = self.cause = cause

    def shape_error(self, residual: Residual) -> float:
        return residual.error


def askew(iterations: int = 1, automatic: bool = False, frames: int = 24) -> Simulation:
    """A metre of cotton that swings down from the level on two corners, pulled askew."""
    body = Body(*grid(24, 24, 1.0, 1.0), PRESETS["Cotton"], pins=[0, 24])
    simulation = Simulation([body], iterations=iterations, automatic=automatic, self_collision=False, kernels=FAST)
    for _ in range(frames):
        simulation.step(DT)
    return simulation


def test_a_share_is_what_no_force_stands_for():
    """Rows with a tenth of their stiffness are 90 % short, converged ones 0 %; without any deformation nothing is."""
    bent = np.full(50, 0.3)
    assert residual_of(0.9 * bent, bent)[:2] == pytest.approx((0.9, 0.27))
    assert residual_of(0.0 * bent, bent) == Residual()
    assert residual_of(0.0 * bent, 0.0 * bent) == Residual()
    assert residual_of(bent[:0], bent[:0]) == Residual()


def test_what_changes_quickly_may_be_late():
    """An error counts in full while the deformation hardly changes, and not at all if it is a fifth of the change."""
    errors = shape_errors([(Kind(), Residual(0.5, 0.04, change)) for change in (0.0, 0.1, 0.04 / BLURRED_SHARE, 1.0)])
    assert errors == pytest.approx([0.04, 0.02, 0.0, 0.0])


def test_shear_counts_by_how_sharp_folds_are():
    """As measured on drapes: of the same residual, one of 20 mm makes twice of what one of 10 mm does, 6 beside 3.3."""
    kind = model_of(askew(frames=1)).shear
    errors = [kind.shape_error(Residual(0.5, 0.01, 0.0, folded)) for folded in (0.0, 0.3, 0.6)]
    assert errors == pytest.approx([0.033, 0.033, 0.06])


def test_how_sharp_folds_are():
    """A roof of 40 degrees; cloth that is folded so at rest has none."""
    x = fold(40.0)
    for rest, angle in ((fold(0.0), 40.0), (x, 0.0)):
        model = model_of(Simulation([Body(x, [[0, 1, 2], [1, 0, 3]], rest_vertices=rest)]))
        assert model.folds.folded(x.T) == pytest.approx(np.radians(angle), abs=1e-9)


def test_steps_grow_with_the_error():
    assert growth(0.1, 0.05) == pytest.approx(2.0 ** (1.0 / POWER))
    assert growth(0.025, 0.05) < 1.0


def test_a_sample_follows_no_rhythm_of_the_rows():
    """What only rows at a border have is seen in the share that they are of all, whatever the length of a line is."""
    for line in range(20, 120):
        picked = sampled(2 * line * line)
        border = np.isin(np.arange(2 * line * line) % line, (0, line - 1))
        assert border[picked].mean() == pytest.approx(border.mean(), abs=0.05)
    assert sampled(300) == slice(None)


@pytest.mark.newest
def test_more_passes_leave_less():
    """Shear of cotton at 4 cm: most is short after one pass, and less than half of that after ten."""
    one, ten = (askew(iterations).reports[24].residuals["shear"] for iterations in (1, 10))
    assert one > 0.5
    assert ten < 0.5 * one


@pytest.mark.newest
def test_residuals_are_shares():
    """Of each elastic kind by name, between 0 and 1; soft cloth on its edges has converged."""
    vertices, quads = grid(8, 8, 1.0, 1.0)
    edge = np.flatnonzero(np.abs(vertices).max(axis=1) > 0.499)
    body = Body(vertices, quads, Material(stretch=100.0, compression=100.0, shear=20.0, drag=6.0), pins=edge)
    simulation = Simulation([body], kernels=FAST, self_collision=False)
    for _ in range(48):
        report = simulation.step(DT)
    assert set(report.residuals) == {"stretch", "shear", "isometric bend"}
    assert max(report.residuals.values()) < 0.1
    assert report.advice is None


@pytest.mark.parametrize("error", [0.06, 0.1, 0.25])
def test_the_advice_would_do(error):
    """An error grows with a substep's length at least: with the steps that are told it is the accepted one at most."""
    found, advice = advise([(Kind(), Residual(0.5, error))], 20, 0.05)
    assert found == error
    assert error * 20 / advice.substeps <= ADVISED_SHARE * 0.05 + 1e-9
    assert advice.substeps - 20 * error / (ADVISED_SHARE * 0.05) < 5.0


def test_what_is_accepted_is_not_told():
    """Errors add up, and the kind that has most of them is named."""
    kind, other = Kind(), Kind("shear")
    assert advise([(kind, Residual(0.9, 0.04))], 20, 0.05) == (0.04, None)
    assert advise([], 20, 0.05) == (0.0, None)
    error, advice = advise([(kind, Residual(0.5, 0.03)), (other, Residual(0.8, 0.04))], 20, 0.05)
    assert (error, advice.kind) == (pytest.approx(0.07), "shear")


def test_what_no_steps_would_mend_has_none():
    """0 steps where more than 200 were needed."""
    assert advise([(Kind(), Residual(1.0, 0.6))], 20, 0.05)[1].substeps == 0
    assert 0 < advise([(Kind(), Residual(0.9, 0.3))], 20, 0.05)[1].substeps <= MOST_STEPS


def test_steps_are_told_where_they_help():
    """Not for tension under pressure, which hardly falls with them, nor while seams pull; for shear they are."""
    for cause, steps in (("stretch", 0), ("volume", 0), ("shear", 70)):
        assert advise([(Kind(cause), Residual(0.5, 0.1))], 20, 0.05, inflated=True)[1] == (cause, steps)
    assert advise([(Kind("stretch"), Residual(0.5, 0.1))], 20, 0.05)[1] == ("stretch", 70)
    assert advise([(Kind("shear"), Residual(0.5, 0.1))], 20, 0.05, sewing=True)[1] == ("seams", 0)
    assert advise([(Kind("shear"), Residual(0.5, 0.04))], 20, 0.05, sewing=True)[1] is None


def test_seams_are_told_until_they_are_closed():
    """Two panels of 8 vertices a side, 5 cm apart, that close in half a second."""
    vertices, quads = grid(8, 8, 0.2, 0.2)
    rim = np.flatnonzero(np.abs(vertices[:, 0]) > 0.099)
    both, count = np.concatenate([vertices, vertices + np.array([0.0, 0.0, 0.05])]), len(vertices)
    faces = np.concatenate([np.array(quads)[:, ::-1], np.array(quads) + count])
    material = Material(**{**vars(PRESETS["Cotton"]), "sewing": True, "closing_time": 0.5})
    body = Body(both, faces, material, edges=np.column_stack([rim, rim + count]))
    simulation = Simulation(
        [body], gravity=(0.0, 0.0, 0.0), substeps=5, shape_error=0.005, kernels=FAST, self_collision=False
    )
    told = [simulation.step(DT).advice for _ in range(16)]
    seams = [frame for frame, one in enumerate(told) if one == ("seams", 0)]
    assert 3 < len(seams) < 8
    assert not any(one is not None and one.substeps for one in told[: max(seams) + 1])


@pytest.mark.newest
def test_plates_tell_what_stretch_undoes(monkeypatch):
    """Paper at 8 mm that hangs over an edge is undone in part: without rounds, less in shorter substeps."""
    monkeypatch.setattr(rounds, "MOST_UNDONE", np.inf)
    vertices, quads = grid(24, 6, 0.2, 0.05)
    pins = np.flatnonzero(np.abs(vertices[:, 0]) < 0.013)
    found = []
    for substeps in (20, 40):
        body = Body(vertices, quads, Material(**{**vars(PRESETS["Paper"]), "drag": 5.0, "bend": 5e-5}), pins=pins)
        simulation = Simulation([body], substeps=substeps, self_collision=False, kernels=FAST)
        found.append([simulation.step(DT) for _ in range(36)][-1])
    one, other = (report.residuals["plate bend"] for report in found)
    assert 0.01 < other < 0.7 * one
    assert found[1].shape_error < found[0].shape_error


def test_film_that_cannot_converge_runs_and_is_told():
    """A bend of 1 N m on 5 g/m² at 2 mm: no sound solver in sight, but a frame without NaN and a line that says so."""
    vertices, quads = grid(20, 10, 0.04, 0.02)
    vertices[:, 2] = 0.002 * np.sin(400.0 * vertices[:, 0])
    rest, _ = grid(20, 10, 0.04, 0.02)
    body = Body(vertices, quads, Material(density=0.005, bend=1.0, bend_model="DIHEDRAL"),
                pins=range(0, 231, 21), rest_vertices=rest)  # fmt: skip
    simulation = Simulation([body], self_collision=False, kernels=FAST)
    for _ in range(12):
        report = simulation.step(DT)
    assert np.isfinite(simulation.positions(body)).all()
    assert np.abs(simulation.velocities(body)).max() < 10.0
    bending = [short for name, short in report.residuals.items() if "bend" in name]
    assert max(bending, default=0.0) < 0.2 or report.advice is not None


@pytest.mark.newest
def test_automatic_sees_shear_and_bend():
    """It takes no fewer steps than keep bending, where stretch alone would take a quarter and lose a fifth of it."""
    reports = list(askew(automatic=True, frames=72).reports.values())
    assert {report.reason for report in reports} >= {"motion", "shear"}
    assert np.mean([report.substeps for report in reports[-24:]]) > 6
    assert np.mean([report.shape_error for report in reports[-24:]]) < 0.055


def test_the_reason_is_told():
    """One of the words that panels know: as set, or for soft cloth."""
    vertices, quads = grid(64, 2, 1.0, 2.0 / 64.0)
    soft = Body(vertices, quads, Material(stretch=100.0, shear=20.0), pins=[0])
    cotton = Body(*grid(4, 4, 1.0, 1.0), PRESETS["Cotton"])
    for body, reason in ((cotton, "settings"), (soft, "stretch")):
        assert Simulation([body], [Plane((0.0, 0.0, -2.0))], kernels=FAST).step(DT).reason == reason
    assert Simulation([cotton], automatic=True, kernels=FAST).step(DT).reason in REASONS


def test_pbd_has_no_residual():
    """Its numbers are no compliances: nothing is short of anything."""
    body = Body(*grid(4, 4, 1.0, 1.0), PRESETS["Cotton"], pins=[0])
    simulation = Simulation([body], method="PBD", kernels=FAST)
    report = simulation.step(DT)
    assert not any(report.residuals.values())
    assert report.advice is None
