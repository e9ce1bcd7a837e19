"""Creases in Blender: set and cleared in Edit Mode, kept as attributes, and folded by the simulation."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

import bmesh  # isort: skip  # after bpy, which brings it

pytestmark = pytest.mark.usefixtures("few_substeps")

ANGLE, STIFFNESS = "pbd_crease_angle", "pbd_crease_stiffness"


def add_sheet(columns=12, **settings):
    """Blender's own grid of 0.24 m without gravity, as new cloth."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=columns, y_subdivisions=4, size=0.24)
    sheet = bpy.context.object
    sheet.pbd.enabled = True
    sheet.pbd.drag, sheet.pbd.damping = 2.0, 10.0
    for name, value in settings.items():
        setattr(sheet.pbd, name, value)
    bpy.context.scene.use_gravity = False
    scenes.let_through()
    return sheet


def columns_of(obj):
    """The edges along y that have two faces, by their x."""
    points = np.array([vertex.co for vertex in obj.data.vertices])
    found = {}
    for edge in obj.data.edges:
        one, other = points[list(edge.vertices)]
        if abs(one[0] - other[0]) < 1e-6 and abs(one[0]) < 0.12 - 1e-6:
            found.setdefault(round(float(one[0]), 4), []).append(edge.index)
    return [found[x] for x in sorted(found)]


def select(obj, edges):
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = np.zeros(len(obj.data.edges), bool)
    chosen[edges] = True
    for part in (obj.data.vertices, obj.data.polygons):
        part.foreach_set("select", np.zeros(len(part), bool))
    obj.data.edges.foreach_set("select", chosen)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.scene.tool_settings.mesh_select_mode = (False, True, False)


def crease(obj, edges, **options):
    select(obj, edges)
    bpy.ops.object.pbd_set_crease(**options)
    bpy.ops.object.mode_set(mode="OBJECT")


def angles(obj):
    """What Blender calls the signed angle of each edge, where it has two faces, degrees."""
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    to_mesh = np.array(obj.matrix_world.inverted())[:3, :3]
    for vertex, place in zip(mesh.verts, shown(obj) @ to_mesh.T, strict=True):
        vertex.co = place
    mesh.normal_update()
    found = np.array([np.degrees(edge.calc_face_angle_signed(0.0)) for edge in mesh.edges])
    mesh.free()
    return found


def values(obj, name):
    found = np.empty(len(obj.data.edges), np.float32)
    obj.data.attributes[name].data.foreach_get("value", found)
    return found


@pytest.mark.parametrize("bend", [1e-5, 1e-3])
def test_a_sheet_folds_as_blender_measures_it(extension, bend):
    """With hinges and as a plate, a ridge and a valley."""
    sheet = add_sheet(bend=bend)
    rows = columns_of(sheet)
    crease(sheet, rows[3], angle=np.radians(60.0))
    crease(sheet, rows[8], angle=np.radians(-90.0), stiffness=2.0)
    go(1)
    play([sheet], 2, 60)
    found = angles(sheet)
    np.testing.assert_allclose(found[rows[3]], 60.0, atol=0.5)
    np.testing.assert_allclose(found[rows[8]], -90.0, atol=0.5)
    assert np.abs(np.delete(found, rows[3] + rows[8])).max() < 0.5


def test_a_mirrored_object_folds_to_the_same_side(extension):
    """Blender measures the mesh in object space, where a ridge stays a ridge."""
    sheet = add_sheet(bend=1e-3)
    sheet.scale = (-1.0, 1.0, 1.0)
    rows = columns_of(sheet)
    crease(sheet, rows[5], angle=np.radians(60.0))
    go(1)
    play([sheet], 2, 60)
    np.testing.assert_allclose(angles(sheet)[rows[5]], 60.0, atol=0.5)


def test_rows_alternate_and_are_cleared(extension):
    sheet = add_sheet()
    rows = columns_of(sheet)
    every_other = np.array(rows[0::2])
    crease(sheet, every_other.ravel(), angle=1.0, stiffness=3.0, alternate=True)
    sides = np.sign([values(sheet, ANGLE)[row].mean() for row in every_other])
    np.testing.assert_array_equal(sides, sides[0] * (-1.0) ** np.arange(len(every_other)))
    np.testing.assert_allclose(np.abs(values(sheet, ANGLE)[every_other.ravel()]), 1.0)
    assert (values(sheet, STIFFNESS) > 0.0).sum() == every_other.size
    select(sheet, every_other[0])
    bpy.ops.object.pbd_clear_crease()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not values(sheet, STIFFNESS)[every_other[0]].any()
    assert (values(sheet, STIFFNESS) > 0.0).sum() == every_other[1:].size


@pytest.mark.parametrize(("around", "works"), [(8, True), (2, True), (3, False)])
def test_rows_alternate_around_a_tube(extension, around, works):
    bpy.ops.mesh.primitive_cylinder_add(vertices=24, radius=0.2, depth=0.3, end_fill_type="NOTHING")
    tube = bpy.context.object
    tube.pbd.enabled = True
    ends = np.array([[tube.data.vertices[one].co for one in edge.vertices] for edge in tube.data.edges])
    upright = np.flatnonzero(np.abs(ends[:, 0, 2] - ends[:, 1, 2]) > 0.1)
    order = upright[np.argsort(np.arctan2(ends[upright, 0, 0], ends[upright, 0, 1]))]
    chosen = order[:: 24 // around]
    select(tube, chosen)
    if not works:
        with pytest.raises(RuntimeError, match="cannot alternate: three of them meet, or their number is odd"):
            bpy.ops.object.pbd_set_crease(alternate=True)
        return
    bpy.ops.object.pbd_set_crease(alternate=True)
    bpy.ops.object.mode_set(mode="OBJECT")
    sides = np.sign(values(tube, ANGLE)[chosen])
    np.testing.assert_array_equal(sides, sides[0] * (-1.0) ** np.arange(around))


def test_setting_a_crease_is_undone(extension):
    sheet = add_sheet()
    row = columns_of(sheet)[5]
    select(sheet, row)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.pbd_set_crease(angle=1.0)
    bpy.ops.ed.undo_push(message="creased")
    bpy.ops.ed.undo()
    bpy.ops.object.mode_set(mode="OBJECT")
    obj = bpy.context.object
    assert ANGLE not in obj.data.attributes or not values(obj, ANGLE).any()


def test_an_edited_attribute_starts_anew_at_the_first_frame(extension):
    sheet = add_sheet()
    row = columns_of(sheet)[5]
    crease(sheet, row, angle=0.5)
    session = extension.bridge("timeline.session")
    go(1)
    play([sheet], 2, 6)
    assert session.valid_frames(bpy.context.scene) == (1, 6)
    go(1)
    for at in row:
        sheet.data.attributes[ANGLE].data[at].value = -0.5
    sheet.data.update()
    go(1)
    go(2)
    assert session.valid_frames(bpy.context.scene) == (1, 2)


def test_the_disk_cache_knows_the_creases(extension, tmp_path):
    sheet = add_sheet()
    row = columns_of(sheet)[5]
    crease(sheet, row, angle=0.5)
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "sheet.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    go(1)
    play([sheet], 2, 4)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    session = extension.bridge("timeline.session")
    assert session.get(bpy.context.scene).disk_note == ""
    assert session.valid_frames(bpy.context.scene) == (1, 4)
    again = bpy.context.object
    again.data.attributes[ANGLE].data[row[0]].value = 0.4
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    note = session.get(bpy.context.scene).disk_note
    assert note.startswith("The cache on disk does not fit: the mesh, Output, Rest Shape, Initial Velocity or Layer of")


def spoil(obj, kind):
    attributes, edge = obj.data.attributes, columns_of(obj)[5][0]
    if kind in ("NaN", "200°", "negative"):
        crease(obj, [edge], angle=1.0)
        values = {"NaN": (ANGLE, np.nan), "200°": (ANGLE, np.radians(200.0)), "negative": (STIFFNESS, -1.0)}
        name, value = values[kind]
        obj.data.attributes[name].data[edge].value = value
    else:
        attributes.new(STIFFNESS, "FLOAT", "POINT") if kind == "points" else attributes.new(STIFFNESS, "INT", "EDGE")


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("NaN", "has a crease of nan° with stiffness 1: set or clear it again"),
        ("200°", "has a crease of 200° with stiffness 1: set or clear it again"),
        ("negative", "has a crease of 57.2958° with stiffness -1: set or clear it again"),
        ("points", "Attribute 'pbd_crease_stiffness' of 'Grid' must hold a float for each edge: remove or rename it"),
        ("integers", "Attribute 'pbd_crease_stiffness' of 'Grid' must hold a float for each edge: remove or rename it"),
    ],
)
def test_wrong_attributes_are_told(extension, kind, sentence):
    sheet = add_sheet()
    spoil(sheet, kind)
    go(1)
    go(2)
    assert sentence in extension.bridge("timeline.session").get(bpy.context.scene).message


def test_nothing_selected_is_told(extension):
    sheet = add_sheet()
    select(sheet, [])
    for operator in (bpy.ops.object.pbd_set_crease, bpy.ops.object.pbd_clear_crease):
        with pytest.raises(RuntimeError, match="Select the edges to crease first, edges between two faces"):
            operator()
