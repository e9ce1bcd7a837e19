"""Numba's kernels beside NumPy's: each alone on random input, and whole simulations."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("numba", reason="Numba is not installed in this Python")

from helpers.batches import find
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, Material, Plane, Simulation
from pbd_addon.arrays.distinct import distinct
from pbd_addon.constraints.base import laid_out, sort_rows
from pbd_addon.constraints.chains import find_families, lay_out
from pbd_addon.constraints.rigid_contacts import NO_PLANES
from pbd_addon.constraints.skin_masses import EXPONENTIALS
from pbd_addon.contact.bvh import median_split_order
from pbd_addon.kernels import EDGES, FACE, POINTS, Kernels, load
from pbd_addon.kernels.numba.chains import BLOCK
from pbd_addon.kernels.numba.compile import for_python
from pbd_addon.kernels.protocol.air import Sails
from pbd_addon.kernels.protocol.chains import Along, Links
from pbd_addon.kernels.protocol.inflation import Contents, Measured, Skin, SkinRows, Surface
from pbd_addon.kernels.protocol.motion import Islands
from pbd_addon.kernels.protocol.pairs import Bounds, Primitives
from pbd_addon.kernels.protocol.planes import Floor
from pbd_addon.kernels.protocol.projections import Attached, Colored, FlatHinges, Hinges, Rubbing, Springs, Tethered
from pbd_addon.kernels.protocol.skins import (
    CarriedLimits,
    CarriedRows,
    SkinLimits,
    SkinLoads,
    SkinMemory,
    SkinNow,
    SkinParticles,
    WholePieces,
)
from pbd_addon.kernels.protocol.springs import Release

ROOT = Path(__file__).resolve().parent.parent
NUMPY, NUMBA = load("numpy"), load("numba")
NAMES = [
    name
    for part in Kernels.__mro__
    for name, function in vars(part).items()
    if inspect.isfunction(function) and not name.startswith("_")
]
DT = 1 / 24


class Rows(NamedTuple):
    """Particles of rows, (k, m), that kernels take in their own layout."""

    indices: np.ndarray


def laid(argument: object, module: Kernels) -> object:
    """An argument as a backend's kernels take it; what is in a record too."""
    if isinstance(argument, Rows):
        return np.array(argument.indices, module.INDEX, order=module.ORDER)
    if isinstance(argument, tuple):
        parts = [laid(part, module) for part in argument]
        return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
    return np.array(argument, order="K") if isinstance(argument, np.ndarray) else argument


def spread(arguments: Sequence[object]) -> list[object]:
    """Arguments, with what is in records instead of these."""
    return [part for one in arguments for part in (spread(one) if isinstance(one, tuple) else [one])]


def compare(name: str, *arguments: object, w: np.ndarray | None = None) -> None:
    """Call both kernels on copies, and compare what they return and what they write into their arguments.

    Every array must agree to 1e-12 of its largest entry: thousands of times the rounding of a number, and far below
    what a wrong formula gives.

    w: inverse masses for which the first argument is packed.
    """
    results, given = [], []
    for module in (NUMPY, NUMBA):
        own = [laid(argument, module) for argument in arguments]
        taken = [module.pack(own[0], w), *own[1:]] if w is not None else own
        with np.errstate(all="ignore"):
            results.append(getattr(module, name)(*taken))
        if w is not None:
            module.unpack(taken[0], own[0])
        given.append(spread(own))
    returned = [result if isinstance(result, tuple) else (result,) for result in results]
    pairs = [*zip(*given), *zip(*returned)]
    changed = 0
    for (expected, found), before in zip(pairs, [*spread(arguments), *[None] * len(returned[0])]):
        if isinstance(expected, np.ndarray):
            assert found.shape == expected.shape
            largest = np.abs(expected[np.isfinite(expected)]).max(initial=1e-300)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * largest)
            changed += before is None or not np.array_equal(expected, before)
    assert changed, "the input makes this kernel do nothing"


class Case:
    """A crumpled sheet with random masses and multipliers."""

    def __init__(self, seed: int = 0, rx: int = 11, ry: int = 7) -> None:
        self.random = np.random.default_rng(seed)
        vertices, quads = grid(rx, ry, 1.0, 0.7)
        self.body = Body(vertices, quads)
        self.mesh, self.n = self.body.mesh, len(vertices)
        self.rest = vertices
        self.x = vertices.T + 0.02 * self.random.standard_normal((3, self.n))
        self.p = self.x + 0.01 * self.random.standard_normal((3, self.n))
        self.w = self.random.uniform(50.0, 500.0, self.n)
        self.w[:: self.n // 3] = 0.0

    def rows(self, indices: np.ndarray) -> Colored:
        """Rows (m, k) sorted by color, as NumPy takes them."""
        return laid_out(sort_rows(indices, np.zeros(len(indices), int), self.w), NUMPY).colored()

    def some(self, *shape: int, low: float = 0.1, high: float = 1.0) -> np.ndarray:
        return self.random.uniform(low, high, shape)


def test_the_same_functions_with_the_same_arguments():
    assert len(NAMES) > 15
    for name in NAMES:
        expected = list(inspect.signature(getattr(Kernels, name)).parameters)[1:]
        for module in (NUMPY, NUMBA):
            assert list(inspect.signature(getattr(module, name)).parameters) == expected, name


def test_strained():
    case = Case()
    indices = case.rows(case.mesh.edges)[0]
    lengths = np.linalg.norm(case.p[:, indices[0]] - case.p[:, indices[1]], axis=0)
    lengths /= case.some(len(lengths), low=0.6, high=1.4)
    strains = NUMPY.strains(case.p, indices, lengths)
    for module in (NUMPY, NUMBA):
        laid_out = np.asarray(indices, module.INDEX, order=module.ORDER)
        found = module.strained(case.p, laid_out, lengths, 0.25)
        np.testing.assert_array_equal(found, np.flatnonzero(strains > 0.25))
        assert 0 < len(found) < len(lengths)
        assert not len(module.strained(np.full_like(case.p, np.nan), laid_out, lengths, 0.25))
        for count in range(1, 6):  # the last one alone, behind any number of whole vectors
            right = np.linalg.norm(case.p[:, indices[0, :count]] - case.p[:, indices[1, :count]], axis=0)
            right[-1] *= 2.0
            assert module.strained(case.p, laid_out[:, :count], right, 0.25).tolist() == [count - 1]


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("sides", [1, 2])
def test_distance(damped, sides):
    case = Case()
    indices, starts, layouts = case.rows(case.mesh.edges)
    assert len(layouts) == len(starts), "every color of a sheet's edges is wide"
    m = indices.shape[1]
    lengths = np.linalg.norm(case.p[:, indices[0]] - case.p[:, indices[1]], axis=0) * case.some(m, low=0.8, high=1.2)
    compare("strains", case.p, Rows(indices), lengths)
    multipliers = case.some(m, low=-1e-5, high=1e-5)
    for kept in (multipliers, multipliers[:0]):
        springs = Springs(
            case.w[indices], lengths, case.some(sides, m, low=0.0, high=300.0),
            -case.some(sides, m, low=1e-3, high=1e-2), case.some(m if damped else 0),
        )  # fmt: skip
        rows = Colored(Rows(indices), starts, layouts)
        compare("project_distance", case.p, case.x, rows, springs, kept, 1 + sides, w=case.w)


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("passes", [1, 2])
def test_chains(damped, sides, closed, passes):
    """Chains along a sheet, and rings around a tube of the same faces."""
    case = Case(rx=40, ry=12)
    pairs, rest = case.mesh.edges, case.rest
    if closed:
        columns = 41
        angle = 2.0 * np.pi * rest[:, 0]
        rest = np.column_stack([np.cos(angle), np.sin(angle), 6.0 * rest[:, 1]]) / 6.0
        last = np.arange(case.n) % columns == columns - 1
        pairs = np.unique(np.sort(np.where(last[pairs], pairs - columns + 1, pairs), axis=1), axis=0)
        case.x = rest.T + 0.01 * case.random.standard_normal((3, case.n))
        case.p = case.x + 0.005 * case.random.standard_normal((3, case.n))
    families = find_families(pairs, rest)
    assert len(families) == 2
    assert max(len(family.rows) for family in families) > BLOCK
    assert any(family.rings.shape[1] for family in families) == closed
    lengths = np.linalg.norm(case.p[:, pairs[:, 0]] - case.p[:, pairs[:, 1]], axis=0)
    lengths *= case.some(len(pairs), low=0.8, high=1.2)
    for family in families:
        q = len(family.vertices) - 1
        joints = np.setdiff1d(np.arange(q), family.links)
        rest_lengths = case.some(q)
        rest_lengths[family.links] = lengths[family.rows]
        along = Along(Rows(family.vertices), family.levels, family.rings, joints, np.zeros((0, 2), int))
        for fresh in (False, True):
            links = Links(
                case.w[family.vertices], rest_lengths, case.some(sides, q, low=1.0, high=300.0),
                case.some(q if damped else 0),
            )  # fmt: skip
            multipliers = case.some(q, low=-1e-5, high=1e-5)
            compare("project_chains", case.p, case.x, along, links, multipliers, passes, fresh, w=case.w)


def test_put():
    case = Case()
    rows, places = (case.random.permutation(20)[:10] for _ in range(2))
    compare("put", case.some(20), Rows(places), case.some(20), Rows(rows))
    compare("put", case.some(20), Rows(places), case.some(10), Rows(rows[:0]))
    compare("put", case.some(10), Rows(places[:0]), case.some(20), Rows(rows))


@pytest.mark.parametrize("compression", [None, 20.0])
@pytest.mark.parametrize("round_off", [False, True])
def test_chains_side_by_side(round_off, compression):
    """Numba solves chains of like length in lanes; those of a disc, whose lengths differ, leave gaps in these."""
    vertices, faces = grid(70, 70, 1.0, 1.0)
    quads = np.array(faces)
    if round_off:
        middle = vertices[quads].mean(axis=1) - vertices.mean(axis=0)
        quads = quads[np.linalg.norm(middle, axis=1) < 0.48]
        used, quads = np.unique(quads, return_inverse=True)
        vertices, quads = vertices[used], quads.reshape(-1, 4)
    cotton = Material.preset("Cotton")
    cotton = cotton if compression is None else dataclasses.replace(cotton, compression=compression)
    stretch = find(Simulation([Body(vertices, quads, cotton, [0])], self_collision=False), "stretch")
    random = np.random.default_rng(0)
    x = vertices.T + 0.002 * random.standard_normal(vertices.T.shape)
    p = x + 0.001 * random.standard_normal(x.shape)
    found = []
    for kernels in (NUMPY, NUMBA):
        stretch.lay_out(kernels)
        stretch.begin_substep(DT / 20, 1.0)
        moved = p.copy()
        q = kernels.pack(moved, stretch.inverse_masses)
        for _ in range(2):
            stretch.project(kernels, q, x)
        kernels.unpack(q, moved)
        found.append((moved, stretch.multipliers.copy()))
    orders = [lay_out(chained.family, NUMBA.WIDTHS) for chained in stretch.chains]
    assert all(len(order.groups) > 1 for order in orders)
    assert round_off == all(len(np.unique(order.vertices)) < len(order.vertices) for order in orders)
    for of_numpy, of_numba in zip(*found):
        np.testing.assert_allclose(of_numba, of_numpy, rtol=1e-9, atol=1e-12 * np.abs(of_numpy).max())


@pytest.mark.parametrize("rubs", [False, True])
@pytest.mark.parametrize("damped", [False, True])
def test_dihedral(damped, rubs):
    case = Case()
    indices, starts, layouts = case.rows(case.mesh.hinges)
    m = indices.shape[1]
    hinges = Hinges(
        case.w[indices], case.some(m, low=-3.0, high=3.0), case.some(m, low=0.0, high=1e4),
        case.some(m if damped else 0), case.some(m), case.some(m, low=0.0, high=0.9),
        case.some(m), case.some(m if rubs else 0, low=0.0, high=0.5), case.some(m, low=0.0, high=0.9),
    )  # fmt: skip
    rows = Colored(Rows(indices), starts, layouts)
    compare("project_dihedral", case.p, case.x, rows, hinges, case.some(m, low=-1e-6, high=1e-6))


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("rubs", [False, True])
@pytest.mark.parametrize("damped", [False, True])
def test_isometric(damped, rubs, fresh):
    case = Case()
    indices, starts, layouts = case.rows(case.mesh.hinges)
    m = indices.shape[1]
    assert 2 < len(layouts) < len(starts), "of the colors of hinges, some are wide and some are narrow"
    stencils = case.some(4, m, low=-30.0, high=30.0)
    stencils -= stencils.mean(axis=0)
    multipliers = case.some(3, m, low=-1e-6, high=1e-6)
    for kept in (multipliers, multipliers[:, :0]) if fresh else (multipliers,):
        hinges = FlatHinges(
            stencils, case.w[indices] * stencils, case.some(m, low=0.0, high=1e6),
            -case.some(m, low=1e-7, high=1e-6), case.some(m if damped else 0),
        )  # fmt: skip
        facing, holding = case.some(m, low=100.0, high=200.0), -case.some(m, low=1e-7, high=1e-6)
        rubbing = Rubbing(
            case.some(m), case.some(m, low=0.0, high=10.0), facing, holding, case.some(m, low=0.0, high=0.9)
        )
        name, more = ("project_rubbing", (rubbing,)) if rubs else ("project_isometric", ())
        rows = Colored(Rows(indices), starts, layouts)
        compare(name, case.p, case.x, rows, hinges, *more, kept, fresh, w=case.w)


def test_flat_bends():
    case = Case()
    stencils = case.some(4, len(case.mesh.hinges), low=-30.0, high=30.0)
    indices, facing = case.mesh.hinges.T, case.some(len(case.mesh.hinges))
    compare("flat_bends", case.p, Rows(np.ascontiguousarray(indices)), stencils, facing)


def test_hinge_changes():
    case = Case()
    hinges = np.array(case.mesh.hinges.T, np.int64)
    compare("hinge_changes", case.p, hinges, case.x - case.p, np.roll(case.p, 1, axis=0))


def two_balls(is_open: bool) -> tuple[np.ndarray, Surface, np.ndarray]:
    """Positions (3, n), the surfaces of two balls, each of which may have an opening that is capped; edges (2, m)."""
    vertices, triangles = icosphere(2, 0.5)
    count, edges = len(vertices), Body(vertices, triangles).mesh.edges.T
    faces = triangles.T
    rim = np.zeros(0, int)
    if is_open:
        around = triangles[(triangles == 0).any(axis=1)]
        rim = distinct(around)[1:].astype(int)
        faces = np.concatenate([triangles[(triangles != 0).all(axis=1)], around]).T
        faces = np.where(faces == 0, 2 * count, faces)
    second = np.where(faces == 2 * count, 2 * count + 1, faces + count)
    p = np.concatenate([vertices, 0.3 * vertices + np.array([2.0, 0.0, 0.0])]).T.copy()
    caps = 2 * is_open
    surface = Surface(
        Rows(np.concatenate([faces, second], axis=1).astype(np.int64)), Rows(np.repeat([0, 1], faces.shape[1])),
        np.concatenate([rim, rim + count]), np.repeat(np.arange(caps), len(rim)), np.full(caps, float(len(rim))),
    )  # fmt: skip
    return p, surface, np.concatenate([edges, edges + count], axis=1).astype(np.int64)


def contents(random: np.random.Generator) -> Contents:
    """One piece that holds gas, one whose pressure is set."""
    return Contents(
        *random.uniform(0.1, 0.5, (3, 2)), np.array([np.inf, 0.2]), *random.uniform(0.01, 0.1, (2, 2)),
        np.array([False, False]), np.array([True, True]), np.array([False, True]),
    )  # fmt: skip


@pytest.mark.parametrize("is_open", [False, True])
def test_volume(is_open):
    p, surface, _ = two_balls(is_open)
    random = np.random.default_rng(3)
    compare("enclosed_volumes", p, surface, 2)
    compare("measure_volume", p, surface, 2)
    pieces, k, n = np.repeat([0, 1], p.shape[1] // 2), random.uniform(0.5, 1.0, 2), p.shape[1]
    inside = contents(random)
    compare("volume_errors", random.uniform(0.1, 0.6, 2), inside, np.array([1e-3, 1e-2]), 1e-3)
    push = random.uniform(50.0, 500.0, n)
    for held in (
        inside,
        inside._replace(holds=np.array([True, True]), gas=np.zeros(2), fixed=np.array([False, False])),
    ):
        compare("hold_volume", p, surface, push, pieces, k, held, np.array([1e-3, 1e-2]), np.zeros(2), 1e-3)
    measured = Measured(*(np.zeros(shape) for shape in ((3, n), 2, (3, n), (3, n), (3, n))))
    factors = random.uniform(0.5, 1.5, n)
    compare("measure_skin", p, surface, factors, pieces, np.array([1e-4, 2e-4]), np.zeros(2), measured)


@pytest.mark.parametrize("carries", [False, True])
@pytest.mark.parametrize("sides", [1, 2])
def test_inflation(sides, carries):
    """Two balls with pressure; and one of them without."""
    p, _, indices = two_balls(False)
    random = np.random.default_rng(6)
    n, m = p.shape[1], indices.shape[1]
    p = np.ascontiguousarray(p + 0.01 * random.standard_normal(p.shape))
    pieces, row_pieces = np.repeat([0, 1], n // 2), np.repeat([0, 1], m // 2)
    gradients, w = p * random.uniform(0.01, 0.02, p.shape), random.uniform(50.0, 500.0, n)
    multipliers, lengths = random.uniform(-1e-5, 1e-5, m), random.uniform(0.05, 0.2, m)
    carried, pull = random.uniform(-1e-5, 1e-5, m), random.uniform(-1e-5, 1e-5, p.shape)
    edges = SkinRows(Rows(indices), lengths, random.uniform(1.0, 300.0, (sides, m)), row_pieces)
    if not carries:
        carried, pull = carried[:0], np.zeros((3, 0))
    compare("edge_forces", p, Rows(indices), multipliers)
    compare("pull_along", p, Rows(indices), 0.5 * multipliers, multipliers, np.zeros_like(p))
    for works in (np.array([True, False]), np.array([True, True])):
        skin = Skin(w, pieces, works)
        compare("tension_pattern", p, gradients, edges, multipliers, carried, pull, skin)
        arguments = p, gradients, edges, multipliers, carried, pull.copy(), skin
        pattern, _, sums = NUMPY.tension_pattern(*(laid(argument, NUMPY) for argument in arguments))
        assert (pattern > 0.0).any()
        assert (sums[:4, 0] != 0.0).all()
        blown = gradients * random.uniform(0.8, 1.2, n)
        measured = Measured(p, np.array([0.5, 0.2]), gradients, blown, pull)
        inside = contents(random)._replace(works=works)
        compare("respond", p, measured, edges, multipliers, carried, skin, inside, np.array([1e-3, 2e-3]), 1e-3)


@pytest.mark.parametrize("is_strut", [False, True])
@pytest.mark.parametrize("sides", [1, 2])
def test_what_skins_carry_over(sides, is_strut):
    """What a substep leaves, and what the next one makes of it."""
    p, surface, indices = two_balls(True)
    random = np.random.default_rng(8)
    n, m = p.shape[1], indices.shape[1]
    pieces, row_pieces = np.repeat([0, 1], n // 2), np.repeat([0, 1], m // 2)
    lengths, tensions = random.uniform(0.05, 0.2, m), random.uniform(-2.0, 5.0, m)
    sums = np.zeros(2)
    compare("sum_tensions", tensions, lengths, row_pieces, sums)
    NUMPY.sum_tensions(tensions, lengths, row_pieces, sums)
    before = SkinMemory(random.uniform(0.0, 400.0, 2), *random.uniform(0.01, 0.1, (2, 2)), np.array([0.1, 0.2]))
    of_piece = random.uniform(0.02, 0.3, (10, 2))
    of_piece[2] *= 1e4
    of_piece[-1, 0] = -1.0
    flags = np.array([False, True]), np.array([True, True])
    loads, limits = SkinLoads(*of_piece, *flags), SkinLimits(0.03, 1e-4, 2.0, 1e-6, 4e-6, 0.005, 0.9, 0.05)
    masses, pull = random.uniform(1e-3, 2e-3, n), random.uniform(1e2, 1e4, n)
    particles = SkinParticles(masses, pull, pieces, random.uniform(size=n) > 0.1)
    now = SkinNow(np.zeros(1, bool), np.full((2, 2), np.nan), np.zeros(2), np.zeros(n), *np.zeros((5, 2)))
    for known in (True, False):
        compare("weigh_skin", sums, before, loads, limits, particles, EXPONENTIALS, known, now)
    NUMPY.weigh_skin(sums, before, loads, limits, particles, EXPONENTIALS, True, now)
    assert now.changed[0]
    rows = SkinRows(Rows(indices), lengths, random.uniform(0.0, 1e-3, (sides, m)), row_pieces)
    carried = CarriedRows(
        random.uniform(0.0, 1e6, m) * (row_pieces > 0), random.uniform(size=m) > 0.5, *np.zeros((4, m))
    )
    kind = CarriedLimits(0.8, 0.2, 0.5, 4e-6, is_strut)
    compare("carry_tensions", p, p, rows, tensions, carried, kind, now, loads.softened, 1e-6)
    compare("keep_tensions", 1e-6 * tensions, 1e-6, np.zeros(m))
    after = SkinMemory(*np.zeros((4, 2)))
    compare(
        "keep_skin",
        p,
        surface,
        np.array([1e-3, 2e-3]),
        np.array([0.4, 0.2]),
        np.array([np.inf, 1e-3]),
        now,
        1e-6,
        after,
    )


def test_whole_skins():
    """Of two pieces one was pushed."""
    p, _, _ = two_balls(False)
    random = np.random.default_rng(9)
    n = p.shape[1]
    of, masses = np.repeat([0, 1], n // 2), random.uniform(1e-3, 2e-3, n)
    sums = np.bincount(of, masses)
    islands, w = Islands(masses, of, sums), np.where(random.uniform(size=n) > 0.1, 1.0 / masses, 0.0)
    heavy, v = w / random.uniform(1.0, 20.0, n), random.standard_normal((3, n))
    is_hit = (of == 0) & (random.uniform(size=n) > 0.7)
    x, inner = p - 0.01 * v, p - 1e-3 * is_hit * v
    concerned = random.uniform(size=n) > 0.3
    for is_blown in (True, False):
        fall = is_blown, (0.1, 0.0, -9.81), random.uniform(size=n), heavy, w, concerned, islands, 1e-6, 1e-3
        compare("correct_fall", p, x, v, 0.9 * v, *fall)
    compare("undo_momentum", p, x, x, islands, np.array([[-1.0, 0.0]]), np.zeros_like(p))
    for alone, outer in ((True, np.zeros((3, 0))), (False, 0.1 * (inner - p))):
        pieces = WholePieces(*islands, np.array([True, True]), np.outer((0.0, 0.0, -9.81), np.ones(2)), alone)
        for taken in (np.full(2, 1e-8), np.full(2, 1.0)):
            compare("rebound", p, x, v, x.copy(), inner, outer, pieces, heavy, taken, 1e-3)


@pytest.mark.parametrize("sides", [1, 2])
def test_springs_that_soften(sides):
    p, _, indices = two_balls(False)
    random = np.random.default_rng(4)
    m = indices.shape[1]
    lengths, given = random.uniform(0.05, 0.2, m), random.uniform(1e-5, 1e-4, (sides, m))
    back, strains, lost = random.uniform(0.0, 1.0, (3, m))
    compare("release_rows", p, Rows(indices), lengths, lost, Release(0.3, 0.9, 0.2, 1e-4), back, strains, np.zeros(m))
    for softness in (1.0 + lost, np.zeros(0)):
        compare("soften_rows", given, softness, 1.0 + back, np.zeros((sides, m)))
    compare("scale_rows", given, 1e-6, np.zeros((sides, m)))
    compare("strain_rows", given, lengths, np.zeros(m))
    order = random.permutation(m)[: m // 2]
    for real in (random.uniform(size=m // 2) > 0.5, np.zeros(0, bool)):
        compare("take_rows", given, Rows(order), real, np.zeros((sides, m // 2)))
    for gamma in (back, np.zeros(0)):
        scaled = np.ones(1, bool), random.uniform(50.0, 500.0, p.shape[1]), Rows(indices), np.ones((1, 1)), gamma
        compare("rescale", *scaled, given, np.zeros((sides, m)))


@pytest.mark.parametrize("count", [1, 3])
def test_motion_of_islands(count):
    """One piece, and three that lie crosswise in the array, one of them a straight rope and one a point."""
    case = Case()
    islands = np.zeros(case.n, np.int64)
    if count > 1:
        islands[5:40:2], islands[50] = 1, 2
        case.x[:, islands == 1] = np.outer([1.0, 2.0, -1.0], np.arange(18.0)) + 0.3
    masses, v = case.some(case.n), case.random.standard_normal((3, case.n))
    whole = Islands(masses, islands, np.bincount(islands, masses))
    compare("island_motion", case.x, v, whole)
    motion = NUMPY.island_motion(case.x, v, whole)
    compare("approach", v, case.x, islands, motion, case.some(count))
    compare("add_rigid", v, case.x, islands, motion)


def test_steps():
    """A substep of first order, one of second, and one for which air has acted too early."""
    case = Case()
    v, before, past_v = (case.random.standard_normal((3, case.n)) for _ in range(3))
    gravity = (0.0, 1.0, -9.81)
    compare("extrapolate", v, before, past_v, 0.7)
    for share, early in ((0.0, 0.0), (0.3, 0.0), (0.3, 1e-3)):
        compare("predict", case.x, v, before, case.p, past_v, share, early, gravity, case.some(case.n), 4e-3)
    compare("velocities", case.p, case.x, 4e-3, 1e4)
    for worst, limit in ((np.nan, 1e9), (1.0, 10.0)):
        case.p[1, 3] = worst
        assert not any(module.velocities(case.p, case.x, 4e-3, limit)[1] for module in (NUMPY, NUMBA))


@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("h", [1e-3, 1.0])
def test_air_and_gas(everywhere, h):
    """Wind that is one for all triangles and of each, in short substeps and in such as would overshoot."""
    case = Case()
    triangles = np.ascontiguousarray(case.mesh.triangles.T, dtype=np.int64)
    t, v = triangles.shape[1], case.random.standard_normal((3, case.n))
    air = 5.0 * case.random.standard_normal((3, 1 if everywhere else case.n))
    for open_to in (np.ones(1), case.some(t)):
        sails = Sails(open_to, triangles, *case.some(3, t), case.w)
        compare("push_by_air", v, 1.1 * v, case.x, air, sails, h)
    compare("push_by_gas", v, case.x, case.some(case.n), triangles, case.some(t), case.w, h)
    waves = case.random.standard_normal((2, 3, 24))
    compare("gusts", case.x, 9.0 * waves[0], waves[1], case.some(24))


def test_attachment():
    case = Case()
    indices = case.random.permutation(case.n)[:30]
    weights, alpha = case.some(30, low=50.0, high=500.0), case.some(30, low=0.0, high=300.0)
    pins = Attached(indices, case.x.take(indices, axis=1), weights, alpha, case.some(30))
    compare("project_attachment", case.p, pins, case.some(3, 30, low=-1e-5, high=1e-5))


def test_tether():
    case = Case()
    free, anchors = np.flatnonzero(case.w > 0.0), np.flatnonzero(case.w == 0.0)
    particles = np.concatenate([free, free])
    ends = anchors[case.random.integers(len(anchors), size=len(particles))]
    distance = np.linalg.norm(case.p[:, particles] - case.p[:, ends], axis=0)
    lengths = distance * case.some(len(particles), low=0.8, high=1.0)
    body = case.random.integers(3, size=len(particles))
    for slack in (np.array([[0.1, 0.02, np.inf], [0.0, 0.04, 0.1]]), np.array([[0.1], [0.05]])):
        tethers = Tethered(
            Rows(particles), Rows(ends), np.array([0, len(free), 2 * len(free)]), case.w[particles], lengths,
            Rows(body % slack.shape[1]),
        )  # fmt: skip
        compare("project_tether", case.p, tethers, slack, 0.01, case.some(len(particles)), w=case.w)


def test_project_upper_bound():
    case = Case()
    indices, starts, _ = case.rows(case.mesh.edges)
    indices = indices.astype(np.int64)
    lengths = np.linalg.norm(case.p[:, indices[0]] - case.p[:, indices[1]], axis=0)
    m = indices.shape[1]
    reach = lengths * case.some(m, low=0.8, high=1.1)
    reach[::7] = np.inf
    compare("project_upper_bound", case.p, indices, starts, case.w[indices], reach, case.some(m))


def test_levels_take_their_particles_and_put_them_back():
    case = Case()
    particles = case.random.permutation(case.n)[:30]
    compare("gather", case.p, particles, case.some(3, 30))
    compare("scatter", case.p, particles, case.some(3, 30))
    compare("subtract", case.some(3, 30), case.some(3, 30), case.some(3, 20))


def test_follow():
    case = Case()
    followers = case.random.permutation(case.n)[:40]
    moved = case.some(3, 20, low=-0.1)
    compare("prolongate", case.p, followers, moved, case.random.integers(20, size=(4, 40)), case.some(4, 40))


def test_plane():
    case = Case()
    free = np.flatnonzero(case.w > 0.0)
    m = len(free)
    normal = np.array([0.36, 0.48, 0.8])
    multipliers = np.where(case.some(m) > 0.5, case.some(m, high=1e-4, low=0.0), 0.0)
    of_rows = case.some(m, low=0.0, high=0.01), np.full(m, 1e-4), case.some(m), multipliers
    floor = Floor(free, case.w, *of_rows, np.array([0.0, 0.1, 0.0]), normal, np.array([0.0, 0.0, 1e-3]))
    compare("project_floor", case.p, case.x, floor)
    compare("rub_floor", case.p, case.x, floor)


def primitives(m: int = 400) -> np.ndarray:
    """Random vertices and triangles, or pairs of edges, (3, 4, m), with the degenerate ones among them."""
    random = np.random.default_rng(5)
    q = random.standard_normal((3, 4, m))
    q[:, 0, :100] = q[:, 1:, :100].mean(axis=1) + 0.1 * random.standard_normal((3, 100))
    q[:, 3, 100:110] = q[:, 2, 100:110] + 0.3 * (q[:, 1, 100:110] - q[:, 2, 100:110])  # triangles without area
    q[:, :, 109] = [[0.5, 0.0, 1.0, 2.0], [1.0, 0.0, 0.0, 0.0], [0.0] * 4]  # one of them without rounding
    q[:, 3, 110:120] = q[:, 2, 110:120] + q[:, 1, 110:120] - q[:, 0, 110:120]  # parallel edges
    q[:, 1, 120:130], q[:, 3, 120:130] = q[:, 0, 120:130], q[:, 2, 120:130]  # edges without length
    q[:, 2, 130:135] = q[:, 0, 130:135]  # edges that touch
    return q


def kinds(m: int) -> np.ndarray:
    """Candidates of every kind in turn; two vertices are as two edges."""
    return np.arange(m).astype(np.int8) % 3


@pytest.mark.parametrize("kind", [FACE, EDGES])
def test_closest_points(kind):
    q = primitives()
    m = q.shape[2]
    p, particles = q.reshape(3, -1).copy(), np.arange(4 * m).reshape(4, m)
    compare("closest_points", p, particles, np.full(m, kind, np.int8))
    compare("closest_points", p, particles, kinds(m))


class Contact(Case):
    """Candidates between random particles of the sheet, many of which share one."""

    def __init__(self, m: int = 300) -> None:
        super().__init__(1)
        self.particles = np.stack([self.random.permutation(self.n)[:4] for _ in range(m)], axis=1)
        self.kind = kinds(m)
        self.weights, self.gap, self.normals = NUMPY.closest_points(self.p, self.particles, self.kind)
        self.inverse_masses = self.w[self.particles]
        self.m = m

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        return self.particles, self.weights, self.normals, self.inverse_masses


def test_heights():
    contact = Contact()
    compare("heights", contact.p, contact.particles, contact.normals)


def test_clearances():
    """Along normals of where the particles were, so that many contacts seem to have crossed."""
    contact = Contact()
    before = contact.x + 0.1 * contact.random.standard_normal((3, contact.n))
    compare("clearances", before, contact.particles, contact.normals, contact.kind)
    apart = NUMPY.clearances(before, contact.particles, contact.normals, contact.kind)
    assert 20 < (apart > 0.0).sum() < contact.m - 20


def test_near_candidates():
    """What was measured before is measured again where it may have come near since, and only there."""
    contact = Contact()
    before = contact.x + 0.1 * contact.random.standard_normal((3, contact.n))
    columns = contact.particles, contact.normals, contact.kind, contact.some(contact.m, low=0.0, high=0.05)
    spare = np.full(contact.m, -np.inf)
    compare("near_candidates", before, *columns, spare, 0.0)
    apart = NUMPY.clearances(before, *columns[:3])
    for module in (NUMPY, NUMBA):
        spare[:] = -np.inf
        assert (
            module.near_candidates(before, *columns, spare, 0.5).tolist() == np.flatnonzero(apart < columns[3]).tolist()
        )
        np.testing.assert_array_equal(spare, apart - columns[3] + 0.5)
        later = before + contact.random.uniform(-0.01, 0.01, (3, contact.n)) + 0.7
        closed = 0.5 + module.closing_motion(later, before)
        apart_later = NUMPY.clearances(later, *columns[:3])
        near = module.near_candidates(later, *columns, spare, closed)
        assert near.tolist() == np.flatnonzero(apart_later < columns[3]).tolist()
        measured = spare == apart_later - columns[3] + closed
        assert len(near) < measured.sum() < contact.m
    compare("near_candidates", later, *columns, apart - columns[3] + 0.5, closed)
    spare[:] = np.nan
    assert all(
        module.near_candidates(later, *columns, spare.copy(), closed).tolist() == near.tolist()
        for module in (NUMPY, NUMBA)
    )


def test_closing_motion():
    """No two particles come closer by more; what all have in common brings none closer."""
    case = Case()
    assert NUMBA.closing_motion(case.p, case.x) == pytest.approx(NUMPY.closing_motion(case.p, case.x), rel=1e-12)
    for module in (NUMPY, NUMBA):
        assert module.closing_motion(case.x + 0.3, case.x) == pytest.approx(0.0, abs=1e-15)
        moved = (case.p - case.x).T
        most = np.linalg.norm(moved[:, None] - moved, axis=2).max()
        assert most <= module.closing_motion(case.p, case.x) <= 2.0 * most
        apart = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
        assert module.closing_motion(apart * 0.4, apart) == pytest.approx(0.6)
        apart[1, 1] = np.nan
        assert module.closing_motion(apart, apart) == module.closing_motion(0.0 * apart, apart) == np.inf


def test_find_contacts():
    """Candidates that are apart, near, have crossed since, on the wrong side of a solid, and beside an intersection."""
    contact = Contact(20000)
    x = contact.p + 0.1 * contact.random.standard_normal((3, contact.n))
    normals = NUMPY.closest_points(x, contact.particles, contact.kind)[2]
    distance, is_exit = contact.some(contact.m, low=0.0, high=0.3), contact.some(contact.m) > 0.9
    near = np.flatnonzero(contact.some(contact.m) > 0.3)
    given = contact.some(4, contact.m)
    arguments = near, contact.particles, contact.kind, given, normals, distance, is_exit
    lengths = 1.01, 0.25, 0.02
    is_stuck = np.zeros(contact.n, bool)
    is_stuck[:10] = True
    for stuck in (is_stuck, is_stuck[:0]):
        compare("find_contacts", contact.p, x, contact.w, *arguments, stuck, *lengths)
    number, particles, weights, planes, inverse_masses, kept, gaps = NUMPY.find_contacts(
        contact.p, x, contact.w, *arguments, is_stuck, *lengths
    )
    assert is_exit[near].sum() < len(number) < len(near)
    np.testing.assert_array_equal(particles, contact.particles[:, number])
    np.testing.assert_array_equal(inverse_masses, contact.w[particles])
    np.testing.assert_array_equal(kept, distance[number])
    leads = is_exit[number]
    np.testing.assert_array_equal(weights[:, leads], given[:, number[leads]])
    np.testing.assert_array_equal(planes[:, leads], normals[:, number[leads]])
    assert (weights != contact.weights[:, number]).any(axis=0)[~leads].sum() > 100, "too few contacts have crossed"
    before, opening, target, approach = gaps
    there = np.einsum("jm,im,ijm->m", weights, planes, x[:, particles])
    np.testing.assert_allclose(before, there, atol=1e-13)
    np.testing.assert_allclose(target, np.minimum(kept, before + opening), atol=1e-15)
    beside = is_stuck[particles].any(axis=0)
    assert 0 < beside.sum() < len(beside) and not opening[beside].any()
    np.testing.assert_array_equal(opening, np.where(beside, 0.0, np.clip(0.25 * (kept - before), 0.0, 0.02)))
    np.testing.assert_allclose(before + approach, NUMPY.gaps(contact.p, particles, weights, planes), atol=1e-13)


def test_unseparated():
    """Apart along the normal at both ends; along that at p; along neither."""
    contact = Contact()
    before = contact.p + 0.05 * contact.random.standard_normal((3, contact.n))
    normals = NUMPY.closest_points(contact.x, contact.particles, contact.kind)[2]
    which = np.flatnonzero(contact.some(contact.m) > 0.3)
    counts = []
    for at_p in (False, True):
        arguments = contact.p, before, contact.particles, normals, contact.kind, which, at_p
        compare("unseparated", *arguments)
        counts.append(len(NUMPY.unseparated(*arguments)))
    assert 0 < counts[1] < counts[0] < len(which)


@pytest.mark.parametrize("kind", [FACE, EDGES, POINTS])
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_close_pairs(kind, together, late):
    """Primitives in cells, of one surface or of two, of which the second comes first in the array: what looking at all
    of them finds, in the order of the cells."""
    case = Case(2, 12, 9)
    points, edges, triangles = np.arange(case.n)[None], case.mesh.edges.T, case.mesh.triangles.T
    items, other_items = {FACE: (points, triangles), EDGES: (edges, edges), POINTS: (points, points)}[kind]
    x, owner = case.x, np.zeros(case.n, int)
    if not together:
        items = items + case.n
        x, owner = np.concatenate([x[:, ::-1] + 0.01, x], axis=1), np.repeat([0, 1], case.n)
    cosines, sizes = (np.zeros(0),) * 2, (7, 7 if kind == EDGES else 5)
    if kind == EDGES:
        cosines = case.some(edges.shape[1], low=-1.0), case.some(edges.shape[1], low=-1.0) if together else cosines[1]
        cosines = (cosines[0],) * 2 if together else cosines
    one, other = (
        Primitives(np.pad(np.arange(each.shape[1]), (0, -each.shape[1] % size), constant_values=-1)
                   .reshape(-1, size).astype(np.int32), np.ascontiguousarray(each, np.int32), some)
        for each, size, some in zip((items, other_items), sizes, cosines)
    )  # fmt: skip
    if together and kind != FACE:
        other = one
    cells = np.stack(np.meshgrid(*(np.arange(len(side.leaves)) for side in (one, other)), indexing="ij")).reshape(2, -1)
    if other is one:
        cells = cells[:, cells[0] <= cells[1]]
    tables = np.stack(
        [case.some(2, 2, low=0.05, high=0.15), np.full((2, 2), 0.15), np.ones((2, 2)), np.full((2, 2), 0.7)]
    )
    n = x.shape[1]
    bounds = Bounds(
        case.some(n, low=0.0, high=0.05),
        case.some(3, n, low=-0.1, high=0.05),
        case.some(n, low=0.0, high=0.02),
        together,
    )
    low, high = np.minimum(x, x + bounds.displacement), np.maximum(x, x + bounds.displacement)
    low, high = (low - bounds.margin - 0.02 * (not together), high + bounds.margin + 0.02 * (not together))
    is_late = case.some(n) > 0.8 if late else np.zeros(0, bool)
    arguments = x, low, high, cells, one, other, kind, owner, tables, 0.3, bounds, is_late
    particles, weights, normals, distance = NUMPY.close_pairs(*arguments)
    for expected, found in zip((particles, weights, normals, distance), NUMBA.close_pairs(*arguments)):
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)

    cell, other_cell = cells
    a, b = (side.leaves[each] for side, each in zip((one, other), cells))
    i, j = np.repeat(a, b.shape[1], axis=1).ravel(), np.tile(b, (1, a.shape[1])).ravel()
    slots = [np.repeat(np.arange(a.shape[1]), b.shape[1]), np.tile(np.arange(b.shape[1]), a.shape[1])]
    meant = (i >= 0) & (j >= 0)
    if other is one:
        meant &= np.repeat(cell != other_cell, len(slots[0])) | np.tile(slots[0] < slots[1], len(cell))
    i, j = i[meant], j[meant]
    first, second = one.particles[:, i].astype(int), other.particles[:, j].astype(int)
    ids = np.concatenate([first, first, second, second] if kind == POINTS else [first, second])
    apart = (first[:, None] != second).all(axis=(0, 1))
    if late:
        apart &= is_late[ids].any(axis=0)
    i, j, ids = i[apart], j[apart], ids[:, apart]
    number = owner[ids[[0, 3]]].min(axis=0), owner[ids[[0, 3]]].max(axis=0)
    share = np.ones(len(i))
    for side, which in ((one, i), (other, j)):
        if len(side.cosines):
            share = np.minimum(share, 0.3 + 0.7 * ((1.0 - side.cosines[which]) / 0.3).clip(0.0, 1.0))
    kept = share * tables[0][number]
    _, gap, along = NUMPY.closest_points(x, ids, np.full(len(i), kind, np.int8))
    sides = 1 if kind == FACE else 2
    heights = np.einsum("im,ijm->jm", along, bounds.displacement[:, ids])
    closer = [-heights[:sides].min(axis=0), heights[sides:].max(axis=0)]
    room = bounds.margin[ids][:sides].max(axis=0) + bounds.margin[ids][sides:].max(axis=0)
    if together:
        room += np.maximum(closer[0] + closer[1], 0.0)
    else:
        room += bounds.drift[ids[[0, 3]]].sum(axis=0) * np.abs(along).sum(axis=0) + np.maximum(closer, 0.0).sum(axis=0)
    corners = [[each[:, ids[:sides]], each[:, ids[sides:]]] for each in (low, high)]
    (one_low, other_low), (one_high, other_high) = (
        [getattr(side, bound)(axis=1) for side in both] for bound, both in zip(("min", "max"), corners)
    )
    meet = (one_low - 0.15 * share <= other_high).all(axis=0) & (other_low - 0.15 * share <= one_high).all(axis=0)
    can = meet & (gap <= kept + room)
    assert 0 < can.sum() < min(meet.sum(), len(i))
    np.testing.assert_array_equal(particles, ids[:, can])
    np.testing.assert_allclose(distance, kept[can], rtol=1e-12)
    np.testing.assert_allclose(normals, along[:, can], atol=1e-9)


def test_crossing():
    """Random edges and triangles of two sheets that go through each other; what shares a vertex does not cross."""
    case = Case(2, 12, 9)
    edges, triangles = (np.ascontiguousarray(each.T, np.int32) for each in (case.mesh.edges, case.mesh.triangles))
    edge, triangle = (case.random.integers(each.shape[1], size=5000) for each in (edges, triangles))
    x = np.ascontiguousarray(case.random.uniform(size=(3, case.n)))
    arguments = x, edges, triangles, edge, triangle, 1e-14
    compare("crossing", *arguments)
    found = NUMPY.crossing(*arguments)
    p, q, a, b, c = (x[:, ids] for ids in (*edges[:, edge], *triangles[:, triangle]))
    # Where the segment meets the plane, in barycentric coordinates.
    system = np.stack([p - q, b - a, c - a]).transpose(2, 1, 0)
    solvable = np.abs(np.linalg.det(system)) > 1e-12
    t, u, v = np.linalg.solve(system[solvable], (p - a).T[solvable][:, :, None])[:, :, 0].T
    hits = (t > 0.0) & (t < 1.0) & (u > 0.0) & (v > 0.0) & (u + v < 1.0)
    apart = (edges[:, None, edge] != triangles[None][:, :, triangle]).all(axis=(0, 1))[solvable]
    assert found.tolist() == np.flatnonzero(solvable)[hits & apart].tolist()
    assert 100 < len(found) < 2000


def test_primitive_bounds():
    case = Case()
    for items in (np.arange(case.n)[None], case.mesh.triangles.T.astype(np.int64)):
        high = case.x + case.some(3, case.n)
        compare("primitive_bounds", case.x, high, items, case.some(items.shape[1]))


def random_boxes(random: np.random.Generator, count: int) -> np.ndarray:
    """Boxes whose corners are multiples of a 64th, so that what does not overlap is apart by more than rounding."""
    low = random.integers(0, 64, (3, count)) / 64.0
    return np.concatenate([low, -low - random.integers(0, 12, (3, count)) / 64.0])


@pytest.mark.parametrize("counts", [(0, 3), (1, 1), (5, 700), (300, 300)])
def test_bvh(counts):
    """Trees of random boxes: the same nodes, and the same pairs, of which NumPy may find a few more."""
    random = np.random.default_rng(sum(counts))
    trees = []
    for count in counts:
        boxes = random_boxes(random, count)
        leaves = median_split_order(0.5 * (boxes[:3] - boxes[3:]).T)
        nodes = np.empty((6, 2 * len(leaves)), order=NUMBA.NODE_ORDER)
        compare("refit", leaves, boxes, nodes)
        NUMPY.refit(leaves, boxes, nodes)
        trees.append((leaves, nodes))
    root = np.array([[1], [1]])
    nothing = np.zeros((2, 0), bool), np.zeros(1, np.int32), np.zeros(0, np.int32)
    for one, other in ((0, 1), (1, 0), (0, 0), (1, 1)):
        found = [
            module.query_pairs(*trees[one], *trees[other], one == other, root, *nothing) for module in (NUMPY, NUMBA)
        ]
        pairs = [sorted({(int(min(i, j)), int(max(i, j))) if one == other else (int(i), int(j)) for i, j in zip(*each)})
                 for each in found]  # fmt: skip
        assert pairs[0] == pairs[1]
        assert len(pairs[1]) == len(found[1][0]) == len(found[1][1])
    assert len(pairs[1]) > 100 or counts[1] < 300


@pytest.mark.parametrize("is_self", [False, True])
def test_chosen_nodes_of_trees(is_self):
    """Chosen nodes of two trees, of which one is deeper: the same pairs in both backends."""
    random = np.random.default_rng(is_self)
    trees = []
    for slots in (4, 8):
        leaves = np.full((8, slots), -1)
        leaves[:, : slots - 1] = np.arange(8 * (slots - 1)).reshape(8, -1)
        boxes = random_boxes(random, 8 * (slots - 1))
        boxes[3:] -= 0.25
        nodes = np.empty((6, 2 * leaves.size), order=NUMBA.NODE_ORDER)
        compare("refit", leaves.ravel(), boxes, nodes)
        NUMPY.refit(leaves.ravel(), boxes, nodes)
        trees.append((leaves.ravel(), nodes))
    one, other = trees[0], trees[0 if is_self else 1]
    roots = np.stack(np.triu_indices(8))[:, ::2] + 8
    nothing = np.zeros((2, 0), bool), np.zeros(1, np.int32), np.zeros(0, np.int32)
    found = [module.query_pairs(*one, *other, is_self, roots, *nothing) for module in (NUMPY, NUMBA)]
    pairs = [sorted(zip(*(side.tolist() for side in each))) for each in found]
    assert pairs[0] == pairs[1] and len(pairs[1]) == len(set(pairs[1])) > 5


@pytest.mark.parametrize("is_self", [False, True])
def test_flat_nodes_are_left_out(is_self):
    """Pairs of leaves that are below a flat node twice, or below two neighbors one of which is, are left out."""
    random = np.random.default_rng(3)
    boxes, leaves, level = random_boxes(random, 60), np.full(64, -1), np.arange(8, 16)
    boxes[3:] -= 0.25
    leaves[:60] = random.permutation(60)
    nodes = np.empty((6, 128), order=NUMBA.NODE_ORDER)
    NUMPY.refit(leaves, boxes, nodes)
    is_flat, are_neighbors = np.zeros((2, 128), bool), random.random((8, 8)) < 0.4
    is_flat[:, level] = random.random((2, 8)) < 0.5
    are_neighbors |= are_neighbors.T | np.eye(8, dtype=bool)
    sizes = np.zeros(129, np.int32)
    sizes[level + 1] = are_neighbors.sum(axis=1)
    left_out = is_flat, np.cumsum(sizes, dtype=np.int32), (8 + np.nonzero(are_neighbors)[1]).astype(np.int32)
    expected = set()
    for i, j in itertools.product(range(60), range(60)):
        a, b = (int(np.flatnonzero(leaves == k)[0]) // 8 for k in (i, j))
        overlap = (boxes[:3, j] <= -boxes[3:, i]).all() and (boxes[:3, i] <= -boxes[3:, j]).all()
        flat = is_flat[0, 8 + a] if a == b else are_neighbors[a, b] and is_flat[1, [8 + a, 8 + b]].any()
        if overlap and not flat:
            expected.add((min(i, j), max(i, j)) if is_self else (i, j))
    root = np.array([[1], [1]])
    for module in (NUMPY, NUMBA):
        one, other = module.query_pairs(leaves, nodes, leaves, nodes, is_self, root, *left_out)
        pairs = [(min(i, j), max(i, j)) if is_self else (i, j) for i, j in zip(one.tolist(), other.tolist())]
        assert len(pairs) == len(set(pairs)) and set(pairs) == expected
    assert 50 < len(expected) and any(i == j for i, j in expected)


def test_cones():
    """Normals of faces, and the faces that leave cones."""
    case = Case(2, 30, 20)
    triangles = np.ascontiguousarray(case.mesh.triangles.T)
    compare("unit_normals", case.x, triangles)
    normals = NUMPY.unit_normals(case.x, triangles)
    starts = np.append(np.arange(0, triangles.shape[1], 7), triangles.shape[1]).astype(np.int32)
    count = len(starts) - 1
    member_starts = np.append(0, np.cumsum(case.random.integers(1, 6, count))).astype(np.int32)
    members = case.random.integers(0, count, member_starts[-1]).astype(np.int32)
    for is_wanted in (case.random.random(count) < 0.5, np.zeros(count, bool)):
        compare("normal_cones", normals, starts, member_starts, members, is_wanted)
    patches = np.flatnonzero(case.random.random(count) < 0.5)
    level = case.x * np.array([[1.0], [1.0], [0.01]])
    axes = NUMPY.unit_normals(level, triangles[:, starts[patches]])
    arguments = triangles, starts[patches], starts[patches + 1], axes, case.some(len(patches), low=0.0)
    assert 0 < NUMPY.outside_cones(level, *arguments).sum() < len(patches)
    compare("outside_cones", level, *arguments)


def test_deviations():
    case = Case()
    start, step = case.some(3, case.n), case.some(3, case.n)
    owner = np.sort(case.random.choice([0, 1, 3], size=case.n))  # none in surface 2
    counts = np.maximum(np.bincount(owner), 1)
    compare("deviations", case.x, start, step, owner, counts, case.some(4), case.some(3, 4))


def test_project_contacts():
    """One pass and many, in which planes take part, until all gaps are wide enough."""
    contact = Contact()
    gap = NUMPY.gaps(contact.p, contact.particles, contact.weights, contact.normals)
    wanted = gap + contact.some(contact.m, low=-0.02, high=0.02)
    multipliers = np.where(contact.some(contact.m) > 0.6, contact.some(contact.m, low=0.0, high=1e-6), 0.0)
    none, relaxations = np.zeros(contact.m), np.array([1.3, 1.0])
    normals = np.array([[0.0, 0.0, 1.0], [0.36, 0.48, 0.8]])
    heights = normals @ contact.p + contact.some(2, contact.n, low=-0.02, high=0.02)
    heights[:, ::3] = -np.inf
    pushes = np.where(contact.some(2, contact.n) > 0.6, 1e-3, 0.0)
    for planes in (NO_PLANES, (normals, heights, pushes), (normals, heights, np.zeros_like(pushes))):
        for passes in (1, 2, 5):
            compare(
                "project_contacts",
                contact.p,
                *contact.columns,
                wanted,
                wanted,
                relaxations,
                passes,
                multipliers,
                *planes,
            )
        compare("project_contacts", contact.p, *contact.columns, gap + 0.01, gap, relaxations, 9, none, *planes)


def test_passes_over_a_contact_and_a_plane():
    """A contact that is alone has its gap after one exact pass; a plane pushes what is in it and what is not."""
    p = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [-0.01, 0.0, 0.0, 0.0]])
    columns = np.arange(4)[:, None], np.array([[1.0, -1.0, 0.0, 0.0]]).T, np.array([[0.0, 0.0, 1.0]]).T, np.ones((4, 1))
    target, up = np.array([0.02]), np.array([[0.0, 0.0, 1.0]])
    floor, exact = np.array([[0.03, 0.01, -np.inf, 5.0]]), np.array([1.0, 1.0])
    for module in (NUMPY, NUMBA):
        for passes in (2, 16):
            q, multipliers, pushes = p.copy(), np.zeros(1), np.zeros((1, 4))
            module.project_contacts(q, *columns, target, target, exact, passes, multipliers, up, floor, pushes)
            np.testing.assert_allclose(q[2], [0.03, 0.01, 0.0, 5.0], atol=1e-12)
            assert multipliers[0] == pytest.approx(0.015)
            np.testing.assert_allclose(pushes, [[0.025, 0.025, 0.0, 5.0]], atol=1e-12)


def test_passes_end_where_gaps_are_wide_enough():
    contact = Contact()
    wanted = NUMPY.gaps(contact.p, contact.particles, contact.weights, contact.normals) + 0.01
    for module in (NUMPY, NUMBA):
        found = []
        for passes, enough in ((2, wanted), (16, wanted - 1.0), (16, wanted)):
            p, multipliers = contact.p.copy(), np.zeros(contact.m)
            module.project_contacts(
                p, *contact.columns, wanted, enough, np.array([1.3, 1.0]), passes, multipliers, *NO_PLANES
            )
            found.append(p)
        np.testing.assert_array_equal(found[0], found[1])
        assert np.abs(found[0] - found[2]).max() > 1e-3


def test_apply_contact_friction():
    contact = Contact()
    for passes in (1, 3):
        compare(
            "apply_contact_friction", contact.p, contact.x, *contact.columns, contact.some(contact.m),
            contact.some(contact.m, high=0.5), contact.some(contact.m, low=0.0, high=1e-4), passes,
            contact.some(3, contact.m, low=-1e-5, high=1e-5),
        )  # fmt: skip


def test_gaps():
    contact = Contact()
    compare("gaps", contact.p, contact.particles, contact.weights, contact.normals)


def test_pushed_one_way():
    """By one contact, by two at right angles or against each other; and by those that do not push or are others'."""
    contact = Contact(40)
    multipliers = np.where(contact.some(contact.m) > 0.5, 1.0, 0.0)
    columns = contact.particles, contact.weights, contact.normals
    found = NUMPY.pushed_one_way(*columns, multipliers, contact.n // 2, contact.n)
    assert 3 < found.sum() < contact.n - 3
    compare("pushed_one_way", *columns, multipliers, contact.n // 2, contact.n)
    particles = np.array([[0, 1, 1, 2, 2, 3, 4], [5, 5, 6, 5, 6, 5, 4], [6, 6, 5, 6, 5, 6, 4], [5, 6, 5, 6, 6, 5, 4]])
    weights = np.repeat(np.array([[1.0], [-0.3], [-0.3], [-0.4]]), 7, axis=1)
    normals = np.zeros((3, 7))
    normals[2], normals[:, 2], normals[:, 4] = 1.0, [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]
    pushes = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    for module in (NUMPY, NUMBA):
        found = module.pushed_one_way(particles, weights, normals, pushes, 5, 7)
        assert found[:5].tolist() == [True, True, False, False, False]


def test_carried_loads():
    """Two contacts that carry a particle share its load; the load is along the normal, on the side of the particle."""
    contact = Contact(40)
    multipliers = np.where(contact.some(contact.m) > 0.5, 1.0, 0.0)
    columns = contact.particles, contact.weights, contact.normals
    compare("carried_loads", *columns, multipliers, contact.n // 2, contact.some(3, contact.n, low=-1.0))
    particles = np.array([[0, 0, 0, 0], [5, 5, 5, 1], [6, 6, 6, 2], [7, 7, 7, 3]])
    weights = np.repeat(np.array([[1.0], [-0.3], [-0.3], [-0.4]]), 4, axis=1)
    normals = np.repeat(np.array([[0.0], [0.0], [1.0]]), 4, axis=1)
    load = np.zeros((3, 8))
    load[:, 0] = [3.0, 0.0, -8.0]
    for module in (NUMPY, NUMBA):
        loads = module.carried_loads(particles, weights, normals, np.array([1.0, 1.0, 0.0, 1.0]), 5, load)
        np.testing.assert_allclose(loads, [4.0, 4.0, 0.0, 0.0])


def test_nothing_to_do_is_no_trouble():
    """No rows: nothing is returned and nothing is changed."""
    p, none, ids = np.ones((3, 5)), np.zeros((4, 0)), np.zeros((4, 0), int)
    NUMBA.project_contacts(p, ids, none, none[:3], none, *[np.zeros(0)] * 2, np.ones(1), 3, np.zeros(0), *NO_PLANES)
    NUMBA.apply_contact_friction(p, p, ids, none, none[:3], none, *[np.zeros(0)] * 3, 2, none[:3].copy())
    along = Along(np.arange(1, dtype=np.int32), 0, ids[:2], ids[0], ids[:2].T)
    links = Links(np.zeros(1), np.zeros(0), none[:2], np.zeros(0))
    NUMBA.project_chains(NUMBA.pack(p, np.ones(5)), p, along, links, np.zeros(0), 1, False)
    np.testing.assert_array_equal(p, 1.0)
    assert (
        NUMBA.heights(p, ids, none[:3]).shape == NUMBA.closest_points(p, ids, np.zeros(0, np.int8))[0].shape == (4, 0)
    )


def test_parts_of_arrays_are_taken():
    """Candidates in chunks are views, of which every second column or the transpose is no contiguous array."""
    contact = Contact()
    for chosen in (slice(0, 100), slice(None, None, 2)):
        some = [column[:, chosen] for column in contact.columns]
        expected, found = contact.p.copy(), contact.p.copy()
        for module, p in ((NUMPY, expected), (NUMBA, found)):
            wanted = np.full(some[0].shape[1], 0.1)
            module.project_contacts(p, *some, wanted, wanted, np.ones(1), 1, np.zeros(len(wanted)), *NO_PLANES)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
        assert not np.array_equal(found, contact.p)
    np.testing.assert_array_equal(
        NUMBA.heights(contact.p, np.asfortranarray(contact.particles), np.asfortranarray(contact.normals)),
        NUMBA.heights(contact.p, contact.particles, contact.normals),
    )


def test_short_integers_are_made_long():
    """Python's int makes arrays of 32 bits in some NumPys; there, kernels are called through this."""
    contact = Contact()
    short = contact.particles.astype(np.int32)
    with pytest.raises(TypeError):
        NUMBA.heights(contact.p, short, contact.normals)
    np.testing.assert_array_equal(
        for_python(NUMBA.heights, few_bits=True)(contact.p, short, contact.normals),
        NUMBA.heights(contact.p, contact.particles, contact.normals),
    )


def both(make: object, frames: int) -> tuple[list[float], list[tuple[Simulation, Body]]]:
    """Step a scene with both kernels; the largest distance along an axis between the two after each frame [m]."""
    pair = [make(name) for name in ("numpy", "numba")]  # type: ignore[operator]
    assert [simulation.kernels_name for simulation, _ in pair] == ["numpy", "numba"]
    apart = []
    for _ in range(frames):
        x = []
        for simulation, body in pair:
            simulation.step(DT)
            x.append(simulation.positions(body))
        apart.append(float(np.abs(x[0] - x[1]).max()))
    return apart, pair


@pytest.mark.parametrize(
    ("material", "options"),
    [
        (Material.preset("Cotton"), {}),
        (Material(stretch_damping=0.01, bend_damping=0.01, damping=1.0), {"substeps": 10, "iterations": 2}),
        (Material(), {"method": "PBD", "iterations": 3}),
        (Material(bend_model="DIHEDRAL"), {}),
    ],
)
@pytest.mark.newest
def test_a_curtain_is_the_same(material, options):
    """A curtain that hangs by its whole upper edge falls beyond half of its height, without wrinkling: 1e-9 m.

    By two corners it would crumple, and then NumPy differs from itself by microns when a last digit is changed.
    """

    def make(name):
        vertices, quads = grid(19, 19, 1.0, 1.0)
        body = Body(vertices, quads, material, pins=range(380, 400))
        return Simulation([body], self_collision=False, kernels=name, **options), body

    apart, pair = both(make, 16)
    assert max(apart) < 1e-9
    assert pair[0][0].positions(pair[0][1])[:, 2].min() < -0.5


@pytest.mark.parametrize("mode", ["VOLUME", "OVERPRESSURE", "GAS"])
@pytest.mark.newest
def test_a_balloon_is_the_same(mode):
    """A balloon falls on a floor, on which it rubs: 1e-9 m."""

    def make(name):
        vertices, triangles = icosphere(2, 0.3)
        body = Body(vertices + np.array([0.0, 0.0, 0.32]), triangles, Material(pressure_mode=mode, overpressure=50.0))
        floor = Plane((0.0, 0.0, 0.0), (0.1, 0.0, 1.0))
        return Simulation([body], [floor], self_collision=False, kernels=name), body

    apart, pair = both(make, 12)
    assert max(apart) < 1e-9
    assert max(report.contacts for report in pair[0][0].reports.values()) > 0


def test_soft_pins_and_tethers_are_the_same():
    def make(name):
        vertices, quads = grid(9, 9, 0.5, 0.5)
        pins = dict.fromkeys(range(90, 95), 1.0) | dict.fromkeys(range(95, 100), 0.4)
        body = Body(vertices, quads, Material(stretch=500.0), pins=pins)
        return Simulation([body], self_collision=False, kernels=name), body

    apart, pair = both(make, 16)
    assert max(apart) < 1e-9
    kinds = {constraints.name: constraints for constraints in pair[1][0].constraints}
    assert np.abs(kinds["attachment"].multipliers).max() > 0.0
    assert "tether" in kinds


@pytest.mark.slow
@pytest.mark.newest
def test_a_drape_is_the_same_as_long_as_it_can_be():
    """A sheet falls on a ball, rubs on it and folds onto itself.

    Who touches whom is decided anew in every substep, so that last digits grow, by ten thousand in some frames. Thus
    both backends may differ as Numba does from itself when the last digits of where the sheet begins are changed: by
    no more than ten times the most of four such changes.
    """

    def make(name, change=0.0, seed=0):
        vertices, quads = grid(17, 17, 1.0, 1.0)
        material = Material(damping=3.0, drag=1.0, friction=0.6)
        body = Body(vertices + np.array([0.013, 0.007, 0.32]), quads, material)
        simulation = Simulation([body], [Collider(*icosphere(3, 0.3), 0.002, friction=0.6)], kernels=name)
        simulation.positions(body)[:] += change * np.random.default_rng(seed).standard_normal(vertices.shape)
        return simulation, body

    apart, pair = both(make, 10)
    plain, *changed = make("numba"), *(make("numba", 1e-15, seed) for seed in range(4))
    usual = []
    for _ in range(10):
        for simulation, _ in (plain, *changed):
            simulation.step(DT)
        here = plain[0].positions(plain[1])
        usual.append(max(float(np.abs(one.positions(body) - here).max()) for one, body in changed))
    for simulation, _ in pair:
        assert simulation.reports[5].contacts > 20
        assert simulation.reports[10].self_contacts > 20
        assert simulation.reports[10].crossings == 0
    assert all(one <= 10.0 * other for one, other in zip(apart, usual)), (apart, usual)
    assert usual[4] < 1e-6


def test_kernels_can_be_changed_between_two_frames():
    """A curtain that begins with NumPy and goes on with Numba is where it would be without the change."""

    def make():
        vertices, quads = grid(19, 19, 1.0, 1.0)
        body = Body(vertices, quads, pins=range(380, 400))
        return Simulation([body], kernels="numpy"), body

    (changing, one), (staying, other) = make(), make()
    for frame in range(16):
        if frame == 6:
            changing.use_kernels("numba")
        changing.step(DT)
        staying.step(DT)
    assert (changing.kernels_name, staying.kernels_name) == ("numba", "numpy")
    assert changing.frames.first == 0
    assert changing.frames.last == 16
    assert np.abs(changing.positions(one) - staying.positions(other)).max() < 1e-9
    with pytest.raises(ValueError, match="'fortran'"):
        changing.use_kernels("fortran")
    assert changing.kernels_name == "numba"


def test_the_same_bits_every_time():
    def make(_):
        vertices, quads = grid(15, 15, 0.5, 0.5)
        body = Body(vertices, quads, pins=(240, 255))
        return Simulation([body], kernels="numba"), body

    ends = []
    for _ in range(2):
        simulation, body = make("")
        for _ in range(12):
            simulation.step(DT)
        ends.append(simulation.positions(body).copy())
    np.testing.assert_array_equal(*ends)


A_STEP = """
import numpy as np
from pbd_addon import Body, Simulation
Simulation([Body(np.eye(3), [[0, 1, 2]])], kernels="numba").step(1 / 24)
"""
ANOTHER_NAME = """
import importlib.util
import sys
from pathlib import Path
folder = Path.cwd() / "pbd_addon"
spec = importlib.util.spec_from_file_location("other", folder / "__init__.py", submodule_search_locations=[str(folder)])
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path.cwd()]
sys.modules["other"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["other"])
assert sys.modules["other"].kernels.load("numba").__name__ == "other.kernels.numba"
assert importlib.util.find_spec("pbd_addon") is None
"""


def test_the_cache_serves_all_processes_and_the_package_under_any_name():
    """What this process compiled, no other compiles again, not even in a step.

    Inside Blender the package is a part of the extension's, in the process that fills the cache it need not be.
    """
    environment = os.environ | {"NUMBA_DEBUG_CACHE": "1"}
    loaded = []
    for arguments in (("-m", "pbd_addon.kernels"), ("-c", A_STEP), ("-c", ANOTHER_NAME)):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT, env=environment, check=True, timeout=300, capture_output=True, text=True,
        )  # fmt: skip
        assert "data saved to" not in done.stdout
        loaded.append(done.stdout.count("data loaded from"))
    assert loaded[0] > 15
    assert loaded == [loaded[0]] * 3


@pytest.mark.parametrize("pinned", [0, 12, 30])
def test_sheet(pinned):
    """A flat plate whose first column, or some, are pinned, or which is free; twice in a substep."""
    vertices, quads = grid(11, 7, 1.0, 0.7)
    body = Body(vertices, quads, dataclasses.replace(Material.preset("Leather"), bend=50.0), range(pinned))
    simulation = Simulation([body], kernels="numpy", self_collision=False)
    plates = find(simulation, "plate bend")
    plates.begin_substep(DT / 20, 1.0)
    random = np.random.default_rng(0)
    p = np.ascontiguousarray(vertices.T + 0.02 * random.standard_normal(vertices.T.shape))
    for fresh in (True, False):
        (call,) = plates.calls(True, fresh)
        compare(call.kernel, p, *call.arguments)
        NUMPY.bend_sheet(p, *call.arguments)
