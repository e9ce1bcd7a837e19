"""Small scenes for the tests, and how to look at what Blender shows."""

import bpy
import numpy as np

FPS = 24


def add_grid(name="Flag", rx=5, ry=4, width=1.0, height=0.6, pbd=True, **settings):
    """A grid of quads in the XY plane around the origin; row after row from the corner (-X, -Y)."""
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, rx) * width, np.linspace(-0.5, 0.5, ry) * height)
    vertices = np.stack((u, v, np.zeros_like(u)), axis=-1).reshape(-1, 3)
    ids = np.arange(rx * ry).reshape(ry, rx)
    quads = np.stack((ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]), axis=-1).reshape(-1, 4)
    return add_mesh(name, vertices, quads, pbd, **settings)


def add_mesh(name, vertices, faces, pbd=True, edges=(), **settings):
    """A mesh object of the scene, as cloth unless told otherwise."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], edges, [tuple(map(int, f)) for f in faces])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    if pbd:
        obj.pbd.enabled = True
        for name, value in settings.items():
            setattr(obj.pbd, name, value)
    return obj


def pin(obj, ids, weight=1.0):
    """Pin vertices by the group "Pin"."""
    group = obj.vertex_groups.get("Pin") or obj.vertex_groups.new(name="Pin")
    group.add(list(map(int, ids)), weight, "REPLACE")
    obj.pbd.pin_group = group.name


def let_through():
    """Let cloth pass through cloth: for twins that stand in the same place to be compared."""
    bpy.context.scene.pbd.collisions = "OFF"


def shown(obj):
    """The evaluated vertices (n, 3) in world space [m]: what the viewport shows."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    positions = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", positions.ravel())
    evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world)
    return positions @ matrix[:3, :3].T + matrix[:3, 3]


AHEAD = 0.00888429
"""By how much of a frame a fall is ahead of g t² / 2, with 10 substeps of second order; 0.05 with 20 of first order."""


def fallen(frames, frame_seconds=1 / 24):
    """Depth of a free fall from rest at the usual quality steps [m]."""
    return 0.5 * 9.81 * frames * (frames + AHEAD) * frame_seconds**2


def go(frame, subframe=0.0):
    """Change the frame, as the timeline does."""
    bpy.context.scene.frame_set(frame, subframe=subframe)


def play(objects, start, end):
    """Play frames; returns what is shown, {frame: [(n, 3) per object]}."""
    seen = {}
    for frame in range(start, end + 1):
        go(frame)
        seen[frame] = [shown(obj) for obj in objects]
    return seen


def count_steps(running):
    """The frames that are stepped from now on; wraps the one method that steps."""
    steps = []
    simulation = running.scene_sim.simulation
    slices = simulation.slices

    def counted(dt):
        steps.append(simulation.frames.last + 1)
        return slices(dt)

    simulation.slices = counted
    return steps


def mesh_bytes(obj):
    """Everything of a mesh and its shape keys that a user would miss, to compare byte for byte."""
    mesh = obj.data
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", positions)
    keys = mesh.shape_keys
    if keys is None:
        return positions.tobytes(), None
    blocks = []
    for block in keys.key_blocks:
        points = np.empty(3 * len(block.points), np.float32)
        block.points.foreach_get("co", points)
        blocks.append(
            (
                block.name,
                points.tobytes(),
                block.value,
                block.mute,
                block.vertex_group,
                block.frame,
                block.relative_key.name,
                block.slider_min,
                block.slider_max,
                block.interpolation,
            )
        )
    animated = keys.animation_data and keys.animation_data.action and curve_values(keys)
    return positions.tobytes(), (blocks, keys.use_relative, keys.eval_time, obj.active_shape_key_index, animated)


def curve_values(owner):
    """The F-curves of an ID, whatever Blender calls them: path and keyframes of each."""
    data = owner.animation_data
    if bpy.app.version < (4, 4):
        curves = data.action.fcurves
    else:
        bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
        curves = bag.fcurves
    return [(curve.data_path, [tuple(point.co) for point in curve.keyframe_points]) for curve in curves]


def animate_location(obj, first, last, way):
    """Key the object's location: at `first` where it is, at `last` moved by `way` [m], in a straight line."""
    begin = obj.location.copy()
    obj.keyframe_insert("location", frame=first)
    obj.location = [a + b for a, b in zip(begin, way, strict=True)]
    obj.keyframe_insert("location", frame=last)
    obj.location = begin
    straighten(obj)


def straighten(owner):
    """Make all F-curves of an ID linear."""
    data = owner.animation_data
    curves = (
        data.action.fcurves
        if bpy.app.version < (4, 4)
        else data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves
    )
    for curve in curves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def add_key(obj, name, move, ids, value=1.0):
    """A shape key of the user's that moves some vertices by `move`."""
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis")
    block = obj.shape_key_add(name=name, from_mix=False)
    points = np.array([point.co for point in block.data])
    points[ids] += move
    block.points.foreach_set("co", points.astype(np.float32).ravel())
    block.value = value
    return block
