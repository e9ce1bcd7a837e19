"""What makes or writes more than a setting: garments, letters, patterns, proxies, loops, textures, for `soak.py`."""

import json

import bpy
import numpy as np
from soak_truth import Refused, action, bodies, call, choose, folder, leave_mode, meshes, remember

MOST = 6
"""Mesh objects from which on nothing more is made: later actions should not take seconds."""

PATTERN = {
    "pattern": {
        "panels": {
            name: {
                "translation": [0.0, 80.0, depth],
                "rotation": [0.0, 0.0, 0.0],
                "vertices": [[0, 0], [30, 0], [30, 40], [0, 40]],
                "edges": [{"endpoints": [k, (k + 1) % 4]} for k in range(4)],
            }
            for name, depth in (("front", 20.0), ("back", -20.0))
        },
        "stitches": [[{"panel": "front", "edge": k}, {"panel": "back", "edge": k}] for k in (1, 3)],
    },
    "properties": {"units_in_meter": 100},
}
"""Two panels of 30 × 40 cm that are sewn at their sides."""


def room_for_more():
    if len(meshes()) >= MOST:
        raise Refused("there is enough")


def remember_all():
    for obj in meshes():
        remember(obj)


@action(1)
def make_a_garment(rng):
    """Of some faces of whatever mesh there is, which becomes a collider."""
    room_for_more()
    obj = choose(rng, [obj for obj in meshes() if obj.data.polygons and obj.data.users == 1])
    chosen = np.array([rng.random() < 0.5 for _ in obj.data.polygons])
    bpy.context.scene.tool_settings.mesh_select_mode = (False, False, True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.data.polygons.foreach_set("select", chosen)
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        call(bpy.ops.mesh.pbd_garment_from_selection, pin=rng.choice(("TOP", "NONE")), vertices=rng.choice((100, 400)))
    finally:
        leave_mode()
        remember_all()


@action(0.5)
def add_letters(rng):
    room_for_more()
    leave_mode()
    call(
        bpy.ops.mesh.primitive_pbd_balloon_text_add,
        text=rng.choice(("I", "Hi", "", "o.")),
        cells=3,
        hold=rng.choice(("FLOAT", "FALL", "HANG")),
    )
    remember_all()


@action(0.5)
def import_a_pattern(rng):
    """One as it should be, or one that something has damaged."""
    room_for_more()
    leave_mode()
    text = json.dumps(PATTERN)
    if rng.random() < 0.5:
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(("", "7", "]", '"')) + text[place + 1 :]
    path = folder / "soak.json"
    path.write_text(text)
    try:
        call(bpy.ops.object.pbd_import_pattern, filepath=str(path), edge=0.1)
    finally:
        remember_all()


@action(1)
def make_a_proxy(rng):
    room_for_more()
    choose(rng, [obj for obj in meshes() if obj.data.users == 1])
    try:
        call(bpy.ops.object.pbd_make_proxy, kind=rng.choice(("CLOTH", "COLLIDER")), vertices=rng.choice((8, 60)))
    finally:
        remember_all()


@action(1)
def loop(rng):
    """Bakes repeat themselves from now on, or no longer; or the best frames are looked for."""
    choose(rng, bodies())
    scene = bpy.context.scene.pbd
    if rng.random() < 0.3:
        call(bpy.ops.object.pbd_find_loop)
        return
    scene.use_loop, scene.loop_gap = rng.random() < 0.7, rng.choice((0.0, 10.0))
    scene.loop_length, scene.loop_fade = rng.choice((0, 2, 4, 50)), rng.choice((0, 1, 3, 20))


@action(0.5)
def write_what_engines_read(rng):
    """Textures that move vertices, or a table of figures."""
    choose(rng, bodies())
    bpy.context.scene.frame_end = rng.randint(2, 6)
    if rng.random() < 0.5:
        call(bpy.ops.object.pbd_export_metrics, filepath=str(folder / "soak.csv"))
        return
    texture, engine = rng.choice(("EXR", "PNG")), rng.choice(("UNREAL", "UNITY", "GODOT"))
    call(bpy.ops.object.pbd_export_vertex_animation, texture=texture, engine=engine, filepath=str(folder / "vat.json"))


@action(1)
def dress(rng):
    """What garments begin with: brought out of bodies, sewn before they fall, rubbing in their bends."""
    pbd = choose(rng, bodies()).pbd
    pbd.fit, pbd.sew_first, pbd.bend_friction = rng.random() < 0.5, rng.random() < 0.5, rng.choice((0.0, 1e-4))
