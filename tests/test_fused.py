"""Fused substeps give the bits of the solver's loop, for all that they can do, and leave the rest to it."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable

import numpy as np
import pytest

from helpers.inside import state_of

pytest.importorskip("numba", reason="Numba is not installed in this Python")

from helpers.meshes import grid, icosphere, jittered_sheet
from pbd_addon import Body, Collider, Material, Plane, Simulation, Wind
from pbd_addon.contact.narrow_phase import NearSearch
from pbd_addon.kernels import load
from pbd_addon.kernels.protocol.frames import Call
from pbd_addon.kernels.protocol.projections import Tethered
from pbd_addon.model.model import State
from pbd_addon.stepping import fused

DT = 1 / 24
Scene = tuple[Simulation, Callable[[int], None]]


def scene(*bodies: Body, move: Callable[[Simulation, int], None] = lambda *_: None, **options: object) -> Scene:
    """A simulation, by default without contact, and what is to be done before each frame."""
    simulation = Simulation(list(bodies), kernels="numba", **({"self_collision": False} | options))
    return simulation, lambda frame: move(simulation, frame)


def curtain(material: Material | None = None, n: int = 17, z: float = 0.0, **options: object) -> Body:
    vertices, quads = grid(n - 1, n - 1, 1.0, 1.0)
    options = {"pins": (n * (n - 1), n * n - 1)} | options
    return Body(vertices + np.array([0.0, 0.0, z]), quads, material or Material.preset("Cotton"), **options)


def triangles(material: Material | None = None) -> Body:
    vertices, faces = jittered_sheet(17)
    return Body(vertices, faces, material or Material.preset("Cotton"), pins=(272, 288))


def tube(z: float = 0.0, **options: object) -> Body:
    """A sleeve of closed chains; by default it hangs from one end."""
    turns, rings = np.meshgrid(np.arange(16), np.arange(12))
    angles = 2.0 * np.pi * turns.ravel() / 16
    vertices = np.column_stack([0.2 * np.cos(angles), 0.2 * np.sin(angles), 0.05 * rings.ravel() + z])
    first = (16 * rings + turns)[:-1].ravel()
    after = (16 * rings + (turns + 1) % 16)[:-1].ravel()
    faces = np.stack([first, after, after + 16, first + 16], axis=1)
    return Body(vertices, faces, **({"pins": range(176, 192)} | options))


def swung() -> Scene:
    """A flag at an edge that moves, partly by soft pins."""
    body = curtain(pins=dict.fromkeys(range(272, 280), 1.0) | dict.fromkeys(range(280, 289), 0.3))
    start = body.vertices[body.pin_ids]

    def move(simulation: Simulation, frame: int) -> None:
        simulation.set_pin_targets(body, start + np.array([0.0, 0.02 * np.sin(frame), 0.03 * frame]))

    return scene(body, move=move)


def jerked() -> Scene:
    """A flag that is pulled so fast that substeps have to be cut in halves."""
    body = curtain()
    start = body.vertices[body.pin_ids]

    def move(simulation: Simulation, frame: int) -> None:
        simulation.set_pin_targets(body, start + np.array([0.0, 0.0, 0.7 * (frame // 3)]))

    return scene(body, move=move)


def blown() -> Scene:
    def move(simulation: Simulation, frame: int) -> None:
        simulation.set_wind(Wind((1.0 + 0.2 * min(frame, 6), 0.5, 0.0), turbulence=0.5))

    return scene(curtain(), move=move)


def in_rounds(*bodies: Body) -> Scene:
    """Springs and bending are solved in turn, as where cloth comes to rest."""

    def move(simulation: Simulation, frame: int) -> None:
        state_of(simulation).memory["rounds"]["wanted"] = np.ones(1)

    return scene(*bodies, move=move)


def balloon(z: float = 0.0, **options: object) -> Body:
    vertices, faces = icosphere(1, 0.3)
    material = dataclasses.replace(
        Material.preset("Cotton"), **({"pressure_mode": "VOLUME", "pressure": 1.2} | options)
    )
    return Body(vertices + np.array([0.0, 0.0, z]), faces, material, pins=(0,) if z > 2.0 else ())


def bag(z: float) -> Body:
    """A tube of quads with gas in it, whose openings are capped."""
    return tube(z, material=Material(pressure_mode="GAS", overpressure=200.0), pins=())


def pumped() -> Scene:
    """A balloon that holds more from frame to frame, so that its masses change."""
    body = balloon(pressure=1.0, damping=0.0)

    def move(simulation: Simulation, frame: int) -> None:
        simulation.set_material(body, dataclasses.replace(body.material, pressure=1.0 + 0.02 * frame))

    return scene(body, move=move)


def bouncing() -> Scene:
    """Balloons and a bag fall on a floor, along a wall that leans."""
    planes = [Plane((0.0, 0.0, -0.32)), Plane((0.28, 0.0, 0.0), (-1.0, 0.0, 0.3))]
    return scene(balloon(), balloon(1.5, resilience=1.0), bag(0.7), colliders=planes)


BALLOONS: dict[str, Callable[[], Scene]] = {
    "balloons": lambda: scene(balloon(), balloon(1.0, pressure_mode="GAS", overpressure=2000.0), bag(3.0)),
    "balloon on a pin": lambda: scene(balloon(3.0), wind=Wind((1.0, 0.0, 0.0))),
    "balloon without air": lambda: scene(balloon(3.0, air_normal=0.0, air_tangent=0.0)),
    "balloon that grows": pumped,
    "balloons on a floor": bouncing,
}
"""Scenes under pressure, whose first frame begins in the loop: nothing is known of tensions."""


def hammock() -> Body:
    """Heavy, soft cloth that gives back half of the work, from the eighth frame on, and follows tethers."""
    vertices, faces = jittered_sheet(13)
    material = Material(density=2.0, stretch=100.0, shear=100.0, resilience=0.5)
    return Body(vertices * np.array([0.98, 1.0, 1.0]), faces, material, pins=range(0, 169, 12), rest_vertices=vertices)


BOARD = Material(bend=5.0)

SCENES: dict[str, Callable[[], Scene]] = {
    "hammock": lambda: scene(hammock()),
    "rounds": lambda: in_rounds(curtain(), curtain(Material(bend_damping=0.01), z=1.0, n=9)),
    "stiff": lambda: in_rounds(curtain(BOARD), curtain(BOARD, z=1.0, n=9, pins=()), curtain(z=2.0)),
    "hanging": lambda: scene(curtain()),
    "triangles": lambda: scene(triangles()),
    "automatic": lambda: scene(triangles(), automatic=True),
    "gusts": blown,
    "steady gusts": lambda: scene(curtain(), wind=Wind((1.5, 0.0, 0.0), turbulence=0.4)),
    "damping": lambda: scene(curtain(Material(damping=6.0, drag=3.0))),
    "little damping": lambda: scene(curtain(Material(damping=0.3, drag=0.1)), tube()),
    "damped edges": lambda: scene(curtain(Material(stretch_damping=0.01, bend_damping=0.01))),
    "angles": lambda: scene(curtain(Material(bend_model="DIHEDRAL"))),
    "compression": lambda: scene(triangles(Material(compression=100.0))),
    "several": lambda: scene(curtain(z=1.0), triangles(), tube(), curtain(Material(drag=1.0), pins=(), n=9)),
    "flying": lambda: scene(curtain(pins=())),
    "pins": swung,
    "soft": lambda: scene(curtain(Material(stretch=30.0))),
    "few": lambda: scene(curtain(), substeps=6),
    "PBD": lambda: scene(curtain(), method="PBD"),
    "jerked": jerked,
}


def meeting(*bodies: Body, **options: object) -> Scene:
    return scene(*bodies, self_collision=True, **options)


def dropped() -> Scene:
    """A sheet that falls freely, and then on a ball that stands."""
    vertices, faces = icosphere(2, 0.2)
    ball = Collider(vertices + np.array([0.0, 0.0, -1.3]), faces)
    return meeting(curtain(Material(density=3.0), pins=()), colliders=[ball])


def hemmed(edges: float = 0.5, n: int = 25) -> Body:
    """A curtain whose lowest fifth is rolled up around a circle, to two edges from where it began: that is near.

    edges: the distance that it keeps from itself.
    """
    rest, quads = grid(n - 1, n - 1, 1.0, 1.0)
    rest -= rest.min(axis=0)
    x, along = rest.copy(), np.maximum(0.2 - rest[:, 1], 0.0)
    radius = (0.2 + 2.0 / (n - 1)) / (2.0 * np.pi)
    x[:, 1] = np.maximum(rest[:, 1], 0.2) - radius * np.sin(along / radius)
    x[:, 2] = radius * (1.0 - np.cos(along / radius))
    material = Material(bend=1e-3, self_distance=edges / (n - 1))
    return Body(x, quads, material, pins=range(n * (n - 1), n * n), rest_vertices=rest)


def over_a_floor(z: float, **options: object) -> Scene:
    """A sheet that swings over a floor at z, beside a wall that leans."""
    planes = [Plane((0.0, 0.0, z), (0.0, 0.0, 1.0)), Plane((0.0, 5.0, 0.0), (0.1, -1.0, 0.3))]
    return scene(curtain(), curtain(z=2.0, n=9), colliders=planes, **options)


def mangled() -> Scene:
    """A floor that comes up from below: what moves is left to the loop."""
    floor = Plane((0.0, 0.0, -0.6), (0.0, 0.0, 1.0))

    def move(simulation: Simulation, frame: int) -> None:
        if frame >= 5:
            simulation.move_plane(floor, (0.0, 0.0, -0.6 + 0.03 * (frame - 4)), (0.0, 0.0, 1.0))

    return scene(curtain(), colliders=[floor], move=move)


MEETING: dict[str, tuple[Callable[[], Scene], bool]] = {
    "hem": (lambda: meeting(hemmed(), gravity=(0.0, -1.0, -6.0)), False),
    "hem that is too close": (lambda: meeting(hemmed(1.5), gravity=(0.0, -1.0, -6.0)), True),
    "curtain": (lambda: meeting(curtain()), False),
    "triangles": (lambda: meeting(triangles(), automatic=True), False),
    "gusts": (lambda: meeting(curtain(), wind=Wind((1.5, 0.0, 0.0), turbulence=0.4)), False),
    "several": (lambda: meeting(curtain(z=2.0), triangles(), curtain(Material(drag=1.0), z=4.0, n=9)), False),
    "few": (lambda: meeting(curtain(), substeps=6), False),
    "dropped": (dropped, True),
    "floor": (lambda: over_a_floor(-3.0), False),
    "floor that is met": (lambda: over_a_floor(-0.35), True),
    "floor, contact": (lambda: over_a_floor(-0.35, self_collision=True), True),
    "floor that moves": (mangled, True),
}
"""Scenes with contact, and whether there comes to be any."""


def run(make: Callable[[], Scene], frames: int) -> list[list[np.ndarray]]:
    """What each frame leaves."""
    (simulation, move), found = make(), []
    for frame in range(frames):
        move(frame)
        report = simulation.step(DT)
        state = state_of(simulation)
        kinds = [np.array(kind.multipliers) for kind in simulation.constraints]
        forces = [kind.forces() for kind in simulation.constraints]
        told = [np.array([report.strain_max, *report.residuals.values(), report.contacts + report.self_contacts])]
        found.append([state.x, state.v, *remembered(state), *kinds, *forces, *told])
    return found


def remembered(state: State) -> list[np.ndarray]:
    """What the state remembers of the past, but for surfaces."""
    return [array for own in state.memory.values() for array in own.values() if isinstance(array, np.ndarray)]


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many substeps each call has done."""
    done: list[int] = []
    real = fused.FusedSubsteps._run

    def counted(*arguments):
        found = real(*arguments)
        done.append(found[0])
        return found

    monkeypatch.setattr(fused.FusedSubsteps, "_run", counted)
    return done


@pytest.mark.parametrize("name", SCENES)
def test_the_bits_are_those_of_the_loop(name, count, monkeypatch):
    found = run(SCENES[name], 14)
    assert sum(count) > 14  # several in a frame
    assert (0 in count) == (name == "jerked")
    monkeypatch.setattr(fused, "is_possible", lambda *_: False)
    count.clear()
    assert_same(found, run(SCENES[name], 14))
    assert not count
    assert np.abs(found[-1][1]).max() > 0.1


@pytest.mark.parametrize("name", BALLOONS)
def test_the_bits_are_those_of_the_loop_under_pressure(name, count, monkeypatch):
    found = run(BALLOONS[name], 12)
    assert count[0] == 0
    assert min(count[1:]) > 5, count  # whole frames
    monkeypatch.setattr(fused, "is_possible", lambda *_: False)
    count.clear()
    assert_same(found, run(BALLOONS[name], 12))
    assert not count
    assert np.abs(found[-1][1]).max() > 0.1


def assert_same(found: list[list[np.ndarray]], expected: list[list[np.ndarray]]) -> None:
    for ours, theirs in zip(found, expected):
        for one, other in zip(ours, theirs):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", MEETING)
def test_the_bits_are_those_of_the_loop_until_something_meets(name, count, monkeypatch):
    """What contact remembers, too."""
    make, meets = MEETING[name]
    found = run(make, 14)
    assert sum(count) > 14, sum(count)  # several in a frame
    assert any(frame[-1][-1] > 0.0 for frame in found) == meets
    monkeypatch.setattr(fused, "is_possible", lambda *_: False)
    count.clear()
    assert_same(found, run(make, 14))
    assert not count


@pytest.mark.parametrize(("limit", "values"), [
    ("motion_bound.FREE_MARGIN", 0.01), ("motion_bound.FREE_DRIFT", 0.01), ("height_fields.CONES", (0.3, 0.3)),
])  # fmt: skip
def test_the_loop_takes_over_where_a_bound_is_left(limit, values, count, monkeypatch):
    """With bounds so narrow that they hold for a part of a frame: what was not looked at would be queried too late."""
    make = MEETING["several"][0]
    run(make, 8)
    usual = sum(count)
    count.clear()
    monkeypatch.setattr(f"pbd_addon.contact.{limit}", values)
    found = run(make, 8)
    assert 0 < sum(count) < 0.9 * usual
    monkeypatch.setattr(fused, "is_possible", lambda *_: False)
    assert_same(found, run(make, 8))


def test_the_loop_takes_over_where_something_comes_near(count, monkeypatch):
    """As if all kept ten times their distance from each other; contact itself looks at their own."""
    make, begin = MEETING["hem"][0], NearSearch._begin
    run(make, 14)
    usual = sum(count)
    count.clear()

    def wary(search, *arguments):
        begin(search, *arguments)
        search._distance *= 10.0

    monkeypatch.setattr(NearSearch, "_begin", wary)
    found = run(make, 14)
    assert 0 < sum(count) < 0.7 * usual
    monkeypatch.setattr(fused, "is_possible", lambda *_: False)
    assert_same(found, run(make, 14))


@pytest.mark.parametrize("name", ["gusts", "little damping", "soft"])
def test_a_frame_in_slices_is_the_same(name, count, monkeypatch):
    """What is large yields after a few substeps, so that a window answers; the past goes on."""
    found = run(SCENES[name], 6)
    count.clear()
    monkeypatch.setattr(fused, "SUBSTEP_COST", 1.0)
    assert_same(found, run(SCENES[name], 6))
    assert set(count) == {1}
    simulation, _ = SCENES[name]()
    substeps = len(count) // 6
    shares = list(simulation.slices(DT))
    assert len(shares) == substeps - 1
    assert shares == sorted(shares)


def test_what_is_not_known_is_left_to_the_loop(count):
    """A floor that is touched, a balloon, a hand, a function, a collider that moves, and NumPy."""
    floor = Plane((0.0, 0.0, -0.001), (0.0, 0.0, 1.0))
    held = scene(curtain())[0]
    held.grab(held.bodies[0], [3])
    pulled = scene(curtain(), forces=[lambda x, v, t: np.zeros_like(x)])[0]
    vertices, faces = icosphere(1, 0.1)
    stone = Collider(vertices - 3.0, faces)
    carried = Simulation([curtain()], [stone], kernels="numba")
    carried.move_collider(stone, vertices - 2.9)
    ball = Body(*icosphere(1, 0.3), Material(pressure_mode="VOLUME"))
    simulations = [
        Simulation([curtain()], [floor], self_collision=False, kernels="numba"),
        *(Simulation([curtain()], self_collision=meets, kernels="numpy") for meets in (True, False)),
        carried,
        Simulation([ball], self_collision=False, kernels="numba"),
        *(held, pulled),
    ]
    for simulation in simulations:
        simulation.step(DT)
    assert not sum(count)


def test_materials_and_lengths_of_frames_may_change(count, monkeypatch):
    """What was written down of the arrays before is written anew."""

    def make() -> Scene:
        body = curtain()

        def move(simulation: Simulation, frame: int) -> None:
            if frame in (3, 6):
                simulation.set_material(body, Material(stretch=5000.0 * frame, bend=1e-4 * frame))
            if frame == 8:
                simulation.set_settings(dataclasses.replace(simulation.settings, substeps=30))

        return scene(body, move=move)

    found = run(make, 12)
    assert {10, 15} <= set(count)
    monkeypatch.setattr(fused, "is_possible", lambda *_: False)
    assert_same(found, run(make, 12))


def test_a_kernel_takes_no_other_arrays():
    """Words say where arrays are: others than it was compiled for would be read as garbage."""
    encode = load("numba").encode
    assert encode is not None
    values, places = np.zeros(5), np.zeros(5, np.int32)
    assert encode(Call("put", 0, (values, places, values, places))) is not None
    for wrong in (
        (values, places.astype(np.int64), values, places),
        (values, places, values.reshape(5, 1), places),
        (values, places, values),
        (values, places, values.astype(np.float32), places),
    ):
        with pytest.raises(TypeError, match="put takes"):
            encode(Call("put", 0, wrong))
    with pytest.raises(TypeError, match="project_tether takes"):
        encode(Call("project_tether", 1, (Tethered(places[::2], *[places] * 5), *[places] * 3)))
    assert encode(Call("volume_gradients", 1, (values,))) is None


def test_memory_is_given_back():
    """What kernels return within the call is freed there, and what a frame holds at its end."""
    resource = pytest.importorskip("resource")
    simulation, _ = scene(curtain(n=33))
    most = []
    gc.disable()
    try:
        for _ in range(150):
            simulation.step(DT, in_place=True)
            most.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    finally:
        gc.enable()
    # An array of 26 kB that is lost in each substep makes 30 MB of it.
    assert most[-1] - most[30] < 5e3
