"""A cape on a rig of two bones, and other things that pose cloth."""

import bpy
import numpy as np
from mathutils import Matrix

from helpers import scenes
from helpers.scenes import shown

EXACT = 1e-5  # [m]
LAST = 20

ROWS, COLUMNS = 7, 6


def add_rig(name="Rig", last=20):
    """Two bones, one on the other along Z from 0.2 to 1.0 m; both turn, and the rig walks, until the last frame."""
    bones = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, bones)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    lower, upper = (bones.edit_bones.new(bone) for bone in ("Hip", "Chest"))
    lower.head, lower.tail = (0, 0, 0.2), (0, 0, 0.6)
    upper.head, upper.tail = (0, 0, 0.6), (0, 0, 1.0)
    upper.parent = lower
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone, start, end in (("Hip", (0.1, 0, 0), (0.5, 0.4, 0)), ("Chest", (0.2, 0.1, 0), (-0.6, 0.2, 0.9))):
        pose = rig.pose.bones[bone]
        pose.rotation_mode = "XYZ"
        for frame, turned in ((1, start), (last, end)):
            pose.rotation_euler = turned
            pose.keyframe_insert("rotation_euler", frame=frame)
    scenes.animate_location(rig, 1, last, (0.8, 0.3, 0.1))
    return rig


def add_cape(name="Cape", pbd=True):
    """A sheet (ROWS x COLUMNS) that stands upright, pinned by its upper two rows, with weights for two bones."""
    obj = scenes.add_grid(name, rx=COLUMNS, ry=ROWS, width=0.4, height=0.6, pbd=pbd)
    obj.data.transform(Matrix.Translation((0.0, 0.1, 0.6)) @ Matrix.Rotation(np.pi / 2, 4, "X"))
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    for bone, weights in (("Chest", np.clip(2.0 * heights - 0.6, 0, 1)), ("Hip", np.clip(1.6 - 2.0 * heights, 0, 1))):
        group = obj.vertex_groups.new(name=bone)
        for vertex, weight in enumerate(weights):
            group.add([vertex], float(weight), "REPLACE")
    scenes.pin(obj, pinned())
    if not pbd:
        obj.pbd.pin_group = ""
    return obj


def pinned():
    """Ids of the pinned vertices: the upper two rows."""
    return np.arange((ROWS - 2) * COLUMNS, ROWS * COLUMNS)


def arm(obj, rig):
    """Let a rig deform a mesh."""
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    return modifier


def add_dressed():
    """Rig, a cape that follows it, and the same mesh without simulation, to compare with."""
    rig = add_rig()
    cape, twin = add_cape(), add_cape("Twin", pbd=False)
    for obj in (cape, twin):
        arm(obj, rig)
    return rig, cape, twin


def simulated(session, obj, frame=None):
    """What the solver says, (n, 3) world space [m]."""
    running = session.get(bpy.context.scene)
    assert not running.message, running.message
    member = next(member for member in running.scene_sim.members if member.name == obj.name)
    simulation = running.scene_sim.simulation
    return simulation.cached_positions(member.body, simulation.frames.last if frame is None else frame)


def off(one, other):
    return float(np.abs(one - other).max())


def check_frame(session, cape, twin, frame):
    """Pins are where the twin has them, and what is shown is what was simulated."""
    seen = shown(cape)
    assert off(seen[pinned()], shown(twin)[pinned()]) < EXACT, frame
    assert off(seen, simulated(session, cape, frame)) < EXACT, frame


def rest_of(obj):
    matrix = np.array(obj.matrix_world)
    points = np.array([vertex.co for vertex in obj.data.vertices])
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def driven_key(obj):
    """A shape key that the place of an empty drives, and an armature after it."""
    driver = bpy.data.objects.new("Driver", None)
    bpy.context.scene.collection.objects.link(driver)
    scenes.animate_location(driver, 1, LAST, (0.0, 0.0, 1.0))
    obj.shape_key_add(name="Basis")
    block = obj.shape_key_add(name="Wide", from_mix=False)
    points = np.array([point.co for point in block.data]) * (1.5, 1.0, 1.0)
    block.points.foreach_set("co", points.astype(np.float32).ravel())
    curve = block.driver_add("value")
    variable = curve.driver.variables.new()
    variable.name, variable.type = "z", "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].transform_type = driver, "LOC_Z"
    curve.driver.expression = "z"
    arm(obj, add_rig())


def subdivide(obj):
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1


def bevel(obj):
    modifier = obj.modifiers.new("Bevel", "BEVEL")
    modifier.limit_method, modifier.width = "NONE", 0.005


def names(obj):
    return [modifier.name for modifier in obj.modifiers]


def switches(obj):
    return [(one.name, one.type, one.show_viewport, one.show_render) for one in obj.modifiers]


def state(obj):
    """What a user would miss of an object."""
    attributes = sorted(attribute.name for attribute in obj.data.attributes)
    return switches(obj), scenes.mesh_bytes(obj), attributes, obj.parent_type
