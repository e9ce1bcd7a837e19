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
def test_the_top_border_is_pinned(which):
    _, _, garment = make(which)
    heights = shown(garment)[:, 2]
    held = pinned(garment)
    assert len(held) >= 8 and heights[held].mean() > np.quantile(heights, 0.75)


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
    assert "faces at its borders left out: there was no room for them" in capfd.readouterr().out


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
