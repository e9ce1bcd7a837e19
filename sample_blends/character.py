"""A figure of tubes on an armature that walks, and the cape that it wears."""

from __future__ import annotations

import math

import bpy
import kit
import numpy as np
import stage

AROUND = 20
"""Vertices of every ring of the figure."""

BONES = {
    "Hips": ("", (0.0, 0.0, 0.90), (0.0, 0.0, 1.08)),
    "Chest": ("Hips", (0.0, 0.0, 1.08), (0.0, 0.0, 1.44)),
    "Head": ("Chest", (0.0, 0.0, 1.44), (0.0, 0.0, 1.76)),
    "Shoulder.L": ("Chest", (0.03, 0.0, 1.40), (0.17, 0.0, 1.40)),
    "Arm.L": ("Shoulder.L", (0.18, 0.0, 1.365), (0.21, 0.01, 1.08)),
    "Forearm.L": ("Arm.L", (0.21, 0.01, 1.08), (0.22, -0.02, 0.82)),
    "Thigh.L": ("Hips", (0.09, 0.0, 0.90), (0.09, 0.0, 0.48)),
    "Shin.L": ("Thigh.L", (0.09, 0.0, 0.48), (0.09, 0.0, 0.06)),
}
BONES |= {
    name.replace(".L", ".R"): (parent.replace(".L", ".R"), (-x, y, z), (-u, v, w))
    for name, (parent, (x, y, z), (u, v, w)) in BONES.items()
    if name.endswith(".L")
}
"""Parent, head and tail [m] of the bones; the figure looks to -Y."""

TRUNK = (
    (0.835, 0.030, 0.030, 0.000), (0.840, 0.090, 0.075, 0.000), (0.870, 0.140, 0.105, 0.008),
    (0.930, 0.158, 0.114, 0.014), (0.990, 0.148, 0.106, 0.010), (1.060, 0.124, 0.092, 0.002),
    (1.100, 0.117, 0.087, -0.003), (1.160, 0.124, 0.094, -0.008), (1.240, 0.144, 0.105, -0.010),
    (1.310, 0.158, 0.109, -0.007), (1.360, 0.164, 0.100, -0.001), (1.400, 0.154, 0.083, 0.006),
    (1.428, 0.116, 0.068, 0.010), (1.450, 0.074, 0.058, 0.010), (1.475, 0.053, 0.052, 0.008),
    (1.520, 0.048, 0.049, 0.002), (1.545, 0.052, 0.060, -0.006), (1.580, 0.068, 0.085, -0.012),
    (1.630, 0.077, 0.098, -0.010), (1.690, 0.075, 0.097, -0.004), (1.735, 0.053, 0.072, 0.000),
    (1.755, 0.022, 0.030, 0.002), (1.758, 0.005, 0.007, 0.002),
)  # fmt: skip
"""Rings of trunk, neck and head: height, half axes along X and Y, and place along Y [m]."""

LIMBS = {
    "Arm": (
        (-0.20, 0.008, 0.008), (-0.185, 0.024, 0.024), (-0.14, 0.041, 0.041), (-0.07, 0.053, 0.053),
        (0.03, 0.056, 0.056), (0.16, 0.053, 0.055), (0.35, 0.046, 0.050), (0.65, 0.041, 0.045), (0.95, 0.037, 0.039),
    ),
    "Forearm": (
        (0.05, 0.038, 0.040), (0.22, 0.039, 0.043), (0.50, 0.034, 0.037), (0.88, 0.025, 0.029), (1.00, 0.024, 0.032),
        (1.12, 0.023, 0.042), (1.28, 0.020, 0.042), (1.42, 0.016, 0.034), (1.50, 0.006, 0.014),
    ),
    "Thigh": (
        (-0.10, 0.010, 0.010), (-0.085, 0.040, 0.042), (-0.03, 0.068, 0.075), (0.06, 0.080, 0.090),
        (0.22, 0.078, 0.086), (0.55, 0.064, 0.070), (0.85, 0.052, 0.056), (0.97, 0.050, 0.055),
    ),
    "Shin": (
        (0.04, 0.049, 0.053), (0.14, 0.050, 0.055), (0.32, 0.052, 0.060), (0.55, 0.043, 0.049), (0.82, 0.033, 0.036),
        (0.95, 0.034, 0.040), (1.03, 0.030, 0.040), (1.08, 0.012, 0.020),
    ),
}  # fmt: skip
"""Rings of arms and legs: place along the bone (0 its head, 1 its tail), half axes along X and Y [m]."""

FOOT = (
    (0.072, 0.038, 0.006, 0.006), (0.066, 0.038, 0.024, 0.022), (0.045, 0.040, 0.036, 0.037),
    (0.000, 0.044, 0.038, 0.042), (-0.05, 0.038, 0.042, 0.036), (-0.10, 0.028, 0.046, 0.026),
    (-0.14, 0.022, 0.041, 0.020), (-0.165, 0.019, 0.027, 0.015), (-0.175, 0.018, 0.008, 0.005),
)  # fmt: skip
"""Rings of a foot from heel to toes: place along Y and height, half axes along X and Z [m]."""

COLLAR = ((1.485, 0.078, 0.080), (1.462, 0.110, 0.105), (1.435, 0.190, 0.135), (1.395, 0.262, 0.165))
"""Rings of the cape around neck and shoulders: height and half axes along X and Y [m]."""

HEM, HEM_AXES, OPENING = 0.50, (0.42, 0.42), math.radians(78.0)
"""Height and half axes of the hem [m], and how far the cape goes around on either side of the back."""

START, STEPS, PACE, STRIDE = 8, 5, 14, 0.62
"""The first frame of the walk, the number of its steps, frames of a step, and its length [m]."""


def cape() -> None:
    """A figure walks and stops; its cape is posed by the same armature, pinned at the collar, and simulated from there.

    The simulation begins in the pose of the first frame, and 'PBD Output' stands between Armature and Subdivision.
    """
    kit.begin(frames=START + (STEPS + 1) * PACE)
    stage.build((0.05, 0.11, 0.20))
    rig = add_rig()
    figure = add_figure(rig)
    figure.data.materials.append(stage.matte("Clay", (0.50, 0.34, 0.22)))
    kit.set_collider(figure, thickness=0.01, friction=0.2, static_friction=0.2)
    cloth = add_cape(rig)
    stage.soften(cloth)
    wool, gold = stage.fabric("Wool", (0.38, 0.012, 0.025), sheen=0.3), stage.fabric("Gold", (0.74, 0.42, 0.10))
    stage.paint(cloth, (wool, gold), np.repeat(stage.bands(22, 1, 2) % 2, 32))
    walk(rig)
    pave()
    camera = stage.add_camera((-2.7, -2.0, 1.45), (0.0, 0.0, 0.88), 48.0)
    follow(camera)


def add_rig() -> bpy.types.Object:
    """The armature, turned to look along X."""
    rig = stage.new_object("Rig", bpy.data.armatures.new("Rig"))
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, head, tail) in BONES.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = rig.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    rig.rotation_euler.z = math.radians(90.0)
    rig.hide_render = True
    rig.data.display_type = "STICK"
    return rig


def add_figure(rig: bpy.types.Object) -> bpy.types.Object:
    """The figure: closed tubes around the bones, whose rings belong to one or two of them."""
    parts = [[((0.0, y, z), (a, b), trunk_weights(z)) for z, a, b, y in TRUNK]]
    for side in "LR":
        for upper, lower in (("Arm", "Forearm"), ("Thigh", "Shin")):
            parts.append(limb_rings(upper, side) + limb_rings(lower, side))
        x = BONES[f"Shin.{side}"][2][0]
        parts.append([((x, y, z), (a, b), {f"Shin.{side}": 1.0}) for y, z, a, b in FOOT])
    angles = np.arange(AROUND) * 2.0 * math.pi / AROUND
    positions, faces, weights, start = [], [], [], 0
    for part in parts:
        way = np.subtract(part[-1][0], part[0][0])
        lies = abs(way[1]) > abs(way[2])  # its rings stand upright: a foot
        second, normal = ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0)) if lies else ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        for center, (a, b), share in part:
            around = np.outer(a * np.cos(angles), (1.0, 0.0, 0.0)) + np.outer(b * np.sin(angles), second)
            positions.append(np.array(center) + around)
            weights.append(share)
        ids = start + np.arange(len(part) * AROUND).reshape(len(part), AROUND)
        after = np.roll(ids, -1, axis=1)
        sides = np.stack([ids[:-1], after[:-1], after[1:], ids[1:]], axis=-1).reshape(-1, 4).tolist()
        ends = [ids[0, ::-1].tolist(), ids[-1].tolist()]
        faces += [face if way @ normal > 0.0 else face[::-1] for face in sides + ends]
        start += ids.size
    mesh = bpy.data.meshes.new("Figure")
    mesh.from_pydata(np.concatenate(positions).tolist(), [], faces)
    mesh.shade_smooth()
    figure = stage.new_object("Figure", mesh)
    for ring, share in enumerate(weights):
        give(figure, range(ring * AROUND, (ring + 1) * AROUND), share)
    wear(figure, rig)
    return figure


def trunk_weights(height: float) -> dict[str, float]:
    """Which bones hold a ring of the trunk at a height [m]."""
    chest = min(max((height - 1.00) / 0.16, 0.0), 1.0)
    head = min(max((height - 1.44) / 0.08, 0.0), 1.0)
    return {"Hips": 1.0 - chest, "Chest": chest - head, "Head": head}


def limb_rings(kind: str, side: str) -> list[tuple]:
    """Rings around a bone of an arm or a leg: center, half axes, and which bones hold them."""
    bone = f"{kind}.{side}"
    here, there = map(np.array, BONES[bone][1:])
    return [(here + place * (there - here), (a, b), {bone: 1.0}) for place, a, b in LIMBS[kind]]


def give(obj: bpy.types.Object, ids: range, shares: dict[str, float]) -> None:
    """Put vertices into the groups of bones."""
    for bone, weight in shares.items():
        if weight > 0.0:
            group = obj.vertex_groups.get(bone) or obj.vertex_groups.new(name=bone)
            group.add(list(ids), weight, "REPLACE")


def wear(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Let the armature pose a mesh that goes where it goes."""
    obj.parent = rig
    obj.modifiers.new("Armature", "ARMATURE").object = rig


def add_cape(rig: bpy.types.Object, columns: int = 33, rows: int = 26) -> bpy.types.Object:
    """The cape, open in front; its two uppermost rings are pinned, and chest and shoulders pose it."""
    spread = np.linspace(0.0, 1.0, rows - len(COLLAR) + 1)[1:, None]
    rings = np.concatenate([COLLAR, COLLAR[-1] + spread * (np.array((HEM, *HEM_AXES)) - COLLAR[-1])])
    z, a, b = (rings[:, at, None] for at in range(3))
    angles = np.linspace(-OPENING, OPENING, columns)
    positions = np.stack([a * np.sin(angles), b * np.cos(angles), z + 0.0 * angles], axis=-1)
    ids = np.arange(rows * columns).reshape(rows, columns)
    quads = np.stack([ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:], ids[:-1, :-1]], axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new("Cape")
    mesh.from_pydata(positions.reshape(-1, 3).tolist(), [], quads.tolist())
    cloth = stage.new_object("Cape", mesh)
    for column, side in enumerate(np.clip(positions[2, :, 0] / 0.19, -1.0, 1.0)):
        column_ids = range(column, rows * columns, columns)
        shoulder = "Shoulder.L" if side > 0.0 else "Shoulder.R"
        give(cloth, column_ids, {"Chest": 1.0 - 0.5 * abs(side), shoulder: 0.5 * abs(side)})
    wear(cloth, rig)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.object.pbd_add(type="CLOTH")
    kit.set_pbd(
        cloth, density=0.25, stretch=3000.0, compression=3000.0, shear=150.0, bend=3e-5, damping=0.5,
        bend_damping=0.05, friction=0.2, self_distance=0.008,
    )  # fmt: skip
    cloth.vertex_groups.new(name="Collar").add(ids[:2].ravel().tolist(), 1.0, "REPLACE")
    cloth.pbd.pin_group = "Collar"
    return cloth


def pave() -> None:
    """Slabs along the way, which show how far the figure gets."""
    stone = stage.matte("Slab", (0.09, 0.11, 0.15))
    for number in range(-4, 5):
        kit.add_block("Slab", (0.8 * number, 0.0, 0.0), (0.76, 1.2, 0.004), stone)


def follow(camera: bpy.types.Object, start: int = START) -> None:
    """Let the camera go beside the figure, at its pace."""
    way = 0.5 * STEPS * STRIDE
    x, y, z = camera.location
    kit.key(camera, "location", {start: (x - way, y, z), start + STEPS * PACE: (x + way, y, z)})


def walk(rig: bpy.types.Object, start: int = START) -> None:
    """Key some steps from `start` on: legs and arms swing, shoulders turn against them, and the rig goes along X."""
    last = start + STEPS * PACE
    way = STEPS * STRIDE
    kit.key(rig, "location", {start: (-0.5 * way, 0.0, 0.0), last: (0.5 * way, 0.0, 0.0)})
    swings = {start: 0.0, last + PACE // 2: 0.0}
    swings |= {start + PACE * step + PACE // 2: (-1.0) ** step for step in range(STEPS)}
    frames = sorted(swings)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        turn(rig, f"Thigh.{side}", 0, {frame: 24.0 * sign * swings[frame] for frame in frames})
        bends = dict.fromkeys(frames, 8.0) | {start: 0.0, last + PACE // 2: 0.0}
        bends |= {start + PACE * step: 48.0 for step in range(1, STEPS) if (-1.0) ** step == sign}
        turn(rig, f"Shin.{side}", 0, {frame: bends[frame] for frame in sorted(bends)})
        turn(rig, f"Arm.{side}", 0, {frame: -20.0 * sign * swings[frame] for frame in frames})
        turn(rig, f"Forearm.{side}", 0, {frame: 14.0 + 6.0 * abs(swings[frame]) for frame in frames})
        turn(rig, f"Shoulder.{side}", 0, {frame: 8.0 * swings[frame] for frame in frames})
    turn(rig, "Chest", 1, {frame: 9.0 * swings[frame] for frame in frames})
    turn(rig, "Hips", 1, {frame: -5.0 * swings[frame] for frame in frames})


def turn(rig: bpy.types.Object, bone: str, axis: int, degrees: dict[int, float]) -> None:
    """Animate the rotation of a bone about one of its axes."""
    angles = {}
    for frame, angle in degrees.items():
        angles[frame] = tuple(math.radians(angle) if at == axis else 0.0 for at in range(3))
    kit.key(rig, f'pose.bones["{bone}"].rotation_euler', angles)
