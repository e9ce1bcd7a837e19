"""Material data by name. Sources, and which values are estimates: ``docs/materials.md``."""

from __future__ import annotations

from typing import Any

Figures = dict[str, Any]
"""Fields of a `Material` and their values; the others have their defaults."""


def sheet(
    density: float,
    stretch: float,
    shear: float,
    bend: float,
    air_normal: float,
    air_tangent: float,
    friction: float,
    thickness: float,
    **more: Any,
) -> Figures:
    """Data of a material that resists compression as much as tension. Units as in `Material`.

    Air acts by its coefficients alone: a rate besides would slow the same motion down twice.
    """
    return dict(
        density=density,
        stretch=stretch,
        compression=stretch,
        shear=shear,
        bend=bend,
        drag=0.0,
        air_normal=air_normal,
        air_tangent=air_tangent,
        friction=friction,
        thickness=thickness,
        **more,
    )


FIGURES: dict[str, Figures] = {
    # density [kg/m²], stretch [N/m], shear [N/m], bend [N·m], air across, air along, friction, thickness [m]
    "Silk": sheet(0.069, 4000.0, 20.0, 3.0e-6, 1.2, 0.02, 0.2, 0.001, resilience=0.55),
    "Cotton": sheet(0.124, 6000.0, 80.0, 1.2e-5, 1.2, 0.03, 0.5, 0.001, resilience=0.5),
    "Linen": sheet(0.18, 8000.0, 60.0, 2.5e-5, 1.2, 0.03, 0.4, 0.001, resilience=0.5),
    "Wool": sheet(
        *(0.163, 5700.0, 40.0, 6.9e-6, 1.2, 0.03, 0.5, 0.001),
        weft_stretch=0.78,
        weft_bend=0.9,
        bend_friction=1.6e-4,
        resilience=0.55,
    ),
    "Knit Jersey": sheet(0.147, 600.0, 30.0, 2.5e-6, 1.2, 0.03, 0.5, 0.001, resilience=0.5),
    "Velvet": sheet(0.3, 5000.0, 60.0, 2.5e-5, 1.2, 0.03, 0.5, 0.002, resilience=0.5),
    "Denim": sheet(
        *(0.373, 26_000.0, 110.0, 7.5e-5, 1.2, 0.03, 0.5, 0.001), weft_stretch=0.22, weft_bend=0.59, resilience=0.55
    ),
    "Canvas": sheet(0.407, 20_000.0, 250.0, 1.5e-4, 1.2, 0.03, 0.5, 0.001, resilience=0.5),
    "Ripstop Nylon": sheet(0.037, 20_000.0, 300.0, 5.0e-6, 1.2, 0.02, 0.25, 0.001),
    "Leather": sheet(0.6, 27_000.0, 9600.0, 5.0e-4, 1.2, 0.02, 0.5, 0.001),
    "Rubber Sheet": sheet(0.95, 1500.0, 500.0, 1.7e-4, 1.2, 0.02, 1.0, 0.001, stretch_damping=0.01),
    "Paper": sheet(0.08, 300_000.0, 115_000.0, 2.7e-4, 1.2, 0.02, 0.4, 0.001),
    "Party Balloon": sheet(
        *(0.011, 150.0, 50.0, 1.0e-6, 0.31, 0.02, 0.8, 0.001),
        damping=2.0,
        pressure_mode="VOLUME",
        pressure=1.0,
        rubber=True,
    ),
    "Foil Balloon": sheet(
        0.042, 54_000.0, 20_000.0, 1.2e-5, 0.31, 0.02, 0.3, 0.001, damping=2.0, pressure_mode="VOLUME", pressure=1.0
    ),
    "Beach Ball": sheet(
        0.25, 3000.0, 1000.0, 1.3e-5, 0.31, 0.02, 0.5, 0.001, damping=2.0, pressure_mode="VOLUME", pressure=1.0
    ),
    "Air Mattress": sheet(
        0.5, 6000.0, 2000.0, 1.1e-4, 0.6, 0.02, 0.5, 0.001, damping=2.0, pressure_mode="GAS", overpressure=3000.0
    ),
    "Cushion": sheet(
        0.8, 5000.0, 100.0, 1.0e-4, 0.6, 0.03, 0.5, 0.001, damping=2.0, pressure_mode="OVERPRESSURE", overpressure=50.0
    ),
}

ABOUT: dict[str, str] = {
    "Silk": "Scarves and evening dresses: light, limp, slippery",
    "Cotton": "Shirts, sheets, curtains: light woven cloth with soft folds",
    "Linen": "Tablecloths and summer clothes: crisper than cotton",
    "Wool": "Suits and skirts: soft, drapes in full folds",
    "Knit Jersey": "T-shirts: light, limp, stretches ten times as much as woven cloth",
    "Velvet": "Stage curtains and upholstery: heavy, thick, hangs in deep folds",
    "Denim": "Jeans and work clothes: heavy and firm, few folds",
    "Canvas": "Tents, sails, sacks: heavy, stiff, hardly stretches",
    "Ripstop Nylon": "Kites, parachutes, flags: very light, does not stretch, floats in air",
    "Leather": "Jackets and bags: heavy, stiff in every direction, few large folds",
    "Rubber Sheet": "Mats and membranes: heavy, stretches, clings",
    "Paper": "Pages and posters: light, does not stretch or shear, bends like a spring",
    "Party Balloon": "A toy balloon of thin rubber: sinks slowly, keeps its volume",
    "Foil Balloon": "A balloon of metal foil: does not stretch, wrinkles at its seam",
    "Beach Ball": "A ball of thin vinyl: falls, bounces, keeps its volume",
    "Air Mattress": "Tight heavy vinyl with air locked in: pushes back when squeezed",
    "Cushion": "A cover of heavy cloth under a little pressure: soft, dents easily",
}
"""What each material is for, as a tooltip."""

EVIDENT = ("density", "stretch", "shear", "bend")
"""Fields of which tooltips say where the figures are from."""

EVIDENCE: dict[str, str] = {
    "Silk": "deee",
    "Cotton": "peep",
    "Linen": "peee",
    "Wool": "peed",
    "Knit Jersey": "eeee",
    "Velvet": "peee",
    "Denim": "ddde",
    "Canvas": "deee",
    "Ripstop Nylon": "ddee",
    "Leather": "pede",
    "Rubber Sheet": "dddd",
    "Paper": "pedd",
    "Party Balloon": "ddde",
    "Foil Balloon": "dddd",
    "Beach Ball": "dddd",
    "Air Mattress": "dddd",
    "Cushion": "eeee",
}
"""A letter for each of these fields: p published, d calculated from what is, e an estimate; as in docs/materials.md"""
