"""What cannot be simulated is refused in one sentence, and nothing is lost."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def message():
    """What the panel says."""
    from bl_ext.user_default.pbd_cloth.pbd_addon.blender.timeline import session

    running = session.get(bpy.context.scene)
    return "" if running is None else running.message


def refused(obj, sentence):
    """Play two frames: the sentence is said, nothing moves, and Reset says it too."""
    from bl_ext.user_default.pbd_cloth.pbd_addon.blender.timeline import session

    before = scenes.mesh_bytes(obj)[0]
    play([], 1, 3)
    assert message() == sentence
    assert scenes.mesh_bytes(obj)[0] == before
    assert session.get(bpy.context.scene).cache_bytes == 0
    with pytest.raises(session.PBDError) as caught:
        session.reset(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    assert str(caught.value) == sentence


def test_no_faces(extension):
    obj = scenes.add_mesh("Dots", [(0, 0, 0), (1, 0, 0)], [])
    refused(obj, "'Dots' has no faces: add faces to simulate it")


@pytest.mark.parametrize("mode", ["ABSOLUTE", "RELATIVE", "REDUCED", "MESH_CACHE"])
def test_one_face_is_enough(extension, tmp_path, mode):
    """It is simulated, checked, exported and baked."""
    scene = bpy.context.scene
    scene.frame_end, scene.pbd.bake_folder, scene.render.use_lock_interface = 6, str(tmp_path), True
    obj = scenes.add_mesh("Scrap", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    scenes.pin(obj, [0])
    obj.select_set(True)
    seen = play([obj], 1, 6)
    assert message() == ""
    assert seen[6][0][1:, 2].max() < -0.1
    assert bpy.ops.object.pbd_doctor_check() == {"FINISHED"}
    found = extension.bridge("doctor.doctor").findings(scene)
    assert [finding.check for finding in found] == ["too_coarse"]
    for file_format in ("ALEMBIC", "USD", "GLTF"):
        assert bpy.ops.object.pbd_export(format=file_format, filepath=str(tmp_path / "scrap")) == {"FINISHED"}
    assert bpy.ops.object.pbd_bake(mode=mode) == {"FINISHED"}
    error = obj.pbd.reduce_error if mode == "REDUCED" else 1e-6
    for frame in range(1, 7):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < error, frame


def test_all_pinned(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, range(20))
    refused(obj, "All 20 vertices of 'Flag' are pinned: unpin some to simulate it")


def test_pin_group_missing(extension):
    obj = scenes.add_grid(pin_group="Pole")
    refused(obj, "'Flag' has no vertex group 'Pole' to pin it: choose another pin group")


def test_shared_mesh(extension):
    obj = scenes.add_grid()
    other = bpy.data.objects.new("Other", obj.data)
    bpy.context.scene.collection.objects.link(other)
    refused(
        obj,
        "Mesh 'Flag' of 'Flag' is shared by 2 objects: make it single user (Object > Relations > Make Single User)",
    )


def test_scale_zero(extension):
    obj = scenes.add_grid()
    obj.scale.y = 0.0
    refused(obj, "'Flag' has a scale of zero: give it a scale to simulate it")


def test_no_number(extension):
    obj = scenes.add_grid()
    obj.data.vertices[3].co.x = float("nan")
    refused(obj, "Vertex 3 of 'Flag' has invalid coordinates (NaN): delete or move it")


def test_absolute_keys_of_the_users(extension):
    obj = scenes.add_grid()
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Up")
    obj.data.shape_keys.use_relative = False
    refused(obj, "'Flag' has absolute shape keys: switch them to Relative to simulate it")


def test_edit_mode(extension):
    obj = scenes.add_grid()
    bpy.ops.object.mode_set(mode="EDIT")
    play([], 1, 3)
    assert message() == "'Flag' is in Edit Mode: leave it first"
    bpy.ops.object.mode_set(mode="OBJECT")
    go(1), go(2)
    assert message() == ""
    assert shown(obj)[:, 2].mean() < 0.0


def test_linked_mesh(extension, tmp_path):
    obj = scenes.add_grid()
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {obj})
    bpy.data.objects.remove(obj)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Flag"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    extension.bridge("handlers").arm_if_needed()
    refused(linked, "'Flag' is linked: make a local copy (Object > Relations > Make Local)")


def test_topology_changed_in_the_middle(session):
    obj = scenes.add_grid()
    play([obj], 1, 6)
    obj.data.vertices.add(3)
    go(7)
    sentence = "Mesh of 'Flag' has 23 vertices, the simulation was built for 20: press Reset"
    running = session.get(bpy.context.scene)
    assert running.message == sentence
    assert (running.first_frame, running.last_frame) == (1, 6)
    go(3)
    assert running.message == sentence
    go(1)
    assert running.last_frame == 6


def test_faces_rewired_in_the_middle(session):
    obj = scenes.add_grid()
    play([obj], 1, 4)
    corners = np.empty(len(obj.data.loops), np.int32)
    obj.data.loops.foreach_get("vertex_index", corners)
    obj.data.loops.foreach_set("vertex_index", np.roll(corners.reshape(-1, 4), 1, axis=1).ravel())
    go(5)
    assert message() == "Mesh of 'Flag' has other faces than the simulation was built for: press Reset"


def test_flattened_in_the_middle(session):
    obj = scenes.add_grid()
    play([obj], 1, 4)
    obj.scale.x = 0.0
    go(5)
    assert message() == "'Flag' has a scale of zero: give it a scale to simulate it"
    obj.scale.x = 1.0
    go(6)
    assert message() == ""
    assert session.get(bpy.context.scene).last_frame == 6


def test_one_bad_object_is_named(session):
    good, bad = scenes.add_grid("Good"), scenes.add_grid("Bad", pin_group="Nowhere")
    refused(bad, "'Bad' has no vertex group 'Nowhere' to pin it: choose another pin group")
    bad.pbd.active = False
    go(1), go(2)
    assert message() == ""
    assert shown(good)[:, 2].mean() < 0.0


def test_a_setting_that_is_no_number_stops_by_name(session):
    obj = scenes.add_grid()
    play([obj], 1, 4)
    obj.pbd.bend = float("nan")
    go(5)
    assert message().startswith("Flag: Material.bend must be a finite number")
    assert session.get(bpy.context.scene).last_frame == 4


@pytest.mark.parametrize(("setting", "value"), [("floor_height", -3e38), ("floor_friction", float("nan"))])
def test_a_floor_that_cannot_be_is_refused(setting, value, capfd):
    obj, scene = scenes.add_grid(), bpy.context.scene
    scene.pbd.use_floor = True
    usual = getattr(scene.pbd, setting)
    sentence = "Scene: Height or Friction of the floor is too large or no number: change it"
    setattr(scene.pbd, setting, value)
    refused(obj, sentence)
    setattr(scene.pbd, setting, usual)
    play([obj], 1, 3)
    assert message() == ""
    setattr(scene.pbd, setting, float("nan"))
    go(4)
    assert message() == sentence
    assert "Traceback" not in "".join(capfd.readouterr())


def test_an_unstable_step_keeps_the_last_good_frame(extension, session):
    obj = scenes.add_grid()
    seen = play([obj], 1, 4)
    running = session.get(bpy.context.scene)
    simulation = running.scene_sim.simulation
    calls = []

    def explode(_dt):
        calls.append(simulation.frames.last + 1)
        raise extension.module("pbd_addon").UnstableError(simulation.bodies[0], 7)

    simulation.slices = explode
    go(5)
    sentence = "Flag became unstable at vertex 7: use more substeps or less stiffness; frame 4 is kept"
    assert running.message == sentence
    assert np.array_equal(shown(obj), seen[4][0])
    go(6)
    assert running.message == sentence
    assert calls == [5]
    go(2)
    assert running.message == ""
    assert np.array_equal(shown(obj), seen[2][0])
    del simulation.slices
    bpy.context.scene.pbd.substeps = 30
    go(3), go(4)
    assert running.message == ""
    assert running.last_frame == 4


def test_a_first_step_that_fails_is_tried_once(extension, session):
    obj = scenes.add_grid()
    go(1)
    running = session.ensure(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    solver = extension.module("pbd_addon.solver")
    step = solver.step
    calls = []

    def explode(*_arguments, **_options):
        calls.append(1)
        raise solver.UnstableError(running.scene_sim.members[0].body, 3)

    solver.step = explode
    try:
        play([obj], 2, 5)
    finally:
        solver.step = step
    assert len(calls) == 1
    assert running.message.endswith("; frame 1 is kept")
    bpy.context.scene.pbd.substeps = 40
    go(6)
    assert running.message == ""
    assert (running.first_frame, running.last_frame) == (1, 6)


def test_a_place_that_is_no_number_in_the_middle(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    play([obj], 1, 4)
    obj.location.x = float("nan")
    go(5)
    assert message().startswith("targets of Flag must be finite numbers")
    assert session.get(bpy.context.scene).last_frame == 4


def test_reset_without_cloth(session):
    with pytest.raises(session.PBDError, match="There is no PBD cloth or balloon to simulate"):
        session.reset(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
