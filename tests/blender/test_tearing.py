"""Tearing in Blender: split cloth holds together until it is pulled too hard or let go, and keeps all its vertices."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.exports import SHARED, read_back
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

ACROSS = 7
"""Vertices along each side of the sheet, before it is split."""


def sheet(where="EVERYWHERE", **settings):
    """An upright sheet of 0.3 m that hangs from its upper border, split for tearing."""
    u, v = np.meshgrid(np.linspace(-0.15, 0.15, ACROSS), np.linspace(-0.15, 0.15, ACROSS))
    vertices = np.stack((u, np.zeros_like(u), v), axis=-1).reshape(-1, 3)
    ids = np.arange(ACROSS**2).reshape(ACROSS, ACROSS)
    quads = np.stack((ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]), axis=-1).reshape(-1, 4)
    obj = scenes.add_mesh("Flag", vertices, quads, **settings)
    scenes.pin(obj, ids[-1])
    bpy.context.view_layer.objects.active = obj
    if where:
        assert bpy.ops.object.pbd_split(where=where) == {"FINISHED"}
        obj.modifiers["Tear Weld"].show_viewport = False  # so that tests see all vertices
    return obj


def select_row(obj):
    """Select the edges of the middle row and nothing else; returns them."""
    mesh = obj.data
    row = [e for e in mesh.edges if all(abs(mesh.vertices[v].co.z) < 1e-6 for v in e.vertices)]
    for some in (mesh.polygons, mesh.edges, mesh.vertices):
        some.foreach_set("select", [False] * len(some))
    for edge in row:
        edge.select = True
    return row


def let_go(obj, frame):
    """Key the group of the middle row to let go at a frame."""
    group = obj.vertex_groups.new(name="Row")
    height = np.array([vertex.co.z for vertex in obj.data.vertices])
    group.add(np.flatnonzero(np.abs(height) < 1e-6).tolist(), 1.0, "REPLACE")
    obj.pbd.tear_group, obj.pbd.tear_low = group.name, 1.0
    for at, factor in ((1, 1.0), (frame - 1, 1.0), (frame, 0.0)):
        obj.pbd.tear_high = factor
        obj.pbd.keyframe_insert("tear_high", frame=at)
    return height


def joined(extension):
    session = extension.bridge("timeline.session")
    simulation = session.get(bpy.context.scene).scene_sim.simulation
    return simulation.frames.state(simulation.frames.last).memory["tearing"]["joined"]


def test_split_everywhere_gives_each_face_its_vertices_and_a_strength(extension):
    obj = sheet()
    assert len(obj.data.vertices) == 4 * (ACROSS - 1) ** 2
    assert obj.pbd.tear_strength == pytest.approx(0.1 * obj.pbd.stretch)
    assert [group.name for group in obj.vertex_groups] == ["Pin"]
    held = [vertex for vertex in obj.data.vertices if vertex.groups]
    assert len(held) == 2 * (ACROSS - 1)
    weld = obj.modifiers["Tear Weld"]
    assert weld.merge_threshold == pytest.approx(1e-3 * 0.3 / (ACROSS - 1), rel=1e-4)
    weld.show_viewport = True
    assert len(shown(obj)) == ACROSS**2  # without a seam in its shading


def test_what_is_not_torn_moves_as_if_it_were_not_split(extension):
    obj = sheet()
    split = play([obj], 1, 12)[12][0]
    bpy.data.objects.remove(obj)
    whole = sheet(where="")
    places = play([whole], 1, 12)[12][0]
    apart = np.linalg.norm(split[:, None] - places[None], axis=2)
    assert apart.min(axis=1).max() < 1e-6
    assert len(np.unique(apart.argmin(axis=1))) == ACROSS**2


@pytest.mark.parametrize("where", ["SELECTED", "SEAM", "SHARP", "GROUP"])
def test_a_marked_row_of_edges_is_split(extension, where):
    obj = sheet(where="")
    row = select_row(obj)
    for edge in row:
        edge.use_seam = edge.use_edge_sharp = True
    group = obj.vertex_groups.new(name="Row")
    group.add(sorted({v for e in row for v in e.vertices}), 1.0, "REPLACE")
    obj.vertex_groups.active_index = group.index
    assert bpy.ops.object.pbd_split(where=where) == {"FINISHED"}
    assert len(obj.data.vertices) == ACROSS * (ACROSS + 1)


def test_in_edit_mode_the_selected_edges_are_split(extension):
    obj = sheet(where="")
    select_row(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.object.pbd_split(where="SELECTED") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(obj.data.vertices) == ACROSS * (ACROSS + 1)


def test_undo_joins_it_again(extension):
    sheet(where="")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.pbd_split()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    again = bpy.data.objects["Flag"]
    assert len(again.data.vertices) == ACROSS**2
    assert again.pbd.tear_strength == 0.0
    assert "Tear Weld" not in again.modifiers


def test_bad_input_is_refused_in_one_sentence(extension):
    obj = sheet(where="")
    with pytest.raises(RuntimeError, match="Nothing of 'Flag' was split: mark a row of edges that leads to a border"):
        bpy.ops.object.pbd_split(where="SEAM")
    other = bpy.data.objects.new("Other", obj.data)
    bpy.context.collection.objects.link(other)
    with pytest.raises(RuntimeError, match="is shared by 2 objects: make it single user"):
        bpy.ops.object.pbd_split()
    assert len(obj.data.vertices) == ACROSS**2
    assert obj.pbd.tear_strength == 0.0


def test_a_keyed_row_lets_go_and_nothing_else(extension):
    obj = sheet()
    height = let_go(obj, 10)
    seen = play([obj], 1, 16)
    before, after = seen[9][0], seen[16][0]
    lower = np.zeros(len(height), bool)
    lower[[v for face in obj.data.polygons if face.center.z < 0.0 for v in face.vertices]] = True
    assert np.abs(before[:, 2] - height).max() < 0.01
    fallen = height - after[:, 2]
    assert fallen[lower].min() > 0.1
    assert np.abs(fallen[~lower]).max() < 0.01
    # The lower half is still one piece.
    assert len(np.unique(joined(extension)[lower])) == ACROSS * ((ACROSS - 1) // 2 + 1)


def test_scrubbing_back_before_the_tear_gives_the_same_frames(extension):
    obj = sheet()
    let_go(obj, 10)
    play([obj], 1, 16)
    runs = []
    for drag in (0.5, 0.2, 0.5, 0.2):
        go(6)
        obj.pbd.drag = drag
        runs.append(play([obj], 7, 16))
    for frame in range(7, 17):
        np.testing.assert_array_equal(runs[1][frame][0], runs[3][frame][0])
    assert (runs[0][16][0] != runs[1][16][0]).any()


@pytest.mark.parametrize("last", [6, 13])
def test_the_disk_cache_remembers_what_is_torn(extension, tmp_path, last):
    """After reopening, the same frames, and the same ones after them; from before the tear, and from after."""
    obj = sheet()
    height = let_go(obj, 10)
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "flag.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    seen = play([obj], 1, last)
    bpy.ops.wm.save_mainfile()
    so_far, session, runs = joined(extension), extension.bridge("timeline.session"), []
    assert len(np.unique(so_far)) == ACROSS**2 + (ACROSS if last > 10 else 0)
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=path)
        again = bpy.data.objects["Flag"]
        assert session.get(bpy.context.scene).disk_note == ""
        assert session.valid_frames(bpy.context.scene) == (1, last)
        np.testing.assert_array_equal(joined(extension), so_far)
        for frame in range(1, last + 1):
            go(frame)
            np.testing.assert_array_equal(shown(again), seen[frame][0])
        bpy.context.scene.pbd.use_disk_cache = False  # or the frames to come would be there the second time
        runs.append(play([again], last + 1, last + 6)[last + 6][0])
    np.testing.assert_array_equal(*runs)
    assert np.ptp(runs[0][:, 2]) > np.ptp(height) + 0.05


def test_a_bake_keeps_all_vertices(extension):
    obj = sheet()
    let_go(obj, 8)
    bpy.context.scene.frame_end = 14
    assert bpy.ops.object.pbd_bake() == {"FINISHED"}
    assert len(obj.data.vertices) == 4 * (ACROSS - 1) ** 2
    obj.pbd.active = False
    obj.modifiers["Tear Weld"].show_viewport = True
    go(6)
    assert len(shown(obj)) == ACROSS**2
    go(14)
    assert len(shown(obj)) == ACROSS * (ACROSS + 1)


@pytest.mark.parametrize("how", ["ABSOLUTE", "RELATIVE", "MESH_CACHE"])
def test_every_bake_holds_every_vertex_of_the_tear(extension, tmp_path, how):
    """Played without the extension, as by others."""
    obj = sheet()
    let_go(obj, 8)
    bpy.context.scene.frame_end = 14
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    seen = play([obj], 1, 14)
    assert bpy.ops.object.pbd_bake(mode=how) == {"FINISHED"}
    extension.disable()
    for frame in range(1, 15):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-6, frame


@pytest.mark.parametrize("bake", [None, "ABSOLUTE", "MESH_CACHE"])
@pytest.mark.parametrize("suffix", ["abc", "usdc", "glb"])
def test_files_hold_all_vertices_and_where_they_went(extension, tmp_path, suffix, bake):
    obj = sheet()
    let_go(obj, 8)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 14
    obj.pbd.reduce_error = 0.001
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    seen = play([obj], 1, 14)
    count = len(obj.data.vertices)
    if bake:
        assert bpy.ops.object.pbd_bake(mode=bake) == {"FINISHED"}
    weld = obj.modifiers["Tear Weld"]
    weld.show_viewport = True
    path, kind = tmp_path / f"flag.{suffix}", {"abc": "ALEMBIC", "usdc": "USD", "glb": "GLTF"}[suffix]
    assert bpy.ops.object.pbd_export(format=kind, filepath=str(path)) == {"FINISHED"}
    assert (weld.show_viewport, weld.show_render) == (True, True)
    back, late = read_back(extension, path), suffix == "glb"
    for frame in range(1, 15):
        go(frame - late)  # glTF begins at 0 seconds
        found = shown(back)
        assert len(found) == count
        if late:
            # Its vertices come back in another order, and where it is whole four of them are at one place.
            apart = np.linalg.norm(found[:, None] - seen[frame][0][None], axis=2)
            assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 0.001 + SHARED, frame
        else:
            assert np.abs(found - seen[frame][0]).max() < SHARED, frame
    assert np.ptp(found[:, 2]) > 0.4  # it is in two


def test_presets_leave_the_strength_alone(extension):
    fields = extension.bridge("settings.presets").fields
    assert "tear_strength" not in {*fields("pbd_cloth"), *fields("pbd_balloon")}


def test_the_doctor_knows_split_cloth(extension):
    obj = sheet()
    obj.modifiers["Tear Weld"].show_viewport = True
    check = extension.bridge("doctor.doctor").check
    assert {"doubles", "intersections", "added_geometry"}.isdisjoint(one.check for one in check(bpy.context.scene))
    obj.pbd.tear_strength, obj.pbd.join_borders = 0.0, False
    assert {"doubles", "added_geometry"} <= {one.check for one in check(bpy.context.scene)}
