"""Add > Mesh > Balloon from Text: flat foil letters that fill up."""

import contextlib

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from helpers.meshes import circle


@pytest.fixture(autouse=True)
def short_scene(extension):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 60
    scene.frame_set(1)
    return scene


def add(**options):
    assert bpy.ops.mesh.primitive_pbd_balloon_text_add(**options) == {"FINISHED"}
    return bpy.context.object


def curve_object(*loops, closed=True):
    """A curve object of straight runs between points (k, 2), active and selected."""
    data = bpy.data.curves.new("Drawn", "CURVE")
    data.dimensions = "2D"
    for loop in loops:
        spline = data.splines.new("POLY")
        spline.points.add(len(loop) - 1)
        spline.points.foreach_set("co", np.column_stack([loop, np.zeros(len(loop)), np.ones(len(loop))]).ravel())
        spline.use_cyclic_u = closed
    obj = bpy.data.objects.new("Drawn", data)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def arrays(obj):
    """Vertices (n, 3), edges (e, 2), triangles (t, 3), and how many faces each edge has, (e,)."""
    mesh = obj.data
    x, edges, triangles = np.empty((len(mesh.vertices), 3)), np.empty((len(mesh.edges), 2), int), []
    mesh.vertices.foreach_get("co", x.ravel())
    mesh.edges.foreach_get("vertices", edges.ravel())
    triangles = np.array([face.vertices[:] for face in mesh.polygons])
    keys = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1) @ [len(x), 1]
    counts = (keys[:, None] == np.sort(edges, axis=1) @ [len(x), 1]).sum(axis=0)
    return x, edges, triangles, counts


def islands(obj):
    """Connected pieces of a mesh with a face."""
    parent = np.arange(len(obj.data.vertices))
    for _ in range(len(parent)):
        before = parent.copy()
        for one, other in (edge.vertices for edge in obj.data.edges):
            parent[one] = parent[other] = min(parent[one], parent[other])
        if np.array_equal(parent, before):
            return len(np.unique(parent))
    raise AssertionError


def volume(obj, x):
    """Enclosed by the triangles, outward, at x (n, 3) [m³]."""
    a, b, c = (x[[face.vertices[k] for face in obj.data.polygons]] for k in range(3))
    return float(np.einsum("ij,ij->", np.cross(a, b), c)) / 6.0


def shown(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", x.ravel())
    return x.astype(float)


def test_letters_are_two_sheets_that_are_one_at_the_outline():
    """Closed, an island a letter, holes as the letters have them, and no edge from rim to rim but the rim's."""
    obj = add(text="PBD", size=0.5)
    x, edges, triangles, counts = arrays(obj)
    assert (counts == 2).all() and islands(obj) == 3
    assert len(x) - len(edges) + len(triangles) == -2  # P and D are rings, B has two holes
    is_rim = np.abs(x[:, 1]) < 1e-6  # each sheet is a little off the plane
    both = is_rim[edges].all(axis=1)
    lengths = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
    assert np.bincount(edges[both].ravel(), minlength=len(x))[is_rim].max() == 2
    assert 0.009 < np.median(lengths) < 0.025 and lengths.min() > 0.1 * np.median(lengths)
    assert volume(obj, x) > 0.0
    assert np.ptp(x[:, 2]) > 0.3 > 0.01 > np.ptp(x[:, 1])  # upright
    assert (obj.pbd.type, obj.pbd.preset, obj.pbd.pressure_mode) == ("BALLOON", "Foil Balloon", "OVERPRESSURE")


def test_letters_fill_up_and_are_calm():
    obj = add(text="L", size=0.5)
    speeds, before = [], None
    for frame in range(1, 49):
        bpy.context.scene.frame_set(frame)
        x = shown(obj)
        speeds.append(0.0 if before is None else 24.0 * np.sqrt(((x - before) ** 2).sum(axis=1).mean()))
        before = x
    stroke = 0.07
    assert obj.pbd.overpressure == pytest.approx(1000.0)
    assert max(speeds) < 0.5 and speeds[-1] < 0.02
    assert 0.4 * stroke < np.ptp(x[:, 1]) < 0.9 * stroke
    assert np.ptp(x[:, 2]) > 0.3


@pytest.mark.slow
def test_a_letter_that_falls_comes_to_rest():
    """From half a meter onto the floor: below 1 cm/s after 3 s."""
    scene = bpy.context.scene
    obj = add(text="L", size=0.5, cells=3, hold="FALL")
    scene.frame_end, scene.pbd.use_floor = 80, True
    obj.location.z += 0.5 - shown(obj)[:, 2].min()
    for frame in range(1, 74):
        before = shown(obj)
        scene.frame_set(frame)
    x = shown(obj)
    assert np.ptp(x, axis=0).min() > 0.03  # filled, and flat on the floor
    assert 24.0 * np.sqrt(((x - before) ** 2).sum(axis=1).mean()) < 0.01


def test_a_drawn_ring_is_one_balloon_with_a_hole():
    """From a curve, wherever it stands and however its loops run; the curve is hidden, and its scale counts."""
    source = curve_object(circle(1.0, 48)[:, :2], circle(0.5, 32)[:, :2])
    source.matrix_world = Matrix.Translation((1.0, 2.0, 3.0)) @ Matrix.Rotation(0.7, 4, "Y") @ Matrix.Scale(0.2, 4)
    bpy.context.view_layer.update()
    obj = add(from_selected=True)
    x, edges, triangles, counts = arrays(obj)
    assert len(x) - len(edges) + len(triangles) == 0 and (counts == 2).all() and islands(obj) == 1
    away = np.linalg.norm(x, axis=1)
    assert away.max() == pytest.approx(0.2, abs=1e-3) and away.min() > 0.095
    assert tuple(obj.matrix_world.translation) == pytest.approx((1.0, 2.0, 3.0))
    normal = np.array(source.matrix_world.to_3x3().normalized() @ Matrix.Identity(3).col[2])
    assert np.abs(x @ normal).max() < 0.003
    assert source.hide_render and not source.visible_get() and volume(obj, x) > 0.0


def test_letters_keep_their_shape():
    """Without what keeps it, this U closes: its arms are 15 cm off."""
    obj = add(text="U", cells=3)
    start = shown(obj)
    for frame in range(1, 37):
        bpy.context.scene.frame_set(frame)
    x = shown(obj)
    rim = np.abs(start[:, 1]) < 1e-6
    assert np.linalg.norm(x - start, axis=1)[rim].max() < 0.03
    assert np.ptp(x[:, 1]) > 0.04


def test_letters_hang_and_have_strings():
    """Each from two points, which stay; a string below each moves with it."""
    obj = add(text="Hi", hold="HANG", string=0.3)
    _, _, _, counts = arrays(obj)
    group = obj.vertex_groups[obj.pbd.pin_group].index
    pinned = [vertex.index for vertex in obj.data.vertices if any(g.group == group for g in vertex.groups)]
    start = shown(obj)
    assert len(pinned) == 2 * 3 and (counts == 0).sum() == 3 * 12  # H, i, its dot
    assert np.ptp(start[:, 2]) > 0.6
    for frame in range(1, 25):
        bpy.context.scene.frame_set(frame)
    x = shown(obj)
    np.testing.assert_allclose(x[pinned], start[pinned], atol=1e-6)
    assert 0.01 < np.abs(x - start).max() < 0.2  # a free fall of a second is 5 m


def test_a_neck_hangs_from_the_lowest_place_of_each_letter():
    """It is as long as asked for, of the letter's own foil, and not where there are holes or second feet."""
    plain = arrays(add(text="MO", size=0.5))[0]
    obj = add(text="MO", size=0.5, neck=0.04)
    x, _, _, counts = arrays(obj)
    assert (counts == 2).all() and islands(obj) == 2
    for side in (-1.0, 1.0):
        foot = plain[side * plain[:, 0] > 0.0, 2].min()
        neck = x[(side * x[:, 0] > 0.0) & (x[:, 2] < foot - 0.01)]
        assert foot - neck[:, 2].min() == pytest.approx(0.04, abs=0.002)
        assert 0.015 < np.ptp(neck[:, 0]) < 0.035


def test_a_flange_stands_out_from_the_seam():
    """A strip around the letter, as wide as asked for, in its plane, while it is flat and when it is not."""
    obj = add(text="I", size=0.5, flange=0.006)
    count = len(obj.data.vertices)
    rim = np.abs(shown(obj)[:count, 1]) < 1e-6
    for frame in (1, 24):
        for at in range(bpy.context.scene.frame_current, frame + 1):
            bpy.context.scene.frame_set(at)
        x = shown(obj)
        assert len(x) == count + np.count_nonzero(rim)
        inner, outer = x[:count][rim], x[count:]
        apart = np.linalg.norm(outer[:, None] - inner, axis=2).min(axis=1)
        assert np.median(apart) == pytest.approx(0.006, rel=0.1)
        assert np.ptp(outer[:, [0, 2]], axis=0) - np.ptp(inner[:, [0, 2]], axis=0) == pytest.approx(0.012, abs=0.004)
    assert np.ptp(x[:count, 1]) > 0.03 > 0.01 > np.ptp(outer[:, 1])
    assert len(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.polygons) > len(obj.data.polygons)


@pytest.mark.parametrize(
    ("options", "source", "said"),
    [
        ({"text": "  "}, None, "There is no text"),
        ({"from_selected": True}, None, "There is no text or curve"),
        ({"from_selected": True}, "open", "'Drawn' has an open curve"),
        ({"from_selected": True}, "empty", "'Drawn' encloses nothing"),
    ],
)
def test_bad_input_is_one_sentence(options, source, said):
    for obj in list(bpy.context.selected_objects):
        obj.select_set(False)
    bpy.context.view_layer.objects.active = None
    if source:
        curve_object(*([circle(1.0, 12)[:, :2]] if source == "open" else []), closed=source != "open")
    count = len(bpy.data.meshes), len(bpy.data.curves), len(bpy.data.objects)
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.mesh.primitive_pbd_balloon_text_add(**options)
    assert (len(bpy.data.meshes), len(bpy.data.curves), len(bpy.data.objects)) == count


def test_faces_that_overlap_have_a_closed_outline(extension, monkeypatch):
    """Some builds of Blender fill letters so: three times the same face, beside another one."""
    outlines = extension.bridge("scene.outlines")
    corners = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.1, 0.5, 0.0), (0.0, 0.5, 0.0)]

    @contextlib.contextmanager
    def filled(_curve):
        mesh = bpy.data.meshes.new("I")
        mesh.from_pydata(corners, [], [(0, 1, 2), (0, 1, 2), (0, 1, 2), (0, 2, 3)])
        yield mesh

    monkeypatch.setattr(outlines, "_as_mesh", filled)
    (found,) = outlines.of_text("I", 0.5, 0.0)
    assert sorted(found.round(6).tolist()) == sorted([list(corner[:2]) for corner in corners])
