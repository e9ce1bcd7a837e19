"""Dynamic Mesh in Blender: the rest shape follows keys, scale and modifiers, and only frames that depend on it go."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

GROWN, LAST = 1.5, 10


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def add_sheet(**settings):
    """A sheet of 1 x 0.6 m that floats, with a shape key that makes it larger."""
    bpy.context.scene.use_gravity = False
    sheet = scenes.add_grid(rx=9, ry=6, rest_shape="DYNAMIC", bend=2e-4, drag=3.0, **settings)
    points = np.array([vertex.co for vertex in sheet.data.vertices])
    scenes.add_key(sheet, "Large", (GROWN - 1.0) * points, np.arange(len(points)), value=0.0)
    return sheet


def keyed(sheet, first=1, last=LAST):
    """The value of the key, from 0 to 1."""
    key = sheet.data.shape_keys.key_blocks["Large"]
    for frame, value in ((first, 0.0), (last, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def by_key(sheet):
    keyed(sheet)


def by_scale(sheet):
    for frame, scale in ((1, 1.0), (LAST, GROWN)):
        sheet.scale = 3 * [scale]
        sheet.keyframe_insert("scale", frame=frame)


def edges_of(obj):
    """Lengths of the edges as they are shown [m]."""
    points = shown(obj)
    ids = np.array([edge.vertices[:] for edge in obj.data.edges])
    return np.linalg.norm(points[ids[:, 0]] - points[ids[:, 1]], axis=1)


@pytest.mark.parametrize("grow", [by_key, by_scale])
def test_cloth_grows_with_what_is_keyed(session, grow):
    sheet = add_sheet()
    grow(sheet)
    go(1)
    before = edges_of(sheet)
    play([sheet], 2, LAST + 6)
    np.testing.assert_allclose(edges_of(sheet) / before, GROWN, rtol=0.01)
    report = session.get(bpy.context.scene).report
    assert report.strain_max < 0.01


def test_cloth_bends_as_modifiers_bend_it(session):
    """And the modifier does not bend it a second time."""
    sheet = add_sheet()
    bend = sheet.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.deform_method, bend.deform_axis = "BEND", "Y"
    for frame, angle in ((1, 0.0), (LAST, 1.5)):
        bend.angle = angle
        bend.keyframe_insert("angle", frame=frame)
    twin = scenes.add_grid("Twin", rx=9, ry=6, pbd=False)
    twin.modifiers.new("Bend", "SIMPLE_DEFORM")
    for name in ("deform_method", "deform_axis", "angle"):
        setattr(twin.modifiers[0], name, getattr(bend, name))
    go(1)
    assert np.ptp(shown(sheet)[:, 2]) < 1e-6
    play([sheet], 2, LAST + 40)
    heights = [np.ptp(points[:, 2]) for points in (shown(sheet), shown(twin))]
    bent = [np.linalg.norm(points[8] - points[0]) for points in (shown(sheet), shown(twin))]
    assert bent[0] == pytest.approx(bent[1], rel=0.05), heights


@pytest.mark.usefixtures("usual_substeps")
@pytest.mark.newest
def test_a_balloon_grows_by_its_volume(session):
    bpy.context.scene.use_gravity = False
    bpy.ops.mesh.primitive_ico_sphere_add(radius=0.2, subdivisions=2)
    ball = bpy.context.object
    ball.pbd.enabled, ball.pbd.type, ball.pbd.pressure_mode, ball.pbd.rest_shape = True, "BALLOON", "VOLUME", "DYNAMIC"
    by_scale(ball)
    play([ball], 1, LAST + 14)
    body = session.get(bpy.context.scene).scene_sim.members[0].body
    assert body.volume(shown(ball)) == pytest.approx(GROWN**3 * body.volume(body.vertices), rel=0.02)


def test_scrubbing_back_and_forth_gives_the_same_bits(session):
    sheet = add_sheet()
    keyed(sheet)
    play([sheet], 1, LAST)
    runs = []
    for drag in (3.0, 1.0, 3.0, 1.0):
        go(3)
        sheet.pbd.drag = drag
        runs.append(play([sheet], 4, LAST)[LAST][0])
    np.testing.assert_array_equal(runs[1], runs[3])
    assert (runs[0] != runs[1]).any()


@pytest.mark.parametrize("by", ["key", "modifier"])
def test_going_on_from_disk_gives_what_an_unbroken_run_gives(session, tmp_path, by):
    sheet = add_sheet()
    keyed(sheet)
    if by == "modifier":
        wave = sheet.modifiers.new("Wave", "WAVE")
        wave.height, wave.speed = 0.05, 0.1
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "sheet.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    unbroken = play([sheet], 1, LAST)
    session.drop(bpy.context.scene)
    play([sheet], 1, 6)
    exact = session.get(bpy.context.scene).scene_sim.simulation.frames.state(6).memory["rest"]["shape"]
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    sheet = bpy.data.objects["Flag"]
    record = session.get(bpy.context.scene)
    assert (record.last_frame, record.disk_note) == (6, "")
    np.testing.assert_array_equal(record.scene_sim.simulation.frames.state(6).memory["rest"]["shape"], exact)
    steps = scenes.count_steps(record)
    seen = play([sheet], 7, LAST)
    assert steps == list(range(7, LAST + 1))
    for frame, (points,) in seen.items():
        np.testing.assert_allclose(points, unbroken[frame][0], atol=2e-5)


def set_key(sheet):
    sheet.data.shape_keys.key_blocks["Spare"].value = 0.3


def move(sheet):
    sheet.location.x += 0.2


def key_later(sheet):
    key = sheet.data.shape_keys.key_blocks["Large"]
    key.value = 0.2
    key.keyframe_insert("value", frame=8)


CHANGES = [
    (set_key, 7, "'Flag' was moved"),
    (move, 7, "'Flag' was moved"),
    (key_later, 2, "animation of 'Flag' changed"),
]


@pytest.mark.parametrize(("edit", "first", "why"), CHANGES, ids=[row[0].__name__ for row in CHANGES])
def test_what_changes_the_rest_shape_takes_the_frames_that_depend_on_it(extension, session, edit, first, why):
    changes, validity = extension.bridge("timeline.changes"), extension.bridge("timeline.validity")
    sheet, scene = add_sheet(), bpy.context.scene
    keyed(sheet)
    scenes.add_key(sheet, "Spare", (0.0, 0.0, 0.2), [0], value=0.0)
    play([sheet], 1, LAST)
    go(6)
    edit(sheet)
    bpy.context.view_layer.update()
    record = session.get(scene)
    found = changes.changes(record, validity.glance(record, scene, with_curves=True))
    assert [(one.first_frame, one.why) for one in found[:1]] == [(first, why)]
    go(7)
    assert record.last_frame == 7


def test_a_modifier_without_keys_takes_the_frames_from_where_it_shows(extension, session):
    sheet = add_sheet()
    wave = sheet.modifiers.new("Wave", "WAVE")
    wave.height, wave.speed = 0.05, 0.1
    play([sheet], 1, LAST)
    go(5)
    wave.height = 0.2
    bpy.context.view_layer.update()
    go(6)
    record = session.get(bpy.context.scene)
    assert (record.invalidated.why, record.last_frame) == ("modifiers give 'Flag' another shape", 6)


def test_the_heat_map_measures_by_the_shape_of_the_frame(session):
    sheet = add_sheet()
    keyed(sheet)
    play([sheet], 1, LAST + 6)
    bpy.context.scene.pbd.heat_full = 5.0
    assert bpy.ops.object.pbd_heat_map(kind="STRAIN") == {"FINISHED"}
    values = np.empty((len(sheet.data.vertices), 4), np.float32)
    sheet.data.attributes["pbd_strain"].data.foreach_get("color", values.ravel())
    assert (values[:, 2] > 0.5).all(), "blue: what has grown is not stretched"


def test_a_key_with_a_bad_number_stops_with_a_sentence(session):
    sheet = add_sheet()
    keyed(sheet, 3, LAST)
    play([sheet], 1, 3)
    sheet.data.shape_keys.key_blocks["Large"].data[0].co.x = float("nan")
    go(4)
    record = session.get(bpy.context.scene)
    assert "Flag" in record.message
    assert record.last_frame == 3
