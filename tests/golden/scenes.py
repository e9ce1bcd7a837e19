"""Golden scenes: small scenes in which every part of the engine occurs; `bits.json` has the bits that they had.

A change that is to change no result must leave them as they are; after one that is meant to change results,
`PYTHONPATH=tests python -m golden` writes them anew. Each scene is a generator that steps a simulation and yields it
after every frame.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from helpers.meshes import box, grid, icosphere, jittered_sheet, turned
from pbd_addon import (
    AirVelocity,
    Body,
    Collider,
    Creases,
    Material,
    Plane,
    Rail,
    Simulation,
    UnstableError,
    Wind,
)
from pbd_addon.air.field import Field
from pbd_addon.air.force_fields import FieldForces

DT = 1 / 24
FLOOR = (0.0, 0.0, 0.0)
UP = (0.0, 0.0, 1.0)
Run = Iterator[Simulation]
COTTON = Material.preset("Cotton")
RUBBER = dataclasses.replace(Material.preset("Rubber Sheet"), damping=1.0)
BALLOON = Material.preset("Party Balloon")


def by(*way: float) -> np.ndarray:
    """A displacement, (3,) [m]."""
    return np.array(way)


def cotton(**changes: object) -> Material:
    return dataclasses.replace(COTTON, **changes)


def sheet(cells: int = 8, size: float = 0.5, z: float = 0.0, material: Material = COTTON, **more: object) -> Body:
    """A square sheet of quads, hung by two corners unless `pins` say otherwise."""
    vertices, quads = grid(cells, cells, size, size)
    more = {"pins": (cells * (cells + 1), (cells + 1) ** 2 - 1)} | more
    return Body(vertices + by(0.0, 0.0, z), quads, material, **more)


def upright(columns: int, rows: int, width: float, height: float) -> tuple[np.ndarray, list[list[int]]]:
    vertices, quads = grid(columns, rows, width, height)
    return turned(vertices, np.pi / 2, 0), quads


def ball(subdivisions: int, radius: float, z: float, material: Material, **more: object) -> Body:
    vertices, triangles = icosphere(subdivisions, radius)
    return Body(vertices + by(0.0, 0.0, z), triangles, material, **more)


def split(vertices: np.ndarray, faces: object) -> tuple[np.ndarray, list[list[int]]]:
    """Each face with vertices of its own."""
    corners = np.array(faces)
    return vertices[corners.ravel()], np.arange(corners.size).reshape(corners.shape).tolist()


def stepped(simulation: Simulation, frames: int, before: Callable[[int], object] = lambda frame: None) -> Run:
    for frame in range(frames):
        before(frame)
        simulation.step(DT)
        yield simulation


def curtain(kernels: str) -> Run:
    """Springs, isometric bending, tethers, damping, drag; smooth frames of second order."""
    return stepped(Simulation([sheet()], kernels=kernels), 6)


def irregular(kernels: str) -> Run:
    """Levels, and chains that are not straight, once hung and once free."""
    vertices, triangles = jittered_sheet(9)
    hung = Body(vertices, triangles, COTTON, pins=(72, 80))
    free = Body(vertices + by(2.0, 0.0, 0.0), triangles, COTTON, angular_velocity=(0.0, 0.0, 3.0))
    return stepped(Simulation([hung, free], kernels=kernels, self_collision=False), 5)


def soft(kernels: str) -> Run:
    """Soft cloth: shear in chains, rounds of shear and stretch, tethers without effect."""
    return stepped(Simulation([sheet(size=1.0, material=cotton(stretch=50.0, shear=20.0))], kernels=kernels), 5)


def dihedral(kernels: str) -> Run:
    """Dihedral bending, creases, and internal damping of both kinds."""
    material = cotton(bend_model="DIHEDRAL", bend=1e-4, bend_damping=0.01, stretch_damping=0.005)
    edges = [[k, k + 1] for k in range(36, 44)]
    return stepped(
        Simulation([sheet(material=material, creases=Creases(edges, [0.5] * 8, [3.0] * 8))], kernels=kernels), 5
    )


def plate(kernels: str) -> Run:
    """A stiff sheet, whose bending is solved directly."""
    material = cotton(bend=0.01, stretch=20000.0, compression=20000.0, shear=7000.0)
    return stepped(Simulation([sheet(size=0.2, material=material, pins=range(9))], kernels=kernels), 5)


def pins(kernels: str) -> Run:
    """Firm, soft and moving pins, and pins that let go."""
    body = sheet(pins={72: 1.0, 73: 0.4, 80: 1.0, 4: 0.2})
    simulation = Simulation([body], kernels=kernels, self_collision=False)
    start = body.vertices[body.pin_ids]

    def move(frame: int) -> None:
        simulation.set_pin_targets(body, start + np.array([0.02 * frame, 0.0, 0.03 * frame]))
        if frame == 4:
            simulation.set_material(body, cotton(hold_pins=False))

    return stepped(simulation, 6, move)


def planes(kernels: str) -> Run:
    """A floor with friction and a wall that moves."""
    body = sheet(z=0.02, pins=(), velocity=(0.5, 0.0, -1.0), maps={"friction": np.linspace(0.0, 2.0, 81)})
    wall = Plane((0.4, 0.0, 0.0), (-1.0, 0.0, 0.0))
    simulation = Simulation([body], [Plane(FLOOR, UP), wall], kernels=kernels)
    return stepped(
        simulation, 6, lambda frame: simulation.move_plane(wall, (0.4 - 0.03 * frame, 0.0, 0.0), (-1.0, 0.0, 0.1))
    )


def collider(kernels: str) -> Run:
    """A ball that moves into a hung cloth, with friction and a map of collision."""
    vertices, triangles = icosphere(2, 0.12)
    obstacle = Collider(vertices + by(0.0, -0.1, -0.22), triangles, friction=0.6, static_friction=0.8)
    simulation = Simulation([sheet(9)], [obstacle], kernels=kernels)
    at = obstacle.vertices
    return stepped(
        simulation, 6, lambda frame: simulation.move_collider(obstacle, at + by(0.0, 0.02 * frame, 0.03 * frame))
    )


def folded(kernels: str) -> Run:
    """Self-contact: a sheet folded onto itself falls on a floor."""
    vertices, quads = grid(10, 10, 0.4, 0.4)
    bent = vertices.copy()
    over = vertices[:, 0] > 0.0
    bent[over, 0], bent[over, 2] = -vertices[over, 0], 0.03 + 0.0 * vertices[over, 0]
    body = Body(bent + by(0.0, 0.0, 0.02), quads, COTTON, rest_vertices=vertices)
    return stepped(Simulation([body], [Plane(FLOOR, UP)], kernels=kernels), 5)


def fast(kernels: str) -> Run:
    """The fast tier: vertices meet vertices; two bodies."""
    bodies = [sheet(6, 0.3, z, pins=()) for z in (0.0, 0.03)]
    return stepped(Simulation(bodies, [Plane((0.0, 0.0, -0.01), UP)], self_collision="FAST", kernels=kernels), 5)


def two_bodies(kernels: str) -> Run:
    """One cloth falls on another that hangs by four corners, and one layer starts within the other."""
    below = sheet(6, 0.3, pins=(0, 6, 42, 48))
    above = sheet(5, 0.2, 0.01, material=Material.preset("Silk"), pins=(), velocity=(0.0, 0.0, -1.0))
    return stepped(Simulation([below, above], kernels=kernels), 5)


def layers(kernels: str) -> Run:
    """Two cloths that start tangled are sorted before the first frame."""
    inner = sheet(6, 0.3, pins=(0, 6, 42, 48), layer=1)
    vertices, quads = grid(6, 6, 0.28, 0.28)
    tilted = turned(vertices, 0.05, 0) + by(0.003, 0.002, 0.0)
    outer = Body(tilted, quads, COTTON, layer=2)
    return stepped(Simulation([inner, outer], kernels=kernels), 3)


def volume(kernels: str) -> Run:
    """A balloon that holds a volume, dropped on a floor."""
    material = dataclasses.replace(BALLOON, pressure_mode="VOLUME", pressure=1.3)
    return stepped(Simulation([ball(2, 0.15, 0.16, material)], [Plane(FLOOR, UP)], kernels=kernels), 6)


def pressure(kernels: str) -> Run:
    """Overpressure with an uneven map, pinned, in wind, between a floor and a collider."""
    material = dataclasses.replace(BALLOON, pressure_mode="OVERPRESSURE", overpressure=300.0, air_normal=0.3)
    body = ball(1, 0.15, 0.3, material, pins=(0,), maps={"pressure": np.linspace(0.8, 1.2, 42)})
    lid = Collider(*grid(2, 2, 0.5, 0.5))
    simulation = Simulation([body], [lid], kernels=kernels, wind=Wind((3.0, 1.0, 0.0)))
    return stepped(simulation, 5)


def gas(kernels: str) -> Run:
    """Gas that is pumped in until it bursts, and one that leaks at a rate."""
    grows = dataclasses.replace(BALLOON, pressure_mode="GAS", overpressure=500.0, pump=2.0, burst_strain=0.008)
    leaks = dataclasses.replace(BALLOON, pressure_mode="GAS", overpressure=2000.0, pump=-1.0)
    bodies = [ball(1, 0.15, 0.3, grows), ball(1, 0.15, 0.9, leaks)]
    return stepped(Simulation(bodies, kernels=kernels), 8)


def helium(kernels: str) -> Run:
    """A gas that lifts, a string below it, and internal springs in a cushion."""
    vertices, triangles = icosphere(1, 0.15)
    string = np.array([[0.0, 0.0, -0.2 - 0.05 * k] for k in range(6)])
    lowest = int(vertices[:, 2].argmin())
    edges = [[lowest, 42]] + [[42 + k, 43 + k] for k in range(5)]
    light = dataclasses.replace(BALLOON, gas_density=0.17)
    body = Body(np.concatenate([vertices, string]), triangles, light, edges=edges, pins=(47,))
    return stepped(Simulation([body], kernels=kernels, wind=Wind((1.0, 0.0, 0.0))), 5)


def struts(kernels: str) -> Run:
    """Internal springs in a block that falls."""
    vertices, triangles = box((0.3, 0.2, 0.1), 3)
    material = cotton(internal_springs=True, pressure_mode="OFF", bend=1e-3)
    body = Body(
        vertices + by(0.0, 0.0, 0.1), triangles, material, maps={"internal": np.linspace(0.5, 1.5, len(vertices))}
    )
    return stepped(Simulation([body], [Plane(FLOOR, UP)], kernels=kernels), 5)


def wind(kernels: str) -> Run:
    """Gusts that change, shade, still air and drag; smooth frames with air."""
    body = sheet(material=cotton(air_normal=1.2, air_tangent=0.03, drag=0.5))
    simulation = Simulation([body], kernels=kernels, self_collision=False)
    simulation.set_shade(body, np.linspace(0.2, 1.0, len(body.mesh.triangles)))
    return stepped(simulation, 6, lambda frame: simulation.set_wind(Wind((1.0 + 0.4 * frame, 0.5, 0.0), 0.4)))


def forces(kernels: str) -> Run:
    """Force functions, moving air and a field."""
    body = sheet(material=cotton(air_normal=1.0, air_tangent=0.02))
    field = Field("VORTEX", (0.1, 0.0, -0.2), UP, strength=2.0, power=1.0)
    acting = (
        lambda x, v, t: np.column_stack([0.5 * np.sin(3.0 * x[:, 1] + t), 0.0 * t - 0.1 * v[:, 1], 0.0 * x[:, 2]]),
        AirVelocity(lambda x, v, t: np.column_stack([x[:, 1] + 2.0, -x[:, 0], 0.0 * x[:, 2]])),
        FieldForces([field], [field], [1.0], DT),
    )
    return stepped(Simulation([body], kernels=kernels, forces=acting, self_collision=False), 5)


def grabs(kernels: str) -> Run:
    """Grabbed, moved and let go."""
    body = sheet()
    simulation = Simulation([body], kernels=kernels)
    held = simulation.grab(body, [4, 5], [1.0, 0.5])

    def move(frame: int) -> None:
        held.move((0.0, 0.03 * frame, 0.02 * frame))
        if frame == 4:
            held.release()

    return stepped(simulation, 6, move)


def slides(kernels: str) -> Run:
    """Sliding pins, firm and soft, on a rail that moves."""
    rail = Rail(np.linspace([-0.3, 0.25, 0.0], [0.3, 0.25, 0.0], 5), edges=[[k, k + 1] for k in range(4)])
    body = sheet(pins=(), rail=rail, slides={72: 1.0, 76: 0.5, 80: 1.0})
    simulation = Simulation([body], kernels=kernels, wind=Wind((2.0, 0.0, 0.0)))
    return stepped(simulation, 6, lambda frame: simulation.move_rail(body, rail.vertices + by(0.0, 0.0, 0.01 * frame)))


def seams(kernels: str) -> Run:
    """Two panels that are sewn, welded, bent across the seam, and come apart again."""
    flat, quads = grid(5, 5, 0.2, 0.2)
    sheets = [np.column_stack([flat[:, 0], np.full(36, y), flat[:, 1]]) for y in (-0.03, 0.03)]
    numbers = np.arange(36).reshape(6, 6)
    ends = np.concatenate([numbers[:, 0], numbers[:, -1]])
    faces = np.concatenate([quads, np.array(quads)[:, ::-1] + 36]).tolist()
    material = cotton(sewing=True, closing_time=0.15, seam_bend=0.5, seam_angle=0.6)
    body = Body(np.concatenate(sheets), faces, material, edges=np.column_stack([ends, ends + 36]), pins=(0,))
    simulation = Simulation([body], kernels=kernels)

    def change(frame: int) -> None:
        if frame == 8:
            simulation.set_material(body, dataclasses.replace(material, sewing=False))

    return stepped(simulation, 10, change)


def tearing(kernels: str) -> Run:
    """A strip that is pulled apart tears, in mid-frame too, while folds of it yield."""
    vertices, quads = upright(5, 6, 0.2, 0.24)
    parts, faces = split(vertices, quads)
    ends = np.flatnonzero(np.abs(parts[:, 2]) > 0.119)
    body = Body(parts, faces, cotton(tear_strength=150.0, bend_yield=20.0), pins=ends)
    simulation = Simulation([body], kernels=kernels)
    start = body.vertices[body.pin_ids]
    way = np.where(start[:, 2] > 0.0, 1.0, 0.0)[:, None] * [0.1, 0.0, 1.0]
    return stepped(simulation, 6, lambda frame: simulation.set_pin_targets(body, start + 0.006 * (frame + 1) * way))


def torn_balloon(kernels: str) -> Run:
    """A balloon that is torn open loses its gas."""
    vertices, triangles = icosphere(1, 0.15)
    parts, faces = split(vertices, triangles[:26])
    whole = np.concatenate([parts, vertices])
    faces = faces + (triangles[26:] + len(parts)).tolist()
    strength = np.where(whole[:, 2] > 0.1, 0.1, 5.0)
    material = dataclasses.replace(BALLOON, pressure_mode="GAS", overpressure=2500.0, tear_strength=8.0)
    body = Body(whole + by(0.0, 0.0, 0.3), faces, material, maps={"tear": strength})
    return stepped(Simulation([body], kernels=kernels), 5)


def plasticity(kernels: str) -> Run:
    """Foil that is bent and stretched beyond its yield points on a collider."""
    vertices, triangles = icosphere(1, 0.08)
    material = cotton(bend=1e-3, bend_yield=5.0, stretch_yield=0.002, stretch=2000.0)
    below = Collider(vertices + by(0.0, 0.0, -0.1), triangles)
    body = sheet(9, 0.3, material=material, pins=(), velocity=(0.0, 0.0, -2.0))
    return stepped(Simulation([body], [below], kernels=kernels), 6)


def rest_shapes(kernels: str) -> Run:
    """A rest shape that grows and bends, with a closed body whose volume follows."""
    body = sheet(7, 0.3, dynamic_mesh=True, material=cotton(bend_yield=20.0))
    growing = ball(1, 0.1, 1.0, dataclasses.replace(BALLOON, pressure_mode="VOLUME"), dynamic_mesh=True)
    rope = Body([[2.0 + 0.05 * k, 0.0, 0.0] for k in range(8)], [], COTTON, pins=(0,),
                edges=[[k, k + 1] for k in range(7)], dynamic_mesh=True)  # fmt: skip
    simulation = Simulation([body, growing, rope], kernels=kernels)

    def change(frame: int) -> None:
        x = body.rest_vertices * (1.0 + 0.03 * frame)
        simulation.set_rest_shape(body, x + np.array([0.0, 0.0, 0.3 * frame]) * x[:, :1] ** 2)
        simulation.set_rest_shape(
            growing, by(0.0, 0.0, 1.0) + (growing.rest_vertices - by(0.0, 0.0, 1.0)) * (1.0 + 0.02 * frame)
        )
        bent = rope.rest_vertices.copy()
        bent[:, 2] += 0.5 * frame * (bent[:, 0] - 2.0) ** 2
        simulation.set_rest_shape(rope, bent)

    return stepped(simulation, 5, change)


def rigid(kernels: str) -> Run:
    """Rigid bodies that spin, fall on a floor and on cloth."""
    vertices, triangles = box((0.1, 0.08, 0.06), 1)
    solid = Material(rigid=True, mass=0.3)
    one = Body(vertices + by(0.0, 0.0, 0.08), triangles, solid, angular_velocity=(3.0, 1.0, 2.0))
    other = Body(vertices + by(0.5, 0.0, 0.05), triangles, solid, velocity=(0.0, 0.0, -1.0))
    cloth = sheet(6, 0.3, pins=(0, 6, 42, 48))
    return stepped(Simulation([cloth, one, other], [Plane((0.0, 0.0, -0.01), UP)], kernels=kernels), 5)


def ropes(kernels: str) -> Run:
    """A stiff rope that curls, its bending solved directly, and a thread across a collider."""
    points = np.array([[0.04 * k, 0.02 * np.sin(k), 0.0] for k in range(14)])
    edges = [[k, k + 1] for k in range(13)]
    stiff = Body(points, [], cotton(bend=0.01), pins=(0, 1), edges=edges)
    thread = Body(points + by(0.0, 0.3, 0.02), [], COTTON, edges=edges)
    vertices, triangles = icosphere(1, 0.1)
    return stepped(
        Simulation([stiff, thread], [Collider(vertices + by(0.2, 0.3, -0.12), triangles)], kernels=kernels), 5
    )


def jerked(kernels: str) -> Run:
    """Pulled so fast that frames of second order are begun anew and substeps are cut in halves."""
    body = sheet()
    simulation = Simulation([body], kernels=kernels, self_collision=False)
    start = body.vertices[body.pin_ids]
    return stepped(
        simulation, 5, lambda frame: simulation.set_pin_targets(body, start + by(0.0, 0.0, 0.7 * (frame // 3)))
    )


def struck(kernels: str) -> Run:
    """A frame of second order meets a ball, is begun anew in first order, and is overrun."""
    vertices, triangles = icosphere(1, 0.08)
    obstacle = Collider(vertices + by(0.0, 1.5, -0.02), triangles)
    body = Body(*upright(8, 8, 0.4, 0.4), COTTON, pins=range(72, 81))
    simulation = Simulation([body], [obstacle], kernels=kernels)
    places = (0.0, 0.0, 1.1, 1.9, 2.5)
    return stepped(
        simulation, 5, lambda frame: simulation.move_collider(obstacle, obstacle.vertices - [0.0, places[frame], 0.0])
    )


def pinched(kernels: str) -> Run:
    """Balls that overlap pinch a hung cloth, and let it go again."""
    body = Body(*upright(9, 9, 0.3, 0.3), Material(), pins=range(90, 100))
    vertices, triangles = icosphere(1, 0.06)

    def there(place: float) -> list[np.ndarray]:
        off = 0.05 + place * 0.05
        return [vertices + np.array([0.13, side * off, -0.03]) for side in (-1.0, 1.0)]

    balls = [Collider(each, triangles) for each in there(1.0)]
    simulation = Simulation([body], balls, kernels=kernels)
    places = (0.5, 0.0, 0.0, 0.4, 1.0, 1.0)

    def move(frame: int) -> None:
        for one, at in zip(balls, there(places[frame])):
            simulation.move_collider(one, at)

    return stepped(simulation, 6, move)


def classic(kernels: str) -> Run:
    """PBD of 2007 with several iterations, a volume and soft pins."""
    hung = sheet(6, pins={42: 1.0, 48: 0.5})
    bag = ball(1, 0.1, 0.5, dataclasses.replace(BALLOON, pressure_mode="VOLUME", pressure=1.1))
    return stepped(
        Simulation([hung, bag], [Plane((0.0, 0.0, -0.4), UP)], method="PBD", iterations=3, kernels=kernels), 5
    )


def iterated(kernels: str) -> Run:
    """XPBD with several iterations and few substeps, under pressure and in contact."""
    bag = ball(1, 0.1, 0.11, dataclasses.replace(BALLOON, pressure_mode="GAS"))
    bodies = [sheet(6, z=0.3), bag]
    return stepped(Simulation(bodies, [Plane(FLOOR, UP)], substeps=8, iterations=3, kernels=kernels), 5)


def automatic(kernels: str) -> Run:
    """Substeps that are chosen for each frame."""
    simulation = Simulation([sheet(material=cotton(bend=1e-4))], automatic=True, kernels=kernels)
    return stepped(simulation, 6)


def constrained(kernels: str) -> Run:
    """Constraints of a script, and pairs that are kept apart."""
    body = sheet()
    simulation = Simulation([body], kernels=kernels)

    def along(p: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        d = p[:, 0] - p[:, 1]
        return 0.5 * (d**2).sum(axis=1) - 0.02, np.stack([d, -d], axis=1)

    simulation.add_constraints(body, [[0, 40], [8, 40]], along, compliance=1e-3)
    simulation.keep_apart(body, [10], body, [12], 0.14)
    return stepped(simulation, 5)


def resumed(kernels: str) -> Run:
    """Gone on from a cached frame, after another past: balloon, wind, seams and yield have a memory."""
    bag = ball(1, 0.12, 0.13, dataclasses.replace(BALLOON, pressure_mode="GAS", pump=0.5))
    cloth = sheet(5, z=0.4, material=cotton(bend_yield=5.0, air_normal=1.0))
    simulation = Simulation([bag, cloth], [Plane(FLOOR, UP)], kernels=kernels, wind=Wind((2.0, 0.0, 0.0)))
    simulation.frames.keeps_all = True
    yield from stepped(simulation, 4)
    simulation.set_wind(Wind((-4.0, 0.0, 0.0)))
    yield from stepped(simulation, 2)
    simulation.truncate(2)
    simulation.set_wind(Wind((2.0, 0.0, 0.0)))
    yield from stepped(simulation, 3)
    simulation.reset()
    yield from stepped(simulation, 1)


def recolored(kernels: str) -> Run:
    """Materials, maps, settings and colliders change between frames, and a frame is replaced in place."""
    body, bag = sheet(6, z=0.2), ball(1, 0.08, -0.1, BALLOON)
    vertices, triangles = icosphere(1, 0.08)
    obstacle = Collider(vertices + by(0.1, 0.0, -0.1), triangles)
    simulation = Simulation([body, bag], kernels=kernels)

    def change(frame: int) -> None:
        if frame == 1:
            simulation.set_material(body, cotton(stretch=800.0, bend_model="DIHEDRAL"))
        elif frame == 2:
            simulation.set_maps(body, {"stretch": np.linspace(0.5, 2.0, 49), "shrink": np.linspace(0.9, 1.0, 49)})
        elif frame == 3:
            simulation.set_colliders([obstacle])
        elif frame == 4:
            simulation.set_settings(dataclasses.replace(simulation.settings, substeps=12, gravity=(0.0, 1.0, -5.0)))
        elif frame == 5:
            simulation.set_material(bag, dataclasses.replace(BALLOON, internal_springs=True, rigid=False))

    yield from stepped(simulation, 7, change)
    simulation.step(DT, in_place=True)
    simulation.add_initial_velocities(0.5)
    yield simulation


def broken(kernels: str) -> Run:
    """A frame that fails leaves the last one, from which another goes on."""
    body = sheet(5)
    simulation = Simulation([body], kernels=kernels, self_collision=False)
    yield from stepped(simulation, 2)
    simulation.set_forces([lambda x, v, t: np.full(x.shape, 1e9)])
    try:
        simulation.step(DT)
    except UnstableError:
        simulation.set_forces([])
    yield from stepped(simulation, 2)


SCENES: dict[str, Callable[[str], Run]] = {
    scene.__name__: scene
    for scene in (
        curtain, irregular, soft, dihedral, plate, pins, planes, collider, folded, fast, two_bodies, layers, volume,
        pressure, gas, helium, struts, wind, forces, grabs, slides, seams, tearing, torn_balloon, plasticity,
        rest_shapes, rigid, ropes, jerked, struck, pinched, classic, iterated, automatic, constrained, resumed,
        recolored, broken,
    )
}  # fmt: skip

SMOOTH = ("curtain", "dihedral", "plate", "pins", "wind", "forces", "grabs", "slides", "automatic", "constrained")
"""Scenes in which nothing meets, tears or is retried: a last digit that differs grows by little in so few frames."""
