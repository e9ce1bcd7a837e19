"""Bending of stiff sheets: plate elements, solved all at once.

C = φ − φ0 at every hinge        φ: the dihedral angle; φ0: the rest angle
∇C = as of dihedral angles in `bend`
α = the inverse of the elements' stiffness in the hinges, a matrix
from: elements of Morley 1968, see `plate_elements`; implicit Euler: Baraff and Witkin 1998

One pass over hinges gives each at most the stiffness m/h², so stiffer sheets would hang too deep. For a body that is
stiff by this measure the linear system (M + h² B Q) p = M p̃ of the whole body is solved in every substep instead:
implicit Euler. Its factors are cached for each h.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import Kernels
from ..kernels.numpy import dihedral_angles
from ..kernels.protocol.blocks import FlatSheet, SheetWork
from ..kernels.protocol.frames import Call
from ..meshes.creases import Creases
from ..meshes.weave import Woven
from ..settings.solver_settings import SolverSettings
from .base import SAMPLE, Constraints, Residual, make, percentile, residual_of, sampled, within_half_turn
from .folds import Folds, stuck_share
from .plate_blocks import PlateBlocks, block_entries, levels_of
from .plate_elements import (
    FLAT,
    curvature_norms,
    curvatures,
    plate_elements,
    push_of,
    refolded,
    side_forces,
    triangle_normals,
)  # fmt: skip

if TYPE_CHECKING:
    from ..bodies.material import Material

STIFF_SHEET = 0.1
"""A body is stiff above this h² B / (ρ l⁴). Hinges solved in one pass let a clamped strip of ten cells sag 32 % too
much there, 10 % at 0.03 and 94 % at 0.3, compared with 160 substeps; usual cloth, cotton at 1 cm, is at 0.04."""

USUAL_SUBSTEP = 1.0 / 480.0
"""The h by which a body is stiff [s]: of 20 steps in a frame of 1/24 s. Always this one, because plates and hinges have
different energies: what the mesh and the material decide stays so whatever the quality is."""

MOST_ENTRIES = 24_000_000
"""Larger systems use hinges, whose residual shows how soft they are. A square of 144 x 144 vertices has this many: 190
MB for the factors, as much for the matrix, and, extrapolated from 16 ms at 100 x 100, about 50 ms in every substep.

Where the rest shape is folded, the limit is lower by `MOST_TURNS`: a monkey of 8000 vertices and 0.3 m, held at its
top, has 10 million, and took more than 20 s a frame."""

CLAMP = 1e4
"""Factor on the stiffness of triangles whose corners are all pinned: the sheet next to them is clamped, not hinged."""

LEVEL = 1e-6
"""Depth of a sheet over its width up to which it is flat: Blender's numbers are rounded to 6e-8 of the largest."""

FLAT_ANGLE = 0.005
"""A sheet whose hinges are bent by less is flat [rad]: 0.3°."""

SHAPE_PER_SHORT, SHORT_POWER = 0.6, 0.75
"""How much of its size a shape is off where stretch and shear undo all of the angles, and how that grows with what they
undo. Pear loops of paper, leather, denim, cotton and silk, 24 and 48 cells, are 56 to 64, 20, 11 to 14, 4 to 6 and 1 to
2 % too narrow where these are 60, 18, 12, 3 to 4 and 0.5 to 1 % short."""

MOST_TURNS, TURNED = 8, 1e-4
"""If the rest shape is folded, the load rotates with the normals: the system is solved at most this often, until no
normal rotates by more than this [rad]. With one solve, film of 1e-4 N·m folded at a right angle trembles at 2 m/s."""


@dataclasses.dataclass(frozen=True, eq=False)
class Sheet:
    """A body as plates need it.

    Attributes:
        start: Its first particle.
        rest: Rest positions, (n, 3) [m].
        triangles: (t, 3) int.
        areas: Area of each vertex, (n,) [m²].
        islands: Connected component of each vertex, (n,) int.
        keeps_angles: Whether rest angles are those of the rest shape; else they are 0.
        creases: Edges with rest angles and a stiffness of their own.
        follows: Whether the rest shape can change.
        woven: Where its threads run.
    """

    start: int
    rest: np.ndarray
    triangles: np.ndarray
    areas: np.ndarray
    islands: np.ndarray
    keeps_angles: bool
    creases: Creases
    follows: bool
    woven: Woven

    @functools.cached_property
    def levels(self) -> np.ndarray:
        """Level of each vertex, see `plate_blocks.levels_of`, (n,) int; few bodies are stiff enough to ask for it."""
        return levels_of(self.rest, self.triangles, self.islands)


class Plate:
    """A stiff body: its elements, their blocks and factors. Stiffness, masses and map do not change."""

    def __init__(
        self,
        sheet: Sheet,
        bend: float,
        damping_time: float,
        masses: np.ndarray,
        factors: np.ndarray,
        can_refold: bool = False,
        weft: float = 1.0,
        stuck: float = 0.0,
    ) -> None:
        self.part = slice(sheet.start, sheet.start + len(sheet.rest))
        self.given: tuple[Any, ...] = bend, damping_time, masses, factors, can_refold, weft, stuck
        self.bend, self.damping_time, self.masses = bend / (1.0 - stuck), damping_time, masses
        self.can_refold, self.grown = can_refold, 1.0
        self.elements = self.first_elements = plate_elements(
            sheet.rest,
            sheet.triangles,
            sheet.keeps_angles,
            sheet.creases,
            sheet.woven.of_triangles() if weft != 1.0 else None,
            weft,
        )
        self.factors = factors[self.elements.corners].mean(axis=1)
        held = (masses[self.elements.corners] == np.inf).all(axis=1)
        self.factors[held] = CLAMP * self.factors.max()
        self.bent = self.folded = bool(self.elements.push.any())
        folds = dihedral_angles(sheet.rest.T[:, self.elements.hinges.T], with_gradients=False)[0]
        creased = sheet.creases.of_edges(self.elements.hinges[:, :2], len(sheet.rest))[0]
        self.rest_angles = np.where(np.isnan(creased), folds if sheet.keeps_angles else 0.0, creased)
        # A folded rest shape with other rest angles is not at rest; a single point is.
        rests = np.abs(self.rest_angles - folds).max(initial=0.0) < FLAT
        self.unbent = self.first_unbent = sheet.rest if rests else np.zeros_like(sheet.rest)
        self.first_angles, self.plastic = self.rest_angles, np.zeros(len(self.rest_angles))
        self.stuck, self.held = stuck, np.zeros(len(self.rest_angles) if stuck else 0)
        self.norms = curvature_norms(self.elements, sheet.rest) if stuck else np.zeros((0, 3, 3))
        self.turned: tuple[np.ndarray, ...] = ()
        loaded = self.bent or can_refold or stuck > 0.0
        self.blocks = PlateBlocks(self.elements, self.factors, sheet.levels, masses < np.inf, loaded)
        self.moved = np.zeros((len(self.blocks.vertices), 3))
        self.flat = None if loaded or damping_time else self._flat()
        self._work: SheetWork | None = None

    def _flat(self) -> FlatSheet | None:
        """The sheet as one kernel solves it; None if it is not flat at rest."""
        arms = self.unbent - self.unbent.mean(axis=0)
        extents, axes = np.linalg.eigh(arms.T @ arms)
        if extents[0] > LEVEL**2 * extents[1]:
            return None
        across = axes[:, :1]
        arms -= (arms @ across) @ across.T
        blocks, first = self.blocks, self.part.start
        held = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for rows, matrix, vertices in blocks.held:
            row, column = np.nonzero(matrix)
            held.append((rows.start + row, vertices[column], matrix[row, column]))
        return FlatSheet(
            np.arange(first, first + len(arms)), arms.T.copy(), np.linalg.pinv(arms, rcond=LEVEL), blocks.vertices,
            blocks.rows, self.masses[blocks.vertices], *map(np.concatenate, zip(*held)),
        )  # fmt: skip

    def call(self, h: float, reached: np.ndarray, is_first: bool) -> Call | None:
        """The kernel that solves it in a substep of h [s], is_first: for the first time there; None if none does."""
        if self.flat is None:
            return None
        blocks = self.blocks
        stiffness = blocks.limited(self.masses, h**2 * self.bend / self.grown**2)
        if self._work is None or self._work.reached is not reached:
            known, start, moved = (np.zeros((3, count)) for count in (blocks.starts[-1], *2 * [len(blocks.vertices)]))
            self._work = SheetWork(known, start, moved, reached)
        given = self.flat, blocks.factors(self.masses, stiffness), self._work, stiffness, is_first
        return Call("bend_sheet", 1, given)

    def grow(self, factor: float) -> None:
        """Let the rest shape be so many times as large as at the beginning: at any size a fold takes the same work."""
        if factor != self.grown:
            self.grown = factor
            self._refold()

    def fold(self, plastic: np.ndarray) -> None:
        """Change the rest angles of the beginning by these from now on, (h,) [rad]."""
        if not np.array_equal(plastic, self.plastic):
            self.plastic, self.rest_angles = plastic, self.first_angles + plastic
            self._refold()

    def hold(self, held: np.ndarray) -> None:
        """Let friction hold at these angles beside those at rest from now on, (h,) [rad]."""
        if self.stuck and not np.array_equal(held, self.held):
            self.held = held
            self._refold()

    def curvatures(self, angles: np.ndarray) -> np.ndarray:
        """Mean curvature of the triangles at hinges that are bent by these angles, (h,) [1/m]."""
        found = curvatures(self.elements, self.norms, angles)
        return np.asarray(0.5 * (found[self.elements.first_sides // 3] + found[self.elements.hinge_sides // 3]))

    def _refold(self) -> None:
        changed = self.plastic != 0.0
        folded = refolded(self.first_elements, changed, self.rest_angles)
        push, self.folded = folded.push, bool(folded.push.any())
        if self.held.any():  # friction and bending are one spring, and rest in between
            push = push + push_of(self.elements, self.stuck * self.held)
        self.elements = folded._replace(push=self.grown * push)
        self.bent = bool(self.elements.push.any())
        as_first = self.grown == 1.0 and not changed.any() and not self.held.any()
        self.unbent = self.first_unbent if as_first else np.zeros_like(self.first_unbent)

    def begin_substep(self) -> None:
        """Forget what the passes of the last substep have done."""
        self.moved[:], self.turned = 0.0, ()

    def solve(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, h: float) -> None:
        """Move positions p (n, 3) from x before the substep; `moved` adds up the displacements of all passes.

        The unknown is the difference from the rest shape, moved rigidly to the body, so that rounding errors are
        relative to the bending. With damping, the force is that at z = p' + τ/h (p' − x), where x is moved rigidly
        too, and the unknown is z.
        """
        blocks, lag = self.blocks, self.damping_time / h
        ids = blocks.vertices
        if not self.turned:  # in the first pass of a substep; others move it by no more than bends it
            unbent = _turned(self.unbent, p)
            before = _turned(x, p) - unbent if lag else np.zeros_like(p)
            held = np.zeros((int(blocks.starts[-1]), 3))
            for rows, matrix, vertices in blocks.held:  # what is pinned does not move within a substep
                ahead = (1.0 + lag) * (p[vertices] - unbent[vertices]) - lag * before[vertices]
                held[rows] += matrix @ ahead
            self.turned = unbent, before, unbent[ids], lag * before[ids], self.masses[ids, None], held
        unbent, before, start, behind, masses, held = self.turned
        here, lead = p[ids], 1.0 + lag
        stiffness = blocks.limited(self.masses, lead * h**2 * self.bend / self.grown**2)
        b = -stiffness * held
        b[blocks.rows] += masses * (lead * (here - start - self.moved) - behind)
        factors = blocks.factors(self.masses, stiffness)
        if self.bent:
            corners = self.elements.corners
            at_rest = triangle_normals(unbent, corners) if self.unbent.any() else np.zeros(corners.shape)
            lagging = triangle_normals(unbent + before, corners) - at_rest if lag else 0.0
            turn, turned = triangle_normals(p, corners) - at_rest, np.zeros_like(at_rest)
            reached, known = p.copy(), b
            most = MOST_TURNS if self.folded else 1
            for _ in range(most):
                b = known + stiffness * blocks.load(self.elements, self.factors, lead * turn - lag * lagging)
                kernels.solve_blocks(b, factors)
                if most == 1:
                    break
                reached[ids] = (b[blocks.rows] + behind) / lead + start
                turn, turned = triangle_normals(reached, corners) - at_rest, turn
                if np.abs(turn - turned).max() < TURNED:
                    break
        else:
            kernels.solve_blocks(b, factors)
        p[ids] = (b[blocks.rows] + behind) / lead + start
        self.moved += p[ids] - here

    def angles(self, p: np.ndarray, some: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Dihedral angle minus rest angle of every hinge, or of some, at positions p (n, 3), (m,) [rad]."""
        hinges = self.elements.hinges[some].T
        angles = dihedral_angles(p.T[:, hinges], with_gradients=False)[0]
        return within_half_turn(angles - self.rest_angles[some] if self.bent else angles)

    def moments(self, p: np.ndarray) -> np.ndarray:
        """Moment of every hinge against its opening at positions p (n, 3), (m,) [N m]."""
        slopes, derivatives = side_forces(self.elements, self.factors, p)
        start, end = p[self.elements.hinges[:, 0]], p[self.elements.hinges[:, 1]]
        along = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
        return np.asarray(self.bend / self.grown**2 * (np.cross(derivatives, slopes) * along).sum(axis=1))


class PlateConstraints(Constraints):
    """The hinges of all stiff bodies. With the model ISOMETRIC every rest angle is 0.

    The matrix of their compliances is that with all slopes at minimum energy; it is never formed.

    Args:
        sheets: One per body.

    Attributes:
        stiff: Which bodies are solved here, and have inactive hinges, (bodies,) bool.
        plates: By body index.
    """

    name = "plate bend"
    cause = "bend"
    fresh = True

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self.sheets = list(sheets)
        self.stiff = np.zeros(len(self.sheets), bool)
        self.plates: dict[int, Plate] = {}
        self._map: np.ndarray | None = None
        self._hinges: dict[int, np.ndarray] = {}

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        self._map = maps.get("bend")

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        before, self.plates = self.plates, {}
        with np.errstate(divide="ignore"):
            inertia = 1.0 / w
        for number, (sheet, material) in enumerate(zip(self.sheets, materials)):
            part = slice(sheet.start, sheet.start + len(sheet.rest))
            factors = np.ones(len(sheet.rest)) if self._map is None else self._map[part]
            masses, bend = inertia[part], material.bend
            # The masses of a skin that is blown up change with its pressure, and so would all factors.
            is_skin, stuck = material.pressure_mode == "OVERPRESSURE", stuck_share(bend, material.bend_friction)
            stiff = settings.method != "PBD" and not is_skin and is_stiff(sheet, bend, masses, factors)
            solves = MOST_TURNS if material.bend_yield or stuck or is_folded(sheet) else 1
            if not stiff or solves * block_entries(sheet.levels, sheet.triangles) > MOST_ENTRIES:
                continue
            given: tuple[Any, ...] = (
                bend,
                material.bend_damping,
                masses,
                factors,
                bool(material.bend_yield or sheet.follows),
                material.weft_bend,
                stuck,
            )
            old = before.get(number)
            is_same = old is not None and all(np.array_equal(*each) for each in zip(old.given, given))
            self.plates[number] = old if old is not None and is_same else Plate(sheet, *given)
        self.stiff = np.isin(np.arange(len(self.sheets)), list(self.plates))
        self.active = bool(self.plates)
        self._reached, self.h = np.zeros((3, len(w) if self.active else 0)), 0.0

    def fold(self, plastic: np.ndarray, folds: Folds) -> None:
        """Change the rest angles of all hinges by these from now on, (m,) [rad]."""
        for number, plate in self.plates.items():
            if plate.can_refold:
                plate.fold(plastic[self.hinges_of(number, folds)])

    def hinges_of(self, number: int, folds: Folds) -> np.ndarray:
        """Index of each hinge of a plate among all, (h,) int."""
        if number not in self._hinges:
            own = np.flatnonzero(folds.body == number)
            found = _same_hinges(
                self.plates[number].elements.hinges + self.plates[number].part.start, folds.hinges[:, own].T
            )
            self._hinges[number] = own[found]
        return self._hinges[number]

    def grow(self, factors: np.ndarray) -> None:
        """Let the rest shape of each body be so many times as large, (bodies,) [1]."""
        for number, plate in self.plates.items():
            plate.grow(float(factors[number]))

    def begin_substep(self, h: float, fraction: float) -> None:
        self.h, self.fresh = h, True
        for plate in self.plates.values():
            plate.begin_substep()

    def calls(self, kept: bool, fresh: bool) -> list[Call] | None:
        found = [plate.call(self.h, self._reached, fresh) for plate in self.plates.values()]
        called = [call for call in found if call]
        return called if len(called) == len(found) else None

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        for plate in self.plates.values():
            call = plate.call(self.h, self._reached, self.fresh)
            if call:
                make(kernels, [call], p, x)
            else:
                own = p[:, plate.part].T.copy()
                plate.solve(kernels, own, x[:, plate.part].T, self.h)
                p[:, plate.part] = own.T
                self._reached[:, plate.part] = own.T
        self.fresh = False

    def residual(self, p: np.ndarray) -> Residual:
        """What stretch, shear and the others have done to the angles since this kind was projected last.

        The plates themselves have no residual there.
        """
        if not self.h:
            return Residual()
        pairs = [[plate.angles(x.T[plate.part], some) for x in (self._reached, p)] for plate, some in self._sampled()]
        reached, angles = (np.concatenate(each) for each in zip(*pairs))
        return residual_of(np.abs(within_half_turn(angles - reached)), np.abs(angles))

    def shape_error(self, residual: Residual) -> float:
        return SHAPE_PER_SHORT * residual.short**SHORT_POWER * visible_share(residual)

    def change(self, p: np.ndarray, way: np.ndarray) -> float:
        hinges = np.concatenate([plate.elements.hinges[some] + plate.part.start for plate, some in self._sampled()]).T
        return percentile(np.abs(np.einsum("ijk,ijk->k", dihedral_angles(p[:, hinges])[1], way[:, hinges])))

    def _sampled(self) -> list[tuple[Plate, slice | np.ndarray]]:
        """The plates, each with those of its hinges that are looked at."""
        most = max(SAMPLE // max(len(self.plates), 1), 1)
        return [(plate, sampled(len(plate.elements.hinges), most)) for plate in self.plates.values()]

    def values(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate([plate.angles(x[plate.part]) for plate in self.plates.values()])

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        indices = np.concatenate([plate.elements.hinges + plate.part.start for plate in self.plates.values()])
        return indices, dihedral_angles(x.T[:, indices.T])[1].transpose(2, 1, 0)

    def forces(self) -> np.ndarray:
        """Moment of every hinge against its opening in the last substep, (m,) [N m]."""
        if not self.h:
            return np.zeros(sum(len(plate.elements.hinges) for plate in self.plates.values()))
        return np.concatenate([plate.moments(self._reached.T[plate.part]) for plate in self.plates.values()])

    @property
    def multipliers(self) -> np.ndarray:  # type: ignore[override]
        """The multipliers that belong to `forces`, computed on demand, (m,)."""
        return -(self.h**2) * self.forces()


def visible_share(residual: Residual) -> float:
    """How much of a residual of angles counts: little of a sheet that is nearly flat."""
    return min(residual.error / max(residual.short, 1e-300) / FLAT_ANGLE, 1.0)


def is_stiff(sheet: Sheet, bend: float, masses: np.ndarray, factors: np.ndarray) -> bool:
    """Whether hinges would be too soft in one pass: h² B / (ρ l⁴) is above `STIFF_SHEET`.

    l² is twice the mean area of a triangle, ρ the mass per area of moving vertices, and h is `USUAL_SUBSTEP`.
    B includes the mean factor of creases; a triangle has 1.5 edges.
    """
    moving = (masses < np.inf) & (sheet.areas > 0.0)
    if not moving.any():
        return False
    density = masses[moving].sum() / sheet.areas[moving].sum()
    square = 2.0 * sheet.areas.sum() / len(sheet.triangles)
    bend *= 1.0 + (np.asarray(sheet.creases.factors) - 1.0).sum() / (1.5 * len(sheet.triangles))
    return bool(USUAL_SUBSTEP**2 * bend * factors[moving].mean() > STIFF_SHEET * density * square**2)


def is_folded(sheet: Sheet) -> bool:
    """Whether the rest shape is not flat, or rest angles are not 0."""
    arms = sheet.rest - sheet.rest.mean(axis=0)
    extents = np.linalg.eigvalsh(arms.T @ arms)
    return bool(np.any(sheet.creases.angles) or (sheet.keeps_angles and extents[0] > FLAT**2 * extents[1]))


def _same_hinges(hinges: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Index in `known` (k, 4) of each of `hinges` (m, 4), which may have the edge or the tips the other way round."""
    both = np.concatenate([known, hinges])
    both = np.concatenate([np.sort(both[:, :2], axis=1), np.sort(both[:, 2:], axis=1)], axis=1)
    same = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    place = np.zeros(len(both), np.int64)
    place[same[: len(known)]] = np.arange(len(known))
    return place[same[len(known) :]]


def _turned(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Positions x (n, 3), moved rigidly to fit p (n, 3) (Kabsch 1976)."""
    arms, center = x - np.add.reduce(x) / len(x), np.add.reduce(p) / len(p)
    u, _, vt = np.linalg.svd(arms.T @ (p - center))
    u[:, -1] *= np.sign(np.linalg.det(u @ vt))
    return np.asarray(arms @ (u @ vt) + center)
