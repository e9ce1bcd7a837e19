"""Enclosed volume and pressure of balloons.

C = V − k V0, with V = 1/6 Σ (p1 × p2) · p3 over the triangles        k: the pressure of Müller et al., a factor
∇C = 1/6 Σ p2 × p3 at p1 of each triangle
α = 0; of what has a pressure P(V) [Pa] instead, V − V0 with α = −1 / P'(V), linearized
from: Müller et al. 2007, sec. 4.4, eq. 14; pressures: Newton's step on λ = h² P(V)
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import Call
from ..kernels.protocol.inflation import Contents, Surface
from ..settings.solver_settings import ATMOSPHERE, SolverSettings
from .base import Constraints, Residual, relaxation

if TYPE_CHECKING:
    from ..bodies.material import Material

BURST, LEAKING = 1, 2
"""What has become of a piece: it has no pressure any more, or loses its gas through a hole."""


class Piece(NamedTuple):
    """One closed surface: an island of a body with its openings capped.

    Attributes:
        body: Index of the body.
        triangles: Surface, (t, 3) int.
        caps: Vertices around each opening, list of (k,) int, in the direction of the triangles.
        rest_volume: Signed volume at rest [m³]; negative if the normals point inward, 0 of sheets on each other.
        area: Of the triangles at rest [m²].
    """

    body: int
    triangles: np.ndarray
    caps: list[np.ndarray]
    rest_volume: float
    area: float


LITER = 1e-3
"""[m³]"""

ROUND = 1.2185 / (2.0 * np.pi) ** 1.5
"""Volume of two discs that are blown up, over their area to the power 3/2 (Paulsen 1994, What is the shape of a Mylar
balloon?): what flat sheets can hold, more or less."""

LEFT_IN = 1e-3
"""Share of that which is left in flat sheets before anything is pumped in: a millimeter between sheets of half a
meter."""

SHAPE_PER_VOLUME = 5.0
"""How much of its size a shape counts as off by a relative error of its volume of 1: 1 % is as bad as 5 % of a drape,
because pressure goes with it."""


class VolumeConstraints(Constraints):
    """One row for every closed piece; `forces` are overpressures [Pa].

    Modes of the material: VOLUME is the constraint of Müller et al.; OVERPRESSURE pushes with a constant P; GAS keeps
    P V of the air inside constant. The multiplier of the last two is a function of the volume, lambda = h² P(V); each
    iteration takes one Newton step on it:

        d_lambda = (h² P(V) - lambda) / (1 - h² P'(V) sum w |grad V|²)

    An opening is closed by a virtual cap: triangles from its rim to the rim's mean point, which is not a particle; its
    gradient is distributed to the rim.

    A map of pressure scales how far each particle moves.

    Args:
        pieces: Closed surfaces.
        n: Number of particles.

    Attributes:
        opened: 0, `BURST` or `LEAKING` for each piece, (pieces,) int; counts from the next `set_materials`. A leaking
            piece holds gas in any mode.
        burst, leaking: Which pieces are that, (pieces,) bool.
        pumped: What was pumped into each at the beginning and at the end of the frame, (pieces,) each [Pa m³], or None.
        full: What is in it without that, pressure times volume; 0 in other modes than GAS and if it leaks.
        sizes: Volumes at rest, or what flat sheets can hold, (pieces,) [m³].
        flat: Which pieces are flat sheets, (pieces,) bool.
        most: Of the gas, what has come in so far, pressure times volume; infinite if all has.
    """

    name = "volume"
    cause = "volume"

    def __init__(self, pieces: Sequence[Piece], n: int) -> None:
        self.pieces = list(pieces)
        self.n = n
        self.multipliers = np.zeros(len(self.pieces))
        self.last = np.zeros(len(self.pieces))
        rims = [rim for piece in self.pieces for rim in piece.caps]
        self.rim_sizes = np.array([len(rim) for rim in rims], float)
        self.side = np.ones(len(self.pieces))
        self.rims = np.concatenate([np.zeros(0, int), *rims])
        self.rim_caps = np.repeat(np.arange(len(rims)), [len(rim) for rim in rims])
        self._closed: Surface | None = None
        self.opened = np.zeros(len(self.pieces), int)
        self.pumped: tuple[np.ndarray, np.ndarray] | None = None
        self.factors: np.ndarray | None = None
        self.pushed_away = np.zeros(len(self.pieces))

    @functools.cached_property
    def piece_of_particle(self) -> np.ndarray:
        """The piece of each particle, (n,) int; 0 for those that are in none."""
        found = np.zeros(self.n, int)
        for number, piece in enumerate(self.pieces):
            found[piece.triangles] = number
        return found

    def _lay_out(self) -> None:
        self._closed = None  # until something is measured: most cloth has no pressure

    def surface(self, kernels: Kernels) -> Surface:
        """All pieces as kernels take them.

        Centers of caps follow the particles.
        """
        self.lay_out(kernels)
        self._closed = self._closed or self._close()
        return self._closed

    def _close(self) -> Surface:
        triangles, owners, caps = [np.zeros((0, 3), int)], [], 0
        for piece, side in zip(self.pieces, self.side):
            surface = [piece.triangles]
            for rim in piece.caps:
                surface.append(np.column_stack([np.roll(rim, -1), rim, np.full(len(rim), self.n + caps)]))
                caps += 1
            triangles += [corners[:, ::-1] for corners in surface] if side < 0.0 else surface
            owners.append(sum(map(len, surface)))
        closed = np.ascontiguousarray(np.concatenate(triangles).T, self.kernels.INDEX)
        owner = np.repeat(np.arange(len(owners)), owners).astype(self.kernels.INDEX)
        return Surface(closed, owner, self.rims, self.rim_caps, self.rim_sizes)

    @property
    def burst(self) -> np.ndarray:
        return np.asarray(self.opened == BURST)

    @property
    def leaking(self) -> np.ndarray:
        return np.asarray(self.opened == LEAKING)

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        self.factors = maps.get("pressure")

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        own = [materials[piece.body] for piece in self.pieces]
        rest = np.array([piece.rest_volume for piece in self.pieces])
        flat = rest == 0.0
        area = np.array([piece.area for piece in self.pieces])
        size = np.where(flat, ROUND * area**1.5, np.abs(rest))
        contents = self._contents(own, area)
        modes = np.array([m.pressure_mode for m in own], dtype="U12")
        modes = np.where(self.burst, "OFF", np.where(self.leaking, "GAS", modes))
        side = np.where(rest < 0.0, -1.0, 1.0)
        if not np.array_equal(side, self.side):
            self.side, self._closed = side, None
        holds_volume = (modes == "VOLUME") & (size > 0.0) & ((contents > 0.0) | ~flat)
        holds_gas = (modes == "GAS") & (size > 0.0)
        self.holds_volume, self.sizes, self.flat = holds_volume, size, flat
        self.target = self.aim = np.where(contents > 0.0, contents, np.array([m.pressure for m in own]) * size)
        self.sets_pressure = modes == "OVERPRESSURE"
        overpressure = np.where(self.leaking, 0.0, np.array([m.overpressure for m in own]))
        self.constant = np.where(self.sets_pressure, overpressure, np.where(holds_gas, -ATMOSPHERE, 0.0))
        filled = np.where(flat | (contents > 0.0), np.maximum(contents, flat * LEFT_IN * size) / size, 1.0)
        known = self.sets_pressure | holds_gas & (filled == 1.0)
        self.set_pressure = np.where(known, overpressure, 0.0)
        self.gas = np.where(holds_gas, (ATMOSPHERE + np.where(known, overpressure, 0.0)) * filled * size, 0.0)
        self.full, self.most = np.where(self.leaking, 0.0, self.gas), np.full(len(own), np.inf)
        self.smallest = np.maximum(1e-3 * size, 1e-300)
        self.k = relaxation(np.array([m.k_volume for m in own]), settings)
        self.working = holds_volume | holds_gas | self.sets_pressure
        self.active = bool(self.working.any())
        self.use_weights(w)
        self.h = 0.0

    def _contents(self, own: Sequence[Material], area: np.ndarray) -> np.ndarray:
        """What materials want in each piece, (pieces,) [m³], 0 for what is there at rest: larger ones get more."""
        owner = np.array([piece.body for piece in self.pieces], int)
        share = area**1.5 / np.bincount(owner, area**1.5).clip(1e-300)[owner]
        return np.where(self.leaking, 0.0, LITER * share * np.array([m.contents for m in own]))

    def use_weights(self, w: np.ndarray) -> None:
        """Use these inverse masses, (n,) [1/kg]."""
        self.push = w if self.factors is None else w * self.factors

    def mean_factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the map of pressure in each piece, and whether it varies within it, (pieces,) each."""
        if self.factors is None:
            return np.ones(len(self.pieces)), np.zeros(len(self.pieces), bool)
        own = [self.factors[np.unique(piece.triangles)] for piece in self.pieces]
        return np.array([one.mean() for one in own]), np.array([bool(np.ptp(one) > 0.0) for one in own], bool)

    def begin_substep(self, h: float, fraction: float) -> None:
        super().begin_substep(h, fraction)
        if self.pumped is not None:
            start, end = self.pumped
            now = self.full + start + fraction * (end - start)
            self.gas = np.where((self.full > 0.0) | self.leaking, now, 0.0)

    def begin_calls(self) -> list[Call]:
        return [Call("clear", 0, (self.multipliers,))]

    def calls(self, kept: bool, fresh: bool) -> list[Call] | None:
        given = self.surface(self.kernels), self.push, self.piece_of_particle, self.k, self.contents
        return [Call("hold_volume", 1, (*given, self.multipliers, self.last, self.h**2))]

    @property
    def contents(self) -> Contents:
        """What is to be in the pieces, as kernels take it."""
        inside = self.aim, self.pushed_away, self.gas, self.most, self.constant, self.smallest
        return Contents(*inside, self.holds_volume, self.working, self.sets_pressure)

    def errors(self, volumes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `volume_errors` in `kernels.protocol.inflation`."""
        return self.kernels.volume_errors(volumes, self.contents, self.multipliers, self.h**2)

    def enclosed(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Volumes at p (3, n), positive even if normals point inward, (pieces,) [m³]."""
        return kernels.enclosed_volumes(p, self.surface(kernels), len(self.pieces))

    @property
    def pushed_bodies(self) -> np.ndarray:
        """Those that have any pressure, (k,) int."""
        return np.unique([piece.body for piece, works in zip(self.pieces, self.working) if works]).astype(int)

    def pushing(self) -> np.ndarray:
        firsts = np.array([piece.triangles[0, 0] for piece in self.pieces], int)
        return firsts[self.multipliers != 0.0]

    def residual(self, p: np.ndarray) -> Residual:
        """The relative error of the volume of pieces that hold a volume or an amount of gas."""
        if not self.h:
            return Residual()
        volumes = self.enclosed(self.kernels, p)
        wrong = np.abs(self.errors(volumes - self.pushed_away)[0]) / np.maximum(volumes, self.smallest)
        held = self.working & ~self.sets_pressure
        worst = float(wrong[held].max(initial=0.0))
        return Residual(min(worst, 1.0), worst)

    def shape_error(self, residual: Residual) -> float:
        return SHAPE_PER_VOLUME * residual.error

    def values(self, x: np.ndarray) -> np.ndarray:
        """V - target of every piece, (pieces,) [m³]; V - V0 if a pressure is set."""
        volumes = self.enclosed(self.kernels, np.ascontiguousarray(x.T))
        rest = np.abs([piece.rest_volume for piece in self.pieces])
        return volumes - np.where(self.holds_volume, self.target, rest)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All particles for every piece, (pieces, n), and the gradient of C, (pieces, n, 3)."""
        p = np.ascontiguousarray(x.T)
        gradients = self.kernels.measure_volume(p, self.surface(self.kernels), len(self.pieces))[1].T
        of_piece = self.piece_of_particle == np.arange(len(self.pieces))[:, None]
        rows = np.where(of_piece[:, :, None], gradients, 0.0)
        return np.tile(np.arange(self.n), (len(self.pieces), 1)), rows
