"""Wind and Blender's force fields on our cloth: what they do, what takes frames, and what does nothing."""

import math

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play

pytestmark = pytest.mark.usefixtures("few_substeps")


def add_field(kind="WIND", strength=5.0, location=(0.0, 0.0, 0.0), **settings):
    """A field that blows along +X, if it has a direction."""
    bpy.ops.object.effector_add(type=kind, location=location, rotation=(0.0, math.pi / 2, 0.0))
    obj = bpy.context.object
    obj.field.strength = strength
    for name, value in settings.items():
        setattr(obj.field, name, value)
    return obj


def add_sail(**settings):
    """A sheet in the YZ plane that hangs by its upper edge."""
    sail = scenes.add_grid("Sail", rx=6, ry=6, height=1.0, **{"air_normal": 1.2, "drag": 0.0} | settings)
    x = np.array([vertex.co for vertex in sail.data.vertices])
    sail.data.vertices.foreach_set("co", x[:, [2, 0, 1]].astype(np.float32).ravel())
    scenes.pin(sail, range(30, 36))
    return sail


def drift(obj, last=6):
    """How far the mean of a shown object moves along X up to a frame [m]; then all is at the first frame again."""
    seen = play([obj], 1, last)
    go(1)
    return seen[last][0][:, 0].mean() - seen[1][0][:, 0].mean()


def test_wind_of_the_scene_blows(extension):
    sail = add_sail()
    bpy.context.scene.pbd.wind_speed = 6.0
    assert drift(sail) > 0.02


def test_wind_blows_along_an_object(extension):
    sail, vane = add_sail(), bpy.data.objects.new("Vane", None)
    bpy.context.scene.collection.objects.link(vane)
    vane.rotation_euler.y = math.pi / 2  # Its -Z is -X.
    bpy.context.scene.pbd.wind_speed, bpy.context.scene.pbd.wind_object = 6.0, vane
    bpy.context.view_layer.update()
    assert drift(sail) < -0.02


def test_a_wall_shelters_from_wind_if_it_is_asked_to(extension):
    """What blows past the wall still acts: the sail that stands beside it moves as before."""
    sail = add_sail()
    bpy.context.scene.pbd.wind_speed = 6.0
    wall = scenes.add_mesh("Wall", [(-1, -3, -3), (-1, 3, -3), (-1, 3, 3), (-1, -3, 3)], [(0, 1, 2, 3)], pbd=False)
    wall.pbd_collider.enabled = True
    open_to_wind = drift(sail)
    bpy.context.scene.pbd.wind_shelter = True
    assert abs(drift(sail)) < 0.1 * open_to_wind
    wall.location.y = 10.0
    bpy.context.view_layer.update()
    assert drift(sail) == pytest.approx(open_to_wind)


@pytest.mark.parametrize("reading", ["PHYSICAL", "CLOTH"])
@pytest.mark.parametrize("kind", ["WIND", "FORCE"])
def test_a_field_moves_cloth(extension, kind, reading):
    sail = add_sail()
    bpy.context.scene.pbd.field_reading = reading
    add_field(kind, location=(-1.0, 0.0, 0.0), strength=20.0)
    assert drift(sail) > 0.02


def test_an_old_scene_with_wind_and_turbulence_moves_cloth(extension):
    """As the fields promise: the wind carries it, and turbulence makes more of it than a plane."""
    sail = add_sail()
    add_field("WIND", strength=8.0, location=(-1.0, 0.0, 0.0))
    add_field("TURBULENCE", strength=20.0, size=0.3)
    seen = play([sail], 1, 12)
    moved = seen[12][0][:, 0] - seen[1][0][:, 0]
    assert moved.mean() > 0.05
    assert np.ptp(moved[:6]) > 0.02  # The lower edge is not straight any more.


@pytest.mark.parametrize("reading", ["PHYSICAL", "CLOTH"])
def test_weights_say_how_much_acts(extension, reading):
    bpy.context.scene.pbd.field_reading = reading
    sail = add_sail()
    add_field("FORCE", strength=20.0, location=(-1.0, 0.0, 0.0))
    sail.pbd.field_weights.force = 0.0
    assert abs(drift(sail)) < 1e-6
    sail.pbd.field_weights.force, sail.pbd.field_weights.all = 1.0, 0.0
    assert abs(drift(sail)) < 1e-6
    sail.pbd.field_weights.all = 1.0
    assert drift(sail) > 0.02


def test_gravity_has_a_weight(extension):
    light, heavy = (scenes.add_grid(name) for name in ("Light", "Heavy"))
    heavy.location.x, light.pbd.drag, heavy.pbd.drag = 3.0, 0.0, 0.0
    light.pbd.field_weights.gravity = 0.5
    play([light], 1, 7)
    assert scenes.shown(light)[:, 2].mean() == pytest.approx(0.5 * scenes.shown(heavy)[:, 2].mean(), rel=1e-6)


def test_only_fields_of_the_collection_act(extension):
    sail, fan = add_sail(), add_field("FORCE", strength=20.0, location=(-1.0, 0.0, 0.0))
    chosen = sail.pbd.field_weights.collection = bpy.data.collections.new("Chosen")
    assert abs(drift(sail)) < 1e-6
    chosen.objects.link(fan)
    assert drift(sail) > 0.02


@pytest.mark.parametrize("how", ["hidden", "disabled", "its own", "off", "of another scene"])
def test_a_field_does_nothing(extension, how):
    sail = add_sail()
    if how == "its own":
        bpy.context.view_layer.objects.active = sail
        bpy.ops.object.forcefield_toggle()
        sail.field.type, sail.field.strength = "FORCE", 50.0
    else:
        fan = add_field("FORCE", strength=20.0, location=(-1.0, 0.0, 0.0))
    if how == "hidden":
        fan.hide_set(True)
    elif how == "disabled":
        fan.hide_viewport = True
    elif how == "off":
        fan.field.type = "NONE"
    elif how == "of another scene":
        bpy.data.scenes.new("Other").collection.objects.link(fan)
        bpy.context.scene.collection.objects.unlink(fan)
    assert abs(drift(sail)) < 1e-6


def test_a_wall_absorbs_a_field_that_says_so(extension):
    wall = scenes.add_grid("Wall", pbd=False, width=4.0, height=4.0)
    wall.rotation_euler.y, wall.location.x = math.pi / 2, -0.5
    wall.modifiers.new("Collision", "COLLISION")
    sail, fan = add_sail(), add_field("FORCE", strength=20.0, location=(-1.0, 0.0, 0.0))
    wall.collision.absorption = 1.0
    open_air = drift(sail)
    fan.field.use_absorption = True
    assert abs(drift(sail)) < 1e-6 < open_air
    wall.collision.absorption = 0.5
    assert 0.3 * open_air < drift(sail) < 0.7 * open_air
    wall.location.y = 10.0
    bpy.context.view_layer.update()
    assert drift(sail) == pytest.approx(open_air)


def test_our_collider_absorbs_a_field_that_says_so(extension):
    wall = scenes.add_grid("Wall", pbd=False, width=4.0, height=4.0)
    wall.rotation_euler.y, wall.location.x, wall.pbd_collider.enabled = math.pi / 2, -0.5, True
    sail, fan = add_sail(), add_field("FORCE", strength=20.0, location=(-1.0, 0.0, 0.0))
    open_air = drift(sail)
    fan.field.use_absorption = True
    assert abs(drift(sail)) < 1e-6 < open_air
    wall.pbd_collider.enabled = False
    assert drift(sail) == pytest.approx(open_air)


def test_absorption_that_is_keyed_acts_as_it_is_keyed(extension):
    """The wall opens at frame 5, by its absorption or by moving away."""
    wall = scenes.add_grid("Wall", pbd=False, width=4.0, height=4.0)
    wall.rotation_euler.y, wall.location.x = math.pi / 2, -0.5
    wall.modifiers.new("Collision", "COLLISION")
    sail = add_sail()
    add_field("FORCE", strength=100.0, location=(-1.0, 0.0, 0.0), use_absorption=True)
    for owner, path, values in (
        (wall.collision, "absorption", (1.0, 0.0)),
        (wall, "location", ((-0.5, 0, 0), (-0.5, 9, 0))),
    ):
        for frame, value in zip((4, 5), values, strict=True):
            setattr(owner, path, value)
            owner.keyframe_insert(path, frame=frame)
        seen = play([sail], 1, 6)
        moved = [np.abs(seen[frame][0][:, 0] - seen[1][0][:, 0]).max() for frame in (4, 5)]
        assert moved[0] < 1e-6 < 1e-3 < moved[1]
        wall.animation_data_clear()
        wall.collision.absorption = 1.0
        go(1)


def test_a_keyed_field_acts_as_it_is_keyed(extension):
    sail, fan = add_sail(), add_field("FORCE", strength=0.0, location=(-1.0, 0.0, 0.0))
    for frame, strength in ((4, 0.0), (5, 100.0)):
        fan.field.strength = strength
        fan.keyframe_insert("field.strength", frame=frame)
    seen = play([sail], 1, 6)
    moved = [np.abs(seen[frame][0][:, 0] - seen[1][0][:, 0]).max() for frame in (4, 5)]
    assert moved[0] < 1e-6 < 1e-3 < moved[1]


def test_what_was_jumped_to_is_what_was_played(extension):
    sail = add_sail()
    fan = add_field("TURBULENCE", strength=30.0, size=0.3)
    bpy.context.scene.pbd.wind_speed = 5.0
    scenes.animate_location(fan, 1, 10, (1.0, 0.0, 0.0))
    played = play([sail], 1, 8)[8][0]
    extension.bridge("timeline.session").clear_cache(bpy.context.scene)
    go(1), go(8)
    assert np.array_equal(scenes.shown(sail), played)


# ------------------------------------------------------------------------------------------ bad input


def messages(extension):
    found = extension.bridge("timeline.session").get(bpy.context.scene)
    return "" if found is None else found.message


BAD = [
    ("FORCE", {"strength": math.nan}),
    ("FORCE", {"strength": math.inf}),
    ("WIND", {"strength": math.nan}),
    ("TURBULENCE", {"size": 0.0}),
    ("TURBULENCE", {"size": math.inf}),
    ("TURBULENCE", {"strength": -1.0}),
    ("TEXTURE", {}),
    ("TEXTURE", {"texture": "BLEND"}),
    ("TEXTURE", {"texture": "IMAGE"}),
    ("TEXTURE", {"texture": "NONE"}),
    ("GUIDE", {}),
    ("BOID", {}),
    ("CHARGE", {}),
    ("LENNARDJ", {}),
    ("FLUID", {}),
    ("WIND", {"shape": "SURFACE"}),
    ("WIND", {"shape": "POINTS"}),
    ("FORCE", {"strength": 1.0, "use_max_distance": True, "distance_max": math.nan}),
]


@pytest.mark.parametrize("reading", ["PHYSICAL", "CLOTH"])
@pytest.mark.parametrize(("kind", "settings"), BAD, ids=[f"{at}-{one[0]}" for at, one in enumerate(BAD)])
def test_bad_fields_do_nothing_and_say_nothing_of_python(extension, kind, settings, reading):
    bpy.context.scene.pbd.field_reading = reading
    sail = add_sail()
    texture = {"texture": bpy.data.textures.new("Empty", settings["texture"])} if "texture" in settings else {}
    if "shape" in settings:
        fan = scenes.add_mesh("Point", [(0.0, 0.0, 0.0)], [], pbd=False)
        bpy.ops.object.forcefield_toggle()
        fan.field.type, fan.field.shape = kind, settings["shape"]
    else:
        settings = {name: value for name, value in settings.items() if name != "texture"} | texture
        fan = add_field(kind, **settings)
    play([sail], 1, 6)
    assert np.isfinite(scenes.shown(sail)).all() and messages(extension) == ""
    told = extension.bridge("doctor.field_findings").fields(sail, bpy.context.scene)
    finite = all(math.isfinite(getattr(fan.field, name)) for name in settings if name not in ("shape", "texture"))
    if not finite:
        assert told == [f"'{fan.name}' has a value that is no finite number: it is left out"]
    elif kind in ("GUIDE", "BOID", "CHARGE", "LENNARDJ", "FLUID"):
        assert len(told) == 1 and told[0].endswith("fields do nothing to cloth")
    elif kind == "TEXTURE" and not texture:
        assert told == [f"'{fan.name}' has no texture: choose one"]


def test_whatever_the_strength_cloth_stays_where_it_can_be(extension):
    sail = add_sail()
    add_field("FORCE", strength=1e30, location=(-1.0, 0.0, 0.0))
    play([sail], 1, 3)
    assert np.abs(scenes.shown(sail)).max() < 10.0


def test_a_thousand_fields(extension):
    sail = add_sail()
    for at in range(1000):
        fan = bpy.data.objects.new("Fan", None)
        bpy.context.scene.collection.objects.link(fan)
        fan.location.x = -1.0 - 0.001 * at
        bpy.context.view_layer.objects.active = fan
        if at == 0:
            bpy.ops.object.forcefield_toggle()
            first = fan
        else:
            bpy.data.objects.remove(fan)
            fan = first.copy()
            fan.location.x = -1.0 - 0.001 * at
            bpy.context.scene.collection.objects.link(fan)
        fan.field.strength = 0.02
    assert drift(sail, 4) > 0.005 and messages(extension) == ""


BAD_WIND = [
    ("wind_speed", math.nan),
    ("wind_turbulence", math.nan),
    ("wind_eddy", math.nan),
    ("wind_direction", (0.0, 0.0, 0.0)),
    ("wind_direction", (math.nan, 0.0, 0.0)),
]


@pytest.mark.parametrize(("name", "value"), BAD_WIND)
def test_bad_wind_is_a_sentence(extension, name, value):
    sail, pbd = add_sail(), bpy.context.scene.pbd
    pbd.wind_speed = 5.0
    setattr(pbd, name, value)
    play([sail], 1, 6)
    assert "wind" in messages(extension).lower() and np.isfinite(scenes.shown(sail)).all()


def test_wind_below_zero_is_none_and_a_field_below_zero_blows_backwards(extension):
    sail, pbd = add_sail(), bpy.context.scene.pbd
    pbd.wind_speed = -5.0
    assert pbd.wind_speed == 0.0 and abs(drift(sail)) < 1e-6
    add_field("WIND", strength=-8.0, location=(1.0, 0.0, 0.0))
    assert drift(sail) < -0.02 and messages(extension) == ""


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["gas_density", "pump", "burst_pressure"])
def test_gas_that_cannot_be_is_a_sentence_or_left_at_its_limit(extension, name, value):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.14)
    balloon = bpy.context.object
    bpy.ops.object.pbd_add(type="BALLOON")
    setattr(balloon.pbd, name, value)
    play([balloon], 1, 4)
    assert np.isfinite(scenes.shown(balloon)).all()
    if value == -math.inf:  # Blender stops at the lower limit.
        assert math.isfinite(getattr(balloon.pbd, name)) and messages(extension) == ""
    else:
        assert f"Material.{name} must be" in messages(extension)


def test_cloth_of_before_feels_no_wind_and_is_told_why(extension):
    sail = add_sail(air_normal=0.0)
    bpy.context.scene.pbd.wind_speed = 20.0
    assert abs(drift(sail)) < 1e-6
    told = extension.bridge("doctor.field_findings").wind(sail, bpy.context.scene)
    assert told == ["'Sail' feels no wind: raise Air Across"]


def test_frames_on_disk_know_their_fields(extension, tmp_path):
    """A file that is opened again goes on as if it had not been closed."""
    wall = scenes.add_grid("Wall", pbd=False, width=4.0, height=4.0)
    wall.rotation_euler.y, wall.location.x = math.pi / 2, -0.5
    wall.modifiers.new("Collision", "COLLISION")
    wall.collision.absorption = 0.5
    sail, fan = add_sail(), add_field("FORCE", strength=20.0, location=(-1.0, 0.0, 0.0), use_absorption=True)
    scenes.animate_location(fan, 1, 10, (1.0, 0.0, 0.0))
    scene = bpy.context.scene
    scene.pbd.wind_speed = 5.0
    expected = play([sail], 1, 8)[8][0]
    extension.bridge("timeline.session").clear_cache(scene)
    scene.pbd.use_disk_cache = True
    path = str(tmp_path / "sail.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    play([sail], 1, 5)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    session = extension.bridge("timeline.session")
    assert session.get(bpy.context.scene).last_frame == 5
    go(8)
    assert scenes.shown(bpy.data.objects["Sail"]) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ["Fan", "Wall"])
def test_frames_on_disk_do_not_fit_where_fields_or_what_absorbs_them_has_moved(extension, tmp_path, name):
    wall, sail = scenes.add_grid("Wall", pbd=False), add_sail()
    wall.modifiers.new("Collision", "COLLISION")
    add_field("FORCE", location=(-1.0, 0.0, 0.0), use_absorption=True).name = "Fan"
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "sail.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    play([sail], 1, 3)
    bpy.data.objects[name].location.z += 0.1
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    session = extension.bridge("timeline.session")
    note = session.get(bpy.context.scene).disk_note
    assert note == f"The cache on disk does not fit: '{name}' was moved"


def test_gases_by_name(extension):
    balloon = scenes.add_grid("Skin", type="BALLOON")
    assert balloon.pbd.gas == "SAME"
    balloon.pbd.gas = "HELIUM"
    assert balloon.pbd.gas_density == pytest.approx(0.17)
    balloon.pbd.gas_density = 0.5
    assert balloon.pbd.gas == "OTHER"


def test_the_arrow_of_the_wind(extension):
    lines = extension.bridge("overlay").wind_lines
    scene = bpy.context.scene
    assert len(lines(scene)) == 0
    scene.pbd.wind_speed, scene.pbd.wind_direction = 10.0, (0.0, 2.0, 0.0)
    tail, tip = lines(scene)[:2]
    assert tip - tail == pytest.approx([0.0, 1.0, 0.0]) and lines(scene).dtype == np.float32


def test_a_scene_without_fields_pays_nothing(extension):
    from helpers.calls import entered

    add_sail()
    go(1), go(2)
    files = {file for file, _ in entered(lambda: go(3))}
    assert not files & {"field.py", "force_fields.py", "field_formulas.py", "lattice_noise.py"}
