"""A caller of the public API who knows no mercy: random calls from a seed, with good arguments and bad ones.

Each call must give what it promises, or refuse with a `ValueError` that names one of its arguments, or, where it
steps, end in an `UnstableError`. Whatever happens, no result is NaN.
"""

from __future__ import annotations

import dataclasses
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers.meshes import grid, icosphere
from pbd_addon import (  # fmt: skip
    Body,
    Collider,
    FrameInputs,
    Material,
    Plane,
    Polygons,
    Simulation,
    SolverSettings,
    UnstableError,
)

ABSURD: tuple[Any, ...] = (
    *(None, True, False, "no", "3", b"x", "", "Cotton", 0, 1, -1, 2, 7, 99, 2**32 + 4, 10**400),
    *(0.5, 2.0, -0.25, 1e-300, 1e30, 1e200, 1e300, float("nan"), float("inf"), -float("inf"), 1j, 1 + 0j),
    *((), [], {}, set(), [None], ["a"], [0, 1], [0.7, 1.9], [True, False, True], [-1], [99], [2**32 + 4]),
    *([[0, 1]], [[0.0, 1.0]], [[0, 1], [2]], {0: 2.0}, {0.5: 1.0}, {0: "x"}, {"stretch": -1.0}, {"hue": 1.0}),
    *((0.0, 0.0), (0.0, 0.0, -9.81), (0.0, 0.0, -9.81, 3.0), (1e300, 0.0, 0.0), (float("nan"), 0.0, 0.0)),
    *(np.zeros(3), np.zeros((4, 2)), np.zeros((0, 3)), np.ones(9, bool), np.array(3), np.array(1.5), object()),
    *(np.full((9, 3), 1e200), np.full((9, 3), np.nan), np.zeros((9, 3), complex), np.array([["a"] * 3] * 9)),
    *(Material(), SolverSettings(), Plane(), FrameInputs(), range(3), lambda *_: None, Material, Body),
)
"""Values for any argument at all; some fit some arguments."""


OTHER_NAMES = {
    "name": ["name", "kernels"],
    "pins": ["pin"],
    "maps": ["map"],
    "faces": ["faces", "no face to collide", "no face has an area", "closed surface"],
    "edges": ["edges", "compliances must have shape"],
    "read_inputs": ["read_inputs", "inputs", "Body", "Material"],
    "function": ["function", "Body", "Material"],  # a class is a function too, and refuses by itself
    "vertices": [
        "vertices",
        "no face has an area",
        "no face to collide",
        "closed surface",
        "weights",
        "masses",
        "maps",
        "compliances",
    ],
    "rest_vertices": ["rest_vertices", "no face has an area"],
}
"""How sentences call arguments that they do not call by their own names."""


@dataclasses.dataclass
class Verdict:
    """How calls ended: `faults` are sentences about those that must not end so."""

    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    faults: list[str] = dataclasses.field(default_factory=list)


class Caller:
    """Makes random calls; every one is judged in `verdict`.

    Args:
        seed: Of all that is random.
        kernels: Backend of the simulations.
    """

    def __init__(self, seed: int, kernels: str = "numpy") -> None:
        self.random = np.random.default_rng(seed)
        self.kernels = kernels
        self.verdict = Verdict()
        self.begin()

    def begin(self) -> None:
        """A sound scene to call into: cloth over a floor and a ball, and a balloon."""
        ball = icosphere(1, 0.2)
        self.cloth = Body(*grid(2, 2, 0.5, 0.5), pins=[0, 2], name="Cloth")
        self.balloon = Body(
            ball[0] + [0.0, 0.0, 1.0], ball[1], Material(pressure_mode="VOLUME"), name="Balloon", dynamic_mesh=True
        )
        self.stranger = Body(*grid(2, 2, 0.5, 0.5), name="Stranger")
        self.floor, self.ball = Plane((0.0, 0.0, -1.0)), Collider(ball[0] - [0.0, 0.0, 0.5], ball[1], name="Ball")
        self.simulation = Simulation(
            [self.cloth, self.balloon], [self.floor, self.ball], substeps=2, kernels=self.kernels
        )
        self.grabs = [self.simulation.grab(self.cloth, [4])]

    def call(self) -> None:
        """One call, with no, one or two arguments replaced by something absurd."""
        name, function, good = self._pick()
        arguments = dict(good)
        spoiled = self.random.permutation(sorted(good))[: self.random.choice([0, 0, 1, 1, 2])].tolist()
        arguments |= {key: self._absurd(good[key]) for key in spoiled}
        said = f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})".replace("\n", " ")[:300]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                result = self._use(function(**arguments))
        except ValueError as refusal:
            self._judge_refusal(said, str(refusal), spoiled)
        except UnstableError:
            self.verdict.counts["unstable"] += 1
            self.begin()
        except Exception as error:  # which is what must not happen
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            self.verdict.faults.append(f"{said}: {type(error).__name__} at {where}: {error}")
            self.begin()
        else:
            self.verdict.counts["done"] += 1
            self._judge_result(said, result)

    def _judge_refusal(self, said: str, sentence: str, spoiled: list[str]) -> None:
        self.verdict.counts["refused"] += 1
        if "\n" in sentence or not any(word in sentence for key in spoiled for word in OTHER_NAMES.get(key, [key])):
            self.verdict.faults.append(f"{said}: refused without the argument's name: {sentence}")

    def _use(self, made: Any) -> Any:
        """Put what was made to work, so that nothing absurd hides in it."""
        if isinstance(made, Material):
            self.simulation.set_material(self.cloth, made)
            self.simulation.step(1 / 24)
        elif isinstance(made, SolverSettings) and made.substeps * made.iterations < 20:
            self.simulation.set_settings(made)
            self.simulation.step(1 / 24)
        elif isinstance(made, Body | Collider | Plane):
            body, obstacles = (made, [self.floor]) if isinstance(made, Body) else (self.stranger, [made])
            simulation = Simulation([body], obstacles, substeps=2, kernels=self.kernels)
            simulation.step(1 / 24)
            return simulation.positions(body)
        return made

    def _judge_result(self, said: str, result: Any) -> None:
        arrays = [self.simulation.positions(body) for body in self.simulation.bodies]
        arrays += [self.simulation.velocities(body) for body in self.simulation.bodies]
        arrays += [np.asarray(result)] if isinstance(result, float | np.ndarray) else []
        if any(array.dtype.kind == "f" and not np.isfinite(array).all() for array in arrays):
            self.verdict.faults.append(f"{said}: a result that is no number")
            self.begin()

    def _absurd(self, good: Any) -> Any:
        """Anything, or the good argument spoiled in a way that keeps its type."""
        if isinstance(good, np.ndarray) and self.random.random() < 0.5:
            spoil = self.random.integers(7)
            spoiled = [
                good * 1e200, good * 1e-200, good * np.nan, good.astype(complex), good[:-1], good.ravel(), good > 0.0,
            ]  # fmt: skip
            return spoiled[spoil]
        if isinstance(good, list) and good and self.random.random() < 0.3:
            return [*good, good[0]]
        return ABSURD[self.random.integers(len(ABSURD))]

    def _pick(self) -> tuple[str, Callable[..., Any], dict[str, Any]]:
        """A call with arguments that are good, by the names that the function has for them."""
        s, random = self.simulation, self.random
        vertices, quads = grid(2, 2, 0.5, 0.5)
        quads = np.array(quads)
        body = [self.cloth, self.balloon][random.integers(2)]
        pins = body.vertices[body.pin_ids]
        settings = {"substeps": 2, "iterations": 1, "method": "PBD", "automatic": False, "gravity": (0.0, 0.0, -9.81)}
        material = {
            field.name: getattr(body.material, field.name)
            for field in dataclasses.fields(Material)
            if random.random() < 0.2
        }
        frame = int(random.integers(s.frames.first, s.frames.last + 1))
        calls: list[tuple[Callable[..., Any], dict[str, Any]]] = [
            (Body, {"vertices": vertices, "faces": quads, "material": Material(), "pins": [0, 2], "name": "Flag"}),
            (Body, {"vertices": vertices, "faces": [*map(list, quads)], "rest_vertices": vertices, "pins": {1: 0.5}}),
            (Body, {"vertices": vertices, "edges": np.array([[0, 1], [1, 5]]), "compliances": [0.1, 0.0]}),
            (Body, {"vertices": vertices, "faces": quads, "masses": np.ones(9), "maps": {"bend": np.ones(9)}}),
            (Body, {"vertices": vertices, "faces": Polygons(quads.ravel(), np.arange(0, 17, 4))}),
            (Polygons_of(vertices), {"corners": quads.ravel(), "starts": np.arange(0, 17, 4)}),
            (Collider, {"vertices": vertices, "faces": quads, "thickness": 0.01, "friction": 0.1}),
            (Collider, {"vertices": self.ball.vertices, "faces": self.ball.mesh.triangles, "inside": True}),
            (Collider, {"vertices": vertices, "faces": quads, "static_friction": 0.5, "restitution": 0.5}),
            (Plane, {"point": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 2.0), "thickness": 0.0, "friction": 0.5}),
            (Material, material),
            (Material.preset, {"name": "Cotton"}),
            (SolverSettings, settings),
            (FrameInputs, {"pin_targets": {body: pins}, "planes": {}, "colliders": {}}),
            (self._make, {"bodies": [self.stranger], "colliders": [Plane()], "self_collision": True, **settings}),
            (s.step, {"dt": 1 / 24, "in_place": False}),
            (s.step, {"dt": 1 / 24}),
            (s.step, {"dt": 1 / 24}),
            (s.positions, {"body": body}),
            (s.velocities, {"body": body}),
            (s.touching, {"body": body}),
            (s.pressure, {"body": body}),
            (s.maps, {"body": body}),
            (s.set_pin_targets, {"body": body, "targets": pins + 0.01}),
            (s.set_rest_shape, {"body": self.balloon, "vertices": 1.1 * self.balloon.vertices}),
            (s.move_plane, {"plane": self.floor, "point": (0.0, 0.0, -1.0), "normal": (0.0, 0.1, 1.0)}),
            (s.move_collider, {"collider": self.ball, "vertices": self.ball.vertices}),
            (s.set_colliders, {"colliders": [self.floor, self.ball]}),
            (s.set_material, {"body": body, "material": body.material}),
            (s.set_maps, {"body": body, "maps": {"stretch": 0.5}}),
            (s.set_settings, {"settings": s.settings}),
            (s.use_kernels, {"name": self.kernels}),
            (
                s.keep_apart,
                {"one": self.cloth, "vertices": [1], "other": body, "other_vertices": [3], "distance": 0.01},
            ),
            (s.add_constraints, {"bodies": self.cloth, "vertices": [[1, 4]], "function": flat, "compliance": 0.1}),
            (self._grab, {"body": body, "vertices": [1, 4], "weights": [1.0, 2.0], "compliance": 0.01}),
            (self.grabs[-1].move, {"way": (0.0, 0.01, 0.0)}),
            (self.grabs[-1].release, {}),
            (s.frames.holds, {"frame": frame}),
            (s.cached_positions, {"body": body, "frame": frame}),
            (s.coasting_positions, {"body": body, "seconds": 0.01}),
            (s.frames.state, {"frame": frame}),
            (s.truncate, {"frame": frame}),
            (self._advance, {"frame": s.frames.last + 1, "read_inputs": lambda _: FrameInputs(), "dt": 1 / 24}),
            (s.take_inputs, {"inputs": FrameInputs({}, {self.floor: ((0.0, 0.0, -1.0), (0.0, 0.0, 1.0))}, {})}),
            (s.reset, {}),
            (s.begin, {"frame": 1}),
            (body.volume, {"x": body.vertices}),
            (body.edge_strain, {"x": body.vertices}),
            (body.masses, {"material": Material()}),
        ]
        if s.frames.last - s.frames.first > 20:
            return "begin", s.begin, {"frame": 0}
        function, good = calls[random.integers(len(calls))]
        return getattr(function, "__name__", "call"), function, good

    def _make(self, **arguments: Any) -> np.ndarray:
        simulation = Simulation(kernels=self.kernels, **arguments)
        if simulation.settings.substeps * simulation.settings.iterations < 10:
            simulation.step(1 / 24)
        return simulation.positions(simulation.bodies[0])

    def _advance(self, frame: Any, **arguments: Any) -> None:
        """Not to a frame that would take years."""
        far = isinstance(frame, int) and frame > self.simulation.frames.last + 50
        self.simulation.advance_to(self.simulation.frames.last + 1 if far else frame, **arguments)

    def _grab(self, **arguments: Any) -> None:
        self.grabs.append(self.simulation.grab(**arguments))


def flat(p: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """C = z1 - z2 [m], a constraint of our own."""
    return p[:, 0, 2] - p[:, 1, 2], np.tile([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], (len(p), 1, 1))


def Polygons_of(vertices: np.ndarray) -> Callable[..., Body]:
    """A maker of bodies from the two arrays of `Polygons`."""
    return lambda corners, starts: Body(vertices, Polygons(corners, starts))
