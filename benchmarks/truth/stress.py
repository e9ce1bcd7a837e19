"""Contact under stress: crossings by a checker of its own, strain in every frame, speed.

Scenes in which the crossing guard has to hold cloth back. A sheet without a crossing that is stretched many times over
is no better than one that has let something through, so that both have a bar. They take too long for `make bench`:

    python -m benchmarks.truth.stress numba border inside
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterator

import numpy as np

from pbd_addon import Body, Collider, Simulation

from ..contact_scenes import icosphere
from . import piles
from .check import NO_BAR, Check, table
from .watch import CLOTH, DT, Scene, box, hung, sheet, tube, watch


def common_border(kernels: str, automatic: bool) -> Iterator[Check]:
    """A level sheet of 15 x 15 cells, of which 100 are cut off and lie where they were: their borders share places."""
    vertices, quads = sheet(16, 1.0)
    is_free = (np.arange(225) % 15 < 10) & (np.arange(225) // 15 < 10)

    def piece(faces: np.ndarray, shift: float = 0.0) -> Body:
        used, ids = np.unique(faces, return_inverse=True)
        pins = np.flatnonzero(vertices[used, 1] > 0.49)
        return Body(vertices[used] + np.array([0.0, 0.0, shift]), ids.reshape(-1, 4).tolist(), CLOTH, pins=pins)

    free, pinned = quads[is_free], quads[~is_free]
    reference = watch([piece(pinned)], [], None, 24, kernels, automatic)[0]
    bodies = [piece(pinned), piece(free)]
    simulation, seen = watch(bodies, [], None, 24, kernels, automatic)
    pieces = [piece(pinned), piece(free, -0.2)]
    free_fall, apart = watch(pieces, [], None, 24, kernels, automatic)
    case = "two cloths with a common border"
    alone, beside = reference.positions(reference.bodies[0]), simulation.positions(bodies[0])
    yield Check(case, "crossings of cloth, worst frame", float(max(seen.crossings)), 0.0)
    off = np.linalg.norm(alone - beside, axis=1).mean() / np.linalg.norm(alone - bodies[0].vertices, axis=1).mean()
    yield Check(case, "motion of the pinned part beside alone, off [%]", 100.0 * off, 2.0)
    fallen, alone = (
        run.bodies[1].vertices[:, 2].mean() - run.positions(run.bodies[1])[:, 2].mean()
        for run in (simulation, free_fall)
    )
    yield Check(case, "fall of the free part short of that apart [%]", 100.0 * (1.0 - fallen / alone), 2.0)
    yield Check(case, "CPU time beside that of pieces apart", sum(seen.cpu) / sum(apart.cpu), 1.5)
    yield Check(case, "largest strain, worst frame [%]", 100.0 * max(seen.strain), 40.0)


def shot_scene(speed: float, n: int = 40) -> Scene:
    """A ball of radius 0.15 m flies through the middle of a curtain at a constant speed, and 3 m on."""
    vertices, faces = icosphere(3, 0.15)
    ball = Collider(vertices - np.array([0.0, 0.3, 0.0]), faces)

    def move(simulation: Simulation, frame: int) -> None:
        way = min(max(frame - 3, 0) * speed * DT, 3.0)
        simulation.move_collider(ball, ball.vertices + np.array([0.0, way, 0.0]))

    return Scene([hung(n, 1.0)], [ball], move, 30)


def shot(speed: float, kernels: str, automatic: bool, n: int = 40) -> Iterator[Check]:
    """What becomes of `shot_scene`."""
    seen = shot_scene(speed, n).play(kernels, automatic)[1]
    yield from seen.checks(f"ball at {speed:g} m/s into a curtain of {n}²", 40.0, 3.0)


def inside(kernels: str, automatic: bool) -> Iterator[Check]:
    """A sheet starts inside of a ball, another half through a floor."""
    vertices, quads = sheet(24, 0.6)
    ball, faces = icosphere(3, 0.6)
    bodies = [Body(vertices, quads.tolist(), CLOTH)]
    seen = watch(bodies, [Collider(ball, faces)], None, 48, kernels, automatic)[1]
    yield Check("start inside of a ball", "largest strain, worst frame [%]", 100.0 * max(seen.strain), 20.0)
    most = 0.5 + 9.81  # depenetration, and a fall of a second
    yield Check("start inside of a ball", "fastest vertex [m/s]", max(seen.speed), most)
    corners, triangles = box((-1.0, -1.0, -1.0), (1.0, 1.0, 0.0))
    bodies = [Body(vertices[:, [0, 2, 1]], quads.tolist(), CLOTH)]
    seen = watch(bodies, [Collider(corners, triangles)], None, 24, kernels, automatic)[1]
    yield Check("start half through a floor", "largest strain, worst frame [%]", 100.0 * max(seen.strain), 20.0)
    yield Check("start half through a floor", "crossings of cloth, worst frame", float(max(seen.crossings)), 0.0)


def spike(kernels: str, automatic: bool) -> Iterator[Check]:
    """A sheet is dragged by one edge at 1 m/s over a spike, 5 cm wide and 40 cm long, on which it lies."""
    n = 31
    vertices, quads = sheet(n, 0.6)
    body = Body(vertices + np.array([0.0, 0.0, 0.42]), quads.tolist(), CLOTH, pins=range(0, n * n, n))
    tip = np.array([[0.0, 0.0, 0.4], [0.025, 0.0, 0.0], [-0.0125, 0.0217, 0.0], [-0.0125, -0.0217, 0.0]])

    def move(simulation: Simulation, frame: int) -> None:
        way = max(frame - 8, 0) * DT
        simulation.set_pin_targets(body, body.vertices[body.pin_ids] - [way, 0.0, 0.0])

    spike = Collider(tip, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])
    seen = watch([body], [spike], move, 32, kernels, automatic)[1]
    yield from seen.checks("dragged over a spike", 40.0, 40.0)
    yield Check("dragged over a spike", "mean strain, worst frame [%]", 100.0 * max(seen.mean), 2.0)


def plates_scene(n: int = 24) -> Scene:
    """A sheet that has fallen on its edge and crumpled is crushed between two plates to 10 mm; then these stand still.

    The plates open again at the end.
    """
    high = 0.3
    vertices, quads = sheet(n, 0.4)
    rough = np.random.default_rng(1).normal(0.0, 1e-4, vertices.shape)
    body = Body(vertices[:, [0, 2, 1]] + [0.0, 0.0, 0.22] + rough, quads.tolist(), CLOTH, rest_vertices=vertices)
    lower, upper = (Collider(*box((-0.5, -0.5, z), (0.5, 0.5, z + 0.1))) for z in (-0.1, high + 0.2))

    def move(simulation: Simulation, frame: int) -> None:
        down = np.interp(frame, [0, 20, 44, 60, 72], [0.0, 0.0, high + 0.19, high + 0.19, 0.0])
        simulation.move_collider(upper, upper.vertices - [0.0, 0.0, down])

    return Scene([body], [lower, upper], move, 72)


def plates(kernels: str, automatic: bool) -> Iterator[Check]:
    """What becomes of `plates_scene`."""
    seen = plates_scene().play(kernels, automatic)[1]
    yield from seen.checks("crushed between two plates", NO_BAR, 10.0)
    yield Check(
        "crushed between two plates", "fastest vertex after the plates stand [m/s]", max(seen.speed[46:60]), 1.0
    )


def ring(kernels: str, automatic: bool) -> Iterator[Check]:
    """A sheet of 0.6 m is pulled by its middle through a ring with a hole of 0.12 m, at 1 m/s."""
    n, around, tube = 31, 32, 12
    vertices, quads = sheet(n, 0.6)
    u, v = np.meshgrid(np.arange(around) * math.tau / around, np.arange(tube) * math.tau / tube, indexing="ij")
    radius = 0.08 + 0.02 * np.cos(v)
    torus = np.stack([radius * np.cos(u), radius * np.sin(u), 0.02 * np.sin(v)], axis=-1).reshape(-1, 3)
    ids = np.arange(around * tube).reshape(around, tube)
    there = np.roll(ids, -1, axis=0)
    faces = np.stack([ids, there, np.roll(there, -1, axis=1), np.roll(ids, -1, axis=1)], axis=-1).reshape(-1, 4)
    middle = n * n // 2
    pins = [middle, middle + 1, middle - 1, middle + n, middle - n]
    body = Body(vertices + np.array([0.0, 0.0, 0.05]), quads.tolist(), CLOTH, pins=pins)

    def move(simulation: Simulation, frame: int) -> None:
        way = max(frame - 4, 0) * DT
        simulation.set_pin_targets(body, body.vertices[body.pin_ids] - [0.0, 0.0, way])

    seen = watch([body], [Collider(torus, faces.tolist())], move, 24, kernels, automatic)[1]
    yield from seen.checks("pulled through a ring", 40.0, 40.0)
    yield Check("pulled through a ring", "mean strain, worst frame [%]", 100.0 * max(seen.mean), 2.0)


def funnel_scene(n: int = 26) -> Scene:
    """A sheet of 0.5 m is pulled by its middle through a funnel with a spout of 0.16 m, at 0.5 m/s."""
    vertices, quads = sheet(n, 0.5)
    walls = tube(lambda z: np.where(z > 0.0, 0.08 + z, 0.08), np.array([0.3, 0.2, 0.1, 0.0, -0.1, -0.2]))
    middle = n * (n // 2) + n // 2
    body = Body(vertices + np.array([0.0, 0.0, 0.32]), quads.tolist(), CLOTH, pins=[middle])

    def move(simulation: Simulation, frame: int) -> None:
        way = 0.5 * max(frame - 6, 0) * DT
        simulation.set_pin_targets(body, body.vertices[body.pin_ids] - [0.0, 0.0, way])

    return Scene([body], [Collider(*walls)], move, 40)


def funnel(kernels: str, automatic: bool) -> Iterator[Check]:
    """What becomes of `funnel_scene`."""
    seen = funnel_scene().play(kernels, automatic)[1]
    yield from seen.checks("pulled through a funnel", 40.0, 40.0)
    yield Check("pulled through a funnel", "mean strain, worst frame [%]", 100.0 * max(seen.mean), 2.0)


def towel(kernels: str, automatic: bool) -> Iterator[Check]:
    """A towel of 0.3 m x 0.6 m, held at both ends, is twisted by 720° in 2 s while its ends come closer by a third."""
    vertices, quads = sheet(21, 0.3)
    vertices[:, 0] *= 2.0
    ends = [np.flatnonzero(np.abs(vertices[:, 0] - x) < 1e-9) for x in (-0.3, 0.3)]
    body = Body(vertices, quads.tolist(), CLOTH, pins=np.concatenate(ends))
    side = np.sign(body.vertices[body.pin_ids, 0])

    def move(simulation: Simulation, frame: int) -> None:
        share = min(frame / 48, 1.0)
        angle = 0.5 * side * math.radians(720.0) * share
        x, y, _ = body.vertices[body.pin_ids].T
        there = [x * (1.0 - share / 3.0), y * np.cos(angle), y * np.sin(angle)]
        simulation.set_pin_targets(body, np.column_stack(there))

    seen = watch([body], [], move, 56, kernels, automatic)[1]
    yield from seen.checks("towel twisted by 720°", 40.0, 40.0)
    yield Check("towel twisted by 720°", "mean strain, worst frame [%]", 100.0 * max(seen.mean), 2.0)


def mangle_scene(n: int = 21) -> Scene:
    """A sheet is drawn between two rollers of 0.1 m that turn against each other, 2 mm apart, and comes out below."""
    vertices, quads = sheet(n, 0.3)
    body = Body(vertices[:, [0, 2, 1]] + [0.0, 0.0, 0.16], quads.tolist(), CLOTH)
    roller, sides = tube(lambda z: 0.1 + 0.0 * z, np.linspace(0.25, -0.25, 6), 48)
    caps = [list(range(47, -1, -1)), list(range(len(roller) - 48, len(roller)))]
    faces = [face[::-1] for face in [*sides, *caps]]
    rollers = [Collider(roller[:, [2, 1, 0]] + [0.0, y, 0.0], faces) for y in (-0.101, 0.101)]

    def move(simulation: Simulation, frame: int) -> None:
        for roller, way in zip(rollers, (1.0, -1.0)):
            center = roller.vertices.mean(axis=0)
            angle = -way * math.radians(6.0) * max(frame - 4, 0)
            x, y, z = (roller.vertices - center).T
            turned = [x, y * np.cos(angle) - z * np.sin(angle), y * np.sin(angle) + z * np.cos(angle)]
            simulation.move_collider(roller, np.column_stack(turned) + center)

    return Scene([body], rollers, move, 60)


def mangle(kernels: str, automatic: bool) -> Iterator[Check]:
    """What becomes of `mangle_scene`."""
    seen = mangle_scene()._replace(frames=48).play(kernels, automatic)[1]
    yield from seen.checks("mangle, 2 mm", NO_BAR, 40.0)
    yield Check("mangle, 2 mm", "fastest vertex [m/s]", max(seen.speed), 5.0)


def fist(kernels: str, automatic: bool) -> Iterator[Check]:
    """Five capsules of 0.03 m close around a hanging sheet to a fist of 0.05 m, stay, and open again."""
    n = 25
    vertices, quads = sheet(n, 0.4)
    body = Body(vertices[:, [0, 2, 1]], quads.tolist(), CLOTH, pins=range(n * (n - 1), n * n))
    ball, faces = icosphere(2, 0.03)
    capsule = ball[:, [0, 2, 1]] + np.where(ball[:, 2:3] > 0.0, 1.0, -1.0) * [0.0, 0.06, 0.0]
    places = [np.array([math.cos(a), math.sin(a)]) for a in np.arange(5) * math.tau / 5 + 0.3]
    fingers = [Collider(capsule[:, [0, 2, 1]] + [0.16 * x, 0.16 * y, 0.0], faces) for x, y in places]

    def move(simulation: Simulation, frame: int) -> None:
        share = np.interp(frame, [0, 16, 32, 44], [0.0, 1.0, 1.0, 0.0])
        for finger, (x, y) in zip(fingers, places):
            simulation.move_collider(finger, finger.vertices - 0.12 * share * np.array([x, y, 0.0]))

    seen = watch([body], fingers, move, 48, kernels, automatic)[1]
    yield from seen.checks("fist of five capsules", NO_BAR, 10.0)
    yield Check("fist of five capsules", "fastest vertex [m/s]", max(seen.speed), 5.0)


SCENES = {
    "border": common_border,
    "shot20": functools.partial(shot, 20.0),
    "shot50": functools.partial(shot, 50.0),
    "shot20_fine": functools.partial(shot, 20.0, n=100),
    "shot50_fine": functools.partial(shot, 50.0, n=100),
    "inside": inside,
    "spike": spike,
    "plates": plates,
    "ring": ring,
    "funnel": funnel,
    "towel": towel,
    "mangle": mangle,
    "fist": fist,
    "scan": piles.scan,
    "layers": piles.layers,
    "slivers": piles.slivers,
}
"""By name."""


def checks(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """All scenes, or the two quickest."""
    for name in ("border", "inside") if quick else SCENES:
        yield from SCENES[name](kernels, automatic)


if __name__ == "__main__":
    backend, *names = sys.argv[1:]
    for name in names or SCENES:
        print(table(list(SCENES[name](backend, False))), flush=True)
