"""What all samples need: an empty scene, cloth and colliders with settings, keys, and a file at the end."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np
import sidebar_tab
from mathutils import Matrix

FPS = 24

GRAVITY = 9.81
"""[m/s²]"""

TAB = "PBD"
"""The sidebar's tab that is open in the files."""


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
    scene.view_settings.view_transform = "Khronos PBR Neutral"
    scene.use_gravity = gravity
    return scene


def save(path: Path) -> None:
    """Write the open scene, compressed, and without a path of this machine, with cloth selected and its tab open.

    The workspaces that nobody needs for a small scene go: one of them holds a file browser that remembers the home
    folder, and together they are larger than the cloth.
    """
    bpy.data.batch_remove([workspace for workspace in bpy.data.workspaces if workspace.name != "Layout"])
    bpy.ops.outliner.orphans_purge(do_local_ids=True, do_recursive=True)
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    select([obj for obj in scene.objects if obj.pbd.enabled])
    area = next(area for area in bpy.data.screens["Layout"].areas if area.type == "VIEW_3D")
    show(area.spaces.active)
    if bpy.app.version < (5, 0, 0):  # 5.0 saves in another format, and what opens only there is not kept
        sidebar = next(region for region in area.regions if region.type == "UI")
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / path.name
            bpy.ops.wm.save_as_mainfile(filepath=str(plain), compress=False, copy=True)
            sidebar_tab.choose(plain, sidebar.as_pointer(), TAB)
            bpy.ops.wm.open_mainfile(filepath=str(plain), load_ui=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, copy=True)


def select(objects: list[bpy.types.Object]) -> None:
    """Select the first of these objects alone, and make it active."""
    bpy.ops.object.select_all(action="DESELECT")
    objects[0].select_set(True)
    bpy.context.view_layer.objects.active = objects[0]


def show(view: bpy.types.SpaceView3D) -> None:
    """Have the 3D View look through the camera, in Solid with the materials' colors, and its sidebar open.

    The picture is moved to the left, out of from under the sidebar, and nothing that is not rendered lies over it.
    """
    view.region_3d.view_perspective = "CAMERA"
    view.region_3d.view_camera_zoom = 10.0
    view.region_3d.view_camera_offset = (0.1, 0.0)
    view.show_region_ui = True
    overlay = view.overlay
    overlay.show_extras = overlay.show_relationship_lines = overlay.show_cursor = False
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = False
    shading = view.shading
    shading.type, shading.light, shading.color_type = "SOLID", "STUDIO", "MATERIAL"
    shading.show_cavity = True


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


def choose_material(obj: bpy.types.Object, name: str) -> None:
    """Choose a shipped material for the active object, as in the menu of the panel."""
    kind = f"pbd_{obj.pbd.type.lower()}"
    files = (file for folder in bpy.utils.preset_paths(kind) for file in Path(folder).glob("*.py"))
    file = next(file for file in files if file.stem.replace("_", " ") == name)
    bpy.ops.script.execute_preset(filepath=str(file), menu_idname=f"OBJECT_PT_{kind}_presets")


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
    for point in curves_of(obj).find("rotation_euler", index=axis).keyframe_points:
        point.interpolation = "LINEAR"


def drop(obj: bpy.types.Object, start: Sequence[float], first: int, height: float) -> None:
    """Animate an object that falls from a place [m] in frame `first` to a height [m], where it stays."""
    last = first + FPS * math.sqrt(2.0 * (start[2] - height) / GRAVITY)
    for frame, place in ((first, start), (last, (*start[:2], height))):
        obj.location = place
        obj.keyframe_insert("location", frame=frame)
    obj.location = start
    for point in curves_of(obj).find("location", index=2).keyframe_points:
        point.interpolation, point.easing = "QUAD", "EASE_IN"


def curves_of(obj: bpy.types.Object) -> bpy.types.ActionFCurves:
    """The curves of an animated object: Blender 5 has them in the channels of a strip, 4.2 in the action itself."""
    action = obj.animation_data.action
    layers = getattr(action, "layers", ())
    return (layers[0].strips[0].channelbag(obj.animation_data.action_slot) if layers else action).fcurves


def set_collider(obj: bpy.types.Object, **settings: object) -> None:
    """Make an object a collider with these settings of `Object.pbd_collider`.

    Its `thickness` leaves room for the cloth as it is shown. Subdivision moves a vertex of edges L [m] inward by
    L² / 6R where the cloth bends around a radius R, in both directions of the surface: 4 mm for 34 mm around an arm.
    And a bent quad is drawn with one diagonal, and met with the other.
    """
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


def vertices_of(mesh: bpy.types.Mesh) -> np.ndarray:
    """Positions (n, 3) float32 [m]."""
    positions = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", positions.ravel())
    return positions
