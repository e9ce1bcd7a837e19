"""What goes through what: named in the line of the panel, counted in what is shown, selected by a button."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go

pytestmark = pytest.mark.usefixtures("extension", "few_substeps")


def add_ball(name="Ball", radius=0.3, place=(0.0, 0.0, 0.0)):
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, location=place)
    ball = bpy.context.object
    ball.name = name
    bpy.ops.object.pbd_collider_add()
    return ball


def activate(obj):
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


def selected(obj):
    bpy.ops.object.mode_set(mode="OBJECT")
    return [vertex.index for vertex in obj.data.vertices if vertex.select]


def near(obj, radius, slack):
    """The vertices of a level sheet that are about as far as this from its middle."""
    away = np.linalg.norm([vertex.co[:2] for vertex in obj.data.vertices], axis=1)
    return set(np.flatnonzero(np.abs(away - radius) < slack))


def test_a_line_names_what_the_cloth_is_inside_of(extension):
    """The sheet begins in the ball, which leads it out over many frames: the line says so, the button selects."""
    sheet = scenes.add_grid(rx=20, ry=20)
    sheet.pbd.fit = False
    add_ball()
    activate(sheet)
    go(1)
    go(2)
    inside = sum(1 for vertex in sheet.data.vertices if vertex.co.length < 0.3)
    text, icon, alarm = extension.module("panels.status").line(bpy.context)
    assert icon == "ERROR" and not alarm
    assert text.startswith(("Inside 'Ball': ", "Crosses 'Ball': ")) and text.endswith(" vertices")
    count = int(text.split()[-2])
    assert 0.7 * inside < count < 2.0 * inside
    assert bpy.ops.object.pbd_show_crossings() == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH" and len(selected(sheet)) == count


@pytest.mark.parametrize("levels", [0, 1])
def test_what_is_shown_is_counted(levels):
    """A sheet through the middle of a ball crosses it along a circle; Subdivision changes nothing of that."""
    sheet = scenes.add_grid(rx=20, ry=20)
    if levels:
        sheet.modifiers.new("Subdivision", "SUBSURF").levels = levels
    add_ball(place=(0.0, 0.0, 0.01))
    other = add_ball("Far", place=(5.0, 0.0, 0.0))
    activate(sheet)
    assert bpy.ops.object.pbd_count_crossings() == {"FINISHED"}
    assert bpy.ops.object.pbd_show_crossings(counted=True) == {"FINISHED"}
    found, edge = set(selected(sheet)), max(sheet.dimensions[:2]) / 20
    assert 8 <= len(found) and found <= near(sheet, 0.3, 2.0 * edge)
    assert near(sheet, 0.3, 0.1 * edge) <= found
    bpy.data.objects.remove(other)
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    assert bpy.ops.object.pbd_count_crossings() == {"FINISHED"}
    with pytest.raises(RuntimeError, match="Nothing crosses"):
        bpy.ops.object.pbd_show_crossings(counted=True)


def test_the_steps_that_are_advised_are_set_by_a_button(extension):
    scenes.add_grid()
    go(1)
    go(2)
    report = extension.bridge("timeline.session").get(bpy.context.scene).report
    figures = extension.module("pbd_addon.frames.report")

    def judge(*found):
        object.__setattr__(report, "judgment", figures.Judgment(lambda: figures.Convergence(*found)))

    judge()
    assert not bpy.ops.object.pbd_raise_quality.poll()
    status, rows = extension.module("panels.status"), extension.module("panels.rows")
    for kind, steps, said in (
        ("seams", 0, "Seams still pull: let them close"),
        ("bend", 0, "Bending 12 % off, see Details"),
        ("bend", 40, "Bending 12 % off: Quality 40"),
    ):
        judge({}, 0.117, figures.Advice(kind, steps))
        assert status.line(bpy.context) == (said, "ERROR", False)
        assert rows.text_width(bpy.context, said) < 206.0 - rows.ICON
    assert bpy.ops.object.pbd_raise_quality() == {"FINISHED"}
    assert bpy.context.scene.pbd.substeps == 40


def test_what_touches_at_a_closed_seam_does_not_cross():
    """Both borders are at one place, but for the rounding of float32, and the panels beside them fold sharply."""
    along, up = np.meshgrid(np.linspace(0.1, 0.5, 30), np.linspace(0.0, 0.3, 12))
    panels = [np.stack([along, side * 0.1 * up, up], axis=-1).reshape(-1, 3) for side in (1.0, -1.0)]
    number = np.arange(along.size).reshape(along.shape)
    quads = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 4)
    noise = np.random.default_rng(0).uniform(-2e-8, 2e-8, (2 * along.size, 3))
    faces = np.concatenate([quads, quads[:, ::-1] + along.size])
    bag = scenes.add_mesh("Bag", np.concatenate(panels) + noise, faces.tolist())
    assert bpy.ops.object.pbd_count_crossings() == {"FINISHED"}
    with pytest.raises(RuntimeError, match="Nothing crosses"):
        bpy.ops.object.pbd_show_crossings(counted=True)
    bag.data.vertices[along.size + 5].co.y += 0.02
    assert bpy.ops.object.pbd_count_crossings() == {"FINISHED"}
    assert bpy.ops.object.pbd_show_crossings(counted=True) == {"FINISHED"}
