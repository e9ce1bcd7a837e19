"""Blender's force fields as whole-array functions: what each does to particles, as measured in Blender 4.2 to 5.2.

A field has a place, a shape (where on it is nearest to a particle), a falloff (how its effect W fades) and a kind (what
it does there). With the strength s, the field's axis n, c from its origin and r from its nearest point to the particle,
d = |r|, v the particle's velocity, the acceleration of a particle is

    WIND        n s W
    FORCE       (r/d) s W, with gravitation divided by d²
    VORTEX      n×(n×c) (s W)² + (n×c) s W − v; of the shape POINT: (n×r)/|n×r| s d W
    MAGNET      v × b s W, b = (n×r)/|n×r| of POINT and LINE, else n
    HARMONIC    −s W r (d − rest)/d − 2 damping √|s| v
    TURBULENCE  N(c + n) s W, N noise that stands still; see `lattice_noise`
    DRAG        −v W (A |v| + B)
    TEXTURE     from the colors of a texture, or their gradient or curl

and −flow W v, but for HARMONIC, DRAG and TEXTURE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .field import NOTHING, Field, Outside, Weight
from .field_formulas import MOST_TOGETHER, Batch, dot, unit

MOST_PAIRS = 2**18
"""Where there are more pairs of a field and a particle, they are computed once a frame instead of once a substep: at
0.3 µs a pair, 20 substeps of more would take seconds."""


class FieldForces:
    """What fields do to one body in one frame: a function of positions and velocities (n, 3) and the time.

    Args:
        before: The fields at the beginning of the frame.
        after: The same fields at its end; what is a number is interpolated.
        weights: Of each field, a number or (n,): how much of it acts.
        seconds: Length of the frame [s].
        outside: What answers to fields that need something of Blender's.
    """

    def __init__(
        self,
        before: Sequence[Field],
        after: Sequence[Field],
        weights: Sequence[Weight],
        seconds: float,
        outside: Outside = NOTHING,
    ) -> None:
        groups: dict[tuple, list[int]] = {}
        for number, field in enumerate(after):
            groups.setdefault(field.like, []).append(number)
        cut = [ids[at : at + MOST_TOGETHER] for ids in groups.values() for at in range(0, len(ids), MOST_TOGETHER)]
        self._batches = [
            Batch([before[i] for i in ids], [after[i] for i in ids], [weights[i] for i in ids], outside) for ids in cut
        ]
        self._seconds, self._began, self._is_costly = seconds, math.nan, False
        self._kept: dict[Batch, tuple[np.ndarray, np.ndarray]] = {}

    def __call__(self, x: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """Accelerations (n, 3) [m/s²] at a time t [s]; the first call is at the beginning of the frame.

        Where all fields are WIND without flow it is the velocity of the air [m/s] as well.
        """
        pressing, pulling = self.parts(x, v, t)
        return pressing + pulling

    def parts(self, x: np.ndarray, v: np.ndarray, t: float, texture: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """The accelerations in two parts, (n, 3) each: the share that the wind factors tell, and the rest.

        Those of TEXTURE are multiplied by `texture`.
        """
        if math.isnan(self._began):
            self._began = t
            for batch in self._batches:
                batch.begin(x, x + v * self._seconds)
            self._is_costly = sum(batch.pairs(x) for batch in self._batches) > MOST_PAIRS
        share = min(max((t - self._began) / self._seconds, 0.0), 1.0)
        pressing, pulling = np.zeros_like(x), np.zeros_like(x)
        for batch in self._batches:
            found = self._kept.get(batch)
            if found is None:
                batch.place(share, t)
                found = batch.parts(x, v)
                if self._is_costly:
                    self._kept[batch] = found
            scale = texture if batch.one.kind == "TEXTURE" else 1.0
            pressing += scale * found[0]
            pulling += scale * found[1]
        return pressing, pulling


# ------------------------------------------------------------------------------------------ as Blender's cloth takes it

FRAMES_PER_SECOND = math.sqrt(1000.0)
"""Blender's cloth falls with a thousandth of gravity per frame squared: by that clock a second has so many frames."""

PRESSURE = 0.02
"""What Blender's cloth makes of a field: so much pressure per acceleration [kg/m² per m/frame²]."""


def as_blenders_cloth(
    fields: FieldForces, x: np.ndarray, v: np.ndarray, t: float, fps: float, triangles: np.ndarray, masses: np.ndarray
) -> np.ndarray:
    """Accelerations (n, 3) [m/s²] that Blender's own cloth would get from the fields, by the clock of its gravity.

    Of each triangle of area A, corner i gets A/12 (p1 + p2 + p3 + pi) along the normal, p being what presses there, and
    the same of what pulls, as a vector (`cloth_calc_force`, Blender 4.2 to 5.2).

    Args:
        fields: What acts.
        x: Positions (n, 3) [m].
        v: Velocities (n, 3) [m/s].
        t: Time [s].
        fps: Frames a second of the scene: Blender divides what fields do by it.
        triangles: (t, 3) int.
        masses: Of the vertices, (n,) [kg].
    """
    pressing, pulling = fields.parts(x, v * (fps / FRAMES_PER_SECOND), t, texture=fps)
    scale = PRESSURE * FRAMES_PER_SECOND**2 / fps / 12.0
    a, b, c = x[triangles].swapaxes(0, 1)
    double = np.cross(b - a, c - a)
    areas = 0.5 * np.sqrt(dot(double, double))[:, None]
    normals = unit(double)
    pressures = np.einsum("tci,ti->tc", pressing[triangles], normals)
    pull = pulling[triangles]
    shares = (pressures + pressures.sum(axis=1, keepdims=True))[..., None] * normals[:, None]
    shares += pull + pull.sum(axis=1, keepdims=True)
    forces = scale * areas[..., None] * shares
    ids = triangles.ravel()
    total = np.stack([np.bincount(ids, along, len(x)) for along in forces.reshape(-1, 3).T], axis=1)
    return np.asarray(total / masses[:, None])
