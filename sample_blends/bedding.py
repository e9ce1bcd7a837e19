"""A bed that is made."""

from __future__ import annotations

import math

import bpy
import filled
import kit
import numpy as np
import stage

LENGTH, WIDTH, TOP = 1.9, 1.1, 0.48
"""Of the mattress, and the height of its upper side [m]."""

BLANKET_LENGTH, BLANKET_WIDTH, OFF_HEAD = 1.62, 1.72, 0.60
"""Of the blanket, and how far its upper hem comes to lie from the mattress's end [m]."""

BLANKET_FACES = (30, 32)
"""Of the blanket along the bed and across."""


def bed() -> None:
    """A blanket is shaken out over a bed and laid down, and two pillows fall in front of its headboard.

    The middle of the blanket's upper hem is pinned: it goes where the object goes, whose location is keyed.
    """
    kit.begin(frames=60)
    stage.build((0.20, 0.24, 0.22))
    oak, linen = stage.wood("Oak", (0.40, 0.21, 0.085)), stage.fabric("Linen", (0.78, 0.72, 0.60))
    add_bedstead(oak)
    mattress = add_box("Mattress", (0.0, 0.0, TOP - 0.11), (LENGTH, WIDTH, 0.22), 0.05, linen)
    kit.set_collider(mattress, thickness=0.01, friction=0.5, static_friction=0.6)
    kit.select([add_blanket()])
    clay = {"Clay": (0.56, 0.20, 0.10), "Sand": (0.78, 0.62, 0.42)}
    chalk = {"Chalk": (0.80, 0.76, 0.68), "Dove": (0.42, 0.46, 0.48)}
    for side, stripes in ((-1.0, chalk), (1.0, clay)):
        name = f"{next(iter(stripes))} Pillow"
        pillow = filled.add_cushion(name, 0.46, 13, stripes, 3, thickness=0.15)
        kit.set_pbd(pillow, pressure_mode="VOLUME", density=0.6, damping=4.0)
        pillow.location = (-0.5 * LENGTH + 0.29, 0.27 * side, TOP + 0.24)
        pillow.rotation_euler = (math.radians(5.0) * side, math.radians(12.0), math.radians(5.0) * side)
    stage.add_rug(1.5, stage.matte("Moss", (0.06, 0.09, 0.06)), stage.matte("Oat", (0.46, 0.40, 0.28)))
    stage.add_camera((2.5, -3.6, 2.05), (0.06, 0.0, 0.62), 48.0)


def add_box(
    name: str,
    place: tuple[float, float, float],
    size: tuple[float, float, float],
    rounding: float,
    made_of: bpy.types.Material,
) -> bpy.types.Object:
    """A block whose edges are rounded by a radius [m]."""
    box = kit.add_block(name, place, size, made_of)
    edges = box.modifiers.new("Edges", "BEVEL")
    edges.width, edges.segments, edges.harden_normals = rounding, 4, True
    box.data.shade_smooth()
    return box


def add_bedstead(oak: bpy.types.Material) -> None:
    """A frame on four legs with a headboard; cloth meets the frame, which the blanket hangs over."""
    frame = add_box("Frame", (0.0, 0.0, 0.20), (LENGTH - 0.04, WIDTH - 0.04, 0.12), 0.01, oak)
    head = add_box("Headboard", (-0.5 * LENGTH - 0.04, 0.0, 0.52), (0.05, WIDTH + 0.04, 0.80), 0.02, oak)
    for part in (frame, head):
        kit.set_collider(part, thickness=0.006, friction=0.4, static_friction=0.4)
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            place = (x * (0.5 * LENGTH - 0.10), y * (0.5 * WIDTH - 0.10), 0.07)
            stage.add_rod("Leg", (*place[:2], 0.0), (*place[:2], 0.16), 0.03).data.materials.append(oak)


def add_blanket() -> bpy.types.Object:
    """The blanket, as it is held to be shaken out: its upper hem is pinned over the bed, its end is thrown up."""
    along, across = BLANKET_FACES
    blanket = kit.add_cloth(
        "Blanket", (along + 1, across + 1), (BLANKET_LENGTH, BLANKET_WIDTH), (0.0, 0.0, 0.0),
        density=0.3, stretch=4000.0, compression=4000.0, shear=150.0, bend=1e-4, damping=1.0,
        thickness=0.004, friction=0.5, self_distance=0.014,
    )  # fmt: skip
    positions = kit.vertices_of(blanket.data).astype(float)
    hem = positions[:, 0] < -0.5 * BLANKET_LENGTH + 1e-4
    positions[:, 0] += 0.5 * BLANKET_LENGTH
    kit.place_vertices(blanket.data, positions)
    held = blanket.vertex_groups.new(name="Hem")
    held.add(np.flatnonzero(hem & (np.abs(positions[:, 1]) < 0.44 * WIDTH)).tolist(), 1.0, "REPLACE")
    blanket.pbd.pin_group = held.name
    x = -0.5 * LENGTH + OFF_HEAD
    blanket.rotation_euler.y = math.radians(-14.0)
    up, down = (x, 0.0, 0.96), (x, 0.0, TOP + 0.02)
    kit.key(blanket, "location", {1: up, 5: (x, 0.0, 1.06), 22: down})
    kit.key(blanket, "rotation_euler", {5: tuple(blanket.rotation_euler), 22: (0.0, 0.0, 0.0)})
    stage.soften(blanket)
    colors = {"Fern": (0.10, 0.20, 0.11), "Oatmeal": (0.72, 0.62, 0.44)}
    stripe = np.isin(np.arange(along), (2, 3, 5, along - 6, along - 4, along - 3)).astype(int)
    stage.paint(blanket, [stage.fabric(*color) for color in colors.items()], np.tile(stripe, across))
    return blanket
