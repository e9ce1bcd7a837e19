"""Colliders: what they may be made of, what is refused, and how they are exchanged while a simulation runs."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.batches import find
from helpers.crossings import count_between, is_inside
from helpers.inside import state_of
from helpers.meshes import box, grid, icosphere
from pbd_addon import Body, Collider, FrameInputs, Material, Plane, Polygons, Simulation

DT = 1 / 24


def sheet(height: float = 0.02, cuts: int = 8, width: float = 0.2, **more) -> Body:
    vertices, quads = grid(cuts, cuts, width, width)
    return Body(vertices + np.array([0.003, 0.002, height]), quads, Material(bend=1e-5), name="Flag", **more)


def table(place=(0.0, 0.0, 0.0), size: float = 1.0, **more) -> Collider:
    """A square of two triangles."""
    vertices, quads = grid(1, 1, size, size)
    return Collider(vertices + np.array(place), quads, **more)


def run(simulation: Simulation, frames: int) -> Simulation:
    for _ in range(frames):
        simulation.step(DT)
    return simulation


# What a collider is made of


@pytest.mark.newest
def test_polygons_are_cut_into_triangles():
    """Quads, n-gons, lists of polygons and `Polygons` are the same surface as the triangles it consists of."""
    vertices, triangles = box((0.3, 0.3, 0.2), 1)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    corners = np.array([[x, y, z] for x in (-0.15, 0.15) for y in (-0.15, 0.15) for z in (-0.1, 0.1)])
    kinds = {
        "triangles": Collider(vertices, triangles),
        "quads": Collider(corners, np.array(quads)),
        "lists": Collider(corners.tolist(), quads),
        "polygons": Collider(corners, Polygons(np.array(quads).ravel(), np.arange(0, 25, 4))),
    }
    heights = {}
    for name, collider in kinds.items():
        assert collider.closed
        assert len(collider.mesh.triangles) == 12
        body = sheet(0.12)
        simulation = run(Simulation([body], [collider]), 8)
        x = simulation.positions(body)
        assert not is_inside(x, vertices, triangles).any()
        heights[name] = x[:, 2]
        assert x[:, 2].min() > 0.1
        assert x[:, 2].max() < 0.11
    for height in heights.values():
        np.testing.assert_allclose(height, heights["triangles"], atol=1e-4)


def prism(outline: np.ndarray, height: float) -> tuple[np.ndarray, list[list[int]]]:
    """A solid between z = -height and 0 over an outline (k, 2) that goes round to the left; its caps are n-gons."""
    k = len(outline)
    vertices = np.concatenate([np.column_stack([outline, np.full(k, z)]) for z in (-height, 0.0)])
    walls = [[i, (i + 1) % k, k + (i + 1) % k, k + i] for i in range(k)]
    return vertices, [list(range(k))[::-1], list(range(k, 2 * k)), *walls]


@pytest.mark.newest
def test_an_n_gon_with_a_notch_is_no_more_than_its_inside():
    """On a U whose top is one polygon of eight corners, a patch lies; over the notch, another falls."""
    outline = 0.1 * np.array([[0, 0], [9, 0], [9, 6], [6, 6], [6, 2], [3, 2], [3, 6], [0, 6]], float)
    vertices, faces = prism(outline, 0.3)
    collider = Collider(vertices, faces)
    assert collider.closed
    patch, quads = grid(4, 4, 0.15, 0.15)
    lying = Body(patch + np.array([0.15, 0.45, 0.02]), quads)
    falling = Body(patch + np.array([0.45, 0.45, 0.02]), quads)
    simulation = run(Simulation([lying, falling], [collider]), 10)
    np.testing.assert_allclose(simulation.positions(lying)[:, 2], 0.004, atol=1e-3)
    assert simulation.positions(falling)[:, 2].max() < -0.3


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.newest
def test_inverted_faces_make_no_difference(inside):
    """Which way the faces of a closed surface look does not matter: inside is where the volume is."""
    places = []
    for turn in (1, -1):
        if inside:
            vertices, triangles = icosphere(2, 0.2)
            body = sheet(0.0)
        else:
            vertices, triangles = box((0.15, 0.15, 0.2), 2)
            vertices, body = vertices - [0.0, 0.0, 0.1], sheet(0.02)
        collider = Collider(vertices, triangles[:, ::turn], inside=inside)
        assert collider.closed
        simulation = run(Simulation([body], [collider]), 10)
        x = simulation.positions(body)
        assert is_inside(x, vertices, triangles).all() if inside else not is_inside(x, vertices, triangles).any()
        assert simulation.reports[10].contacts > 0
        places.append(x.copy())
    np.testing.assert_allclose(*places, rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("depth", [0.01, 0.05])
@pytest.mark.newest
def test_an_inverted_box_pushes_out_too(depth):
    """What starts inside of a box whose faces look inwards is pushed out of it, not kept in."""
    vertices, triangles = box((0.6, 0.6, 0.4), 3)
    vertices = vertices - [0.0, 0.0, 0.2]
    body = sheet(-depth)
    run(simulation := Simulation([body], [Collider(vertices, triangles[:, ::-1])], gravity=(0.0, 0.0, 0.0)), 24)
    assert is_inside(body.vertices, vertices, triangles).all()
    assert not is_inside(simulation.positions(body), vertices, triangles).any()


def knife(strip: float) -> tuple[np.ndarray, np.ndarray]:
    """A closed wedge of 20 degrees whose blade is at the top, along y; on one side, a strip of small faces, `strip` [m]
    wide, lies along the blade, on the other side the faces are large. Vertices (20, 3) and triangles."""
    y = np.linspace(-0.2, 0.2, 5)
    slope = np.tan(np.radians(20.0))
    lines = [(0.0, 0.0), (strip * slope, -strip), (0.4 * slope, -0.4), (0.0, -0.4)]
    vertices = np.concatenate([np.column_stack([np.full(5, x), y, np.full(5, z)]) for x, z in lines])
    faces = [[5 * i + k, 5 * j + k, 5 * j + k + 1, 5 * i + k + 1] for i, j in ((0, 1), (1, 2), (2, 3), (3, 0))
             for k in range(4)]  # fmt: skip
    return vertices, Body(vertices, [*faces, [15, 10, 5, 0], [4, 9, 14, 19]]).mesh.triangles


@pytest.mark.parametrize("strip", [0.002, 0.01, 0.1])
def test_what_is_beside_a_blade_is_not_taken_for_inside(strip):
    """A patch that stands free, nearer to small faces of a sharp solid than is allowed, is pushed away from them,
    whatever large faces meet them at the blade."""
    vertices, triangles = knife(strip)
    outward = np.array([np.cos(np.radians(20.0)), 0.0, np.sin(np.radians(20.0))])
    flat, quads = grid(1, 1, 0.002, 0.002)
    across = np.array([-outward[2], 0.0, outward[0]])
    for down in (0.2, 0.5, 0.8):
        place = strip * down * np.array([np.tan(np.radians(20.0)), 0.0, -1.0]) + 0.0035 * outward
        body = Body(np.outer(flat[:, 0], across) + np.outer(flat[:, 1], [0.0, 1.0, 0.0]) + place + [0.0, 0.033, 0.0],
                    quads)  # fmt: skip
        assert not is_inside(body.vertices, vertices, triangles).any()
        simulation = Simulation([body], [Collider(vertices, triangles)], gravity=(0.0, 0.0, 0.0))
        run(simulation, 2)
        ways = (simulation.positions(body) - body.vertices) @ outward
        assert ways.min() > -1e-4, f"{down:g} down the strip: {1e3 * ways.min():.1f} mm"


@pytest.mark.parametrize("strip", [0.01, 0.1])
@pytest.mark.newest
def test_a_sheet_that_falls_on_a_blade_hangs_over_it(strip):
    """It goes neither through the edge nor through a side, whatever the sizes of the faces."""
    vertices, triangles = knife(strip)
    body = sheet(0.02, cuts=10, width=0.2)
    simulation = Simulation([body], [Collider(vertices, triangles)])
    for frame in range(1, 11):
        simulation.step(DT)
        crossed = count_between(simulation.positions(body), body.mesh.triangles, vertices, triangles)
        assert crossed == 0, f"{crossed} crossings in frame {frame}"
    assert simulation.positions(body)[:, 2].max() > -0.01
    assert simulation.positions(body)[:, 2].min() < -0.02


def test_open_and_closed_are_told_apart():
    """A surface is closed if it has no border; an open one has no inside and no outside."""
    vertices, triangles = box((1.0, 1.0, 1.0), 2)
    assert Collider(vertices, triangles).closed
    assert Collider(vertices, triangles).closed
    lid_off = Collider(vertices, triangles[:-1])
    assert not lid_off.closed


@pytest.mark.newest
def test_both_sides_of_an_open_surface_hold():
    """A sheet above stays above, a sheet below that flies up stays below."""
    above, below = sheet(0.02), sheet(-0.02)
    wall = table()
    simulation = Simulation([above, below], [wall], gravity=(0.0, 0.0, 0.0))
    simulation.velocities(above)[:, 2] = -2.0
    simulation.velocities(below)[:, 2] = 2.0
    for _ in range(8):
        simulation.step(DT)
        assert simulation.positions(above)[:, 2].min() > 0.0
        assert simulation.positions(below)[:, 2].max() < 0.0
    for body in (above, below):  # the wall has taken the speed that they came with
        assert np.abs(simulation.velocities(body)[:, 2]).max() < 0.5


def test_loose_vertices_of_a_collider_are_not_met():
    """Vertices without a face are carried along but no obstacle."""
    vertices, quads = grid(1, 1, 1.0, 1.0)
    vertices = np.concatenate([vertices - [0.0, 0.0, 0.5], [[0.0, 0.0, 0.01], [0.01, 0.03, 0.0]]])
    body = sheet(0.02)
    simulation = Simulation([body], [Collider(vertices, quads)], self_collision=False)
    expected = Simulation([other := sheet(0.02)], [Collider(vertices[:4], quads)], self_collision=False)
    np.testing.assert_array_equal(run(simulation, 4).positions(body), run(expected, 4).positions(other))


VERTICES, QUADS = grid(1, 1, 1.0, 1.0)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: Collider(np.zeros((4, 2)), QUADS),
            r"Wall: vertices must have shape \(n, 3\) with n > 0, not \(4, 2\)",
        ),
        (lambda: Collider(np.zeros((0, 3)), []), r"Wall: vertices must have shape \(n, 3\) with n > 0, not \(0, 3\)"),
        (lambda: Collider(np.zeros(3), QUADS), r"Wall: vertices must have shape"),
        (lambda: Collider(VERTICES * np.nan, QUADS), "Wall: vertices must be finite numbers"),
        (lambda: Collider(VERTICES + np.inf, QUADS), "Wall: vertices must be finite numbers"),
        (lambda: Collider(VERTICES, []), "Wall: there is no face to collide with"),
        (lambda: Collider(VERTICES, [[0, 1, 4]]), "Wall: faces names vertex 4, but there are 4 vertices"),
        (lambda: Collider(VERTICES, [[0, 1, -2]]), "Wall: faces names vertex -2, but there are 4 vertices"),
        (
            lambda: Collider(VERTICES, QUADS, inside=True),
            "Wall: inside needs a closed surface, this one has 1 openings",
        ),
        (lambda: Collider(VERTICES, QUADS, thickness=-0.1), "Wall: thickness must be at least 0 m, not -0.1"),
        (lambda: Collider(VERTICES, QUADS, thickness=np.nan), "Wall: thickness must be a finite number, not nan"),
        (lambda: Collider(VERTICES, QUADS, friction=-1.0), "Wall: friction must be at least 0, not -1"),
        (lambda: Collider(VERTICES, QUADS, static_friction=-1.0), "Wall: static_friction must be at least 0, not -1"),
        (lambda: Collider(VERTICES, QUADS, restitution=1.5), "Wall: restitution must be at most 1, not 1.5"),
        (lambda: Collider(VERTICES, QUADS, restitution=-0.5), "Wall: restitution must be at least 0, not -0.5"),
        (lambda: Collider(VERTICES, QUADS, thickness=np.inf), "Wall: thickness must be .*not inf"),
    ],
)
def test_wrong_colliders_are_refused(make, sentence, monkeypatch):
    """One sentence names the collider, the argument and what it got."""
    defaults = list(Collider.__init__.__defaults__)
    monkeypatch.setattr(Collider.__init__, "__defaults__", (*defaults[:-1], "Wall"))
    with pytest.raises(ValueError, match=sentence) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_an_opening_in_a_container_is_refused():
    """`inside` of a box without one of its triangles has no meaning."""
    vertices, triangles = box((1.0, 1.0, 1.0), 2)
    Collider(vertices, triangles, inside=True)
    with pytest.raises(ValueError, match="inside needs a closed surface"):
        Collider(vertices, triangles[1:], inside=True)


def test_a_collider_keeps_its_own_vertices():
    """Changing the array that it was made of does not move it."""
    given = VERTICES.copy()
    collider = Collider(given, QUADS)
    given += 1.0
    np.testing.assert_array_equal(collider.vertices, VERTICES)


# How colliders are exchanged


def test_new_colliders_keep_state_and_cache():
    """Positions, velocities, cached frames and reports stay; the next step meets the new obstacle."""
    body = sheet(0.05)
    simulation = run(Simulation([body]), 2)
    x, v = simulation.positions(body).copy(), simulation.velocities(body).copy()
    frames = [simulation.cached_positions(body, frame) for frame in range(3)]
    reports = dict(simulation.reports)
    wall = table()
    simulation.set_colliders([wall])
    np.testing.assert_array_equal(simulation.positions(body), x)
    np.testing.assert_array_equal(simulation.velocities(body), v)
    for frame, positions in enumerate(frames):
        np.testing.assert_array_equal(simulation.cached_positions(body, frame), positions)
    assert simulation.reports == reports
    assert (simulation.frames.first, simulation.frames.last) == (0, 2)
    assert run(simulation, 8).reports[10].contacts > 0
    assert simulation.positions(body)[:, 2].min() > 0.0


@pytest.mark.newest
def test_set_colliders_equals_a_simulation_made_with_them():
    """Given before the first step, they act as those given first, to the bit."""
    bodies, walls = [sheet(), sheet()], [table(friction=0.7), table(friction=0.7)]
    later = Simulation([bodies[0]], [table([0.0, 0.0, -0.3])])
    later.set_colliders([walls[0]])
    first = Simulation([bodies[1]], [walls[1]])
    np.testing.assert_array_equal(run(later, 6).positions(bodies[0]), run(first, 6).positions(bodies[1]))


@pytest.mark.newest
def test_a_removed_collider_lets_fall():
    """What lay on it falls on; what is left of the others still holds."""
    body, other = sheet(), Body(*grid(4, 4, 0.2, 0.2))
    walls = [table(size=0.4), table([1.0, 0.0, 0.0], size=0.4)]
    simulation = Simulation([body, other], walls)
    simulation.positions(other)[:] += [1.0, 0.0, 0.02]
    run(simulation, 6)
    assert simulation.positions(body)[:, 2].min() > 0.0
    simulation.set_colliders(walls[1:])
    run(simulation, 6)
    assert simulation.positions(body)[:, 2].max() < -0.1
    assert simulation.positions(other)[:, 2].min() > 0.0
    simulation.set_colliders([])
    run(simulation, 4)
    assert simulation.positions(other)[:, 2].max() < -0.05


def test_a_collider_that_stays_goes_on_from_where_it_stood():
    """A wall that was moved does not jump back to where it was made when another is added or put before it."""
    body = sheet(0.52)
    lift = table()
    simulation = Simulation([body], [lift], gravity=(0.0, 0.0, 0.0))
    for frame in range(1, 6):
        simulation.move_collider(lift, lift.vertices + np.array([0.0, 0.0, 0.1 * frame]))
        simulation.step(DT)
    far = table([9.0, 0.0, 0.0])
    simulation.set_colliders([far, lift])
    simulation.step(DT)
    before = simulation.positions(body)[:, 2].copy()
    assert before.min() > 0.5
    simulation.move_collider(lift, lift.vertices + np.array([0.0, 0.0, 0.6]))
    simulation.step(DT)
    assert simulation.positions(body)[:, 2].min() > 0.6
    np.testing.assert_array_equal(state_of(simulation).memory["obstacles"]["colliders"][0], far.vertices.T)


@pytest.mark.newest
def test_cached_frames_know_the_new_colliders():
    """Going back to a frame from before the exchange, and on from there, meets what is there now."""
    body = sheet(0.05)
    simulation = run(Simulation([body]), 4)
    wall = table([0.0, 0.0, -0.02])
    simulation.set_colliders([wall])
    run(simulation, 4)
    first = simulation.positions(body).copy()
    simulation.truncate(4)
    run(simulation, 4)
    np.testing.assert_allclose(simulation.positions(body), first, rtol=0.0, atol=1e-4)
    simulation.truncate(1)
    run(simulation, 8)
    assert simulation.positions(body)[:, 2].min() > -0.02
    simulation.reset()
    run(simulation, 8)
    assert simulation.positions(body)[:, 2].min() > -0.02


def test_planes_stay_where_they_are():
    """Floors are those of the beginning, and where they were moved to."""
    body, floor = sheet(0.05), Plane((0.0, 0.0, -0.1))
    simulation = Simulation([body], [floor])
    simulation.move_plane(floor, (0.0, 0.0, -0.05), (0.0, 0.0, 1.0))
    simulation.step(DT)
    simulation.set_colliders([table([9.0, 0.0, 0.0]), floor])
    run(simulation, 10)
    np.testing.assert_allclose(simulation.positions(body)[:, 2], -0.05 + 0.002, atol=1e-3)


def test_what_was_asked_for_is_not_forgotten():
    """Pins, planes and colliders that were told where to be at the end of the next frame get there, also where the
    colliders are exchanged in between."""
    body, floor = sheet(0.3, pins=[0, 8]), Plane((0.0, 0.0, -1.0))
    lift = table([0.0, 0.0, -0.5])
    simulation = Simulation([body], [floor, lift])
    pins = body.vertices[body.pin_ids] + [0.0, 0.0, 0.02]
    simulation.set_pin_targets(body, pins)
    simulation.move_plane(floor, (0.0, 0.0, -0.9), (0.0, 0.0, 1.0))
    simulation.move_collider(lift, lift.vertices + np.array([0.0, 0.0, 0.1]))
    simulation.set_colliders([floor, lift, table([9.0, 0.0, 0.0])])
    simulation.step(DT)
    np.testing.assert_allclose(
        state_of(simulation).memory["obstacles"]["colliders"][0], (lift.vertices + np.array([0.0, 0.0, 0.1])).T
    )
    np.testing.assert_allclose(find(simulation, "plane").point, [0.0, 0.0, -0.9])
    np.testing.assert_allclose(simulation.positions(body)[body.pin_ids], pins)


@pytest.mark.newest
def test_a_collider_that_appears_around_cloth_pushes_it_out_gently():
    """A solid that is added where cloth hangs does not blow it up."""
    body = sheet(0.0)
    simulation = run(Simulation([body], gravity=(0.0, 0.0, 0.0)), 2)
    vertices, triangles = box((0.6, 0.6, 0.1), 3)
    vertices = vertices - [0.0, 0.0, 0.04]
    simulation.set_colliders([Collider(vertices, triangles)])
    for _ in range(12):
        simulation.step(DT)
        assert np.linalg.norm(simulation.velocities(body), axis=1).max() < 2.0
    assert not is_inside(simulation.positions(body), vertices, triangles).any()
    assert count_between(simulation.positions(body), body.mesh.triangles, vertices, triangles) == 0


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda s, c: s.move_collider(c, np.zeros((3, 3))), r"vertices of Wall must have shape \(4, 3\), not \(3, 3\)"),
        (lambda s, c: s.move_collider(c, np.full((4, 3), np.nan)), "vertices of Wall must be finite numbers"),
        (lambda s, c: s.move_collider(table(name="Other"), VERTICES), "Other"),
        (lambda s, c: s.set_colliders([sheet()]), "colliders"),
        (lambda s, c: s.set_colliders([c, c]), "colliders"),
        (lambda s, c: s.set_colliders([c, Plane()]), "colliders"),
    ],
)
def test_wrong_exchanges_are_refused(act, sentence):
    """One sentence names what is wrong, and the simulation goes on unharmed."""
    body, wall = sheet(), table(name="Wall")
    simulation = run(Simulation([body], [wall]), 1)
    with pytest.raises(ValueError, match=sentence) as refusal:
        act(simulation, wall)
    assert "\n" not in str(refusal.value)
    run(simulation, 6)
    assert simulation.positions(body)[:, 2].min() > 0.0


def test_a_moved_collider_is_read_when_it_is_told():
    """Changing the array of targets afterwards does not move the collider."""
    body, wall = sheet(0.05), table()
    simulation = Simulation([body], [wall])
    wanted = wall.vertices + np.array([0.0, 0.0, 0.01])
    simulation.advance_to(1, lambda _: FrameInputs(colliders={wall: wanted}), DT)
    wanted += 1.0
    simulation.step(DT)
    np.testing.assert_allclose(state_of(simulation).memory["obstacles"]["colliders"][0][2], 0.01)


def test_the_cache_counts_the_places_of_colliders():
    """`cache_bytes` is what all frames hold: a collider that moves is kept in each, one that stands only once."""
    vertices, quads = grid(40, 40, 1.0, 1.0)
    body, mover = sheet(0.5, cuts=2), Collider(vertices, quads)
    simulation = Simulation([body], [mover])
    before = simulation.frames.nbytes
    run(simulation, 5)
    still = simulation.frames.nbytes - before
    for frame in range(1, 6):
        simulation.move_collider(mover, vertices - [0.0, 0.0, 0.1 * frame])
        simulation.step(DT)
    assert simulation.frames.nbytes - before - still >= still + 5 * len(vertices) * 3 * 4
    assert still < 5 * len(vertices) * 3 * 4
