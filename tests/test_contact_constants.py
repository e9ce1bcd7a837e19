"""Every constant of contact has a row in the page's table, and those of a module may move by 30 % either way."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import numpy as np
import pytest

import pbd_addon.contact
from helpers.crossings import count_between, crossing_pairs
from helpers.meshes import box, grid, turned
from pbd_addon import Body, Collider, Simulation

DT = 1 / 24
PAGE = Path(__file__).parents[1] / "docs" / "contact.md"

MODULES: list[ModuleType] = [
    importlib.import_module(f"pbd_addon.contact.{each.name}") for each in iter_modules(pbd_addon.contact.__path__)
]

Number = int | float
Constant = Number | tuple[float, ...]


def own_constants(module: ModuleType) -> dict[str, Constant]:
    """Numbers, and tuples of them, in capitals that a module assigns itself."""
    assert module.__file__
    assigned = re.findall(r"^([A-Z][A-Z_, ]*[A-Z]) = ", Path(module.__file__).read_text("utf8"), re.MULTILINE)
    names = [name.strip() for group in assigned for name in group.split(",")]
    return {name: value for name in names if isinstance(value := getattr(module, name), int | float | tuple)}


CONSTANTS = {f"{module.__name__.split('.')[-1]}.{name}": (name, value)
             for module in MODULES for name, value in own_constants(module).items()}  # fmt: skip

FIXED = {
    "bvh.BLOCK": "bounds memory, no figure depends on it",
    "crossing_guard.UNGROUPED": "a label, not a quantity",
    "patches.LARGE_DEPTHS": "powers of two between the whole and the small patches, largest first",
}
"""Which do not move, and why."""


def test_every_constant_is_in_the_table():
    table = PAGE.read_text("utf8").split("## Constants")[1]
    assert len(CONSTANTS) > 40
    for label, (name, _) in CONSTANTS.items():
        assert f"`{name}`" in table, label


def moved(value: Constant, factor: float) -> Constant:
    """A constant times a factor; a whole number stays one, and moves by one at least; of a tuple the first moves."""
    if isinstance(value, tuple):
        return value[0] * factor, *value[1:]
    if isinstance(value, float):
        return value * factor
    step = max(round(abs(value) * abs(factor - 1.0)), 1)
    return max(value + step if factor > 1.0 else value - step, 1)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.7, 1.3])
@pytest.mark.parametrize("own", sorted({label.split(".")[0] for label in CONSTANTS}))
def test_constants_may_move_by_a_third(own, factor, monkeypatch):
    """All constants of a module move at once. A sheet falls upright on a spike and a box, folds, and is dragged off:
    no crossing, no edge torn."""
    pytest.importorskip("numba")
    for label, (name, value) in CONSTANTS.items():
        for module in MODULES if label.split(".")[0] == own and label not in FIXED else ():
            if getattr(module, name, None) == value:
                monkeypatch.setattr(module, name, moved(value, factor))
    vertices, quads = grid(8, 8, 0.16, 0.16)
    noise = np.random.default_rng(2).normal(0.0, 1e-4, vertices.shape)
    upright = turned(vertices, 1.4, 0) + noise
    upright[:, 2] += 0.06 - upright[:, 2].min()
    body = Body(upright, quads, pins=[0], rest_vertices=vertices)
    tip = np.array([[0.0, 0.0, 0.05], [0.025, 0.0, -0.01], [-0.0125, 0.0217, -0.01], [-0.0125, -0.0217, -0.01]])
    corners, triangles = box((1.0, 1.0, 0.2))
    solids = [Collider(tip, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]), Collider(corners - [0, 0, 0.1], triangles)]
    simulation = Simulation([body], solids, kernels="numba")
    for frame in range(1, 15):
        down, aside = np.interp(frame, [0, 6, 14], [0.0, 0.03, 0.03]), 0.5 * max(frame - 6, 0) * DT
        simulation.set_pin_targets(body, body.vertices[body.pin_ids] - [aside, 0.0, down])
        simulation.step(DT)
        x = simulation.positions(body)
        assert not len(crossing_pairs(x, body.mesh.triangles)), f"frame {frame}"
        for solid in solids:
            assert not count_between(x, body.mesh.triangles, solid.vertices, solid.mesh.triangles), f"frame {frame}"
        assert np.abs(body.edge_strain(x)).max() < 0.4, f"frame {frame}"
