"""Sewing patterns: what the readers make of JSON and SVG, what they refuse, and how panels are meshed."""

import json

import numpy as np
import pytest

from benchmarks.bodies.pattern import delaunay
from pbd_addon.io import sewing_pattern, svg_paths, svg_pattern
from pbd_addon.meshes import panels

SQUARE = [[0, 0], [40, 0], [40, 30], [0, 30]]


def panel(corners=SQUARE, curves=None, **more):
    edges = [{"endpoints": [k, (k + 1) % len(corners)]} for k in range(len(corners))]
    for at, curve in (curves or {}).items():
        edges[at]["curvature"] = curve
    return {
        "vertices": [list(corner) for corner in corners],
        "edges": edges,
        "translation": [0, 0, 0],
        "rotation": [0, 0, 0],
        **more,
    }


def garment(stitches=((("front", 1), ("back", 3)),), **found):
    """Front and back of 40 by 30 cm, sewn at one side; the back is turned round."""
    found = found or {
        "front": panel(translation=[0, 100, 20], label="body"),
        "back": panel(translation=[40, 100, -20], rotation=[0, 180, 0]),
    }
    named = [[{"panel": name, "edge": edge} for name, edge in stitch[:2]] + [*stitch[2:]] for stitch in stitches]
    return {"pattern": {"panels": found, "stitches": named}, "properties": {"units_in_meter": 100}}


def one(curve, corners=SQUARE, **properties):
    """The first side of a panel, when it is curved so [m]."""
    data = garment((), piece=panel(corners, {0: curve}))
    data["properties"].update(properties)
    return sewing_pattern.of_specification(data).panels[0].sides[0]


def meshed(data, edge=0.05):
    return panels.mesh_pattern(sewing_pattern.of_specification(data), edge, delaunay)


def drawing(inside, size='width="400mm" height="300mm" viewBox="0 0 400 300"', before=""):
    ours = 'xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"'
    return f"{before}<svg {ours} {size}>{inside}</svg>".encode()


PATH = '<path id="front" d="M10 10h100v200h-100z"/>'


def test_panels_stand_where_the_file_says_with_z_up_and_their_fronts_outside():
    sewn = meshed(garment())
    front, back = (sewn.vertices[sewn.groups[name]] for name in ("front", "back"))
    np.testing.assert_allclose(front.min(axis=0), [0.0, -0.2, 1.0], atol=1e-12)
    np.testing.assert_allclose(front.max(axis=0), [0.4, -0.2, 1.3], atol=1e-12)
    np.testing.assert_allclose(back.min(axis=0), [0.0, 0.2, 1.0], atol=1e-12)
    np.testing.assert_array_equal(sewn.groups["body"], sewn.groups["front"])
    a, b, c = sewn.vertices[sewn.triangles].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    assert (np.sign(normals[:, 1]) == np.sign(a[:, 1])).all()
    assert 0.5 * np.linalg.norm(normals, axis=1).sum() == pytest.approx(2 * 0.4 * 0.3)


def test_a_stitch_pairs_as_many_vertices_from_both_sides_at_the_same_height():
    data = garment()
    data["pattern"]["panels"]["back"]["vertices"] = [[0, 0], [40, 0], [40, 30], [0, 36]]  # 36 cm at 30
    sewn = meshed(data)
    assert len(sewn.seams) == round(0.33 / 0.05) + 1
    ends = sewn.vertices[sewn.seams]
    share = (ends[:, :, 2] - 1.0) / [0.3, 0.36]
    np.testing.assert_allclose(share[:, 0], share[:, 1], atol=1e-12)
    np.testing.assert_allclose(ends[:, :, 0], 0.4, atol=1e-12)
    data["pattern"]["stitches"][0].append("right_wrong")
    ends = meshed(data).vertices[meshed(data).seams]
    np.testing.assert_allclose(((ends[:, :, 2] - 1.0) / [0.3, 0.36]).sum(axis=1), 1.0, atol=1e-12)


def test_a_loop_may_turn_either_way():
    data = garment()
    back = data["pattern"]["panels"]["back"]
    back.update(vertices=[[0, 0], [0, 30], [40, 30], [40, 0]], rotation=[0, 0, 0], translation=[0, 100, -20])
    data["pattern"]["stitches"][0][1]["edge"] = 2
    sewn, usual = meshed(data), meshed(garment())
    assert np.linalg.norm(np.diff(sewn.vertices[sewn.seams], axis=1), axis=2).max() == pytest.approx(0.4)
    assert len(sewn.seams) == len(usual.seams)
    a, b, c = sewn.vertices[sewn.triangles].transpose(1, 0, 2)
    assert (np.sign(np.cross(b - a, c - a)[:, 1]) == np.sign(a[:, 1])).all()


@pytest.mark.parametrize(
    ("curve", "length", "middle"),
    [
        (None, 0.4, [0.2, 0.0]),
        ({"type": "quadratic", "params": [[0.5, 0.5]]}, 0.4 * 1.1477936, [0.2, 0.1]),  # (√2 + asinh 1) / 2
        ([0.5, 0.5], 0.4 * 1.1477936, [0.2, 0.1]),
        ({"type": "cubic", "params": [[0.25, 0.2], [0.75, 0.2]]}, None, [0.2, 0.06]),
        ({"type": "circle", "params": [20, 0, 1]}, 0.2 * np.pi, [0.2, -0.2]),  # a half circle, to the left
        ({"type": "circle", "params": [20, 0, 0]}, 0.2 * np.pi, [0.2, 0.2]),
        ({"type": "circle", "params": [40, 0, 0]}, 0.4 * np.pi / 3, [0.2, 0.4 - 0.12**0.5]),
        ({"type": "circle", "params": [40, 1, 0]}, 0.4 * np.pi * 5 / 3, [0.2, 0.4 + 0.12**0.5]),
    ],
)
def test_a_curved_edge_is_as_long_and_bulges_as_far_as_its_formula_says(curve, length, middle):
    side = one(curve)
    np.testing.assert_allclose(side[[0, -1]], [[0.0, 0.0], [0.4, 0.0]], atol=1e-12)
    if length:
        assert panels.length(side) == pytest.approx(length, rel=1e-3)
    if len(side) > 2:
        np.testing.assert_allclose(side[len(side) // 2], middle, atol=1e-12)


def test_inner_points_may_be_absolute():
    curve = {"type": "quadratic", "params": [[20, 20]]}
    relative = {"type": "quadratic", "params": [[0.5, 0.5]]}
    np.testing.assert_allclose(one(curve, curvature_coords="absolute"), one(relative), atol=1e-12)


def test_what_is_not_read_is_named():
    data = garment()
    data["parameters"] = {"length": 3}
    data["pattern"]["panels"]["front"]["grain"] = [0, 1]
    data["pattern"]["stitches"][0].append("elastic")
    data["parameter_order"] = []
    assert sewing_pattern.of_specification(data).unread == ["parameters", "panel › grain", "stitch › elastic"]
    data["properties"]["normalized_edge_loops"] = False
    assert "properties › normalized_edge_loops" in sewing_pattern.of_specification(data).unread


def broken(change):
    data = garment()
    change(data, data["pattern"]["panels"]["front"])
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b" " * 20_000_001, "MB"),
        (b"[1, 2]", "what should be its file is list"),
        (b'{"pattern": {"panels": {}}}', "has no panels"),
        (broken(lambda data, _: data.pop("pattern")), "what should be its pattern"),
        (broken(lambda _, front: front["edges"].pop()), "Panel 'front' is open"),
        (broken(lambda _, front: front["edges"].append({"endpoints": [0, 0]})), "Panel 'front' is open or forks"),
        (broken(lambda _, front: front["edges"][0].update(endpoints=[0, 9])), "names vertex 9"),
        (broken(lambda _, front: front["edges"][0].pop("endpoints")), "endpoints"),
        (broken(lambda _, front: front.update(edges=[])), "Panel 'front'"),
        (broken(lambda _, front: front["vertices"].__setitem__(0, [1e300, 0])), "pairs of finite numbers"),
        (broken(lambda _, front: front["vertices"].__setitem__(0, [40, 0])), "edge 0 has no length"),
        (broken(lambda _, front: front["vertices"].__setitem__(0, [float("nan"), 0])), "NaN"),
        (broken(lambda _, front: front["edges"][0].update(curvature={"type": "spiral"})), "unknown type: 'spiral'"),
        (broken(lambda _, front: front["edges"][0].update(curvature={"type": "cubic", "params": [[1, 1]]})), "params"),
        (broken(lambda _, front: front.update(rotation=[1, 2])), "rotation"),
        (broken(lambda data, _: data["properties"].update(units_in_meter=0)), "units_in_meter"),
        (broken(lambda data, _: data["pattern"]["stitches"][0].pop()), "Stitch 0 does not name two edges"),
        (broken(lambda data, _: data["pattern"]["stitches"][0][0].update(panel="hat")), "'hat', which is not there"),
        (broken(lambda data, _: data["pattern"]["stitches"][0][0].update(edge=4)), "Stitch 0: edge must be at most 3"),
        (json.dumps(garment([(("front", 1), ("front", 1))])).encode(), "to itself"),
    ],
)
def test_a_file_that_is_no_whole_pattern_is_refused_in_a_sentence(raw, says):
    with pytest.raises(ValueError, match=says) as caught:
        sewing_pattern.read(raw)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("data", "edge", "says"),
    [
        (garment(), 1e-5, "would have 2,771,"),
        (garment((), strip=panel([[0, 0], [90000, 90000], [90000, 90001], [0, 1]])), 0.05, "is too large"),
        (garment((), strip=panel([[0, 0], [40, 0], [80, 0]])), 0.05, "has no area"),
        (garment((), strip=panel(translation=[1e6, 0, 0])), 0.05, "units may be wrong"),
        (garment((), dot=panel([[0, 0], [1, 0], [0, 1]])), 0.05, None),
    ],
)
def test_a_pattern_that_makes_no_mesh_is_refused(data, edge, says):
    if says is None:
        assert len(meshed(data, edge).triangles) == 1
        return
    with pytest.raises(ValueError, match=says):
        meshed(data, edge)


def test_panels_lie_beside_one_another_in_the_plane():
    sewn = meshed(garment(), 0.02)
    boxes = [
        (sewn.flat[ids].min(axis=0), sewn.flat[ids].max(axis=0)) for ids in (sewn.groups["front"], sewn.groups["back"])
    ]
    (low, high), (lower, higher) = boxes
    assert ((high < lower) | (higher < low)).any()
    for name in ("front", "back"):
        ids = sewn.groups[name]
        apart = [np.linalg.norm(x[ids] - x[ids[0]], axis=1) for x in (sewn.flat, sewn.vertices)]
        np.testing.assert_allclose(apart[0], apart[1], atol=1e-12)


@pytest.mark.parametrize(
    "path",
    [
        "M10,10 H110 V210 H10 Z",
        "m10 10h100v200h-100z",
        "m 10 10 100 0 0 200 -100 0 z",
        "M10 10L110 10 110 210 10 210 10 10",
        "M10 10L110 10 110 210 10 210 10.01 10",
        "M10 210l100 0 0-2e2-100 0z",
        "M10 10C40 10 80 10 110 10L110 210Q60 210 10 210z",
    ],
)
def test_every_way_to_draw_a_rectangle_is_one(path):
    pattern = svg_pattern.read(drawing(f'<path d="{path}"/>'))
    (found,) = pattern.panels
    assert len(found.sides) == 4
    lengths = sorted(panels.length(side) for side in found.sides)
    np.testing.assert_allclose(lengths, [0.1, 0.1, 0.2, 0.2], rtol=1e-3)
    outline = np.concatenate(found.sides)
    assert panels.area(outline) == pytest.approx(0.02, rel=1e-3)  # counter-clockwise, seen from the front
    np.testing.assert_allclose([outline.min(axis=0), outline.max(axis=0)], [[-0.05, 0.0], [0.05, 0.2]], atol=2e-5)


@pytest.mark.parametrize(
    ("shape", "sides", "area"),
    [
        ('<rect width="100" height="50"/>', 4, 0.005),
        ('<rect width="100" height="50" rx="10"/>', 1, 0.005 - (4 - np.pi) * 1e-4),
        ('<circle r="50"/>', 1, np.pi * 0.0025),
        ('<ellipse rx="50" ry="20"/>', 1, np.pi * 0.001),
        ('<polygon points="0,0 100,0 0,100"/>', 3, 0.005),
        ('<path d="M0 0 A50 20 90 0 1 0 100 L-10 100 -10 0z"/>', 2, np.pi * 0.0005 + 0.001),
        ('<path d="M0 0C0 30 50 30 50 0S100-30 100 0L100-50 0-50z"/>', 3, 0.005),
        ('<path d="M0 0Q25 30 50 0T100 0L100-50 0-50z"/>', 4, 0.005),
        ('<path d="M0 0 a50 50 0 01100 0z"/>', 2, np.pi * 0.00125),
        (
            '<g transform="scale(2) translate(5)"><rect width="100" height="50" transform="rotate(30 1 2)"/></g>',
            4,
            0.02,
        ),
        ('<rect width="100" height="50" transform="matrix(-1 0 0 1 0 0) skewX(20)"/>', 4, 0.005),
    ],
)
def test_shapes_and_transforms_keep_their_sides_and_area(shape, sides, area):
    (found,) = svg_pattern.read(drawing(shape)).panels
    assert len(found.sides) == sides
    assert panels.area(np.concatenate(found.sides)) == pytest.approx(area, rel=2e-3)


@pytest.mark.parametrize(
    ("size", "width"),
    [
        ('width="40cm" height="30cm" viewBox="0 0 400 300"', 0.1),
        ('width="4in" height="3in" viewBox="0 0 4 3"', 2.54),
        ("", 100 * 0.0254 / 96),
        ('viewBox="0 0 10 10"', 100 * 0.0254 / 96),
        ('width="100%" height="300pt" viewBox="0 0 400 300"', 100 * 0.0254 / 96),
    ],
)
def test_a_drawing_has_units(size, width):
    outline = np.concatenate(svg_pattern.read(drawing(PATH, size)).panels[0].sides)
    assert np.ptp(outline[:, 0]) == pytest.approx(width)


TWO = (
    '<path id="front" d="M10 10h100v200h-100z"/><path id="back" d="M210 10h100v200h-100z"/>'
    '<text x="112" y="100">A</text><text><tspan x="212" y="100">A</tspan></text>'
)


def test_two_texts_with_the_same_words_sew_the_sides_beside_them():
    pattern = svg_pattern.read(drawing(f'{TWO}<text x="60" y="110">Front</text><line x2="9" y2="9"/>'))
    assert pattern.unread == ["line 'line'", "text 'Front'"]
    sewn = panels.mesh_pattern(pattern, 0.05, delaunay)
    ends = sewn.vertices[sewn.seams]
    assert len(ends) == 5
    np.testing.assert_allclose(ends[:, :, 0], [[-0.05, 0.05]] * 5, atol=1e-12)
    np.testing.assert_allclose(ends[:, 0, 2], ends[:, 1, 2], atol=1e-12)
    assert (ends[:, :, 1] == 0.0).all()


def test_hidden_shapes_and_those_that_are_not_understood_are_named_and_definitions_are_not():
    more = (
        '<defs><path d="M0 0"/></defs><path id="old" style="display: none" d="M0 0h9v9z"/><use id="copy"/>'
        '<g display="none" id="layer"><path d="M0 0 L1"/></g><path id="dot" d="M5 5z"/><image inkscape:label="photo"/>'
    )
    pattern = svg_pattern.read(drawing(PATH + more))
    assert pattern.unread == ["hidden 'old'", "use 'copy'", "hidden 'layer'", "empty path 'dot'", "image 'photo'"]
    assert [one.name for one in pattern.panels] == ["front"]


BOMB = '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no SVG"),
        (b"<svg><path", "no SVG"),
        (b"<html/>", "begins with 'html'"),
        (b" " * 20_000_001, "MB"),
        (drawing("", before=BOMB), "declares entities"),
        (drawing("<text>&a;</text>", before=OUTSIDE), "declares entities"),
        (drawing(""), "no closed paths"),
        (drawing(PATH, 'width="x"  viewBox="0 0 400 300"'), "no length"),
        (drawing(PATH, 'width="1e-9mm"  viewBox="0 0 400 300"'), "do not fit"),
        (drawing('<path id="p" d="M0 0h100v100"/>'), "'p' is open by 0.141 m"),
        (drawing('<polyline id="p" points="0,0 100,0 50,50"/>'), "'p' is open"),
        (drawing('<path id="p" d="M0 0h100 x"/>'), "'p' has a path with an unknown command"),
        (drawing('<path id="p" d="M0 0h100v"/>'), "lacks numbers"),
        (drawing('<path id="p" d="5 5"/>'), "not understood"),
        (drawing('<path id="p" d="M0 0h1e999v100z"/>'), "not finite"),
        (drawing('<path id="p" d="M0 0h1e99v100z"/>'), "farther than"),
        (drawing('<polygon points="1 2 3"/>'), "pairs of numbers"),
        (drawing('<path id="p" transform="spin(3)" d="M0 0h1v1z"/>'), "'p' transform 'spin'"),
        (drawing(f'<path id="p" d="M0 0{"h1" * 50_001}z"/>'), "more than 50,000 pieces"),
        (drawing(PATH + '<text x="1" y="1">a</text>' * 501), "more than 500 texts"),
        (drawing(f'{TWO}<text x="10" y="9">B</text>'), "Label 'B' stands at 1 sides"),
        (drawing(f'{TWO}<text x="10" y="9">A</text>'), "Label 'A' stands at 3 sides"),
    ],
)
def test_a_drawing_that_is_no_whole_pattern_is_refused_in_a_sentence(raw, says):
    with pytest.raises(ValueError, match=says) as caught:
        svg_pattern.read(raw)
    assert len(str(caught.value)) < 250


def test_a_path_may_have_several_parts():
    first, second = svg_paths.of_path("M0 0h9v9z m20 0h5v5z")
    assert first.closed and second.closed
    np.testing.assert_array_equal(second.pieces[0][0], [20.0, 0.0])
    names = [one.name for one in svg_pattern.read(drawing('<path id="p" d="M0 0h9v9z m20 0h5v5z"/>')).panels]
    assert names == ["p 1", "p 2"]


def test_panels_stand_so_high_that_what_has_a_label_is_at_the_waist():
    data = garment()
    data["pattern"]["panels"]["front"]["edges"][2]["label"] = "waist"
    read = sewing_pattern.of_specification(data)
    sewn = panels.mesh_pattern(panels.raised(read, "waist", 1.5), 0.05, delaunay)
    assert sewn.vertices[sewn.groups["waist"], 2] == pytest.approx(1.5)
    before = meshed(data)
    moved = sewn.vertices - before.vertices
    assert np.ptp(moved[sewn.groups["front"]], axis=0) == pytest.approx(0.0)
    assert moved[sewn.groups["back"]] == pytest.approx(0.0)
