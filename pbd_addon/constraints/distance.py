"""Distance constraints: stretch on edges and shear on diagonals.

C = |p1 − p2| − l        l: the length at rest
∇C = n at p1, −n at p2, with n = (p1 − p2) / |p1 − p2|
α = 1 / (k g)        k: the material's stiffness [N/m], another in compression; g = (A1 + A2) / l² (Van Gelder 1998)
from: Müller et al. 2007, sec. 4.1; compliant: Macklin et al. 2016

Straight runs of edges are solved as a whole (`chains`); then all edges that are in none, one color after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.chains import Along, Links
from ..kernels.protocol.frames import Call
from ..kernels.protocol.projections import Colored, Springs
from ..meshes.weave import Weave
from ..settings.solver_settings import SolverSettings
from .base import NO_STIFFNESS, NOTHING, laid_out, make
from .chains import Family, filter_chains, find_families, lay_out
from .spring_rows import SpringRows

if TYPE_CHECKING:
    from ..bodies.material import Material

INFLATED = 1.1
"""A skin that is to hold more than this multiple of its rest volume counts as inflated: 1.1 strains edges by 3 %."""

SECOND_ORDER_SWEEPS = 3
"""Sweeps over edges in no chain in a substep of second order. A curtain of 100 x 100 vertices, irregular triangles, 10
steps: mean strain of the last ten of 50 frames 0.30, 0.25, 0.23 % with 1, 2, 3 sweeps, largest 11, 5.7, 5.2 %, at 23,
25, 26 ms; with 20 steps of first order and one sweep it is 0.20 and 6.5 %, at 43 ms."""

BETWEEN_SWEEPS, HASTE = 5, 1.8
"""Sweeps over edges in no chain between rounds, in substeps of second order, and by how much all but the last are
over-relaxed: by any below 2 they converge. A drape of cotton on triangles covers 17 points less than with 160 steps
without any, 10, 6, 3 and 3 with 3 and 4 at 1.7, 5 and 6 at 1.8."""

PIN_EDGES, PIN_ROWS, PIN_SWEEPS = 16, 0.1, 12
"""After the chains, rows within so many edges of a firm pin, if they are at most this share of a body's rows, are swept
so often. A few pins that carry a whole sheet strain the edges around them most, because the family that is solved
first is left by the last one. In a swinging curtain of 100 x 100 vertices that hangs by two corners, the largest strain
of the last ten of 50 frames is 18 %; with 8 edges and 8 sweeps 3.5, 16 and 8 3.3, 16 and 12 3.0, 16 and 16 2.8 %."""

ALL, EVERYWHERE = np.zeros(0, np.int32), np.zeros(0, bool)
"""All places in their order, see `put`; and for `take_rows`."""


ALWAYS = np.ones(1, bool)
"""For `DistanceConstraints.reweigh_calls`."""


def _copy(found: Links | Springs, target: Links | Springs) -> None:
    """Take over what differs."""
    for one, other in zip(found, target):
        if one is not other:
            other[:] = one


class Swept(NamedTuple):
    """Rows that are swept, one color after another.

    Attributes:
        some: Which, a slice or (k,) int.
        rows, springs: As `project_distance` takes them.
        places: Where their multipliers are among those of all, (k,) in `INDEX`, or `ALL`.
        multipliers: Theirs while they are swept, (k,); those of all if all are.
    """

    some: slice | np.ndarray
    rows: Colored
    springs: Springs
    places: np.ndarray
    multipliers: np.ndarray


class Chained(NamedTuple):
    """A family of chains, prepared for its kernel.

    Attributes:
        family: The chains.
        row_of_step: Row of each step along them, (q,) int; arbitrary for steps that are not edges.
        real: Which steps are edges, (q,) bool; the others have `NO_STIFFNESS`.
        steps: Which steps are edges, (e,) int.
        rows: Row of each of these, (e,) int.
        along: Where the chains run.
        links: Their springs.
        multipliers: Those of the steps while chains are solved, (q,).
    """

    family: Family
    row_of_step: np.ndarray
    real: np.ndarray
    steps: np.ndarray
    rows: np.ndarray
    along: Along
    links: Links
    multipliers: np.ndarray


class DistanceConstraints(SpringRows):
    """Springs of one kind, with separate stiffness in tension and compression.

    Args:
        name: Name of the kind.
        indices: Both particles of every row, (m, 2) int.
        rest_lengths: (m,) [m].
        geometry: Factor from a material's stiffness [N/m] to that of the row [N/m], (m,).
        fields: Names of the material's fields for tension and for compression.
        compliance: Compliance of each row that overrides the material, (m,) [m/N]; NaN for none.
        chains_through: Rest positions (n, 3) [m] to find chains in, which are solved before the sweep; None for a sweep
            only.
        alone: Whether rows in chains are solved once, without a sweep.
        is_rope: Which rows belong to no face, (m,) bool; default: none.
        weave: Where threads run; default: nobody asks.

    Attributes:
        numbers: Index of each row among all edges, or all diagonals, of all bodies, (m,) int; set by the builder.
        first_number: How many there are before these: diagonals come after edges.
        yielded: Whether rest lengths may have changed by plasticity.
        in_chains: Whether all edges of a body are in chains, (bodies,) bool.
        fresh: Whether multipliers are 0 so far in this substep; who adds to them sets this to false.
        softness: How many times softer in tension than their material rows are at the moment, (m,); (0,) if none is.
        released: The same of what loses work while it shortens.
        sweeps: How often an iteration sweeps over edges, set for each frame, see `SECOND_ORDER_SWEEPS`.
        near_pins: Rows that are swept several times after the chains, see `PIN_EDGES`, (k,) int.
        pushed: Whether later constraints may push a body, (bodies,) bool. If so, a sweep follows the chains, as it does
            for edges in no chain; if not, the families are solved back and forth instead.
    """

    def __init__(
        self,
        name: str,
        indices: np.ndarray,
        rest_lengths: np.ndarray,
        geometry: np.ndarray,
        body: np.ndarray,
        w: np.ndarray,
        fields: tuple[str, str],
        compliance: np.ndarray | None = None,
        chains_through: np.ndarray | None = None,
        alone: bool = False,
        is_rope: np.ndarray | None = None,
        weave: Weave | None = None,
    ) -> None:
        super().__init__(name, indices, rest_lengths, geometry, body, w, fields, compliance, is_rope, weave)
        self.chains_through, self.alone = chains_through, alone
        self.chained: tuple[bool, ...] = ()
        self.families: list[Family] = []
        self.in_chains = np.zeros(0, bool)
        self.chain_rows = np.zeros(len(self.rest_lengths), bool)
        self.fresh = True
        self.pushed = np.zeros(0, bool)
        self.near_pins = np.zeros(0, int)
        self.sweeps = 1
        self.sweep: Swept | None = None
        self._hasty: tuple[Swept, Swept] | None = None
        self.around_pins: Swept | None = None
        self.kept = True

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        super().set_materials(materials, settings, w)
        self.pushed = np.zeros(len(materials), bool)
        self._find_chains(materials)
        self.near_pins = self._find_near_pins(len(w))

    def _find_chains(self, materials: Sequence[Material]) -> None:
        """Find chains in all bodies except inflated ones, chains `alone` in none that keeps a volume.

        All edges of an inflated body are under tension, and a chain that is solved alone would slide along the surface.
        Shear of what keeps a volume is swept with it: solved along whole rows, a sewn cushion becomes unstable.
        """
        most = -np.inf if self.alone else INFLATED
        chained = tuple(m.pressure_mode != "VOLUME" or m.pressure <= most for m in materials)
        if self.chains_through is None or chained == self.chained:
            return
        self.chained = chained
        rows = np.flatnonzero(np.array(chained)[self.rows.body])
        found = find_families(self.rows.indices[:, rows].T, self.chains_through)
        self.families = [family._replace(rows=rows[family.rows].astype(np.int32)) for family in found]
        outside = np.ones(len(self.rest_lengths), bool)
        for family in self.families:
            outside[family.rows] = False
        self.in_chains = np.bincount(self.rows.body[outside], minlength=len(materials)) == 0
        self.chain_rows = ~outside

    def _find_near_pins(self, count: int) -> np.ndarray:
        """Rows that are swept again after the chains, see `PIN_EDGES`, (k,) int; `count` is that of all particles."""
        if self.relaxed or self.alone or not self.families:
            return np.zeros(0, int)
        one, other = self.rows.indices
        reached = np.zeros(count, bool)
        reached[self.rows.indices[self.weights == 0.0]] = True
        for _ in range(PIN_EDGES):
            met = reached[one] | reached[other]
            reached[one[met]] = reached[other[met]] = True
        near = reached[one] & reached[other] & self.chain_rows
        some, every = (
            np.bincount(body, minlength=len(self.chained)) for body in (self.rows.body[near], self.rows.body)
        )
        return np.flatnonzero(near & (some <= PIN_ROWS * every)[self.rows.body])

    def measure(self, lengths: np.ndarray) -> None:
        """Use these rest lengths, without maps and what has yielded, from now on, (m,) [m]."""
        if not np.array_equal(lengths, self._measured):
            h, self._measured = self.h, lengths
            self._combine()
            if h:  # only these are others in what is prepared for it
                self.h, self._is_stale = h, True
                for chained in (*self.chains, *self.way_back):
                    chained.links.rest_lengths[:] = self.rest_lengths[chained.row_of_step]
                self.sweep, self.around_pins = (
                    one and one._replace(springs=one.springs._replace(rest_lengths=self.rest_lengths[one.some]))
                    for one in (self.sweep, self.around_pins)
                )

    def _lay_out(self) -> None:
        self.rows = laid_out(self.rows, self.kernels)
        self.h = 0.0

    def begin_substep(self, h: float, fraction: float) -> None:
        self.fresh = True
        self.kept = not self.once or fraction >= 1.0
        if self.kept:
            self.multipliers[:] = 0.0
        if h != self.h or self._reweighed:
            is_new, self.h, self._reweighed = not self.h, h, False
            self.alpha = np.divide(self.compliance, h**2, out=None if is_new else self.alpha)
            self.gamma = self.damping_times / h
            self._is_stale = True
            if is_new:
                self.around_pins = self._swept(self.near_pins) if len(self.near_pins) else None
                self.chains = [self._chained(family) for family in ([] if self.relaxed else self.families)]
                self._divide()
            else:
                self._scale_anew()
        if self.pushed.tobytes() != self._divided_for:
            self._divide()

    def _divide(self) -> None:
        """Prepare to solve the chains of some bodies back and forth, and to sweep over all other edges."""
        self._divided_for = self.pushed.tobytes()
        self.both_ways = self.in_chains & ~self.pushed if self.chains else np.zeros_like(self.pushed)
        back = self.both_ways[self.rows.body]
        if self.alone and self.chains:
            back = self.chain_rows
        self.way_back: list[Chained] = []
        self.sweep = None
        if back.all() and len(back):
            return
        self.sweep = self._swept(np.flatnonzero(~back) if back.any() else slice(None))
        families = [filter_chains(chained.family, back) for chained in self.chains if not self.alone]
        self.way_back = [self._chained(family) for family in families if len(family.rows)]

    def _scale_anew(self) -> None:
        """Use the present compliances and inverse masses in all that is laid out, in place."""
        self._hasty = None
        for one in (*self.chains, *self.way_back):
            links = self._links(one.along.vertices, one.links.rest_lengths, one.row_of_step, one.real)
            _copy(links, one.links)
        for swept in (self.sweep, self.around_pins):
            if swept is not None:
                _copy(self._springs(swept.rows, swept.springs.rest_lengths, swept.some), swept.springs)

    def _kernel_weights(self, indices: np.ndarray) -> np.ndarray:
        """Inverse masses of these particles, or none if the kernels' particles bring their own [1/kg]."""
        return self.inverse_masses.take(indices[..., :0] if self.kernels.PACKED else indices)

    def _links(
        self, vertices: np.ndarray, rest_lengths: np.ndarray, row_of_step: np.ndarray, real: np.ndarray
    ) -> Links:
        """The springs of steps along chains, of which some are real."""
        gamma = self.gamma[row_of_step] if len(self.gamma) else self.gamma
        alpha = np.where(real, self.alpha.take(row_of_step, axis=1), NO_STIFFNESS)
        return Links(self._kernel_weights(vertices), rest_lengths, alpha, gamma)

    def _springs(self, rows: Colored, rest_lengths: np.ndarray, some: slice | np.ndarray) -> Springs:
        """The springs of some rows."""
        gamma = self.gamma[some] if len(self.gamma) else self.gamma
        k = self.k[: self.sides] if self.k.shape[1] == 1 else self.k[: self.sides, some]
        alpha = self.alpha[:, some]
        weights = self.inverse_masses.take(self.rows.indices[:, some]).sum(axis=0)
        scale = -k / (weights * (1.0 + gamma if len(gamma) else 1.0) + alpha)
        return Springs(self._kernel_weights(rows.indices), rest_lengths, alpha, scale, gamma)

    def _swept(self, some: slice | np.ndarray) -> Swept:
        rows, places, multipliers = self.rows, ALL, self.multipliers
        if not isinstance(some, slice):
            rows = rows._replace(indices=rows.indices[:, some], starts=np.searchsorted(some, rows.starts))
            rows, places, multipliers = (
                laid_out(rows, self.kernels),
                some.astype(self.kernels.INDEX),
                np.empty(len(some)),
            )
        springs = self._springs(rows.colored(), self.rest_lengths[some], some)
        return Swept(some, rows.colored(), springs, places, multipliers)

    def _chained(self, family: Family) -> Chained:
        order = lay_out(family, () if len(self.gamma) else self.kernels.WIDTHS)
        row_of_step = np.zeros(len(family.vertices), self.kernels.INDEX)
        row_of_step[family.links] = family.rows
        row_of_step = row_of_step[order.steps]
        vertices = family.vertices[order.vertices]
        links = self._links(vertices, self.rest_lengths[row_of_step], row_of_step, order.real)
        steps = np.flatnonzero(order.real).astype(self.kernels.INDEX)
        along = Along(vertices.astype(self.kernels.INDEX), family.levels, order.rings, order.joints, order.groups)
        multipliers = np.zeros(len(row_of_step))
        return Chained(family, row_of_step, order.real, steps, row_of_step[steps], along, links, multipliers)

    def begin_calls(self) -> list[Call]:
        return [] if self.once else [Call("clear", 0, (self.multipliers,))]

    def scale_calls(self) -> list[Call]:
        """What `begin_substep` does again for other compliances in the same array, but for `reweigh_calls`."""
        found = [
            Call("scale_rows", 0, (self.compliance, self.h**2, self.alpha)),
            Call("strain_rows", 0, (self.alpha, self.rest_lengths, self.strain_of_one())),
        ]
        for one in (*self.chains, *self.way_back):
            found.append(Call("take_rows", 0, (self.alpha, one.row_of_step, one.real, one.links.alpha)))
        for swept in (self.sweep, self.around_pins):
            if swept is not None and len(swept.places):
                found.append(Call("take_rows", 0, (self.alpha, swept.places, EVERYWHERE, swept.springs.alpha)))
        return found

    def reweigh_calls(self, changed: np.ndarray) -> list[Call]:
        """What it does for other inverse masses in the same array, and behind `scale_calls`, if `changed` (1,) bool."""
        given = (
            (swept.rows.indices, self.k, springs.gamma, springs.alpha, springs.scale)
            for swept in (self.sweep, self.around_pins)
            if swept is not None
            for springs in [swept.springs]
        )
        return [Call("rescale", 0, (changed, self.inverse_masses, *each)) for each in given]

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        there = [(number, 1) for number in range(len(self.chains))]
        if self.sweep is None and not self.alone:
            # At the turning point the last family is solved twice in a row.
            there = [*there[:-1], (len(there) - 1, 2), *there[-2::-1]]
            return self._along(self.chains, there, fresh, kept) + self._swept_again(kept)
        return self._along(self.chains, there, fresh, kept) + self.back(kept)

    def there(self, fresh: bool) -> list[Call]:
        """The chains, family after family: half of a pass."""
        return self._along(self.chains, [(number, 1) for number in range(len(self.chains))], fresh, True)

    def back(self, kept: bool) -> list[Call]:
        """The other half: the chains in reverse, or the sweep."""
        chains = self.way_back
        if self.sweep is None and not self.alone:
            chains = self.chains
        order = [(number, 1) for number in range(len(chains))][::-1]
        return self._along(chains, order, False, True) + self._swept_again(kept)

    @property
    def is_swept_between(self) -> bool:
        """Whether edges are swept between rounds: some are in no chain, in a substep of second order."""
        return self.sweep is not None and self.sweeps > 1

    def between(self, is_first: bool) -> list[Call]:
        """What follows the chains between rounds: the sweep or, after the first one, the chains in reverse.

        Strips of paper that are drawn together by 2, 10 and 30 % rise 4.0, 3.8 and 0.1 % too little without these, and
        0.1, 0.9 and 2.0 % too much with them.
        """
        sweep = self.sweep
        if sweep is None:
            return self.back(True) if is_first else []
        if not self.is_swept_between:
            return []
        if self._hasty is None or self._hasty[0] is not sweep:
            springs = sweep.springs._replace(scale=HASTE * sweep.springs.scale)
            self._hasty = sweep, sweep._replace(springs=springs)
        return self._sweep_over(self._hasty[1], BETWEEN_SWEEPS - 1, True) + self._sweep_over(sweep, 1, True)

    def _swept_again(self, kept: bool) -> list[Call]:
        """What is swept after the chains."""
        found: list[Call] = []
        if self.sweep is not None:
            found += self._sweep_over(self.sweep, self.sweeps, kept)
        if self.around_pins is not None:
            found += self._sweep_over(self.around_pins, PIN_SWEEPS, True)
        return found

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        make(kernels, self.calls(self.kept, self.fresh), p, x)
        self.fresh = False

    def _sweep_over(self, swept: Swept, sweeps: int, kept: bool) -> list[Call]:
        _, rows, springs, places, own = swept
        calls = [Call("project_distance", 2, (rows, springs, own if kept else NOTHING, sweeps))]
        if kept and own is not self.multipliers:
            read = Call("put", 0, (self.multipliers, places, own, ALL))
            calls = [read, *calls, Call("put", 0, (own, ALL, self.multipliers, places))]
        return calls

    def project_around(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, share: np.ndarray) -> None:
        """Project all rows once more, continuing their multipliers, with inverse masses times `share` (n,)."""
        w = self.inverse_masses * share
        packed = kernels.pack(p, w)
        for chained in self.chains:
            links = chained.links
            if not self.kernels.PACKED:
                links = links._replace(weights=w.take(chained.along.vertices))
            multipliers = self.multipliers.take(chained.row_of_step)
            kernels.project_chains(packed, x, chained.along, links, multipliers, 1, False)
            kernels.put(multipliers, chained.steps, self.multipliers, chained.rows)
        rows = self.rows
        weights = w.take(rows.indices)
        brake = 1.0 + self.gamma if len(self.gamma) else 1.0
        scale = -self.k[: self.sides] / (weights.sum(axis=0) * brake + self.alpha)
        springs = Springs(weights, self.rest_lengths, self.alpha, scale, self.gamma)
        kernels.project_distance(packed, x, rows.colored(), springs, self.multipliers, 1)
        kernels.unpack(packed, p)

    def _along(self, chains: list[Chained], order: list[tuple[int, int]], fresh: bool, kept: bool) -> list[Call]:
        """Solve these families.

        order: their indices, and how often each is solved in a row.
        fresh: whether multipliers are 0 so far; kept: whether they are asked for.
        """
        every, begun = self.multipliers, set()
        calls = [] if fresh else [Call("put", 0, (every, one.row_of_step, one.multipliers, ALL)) for one in chains]
        for number, passes in order:
            one = chains[number]
            is_first = fresh and number not in begun
            calls.append(Call("project_chains", 2, (one.along, one.links, one.multipliers, passes, is_first)))
            begun.add(number)
        read = [Call("put", 0, (one.multipliers, one.steps, every, one.rows)) for one in chains if kept]
        return calls + read
