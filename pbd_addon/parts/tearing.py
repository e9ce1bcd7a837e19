"""Tearing: vertices that are one come apart where the tension per width exceeds the strength of the material.

The mesh is split beforehand, so that the number of vertices never changes. Where copies of a vertex still hold
together, the model knows only one of them, so untorn cloth is solved as if it were not split; where cloth tears, the
model is made anew. As in Müller et al. 2007, sec. 4.6, a plane through a vertex divides the faces around it; here it is
perpendicular to the largest principal tension there, not to an edge, so it depends less on how the mesh runs.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..meshes.factors import of_particles
from ..meshes.joints import fans
from ..meshes.mesh import Polygons
from ..model.layout import initial_joints
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, remembers
from ..settings.fields import Checked, multiplies, setting, varies

CHECKS = 5
"""How often in a frame cloth can tear. A tear grows by up to an edge at either end each time.

A model is made anew for each, which takes as long as some frames; with 5, a tear runs at 120 edges a second."""

ACROSS = 0.5
"""A vertex stands above or below another that is torn if the line between both runs within 60° of the tension: it
waits, or bands of cloth one face wide come off. A joint lies across the tension if its normal is as close to it."""

OPENING = 0.005
"""By how many edges a lip of a tear moves at once towards its faces: lips that lie on each other have no sides, and
would slide through each other. Cloth that tears is stretched by more than that."""


@dataclasses.dataclass(frozen=True)
class Strength(Checked):
    """When cloth tears."""

    tear_strength: float = setting(
        0.0,
        "Tear Strength",
        "Tension per width at which vertices at the same place come apart. Tissue 150, thin film 500, cotton "
        "10000 N/m; cloth tears at the strain Tear Strength / Tension. Usually 0 N/m: nothing tears",
        unit="N/m",
        low=0.0,
        soft_high=2000.0,
        rigid=0.0,
    )


class Tearing(Part):
    """What is split and holds together in a scene.

    It remembers the particle that stands for each where cloth is not torn, (n,) int.
    """

    FIELDS = Strength
    MAPS = varies(
        tear=multiplies("Tearing", "Tear Strength", 0.0, "A perforated line 0.1, a hem 3; key it to 0 to let go"),
    )
    name = "tearing"
    reshapes = True
    MEMORY = remembers(joined=Kept(lambda model, x: initial_joints(model.bodies, model.materials)))

    @classmethod
    def is_in(cls, model: Model) -> bool:
        return len(model.sewn.joined) > 0

    def begin_frame(self, frame: Frame) -> TearingFrame:
        return TearingFrame(self, frame)

    def torn(self, frame: Frame, number: int, count: int) -> np.ndarray | None:
        rounds = number * CHECKS // count
        if number and rounds == (number - 1) * CHECKS // count:
            return None
        joined = torn(frame.model, frame.state, number == 0)
        frame.watch.lap("tearing")
        return joined


class TearingFrame(Acting):
    """Copies in a frame: no compiled one, which cannot look whether they tear."""

    compiled = None

    def end_frame(self) -> None:
        follow(self.frame.state)


def joined_in(state: State) -> np.ndarray:
    """The particle that stands for each in a state, (n,) int; (0,) if nothing can tear."""
    return state.memory[Tearing.name]["joined"] if Tearing.name in state.memory else np.zeros(0, int)


def torn(model: Model, state: State, first: bool) -> np.ndarray | None:
    """What is joined after what is to tear has torn, or None if nothing does.

    first: whether it is the first substep of a frame, when what has no strength any more is let go.
    """
    joined, counts = joined_in(state), [len(body.vertices) for body in model.bodies]
    strength = np.repeat([material.tear_strength for material in model.materials], counts)
    factors = of_particles("tear", model.maps, counts)
    strength = strength if factors is None else strength * factors
    # What is one because its borders are joined does not tear.
    firm = np.repeat([m.join_borders and not m.tear_strength for m in model.materials], counts)
    strength = np.where(firm, np.inf, strength)
    copies = np.bincount(joined, minlength=len(joined)) > 1
    held = strength > 0.0
    side = _sides(model, state.x, strength, copies & held) if model.can_tear else None
    if side is None and (held[copies].all() or not first):
        return None
    polygons = _polygons(model)
    pinned = np.zeros(len(joined), bool)
    pinned[model.pins] = True
    result = fans(polygons, joined, pinned, held[joined], side)
    return None if np.array_equal(result, joined) else result


def open_lips(model: Model, state: State, after: Model, joined: np.ndarray) -> None:
    """Move the lips of what is one no more apart; their common center of mass stays where it is."""
    copies = np.arange(len(joined))
    group, lips = joined_in(state), joined == copies
    divided = np.bincount(group, lips, len(joined)) > 1
    lips &= divided[group]
    off = _to_faces(model, state.x, joined)
    usual = np.concatenate([np.full(len(body.vertices), np.median(body.rest_lengths)) for body in model.bodies])
    way = np.where(lips, OPENING * usual / np.maximum(np.linalg.norm(off, axis=0), 1e-300), 0.0) * off
    masses = np.where(lips, after.masses, 0.0)
    total = np.maximum(np.bincount(group, masses, len(joined)), 1e-300)
    mean = np.stack([np.bincount(group, masses * row, len(joined)) for row in way]) / total
    way -= mean[:, group]
    way[:, after.w == 0.0] = 0.0
    state.x = (state.x + way).take(joined, axis=1)


def _to_faces(model: Model, x: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The way from each particle to the mean center of the faces around all those of its number (n,) int, (3, n)."""
    joined, (corners, starts) = model.sewn.joined, _polygons(model)
    sizes, n = np.diff(starts), len(number)
    centers = np.add.reduceat(x.take(joined[corners], axis=1), starts[:-1], axis=1) / sizes
    counts = np.bincount(number[corners], minlength=n)
    sums = np.stack([np.bincount(number[corners], np.repeat(row, sizes), n) for row in centers])
    return np.asarray((sums / np.maximum(counts, 1))[:, number] - x.take(joined, axis=1)) * (counts > 0)[number]


def follow(state: State) -> None:
    """Put all copies where the one is that stands for them."""
    joined = joined_in(state)
    if len(joined):
        state.x, state.v = state.x.take(joined, axis=1), state.v.take(joined, axis=1)


def _sides(model: Model, x: np.ndarray, strength: np.ndarray, can_tear: np.ndarray) -> np.ndarray | None:
    """The side of its plane, 1 or 2, of each particle that tears, 0 for all others, (n,) int; None if nothing tears.

    x: positions (3, n) [m]; strength: (n,) [N/m]; can_tear: which particles stand for several, (n,) bool.
    """
    areas = np.concatenate([body.mesh.corner_areas for body in model.bodies])
    shrink = of_particles("shrink", model.maps, [len(body.vertices) for body in model.bodies])
    areas = np.maximum(areas if shrink is None else areas * shrink**2, 1e-300)
    rows, virials = _virials(model, x)
    pulls = np.maximum(np.einsum("im,im->m", virials[0], virials[0]) * virials[1], 0.0)
    ends = rows.ravel()
    most = np.bincount(ends, np.tile(pulls, 2), len(areas)) / areas  # no principal tension is larger
    found = np.flatnonzero(can_tear & (most > strength))
    if not len(found):
        return None
    number = np.full(len(areas), -1)
    number[found] = np.arange(len(found))
    tension = np.zeros((len(found), 3, 3))
    for end in rows:
        some = np.flatnonzero(number[end] >= 0)
        d = virials[0][:, some]
        np.add.at(tension, number[end[some]], np.einsum("im,jm,m->mij", d, d, virials[1][some]))
    tension /= areas[found][:, None, None]
    values, axes = np.linalg.eigh(tension)
    ratio, axis = np.zeros(len(areas)), np.zeros((3, len(areas)))
    ratio[found], axis[:, found] = values[:, -1] / strength[found], axes[:, :, -1].T
    tears = ratio > 1.0
    side = _divided(model, x, axis, tears)
    tears &= side[model.sewn.joined] > 0
    _thin_out(rows, x, axis, ratio, tears)
    return np.where(tears[model.sewn.joined], side, 0) if tears.any() else None


def _virials(model: Model, x: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Ends (2, m) of all rows of stretch and shear, and (d, s) (3, m), (m,): half the force times length is s d d^T."""
    ends, ways, scales = [], [], []
    for kind in (model.stretch, model.shear):
        one, other = kind.rows.indices
        d = x.take(one, axis=1) - x.take(other, axis=1)
        length = np.sqrt(np.einsum("im,im->m", d, d))
        stiffness = [np.array([getattr(m, field) for m in model.materials]) for field in kind.fields]
        change = length - kind.rest_lengths
        chosen = np.where(change > 0.0, stiffness[0][kind.rows.body], stiffness[1][kind.rows.body])
        force = np.where(kind.is_rope, 0.0, chosen * kind.geometry * change)
        ends.append(kind.rows.indices)
        ways.append(d)
        scales.append(0.5 * force / np.maximum(length, 1e-300))
    return np.concatenate(ends, axis=1), (np.concatenate(ways, axis=1), np.concatenate(scales))


def _divided(model: Model, x: np.ndarray, axis: np.ndarray, tears: np.ndarray) -> np.ndarray:
    """Side of each copy of the vertices that tear, (n,) int: 1 or 2, by the center of its faces; 0 if all are on one.

    axis: normal of the planes, (3, n); tears: which particles stand for what tears, (n,) bool.
    """
    joined = model.sewn.joined
    off = _to_faces(model, x, np.arange(len(joined)))
    above = np.einsum("in,in->n", off, axis.take(joined, axis=1)) >= 0.0
    used = tears[joined] & off.any(axis=0)
    # From the mean of one side to that of the other: the normal of the joint.
    weight = np.where(used, np.where(above, 1.0, -1.0), 0.0)
    upper, lower = (np.bincount(joined, used & one, len(joined)) for one in (above, ~above))
    share = weight / np.maximum(np.where(above, upper[joined], lower[joined]), 1.0)
    normal = np.stack([np.bincount(joined, share * row, len(joined)) for row in off])
    across = np.einsum("in,in->n", normal, axis) >= ACROSS * np.linalg.norm(normal, axis=0)
    divided = used & ((upper > 0) & (lower > 0) & across)[joined]
    return np.where(divided, np.where(above, 1, 2), 0)


def _thin_out(rows: np.ndarray, x: np.ndarray, axis: np.ndarray, ratio: np.ndarray, tears: np.ndarray) -> None:
    """Of neighbors above one another in the direction of tension, leave the one nearest to tearing; in place."""
    one, other = rows[:, tears[rows].all(axis=0)]
    d = x.take(one, axis=1) - x.take(other, axis=1)
    later = np.where((ratio[one] < ratio[other]) | ((ratio[one] == ratio[other]) & (one > other)), one, other)
    along = np.abs(np.einsum("im,im->m", d, axis.take(later, axis=1)))
    tears[later[along > ACROSS * np.linalg.norm(d, axis=0)]] = False


def _polygons(model: Model) -> Polygons:
    """The faces of all bodies, each with vertices of its own where it can tear off."""
    faces = [body.polygons for body in model.bodies]
    corners = [one.corners + part.start for one, part in zip(faces, model.slices)]
    sizes = [np.diff(one.starts) for one in faces]
    return Polygons(np.concatenate(corners), np.concatenate([[0], np.cumsum(np.concatenate(sizes))]))
