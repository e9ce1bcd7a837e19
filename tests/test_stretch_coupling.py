"""Which strained edges make a substep too long, call for another round, or let go of what is led out."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.batches import find
from helpers.inside import model_of
from helpers.meshes import box, grid, turned
from pbd_addon import Body, Collider, Material, Plane, Simulation
from pbd_addon.contact.stretch_coupling import (
    YIELD_STRAIN,
    couple_stretch_and_contact,
    excess_of_overrun,
    is_stretched,
    strained_particles,
)
from pbd_addon.kernels import available, load, numpy as kernels
from pbd_addon.model.model import Model, State, Targets
from pbd_addon.model.part import Frame
from pbd_addon.timing.stopwatch import Stopwatch

NONE = np.zeros(0, bool)
USUAL = np.array([0.1])


def moved_corner(body: Body) -> np.ndarray:
    """Where a body is whose vertex 0 was pulled off by an edge, (3, n)."""
    x = body.vertices.T.copy()
    x[:, 0] -= [0.1, 0.1, 0.0]
    return x


def test_strain_beside_what_is_excused_does_not_count():
    body = Body(*grid(4, 4, 0.4, 0.4))
    stretch = find(Simulation([body], kernels="numpy"), "stretch")
    stretch.begin_substep(0.002, 0.0)
    x, p = body.vertices.T.copy(), moved_corner(body)
    corner = np.arange(len(body.vertices)) == 0
    for excused in (NONE, ~corner & False, np.arange(len(corner)) == 24):
        assert excess_of_overrun(kernels, [stretch], x, p, excused, USUAL) > 0.5
        assert is_stretched(kernels, stretch, x, p, excused, USUAL)
    assert excess_of_overrun(kernels, [stretch], x, p, corner, USUAL) == 0.0
    assert not is_stretched(kernels, stretch, x, p, corner, USUAL)


@pytest.mark.parametrize("usual", [0.02, 0.3])
def test_a_sliver_does_not_make_a_substep_too_long(usual):
    """An edge of 6 mm that is 40 % too long: it counts beside edges of 20 mm, and not beside some of 0.3 m."""
    vertices, quads = grid(4, 4, 0.024, 0.024)
    body = Body(vertices, quads)
    stretch = find(Simulation([body], kernels="numpy"), "stretch")
    stretch.begin_substep(0.002, 0.0)
    x, p = body.vertices.T.copy(), body.vertices.T.copy()
    p[:2, 0] -= 0.4 * 0.006
    counts = excess_of_overrun(kernels, [stretch], x, p, NONE, np.array([usual])) > 0.0
    assert counts == is_stretched(kernels, stretch, x, p, NONE, np.array([usual])) == (usual == 0.02)


@pytest.mark.parametrize("backend", available())
def test_what_springs_push_through_a_floor_is_put_back(backend):
    """A sheet stands on a floor, and what pressed a vertex of it down touches it no more: springs push the one below
    down, too, and planes have the last word though no contact is left.
    """
    vertices, quads = grid(4, 4, 0.4, 0.4)
    body = Body(turned(vertices, np.pi / 2, 0) + np.array([0.0, 0.0, 0.202]), quads, Material(self_collision=False))
    corners, triangles = box((0.1, 0.1, 0.1), 1)
    far = Collider(corners + 5.0, triangles)
    simulation = Simulation([body], [Plane((0.0, 0.0, body.vertices[:, 2].min() - 0.002)), far], kernels=backend)
    contact, stretch, plane = (find(simulation, name) for name in ("contact", "stretch", "plane"))
    x = body.vertices.T.copy()
    contact.lay_path([far.vertices.T], [far.vertices.T])
    for constraints in (stretch, plane, contact):
        constraints.lay_out(load(backend))
        constraints.begin_substep(0.002, 0.05)
    pressed = np.argmin(np.abs(body.vertices - [0.0, 0.0, x[2].min() + 0.1]).sum(axis=1))
    p = x.copy()
    p[2, pressed] -= 0.05
    contact.project(load(backend), p, x)
    contact.unprojected = x.copy()
    couple_stretch_and_contact(load(backend), contact, [stretch], None, p, x)
    assert abs(p[2, pressed] - x[2, pressed]) < 0.04, "springs did nothing"
    assert p[2].min() >= x[2].min() - 0.1 * 0.002


def test_particles_of_strained_edges_are_found():
    body = Body(*grid(4, 4, 0.4, 0.4))
    stretch = find(Simulation([body], kernels="numpy"), "stretch")
    x = body.vertices.T.copy()
    x[0, 0] -= 0.1 * (YIELD_STRAIN + 0.01)
    beside = body.mesh.edges[(body.mesh.edges == 0).any(axis=1)]
    strained = np.flatnonzero(strained_particles(kernels, [stretch], x))
    assert set(strained) < set(np.unique(beside))
    assert {0} < set(strained)
    assert not strained_particles(kernels, [], x).any()


def test_what_is_held_back_is_not_led_out():
    """A sheet hangs half in a box. Where its edges are strained, exit contacts rest: they push and limit nothing."""
    vertices, quads = grid(6, 6, 0.3, 0.3)
    corners, triangles = box((1.0, 1.0, 1.0), 4)
    body = Body(turned(vertices, np.pi / 2, 0) + np.array([0.013, 0.007, 0.5]), quads)
    simulation = Simulation([body], [Collider(corners, triangles)], gravity=(0.0, 0.0, 0.0), kernels="numpy")
    simulation.step(1 / 24)
    contact = find(simulation, "contact")
    penetration, rows = contact.penetration, contact.candidate_list.rows
    count = len(penetration.exiting)
    assert count > 10
    x = np.concatenate([body.vertices, corners]).T
    p = x + np.array([[0.0], [0.0], [0.1]]) * (np.arange(x.shape[1]) < len(vertices))
    strained = np.zeros(len(vertices), bool)
    strained[penetration.exiting[:4]] = True
    for resting in (strained, ~strained | strained, strained & False):
        penetration.rest_at(resting)
        counting = penetration.without_resting(np.arange(rows.size))
        rests = rows.is_exit & resting.take(np.minimum(rows.particles[0], len(resting) - 1))
        np.testing.assert_array_equal(counting, np.flatnonzero(~rests))
        q = p.copy()
        penetration.limit_speed(q, x, 0.002)
        is_slowed = (q != p).any(axis=0)
        assert set(np.flatnonzero(is_slowed)) == set(penetration.exiting[~resting[penetration.exiting]])


def test_what_crosses_an_open_collider_is_excused_with_what_is_around_it():
    """A sheet hangs through another that has borders; three edges from where it crosses nothing is excused."""
    vertices, quads = grid(20, 20, 1.0, 1.0)
    body = Body(turned(vertices, np.pi / 2, 0) + np.array([0.0, 0.01, 0.02]), quads)
    simulation = Simulation([body], [Collider(*grid(4, 4, 2.0, 2.0))], gravity=(0.0, 0.0, 0.0), kernels="numpy")
    simulation.step(1 / 24)
    beside = find(simulation, "contact").penetration.beside[: len(vertices)]
    height = np.abs(body.vertices[:, 2])
    assert beside[height < 0.15].all() and not beside[height > 0.25].any()


@pytest.mark.parametrize("is_sewn", [False, True])
def test_edges_at_seams_that_are_open_are_excused(is_sewn):
    """Ends of a pair and what is an edge away, until the pair is one."""
    one, quads = grid(3, 3, 0.3, 0.3)
    vertices = np.concatenate([one, one + np.array([0.4, 0.0, 0.0])])
    faces = [*quads, *([corner + len(one) for corner in quad] for quad in quads)]
    right, left = (np.flatnonzero(np.isclose(vertices[:, 0], x)) for x in (one[:, 0].max(), one[:, 0].min() + 0.4))
    body = Body(vertices, faces, Material(sewing=is_sewn), edges=np.column_stack([right, left])[:1])
    model = model_of(Simulation([body], kernels="numpy"))
    state = model.initial_state()
    beside = np.flatnonzero(begun(model, state).excused)
    edges = body.mesh.edges[~body.is_loose]
    ends = [right[0], left[0]]
    expected = np.unique(edges[np.isin(edges, ends).any(axis=1)]) if is_sewn else []
    np.testing.assert_array_equal(beside, expected)
    state.memory["sewing"]["pairs"][2] = 1.0
    assert not is_sewn or not begun(model, state).excused.any()


def begun(model: Model, state: State) -> Frame:
    """A frame that begins in a state."""
    frame = Frame(model, state, Targets.of(state), load("numpy"), Stopwatch(), 1 / 24)
    frame.begin(0.0)
    return frame
