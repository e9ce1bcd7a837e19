"""What a simulation keeps for each vertex, beside its cached frames."""

from __future__ import annotations

import tracemalloc
from types import ModuleType

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import PRESETS, Body, Simulation, kernels as backends

SIDE = 100
FRAME = 1.0 / 24.0


def kept_arrays(root: object) -> dict[int, np.ndarray]:
    """All arrays that can be reached from an object, without views of others, by their identity."""
    found: dict[int, np.ndarray] = {}
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, (ModuleType, type)):
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            while isinstance(thing.base, np.ndarray):
                thing = thing.base
            found[id(thing)] = thing
        elif isinstance(thing, dict):
            waiting += thing.values()
        elif isinstance(thing, (list, tuple, set)):
            waiting += thing
        else:
            waiting += getattr(thing, "__dict__", {}).values()
    return found


LIMITS = {"numpy": (1540, 1890), "numba": (1125, 1480)}
"""Bytes per vertex, without self-collision and with it; 1506, 1854, 1101 and 1449 were measured."""


PEAKS = {"numpy": 3200, "numba": 2500}
"""The most bytes per vertex at any moment of the first frame."""


def test_crossings_are_looked_for_in_little_memory():
    """At the start all edges and faces of cloth are looked at: a curtain of 10,000 vertices."""
    kernels = backends.available()[-1]
    backends.load(kernels)
    vertices, quads = grid(SIDE - 1, SIDE - 1, 1.0, 1.0)
    tracemalloc.start()
    simulation = Simulation([Body(vertices, quads, material=PRESETS["Cotton"], pins=[0, SIDE - 1])], kernels=kernels)
    simulation.step(FRAME)
    peak = tracemalloc.get_traced_memory()[1] - simulation.frames.nbytes
    tracemalloc.stop()
    assert peak / SIDE**2 <= PEAKS[kernels]


@pytest.mark.parametrize("self_collision", [False, True])
@pytest.mark.parametrize("kernels", backends.available())
def test_bytes_per_vertex(kernels, self_collision):
    """Of a curtain of 10,000 vertices."""
    vertices, quads = grid(SIDE - 1, SIDE - 1, 1.0, 1.0)
    body = Body(vertices, quads, material=PRESETS["Cotton"], pins=[0, SIDE - 1])
    simulation = Simulation([body], self_collision=self_collision, kernels=kernels)
    for _ in range(3):
        simulation.step(FRAME)
    cached = kept_arrays(simulation.frames)
    kept = sum(array.nbytes for key, array in kept_arrays(simulation).items() if key not in cached)
    assert kept / SIDE**2 <= LIMITS[kernels][self_collision]
