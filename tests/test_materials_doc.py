"""docs/materials.md tells the truth: its tables hold the figures of the presets, all of them, each with its origin."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pbd_addon import PRESETS, Material
from pbd_addon.bodies.presets import EVIDENCE, EVIDENT

PAGE = Path(__file__).resolve().parent.parent / "docs" / "materials.md"

COLUMNS = {
    "Density [kg/m²]": "density",
    "Tension [N/m]": "stretch",
    "Shear [N/m]": "shear",
    "Bending [N·m]": "bend",
    "Tension damping [s]": "stretch_damping",
    "Internal damping [1/s]": "damping",
    "Air across": "air_normal",
    "Air along": "air_tangent",
    "Friction": "friction",
    "Distance [m]": "thickness",
}
OF_FABRICS = {
    "Weft tension": "weft_stretch",
    "Weft bending": "weft_bend",
    "Bending friction [N]": "bend_friction",
    "Resilience": "resilience",
}
"""Columns of the first table alone."""
VALUE_OF_MODE = {"VOLUME": "pressure", "GAS": "overpressure", "OVERPRESSURE": "overpressure"}
ORIGINS = {"p", "d", "e"}


def read_tables() -> dict[str, dict[str, str]]:
    """The cells of all tables whose first column is "Preset", {preset: {column: cell}}."""
    rows: dict[str, dict[str, str]] = {}
    header: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            header = []
        elif not header:
            header = cells
        elif header[0] == "Preset" and set(line) - set("|-"):
            assert len(cells) == len(header), line
            assert cells[0] not in rows, f"{cells[0]} stands there twice"
            rows[cells[0]] = dict(zip(header[1:], cells[1:]))
    return rows


TABLE = read_tables()


def figure(cell: str) -> float:
    """The number of a cell such as "0.124 p"."""
    number, origin = cell.split()
    assert origin in ORIGINS, cell
    return float(number)


def documented(cells: dict[str, str]) -> Material:
    """The material that a row describes."""
    values: dict[str, float | str | bool] = {
        field: figure(cells[name]) for name, field in (COLUMNS | OF_FABRICS).items() if name in cells
    }
    values |= {"compression": values["stretch"], "drag": 0.0}
    if "Pressure" in cells:
        values["pressure_mode"], values["rubber"] = cells["Pressure"], cells["Rubber"] == "yes"
        values[VALUE_OF_MODE[cells["Pressure"]]] = figure(cells["Value"])
    return dataclasses.replace(Material(), **values)


def test_the_tables_name_every_preset_in_their_order():
    assert list(TABLE) == list(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_the_figures_are_those_of_the_preset(name):
    """The row says all: a material made from it and the defaults is the preset, to the last field."""
    assert set(COLUMNS) <= set(TABLE[name])
    assert documented(TABLE[name]) == PRESETS[name]


@pytest.mark.parametrize("name", PRESETS)
def test_tooltips_say_where_figures_are_from_as_the_tables_do(name):
    names = {field: column for column, field in COLUMNS.items()}
    assert EVIDENCE[name] == "".join(TABLE[name][names[field]].split()[1] for field in EVIDENT)


def test_every_preset_has_a_paragraph_on_its_figures():
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in PRESETS if f"\n**{name}.**" not in text] == []
