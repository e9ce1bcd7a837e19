"""Test sheets of textile laboratories: what they say of a fabric, as settings of a material.

KES (Kawabata) and FAST measure the same with other machines and units. The warp has the values themselves, the weft its
ratio to them; what only one direction says holds for both, and what is 0 is not known.
"""

from __future__ import annotations

from ..arrays import arguments

GRAM_FORCE = 9.80665e-3
"""One gf [N]."""

KES_PULL = 500.0 * GRAM_FORCE * 100.0
"""Pull at which KES reads EMT: 500 gf/cm [N/m]."""

FAST_PULL = 100.0 * GRAM_FORCE * 100.0
"""Pull at which FAST-3 reads E100: 100 gf/cm [N/m]."""

KES_SHEAR = GRAM_FORCE * 100.0 * 57.29577951308232
"""One gf/(cm·°) as a stiffness against shear by an angle in radians [N/m]."""

KES_BEND = GRAM_FORCE * 0.01
"""One gf·cm²/cm [N·m]."""

KES_CURVATURE = 1.0
"""KES reads 2HB at a curvature of 1 per cm; B times that is the moment that the fabric itself has there."""

FAST_SHEAR = 123.0
"""FAST: G [N/m] times EB5, the extension on the bias at 5 gf/cm [%]."""

FAST_BEND = 9.80665e-6 * 1e-6
"""FAST-2: B = this · weight [g/m²] · bending length³ [mm³] [N·m]: Peirce's law."""

LARGEST_RATIO = 100.0
"""Largest ratio of two directions that is no mistake: denim has 5, and the settings end here."""


def from_kes(
    weight: float,
    extension: tuple[float, float],
    shear: float,
    bending: tuple[float, float],
    hysteresis: tuple[float, float],
    resilience: tuple[float, float],
) -> dict[str, float]:
    """Fields of a `Material` and their values.

    Args:
        weight: W [mg/cm²].
        extension: EMT along warp and weft [%].
        shear: G [gf/(cm·°)].
        bending: B along warp and weft [gf·cm²/cm].
        hysteresis: 2HB along warp and weft [gf·cm/cm].
        resilience: RT along warp and weft [%].
    """
    for name, b, h in zip(("warp", "weft"), bending, hysteresis):
        if h and b and h > 2.0 * b * KES_CURVATURE:
            raise ValueError(f"2HB of the {name}, {h:g}, is more than B, {b:g}, can carry: at most twice B")
    found = {"density": 0.01 * _known("W", weight), "shear": KES_SHEAR * _known("G", shear)}
    found |= _stretch("EMT", extension, KES_PULL) | _directions("bend", "weft_bend", "B", _both("B", bending), KES_BEND)
    found |= {"bend_friction": 0.5 * GRAM_FORCE * _both("2HB", hysteresis)[0]}
    found |= {"resilience": 0.005 * sum(_both("RT", resilience))}
    return {name: value for name, value in found.items() if value}


def from_fast(
    weight: float, extension: tuple[float, float], bias: float, length: tuple[float, float]
) -> dict[str, float]:
    """Fields of a `Material` and their values.

    Args:
        weight: W [g/m²].
        extension: E100 along warp and weft [%].
        bias: EB5 [%].
        length: Bending length along warp and weft [mm].
    """
    lengths = _both("bending length", length)
    if lengths[0] and not weight:
        raise ValueError("a bending length needs the weight: enter W as well")
    rigidities = (_known("W", weight) * lengths[0] ** 3, weight * lengths[1] ** 3)
    found = {"density": 1e-3 * weight, "shear": FAST_SHEAR / bias if _known("EB5", bias) else 0.0}
    found |= _stretch("E100", extension, FAST_PULL)
    found |= _directions("bend", "weft_bend", "bending length", rigidities, FAST_BEND)
    return {name: value for name, value in found.items() if value}


def _stretch(name: str, extension: tuple[float, float], pull: float) -> dict[str, float]:
    """Mean slopes up to a pull [N/m], of extensions [%]."""
    slopes = tuple(100.0 / one if one else 0.0 for one in _both(name, extension))
    found = _directions("stretch", "weft_stretch", name, (slopes[0], slopes[1]), pull)
    return found | ({"compression": found["stretch"]} if found else {})


def _directions(field: str, ratio_field: str, name: str, values: tuple[float, float], unit: float) -> dict[str, float]:
    warp, weft = values
    if not warp:
        return {}
    ratio = weft / warp
    if not 1.0 / LARGEST_RATIO <= ratio <= LARGEST_RATIO:
        raise ValueError(f"{name} makes the weft {ratio:.3g} times as stiff as the warp: check both values")
    return {field: unit * warp, ratio_field: ratio}


def _both(name: str, values: tuple[float, float]) -> tuple[float, float]:
    """Values of warp and weft, each that of the other where it is unknown."""
    warp, weft = (_known(f"{name} of the {way}", one) for way, one in zip(("warp", "weft"), values))
    return warp or weft, weft or warp


def _known(name: str, value: float) -> float:
    return arguments.number(name, value, 0.0)
