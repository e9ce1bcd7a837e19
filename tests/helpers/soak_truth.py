"""What must hold at any time in a random sequence of `soak.py`, and what its actions share."""

import importlib
import json
import os
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from installing import installer

installer.clean_profile()
os.environ.setdefault("PBD_KERNELS", "numpy")

import bpy  # noqa: E402  # Blender reads its profile when it is imported
import numpy as np  # noqa: E402
import scenes  # noqa: E402

LAST_FRAME = 14
TRUTH = "shape of the user"
KEYS = "keys of the user"
MOST_MESHES = 6

ACTIONS: list[tuple[Callable, float]] = []
folder = Path(tempfile.mkdtemp(prefix="pbd_soak_"))


class Refused(Exception):
    """An operator or the bridge said no with a sentence, which it may."""


class Listener:
    """Passes on what is written to the error output, and remembers whether a handler has failed."""

    def __init__(self, stream):
        self.stream, self.failed = stream, False

    def write(self, text):
        self.failed |= "Traceback" in text
        return self.stream.write(text)

    def flush(self):
        self.stream.flush()

    def fileno(self):
        return self.stream.fileno()


listener = sys.stderr = Listener(sys.stderr)


def action(weight=2):
    """Register something that a user does, with how often."""

    def register(function):
        ACTIONS.append((function, weight))
        return function

    return register


def bridge(name):
    return importlib.import_module(f"{installer.PACKAGE}.pbd_addon.blender.{name}")


# What a user has


def is_local(obj):
    """Whether an object and its mesh are of this file, so that a user can change them."""
    return not (obj.library or obj.override_library or obj.data.library or obj.data.override_library)


def meshes():
    """The mesh objects of the scene that a user can change."""
    return [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and is_local(obj)]


def bodies():
    return [obj for obj in meshes() if obj.pbd.enabled]


def own_shape(obj):
    """Vertices of a mesh as the user made them, (n, 3) float32."""
    keys = obj.data.shape_keys
    points = np.empty((len(obj.data.vertices), 3), np.float32)
    if keys:
        keys.reference_key.data.foreach_get("co", points.ravel())
    else:
        obj.data.vertices.foreach_get("co", points.ravel())
    return points


def own_keys(obj):
    """Checksums of the user's shape keys, by name."""
    keys, marks = obj.data.shape_keys, bridge("scene.marks")
    if keys is None:
        return {}
    found = {}
    for block in keys.key_blocks[1:]:
        if not marks.is_marked(block, marks.LIVE, marks.BAKED, marks.BASIS):
            points = np.empty(3 * len(block.data), np.float32)
            block.data.foreach_get("co", points)
            found[block.name] = zlib.crc32(points.tobytes())
    return found


def truth(obj):
    points = own_shape(obj)
    return f"{len(points)} {zlib.crc32(points.tobytes())}"


def remember(obj):
    """Note the user's shape and keys on the mesh, which may be that of an overridden object."""
    if obj.type == "MESH" and not (obj.data.library or obj.data.override_library):
        obj.data[TRUTH] = truth(obj)
        obj.data[KEYS] = json.dumps(own_keys(obj))


# What holds at any time


def check():
    """Raise AssertionError if something of the user's is lost, or something of ours is where it must not be."""
    for obj in bpy.context.scene.objects:
        if obj.type != "MESH" or obj.data.is_editmode or TRUTH not in obj.data:
            continue
        found = truth(obj)
        assert found == obj.data[TRUTH], f"{obj.name} has lost its shape: {found} instead of {obj.data[TRUTH]}"
        lost = json.loads(obj.data[KEYS]).items() - own_keys(obj).items()
        assert not lost, f"{obj.name} has lost shape keys of the user's: {lost}, it has {own_keys(obj)}"
        if obj.mode == "OBJECT" and is_local(obj):
            assert np.isfinite(scenes.shown(obj)).all(), f"{obj.name} shows something that is no number"
    check_owners()
    homeless = [key for key in bpy.data.shape_keys if key.user is None or key.user.shape_keys != key]
    ours = [block.name for key in homeless for block in key.key_blocks if block.slider_max != 1.0]
    assert not ours, f"{ours} have no mesh"
    for name in ("frame_change_pre", "frame_change_post", "undo_post", "redo_post", "load_pre", "load_post"):
        armed = ours_among(getattr(bpy.app.handlers, name))
        assert len(armed) == len(set(armed)), f"{name} has {armed}"
    assert not listener.failed, "a handler has failed"


def check_owners():
    """Raise AssertionError if something of ours has no owner once Blender has told the add-on of what was done."""
    bpy.context.view_layer.update()
    if "on_edit" not in ours_among(bpy.app.handlers.depsgraph_update_post):
        bridge("doctor.leftovers").sweep()  # Nothing is live: it runs when the file is saved.
    marks = bridge("scene.marks")
    wearers: dict[str, list] = {}
    for obj in bpy.data.objects:
        if obj.type == "MESH":
            wearers.setdefault(obj.data.name_full, []).append(obj)
    for mesh in bpy.data.meshes:
        worn_by = wearers.get(mesh.name_full, [])
        if mesh.library or mesh.override_library or any(obj.mode in {"EDIT", "SCULPT"} for obj in worn_by):
            continue
        owners = [obj for obj in worn_by if obj.pbd.enabled]
        kinds = {
            marks.LIVE: any(not obj.pbd.baked for obj in owners),
            marks.BAKED: any(obj.pbd.baked for obj in owners),
        }
        for kind, is_owned in kinds.items():
            found = [block.name for block in marks.marked(mesh.shape_keys, kind)]
            assert is_owned or not found, f"{mesh.name} keeps {found}"
            assert kind == marks.BAKED or len(found) < 2, f"{mesh.name} has {found}"
        if mesh.shape_keys is not None:
            reference = mesh.shape_keys.reference_key
            assert not marks.is_marked(reference, *kinds), f"{reference.name} of {mesh.name} is the reference"
        left = ours_of(mesh, worn_by)
        assert owners or not left, f"{mesh.name} keeps {left}"
        assert not {"pbd_input", "pbd_index"} & {*left}, f"{mesh.name} keeps {left}"
    for obj in bpy.data.objects:
        ours = [one.name for one in obj.modifiers if one.name.startswith("PBD Output")]
        is_body = obj.type == "MESH" and obj.pbd.enabled
        assert is_body or not ours or obj.library or obj.override_library, f"{obj.name} keeps {ours}"


def ours_of(mesh, worn_by):
    """Names of the attributes that the add-on has made; creases are the user's, as groups and seams are, and what binds
    a mesh to a proxy is the modifier's."""
    follows = any(bridge("output.proxy_modifier").find(obj) for obj in worn_by)
    kept = ("pbd_crease_", "pbd_proxy_") if follows else ("pbd_crease_",)
    names = [one.name for one in mesh.attributes if one.name.startswith("pbd_")]
    return [name for name in names if not name.startswith(kept)]


def ours_among(handlers):
    return [one.__qualname__ for one in handlers if one.__module__.startswith(installer.PACKAGE)]


# What actions share


def call(operator, **arguments):
    """Press a button that is not grey; raises `Refused` with what Blender says."""
    if not operator.poll():
        raise Refused(f"{operator.idname()} is grey")
    try:
        operator(**arguments)
    except RuntimeError as error:
        sentence = str(error).strip()
        assert "Traceback" not in sentence, sentence
        assert len(sentence) < 400 and sentence.startswith("Error:"), sentence
        raise Refused(sentence) from error


def choose(rng, objects, others=()):
    """Make one of these objects the active and selected one, with others, in Object Mode."""
    if not objects:
        raise Refused("there is no such object")
    leave_mode()
    obj = rng.choice(sorted(objects, key=lambda one: one.name))
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj or other in others)
    bpy.context.view_layer.objects.active = obj
    if not obj.visible_get():
        raise Refused(f"{obj.name} is hidden")
    return obj


def render_small(scene):
    """Let a scene be rendered by Cycles, which needs no display."""
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.cycles.use_denoising = False
    scene.render.resolution_x = scene.render.resolution_y = 8


def leave_mode():
    active = bpy.context.view_layer.objects.active
    if active is not None and active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
