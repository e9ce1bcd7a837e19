"""Cloth drapes alike at the default and converged, coarse and fine, and comes to rest.

Discs of 30 cm hang over a disc of 18 cm as on Cusick's tester: what counts is the share of the ring around it that
their shadow covers. A disc has several ways to fold, whose shares differ by ten points: all begin with a trace of the
same number of folds, and shares are means over starts with these elsewhere on the mesh. Curtains are compared from the
same folds, those of the finest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from pbd_addon import Body, Material, Simulation
from tests.helpers.meshes import flip_to_delaunay, grid, jittered_sheet

from .check import Check
from .watch import sheet

DT = 1.0 / 24.0
FRAMES, AVERAGED = 120, 24
DRAG = 5.0
"""Slows down what would swing for long; it moves no shape at rest [1/s]."""

FOLDS, TRACE = 6, 0.005
"""Folds that a drape begins with, and how high they are at its edge [m]. With 160 steps, cotton covers 73.4 to 74.2 %
from three such starts, 60.7 to 69.9 % from five of noise."""

STEPS, STARTS = 160, 3
"""Quality steps of what counts as converged, and the number of starts."""

BAR, AUTOMATIC_BAR, ADVISED_BAR = 8.0, 4.0, 5.0
"""Largest error at the default, with Automatic, and with the steps that the default advises [points]."""


class Drape(NamedTuple):
    """A disc of cloth.

    Attributes:
        preset: Its material.
        size: Of its quads, or of those that were shaken [m].
        mesh: "quads", "Delaunay", or "turned" by 22 degrees.
        converged: The share that its shadow covers, with `STEPS` steps and dihedral or isometric bending as at the
            default, mean over `STARTS`, which differ by up to 14 points; made by `remake`, which is
            `make bench ARGS="--only truth --full"` [%].
        radius, support: Of the cloth, and of what it hangs over, where it is pinned [m].
    """

    preset: str
    size: float
    mesh: str
    converged: float
    radius: float = 0.15
    support: float = 0.09


DRAPES = [
    Drape("Cotton", 0.01, "quads", 69.3),
    Drape("Silk", 0.01, "quads", 53.3),
    Drape("Wool", 0.01, "quads", 52.6),
    Drape("Denim", 0.01, "quads", 76.7),
    Drape("Cotton", 0.02, "quads", 60.3),
    Drape("Cotton", 0.0075, "quads", 65.9),
    Drape("Cotton", 0.005, "quads", 68.1),
    Drape("Cotton", 0.01, "turned", 68.7),
    Drape("Cotton", 0.01, "Delaunay", 64.2),
]

CURTAINS, QUICK_CURTAINS = (128, 64, 32), (64, 32)
"""Quads along a curtain, the finest first."""

CURTAIN_FRAMES = 60
"""They are slowed down, and each is played twice."""

APART, SILHOUETTE = 0.8, 15.0
"""Distance of a curtain's corners [m], and the largest difference of its lowest point and of its border [mm]."""

RUBBING = 18.0
"""Curvature that the least of the measured fabrics keeps, see docs/materials.md [1/m]."""

CALM = 5.0
"""Largest rms speed four seconds after a load is still, with the damping that fabrics have [mm/s]."""


def checks(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """Shares of drapes beside converged ones, those of one fabric side by side, borders of curtains, and stillness."""
    found: list[float] = []
    for drape in DRAPES[:1] + DRAPES[-1:] if quick else DRAPES:
        share, steps, advised = cover(drape, kernels, automatic)
        found += [share] if drape.preset == "Cotton" else []
        name = f"drape of {drape.preset}, {1000.0 * drape.size:g} mm, {drape.mesh}"
        figure = f"cover beside converged {drape.converged:.1f} % [points]"
        bar = AUTOMATIC_BAR if automatic else BAR
        yield Check(f"{name}, {steps:.0f} steps", figure, share - drape.converged, bar)
        if advised and not automatic:
            better = cover(drape, kernels, False, advised).share - drape.converged
            yield Check(f"{name}, the {advised} steps advised", figure, better, ADVISED_BAR)
    yield Check("drapes of Cotton on all meshes", "difference of cover [points]", float(np.ptp(found)), bar)
    yield from _curtains(QUICK_CURTAINS if quick else CURTAINS, kernels, automatic)
    yield from _stillness(kernels, automatic)


def remake(kernels: str) -> None:
    """Make the converged shares anew."""
    for k, drape in enumerate(DRAPES):
        DRAPES[k] = drape._replace(converged=cover(drape, kernels, False, STEPS).share)


def disc(drape: Drape, start: int, **more: Any) -> Body:
    """The disc, level but for a trace of folds, pinned within its support; more: of its material."""
    radius, support = drape.radius, drape.support
    cells = 2 * round(radius / drape.size)
    rest, quads = grid(cells, cells, 2.0 * radius, 2.0 * radius)
    faces = np.array(quads)
    if drape.mesh == "Delaunay":
        rest, faces = jittered_sheet(cells + 1)
        rest = 2.0 * radius * rest
    faces = faces[np.linalg.norm(rest[faces].mean(axis=1), axis=1) < radius]
    if drape.mesh == "turned":
        turn = np.exp(1j * np.radians(22.0)) * (rest[:, 0] + 1j * rest[:, 1])
        rest = np.column_stack([turn.real, turn.imag, rest[:, 2]])
    used, ids = np.unique(faces, return_inverse=True)
    rest = rest[used]
    out = np.linalg.norm(rest, axis=1)
    angle = np.arctan2(rest[:, 1], rest[:, 0]) + start * 2.0 * np.pi / FOLDS / STARTS
    begin = rest.copy()
    begin[:, 2] = TRACE * np.cos(FOLDS * angle) * np.maximum(out - support, 0.0) / (radius - support)
    pins = np.flatnonzero(out <= support + 1e-9)
    material = dataclasses.replace(Material.preset(drape.preset), **more)
    return Body(begin, ids.reshape(faces.shape).tolist(), material, pins=pins, rest_vertices=rest)


class Cover(NamedTuple):
    """Discs from some starts.

    Attributes:
        share: Of the ring that the shadow covers in the last second, mean [%].
        steps: Of the last frames, mean.
        advised: Steps that these advise, the most of them; 0 for none.
    """

    share: float
    steps: float
    advised: int


def cover(drape: Drape, kernels: str, automatic: bool, steps: int = 20) -> Cover:
    """Discs from `STARTS`."""
    found = [hung(drape, start, kernels, automatic, steps) for start in range(STARTS)]
    share, used = (float(np.mean(each)) for each in zip(*((one.share, one.steps) for one in found)))
    return Cover(share, used, max(one.advised for one in found))


class Hung(NamedTuple):
    """A disc that has come to rest.

    Attributes:
        share: Of the ring that the shadow covers, mean of the last second [%].
        steps: Of the last frame.
        body, x: It, and where its vertices are, (n, 3) [m].
        advised: Steps that the last frame advises; 0 for none.
    """

    share: float
    steps: int
    body: Body
    x: np.ndarray
    advised: int = 0


def hung(
    drape: Drape, start: int, kernels: str, automatic: bool, steps: int = 20, more: Mapping[str, Any] | None = None
) -> Hung:
    """The disc after five seconds; more: of its material."""
    body = disc(drape, start, **{"drag": DRAG, **(more or {})})
    simulation = Simulation([body], kernels=kernels, automatic=automatic, substeps=steps, self_collision=False)
    reports = [simulation.step(DT) for _ in range(FRAMES - AVERAGED)]
    held, whole = np.pi * drape.support**2, shadow(body.rest_vertices, body.mesh.triangles)
    areas = []
    for frame in range(AVERAGED):
        reports.append(simulation.step(DT))
        if frame % 6 == 5:
            areas.append(shadow(simulation.positions(body), body.mesh.triangles))
    share = 100.0 * (float(np.mean(areas)) - held) / (whole - held)
    advice = reports[-1].advice
    x = simulation.positions(body).copy()
    return Hung(share, reports[-1].substeps, body, x, advice.substeps if advice else 0)


CELL = 5e-4
"""Of the grid in which shadows are counted [m]; a disc's area is right to 0.3 % there, its own beside it to 0.1 %."""


def shadow(x: np.ndarray, triangles: np.ndarray) -> float:
    """Area that triangles at positions x (n, 3) [m] cover, seen from above [m²]."""
    a, b, c = x[triangles][:, :, :2].transpose(1, 0, 2)
    sides = max(float(np.linalg.norm(p - q, axis=1).max()) for p, q in ((a, b), (b, c), (c, a)))
    n = int(np.ceil(1.5 * sides / CELL))
    u, v = (np.arange(n)[:, None] + np.zeros(n)).ravel() / n, np.tile(np.arange(n), n) / n
    u, v = u[u + v < 1.0] + 1.0 / (3 * n), v[u + v < 1.0] + 1.0 / (3 * n)
    low, high = (np.floor(end / CELL).astype(int) for end in (x[:, :2].min(axis=0), x[:, :2].max(axis=0)))
    seen = np.zeros(tuple(high - low + 1), bool)
    for start in range(0, len(a), 512):
        one, two, three = (side[start : start + 512, None] for side in (a, b, c))
        place = np.floor((one + u[:, None] * (two - one) + v[:, None] * (three - one)) / CELL).astype(int) - low
        seen[place[..., 0], place[..., 1]] = True
    return float(seen.sum()) * CELL**2


def _curtains(sizes: tuple[int, ...], kernels: str, automatic: bool) -> Iterator[Check]:
    """Curtains of quads and of triangles from the shape of the finest one."""
    finest = sizes[0]
    folds = _drawn(finest, "quads", None, kernels, automatic)
    wanted = _drawn(finest, "quads", folds, kernels, automatic)
    bodies = [(size, "quads") for size in sizes[1:]] + [(size, "triangles") for size in sizes]
    for size, mesh in bodies:
        every = finest // size
        x = _drawn(size, mesh, folds[::every, ::every], kernels, automatic)
        like = wanted[::every, ::every]
        border = np.ones(x.shape[:2], bool)
        border[1:-1, 1:-1] = False
        off = 1e3 * float(np.sqrt(((x - like)[border][:, [0, 2]] ** 2).sum(axis=1).mean()))
        name = f"curtain of {size} {mesh} beside {finest} quads"
        yield Check(name, "lowest point [mm]", 1e3 * float(x[..., 2].min() - wanted[..., 2].min()), SILHOUETTE)
        yield Check(name, "border from the front, rms [mm]", off, SILHOUETTE)


def _drawn(size: int, mesh: str, begin: np.ndarray | None, kernels: str, automatic: bool) -> np.ndarray:
    """A square metre of *Cotton* that has come to rest on two corners, row by row upwards, (size + 1, size + 1, 3) [m].

    From a flat one with slight waves, whose corners are drawn together in a second, or from this shape.
    """
    flat, quads = sheet(size + 1, 1.0)
    rest = flat[:, [0, 2, 1]]
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]) if mesh == "triangles" else quads
    if mesh == "triangles":
        faces = flip_to_delaunay(flat, faces)
    start = rest + [0.0, 0.005, 0.0] * np.cos(4.0 * np.pi * rest[:, :1]) if begin is None else begin.reshape(-1, 3)
    pins = [size * (size + 1), size * (size + 2)]
    material = dataclasses.replace(Material.preset("Cotton"), drag=DRAG)
    body = Body(start, faces.tolist(), material, pins=pins, rest_vertices=rest)
    simulation = Simulation([body], kernels=kernels, automatic=automatic, self_collision=False)
    for frame in range(CURTAIN_FRAMES):
        if begin is None:
            way = 0.5 * (1.0 - APART) * min(1.0, (frame + 1) * DT)
            simulation.set_pin_targets(body, rest[pins] + np.array([[way, 0.0, 0.0], [-way, 0.0, 0.0]]))
        simulation.step(DT)
    return simulation.positions(body).reshape(size + 1, size + 1, 3).copy()


def _stillness(kernels: str, automatic: bool) -> Iterator[Check]:
    """Speed of a drape and of a curtain, 4 s after nothing pulls at them any more."""
    cases = ("Cotton", 0.0), ("Silk", 0.0), ("Cotton", RUBBING), ("Silk", RUBBING)
    for preset, kept in cases:
        body = disc(Drape(preset, 0.01, "quads", 0.0), 0, bend_friction=kept * Material.preset(preset).bend)
        simulation = Simulation([body], kernels=kernels, automatic=automatic, self_collision=False)
        speeds = []
        for _ in range(FRAMES):
            simulation.step(DT)
            speeds.append(float((simulation.velocities(body) ** 2).sum(axis=1).mean()))
        how = f", friction that keeps {kept:g} 1/m" if kept else ""
        yield Check(f"drape of {preset}, its own damping{how}", "rms speed in the last half second [mm/s]",
                    1e3 * float(np.sqrt(np.mean(speeds[-12:]))), CALM)  # fmt: skip
