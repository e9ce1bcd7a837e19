"""What a laboratory does with a piece of fabric: drapes it, lets a strip hang over an edge, makes a loop of another."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pbd_addon import Material

from ..truth.bending import tip
from ..truth.check import Check
from ..truth.drapes import STARTS, Drape, Hung, hung
from ..truth.loops import looped
from ..truth.rod import SEGMENTS, elastica

TARGETS = Path(__file__).with_name("targets.toml")

SIZES = (0.015, 0.01)
"""Of the quads of a drape, coarse and fine [m]."""

MESHES = {"quads": "quads", "triangles": "Delaunay"}
"""What drapes are made of, and what the scene of drapes calls it."""

CELLS = (10, 20)
"""Along a strip that hangs over an edge. A loop has 2.4 times as many."""

SLOPE = float(np.tan(np.radians(41.5)))
"""Drop over reach at which Peirce's tester is read: the end is seen at 41.5° below the edge."""

PEIRCE_BAR = 5.0
"""Largest error of a bending length [%]: 15 % of the rigidity. Laboratories repeat one to 3 to 5 %."""


class Fabric(NamedTuple):
    """A fabric, and what is published of it: see `targets.toml`, in SI units and percent."""

    name: str
    preset: str
    source: Sequence[int]
    drape: Sequence[float] = ()
    radius: float = 0.15
    support: float = 0.09
    settings: Mapping[str, float] = {}
    note: str = ""

    @property
    def material(self) -> Material:
        """As it is simulated."""
        return dataclasses.replace(Material.preset(self.preset), **self.settings)


def fabrics() -> tuple[list[Fabric], dict[str, str]]:
    """All of them, and their sources by number."""
    found = tomllib.loads(TARGETS.read_text(encoding="utf-8"))
    return [Fabric(**each) for each in found["fabric"]], found["sources"]


class Draped(NamedTuple):
    """Drapes of one fabric on one mesh.

    Attributes:
        size: Of the quads, or of those that were shaken [m].
        mesh: "quads" or "triangles".
        shares: Of the ring that the shadow covers, a start each [%].
        folds: Of the last start.
        steps: Of the last frames, mean.
    """

    size: float
    mesh: str
    shares: list[float]
    folds: int
    steps: float

    @property
    def share(self) -> float:
        """Mean over the starts [%]."""
        return float(np.mean(self.shares))


@dataclasses.dataclass
class Measured:
    """All of a fabric.

    Attributes:
        fabric: Which one.
        drapes: On each mesh; outline: border of the finest of quads as seen from above, (n, 2) [m].
        checks: Bending lengths and loops.
        cpu: CPU time [s].
        load: Of the machine at the end.
    """

    fabric: Fabric
    drapes: list[Draped] = dataclasses.field(default_factory=list)
    outline: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 2)))
    checks: list[Check] = dataclasses.field(default_factory=list)
    cpu: float = 0.0
    load: float = 0.0

    def drape(self, kernels: str) -> None:
        """Drape it, a few starts on each mesh."""
        fabric = self.fabric
        for size in SIZES:
            for mesh, kind in MESHES.items():
                drape = Drape(fabric.preset, size, kind, np.nan, fabric.radius, fabric.support)
                found = [hung(drape, start, kernels, True, more=fabric.settings) for start in range(STARTS)]
                if mesh == "quads":
                    self.outline = found[-1].x[around(found[-1]), :2]
                steps = float(np.mean([one.steps for one in found]))
                self.drapes.append(Draped(size, mesh, [one.share for one in found], folds(found[-1]), steps))

    def bend(self, kernels: str) -> None:
        """Hang strips over an edge, and make loops."""
        self.checks = [*bending_lengths(self.fabric, kernels), *loops(self.fabric, kernels)]

    def row(self) -> dict[str, Any]:
        """All of it as JSON knows it."""
        return {
            "fabric": self.fabric.name, "cpu": self.cpu, "load": self.load, "outline": self.outline.round(4).tolist(),
            "drapes": [each._asdict() for each in self.drapes],
            "checks": [{"case": one.case, "figure": one.figure, "value": one.value, "bar": one.bar}
                       for one in self.checks],
        }  # fmt: skip

    @classmethod
    def of(cls, fabric: Fabric, row: Mapping[str, Any]) -> Measured:
        """What `row` said."""
        drapes, checks = [Draped(**each) for each in row["drapes"]], [Check(**each) for each in row["checks"]]
        return cls(fabric, drapes, np.reshape(row["outline"], (-1, 2)), checks, row["cpu"], row["load"])

    def timed(self, test: Callable[[Measured, str], None], kernels: str) -> None:
        """Do one of both, and see what it costs."""
        begun = time.process_time()
        test(self, kernels)
        self.cpu += time.process_time() - begun
        self.load = os.getloadavg()[0]


def around(drape: Hung) -> np.ndarray:
    """Vertices of the border, in their order around the disc, (n,)."""
    edges = np.sort(drape.body.mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    pairs, uses = np.unique(edges, axis=0, return_counts=True)
    border = np.unique(pairs[uses == 1])
    rest = drape.body.rest_vertices[border]
    return np.asarray(border[np.argsort(np.arctan2(rest[:, 1], rest[:, 0]))])


def folds(drape: Hung) -> int:
    """How many folds its border has: the strongest wave of its height around the disc."""
    border = around(drape)
    rest = drape.body.rest_vertices[border]
    angle, even = np.arctan2(rest[:, 1], rest[:, 0]), np.linspace(-np.pi, np.pi, 128, endpoint=False)
    height = np.interp(even, angle, drape.x[border, 2], period=2.0 * np.pi)
    return int(np.abs(np.fft.rfft(height - height.mean())[:16]).argmax())


def bending_lengths(fabric: Fabric, kernels: str) -> Iterator[Check]:
    """What Peirce's tester reads, beside (B / (ρ g))^(1/3), along the warp, and along a weft that is another."""
    material = dataclasses.replace(fabric.material, bend_friction=0.0, drag=5.0)
    weights, slopes = _peirce()
    ways = {"warp": ((1.0, 0.0, 0.0), 1.0), "weft": ((0.0, 1.0, 0.0), material.weft_bend)}
    for way, (warp, share) in ways.items():
        if way == "weft" and share == 1.0:
            continue
        law = (share * material.bend / (9.81 * material.density)) ** (1.0 / 3.0)
        length = law * float(np.interp(SLOPE, slopes, weights)) ** (1.0 / 3.0)
        for cells in CELLS:
            for mesh in ("quads", "irregular"):
                reach, depth = tip(material, length, cells, mesh, kernels, True, warp=warp)
                found = length / float(np.interp(depth / reach, slopes, weights)) ** (1.0 / 3.0)
                name = f"{fabric.name}, {way}, {cells} cells, {'quads' if mesh == 'quads' else 'triangles'}"
                yield Check(name, f"bending length beside {1000.0 * law:.1f} mm [%]", 100.0 * (found / law - 1.0),
                            PEIRCE_BAR)  # fmt: skip


@functools.cache
def _peirce() -> tuple[np.ndarray, np.ndarray]:
    """Γ = ρ g L³ / B of strips, and drop over reach of their ends."""
    weights = np.linspace(2.0, 20.0, 37)
    ends = np.array([elastica(1.0, weight, 0.0, None, None, np.zeros(SEGMENTS))[-1] for weight in weights])
    return weights, -ends[:, 1] / ends[:, 0]


def loops(fabric: Fabric, kernels: str) -> Iterator[Check]:
    """Width and height of pear loops of 20 cm along the warp."""
    material = dataclasses.replace(fabric.material, bend_friction=0.0)
    for cells in CELLS:
        for mesh in MESHES:
            for check in looped(fabric.name, material, round(2.4 * cells), mesh, kernels, True):
                if "[%]" in check.figure:
                    yield check
