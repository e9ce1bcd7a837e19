"""Vertex animation textures for game engines: textures, the mesh that they move, and a manifest that says how.

All files of an export are written in one go: either all are replaced, or none.
"""

import contextlib
import json
import os
from collections.abc import Generator, Iterator
from typing import NamedTuple

import bpy
import numpy as np

from ...io import atomic_files, vertex_textures
from ...io.vertex_textures import ENGINES, Layout
from ...meshes.mesh import vertex_normals
from ..errors import PBDError, refused
from ..kinds import Context, Object, Scene
from ..output import shape_keys
from ..read import mesh_io
from ..scene.arrays import face_corners
from ..timeline.session import BakeProgress
from . import bake, export, mesh_cache, recording

VERSION = 1
"""Of the manifest."""

UV_MAP = "VAT"
"""Name of the texture coordinates that lead to the pixels of frame 0."""

ENCODINGS = {"EXR": "float32", "PNG": "unorm16"}


class Job(NamedTuple):
    """What to export, and for whom."""

    names: dict[int, str]  # objects by uid
    path: str  # of the manifest
    engine: str
    texture: str  # a key of `ENCODINGS`
    frames: range
    loops: bool


def start(
    context: Context, objects: list[Object], path: str, engine: str, texture: str, first: int, last: int
) -> Generator[BakeProgress, None, int]:
    """Check, then return the generator that simulates missing frames and writes the files; both raise `PBDError`.

    `path`, absolute or relative to the .blend, is that of the manifest, and the others are beside it. `engine` is one
    of `vertex_textures.ENGINES`. Returns the number of frames.
    """
    if not objects:
        raise PBDError("There is no PBD cloth or balloon to export")
    if path.startswith("//") and not bpy.data.filepath:
        raise PBDError("Save the file first, or choose a path that does not begin with //")
    export.check_exporter("GLTF")
    cycle = export.check_loop(context.scene, objects)
    # A shader goes from the last frame to the first by itself.
    frames = range(cycle[0], cycle[1]) if cycle else range(first, last + 1)
    live = [obj for obj in objects if not obj.pbd.baked]
    if live:
        bake.check(context.scene, live, "REDUCED", first, last)
    for obj in objects:
        if len(obj.data.uv_layers) == 8:
            raise PBDError(f"'{obj.name}' has 8 UV maps, as many as Blender holds: remove one")
        with refused(f"'{obj.name}': "):
            vertex_textures.layout(len(obj.data.vertices), len(frames))
    names = {obj.session_uid: obj.name for obj in objects}
    target = mesh_cache.absolute(with_extension(path))
    return _run(context.scene, Job(names, target, engine, texture, frames, cycle is not None))


def with_extension(path: str) -> str:
    """The path of a manifest."""
    return path if path.lower().endswith(".json") else f"{path}.json"


def _run(scene: Scene, job: Job) -> Generator[BakeProgress, None, int]:
    """Record, then write; no reference to Blender's data is kept across a yield."""
    uid = scene.session_uid
    with recording.at_the_users_frame(scene):
        del scene
        kept = yield from recording.record(uid, job.names, job.frames[0], job.frames[-1], with_user_keys=True)
    scene = recording.find_scene(uid)
    objects = recording.find_objects(scene, job.names, "export")
    try:
        os.makedirs(os.path.dirname(job.path), exist_ok=True)
        with atomic_files.replacing(job.path) as unfinished:
            _write(scene, objects, {one: np.asarray(kept[one].shapes) for one in job.names}, job, unfinished)
    except (RuntimeError, OSError) as error:
        why = export.reason(error)
        raise PBDError(f"'{os.path.basename(job.path)}' could not be written: {why}") from error
    return len(job.frames)


def _write(scene: Scene, objects: list[Object], shapes: dict[int, np.ndarray], job: Job, path: str) -> None:
    """Write all files beside `path`, the manifest last."""
    folder, stem = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    axes = ENGINES[job.engine]
    described = []
    with contextlib.ExitStack() as undo:
        undo.enter_context(export.asleep(scene))
        copies = []
        for obj in objects:
            own = shapes[obj.session_uid]
            places = vertex_textures.layout(own.shape[1], len(own))
            copy, uv_index = undo.enter_context(_still(scene, obj, own[0], places))
            copies.append(copy)
            name = stem if len(objects) == 1 else bpy.path.clean_name(f"{stem}_{obj.name}")
            textures = _textures(obj, own, places, job, os.path.join(folder, name))
            step = places.rows / places.height
            described.append({
                "name": obj.name, "node": copy.name, "vertices": places.vertices, "uv_index": uv_index,
                "width": places.width, "height": places.height, "rows_per_frame": places.rows,
                "frame_step_v": -step if axes.is_v_up else step, **textures,
            })  # fmt: skip
        bpy.context.view_layer.update()
        undo.enter_context(export.selected(bpy.context.view_layer, copies))
        bpy.ops.export_scene.gltf(
            filepath=os.path.join(folder, f"{stem}.glb"), export_format="GLB", use_selection=True,
            export_animations=False, export_morph=False, export_skins=False, check_existing=False,
        )  # fmt: skip
    manifest = {
        "generator": "PBD Cloth & Balloons", "version": VERSION, "engine": job.engine, "mesh": f"{stem}.glb",
        "axes": axes.rows, "unit_meters": axes.unit, "frames": len(job.frames),
        "fps": scene.render.fps / scene.render.fps_base, "loop": job.loops, "objects": described,
    }  # fmt: skip
    with open(path, "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=2)


def _textures(obj: Object, shapes: np.ndarray, places: Layout, job: Job, stem: str) -> dict[str, object]:
    """Write the textures of an object with shapes (f, n, 3) [m]; returns what the manifest says of them."""
    matrix = np.array(ENGINES[job.engine].matrix)
    faces = mesh_io.read_polygons(obj.data)
    directions = matrix / np.linalg.norm(matrix[0])
    normals = np.array([vertex_normals(shape.astype(np.float64), faces) for shape in shapes]) @ directions.T
    there = shapes @ matrix.T
    deltas = there - there[0]
    low, size = vertex_textures.bounds(deltas)
    limits = {"min": there.min(axis=(0, 1)).tolist(), "max": there.max(axis=(0, 1)).tolist()}
    found: dict[str, object] = {"bounds": limits}
    ranges = {"position": (deltas, low, size), "normal": (normals, np.full(3, -1.0), np.full(3, 2.0))}
    for what, (values, least, extent) in ranges.items():
        file = f"{stem}_{what}.{job.texture.lower()}"
        if job.texture == "PNG":
            steps = vertex_textures.quantized(values, least, extent)
            content = vertex_textures.png(vertex_textures.pixels(steps, places))
        else:
            content = vertex_textures.exr(vertex_textures.pixels(values.astype(np.float32), places))
            least, extent = np.zeros(3), np.ones(3)
        with open(file, "wb") as target:
            target.write(content)
        found[what] = {
            "file": os.path.basename(file), "encoding": ENCODINGS[job.texture],
            "min": least.tolist(), "size": extent.tolist(),
        }  # fmt: skip
    return found


@contextlib.contextmanager
def _still(scene: Scene, obj: Object, shape: np.ndarray, places: Layout) -> Iterator[tuple[Object, int]]:
    """Temporarily have a copy of an object in a shape (n, 3), without modifiers, and the number of its UV map."""
    mesh = obj.data.copy()
    copy = bpy.data.objects.new(f"{obj.name}_{UV_MAP}", mesh)
    try:
        if mesh.shape_keys is not None:
            shape_keys.clear(copy)
        mesh.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(shape, np.float32).ravel())
        corners = places.coordinates()[face_corners(mesh)]
        layer = mesh.uv_layers.new(name=UV_MAP, do_init=False)
        layer.data.foreach_set("uv", np.ascontiguousarray(corners, np.float32).ravel())
        mesh.update()
        copy.matrix_world = obj.matrix_world
        scene.collection.objects.link(copy)
        yield copy, len(mesh.uv_layers) - 1
    finally:
        bpy.data.objects.remove(copy)
        bpy.data.meshes.remove(mesh)
