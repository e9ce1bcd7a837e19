"""File > Import > Sewing Pattern: what the scene has afterwards, that it sews, and that bad files leave nothing."""

import json

import bpy
import numpy as np
import pytest

from helpers.scenes import play

pytestmark = pytest.mark.usefixtures("few_substeps")


def panel(corners, **more):
    edges = [{"endpoints": [k, (k + 1) % len(corners)]} for k in range(len(corners))]
    return {"vertices": corners, "edges": edges, "translation": [0, 0, 0], "rotation": [0, 0, 0], **more}


def tube(half=20):
    """Front and back of a tube, 40 cm wide [cm]; edge 3 of the front has a label."""
    square = [[-half, 0], [half, 0], [half, 30], [-half, 30]]
    front = panel(square, translation=[0, 10, 10])
    front["edges"][2]["label"] = "waist"
    back = panel(square, translation=[0, 10, -10], rotation=[0, 180, 0])
    sides = [(1, 3), (3, 1)]
    stitches = [[{"panel": "front", "edge": a}, {"panel": "back", "edge": b}] for a, b in sides]
    return {
        "pattern": {"panels": {"front": front, "back": back}, "stitches": stitches},
        "properties": {"units_in_meter": 100},
    }


DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400mm" height="300mm" viewBox="0 0 400 300">'
    '<path id="left" d="M10 10h100v200h-100z"/><circle id="pocket" cx="60" cy="250" r="20"/>'
    '<path id="right" d="M210 10h100v200h-100z"/>'
    '<text x="112" y="100">A</text><text x="208" y="100">A</text></svg>'
)


@pytest.fixture
def write(tmp_path):
    def write(content, name="tube_specification.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    return write


def load(path, edge=0.05):
    """Import a file; returns the new object."""
    assert bpy.ops.object.pbd_import_pattern(filepath=path, edge=edge) == {"FINISHED"}
    return bpy.context.object


def ids(obj, group):
    index = obj.vertex_groups[group].index
    return [v.index for v in obj.data.vertices if any(one.group == index for one in v.groups)]


def test_panels_come_as_cloth_in_their_places_with_seams_groups_and_uvs(extension, write):
    bpy.context.scene.cursor.location = (5.0, 5.0, 5.0)
    obj = load(write(tube()))
    assert obj.name == "tube" and obj.pbd.enabled and obj.pbd.type == "CLOTH" and obj.pbd.sewing and obj.pbd.sew_first
    x = np.array([obj.matrix_world @ v.co for v in obj.data.vertices])
    assert np.allclose([x.min(axis=0), x.max(axis=0)], [[-0.2, -0.1, 0.1], [0.2, 0.1, 0.4]], atol=1e-6)
    assert [group.name for group in obj.vertex_groups] == ["front", "waist", "back"]
    assert np.allclose(x[ids(obj, "front"), 1], -0.1, atol=1e-6)
    assert np.allclose(x[ids(obj, "waist")][:, 1:], [-0.1, 0.4], atol=1e-6)
    seams = np.array([edge.vertices[:] for edge in obj.data.edges if edge.is_loose])
    assert len(seams) == 14  # 6 edges of 5 cm on two sides
    assert np.allclose(np.abs(x[seams[:, 0]] - x[seams[:, 1]]), [0.0, 0.2, 0.0], atol=1e-6)
    for face in obj.data.polygons:
        assert face.normal.y * face.center.y > 0.0
    lengths = [
        np.linalg.norm(x[edge.vertices[0]] - x[edge.vertices[1]]) for edge in obj.data.edges if not edge.is_loose
    ]
    assert 0.03 < min(lengths) and max(lengths) < 0.09
    # Seen in the UV editor, all edges have one scale.
    uvs = np.array([one.vector[:] for one in obj.data.uv_layers[0].uv])
    assert uvs.min() >= 0.0 and uvs.max() == pytest.approx(1.0)
    corners = np.array([loop.vertex_index for loop in obj.data.loops]).reshape(-1, 3)
    flat, space = (np.linalg.norm(a - np.roll(a, 1, axis=1), axis=2) for a in (uvs.reshape(-1, 3, 2), x[corners]))
    assert np.allclose(flat / space, flat[0, 0] / space[0, 0], rtol=1e-3)


def test_it_is_sewn_before_it_falls(extension, write):
    obj = load(write(tube()), edge=0.1)
    obj.pbd.closing_time = 0.4
    bpy.context.scene.pbd.collisions = "OFF"
    seams = np.array([edge.vertices[:] for edge in obj.data.edges if edge.is_loose])
    seen = play([obj], 1, 20)
    gaps = {frame: np.linalg.norm(x[seams[:, 0]] - x[seams[:, 1]], axis=1).max() for frame, (x, *_) in seen.items()}
    closed = min(frame for frame, gap in gaps.items() if gap < 1e-6)
    assert 4 < closed < 14
    heights = [seen[frame][0][:, 2].mean() for frame in (1, closed - 1, closed + 6)]
    assert abs(heights[0] - heights[1]) < 0.01
    assert heights[1] - heights[2] > 0.1


def test_a_drawing_stands_upright_and_is_sewn_where_labels_are_the_same(extension, write):
    obj = load(write(DRAWING, "bag.SVG"), edge=0.02)
    assert [group.name for group in obj.vertex_groups] == ["left", "pocket", "right"]
    x = np.array([v.co for v in obj.data.vertices])
    assert np.abs(x[:, 1]).max() < 1e-9 and x[:, 2].min() == pytest.approx(0.0, abs=0.003)  # a circle of chords
    seams = [edge.vertices[:] for edge in obj.data.edges if edge.is_loose]
    assert len(seams) == 11
    assert all(x[a][2] == pytest.approx(x[b][2], abs=1e-6) for a, b in seams)


def test_what_is_left_out_is_named(extension, write, capfd):
    data = tube()
    data.update(dict.fromkeys(("notes", "author", "grading", "version"), 1))
    load(write(data))
    said = capfd.readouterr()
    assert "Not read: notes, author, grading and 1 more" in said.out + said.err


def test_the_sides_of_a_waist_stand_where_they_are_asked_for(extension, write):
    data = tube()
    data["pattern"]["panels"]["front"]["edges"][2]["label"] = "lower_interface"
    assert bpy.ops.object.pbd_import_pattern(filepath=write(data), edge=0.05, waist=1.09) == {"FINISHED"}
    obj = bpy.context.object
    z = np.array([v.co.z for v in obj.data.vertices])
    assert z[ids(obj, "lower_interface")] == pytest.approx(1.09) and z[ids(obj, "back")].max() == pytest.approx(0.4)


def test_it_is_one_undo_step(extension, write):
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.pbd_import_pattern("EXEC_DEFAULT", True, filepath=write(tube()))
    assert "tube" in bpy.data.objects
    bpy.ops.ed.undo()
    assert "tube" not in bpy.data.objects


def crossed():
    data = tube()
    data["pattern"]["panels"]["front"]["vertices"] = [[-20, 0], [20, 0], [-25, 30], [20, 30]]
    return data


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.json", crossed(), "Panel 'front' crosses or touches itself"),
        ("a.json", "[]", "'a.json': The file is no sewing pattern"),
        ("a.dxf", "", "choose a file that ends in .json or .svg"),
        ("a.svg", DRAWING.replace("v200h-100z", "v200h-100"), "'left' is open by 0.2 m: close the path"),
        ("a.svg", DRAWING.replace('y="100">A</text></svg>', 'y="100">B</text></svg>'), "Label 'A' stands at 1 sides"),
        ("a.json", tube(half=1e5), "longer edges"),
        (None, "", "could not be read"),
        ("", "", "Choose a file"),
    ],
)
def test_a_bad_file_is_refused_and_leaves_nothing(extension, write, tmp_path, name, content, says):
    before = len(bpy.data.objects), len(bpy.data.meshes)
    path = str(tmp_path / "gone.json") if name is None else name and write(content, name)
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.object.pbd_import_pattern(filepath=path)
    assert says in str(caught.value)
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == before
