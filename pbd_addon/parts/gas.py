"""What is in a balloon: how much gas was pumped in or has leaked out, and whether it is torn or has burst.

From a torn skin the gas leaves through the hole, and as long as there is some, tension is left to tear it further. Its
flow is that through an orifice in a thin wall, `DISCHARGE` A sqrt(2 P / density) (White, Fluid Mechanics, sec. 6.12).
The gas is an ideal one that keeps its temperature.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints.volume import BURST, LEAKING, LITER
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, remembers
from ..settings.fields import Checked, multiplies, setting, varies
from ..settings.solver_settings import ATMOSPHERE
from .dynamic_mesh import rest_shape
from .skin import pressures

DISCHARGE = 0.6
"""Share of its area that the jet from a sharp-edged hole fills, at the speed that its pressure gives (0.60 to 0.62)."""

WIDE_OPEN = 0.5
"""Area of its holes over that of a skin above which it has burst: half a ball has a half, and what is flatter encloses
nothing."""

LIMP = 3.0
"""Overpressure below which a torn skin is empty [Pa]: rubber of 0.3 mm weighs as much, which it no longer carries."""


PRESSURE_MODES = ("OFF", "VOLUME", "OVERPRESSURE", "GAS")


@dataclasses.dataclass(frozen=True)
class Inflation(Checked):
    """What is in closed skins; `skin` and `lift` use it too."""

    pressure_mode: str = setting(
        "OFF",
        "Pressure",
        "Volume holds a multiple of the rest volume, Overpressure blows with constant pascals, "
        "Gas holds the amount of air (P V = const)",
        choices=PRESSURE_MODES,
        rigid="OFF",
    )
    pressure: float = setting(
        1.0,
        "Volume",
        "Enclosed volume to hold, as a multiple (×) of the rest volume. 1 keeps it, 1.5 inflates it by half",
        unit="×",
        low=0.0,
        soft_high=5.0,
    )
    contents: float = setting(
        0.0,
        "Contents",
        "Liters that Volume holds, or of outside air that Gas begins with, for all pieces together: what flat sheets "
        "are filled with. Foil balloon of 45 cm 14 l, 0: by the rest volume",
        unit="l",
        low=0.0,
        high=1e9,
        soft_high=50.0,
        panel="contents",
    )
    overpressure: float = setting(
        300.0,
        "Overpressure",
        "Pressure above the air outside. Party balloon and air mattress 3000, beach ball 2000, cushion 50 Pa",
        unit="Pa",
        low=-ATMOSPHERE,
        soft_high=10_000.0,
    )
    gas_density: float = setting(
        0.0,
        "Gas Density",
        "Mass of a cubic meter of what is inside, which lifts it. Helium 0.17, hydrogen 0.084, hot air 0.95, "
        "water 1000 kg/m³. 0: the same as outside",
        unit="kg/m³",
        low=0.0,
        soft_high=2.0,
        rigid=0.0,
        panel="gas",
    )
    pump: float = setting(
        0.0,
        "Pump",
        "Gas: air that is pumped in, in liters of air as it is outside. A breath 1 l/s; below 0 it leaks out",
        unit="l/s",
        low=-1e6,
        soft_high=5.0,
        panel="pump",
    )
    burst_pressure: float = setting(
        0.0,
        "Burst Pressure",
        "Overpressure at which it bursts: the pressure is gone, the skin stays whole. Party balloon 5000 Pa, 0 never",
        unit="Pa",
        low=0.0,
        soft_high=20_000.0,
        panel="burst",
    )
    burst_strain: float = setting(
        0.0,
        "Burst Strain",
        "Mean lengthening of the skin at which it bursts. 0.5 is half as long again, 0 never",
        low=0.0,
        soft_high=5.0,
        panel="burst",
    )
    k_volume: float = setting(
        1.0,
        "Volume",
        "PBD: share of the volume error that one substep removes. Usually 1",
        low=0.0,
        high=1.0,
    )


class Gas(Part):
    """What is in the closed pieces of a scene.

    It remembers of each piece what was pumped into it [Pa m³], which is all that is inside if it leaks, and
    `VolumeConstraints.opened`, (2, pieces).
    """

    FIELDS = Inflation
    MAPS = varies(
        pressure=multiplies("Pressure", "the pressure on the skin", 0.0, "A place where nothing blows 0"),
    )
    name = "gas"
    reshapes = True
    MEMORY = remembers(inside=Kept(lambda model, x: np.zeros((2, len(model.volume.pieces))), any_rows=True))

    @classmethod
    def is_in(cls, model: Model) -> bool:
        return bool(model.volume.pieces)

    def settle(self, model: Model) -> None:
        pressed = (model.materials[piece.body].pressure_mode != "OFF" for piece in model.volume.pieces)
        self.acts = any(pressed) or bool(model.volume.opened.any())
        model.volume.pumped = None

    def begin_frame(self, frame: Frame) -> GasInFrame:
        return GasInFrame(self, frame)

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        state.memory[self.name]["inside"] = inherited(before, state, after)


class GasInFrame(Acting):
    """Gas in a frame, which goes in and out evenly.

    It is told as pressure times volume, as is the gas that a piece begins with; of leaking pieces it is all that is
    inside. What leaks out does so only as long as there is an overpressure.
    """

    def __init__(self, part: Gas, frame: Frame) -> None:
        super().__init__(part, frame)
        frame.model.volume.pumped = self.pumped = self._pump()

    def _pump(self) -> tuple[np.ndarray, np.ndarray] | None:
        """What has been pumped into each piece at the beginning and at the end of the frame, (pieces,) each [Pa m³]."""
        model, x, dt, fraction = self.frame.model, self.frame.state.x, self.frame.dt, self.frame.fraction
        pieces, volume = model.volume.pieces, model.volume
        rate = ATMOSPHERE * LITER * np.array([model.materials[piece.body].pump for piece in pieces])
        start = _inside(model, self.frame.state)[0]
        if not rate.any() and not start.any():
            return None
        end = start + dt * rate
        volumes = volume.enclosed(self.frame.kernels, x)
        if (rate < 0.0).any():
            least = np.minimum(start, ATMOSPHERE * volumes - volume.full)
            end = np.where(rate < 0.0, np.maximum(end, least), end)
        end = np.where(volume.full > 0.0, end, start)
        if volume.leaking.any():
            left, rest = start, 1.0 - fraction
            encloses = volume.leaking & (volumes > volume.smallest)
            over = np.where(encloses, np.maximum(left / np.where(encloses, volumes, 1.0) - ATMOSPHERE, 0.0), 0.0)
            flow = DISCHARGE * _holes(model, x) * np.sqrt(2.0 * over / model.settings.air_density)
            lost = np.minimum(rest * dt * (ATMOSPHERE + over) * flow, over * volumes)
            start = np.where(volume.leaking, left + fraction / rest * lost, start)
            end = np.where(volume.leaking, left - lost, end)
        return start, end

    def end_frame(self) -> None:
        """Take what is inside now into the state, and which pieces have burst."""
        model, state = self.frame.model, self.frame.state
        inside = _inside(model, state).copy()
        if self.pumped is not None:
            inside[0] = self.pumped[1]
        inside[1] = np.where(_burst(model, state), BURST, model.volume.opened)
        leaking = inside[1] == LEAKING
        if leaking.any():
            volumes = np.maximum(model.volume.enclosed(model.volume.kernels, state.x), model.volume.smallest)
            wide = _holes(model, state.x) > WIDE_OPEN * _skins(model, state.x)
            inside[1, leaking & ((inside[0] / volumes - ATMOSPHERE < LIMP) | wide)] = BURST
        self.memory["inside"] = inside


def opened(model: Model, state: State) -> np.ndarray:
    """Which pieces are `LEAKING` or have `BURST` in a state, (pieces,) int."""
    return np.asarray(_inside(model, state)[1].astype(int))


def inherited(model: Model, state: State, after: Model) -> np.ndarray:
    """What a state remembers for a model of which some has torn since `model`; pieces that have more of a rim leak."""
    before = [sum(map(len, piece.caps)) for piece in model.volume.pieces]
    pieces = after.volume.pieces
    ones = state.memory["tearing"]["joined"][np.array([piece.triangles[0, 0] for piece in pieces], int)]
    source = model.volume.piece_of_particle[ones]
    inside = _inside(model, state)[:, source].copy()
    for number, piece in enumerate(pieces):
        more = sum(map(len, piece.caps)) != before[source[number]]
        if more and model.materials[piece.body].pressure_mode != "OFF" and inside[1, number] != BURST:
            inside[1, number] = LEAKING
    leaking = inside[1] == LEAKING
    if leaking.any():
        over = pressures(model, state)[source]
        wide = (over < LIMP) | (_holes(after, state.x) > WIDE_OPEN * _skins(after, state.x))
        volumes = after.volume.enclosed(after.volume.kernels, state.x)
        inside[0] = np.where(leaking, (ATMOSPHERE + over) * volumes, inside[0])
        inside[1, leaking & wide] = BURST
    return inside


def _holes(model: Model, x: np.ndarray) -> np.ndarray:
    """Area of the holes that have torn into each piece at x (3, n), (pieces,) [m²]: openings that were none before."""
    areas = np.zeros(len(model.volume.pieces))
    for number, piece in enumerate(model.volume.pieces):
        start, is_rim = model.slices[piece.body].start, model.bodies[piece.body].origin.is_rim
        for cap in piece.caps:
            if not is_rim[cap - start].all():
                ring = x.T[cap] - x.T[cap[0]]
                areas[number] += 0.5 * np.linalg.norm(np.cross(ring, np.roll(ring, -1, axis=0)).sum(axis=0))
    return areas


def _skins(model: Model, x: np.ndarray) -> np.ndarray:
    """Area of each piece at x (3, n), (pieces,) [m²]."""
    return np.array([_area(x, piece.triangles) for piece in model.volume.pieces])


def _burst(model: Model, state: State) -> np.ndarray:
    """Which pieces have burst at the end of a frame, (pieces,): those of before, and those it was too much for."""
    pieces = model.volume.pieces
    burst = model.volume.opened == BURST
    materials = [model.materials[piece.body] for piece in pieces]
    most = np.array([one.burst_pressure for one in materials])
    if most.any():
        burst = burst | ((most > 0.0) & (model.volume.forces() > most))
    for number, (piece, material) in enumerate(zip(pieces, materials)):
        if material.burst_strain and material.pressure_mode != "OFF" and not model.volume.opened[number]:
            before = _area(rest_shape(model, state).T, piece.triangles)
            burst = burst.copy()
            burst[number] = _area(state.x, piece.triangles) > (1.0 + material.burst_strain) ** 2 * before
    return burst


def _inside(model: Model, state: State) -> np.ndarray:
    """What a state remembers; nothing if it is of other pieces."""
    count = len(model.volume.pieces)
    inside = state.memory[Gas.name]["inside"] if Gas.name in state.memory else np.zeros((2, 0))
    return inside if inside.shape == (2, count) else np.zeros((2, count))


def _area(x: np.ndarray, triangles: np.ndarray) -> float:
    """Area of triangles (t, 3) at x (3, n) [m²]."""
    a, b, c = x.T[triangles].swapaxes(0, 1)
    return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
