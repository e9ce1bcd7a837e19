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


def turn_evenly(obj: bpy.types.Object, axis: int, first: int, last: int, angle: float) -> None:
    """Animate an object's rotation about an axis (0, 1, 2) from 0 to an angle [rad], at constant speed."""
    for frame, turned in ((first, 0.0), (last, angle)):
        obj.rotation_euler[axis] = turned
        obj.keyframe_insert("rotation_euler", index=axis, frame=frame)
    obj.rotation_euler[axis] = 0.0
    action = obj.animation_data.action
    # Blender 5 has curves in the channels of a strip, where 4.2 has them in the action itself.
    layers = getattr(action, "layers", ())
    holder = layers[0].strips[0].channelbag(obj.animation_data.action_slot) if layers else action
    for point in holder.fcurves.find("rotation_euler", index=axis).keyframe_points:
        point.interpolation = "LINEAR"


def set_collider(obj: bpy.types.Object, **settings: object) -> None:
    """Make an object a collider with these settings of `Object.pbd_collider`."""
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.pbd_collider_add()
    for name, value in settings.items():
        setattr(obj.pbd_collider, name, value)


def add_cloth(
    name: str, counts: tuple[int, int], size: tuple[float, float], place: tuple[float, float, float], **settings: object
) -> bpy.types.Object:
    """A flat cloth grid, centered at a place [m]; the active object.

    Args:
        name: Of the object.
        counts: Vertices along X and Y.
        size: Extent along X and Y [m].
        place: Center [m].
        settings: Of `Object.pbd`.
    """
    bpy.ops.mesh.primitive_pbd_cloth_add(
        rx=counts[0], ry=counts[1], width=size[0], height=size[1], pin="NONE", location=place
    )
    cloth = bpy.context.object
    cloth.name = cloth.data.name = name
    set_pbd(cloth, **settings)
    return cloth


def add_block(
    name: str, place: tuple[float, float, float], size: tuple[float, float, float], made_of: bpy.types.Material
) -> bpy.types.Object:
    """A box of a size [m] whose center is at a place [m]; its origin is the world's."""
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    block = bpy.context.object
    block.name = block.data.name = name
    block.data.transform(Matrix.Translation(place) @ Matrix.Diagonal((*size, 1.0)))
    block.data.materials.append(made_of)
    return block


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
        self_collision=False,  # its folds hang side by side
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
    # Where it is whipped back over itself, folds that meet at the hoist jam; they are left to pass.
    cloth.pbd.self_collision = False
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
    # As they come together by a third only, no fold meets another.
    set_pbd(scene, method="PBD", substeps=30, iterations=1, collisions="OFF")
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
        self_collision=False,  # only creases would touch, where nobody sees it
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


def add_cushion(
    name: str, size: float, count: int, colors: list[tuple[float, float, float]], thickness: float = 0.0
) -> bpy.types.Object:
    """A cushion cover: two square grids that share the vertices of their border; the active object.

    The corners are cut off, as one would before turning a cover inside out. Otherwise the two faces of a corner
    would share both of their outer edges.

    Args:
        name: Of the object.
        size: Length of a side [m].
        count: Vertices along a side.
        colors: Of its stripes.
        thickness: Of the filled cushion in its middle [m]; 0 for an empty cover.
    """
    side = np.linspace(0.0, 1.0, count)
    u, v = np.meshgrid(side, side)
    inside = np.zeros((count, count), bool)
    inside[1:-1, 1:-1] = True
    upper = np.arange(count * count).reshape(count, count)
    lower = np.where(inside, upper + count * count, upper)
    bulge = np.maximum(np.sin(math.pi * u) * np.sin(math.pi * v), 0.0) ** 0.6
    height = np.where(inside, np.maximum(0.004, 0.5 * thickness * bulge), 0.0)
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


# --------------------------------------------------------------------------------------- tablecloth


def tablecloth() -> None:
    """A square cloth falls on a round table: it lies on the top, slips over the edge and hangs in folds."""
    begin(frames=72)
    stage.build((0.20, 0.34, 0.42))
    wood = stage.matte("Wood", (0.30, 0.13, 0.05))
    for name, radius, low, high in (("Top", 0.55, 0.70, 0.74), ("Foot", 0.30, 0.0, 0.04), ("Column", 0.06, 0.04, 0.70)):
        part = add_disc(name, radius, low, high)
        part.data.materials.append(wood)
        set_collider(part, thickness=0.006, friction=0.3, static_friction=0.4)  # room for the smooth surface at the rim
    cloth = add_cloth(
        "Tablecloth", (34, 34), (1.5, 1.5), (0.03, -0.02, 0.95),
        density=0.2, stretch=4000.0, compression=4000.0, shear=100.0, bend=2e-5, damping=1.0, drag=0.8,
        thickness=0.003, friction=0.3, self_distance=0.012,
    )  # fmt: skip
    cloth.rotation_euler = (math.radians(4.0), math.radians(3.0), math.radians(38.0))
    stage.soften(cloth)
    checks = [(0.62, 0.05, 0.05), (0.84, 0.80, 0.72)] * 5
    cloth.data.materials.append(stage.striped(stage.fabric("Linen", checks[0]), checks, "X"))
    stage.add_camera((0.7, -4.1, 1.85), (0.0, 0.0, 0.55), 62.0)


def add_disc(name: str, radius: float, low: float, high: float) -> bpy.types.Object:
    """A round board about the z axis between two heights [m], with its edges broken."""
    depth = high - low
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=radius, depth=depth, end_fill_type="TRIFAN")
    disc = bpy.context.object
    disc.name = disc.data.name = name
    disc.location = (0.0, 0.0, 0.5 * (low + high))
    disc.data.shade_smooth()
    edges = disc.modifiers.new("Edges", "BEVEL")
    edges.width, edges.segments, edges.harden_normals = min(0.3 * depth, 0.012), 3, True
    return disc


# --------------------------------------------------------------------------------------- barrel

BARREL_RADIUS, BARREL_LENGTH, BARREL_HEIGHT = 0.42, 1.0, 0.68
"""Inner radius and length of the barrel, and where its axis lies [m]."""


def barrel() -> None:
    """The rotating barrel of Müller et al. 2007, Fig. 9: 1364 vertices tumble in a closed cylinder."""
    begin(frames=96)
    stage.build((0.66, 0.50, 0.22))
    steel = stage.metal("Steel", (0.62, 0.64, 0.66))
    pane = stage.material("Pane", (0.9, 0.96, 1.0), Roughness=0.05, Alpha=0.03)
    drum = add_drum("Barrel", steel, pane)
    paddles = add_paddles("Paddles", steel)
    shell = add_shell("Shell", stage.material("Enamel", (0.02, 0.16, 0.22), Roughness=0.35, Coat_Weight=0.4))
    for part in (paddles, shell):
        part.parent = drum
    drum.location = (0.0, 0.0, BARREL_HEIGHT)
    turn_evenly(drum, 1, 1, 97, 2.0 * math.pi)
    set_collider(drum, inside=True, friction=0.6, static_friction=0.6)
    set_collider(paddles, friction=0.6, static_friction=0.6)
    cloth = add_cloth(
        "Cloth", (31, 44), (0.62, 0.90), (0.0, 0.0, BARREL_HEIGHT - 0.1),
        friction=0.5, thickness=0.001, self_distance=0.008, bend=2e-5, shear=200.0,
    )  # fmt: skip
    stage.soften(cloth)
    stripes = [(0.75, 0.12, 0.03), (0.82, 0.76, 0.62)] * 4
    cloth.data.materials.append(stage.striped(stage.fabric("Towel", stripes[0]), stripes, "Y"))
    for side in (-1.0, 1.0):
        place = 0.3 * side
        roller = stage.add_rod("Roller", (place, -0.6, 0.16), (place, 0.6, 0.16), 0.16)
        roller.data.materials.append(stage.matte("Rubber", (0.02, 0.02, 0.022)))
    stage.add_light("Lamp", "AREA", (0.4, -2.2, 1.5), (0.0, 0.0, BARREL_HEIGHT), energy=60.0, color=(1, 1, 1), size=0.8)
    stage.add_camera((0.6, -3.3, 1.1), (0.0, 0.0, 0.60), 70.0)


def add_drum(name: str, wall: bpy.types.Material, pane: bpy.types.Material) -> bpy.types.Object:
    """A closed cylinder about the y axis whose two ends are of another material, to look inside."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=40, radius=BARREL_RADIUS, depth=BARREL_LENGTH, end_fill_type="TRIFAN")
    drum = bpy.context.object
    drum.name = drum.data.name = name
    drum.data.transform(Matrix.Rotation(0.5 * math.pi, 4, "X"))
    drum.data.materials.append(wall)
    drum.data.materials.append(pane)
    for face in drum.data.polygons:
        face.material_index = int(abs(face.normal.y) > 0.5)
    return drum


def add_paddles(name: str, made_of: bpy.types.Material) -> bpy.types.Object:
    """Four boards along the y axis that reach from within a drum through its wall, and lift what lies in it."""
    geometry = bmesh.new()
    for quarter in range(4):
        around = Matrix.Rotation(0.5 * math.pi * quarter, 4, "Y")
        out = Matrix.Translation((0.0, 0.0, BARREL_RADIUS - 0.03))
        size = Matrix.Diagonal((0.03, BARREL_LENGTH + 0.02, 0.12, 1.0))
        bmesh.ops.create_cube(geometry, size=1.0, matrix=around @ out @ size)
    mesh = bpy.data.meshes.new(name)
    geometry.to_mesh(mesh)
    geometry.free()
    mesh.materials.append(made_of)
    return stage.new_object(name, mesh)


def add_shell(name: str, made_of: bpy.types.Material) -> bpy.types.Object:
    """A tube around the drum, only to be seen: it covers the feet of the paddles."""
    bpy.ops.mesh.primitive_cylinder_add(
        vertices=80, radius=BARREL_RADIUS + 0.045, depth=BARREL_LENGTH + 0.04, end_fill_type="NOTHING"
    )
    shell = bpy.context.object
    shell.name = shell.data.name = name
    shell.data.transform(Matrix.Rotation(0.5 * math.pi, 4, "X"))
    shell.data.materials.append(made_of)
    solid = shell.modifiers.new("Thickness", "SOLIDIFY")
    solid.thickness, solid.offset = 0.04, -1.0
    return shell


# --------------------------------------------------------------------------------------- pillow fight


def pillow_fight() -> None:
    """Two cushions are thrown at each other by boards that flip up; a blanket and a ball fall on them."""
    scene = begin(frames=72)
    stage.build((0.30, 0.44, 0.30))
    wood = stage.matte("Wood", (0.42, 0.26, 0.12))
    striped = {
        "Left Cushion": [(0.02, 0.20, 0.30), (0.75, 0.70, 0.55)] * 3,
        "Right Cushion": [(0.70, 0.10, 0.05), (0.80, 0.62, 0.30)] * 3,
    }
    for side, (name, colors) in zip((-1.0, 1.0), striped.items(), strict=True):
        board = add_block("Board", (0.40 * side, 0.0, 0.0), (0.80, 0.70, 0.03), wood)
        board.location = (0.70 * side, 0.0, 0.45)
        flat, up = (0.0, 0.0, 0.0), (0.0, math.radians(-56.0) * side, 0.0)
        key(board, "rotation_euler", {1: flat, 4: flat, 11: up, 24: flat})
        set_collider(board, friction=0.5, static_friction=0.6)
        leg = add_block("Leg", (0.70 * side, 0.0, 0.21), (0.05, 0.60, 0.42), wood)
        set_collider(leg)
        cushion = add_cushion(name, 0.5, 15, colors, thickness=0.2)
        set_pbd(cushion, pressure_mode="VOLUME", density=0.5, damping=2.0, drag=0.2)
        cushion.location = (1.15 * side, 0.02 * side, 0.58)
        cushion.rotation_euler = (0.0, 0.0, math.radians(10.0) * side)
    bpy.ops.mesh.primitive_pbd_balloon_add(subdivisions=3, radius=0.2, location=(0.05, -0.03, 2.25))
    ball = bpy.context.object
    ball.name = ball.data.name = "Ball"
    set_pbd(ball, density=0.4, stretch=1500.0, compression=1500.0, shear=500.0, drag=0.2, friction=0.5)
    stage.soften(ball)
    ball.data.materials.append(stage.rubber("Rubber", (0.80, 0.50, 0.02)))
    blanket = add_cloth(
        "Blanket", (26, 26), (1.3, 1.3), (0.0, 0.0, 2.95),
        density=0.3, stretch=3000.0, compression=3000.0, shear=100.0, bend=5e-5, damping=1.0, drag=2.5, friction=0.5,
    )  # fmt: skip
    stage.soften(blanket)
    plaid = [(0.30, 0.24, 0.44), (0.80, 0.76, 0.70), (0.30, 0.24, 0.44), (0.10, 0.07, 0.18)]
    blanket.data.materials.append(stage.striped(stage.fabric("Plaid", plaid[0]), plaid * 2, "Y"))
    set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.6)
    stage.add_camera((0.8, -5.4, 2.0), (0.0, 0.0, 0.85), 54.0)


# --------------------------------------------------------------------------------------- gears

GEAR_ROOT, GEAR_TIP, GEAR_TEETH, GEAR_GAP = 0.40, 0.46, 14, 0.26
"""Radii at the foot and at the tip of the teeth [m], their number, and the room between both gears' tips [m]."""


def gears() -> None:
    """A soft ball is drawn through between two toothed cylinders, as in Müller et al. 2007, Fig. 1."""
    scene = begin(frames=84)
    stage.build((0.46, 0.26, 0.24))
    steel = stage.metal("Steel", (0.58, 0.60, 0.63))
    middle, height = GEAR_TIP + 0.5 * GEAR_GAP, 0.95
    for side in (-1.0, 1.0):
        gear = add_gear("Gear", 0.9, steel)
        gear.location = (middle * side, 0.0, height)
        if side > 0.0:
            gear.delta_rotation_euler = (0.0, math.pi / GEAR_TEETH, 0.0)  # tooth against gap
        turn_evenly(gear, 1, 1, 97, -side * 3.6)
        set_collider(gear, friction=1.0, static_friction=1.0)
        axle = stage.add_rod("Axle", (middle * side, -0.65, height), (middle * side, 0.65, height), 0.07)
        axle.data.materials.append(steel)
    bpy.ops.mesh.primitive_pbd_balloon_add(subdivisions=4, radius=0.27, location=(0.02, 0.0, height + 0.56))
    ball = bpy.context.object
    ball.name = ball.data.name = "Ball"
    set_pbd(
        ball, density=0.5, stretch=400.0, compression=400.0, shear=100.0, bend=1e-5, damping=2.0, drag=0.2,
        friction=1.0, thickness=0.001,
    )  # fmt: skip
    stage.soften(ball)
    ball.data.materials.append(stage.rubber("Rubber", (0.02, 0.42, 0.30)))
    set_pbd(scene, use_floor=True, floor_height=0.0, floor_friction=0.8)
    stage.add_camera((0.7, -4.6, 2.0), (0.0, 0.0, 0.74), 64.0)


def add_gear(name: str, length: float, made_of: bpy.types.Material) -> bpy.types.Object:
    """A cylinder with trapezoid teeth about the y axis, through the origin, of a length [m]."""
    pitch = 2.0 * math.pi / GEAR_TEETH
    angles = (np.arange(GEAR_TEETH)[:, None] + np.array([-0.32, -0.16, 0.16, 0.32])) * pitch
    radii = np.tile([GEAR_ROOT, GEAR_TIP, GEAR_TIP, GEAR_ROOT], GEAR_TEETH)
    outline = radii[:, None] * np.stack([np.sin(angles.ravel()), np.cos(angles.ravel())], axis=1)
    count = len(outline)
    ends = [np.insert(outline, 1, side * 0.5 * length, axis=1) for side in (-1.0, 1.0)]
    hubs = [[0.0, side * 0.5 * length, 0.0] for side in (-1.0, 1.0)]
    here, there = np.arange(count), (np.arange(count) + 1) % count
    sides = np.stack([here, here + count, there + count, there], axis=1)
    front = np.stack([here, there, np.full(count, 2 * count)], axis=1)
    back = np.stack([there + count, here + count, np.full(count, 2 * count + 1)], axis=1)
    mesh = bpy.data.meshes.new(name)
    faces = sides.tolist() + front.tolist() + back.tolist()
    mesh.from_pydata(np.concatenate([*ends, hubs]).tolist(), [], faces)
    mesh.materials.append(made_of)
    return stage.new_object(name, mesh)


# --------------------------------------------------------------------------------------- dress

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
    begin(frames=96)
    stage.build((0.50, 0.32, 0.36))
    wood = stage.material("Limewood", (0.62, 0.42, 0.24), Roughness=0.5)
    body = add_body("Body")
    body.data.materials.append(wood)
    head = stage.add_ball("Head", (0.0, 0.0, 1.62), 0.105)
    head.data.materials.append(wood)
    head.parent = body.parent
    set_collider(body, friction=0.3, static_friction=0.3)
    skirt = add_skirt("Skirt", 54, 19)
    skirt.pbd.attach_object, skirt.pbd.attach_group = body, "Waist"
    stage.soften(skirt)
    colors = [(0.50, 0.015, 0.06), (0.50, 0.015, 0.06), (0.85, 0.70, 0.48), (0.50, 0.015, 0.06)]
    skirt.data.materials.append(stage.striped(stage.fabric("Satin", colors[0], sheen=0.5), colors, "Y"))
    stage.add_camera((0.6, -4.3, 1.45), (0.0, 0.0, 0.86), 60.0)


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
    key(rig, "rotation_euler", {1: (0.0, 0.0, 0.0), 16: (0.0, 0.0, 0.0), 48: (0.0, 0.0, turn)})
    key(rig, "location", {1: (0, 0, 0), 54: (0, 0, 0), 84: (-0.22, 0.12, 0)})
    for side, name in ((1.0, "Leg.L"), (-1.0, "Leg.R")):
        swing = {54: 0.0, 62: 24.0 * side, 70: -24.0 * side, 78: 24.0 * side, 86: 0.0}
        path = f'pose.bones["{name}"].rotation_euler'
        key(rig, path, {frame: (math.radians(angle), 0.0, 0.0) for frame, angle in swing.items()})
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
    set_pbd(
        skirt, density=0.15, stretch=3000.0, compression=3000.0, shear=150.0, bend=1e-5, damping=0.5, drag=0.5,
        friction=0.3, self_distance=0.01,
    )  # fmt: skip
    skirt.vertex_groups.new(name="Waist").add(ids[0].tolist(), 1.0, "REPLACE")
    return skirt


SAMPLES = {
    "curtain": curtain,
    "flag": flag,
    "stiffness_grid": stiffness_grid,
    "balloon": balloon,
    "cushion": cushion,
    "tablecloth": tablecloth,
    "barrel": barrel,
    "pillow_fight": pillow_fight,
    "gears": gears,
    "dress": dress,
}
"""What builds each of the files, by name."""
