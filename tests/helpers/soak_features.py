"""What users do with single features, and what happens to files, one function each, for the sequences of `soak.py`."""

import sys
import time
from pathlib import Path

import bpy
import numpy as np
import scenes
from soak_truth import (
    LAST_FRAME,
    Refused,
    action,
    bodies,
    bridge,
    call,
    choose,
    folder,
    leave_mode,
    meshes,
    remember,
)

PROGRAM = Path(__file__).with_name("blender_program.py")

FEATURES = {
    "rigid": {"rigid": (False, True, True), "mass": (0.01, 1.0, 50.0)},
    "springs": {
        "internal_springs": (False, True, True),
        "internal_spring_length": (0.0, 0.2),
        "internal_spring_diversion": (0.1, 0.8),
        "internal_spring_normals": (False, True),
        "internal_tension": (0.0, 50.0, 1e4),
        "internal_compression": (0.0, 50.0, 1e4),
    },
    "layer": {"layer": (0, 1, 2, 3)},
    "plasticity": {"bend_yield": (0.0, 0.05, 1.0), "stretch_yield": (0.0, 0.02), "plastic_rate": (0.5, 20.0)},
    "tearing": {"tear_strength": (0.0, 5.0, 100.0)},
    "sewing": {"sewing": (False, True), "closing_time": (0.0, 0.2, 1.0), "seam_bend": (0.0, 1.0)},
    "gas": {
        "pressure_mode": ("GAS", "GAS", "VOLUME", "OFF"),
        "gas_density": (0.0, 0.18, 1.2),
        "pump": (-5.0, 0.0, 5.0),
        "burst_pressure": (0.0, 500.0),
        "burst_strain": (0.0, 0.5),
    },
    "rest": {"rest_shape": ("DYNAMIC", "DYNAMIC", "BASIS", "DEFORMED", "KEY", "OBJECT"), "rest_key": ("", "Wave")},
    "start": {"velocity": ((0.0, 0.0, 0.0), (1.0, 0.0, 3.0)), "angular_velocity": ((0.0, 0.0, 0.0), (0.0, 0.0, 9.0))},
}
"""Settings that belong together, and values that matter."""


@action(5)
def use_a_feature(rng):
    pbd = choose(rng, bodies()).pbd
    for name, values in FEATURES[rng.choice(sorted(FEATURES))].items():
        if rng.random() < 0.8:
            setattr(pbd, name, rng.choice(values))
    pbd.rest_object = rng.choice([None, *meshes()])


@action(2)
def key_a_setting(rng):
    """By our operator, or as with I over a field; another value at another frame."""
    obj = choose(rng, bodies())
    if rng.random() < 0.3:
        call(bpy.ops.object.pbd_key_setting, setting=rng.choice(("density", "bend")))
        return
    owner, path = rng.choice(
        [(obj, f"pbd.{name}") for name in ("stretch", "pressure", "tear_high", "pump", "hold_pins", "stretch_yield")]
        + [(bpy.context.scene, f"pbd.{name}") for name in ("wind_speed", "substeps", "speed", "floor_height")]
    )
    group, name = owner.pbd, path.removeprefix("pbd.")
    for frame in rng.sample(range(1, LAST_FRAME), 2):
        known = group.bl_rna.properties[name]
        value = rng.random() < 0.5 if known.type == "BOOLEAN" else known.default * rng.choice((0.5, 1.0, 2.0))
        setattr(group, name, int(value) if known.type == "INT" else value)
        owner.keyframe_insert(path, frame=frame)


@action(2)
def sew(rng):
    """Two borders of the mesh, or whatever edges have one face."""
    obj = choose(rng, [obj for obj in bodies() if obj.data.users == 1])
    if len(obj.data.edges) > 800:
        raise Refused("enough edges")
    keys = [key for face in obj.data.polygons for key in face.edge_keys]
    border = [edge for edge in obj.data.edges if keys.count(edge.key) == 1]
    start = rng.randint(0, len(border))
    chosen = {*border} if rng.random() < 0.3 else {*border[start : start + 2], *border[-rng.randint(1, 3) :]}
    for part in (obj.data.vertices, obj.data.edges, obj.data.polygons):
        part.foreach_set("select", np.zeros(len(part), bool))
    for edge in chosen:
        edge.select = True
        for vertex in edge.vertices:
            obj.data.vertices[vertex].select = True
    # Not `bpy.context.tool_settings`: it makes the scene the owner of `bpy.context` in 4.2, also after it is freed.
    bpy.context.scene.tool_settings.mesh_select_mode = (False, True, False)
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        call(bpy.ops.object.pbd_add_seam, mirror=rng.random() < 0.3, slide=rng.random() < 0.7)
    finally:
        leave_mode()
        remember(obj)  # Sliding moves vertices on purpose.


@action(1)
def split_for_tearing(rng):
    obj = choose(rng, [obj for obj in bodies() if obj.data.users == 1 and len(obj.data.vertices) < 60])
    try:
        call(bpy.ops.object.pbd_split, where=rng.choice(("EVERYWHERE", "SELECTED", "SEAM", "SHARP", "GROUP")))
    finally:
        remember(obj)
    obj.pbd.tear_strength = rng.choice((0.5, 20.0))


@action(1)
def crease(rng):
    obj = choose(rng, [obj for obj in bodies() if obj.data.users == 1])
    for part in (obj.data.vertices, obj.data.edges, obj.data.polygons):
        part.foreach_set("select", np.zeros(len(part), bool))
    for edge in rng.sample(list(obj.data.edges), min(len(obj.data.edges), 4)):
        edge.select = True
    bpy.context.scene.tool_settings.mesh_select_mode = (False, True, False)
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        if rng.random() < 0.2:
            call(bpy.ops.object.pbd_clear_crease)
        else:
            call(bpy.ops.object.pbd_set_crease, angle=rng.uniform(-3.0, 3.0), alternate=rng.random() < 0.3)
    finally:
        leave_mode()


@action(2)
def attach_or_let_slide(rng):
    obj = choose(rng, bodies())
    if rng.random() < 0.3:
        obj.pbd.attach_slide = not obj.pbd.attach_slide
        return
    others = [one for one in meshes() if not one.pbd.enabled and one.visible_get()]
    choose(rng, [obj], [rng.choice(others)] if others else [])
    obj.pbd.attach_slide = rng.random() < 0.6
    call(bpy.ops.object.pbd_attach_selected)


@action(2)
def let_it_blow(rng):
    """Wind of the scene, or one of Blender's force fields; or one less."""
    leave_mode()
    scene = bpy.context.scene
    fields = [obj for obj in scene.objects if obj.type == "EMPTY" and obj.field is not None and not obj.library]
    if rng.random() < 0.3:
        scene.pbd.wind_speed, scene.pbd.wind_turbulence = rng.choice((0.0, 3.0, 30.0)), rng.choice((0.0, 0.3))
    elif len(fields) > 2:
        bpy.data.objects.remove(rng.choice(fields))
    else:
        kinds = ("WIND", "FORCE", "VORTEX", "TURBULENCE", "DRAG", "HARMONIC", "CHARGE", "MAGNET", "GUIDE", "TEXTURE")
        call(bpy.ops.object.effector_add, type=rng.choice(kinds), location=(0.0, rng.uniform(-1.0, 1.0), 0.0))
        bpy.context.object.field.strength = rng.choice((-5.0, 1.0, 200.0))


# Files


@action(3)
def damage_the_cache(rng):
    """Files in the cache are changed while nothing looks: each frame shown is as it was, or simulated again."""
    choose(rng, bodies())
    scene = bpy.context.scene
    if not bpy.data.filepath:
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "soak.blend"))
    scene.pbd.use_disk_cache = True
    session, disk = bridge("timeline.session"), bridge("timeline.disk_cache")
    known, first = {}, session.frame_range(scene)[0]
    frames = range(first, first + rng.randint(2, 5))
    for frame in (*frames, *frames):  # Twice: cloth that is new is simulated from the first frame on by then.
        scenes.go(frame)
        known[frame] = {obj.name: scenes.shown(obj) for obj in bodies()}
    record, place = session.get(scene), disk.folder_of(scene)
    files = sorted(Path(place).iterdir()) if place and Path(place).is_dir() else []
    if not files or record is None or record.scene_sim is None or record.disk is None:
        raise Refused("nothing is on disk")
    last = record.last_frame
    for _ in range(rng.randint(1, 3)):
        spoil(rng, rng.choice(files))
    how = rng.choice(("load", "reopen", "scrub"))
    if how == "load":
        call(bpy.ops.object.pbd_disk_cache_load)
    elif how == "reopen":
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    for frame in rng.sample([*known], len(known)):
        scenes.go(frame)
        record = session.get(bpy.context.scene)
        if record is None or record.report is not None or record.message or record.last_frame != last:
            return  # From here on frames are simulated again.
        for obj in bodies():
            before, now = known[frame].get(obj.name), scenes.shown(obj)
            if before is not None and len(before) == len(now):
                apart = np.abs(now - before).max(initial=0.0)
                assert apart < 1e-4, f"{obj.name} shows another shape at frame {frame}, {apart:.3g} m off, after {how}"


def spoil(rng, path):
    """Flip bytes of a file, cut it, delete it, empty it, or give it the name of another."""
    if not path.is_file():
        return
    content, how = (
        bytearray(path.read_bytes()),
        rng.choice(("flip", "flip", "cut", "delete", "empty", "rename", "grow")),
    )
    if how == "flip" and content:
        for _ in range(rng.choice((1, 8))):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
    elif how in ("cut", "empty"):
        path.write_bytes(content[: rng.randrange(len(content) + 1) if how == "cut" else 0])
    elif how == "grow":
        path.write_bytes(content + bytes(rng.randrange(256) for _ in range(64)))
    elif how == "delete":
        path.unlink()
    elif how == "rename":
        other = rng.choice(sorted(path.parent.iterdir()))
        path.replace(other if rng.random() < 0.5 else path.with_name("another"))


@action(0.2)
def bake_in_background(rng):
    """A second Blender computes while this one works on; or it is cancelled."""
    choose(rng, bodies())
    scene = bpy.context.scene
    scene.frame_end, scene.pbd.bake_folder = 3, str(folder / "bakes")
    background, program = bridge("baking.background_bake"), folder / "blender"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PROGRAM}" "$@"\n')
    program.chmod(0o755)
    bpy.app.binary_path = str(program)
    try:
        call(bpy.ops.object.pbd_bake_background, mode=rng.choice(("ABSOLUTE", "REDUCED", "MESH_CACHE")))
        if rng.random() < 0.3:
            call(bpy.ops.object.pbd_cancel_background)
        deadline = time.monotonic() + 300.0
        while background.job() is not None:
            assert time.monotonic() < deadline, background.job().text
            time.sleep(0.1)
            background.watch()
        assert "Traceback" not in background.message(), background.message()
    finally:
        background.cancel()
        bpy.app.binary_path = ""
