"""Random sequences of what users do, in real Blender; each is given by its seed and can be replayed.

    python soak.py ZIP --seeds 0 20 [--actions 25] [--say]

After every action nothing of the user's may be lost: each mesh remembers a checksum of its own shape, which Blender's
undo, save and duplicate carry along. At the end of a sequence all bakes and all PBD settings are taken away, and
nothing of the add-on may be left. A line for each seed; the last one is "N sequences, N actions, N refused".
"""

import argparse
import importlib
import importlib.util
import os
import random
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load_installer():
    spec = importlib.util.spec_from_file_location("extension", HERE.parents[1] / "tools" / "extension.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


installer = load_installer()
installer.clean_profile()
os.environ.setdefault("PBD_KERNELS", "numpy")

import bpy  # noqa: E402  # Blender reads its profile when it is imported
import numpy as np  # noqa: E402
import scenes  # noqa: E402

LAST_FRAME = 14
TRUTH = "shape of the user"
KEPT = "PBD Shape"
"""What a key is called that a user applied; and a note on meshes with a bake that a user made his own."""

ACTIONS: list[tuple[Callable, int]] = []
folder = Path(tempfile.mkdtemp(prefix="pbd_soak_"))


class Refused(Exception):
    """An operator or the bridge said no with a sentence, which it may."""


def action(weight=2):
    """Register something that a user does, with how often."""

    def register(function):
        ACTIONS.append((function, weight))
        return function

    return register


def bridge(name):
    return importlib.import_module(f"{installer.PACKAGE}.pbd_addon.blender.{name}")


# What holds at any time


def own_shape(obj):
    """Vertices of a mesh as the user made them, (n, 3) float32."""
    keys = obj.data.shape_keys
    points = np.empty((len(obj.data.vertices), 3), np.float32)
    if keys:
        keys.reference_key.data.foreach_get("co", points.ravel())
    else:
        obj.data.vertices.foreach_get("co", points.ravel())
    return points


def remember(obj):
    """Note the user's shape on its object."""
    obj.data[TRUTH] = f"{len(obj.data.vertices)} {zlib.crc32(own_shape(obj).tobytes())}"


def meshes():
    return [obj for obj in bpy.context.scene.objects if obj.type == "MESH"]


def check():
    """Raise AssertionError if something of the user's is lost, or something of ours is where it must not be."""
    for obj in meshes():
        if obj.mode == "EDIT" or TRUTH not in obj.data:
            continue
        points = own_shape(obj)
        found = f"{len(points)} {zlib.crc32(points.tobytes())}"
        assert found == obj.data[TRUTH], f"{obj.name} has lost its shape: {found} instead of {obj.data[TRUTH]}"
        if obj.mode == "OBJECT":
            assert np.isfinite(scenes.shown(obj)).all(), f"{obj.name} shows something that is no number"
    homeless = [key.name for key in bpy.data.shape_keys if key.user is None or key.user.shape_keys != key]
    assert not homeless, f"{homeless} have no mesh"
    for name in ("frame_change_pre", "frame_change_post", "undo_post", "redo_post", "load_pre", "load_post"):
        ours = ours_among(getattr(bpy.app.handlers, name))
        assert len(ours) == len(set(ours)), f"{name} has {ours}"


def ours_among(handlers):
    return [one.__qualname__ for one in handlers if one.__module__.startswith(installer.PACKAGE)]


# What a user does


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


def choose(rng, objects):
    """Make one of these objects the active and selected one, in Object Mode."""
    if not objects:
        raise Refused("there is no such object")
    leave_mode()
    obj = rng.choice(sorted(objects, key=lambda one: one.name))
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    if not obj.visible_get():
        raise Refused(f"{obj.name} is hidden")
    return obj


def leave_mode():
    active = bpy.context.view_layer.objects.active
    if active is not None and active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def bodies():
    return [obj for obj in meshes() if obj.pbd.enabled]


@action(3)
def add_cloth_or_balloon(rng):
    choose(rng, meshes())
    call(bpy.ops.object.pbd_add, type=rng.choice(("CLOTH", "BALLOON")))


@action()
def add_a_mesh(rng):
    leave_mode()
    if len(meshes()) > 5:
        raise Refused("enough meshes")
    if rng.random() < 0.5:
        call(bpy.ops.mesh.primitive_pbd_cloth_add)
    else:
        scenes.add_grid("Sheet", rx=rng.randint(2, 7), ry=rng.randint(2, 7), pbd=False)
    remember(bpy.context.view_layer.objects.active)


@action(1)
def remove(rng):
    obj = choose(rng, bodies())
    baked = obj.pbd.baked
    call(bpy.ops.object.pbd_remove)
    if baked:
        obj.data[KEPT] = True  # the baked keys are the user's from here on, as the operator says


@action(1)
def make_a_collider(rng):
    choose(rng, meshes())
    call(rng.choice((bpy.ops.object.pbd_collider_add, bpy.ops.object.pbd_collider_remove)))


@action(5)
def edit_a_setting(rng):
    obj = choose(rng, bodies())
    group = rng.choice((obj.pbd, obj.pbd, bpy.context.scene.pbd))
    names = [
        name
        for name, known in group.bl_rna.properties.items()
        if known.type in {"FLOAT", "INT", "BOOLEAN", "ENUM"}
        and not (known.is_hidden or known.is_readonly)
        and name not in {"enabled", "kernels", "substeps", "iterations", "settle"}  # the last has an action of its own
    ]
    name = rng.choice(sorted(names))
    known = group.bl_rna.properties[name]
    if getattr(known, "is_array", False):
        return
    if known.type == "BOOLEAN":
        setattr(group, name, rng.random() < 0.5)
    elif known.type == "ENUM":
        setattr(group, name, rng.choice([item.identifier for item in known.enum_items]))
    else:
        low, high = known.soft_min, known.soft_max
        value = known.default if rng.random() < 0.3 else low + rng.random() ** 2 * (min(high, low + 1e4) - low)
        setattr(group, name, round(value) if known.type == "INT" else value)


@action(1)
def set_quality(rng):
    bpy.context.scene.pbd.substeps = rng.choice((1, 5, 20))
    bpy.context.scene.pbd.iterations = rng.choice((1, 2))


@action(6)
def play(rng):
    for _ in range(rng.randint(1, 5)):
        scenes.go(bpy.context.scene.frame_current + 1)


@action(4)
def scrub(rng):
    scenes.go(rng.randint(0, LAST_FRAME + 2), rng.choice((0.0, 0.0, 0.5)))


@action(2)
def press_step_or_reset(rng):
    choose(rng, bodies())
    buttons = (bpy.ops.object.pbd_step, bpy.ops.object.pbd_reset, bpy.ops.object.pbd_clear_cache)
    call(rng.choice(buttons))


@action(4)
def undo(rng):
    for _ in range(rng.randint(1, 3)):
        call(bpy.ops.ed.undo)


@action(2)
def redo(_rng):
    call(bpy.ops.ed.redo)


@action(1)
def save_and_reload(_rng):
    leave_mode()
    path = str(folder / "soak.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


@action()
def duplicate(rng):
    choose(rng, meshes())
    if len(meshes()) > 5:
        raise Refused("enough meshes")
    call(bpy.ops.object.duplicate, linked=rng.random() < 0.2)


@action(1)
def rename(rng):
    choose(rng, meshes()).name = rng.choice(("Flag", "Ärmel", "x" * 60, "Cloth.001"))


@action(1)
def delete(rng):
    if len(meshes()) < 2:
        raise Refused("the last mesh stays")
    choose(rng, meshes())
    call(bpy.ops.object.delete)


@action(1)
def transform(rng):
    obj = choose(rng, meshes())
    obj.location = [rng.uniform(-1.0, 1.0) for _ in range(3)]
    obj.scale = rng.choice(((1.0, 1.0, 1.0), (2.0, 0.5, -1.0), (0.0, 1.0, 1.0)))


@action(2)
def pin(rng):
    obj = choose(rng, bodies())
    scenes.pin(obj, rng.sample(range(len(obj.data.vertices)), 1), rng.choice((0.3, 1.0)))


@action(1)
def edit_the_mesh(rng):
    """Vertices are moved, or cut away, which no cache can outlive."""
    obj = choose(rng, [obj for obj in meshes() if not obj.pbd.baked and obj.data.users == 1])
    if obj.data.shape_keys is None:
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        if rng.random() < 0.4 and len(obj.data.vertices) < 200:
            bpy.ops.mesh.subdivide()
        else:
            bpy.ops.transform.translate(value=(0.0, 0.0, 0.1))
        bpy.ops.object.mode_set(mode="OBJECT")
        remember(obj)


@action(1)
def switch_the_mode(rng):
    choose(rng, meshes())
    bpy.ops.object.mode_set(mode=rng.choice(("EDIT", "WEIGHT_PAINT", "SCULPT")))
    scenes.go(bpy.context.scene.frame_current + 1)


@action(1)
def hide(rng):
    obj = choose(rng, meshes())
    if rng.random() < 0.5:
        obj.hide_viewport = True
        scenes.go(bpy.context.scene.frame_current + 1)
        obj.hide_viewport = False
    else:
        layer = bpy.context.view_layer.layer_collection.children
        if len(layer):
            layer[0].exclude = not layer[0].exclude


@action(1)
def grab(rng):
    """A hand takes hold of cloth from above, moves it while the frame stands still or plays, pins it or lets go."""
    obj = choose(rng, bodies())
    scene = bpy.context.scene
    try:
        hand = bridge("timeline.grab").Hand(scene, bpy.context.evaluated_depsgraph_get())
        place = np.array(obj.matrix_world) @ (*rng.choice(scenes.shown(obj)), 1.0)
        origin, down = place[:3] + np.array((0.001, 0.001, 1.0)), (0.0, 0.0, -1.0)
        if not hand.take(scene, origin, down, rng.uniform(0.05, 0.5)):
            raise Refused("the ray meets nothing")
        for _ in range(rng.randint(1, 4)):
            origin = origin + np.array((rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), 0.0))
            hand.move(origin, down)
            if rng.random() < 0.3:
                scenes.go(scene.frame_current + 1)
            else:
                hand.rest(scene, bpy.context.evaluated_depsgraph_get())
        if rng.random() < 0.3:
            hand.put_back(scene, bpy.context.evaluated_depsgraph_get())
            return
        hand.let_go(scene, pin=rng.random() < 0.4)
        hand.finish(scene)
    except bridge("errors").PBDError as error:
        raise Refused(str(error)) from error


@action(1)
def settle(rng):
    choose(rng, bodies())
    call(bpy.ops.object.pbd_settle, frames=rng.randint(1, 6))


@action(1)
def paint_a_map(rng):
    obj = choose(rng, bodies())
    which = rng.choice(("STRETCH", "BEND", "SHRINK", "DENSITY", "PRESSURE", "FRICTION", "PIN"))
    call(bpy.ops.object.pbd_paint_map, map=which)
    count = len(obj.data.vertices)
    obj.vertex_groups.active.add(rng.sample(range(count), min(count, 3)), rng.random(), "REPLACE")


@action(1)
def ask_the_doctor(rng):
    """All that the doctor mends changes the mesh on purpose."""
    choose(rng, bodies())
    call(bpy.ops.object.pbd_doctor_check)
    found = bridge("doctor.doctor").findings(bpy.context.scene)
    if found:
        one = rng.choice(found)
        call(bpy.ops.object.pbd_doctor_fix, check=one.check, body=one.body)
        leave_mode()
        if one.body:
            remember(bpy.data.objects[one.body])


@action(2)
def bake(rng):
    choose(rng, bodies())
    scene = bpy.context.scene
    scene.frame_end, scene.pbd.bake_folder = rng.randint(3, LAST_FRAME), str(folder / "bakes")
    call(bpy.ops.object.pbd_bake, mode=rng.choice(("ABSOLUTE", "RELATIVE", "REDUCED", "MESH_CACHE")))


@action(1)
def bake_until_esc(rng):
    obj = choose(rng, bodies())
    try:
        run = bridge("baking.bake").start(bpy.context.scene, [obj], "ABSOLUTE", 1, LAST_FRAME)
        for _ in range(rng.randint(1, 4)):
            next(run)
        run.close()
    except bridge("errors").PBDError as error:
        raise Refused(str(error)) from error


@action(2)
def delete_the_bake(rng):
    choose(rng, [obj for obj in bodies() if obj.pbd.baked])
    call(bpy.ops.object.pbd_delete_bake)


@action(1)
def export(rng):
    """What an export changes for as long as it writes is as it was afterwards."""
    obj = choose(rng, bodies())
    obj.pbd.reduce_by, obj.pbd.reduce_error = "ERROR", 0.01
    bpy.context.scene.frame_end = rng.randint(2, 6)
    if rng.random() < 0.2:
        call(bpy.ops.object.pbd_count_keys)
        return
    file_format = rng.choice(("ALEMBIC", "USD", "GLTF"))
    call(bpy.ops.object.pbd_export, format=file_format, filepath=str(folder / "soak.out"))


@action(1)
def color_the_cloth(rng):
    leave_mode()
    call(bpy.ops.object.pbd_heat_map, kind=rng.choice(("OFF", "STRAIN", "CONTACT")))


@action(2)
def keep_frames_on_disk(rng):
    leave_mode()
    scene = bpy.context.scene
    what = rng.choice(("on", "on", "off", "load", "delete", "save"))
    if what in ("on", "off"):
        scene.pbd.use_disk_cache = what == "on"
    elif what == "save":
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / rng.choice(("soak.blend", "other.blend"))))
    else:
        call(bpy.ops.object.pbd_disk_cache_load if what == "load" else bpy.ops.object.pbd_disk_cache_delete)


@action(1)
def animate(rng):
    """A driver, or a strip of the NLA, that moves or shapes something; or one less."""
    obj = choose(rng, meshes())
    data = obj.animation_data
    if data is not None and data.drivers and rng.random() < 0.5:
        data.drivers[0].driver.expression = f"{rng.uniform(-0.05, 0.05):.3f} * frame"
    elif data is not None and data.nla_tracks:
        data.nla_tracks[0].strips[0].influence = rng.random()
    elif rng.random() < 0.5:
        obj.driver_add("location", 0).driver.expression = "0.01 * frame"
    else:
        action = bpy.data.actions.new("Sway")
        strip = obj.animation_data_create().nla_tracks.new().strips.new("Sway", 1, action)
        strip.repeat = rng.choice((1.0, 2.0))


@action(1)
def pose_by_a_modifier(rng):
    """A modifier that poses the mesh, so that pins are to follow it; or one less."""
    obj = choose(rng, meshes())
    twists = [one for one in obj.modifiers if one.type == "SIMPLE_DEFORM"]
    if twists and rng.random() < 0.5:
        obj.modifiers.remove(twists[0])
    elif len(twists) < 2:
        twist = obj.modifiers.new("Twist", "SIMPLE_DEFORM")
        twist.deform_method, twist.angle = "TWIST", rng.uniform(-0.5, 0.5)


@action(1)
def render(rng):
    """One frame, or some; where the playhead stands, they may be before it."""
    leave_mode()
    scene = bpy.context.scene
    scene.render.filepath = str(folder / "soak.png")
    if rng.random() < 0.7:
        call(bpy.ops.render.render, write_still=True)
    else:
        scene.frame_end = rng.randint(2, 5)
        call(bpy.ops.render.render, animation=True)


@action(1)
def apply(rng):
    obj = choose(rng, bodies())
    call(bpy.ops.object.pbd_apply, result=rng.choice(("BASE", "SHAPE_KEY", "MESH")))
    for one in (obj, bpy.context.view_layer.objects.active):
        remember(one)


@action(1)
def switch_the_extension_off_and_on(_rng):
    leave_mode()
    bpy.ops.preferences.addon_disable(module=installer.PACKAGE)
    bpy.ops.preferences.addon_enable(module=installer.PACKAGE)


# Sequences


def begin(rng):
    """A new file with a sheet, a ball and a camera for small renders; in every fourth cloth meets itself exactly."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_end = LAST_FRAME
    scene.pbd.substeps = 5
    scene.pbd.collisions = rng.choice(("OFF", "OFF", "FAST", "ACCURATE"))
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.cycles.use_denoising = False
    scene.render.resolution_x = scene.render.resolution_y = 8
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -3.0, 0.3), (1.4, 0.0, 0.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    attic = bpy.data.collections.new("Attic")
    scene.collection.children.link(attic)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=5, radius=0.3, location=(0.0, 0.0, -0.6))
    remember(bpy.context.object)
    attic.objects.link(scenes.add_grid(rx=6, ry=6))
    remember(bpy.data.objects["Flag"])
    bpy.ops.ed.undo_push(message="begin")


def end():
    """Take away all that is ours; nothing of it may be left."""
    leave_mode()
    for obj in bodies():
        if obj.data.users > 1:  # the add-on asks for that, with a sentence
            obj.data = obj.data.copy()
        if obj.pbd.baked:
            bridge("baking.bake").delete(bpy.context.scene, [obj])
        obj.hide_viewport = False
    for child in bpy.context.view_layer.layer_collection.children:
        child.exclude = False
    for obj in bodies():
        bpy.context.view_layer.objects.active = obj
        for other in bpy.context.view_layer.objects:
            other.select_set(other == obj)
        call(bpy.ops.object.pbd_remove)
    check()
    scenes.go(1)
    bridge("handlers").arm_if_needed()  # the timer that calls it needs a window
    assert not bodies()
    for obj in meshes():
        keys = [block.name for block in obj.data.shape_keys.key_blocks] if obj.data.shape_keys else []
        ours = [name for name in keys if name.startswith("PBD") and not name.startswith(KEPT)]
        assert not ours or KEPT in obj.data, f"{obj.name} keeps {ours}"
        left = [one.name for one in obj.data.attributes if one.name.startswith("pbd_")]
        assert not left, f"{obj.name} keeps {left}"
        left = [one.name for one in obj.modifiers if one.name.startswith("PBD")]
        assert not left or KEPT in obj.data, f"{obj.name} keeps {left}"
    armed = {function.__qualname__ for _, function in bridge("handlers").ARMED}
    left = armed & {*ours_among(bpy.app.handlers.frame_change_pre), *ours_among(bpy.app.handlers.frame_change_post)}
    assert not left, f"handlers are left: {left}"


def sequence(seed, length, aloud):
    """Play one sequence; returns how many actions were done and how many refused."""
    rng = random.Random(seed)
    actions, weights = zip(*ACTIONS, strict=True)
    begin(rng)
    done = refused = 0
    for number in range(length):
        chosen = rng.choices(actions, weights)[0]
        # The action has a source of its own, so that a refusal does not change all that follows.
        own = random.Random(rng.random())
        if aloud:
            print(f"seed {seed}, action {number}: {chosen.__name__}", flush=True)
        try:
            chosen(own)
            done += 1
        except Refused as error:
            refused += 1
            if aloud:
                print(f"    {error}", flush=True)
        check()
        if chosen not in (undo, redo):
            bpy.ops.ed.undo_push(message=chosen.__name__)
    end()
    return done, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 20), metavar=("FIRST", "COUNT"))
    parser.add_argument("--actions", type=int, default=25)
    parser.add_argument("--say", action="store_true", help="print every action before it is done")
    options = parser.parse_args()
    installer.install(options.archive)
    total = np.zeros(2, int)
    first, count = options.seeds
    for seed in range(first, first + count):
        print(f"seed {seed}", flush=True)  # before, so that a crash can be told too
        total += sequence(seed, options.actions, options.say)
    bpy.ops.preferences.addon_disable(module=installer.PACKAGE)
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        assert not (isinstance(handlers, list) and ours_among(handlers)), f"{name} is left after switching off"
    print(f"{count} sequences, {total[0]} actions, {total[1]} refused", flush=True)
    # bpy may crash when it ends with an extension that was installed; what had to be said is said.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
