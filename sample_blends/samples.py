"""The sample scenes, one function each; it leaves the scene open in Blender, ready to be saved or played."""

from __future__ import annotations

import math
from pathlib import Path

import bmesh
import bpy
import numpy as np
import stage
from mathutils import Matrix, Vector

FPS = 24


def begin(frames: int, gravity: bool = True) -> bpy.types.Scene:
    """An empty file with a scene of so many frames, to be rendered by Cycles."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.render.fps = FPS
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = 1280, 960
    scene.render.filepath = "//"
    scene.cycles.samples, scene.cycles.use_denoising = 64, True
    scene.cycles.max_bounces = 6
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Punchy"
    scene.view_settings.exposure = 0.15
    scene.use_gravity = gravity
    return scene


def save(path: Path) -> None:
    """Write the open scene, compressed, and without a path of this machine.

    The workspaces that nobody needs for a small scene go: one of them holds a file browser that remembers the home
    folder, and together they are larger than the cloth.
    """
    bpy.data.batch_remove([workspace for workspace in bpy.data.workspaces if workspace.name != "Layout"])
    for area in bpy.data.screens["Layout"].areas:
        if area.type == "VIEW_3D":
            area.spaces.active.region_3d.view_perspective = "CAMERA"
            area.spaces.active.show_region_ui = True
    bpy.ops.outliner.orphans_purge(do_local_ids=True, do_recursive=True)
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, copy=True)


def set_pbd(owner: bpy.types.ID, **settings: object) -> None:
    """Set properties of `Object.pbd` or `Scene.pbd`."""
    for name, value in settings.items():
        setattr(owner.pbd, name, value)


def set_balloon(obj: bpy.types.Object, **settings: object) -> None:
    """Make the active object a balloon with these settings of `Object.pbd`.

    A cloth that becomes a balloon keeps its material; so what is not given has its default, and no preset's value.
    """
    bpy.ops.object.pbd_add(type="CLOTH")
    bpy.ops.object.pbd_add(type="BALLOON")
    set_pbd(obj, **settings)


def place_vertices(mesh: bpy.types.Mesh, positions: np.ndarray) -> None:
    """Move the vertices of a mesh to positions (n, 3) [m]."""
    mesh.vertices.foreach_set("co", np.ascontiguousarray(positions, np.float32).ravel())
    mesh.update()


def key(owner: bpy.types.ID, path: str, values: dict[int, object]) -> None:
    """Animate a property of an ID: value by frame."""
    group, _, name = path.rpartition(".")
    target = owner.path_resolve(group) if group else owner
    for frame, value in values.items():
        setattr(target, name, value)
        owner.keyframe_insert(path, frame=frame)
    setattr(target, name, next(iter(values.values())))


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


# --------------------------------------------------------------------------------------- curtain


def curtain() -> None:
    """A cloth grid held at two corners: it swings down and hangs."""
    begin(frames=96)
    stage.build((0.62, 0.46, 0.28))
    bpy.ops.mesh.primitive_pbd_cloth_add(rx=48, ry=40, width=2.2, height=1.7, pin="CORNERS")
    cloth = bpy.context.object
    cloth.name = cloth.data.name = "Curtain"
    # Its ends are nearer to each other than it is wide; so it hangs in folds.
    x, z = drawn_together(2.2, 1.75, 4, 48)
    y = np.linspace(-1.7, 0.0, 40)
    positions = np.stack([np.tile(x, 40), np.repeat(y, 48), np.tile(z, 40)], axis=1)
    place_vertices(cloth.data, positions)
    cloth.location = (0.0, 0.0, 2.0)
    set_pbd(
        cloth,
        density=0.2,
        stretch=3000.0,
        compression=3000.0,
        shear=150.0,
        bend=9e-5,
        bend_model="ISOMETRIC",
        damping=1.0,
        drag=1.2,
    )
    stage.soften(cloth)
    cloth.data.materials.append(stage.fabric("Linen", (0.60, 0.035, 0.03)))
    brass = stage.metal("Brass", (0.83, 0.62, 0.30))
    for side in (-1.0, 1.0):
        ball = stage.add_ball("Knob", (0.875 * side, 0.0, 2.0), 0.035)
        ball.data.materials.append(brass)
    stage.add_camera((1.3, -5.6, 1.9), (-0.05, 0.0, 1.14), 60.0)


# --------------------------------------------------------------------------------------- flag


def flag() -> None:
    """A flag on a pole that is waved: the pinned edge follows the pole, the cloth trails behind."""
    begin(frames=96)
    stage.build((0.78, 0.40, 0.24))
    rod = stage.add_rod("Pole", (0.0, 0.0, 0.0), (0.0, 0.0, 2.6), 0.025)
    rod.data.transform(Matrix.Translation(rod.location))
    rod.location = (0.0, 0.0, 0.0)  # it turns about its lower end
    rod.data.materials.append(stage.matte("Wood", (0.36, 0.20, 0.09)))
    knob = stage.add_ball("Knob", (0.0, 0.0, 2.62), 0.05)
    knob.data.materials.append(stage.metal("Brass", (0.83, 0.62, 0.30)))
    knob.parent = rod

    bpy.ops.mesh.primitive_pbd_cloth_add(rx=44, ry=30, width=1.5, height=1.0, pin="EDGE")
    cloth = bpy.context.object
    cloth.name = cloth.data.name = "Flag"
    place_vertices(cloth.data, vertices_of(cloth.data)[:, [0, 2, 1]] + (0.78, 0.0, 2.05))
    cloth.parent = rod
    set_pbd(cloth, density=0.08, stretch=3000.0, compression=3000.0, shear=300.0, bend=6e-5, damping=0.5, drag=0.4)
    stage.soften(cloth)
    teal, cream = (0.01, 0.20, 0.22), (0.80, 0.72, 0.55)
    stripes = [teal, cream, teal, cream, teal]
    cloth.data.materials.append(stage.striped(stage.fabric("Bunting", teal), stripes, "Y"))
    tilt, turn = math.radians(32.0), math.radians(100.0)
    key(
        rod,
        "rotation_euler",
        {
            1: (0.0, 0.0, 0.0),
            20: (0.0, tilt, -0.3 * turn),
            48: (0.0, -tilt, 0.5 * turn),
            76: (0.0, tilt, -0.5 * turn),
            104: (0.0, -tilt, 0.5 * turn),
        },
    )
    stage.add_camera((1.2, -7.0, 1.7), (0.05, 0.0, 1.5), 60.0)


def vertices_of(mesh: bpy.types.Mesh) -> np.ndarray:
    """Positions (n, 3) float32 [m]."""
    positions = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", positions.ravel())
    return positions


# --------------------------------------------------------------------------------------- stiffness grid

STRETCH = {1.0: "1", 0.5: "1/2", 0.01: "1/100"}
BEND = (0.0, 1.0)
"""Stiffnesses of Müller et al. 2007, Fig. 3: columns and rows."""


def stiffness_grid() -> None:
    """The six cloths of Müller et al. 2007, Fig. 3: stretching and bending stiffness do not depend on each other."""
    scene = begin(frames=72)
    stage.build((0.80, 0.78, 0.72))
    set_pbd(scene, method="PBD", substeps=30, iterations=1)
    ink = stage.matte("Ink", (0.03, 0.03, 0.035))
    cloths = (stage.fabric("Blue", (0.02, 0.16, 0.42)), stage.fabric("Orange", (0.72, 0.18, 0.02)))
    for row, bend in enumerate(BEND):
        for column, (stretch, spoken) in enumerate(STRETCH.items()):
            place = (1.7 * (column - 1), 0.0, 4.5 - 2.6 * row)
            bpy.ops.mesh.primitive_pbd_cloth_add(rx=20, ry=20, width=1.2, height=1.2, pin="CORNERS", location=place)
            cloth = bpy.context.object
            cloth.name = cloth.data.name = f"Stretch {stretch:g} Bend {bend:g}"
            set_pbd(
                cloth,
                k_stretch=stretch,
                k_compression=stretch,
                k_shear=stretch,
                k_bend=bend,
                tethers=False,
                damping=1.0,
                drag=1.5,
            )
            # The corners come together, so that there is something to fold.
            key(cloth, "scale", {1: (1.0, 1.0, 1.0), 40: (0.7, 1.0, 1.0)})
            stage.soften(cloth)
            cloth.data.materials.append(cloths[row])
            label(f"stretching {spoken}\nbending {bend:g}", (place[0], 0.6, place[2] + 0.28), ink)
    stage.add_camera((0.9, -12.0, 3.2), (0.0, 0.0, 2.62), 65.0)


def label(text: str, place: tuple[float, float, float], made_of: bpy.types.Material) -> bpy.types.Object:
    """Upright text, centered at a place [m]."""
    words = bpy.data.curves.new(text.replace("\n", ", "), "FONT")
    words.body, words.size, words.align_x = text, 0.14, "CENTER"
    words.materials.append(made_of)
    obj = stage.new_object(words.name, words)
    obj.location, obj.rotation_euler = place, (0.5 * math.pi, 0.0, 0.0)
    return obj


# --------------------------------------------------------------------------------------- balloon


def balloon() -> None:
    """Blender's monkey as a toy balloon on a string: it is blown up to four times its volume, and wants to rise."""
    scene = begin(frames=96)
    stage.build((0.16, 0.50, 0.54))
    scene.gravity = (0.0, 0.0, 0.6)  # what is left of gravity's pull when the gas inside has lifted
    skin = closed_monkey(0.6)
    skin.name = skin.data.name = "Monkey"
    skin.location = (0.0, 0.0, 1.05)
    skin.rotation_euler = (0.0, 0.0, math.radians(16.0))
    # Soft and heavy, as only the ratio of its stiffnesses shapes a skin that holds a volume, and this one has to be
    # soft to yield evenly where its faces are small. Tethers are for what hangs: they would hold the rubber back.
    set_balloon(
        skin,
        density=1.0,
        stretch=40.0,
        compression=40.0,
        shear=8.0,
        bend=0.0,
        damping=2.0,
        drag=2.0,
        pressure_mode="VOLUME",
        tethers=False,
    )
    key(skin, "pbd.pressure", {1: 1.0, 8: 1.0, 80: 4.0})
    positions = vertices_of(skin.data)
    knot = positions[positions[:, 2].argmin()]
    group = skin.vertex_groups.new(name="Pin")
    group.add(np.flatnonzero(np.linalg.norm(positions - knot, axis=1) < 0.05).tolist(), 1.0, "REPLACE")
    skin.pbd.pin_group = group.name
    stage.soften(skin)
    end = skin.matrix_basis @ Vector(knot.tolist())
    string = stage.add_rod("String", (end.x, end.y, 0.0), end, 0.004)
    string.data.materials.append(stage.matte("String", (0.7, 0.66, 0.6)))
    stage.add_camera((0.5, -4.4, 1.35), (0.0, 0.0, 1.08), 74.0)


def closed_monkey(size: float) -> bpy.types.Object:
    """The monkey as one closed surface: eyes printed on patches in place of the eyeballs, every face divided in four.

    Args:
        size: Half of Blender's own size for it [m].

    Returns:
        The active object, with materials for skin, eyes and pupils.
    """
    bpy.ops.mesh.primitive_monkey_add(size=size)
    monkey = bpy.context.object
    for made in (
        stage.rubber("Skin", (0.85, 0.06, 0.10)),
        stage.rubber("Eyes", (0.85, 0.85, 0.80)),
        stage.rubber("Pupils", (0.01, 0.01, 0.012)),
    ):
        monkey.data.materials.append(made)
    geometry = bmesh.new()
    geometry.from_mesh(monkey.data)
    # The eyeballs are the first vertices: 33 each. What is left is the head, with two openings.
    geometry.verts.ensure_lookup_table()
    bmesh.ops.delete(geometry, geom=geometry.verts[:66], context="VERTS")
    rims = [edge for edge in geometry.edges if edge.is_boundary]
    for patch in bmesh.ops.holes_fill(geometry, edges=rims, sides=0)["faces"]:
        add_eye(geometry, patch, size)
    geometry.to_mesh(monkey.data)
    geometry.free()
    divide = monkey.modifiers.new("Divide", "SUBSURF")
    divide.levels = 1
    bpy.ops.object.modifier_apply(modifier=divide.name)
    return monkey


def add_eye(geometry: bmesh.types.BMesh, patch: bmesh.types.BMFace, size: float) -> None:
    """Divide the patch over an eye socket into rings around a pupil, bulging like the eyeball that was there."""
    center, outward = patch.calc_center_median(), patch.normal.copy()
    rim = [corner.vert.co.copy() for corner in patch.loops]
    patch.material_index = 1
    for inward, height in ((0.25, 0.05), (0.5, 0.08), (0.75, 0.09)):
        around = bmesh.ops.inset_individual(geometry, faces=[patch], thickness=1e-3 * size)["faces"]
        for face in around:
            face.material_index = 2 if inward > 0.5 else 1
        for corner, place in zip(patch.loops, rim, strict=True):
            corner.vert.co = place.lerp(center, inward) + height * size * outward
    patch.material_index = 2


# --------------------------------------------------------------------------------------- cushion


def cushion() -> None:
    """Two grids sewn together along the border, blown up by 40 Pa while they fall on the floor."""
    scene = begin(frames=96)
    stage.build((0.36, 0.26, 0.50))
    first = add_cushion("Cushion", 1.0, 44, [(0.66, 0.34, 0.02), (0.80, 0.70, 0.52)] * 4)
    first.location = (0.0, 0.0, 0.5)
    first.rotation_euler = (math.radians(6.0), math.radians(-8.0), math.radians(28.0))
    key(first, "pbd.overpressure", {1: 0.0, 40: 40.0})
    set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.6)
    stage.add_camera((0.8, -3.3, 1.6), (0.0, 0.0, 0.24), 72.0)


def add_cushion(name: str, size: float, count: int, colors: list[tuple[float, float, float]]) -> bpy.types.Object:
    """A cushion cover: two square grids that share the vertices of their border; the active object.

    The corners are cut off, as one would before turning a cover inside out. Otherwise the two faces of a corner
    would share both of their outer edges.

    Args:
        name: Of the object.
        size: Length of a side [m].
        count: Vertices along a side.
        colors: Of its stripes.
    """
    side = np.linspace(0.0, 1.0, count)
    u, v = np.meshgrid(side, side)
    inside = np.zeros((count, count), bool)
    inside[1:-1, 1:-1] = True
    upper = np.arange(count * count).reshape(count, count)
    lower = np.where(inside, upper + count * count, upper)
    height = np.where(inside, 0.004, 0.0)
    positions = np.concatenate(
        [np.stack([(u - 0.5) * size, (v - 0.5) * size, z], axis=-1).reshape(-1, 3) for z in (height, -height)]
    )
    faces = sheet_faces(upper) + [face[::-1] for face in sheet_faces(lower)]
    used, corners = np.unique([corner for face in faces for corner in face], return_inverse=True)
    sizes = [len(face) for face in faces]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions[used].tolist(), [], [ids.tolist() for ids in np.split(corners, np.cumsum(sizes)[:-1])])
    uvs = np.tile(np.stack([u, v], axis=-1).reshape(-1, 2), (2, 1))[used[corners]]
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", uvs.astype(np.float32).ravel())

    obj = stage.new_object(name, mesh)
    bpy.context.view_layer.objects.active = obj
    set_balloon(
        obj,
        density=0.6,
        stretch=8000.0,
        compression=8000.0,
        shear=4000.0,
        bend=3e-5,
        damping=4.0,
        drag=1.5,
        pressure_mode="OVERPRESSURE",
        overpressure=40.0,
        thickness=0.003,
        friction=0.6,
    )
    stage.soften(obj)
    mesh.materials.append(stage.striped(stage.fabric(name, colors[0]), colors, "X"))
    return obj


def sheet_faces(ids: np.ndarray) -> list[list[int]]:
    """Quads of a grid of vertices (rows, columns), with a triangle in each corner in place of the quad."""
    quads = np.stack([ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]], axis=-1)
    tips = {(0, 0): 0, (0, -1): 1, (-1, -1): 2, (-1, 0): 3}
    triangles = [np.delete(quads[place], tip).tolist() for place, tip in tips.items()]
    whole = np.ones(quads.shape[:2], bool)
    whole[tuple(np.transpose(list(tips)))] = False
    return quads[whole].tolist() + triangles


SAMPLES = {
    "curtain": curtain,
    "flag": flag,
    "stiffness_grid": stiffness_grid,
    "balloon": balloon,
    "cushion": cushion,
}
"""What builds each of the files, by name."""
