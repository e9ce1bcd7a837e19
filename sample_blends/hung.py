"""Samples of cloth that hangs: a curtain, a flag, and the six sheets of a figure."""

from __future__ import annotations

import math

import bpy
import kit
import numpy as np
import stage

TILT = math.radians(35.0)
"""How far cloth already hangs down in the first frame, so that the camera sees it."""


def curtain() -> None:
    """A cloth grid held at two corners: it swings down and hangs."""
    kit.begin(frames=96)
    stage.build((0.42, 0.24, 0.09))
    bpy.ops.mesh.primitive_pbd_cloth_add(rx=48, ry=40, width=2.2, height=1.7, pin="CORNERS")
    cloth = bpy.context.object
    cloth.name = cloth.data.name = "Curtain"
    # Its ends are nearer to each other than it is wide; so it hangs in folds.
    x, wave = drawn_together(2.2, 1.75, 4, 48)
    down, out = np.array([0.0, -math.cos(TILT), -math.sin(TILT)]), np.zeros(3)
    out[1:] = down[2], -down[1]
    along = np.linspace(1.7, 0.0, 40)[:, None, None]
    positions = along * down + wave[:, None] * out + x[:, None] * (1.0, 0.0, 0.0)
    kit.place_vertices(cloth.data, positions.reshape(-1, 3))
    cloth.location = (0.0, 0.0, 2.0)
    kit.set_pbd(
        cloth,
        density=0.2,
        stretch=3000.0,
        compression=3000.0,
        shear=150.0,
        bend=9e-5,
        bend_model="ISOMETRIC",
        damping=1.0,
        self_collision=False,  # its folds hang side by side
    )
    stage.soften(cloth)
    red, cream = stage.fabric("Linen", (0.42, 0.016, 0.02)), stage.fabric("Hem", (0.78, 0.60, 0.36))
    stage.paint(cloth, (red, cream), np.repeat(stage.bands(2, 3, 34) == 1, 47))
    brass, wood = stage.metal("Brass", (0.83, 0.58, 0.24)), stage.wood("Walnut", (0.11, 0.045, 0.018))
    stage.add_rod("Rail", (-1.22, 0.0, 2.03), (1.22, 0.0, 2.03), 0.014).data.materials.append(brass)
    for side in (-1.0, 1.0):
        bpy.ops.mesh.primitive_torus_add(
            major_radius=0.034,
            minor_radius=0.006,
            location=(0.875 * side, 0.0, 2.01),
            rotation=(0.0, 0.5 * math.pi, 0.0),
        )
        bpy.context.object.data.shade_smooth()
        bpy.context.object.data.materials.append(brass)
        post = stage.turned(
            "Post", [(0.16, 0.0), (0.16, 0.03), (0.03, 0.05), (0.022, 2.1), (0.03, 2.11), (0.0, 2.13)], wood
        )
        post.location.x = 1.22 * side
    stage.add_camera((1.2, -5.7, 1.7), (0.0, 0.0, 1.07), 58.0)


def drawn_together(width: float, span: float, folds: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """A line of length `width` laid in waves that are only `span` long: no stretch, as fingers would gather cloth.

    Args:
        width: Length of the line [m].
        span: Distance of its ends [m].
        folds: Waves.
        count: Points, at equal distances along the line.

    Returns:
        Places along the span, from -span/2 to span/2, and heights of the wave, each (count,) [m].
    """
    x = np.linspace(-0.5 * span, 0.5 * span, 4001)
    low, high = 0.0, width
    for _ in range(60):
        amplitude = 0.5 * (low + high)
        z = amplitude * np.sin(2.0 * math.pi * folds * (x / span + 0.5))
        along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(z)))])
        low, high = (amplitude, high) if along[-1] < width else (low, amplitude)
    points = np.linspace(0.0, along[-1], count)
    return np.interp(points, along, x), np.interp(points, along, z)


def flag() -> None:
    """A flag on a pole in gusts of wind."""
    scene = kit.begin(frames=120)
    # The wind blows a little towards the camera, so that the flag shows both of its sides.
    kit.set_pbd(scene, wind_speed=7.0, wind_direction=(1.0, -0.25, 0.0), wind_turbulence=25.0, wind_eddy=1.5)
    stage.build((0.10, 0.24, 0.40))
    rod = stage.add_rod("Pole", (0.0, 0.0, 0.0), (0.0, 0.0, 2.6), 0.025)
    rod.data.materials.append(stage.wood("Ash", (0.42, 0.22, 0.09)))
    foot = [(0.24, 0.0), (0.24, 0.03), (0.20, 0.06), (0.10, 0.12), (0.06, 0.14)]
    stage.turned("Foot", foot, stage.matte("Stone", (0.20, 0.19, 0.18)))
    knob = stage.add_ball("Knob", (0.0, 0.0, 2.62), 0.05)
    knob.data.materials.append(stage.metal("Brass", (0.83, 0.62, 0.30)))

    bpy.ops.mesh.primitive_pbd_cloth_add(rx=31, ry=21, width=1.5, height=1.0, pin="EDGE")
    cloth = bpy.context.object
    cloth.name = cloth.data.name = "Flag"
    kit.place_vertices(cloth.data, kit.vertices_of(cloth.data)[:, [0, 2, 1]] + (0.78, 0.0, 2.05))
    stage.soften(cloth)
    colors = {"Coral": (0.70, 0.07, 0.025), "Cream": (0.84, 0.72, 0.50), "Navy": (0.012, 0.03, 0.10)}
    stripes = np.array([2, 1, 0, 1, 2])[stage.bands(4, 4, 4, 4, 4)]
    stage.paint(cloth, [stage.fabric(*color) for color in colors.items()], np.repeat(stripes, 30))
    stage.add_camera((1.7, -6.0, 1.6), (0.68, 0.0, 1.34), 58.0)


STRETCH = {1.0: "1", 0.5: "1/2", 0.01: "1/100"}
BEND = (0.0, 1.0)
"""Stiffnesses of Müller et al. 2007, Fig. 3: columns and rows."""


def stiffness_grid() -> None:
    """The six cloths of Müller et al. 2007, Fig. 3: stretching and bending stiffness do not depend on each other."""
    scene = kit.begin(frames=72)
    stage.build((0.46, 0.43, 0.37), scale=2.0)
    # As they come together by a third only, no fold meets another.
    kit.set_pbd(scene, method="PBD", substeps=30, iterations=1, collisions="OFF")
    ink = stage.matte("Ink", (0.03, 0.03, 0.035))
    cloths = (stage.fabric("Blue", (0.02, 0.16, 0.42)), stage.fabric("Orange", (0.72, 0.18, 0.02)))
    for row, bend in enumerate(BEND):
        for column, (stretch, spoken) in enumerate(STRETCH.items()):
            held = (1.7 * (column - 1), 0.6, 4.5 - 2.6 * row)
            place = (held[0], 0.6 - 0.6 * math.cos(TILT), held[2] - 0.6 * math.sin(TILT))
            bpy.ops.mesh.primitive_pbd_cloth_add(
                rx=20, ry=20, width=1.2, height=1.2, pin="CORNERS", location=place, rotation=(TILT, 0.0, 0.0)
            )
            cloth = bpy.context.object
            cloth.name = cloth.data.name = f"Stretch {stretch:g} Bend {bend:g}"
            kit.set_pbd(
                cloth,
                k_stretch=stretch,
                k_compression=stretch,
                k_shear=stretch,
                k_bend=bend,
                tethers=False,
                damping=1.0,
            )
            # The corners come together, so that there is something to fold.
            kit.key(cloth, "scale", {1: (1.0, 1.0, 1.0), 40: (0.7, 1.0, 1.0)})
            stage.soften(cloth)
            cloth.data.materials.append(cloths[row])
            label(f"stretching {spoken}\nbending {bend:g}", (held[0], held[1], held[2] + 0.28), ink)
    stage.add_camera((0.9, -12.0, 3.2), (0.0, 0.0, 2.62), 65.0)


def label(text: str, place: tuple[float, float, float], made_of: bpy.types.Material) -> bpy.types.Object:
    """Upright text, centered at a place [m]."""
    words = bpy.data.curves.new(text.replace("\n", ", "), "FONT")
    words.body, words.size, words.align_x = text, 0.17, "CENTER"
    words.materials.append(made_of)
    obj = stage.new_object(words.name, words)
    obj.location, obj.rotation_euler = place, (0.5 * math.pi, 0.0, 0.0)
    return obj
