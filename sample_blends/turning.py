"""Samples with turning machines, after two figures of Müller et al. 2007: a barrel and gears."""

from __future__ import annotations

import math

import bmesh
import bpy
import kit
import numpy as np
import stage
from mathutils import Matrix

BARREL_RADIUS, BARREL_LENGTH, BARREL_HEIGHT = 0.42, 1.0, 0.68
"""Inner radius and length of the barrel, and where its axis lies [m]."""


def barrel() -> None:
    """The rotating barrel of Müller et al. 2007, Fig. 9: 1364 vertices tumble in a closed cylinder."""
    kit.begin(frames=96)
    stage.build((0.40, 0.22, 0.05))
    lining, cream = stage.enamel("Lining", (0.02, 0.045, 0.085)), stage.enamel("Cream", (0.76, 0.64, 0.42))
    pane = stage.material("Pane", (0.9, 0.96, 1.0), Roughness=0.05, Alpha=0.03)
    pane.diffuse_color[3] = 0.03  # so that Solid shows what is behind it
    drum = add_drum("Barrel", lining, pane)
    paddles = add_paddles("Paddles", cream)
    shell = add_shell("Shell", stage.enamel("Enamel", (0.01, 0.13, 0.17)))
    for part in (paddles, shell):
        part.parent = drum
    drum.location = (0.0, 0.0, BARREL_HEIGHT)
    kit.turn_evenly(drum, 1, 1, 97, 2.0 * math.pi)
    kit.set_collider(drum, inside=True, friction=0.6, static_friction=0.6)
    kit.set_collider(paddles, thickness=0.006, friction=0.6, static_friction=0.6)
    cloth = kit.add_cloth(
        "Cloth", (31, 44), (0.62, 0.90), (0.0, 0.0, BARREL_HEIGHT - 0.1),
        friction=0.5, thickness=0.001, self_distance=0.008, bend=2e-5, shear=200.0,
    )  # fmt: skip
    stage.soften(cloth)
    coral, white = stage.fabric("Towel", (0.66, 0.08, 0.03)), stage.fabric("White", (0.84, 0.76, 0.60))
    stage.paint(cloth, (coral, white), np.repeat(stage.bands(6, 6, 6, 7, 6, 6, 6) % 2, 30))
    for side in (-1.0, 1.0):
        place = 0.3 * side
        roller = stage.add_rod("Roller", (place, -0.6, 0.16), (place, 0.6, 0.16), 0.16)
        roller.data.materials.append(stage.matte("Rubber", (0.02, 0.02, 0.022)))
    stage.add_light("Lamp", "AREA", (0.4, -2.2, 1.5), (0.0, 0.0, BARREL_HEIGHT), energy=60.0, color=(1, 1, 1), size=0.8)
    stage.add_camera((0.5, -3.2, 1.05), (0.0, 0.0, 0.58), 72.0)


def add_drum(name: str, wall: bpy.types.Material, pane: bpy.types.Material) -> bpy.types.Object:
    """A closed cylinder about the y axis whose two ends are of another material, to look inside."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=40, radius=BARREL_RADIUS, depth=BARREL_LENGTH, end_fill_type="TRIFAN")
    drum = bpy.context.object
    drum.name = drum.data.name = name
    drum.data.transform(Matrix.Rotation(0.5 * math.pi, 4, "X"))
    drum.data.materials.append(wall)
    drum.data.materials.append(pane)
    for face in drum.data.polygons:
        face.material_index = int(abs(face.normal.y) > 0.5)
    return drum


def add_paddles(name: str, made_of: bpy.types.Material) -> bpy.types.Object:
    """Four boards along the y axis that reach from within a drum through its wall, and lift what lies in it."""
    geometry = bmesh.new()
    for quarter in range(4):
        around = Matrix.Rotation(0.5 * math.pi * quarter, 4, "Y")
        out = Matrix.Translation((0.0, 0.0, BARREL_RADIUS - 0.03))
        size = Matrix.Diagonal((0.03, BARREL_LENGTH + 0.02, 0.12, 1.0))
        bmesh.ops.create_cube(geometry, size=1.0, matrix=around @ out @ size)
    mesh = bpy.data.meshes.new(name)
    geometry.to_mesh(mesh)
    geometry.free()
    mesh.materials.append(made_of)
    boards = stage.new_object(name, mesh)
    round_edges(boards, 0.01)
    return boards


def round_edges(obj: bpy.types.Object, width: float) -> None:
    """Break the sharp edges of a body by a width [m], to be seen and to be met."""
    edges = obj.modifiers.new("Edges", "BEVEL")
    edges.width, edges.segments = width, 2
    edges.harden_normals = True
    obj.data.shade_smooth()


def add_shell(name: str, made_of: bpy.types.Material) -> bpy.types.Object:
    """A tube around the drum, only to be seen: it covers the feet of the paddles."""
    bpy.ops.mesh.primitive_cylinder_add(
        vertices=80, radius=BARREL_RADIUS + 0.045, depth=BARREL_LENGTH + 0.04, end_fill_type="NOTHING"
    )
    shell = bpy.context.object
    shell.name = shell.data.name = name
    shell.data.transform(Matrix.Rotation(0.5 * math.pi, 4, "X"))
    shell.data.materials.append(made_of)
    solid = shell.modifiers.new("Thickness", "SOLIDIFY")
    solid.thickness, solid.offset = 0.04, -1.0
    return shell


GEAR_END = 0.34
"""How far the gears reach from their middle along their axes [m]; a ball between them bulges out in front."""

GEAR_ROOT, GEAR_TIP, GEAR_TEETH, GEAR_GAP = 0.40, 0.46, 14, 0.26
"""Radii at the foot and at the tip of the teeth [m], their number, and the room between both gears' tips [m]."""


def gears() -> None:
    """A soft ball is drawn through between two toothed cylinders, as in Müller et al. 2007, Fig. 1."""
    scene = kit.begin(frames=84)
    stage.build((0.075, 0.075, 0.20))
    paint, brass = stage.enamel("Enamel", (0.01, 0.10, 0.16)), stage.metal("Brass", (0.83, 0.58, 0.24))
    cream = stage.enamel("Cream", (0.76, 0.64, 0.42))
    middle, height = GEAR_TIP + 0.5 * GEAR_GAP, 0.95
    for side in (-1.0, 1.0):
        gear = add_gear("Gear", 2.0 * GEAR_END, paint)
        gear.location = (middle * side, 0.0, height)
        if side > 0.0:
            gear.delta_rotation_euler = (0.0, math.pi / GEAR_TEETH, 0.0)  # tooth against gap
        kit.turn_evenly(gear, 1, 1, 97, -side * 3.6)
        kit.set_collider(gear, thickness=0.006, friction=1.0, static_friction=1.0)
        axle = stage.add_rod("Axle", (middle * side, -GEAR_END - 0.2, height), (middle * side, 0.58, height), 0.07)
        axle.data.materials.append(brass)
        dial = add_dial(paint, cream)
        dial.parent = gear
    bpy.ops.mesh.primitive_pbd_balloon_add(subdivisions=4, radius=0.27, location=(0.02, 0.0, height + 0.56))
    ball = bpy.context.object
    ball.name = ball.data.name = "Ball"
    kit.set_pbd(
        ball, density=0.5, stretch=400.0, compression=400.0, shear=100.0, bend=1e-5, damping=2.0,
        friction=1.0, thickness=0.001, rubber=False,
    )  # fmt: skip
    stage.soften(ball)
    stage.paint_ball(ball, {"Coral": (0.70, 0.06, 0.03), "White": (0.82, 0.76, 0.64), "Yellow": (0.78, 0.40, 0.01)})
    kit.set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.8)
    wood = stage.wood("Oak", (0.44, 0.22, 0.075))
    kit.add_block("Board", (0.0, 0.62, 0.76), (2.4, 0.06, 1.52), wood)
    stage.add_camera((0.35, -4.6, 1.75), (0.0, 0.0, 0.85), 60.0)


def add_gear(name: str, length: float, made_of: bpy.types.Material) -> bpy.types.Object:
    """A cylinder with trapezoid teeth about the y axis, through the origin, of a length [m]."""
    pitch = 2.0 * math.pi / GEAR_TEETH
    angles = (np.arange(GEAR_TEETH)[:, None] + np.array([-0.32, -0.16, 0.16, 0.32])) * pitch
    radii = np.tile([GEAR_ROOT, GEAR_TIP, GEAR_TIP, GEAR_ROOT], GEAR_TEETH)
    outline = radii[:, None] * np.stack([np.sin(angles.ravel()), np.cos(angles.ravel())], axis=1)
    count = len(outline)
    ends = [np.insert(outline, 1, side * 0.5 * length, axis=1) for side in (-1.0, 1.0)]
    hubs = [[0.0, side * 0.5 * length, 0.0] for side in (-1.0, 1.0)]
    here, there = np.arange(count), (np.arange(count) + 1) % count
    sides = np.stack([here, here + count, there + count, there], axis=1)
    front = np.stack([here, there, np.full(count, 2 * count)], axis=1)
    back = np.stack([there + count, here + count, np.full(count, 2 * count + 1)], axis=1)
    mesh = bpy.data.meshes.new(name)
    faces = sides.tolist() + front.tolist() + back.tolist()
    mesh.from_pydata(np.concatenate([*ends, hubs]).tolist(), [], faces)
    mesh.materials.append(made_of)
    gear = stage.new_object(name, mesh)
    round_edges(gear, 0.008)
    return gear


def add_dial(one: bpy.types.Material, other: bpy.types.Material) -> bpy.types.Object:
    """The painted front of a gear: segments in two colors, which show how it turns."""
    dial = stage.turned("Dial", [(0.35, 0.0), (0.35, 0.012), (0.22, 0.012), (0.20, 0.03), (0.10, 0.03)], one, 28)
    dial.data.materials.append(other)
    choice = np.zeros(len(dial.data.polygons), np.int32)
    choice[28:56] = np.arange(28) // 2 % 2
    dial.data.polygons.foreach_set("material_index", choice)
    dial.location.y, dial.rotation_euler.x = -GEAR_END, 0.5 * math.pi
    return dial
