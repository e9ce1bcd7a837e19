"""The papers' figures in small: what docs/figures.md says of each holds. Larger forms: `make figures`.

Elsewhere: Müller et al. 2007, Fig. 1 and 9 in blender/test_samples.py; Fig. 3 in test_stretch_bend.py. What stiffness
depends on at rest: test_stiffness_iterations.py.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks.figures import characters, curves, folds, run, sections, sheets, springs
from benchmarks.figures.beginnings import BEGINNINGS, TOLERANCE, read
from helpers.crossings import crossing_pairs, is_closed
from pbd_addon import Body

pytestmark = pytest.mark.usefixtures("fastest_kernels")

PERIOD = 2.0 * np.pi * np.sqrt(springs.OSCILLATOR_COMPLIANCE)


def test_a_folded_cloth_comes_to_rest_clear_of_itself():
    """Müller et al. 2007, Fig. 6."""
    folded = folds.lay_down(4, 20, shown=(48,))
    assert folded.layers >= 4
    assert folded.crossings == 0
    assert len(crossing_pairs(folded.frames[0], folded.body.mesh.triangles)) == 0
    assert folded.frames[0][:, 2].min() > 0.0
    assert folded.height < 0.1
    assert folded.speed < 0.05


def test_the_papers_cloth_is_a_grid_of_22_by_62():
    columns, rows = folds.COLUMNS, folds.ROWS
    assert ((columns + 1) * (rows + 1), 2 * columns * rows) == (1364, 2562)
    others = [n for n in range(2, 1364) if 1364 % n == 0 and 2 * (n - 1) * (1364 // n - 1) == 2562]
    assert others == [22, 62]


def test_the_character_is_one_closed_surface_of_even_quads():
    for cells in (12, 26):
        vertices, quads = characters.bear(cells=cells)
        body = Body(vertices, quads)
        assert is_closed(body.mesh.triangles)
        assert body.volume(vertices) > 0.0
        assert len(crossing_pairs(vertices, body.mesh.triangles)) == 0
        assert body.mesh.islands.max() == 0
        assert body.rest_lengths.max() < 5.0 * np.median(body.rest_lengths)
        assert np.ptp(vertices[:, 2]) == pytest.approx(0.3)
    np.testing.assert_allclose(vertices[:, 0].min(), -vertices[:, 0].max(), atol=1e-6)


def test_a_character_is_inflated():
    """Müller et al. 2007, Fig. 7, with the skin of a party balloon."""
    first, blown = characters.inflate((1.0, 2.0), cells=10, frames=16)
    assert first.volume == pytest.approx(1.0, abs=1e-3)
    assert blown.volume == pytest.approx(2.0, rel=0.05)


def test_inflated_characters_fall_on_one_another():
    """Müller et al. 2007, Fig. 11."""
    pile = characters.pile(shown=(30,), cells=10)
    assert pile.touching > 0
    assert pile.crossings == 0
    assert pile.volumes == pytest.approx([1.0] * 3, rel=0.02)
    assert all(x[:, 2].min() > 0.0 for x in pile.frames[-1])


@pytest.mark.slow
def test_volume_and_skin_are_told_apart():
    """Macklin et al. 2016, Fig. 1: a soft skin sags, a soft volume shrinks, and neither does the other."""
    cases = {
        (stretch, rigid): characters.sit(stretch, rigid, cells=10, frames=20)
        for stretch in (characters.STIFF, characters.SOFT)
        for rigid in (True, False)
    }
    for rigid in (True, False):
        stiff, soft = cases[characters.STIFF, rigid], cases[characters.SOFT, rigid]
        assert np.ptp(soft.x[:, 2]) < 0.95 * np.ptp(stiff.x[:, 2])
    for stretch in (characters.STIFF, characters.SOFT):
        assert cases[stretch, True].volume == pytest.approx(1.0, abs=0.005)
        assert cases[stretch, False].volume < 0.995  # a stiff skin holds it: 0.9945 with 160 substeps


@pytest.mark.parametrize("iterations", [1, 5, 10])
def test_an_oscillator_is_implicit_euler_with_any_iterations(iterations):
    """Macklin et al. 2016, Fig. 2; with a raw k in each iteration, PBD is so with one of them alone."""
    places = springs.oscillate("XPBD", iterations, 50)
    np.testing.assert_allclose(places, springs.implicit_oscillation(50), atol=1e-9)
    k = 1.0 / (1.0 + springs.OSCILLATOR_COMPLIANCE / springs.STEP**2)
    pbd = springs.oscillate("PBD", iterations, 50, springs.raw(k, iterations))
    assert springs.period(pbd) / springs.period(places) == pytest.approx(1.0 if iterations == 1 else 0.4, abs=0.07)


def test_an_oscillator_in_substeps_has_the_exact_period():
    assert springs.STEP * springs.period(springs.oscillate("XPBD", 1, 100, substeps=20)) == pytest.approx(
        PERIOD, rel=1e-3
    )


def test_forces_in_a_falling_chain():
    """Macklin et al. 2016, Fig. 3: within 6 % with 50 iterations and 2 % with 100; solved as a chain, 1 % with 1."""
    reference, _ = springs.newton_chain(20)
    for iterations, by_chains, bar in ((50, False, 0.07), (100, False, 0.02), (1, True, 0.01)):
        forces, _ = springs.falling_chain(iterations, by_chains, 20)
        assert np.abs(forces / reference - 1.0)[10:].max() < bar


def test_a_hanging_cloth_stretches_alike_with_any_iterations():
    """Macklin et al. 2016, Fig. 6."""

    def strain(method: str, iterations: int) -> float:
        return sheets.drop(method, iterations, count=8, seconds=0.2).strain

    assert strain("XPBD", 4) == pytest.approx(strain("XPBD", 12), rel=0.02)
    assert strain("PBD", 4) > 2.0 * strain("PBD", 12)


def test_a_cloth_falls_alike_with_any_iterations():
    """The course report's Fig. 5."""
    lines = {(method, n): sheets.profile(method, n, side=14, frames=7) for method in ("PBD", "XPBD") for n in (1, 10)}
    apart = {m: np.linalg.norm(lines[m, 1] - lines[m, 10], axis=1).max() for m in ("PBD", "XPBD")}
    assert apart["XPBD"] < 0.003
    assert apart["PBD"] > 0.03


def test_one_figure_leaves_the_others_as_they_are():
    first = run.page("", {"muller-3": "three", "report-5": "five"})
    second = run.page(first, {"report-5": "new"})
    assert second == first.replace("five", "new")
    assert run.page(second, {}) == second
    assert second.count("## ") == 2


@pytest.mark.parametrize("figure", BEGINNINGS)
def test_the_page_is_of_this_code(figure):
    """What each scene does in its first frames is what it did when its figure was made; else: `make figures`."""
    noted = read(run.section(run.PAGE.read_text(encoding="utf-8"), figure))
    assert BEGINNINGS[figure]() == pytest.approx(noted, rel=TOLERANCE)


def test_the_page_is_as_the_script_writes_it():
    text = run.PAGE.read_text(encoding="utf-8")
    assert run.page(text, {}) == text
    there = re.findall(r"<!-- (?!end)([\w-]+) -->", text)
    assert there == list(sections.SECTIONS) == list(BEGINNINGS)


def test_curves_are_where_their_values_are():
    x = np.linspace(-1.0, 3.0, 5)
    text = curves.draw([curves.Plot("t", "x", "y", [curves.Curve("a & b", x, 2.0 * x, True), curves.Curve("c", x, x)])])
    assert "a &amp; b" in text
    lines = [[tuple(map(float, p.split(","))) for p in line.split()] for line in re.findall(r'points="(.*?)"', text)]
    assert len(lines) == 2
    (x0, y0), (x1, y1) = lines[0][0], lines[0][-1]
    assert curves.LEFT < x0 < x1 < curves.WIDTH - curves.RIGHT
    assert curves.TOP < y1 < y0 < curves.HEIGHT - curves.BOTTOM
    same = lines[1][-1][1] - lines[1][0][1]
    assert y1 - y0 == pytest.approx(2.0 * same, abs=0.3)
