"""What a user can change at frame 6 of 10 simulated ones: from which frame on it takes them, and what is said of it.

The comparison is pure: it is asked for each row, and nothing of the record changes.
"""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play

pytestmark = pytest.mark.usefixtures("few_substeps")

SHOWN, LAST = 6, 10


@pytest.fixture
def stage(extension):
    """A pinned flag that is attached to a mast, above a plate, in wind and before a fan; two settings are keyed."""
    flag, plate, mast = (scenes.add_grid(name, pbd=name == "Flag") for name in ("Flag", "Plate", "Mast"))
    scenes.pin(flag, [0, 4])
    flag.vertex_groups.new(name="Attach").add([15, 19], 1.0, "REPLACE")
    flag.pbd.attach_object, flag.pbd.attach_group = mast, "Attach"
    plate.location.z, plate.pbd_collider.enabled = -0.6, True
    spare = scenes.add_grid("Spare", pbd=False)
    spare.location.z = -2.0
    wire = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(wire)
    plate.parent = wire
    bpy.ops.object.effector_add(type="FORCE", location=(0.0, 0.0, 1.0))
    fan, vane = bpy.context.object, bpy.data.objects.new("Vane", None)
    fan.name = "Fan"
    bpy.context.scene.collection.objects.link(vane)
    bpy.context.scene.pbd.wind_speed, bpy.context.scene.pbd.wind_object = 1.0, vane
    fan.field.use_absorption = True
    wall = scenes.add_grid("Wall", pbd=False)
    wall.location.z = 0.5
    wall.modifiers.new("Collision", "COLLISION")
    wall.collision.absorption = 0.2
    for frame, strength in ((1, 0.5), (LAST, 1.0)):
        fan.field.strength = strength
        fan.keyframe_insert("field.strength", frame=frame)
    for frame, drag in ((1, 0.0), (LAST, 8.0)):
        flag.pbd.drag = drag
        flag.pbd.keyframe_insert("drag", frame=frame)
    flag.shape_key_add(name="Basis")
    flag.shape_key_add(name="Wave")
    play([flag], 1, LAST)
    go(SHOWN)
    return extension


def objects(*names):
    return [bpy.data.objects[name] for name in names]


def set_tension():
    objects("Flag")[0].pbd.stretch = 4000.0


def let_pins_go():
    objects("Flag")[0].pbd.hold_low = 0.0


def set_substeps():
    bpy.context.scene.pbd.substeps += 1


def set_gravity():
    bpy.context.scene.gravity.z = -5.0


def raise_floor():
    bpy.context.scene.pbd.use_floor = True


def change_frame_rate():
    bpy.context.scene.render.fps = 60


def choose_map():
    objects("Flag")[0].pbd.stretch_group = "Pin"


def set_friction_of_a_collider():
    objects("Plate")[0].pbd_collider.friction = 0.9


def move_what_is_pinned():
    objects("Flag")[0].location.x += 0.1


def turn_a_key_of_what_is_pinned():
    objects("Flag")[0].data.shape_keys.key_blocks["Wave"].value = 0.5


def move_what_is_attached_to():
    objects("Mast")[0].location.x += 0.1


def move_a_collider():
    objects("Plate")[0].location.x += 0.1


def move_the_parent_of_a_collider():
    objects("Handle")[0].location.x += 0.1


def shape_a_collider():
    mesh = objects("Plate")[0].data
    mesh.vertices[0].co.z += 0.1
    mesh.update()


def add_a_collider():
    objects("Spare")[0].pbd_collider.enabled = True


def unmark_a_collider():
    objects("Plate")[0].pbd_collider.enabled = False


def delete_a_collider():
    bpy.data.objects.remove(objects("Plate")[0])


def set_a_field():
    objects("Fan")[0].field.falloff_power = 1.0


def change_the_type_of_a_field():
    objects("Fan")[0].field.type = "WIND"


def move_a_field():
    objects("Fan")[0].location.x += 0.1


def add_a_field():
    bpy.ops.object.effector_add(type="WIND")


def add_a_field_by_hand():
    objects("Spare")[0].select_set(True)
    bpy.context.view_layer.objects.active = objects("Spare")[0]
    bpy.ops.object.forcefield_toggle()


def hide_a_field():
    objects("Fan")[0].hide_viewport = True


def hide_a_field_from_the_view():
    objects("Fan")[0].hide_set(True)


def switch_a_field_off():
    objects("Fan")[0].field.type = "NONE"


def delete_a_field():
    bpy.data.objects.remove(objects("Fan")[0])


def set_absorption():
    objects("Wall")[0].collision.absorption = 0.5


def let_fields_through():
    objects("Fan")[0].field.use_absorption = False


def move_what_absorbs():
    objects("Wall")[0].location.x += 0.1


def shape_what_absorbs():
    mesh = objects("Wall")[0].data
    mesh.vertices[0].co.z += 0.1
    mesh.update()


def add_what_absorbs():
    objects("Spare")[0].modifiers.new("Collision", "COLLISION")


def remove_what_absorbs():
    objects("Wall")[0].modifiers.clear()


def hide_what_absorbs():
    objects("Wall")[0].hide_viewport = True


def delete_what_absorbs():
    bpy.data.objects.remove(objects("Wall")[0])


def absorb_by_a_collider():
    objects("Plate")[0].modifiers.new("Collision", "COLLISION")


def key_absorption():
    wall = objects("Wall")[0]
    for frame, absorption in ((4, 0.2), (8, 1.0)):
        wall.collision.absorption = absorption
        wall.keyframe_insert("collision.absorption", frame=frame)


def key_what_absorbs():
    wall = objects("Wall")[0]
    for frame, x in ((3, 0.0), (8, 1.0)):
        wall.location.x = x
        wall.keyframe_insert("location", frame=frame)


def weigh_fields():
    objects("Flag")[0].pbd.field_weights.force = 0.5


def choose_fields():
    objects("Flag")[0].pbd.field_weights.collection = bpy.data.collections.new("None")


def read_fields_in_another_way():
    bpy.context.scene.pbd.field_reading = "CLOTH"


def blow():
    bpy.context.scene.pbd.wind_speed = 5.0


def turn_the_vane():
    objects("Vane")[0].rotation_euler.x = 0.5


def key_a_field():
    objects("Fan")[0].field.strength = 5.0
    objects("Fan")[0].keyframe_insert("field.strength", frame=8)


def key_a_later_frame():
    objects("Flag")[0].pbd.drag = 30.0
    objects("Flag")[0].pbd.keyframe_insert("drag", frame=8)


def drive_what_is_pinned():
    objects("Flag")[0].driver_add("location", 1).driver.expression = "0.1"


def move_what_is_nothing_to_cloth():
    objects("Spare")[0].location.x += 0.1


def throw():
    objects("Flag")[0].pbd.velocity.x = 3.0


def slide_along_the_mast():
    objects("Flag")[0].pbd.attach_slide = True


def follow_the_mesh():
    objects("Flag")[0].pbd.rest_shape = "DYNAMIC"


def rename():
    objects("Flag")[0].name = "Banner"


def color():
    objects("Flag")[0].color = (1.0, 0.0, 0.0, 1.0)


ROWS = [
    (set_tension, SHOWN + 1, "Tension of 'Flag' changed"),
    (let_pins_go, SHOWN + 1, "Hold Low of 'Flag' changed"),
    (set_substeps, SHOWN + 1, "Quality Steps changed"),
    (set_gravity, SHOWN + 1, "Gravity changed"),
    (raise_floor, SHOWN + 1, "Floor changed"),
    (change_frame_rate, SHOWN + 1, "Speed or frame rate changed"),
    (choose_map, SHOWN + 1, "Stiffness of 'Flag' changed"),
    (set_friction_of_a_collider, SHOWN + 1, "Friction of 'Plate' changed"),
    (move_what_is_pinned, SHOWN + 1, "'Flag' was moved"),
    (turn_a_key_of_what_is_pinned, SHOWN + 1, "'Flag' was moved"),
    (move_what_is_attached_to, SHOWN + 1, "'Mast' was moved"),
    (move_a_collider, SHOWN + 1, "'Plate' was moved"),
    (move_the_parent_of_a_collider, SHOWN + 1, "'Plate' was moved"),
    (shape_a_collider, SHOWN + 1, "the shape of 'Plate' changed"),
    (add_a_collider, SHOWN + 1, "there are other colliders"),
    (unmark_a_collider, SHOWN + 1, "there are other colliders"),
    (delete_a_collider, SHOWN + 1, "there are other colliders"),
    (set_a_field, SHOWN + 1, "Falloff Power of 'Fan' changed"),
    (change_the_type_of_a_field, SHOWN + 1, "Type of 'Fan' changed"),
    (move_a_field, SHOWN + 1, "'Fan' was moved"),
    (add_a_field, SHOWN + 1, "there are other force fields"),
    (add_a_field_by_hand, SHOWN + 1, "there are other force fields"),
    (hide_a_field, SHOWN + 1, "there are other force fields"),
    (hide_a_field_from_the_view, SHOWN + 1, "there are other force fields"),
    (switch_a_field_off, SHOWN + 1, "there are other force fields"),
    (delete_a_field, SHOWN + 1, "there are other force fields"),
    (set_absorption, SHOWN + 1, "Absorption of 'Wall' changed"),
    (let_fields_through, SHOWN + 1, "Absorption of 'Fan' changed"),
    (move_what_absorbs, SHOWN + 1, "'Wall' was moved"),
    (shape_what_absorbs, SHOWN + 1, "the shape of 'Wall' changed"),
    (add_what_absorbs, SHOWN + 1, "other objects absorb force fields"),
    (remove_what_absorbs, SHOWN + 1, "other objects absorb force fields"),
    (hide_what_absorbs, SHOWN + 1, "other objects absorb force fields"),
    (delete_what_absorbs, SHOWN + 1, "other objects absorb force fields"),
    (absorb_by_a_collider, SHOWN + 1, "Absorption of 'Plate' changed"),
    (key_absorption, 1, "animation of 'Wall' changed"),
    (key_what_absorbs, 1, "animation of 'Wall' changed"),
    (weigh_fields, SHOWN + 1, "Field Weights of 'Flag' changed"),
    (choose_fields, SHOWN + 1, "Effector Collection of 'Flag' changed"),
    (read_fields_in_another_way, SHOWN + 1, "Force Fields changed"),
    (blow, SHOWN + 1, "Wind changed"),
    (turn_the_vane, SHOWN + 1, "Wind changed"),
    (key_a_field, 2, "animation of 'Fan' changed"),
    (key_a_later_frame, 2, "animation of 'Flag' changed"),
    (drive_what_is_pinned, 1, "animation of 'Flag' changed"),
    (move_what_is_nothing_to_cloth, None, ""),
    (throw, None, ""),
    (slide_along_the_mast, None, ""),
    (follow_the_mesh, None, ""),
    (rename, None, ""),
    (color, None, ""),
]


@pytest.mark.parametrize(("edit", "first", "why"), ROWS, ids=[row[0].__name__ for row in ROWS])
def test_a_change(stage, edit, first, why):
    changes, validity = stage.bridge("timeline.changes"), stage.bridge("timeline.validity")
    scene, session = bpy.context.scene, stage.bridge("timeline.session")
    record = session.get(scene)
    edit()
    bpy.context.view_layer.update()
    held, snapshots = record.last_frame, dict(record.snapshots)
    found = changes.changes(record, validity.glance(record, scene, with_curves=True))
    assert [(one.first_frame, one.why) for one in found[:1]] == ([] if first is None else [(first, why)])
    assert (record.last_frame, record.snapshots) == (held, snapshots)
    go(SHOWN + 1)
    assert record.last_frame == (LAST if first is None else SHOWN + 1)


EVALUATED = (move_the_parent_of_a_collider, shape_a_collider, shape_what_absorbs, turn_the_vane)
"""What these do is only known once Blender has evaluated it, at the frame at which it was done."""

UNTOLD = [row[:2] for row in ROWS if row[0] not in EVALUATED][::4]
"""Some of all kinds: what is compared is the same for all."""


@pytest.mark.parametrize(("edit", "first"), UNTOLD, ids=[row[0].__name__ for row in UNTOLD])
def test_a_change_that_nothing_tells_of(stage, edit, first):
    """A script without a window edits and goes on: what was shown again and again is looked at all the same."""
    record = stage.bridge("timeline.session").get(bpy.context.scene)
    play(objects("Flag"), 2, LAST)
    go(SHOWN)
    edit()
    go(SHOWN + 1)
    assert record.last_frame == (LAST if first is None else SHOWN + 1)


def set_the_new_field():
    bpy.context.object.field.strength = 3.0


def set_the_new_absorption():
    objects("Spare")[0].collision.absorption = 0.9


ADDED = [
    (add_a_field, set_the_new_field, "Strength of 'Wind' changed"),
    (add_what_absorbs, set_the_new_absorption, "Absorption of 'Spare' changed"),
]


@pytest.mark.parametrize(("add", "edit", "why"), ADDED, ids=[row[0].__name__ for row in ADDED])
def test_what_was_added_later_changes_frames_after_the_shown_one_too(stage, add, edit, why):
    """The frames from before it was there were not made with any setting of it."""
    session = stage.bridge("timeline.session")
    add()
    bpy.context.view_layer.update()
    play(objects("Flag"), SHOWN + 1, LAST)
    go(SHOWN + 2)
    edit()
    go(SHOWN + 3)
    record = session.get(bpy.context.scene)
    assert (record.invalidated.first, record.last_frame) == (SHOWN + 3, SHOWN + 3)
    assert record.invalidated.why == why


UNDONE = [set_tension, move_what_is_pinned, move_what_is_attached_to, add_a_collider, set_a_field, move_a_field]
UNDONE += [set_absorption, move_what_absorbs]


@pytest.mark.parametrize("edit", [*UNDONE, add_a_field])
def test_undo_is_a_change_like_others(stage, edit):
    """What goes back to what the frames were made with leaves those that were."""
    session = stage.bridge("timeline.session")
    bpy.ops.ed.undo_push(message="before")
    edit()
    bpy.ops.ed.undo_push(message="edited")
    play(objects("Flag"), SHOWN + 1, LAST)
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    go(SHOWN + 1)
    record = session.get(bpy.context.scene)
    assert (record.invalidated.first, record.last_frame) == (SHOWN + 1, SHOWN + 1)


AT_FIRST = [
    (throw, "START"),
    (slide_along_the_mast, "START"),
    (follow_the_mesh, "START"),
    (move_what_is_pinned, "START"),
    (turn_a_key_of_what_is_pinned, "START"),
]


@pytest.mark.parametrize(("edit", "what"), AT_FIRST, ids=[row[0].__name__ for row in AT_FIRST])
def test_at_the_first_frame_all_begins_anew(stage, edit, what):
    changes, follow = stage.bridge("timeline.changes"), stage.bridge("timeline.follow")
    scene = bpy.context.scene
    go(1)
    record = stage.bridge("timeline.session").get(scene)
    edit()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    now = follow.read_now(record, scene, depsgraph, [obj for _, obj in record.scene_sim.objects(scene)])
    assert (what, 1) in [(one.what, one.first_frame) for one in changes.changes(record, now)]
    go(1)
    assert record.is_pristine
    assert np.isfinite(scenes.shown(objects("Flag")[0])).all()


def test_frames_that_were_posed_are_not_shown_by_a_key(extension):
    """They would be posed twice: all are to go, once the first frame is shown."""
    flag = scenes.add_grid()
    scenes.pin(flag, [0, 4])
    flag.modifiers.new("Bend", "SIMPLE_DEFORM").angle = 0.3
    play([flag], 1, LAST)
    flag.pbd.output = "SHAPE_KEY"
    changes, validity = extension.bridge("timeline.changes"), extension.bridge("timeline.validity")
    record = extension.bridge("timeline.session").get(bpy.context.scene)
    found = changes.changes(record, validity.glance(record, bpy.context.scene))
    assert [tuple(one)[:3] for one in found] == [("OUTPUT", 1, "Output of 'Flag' changed")]
