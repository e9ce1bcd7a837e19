"""Sewing in Blender: loose edges close, a key opens them, and frames come back the same."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

ACROSS, UP = 7, 7
COUNT = ACROSS * UP

ROUNDING = 1e-7
"""A shape key of 32 bits is shown as Basis + (key - Basis), so that vertices of different places there differ [m]."""


def panels(apart=0.3, **settings):
    """Two upright sheets of 0.3 m; of the front one, all but the outer columns are pinned. Returns their pairs, too."""
    u, v = np.meshgrid(np.linspace(-0.15, 0.15, ACROSS), np.linspace(-0.15, 0.15, UP))
    front = np.stack((u, np.full_like(u, -apart / 2), v), axis=-1).reshape(-1, 3)
    ids = np.arange(COUNT).reshape(UP, ACROSS)
    quads = np.stack((ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]), axis=-1).reshape(-1, 4)
    sides = np.concatenate([ids[:, 0], ids[:, -1]])
    pairs = np.column_stack([sides, sides + COUNT])
    vertices = np.concatenate([front, front + np.array([0.0, apart, 0.0])])
    faces = np.concatenate([quads, quads[:, ::-1] + COUNT])
    obj = scenes.add_mesh("Shirt", vertices, faces, edges=pairs.tolist(), **settings)
    scenes.pin(obj, ids[:, 2:-2].ravel())
    bpy.context.scene.gravity = (0.0, 0.0, -1.0)
    return obj, pairs


def gaps(positions, pairs):
    return np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)


def sewn(**settings):
    return panels(sewing=True, closing_time=0.4, **settings)


def test_loose_edges_are_ropes_until_sewing_is_on(extension):
    obj, pairs = panels()
    assert gaps(play([obj], 1, 16)[16][0], pairs).min() > 0.299
    go(1)
    obj.pbd.sewing, obj.pbd.closing_time = True, 0.4
    assert gaps(play([obj], 1, 16)[16][0], pairs).max() < ROUNDING


def test_a_key_opens_the_seams(extension):
    obj, pairs = sewn()
    for frame, on in ((1, True), (20, False)):
        obj.pbd.sewing = on
        obj.pbd.keyframe_insert("sewing", frame=frame)
    seen = play([obj], 1, 40)
    assert gaps(seen[19][0], pairs).max() < ROUNDING
    assert gaps(seen[40][0], pairs).min() > 0.1
    obj.pbd.sewing = True
    obj.pbd.keyframe_insert("sewing", frame=20)
    go(19)
    assert extension.bridge("timeline.session").valid_frames(bpy.context.scene) == (1, 19)
    assert gaps(play([obj], 20, 40)[40][0], pairs).max() < ROUNDING


@pytest.mark.newest
def test_scrubbing_back_before_the_seams_met_gives_the_same_frames(extension):
    obj, pairs = sewn()
    play([obj], 1, 24)
    runs = []
    for drag in (0.5, 0.2, 0.5, 0.2):
        go(6)
        obj.pbd.drag = drag
        runs.append(play([obj], 7, 24))
    assert gaps(runs[1][7][0], pairs).min() > 0.05
    assert gaps(runs[1][24][0], pairs).max() < ROUNDING
    for frame in range(7, 25):
        np.testing.assert_array_equal(runs[1][frame][0], runs[3][frame][0])
    assert (runs[0][24][0] != runs[1][24][0]).any()


@pytest.mark.parametrize("last", [6, 18])
def test_the_disk_cache_remembers_what_is_sewn(extension, tmp_path, last):
    """After reopening, the same frames, and the same ones after them; from before the seams met, and from after."""
    obj, pairs = sewn()
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "shirt.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    seen = play([obj], 1, last)
    bpy.ops.wm.save_mainfile()
    session, runs = extension.bridge("timeline.session"), []
    sewn_so_far = session.get(bpy.context.scene).scene_sim.simulation.frames.state(last).memory["sewing"]["pairs"]
    assert sewn_so_far.any()
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=path)
        again = bpy.data.objects["Shirt"]
        assert session.get(bpy.context.scene).disk_note == ""
        assert session.valid_frames(bpy.context.scene) == (1, last)
        state = session.get(bpy.context.scene).scene_sim.simulation.frames.state(last)
        np.testing.assert_array_equal(state.memory["sewing"]["pairs"], sewn_so_far)
        for frame in range(1, last + 1):
            go(frame)
            np.testing.assert_array_equal(shown(again), seen[frame][0])
        bpy.context.scene.pbd.use_disk_cache = False  # or the frames to come would be there the second time
        runs.append(play([again], last + 1, last + 12)[last + 12][0])
    np.testing.assert_array_equal(*runs)
    assert gaps(runs[0], pairs).max() < ROUNDING


def test_seams_that_lead_elsewhere_do_not_fit_the_cache(extension, tmp_path):
    """The counts and the faces are the same, but other vertices are sewn together."""
    obj, _ = sewn()
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "shirt.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    play([obj], 1, 4)
    loose = next(edge for edge in obj.data.edges if edge.is_loose)
    loose.vertices = (loose.vertices[0], COUNT + 3)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    note = extension.bridge("timeline.session").get(bpy.context.scene).disk_note
    assert note == "The cache on disk does not fit: 'Shirt' has other loose edges"


def test_a_bake_keeps_the_seams_closed(extension):
    obj, pairs = sewn()
    bpy.context.scene.frame_end = 18
    assert bpy.ops.object.pbd_bake() == {"FINISHED"}
    obj.pbd.active = False
    go(18)
    assert gaps(shown(obj), pairs).max() < ROUNDING
    go(4)
    assert gaps(shown(obj), pairs).min() > 0.05


def test_presets_leave_seams_alone(extension):
    fields = extension.bridge("settings.presets").fields
    assert not {"sewing", "closing_time", "sewing_force"} & {*fields("pbd_cloth"), *fields("pbd_balloon")}


def test_the_heat_map_does_not_show_seams(extension):
    obj, _pairs = sewn()
    simulated = extension.bridge("timeline.heat_map")
    play([obj], 1, 18)
    running = extension.bridge("timeline.session").get(bpy.context.scene)
    simulation, (member,) = running.scene_sim.simulation, running.scene_sim.members
    x = simulation.positions(member.body)
    strain = simulated.strain_of_vertices(member.body, {}, x, simulation.is_sewn(member.body))
    assert strain.max() < 0.1
    assert simulated.strain_of_vertices(member.body, {}, x).max() == pytest.approx(1.0)


# ------------------------------------------------------------------------------------------ Add Seam


def edit(obj, edges):
    """Go into Edit Mode with these edges selected, by their vertices."""
    wanted = {frozenset(map(int, ends)) for ends in edges}
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    for part in (obj.data.vertices, obj.data.edges, obj.data.polygons):
        part.foreach_set("select", np.zeros(len(part), bool))
    for edge in obj.data.edges:
        edge.select = frozenset(edge.vertices) in wanted
        for vertex in edge.vertices:
            if edge.select:
                obj.data.vertices[vertex].select = True
    bpy.context.scene.tool_settings.mesh_select_mode = (False, True, False)
    bpy.ops.object.mode_set(mode="EDIT")


def loose_edges(obj):
    bpy.ops.object.mode_set(mode="OBJECT")
    return {frozenset(edge.vertices) for edge in obj.data.edges if edge.is_loose}


def bare():
    """The panels without seams, and the edges of their left and right columns."""
    obj, _ = panels()
    mesh = obj.data
    vertices, faces = [tuple(v.co) for v in mesh.vertices], [tuple(f.vertices) for f in mesh.polygons]
    mesh.clear_geometry()
    mesh.from_pydata(vertices, [], faces)
    ids = np.arange(COUNT).reshape(UP, ACROSS)
    columns = [ids[:, column] + start for start in (0, COUNT) for column in (0, -1)]
    return obj, [np.column_stack([column[:-1], column[1:]]).tolist() for column in columns]


def test_add_seam_connects_two_borders_and_switches_sewing_on(extension):
    obj, (left, _, other_left, _) = bare()
    edit(obj, left + other_left)
    assert bpy.ops.object.pbd_add_seam() == {"FINISHED"}
    straight = {frozenset((k, k + COUNT)) for k in range(0, COUNT, ACROSS)}
    assert loose_edges(obj) == straight
    assert obj.pbd.sewing
    edit(obj, left + other_left)
    assert bpy.ops.object.pbd_add_seam(mirror=True) == {"FINISHED"}
    crossed = {frozenset((k, COUNT + (UP - 1) * ACROSS - k)) for k in range(0, COUNT, ACROSS)}
    assert loose_edges(obj) == straight | crossed


def test_add_seam_slides_vertices_of_uneven_borders(extension, capfd):
    """Until those that are sewn together are at the same height, and says so; or not at all."""
    for sliding in (False, True):
        obj, (left, _, other_left, _) = bare()
        uneven = obj.data.vertices[2 * ACROSS]
        uneven.co.z += 0.02
        before = [vertex.co.copy() for vertex in obj.data.vertices]
        edit(obj, left + other_left)
        assert bpy.ops.object.pbd_add_seam(slide=sliding) == {"FINISHED"}
        assert ("2 vertices slid" in capfd.readouterr().out) == sliding
        assert len(loose_edges(obj)) == UP
        moved = np.array([(vertex.co - co)[:] for vertex, co in zip(obj.data.vertices, before)])
        expected = np.zeros_like(moved)
        expected[2 * ACROSS, 2], expected[2 * ACROSS + COUNT, 2] = (-0.01, 0.01) if sliding else (0.0, 0.0)
        np.testing.assert_allclose(moved, expected, atol=1e-6)


def test_add_seam_around_two_squares_makes_a_cushion(extension):
    """Loops: every vertex of one rim with the one that lies over it."""
    obj, _ = bare()
    rim = [
        edge.vertices for edge in obj.data.edges if sum(edge.key in face.edge_keys for face in obj.data.polygons) == 1
    ]
    edit(obj, rim)
    assert bpy.ops.object.pbd_add_seam() == {"FINISHED"}
    ids = np.arange(COUNT).reshape(UP, ACROSS)
    outer = set(range(COUNT)) - set(ids[1:-1, 1:-1].ravel().tolist())
    assert loose_edges(obj) == {frozenset((k, k + COUNT)) for k in outer}


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ((), "Select two borders to sew together, edges with one face each: 0 are selected"),
        ((0,), "Select two borders to sew together, edges with one face each: 1 are selected"),
        ((0, 1, 2), "Select two borders to sew together, edges with one face each: 3 are selected"),
        ("loop", "One border is a loop and the other is not: select two loops or two rows of edges"),
    ],
)
def test_add_seam_says_what_is_wrong(extension, chosen, sentence):
    obj, columns = bare()
    if chosen == "loop":
        front = [face for face in obj.data.polygons if face.index < (UP - 1) * (ACROSS - 1)]
        keys = [key for face in front for key in face.edge_keys]
        edges = [key for key in keys if keys.count(key) == 1] + columns[2]
    else:
        edges = [edge for number in chosen for edge in columns[number]]
    edit(obj, edges)
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.object.pbd_add_seam()
    assert loose_edges(obj) == set()
    assert not obj.pbd.sewing


@pytest.mark.parametrize("rim", [False, True])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_add_seam_asks_for_a_scale(extension, axis, rim):
    """What has no size on an axis has no lengths to compare; nothing is changed."""
    obj, (left, _, other_left, _) = bare()
    keys = [key for face in obj.data.polygons for key in face.edge_keys]
    setattr(obj.scale, axis, 0.0)
    before = [vertex.co.copy() for vertex in obj.data.vertices]
    edit(obj, [key for key in keys if keys.count(key) == 1] if rim else left + other_left)
    with pytest.raises(RuntimeError, match=r"'.*' has a scale of zero: give it a scale to sew it"):
        bpy.ops.object.pbd_add_seam()
    assert loose_edges(obj) == set()
    assert [vertex.co for vertex in obj.data.vertices] == before


@pytest.mark.parametrize("whole", [False, True])
def test_add_seam_does_not_slide_along_a_point(extension, whole):
    """A border that has no length, or a loop or a part of one; without Slide Vertices it is sewn."""
    obj, (left, _, other_left, _) = bare()
    row = [*dict.fromkeys(k for edge in left for k in edge)]
    for k in row if whole else row[1:3]:
        obj.data.vertices[k].co = obj.data.vertices[row[1]].co
    edit(obj, left + other_left)
    if whole:
        with pytest.raises(RuntimeError, match=r"A selected border has no length: .* or switch Slide Vertices off"):
            bpy.ops.object.pbd_add_seam()
        assert loose_edges(obj) == set()
        edit(obj, left + other_left)
    assert bpy.ops.object.pbd_add_seam(slide=not whole) == {"FINISHED"}
    assert len(loose_edges(obj)) == UP
    assert np.isfinite([vertex.co[:] for vertex in obj.data.vertices]).all()


def test_seams_bend_from_when_they_are_closed(extension):
    obj, pairs = sewn()
    free = play([obj], 1, 24)
    closed = next(frame for frame in free if gaps(free[frame][0], pairs).min() < ROUNDING)
    go(1)
    obj.pbd.seam_bend, obj.pbd.seam_angle = 1.0, 0.5
    bent = play([obj], 1, 24)
    for frame in range(1, closed + 1):
        np.testing.assert_array_equal(bent[frame][0], free[frame][0])
    assert np.abs(bent[24][0] - free[24][0]).max() > 1e-3


def test_new_seams_close_before_it_falls(extension):
    """Add Seam switches Sew First on: two panels float until they are one, and the status line says until when."""
    line = extension.module("panels.status").line
    session = extension.bridge("timeline.session")
    obj, pairs = panels()
    obj.pbd.pin_group = ""
    ends = [edge.index for edge in obj.data.edges if edge.is_loose]
    bpy.ops.object.mode_set(mode="EDIT")
    import bmesh  # found only after bpy

    mesh = bmesh.from_edit_mesh(obj.data)
    mesh.edges.ensure_lookup_table()
    bmesh.ops.delete(mesh, geom=[mesh.edges[number] for number in ends], context="EDGES")
    for side in (-1.0, 1.0):
        for vertex in mesh.verts:
            vertex.select = side * vertex.co.x > 0.149
        mesh.select_flush_mode()
        bmesh.update_edit_mesh(obj.data)
        bpy.ops.object.pbd_add_seam()
        mesh = bmesh.from_edit_mesh(obj.data)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert obj.pbd.sewing and obj.pbd.sew_first
    obj.pbd.closing_time = 0.4
    go(1)
    start = shown(obj)[:, 2].mean()
    go(5)
    assert line(bpy.context)[0] == "Sewing until frame 11"
    for frame in range(6, 25):
        go(frame)
        waits = session.get(bpy.context.scene).scene_sim.sewn_until(obj.session_uid, bpy.context.scene)
        assert not waits or abs(shown(obj)[:, 2].mean() - start) < 1e-3
    assert not waits and "Sewing" not in line(bpy.context)[0]
    assert gaps(shown(obj), pairs).max() < ROUNDING
    assert shown(obj)[:, 2].mean() < start - 0.01
