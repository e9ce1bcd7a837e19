"""The photographer's studio of the samples: floor and backdrop in one sweep, a window, a lamp, a camera, fabrics."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Vector

SWEEP_STEPS = 24
"""Rows of faces of the bend between the floor and the wall behind."""


def build(backdrop: tuple[float, float, float], warmth: float = 1.0) -> None:
    """Floor, wall and light around the origin; the camera is to stand on the side of -Y.

    Args:
        backdrop: Color of floor and wall, linear RGB.
        warmth: 1 for afternoon light, 0 for white.
    """
    sweep = new_object("Backdrop", sweep_mesh(width=40.0, front=-14.0, back=6.0, radius=4.0, height=16.0))
    sweep.data.materials.append(matte("Backdrop", backdrop))
    warm = (1.0, 1.0 - 0.10 * warmth, 1.0 - 0.24 * warmth)
    add_light("Sun", "SUN", (7.0, -4.5, 7.5), (0.0, 0.0, 0.8), energy=5.0, color=warm, angle=math.radians(9.0))
    add_light("Window", "AREA", (-4.5, -3.0, 4.0), (0.0, 0.0, 0.9), energy=150.0, color=(0.86, 0.93, 1.0), size=3.5)
    add_light("Rim", "AREA", (2.5, 3.6, 4.2), (0.0, 0.0, 1.0), energy=220.0, color=warm, size=2.0)
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.72, 0.83, 1.0, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.28
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
    aim(lamp, place, target)
    return lamp


def add_camera(
    place: tuple[float, float, float], target: tuple[float, float, float], lens: float = 60.0
) -> bpy.types.Object:
    """The scene's camera, at `place` [m], looking at `target` through a lens of so many mm."""
    camera = new_object("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = lens
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


def fabric(name: str, color: tuple[float, float, float], sheen: float = 0.25) -> bpy.types.Material:
    """Cloth: rough, with the soft bright edge that fibers give."""
    light = tuple(0.5 + 0.5 * channel for channel in color)
    return material(
        name, color, Roughness=0.75, Specular_IOR_Level=0.25,
        Sheen_Weight=sheen, Sheen_Roughness=0.35, Sheen_Tint=(*light, 1.0),
    )  # fmt: skip


def rubber(name: str, color: tuple[float, float, float]) -> bpy.types.Material:
    """The skin of a toy balloon: smooth, with a clear shine and a little light inside."""
    return material(
        name, color, Roughness=0.28, Specular_IOR_Level=0.6, Coat_Weight=0.6, Coat_Roughness=0.12,
        Subsurface_Weight=0.15, Subsurface_Radius=(0.12, 0.05, 0.03),
    )  # fmt: skip


def metal(name: str, color: tuple[float, float, float]) -> bpy.types.Material:
    """Brushed metal."""
    return material(name, color, Metallic=1.0, Roughness=0.3)


def striped(made: bpy.types.Material, colors: list[tuple[float, float, float]], axis: str) -> bpy.types.Material:
    """Give a material as many equal stripes as there are colors, across the U or V ("X", "Y") of its first UV map."""
    nodes, links = made.node_tree.nodes, made.node_tree.links
    ramp = nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.interpolation = "CONSTANT"
    elements = ramp.color_ramp.elements
    while len(elements) < len(colors):
        elements.new(0.5)
    for number, color in enumerate(colors):
        elements[number].position = number / len(colors)
        elements[number].color = (*color, 1.0)
    split, uv = nodes.new("ShaderNodeSeparateXYZ"), nodes.new("ShaderNodeTexCoord")
    links.new(uv.outputs["UV"], split.inputs[0])
    links.new(split.outputs[axis], ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    for place, node in enumerate((uv, split, ramp)):
        node.location = (-900.0 + 220.0 * place, 300.0)
    return made


# --------------------------------------------------------------------------------------- objects


def soften(obj: bpy.types.Object, levels: int = 1, thickness: float = 0.0) -> None:
    """Smooth shading and subdivision after the simulation, and a thickness [m] to see at the hems."""
    obj.data.shade_smooth()
    if thickness:
        solid = obj.modifiers.new("Thickness", "SOLIDIFY")
        solid.thickness, solid.offset = thickness, 0.0
    smooth = obj.modifiers.new("Subdivision", "SUBSURF")
    smooth.levels, smooth.render_levels = levels, max(levels, 2)


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
    rod.data.shade_smooth()
    rod.modifiers.new("Edges", "EDGE_SPLIT")
    return rod


def add_ball(name: str, place: tuple[float, float, float], radius: float) -> bpy.types.Object:
    """A ball, for the ends of rods."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=radius, location=place)
    ball = bpy.context.object
    ball.name = name
    ball.data.shade_smooth()
    return ball
