"""What the solver has left of each kind at the end of a frame is told, asks for substeps, and comes with advice."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import PRESETS, Body, Material, Plane, Simulation
from pbd_addon.constraints import Constraints
from pbd_addon.constraints.base import Residual, residual_of
from pbd_addon.frames.report import MOST_STEPS, advise
from pbd_addon.kernels import available
from pbd_addon.model.model import REASONS
from pbd_addon.stepping.adaptive import ACCEPTED_RESIDUAL, factor

DT = 1 / 24
FAST = available()[-1]


class Kind(Constraints):
    """A kind of which nothing counts but its words and figures."""

    def __init__(self, cause: str = "bend", tolerance: float = 0.02, order: float = 0.0) -> None:
        self.name = self.cause = cause
        self.tolerance, self.order = tolerance, order


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
    assert residual_of(0.9 * bent, bent) == pytest.approx((0.9, 0.27, 0.0))
    assert residual_of(0.0 * bent, bent) == (0.0, 0.0, 0.0)
    assert residual_of(0.0 * bent, 0.0 * bent) == (0.0, 0.0, 0.0)
    assert residual_of(bent[:0], bent[:0]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("order", [0.0, 1.0])
def test_what_changes_quickly_may_be_late(order):
    """An error asks for more substeps while the deformation hardly changes, and for none if it is a tenth of that."""
    kind = Kind(order=order)
    assert factor(kind, Residual(0.5, 0.04, 0.01)) == factor(kind, Residual(0.5, 0.04)) > 1.5
    assert factor(kind, Residual(0.5, 0.04, 0.4)) < 1.0


def test_more_passes_leave_less():
    """Shear of cotton at 4 cm: most is short after one pass, and less than half of that after ten."""
    one, ten = (askew(iterations).reports[24].residuals["shear"] for iterations in (1, 10))
    assert one > 0.5
    assert ten < 0.5 * one


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


@pytest.mark.parametrize("short", [0.3, 0.7, 0.9])
def test_the_advice_would_do(short):
    """A lone row is c h² / (1 + c h²) short: with the steps that are told, it is 10 % short at most."""
    found = Residual(short, 10.0)
    advice = advise([(Kind(), found)], 20)
    odds = short / (1.0 - short) * (20 / advice.substeps) ** 2
    assert odds / (1.0 + odds) <= ACCEPTED_RESIDUAL + 1e-9
    assert advice.substeps - 20 * factor(Kind(), found) < 5.0
    softened = short / (1.0 - short) * advice.softer
    assert softened / (1.0 + softened) == pytest.approx(ACCEPTED_RESIDUAL)


def test_what_does_not_show_is_not_told():
    """Neither a small error nor a small share; the worst of what shows is."""
    kind, other = Kind(), Kind("shear", 0.03, 1.0)
    assert advise([(kind, Residual(0.9, 0.01))], 20) is None
    assert advise([(kind, Residual(0.15, 0.5))], 20) is None
    assert advise([], 20) is None
    assert advise([(kind, Residual(0.5, 0.5)), (other, Residual(0.8, 0.5))], 20).kind == "shear"


def test_what_no_steps_would_mend_is_told_with_a_stiffness():
    """0 steps where more than 200 were needed, and a factor for the stiffness."""
    advice = advise([(Kind(), Residual(1.0 - 1e-7, 1.0))], 20)
    assert advice.substeps == 0
    assert 0.0 < advice.softer < 1e-6
    assert advise([(Kind(), Residual(0.9, 1.0))], 20).substeps <= MOST_STEPS


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
    assert max(bending, default=0.0) < 0.2 or report.advice.kind == "bend"


def test_automatic_sees_shear_and_bend():
    """It takes no fewer steps than keep bending, where stretch alone would take a quarter and lose a fifth of it."""
    reports = list(askew(automatic=True, frames=72).reports.values())
    assert {report.reason for report in reports} >= {"motion", "shear"}
    assert np.mean([report.substeps for report in reports[-24:]]) > 6
    assert np.mean([report.residuals["isometric bend"] for report in reports[-24:]]) < 0.1


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
