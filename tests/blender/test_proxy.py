"""Make Proxy: a coarse copy simulates and the fine mesh follows; a simple body collides and follows a figure."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.exports import SHARED, read_back
from helpers.scenes import go, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


def sheet(n=33, pbd=True, **settings):
    """A grid of 1 m with ridges of 1 cm; its far edge is pinned."""
    obj = scenes.add_grid("Sheet", n, n, 1.0, 1.0, pbd=pbd, **settings)
    x = places(obj)
    x[:, 2] = 0.01 * np.sin(40.0 * x[:, 0])
    obj.data.vertices.foreach_set("co", x.ravel())
    obj.data.update()
    if pbd:
        scenes.pin(obj, range(n * (n - 1), n * n))
    return obj


def places(obj):
    x = np.empty((len(obj.data.vertices), 3), np.float32)
    obj.data.vertices.foreach_get("co", x.ravel())
    return x


def make(**options):
    assert bpy.ops.object.pbd_make_proxy(**options) == {"FINISHED"}
    return bpy.context.object


def test_a_coarse_copy_is_simulated_with_all_settings_and_the_mesh_follows(extension):
    obj = sheet(stretch=3000.0, bend=1e-5)
    proxy = make(vertices=81)
    assert (proxy.name, len(proxy.data.vertices), len(proxy.data.polygons)) == ("Sheet Proxy", 81, 64)
    assert proxy.pbd.enabled and proxy.pbd.stretch == 3000.0 and not obj.pbd.enabled
    assert proxy.hide_render and not obj.hide_render
    assert proxy.vertex_groups[proxy.pbd.pin_group].name == "Pin"
    held = [v.index for v in proxy.data.vertices if v.groups]
    assert len(held) == 9 and np.allclose(places(proxy)[held, 1], 0.5)
    assert np.abs(shown(obj) - places(obj)).max() < 1e-6
    for frame in range(1, 9):
        go(frame)
    coarse, fine = shown(proxy), shown(obj)
    assert coarse[:, 2].min() < -0.2
    assert np.ptp(fine[:, 2]) == pytest.approx(np.ptp(coarse[:, 2]), abs=0.03)
    assert np.abs(fine[-33:] - places(obj)[-33:]).max() < 0.02  # the pinned edge
    # Ridges stay as high as they were, beside the surface that the coarse mesh makes.
    apart = np.linalg.norm(fine[:, None] - coarse, axis=2).min(axis=1)
    assert apart.max() < 0.1
    first = shown(obj)
    go(4)
    go(8)
    assert np.array_equal(shown(obj), first)


def test_the_mesh_is_where_the_formula_says(extension):
    obj = sheet()
    proxy = make(vertices=81)
    go(6)
    engine = extension.module("pbd_addon.meshes.proxy")
    rows = []
    for name in engine.Bound._fields:
        found = np.empty((len(obj.data.vertices), 3), np.float32)
        obj.data.attributes[f"pbd_proxy_{name}"].data.foreach_get("vector", found.ravel())
        rows.append(found)
    bound = engine.Bound(rows[0].astype(int), *rows[1:])
    mesh = proxy.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x, n = np.empty((81, 3), np.float32), np.empty((81, 3), np.float32)
    mesh.vertices.foreach_get("co", x.ravel())
    mesh.vertex_normals.foreach_get("vector", n.ravel())
    assert np.abs(engine.follow(bound, x.astype(float), n.astype(float)) - shown(obj)).max() < 1e-5


def test_a_bake_of_the_proxy_stays_with_the_mesh(extension):
    obj = sheet()
    proxy = make(vertices=25)
    bpy.context.scene.frame_end = 5
    go(1)
    bpy.ops.object.pbd_bake()
    assert proxy.pbd.baked
    go(5)
    assert shown(obj)[:, 2].min() < -0.03
    proxy.location.x = 3.0
    bpy.context.view_layer.update()
    assert shown(obj)[:, 0].min() > 2.0  # it follows the object, too


def test_an_armature_poses_the_proxy_and_not_the_mesh_twice(extension):
    obj = sheet(n=17)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Bone")
    bone.tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.vertex_groups.new(name="Bone").add(range(17 * 17), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    rig.pose.bones["Bone"].location.x = 0.25
    bpy.context.view_layer.objects.active = obj
    proxy = make(vertices=81)
    assert [modifier.name for modifier in obj.modifiers] == ["Armature", "PBD Proxy", "Subdivision"]
    assert [modifier.name for modifier in proxy.modifiers] == ["Armature", "PBD Output"]
    go(1)
    middle = shown(obj).mean(axis=0)
    assert middle[0] == pytest.approx(0.25, abs=0.01)


def test_gltf_has_the_mesh_that_follows_and_not_its_proxy(extension, tmp_path):
    obj = sheet(n=17)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    proxy = make(vertices=25)
    bpy.context.scene.frame_end = 6
    obj.modifiers["Subdivision"].show_viewport = False
    seen = {}
    for frame in range(1, 7):
        go(frame)
        seen[frame] = shown(obj)
    assert np.abs(seen[6] - seen[1]).max() > 0.05
    obj.modifiers["Subdivision"].show_viewport = True
    obj.select_set(True)
    proxy.select_set(True)
    proxy_error = proxy.pbd.reduce_error
    assert bpy.ops.object.pbd_export(format="GLTF", filepath=str(tmp_path / "sheet.glb")) == {"FINISHED"}
    assert obj.modifiers["Subdivision"].show_viewport and obj.data.shape_keys is None
    back = read_back(extension, tmp_path / "sheet.glb")
    for frame in (1, 4, 6):
        go(frame - 1)
        apart = np.linalg.norm(shown(back)[:, None] - seen[frame], axis=2)
        assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < proxy_error + SHARED, frame


def test_other_meshes_are_decimated_to_about_the_number(extension):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32)
    ball = bpy.context.object
    proxy = make(vertices=300)
    assert 200 < len(proxy.data.vertices) < 400
    assert proxy.pbd.enabled and proxy.pbd.type == "CLOTH"
    assert np.abs(shown(ball) - places(ball)).max() < 1e-5


def figure():
    """Two balls that overlap, and a shape key that lifts all by 0.5 m."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=0.2, location=(0.35, 0.0, 0.0))
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=0.3)
    obj = bpy.context.object
    for one in bpy.context.scene.objects:
        one.select_set(True)
    bpy.ops.object.join()
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Up")
    key.value = 0.0
    for point in key.data:
        point.co.z += 0.5
    obj.location = (1.0, 2.0, 3.0)
    bpy.context.view_layer.update()
    return obj


def test_a_closed_body_collides_and_follows_the_figure(extension):
    obj = figure()
    obj.pbd_collider.enabled, obj.pbd_collider.friction = True, 0.7
    solid = make(kind="COLLIDER", vertices=500)
    assert solid.pbd_collider.enabled and not obj.pbd_collider.enabled
    assert solid.pbd_collider.friction == pytest.approx(0.7)
    assert 300 < len(solid.data.vertices) < 700
    solid.data.calc_loop_triangles()
    edges = np.array([triangle.vertices[:] for triangle in solid.data.loop_triangles])
    edges = np.sort(edges[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()  # closed
    at = shown(solid)
    assert np.abs(at.max(axis=0) - [1.55, 2.3, 3.3]).max() < 0.02
    obj.data.shape_keys.key_blocks["Up"].value = 1.0
    obj.location.y = 5.0
    bpy.context.view_layer.update()
    assert np.abs(shown(solid) - at - [0.0, 3.0, 0.5]).max() < 1e-3


@pytest.mark.parametrize(
    ("prepare", "options", "says"),
    [
        ("dots", {}, "'Dots' has no faces"),
        ("dots", {"kind": "COLLIDER"}, "'Dots' has no faces"),
        ("small", {}, "has 25 vertices, no more than the proxy"),
        ("twice", {"vertices": 9}, "follows a proxy already"),
        ("roped", {"vertices": 9}, "has loose edges"),
        ("array", {"vertices": 9}, "Modifier 'Array' of 'Flag' changes the number of vertices"),
        ("remesh", {"vertices": 9, "kind": "COLLIDER"}, "Modifier 'Remesh' of 'Flag' changes the number of vertices"),
        ("point", {"vertices": 4}, "no faces with an area"),
        ("point", {"vertices": 9, "kind": "COLLIDER"}, "no volume"),
    ],
)
def test_what_has_no_proxy_is_said_and_stays(extension, prepare, options, says):
    if prepare == "dots":
        obj = scenes.add_mesh("Dots", [(0, 0, 0), (1, 0, 0)], [], pbd=False)
    else:
        obj = scenes.add_grid(rx=5, ry=5, pbd=prepare != "point")
    if prepare == "twice":
        make(vertices=9)
        bpy.context.view_layer.objects.active = obj
    elif prepare == "roped":
        obj.data.vertices.add(1)
        obj.data.edges.add(1)
        obj.data.edges[-1].vertices = (0, 25)
    elif prepare == "array":
        obj.modifiers.new("Array", "ARRAY")
        obj.modifiers.new("Wave", "WAVE")
    elif prepare == "remesh":
        obj.modifiers.new("Remesh", "REMESH")
    elif prepare == "point":
        obj.data.vertices.foreach_set("co", np.zeros(75))
    before = [len(some) for some in (bpy.data.objects, bpy.data.meshes, bpy.data.node_groups)]
    enabled = obj.pbd.enabled
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.object.pbd_make_proxy(**options)
    assert says in str(caught.value)
    assert [len(some) for some in (bpy.data.objects, bpy.data.meshes, bpy.data.node_groups)] == before
    assert obj.pbd.enabled == enabled
