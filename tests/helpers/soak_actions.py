"""What users do with cloth, one function each, for the random sequences of `soak.py`."""

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
    installer,
    leave_mode,
    meshes,
    remember,
)


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
    call(bpy.ops.object.pbd_remove)
    remember(obj)  # Baked keys are the user's from here on, as the operator says.


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
    obj = choose(rng, [obj for obj in bodies() if obj.data.vertices])
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
        hand = bridge("timeline.grab").GrabSession(scene, bpy.context.evaluated_depsgraph_get())
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
