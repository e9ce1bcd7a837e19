"""Every array that the public API takes, spoiled in every way: refused by name, in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Collider, Material, Polygons, Simulation, Wind
from pbd_addon.bodies.rail import Rail
from pbd_addon.meshes.creases import Creases

VERTICES, QUADS = grid(2, 2, 0.5, 0.5)
QUADS = np.array(QUADS)
LINE = np.array([[0, 1], [1, 2]])
ONES = np.ones(9)
PLACE = np.zeros(3)


def body(**more) -> Body:
    return Body(**{"vertices": VERTICES, "faces": QUADS, "name": "Flag", **more})


CLOTH = body(pins=[0, 2], dynamic_mesh=True, rail=Rail(VERTICES, QUADS), slides=[1])
BALL = Collider(VERTICES - [0.0, 0.0, 0.5], QUADS, name="Ball")
SCENE = Simulation([CLOTH], [BALL], substeps=2, kernels="numpy")


def turned(x, rows):
    """C = z1 - z2 [m]."""
    return x[:, 0, 2] - x[:, 1, 2], np.tile([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], (len(x), 1, 1))


REAL = [
    (lambda a: body(vertices=a), VERTICES, "Flag: vertices"),
    (lambda a: body(rest_vertices=a), VERTICES, "Flag: rest_vertices"),
    (lambda a: body(masses=a), ONES, "Flag: masses"),
    (lambda a: body(edges=LINE, compliances=a), np.ones(2), "Flag: compliances"),
    (lambda a: body(maps={"bend": a}), ONES, "Flag: map 'bend'"),
    (lambda a: body(velocity=a), PLACE, "Flag: velocity"),
    (lambda a: body(angular_velocity=a), PLACE, "Flag: angular_velocity"),
    (lambda a: body(creases=Creases(LINE, a, np.ones(2))), np.ones(2), "Flag: angles of creases"),
    (lambda a: body(creases=Creases(LINE, np.ones(2), a)), np.ones(2), "Flag: factors of creases"),
    (lambda a: Collider(a, QUADS), VERTICES, "Collider: vertices"),
    (lambda a: Rail(a, QUADS), VERTICES, "Rail: vertices"),
    (lambda a: Wind(a), PLACE, "Wind.velocity"),
    (lambda a: Simulation([CLOTH], gravity=a), PLACE, "SolverSettings.gravity"),
    (lambda a: SCENE.set_pin_targets(CLOTH, a), VERTICES[[0, 2]], "targets of Flag"),
    (lambda a: SCENE.set_rest_shape(CLOTH, a), VERTICES, "vertices of Flag"),
    (lambda a: SCENE.move_collider(BALL, a), VERTICES, "vertices of Ball"),
    (lambda a: SCENE.move_rail(CLOTH, a), VERTICES, "vertices of Rail"),
    (lambda a: SCENE.set_maps(CLOTH, {"shrink": a}), ONES, "Flag: map 'shrink'"),
    (lambda a: SCENE.set_shade(CLOTH, a), np.ones(8), "factors of Flag"),
    (lambda a: SCENE.grab(CLOTH, [3, 4], a), np.ones(2), "weights"),
    (lambda a: SCENE.add_constraints(CLOTH, LINE, turned, a), np.ones(2), "compliance"),
    (lambda a: CLOTH.volume(a), VERTICES, "x must"),
    (lambda a: CLOTH.edge_strain(a), VERTICES, "x must"),
]
INTEGERS = [
    (lambda a: body(faces=a), QUADS, "Flag: faces"),
    (lambda a: body(faces=Polygons(a, np.arange(0, 17, 4))), QUADS.ravel(), "Flag: faces.corners"),
    (lambda a: body(faces=Polygons(QUADS.ravel(), a)), np.arange(0, 17, 4), "Flag: faces"),
    (lambda a: body(edges=a), LINE, "Flag: edges"),
    (lambda a: body(pins=a), np.array([0, 2]), "Flag: pins"),
    (lambda a: body(creases=Creases(a, np.ones(2), np.ones(2))), LINE, "Flag: edges of creases"),
    (lambda a: Collider(VERTICES, a), QUADS, "Collider: faces"),
    (lambda a: Rail(VERTICES, (), a), LINE, "Rail: edges"),
    (lambda a: SCENE.grab(CLOTH, a), np.array([3, 4]), "vertices"),
    (lambda a: SCENE.keep_apart(CLOTH, a, CLOTH, [5, 6], 0.1), np.array([3, 4]), "vertices"),
    (lambda a: SCENE.add_constraints(CLOTH, a, turned), LINE, "vertices"),
]


def masked(array):
    """The array with its first entry masked."""
    return np.ma.masked_array(array, mask=np.arange(array.size).reshape(array.shape) == 0)


def with_first(array, value):
    spoiled = array.astype(float)
    spoiled.ravel()[0] = value
    return spoiled


SPOILED = {
    "nan": lambda a: with_first(a, np.nan),
    "inf": lambda a: with_first(a, np.inf),
    "huge": lambda a: with_first(a, 1e300),
    "complex": lambda a: a * 1j,
    "text": lambda a: a.astype(str),
    "objects": lambda a: a.astype(object) * 1j,
    "masked": masked,
    "one dimension more": lambda a: a[None],
    "a dict": lambda a: {"a": a},
    "a set of texts": lambda a: {"a", "b"},
    "an object": lambda a: object(),
}
WRONG_IDS = {
    "unknown": lambda a: a + 2**40,
    "negative": lambda a: a - 99,
    "huge unsigned": lambda a: a.astype(np.uint64) + np.uint64(2**63),
    "bool": lambda a: a > 0,
}


def refused(call, name, value):
    with pytest.raises(ValueError, match=r".") as refusal:
        call(value)
    sentence = str(refusal.value)
    assert name.split(":")[-1].strip() in sentence, sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("how", SPOILED)
@pytest.mark.parametrize("number", range(len(REAL)), ids=[name for _, _, name in REAL])
def test_numbers(number, how):
    """Arrays of numbers."""
    call, good, name = REAL[number]
    refused(call, name, SPOILED[how](good))


@pytest.mark.parametrize("how", {**SPOILED, **WRONG_IDS})
@pytest.mark.parametrize("number", range(len(INTEGERS)), ids=[f"{name} {k}" for k, (*_, name) in enumerate(INTEGERS)])
def test_vertices_by_number(number, how):
    """Arrays of ids."""
    call, good, name = INTEGERS[number]
    refused(call, name, {**SPOILED, **WRONG_IDS}[how](good))


@pytest.mark.parametrize("number", range(len(REAL)), ids=[name for _, _, name in REAL])
def test_nothing_and_none(number):
    """Where an array must be, neither an empty one nor None will do, unless None is what to leave out."""
    call, good, name = REAL[number]
    refused(call, name, good[:0])
    optional = ("rest_vertices", "masses", "compliances", "factors of Flag", "weights")
    if not name.endswith(optional):
        refused(call, name, None)


def test_an_array_that_masks_nothing_is_an_array():
    """Only what is hidden is refused."""
    assert len(body(vertices=np.ma.masked_array(VERTICES)).vertices) == 9


def test_what_functions_return_has_no_mask():
    """A mask in forces and own constraints would be ignored."""
    simulation = Simulation([made := body()], kernels="numpy")
    simulation.set_forces([lambda x, v, t: masked(np.zeros_like(x))])
    with pytest.raises(ValueError, match=r"what forces\[0\] .* returns must have no masked entries, but 1 are"):
        simulation.step(1 / 24)
    with pytest.raises(ValueError, match="what the function of custom returns must have no masked entries"):
        simulation.add_constraints(made, LINE, lambda x, rows: (masked(turned(x, rows)[0]), turned(x, rows)[1]))


def test_restore_takes_states_of_this_simulation_only():
    """Nothing is forgotten before the state is known to be one."""
    simulation = Simulation([body()], kernels="numpy")
    simulation.step(1 / 24)
    other = Simulation([Body(VERTICES[:4], [[0, 1, 3]])], kernels="numpy")
    for state, sentence in (
        ({}, "state must be a State, not {}"),
        (None, "state must be a State, not None"),
        (other.frames.state(0), "state must be one of this simulation, of 9 particles, not float64 of shape"),
    ):
        with pytest.raises(ValueError, match=sentence):
            simulation.restore(0, state)
    with pytest.raises(ValueError, match=r"grabs\[0\] must be a Grab, not 1"):
        simulation.restore(0, simulation.frames.state(0), [1])
    assert simulation.frames.last == 1
    simulation.restore(0, simulation.frames.state(0))
    assert simulation.frames.last == 0


def test_frames_are_taken_up_from_what_holds_frames_only():
    simulation = Simulation([body()], kernels="numpy")
    simulation.step(1 / 24)
    frames = simulation.frames
    for store, last, sentence in (
        ({}, 1, "store must be what holds frames, with the functions holds, positions and state, not {}"),
        (None, 1, "store must be what holds frames"),
        (frames, -1, "last must be at least 0"),
        (frames, 0.5, "last must be a whole number, not 0.5"),
    ):
        with pytest.raises(ValueError, match=sentence):
            simulation.take_up(store, 0, last)
    assert simulation.frames is frames
    simulation.take_up(frames, 0, 1)
    assert simulation.frames.last == 1


def test_frames_that_are_too_long():
    """A frame of ten seconds is stepped; of more than that, the sentence says how many."""
    simulation = Simulation([body(pins=[0])], kernels="numpy", substeps=1)
    assert simulation.step(10.0).substeps >= 1
    with pytest.raises(ValueError, match=r"dt must be at most 10 s, not 1e\+06"):
        simulation.step(1e6)


def test_cloth_finer_than_a_fiber():
    """The smallest cloth is simulated; a smaller one is refused, whichever shape it has at rest."""
    small = Body(2e-5 * VERTICES, QUADS, pins=[0])
    simulation = Simulation([small], kernels="numpy")
    simulation.step(1 / 24)
    assert np.isfinite(simulation.positions(small)).all()
    with pytest.raises(ValueError, match=r"Flag: vertices must span at least 1e-05 m, not .*: scale them up"):
        body(vertices=1e-7 * VERTICES)
    with pytest.raises(ValueError, match=r"Flag: rest_vertices must span at least 1e-05 m, not .*: scale them up"):
        body(rest_vertices=1e-7 * VERTICES)


@pytest.mark.parametrize("density", [1e-3, 0.2])
@pytest.mark.parametrize("bend", [1.0, 1e10])
@pytest.mark.parametrize("faces", ["sheet", "rope"])
def test_however_stiff_and_light(faces, bend, density):
    """Where masses are lost beside the stiffness in rounding, the body is as stiff as can be told apart from rigid."""
    vertices = 1e-3 * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    shape = {"faces": [[0, 1, 2, 3]]} if faces == "sheet" else {"edges": [[0, 1], [1, 2], [2, 3]]}
    made = Body(vertices, **shape, material=Material(bend=bend, density=density))
    simulation = Simulation([made], kernels="numpy", substeps=1, self_collision=False)
    simulation.step(1 / 24)
    fallen = simulation.positions(made) - vertices
    assert np.abs(fallen[:, :2]).max() < 1e-4
    assert fallen[:, 2] == pytest.approx(-9.81 / 24**2, rel=1e-3)
