"""Cloth on a rigged character: pins follow what modifiers make of the mesh, and nothing deforms the cloth twice."""

import bpy
import numpy as np
import pytest

from helpers import rigs, scenes
from helpers.rigs import (
    EXACT,
    LAST,
    add_dressed,
    add_rig,
    bevel,
    check_frame,
    driven_key,
    names,
    off,
    pinned,
    rest_of,
    simulated,
    subdivide,
)
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


@pytest.fixture
def bake(extension):
    return extension.bridge("baking.bake")


def test_pins_follow_the_bones_live_scrubbed_and_jumped(session):
    _, cape, twin = add_dressed()
    seen = {}
    for frame in range(1, LAST + 1):
        go(frame)
        check_frame(session, cape, twin, frame) if frame > 1 else None
        seen[frame] = shown(cape)
    assert off(seen[LAST][pinned()], seen[1][pinned()]) > 0.3
    assert off(seen[LAST], shown(twin)) > 0.02, "the free part is cloth"
    for frame in (3, 17, 8, 20, 2):
        go(frame)
        check_frame(session, cape, twin, frame)
        assert off(shown(cape), seen[frame]) < EXACT
    session.clear_cache(bpy.context.scene)
    go(1)
    for frame in (9, 20):
        go(frame)
        check_frame(session, cape, twin, frame)


def test_a_sub_frame_is_the_mean_of_two_frames(session):
    """As motion blur asks for it; the rig walks and bends meanwhile."""
    _, cape, _ = add_dressed()
    seen = play([cape], 1, 8)
    steps = scenes.count_steps(session.get(bpy.context.scene))
    go(3, 0.25)
    assert off(shown(cape), 0.75 * seen[3][0] + 0.25 * seen[4][0]) < 1e-6
    assert off(seen[3][0], seen[4][0]) > 0.01
    assert steps == []


def test_it_begins_in_the_pose(session):
    rig, cape, twin = add_dressed()
    go(1)
    assert off(shown(cape), shown(twin)) < EXACT
    assert off(shown(cape), rest_of(cape)) > 0.02
    go(2)
    running = session.get(bpy.context.scene)
    body = running.scene_sim.members[0].body
    assert off(body.rest_vertices, rest_of(cape)) < EXACT
    go(1)
    assert off(body.vertices, shown(twin)) < EXACT
    rig.pose.bones["Chest"].rotation_euler = (0.0, 0.5, 0.0)
    rig.pose.bones["Chest"].keyframe_insert("rotation_euler", frame=1)
    go(1)
    go(2)
    assert off(session.get(bpy.context.scene).scene_sim.members[0].body.vertices, body.vertices) > 0.01


def test_rest_shape_of_the_first_frame(session):
    _, cape, twin = add_dressed()
    cape.pbd.rest_shape = "DEFORMED"
    go(1)
    start = shown(twin)
    go(2)
    body = session.get(bpy.context.scene).scene_sim.members[0].body
    assert off(body.rest_vertices, start) < EXACT
    cape.pbd.rest_shape = "BASIS"
    go(1)
    go(2)
    assert off(session.get(bpy.context.scene).scene_sim.members[0].body.rest_vertices, rest_of(cape)) < EXACT


def test_an_untouched_first_frame_takes_an_edited_pose(session):
    rig, cape, twin = add_dressed()
    go(1)
    rig.animation_data_clear()
    rig.pose.bones["Chest"].rotation_euler = (0.7, 0.0, 0.0)
    bpy.context.view_layer.update()
    want = shown(twin)
    go(2)
    assert session.get(bpy.context.scene).first_frame == 1
    assert off(simulated(session, cape, 1), want) < EXACT


@pytest.mark.parametrize("way", ["live", "bake"])
def test_edited_bones_are_noticed(session, bake, way):
    """A pose that was keyed otherwise makes its cached frame wrong, and all that follow."""
    rig, cape, twin = add_dressed()
    before = play([cape], 1, LAST)[LAST][0]
    go(1)
    bone = rig.pose.bones["Chest"]
    bone.rotation_euler = (0.9, 0.0, 0.4)
    bone.keyframe_insert("rotation_euler", frame=14)
    if way == "bake":
        list(bake.start(bpy.context.scene, [cape], "ABSOLUTE", 1, LAST))
    for frame in range(1, LAST + 1):
        go(frame)
        assert off(shown(cape)[pinned()], shown(twin)[pinned()]) < EXACT, frame
    assert off(shown(cape), before) > 1e-3


def test_edited_keys_of_what_a_bone_follows_take_the_frames_from_there_on(session):
    rig, cape, twin = add_dressed()
    goal = bpy.data.objects.new("Goal", None)
    bpy.context.scene.collection.objects.link(goal)
    for frame in (1, 10, LAST):
        goal.keyframe_insert("location", frame=frame)
    scenes.straighten(goal)
    rig.pose.bones["Chest"].constraints.new("COPY_LOCATION").target = goal
    play([cape], 1, LAST)
    go(3)
    goal.location.x = 0.4
    goal.keyframe_insert("location", frame=LAST)
    scenes.straighten(goal)
    go(4)
    loss = session.get(bpy.context.scene).invalidated
    assert (loss.first, loss.last, loss.why) == (11, LAST, "animation of 'Cape' changed")
    for frame in (11, LAST):
        go(frame)
        check_frame(session, cape, twin, frame)


def test_moved_by_hand_it_keeps_the_frames_so_far(session):
    """In other places of the cape the rig holds its pins elsewhere, but what was simulated before stays."""
    _, cape, _ = add_dressed()
    seen = play([cape], 1, 9)
    go(6)
    cape.location.x += 0.2
    go(7)
    running = session.get(bpy.context.scene)
    assert (running.invalidated.first, running.invalidated.last, running.invalidated.why) == (7, 9, "'Cape' was moved")
    go(3)
    assert running.last_frame == 7 and off(shown(cape), seen[3][0]) < EXACT


def test_a_bake_notices_what_a_bevel_hides(session, bake):
    """Only a script knows that frame 9 is another one now, and behind a bevel no cached frame shows it."""
    _, cape, twin = add_dressed()
    casts = [obj.modifiers.new("Cast", "CAST") for obj in (cape, twin)]
    drivers = [cast.driver_add("factor").driver for cast in casts]
    functions = bpy.app.driver_namespace
    functions["bulge"] = lambda frame: 0.01 * frame
    for driver in drivers:
        driver.expression = "bulge(frame)"
    bevel(cape)
    play([cape], 1, 12)
    functions["bulge"] = lambda frame: 0.01 * frame if frame < 9 else 0.5
    list(bake.start(bpy.context.scene, [cape], "ABSOLUTE", 1, 12))
    assert session.get(bpy.context.scene).invalidated.first == 9
    cape.modifiers["Bevel"].show_viewport = False
    for frame in (8, 9, 12):
        go(frame)
        assert off(shown(cape)[pinned()], shown(twin)[pinned()]) < EXACT, frame


# ------------------------------------------------------------------------------------------ other deformers


def lattice(obj):
    data = bpy.data.lattices.new("Lattice")
    cage = bpy.data.objects.new("Lattice", data)
    bpy.context.scene.collection.objects.link(cage)
    cage.location.z = 0.6
    cage.shape_key_add(name="Basis")
    block = cage.shape_key_add(name="Lean", from_mix=False)
    for number, point in enumerate(block.data):
        point.co.x += 0.3 * (number % 3)
        point.co.z *= 1.5
    for frame, value in ((1, 0.2), (LAST, 1.0)):
        block.value = value
        block.keyframe_insert("value", frame=frame)
    obj.modifiers.new("Lattice", "LATTICE").object = cage


def hook(obj):
    target = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(target)
    scenes.animate_location(target, 1, LAST, (0.2, 0.4, 0.3))
    modifier = obj.modifiers.new("Hook", "HOOK")
    modifier.object, modifier.vertex_group = target, "Chest"


def surface(obj):
    """A sheet that bends, to which the mesh is bound."""
    sheet = scenes.add_grid("Sheet", rx=4, ry=4, pbd=False)
    sheet.data.transform(rigs.Matrix.Translation((0, 0.15, 0.6)) @ rigs.Matrix.Rotation(np.pi / 2, 4, "X"))
    bend = sheet.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.deform_method, bend.deform_axis = "BEND", "Z"
    for frame, angle in ((1, 0.1), (LAST, 1.2)):
        bend.angle = angle
        bend.keyframe_insert("angle", frame=frame)
    modifier = obj.modifiers.new("Surface", "SURFACE_DEFORM")
    modifier.target = sheet
    sheet_was_bent, bend.show_viewport = bend.show_viewport, False
    bpy.context.view_layer.update()
    with bpy.context.temp_override(object=obj, active_object=obj):
        bpy.ops.object.surfacedeform_bind(modifier="Surface")
    bend.show_viewport = sheet_was_bent
    assert modifier.is_bound


def bone_parent(obj):
    rig = add_rig()
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", "Chest"
    obj.modifiers.new("Twist", "SIMPLE_DEFORM").angle = 0.6


def parent_deforms(obj):
    """An armature that deforms as the parent, without a modifier."""
    rig = add_rig()
    obj.parent, obj.parent_type = rig, "ARMATURE"


@pytest.mark.parametrize("pose", [lattice, hook, surface, driven_key, bone_parent, parent_deforms])
def test_pins_follow(session, bake, pose):
    cape = rigs.add_cape()
    pose(cape)
    twin = cape.copy()
    twin.data = cape.data.copy()
    twin.name = "Twin"
    twin.pbd.enabled = False
    bpy.context.scene.collection.objects.link(twin)
    for frame in range(1, LAST + 1):
        go(frame)
        if frame > 1:
            check_frame(session, cape, twin, frame)
    assert off(shown(cape)[pinned()], simulated(session, cape, 1)[pinned()]) > 0.02
    seen = {frame: simulated(session, cape, frame) for frame in range(1, LAST + 1)}
    mode = "RELATIVE" if cape.data.shape_keys else "ABSOLUTE"
    list(bake.start(bpy.context.scene, [cape], mode, 1, LAST))
    for frame in (1, 7, 13, LAST):
        go(frame)
        assert off(shown(cape), seen[frame]) < EXACT, frame


# ------------------------------------------------------------------------------------------ what stands behind


def plain(_obj):
    pass


def thicken(obj):
    obj.modifiers.new("Solidify", "SOLIDIFY").thickness = 0.01
    subdivide(obj)


def decimate(obj):
    obj.modifiers.new("Decimate", "DECIMATE").ratio = 0.5


def smooth(obj):
    obj.modifiers.new("Smooth", "SMOOTH").iterations = 2


def remesh(obj):
    thicken(obj)
    obj.modifiers.new("Remesh", "REMESH").voxel_size = 0.05


@pytest.mark.parametrize("add", [subdivide, thicken, bevel, decimate, smooth, remesh])
def test_modifiers_behind_act_on_the_cloth(session, add):
    """What is seen is what the same modifier makes of a mesh of the simulated shape."""
    _, cape, twin = add_dressed()
    add(cape)
    model = rigs.add_cape("Model", pbd=False)
    add(model)
    switches = [modifier.show_viewport for modifier in cape.modifiers]
    for frame in (*range(1, 9), 14):
        go(frame)
        if frame == 1:
            continue
        positions = simulated(session, cape, frame)
        assert off(positions[pinned()], shown(twin)[pinned()]) < EXACT, frame
        model.data.vertices.foreach_set("co", positions.astype(np.float32).ravel())
        model.data.update()
        assert shown(cape).shape == shown(model).shape
        assert off(shown(cape), shown(model)) < 2 * EXACT, frame
    assert [modifier.show_viewport for modifier in cape.modifiers if modifier.name != "PBD Output"] == switches


def test_cached_frames_evaluate_nothing_twice(session):
    """Behind a bevel the input has to be evaluated by itself: for frames that are stepped, not for cached ones."""
    _, cape, _ = add_dressed()
    bevel(cape)
    play([cape], 1, 6)
    count = []

    def note(_scene, _depsgraph):
        count.append(1)

    bpy.app.handlers.depsgraph_update_post.append(note)
    for frame in (3, 5, 4):
        go(frame)
    cached = len(count)
    go(7)
    bpy.app.handlers.depsgraph_update_post.remove(note)
    assert cached == 0 < len(count)


# ------------------------------------------------------------------------------------------ what is chosen


def test_automatic_takes_a_key_without_deformers(session, extension):
    obj = scenes.add_grid()
    subdivide(obj)
    smooth(obj)
    play([obj], 1, 3)
    assert obj.pbd.live_key and names(obj) == ["Subdivision", "Smooth"]
    assert not extension.bridge("output.output_choice").choose(obj).modifier


def test_the_panel_has_a_reason(session, extension):
    choose = extension.bridge("output.output_choice").choose
    rig, cape, twin = add_dressed()
    assert choose(cape) == (True, "By modifier: pins follow 'Armature', which does not deform the cloth a second time")
    cape.pbd.output = "SHAPE_KEY"
    assert choose(cape).reason.endswith("'Armature' deforms the cloth, and pins do not follow it")
    twin.modifiers.clear()
    assert choose(twin) == (False, "By shape key, as no modifier poses this mesh")
    twin.parent, twin.parent_type = rig, "ARMATURE"
    assert choose(twin).modifier and "its parent 'Rig'" in choose(twin).reason


def test_the_place_is_behind_the_last_deformer(session):
    _, cape, _ = add_dressed()
    subdivide(cape)
    play([cape], 1, 2)
    assert names(cape) == ["Armature", "PBD Output", "Subdivision"]
    assert not cape.pbd.live_key and cape.data.shape_keys is None
    cape.modifiers.new("Late", "CAST")
    cape.modifiers.move(3, 2)
    go(3)
    assert names(cape) == ["Armature", "Late", "PBD Output", "Subdivision"]
    cape.modifiers.move(2, 1)
    go(4)
    assert names(cape) == ["Armature", "PBD Output", "Late", "Subdivision"], "where the user puts it, it stays"


def test_overruled_the_shape_key_is_deformed(session):
    _, cape, twin = add_dressed()
    cape.pbd.output = "SHAPE_KEY"
    for frame in range(1, 5):
        go(frame)
    assert names(cape) == ["Armature"] and cape.pbd.live_key
    positions = simulated(session, cape, 4)
    assert off(positions[pinned()], rest_of(cape)[pinned()]) < EXACT
    twin.data.vertices.foreach_set("co", positions.astype(np.float32).ravel())
    twin.data.update()
    assert off(shown(cape), shown(twin)) < EXACT


def test_overruled_a_modifier_without_deformers(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    obj.pbd.output = "MODIFIER"
    play([obj], 1, 5)
    assert names(obj) == ["PBD Output"] and obj.data.shape_keys is None
    assert off(shown(obj), simulated(session, obj, 5)) < EXACT
    assert shown(obj)[:, 2].min() < -0.01
    obj.pbd.output = "AUTO"
    go(6)
    assert names(obj) == [] and obj.pbd.live_key
    assert off(shown(obj), simulated(session, obj, 6)) < EXACT
    assert "PBD Output" not in bpy.data.node_groups and "pbd_position" not in obj.data.attributes


def test_a_deformer_added_in_the_middle(session):
    """The key gives way to the modifier, and the next frame follows."""
    rig, cape, twin = add_dressed()
    cape.modifiers.remove(cape.modifiers["Armature"])
    play([cape], 1, 4)
    assert cape.pbd.live_key
    rigs.arm(cape, rig)
    for frame in (5, 6):
        go(frame)
        check_frame(session, cape, twin, frame)
    assert cape.data.shape_keys is None
    go(1)
    go(2)
    assert off(simulated(session, cape, 1), rest_of(cape)) > 0.02


# ------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("kind", ["MIRROR", "ARRAY", "SUBSURF"])
def test_what_changes_the_vertices_before_is_refused(session, kind):
    _, cape, _ = add_dressed()
    cape.modifiers.new("Grow", kind)
    cape.modifiers.move(1, 0)
    go(1)
    go(2)
    message = session.get(bpy.context.scene).message
    assert "'Grow' of 'Cape' changes the number of vertices" in message
    assert "apply it, or move it after" in message
    cape.modifiers.move(0, len(cape.modifiers) - 1)
    go(1)
    go(2)
    assert not session.get(bpy.context.scene).message


def test_adding_is_refused_too(session):
    _, _, twin = add_dressed()
    twin.modifiers.new("Mirror", "MIRROR")
    twin.modifiers.move(1, 0)
    bpy.context.view_layer.objects.active = twin
    with pytest.raises(RuntimeError, match="move it after 'Armature'"):
        bpy.ops.object.pbd_add(type="CLOTH")
    assert names(twin) == ["Mirror", "Armature"]


def test_nodes_that_add_vertices_are_refused(session):
    _, cape, _ = add_dressed()
    tree = bpy.data.node_groups.new("Twice", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    first, cut, last = (
        tree.nodes.new(kind) for kind in ("NodeGroupInput", "GeometryNodeSubdivideMesh", "NodeGroupOutput")
    )
    tree.links.new(first.outputs[0], cut.inputs[0])
    tree.links.new(cut.outputs[0], last.inputs[0])
    cape.modifiers.new("Nodes", "NODES").node_group = tree
    cape.modifiers.move(1, 0)
    go(1)
    go(2)
    assert f"of the {rigs.ROWS * rigs.COLUMNS} of 'Cape'" in session.get(bpy.context.scene).message


@pytest.mark.parametrize("kind", ["MULTIRES", "SOFT_BODY"])
def test_what_must_come_first_is_refused(session, kind):
    """Blender lets no node group stand before these."""
    _, cape, _ = add_dressed()
    go(1)
    cape.modifiers.remove(cape.modifiers["PBD Output"])
    cape.modifiers.new("Own", kind)
    go(1)
    go(2)
    assert "'Own' of 'Cape' needs the mesh itself" in session.get(bpy.context.scene).message
    cape.pbd.output = "SHAPE_KEY"
    go(1)
    go(2)
    assert not session.get(bpy.context.scene).message and cape.pbd.live_key


def test_a_mesh_that_was_edited_in_the_middle(session):
    """Fewer vertices than the simulation was built for: one sentence, and a reset takes the new mesh."""
    import bmesh  # Is there only when bpy is.

    _, cape, twin = add_dressed()
    play([cape], 1, 5)
    for obj in (cape, twin):
        mesh = bmesh.new()
        mesh.from_mesh(obj.data)
        bmesh.ops.delete(mesh, geom=[vertex for vertex in mesh.verts if vertex.index < rigs.COLUMNS], context="VERTS")
        mesh.to_mesh(obj.data)
        mesh.free()
    for frame in (3, 6):
        go(frame)
        assert "the simulation was built for" in session.get(bpy.context.scene).message
    go(1)
    session.reset(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    go(2)
    assert not session.get(bpy.context.scene).message
    upper = np.arange((rigs.ROWS - 3) * rigs.COLUMNS, (rigs.ROWS - 1) * rigs.COLUMNS)
    assert off(shown(cape)[upper], shown(twin)[upper]) < EXACT


def test_a_cloth_that_is_disabled_says_so(session):
    _, cape, _ = add_dressed()
    play([cape], 1, 3)
    cape.hide_viewport = True
    go(4)
    assert "disabled in viewports" in session.get(bpy.context.scene).message
    cape.hide_viewport = False
    go(4)
    assert not session.get(bpy.context.scene).message


def test_following_a_simulated_sheet_is_refused(session):
    cape = rigs.add_cape()
    surface(cape)
    sheet = bpy.data.objects["Sheet"]
    sheet.pbd.enabled = True
    go(1)
    go(2)
    assert "follows 'Sheet', which is simulated itself" in session.get(bpy.context.scene).message
