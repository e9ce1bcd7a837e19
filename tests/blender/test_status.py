"""The line of the panel that says how it goes, and errors: recognized by their words, with what mends them."""

import ast
import functools
import string
import sys
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import pytest

from helpers import scenes
from helpers.inside import model_of
from helpers.scenes import go


@pytest.fixture
def line(extension):
    """What the line says now."""
    return lambda: extension.module("panels.status").line(bpy.context)


@pytest.fixture
def errors(extension):
    return extension.bridge("error_sentences")


def test_the_line_is_one_line_in_every_state(extension, line):
    """Fresh, played, changed, reset, baked, live again: always one line of a few words, without zeros."""
    scene, said = bpy.context.scene, []
    scene.frame_end = 12
    bpy.ops.mesh.primitive_pbd_cloth_add(rx=20, ry=20)
    obj = bpy.context.object
    obj.pbd.stretch = 600.0

    def look():
        text, _icon, alarm = line()
        assert text and "\n" not in text and not alarm
        assert " 0 " not in f" {text} " and "0.0 %" not in text
        said.append(text)
        return text

    assert look() == "Press Space to simulate"
    for frame in range(1, 9):
        go(frame)
    assert look().endswith(", frames 1–8")
    assert " ms, " in said[-1] and " % stretched, " in said[-1]
    obj.pbd.stretch = 300.0
    assert look()
    bpy.ops.object.pbd_reset()
    assert look() == "Press Space to simulate"
    bpy.ops.object.pbd_step()
    assert look().endswith("frames 1–2")
    bpy.ops.object.pbd_bake()
    assert look() == "Baked, frames 1 to 12"
    bpy.ops.object.pbd_delete_bake()
    assert look()
    rows = extension.module("panels.rows")
    widths = [rows.text_width(bpy.context, text) for text in said]
    assert max(widths) < 206.0, said  # What the sidebar has beside the icon at its first width.


class Room(NamedTuple):
    """A region of the sidebar's first width, and what else the line asks of a context."""

    region: Any
    preferences: Any
    scene: Any
    object: Any
    screen: Any = None


class Region(NamedTuple):
    width: float
    type: str


class System(NamedTuple):
    ui_scale: float


class Preferences(NamedTuple):
    system: System
    ui_styles: Any


def test_where_there_is_no_room_the_frames_stay(extension, line):
    """Of a balloon that is stretched by 12 % the line would be cut off behind "frames 1–"."""
    status, rows = extension.module("panels.status"), extension.module("panels.rows")
    bpy.ops.mesh.primitive_pbd_balloon_add(subdivisions=3)
    bpy.context.object.pbd.pressure = 1.5
    for frame in range(1, 13):
        go(frame)
    for width, ending in ((280.0, "stretched, 1–12"), (500.0, "stretched, frames 1–12")):
        preferences = Preferences(System(1.0), bpy.context.preferences.ui_styles)
        room = Room(Region(width, "UI"), preferences, bpy.context.scene, bpy.context.object)
        running = extension.bridge("timeline.session").get(room.scene)
        object.__setattr__(running.report, "seconds", 0.8009)  # As on a slow computer.
        object.__setattr__(running.report, "strain_p95", 0.1234)
        said = status.line(room)[0]
        assert said.startswith("801 ms, 12.3 % ")
        assert said.endswith(ending)
        assert rows.text_width(room, said) <= rows.row_width(room) - rows.ICON
    name = "Figure of the second dancer"  # Beside the icon and the button that selects, a long name gives way.
    narrow = Room(Region(280.0, "UI"), preferences, bpy.context.scene, bpy.context.object)
    said = status.fitted(narrow, f"Crosses '{name}': 19 vertices", name)
    assert said.startswith("Crosses 'Fig") and said.endswith("…': 19 vertices")
    assert rows.text_width(narrow, said) <= rows.row_width(narrow) - 2.0 * rows.ICON
    assert status.fitted(narrow, "Crosses 'Leg': 9 vertices", "Leg") == "Crosses 'Leg': 9 vertices"


def test_a_new_object_beside_a_running_simulation_has_a_line_of_its_own(extension, line):
    """What the simulation says is not true of an object that is not in it."""
    first = scenes.add_grid("First")
    for frame in range(1, 5):
        go(frame)
    assert line()[0].endswith("frames 1–4")
    second = scenes.add_grid("Second")
    bpy.context.view_layer.objects.active = second
    assert line() == ("Joins at frame 1, or on Reset", "INFO", False)
    go(5)
    assert line()[0] == "Joins at frame 1, or on Reset"
    bpy.context.view_layer.objects.active = first
    assert line()[0].endswith("frames 1–5")
    bpy.context.view_layer.objects.active = second
    go(1)
    bpy.ops.object.pbd_reset()
    go(2)
    assert line()[0].endswith("frames 1–2")
    go(1)
    third = scenes.add_grid("Third")
    bpy.context.view_layer.objects.active = third
    assert line()[0] == "Joins when you press Reset"
    bpy.data.objects.remove(first)
    bpy.data.objects.remove(second)
    assert line()[0] == "Press Space to simulate"
    go(2)
    assert line()[0].endswith("frames 1–2")


def test_a_mesh_edited_at_a_later_frame_says_when_that_acts(line):
    obj = scenes.add_grid()
    obj.shape_key_add(name="Basis")
    for frame in range(1, 4):
        go(frame)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert line()[0].endswith("frames 1–3")
    obj.data.shape_keys.key_blocks[0].points[5].co.x += 0.1
    assert line() == ("Edited: press Reset to start from it", "INFO", False)
    go(1)
    bpy.ops.object.pbd_reset()
    go(2)
    assert line()[0].endswith("frames 1–2")


def test_what_a_slow_frame_is_spent_on(extension, line):
    """From a second on the line tells of contact, if that is most of it; the details have the rest, and what helps."""
    costs = functools.partial(extension.module("panels.last_frame").costs, bpy.context.scene)
    obj = scenes.add_grid()
    go(1)
    go(2)
    report = extension.bridge("timeline.session").get(bpy.context.scene).report
    for name, value in (("seconds", 11.6), ("times", {"contact": 5.9, "contact search": 3.1, "stretch": 2.6})):
        object.__setattr__(report, name, value)
    assert line()[0] == "11.6 s, 9.0 of them contact, frames 1–2"
    for own, others, fast_helps in ((300, 20, True), (20, 300, False), (300, 20, True)):
        object.__setattr__(report, "self_contacts", own)
        object.__setattr__(report, "contacts", others)
        assert costs(report)[1] == fast_helps
    assert costs(report) == ("11.6 s a frame, 9.0 of them contact", True)
    obj.pbd.self_collision = False
    assert costs(report) == ("11.6 s a frame, 9.0 of them contact", False)
    object.__setattr__(report, "times", {"contact": 1.0, "stretch": 10.6})
    assert line()[0].startswith("11.6 s, ") and "contact" not in line()[0]
    assert costs(report) == (f"11.6 s a frame: {report.substeps} steps of {len(obj.data.vertices)} vertices", False)
    object.__setattr__(report, "seconds", 0.2)
    assert costs(report) == ("", False)


def test_a_slow_frame_is_told_before_and_after(extension, line):
    bpy.ops.mesh.primitive_pbd_cloth_add(rx=140, ry=140)
    bpy.context.scene.pbd.use_floor = True
    text, icon, _alarm = line()
    assert text.startswith("Press Space: ") and text.endswith(" s a frame") and icon == "TIME"


def test_an_error_is_an_alarm_and_what_mends_it_is_known(extension, errors, line):
    obj = scenes.add_grid(pin_group="Nowhere")
    go(2)
    running = extension.bridge("timeline.session").get(bpy.context.scene)
    assert line() == ("Does not run: see below", "ERROR", True)
    check, name = errors.remedy(running.message)
    assert (check, name) == ("lost_pins", obj.name)
    assert bpy.ops.object.pbd_doctor_fix(check=check, body=name) == {"FINISHED"}
    go(1)
    go(2)
    assert not line()[2]


def provoke_shared():
    obj = scenes.add_grid()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Twin", obj.data))


def provoke_absolute():
    obj = scenes.add_grid()
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Other")
    obj.data.shape_keys.use_relative = False


def provoke_scale():
    scenes.add_grid().scale.z = 0.0


def provoke_attached():
    obj = scenes.add_grid(attach_group="Nowhere")
    obj.pbd.attach_object = scenes.add_grid("Mast", pbd=False)
    obj.pbd.attach_object.location.z = 1.0


def provoke_maps():
    scenes.add_grid(bend_group="Nowhere")


def provoke_pinned():
    scenes.pin(scenes.add_grid(), range(20))


@pytest.mark.parametrize(
    ("check", "provoke"),
    [
        ("shared", provoke_shared),
        ("absolute_keys", provoke_absolute),
        ("no_scale", provoke_scale),
        ("lost_attached", provoke_attached),
        ("lost_maps", provoke_maps),
        ("all_held", provoke_pinned),
    ],
)
def test_the_button_below_an_error_mends_it(extension, errors, check, provoke):
    """What stands in red after Space is mended by the button that the panel draws below it."""
    provoke()
    go(2)
    session = extension.bridge("timeline.session")
    message = session.get(bpy.context.scene).message
    assert message
    known, name = errors.remedy(message)
    assert known == check, message
    assert bpy.ops.object.pbd_doctor_fix(check=known, body=name) == {"FINISHED"}
    go(1)
    go(2)
    assert session.get(bpy.context.scene).message == ""


def test_a_changed_mesh_is_mended_by_reset(extension, errors):
    obj = scenes.add_grid()
    go(1)
    go(3)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    go(4)
    running = extension.bridge("timeline.session").get(bpy.context.scene)
    assert errors.remedy(running.message) == (errors.RESET, obj.name)


def test_what_a_self_distance_of_zero_comes_to(extension):
    """The figure of the panel is that of the solver, also of a scaled mesh."""
    bpy.ops.mesh.primitive_pbd_cloth_add()
    obj = bpy.context.object
    obj.scale = (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    setup_findings = extension.bridge("doctor.setup_findings")
    assert setup_findings.automatic_distance(obj) == "0 = automatic: 16.1 mm"
    go(1)
    go(2)
    (contact,) = [model_of(extension.bridge("timeline.session").get(bpy.context.scene).scene_sim.simulation).contact]
    assert 1e3 * contact.candidate_list.least_distance == pytest.approx(16.1, abs=0.05)


def test_what_is_not_known_is_left_in_english(errors):
    assert errors.remedy("Nobody has ever said this") == ("", "")
    assert errors.in_users_language("Nobody has ever said this") == "Nobody has ever said this"
    sentence = "'Cloth' has no faces: add faces to simulate it"
    assert errors.in_users_language(sentence) == sentence


def template(node):
    """A text with what is put in as {}."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join("{}" if isinstance(part, ast.FormattedValue) else part.value for part in node.values)
    return None


def test_every_known_error_is_one_of_the_sources(extension, errors):
    """Whoever changes the words of an error is told that its translations and its button hang on them."""
    root = Path(sys.modules[extension].__file__).parent
    said = set()
    for part in ("operators", "panels", "pbd_addon"):
        for path in sorted((root / part).rglob("*.py")):
            if path.name != "error_sentences.py" and "translations" not in path.parts:
                tree = ast.parse(path.read_text(encoding="utf-8"))
                said.update(text.removesuffix(": ") for node in ast.walk(tree) if (text := template(node)))
    everything = "\n".join(said)
    for known in errors.SENTENCES.keys() - COMPOSED:
        pieces = list(string.Formatter().parse(known))
        bare = "".join(text + ("" if name is None else "{}") for text, name, _f, _c in pieces)
        # What the engine says stands behind a name, or has one in it that it was given.
        assert bare in said or max((text for text, *_ in pieces), key=len).strip(" '") in everything, known


COMPOSED = {
    *(f"{{what}} must be {words} {{limit}}, not {{value}}" for words in ("above", "at least", "at most")),
    "{name} became unstable at vertex {vertex}: use more substeps or less stiffness; frame {frame} is kept",
}
"""Errors whose words come from several places."""
