"""Samples that tear: a flag in a gale, a balloon that bursts, and the sheet of a figure."""

from __future__ import annotations

import math

import bmesh
import bpy
import kit
import numpy as np
import stage


def split(obj: bpy.types.Object, strength: float, where: str = "EVERYWHERE") -> None:
    """Split the mesh of the active object; strength: what it bears [N/m]; where: as for the operator."""
    obj.pbd.tear_strength = strength
    bpy.ops.object.pbd_split(where=where)
    # In the order of the faces, which makes the file small.
    geometry = bmesh.new()
    geometry.from_mesh(obj.data)
    corners = [vertex.index for face in geometry.faces for vertex in face.verts]
    place = np.zeros(len(geometry.verts), int)
    place[corners[::-1]] = np.arange(len(corners))[::-1]
    geometry.edges.sort(key=lambda edge: float(min(place[vertex.index] for vertex in edge.verts)))
    geometry.verts.sort(key=lambda vertex: float(place[vertex.index]))
    geometry.to_mesh(obj.data)
    geometry.free()


def finish(obj: bpy.types.Object) -> None:
    """Smooth shading and subdivision, but the corners of what tears off stay corners."""
    stage.soften(obj)
    obj.modifiers[-1].boundary_smooth = "PRESERVE_CORNERS"


POLE_HEIGHT = 2.6
"""Of the flag's pole [m]."""

TORN_FACES = (44, 28)
"""Faces of the torn flag along and across."""


def torn_flag() -> None:
    """A worn flag in a rising gale: its fly tears into ribbons."""
    scene = kit.begin(frames=120)
    kit.set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.6)
    kit.set_pbd(scene, wind_direction=(1.0, -0.25, 0.0), wind_turbulence=30.0, wind_eddy=1.2)
    kit.key(scene, "pbd.wind_speed", {1: 6.0, 24: 6.0, 60: 13.0})
    stage.build((0.16, 0.20, 0.24))
    rod = stage.add_rod("Pole", (0.0, 0.0, 0.0), (0.0, 0.0, POLE_HEIGHT), 0.025)
    rod.data.materials.append(stage.wood("Ash", (0.42, 0.22, 0.09)))
    foot = [(0.24, 0.0), (0.24, 0.03), (0.20, 0.06), (0.10, 0.12), (0.06, 0.14)]
    stage.turned("Foot", foot, stage.matte("Stone", (0.20, 0.19, 0.18)))
    knob = stage.add_ball("Knob", (0.0, 0.0, POLE_HEIGHT + 0.02), 0.05)
    knob.data.materials.append(stage.metal("Brass", (0.83, 0.62, 0.30)))

    along, across = TORN_FACES
    bpy.ops.mesh.primitive_pbd_cloth_add(rx=along + 1, ry=across + 1, width=1.5, height=1.0, pin="EDGE")
    cloth = bpy.context.object
    cloth.name = cloth.data.name = "Flag"
    kit.place_vertices(cloth.data, kit.vertices_of(cloth.data)[:, [0, 2, 1]] + (0.78, 0.0, 2.05))
    cloth.data.uv_layers.remove(cloth.data.uv_layers[0])
    colors = {"Coral": (0.70, 0.07, 0.025), "Cream": (0.84, 0.72, 0.50), "Navy": (0.012, 0.03, 0.10)}
    stripes = np.array([2, 1, 0, 1, 2])[stage.bands(5, 6, 6, 6, 5)]
    stage.paint(cloth, [stage.fabric(*color) for color in colors.items()], np.repeat(stripes, along))
    wear_out(cloth)
    split(cloth, 1750.0)
    finish(cloth)
    stage.add_camera((1.9, -6.2, 1.6), (0.80, 0.0, 1.42), 56.0)


def wear_out(flag: bpy.types.Object) -> None:
    """Give the flag a map of its strength: weak along some threads that run from its fly into it."""
    positions = kit.vertices_of(flag.data).astype(float)
    along = TORN_FACES[0]
    column = np.arange(len(positions)) % (along + 1)
    row = np.arange(len(positions)) // (along + 1)
    weak = flag.vertex_groups.new(name="Worn")
    for thread, length in ((5, 14), (10, 22), (13, 10), (18, 19), (23, 12)):
        weak.add(np.flatnonzero((row == thread) & (column >= along - length)).tolist(), 1.0, "REPLACE")
    kit.set_pbd(flag, tear_group="Worn", tear_low=1.0, tear_high=0.03)


BURST_HEIGHT, BURST_RADIUS = 0.52, 0.11
"""Of the balloon's middle above the floor, and its radius before it is blown up [m]."""

THIN = (3, 9, 17, 22, 30, 35)
"""Of the columns of its vertices, those along which its rubber is thin."""

COLUMNS, ROWS = 40, 26
"""Faces around the balloon, and from its top to its neck."""


def burst_balloon() -> None:
    """A toy balloon is pumped up until it bursts by its own tension; its rubber is thin along six lines."""
    scene = kit.begin(frames=72)
    stage.build((0.06, 0.24, 0.30))
    balloon = add_balloon("Balloon")
    kit.set_pbd(balloon, tethers=False)
    kit.key(balloon, "pbd.pressure", {1: 1.0, 4: 1.0, 34: 3.0, 40: 3.4})
    row, column = np.divmod(np.arange(1, ROWS * COLUMNS + 1) - 1, COLUMNS)
    group = balloon.vertex_groups.new(name="Neck")
    group.add([*(np.flatnonzero(row >= ROWS - 2) + 1).tolist(), ROWS * COLUMNS + 1], 1.0, "REPLACE")
    balloon.pbd.pin_group = group.name
    thin = balloon.vertex_groups.new(name="Thin")
    for at in THIN:  # the lines go to and fro
        shift = np.round(1.6 * np.sin(0.5 * row + at)).astype(int)
        step = np.roll(shift, COLUMNS)
        on = (row < ROWS - 4) & ((column == (at + shift) % COLUMNS) | (column == (at + step) % COLUMNS) & (row > 0))
        thin.add((np.flatnonzero(on) + 1).tolist(), 1.0, "REPLACE")
    thin.add([0], 1.0, "REPLACE")
    kit.set_pbd(balloon, tear_group="Thin", tear_low=1.0, tear_high=0.6)
    balloon.data.materials.append(stage.rubber("Red", (0.72, 0.03, 0.04)))
    split(balloon, 400.0)
    finish(balloon)
    brass = stage.metal("Brass", (0.83, 0.58, 0.24))
    top = BURST_HEIGHT - 1.5 * BURST_RADIUS
    body = [
        (0.10, 0.0),
        (0.105, 0.01),
        (0.105, 0.03),
        (0.045, 0.05),
        (0.04, 0.06),
        (0.04, top - 0.10),
        (0.0, top - 0.09),
    ]
    stage.turned("Pump", body, brass)
    stage.turned("Nozzle", [(0.02, top - 0.11), (0.012, top - 0.07), (0.011, top), (0.0, top)], brass)
    kit.set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.8)
    stage.add_camera((0.4, -2.3, 0.72), (0.0, 0.0, 0.40), 86.0)


def add_balloon(name: str) -> bpy.types.Object:
    """A balloon that is not blown up, closed by a point at its top and one in its neck; the active object.

    Its vertices are the top, `ROWS` rings of `COLUMNS`, and the middle of the neck.
    """
    turn = np.linspace(0.0, 0.93 * math.pi, ROWS + 1)[1:]
    low = np.clip(-np.cos(turn), 0.0, 1.0)  # below its middle it runs together into the neck
    radius = BURST_RADIUS * np.sin(turn) * (1.0 - 0.32 * low**2)
    radius[-2:] = 0.013
    height = BURST_RADIUS * (np.cos(turn) - 0.5 * low**3)
    angle = 2.0 * math.pi * np.arange(COLUMNS) / COLUMNS
    around = np.stack([np.cos(angle), np.sin(angle), np.ones(COLUMNS)], axis=-1)
    rings = around * np.stack([radius, radius, height], axis=-1)[:, None]
    ids = 1 + np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    after, last = np.roll(ids, -1, axis=1), ROWS * COLUMNS + 1
    faces = [[0, *pair] for pair in np.stack([ids[0], after[0]], axis=-1).tolist()]
    faces += np.stack([ids[:-1], ids[1:], after[1:], after[:-1]], axis=-1).reshape(-1, 4).tolist()
    faces += [[last, *pair] for pair in np.stack([after[-1], ids[-1]], axis=-1).tolist()]
    mesh = bpy.data.meshes.new(name)
    ends = [0.0, 0.0, BURST_RADIUS], [0.0, 0.0, height[-1]]
    mesh.from_pydata([ends[0], *rings.reshape(-1, 3).tolist(), ends[1]], [], faces)
    balloon = stage.new_object(name, mesh)
    balloon.location = (0.0, 0.0, BURST_HEIGHT)
    kit.select([balloon])
    bpy.ops.object.pbd_add(type="BALLOON")
    kit.set_pbd(balloon, rubber=False)  # a film that pulls in proportion recoils more when it tears
    return balloon


SHEET_FACES, SHEET_CELL, SHEET_HEIGHT = (81, 51), 9.0 / 512.0, 1.15
"""Of the sheet of the figure: 82 × 52 vertices, length of an edge, whose multiples are short numbers, which makes the
file small, and how high it is stretched [m]."""

SHEET_SIZE = (SHEET_FACES[0] * SHEET_CELL, SHEET_FACES[1] * SHEET_CELL)

TARGETS = ((-0.36, 0.03), (0.37, -0.02))
"""Where the two bodies hit it [m]."""


def torn_sheet() -> None:
    """Müller et al. 2007, Fig. 10: two bodies fall through a sheet of 4264 vertices and tear it."""
    scene = kit.begin(frames=72)
    kit.set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.6)
    stage.build((0.10, 0.16, 0.30))
    wood = stage.wood("Ash", (0.46, 0.25, 0.10))
    half, bar = (0.5 * SHEET_SIZE[0], 0.5 * SHEET_SIZE[1]), 0.045
    parts, foot = [], SHEET_HEIGHT - 0.5 * bar
    for side in (-1.0, 1.0):
        x, y = side * (half[0] + 0.4 * bar), side * (half[1] + 0.4 * bar)
        parts.append(kit.add_block("Frame", (0.0, y, SHEET_HEIGHT), (SHEET_SIZE[0] + 1.8 * bar, bar, bar), wood))
        parts.append(kit.add_block("Frame", (x, 0.0, SHEET_HEIGHT), (bar, SHEET_SIZE[1] - 0.2 * bar, bar), wood))
        for end in (-1.0, 1.0):
            place = (end * (half[0] + 0.4 * bar), y, 0.5 * foot)
            parts.append(kit.add_block("Frame", place, (bar, bar, foot), wood))
    with bpy.context.temp_override(
        active_object=parts[0], object=parts[0], selected_objects=parts, selected_editable_objects=parts
    ):
        bpy.ops.object.join()
    cloth = kit.add_cloth(
        "Sheet",
        (SHEET_FACES[0] + 1, SHEET_FACES[1] + 1),
        SHEET_SIZE,
        (0.0, 0.0, SHEET_HEIGHT),
        damping=1.0,
        friction=0.3,
    )
    cloth.data.uv_layers.remove(cloth.data.uv_layers[0])
    positions = kit.vertices_of(cloth.data).astype(float)
    border = np.abs(positions[:, :2]) > np.array(half) - 1e-4
    group = cloth.vertex_groups.new(name="Frame")
    group.add(np.flatnonzero(border.any(axis=1)).tolist(), 1.0, "REPLACE")
    cloth.pbd.pin_group = group.name
    centers = np.array([face.center[:2] for face in cloth.data.polygons])
    ring = np.linalg.norm(centers[:, None] - TARGETS, axis=2).min(axis=1) // 0.065
    colors = {"Cream": (0.84, 0.74, 0.54), "Red": (0.60, 0.03, 0.02)}
    stage.paint(cloth, [stage.fabric(*one) for one in colors.items()], (ring < 5) & (ring % 2 == 0))
    middle = cloth.vertex_groups.new(name="Middle")
    reach = np.linalg.norm(positions[:, None, :2] - TARGETS, axis=2).min(axis=1)
    middle.add(np.flatnonzero(reach < 0.25).tolist(), 1.0, "REPLACE")
    cloth.vertex_groups.active_index = middle.index
    split(cloth, 300.0, "GROUP")
    cloth.vertex_groups.remove(middle)
    finish(cloth)
    ball = stage.add_ball("Ball", (0.0, 0.0, 0.0), 0.14)
    ball.data.uv_layers.remove(ball.data.uv_layers[0])
    ball.data.materials.append(stage.enamel("Black", (0.012, 0.013, 0.016)))
    bob = [
        (0.0, -0.15),
        (0.01, -0.145),
        (0.10, 0.02),
        (0.11, 0.05),
        (0.10, 0.08),
        (0.03, 0.10),
        (0.025, 0.14),
        (0.0, 0.14),
    ]
    pointed = stage.turned("Plumb Bob", bob, stage.metal("Brass", (0.83, 0.58, 0.24)), 32)
    for body, target, first in ((ball, TARGETS[0], 5), (pointed, TARGETS[1], 11)):
        kit.drop(body, (*target, SHEET_HEIGHT + 0.2), first, 0.15)
        kit.set_collider(body, friction=0.2)
    kit.select([cloth])
    stage.add_camera((1.3, -4.0, 2.75), (0.0, 0.0, 0.72), 64.0)
