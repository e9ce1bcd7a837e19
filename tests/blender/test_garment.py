"""A garment from the selected faces of a figure: it fits, follows the rig, and is cloth."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from helpers import scenes
from helpers.figures import add_figure, crossings, select_faces, tree
from helpers.scenes import go, shown

pytestmark = pytest.mark.usefixtures("extension", "few_substeps")

GARMENTS = {
    "tunic": (lambda x, _y, z: 0.9 < z < 1.45 and abs(x) < 0.2, {}),
    "skirt": (lambda _x, _y, z: 0.95 < z < 1.1, {"length": 0.5}),
    "sleeve": (lambda x, _y, z: x > 0.2 and 1.0 < z, {}),
}


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def make(which="tunic", **options):
    """The figure, its rig and a garment."""
    figure, rig = add_figure()
    go(1)
    fits, usual = GARMENTS[which]
    assert select_faces(figure, fits) > 10
    assert bpy.ops.mesh.pbd_garment_from_selection(**(usual | options)) == {"FINISHED"}
    return figure, rig, bpy.context.object


def distances(garment, figure):
    """How far the vertices of a garment are from a figure, (n,) [m]."""
    surface = tree(figure)[0]
    return np.array([surface.find_nearest(point.tolist())[3] for point in shown(garment)])


def pinned(obj):
    group = obj.vertex_groups[obj.pbd.pin_group].index
    return [vertex.index for vertex in obj.data.vertices if any(one.group == group for one in vertex.groups)]


@pytest.mark.parametrize("which", GARMENTS)
def test_it_fits(which):
    """Nothing crosses, counted by Blender's own BVH; all keeps what contact keeps, and most the distance."""
    figure, _, garment = make(which)
    assert crossings(garment, figure) == crossings(garment, garment) == 0
    away = distances(garment, figure)
    assert away.min() > 0.003
    assert 0.008 < np.median(away) < (0.2 if which == "skirt" else 0.02)
    assert garment.pbd.enabled and garment.pbd.type == "CLOTH" and figure.pbd_collider.enabled
    assert bpy.context.mode == "OBJECT" and bpy.context.selected_objects == [garment]


@pytest.mark.parametrize("which", GARMENTS)
def test_a_figure_of_triangles_gives_an_even_garment(which):
    """Figures of other programs are of long triangles: edges become alike, borders straight, and weights go along."""
    import bmesh

    figure, _ = add_figure()
    geometry = bmesh.new()
    geometry.from_mesh(figure.data)
    bmesh.ops.triangulate(geometry, faces=geometry.faces[:])
    geometry.to_mesh(figure.data)
    geometry.free()
    go(1)
    fits, options = GARMENTS[which]
    select_faces(figure, fits)
    bpy.ops.mesh.pbd_garment_from_selection(**options)
    garment = bpy.context.object
    assert crossings(garment, figure) == crossings(garment, garment) == 0
    places, edges = shown(garment), np.array([edge.vertices[:] for edge in garment.data.edges])
    lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
    low, high = np.quantile(lengths, (0.02, 0.98))
    assert high < 3.0 * low and 700 < len(places) < 1400
    bones = {group.index for group in garment.vertex_groups if group.name != garment.pbd.pin_group}
    assert all(any(one.group in bones for one in vertex.groups) for vertex in garment.data.vertices)


def test_nothing_is_raised_around_an_arm():
    """What is between a chest and an arm that goes into it has no room: there is a hole."""
    import bmesh

    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=0.2, depth=1.0)
    figure = bpy.context.object
    geometry = bmesh.new()
    geometry.from_mesh(figure.data)
    upright = [edge for edge in geometry.edges if abs(edge.verts[0].co.z - edge.verts[1].co.z) > 0.5]
    bmesh.ops.subdivide_edges(geometry, edges=upright, cuts=20, use_grid_fill=True)
    arm = Matrix.Translation((0.24, 0.0, 0.0)) @ Matrix.Rotation(-0.2, 4, "Y")  # from the chest outward
    bmesh.ops.create_cone(geometry, cap_ends=True, segments=24, radius1=0.06, radius2=0.06, depth=0.6, matrix=arm)
    geometry.to_mesh(figure.data)
    geometry.free()
    select_faces(figure, lambda x, y, z: abs(z) < 0.4 and x * x + y * y < 0.2001**2)
    bpy.ops.mesh.pbd_garment_from_selection()
    garment = bpy.context.object
    far = np.hypot(*shown(garment)[:, :2].T)
    assert (far > 0.22).sum() < 60
    assert crossings(garment, figure) == crossings(garment, garment) == 0


@pytest.mark.parametrize("which", GARMENTS)
def test_the_top_border_is_pinned(which):
    _, _, garment = make(which)
    heights = shown(garment)[:, 2]
    held = pinned(garment)
    assert len(held) >= 8 and heights[held].mean() > np.quantile(heights, 0.75)


def test_its_options_can_be_changed_afterwards():
    """Blender shows the panel at the lower left only while the operator could be used again."""
    figure, _ = add_figure()
    select_faces(figure, GARMENTS["skirt"][0])
    bpy.ops.ed.undo_push()
    bpy.ops.mesh.pbd_garment_from_selection("EXEC_DEFAULT", True)
    assert bpy.context.mode == "OBJECT" and bpy.ops.mesh.pbd_garment_from_selection.poll()
    with pytest.raises(RuntimeError, match="Select the faces"):
        bpy.ops.mesh.pbd_garment_from_selection()
    bpy.ops.object.pbd_reset("EXEC_DEFAULT", True)
    assert not bpy.ops.mesh.pbd_garment_from_selection.poll()


def test_faces_that_were_selected_by_mistake_are_told(capfd):
    """A hand hangs beside the hips, and a box selects both."""
    figure, _ = add_figure()
    select_faces(figure, lambda x, y, z: GARMENTS["sleeve"][0](x, y, z) or (-0.15 < x < 0.15 and z > 1.5))
    bpy.ops.mesh.pbd_garment_from_selection()
    assert "in 2 pieces: undo and deselect" in capfd.readouterr().out


def test_nothing_is_pinned_by_choice():
    assert not make("sleeve", pin="NONE")[2].pbd.pin_group


def test_it_follows_the_rig_before_it_is_simulated():
    """A copy without PBD goes with the figure: the sleeve stays where it was on its arm."""
    figure, _, garment = make("sleeve")
    garment.pbd.active = False
    before = distances(garment, figure)
    start = shown(garment)
    go(12)
    assert np.abs(shown(garment) - start).max() > 0.1
    assert np.quantile(np.abs(distances(garment, figure) - before), 0.9) < 0.01


def test_the_figure_stays_as_it_was():
    figure, _ = add_figure()
    go(1)
    before = scenes.mesh_bytes(figure)
    modifiers = [one.name for one in figure.modifiers]
    select_faces(figure, GARMENTS["tunic"][0])
    bpy.ops.mesh.pbd_garment_from_selection()
    assert scenes.mesh_bytes(figure) == before and [one.name for one in figure.modifiers] == modifiers


def test_it_plays_calmly(session):
    """It begins unstrained in the pose, and nothing goes through the figure while that walks."""
    figure, _, garment = make("tunic")
    start = shown(garment)
    go(1)
    assert np.abs(shown(garment) - start).max() < 1e-5
    for frame in range(2, 5):
        go(frame)
        assert not session.get(bpy.context.scene).message
    report = session.get(bpy.context.scene).report
    assert report.strain_p95 < 0.05 and report.strain_max < 0.5  # the largest is that of slivers
    assert crossings(garment, figure) == 0


def test_a_skirt_hangs_down_by_its_length():
    short, long = (np.ptp(shown(make("skirt", length=length)[2])[:, 2]) for length in (0.0, 0.5))
    assert abs(long - short - 0.5) < 0.02


def test_a_rig_that_turns_the_mesh_over_knows_what_is_down():
    """What hangs down in the pose, not in the mesh: imported figures lie on their back before their rig."""
    upright = np.ptp(shown(make("skirt")[2])[:, 2])
    bpy.ops.wm.read_homefile(use_empty=True)
    figure, rig = add_figure()
    matrix = np.array(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))
    chosen = [GARMENTS["skirt"][0](*polygon.center) for polygon in figure.data.polygons]
    figure.data.transform(matrix.T)
    rig.data.transform(matrix.T)
    rig.matrix_world = matrix.tolist()
    numbers = iter(chosen)
    go(1)
    select_faces(figure, lambda *_center: next(numbers))
    bpy.ops.mesh.pbd_garment_from_selection(length=0.5)
    garment = bpy.context.object
    assert abs(np.ptp(shown(garment)[:, 2]) - upright) < 0.02
    assert crossings(garment, figure) == 0


def test_it_ends_where_there_is_no_room(capfd):
    """Arms that hang at the sides leave none below the armpits."""
    figure, rig = add_figure()
    rig.animation_data_clear()
    bpy.context.view_layer.update()
    for side, sign in (("L", 1), ("R", -1)):
        arm = rig.pose.bones[f"Elbow.{side}"]
        shoulder = Matrix.Translation(arm.head)
        arm.matrix = shoulder @ Matrix.Rotation(sign * 0.18, 4, "Y") @ shoulder.inverted() @ arm.matrix
    go(1)
    select_faces(figure, GARMENTS["tunic"][0])
    bpy.ops.mesh.pbd_garment_from_selection()
    garment = bpy.context.object
    assert crossings(garment, figure) == 0
    assert "faces left out: there was no room for them" in capfd.readouterr().out


def test_one_undo_step():
    figure, _ = add_figure()
    go(1)
    select_faces(figure, GARMENTS["tunic"][0])
    bpy.ops.ed.undo_push(message="Before")
    count = len(bpy.data.objects)
    bpy.ops.mesh.pbd_garment_from_selection()
    bpy.ops.ed.undo_push(message="Garment")  # In the background, operators that scripts call push none.
    assert len(bpy.data.objects) == count + 1
    bpy.ops.ed.undo()
    figure = bpy.data.objects["Figure"]
    assert len(bpy.data.objects) == count and figure.mode == "EDIT" and not figure.pbd_collider.enabled


def refused(message, **options):
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.mesh.pbd_garment_from_selection(**options)


def test_refusals():
    figure, _ = add_figure()
    bpy.context.view_layer.objects.active = figure
    refused("Select faces of a figure in Edit Mode")
    select_faces(figure, lambda *_center: False)
    refused("Select the faces that the garment is to cover first")
    bpy.ops.object.mode_set(mode="OBJECT")
    figure.modifiers.new("Half", "MIRROR")
    select_faces(figure, GARMENTS["tunic"][0])
    refused("'Half' makes half of 'Figure'")
    assert len(bpy.data.objects) == 2 and figure.mode == "EDIT"


def test_a_proxy_of_the_figure_is_made_by_choice():
    """It follows the rig, and cloth meets it in the figure's place."""
    figure, _, garment = make("tunic", proxy=True)
    (proxy,) = [obj for obj in bpy.context.scene.objects if obj.pbd_collider.enabled]
    assert proxy.name == f"{figure.name} Proxy" and bpy.context.object == garment
    before = shown(proxy)
    for frame in range(2, 5):
        go(frame)
    assert np.abs(shown(proxy) - before).max() > 0.001


def test_a_figure_that_goes_through_itself_is_told_of_the_proxy(capfd):
    figure, _ = add_figure()
    go(1)
    select_faces(figure, GARMENTS["tunic"][0])
    bpy.ops.mesh.pbd_garment_from_selection()
    is_clean = "tick Collider Proxy" not in capfd.readouterr().out
    bpy.ops.wm.read_homefile(use_empty=True)
    figure, _ = add_figure()
    bpy.context.view_layer.objects.active = figure
    bpy.ops.object.mode_set(mode="OBJECT")
    count = len(figure.data.vertices)
    tongue = [figure.data.vertices[at].index for at in range(count) if figure.data.vertices[at].co.x > 0.3]
    for at in tongue[:3]:
        figure.data.vertices[at].co.x = -0.5
    select_faces(figure, GARMENTS["skirt"][0])
    bpy.ops.mesh.pbd_garment_from_selection(length=0.1)
    assert "goes through itself" in capfd.readouterr().out
    assert is_clean


def add_rigged_person():
    """A person of metaballs along the bones of Blender's own meta-rig, weighted by Blender."""
    bpy.ops.object.armature_human_metarig_add()
    rig = bpy.context.object
    balls = bpy.data.metaballs.new("Balls")
    balls.resolution = 0.04
    lump = bpy.data.objects.new("Lump", balls)
    bpy.context.scene.collection.objects.link(lump)
    thick = {
        "spine": 0.24,
        "thigh": 0.15,
        "shin": 0.11,
        "foot": 0.11,
        "shoulder": 0.11,
        "upper_arm": 0.11,
        "hand": 0.11,
    }
    for bone in rig.data.bones:
        radius = thick.get(bone.name.partition(".")[0])
        for share in np.linspace(0.0, 1.0, 6) if radius else ():
            ball = balls.elements.new()
            ball.co, ball.radius = bone.head_local.lerp(bone.tail_local, float(share)), radius
    bpy.context.view_layer.update()
    mesh = bpy.data.meshes.new_from_object(lump.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    bpy.data.objects.remove(lump)
    person = bpy.data.objects.new("Person", mesh)
    bpy.context.scene.collection.objects.link(person)
    person.select_set(True)
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    arm = rig.pose.bones["upper_arm.L"]
    arm.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (12, 0.5)):
        arm.rotation_euler.z = angle
        arm.keyframe_insert("rotation_euler", frame=frame)
    return person


@pytest.mark.slow
def test_a_person_on_blenders_own_meta_rig_is_dressed():
    bpy.ops.preferences.addon_enable(module="rigify")
    try:
        person = add_rigged_person()
        go(1)
        bpy.context.view_layer.objects.active = person
        assert select_faces(person, lambda x, _y, z: 0.9 < z < 1.1 and abs(x) < 0.25) > 100
        bpy.ops.mesh.pbd_garment_from_selection(length=0.4)
        skirt = bpy.context.object
        assert crossings(skirt, person) == crossings(skirt, skirt) == 0
        for frame in range(2, 6):
            go(frame)
        assert crossings(skirt, person) == 0
    finally:
        bpy.ops.preferences.addon_disable(module="rigify")
