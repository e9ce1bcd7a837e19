"""What every scene is to keep: the same frames after going back, and the same from each backend."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pbd_addon import Body, Simulation
from pbd_addon.kernels import available


def backends_agree(scene: Callable[[str], tuple[Simulation, Body]], frames: int, dt: float = 1 / 24) -> None:
    """The body of a scene comes to the same place to 1e-9 m with each kernels, and to the last bit after going back."""
    ends = []
    for kernels in available():
        simulation, body = scene(kernels)
        runs = []
        simulation.step(dt)
        for _ in range(2):
            simulation.truncate(0)
            for _ in range(frames):
                simulation.step(dt)
            runs.append(simulation.positions(body).copy())
        np.testing.assert_array_equal(*runs)
        ends.append(runs[0])
    np.testing.assert_allclose(ends[0], ends[-1], atol=1e-9)
