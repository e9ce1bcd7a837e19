"""Files for other programs, written by Blender's exporters in a way that keeps the simulation.

Alembic and USD store the evaluated mesh of each frame. glTF has only morph targets: during its export each object uses
a proxy mesh with reduced keys.
"""

import contextlib
import os
import pathlib
import re
import shutil
from collections.abc import Generator, Iterator

import bpy

from ...io import atomic_files, own_files
from ...io.key_reduction import Reduction
from .. import handlers
from ..errors import PBDError
from ..kinds import Context, Object, Scene
from ..output import output_modifier, proxy_modifier, shape_keys
from ..read import mesh_io
from ..scene import user_keys
from ..scene.simulated_range import timeline_frames
from ..scene.temporary import changed
from ..timeline.session import BakeProgress
from . import bake, baked_keys, mesh_cache, recording

EXTENSIONS = {"ALEMBIC": ".abc", "USD": ".usdc", "GLTF": ".glb"}
FORMAT_NAMES = {"ALEMBIC": "Alembic", "USD": "USD", "GLTF": "glTF"}
CORNER_BYTES = 12
"""Size of a position, or of the normal of a face corner, in one frame."""

ACCEPTED = {"ALEMBIC": (".abc",), "USD": (".usdc", ".usd", ".usda", ".usdz"), "GLTF": (".glb", ".gltf")}


def with_extension(path: str, file_format: str) -> str:
    """The path with an extension that the format accepts."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in ACCEPTED[file_format]:
        return path
    others = {known for extensions in ACCEPTED.values() for known in extensions}
    return (stem if extension.lower() in others else path) + EXTENSIONS[file_format]


def start(
    context: Context, objects: list[Object], others: list[Object], file_format: str, path: str, first: int, last: int
) -> Generator[BakeProgress, None, None]:
    """Check, then return the generator that simulates missing frames and writes the file; both raise `PBDError`.

    The file, absolute or relative to the .blend, in one of the formats of `EXTENSIONS`, gets PBD objects, live or
    baked, and others of the context's scene and view layer.
    """
    if not objects:
        raise PBDError("There is no PBD cloth or balloon to export")
    if path.startswith("//") and not bpy.data.filepath:
        raise PBDError("Save the file first, or choose a path that does not begin with //")
    check_exporter(file_format)
    for obj in (*objects, *others):
        if not obj.visible_get(view_layer=context.view_layer):
            raise PBDError(f"'{obj.name}' is hidden: show it to export it")
    for obj in objects:
        if file_format == "GLTF":
            mesh_io.check_editable(obj)
    live = [obj for obj in objects if not obj.pbd.baked]
    first, last = check_loop(context.scene, objects) or (first, last)
    if live:
        bake.check(context.scene, live, "REDUCED", first, last)
    followed = {obj: proxy_modifier.target(obj) for obj in others} if file_format == "GLTF" else {}
    fine = [obj for obj in followed if followed[obj] in objects]
    recorded = [*objects, *fine] if file_format == "GLTF" else live
    names = {obj.session_uid: obj.name for obj in recorded}
    stand_ins = [followed[obj] for obj in fine if followed[obj].hide_render]
    chosen = {obj.session_uid: obj.name for obj in (*objects, *others) if obj not in stand_ins}
    path = mesh_cache.absolute(with_extension(path, file_format))
    return _run(context.scene, names, chosen, file_format, path, first, last)


def loop_of(objects: list[Object]) -> tuple[int, int] | None:
    """First and last frame of the loop that all objects are baked as, or None."""
    found = {(obj.pbd.bake_start, obj.pbd.bake_end) if obj.pbd.bake_loop else None for obj in objects}
    return found.pop() if len(found) == 1 else None


def check_loop(scene: Scene, objects: list[Object]) -> tuple[int, int] | None:
    """As `loop_of`; raises a `PBDError` if the scene wants a loop and an object is not baked."""
    live = [obj for obj in objects if not obj.pbd.baked]
    if live and scene.pbd.use_loop:
        raise PBDError(f"'{live[0].name}' is not baked: an export repeats itself as its bake does, so bake it first")
    return loop_of(objects)


def check_room(path: str, objects: list[Object], frames: int) -> None:
    """Raise a `PBDError` if the disk is too full for the evaluated meshes of objects in so many frames of a file."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    meshes = [obj.evaluated_get(depsgraph).data for obj in objects if obj.type == "MESH"]
    size = frames * CORNER_BYTES * sum(len(mesh.vertices) + len(mesh.loops) for mesh in meshes)
    free = shutil.disk_usage(os.path.dirname(path)).free
    if free < size:
        raise PBDError(
            f"'{os.path.basename(path)}' may take {size / 1e6:.1f} MB, and the disk has only {free / 1e6:.1f} MB left"
        )


def check_exporter(file_format: str) -> None:
    """Raise a `PBDError` if this Blender has no exporter for a format."""
    if file_format == "GLTF":
        if "gltf" not in dir(bpy.ops.export_scene):
            raise PBDError("Switch on the add-on 'glTF 2.0 format' in the preferences first")
    elif f"{file_format.lower()}_export" not in dir(bpy.ops.wm):
        raise PBDError(f"This Blender was built without {FORMAT_NAMES[file_format]}")


def _run(
    scene: Scene, names: dict[int, str], chosen: dict[int, str], file_format: str, path: str, first: int, last: int
) -> Generator[BakeProgress, None, None]:
    """Record, then write; no reference to Blender's data is kept across a yield."""
    uid = scene.session_uid
    behind = _behind_proxies(recording.find_objects(scene, names))
    with recording.at_the_users_frame(scene), output_modifier.off(behind):
        del scene
        kept = {}
        if names:
            kept = yield from recording.record(uid, names, first, last, with_user_keys=True)
    scene = recording.find_scene(uid)
    layer = bpy.context.view_layer
    objects = recording.find_objects(scene, chosen, "export")
    frames, shown = range(first, last + 1), timeline_frames(scene, first, last)
    with contextlib.ExitStack() as undo:
        undo.enter_context(selected(layer, objects))
        # The frame range, which USD and glTF export; and apart what can tear, because files hold as many vertices in
        # every frame.
        undo.enter_context(
            changed(
                (scene, "use_preview_range", False), (scene, "frame_start", shown[0]), (scene, "frame_end", shown[1])
            )
        )
        welds = [one for obj in objects for one in obj.modifiers if one.name == output_modifier.TEAR_WELD]
        undo.enter_context(output_modifier.off(welds))
        if file_format == "GLTF":
            undo.enter_context(asleep(scene))
            for obj in objects:
                if obj.session_uid in kept:
                    target = proxy_modifier.target(obj)
                    reduction = bake.reduce(target or obj, kept[obj.session_uid])
                    # Armatures before the simulation: glTF exports a skin even if the modifier is off.
                    earlier = output_modifier.before(obj) if target or output_modifier.find(obj) is not None else []
                    rigs = [modifier for modifier in earlier if modifier.type == "ARMATURE"]
                    undo.enter_context(changed(*((modifier, "object", None) for modifier in rigs)))
                    undo.enter_context(_proxy_mesh(obj, frames, reduction))
        else:
            undo.enter_context(recording.at_the_users_frame(scene))
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if file_format != "GLTF":
                check_room(path, objects, shown[1] - shown[0] + 1)
            with atomic_files.replacing(path) as unfinished:
                WRITERS[file_format](unfinished, *shown)
        except (RuntimeError, OSError) as error:
            why = reason(error)
            raise PBDError(f"'{os.path.basename(path)}' could not be written: {why}") from error


def _behind_proxies(objects: list[Object]) -> list[bpy.types.Modifier]:
    """Modifiers behind the one by which objects follow a proxy: glTF has the mesh before them."""
    found = []
    for obj in objects:
        modifier = proxy_modifier.find(obj)
        if modifier is not None:
            found += list(obj.modifiers)[obj.modifiers.find(modifier.name) + 1 :]
    return found


def reason(error: Exception) -> str:
    """Why an exporter failed, in one line, from its error message or the traceback of a script."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text = str(error).removeprefix("Error: ")
    if "Traceback" in text:
        known = re.findall(r"\[Errno \d+\] ([^:\n]+)", text)
        return known[-1] if known else "the exporter failed: see the system console"
    return " ".join(text.split())


def _write_alembic(path: str, first: int, last: int) -> None:
    """Write the evaluated meshes."""
    bpy.ops.wm.alembic_export(filepath=path, start=first, end=last, selected=True, check_existing=False)


def _write_usd(path: str, _first: int, _last: int) -> None:
    """Write the evaluated meshes, as points of each frame.

    Exported as shape keys, live cloth would stay at its first frame; cloth on a rig would be skinned.
    """
    own_files.check_folder(pathlib.Path(path).with_name("textures"), 1)  # Blender writes images there.
    bpy.ops.wm.usd_export(
        filepath=path,
        selected_objects_only=True,
        export_animation=True,
        export_shapekeys=False,
        export_armatures=False,
        check_existing=False,
    )


def _write_gltf(path: str, _first: int, _last: int) -> None:
    """Write morph targets, and one animation of everything, starting at 0 seconds."""
    bpy.ops.export_scene.gltf(
        filepath=path,
        export_format="GLTF_SEPARATE" if path.lower().endswith(".gltf") else "GLB",
        use_selection=True,
        export_animations=True,
        export_animation_mode="SCENE",
        export_anim_scene_split_object=False,
        export_anim_slide_to_zero=True,
        export_frame_range=True,
        export_morph=True,
        export_morph_normal=True,
        export_morph_animation=True,
        check_existing=False,
    )


WRITERS = {"ALEMBIC": _write_alembic, "USD": _write_usd, "GLTF": _write_gltf}


@contextlib.contextmanager
def selected(layer: bpy.types.ViewLayer, objects: list[Object]) -> Iterator[None]:
    """Temporarily select only these objects, because exporters export the selection."""
    before, active = [obj for obj in layer.objects if obj.select_get(view_layer=layer)], layer.objects.active
    try:
        for obj in before:
            obj.select_set(False, view_layer=layer)
        for obj in objects:
            obj.select_set(True, view_layer=layer)
        yield
    finally:
        for obj in objects:
            obj.select_set(False, view_layer=layer)
        for obj in before:
            obj.select_set(True, view_layer=layer)
        layer.objects.active = active


@contextlib.contextmanager
def asleep(scene: Scene) -> Iterator[None]:
    """Temporarily simulate nothing; the scene returns to its frame before that ends."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    with handlers.asleep():
        try:
            yield
        finally:
            scene.frame_set(frame, subframe=subframe)


@contextlib.contextmanager
def _proxy_mesh(obj: Object, frames: range, reduction: Reduction) -> Iterator[None]:
    """Temporarily give the object a copy of its mesh with reduced keys."""
    mesh, active, name = obj.data, obj.active_shape_key_index, obj.data.name
    basis = user_keys.basis_shape(obj)
    proxy = mesh.copy()
    action = None
    try:
        obj.data = proxy
        if proxy.shape_keys is not None:
            proxy.shape_keys.animation_data_clear()
            shape_keys.clear(obj)
        proxy.attributes["position"].data.foreach_set("vector", basis.ravel())
        obj.shape_key_add(name="Basis", from_mix=False)
        names = baked_keys.add_reduced_keys(obj, reduction)
        curves = baked_keys.ensure_curves(proxy.shape_keys, f"PBD {obj.name}")
        action = proxy.shape_keys.animation_data.action
        baked_keys.animate_reduced_keys(curves, names, frames, reduction)
        mesh.name, proxy.name = f"{name} ", name
        yield
    finally:
        obj.data = mesh
        bpy.data.meshes.remove(proxy)
        if action is not None:
            bpy.data.actions.remove(action)
        mesh.name = name
        obj.active_shape_key_index = active
