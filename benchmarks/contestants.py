"""Who takes part, with which settings. Without Blender: solvers are made in a process of their own, by name."""

from __future__ import annotations

import dataclasses
from typing import Any

from pbd_addon.settings.solver_settings import SolverSettings

OURS, CLOTH, DYNAMICS, PYPBD = "ours", "Blender's Cloth", "Cloth Dynamics", "pyPBD"
FABRIC = "Cotton"
"""What ours is made of."""

DEFAULT_SUBSTEPS = SolverSettings().substeps
DEFAULT_QUALITY = 5
PEER = f"quality {DEFAULT_QUALITY} (default)"
"""Setting of Blender's Cloth that ratios are against."""

AUTOMATIC = "automatic substeps"
"""Setting of ours."""

ORIGINAL = "5 substeps × 15 (default)"
"""Setting of Cloth Dynamics as it comes."""

BACKENDS = {"numba": "Numba", "numpy": "NumPy"}
"""Names of backends, and how people write them."""

CLOCK = 1.3176
"""How much slower than its frames Blender's cloth runs: one frame at 24 fps is 1/31.6 s to it."""

ENOUGH = 0.85
"""Substeps over vertices along a side with which pyPBD's mean strain is about 1 %."""


class LeftOut(Exception):
    """One sentence that says why a contestant cannot take part on this machine."""


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A solver with its settings.

    Attributes:
        solver: Whose it is.
        setting: What distinguishes it from others of this solver.
        maker: "module:Class" of what is called with the scene and the options.
        options: Of the maker.
    """

    solver: str
    setting: str
    maker: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """Solver and setting."""
        return f"{self.solver}, {self.setting}"


def ours(kernels: str, self_collision: bool, substeps: int = DEFAULT_SUBSTEPS, automatic: bool = False) -> Contestant:
    """Our solver."""
    words = [BACKENDS[kernels]]
    if substeps != DEFAULT_SUBSTEPS:
        words.append(f"{substeps} substeps")
    if automatic:
        words.append(AUTOMATIC)
    if self_collision:
        words.append("self-collision")
    options = {"kernels": kernels, "self_collision": self_collision, "substeps": substeps, "automatic": automatic}
    default = self_collision and kernels == "numpy" and substeps == DEFAULT_SUBSTEPS
    return Contestant(OURS, ", ".join(words) + " (default)" * default, "benchmarks.ours:Ours", options)


def of_the_curtain(n: int, substeps: tuple[int, ...] = ()) -> list[Contestant]:
    """Everybody who hangs a curtain of n × n vertices; `substeps`: ours with these too."""
    enough = round(ENOUGH * n)
    return [
        *(ours(kernels, self_collision) for self_collision in (False, True) for kernels in BACKENDS),
        *(ours(kernels, False, automatic=True) for kernels in BACKENDS),
        *(ours(kernels, False, count) for count in substeps for kernels in BACKENDS),
        Contestant(CLOTH, PEER, "benchmarks.blender_cloth:BlenderCloth", {"quality": DEFAULT_QUALITY}),
        Contestant(CLOTH, "quality 2", "benchmarks.blender_cloth:BlenderCloth", {"quality": 2}),
        Contestant(DYNAMICS, ORIGINAL, "benchmarks.cloth_dynamics:ClothDynamics", {}),
        Contestant(
            DYNAMICS, "20 substeps × 1", "benchmarks.cloth_dynamics:ClothDynamics", {"substeps": 20, "iterations": 1}
        ),
        Contestant(PYPBD, "8 × 5 substeps", "benchmarks.pypbd_cloth:PyPBD", {"steps": 8, "substeps": 5}),
        Contestant(PYPBD, "0.85 n substeps", "benchmarks.pypbd_cloth:PyPBD", {"steps": 1, "substeps": enough}),
    ]


DEFAULT, LIGHT, LIGHT_AND_STIFF = (
    "default mass and clock",
    "our mass and clock",
    "our mass and clock, default stiffness",
)
"""Of Blender's Cloth in contact: untouched; mass, clock and air as ours, stiffness and damping per kilogram as
untouched; the same with stiffness and damping untouched, which is thousands of times as stiff for its mass."""

SELF_SHARE = 0.3
"""Self distance in edges, where Blender's default of 15 mm is left."""


def of_contact(self_collision: bool, quick: bool = False, full: bool = False) -> list[Contestant]:
    """Everybody who takes part in a scene of contact."""
    share = SELF_SHARE if self_collision else None
    settings = [(mass, share) for mass in ((DEFAULT,) if quick else (DEFAULT, LIGHT, LIGHT_AND_STIFF))]
    if full and self_collision:
        settings += [(DEFAULT, None), (LIGHT, None)]
    found = [
        Contestant(OURS, BACKENDS[kernels], "benchmarks.contact_solvers:OurContact", {"kernels": kernels})
        for kernels in BACKENDS
    ]
    for mass, of_an_edge in settings:
        words = [mass]
        if self_collision:
            words.append("default self distance" if of_an_edge is None else f"self distance {of_an_edge:g} of an edge")
        options = {"mass": mass, "share": of_an_edge}
        found.append(Contestant(CLOTH, ", ".join(words), "benchmarks.contact_solvers:BlenderContact", options))
    return found
