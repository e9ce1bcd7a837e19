"""Settings: every field has words and a range, wrong values are refused in one sentence, presets are usable."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.meshes import grid, icosphere
from pbd_addon import PRESETS, Body, Material, Plane, Simulation, SolverSettings
from pbd_addon.settings.solver_settings import ATMOSPHERE

DESCRIBED = [
    pytest.param(settings, field, id=f"{settings.__name__}.{field.name}")
    for settings in (Material, SolverSettings)
    for field in dataclasses.fields(settings)
    if "label" in field.metadata
]


@pytest.mark.parametrize(("settings", "field"), DESCRIBED)
def test_every_field_has_a_label_and_a_sentence(settings, field):
    """A panel can show each field: label, tooltip of a sentence, slider end above the lowest value."""
    about = field.metadata
    assert about["label"]
    assert len(about["description"].split()) >= 4
    assert not about["description"].endswith(".")
    if isinstance(field.default, float):
        assert about["low"] is not None
        assert about["soft_high"] is not None or about["high"] is not None
        assert about["low"] <= field.default <= (about["high"] or about["soft_high"])


@pytest.mark.parametrize(("settings", "field"), DESCRIBED)
def test_values_outside_of_the_range_are_refused(settings, field):
    """One sentence names the setting and the value it got; the ends of the range are legal."""
    about = field.metadata
    bad = []
    if about["choices"]:
        bad = ["NONSENSE", None]
        for choice in about["choices"]:
            settings(**{field.name: choice})
    elif not isinstance(field.default, bool):
        bad = [float("nan"), float("inf"), float("-inf")]
        for limit, beyond in ((about["low"], -1), (about["high"], 1)):
            if limit is not None:
                settings(**{field.name: limit})
                bad.append(limit + beyond)
        if isinstance(field.default, int):
            bad.append(1.5)
    for value in bad:
        with pytest.raises(ValueError, match=rf"{settings.__name__}\.{field.name} must be .*") as refusal:
            settings(**{field.name: value})
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Material(density=0.0), r"Material.density must be at least 0.0001 kg/m², not 0"),
        (lambda: Material(density=-1.0), r"Material.density must be at least 0.0001 kg/m², not -1"),
        (lambda: SolverSettings(substeps=0), r"SolverSettings.substeps must be at least 1, not 0"),
        (lambda: SolverSettings(iterations=0), r"SolverSettings.iterations must be at least 1, not 0"),
        (lambda: SolverSettings(gravity=(0.0, 0.0, float("nan"))), r"SolverSettings.gravity must be three finite"),
        (lambda: SolverSettings(method="FEM"), r"SolverSettings.method must be one of XPBD, PBD, not 'FEM'"),
        (lambda: Material(k_bend=1.01), r"Material.k_bend must be at most 1, not 1.01"),
        (lambda: Material.preset("Wood"), r"a preset's name must be one of .*Cotton.*, not 'Wood'"),
    ],
)
def test_refusals_read_well(make, sentence):
    """The sentence says which setting, what is allowed and what came."""
    with pytest.raises(ValueError, match=sentence):
        make()


def test_overpressure_may_be_a_vacuum_but_no_less():
    """No gas pulls harder than an empty room: -1 atmosphere is the least overpressure."""
    Material(overpressure=-ATMOSPHERE)
    with pytest.raises(ValueError, match="overpressure"):
        Material(overpressure=-1.001 * ATMOSPHERE)


def test_settings_never_change():
    """Settings are values: one that was handed over cannot be changed behind a simulation's back."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Material().density = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        SolverSettings().substeps = 3
    assert Material(density=0.2) == Material(density=0.2) != Material(density=0.3)


def test_presets_are_found_by_name():
    """`Material.preset` gives the very material of the table."""
    assert all(Material.preset(name) is material for name, material in PRESETS.items())


@pytest.mark.parametrize(
    ("name", "method"), [*((name, "XPBD") for name in PRESETS), ("Cotton", "PBD"), ("Party Balloon", "PBD")]
)
@pytest.mark.newest
def test_every_preset_moves_soundly(name, method):
    """Each preset is stepped at the default settings: it falls, keeps above the floor and stays in one piece."""
    material = PRESETS[name]
    closed = material.pressure_mode != "OFF"
    vertices, faces = icosphere(2, 0.2) if closed else grid(8, 8, 0.5, 0.5)
    body = Body(vertices + np.array([0.0, 0.0, 0.45]), faces, material, pins=() if closed else [0, 8], name=name)
    simulation = Simulation([body], [Plane()], method=method, substeps=10)
    for _ in range(6):
        simulation.step(1 / 24)
    x = simulation.positions(body)
    assert np.isfinite(x).all()
    assert x[:, 2].mean() < 0.44
    assert x[:, 2].min() >= material.thickness - 1e-9
    assert np.abs(body.edge_strain(x)).mean() < (0.6 if closed else 0.1)
