"""Samples of balloons: the monkey, a cushion, and cushions that are thrown."""

from __future__ import annotations

import math

import bmesh
import bpy
import kit
import numpy as np
import stage
from mathutils import Vector


def balloon() -> None:
    """Blender's monkey as a toy balloon on a stick: helium blows it up from 7.5 to 12 liters and lifts it off.

    Much more would make it a ball, with ears and a muzzle that are knobs.
    """
    scene = kit.begin(frames=96)
    scale = 0.518  # of a head that holds 54 liters, so that it holds 7.5
    stage.build((0.03, 0.26, 0.28))
    kit.set_pbd(scene, wind_speed=0.6, wind_eddy=0.5)  # a breath of air, so that it sways
    skin = closed_monkey(0.6 * scale)
    skin.name = skin.data.name = "Monkey"
    skin.location = (0.0, 0.0, 0.44)
    skin.rotation_euler = (0.0, 0.0, math.radians(16.0))
    # 8.3 g of rubber: 7.5 l of helium do not carry it, 12 l lift half as much again. It is soft, as only the ratio of
    # its stiffnesses shapes a skin that holds a volume, and this one has to yield evenly where its faces are small.
    # Tethers are for what hangs: they would hold the rubber back.
    kit.set_balloon(
        skin,
        density=0.034,
        stretch=4.0,
        compression=4.0,
        shear=4.0,
        bend=0.0,
        damping=2.0,
        air_normal=0.31,
        air_tangent=0.02,
        pressure_mode="VOLUME",
        gas_density=0.17,
        tethers=False,
    )
    kit.key(skin, "pbd.pressure", {1: 1.0, 8: 1.0, 64: 1.6})
    positions = kit.vertices_of(skin.data)
    knot = positions[positions[:, 2].argmin()]
    group = skin.vertex_groups.new(name="Pin")
    group.add(np.flatnonzero(np.linalg.norm(positions - knot, axis=1) < 0.012).tolist(), 1.0, "REPLACE")
    skin.pbd.pin_group = group.name
    stage.soften(skin)
    end = skin.matrix_basis @ Vector(knot.tolist())
    string = stage.add_rod("Stick", (end.x, end.y, 0.0), end, 0.002)
    string.data.materials.append(stage.matte("Stick", (0.7, 0.66, 0.6)))
    weight = [(0.10, 0.0), (0.11, 0.01), (0.11, 0.05), (0.06, 0.08), (0.02, 0.10), (0.0, 0.105)]
    profile = [(scale * radius, scale * height) for radius, height in weight]
    stage.turned("Weight", profile, stage.metal("Brass", (0.83, 0.58, 0.24))).location = (end.x, end.y, 0.0)
    stage.add_camera((0.17, -1.5, 0.46), (0.0, 0.0, 0.38), 56.0)


def letters() -> None:
    """A word of foil that fills up in a second, as the operator makes it."""
    scene = kit.begin(frames=72)
    stage.build((0.45, 0.16, 0.2))
    bpy.ops.mesh.primitive_pbd_balloon_text_add(text="PBD", hold="FLOAT", size=0.6, location=(0.0, 0.0, 0.3))
    word = bpy.context.object
    word.name = word.data.name = "Letters"
    word.rotation_euler = (0.0, 0.0, math.radians(8.0))
    word.data.materials.append(stage.metal("Foil", (0.85, 0.5, 0.12)))
    scene.frame_set(1)
    stage.add_camera((0.25, -2.4, 0.5), (0.0, 0.0, 0.29), 50.0)


def closed_monkey(size: float) -> bpy.types.Object:
    """The monkey as one closed surface: eyes printed on patches in place of the eyeballs, every face divided in four.

    Args:
        size: Half of Blender's own size for it [m].

    Returns:
        The active object, with materials for skin, eyes and pupils.
    """
    bpy.ops.mesh.primitive_monkey_add(size=size)
    monkey = bpy.context.object
    for made in (
        stage.rubber("Skin", (0.85, 0.06, 0.10)),
        stage.rubber("Eyes", (0.84, 0.80, 0.66)),
        stage.rubber("Pupils", (0.01, 0.01, 0.012)),
    ):
        monkey.data.materials.append(made)
    geometry = bmesh.new()
    geometry.from_mesh(monkey.data)
    # The eyeballs are the first vertices: 33 each. What is left is the head, with two openings.
    geometry.verts.ensure_lookup_table()
    bmesh.ops.delete(geometry, geom=geometry.verts[:66], context="VERTS")
    rims = [edge for edge in geometry.edges if edge.is_boundary]
    for patch in bmesh.ops.holes_fill(geometry, edges=rims, sides=0)["faces"]:
        add_eye(geometry, patch, size)
    geometry.to_mesh(monkey.data)
    geometry.free()
    divide = monkey.modifiers.new("Divide", "SUBSURF")
    divide.levels = 1
    bpy.ops.object.modifier_apply(modifier=divide.name)
    return monkey


def add_eye(geometry: bmesh.types.BMesh, patch: bmesh.types.BMFace, size: float) -> None:
    """Divide the patch over an eye socket into rings around a pupil, bulging like the eyeball that was there."""
    center, outward = patch.calc_center_median(), patch.normal.copy()
    rim = [corner.vert.co.copy() for corner in patch.loops]
    patch.material_index = 1
    for inward, height in ((0.25, 0.05), (0.5, 0.08), (0.75, 0.09)):
        around = bmesh.ops.inset_individual(geometry, faces=[patch], thickness=1e-3 * size)["faces"]
        for face in around:
            face.material_index = 2 if inward > 0.5 else 1
        for corner, place in zip(patch.loops, rim, strict=True):
            corner.vert.co = place.lerp(center, inward) + height * size * outward
    patch.material_index = 2


def cushion() -> None:
    """Two grids sewn together along the border, blown up by 40 Pa while they fall on the floor."""
    scene = kit.begin(frames=96)
    stage.build((0.17, 0.10, 0.27))
    first = add_cushion("Cushion", 1.0, 44, {"Saffron": (0.68, 0.27, 0.012), "Cream": (0.80, 0.66, 0.44)}, 43 // 8)
    first.location = (0.0, 0.0, 0.5)
    first.rotation_euler = (math.radians(6.0), math.radians(-8.0), math.radians(28.0))
    kit.key(first, "pbd.overpressure", {1: 0.0, 40: 40.0})
    kit.set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.6)
    stage.add_rug(0.95, stage.matte("Plum", (0.10, 0.015, 0.06)), stage.matte("Rose", (0.36, 0.12, 0.16)))
    stage.add_camera((0.8, -3.3, 1.6), (0.0, 0.0, 0.24), 66.0)


def add_cushion(
    name: str,
    size: float,
    count: int,
    colors: dict[str, tuple[float, float, float]],
    width: int,
    thickness: float = 0.0,
) -> bpy.types.Object:
    """A cushion cover: two square grids that share the vertices of their border; the active object.

    The corners are cut off, as one would before turning a cover inside out. Otherwise the two faces of a corner
    would share both of their outer edges.

    Args:
        name: Of the object.
        size: Length of a side [m].
        count: Vertices along a side.
        colors: Of its stripes, by the names of the materials.
        width: Of a stripe, in faces.
        thickness: Of the filled cushion in its middle [m]; 0 for an empty cover.
    """
    side = np.linspace(0.0, 1.0, count)
    bulge = np.maximum(np.outer(np.sin(math.pi * side), np.sin(math.pi * side)), 0.0) ** 0.6
    obj, faces, u = add_cover(name, (size, size), np.maximum(0.004, 0.5 * thickness * bulge))
    kit.set_balloon(
        obj,
        density=0.6,
        stretch=8000.0,
        compression=8000.0,
        shear=4000.0,
        bend=3e-5,
        damping=4.0,
        air_normal=0.6,
        air_tangent=0.03,
        pressure_mode="OVERPRESSURE",
        overpressure=40.0,
        thickness=0.003,
        friction=0.6,
    )
    stage.soften(obj)
    column = np.array([np.mean(u[face]) for face in faces])
    stripe = ((column * (count - 1)).astype(int) // width) % len(colors)
    stage.paint(obj, [stage.fabric(*color) for color in colors.items()], stripe)
    return obj


def add_cover(
    name: str, size: tuple[float, float], heights: np.ndarray
) -> tuple[bpy.types.Object, list[list[int]], np.ndarray]:
    """Two grids that share the vertices of their border, with the corners cut off; the active object.

    Args:
        name: Of the object.
        size: Length of its sides [m].
        heights: Of the upper grid over the middle plane, (rows, columns) [m]; the lower one is as far below it.

    Returns:
        The object, its faces, and where each vertex is from one end of the rows to the other, (n,) from 0 to 1.
    """
    rows, columns = heights.shape
    u, v = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows))
    inside = np.zeros((rows, columns), bool)
    inside[1:-1, 1:-1] = True
    upper = np.arange(rows * columns).reshape(rows, columns)
    lower = np.where(inside, upper + rows * columns, upper)
    height = np.where(inside, heights, 0.0)
    positions = np.concatenate(
        [np.stack([(u - 0.5) * size[0], (v - 0.5) * size[1], z], axis=-1).reshape(-1, 3) for z in (height, -height)]
    )
    faces = sheet_faces(upper) + [face[::-1] for face in sheet_faces(lower)]
    used, corners = np.unique([corner for face in faces for corner in face], return_inverse=True)
    faces = [ids.tolist() for ids in np.split(corners, np.cumsum([len(face) for face in faces])[:-1])]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions[used].tolist(), [], faces)
    uvs = np.tile(np.stack([u, v], axis=-1).reshape(-1, 2), (2, 1))[used]
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", uvs[corners].astype(np.float32).ravel())
    obj = stage.new_object(name, mesh)
    bpy.context.view_layer.objects.active = obj
    return obj, faces, uvs[:, 0]


def air_mattress() -> None:
    """A mattress is pumped up on the floor: straps inside of it hold it together in tubes. A ball falls on it."""
    scene = kit.begin(frames=96)
    stage.build((0.06, 0.20, 0.30))
    tubes, across = 6, 4  # faces across each tube
    heights = np.full((25, tubes * across + 1), 0.03)
    mattress, faces, u = add_cover("Mattress", (1.0, 1.9), heights)
    kit.set_balloon(
        mattress,
        density=0.5,
        stretch=6000.0,
        compression=6000.0,
        shear=2000.0,
        bend=1.1e-4,
        damping=4.0,
        air_normal=0.6,
        air_tangent=0.02,
        pressure_mode="OVERPRESSURE",
        thickness=0.002,
        friction=0.5,
        internal_springs=True,
        internal_spring_diversion=0.0,
        internal_spring_length=0.1,
        internal_tension=1e7,
        internal_compression=0.0,
    )
    kit.key(mattress, "pbd.overpressure", {1: 0.0, 40: 400.0})
    columns = np.round(u * tubes * across).astype(int)
    ends = np.abs(kit.vertices_of(mattress.data)[:, 1]) > 0.85
    strapped = (columns % across == 0) & (columns > 0) & (columns < tubes * across) & ~ends
    group = mattress.vertex_groups.new(name="Straps")
    group.add(np.flatnonzero(strapped).tolist(), 1.0, "REPLACE")
    mattress.pbd.internal_group = group.name
    mattress.location = (0.0, 0.0, 0.05)
    mattress.rotation_euler = (0.0, 0.0, math.radians(-62.0))
    stage.soften(mattress)
    stripe = np.array([int(np.mean(u[face]) * tubes) for face in faces]) % 2
    stage.paint(mattress, [stage.rubber("Navy", (0.01, 0.05, 0.16)), stage.rubber("Sky", (0.10, 0.30, 0.46))], stripe)
    bpy.ops.mesh.primitive_pbd_balloon_add(subdivisions=3, radius=0.16, location=(0.02, 0.0, 1.1))
    ball = bpy.context.object
    ball.name = ball.data.name = "Ball"
    kit.set_pbd(
        ball, density=4.0, stretch=8000.0, compression=8000.0, shear=3000.0, friction=0.6, thickness=0.002, rubber=False
    )
    stage.soften(ball)
    stage.paint_ball(ball, {"Yellow": (0.78, 0.42, 0.01), "White": (0.82, 0.78, 0.68), "Red": (0.62, 0.03, 0.02)})
    kit.set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.6)
    stage.add_rug(1.5, stage.matte("Sand", (0.34, 0.26, 0.16)), stage.matte("Dune", (0.52, 0.42, 0.28)))
    stage.add_camera((0.9, -4.2, 2.2), (0.05, 0.0, 0.43), 62.0)


def sheet_faces(ids: np.ndarray) -> list[list[int]]:
    """Quads of a grid of vertices (rows, columns), with a triangle in each corner in place of the quad."""
    quads = np.stack([ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]], axis=-1)
    tips = {(0, 0): 0, (0, -1): 1, (-1, -1): 2, (-1, 0): 3}
    triangles = [np.delete(quads[place], tip).tolist() for place, tip in tips.items()]
    whole = np.ones(quads.shape[:2], bool)
    whole[tuple(np.transpose(list(tips)))] = False
    return quads[whole].tolist() + triangles


def pillow_fight() -> None:
    """Two cushions are thrown at each other by boards that flip up; a blanket and a ball fall on them."""
    scene = kit.begin(frames=72)
    stage.build((0.05, 0.22, 0.20))
    wood = stage.wood("Beech", (0.46, 0.22, 0.08))
    cream = (0.80, 0.68, 0.46)
    colors = {
        "Left Cushion": {"Sea": (0.008, 0.12, 0.24), "Cream": cream},
        "Right Cushion": {"Coral": (0.66, 0.07, 0.03), "Cream": cream},
    }
    for side, (name, stripes) in zip((-1.0, 1.0), colors.items(), strict=True):
        lacquer = stage.enamel(f"{name} Board", next(iter(stripes.values())))
        board = kit.add_block("Board", (0.40 * side, 0.0, 0.0), (0.80, 0.70, 0.03), lacquer)
        board.location = (0.70 * side, 0.0, 0.45)
        flat, up = (0.0, 0.0, 0.0), (0.0, math.radians(-56.0) * side, 0.0)
        kit.key(board, "rotation_euler", {1: flat, 4: flat, 11: up, 24: flat})
        kit.set_collider(board, thickness=0.01, friction=0.5, static_friction=0.6)
        leg = kit.add_block("Leg", (0.70 * side, 0.0, 0.21), (0.05, 0.60, 0.42), wood)
        kit.set_collider(leg, thickness=0.01)
        cushion = add_cushion(name, 0.5, 15, stripes, 2, thickness=0.2)
        kit.set_pbd(cushion, pressure_mode="VOLUME", density=0.5, damping=2.0)
        cushion.location = (1.15 * side, 0.02 * side, 0.58)
        cushion.rotation_euler = (0.0, 0.0, math.radians(10.0) * side)
    bpy.ops.mesh.primitive_pbd_balloon_add(subdivisions=3, radius=0.2, location=(0.05, -0.03, 2.25))
    ball = bpy.context.object
    ball.name = ball.data.name = "Ball"
    kit.set_pbd(
        ball, density=0.4, stretch=1500.0, compression=1500.0, shear=500.0, air_normal=0.31, friction=0.5, rubber=False
    )
    stage.soften(ball)
    stage.paint_ball(ball, {"Yellow": (0.78, 0.42, 0.01), "White": (0.82, 0.78, 0.68), "Red": (0.62, 0.03, 0.02)})
    blanket = kit.add_cloth(
        "Blanket", (26, 26), (1.3, 1.3), (0.0, 0.05, 2.9),
        density=0.3, stretch=3000.0, compression=3000.0, shear=100.0, bend=5e-5, damping=1.0, friction=0.5,
    )  # fmt: skip
    blanket.rotation_euler = (math.radians(4.0), math.radians(-2.0), 0.0)  # its face to the camera
    stage.soften(blanket)
    stage.paint_checks(blanket, 25, 5, {"Plaid": (0.20, 0.10, 0.30), "Lilac": (0.42, 0.28, 0.48), "Cream": cream})
    kit.set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.6)
    stage.add_rug(1.5, stage.matte("Moss", (0.03, 0.07, 0.035)), stage.matte("Sage", (0.22, 0.26, 0.12)))
    stage.add_camera((0.7, -5.4, 1.9), (0.0, 0.0, 1.0), 56.0)
