"""A shirt that is sewn from four panels around a figure, which then walks off in it."""

from __future__ import annotations

import math

import bpy
import character
import kit
import numpy as np
import stage

CELL = 0.034
"""Length of the edges of the panels [m]."""

COLUMNS, ROWS = (6, 6), (8, 10)
"""Faces of half a front across its body and along its sleeve, and down its sleeve and below it."""

FIT = ((0, 1.0), (8, 1.0), (12, 0.94), (18, 1.14))
"""How wide the panels are at rows from the shoulders to the hem, over what they are at the chest: they have a waist."""

BANDS = (4,)
"""Rows of faces of another color, of the sleeves and below them."""

NECK = 3
"""Columns on either side of the middle that are left open for the neck."""

SLOPE = math.tan(math.radians(32.0))
"""Of the shoulders and sleeves, as the arms are held while the shirt is sewn."""

TOP, APART = 1.53, 0.16
"""Height of the panels' upper edge, and how far front and back are from the middle at first [m]."""

CLOSED = 30
"""Frame in which all seams are closed, and from which on there is gravity."""

HELD, DOWN = 52.0, 32.0
"""How far the arms are held from the sides while the shirt is sewn, and how far in the walk [degrees]."""

START = 34
"""The first frame of the walk."""


def shirt() -> None:
    """Four panels close around a figure, whose arms are held out; it lowers them and walks.

    Seams are loose edges that *Sewing* draws together; where their ends meet, they become one.
    """
    kit.begin(frames=START + 4 * character.PACE)
    stage.build((0.13, 0.10, 0.17))
    rig = character.add_rig()
    figure = character.add_figure(rig)
    figure.data.materials.append(stage.matte("Clay", (0.50, 0.34, 0.22)))
    kit.set_collider(figure, thickness=0.01, friction=0.3, static_friction=0.3)
    cloth = add_panels()
    weld = cloth.modifiers.new("Weld", "WELD")  # what is sewn is smooth across the seam
    weld.merge_threshold = 1e-4
    stage.soften(cloth)
    navy, cream = stage.fabric("Navy", (0.03, 0.08, 0.24)), stage.fabric("Cream", (0.78, 0.70, 0.54))
    rows = np.concatenate([np.repeat(np.arange(ROWS[0]), sum(COLUMNS)), np.repeat(np.arange(ROWS[1]), COLUMNS[0])])
    stage.paint(cloth, (navy, cream), np.tile(np.isin(rows, BANDS), 4))
    character.walk(rig, START)
    lower_arms(rig)
    character.pave()
    camera = stage.add_camera((2.35, -2.15, 1.45), (0.0, 0.0, 0.92), 46.0)
    character.follow(camera, START)


def add_panels() -> bpy.types.Object:
    """Both halves of the front and of the back, with the seams between them."""
    columns, rows = sum(COLUMNS), sum(ROWS)
    row, column = np.divmod(np.arange((rows + 1) * (columns + 1)), columns + 1)
    y = (column + 0.4) * CELL * np.interp(row, *zip(*FIT))  # the seam in the middle closes, too
    slope = SLOPE * np.minimum((rows - row) / ROWS[1], 1.0)  # the hem is level
    z = TOP - row * CELL - slope * np.maximum(column - NECK, 0) * CELL
    ids = np.arange(len(row)).reshape(rows + 1, columns + 1)
    quads = np.stack([ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:], ids[:-1, :-1]], axis=-1)
    quads = np.concatenate([quads[: ROWS[0]].reshape(-1, 4), quads[ROWS[0] :, : COLUMNS[0]].reshape(-1, 4)])
    used = np.unique(quads)
    middle, shoulder = ids[:, 0], ids[0, NECK:]
    side = np.concatenate([ids[ROWS[0], : COLUMNS[0] - 1 : -1], ids[ROWS[0] + 1 :, COLUMNS[0]]])
    places, faces, seams = [], [], []
    for number, (front, left) in enumerate(((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))):
        places.append(np.stack([0.0 * y + front * APART, left * y, z], axis=-1)[used])
        faces.append(np.searchsorted(used, quads)[:, :: int(front * left)] + number * len(used))
    sides = ((one, one + 2, border) for one in (0, 1) for border in (shoulder, side))
    for one, other, sewn in ((0, 1, middle), (2, 3, middle), *sides):
        at = np.searchsorted(used, sewn)
        seams.append(np.stack([at + one * len(used), at + other * len(used)], axis=-1))
    mesh = bpy.data.meshes.new("Shirt")
    mesh.from_pydata(np.concatenate(places).tolist(), np.concatenate(seams).tolist(), np.concatenate(faces).tolist())
    cloth = stage.new_object("Shirt", mesh)
    cloth.location.x = -0.5 * character.STEPS * character.STRIDE  # where the figure stands at first
    kit.select([cloth])
    bpy.ops.object.pbd_add(type="CLOTH")
    kit.choose_material(cloth, "Cotton")
    kit.set_pbd(cloth, friction=0.3, sewing=True)
    kit.key(cloth, "pbd.field_weights.gravity", {CLOSED: 0.0, CLOSED + 1: 1.0})
    return cloth


def lower_arms(rig: bpy.types.Object) -> None:
    """Key the arms sideways, from how they are held while the shirt is sewn to how they hang."""
    for side, sign in (("L", 1.0), ("R", -1.0)):
        path = f'pose.bones["Arm.{side}"].rotation_euler'
        curves = kit.curves_of(rig)
        curves.remove(curves.find(path, index=2))
        for frame, angle in ((CLOSED, HELD), (START + character.PACE, DOWN)):
            rig.pose.bones[f"Arm.{side}"].rotation_euler[2] = -sign * math.radians(angle)
            rig.keyframe_insert(path, index=2, frame=frame)
