"""Seams: pairs of vertices that are drawn together, and welds, which hold them as one particle from then on.

C = |p1 − p2| − l >= 0        l: goes from the gap at the start to 0
∇C = n at p1, −n at p2, with n = (p1 − p2) / |p1 − p2|
α = 1 / (s `SEAM_STIFFNESS`)        s: 1 until the closing time is over, then `LATE_FACTOR` at most
from: the distance constraint of Müller et al. 2007, sec. 4.1, one-sided

C = |p − m|        m: the mean of a group, by mass
∇C = (p − m) / C
α = 0
from: Müller et al. 2007, sec. 3.3, whose rigid distance of 0 puts both ends at their mean
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.motion import Islands
from ..kernels.protocol.projections import Springs
from ..meshes.mesh import connected_components
from ..settings.scale import calm_speed
from ..settings.solver_settings import SolverSettings
from .base import NOTHING, Constraints, compliances, gradients_of_distance, laid_out, sort_rows
from .distance import DistanceConstraints

if TYPE_CHECKING:
    from ..bodies.material import Material

SEAM_STIFFNESS = 30.0
"""Stiffness of a seam while it closes [N/m].

Two panels of 0.5 m around a cylinder, 1400 vertices, are closed by it in a second with strains below 1 % in nearly all
edges; at 10,000 N/m the first pairs that meet hold the others apart, which stay open by up to 0.18 m."""

LATE_FACTOR = 20.0
"""How many times as stiff and as fast a seam is that is still open after twice its closing time; it grows evenly.

A waistband that is narrower than the hips it closes on has to stretch. Of a band of 0.90 m around 0.94, all ten pairs
stay open by 3 cm with 1 and 5 and close with 20 and 60, with strains up to 0.29 and 0.52. Of the 133 pairs of a shirt
of 900 vertices on a body, 16 stay open if seams are only as much stiffer, and none if they are as much faster, too."""

CATCH_UP = 1.0
"""Fastest that a pair catches up which was held back, while it is more than a usual edge apart [m/s]; less on small
bodies, see `scale.calm_speed`.

The mass of one vertex is nothing against `SEAM_STIFFNESS`: it would be thrown at what holds it back by nearly the whole
gap in each substep. A shirt of 7900 vertices stayed open by 0.12 m then, and took four times as long. Closer pairs,
slowed to 1 or 2 m/s, would stay open by 18 mm on a shirt of 1900."""

HELD_SHARE = 0.03
"""Share of its inverse mass that a weld keeps while the springs around it are solved once more.

A weld alone hands the pull of one side to the other only as fast as its mass m moves all the mass M that hangs there.
Cotton of 0.5 m, sewn below another, strained the edges at the seam by 10 % and all others by 0.02 %; with a share of
0.3, 0.1, 0.03 it is 2.3, 0.9, 0.3 %."""


class SeamConstraints(Constraints):
    """What draws seams together: springs that only pull, with a largest force.

    The force cannot exceed its limit, because the length is never shorter than the gap by more than that takes.

    Args:
        pairs: Both particles of every seam, (m, 2) int.
        usual_edges: Usual edge of the body of each, (m,) [m]; extents: its extent.

    Attributes:
        path: Lengths of all pairs at the beginning and at the end of the current frame, (2, m) [m]; set by the solver.
        late: Factors on the stiffness and the speed of all pairs, (m,); set by the solver.
    """

    name = "seams"

    def __init__(
        self, pairs: np.ndarray, body: np.ndarray, usual_edges: np.ndarray, w: np.ndarray, extents: np.ndarray
    ) -> None:
        self.pairs, self.body, self.usual_edges = pairs, body, usual_edges
        self.rows = sort_rows(pairs, body, w)
        self.catch_up = CATCH_UP * np.array([calm_speed(extent) for extent in extents])
        self.path = np.zeros((2, len(pairs)))
        self.late = np.ones(len(pairs))
        self.multipliers = np.zeros(len(self.rows.order))
        self.lengths = np.zeros(len(self.rows.order))
        self.h = 0.0

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self.w = w
        sewn = np.array([m.sewing for m in materials])[self.rows.body]
        limit = np.array([m.sewing_force for m in materials])[self.rows.body]
        self.limit = np.where(limit > 0.0, limit, np.inf)
        self.compliance = compliances(SEAM_STIFFNESS * sewn)
        self.active = bool(sewn.any())

    def begin_substep(self, h: float, fraction: float) -> None:
        self.multipliers[:] = 0.0
        self.lengths = (self.path[0] + fraction * (self.path[1] - self.path[0]))[self.rows.order]
        self.h = h
        self.alpha = self.compliance[None] / (h**2 * self.late[self.rows.order])

    def _lay_out(self) -> None:
        self.rows = laid_out(self.rows, self.kernels)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        self._pull(kernels, p, x, self.w)

    def project_around(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, share: np.ndarray) -> None:
        """Project all rows once more, continuing their multipliers, with inverse masses times `share` (n,)."""
        if self.active:
            self._pull(kernels, p, x, self.w * share)

    def _pull(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, w: np.ndarray) -> None:
        rows, (one, other), weights = self.rows, self.rows.indices, w.take(self.rows.indices)
        both = weights.sum(axis=0)
        scale = -1.0 / (both + self.alpha)
        d = p.take(one, axis=1)
        d -= p.take(other, axis=1)
        gap = np.sqrt(np.einsum("ij,ij->j", d, d))
        most = -(self.h**2) * self.limit / scale[0] + both * self.multipliers
        speed = self.catch_up[rows.body] * self.late[rows.order]
        reach = np.where(gap < self.usual_edges[rows.order], np.inf, speed * self.h)
        self.lengths = np.clip(self.lengths, gap - np.minimum(most, reach), gap)
        packed = kernels.pack(p, w)
        springs = Springs(weights, self.lengths, self.alpha, scale, NOTHING)
        kernels.project_distance(packed, x, rows.colored(), springs, self.multipliers, 1)
        kernels.unpack(packed, p)

    def values(self, x: np.ndarray) -> np.ndarray:
        one, other = self.rows.indices
        return np.linalg.norm(x[one] - x[other], axis=1) - self.lengths

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return gradients_of_distance(x, self.rows.indices)

    def forces(self) -> np.ndarray:
        return -super().forces()


class WeldConstraints(Constraints):
    """All particles of groups that are one are put where their mean is.

    This keeps their momentum, and all get the same bits. Then the springs around them are solved once more while they
    are held, see `HELD_SHARE`; what these pull at them moves each island as a rigid body, so that momentum is kept.

    Args:
        pairs: Particles that are one, (m, 2) int.
        count: Number of all particles.

    Attributes:
        members: The particles of all groups, group by group, (k,) int; starts: of each group among them, (g,) int.
        first: The first particle of the group of each particle, itself if it has none, (n,) int.
    """

    name = "welds"

    def __init__(self, pairs: np.ndarray, count: int) -> None:
        self.first = np.arange(count)
        used, local = np.unique(pairs, return_inverse=True)
        group = connected_components(local.reshape(-1, 2), len(used))
        order = np.argsort(group, kind="stable")
        self.members = used[order]
        self.starts = np.searchsorted(group[order], np.arange(group.max(initial=-1) + 1))
        self._sizes = np.diff(np.append(self.starts, len(used)))
        self.first[self.members] = np.repeat(self.members[self.starts], self._sizes)
        self.multipliers = np.zeros((3, len(used)))
        self.active = len(used) > 0
        self.springs: Sequence[DistanceConstraints] = ()

    def surround(
        self,
        springs: Sequence[DistanceConstraints],
        w: np.ndarray,
        masses: np.ndarray,
        islands: np.ndarray,
        island_masses: np.ndarray,
    ) -> None:
        """Set the springs around the welds; w, and masses of the islands' rigid motion, are as in `Model`."""
        self.springs, self._islands = springs, Islands(masses, islands, island_masses)
        self._fixed = np.flatnonzero(w == 0.0)
        self._held_share = np.broadcast_to(1.0, len(masses))
        if self.active:
            self._held_share = self._held_share.copy()
            self._held_share[self.members] = HELD_SHARE

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        own = w[self.members]
        held = np.repeat(np.add.reduceat((own == 0.0).astype(float), self.starts), self._sizes) if self.active else own
        weights = np.where(held > 0.0, own == 0.0, 1.0 / np.maximum(own, 1e-300))
        self._shares = weights / self._over_groups(weights)
        self._masses = np.where(own > 0.0, 1.0 / np.maximum(own, 1e-300), 0.0)
        self._held = held > 0.0
        self.h = 0.0

    def merged(self, w: np.ndarray) -> np.ndarray:
        """Inverse masses (n,) where every particle of a group has that of the whole group."""
        if not self.active:
            return w
        result = w.copy()
        whole = self._over_groups(1.0 / np.maximum(w[self.members], 1e-300))
        result[self.members] = np.where(self._held, 0.0, 1.0 / whole)
        return result

    def unite(self, *vectors: np.ndarray) -> None:
        """Give all particles of a group the mean, by mass, of vectors (3, n) [any]; in place."""
        for q in vectors if self.active else ():
            base = q.take(self.first[self.members], axis=1)  # what is one stays so, to the last bit
            q[:, self.members] = base + self._over_groups(self._shares * (q.take(self.members, axis=1) - base))

    def follow(self, *arrays: np.ndarray) -> None:
        """Give all particles of a group what its first one has, in arrays (..., n); in place."""
        for array in arrays if self.active else ():
            array[..., self.members] = array[..., self.first[self.members]]

    def _over_groups(self, of_members: np.ndarray) -> np.ndarray:
        """Sums over groups of (..., k), at each member."""
        if not self.active:
            return of_members
        return np.repeat(np.add.reduceat(of_members, self.starts, axis=-1), self._sizes, axis=-1)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        before = p.take(self.members, axis=1)
        self.unite(p)
        self.multipliers += self._masses * (p.take(self.members, axis=1) - before)
        self.solve_springs(kernels, self.springs, p, x)

    def solve_springs(
        self,
        kernels: Kernels,
        springs: Sequence[DistanceConstraints | SeamConstraints],
        p: np.ndarray,
        x: np.ndarray,
        share: np.ndarray | None = None,
    ) -> None:
        """Project springs once more, with inverse masses times `share` (n,), and with the welds held; in place.

        Without that, the particles of a weld follow the springs of one side each, and their mean strains both.
        """
        if not self.active and share is None:
            return
        start = p.copy()
        held = self._held_share if share is None else np.minimum(share, self._held_share)
        for kind in springs:
            kind.project_around(kernels, p, x, held)
        if not self.active:
            return
        own = self.members if share is None else self.members[share[self.members] > HELD_SHARE]
        withheld = np.zeros_like(p)
        withheld[:, own] = (1.0 / HELD_SHARE - 1.0) * (p - start).take(own, axis=1)
        self.unite(p)
        fixed = p[:, self._fixed]
        motion = kernels.island_motion(start, withheld, self._islands)
        kernels.add_rigid(p, start, self._islands.of, motion)
        p[:, self._fixed] = fixed

    def values(self, x: np.ndarray) -> np.ndarray:
        return np.linalg.norm(x[self.members] - x[self.first[self.members]], axis=1)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return gradients_of_distance(x, np.stack([self.members, self.first[self.members]]))
