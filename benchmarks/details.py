"""What the race does not tell about our solver: where its time goes, how true the motion is, what memory it takes."""

from __future__ import annotations

import dataclasses
import gc
import time
import tracemalloc

import numpy as np

from pbd_addon import PRESETS, Body, Material, Plane, Simulation, Wind, kernels as backends
from tests.helpers.meshes import icosphere

from . import cost
from .contestants import DEFAULT_SUBSTEPS, FABRIC
from .curtain import FRAME_RATE, FRAMES, WARM_UP, Curtain
from .ours import hung, need

FRAME = 1.0 / FRAME_RATE
REFERENCE_SUBSTEPS = 160
"""With so many the motion changes no more to speak of: its error falls with their number."""

GUSTS = Wind((1.0, 8.0, 0.0))
"""A fresh breeze against the curtain."""

INFLATED = Material(pressure_mode="VOLUME", pressure=1.2)
RADIUS = 0.5
"""Of the balloons [m]."""


def machine() -> dict[str, object]:
    """Blender's default settings, as it states them; and Numba's kernels compiled, before anything is measured."""
    from . import blender_cloth, contact_measures, contact_scenes, contact_solvers

    started = time.perf_counter()
    found = backends.available()
    for kernels in found:
        backends.load(kernels)
    compiled = time.perf_counter() - started
    example = contact_scenes.drape(3, True)
    return {
        "backends": found,
        "compile": compiled,
        "cloth": blender_cloth.stated_settings(),
        "contact": contact_solvers.stated_contact_settings(example),
        "checked": contact_measures.check(),
    }


def costs(n: int, subdivisions: int) -> dict[str, object]:
    """CPU time of the parts of a frame, by backend, and of each kind of constraint, on a curtain and a balloon."""
    curtain = Curtain.of_size(n)
    frames: dict[str, dict[str, float]] = {}
    windy: dict[str, dict[str, float]] = {}
    for kernels in backends.available():
        _, simulation = hung(curtain, kernels, False, DEFAULT_SUBSTEPS)
        for _ in range(FRAMES // 2):
            simulation.step(FRAME)
        frames[kernels] = cost.of_a_frame(simulation, FRAME)
        simulation.set_wind(GUSTS)
        windy[kernels] = cost.of_a_frame(simulation, FRAME)
    kinds = cost.of_constraints(simulation, f"curtain {n} × {n}", FRAME)
    kinds += cost.of_constraints(workbench(curtain), f"soft pins {n} × {n}", FRAME)
    _, ball = blown_up(subdivisions, "numpy")
    for _ in range(5):
        ball.step(FRAME)
    kinds += cost.of_constraints(ball, f"balloon of {ball.positions(ball.bodies[0]).shape[0]}", FRAME)
    return {"frames": frames, "windy": windy, "kinds": [dataclasses.asdict(kind) for kind in cost.first_of_each(kinds)]}


def workbench(curtain: Curtain) -> Simulation:
    """A curtain every vertex of which has a soft pin and a neighbor to keep apart from: kinds the race has not."""
    every = np.arange(len(curtain.vertices))
    body = Body(curtain.vertices, curtain.faces, material=PRESETS[FABRIC], pins=dict.fromkeys(every.tolist(), 0.5))
    simulation = Simulation([body])
    across = curtain.faces[:, [0, 2]]
    simulation.keep_apart(body, across[:, 0], body, across[:, 1], 0.9 / curtain.n)
    for _ in range(3):
        simulation.step(FRAME)
    return simulation


def blown_up(subdivisions: int, kernels: str) -> tuple[Body, Simulation]:
    """A ball on a floor that is to grow to 1.2 times its volume."""
    vertices, triangles = icosphere(subdivisions, RADIUS)
    vertices[:, 2] += RADIUS
    body = Body(vertices, triangles, material=INFLATED, name="Balloon")
    return body, Simulation([body], colliders=[Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))], kernels=kernels)


def balloon(subdivisions: int, kernels: str, frames: int = FRAMES) -> dict[str, object]:
    """What a balloon on a floor costs: CPU and wall time of a frame [s], set-up [s], volume over that at rest."""
    need(kernels)
    start = time.process_time()
    body, simulation = blown_up(subdivisions, kernels)
    setup = time.process_time() - start
    at_rest = body.volume(simulation.positions(body))
    cpu, wall = [], []
    for _ in range(frames):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        simulation.step(FRAME)
        cpu.append(time.process_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
    return {
        "kernels": kernels, "vertices": len(body.vertices), "cpu": float(np.median(cpu[WARM_UP:])),
        "wall": float(np.median(wall[WARM_UP:])), "setup": setup,
        "volume": body.volume(simulation.positions(body)) / at_rest,
    }  # fmt: skip


def motion(n: int, substeps: list[int], frames: int = FRAMES) -> dict[str, object]:
    """How far the center of mass of a curtain is from where it is with very many substeps.

    Returns:
        Root mean square over the frames of that distance [m], by number of substeps.
    """
    kernels = backends.available()[-1]
    curtain = Curtain.of_size(n)
    paths = {}
    for count in (REFERENCE_SUBSTEPS, *substeps):
        body, simulation = hung(curtain, kernels, False, count)
        path = []
        for _ in range(frames):
            simulation.step(FRAME)
            path.append(curtain.shares @ simulation.positions(body))
        paths[count] = np.array(path)
    true = paths.pop(REFERENCE_SUBSTEPS)
    errors = {str(count): float(np.sqrt(((path - true) ** 2).sum(axis=1).mean())) for count, path in paths.items()}
    return {"n": n, "reference": REFERENCE_SUBSTEPS, "frames": frames, "errors": errors}


def memory(n: int, kernels: str, self_collision: bool) -> dict[str, object]:
    """Memory of a curtain's simulation beside its frame cache, over the number of vertices [bytes].

    "kept" is what stays after half of the scene, "peak" the most at any moment of set-up and frames. NumPy counts
    what its arrays take, the interpreter what its objects take.
    """
    need(kernels)
    curtain = Curtain.of_size(n)
    gc.collect()
    tracemalloc.start()
    _, simulation = hung(curtain, kernels, self_collision, DEFAULT_SUBSTEPS)
    built = tracemalloc.get_traced_memory()[0]
    for _ in range(FRAMES // 2):
        simulation.step(FRAME)
    gc.collect()
    now, peak = tracemalloc.get_traced_memory()
    cache = simulation.frames.nbytes
    tracemalloc.stop()
    vertices = len(curtain.vertices)
    return {
        "n": n, "kernels": kernels, "self_collision": self_collision, "built": built / vertices,
        "kept": (now - cache) / vertices, "peak": (peak - cache) / vertices,
        "frame": cache / vertices / (1 + FRAMES // 2),
    }  # fmt: skip
