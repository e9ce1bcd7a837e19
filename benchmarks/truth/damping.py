"""Damping takes no weight: a mass on a spring, a rope and a pinned cloth sag by m g / k at any damping and substeps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pbd_addon import Body, Material, Simulation

from .check import Check

GRAVITY, DT, FRAMES = 9.81, 1.0 / 24.0, 120
DRAG = 6.0
"""Enough that everything here is at rest to 1e-6 of its sag after `FRAMES` [1/s]."""

BAR = 0.1
"""Largest error of a sag [%]."""


def checks(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """Error of each sag in percent, the worst over the rates of damping at each number of substeps."""
    rates = (0.2, 20.0) if quick else (0.0, 0.2, 2.0, 20.0)
    counts = (1, 20) if quick else (1, 5, 20, 40)
    for name, scene in (("mass on a spring", _rope(1)), ("rope of 8 springs", _rope(8)), ("pinned cloth", _cloth(6))):
        for substeps in counts:
            errors = [_error(*scene, rate, substeps, kernels, automatic) for rate in rates]
            worst = max(errors, key=abs)
            yield Check(
                f"{name}, {substeps} substeps, damping to {max(rates):g}/s", "sag beside m g / k [%]", worst, BAR
            )


Scene = tuple[dict[str, object], float]
"""Arguments of a body but for its material, and the sag of its last vertex [m]."""


def _rope(links: int, stiffness: float = 200.0) -> Scene:
    vertices = np.outer(-0.2 * np.arange(links + 1), [0.0, 0.0, 1.0])
    sag = 0.1 * GRAVITY * links * (links + 1) / 2.0 / stiffness
    return {
        "vertices": vertices, "edges": [[k, k + 1] for k in range(links)], "masses": [0.1] * (links + 1),
        "compliances": [1.0 / stiffness] * links, "pins": [0],
    }, sag  # fmt: skip


def _cloth(cells: int) -> Scene:
    """A square meter on its upper edge without shear: threads that lengthen by density g H² / 2 stretch."""
    x, z = np.meshgrid(np.linspace(-0.5, 0.5, cells + 1), np.linspace(0.0, -1.0, cells + 1))
    vertices = np.column_stack([x.ravel(), np.zeros(x.size), z.ravel()])
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    quads = np.column_stack([corner, corner + 1, corner + cells + 2, corner + cells + 1])
    return {"vertices": vertices, "faces": quads.tolist(), "pins": range(cells + 1)}, DENSITY * GRAVITY / 2.0 / STRETCH


DENSITY, STRETCH = 0.15, 100.0
"""Of the pinned cloth [kg/m²], [N/m]."""


def _error(
    body_arguments: dict[str, object], sag: float, damping: float, substeps: int, kernels: str, automatic: bool
) -> float:
    material = Material(
        density=DENSITY, stretch=STRETCH, compression=STRETCH, shear=0.0, bend=0.0, damping=damping, drag=DRAG
    )
    body = Body(**body_arguments, material=material)  # type: ignore[arg-type]
    simulation = Simulation([body], substeps=substeps, kernels=kernels, automatic=automatic, self_collision=False)
    for _ in range(FRAMES):
        simulation.step(DT)
    found = body.vertices[-1, 2] - simulation.positions(body)[-1, 2]
    return 100.0 * (float(found) / sag - 1.0)
