"""Panels: the same in the sidebar and in Properties > Physics, and nothing drawn that does not exist.

Drawing itself needs a window. What can be checked without one is that the classes are registered in an order that
Blender can show, and, from the sources, that each property and operator they name is there.
"""

import ast
import dataclasses
import inspect
import sys
import types
from typing import NamedTuple

import bpy
import pytest

from helpers import scenes

PREFIXES = ("VIEW3D_PT_pbd_", "PHYSICS_PT_pbd_")
SIDEBAR_ONLY = {"add"}


def preferences():
    """Those of the extension."""
    return next(one.preferences for one in bpy.context.preferences.addons if one.module.endswith("pbd_cloth"))


OWNERS = {
    "context.object.pbd": lambda: bpy.types.Object.bl_rna.properties["pbd"].fixed_type,
    "context.object.pbd_collider": lambda: bpy.types.Object.bl_rna.properties["pbd_collider"].fixed_type,
    "context.object.pbd.field_weights": lambda: OWNERS["context.object.pbd"]().properties["field_weights"].fixed_type,
    "context.scene.pbd": lambda: bpy.types.Scene.bl_rna.properties["pbd"].fixed_type,
    "context.scene": lambda: bpy.types.Scene.bl_rna,
    **dict.fromkeys(("self", "chosen(context)"), lambda: preferences().bl_rna),
    "context.scene.render": lambda: bpy.types.RenderSettings.bl_rna,
}
"""Expressions that the drawings take properties of, and the Blender types they are."""

NOT_ROWS = {"rna_type", "name", "enabled", "type", "rigid", "heat_map", "field_weights"}
"""Fields of the property groups that are set by buttons, or are Blender's own."""


STORED = {"density", "bend", "bend_friction"}
"""Settings that are shown by a twin in another unit."""


def panels_of(prefix):
    names = [name.removeprefix(prefix) for name in dir(bpy.types) if name.startswith(prefix)]
    return {name: getattr(bpy.types, prefix + name) for name in names}


def module(extension, name):
    return extension.module(f"panels.{name}")


def functions(extension):
    """Every function of the panels, as (name of the module, syntax tree of the function)."""
    for name in sorted(sys.modules):
        if name.startswith(f"{extension}.panels."):
            tree = ast.parse(inspect.getsource(sys.modules[name]))
            yield from ((name, node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def calls(function, method):
    """Calls of that name or method in a function."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name == method:
                yield node


def owner_of(function, expression):
    """An expression as a key of OWNERS, seen through the assignments of the function."""
    text = ast.unparse(expression)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == text.split(".")[0]:
            text = text.replace(text.split(".")[0], ast.unparse(node.value), 1)
    return text.replace("obj.pbd", "context.object.pbd") if text.startswith("obj.") else text


def texts(node):
    """The texts in an expression, but for those that something is compared with."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Compare):
        return []
    return [text for child in ast.iter_child_nodes(node) for text in texts(child)]


def meant_by(function, argument):
    """The texts that an argument may be, seen through the assignments of the function."""
    if not isinstance(argument, ast.Name):
        return texts(argument)
    assigned = (node for node in ast.walk(function) if isinstance(node, ast.Assign))
    return [text for node in assigned if ast.unparse(node.targets[0]) == argument.id for text in texts(node.value)]


def shown(extension, name):
    """The property that a setting is shown by."""
    twins = extension.bridge("settings.shown_units").SHOWN_AS
    return twins[name].name if name in twins else name


def draw_map_calls(function):
    """Calls that draw a map which they name: the others draw those of a group."""
    return (call for call in calls(function, "draw_map") if isinstance(call.args[2], ast.Constant))


def drawn_properties(extension):
    """All (place in the sources, owner, property) that the panels draw."""
    for name, function in functions(extension):
        where = f"{name}.{function.name}"
        for call in (*calls(function, "prop"), *calls(function, "prop_search")):
            if isinstance(call.args[1], ast.Constant):
                yield where, owner_of(function, call.args[0]), call.args[1].value
        for call in calls(function, "draw_vertex_group"):
            if isinstance(call.args[3], ast.Constant):
                yield where, "context.object.pbd", call.args[3].value
        kinds = [call.args[2].value for call in draw_map_calls(function)]
        for call in calls(function, "draw_group"):
            owner = owner_of(function, call.args[1])
            for group in meant_by(function, call.args[2]):
                kinds += extension.bridge("settings.groups").maps(group)
                names = extension.bridge("settings.groups").names(group)
                assert names, f"{where} draws {group!r}, which has no settings"
                yield from ((where, owner, shown(extension, name)) for name in names)
        yield from (
            (where, "context.object.pbd", f"{kind}_{part}") for kind in kinds for part in ("group", "low", "high")
        )


def test_both_places_show_the_same_panels(extension):
    sidebar, physics = map(panels_of, PREFIXES)
    assert set(sidebar) - SIDEBAR_ONLY == set(physics)
    assert len(physics) >= 9
    for name, panel in physics.items():
        twin = sidebar[name]
        assert panel.bl_label == twin.bl_label
        assert panel.draw is twin.draw
        parents = [getattr(cls, "bl_parent_id", "") for cls in (twin, panel)]
        assert [parent.removeprefix(prefix) for parent, prefix in zip(parents, PREFIXES, strict=True)] in (
            [parents[0].removeprefix(PREFIXES[0])] * 2,
        )


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_panel_draws_something(extension, prefix):
    base = module(extension, "places").BodyPanel
    for name, panel in panels_of(prefix).items():
        if name not in SIDEBAR_ONLY:
            assert panel.draw is not base.draw or panel.draw_settings is not base.draw_settings, name


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_sub_panel_hangs_on_a_registered_one(extension, prefix):
    panels = panels_of(prefix)
    roots = [name for name, panel in panels.items() if not hasattr(panel, "bl_parent_id")]
    assert set(roots) - SIDEBAR_ONLY == {"main", "collider"}
    for panel in panels.values():
        if hasattr(panel, "bl_parent_id"):
            assert panel.bl_parent_id.removeprefix(prefix) in panels


def test_a_colliders_tab_begins_with_its_own_panel(extension):
    """The panels stand in the order of their registration."""
    order = [one.__name__ for one in extension.module("panels").MODULES]
    assert order.index(f"{extension}.panels.main") < order.index(f"{extension}.panels.collider")
    assert order.index(f"{extension}.panels.collider") < order.index(f"{extension}.panels.entry")


def test_places_are_the_sidebar_tab_and_the_physics_tab(extension):
    for panel in panels_of(PREFIXES[0]).values():
        assert (panel.bl_space_type, panel.bl_region_type, panel.bl_category) == ("VIEW_3D", "UI", "PBD")
    for panel in panels_of(PREFIXES[1]).values():
        assert (panel.bl_space_type, panel.bl_region_type, panel.bl_context) == ("PROPERTIES", "WINDOW", "physics")


def test_every_drawn_property_exists(extension):
    drawn = list(drawn_properties(extension))
    assert len(drawn) > 30
    for where, owner, name in drawn:
        assert owner in OWNERS, f"{where} draws {name!r} of {owner}, which this test does not know"
        assert name in OWNERS[owner]().properties, f"{where} draws {owner}.{name}"


@pytest.mark.parametrize("owner", ["context.object.pbd", "context.object.pbd_collider", "context.scene.pbd"])
def test_every_setting_is_drawn(extension, owner):
    """A new setting must get its row: the artist has no other way to it."""
    drawn = {name for _where, drawn_owner, name in drawn_properties(extension) if drawn_owner == owner}
    settings = {prop.identifier for prop in OWNERS[owner]().properties if not prop.is_hidden}
    assert settings - NOT_ROWS - STORED == drawn - NOT_ROWS


def test_a_field_of_the_engine_may_name_its_group(extension, monkeypatch):
    """So that a new part has its row without a change of the bridge."""
    groups = extension.bridge("settings.groups")
    field = dataclasses.field(default=1.0, metadata={"label": "Magnet", "panel": "weight"})
    field.name = "magnet"
    monkeypatch.setattr(groups, "shown_fields", lambda _settings: (field,))
    assert groups.names("weight") == ("density", "drag", "magnet")
    assert groups.names("floor") == ("floor_height", "floor_friction")
    assert groups.maps("internal springs") == ("internal",)
    assert groups.maps("floor") == ()


def test_short_lengths_are_drawn_as_sliders_everywhere(extension):
    """`draw_group` sees to it itself."""
    is_slider, found = module(extension, "rows").is_slider, set()
    for where, function in functions(extension):
        for call in calls(function, "prop"):
            if len(call.args) != 2 or not isinstance(call.args[1], ast.Constant):
                continue
            owner, name = OWNERS.get(owner_of(function, call.args[0])), call.args[1].value
            if owner is not None and is_slider(owner().properties[name]):
                assert any(key.arg == "slider" and ast.unparse(key.value) == "True" for key in call.keywords), where
                found.add(name)
    assert found == {"self_distance", "reduce_error"}


def test_every_button_has_an_operator(extension):
    named = set()
    for where, function in functions(extension):
        for call in calls(function, "operator"):
            assert isinstance(call.args[0], ast.Constant), f"{where} names no operator by its bl_idname"
            named.add(call.args[0].value)
    for name in named:
        category, operator = name.split(".")
        assert getattr(getattr(bpy.ops, category), operator).get_rna_type() is not None
    ours = {name for name in named if "pbd" in name}
    assert {f"object.{name}" for name in dir(bpy.ops.object) if name.startswith("pbd_")} - ours == {
        "object.pbd_cloth_preset_add",
        "object.pbd_balloon_preset_add",
        "object.pbd_preset",
        "object.pbd_key_field",
    }


BY_OTHER_BUTTONS = {
    *("pbd_cloth_preset_add", "pbd_balloon_preset_add", "pbd_preset"),  # of the preset menus
    *("pbd_collider_select", "pbd_doctor_fix", "pbd_key_setting"),  # of rows that say of what
    "pbd_key_field",  # of a key over such a row
}
"""Operators that mean nothing without the button that calls them."""


def test_every_operator_is_in_a_menu_that_search_looks_through(extension):
    """Object > PBD, or Mesh > PBD in Edit Mode: Blender's search finds what a menu holds."""
    menus = {name for name, function in functions(extension) if name.endswith(".menus")}
    assert len(menus) == 1
    held = {
        call.args[0].value
        for name, function in functions(extension)
        if name in menus
        for call in calls(function, "operator")
    }
    known = {f"object.{name}" for name in dir(bpy.ops.object) if name.startswith("pbd_")}
    assert known - held == {f"object.{name}" for name in BY_OTHER_BUTTONS}
    for menu in (bpy.types.VIEW3D_MT_object, bpy.types.VIEW3D_MT_edit_mesh):
        assert [draw for draw in menu.draw._draw_funcs if "pbd_cloth" in draw.__module__]


def test_preset_menus_name_their_operators(extension):
    for kind in ("cloth", "balloon"):
        menu = getattr(bpy.types, f"OBJECT_PT_pbd_{kind}_presets")
        category, operator = menu.preset_add_operator.split(".")
        assert getattr(getattr(bpy.ops, category), operator).get_rna_type() is not None
        assert menu.preset_subdir == f"pbd_{kind}"
        row = getattr(bpy.types, f"OBJECT_MT_pbd_{kind}_materials")  # A menu, because a panel stays open.
        assert not hasattr(row, "preset_add_operator")
        for name in ("preset_subdir", "preset_operator", "preset_operator_defaults"):
            assert getattr(row, name) == getattr(menu, name)


class Region(NamedTuple):
    width: float
    type: str = "UI"


class System(NamedTuple):
    ui_scale: float


class Preferences(NamedTuple):
    system: System
    ui_styles: bpy.types.bpy_prop_collection


class Room(NamedTuple):
    """What the drawings ask of a context about the room that they have; without a window Blender has none."""

    region: Region
    preferences: Preferences

    @classmethod
    def of(cls, width, scale=1.25):
        """A region of this width [pixels at the interface scale 1]."""
        return cls(Region(width * scale), Preferences(System(scale), bpy.context.preferences.ui_styles))


SIDEBAR = 280.0
"""Width of Blender's sidebar as it is at first [pixels at the interface scale 1]."""


def drawn_labels(extension):
    """Every label in the column before the fields, as (place in the sources, English label)."""
    shorter = dict(extension.bridge("settings.groups").SHORT_LABELS)
    for _name, function in functions(extension):
        for call in draw_map_calls(function):
            kind, *text = (argument.value for argument in call.args[2:])
            shorter.update({f"{kind}_low": "Low, High", f"{kind}_high": "", **{f"{kind}_group": one for one in text}})
    for where, owner, name in drawn_properties(extension):
        field = OWNERS[owner]().properties[name]
        if field.type != "BOOLEAN" and not name.startswith("preset"):
            yield where, shorter.get(name, field.name)


def test_no_label_is_cut_off_in_the_sidebar(extension):
    """Blender's own split has room for all of them, so that no field begins elsewhere."""
    rows = module(extension, "rows")
    labels = list(drawn_labels(extension))
    assert len(labels) > 50
    for where, label in labels:
        needed, room = rows.text_width(Room.of(SIDEBAR), label), rows.LABEL_SHARE * rows.row_width(Room.of(SIDEBAR))
        assert needed <= room, f"{where}: {label!r} takes {needed:.0f} of {room:.0f} pixels"
        assert "(" not in label, f"{where}: the unit of {label!r} belongs into the tooltip"


def test_there_is_room_for_the_smallest_and_the_largest_number(extension):
    rows = module(extension, "rows")
    field = 0.6 * (rows.row_width(Room.of(SIDEBAR)) - rows.ICON) * (1.0 - rows.UNIT_SHARE)
    for number in ("300000.00", "0.0010 m"):
        assert rows.text_width(Room.of(SIDEBAR), number) < field


def test_only_what_an_artist_needs_first_is_open(extension):
    """Pressure of a balloon, Physical and Shape; all else is folded, so that Bake and what follows is near.

    Floor is open inside of a folded panel: its height is to be seen where it is ticked.
    """
    for prefix in PREFIXES:
        opened = {
            name
            for name, panel in panels_of(prefix).items()
            if "DEFAULT_CLOSED" not in getattr(panel, "bl_options", ())
        }
        assert opened == {"main", "pressure", "physical", "shape", "floor", "collider"} | (
            SIDEBAR_ONLY if prefix == PREFIXES[0] else set()
        )


class Shown(NamedTuple):
    """What `poll` asks of a context."""

    object: bpy.types.Object
    preferences: bpy.types.Preferences


def test_edit_mode_has_its_buttons_in_the_place_of_those_that_wait(extension, monkeypatch):
    """So that the panel is not longer there than a laptop's screen."""
    main, drawn, obj = module(extension, "main"), [], scenes.add_grid()
    for place, name in (
        (main.editing, "draw"),
        *((main, f"draw_{part}") for part in ("body", "playback")),
        *((main.status, f"draw_{part}") for part in ("line", "problems")),
    ):
        monkeypatch.setattr(place, name, lambda *_, name=name: drawn.append(name))
    panel = types.SimpleNamespace(layout=types.SimpleNamespace(column=types.SimpleNamespace))
    main.Main.draw(panel, Shown(obj, bpy.context.preferences))
    assert drawn == ["draw_body", "draw_playback", "draw_line", "draw_problems"]
    drawn.clear()
    bpy.ops.object.mode_set(mode="EDIT")
    main.Main.draw(panel, Shown(obj, bpy.context.preferences))
    bpy.ops.object.mode_set(mode="OBJECT")
    assert drawn == ["draw", "draw_body", "draw_line", "draw_problems"]


RARE = {"maps", "field_weights", "internal_springs", "plasticity", "tearing"}


def shown_panels(obj):
    context = Shown(obj, bpy.context.preferences)
    return {name for name, panel in panels_of(PREFIXES[0]).items() if panel.poll(context)}


def test_simple_hides_what_is_rare_until_it_is_used():
    obj = scenes.add_grid()
    assert preferences().panels == "SIMPLE"
    simple = shown_panels(obj)
    preferences().panels = "FULL"
    try:
        assert shown_panels(obj) - simple == RARE
    finally:
        preferences().panels = "SIMPLE"
    obj.pbd.tear_strength, obj.pbd.bend_yield, obj.pbd.internal_springs = 100.0, 0.1, True
    obj.pbd.field_weights.wind = 0.5
    obj.pbd.bend_group = "Stiff"
    assert shown_panels(obj) - simple == RARE


def test_a_balloon_begins_with_its_pressure():
    """Cloth, which may be a cushion, has it further down, and a solid has none; a balloon is attached rarely."""
    obj = scenes.add_grid()
    found = {}
    for kind in ("CLOTH", "RIGID", "BALLOON"):
        bpy.ops.object.pbd_add(type=kind)
        found[kind] = shown_panels(obj) & {"pressure", "cloth_pressure", "attach"}
    assert (found["CLOTH"], found["BALLOON"]) == ({"cloth_pressure", "attach"}, {"pressure"})
    assert not found["RIGID"] & {"pressure", "cloth_pressure"}
    obj.pbd.attach_object = obj
    assert "attach" in shown_panels(obj)


def test_units_that_blender_does_not_show_stand_behind_the_field(extension):
    groups = extension.bridge("settings.groups")
    obj, scene = scenes.add_grid(), bpy.context.scene
    units = {name: groups.unit(obj.pbd, name) for name in ("density", "stretch", "pump", "thickness", "bend_yield")}
    assert units == {"density": "g/m²", "stretch": "N/m", "pump": "l/s", "thickness": "", "bend_yield": "1/m"}
    twins = extension.bridge("settings.shown_units").SHOWN_AS
    keys = bpy.ops.object.pbd_key_setting.get_rna_type().properties["setting"].enum_items.keys()
    assert set(keys) == set(twins), "each has a button that keys it"
    assert groups.unit(scene.pbd, "air_density") == "kg/m³"
    assert groups.unit(obj.pbd.field_weights, "drag") == ""
    rows = module(extension, "rows")
    room = rows.UNIT_SHARE * 0.6 * (rows.row_width(Room.of(SIDEBAR)) - rows.ICON)
    assert max(rows.text_width(Room.of(SIDEBAR), unit) for unit in groups.UNITS.values()) < room


def test_wide_editors_have_two_columns(extension):
    row_width = module(extension, "rows").row_width
    assert row_width(Room.of(610.0)) < row_width(Room.of(590.0)) < row_width(Room.of(1500.0))


def test_entries_in_blenders_own_panels(extension):
    from bl_ui.properties_physics_common import PHYSICS_PT_add

    entry = module(extension, "entry")
    primitives = extension.module("operators.primitives")
    assert entry.draw_physics_buttons in PHYSICS_PT_add.draw._draw_funcs
    assert primitives.draw_menu in bpy.types.VIEW3D_MT_mesh_add.draw._draw_funcs


def test_switched_off_leaves_nothing_behind(extension):
    from bl_ui.properties_physics_common import PHYSICS_PT_add

    extension.disable()
    try:
        menus = (bpy.types.VIEW3D_MT_mesh_add, bpy.types.VIEW3D_MT_object, bpy.types.VIEW3D_MT_edit_mesh)
        for cls in (PHYSICS_PT_add, *menus):
            assert not [draw for draw in cls.draw._draw_funcs if "pbd_cloth" in draw.__module__]
        assert not [name for name in dir(bpy.types) if "_pbd_" in name]
        assert not [path for path in bpy.utils.preset_paths("pbd_cloth") if "user_default" in path]
    finally:
        extension.enable()
    assert all(map(panels_of, PREFIXES))
