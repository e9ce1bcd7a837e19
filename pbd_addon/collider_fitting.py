"""Cloth that begins inside of a closed collider, or goes through one, is brought out before the first frame.

What is inside is put in front of the nearest face. What still goes through is put farther off, as an outer layer is of
an inner one, see `layer_sorting`; then the cloth contracts to its lengths at rest. Pins stay where they are.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from . import layer_sorting as layers
from .contact.broad_phase import SurfacePair
from .contact.exits import nearest_exits
from .contact.penetration import penetrating, pierced
from .contact.together import NearCollider, near_colliders
from .kernels import Kernels
from .model.model import Model

MOST_ROUNDS = 12
"""Most rounds in which cloth is put farther off. Sleeves and skirts through a walking figure take 3 to 8; where arms
leave no room, more do not help."""

RINGS = 3
"""Neighbors of what is inside or goes through that are moved too, in edges: faces between them go through as well."""

MOST_STRAIN = 1.0
"""Cloth whose edges would begin longer by more than this share is left to be led out over some frames instead."""

MOST_LEFT = 0.5
"""Where more than this share of what is wrong would stay so, nothing is moved: a sleeve in the armpit of a figure,
where its torso and its arm overlap, is inside of one of them wherever it is, and would only be strained."""


class Fitted(NamedTuple):
    """What was done.

    Attributes:
        moved: Particles that were inside or at what went through, and are not any more, (k,) int.
        left: Those that still are, (k,) int.
    """

    moved: np.ndarray
    left: np.ndarray


NOTHING = Fitted(np.zeros(0, int), np.zeros(0, int))
"""Nothing began inside of a collider."""


def fit(
    model: Model, start: np.ndarray | None, kernels: Kernels
) -> Generator[None, None, tuple[np.ndarray | None, Fitted]]:
    """Bring cloth out of colliders, in slices.

    Args:
        model: The scene; not changed.
        start: Where particles are, (3, n) [m]; None for where their bodies are.
        kernels: Those of a backend.

    Returns:
        Where they start, None if they stay, and what was done.
    """
    pairs = _pairs(model)
    if not pairs:
        return start, NOTHING
    state = model.initial_state()
    here = np.concatenate([state.x if start is None else start, *state.memory["obstacles"]["colliders"]], axis=1)
    before = _wrong(kernels, here, pairs)
    if not len(before):
        return start, NOTHING
    x, numbers = here.T.copy(), set()
    for number in sorted({number for number, _ in pairs}):
        mine = [pair for owner, pair in pairs if owner == number]
        wrong = _wrong(kernels, here, [(number, pair) for pair in mine])
        if len(wrong):
            moved = yield from _bring_out(model, number, mine, x, wrong, kernels)
            numbers |= {number} if moved else set()
    if numbers:
        x[: len(model.w)] = yield from layers.come_to_rest(model, sorted(numbers), x[: len(model.w)], kernels)
        start = np.ascontiguousarray(x[: len(model.w)].T)
    left = _wrong(kernels, np.ascontiguousarray(x.T), pairs)
    return start, Fitted(np.setdiff1d(before, left), left)


def _pairs(model: Model) -> list[tuple[int, SurfacePair]]:
    """The numbers of bodies that are to be brought out, each with a closed collider that it meets."""
    contact = model.contact
    wanted = {
        id(surface): number
        for number, (body, material, surface) in enumerate(zip(model.bodies, model.materials, contact.surfaces))
        if body.fit and not material.rigid and surface is not None and len(body.mesh.triangles)
    }
    bodies, first = contact.surfaces, len(contact.surfaces)
    pairs = [contact.candidate_list.pair(one, first + other) for one, other in np.argwhere(contact.solid).tolist()
             if id(bodies[one]) in wanted]  # fmt: skip
    return [(wanted[id(pair.one)], pair) for pair in pairs]


def _wrong(kernels: Kernels, x: np.ndarray, pairs: list[tuple[int, SurfacePair]]) -> np.ndarray:
    """Particles inside of colliders, or at what goes through them, at x (3, N) [m], (k,) int."""
    found = [np.zeros(0, int)]
    for near in near_colliders([pair for _, pair in pairs]):
        found += [penetrating(kernels, x, near, _taking_part(near)), pierced(kernels, x, near)[0]]
    return np.unique(np.concatenate(found))


def _taking_part(near: SurfacePair | NearCollider) -> np.ndarray:
    return near.one.vertices[near.takes_part(near.one.vertices[None])]


def _bring_out(
    model: Model, number: int, pairs: list[SurfacePair], x: np.ndarray, wrong: np.ndarray, kernels: Kernels
) -> Generator[None, None, bool]:
    """Bring one body out at x (N, 3) [m], in place, unless that tears it or hardly helps; whether it did."""
    body, part = model.bodies[number], model.slices[number]
    here = x.copy()
    moves = np.zeros(len(x), bool)
    moves[wrong] = True
    edges = body.mesh.edges + part.start
    for _ring in range(RINGS):
        moves[edges[moves[edges].any(axis=1)]] = True
    moves[: len(model.w)] &= model.w > 0.0
    outer = layers.cloth_of(body.mesh.triangles.astype(int) + part.start, len(x), 0.0)
    for pair in pairs:
        columns = np.ascontiguousarray(x.T)
        inside = penetrating(kernels, columns, pair, _taking_part(pair))
        inside = inside[moves[inside]].astype(np.int64)
        if len(inside):
            exits = nearest_exits(kernels, columns, NearCollider([pair]), inside)
            gap = np.einsum("ijm,jm,im->m", columns.take(exits.particles, axis=1), exits.weights, exits.normals)
            x[exits.particles[0]] += (pair.distance - gap)[:, None] * exits.normals.T
        triangles = pair.other.triangles.T.astype(int)
        # Of both, half of the sum counts.
        solid = layers.cloth_of(triangles[:, ::-1] if pair.is_container else triangles, len(x), 2.0 * pair.distance)
        yield from layers.push_out(x, [solid], outer, moves, kernels, MOST_ROUNDS, reach=pair.one.edge)
    lengths, before = (np.linalg.norm(place[edges[:, 1]] - place[edges[:, 0]], axis=1) for place in (x, here))
    left = _wrong(kernels, np.ascontiguousarray(x.T), [(number, pair) for pair in pairs])
    is_torn = (lengths > (1.0 + MOST_STRAIN) * np.maximum(before, pair.one.edge)).any()
    if is_torn or len(left) > MOST_LEFT * len(wrong):
        x[part] = here[part]
        return False
    return True
