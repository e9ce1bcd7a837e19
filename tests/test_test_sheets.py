"""Test sheets of KES and FAST become the settings that their units say, and contradictions are named."""

from __future__ import annotations

import pytest

from pbd_addon import Material
from pbd_addon.bodies.test_sheets import from_fast, from_kes


def test_kes_is_converted_as_the_page_says():
    """A broadcloth: B 0.118 gf·cm²/cm is 1.157e-5 N·m, 2HB 0.124 gf·cm/cm is 1.216 mN (Matsudaira 2015)."""
    found = from_kes(12.38, (5.0, 10.0), 1.0, (0.118, 0.059), (0.124, 0.0), (50.0, 60.0))
    assert found == {
        "density": pytest.approx(0.1238),
        "stretch": pytest.approx(9806.65),
        "compression": pytest.approx(9806.65),
        "weft_stretch": pytest.approx(0.5),
        "shear": pytest.approx(56.19, rel=1e-4),
        "bend": pytest.approx(1.157e-5, rel=1e-3),
        "weft_bend": pytest.approx(0.5),
        "bend_friction": pytest.approx(0.5 * 1.216e-3, rel=1e-3),
        "resilience": pytest.approx(0.55),
    }
    assert Material(**found).weft_bend == found["weft_bend"]


def test_fast_is_converted_by_its_own_formulas():
    """Wool of 168 g/m²: bending lengths 15.0 and 14.5 mm are 5.56 and 5.02 µN·m, G 26.2 N/m from EB5 4.69 %."""
    found = from_fast(168.0, (4.6, 5.87), 4.69, (15.0, 14.5))
    assert found["bend"] == pytest.approx(5.56e-6, rel=2e-3)
    assert found["bend"] * found["weft_bend"] == pytest.approx(5.02e-6, rel=2e-3)
    assert found["shear"] == pytest.approx(26.2, rel=2e-3)
    assert (found["density"], found["weft_stretch"]) == (pytest.approx(0.168), pytest.approx(4.6 / 5.87))


def test_what_is_unknown_stays():
    only_weft = from_kes(0.0, (0.0, 0.0), 0.0, (0.0, 0.1), (0.0, 0.0), (0.0, 0.0))
    assert only_weft == {"bend": pytest.approx(9.80665e-6), "weft_bend": 1.0}
    assert from_fast(0.0, (0.0, 0.0), 0.0, (0.0, 0.0)) == {}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            lambda: from_kes(12.0, (0.0, 0.0), 0.0, (0.1, 0.1), (0.3, 0.1), (0.0, 0.0)),
            "2HB of the warp, 0.3, is more than B, 0.1",
        ),
        (
            lambda: from_kes(12.0, (0.0, 0.0), 0.0, (0.1, 1e-4), (0.0, 0.0), (0.0, 0.0)),
            "B makes the weft 0.001 times as stiff",
        ),
        (lambda: from_kes(-1.0, (0.0, 0.0), 0.0, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)), "W "),
        (lambda: from_fast(0.0, (0.0, 0.0), 0.0, (15.0, 0.0)), "a bending length needs the weight"),
    ],
)
def test_contradictions_are_named(made, said):
    with pytest.raises(ValueError, match=said):
        made()
