"""Object.pbd and Scene.pbd: names, units, ranges and what is read from them."""

import dataclasses
import math
from typing import NamedTuple

import bpy
import pytest

from helpers import scenes


@pytest.fixture
def raw_settings(extension):
    return extension.bridge("settings.raw_settings")


def read_material(raw_settings, obj):
    return raw_settings.material_from(raw_settings.raw_material(obj), obj.name)


def read_settings(raw_settings, scene):
    return raw_settings.settings_from(raw_settings.raw_scene(scene), scene.name)


def material_class(extension):
    return extension.module("pbd_addon.bodies.material").Material


def test_every_setting_of_the_material_is_a_property(extension):
    obj = scenes.add_grid()
    for field in dataclasses.fields(material_class(extension)):
        prop = obj.pbd.bl_rna.properties[field.name]
        assert prop.description == field.metadata["description"]
        assert prop.name.startswith(field.metadata["label"])
        assert prop.is_animatable
        assert prop.is_overridable


def test_lengths_have_blenders_own_unit(extension):
    of = bpy.context.scene.pbd.bl_rna.properties
    material = scenes.add_grid().pbd.bl_rna.properties
    assert (material["stretch"].name, material["stretch"].unit) == ("Tension", "NONE")
    assert (material["thickness"].unit, material["thickness"].name) == ("LENGTH", "Distance")
    assert of["floor_height"].unit == "LENGTH"


@pytest.mark.parametrize(
    ("stored", "shown", "typed", "si"),
    [("density", "density_shown", 124.0, 0.124), ("bend", "bend_shown", 6.6, 6.6e-6)],
)
def test_small_numbers_are_shown_in_a_readable_unit(extension, raw_settings, stored, shown, typed, si):
    """What is typed as 6.6 µN·m is 6.6e-6 N·m to scripts, animation and the solver, to the last digit."""
    obj = scenes.add_grid()
    setattr(obj.pbd, shown, typed)
    assert getattr(obj.pbd, stored) == pytest.approx(si, rel=1e-6)
    assert getattr(read_material(raw_settings, obj), stored) == si
    setattr(obj.pbd, stored, 2.0 * si)
    assert getattr(obj.pbd, shown) == pytest.approx(2.0 * typed, rel=1e-6)
    known = obj.pbd.bl_rna.properties
    assert known[shown].default == pytest.approx(known[stored].default * typed / si)
    assert (known[stored].is_animatable, known[shown].is_animatable) == (True, False)
    with pytest.raises(TypeError):
        obj.keyframe_insert(f"pbd.{shown}")


def test_the_dot_keys_the_stored_setting(extension):
    obj = scenes.add_grid()
    icon = extension.bridge("settings.shown_units").key_icon
    assert icon(obj, "bend", 1) == "DECORATE"
    bpy.ops.object.pbd_key_setting(setting="bend")
    assert icon(obj, "bend", 1) == "DECORATE_KEYFRAME"
    assert icon(obj, "bend", 5) == "DECORATE_ANIMATE"
    assert icon(obj, "density", 1) == "DECORATE"
    assert extension.bridge("scene.animation").channels(obj) == {("pbd.bend", 0)}
    bpy.ops.object.pbd_key_setting(setting="bend")
    assert icon(obj, "bend", 1) == "DECORATE"
    obj.driver_add("pbd.density")
    assert icon(obj, "density", 1) == "DECORATE_DRIVER"


def test_the_key_over_a_field_finds_the_stored_setting(extension):
    """In a window I and Alt I are Blender's over all other fields; without one there is no field under a mouse."""
    keyed = extension.module("operators.key_setting")
    obj = scenes.add_grid()

    class Over(NamedTuple):
        property: tuple | None

    assert keyed.field_under_mouse(Over((obj, "pbd.bend_shown", -1))) == (obj, "bend")
    assert keyed.field_under_mouse(Over((obj, "pbd.density_shown", -1))) == (obj, "density")
    assert keyed.field_under_mouse(Over((obj, "bend_shown", -1))) == (obj, "bend")  # as Blender 4.3 says it
    for other in (None, (obj, "pbd.stretch", -1), (bpy.context.scene, "pbd.substeps", -1)):
        assert keyed.field_under_mouse(Over(other)) is None
    assert not bpy.ops.object.pbd_key_field.poll()
    assert keyed.draw_context_menu in bpy.types.UI_MT_button_context_menu.draw._draw_funcs


def test_every_preset_shows_all_its_digits(extension):
    """In the field of the panel, with the precision that it has."""
    obj = scenes.add_grid()
    twins = extension.bridge("settings.shown_units").SHOWN_AS
    names = [twins[field.name].name if field.name in twins else field.name for field in dataclasses.fields(
        material_class(extension)
    )]  # fmt: skip
    for preset, material in extension.module("pbd_addon.bodies.material").PRESETS.items():
        for field in dataclasses.fields(material):
            setattr(obj.pbd, field.name, getattr(material, field.name))
        for name in names:
            prop, value = obj.pbd.bl_rna.properties[name], getattr(obj.pbd, name)
            if prop.type == "FLOAT":
                value = math.degrees(value) if prop.unit == "ROTATION" else value
                assert round(value, prop.precision) == pytest.approx(value, rel=1e-6), f"{preset}: {name}"


def test_blenders_own_settings_have_tooltips_of_ours(extension):
    scene = bpy.context.scene
    scene.pbd.use_range, scene.pbd.range_start, scene.pbd.range_end = True, 3, 47
    assert (scene.use_custom_simulation_range, scene.simulation_frame_start, scene.simulation_frame_end) == (
        True,
        3,
        47,
    )
    scene.simulation_frame_end = 50
    scene.render.use_lock_interface = True
    assert (scene.pbd.range_end, scene.pbd.lock_interface) == (50, True)
    scene.pbd.lock_interface = False
    assert not scene.render.use_lock_interface


def test_an_untouched_object_reads_as_the_default_material(extension, raw_settings):
    assert read_material(raw_settings, scenes.add_grid()) == material_class(extension)()


def test_every_preset_is_read_back_exactly(extension, raw_settings):
    obj = scenes.add_grid()
    for name, material in extension.module("pbd_addon.bodies.material").PRESETS.items():
        for field in dataclasses.fields(material):
            setattr(obj.pbd, field.name, getattr(material, field.name))
        assert read_material(raw_settings, obj) == material, name


def test_the_lower_limit_itself_is_legal(extension, raw_settings):
    obj = scenes.add_grid()
    obj.pbd.density = -1.0
    assert read_material(raw_settings, obj).density == 1e-4
    bpy.context.scene.pbd.substeps = 0
    assert read_settings(raw_settings, bpy.context.scene).substeps == 1


def test_automatic_quality_reaches_the_solver(extension):
    """A curtain that comes to rest takes fewer steps than Quality Steps; switched off, it takes them again."""
    scene = bpy.context.scene
    scenes.add_grid("Curtain", damping=5.0)
    scene.pbd.automatic = True
    counts = []
    for frame in range(1, 40):
        scene.frame_set(frame)
        if frame > 1:
            counts.append(extension.bridge("timeline.session").get(scene).report.substeps)
    assert counts[0] == scene.pbd.substeps > counts[-1]
    scene.pbd.automatic = False
    scene.frame_set(40)
    assert extension.bridge("timeline.session").get(scene).report.substeps == scene.pbd.substeps


def test_what_is_no_number_is_refused_by_name(extension, raw_settings):
    obj = scenes.add_grid("Sail", bend=float("nan"))
    error = extension.bridge("errors").PBDError
    with pytest.raises(error, match=r"^Sail: Material\.bend must be a finite number"):
        read_material(raw_settings, obj)


def test_gravity_is_the_scenes(raw_settings):
    scene = bpy.context.scene
    scene.gravity = (0.0, 1.5, -3.7)
    assert read_settings(raw_settings, scene).gravity == (0.0, 1.5, -3.7)
    scene.use_gravity = False
    assert read_settings(raw_settings, scene).gravity == (0.0, 0.0, 0.0)


SHORT_LENGTHS = [
    ("Object", "pbd", "thickness"),
    ("Object", "pbd", "self_distance"),
    ("Object", "pbd", "reduce_error"),
    ("Object", "pbd_collider", "thickness"),
]


def floats():
    """All settings that are dragged, as (owner, group, property)."""
    for owner, name in (("Object", "pbd"), ("Object", "pbd_collider"), ("Scene", "pbd")):
        for field in getattr(bpy.types, owner).bl_rna.properties[name].fixed_type.properties:
            if field.type == "FLOAT" and not field.is_hidden:
                yield owner, name, field


def test_short_lengths_are_sliders(extension):
    """Blender drags lengths by 1 mm or 1 cm a pixel whatever their step, but a slider by its range over its width."""
    is_slider = extension.module("panels.rows").is_slider
    lengths = [entry for entry in floats() if entry[2].unit == "LENGTH" and is_slider(entry[2])]
    assert sorted((owner, name, field.identifier) for owner, name, field in lengths) == sorted(SHORT_LENGTHS)
    for owner, name, field in floats():
        if (owner, name, field.identifier) in SHORT_LENGTHS:
            assert field.soft_min == pytest.approx(0.0, abs=1e-4)
            assert field.soft_max == pytest.approx(0.02)
            assert field.precision >= 4


USUAL = {
    "burst_pressure": 5000.0,
    "bend_friction_shown": 250.0,
    "bend_yield": 90.0,
    "tear_strength": 500.0,
    "contents": 14.0,
}
"""What tooltips tell of settings that are off at first."""


def test_a_pixel_is_a_small_part_of_a_usual_value(extension):
    """Of numbers without a slider; lengths go by what Blender thinks of their unit."""
    for owner, name, field in floats():
        if field.unit == "NONE" and field.subtype not in {"FACTOR", "PERCENTAGE"}:
            usual = field.default or USUAL.get(field.identifier) or min(field.soft_max, 1.0)
            assert field.step / 100.0 <= 0.051 * usual, f"{owner}.{name}.{field.identifier}"
            assert field.step / 100.0 >= 0.002 * usual, f"{owner}.{name}.{field.identifier}"


@pytest.mark.parametrize(("name", "usual"), [("stretch", 5000.0), ("bend", 1e-5), ("density", 0.15)])
def test_a_drag_changes_a_value_by_hundredths_of_a_usual_one(extension, name, usual):
    """Blender's own step is 0.03 whatever the unit: nothing for Tension, three thousand times the whole of Bending."""
    field = bpy.types.Object.bl_rna.properties["pbd"].fixed_type.properties[name]
    assert field.default == pytest.approx(usual)
    assert field.step / 100.0 == pytest.approx(usual / 100.0)
