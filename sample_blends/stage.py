"""The photographer's studio of the samples: floor and backdrop in one sweep, a window, a lamp, a camera, fabrics."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Vector

SWEEP_STEPS = 24
"""Rows of faces of the bend between the floor and the wall behind."""


def build(backdrop: tuple[float, float, float], warmth: float = 1.0, scale: float = 1.0) -> None:
    """Floor, wall and light around the origin; the camera is to stand on the side of -Y.

    Args:
        backdrop: Color of floor and wall, linear RGB.
        warmth: 1 for afternoon light, 0 for white.
        scale: How many times as far the lamps are as for a subject of two meters; they are as bright there.
    """
    sweep = new_object("Backdrop", sweep_mesh(width=90.0, front=-14.0, back=6.0, radius=4.0, height=16.0))
    sweep.data.materials.append(matte("Backdrop", backdrop))
    warm = (1.0, 1.0 - 0.16 * warmth, 1.0 - 0.36 * warmth)
    cool = (0.70, 0.84, 1.0)
    lamps = (
        ("Key", (3.4, -3.6, 4.4), (0.0, 0.0, 0.9), 560.0, warm, 1.6),
        ("Fill", (-4.8, -3.4, 2.6), (0.0, 0.0, 0.9), 75.0, cool, 4.0),
        ("Rim", (-2.4, 3.2, 3.6), (0.0, 0.0, 1.0), 210.0, warm, 1.6),
        # The wall fades towards the corners of the picture, so that the eye goes to the middle.
        ("Glow", (0.0, 3.0, 6.5), (0.0, 7.0, 1.6), 300.0, warm, 2.5),
    )
    for name, place, target, energy, color, size in lamps:
        far, aimed = (tuple(scale * value for value in point) for point in (place, target))
        add_light(name, "AREA", far, aimed, energy=scale**2 * energy, color=color, size=scale * size)
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (*cool, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.12
    bpy.context.scene.world = world


def sweep_mesh(width: float, front: float, back: float, radius: float, height: float) -> bpy.types.Mesh:
    """A sheet that runs along the floor from `front` to `back` and bends up into a wall; lengths in meters."""
    turn = np.linspace(0.0, 0.5 * math.pi, SWEEP_STEPS)
    y = np.concatenate([[front], back + radius * np.sin(turn), [back + radius]])
    z = np.concatenate([[0.0], radius * (1.0 - np.cos(turn)), [height]])
    left, right = (np.stack([np.full_like(y, side), y, z], axis=1) for side in (-0.5 * width, 0.5 * width))
    rows = np.arange(len(y) - 1)
    quads = np.stack([rows, rows + len(y), rows + len(y) + 1, rows + 1], axis=1)
    mesh = bpy.data.meshes.new("Backdrop")
    mesh.from_pydata(np.concatenate([left, right]).tolist(), [], quads.tolist())
    mesh.shade_smooth()
    return mesh


def add_light(
    name: str,
    kind: str,
    place: tuple[float, float, float],
    target: tuple[float, float, float],
    *,
    energy: float,
    color: tuple[float, float, float],
    angle: float = 0.0,
    size: float = 1.0,
) -> bpy.types.Object:
    """A lamp at `place` [m] that shines on `target`; energy in W, or W/m² for the sun."""
    light = bpy.data.lights.new(name, kind)
    light.energy, light.color = energy, color
    if kind == "SUN":
        light.angle = angle
    else:
        light.size = size
    lamp = new_object(name, light)
    lamp.visible_camera = False
    aim(lamp, place, target)
    return lamp


def add_camera(
    place: tuple[float, float, float], target: tuple[float, float, float], lens: float = 60.0
) -> bpy.types.Object:
    """The scene's camera, at `place` [m], looking at `target` through a lens of so many mm; the wall is blurred."""
    camera = new_object("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = lens
    camera.data.dof.use_dof = True
    camera.data.dof.focus_distance = (Vector(target) - Vector(place)).length
    camera.data.dof.aperture_fstop = 2.0
    aim(camera, place, target)
    bpy.context.scene.camera = camera
    return camera


def aim(obj: bpy.types.Object, place: tuple[float, float, float], target: tuple[float, float, float]) -> None:
    """Put an object at a place and point its -Z axis at another."""
    obj.location = place
    obj.rotation_euler = (Vector(target) - Vector(place)).to_track_quat("-Z", "Y").to_euler()


def new_object(name: str, data: bpy.types.ID) -> bpy.types.Object:
    """An object of the scene with this data."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


# --------------------------------------------------------------------------------------- materials


def material(name: str, color: tuple[float, float, float], **inputs: object) -> bpy.types.Material:
    """A Principled material; `inputs` by the names of its sockets, with _ for a space."""
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    made.diffuse_color = (*color, 1.0)
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    for socket, value in inputs.items():
        shader.inputs[socket.replace("_", " ")].default_value = value
    return made


def matte(name: str, color: tuple[float, float, float]) -> bpy.types.Material:
    """Paper, wall, wood: no shine."""
    return material(name, color, Roughness=0.9, Specular_IOR_Level=0.2)


def wood(name: str, color: tuple[float, float, float]) -> bpy.types.Material:
    """Waxed wood."""
    return material(name, color, Roughness=0.45, Specular_IOR_Level=0.4)


def fabric(name: str, color: tuple[float, float, float], sheen: float = 0.12) -> bpy.types.Material:
    """Cloth: rough, with the soft bright edge that fibers give."""
    light = tuple(0.5 + 0.5 * channel for channel in color)
    return material(
        name, color, Roughness=0.75, Specular_IOR_Level=0.25,
        Sheen_Weight=sheen, Sheen_Roughness=0.4, Sheen_Tint=(*light, 1.0),
    )  # fmt: skip


def rubber(name: str, color: tuple[float, float, float]) -> bpy.types.Material:
    """The skin of a toy balloon: smooth, with a clear shine and a little light inside."""
    return material(
        name, color, Roughness=0.28, Specular_IOR_Level=0.6, Coat_Weight=0.6, Coat_Roughness=0.12,
        Subsurface_Weight=0.15, Subsurface_Radius=(0.12, 0.05, 0.03),
    )  # fmt: skip


def enamel(name: str, color: tuple[float, float, float]) -> bpy.types.Material:
    """Painted metal or lacquered wood."""
    return material(name, color, Roughness=0.35, Coat_Weight=0.5, Coat_Roughness=0.1)


def metal(name: str, color: tuple[float, float, float]) -> bpy.types.Material:
    """Brushed metal."""
    return material(name, color, Metallic=1.0, Roughness=0.3)


def paint(obj: bpy.types.Object, made: Sequence[bpy.types.Material], choice: np.ndarray) -> None:
    """Give the faces of a mesh materials, so that a pattern shows in Solid as it does in a render.

    Args:
        obj: The object.
        made: The materials.
        choice: Which of them each face has, (faces,) int or a grid of as many.
    """
    for one in made:
        obj.data.materials.append(one)
    obj.data.polygons.foreach_set("material_index", np.ascontiguousarray(choice, np.int32).ravel())


def bands(*widths: int) -> np.ndarray:
    """Numbers 0, 1, 2, ... of bands that are so many faces wide, (sum of the widths,) int."""
    return np.repeat(np.arange(len(widths)), widths)


def paint_checks(
    cloth: bpy.types.Object, count: int, width: int, colors: dict[str, tuple[float, float, float]]
) -> None:
    """Woven checks on a grid of `count` x `count` faces, `width` faces wide: both ways, one way, and neither way."""
    stripe = (np.arange(count) // width) % 2
    paint(cloth, [fabric(*color) for color in colors.items()], stripe[:, None] + stripe)


def paint_ball(ball: bpy.types.Object, colors: dict[str, tuple[float, float, float]]) -> None:
    """Color the twenty triangles of which an icosphere is divided, in turn."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=1)
    coarse = bpy.context.object
    outward = np.array([face.normal for face in coarse.data.polygons])
    bpy.data.meshes.remove(coarse.data)
    bpy.context.view_layer.objects.active = ball
    centers = np.array([face.center for face in ball.data.polygons])
    paint(ball, [rubber(*color) for color in colors.items()], (centers @ outward.T).argmax(axis=1) % len(colors))


# --------------------------------------------------------------------------------------- objects


def soften(obj: bpy.types.Object, levels: int = 1, thickness: float = 0.0) -> None:
    """Smooth shading and subdivision after the simulation, and a thickness [m] to see at the hems."""
    obj.data.shade_smooth()
    if thickness:
        solid = obj.modifiers.new("Thickness", "SOLIDIFY")
        solid.thickness, solid.offset = thickness, 0.0
    smooth = obj.modifiers.new("Subdivision", "SUBSURF")
    smooth.levels, smooth.render_levels = levels, max(levels, 2)


def turned(
    name: str, profile: Sequence[tuple[float, float]], made_of: bpy.types.Material, count: int = 64
) -> bpy.types.Object:
    """A body turned on a lathe about the z axis; the profile's points are radius and height [m], from below."""
    angles = np.arange(count) * 2.0 * math.pi / count
    radius, height = np.array(profile).T[:, :, None]
    rings = np.stack([radius * np.cos(angles), radius * np.sin(angles), height + 0.0 * angles], axis=-1)
    ids = np.arange(rings.size // 3).reshape(rings.shape[:2])
    after = np.roll(ids, -1, axis=1)
    sides = np.stack([ids[:-1], after[:-1], after[1:], ids[1:]], axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(rings.reshape(-1, 3).tolist(), [], [*sides.tolist(), ids[0, ::-1].tolist(), ids[-1].tolist()])
    mesh.materials.append(made_of)
    smooth_but_edges(mesh)
    return new_object(name, mesh)


def smooth_but_edges(mesh: bpy.types.Mesh) -> None:
    """Smooth shading, but for edges of more than 35 degrees."""
    mesh.shade_smooth()
    mesh.set_sharp_from_angle(angle=math.radians(35.0))


def add_rug(radius: float, outside: bpy.types.Material, inside: bpy.types.Material) -> bpy.types.Object:
    """A round rug on the floor with a border of another color, 3 mm thick [m]."""
    turned("Rug Border", [(radius, 0.0), (radius, 0.002), (radius - 0.002, 0.003)], outside, 96)
    return turned("Rug", [(0.84 * radius, 0.0), (0.84 * radius, 0.0035), (0.84 * radius - 0.002, 0.004)], inside, 96)


def add_rod(
    name: str, start: tuple[float, float, float], end: tuple[float, float, float], radius: float
) -> bpy.types.Object:
    """A round rod between two points [m]."""
    way = Vector(end) - Vector(start)
    bpy.ops.mesh.primitive_cylinder_add(vertices=32, radius=radius, depth=way.length)
    rod = bpy.context.object
    rod.name = name
    rod.location = 0.5 * (Vector(start) + Vector(end))
    rod.rotation_euler = way.to_track_quat("Z", "Y").to_euler()
    smooth_but_edges(rod.data)
    return rod


def add_ball(name: str, place: tuple[float, float, float], radius: float) -> bpy.types.Object:
    """A ball, for the ends of rods."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=radius, location=place)
    ball = bpy.context.object
    ball.name = name
    ball.data.shade_smooth()
    return ball
