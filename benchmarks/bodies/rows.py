"""The rows: what is played, what must come out, and how small each of them can be made.

A calm frame of a scene is one of the cheaper half of its frames. Times are of the CPU.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from pbd_addon import PRESETS, Body, Collider, Material, Simulation

from ..truth import piles, stress
from ..truth.check import NO_BAR, Check
from ..truth.watch import CLOTH, DT, Scene, Watched, box, hung, sheet
from . import figure, pattern, shared

CALM = 8.0
"""A frame may cost so many calm ones of its scene."""

STRAIN = 60.0
"""Largest strain in any frame [%]."""


class Part(NamedTuple):
    """Some frames of a row, with bars: mean and worst CPU time of a frame [ms]."""

    name: str
    frames: slice
    mean: float = NO_BAR
    worst: float = NO_BAR


@dataclasses.dataclass(frozen=True)
class Row:
    """A scene with its bars.

    Attributes:
        case: What it is.
        make: Makes the scene; make(own=True) that of our own making, where there is another.
        small: Options of `make` for a test, and its frames.
        parts: Bars on the time of some frames.
        calm: Bar on the worst frame beside the mean of calm ones.
        strain: Bar on the strain of any edge in any frame [%].
        hits: Bar on crossings with colliders in any frame; hits_end: in the last one.
        crossings: Bar on crossings of cloth with cloth in any frame.
    """

    case: str
    make: Callable[..., Scene]
    small: tuple[dict[str, object], int]
    parts: tuple[Part, ...]
    calm: float = NO_BAR
    strain: float = NO_BAR
    hits: float = 0.0
    hits_end: float = 0.0
    crossings: float = 0.0


def dressed(what: str, closed: bool = True, own: bool = False, detail: float = 1.0) -> Scene:
    """A figure walks in a "cape", "skirt" or "vest": that of others or ours, with its body as it is, or taken for open.

    What is taken for open is the same mesh, whose inside is nobody's.
    """
    path = None if own or detail != 1.0 else shared.find(f"{what}.npz")
    worn = shared.read_worn(path) if path else figure.worn(what, True, detail=detail)
    body = Body(
        worn.vertices, worn.faces, Material(**worn.material), worn.pins, rest_vertices=worn.rest, name=what.capitalize()
    )
    collider = Collider(worn.body, worn.triangles, **worn.collider, name="Figure")
    collider.closed = collider.closed and closed

    def move(simulation: Simulation, frame: int) -> None:
        simulation.move_collider(collider, worn.body_frames[frame - 1])
        simulation.set_pin_targets(body, worn.pin_frames[frame - 1])

    return Scene([body], [collider], move, len(worn.body_frames))


SEWING, RAISING = 50, 60
"""Frames in which the shirt is sewn, and in which the arms go up and down."""

RAISE = math.radians(40.0)
"""By how much the arms are raised."""


def shirt(edge: float, own: bool = False) -> Scene:
    """A shirt is sewn from flat panels around a body without gravity; then, with it, the arms go up and down.

    edge: length of its edges [m].
    """
    paths = [None if own else shared.find(name) for name in ("shirt_mean_specification.json", "mean_all.obj")]
    if paths[0] and paths[1]:
        specification = json.loads(paths[0].read_text(encoding="utf-8"))
        x, triangles = shared.read_obj(paths[1])
        raised = functools.partial(with_arms_raised, x)
    else:
        specification = figure.shirt()
        standing, triangles, bone = figure.figure()

        def raised(angle: float) -> np.ndarray:
            return figure.pose(swing=0.0, raised=figure.STANDING + angle).place(standing, bone)

    sewn = pattern.sew(specification, edge)
    cotton = dataclasses.replace(PRESETS["Cotton"], sewing=True)
    flat = np.pad(sewn.flat, ((0, 0), (0, 1)))
    body = Body(sewn.vertices, sewn.triangles, cotton, rest_vertices=flat, edges=sewn.seams, name="Shirt")
    collider = Collider(raised(0.0), triangles, name="Figure")

    def move(simulation: Simulation, frame: int) -> None:
        if frame == SEWING + 1:
            simulation.set_settings(dataclasses.replace(simulation.settings, gravity=(0.0, 0.0, -9.81)))
        if frame > SEWING:
            share = 0.5 - 0.5 * math.cos(math.tau * (frame - SEWING) / RAISING)
            simulation.move_collider(collider, raised(RAISE * share))

    return Scene([body], [collider], move, SEWING + RAISING, {"gravity": (0.0, 0.0, 0.0)})


SHOULDER, ARM = np.array([0.165, 0.02, 1.38]), np.array([0.70, 0.0, -0.71])
"""Of the published body, the left ones: where the arm turns [m], and its direction."""


def with_arms_raised(x: np.ndarray, angle: float) -> np.ndarray:
    """The published body, vertices x (n, 3) [m], with both arms raised [rad]."""
    side = np.sign(x[:, :1]) * [1.0, 0.0, 0.0] + [0.0, 1.0, 1.0]
    to = x * side - SHOULDER
    along = to @ ARM / np.linalg.norm(ARM)
    beside = np.linalg.norm(to - along[:, None] * ARM / np.linalg.norm(ARM), axis=1)
    reach = 0.09 + 0.2 * np.maximum(along, 0.0)  # the hand bends away from the line
    weight = np.clip((along + 0.02) / 0.14, 0.0, 1.0) * np.clip(3.0 - 2.0 * beside / reach, 0.0, 1.0)
    turn = angle * weight * weight * (3.0 - 2.0 * weight)
    across, up = to[:, 0], to[:, 2]
    turned = [across * np.cos(turn) - up * np.sin(turn), to[:, 1], across * np.sin(turn) + up * np.cos(turn)]
    return np.asarray((np.column_stack(turned) + SHOULDER) * side)


def leaves(count: int = 100, n: int = 14, spacing: float = 1.0) -> Scene:
    """Many sheets of 0.2 m float down, so far apart that none touches another; with 0.35 m some do after 7 frames."""
    vertices, quads = sheet(n, 0.2)
    random, across = np.random.default_rng(5), math.ceil(math.sqrt(count))
    bodies = []
    for number in range(count):
        turn = np.linalg.qr(np.eye(3) + 0.4 * random.normal(0.0, 1.0, (3, 3)))[0]
        place = np.array([spacing * (number % across), spacing * (number // across), 1.0 + 0.3 * random.random()])
        bodies.append(Body(vertices @ turn.T + place, quads.tolist(), PRESETS["Cotton"], name=f"Leaf {number}"))
    return Scene(bodies, [], None, 12)


def handkerchiefs(count: int = 30, n: int = 9) -> Scene:
    """Sheets of 0.15 m fall, one above the other, into an open box of 0.3 m."""
    vertices, quads = sheet(n, 0.15)
    random = np.random.default_rng(6)
    bodies = []
    for number in range(count):
        turn = np.linalg.qr(np.eye(3) + 0.1 * random.normal(0.0, 1.0, (3, 3)))[0]  # with 0.15, some cross
        place = [*random.uniform(-0.06, 0.06, 2), 0.08 + 0.045 * number]
        bodies.append(Body(vertices @ turn.T + place, quads.tolist(), CLOTH, name=f"Handkerchief {number}"))
    corners, triangles = box((-0.15, -0.15, 0.0), (0.15, 0.15, 0.2))
    is_lid = (corners[triangles][:, :, 2] > 0.1).all(axis=1)
    return Scene(bodies, [Collider(corners, triangles[~is_lid], name="Box")], None, 24)


def sword(n: int = 40, speed: float = 30.0) -> Scene:
    """A blade of 1 m, whose tip goes at a speed [m/s], hits a hung curtain broadside and slides off it."""
    corners, triangles = box((0.05, -0.02, -0.0025), (1.0, 0.02, 0.0025))
    hilt, first = np.array([-0.75, 0.0, -0.4]), 5

    def blade(angle: float) -> np.ndarray:
        x, y, z = corners.T
        turned = [x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle), z]
        return np.column_stack(turned) + hilt

    collider = Collider(blade(-0.5 * math.pi), triangles, name="Sword")

    def move(simulation: Simulation, frame: int) -> None:
        simulation.move_collider(collider, blade(min(speed * DT * max(frame - first, 0), math.pi) - 0.5 * math.pi))

    return Scene([hung(n, 1.0)], [collider], move, 24)


def hanging(n: int, self_collision: bool = True) -> Scene:
    """A curtain of cotton on two corners."""
    vertices, quads = sheet(n, 1.0)
    body = Body(vertices[:, [0, 2, 1]], quads.tolist(), PRESETS["Cotton"], pins=[n * (n - 1), n * n - 1])
    return Scene([body], [], None, 40, {"self_collision": self_collision})


def every(mean: float = NO_BAR, worst: float = NO_BAR) -> tuple[Part, ...]:
    """Bars on all frames."""
    return (Part("", slice(None), mean, worst),)


def sewing(mean: float, worst: float) -> tuple[Part, ...]:
    """Bars on both halves of the shirt."""
    return (
        Part("sewn from flat: ", slice(0, SEWING), mean, worst),
        Part("arms up and down: ", slice(SEWING, None), mean, worst),
    )


def worn(what: str, closed: bool, mean: float = NO_BAR, worst: float = NO_BAR, hits_end: float = NO_BAR) -> Row:
    """A garment on a body that is closed, or taken for open."""
    return Row(
        what if closed else f"{what}, body open", functools.partial(dressed, what, closed),
        ({"own": True, "detail": 0.5}, 4), every(mean, worst), hits=NO_BAR, hits_end=hits_end,
    )  # fmt: skip


def from_pattern(case: str, edge: float, mean: float, worst: float) -> Row:
    """A shirt with edges of this length [m]."""
    return Row(case, functools.partial(shirt, edge=edge), ({"own": True, "edge": 0.06}, 3), sewing(mean, worst))


def shot(speed: int, n: int) -> Row:
    """A ball that flies into a curtain of n x n."""
    scene = functools.partial(stress.shot_scene, float(speed), n=n)
    strain = STRAIN if (speed, n) == (50, 100) else NO_BAR
    return Row(f"ball at {speed} m/s, {n}²", scene, ({"n": 10}, 6), every(), CALM, strain)


ROWS: dict[str, Row] = {
    "cape": worn("cape", True, 120.0, 450.0, 0.0),
    "cape_open": worn("cape", False),
    "skirt": worn("skirt", True, 400.0, 850.0),
    "skirt_open": worn("skirt", False),
    "vest": worn("vest", True, 300.0, 600.0),
    "shirt": from_pattern("shirt, 2.6k", 0.0176, 500.0, 1500.0),
    "shirt8k": from_pattern("shirt, 8k", 0.00985, 1600.0, 5000.0),
    "leaves": Row("100 cloths of 196 vertices, apart", leaves, ({"count": 9, "n": 5}, 3), every(80.0)),
    "handkerchiefs": Row("30 handkerchiefs in a box", handkerchiefs, ({"count": 4, "n": 5}, 8), every(250.0, 600.0)),
    "curtain": Row("curtain 100²", functools.partial(hanging, n=100), ({"n": 9}, 3), every()),
    "curtain_without": Row(
        "curtain 100², no self-collision", functools.partial(hanging, n=100, self_collision=False), ({"n": 9}, 3),
        every(), crossings=NO_BAR,
    ),
    "layers": Row("ten layers", piles.layers_scene, ({"n": 6}, 4), every(1000.0)),
    "slivers": Row("slivers of 85 : 1", piles.slivers_scene, ({"n": 21}, 8), every(300.0)),
    "beetle": Row("non-manifold scan on a floor", piles.scan_scene, ({}, 3), every(600.0), crossings=NO_BAR),
    "plates": Row("plates", stress.plates_scene, ({"n": 8}, 24), every(), CALM),
    "funnel": Row("funnel", stress.funnel_scene, ({"n": 10}, 12), every(), CALM),
    "sword": Row("sword, 30 m/s", sword, ({"n": 10, "speed": 10.0}, 10), every(), CALM, STRAIN),
    "mangle": Row("mangle, 2 mm", stress.mangle_scene, ({"n": 9}, 8), every(), NO_BAR, STRAIN),
    **{f"ball{speed}_{n}": shot(speed, n) for speed in (20, 50) for n in (40, 100)},
}  # fmt: skip
"""By name."""


class Beside(NamedTuple):
    """Two runs whose mean frames are compared.

    Attributes:
        figure: What the ratio is.
        one, other: Row and backend of both; the ratio is that of `one` over `other`.
        bar: The largest that is accepted.
    """

    figure: str
    one: tuple[str, str]
    other: tuple[str, str]
    bar: float


RATIOS = (
    *(Beside(f"{what}: closed beside open", (what, "numba"), (f"{what}_open", "numba"), 1.0)
      for what in ("cape", "skirt")),
    *(Beside(f"{what}: NumPy beside Numba", (what, "numpy"), (what, "numba"), 4.0)
      for what in ("cape", "skirt", "cape_open", "skirt_open")),
    *(Beside(f"curtain 100², {name}: self-collision beside none",
             ("curtain", kernels), ("curtain_without", kernels), 1.4)
      for kernels, name in (("numba", "Numba"), ("numpy", "NumPy"))),
)  # fmt: skip
"""What is compared with what."""


def checks(row: Row, scene: Scene, simulation: Simulation, seen: Watched) -> Iterator[Check]:
    """What came out of a row beside its bars."""
    cpu = 1000.0 * np.array(seen.cpu)
    for part in row.parts:
        some = cpu[part.frames]
        if len(some):
            yield Check(row.case, f"{part.name}mean of a frame [ms]", float(some.mean()), part.mean)
            yield Check(row.case, f"{part.name}worst frame [ms]", float(some.max()), part.worst)
    yield Check(row.case, "worst frame beside calm ones", float(cpu.max() / calm(cpu)), row.calm)
    yield Check(row.case, "crossings of cloth, worst frame", float(max(seen.crossings)), row.crossings)
    yield Check(row.case, "crossings with colliders, worst frame", float(max(seen.hits)), row.hits)
    yield Check(row.case, "crossings with colliders, last frame", float(seen.hits[-1]), row.hits_end)
    yield Check(row.case, "mean strain, worst frame [%]", 100.0 * max(seen.mean), NO_BAR)
    yield Check(row.case, "largest strain, worst frame [%]", 100.0 * max(seen.strain), row.strain)
    yield Check(row.case, "fastest vertex, worst frame [m/s]", max(seen.speed), NO_BAR)
    yield Check(row.case, "speed of vertices, worst frame, rms [m/s]", max(seen.rms), NO_BAR)
    if sewn := simulation._state.memory.get("sewing"):
        welded = sewn["pairs"]
        is_due = len(seen.cpu) >= SEWING
        pairs = f"open pairs of {welded.shape[1]}, last frame"
        yield Check(row.case, pairs, float((welded[2] == 0.0).sum()), 0.0 if is_due else NO_BAR)
    if len(seen.cpu) < scene.frames:
        yield Check(row.case, "frames that were not reached in time", float(scene.frames - len(seen.cpu)), 0.0)


def play(
    name: str, kernels: str, own: bool = False, small: bool = False, frames: int = 0, patience: float = math.inf,
    say: Callable[[str], None] | None = None,
) -> tuple[list[Check], Watched]:  # fmt: skip
    """Play a row.

    Args:
        name: Which.
        kernels: Backend.
        own: Whether figures are ours, though there may be others.
        small: Whether it is as small as in tests.
        frames: How many at most; 0: as many as it has.
        patience: Wall time after which no further frame begins [s].
        say: Is told each frame in a line.
    """
    row = ROWS[name]
    asked, few = row.small if small else ({}, 0)
    if own and "own" in inspect.signature(row.make).parameters:
        asked = {**asked, "own": True}
    scene = row.make(**asked)
    scene = scene._replace(frames=min(frames or few or scene.frames, scene.frames))
    simulation, seen = scene.play(kernels, False, say, patience)
    return list(checks(row, scene, simulation, seen)), seen


def calm(cpu: np.ndarray) -> float:
    """Mean of the cheaper half of the frames, of their times (frames,)."""
    return float(np.sort(cpu)[: max(1, len(cpu) // 2)].mean())
