"""The doctor: every finding provoked, said in a sentence, and mended by its button."""

import bpy
import mathutils
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, shown


def found():
    """Names of what the Check button finds, for the objects; the scene's own finding is looked at apart."""
    assert bpy.ops.object.pbd_doctor_check() == {"FINISHED"}
    return [finding.check for finding in findings() if finding.body]


def findings():
    """What the last check has found, but that the meshes here are coarse, as they are small on purpose."""
    listed = scenes.findings(bpy.context.scene)
    return None if listed is None else tuple(finding for finding in listed if finding.check != "too_coarse")


@pytest.fixture(autouse=True)
def look(extension):
    scenes.findings = extension.bridge("doctor.doctor").findings
    bpy.context.scene.render.use_lock_interface = True


def fix(check, obj):
    return bpy.ops.object.pbd_doctor_fix(check=check, body=obj.name)


def sentence(check):
    return next(finding.sentence for finding in findings() if finding.check == check)


def add_ball(**settings):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.5)
    obj = bpy.context.object
    bpy.ops.object.pbd_add(type="BALLOON")
    for name, value in settings.items():
        setattr(obj.pbd, name, value)
    return obj


def face(obj, order):
    """Turn one face around."""
    mesh = obj.data
    mesh.polygons[order].flip()
    mesh.update()


def provoke_shared():
    obj = scenes.add_grid()
    twin = bpy.data.objects.new("Twin", obj.data)
    bpy.context.scene.collection.objects.link(twin)
    return obj


def provoke_absolute_keys():
    obj = scenes.add_grid()
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Other")
    obj.data.shape_keys.use_relative = False
    return obj


def provoke_no_scale():
    obj = scenes.add_grid()
    obj.scale = (1.0, 1.0, 0.0)
    return obj


def provoke_uneven_scale():
    obj = scenes.add_grid()
    obj.scale = (2.0, -1.0, 1.0)
    obj.modifiers.new("Thick", "SOLIDIFY")
    return obj


def provoke_doubles():
    """Two quads that touch with vertices of their own, whose borders may part."""
    x = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0)]
    obj = scenes.add_mesh("Cut", x, [(0, 1, 2, 3), (4, 5, 6, 7)])
    obj.pbd.join_borders = False
    return obj


def provoke_no_area():
    """A triangle that is a line, on the border of a quad."""
    x = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0, 0)]
    return scenes.add_mesh("Line", x, [(0, 1, 2, 3), (0, 4, 1)])


def provoke_loose_vertices():
    return scenes.add_mesh("Dust", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (5, 5, 0)], [(0, 1, 2)])


def provoke_opposed_normals():
    obj = add_ball()
    face(obj, 7)
    return obj


def provoke_wide_distance():
    return scenes.add_grid(thickness=0.5)


def provoke_wide_self_distance():
    return scenes.add_grid(self_distance=0.5)


def provoke_lost_pins():
    return scenes.add_grid(pin_group="Nowhere")


def provoke_empty_pins():
    obj = scenes.add_grid()
    obj.pbd.pin_group = obj.vertex_groups.new(name="Pin").name
    return obj


def provoke_lost_maps():
    return scenes.add_grid(bend_group="Nowhere")


def provoke_lost_attached():
    obj = scenes.add_grid(attach_group="Nowhere")
    obj.pbd.attach_object = scenes.add_grid("Mast", pbd=False)
    obj.pbd.attach_object.location.z = 1.0
    return obj


def provoke_all_held():
    obj = scenes.add_grid()
    scenes.pin(obj, range(20))
    return obj


def provoke_second_simulation():
    obj = scenes.add_grid()
    obj.modifiers.new("Cloth", "CLOTH")
    return obj


def provoke_not_split():
    return scenes.add_grid(tear_strength=500.0)


def provoke_open_chambers():
    import bmesh  # found only after bpy

    obj = add_ball()
    geometry = bmesh.new()
    geometry.from_mesh(obj.data)
    bmesh.ops.delete(geometry, geom=[geometry.verts[:][0], geometry.verts[:][11]], context="VERTS")
    geometry.to_mesh(obj.data)
    geometry.free()
    return obj


def provoke_added_geometry():
    obj = scenes.add_grid()
    obj.data.transform(mathutils.Matrix.Translation((0.6, 0.0, 0.0)))
    obj.modifiers.new("Mirror", "MIRROR")
    return obj


MENDED = {
    "shared": (provoke_shared, "shared by 2 objects"),
    "absolute_keys": (provoke_absolute_keys, "absolute"),
    "no_scale": (provoke_no_scale, "scale of zero"),
    "uneven_scale": (provoke_uneven_scale, "modifier 'Thick' is not equally thick"),
    "doubles": (provoke_doubles, "2 vertices lie on another"),
    "no_area": (provoke_no_area, "1 face has no area"),
    "loose_vertices": (provoke_loose_vertices, "1 vertex belongs to no edge"),
    "opposed_normals": (provoke_opposed_normals, "disagree at 3 edges"),
    "wide_distance": (provoke_wide_distance, "500 mm, is more than the usual edge, 250 mm"),
    "wide_self_distance": (provoke_wide_self_distance, "500 mm, is more than the usual edge, 250 mm"),
    "lost_pins": (provoke_lost_pins, "'Nowhere' does not exist"),
    "empty_pins": (provoke_empty_pins, "'Pin' is empty"),
    "lost_maps": (provoke_lost_maps, "'Nowhere' of a weight map does not exist"),
    "lost_attached": (provoke_lost_attached, "attach group 'Nowhere' does not exist"),
    "all_held": (provoke_all_held, "nothing can move"),
    "second_simulation": (provoke_second_simulation, "Modifier 'Cloth' simulates the same"),
    "open_chambers": (provoke_open_chambers, "2 openings are under pressure"),
    "not_split": (provoke_not_split, "the mesh is not split"),
    "added_geometry": (provoke_added_geometry, "'Mirror' comes after"),
}


@pytest.mark.parametrize("case", MENDED)
def test_a_finding_is_told_and_mended(extension, case):
    provoke, words = MENDED[case]
    check = "lost_pins" if case == "empty_pins" else case
    obj = provoke()
    assert found() == [check]
    assert words in sentence(check)
    assert next(finding.action for finding in findings() if finding.check == check) == "Fix"
    before = shown(obj) if check in ("uneven_scale", "shared", "opposed_normals") else None
    assert fix(check, obj) == {"FINISHED"}
    assert [finding for finding in findings() if finding.body] == []
    assert found() == []
    if before is not None:
        assert np.allclose(shown(obj), before, atol=1e-6) or check == "uneven_scale"
    go(2)
    session = extension.bridge("timeline.session").get(bpy.context.scene)
    assert session.message == ""
    assert session.last_frame == 2


def test_every_check_is_provoked(extension):
    doctor = extension.bridge("doctor.doctor")
    fixed = {name for name, (_check, action) in doctor.CHECKS.items() if callable(action)}
    assert fixed == set(MENDED) - {"empty_pins"} | {"too_coarse"}
    assert set(doctor.CHECKS) - fixed == {
        *("no_faces", "unusual_size", "crowded_edges", "intersections", "wrong_side", "on_a_surface", "no_springs"),
        "uneven_seams",
    }


def test_sound_cloth_has_no_findings(extension):
    scenes.add_grid()
    add_ball().location.z = 1.0
    assert found() == []
    assert findings() == ()


def test_mending_keeps_shape_keys_groups_and_place(extension):
    obj = provoke_doubles()
    obj.shape_key_add(name="Basis")
    up = obj.shape_key_add(name="Up", from_mix=False)
    for point in up.points:
        point.co[2] += 0.5
    scenes.pin(obj, [0, 3])
    go(3)
    assert obj.pbd.live_key
    fix("doubles", obj)
    assert len(obj.data.vertices) == 6
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "Up"]
    assert [point.co[2] for point in obj.data.shape_keys.key_blocks["Up"].points] == [0.5] * 6
    assert len(extension.bridge("read.mesh_io").read_pins(obj)) == 2


def test_borders_that_are_joined_need_no_mending(extension):
    """The status says that they are one."""
    obj = provoke_doubles()
    obj.pbd.join_borders = True
    assert "doubles" not in [finding.check for finding in extension.bridge("doctor.doctor").check(bpy.context.scene)]
    go(3)
    (notes,) = extension.bridge("timeline.session").get(bpy.context.scene).notes.values()
    assert "2 vertices of borders are one with others at the same place" in notes


def test_scale_is_taken_into_the_mesh_where_it_stands(extension):
    obj = provoke_uneven_scale()
    obj.modifiers["Thick"].thickness = 0.0
    flat = np.unique(np.round(shown(obj), 5), axis=0)
    normal = obj.data.polygons[0].normal.copy()
    fix("uneven_scale", obj)
    assert tuple(obj.scale) == (1.0, 1.0, 1.0)
    assert np.allclose(np.unique(np.round(shown(obj), 5), axis=0), flat, atol=2e-5)
    assert np.allclose(obj.data.polygons[0].normal, normal)


def test_animated_scale_is_left_alone_with_a_sentence(extension):
    obj = provoke_uneven_scale()
    obj.keyframe_insert("scale", frame=1)
    with pytest.raises(RuntimeError, match="animated, inherited or handed on"):
        fix("uneven_scale", obj)
    assert tuple(obj.scale) == (2.0, -1.0, 1.0)


def test_a_modifier_is_not_applied_over_shape_keys(extension):
    obj = provoke_added_geometry()
    obj.shape_key_add(name="Basis")
    with pytest.raises(RuntimeError, match="has shape keys"):
        fix("added_geometry", obj)
    assert "Mirror" in obj.modifiers


def test_internal_springs_that_connect_nothing(extension):
    obj = add_ball(internal_springs=True)
    assert found() == []
    obj.pbd.internal_spring_length = 0.1
    assert found() == ["no_springs"]
    assert "no sides face away from each other" in sentence("no_springs")


def test_sizes_that_were_not_modelled_in_metres(extension):
    obj = scenes.add_grid(width=200.0, height=200.0)
    assert found() == ["unusual_size"]
    assert "200 m large" in sentence("unusual_size")
    obj.scale = (0.01, 0.01, 0.01)
    bpy.context.view_layer.update()
    assert found() == []


def test_no_faces(extension):
    obj = scenes.add_mesh("Dots", [(0, 0, 0), (1, 0, 0)], [])
    assert "no_faces" in found()
    with pytest.raises(RuntimeError, match="Error: 'Dots': The mesh has no faces"):
        fix("no_faces", obj)


def test_crowded_edges_are_shown(extension):
    x = [(0, 0, 0), (1, 0, 0), (0.5, 1, 0), (0.5, -1, 0), (0.5, 0, 1)]
    obj = scenes.add_mesh("Fins", x, [(0, 1, 2), (1, 0, 3), (0, 1, 4)])
    assert found() == ["crowded_edges"]
    fix("crowded_edges", obj)
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [tuple(edge.vertices) for edge in obj.data.edges if edge.select] == [(0, 1)]


def test_intersections_are_shown(extension):
    pierced = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    through, apart = [(0.2, 0.2, -0.5), (0.3, 0.2, 0.5), (0.2, 0.3, 0.5)], [(5, 5, 0), (6, 5, 0), (5, 6, 0)]
    obj = scenes.add_mesh("Tangle", [*pierced, *through, *apart], [(0, 1, 2), (3, 4, 5), (6, 7, 8)])
    assert found() == ["intersections"]
    fix("intersections", obj)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [polygon.select for polygon in obj.data.polygons] == [True, False, False]


def sewn_panels(longer):
    """Two sheets of 0.5 m, the back one longer by a share, sewn at both sides."""
    ids = np.arange(16).reshape(4, 4)
    quads = np.stack([ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]], axis=-1).reshape(-1, 4)
    u, v = (axis.ravel() for axis in np.meshgrid(np.linspace(0.0, 0.5, 4), np.linspace(0.0, 0.5, 4)))
    front, back = (np.column_stack([u, np.full(16, y), v * size]) for y, size in ((0.0, 1.0), (0.3, 1.0 + longer)))
    sides = np.concatenate([ids[:, 0], ids[:, -1]])
    faces = np.concatenate([quads, quads[:, ::-1] + 16])
    pairs = np.column_stack([sides, sides + 16]).tolist()
    return scenes.add_mesh("Shirt", np.concatenate([front, back]), faces, edges=pairs, sewing=True)


def test_seams_of_uneven_sides_are_told_and_shown(extension):
    obj = sewn_panels(0.03)
    assert found() == ["uneven_seams"]
    said = "with vertices 0 and 12 are 500 and 515 mm long, they differ by 3 %: make them equally long"
    assert said in sentence("uneven_seams")
    assert findings()[0].action == "Show"
    fix("uneven_seams", obj)
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [vertex.index % 4 in (0, 3) for vertex in obj.data.vertices] == [v.select for v in obj.data.vertices]
    obj.pbd.sewing = False  # ropes
    assert found() == []


def test_seams_of_nearly_even_sides_are_not_told(extension):
    sewn_panels(0.015)
    assert found() == []


def add_collider(size=1.0, **settings):
    """A closed cube around the origin."""
    bpy.ops.mesh.primitive_cube_add(size=size)
    obj = bpy.context.object
    obj.name = "Box"
    obj.pbd_collider.enabled = True
    for name, value in settings.items():
        setattr(obj.pbd_collider, name, value)
    return obj


def half_inside():
    """A grid whose ten left vertices are inside of a cube that reaches as far as x = 0.1."""
    obj = scenes.add_grid()
    obj.location = (0.475, 0.0, 0.0)
    box = add_collider(1.0)
    box.scale = (0.2, 1.0, 1.0)
    bpy.context.view_layer.update()
    return obj, box


def test_vertices_inside_of_a_collider_are_counted_and_shown(extension):
    obj, box = half_inside()
    assert found() == ["wrong_side"]
    assert sentence("wrong_side") == "4 vertices begin inside of 'Box' and will be pushed out"
    assert [finding.action for finding in findings()] == ["Show"]
    fix("wrong_side", obj)
    assert (obj.mode, tuple(bpy.context.scene.tool_settings.mesh_select_mode)) == ("EDIT", (True, False, False))
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [vertex.index for vertex in obj.data.vertices if vertex.select] == [0, 5, 10, 15]
    box.location.x = -2.0
    assert found() == []


def test_vertices_outside_of_a_container_are_told(extension):
    scenes.add_grid(width=1.2)
    box = add_collider(1.0, inside=True)
    assert found() == ["wrong_side"]
    assert sentence("wrong_side") == "8 vertices begin outside of 'Box', which keeps cloth inside"
    box.scale = (1.3, 1.0, 1.0)
    assert found() == []


def test_what_is_held_may_be_inside_of_a_body(extension):
    """Waistbands are often pinned a little under the skin; they go where the skin goes."""
    obj, _box = half_inside()
    scenes.pin(obj, [0, 5, 10])
    assert found() == ["wrong_side"]
    assert sentence("wrong_side") == "1 vertex begins inside of 'Box' and will be pushed out"
    scenes.pin(obj, [15])
    assert found() == []


def test_open_or_touching_colliders_have_no_inside(extension):
    obj, box = half_inside()
    corners = [vertex.co.copy() for vertex in box.data.vertices]
    faces = [tuple(polygon.vertices) for polygon in box.data.polygons]
    box.data.clear_geometry()
    box.data.from_pydata(corners, [], faces[1:])
    assert found() == []
    bpy.data.objects.remove(box)
    ball = add_ball()
    ball.pbd.enabled = False
    ball.pbd_collider.enabled = True
    skin = scenes.add_mesh("Skin", [v.co for v in ball.data.vertices], [p.vertices for p in ball.data.polygons])
    bpy.data.objects.remove(obj)
    assert found() == ["on_a_surface"]
    skin.scale = (0.9, 0.9, 0.9)
    assert found() == ["wrong_side"]


def test_a_shape_that_modifiers_pose_begins_where_they_put_it(extension):
    obj, box = half_inside()
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    bpy.context.view_layer.update()
    modifier = obj.modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set(range(20))
    bpy.context.view_layer.update()
    assert found() == ["wrong_side"]
    hook.location.z = 3.0
    assert found() == []
    box.location.z = 3.0
    assert found() == ["wrong_side"]
    assert sentence("wrong_side").startswith("4 ")


def test_later_frames_are_looked_at_as_the_simulation_began(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    box = add_collider(0.4)
    box.location.z = 2.0
    scenes.animate_location(box, 1, 5, (0.0, 0.0, -2.0))
    for frame in range(1, 6):
        go(frame)
    assert found() == []
    box.animation_data_clear()
    box.location.z = 0.0
    go(1)
    assert found() == ["wrong_side"]


def test_the_interface_is_locked_for_renders(extension):
    scenes.add_grid()
    bpy.context.scene.render.use_lock_interface = False
    bpy.ops.object.pbd_doctor_check()
    assert [(finding.check, finding.body) for finding in findings()] == [("unlocked", "")]
    bpy.ops.object.pbd_doctor_fix(check="unlocked")
    assert bpy.context.scene.render.use_lock_interface
    assert findings() == ()


def test_a_fix_is_undone_in_one_step_and_the_results_are_looked_for_anew(extension):
    obj = provoke_wide_distance()
    bpy.ops.object.pbd_doctor_check()
    bpy.ops.ed.undo_push(message="Before")
    fix("wide_distance", obj)
    assert obj.pbd.thickness == pytest.approx(0.125)
    bpy.ops.ed.undo_push(message="Fixed")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Flag"].pbd.thickness == 0.5
    assert findings() is None


def test_what_is_mended_already_is_left_alone(extension):
    obj = provoke_wide_distance()
    bpy.ops.object.pbd_doctor_check()
    obj.pbd.thickness = 0.003
    fix("wide_distance", obj)
    assert obj.pbd.thickness == pytest.approx(0.003)
    with pytest.raises(RuntimeError, match="press Check"):
        bpy.ops.object.pbd_doctor_fix(check="wide_distance", body="Nobody")


def test_nothing_to_check(extension):
    scenes.add_grid(pbd=False)
    with pytest.raises(RuntimeError, match="Add a PBD cloth or balloon first"):
        bpy.ops.object.pbd_doctor_check()


def looked_for(check):
    """The finding of a check, or None."""
    bpy.ops.object.pbd_doctor_check()
    return next((one for one in scenes.findings(bpy.context.scene) if one.check == check), None)


def test_a_cube_is_too_coarse_to_fold_until_it_is_subdivided(extension):
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    obj = bpy.context.object
    bpy.ops.object.pbd_add(type="CLOTH")
    assert looked_for("too_coarse").sentence == "Only 8 vertices: folds need about 1,000"
    fix("too_coarse", obj)
    assert 1000 <= len(obj.data.vertices) < 1200
    assert looked_for("too_coarse") is None
    assert {len(polygon.vertices) for polygon in obj.data.polygons} == {4}
    assert tuple(obj.dimensions) == pytest.approx((2.0, 2.0, 2.0))
    bpy.ops.mesh.primitive_pbd_cloth_add()
    bpy.ops.mesh.primitive_pbd_balloon_add()
    bpy.ops.object.pbd_doctor_check()
    assert [one for one in scenes.findings(bpy.context.scene) if one.check == "too_coarse"] == []


@pytest.mark.parametrize("add", ["plane", "circle", "ico_sphere"])
def test_any_mesh_can_be_subdivided(extension, add):
    """Also one large polygon, and triangles."""
    options = {"circle": {"fill_type": "NGON"}, "ico_sphere": {"subdivisions": 2}}
    getattr(bpy.ops.mesh, f"primitive_{add}_add")(**options.get(add, {}))
    obj = bpy.context.object
    bpy.ops.object.pbd_add(type="CLOTH")
    fix("too_coarse", obj)
    assert 1000 <= len(obj.data.vertices) < 1600
    assert max(len(polygon.vertices) for polygon in obj.data.polygons) <= 4


def test_subdividing_pins_only_what_lies_between_pins(extension):
    """Blender gives a vertex between a pinned and a free one half a weight, which would hold the whole of a quad."""
    obj = scenes.add_grid(rx=3, ry=3)
    scenes.pin(obj, [0, 1, 2])
    fix("too_coarse", obj)
    pins = extension.bridge("read.mesh_io").read_pins(obj)
    edge = [vertex.index for vertex in obj.data.vertices if vertex.co.y < -0.2999]
    assert sorted(pins) == sorted(edge)
    assert set(pins.values()) == {1.0}
    assert len(edge) > 20


def test_cloth_that_begins_on_a_surface_is_told_and_shown(extension):
    """A sheet whose vertices are in the plane of a table's top has no side from which it could be kept off."""
    obj = scenes.add_grid(rx=20, ry=20)
    table = scenes.add_grid("Table", pbd=False, width=0.5, height=3.0)
    table.pbd_collider.enabled = True
    bpy.context.view_layer.update()
    assert found() == ["on_a_surface"]
    assert sentence("on_a_surface") == "200 vertices begin on 'Table', on neither of its sides: move one of them"
    fix("on_a_surface", obj)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert sum(vertex.select for vertex in obj.data.vertices) == 200
    table.location.z = -0.003
    assert found() == []
    table.pbd_collider.enabled = False
    table.location.z = 0.0
    assert found() == []


def test_cloth_that_begins_on_other_cloth_is_told(extension):
    obj = scenes.add_grid(rx=20, ry=20)
    other = scenes.add_grid("Lining", rx=20, ry=20)
    assert found() == ["on_a_surface", "on_a_surface"]
    other.location.z = 0.01
    assert found() == []
    obj.location.z = 0.01
    scenes.pin(obj, range(399))
    scenes.pin(other, range(399))
    assert [one.sentence for one in findings() or ()] == []
    assert found() == ["on_a_surface", "on_a_surface"]


def test_a_unit_scale_is_told_and_taken_away(extension):
    """Lengths are simulated as meters, whatever they are shown as."""
    obj = scenes.add_grid()
    obj.dimensions = (200.0, 200.0, 0.0)
    bpy.context.view_layer.update()
    findings = extension.bridge("doctor.setup_findings")
    assert findings.unit_sentence(bpy.context.scene, obj) == ""
    bpy.context.scene.unit_settings.scale_length = 0.01
    said = findings.unit_sentence(bpy.context.scene, obj)
    assert said == "Unit Scale 0.01: what is shown as 2 m is simulated as 200 m"
    assert bpy.ops.object.pbd_doctor_fix(check="unit_scale", body=obj.name) == {"FINISHED"}
    assert findings.unit_sentence(bpy.context.scene, obj) == ""
