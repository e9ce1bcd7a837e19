"""Material presets: the shipped files hold the figures of presets.py, and saving, applying, removing work."""

import ast
from pathlib import Path

import bpy
import pytest

KINDS = ("cloth", "balloon")


@pytest.fixture
def bridge(extension):
    """The module that knows where the presets are."""
    return extension.bridge("settings.presets")


@pytest.fixture
def settings(extension):
    return extension.module("pbd_addon.bodies.material")


@pytest.fixture
def figures(extension):
    """The materials by name."""
    return extension.module("pbd_addon.bodies.material").PRESETS


def kind_of(material):
    return "cloth" if material.pressure_mode == "OFF" else "balloon"


def shipped(bridge, kind):
    """The shipped preset files of a kind, by the name that the menu shows."""
    folder = Path(bridge.__file__).parent / "presets" / f"pbd_{kind}"
    return {bpy.path.display_name(path.name, title_case=False): path for path in folder.glob("*.py")}


def assignments(path):
    """What a preset file sets: {name: value}."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.targets[0].attr: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
    }


def add_object(kind):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3)
    bpy.ops.object.pbd_add(type=kind.upper())
    return bpy.context.object


def user_file(kind, name):
    return Path(bpy.utils.user_resource("SCRIPTS", path=f"presets/pbd_{kind}")) / name


def test_shipped_files_are_those_of_the_settings(bridge, figures):
    for kind in KINDS:
        wanted = {name for name, material in figures.items() if kind_of(material) == kind}
        assert set(shipped(bridge, kind)) == wanted


def test_a_shipped_file_names_its_preset(bridge):
    for kind in KINDS:
        for name, path in shipped(bridge, kind).items():
            assert assignments(path) == {"material": name}


def test_every_material_field_is_in_the_files_of_a_balloon(bridge, settings):
    names = set(settings.Material.__dataclass_fields__)
    left_out = {name for name in names if name.startswith(("internal_", "seam_", "sew"))}
    left_out |= {"hold_pins", "pin_stiffness", "closing_time", "tear_strength", "join_borders", "rigid", "mass"}
    left_out |= {"self_collision", "self_distance"}
    inside = {name for name in names if name.startswith(("pressure", "burst_"))}
    inside |= {"contents", "overpressure", "gas_density", "pump", "k_volume"}
    assert names - set(bridge.fields("pbd_balloon")) == left_out
    assert names - set(bridge.fields("pbd_cloth")) == left_out | inside


def test_blender_finds_the_shipped_folders(bridge, figures):
    for kind in {kind_of(material) for material in figures.values()}:
        folder = str(Path(bridge.__file__).parent / "presets" / f"pbd_{kind}")
        assert folder in bpy.utils.preset_paths(f"pbd_{kind}")


def test_apply_every_preset(bridge, figures):
    for kind in KINDS:
        obj = add_object(kind)
        for name, path in shipped(bridge, kind).items():
            menu = f"OBJECT_PT_pbd_{kind}_presets"
            assert bpy.ops.script.execute_preset(filepath=str(path), menu_idname=menu) == {"FINISHED"}
            for field in bridge.fields(f"pbd_{kind}"):
                wanted = getattr(figures[name], field)
                got = getattr(obj.pbd, field)
                assert got == (pytest.approx(wanted, rel=1e-6, abs=1e-12) if isinstance(wanted, float) else wanted)


def test_undo_takes_back_a_preset_and_nothing_else(bridge):
    name = add_object("cloth").name
    bpy.context.object.pbd.friction = 0.77
    bpy.ops.ed.undo_push(message="Friction")
    path = shipped(bridge, "cloth")["Cotton"]
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="OBJECT_PT_pbd_cloth_presets")
    assert bpy.data.objects[name].pbd.friction != pytest.approx(0.77)
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].pbd.enabled
    assert bpy.data.objects[name].pbd.friction == pytest.approx(0.77)


def test_a_fabric_leaves_a_cushion_inflated(bridge):
    obj = add_object("cloth")
    obj.pbd.pressure_mode = "OVERPRESSURE"
    obj.pbd.overpressure = 123.0
    path = shipped(bridge, "cloth")["Cotton"]
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="OBJECT_PT_pbd_cloth_presets")
    assert (obj.pbd.pressure_mode, obj.pbd.overpressure) == ("OVERPRESSURE", 123.0)


@pytest.mark.parametrize("kind", KINDS)
def test_save_apply_and_remove_a_preset_of_the_user(extension, kind):
    operator = getattr(bpy.ops.object, f"pbd_{kind}_preset_add")
    obj = add_object(kind)
    obj.pbd.stretch = 1234.5
    path = user_file(kind, "My_Stuff.py")
    try:
        assert operator(name="My Stuff") == {"FINISHED"}
        assert path.is_file()
        assert assignments(path)["stretch"] == pytest.approx(1234.5)

        other = add_object(kind)
        assert other.pbd.stretch != pytest.approx(1234.5)
        bpy.ops.script.execute_preset(filepath=str(path), menu_idname=f"OBJECT_PT_pbd_{kind}_presets")
        assert other.pbd.stretch == pytest.approx(1234.5)

        assert operator(name="My Stuff", remove_name=True) == {"FINISHED"}
        assert not path.exists()
    finally:
        path.unlink(missing_ok=True)


def test_shipped_presets_stay(bridge):
    add_object("cloth")
    path = shipped(bridge, "cloth")["Cotton"]
    assert bpy.ops.object.pbd_cloth_preset_add(name="Cotton", remove_name=True) == {"CANCELLED"}
    assert path.is_file()
    assert bpy.ops.object.pbd_cloth_preset_add(name="Cotton") == {"CANCELLED"}
    assert not user_file("cloth", "Cotton.py").exists()


def test_only_a_pbd_object_has_a_material_to_save(extension):
    bpy.ops.mesh.primitive_cube_add()
    with pytest.raises(RuntimeError, match="The active object is not PBD"):
        bpy.ops.object.pbd_cloth_preset_add(name="Nothing")


@pytest.mark.parametrize(("kind", "name"), [("cloth", "Cotton"), ("balloon", "Party Balloon")])
def test_what_is_new_is_of_a_material_that_is_told(bridge, figures, kind, name):
    """Every figure of a new object is one of the preset whose name the panel shows."""
    obj = add_object(kind)
    assert bridge.chosen(obj.pbd) == (name, True)
    for field in bridge.fields(f"pbd_{kind}"):
        wanted = getattr(figures[name], field)
        assert getattr(obj.pbd, field) == (pytest.approx(wanted) if isinstance(wanted, float) else wanted), field


def test_the_panel_tells_the_preset_and_whether_it_was_changed(bridge):
    obj = add_object("cloth")
    path = shipped(bridge, "cloth")["Silk"]
    bpy.ops.object.pbd_preset(filepath=str(path), menu_idname="OBJECT_PT_pbd_cloth_presets")
    assert bridge.chosen(obj.pbd) == ("Silk", True)
    obj.pbd.bend *= 2.0
    assert bridge.chosen(obj.pbd) == ("Silk", False)
    obj.pbd.bend /= 2.0
    assert bridge.chosen(obj.pbd) == ("Silk", True)
    bpy.ops.object.pbd_add(type="BALLOON")  # It keeps its fabric, as a cushion does.
    assert bridge.chosen(obj.pbd) == ("Silk", True)


def test_a_preset_of_the_user_is_told_too(bridge):
    obj = add_object("cloth")
    path = user_file("cloth", "My_Stuff.py")
    try:
        bpy.ops.object.pbd_cloth_preset_add(name="My Stuff")
        bpy.ops.object.pbd_preset(filepath=str(path), menu_idname="OBJECT_PT_pbd_cloth_presets")
        assert bridge.chosen(obj.pbd) == ("My Stuff", True)
    finally:
        path.unlink(missing_ok=True)


def test_every_preset_has_a_sentence(extension, figures):
    about = extension.module("pbd_addon.bodies.presets").ABOUT
    assert set(about) == set(figures)
    assert all(len(sentence) > 20 and not sentence.endswith(".") for sentence in about.values())


def test_a_tooltip_says_where_the_figures_are_from(extension):
    said = extension.bridge("settings.presets").about("Cotton")
    assert said.endswith(". Published: Density, Bending. Estimated: Tension, Shear")
