"""Samples of cloth that lies on something: a tablecloth, and a skirt on a dummy."""

from __future__ import annotations

import math

import bpy
import kit
import numpy as np
import stage


def tablecloth() -> None:
    """A square cloth falls on a round table: it lies on the top, slips over the edge and hangs in folds."""
    kit.begin(frames=72)
    stage.build((0.045, 0.13, 0.17))
    wood = stage.wood("Cherry", (0.26, 0.085, 0.03))
    for name, radius, low, high in (("Top", 0.55, 0.70, 0.74), ("Foot", 0.30, 0.0, 0.04), ("Column", 0.06, 0.04, 0.70)):
        part = add_disc(name, radius, low, high)
        part.data.materials.append(wood)
        kit.set_collider(part, thickness=0.008, friction=0.3, static_friction=0.4)
    cloth = kit.add_cloth(
        "Tablecloth", (34, 34), (1.5, 1.5), (0.03, -0.02, 0.95),
        density=0.2, stretch=4000.0, compression=4000.0, shear=100.0, bend=2e-5, damping=1.0,
        thickness=0.003, friction=0.3, self_distance=0.012,
    )  # fmt: skip
    cloth.rotation_euler = (math.radians(4.0), math.radians(3.0), math.radians(38.0))
    stage.soften(cloth)
    checks = {"White": (0.84, 0.78, 0.66), "Rose": (0.66, 0.20, 0.16), "Red": (0.50, 0.025, 0.025)}
    stage.paint_checks(cloth, 33, 3, checks)
    for x, y in ((-1.15, 0.35), (1.05, 0.75)):
        stool = [(0.16, 0.0), (0.16, 0.02), (0.035, 0.05), (0.03, 0.38), (0.17, 0.42), (0.19, 0.43), (0.19, 0.46)]
        stage.turned("Stool", [*stool, (0.18, 0.47)], wood).location = (x, y, 0.0)
    stage.add_camera((0.7, -4.1, 1.85), (0.0, 0.0, 0.52), 60.0)


def add_disc(name: str, radius: float, low: float, high: float) -> bpy.types.Object:
    """A round board about the z axis between two heights [m], with its edges broken."""
    depth = high - low
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=radius, depth=depth, end_fill_type="TRIFAN")
    disc = bpy.context.object
    disc.name = disc.data.name = name
    disc.location = (0.0, 0.0, 0.5 * (low + high))
    disc.data.shade_smooth()
    edges = disc.modifiers.new("Edges", "BEVEL")
    edges.width, edges.segments, edges.harden_normals = 0.018, 4, True
    return disc


TORSO = (
    (0.84, 0.030, 0.030), (0.845, 0.120, 0.085), (0.88, 0.160, 0.118), (0.94, 0.172, 0.126), (1.00, 0.158, 0.114),
    (1.06, 0.134, 0.098), (1.11, 0.124, 0.092), (1.16, 0.130, 0.096), (1.24, 0.146, 0.106), (1.32, 0.156, 0.110),
    (1.39, 0.160, 0.100), (1.43, 0.125, 0.080), (1.455, 0.062, 0.056), (1.52, 0.050, 0.050), (1.53, 0.020, 0.020),
)  # fmt: skip
"""Rings of a tailor's dummy: height and half axes along X and Y [m]."""

LEG = (
    (0.0, 0.020),
    (0.002, 0.042),
    (0.10, 0.040),
    (0.30, 0.052),
    (0.46, 0.050),
    (0.70, 0.070),
    (0.90, 0.078),
    (0.91, 0.03),
)
"""Rings of a leg: height and radius [m]."""

HIP, LEG_PLACE = 0.88, 0.085
"""Height of the hip joints, and how far they are from the middle [m]."""

WAIST, HEM = 1.11, 0.60
"""Heights of the skirt's upper and lower border as it is laid out [m]."""


def dress() -> None:
    """A skirt on a dummy that turns about and steps out: its waist is attached to the body, the rest swings."""
    kit.begin(frames=96)
    stage.build((0.34, 0.15, 0.13))
    wood = stage.wood("Limewood", (0.58, 0.36, 0.17))
    body = add_body("Body")
    body.data.materials.append(wood)
    head = stage.add_ball("Head", (0.0, 0.0, 1.62), 0.105)
    head.data.materials.append(wood)
    head.parent = body.parent
    kit.set_collider(body, thickness=0.008, friction=0.3, static_friction=0.3)
    skirt = add_skirt("Skirt", 54, 19)
    skirt.pbd.attach_object, skirt.pbd.attach_group = body, "Waist"
    stage.soften(skirt)
    satin, gold = stage.fabric("Satin", (0.02, 0.055, 0.24), sheen=0.3), stage.fabric("Gold", (0.72, 0.40, 0.10))
    stage.paint(skirt, (satin, gold), np.repeat(stage.bands(12, 1, 2, 2, 1) % 2, 54))
    stage.add_rug(0.75, stage.wood("Step", (0.16, 0.05, 0.03)), stage.wood("Parquet", (0.42, 0.20, 0.08)))
    stage.add_camera((0.6, -4.0, 1.35), (0.0, 0.0, 0.88), 54.0)


def add_body(name: str) -> bpy.types.Object:
    """A dummy of torso and two legs, moved by an armature that turns about and steps; its parent is that armature."""
    rings = [[(z, 0.0, a, b) for z, a, b in TORSO]]
    rings += [[(z, LEG_PLACE * side, r, r) for z, r in LEG] for side in (-1.0, 1.0)]
    positions, faces, parts = [], [], []
    count = 28
    angles = np.arange(count) * 2.0 * math.pi / count
    for part in rings:
        start = sum(map(len, positions))
        circles = [
            np.stack([x + a * np.cos(angles), b * np.sin(angles), 0 * angles + z], axis=1) for z, x, a, b in part
        ]
        positions.append(np.concatenate(circles))
        ids = start + np.arange(len(part) * count).reshape(len(part), count)
        after = np.roll(ids, -1, axis=1)
        faces += np.stack([ids[:-1], after[:-1], after[1:], ids[1:]], axis=-1).reshape(-1, 4).tolist()
        faces += [ids[0, ::-1].tolist(), ids[-1].tolist()]
        parts.append(ids.ravel().tolist())
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.concatenate(positions).tolist(), [], faces)
    mesh.shade_smooth()
    body = stage.new_object(name, mesh)
    bones = {"Torso": (0.0, HIP, 1.5), "Leg.R": (-LEG_PLACE, HIP, 0.06), "Leg.L": (LEG_PLACE, HIP, 0.06)}
    rig = add_rig("Rig", bones)
    for bone, ids in zip(bones, parts, strict=True):
        body.vertex_groups.new(name=bone).add(ids, 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    body.parent = rig
    turn = math.radians(330.0)
    kit.key(rig, "rotation_euler", {1: (0.0, 0.0, 0.0), 16: (0.0, 0.0, 0.0), 48: (0.0, 0.0, turn)})
    kit.key(rig, "location", {1: (0, 0, 0), 54: (0, 0, 0), 84: (-0.22, 0.12, 0)})
    for side, name in ((1.0, "Leg.L"), (-1.0, "Leg.R")):
        swing = {54: 0.0, 62: 24.0 * side, 70: -24.0 * side, 78: 24.0 * side, 86: 0.0}
        path = f'pose.bones["{name}"].rotation_euler'
        kit.key(rig, path, {frame: (math.radians(angle), 0.0, 0.0) for frame, angle in swing.items()})
    return body


def add_rig(name: str, bones: dict[str, tuple[float, float, float]]) -> bpy.types.Object:
    """An armature of upright bones: place along X, height of the head and of the tail [m] by name."""
    rig = stage.new_object(name, bpy.data.armatures.new(name))
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, (x, head, tail) in bones.items():
        made = rig.data.edit_bones.new(bone)
        made.head, made.tail = (x, 0.0, head), (x, 0.0, tail)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    rig.hide_render = True
    rig.data.display_type = "STICK"
    return rig


def add_skirt(name: str, around: int, rows: int) -> bpy.types.Object:
    """A flared skirt: a cone of quads down from the waist, whose upper ring is the group "Waist"; the active object."""
    angles = np.arange(around) * 2.0 * math.pi / around
    share = np.linspace(0.0, 1.0, rows)[:, None]
    axes = [half + 0.008 + 0.40 * share for half in (0.124, 0.092)]
    positions = np.stack(
        [axes[0] * np.cos(angles), axes[1] * np.sin(angles), WAIST + (HEM - WAIST) * share + 0.0 * angles], axis=-1
    )
    ids = np.arange(rows * around).reshape(rows, around)
    after = np.roll(ids, -1, axis=1)
    faces = np.stack([ids[1:], after[1:], after[:-1], ids[:-1]], axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions.reshape(-1, 3).tolist(), [], faces.tolist())
    u, v = np.broadcast_arrays(angles / (2.0 * math.pi), 1.0 - share)
    uvs = np.stack([u, v], axis=-1).reshape(-1, 2)[faces.ravel()]
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", uvs.astype(np.float32).ravel())
    skirt = stage.new_object(name, mesh)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = skirt
    bpy.ops.object.pbd_add(type="CLOTH")
    kit.set_pbd(
        skirt, density=0.15, stretch=3000.0, compression=3000.0, shear=150.0, bend=1e-5, damping=0.5,
        friction=0.3, self_distance=0.01,
    )  # fmt: skip
    skirt.vertex_groups.new(name="Waist").add(ids[0].tolist(), 1.0, "REPLACE")
    return skirt
