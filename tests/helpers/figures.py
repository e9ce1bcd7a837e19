"""A figure with arms and legs, on a rig, that walks: what garments are made for."""

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from helpers.scenes import straighten

JOINTS = {
    "Hip": (0.0, 0.0, 0.95),
    "Chest": (0.0, 0.0, 1.3),
    "Neck": (0.0, 0.0, 1.5),
    "Head": (0.0, 0.0, 1.7),
    **{f"{name}.{side}": (sign * x, y, z) for side, sign in (("L", 1), ("R", -1)) for name, x, y, z in (
        ("Shoulder", 0.17, 0.0, 1.4), ("Elbow", 0.33, 0.0, 1.15), ("Hand", 0.45, 0.0, 0.9),
        ("Thigh", 0.11, 0.0, 0.85), ("Knee", 0.13, 0.0, 0.5), ("Foot", 0.15, 0.0, 0.08),
    )},
}  # fmt: skip
"""Where joints are [m]."""

LIMBS = ("Shoulder", "Elbow", "Hand", "Thigh", "Knee", "Foot")

BONES = [("Hip", "Chest"), ("Chest", "Neck"), ("Neck", "Head")] + [
    (f"{one}.{side}" if one in LIMBS else one, f"{other}.{side}")
    for side in "LR"
    for one, other in zip(("Chest", "Shoulder", "Elbow", "Hip", "Thigh", "Knee"), LIMBS)
]
"""From which joint to which; a bone has the name of its end."""

RADII = {"Hip": 0.14, "Chest": 0.14, "Neck": 0.06, "Head": 0.1}


def add_figure(last=12):
    """The figure, closed, in world space, and its rig; arms and legs swing until the last frame."""
    mesh = bpy.data.meshes.new("Sticks")
    numbers = {name: number for number, name in enumerate(JOINTS)}
    mesh.from_pydata(list(JOINTS.values()), [(numbers[one], numbers[other]) for one, other in BONES], [])
    sticks = bpy.data.objects.new("Sticks", mesh)
    bpy.context.scene.collection.objects.link(sticks)
    skin = sticks.modifiers.new("Skin", "SKIN")
    skin.use_smooth_shade = True
    for name, number in numbers.items():
        mesh.skin_vertices[0].data[number].radius = 2 * (RADII.get(name, 0.05),)
    mesh.skin_vertices[0].data[0].use_root = True
    sticks.modifiers.new("Subdivision", "SUBSURF").levels = 1
    bpy.context.view_layer.update()
    body = bpy.data.meshes.new_from_object(sticks.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    bpy.data.objects.remove(sticks)
    figure = bpy.data.objects.new("Figure", body)
    bpy.context.scene.collection.objects.link(figure)
    rig = _add_rig(last)
    _weigh(figure)
    figure.modifiers.new("Armature", "ARMATURE").object = rig
    figure.parent = rig
    return figure, rig


def _add_rig(last):
    bones = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", bones)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for one, other in BONES:
        bone = bones.edit_bones.new(other)
        bone.head, bone.tail, bone.parent = JOINTS[one], JOINTS[other], bones.edit_bones.get(one)
    bpy.ops.object.mode_set(mode="OBJECT")
    for side, sign in (("L", 1), ("R", -1)):
        for name, angle in (("Elbow", 0.3), ("Knee", -0.4)):
            bone = rig.pose.bones[f"{name}.{side}"]
            bone.rotation_mode = "XYZ"
            for frame, share in ((1, 1), (last, -1)):
                bone.rotation_euler = (sign * share * angle, 0.0, 0.0)
                bone.keyframe_insert("rotation_euler", frame=frame)
    straighten(rig)
    return rig


def _weigh(figure):
    """Each vertex follows the bones near it, weighted by the sixth power of how near they are."""
    points = np.array([vertex.co for vertex in figure.data.vertices])
    weights = {}
    for one, other in BONES:
        start, way = np.array(JOINTS[one]), np.array(JOINTS[other]) - np.array(JOINTS[one])
        share = np.clip((points - start) @ way / (way @ way), 0.0, 1.0)
        weights[other] = np.linalg.norm(points - start - share[:, None] * way, axis=1) ** -6.0
    total = sum(weights.values())
    for name, of_bone in weights.items():
        group = figure.vertex_groups.new(name=name)
        for vertex, weight in enumerate(of_bone / total):
            if weight > 0.05:
                group.add([vertex], float(weight), "REPLACE")


def select_faces(figure, fits):
    """Make the figure active in Edit Mode, with those faces selected whose center (x, y, z) `fits`."""
    bpy.context.view_layer.objects.active = figure
    figure.select_set(True)
    bpy.context.tool_settings.mesh_select_mode = (False, False, True)
    chosen = [fits(*polygon.center) for polygon in figure.data.polygons]
    for part in (figure.data.vertices, figure.data.edges):
        part.foreach_set("select", np.zeros(len(part), bool))
    figure.data.polygons.foreach_set("select", chosen)
    bpy.ops.object.mode_set(mode="EDIT")
    return sum(chosen)


def tree(obj):
    """A BVH of what is shown of an object, and the corners of its triangles."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    corners = [tuple(triangle.vertices) for triangle in mesh.loop_triangles]
    made = BVHTree.FromPolygons([obj.matrix_world @ vertex.co for vertex in mesh.vertices], corners)
    evaluated.to_mesh_clear()
    return made, corners


def crossings(one, other):
    """Pairs of triangles of two shown objects, or of one, that cross; neighbors left out."""
    (first, faces), (second, others) = tree(one), tree(other)
    pairs = first.overlap(second)
    if one is other:
        pairs = [(a, b) for a, b in pairs if a < b and not set(faces[a]) & set(others[b])]
    return len(pairs)
