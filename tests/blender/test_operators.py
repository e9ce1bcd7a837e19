"""Every operator: what it does, and the sentence it says when it cannot."""

import bpy
import numpy as np
import pytest

from helpers import scenes

pytestmark = pytest.mark.usefixtures("few_substeps")

FRAMES = 6


@pytest.fixture(autouse=True)
def short_scene(extension):
    """Few frames: the operators are tested here, not the physics."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.frame_set(1)
    scene.pbd.substeps = 2
    return scene


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def add_cloth(**options):
    bpy.ops.mesh.primitive_pbd_cloth_add(**{"rx": 6, "ry": 5, "width": 2.0, "height": 1.0, "pin": "CORNERS", **options})
    return bpy.context.object


def add_plain_mesh():
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4)
    return bpy.context.object


def select_only(*objects):
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0] if objects else None


def play(first, last):
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)


def mesh_coordinates(mesh):
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


def shown(obj):
    """Coordinates (n, 3) of the evaluated mesh, object space."""
    return mesh_coordinates(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data).copy()


# --- add and remove


def test_add_makes_every_selected_mesh_cloth(extension):
    meshes = [add_plain_mesh() for _ in range(3)]
    bpy.ops.object.light_add()
    light = bpy.context.object
    select_only(*meshes, light)
    assert bpy.ops.object.pbd_add(type="CLOTH") == {"FINISHED"}
    assert all(obj.pbd.enabled and obj.pbd.active and obj.pbd.type == "CLOTH" for obj in meshes)
    assert not light.pbd.enabled


def test_add_takes_the_active_object_when_nothing_is_selected(extension):
    obj = add_plain_mesh()
    obj.select_set(False)
    assert bpy.ops.object.pbd_add() == {"FINISHED"}
    assert obj.pbd.enabled


def test_a_balloon_holds_its_volume_and_has_its_own_skin(extension):
    obj = add_plain_mesh()
    bpy.ops.object.pbd_add(type="BALLOON")
    assert obj.pbd.pressure_mode == "VOLUME"
    assert obj.pbd.pressure >= 1.0


def test_turning_cloth_into_a_balloon_keeps_the_fabric(extension):
    obj = add_plain_mesh()
    bpy.ops.object.pbd_add(type="CLOTH")
    obj.pbd.stretch = 777.0
    bpy.ops.object.pbd_add(type="BALLOON")
    assert (obj.pbd.type, obj.pbd.pressure_mode, obj.pbd.stretch) == ("BALLOON", "VOLUME", 777.0)
    bpy.ops.object.pbd_add(type="CLOTH")
    assert (obj.pbd.type, obj.pbd.pressure_mode, obj.pbd.stretch) == ("CLOTH", "OFF", 777.0)


def test_add_again_keeps_the_settings(extension):
    obj = add_cloth()
    obj.pbd.stretch = 777.0
    bpy.ops.object.pbd_add(type="CLOTH")
    assert obj.pbd.stretch == 777.0


def test_add_says_what_is_wrong_with_the_selection(extension):
    select_only()
    with pytest.raises(RuntimeError, match="Select a mesh object"):
        bpy.ops.object.pbd_add()
    bpy.ops.object.light_add()
    with pytest.raises(RuntimeError, match="Select a mesh object"):
        bpy.ops.object.pbd_add()


def test_add_refuses_a_mesh_without_faces(extension):
    obj = bpy.data.objects.new("Dots", bpy.data.meshes.new("Dots"))
    bpy.context.collection.objects.link(obj)
    select_only(obj)
    with pytest.raises(RuntimeError, match="'Dots' has no faces"):
        bpy.ops.object.pbd_add()
    assert not obj.pbd.enabled


def test_add_refuses_a_shared_mesh(extension):
    obj = add_plain_mesh()
    twin = bpy.data.objects.new("Twin", obj.data)
    bpy.context.collection.objects.link(twin)
    with pytest.raises(RuntimeError, match="shared by 2 objects: make it single user"):
        bpy.ops.object.pbd_add()


def test_add_refuses_a_linked_mesh(extension, tmp_path):
    source = add_plain_mesh()
    source.name = "Far"
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {source})
    bpy.data.objects.remove(source)
    with bpy.data.libraries.load(str(library), link=True) as (_there, here):
        here.objects = ["Far"]
    linked = here.objects[0]
    bpy.context.collection.objects.link(linked)
    select_only(linked)
    with pytest.raises(RuntimeError, match="'Far' is linked: make a local copy"):
        bpy.ops.object.pbd_add()


def test_add_refuses_edit_mode(extension):
    add_plain_mesh()
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Leave Edit Mode first"):
        bpy.ops.object.pbd_add()


def test_add_does_what_it_can(extension):
    good = add_plain_mesh()
    bad = bpy.data.objects.new("Dots", bpy.data.meshes.new("Dots"))
    bpy.context.collection.objects.link(bad)
    select_only(good, bad)
    assert bpy.ops.object.pbd_add() == {"FINISHED"}
    assert good.pbd.enabled
    assert not bad.pbd.enabled


def test_remove_leaves_the_object_as_it_was(extension):
    obj = add_plain_mesh()
    before = mesh_coordinates(obj.data).tobytes()
    bpy.ops.object.pbd_add()
    obj.pbd.stretch = 777.0
    play(1, 3)
    assert obj.data.shape_keys is not None
    assert bpy.ops.object.pbd_remove() == {"FINISHED"}
    assert not obj.pbd.enabled
    assert obj.pbd.stretch != 777.0
    assert obj.data.shape_keys is None
    assert mesh_coordinates(obj.data).tobytes() == before


def test_remove_keeps_a_bake_as_animation(extension):
    obj = add_cloth()
    bpy.ops.object.pbd_bake()
    count = len(obj.data.shape_keys.key_blocks)
    bpy.ops.object.pbd_remove()
    assert not obj.pbd.enabled
    assert not obj.pbd.baked
    assert len(obj.data.shape_keys.key_blocks) == count


def test_remove_says_when_there_is_nothing(extension):
    add_plain_mesh().name = "Cube"
    with pytest.raises(RuntimeError, match="Nothing to remove: 'Cube' is not PBD"):
        bpy.ops.object.pbd_remove()


def test_remove_in_the_middle_of_a_simulation(extension, session):
    gone, stays = add_cloth(), add_cloth()
    play(1, 3)
    height = shown(stays)[:, 2].min()
    select_only(gone)
    bpy.ops.object.pbd_remove()
    play(4, 5)
    assert gone.data.shape_keys is None
    assert np.allclose(shown(gone)[:, 2], 0.0)
    assert shown(stays)[:, 2].min() < height
    assert not session.get(bpy.context.scene).message


def test_add_in_the_middle_of_a_simulation(extension, session):
    first = add_cloth()
    play(1, 3)
    height = shown(first)[:, 2].min()
    late = add_cloth()
    play(4, 5)
    assert shown(first)[:, 2].min() < height
    assert np.allclose(shown(late)[:, 2], 0.0)
    bpy.ops.object.pbd_reset()
    play(2, 3)
    assert shown(late)[:, 2].min() < -1e-3


def test_undo_takes_back_one_operator_at_a_time(extension):
    name = add_plain_mesh().name
    bpy.ops.ed.undo_push(message="Plain mesh")
    bpy.ops.object.pbd_add("EXEC_DEFAULT", True)
    bpy.ops.object.pbd_bake("EXEC_DEFAULT", True)
    assert bpy.data.objects[name].pbd.baked
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].pbd.enabled
    assert not bpy.data.objects[name].pbd.baked
    bpy.ops.ed.undo()
    assert not bpy.data.objects[name].pbd.enabled
    bpy.ops.ed.redo()
    assert bpy.data.objects[name].pbd.enabled


# --- primitives


def test_cloth_grid_has_rx_times_ry_vertices(extension):
    obj = add_cloth(rx=7, ry=4, width=3.0, height=1.5, pin="NONE")
    mesh = obj.data
    assert (len(mesh.vertices), len(mesh.polygons), len(mesh.edges)) == (28, 18, 6 * 4 + 7 * 3)
    low, high = mesh_coordinates(mesh).min(axis=0), mesh_coordinates(mesh).max(axis=0)
    assert np.allclose(low, (-1.5, -0.75, 0.0))
    assert np.allclose(high, (1.5, 0.75, 0.0))
    assert all(np.allclose(face.normal, (0.0, 0.0, 1.0)) for face in mesh.polygons)
    assert all(face.use_smooth for face in mesh.polygons)
    assert not mesh.validate()
    assert obj.pbd.enabled
    assert obj.pbd.type == "CLOTH"
    assert not obj.pbd.pin_group


def test_cloth_grid_uvs_lie_over_the_sheet(extension):
    mesh = add_cloth(rx=5, ry=3, width=2.0, height=1.0).data
    uvs = np.empty(2 * len(mesh.loops), np.float32)
    mesh.uv_layers.active.uv.foreach_get("vector", uvs)
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    assert np.allclose(uvs.reshape(-1, 2), mesh_coordinates(mesh)[corners, :2] / (2.0, 1.0) + 0.5, atol=1e-6)


@pytest.mark.parametrize(
    ("pin", "held"), [("CORNERS", [(-1.0, 0.5), (1.0, 0.5)]), ("EDGE", [(-1.0, y) for y in (-0.5, 0.0, 0.5)])]
)
def test_cloth_grid_pins(extension, pin, held):
    obj = add_cloth(rx=4, ry=3, width=2.0, height=1.0, pin=pin)
    assert obj.pbd.pin_group == "Pin"
    pinned = [vertex.index for vertex in obj.data.vertices if vertex.groups]
    assert sorted(map(tuple, mesh_coordinates(obj.data)[pinned, :2].tolist())) == sorted(held)


def test_primitives_stand_at_the_cursor(extension):
    bpy.context.scene.cursor.location = (1.0, 2.0, 3.0)
    try:
        assert tuple(add_cloth().location) == (1.0, 2.0, 3.0)
        bpy.ops.mesh.primitive_pbd_balloon_add(location=(4.0, 0.0, 0.0))
        assert tuple(bpy.context.object.location) == (4.0, 0.0, 0.0)
    finally:
        bpy.context.scene.cursor.location = (0.0, 0.0, 0.0)


def test_balloon_primitive(extension):
    assert bpy.ops.mesh.primitive_pbd_balloon_add(subdivisions=3, radius=0.5) == {"FINISHED"}
    obj = bpy.context.object
    assert len(obj.data.vertices) == 162
    assert np.allclose(np.linalg.norm(mesh_coordinates(obj.data), axis=1), 0.5, atol=1e-6)
    assert len(obj.data.uv_layers) == 1
    assert (obj.pbd.type, obj.pbd.pressure_mode) == ("BALLOON", "VOLUME")


def test_primitives_refuse_edit_mode(extension):
    add_plain_mesh()
    bpy.ops.object.mode_set(mode="EDIT")
    for operator in (bpy.ops.mesh.primitive_pbd_cloth_add, bpy.ops.mesh.primitive_pbd_balloon_add):
        with pytest.raises(RuntimeError, match="Leave Edit Mode first"):
            operator()


# --- pins


def weights(obj, group):
    index = obj.vertex_groups[group].index
    return {v.index: slot.weight for v in obj.data.vertices for slot in v.groups if slot.group == index}


def select_vertices(obj, ids):
    """Enter Edit Mode with these vertices selected."""
    flags = np.zeros(len(obj.data.vertices), bool)
    flags[ids] = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="VERT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.data.vertices.foreach_set("select", flags)
    bpy.ops.object.mode_set(mode="EDIT")


def test_pin_and_unpin_selected(extension):
    obj = add_cloth(pin="NONE")
    bpy.context.scene.tool_settings.vertex_group_weight = 0.75
    select_vertices(obj, [0, 3, 4])
    assert bpy.ops.object.pbd_pin_selected() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert obj.pbd.pin_group == "Pin"
    assert weights(obj, "Pin") == {0: 1.0, 3: 1.0, 4: 1.0}
    assert bpy.context.scene.tool_settings.vertex_group_weight == 0.75

    select_vertices(obj, [4, 5])
    assert bpy.ops.object.pbd_pin_selected(weight=0.5) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert weights(obj, "Pin") == {0: 1.0, 3: 1.0, 4: 0.5, 5: 0.5}

    select_vertices(obj, [0, 1, 5])
    assert bpy.ops.object.pbd_unpin_selected() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert weights(obj, "Pin") == {3: 1.0, 4: 0.5}


def test_pins_act_on_the_simulation(extension):
    obj = add_cloth(pin="NONE")
    play(1, 3)
    assert shown(obj)[:, 2].max() < -1e-3
    bpy.context.scene.frame_set(1)
    select_vertices(obj, [0, 1, 2])
    bpy.ops.object.pbd_pin_selected()
    bpy.ops.object.mode_set(mode="OBJECT")
    play(1, 4)
    z = shown(obj)[:, 2]
    assert np.allclose(z[:3], 0.0, atol=1e-6)
    assert z.min() < -1e-3


def test_pin_says_what_is_missing(extension):
    obj = add_cloth(pin="NONE")
    with pytest.raises(RuntimeError, match="Select vertices in Edit Mode"):
        bpy.ops.object.pbd_pin_selected()
    select_vertices(obj, [])
    with pytest.raises(RuntimeError, match="Select the vertices to pin first"):
        bpy.ops.object.pbd_pin_selected()
    with pytest.raises(RuntimeError, match="There is no pin group yet"):
        bpy.ops.object.pbd_unpin_selected()
    bpy.ops.object.mode_set(mode="OBJECT")
    add_plain_mesh()
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="The active object is not PBD"):
        bpy.ops.object.pbd_pin_selected()


# --- step, reset, cache


def test_step_simulates_the_next_frame_up_to_the_last(extension, session):
    obj = add_cloth()
    scene = bpy.context.scene
    lowest = [0.0]
    for frame in range(2, FRAMES + 1):
        assert bpy.ops.object.pbd_step() == {"FINISHED"}
        assert scene.frame_current == frame
        lowest.append(float(shown(obj)[:, 2].min()))
    assert all(np.diff(lowest) < 0.0)
    assert bpy.ops.object.pbd_step() == {"CANCELLED"}
    assert scene.frame_current == FRAMES


def test_step_reports_what_stopped_the_simulation(extension):
    obj = add_cloth()
    obj.pbd.pin_group = "Gone"
    with pytest.raises(RuntimeError, match="Gone"):
        bpy.ops.object.pbd_step()


def test_reset_goes_to_the_start_and_shows_the_mesh(extension, session):
    obj = add_cloth()
    play(1, 4)
    assert bpy.ops.object.pbd_reset() == {"FINISHED"}
    scene = bpy.context.scene
    assert scene.frame_current == 1
    assert np.allclose(shown(obj)[:, 2], 0.0, atol=1e-7)
    running = session.get(scene)
    assert running is None or running.last_frame in (None, 1)


def test_reset_after_a_change_of_topology(extension, session):
    obj = add_cloth(pin="NONE")
    play(1, 3)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.pbd_reset()
    play(1, 3)
    assert not session.get(bpy.context.scene).message
    assert shown(obj)[:, 2].max() < -1e-3


def test_clear_cache(extension, session):
    add_cloth()
    play(1, 4)
    assert session.get(bpy.context.scene).last_frame == 4
    assert bpy.ops.object.pbd_clear_cache() == {"FINISHED"}
    with pytest.raises(RuntimeError, match="The cache is empty"):
        bpy.ops.object.pbd_clear_cache()


def test_playback_operators_need_a_body(extension):
    add_plain_mesh()
    for operator in (bpy.ops.object.pbd_step, bpy.ops.object.pbd_reset, bpy.ops.object.pbd_bake):
        with pytest.raises(RuntimeError, match="Add a PBD cloth or balloon first"):
            operator()


# --- bake


@pytest.mark.parametrize("mode", ["ABSOLUTE", "RELATIVE"])
def test_bake_and_delete_bake(extension, mode):
    obj = add_cloth()
    before = mesh_coordinates(obj.data).tobytes()
    assert bpy.ops.object.pbd_bake(mode=mode) == {"FINISHED"}
    assert obj.pbd.baked
    assert (obj.pbd.bake_start, obj.pbd.bake_end) == (1, FRAMES)
    assert len(obj.data.shape_keys.key_blocks) >= FRAMES
    for operator in (bpy.ops.object.pbd_step, bpy.ops.object.pbd_reset):
        with pytest.raises(RuntimeError, match="Baked: delete the bake first"):
            operator()
    with pytest.raises(RuntimeError, match="Baked: delete the bake first"):
        bpy.ops.object.pbd_bake()
    assert bpy.ops.object.pbd_delete_bake() == {"FINISHED"}
    assert not obj.pbd.baked
    bpy.context.scene.frame_set(1)
    bpy.ops.object.pbd_remove()
    assert obj.data.shape_keys is None
    assert mesh_coordinates(obj.data).tobytes() == before


def test_bake_takes_the_selected_bodies_only(extension):
    left, right = add_cloth(), add_cloth()
    select_only(left)
    bpy.ops.object.pbd_bake()
    assert left.pbd.baked
    assert not right.pbd.baked


def test_bake_takes_all_when_no_body_is_selected(extension):
    bodies = [add_cloth(), add_cloth()]
    select_only()
    bpy.ops.object.pbd_bake()
    assert all(obj.pbd.baked for obj in bodies)


def test_bake_of_an_empty_range(extension):
    add_cloth()
    scene = bpy.context.scene
    scene.use_custom_simulation_range = True
    scene.simulation_frame_start, scene.simulation_frame_end = 10, 10
    scene.simulation_frame_end = 5
    assert scene.simulation_frame_end < scene.simulation_frame_start  # Blender lets it be
    with pytest.raises(RuntimeError, match="The simulation range is empty"):
        bpy.ops.object.pbd_bake()


def test_bake_reports_a_bad_object(extension):
    obj = add_cloth()
    obj.pbd.pin_group = "Gone"
    with pytest.raises(RuntimeError, match="Gone"):
        bpy.ops.object.pbd_bake()
    assert not obj.pbd.baked


def test_delete_bake_needs_one(extension):
    add_cloth()
    with pytest.raises(RuntimeError, match="No bake to delete"):
        bpy.ops.object.pbd_delete_bake()


# --- apply


def test_apply_needs_a_simulated_shape(extension):
    add_plain_mesh()
    with pytest.raises(RuntimeError, match="Select a PBD cloth or balloon"):
        bpy.ops.object.pbd_apply()
    add_cloth()
    for result in ("BASE", "SHAPE_KEY", "MESH"):
        with pytest.raises(RuntimeError, match="is not simulated yet: play some frames first"):
            bpy.ops.object.pbd_apply(result=result)


def test_apply_as_base(extension):
    obj = add_cloth()
    play(1, 4)
    shape = shown(obj)
    assert bpy.ops.object.pbd_apply(result="BASE") == {"FINISHED"}
    assert bpy.context.scene.frame_current == 1
    assert np.allclose(mesh_coordinates(obj.data), shape, atol=1e-6)
    assert np.allclose(shown(obj), shape, atol=1e-6)
    play(2, 3)
    assert shown(obj)[:, 2].min() < shape[:, 2].min()


def test_apply_as_base_keeps_what_the_users_keys_do(extension):
    obj = add_cloth()
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Raised", from_mix=False)
    key.value = 0.5
    key.data[7].co.z += 1.0
    play(1, 4)
    shape = shown(obj)
    bpy.ops.object.pbd_apply(result="BASE")
    assert np.allclose(shown(obj), shape, atol=1e-6)
    blocks = obj.data.shape_keys.key_blocks
    assert blocks["Raised"].data[7].co.z - blocks["Basis"].data[7].co.z == pytest.approx(1.0, abs=1e-6)
    assert blocks["Raised"].value == 0.5


def test_apply_as_shape_key(extension):
    obj = add_cloth()
    play(1, 4)
    shape = shown(obj)
    assert bpy.ops.object.pbd_apply(result="SHAPE_KEY") == {"FINISHED"}
    block = obj.data.shape_keys.key_blocks["PBD Shape"]
    assert block.value == 0.0
    flat = np.empty(shape.size, np.float32)
    block.points.foreach_get("co", flat)
    assert np.allclose(flat.reshape(-1, 3), shape, atol=1e-6)
    play(5, 6)
    bpy.ops.object.pbd_remove()
    assert [key.name for key in obj.data.shape_keys.key_blocks] == ["Basis", "PBD Shape"]


@pytest.mark.parametrize("baked", [False, True])
def test_apply_as_new_mesh(extension, baked):
    obj = add_cloth()
    if baked:
        bpy.ops.object.pbd_bake()
        bpy.context.scene.frame_set(4)
    else:
        play(1, 4)
    shape = shown(obj)
    assert bpy.ops.object.pbd_apply(result="MESH") == {"FINISHED"}
    copy = bpy.context.object
    assert copy != obj
    assert copy.data != obj.data
    assert copy.data.shape_keys is None
    assert not copy.pbd.enabled
    assert np.allclose(mesh_coordinates(copy.data), shape, atol=1e-6)
    play(5, 6)
    assert np.allclose(shown(copy), shape, atol=1e-6)
    assert obj.pbd.enabled


def test_apply_to_a_baked_object_says_what_to_do(extension):
    add_cloth()
    bpy.ops.object.pbd_bake()
    for result in ("BASE", "SHAPE_KEY"):
        with pytest.raises(RuntimeError, match="is baked: delete the bake first"):
            bpy.ops.object.pbd_apply(result=result)


# --- copy


def test_copy_to_selected(extension):
    target, plain, source = add_cloth(), add_plain_mesh(), add_cloth()
    source.pbd.stretch = 777.0
    source.pbd.bend_model = "DIHEDRAL"
    select_only(source, target, plain)
    assert bpy.ops.object.pbd_copy_to_selected() == {"FINISHED"}
    for obj in (target, plain):
        assert obj.pbd.enabled
        assert (obj.pbd.stretch, obj.pbd.bend_model, obj.pbd.type) == (777.0, "DIHEDRAL", "CLOTH")
    assert target.pbd.pin_group == "Pin"


def test_copy_needs_others(extension):
    select_only(add_cloth())
    with pytest.raises(RuntimeError, match="Select other meshes too"):
        bpy.ops.object.pbd_copy_to_selected()
    select_only(add_plain_mesh())
    with pytest.raises(RuntimeError, match="The active object is not PBD"):
        bpy.ops.object.pbd_copy_to_selected()


# --- all


def test_every_operator_has_poll_tooltip_and_undo(extension):
    names = [name for name in dir(bpy.types) if "_OT_" in name and "pbd_" in name]
    assert len(names) >= 15
    # These change nothing that is saved: frames in memory, files, another process.
    frames = {"step", "catch_up", "clear_cache", "disk_cache_load", "disk_cache_find", "disk_cache_delete"}
    elsewhere = {
        "doctor_check",
        "count_crossings",
        "count_keys",
        "export",
        "export_metrics",
        "export_vertex_animation",
        "find_loop",
        "bake_background",
        "cancel_background",
        "whats_new",
        "report_bug",
    }
    without_undo = {f"OBJECT_OT_pbd_{name}" for name in frames | elsewhere}
    for name in names:
        cls = getattr(bpy.types, name)
        assert callable(getattr(cls, "poll", None)), name
        assert cls.bl_rna.description or cls.__doc__, name
        assert cls.bl_options & {"REGISTER", "INTERNAL"}, name
        if "preset" not in name and name not in without_undo:
            assert "UNDO" in cls.bl_options, name


def test_scene_without_bodies_costs_nothing(extension, session):
    obj = add_cloth()
    play(1, 2)
    bpy.ops.object.pbd_remove()
    handlers = extension.bridge("handlers")
    assert handlers.on_frame_change not in bpy.app.handlers.frame_change_post
    assert not obj.pbd.enabled


def test_nothing_else_goes_through_the_frames_while_a_bake_runs(extension):
    bake = extension.bridge("baking.bake").start(bpy.context.scene, [add_cloth()], "ABSOLUTE", 1, FRAMES)
    next(bake)
    others = [getattr(bpy.ops.object, f"pbd_{name}") for name in ("step", "reset", "clear_cache", "grab", "settle")]
    try:
        assert not any(operator.poll() for operator in others)
    finally:
        bake.close()
    assert all(operator.poll() for operator in others)


def test_what_is_added_is_cloth_as_one_expects_it(extension):
    """Both entries pin the far corners; a balloon has the size of one that is blown up for a party."""
    bpy.ops.mesh.primitive_pbd_cloth_add()
    cloth = bpy.context.object
    ids = extension.bridge("read.mesh_io").read_pins(cloth)
    assert sorted(ids) == [992, 1023]
    bpy.ops.mesh.primitive_pbd_balloon_add()
    assert 0.25 < max(bpy.context.object.dimensions) < 0.35


def test_adding_cloth_locks_the_interface_for_renders(extension):
    scene = bpy.context.scene
    assert not scene.render.use_lock_interface
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.object.pbd_add(type="CLOTH")
    assert scene.render.use_lock_interface
    scene.render.use_lock_interface = False
    bpy.ops.mesh.primitive_pbd_cloth_add()
    assert scene.render.use_lock_interface


def test_the_list_of_colliders_selects_and_removes(extension):
    ball, box = (scenes.add_grid(name, pbd=False) for name in ("Ball", "Box"))
    ball.pbd_collider.enabled = box.pbd_collider.enabled = True
    cloth = scenes.add_grid()
    assert bpy.context.object == cloth
    bpy.ops.object.pbd_collider_select(body="Ball")
    assert (bpy.context.object, bpy.context.selected_objects) == (ball, [ball])
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.object.pbd_collider_remove(body="Box")
    assert (ball.pbd_collider.enabled, box.pbd_collider.enabled) == (True, False)
    bpy.ops.object.pbd_collider_remove(body="Ball")
    with pytest.raises(RuntimeError, match="Select a collider"):
        bpy.ops.object.pbd_collider_remove()
    with pytest.raises(RuntimeError, match="There is no object 'Nobody'"):
        bpy.ops.object.pbd_collider_select(body="Nobody")
