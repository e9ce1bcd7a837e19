"""Import the solver and step one frame with every installed backend, to test whether it runs on this platform.

python tools/one_frame.py
"""

from __future__ import annotations

import numpy as np

from pbd_addon import Body, Material, Plane, Simulation
from pbd_addon.kernels import available

AGREE = 1e-9
"""Largest distance between the results of two backends [m]."""


def frame(kernels: str) -> np.ndarray:
    """Positions of a pinned sheet after a frame, (n, 3) [m]."""
    x, y = np.meshgrid(np.linspace(0.0, 1.0, 11), np.linspace(0.0, 1.0, 11))
    vertices = np.column_stack([x.ravel(), y.ravel(), np.ones(121)])
    corner = (np.arange(10)[:, None] * 11 + np.arange(10)).ravel()
    quads = np.column_stack([corner, corner + 1, corner + 12, corner + 11])
    cloth = Body(vertices, quads, Material.preset("Cotton"), pins=[0, 10])
    simulation = Simulation([cloth], [Plane()], kernels=kernels)
    simulation.step(1 / 24)
    return simulation.positions(cloth).copy()


def main() -> None:
    """Step and compare; an assertion fails if something is wrong."""
    results = {name: frame(name) for name in available()}
    for name, positions in results.items():
        assert np.isfinite(positions).all(), name
        assert positions[60, 2] < 1.0, f"{name}: the middle of the sheet did not fall"
        assert np.abs(positions - results["numpy"]).max() < AGREE, f"{name} differs from numpy"
    print("One frame with", " and ".join(results))


if __name__ == "__main__":
    main()
