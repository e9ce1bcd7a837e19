"""Contacts as rows of constraints: what they say of themselves after a substep."""

from __future__ import annotations

import numpy as np

from ..arrays.distinct import distinct
from ..constraints import Constraints
from .contacts import Contacts


class ContactRows(Constraints):
    """The contacts of the last substep, of all its rounds one after the other.

    Attributes:
        n: Number of particles of bodies; those of colliders are behind them.
        h: Length of the substep [s].
    """

    n: int
    h: float
    _p: np.ndarray
    _w: np.ndarray
    _counted: np.ndarray
    _contacts: Contacts
    _rounds: list[Contacts]

    def pushing(self) -> np.ndarray:
        if not self._contacts.size:
            return np.zeros(0, int)
        hit = distinct(self._contacts.particles[:, self._contacts.pushing])
        return hit[hit < self.n]

    @property
    def multipliers(self) -> np.ndarray:  # type: ignore[override]
        """Of the contacts of the last substep, of all its rounds one after the other, (m,)."""
        return np.concatenate([found.multipliers + found.withheld for found in (*self._rounds, self._contacts)])

    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Particles, weights, normals and distances of the contacts of all rounds of the last substep."""
        rounds = *self._rounds, self._contacts
        columns = zip(*((each.particles, each.weights, each.normals, each.min_distance) for each in rounds))
        particles, weights, normals, distance = (np.concatenate(column, axis=-1) for column in columns)
        return particles, weights, normals, distance

    def values(self, x: np.ndarray) -> np.ndarray:
        particles, weights, normals, distance = self._rows()
        positions = np.concatenate([x, self._p[:, self.n :].T])
        return np.asarray(np.einsum("jm,mji,im->m", weights, positions[particles.T], normals) - distance)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        particles, weights, normals, _ = self._rows()
        return particles.T, np.einsum("jm,im->mji", weights, normals)

    def forces(self) -> np.ndarray:
        if not self.h:
            return np.zeros_like(self.multipliers)
        particles, weights, _, _ = self._rows()
        true, counted = (np.einsum("jm,jm->m", weights**2, w.take(particles)) for w in (self._w, self._counted))
        return self.multipliers / self.h**2 * np.divide(true, counted, out=np.ones_like(true), where=counted > 0.0)
