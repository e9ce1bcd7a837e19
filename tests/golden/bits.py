"""Hashes of the golden scenes, and what they depend on besides the code: the arithmetic of this machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from golden.scenes import SCENES
from pbd_addon import Simulation
from pbd_addon.kernels import load
from pbd_addon.kernels.protocol.motion import Islands

BITS = Path(__file__).with_name("bits.json")
"""{"bits": {fingerprint: {scene: hash of each frame}}, "ends": {smooth scene: final positions of some vertices}}."""

SHOWN = 7
"""Every so manieth vertex has its final position in the file."""

TOLERANCE = 1e-8
"""[m] NumPy and Numba, whose sums have another order, differ by up to 4e-14 in the smooth scenes, other versions and
processors as little; ends are written with nine digits."""


def places(simulation: Simulation) -> np.ndarray:
    """Positions of all bodies, (n, 3) [m]."""
    return np.concatenate([simulation.positions(body) for body in simulation.bodies])


def hashed(*arrays: np.ndarray) -> str:
    """A short hash of the bits of arrays; zeros of both signs are one."""
    digest = hashlib.blake2b(digest_size=6)
    for array in arrays:
        digest.update(np.ascontiguousarray(array + 0.0).tobytes())
    return digest.hexdigest()


def frames_of(scene: str, kernels: str) -> tuple[list[str], np.ndarray]:
    """The hash of positions and velocities of each frame, and positions at the end, (n, 3) [m]."""
    found = []
    for simulation in SCENES[scene](kernels):
        velocities = np.concatenate([simulation.velocities(body) for body in simulation.bodies])
        found.append(hashed(places(simulation), velocities))
    return found, places(simulation)


def fingerprint(kernels: str) -> str:
    """A hash of fixed arithmetic in NumPy, LAPACK and a backend, and of what they compute with: where it is equal, the
    bits of scenes are."""
    k = np.arange(1.0, 1001.0)
    values = [np.sum(1.0 / k), np.cumsum(np.sqrt(k)), np.exp(-0.01 * k), np.sin(k), np.cos(k), np.log(k), np.cbrt(k)]
    values += [np.arctan2(np.sin(k), k), np.expm1(-k / 7.0), np.einsum("i,i->", np.sin(k), k), np.hypot(k, 0.3)]
    matrix = np.sin(np.arange(36.0)).reshape(6, 6) @ np.cos(np.arange(36.0)).reshape(6, 6)
    values += [matrix, *np.linalg.svd(matrix), np.linalg.eigh(matrix @ matrix.T)[0], np.linalg.inv(matrix + np.eye(6))]
    backend = load(kernels)
    p = np.stack([np.sin(k), np.cos(k), 0.01 * k])
    islands = np.zeros(1000, np.int64)
    values += backend.island_motion(p, np.roll(p, 1, axis=1), Islands(k, islands, np.array([k.sum()])))
    values.append(backend.predict(p, p, p, p, p, 0.1, 0.2, (0.0, 0.1, -9.81), np.ones(1000), 0.01)[1])
    triangles = np.stack([np.arange(0, 997), np.arange(1, 998), np.arange(3, 1000)]).astype(backend.INDEX)
    values += backend.volume_gradients(p, triangles, np.zeros(997, backend.INDEX), 1)
    found = [np.show_config(mode="dicts")["SIMD Extensions"].get("found", []), np.__version__]
    if kernels == "numba":
        import llvmlite.binding
        import numba

        found += [numba.__version__, llvmlite.binding.get_host_cpu_name()]
    return f"{kernels} {hashed(*map(np.asarray, values), np.frombuffer(repr(found).encode(), np.uint8))}"


def written() -> dict:
    """What the file holds."""
    return json.loads(BITS.read_text("utf-8")) if BITS.exists() else {"bits": {}, "ends": {}}
