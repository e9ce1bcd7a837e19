"""Buckling: exactly flat cloth that is compressed leaves its plane.

Nothing pushes a flat sheet out of its plane, not even a rounding error: it would be squeezed in it for ever, as no real
one is. So where a flat sheet is compressed, its vertices are put off the plane by far less than can be seen, each by
another deterministic way, and grow into folds if that is unstable; else bending and motion take it back.
"""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from ..model.part import Frame, Part

SEED = 1e-4
"""How far vertices are put off their plane at most, in usual edges."""

FLAT = 1e-6
"""Largest distance from its plane of a body that counts as flat, in its usual edges. Rounding errors of a sheet at 10 m
are 1e-12 of edges of 1 mm."""

COMPRESSED = 1e-4
"""Compression from which on something can buckle, of an edge [1]. Cotton of 1 m that lies on a floor or stands on its
edge is compressed by 1e-4 at most of its own weight, and what hangs from its border by 1e-6."""

LOOKED_AT = 32
"""Number of vertices of a body by which it is flat or not: where these are, all are looked at."""

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
"""Its multiples, less whole numbers, are spread as evenly as numbers can be, and neighbors are far apart."""


class Buckling(Part):
    """The bodies with faces, and some vertices of each by which it is seen whether it is flat."""

    name = "buckling"

    def __init__(self, model: Model) -> None:
        found = [
            (k, body, part) for k, (body, part) in enumerate(zip(model.bodies, model.slices)) if body.mesh.hinges.size
        ]
        self.bodies = np.array([k for k, _, _ in found], int)
        self.edges = np.array([np.median(body.rest_lengths) for _, body, _ in found])
        self.corners = np.array([body.mesh.triangles[0] + part.start for _, body, part in found], int).reshape(-1, 3)
        some = [np.linspace(part.start, part.stop - 1, LOOKED_AT).astype(int) for _, _, part in found]
        looked_at = np.array(some, int).reshape(-1, LOOKED_AT)
        self.seen = np.concatenate([self.corners, looked_at], axis=1)

    def begin_frame(self, frame: Frame) -> None:
        """Put off its plane what is flat and compressed, before the first substep."""
        model, x = frame.model, frame.state.x
        if frame.fraction or not model.stretch.active or not len(self.bodies):
            return
        for number in np.flatnonzero(self._is_flat(x)):
            body, edge = self.bodies[number], self.edges[number]
            part = model.slices[body]
            off, normal = _offsets(x[:, part].T, x[:, self.corners[number]].T)
            rows = np.flatnonzero(model.stretch.rows.body == body)
            if np.abs(off).max() > FLAT * edge or not len(rows):
                continue
            if model.stretch.compressed(x, rows) > COMPRESSED:
                k = np.arange(len(off))
                seed = SEED * edge * (2.0 * (GOLDEN * k % 1.0) - 1.0) * (model.w[part] > 0.0)
                masses = model.masses[part]
                if model.w[part].all() or not len(model.pins):  # what is free stays where it is as a whole
                    seed -= masses @ seed / masses.sum()
                x[:, part] += normal[:, None] * seed

    def _is_flat(self, x: np.ndarray) -> np.ndarray:
        """Which of the bodies can be flat at positions x (3, n), (k,) bool."""
        q = x.take(self.seen, axis=1)
        q = q[:, :, 1:] - q[:, :, :1]
        (bx, by, bz), (cx, cy, cz) = q[:, :, 0], q[:, :, 1]
        normal = np.array([by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx])
        off = np.abs(np.einsum("xk,xks->ks", normal, q[:, :, 2:])).max(axis=1)
        return np.asarray(off <= FLAT * self.edges * np.sqrt(np.einsum("xk,xk->k", normal, normal)))


def _offsets(x: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances of positions x (n, 3) from the plane of three corners (3, 3), (n,) [m], and its normal (3,)."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal /= max(float(np.linalg.norm(normal)), 1e-300)
    return (x - corners[0]) @ normal, normal
