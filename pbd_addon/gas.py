"""What is in a balloon: how much gas was pumped in or has leaked out, and whether it has burst."""

from __future__ import annotations

import numpy as np

from .kernels import Kernels
from .model import Model, State
from .settings import ATMOSPHERE

LITER = 1e-3
"""[m³]"""


def pump(model: Model, state: State, kernels: Kernels, dt: float) -> tuple[np.ndarray, np.ndarray] | None:
    """What has been pumped into each piece at the beginning and at the end of a frame, (pieces,) each [Pa m³], or None.

    It is told as pressure times volume, as is the gas that a piece begins with. What leaks out does so only as long as
    there is an overpressure.
    """
    pieces, volume = model.volume.pieces, model.volume
    rate = ATMOSPHERE * LITER * np.array([model.materials[piece.body].pump for piece in pieces])
    start = _inside(model, state)[0]
    if not rate.any() and not start.any():
        return None
    end = start + dt * rate
    if (rate < 0.0).any():
        volumes = volume.measure(kernels, state.x)[0]
        least = np.minimum(start, ATMOSPHERE * volumes - volume.full)
        end = np.where(rate < 0.0, np.maximum(end, least), end)
    return start, np.where(volume.full > 0.0, end, start)


def at_end(model: Model, state: State) -> np.ndarray:
    """`State.inside` at the end of a frame, of which the state is all else."""
    inside = _inside(model, state).copy()
    if model.volume.pumped is not None:
        inside[0] = model.volume.pumped[1]
    inside[1] = _burst(model, state)
    return inside


def burst(model: Model, state: State) -> np.ndarray:
    """Which pieces have burst in a state, (pieces,) bool."""
    return np.asarray(_inside(model, state)[1] > 0.0)


def inherited(model: Model, state: State, after: Model, joined: np.ndarray) -> np.ndarray:
    """`State.inside` for a model of which some has torn since `model`; pieces that have more of a rim have burst.

    joined: the particle that stood for each before, (n,) int.
    """
    before = [sum(map(len, piece.caps)) for piece in model.volume.pieces]
    pieces = after.volume.pieces
    ones = joined[np.array([piece.triangles[0, 0] for piece in pieces], int)]
    source = model.volume.piece_of_particle[ones]
    inside = _inside(model, state)[:, source].copy()
    for number, piece in enumerate(pieces):
        opened = sum(map(len, piece.caps)) != before[source[number]]
        if opened and model.materials[piece.body].pressure_mode != "OFF":
            inside[1, number] = 1.0
    return inside


def _burst(model: Model, state: State) -> np.ndarray:
    """Which pieces have burst at the end of a frame, (pieces,): those of before, and those it was too much for."""
    pieces = model.volume.pieces
    burst = model.volume.burst
    materials = [model.materials[piece.body] for piece in pieces]
    most = np.array([one.burst_pressure for one in materials])
    if most.any():
        burst = burst | ((most > 0.0) & (model.volume.forces() > most))
    for number, (piece, material) in enumerate(zip(pieces, materials)):
        if material.burst_strain and material.pressure_mode != "OFF" and not burst[number]:
            rest = model.bodies[piece.body].rest_vertices.T
            before = _area(rest, piece.triangles - model.slices[piece.body].start)
            burst = burst.copy()
            burst[number] = _area(state.x, piece.triangles) > (1.0 + material.burst_strain) ** 2 * before
    return burst


def _inside(model: Model, state: State) -> np.ndarray:
    """`State.inside`; nothing of it if it is from before there was such a thing."""
    count = len(model.volume.pieces)
    return state.inside if state.inside.shape == (2, count) else np.zeros((2, count))


def _area(x: np.ndarray, triangles: np.ndarray) -> float:
    """Area of triangles (t, 3) at x (3, n) [m²]."""
    a, b, c = x.T[triangles].swapaxes(0, 1)
    return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
