"""Force fields against Blender's own particles and cloth: the same acceleration to 1e-5, field by field."""

import bpy
import numpy as np
import pytest

from helpers.scenes import go, shown

COUNT = 60
SECONDS = 0.04
"""A frame of Blender's particles [s], whatever the frame rate."""

SPEED = 1.0
PLACE = (0.3, -0.2, 0.4)
TURN = (0.4, 0.3, 0.2)


def add_field(kind, **settings):
    bpy.ops.object.effector_add(type=kind, location=PLACE, rotation=TURN)
    obj = bpy.context.object
    for name, value in settings.items():
        setattr(obj.field, name, value)
    return obj


def particles_of(drag_of_air=0.0):
    """Particles that leave a grid at frame 1: a function of a frame that gives positions and velocities."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=5, size=2.0, location=(0.1, 0.2, 0.9))
    emitter = bpy.context.object
    emitter.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = emitter.particle_systems[0].settings
    settings.count, settings.frame_start, settings.frame_end, settings.lifetime = COUNT, 1, 1, 100
    settings.normal_factor, settings.factor_random, settings.physics_type = SPEED, 0.3, "NEWTON"
    settings.mass, settings.integrator, settings.drag_factor = 1.0, "EULER", drag_of_air
    settings.effector_weights.gravity, settings.brownian_factor, settings.use_multiply_size_mass = 0.0, 0.0, False
    settings.subframes, settings.use_adaptive_subframes = 0, False

    def at(frame):
        bpy.context.scene.frame_set(frame)
        found = emitter.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles
        x, v = np.empty((2, 3 * len(found)), np.float32)
        found.foreach_get("location", x)
        found.foreach_get("velocity", v)
        return x.reshape(-1, 3).astype(float), v.reshape(-1, 3).astype(float)

    return at


def read(extension, obj):
    """A field of Blender's as ours."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    raw = extension.bridge("settings.raw_settings").raw_field(obj.evaluated_get(depsgraph).field)
    place = extension.bridge("scene.fields").read_place(obj, depsgraph)
    return extension.bridge("read.fields").field_from(obj.session_uid, raw, place)


FIELDS = [
    ("WIND", {"strength": 3.0}),
    ("WIND", {"strength": 3.0, "flow": 0.0}),
    ("WIND", {"strength": 3.0, "falloff_power": 2.0}),
    ("WIND", {"strength": 3.0, "shape": "POINT", "falloff_power": 1.0}),
    ("WIND", {"falloff_type": "TUBE", "radial_falloff": 1.0, "use_radial_max": True, "radial_max": 0.8}),
    ("WIND", {"falloff_type": "CONE", "falloff_power": 1.0, "use_radial_max": True, "radial_max": 60.0}),
    ("WIND", {"z_direction": "POSITIVE", "use_max_distance": True, "distance_max": 0.6}),
    ("WIND", {"z_direction": "NEGATIVE"}),
    ("FORCE", {"strength": 2.0}),
    ("FORCE", {"strength": 2.0, "falloff_power": 2.0, "use_min_distance": True, "distance_min": 0.7, "flow": 0.5}),
    ("FORCE", {"strength": 2.0, "use_gravity_falloff": True}),
    ("FORCE", {"strength": -2.0, "shape": "PLANE"}),
    ("FORCE", {"strength": 2.0, "shape": "LINE", "falloff_power": 1.0}),
    ("VORTEX", {"strength": 2.0}),
    ("VORTEX", {"strength": 2.0, "falloff_power": 1.0, "flow": 0.3}),
    ("VORTEX", {"strength": 2.0, "shape": "POINT"}),
    ("MAGNET", {"strength": 4.0}),
    ("MAGNET", {"strength": 4.0, "shape": "PLANE", "falloff_power": 1.0}),
    ("HARMONIC", {"strength": 4.0}),
    ("HARMONIC", {"strength": 4.0, "rest_length": 0.6, "harmonic_damping": 0.3}),
    ("TURBULENCE", {"strength": 5.0, "size": 0.5}),
    ("TURBULENCE", {"strength": 5.0, "size": 0.7, "use_global_coords": True, "flow": 0.5}),
    ("TURBULENCE", {"strength": 5.0, "size": 0.0}),
    ("DRAG", {"linear_drag": 0.7, "quadratic_drag": 1.3}),
    ("DRAG", {"linear_drag": 5.0, "quadratic_drag": 0.0, "falloff_power": 1.0}),
]


def check(extension, obj, largest_error=1e-5):
    """Compare what a field does to particles in a frame with what ours does; returns both accelerations."""
    force_fields, fields = extension.module("pbd_addon.air.force_fields"), extension.bridge("read.fields")
    at = particles_of()
    at(1)
    x, v = at(2)
    _, after = at(3)
    expected = (after - v) / SECONDS
    one = read(extension, obj)
    standing = extension.bridge("scene.fields").read_place(obj, bpy.context.evaluated_depsgraph_get())
    found = np.zeros_like(x)
    if one is not None:
        outside = fields.outside({obj.session_uid: standing})
        found = force_fields.FieldForces([one], [one], [1.0], SECONDS, outside)(x, v, 0.0)
    # Velocities are float32: of a difference of them that much is lost.
    allowed = largest_error * np.abs(expected).max() + 4e-7 * np.abs(v).max() / SECONDS
    assert np.abs(found - expected).max() < allowed
    return expected, found


@pytest.mark.parametrize(("kind", "settings"), FIELDS, ids=[f"{at}-{one[0]}" for at, one in enumerate(FIELDS)])
def test_a_field_does_to_particles_what_it_does_in_blender(extension, kind, settings):
    expected, _found = check(extension, add_field(kind, **settings))
    assert np.abs(expected).max() > 0.1


@pytest.mark.parametrize("kind", ["CHARGE", "LENNARDJ"])
def test_fields_between_charged_or_sized_particles_do_nothing_to_cloth(extension, kind):
    expected, found = check(extension, add_field(kind, strength=5.0))
    assert np.abs(expected).max() < 1e-5 and not found.any()


ON_MESHES = [
    ("FORCE", {"shape": "POINTS", "strength": 0.2, "falloff_power": 1.0}),
    ("WIND", {"shape": "POINTS", "strength": 0.3, "falloff_power": 2.0}),
    ("HARMONIC", {"shape": "POINTS", "strength": 2.0}),
    ("FORCE", {"shape": "SURFACE", "strength": 2.0, "falloff_power": 1.0}),
    ("WIND", {"shape": "SURFACE", "strength": 2.0, "flow": 0.0}),
    ("WIND", {"shape": "SURFACE", "strength": 2.0, "z_direction": "POSITIVE"}),
]


@pytest.mark.parametrize(("kind", "settings"), ON_MESHES, ids=[f"{one[0]}-{one[1]['shape']}" for one in ON_MESHES])
def test_a_mesh_can_be_a_field(extension, kind, settings):
    if kind == "WIND" and settings["shape"] == "SURFACE":  # From inside of a box the nearest point is on one face.
        bpy.ops.mesh.primitive_cube_add(size=4.0, location=PLACE, rotation=TURN)
    else:
        bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=6, radius=0.5, location=PLACE, rotation=TURN)
    obj = bpy.context.object
    obj.scale = (1.0, 0.9, 1.2)
    bpy.ops.object.forcefield_toggle()
    obj.field.type = kind
    for name, value in settings.items():
        setattr(obj.field, name, value)
    expected, _found = check(extension, obj)
    assert np.abs(expected).max() > 0.1


TEXTURES = [
    ("CLOUDS", {"cloud_type": "COLOR"}, {"texture_mode": "RGB"}),
    ("CLOUDS", {"cloud_type": "COLOR"}, {"texture_mode": "CURL", "texture_nabla": 0.1}),
    ("CLOUDS", {"cloud_type": "COLOR"}, {"texture_mode": "GRADIENT", "texture_nabla": 0.1}),
    ("CLOUDS", {"cloud_type": "GRAYSCALE"}, {"texture_mode": "RGB", "texture_nabla": 0.1}),
    ("MAGIC", {}, {"texture_mode": "RGB", "use_2d_force": True}),
    ("WOOD", {}, {"use_object_coords": True, "use_2d_force": True, "texture_nabla": 0.1}),
    ("VORONOI", {"color_mode": "POSITION"}, {"texture_mode": "RGB", "use_object_coords": True}),
]


@pytest.mark.parametrize(
    ("kind", "looks", "settings"), TEXTURES, ids=[f"{at}-{one[0]}" for at, one in enumerate(TEXTURES)]
)
def test_a_texture_can_be_a_field(extension, kind, looks, settings):
    obj = add_field("TEXTURE", strength=20.0, **settings)
    texture = obj.field.texture = bpy.data.textures.new("Pattern", kind)
    for name, value in looks.items():
        setattr(texture, name, value)
    expected, _found = check(extension, obj, 1e-5 if settings.get("texture_mode") == "RGB" else 2e-4)
    assert np.abs(expected).max() > 0.1


# ------------------------------------------------------------------------------------------ Blender's cloth

MASS = 0.02
"""Of each vertex of Blender's cloth [kg]."""


def cloth_in_blender(frames):
    """Positions (n, 3) at each frame of a sheet of Blender's cloth that nothing but fields moves; and its triangles."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=7, y_subdivisions=6, size=1.2, location=(0.1, 0.2, 0.6))
    bpy.ops.object.transform_apply()
    obj = bpy.context.object
    settings = obj.modifiers.new("Cloth", "CLOTH").settings
    settings.quality, settings.mass, settings.air_damping = 1, MASS, 0.0
    for name in ("tension", "compression", "shear", "bending"):
        setattr(settings, f"{name}_stiffness", 0.0)
        setattr(settings, f"{name}_damping", 0.0)
    settings.effector_weights.gravity = 0.0
    seen = []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        x = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.attributes["position"].data.foreach_get("vector", x)
        seen.append(x.reshape(-1, 3).astype(float))
    triangles = np.empty(3 * len(obj.data.loop_triangles), np.int32)
    obj.data.loop_triangles.foreach_get("vertices", triangles)
    return seen, triangles.reshape(-1, 3)


CLOTHS = [
    ("WIND", {"strength": 20.0}),
    ("WIND", {"strength": 20.0, "flow": 0.0}),
    ("WIND", {"strength": 20.0, "wind_factor": 0.3, "flow": 0.0}),
    ("WIND", {"strength": 20.0, "wind_factor": 0.0}),
    ("FORCE", {"strength": 20.0}),
    ("FORCE", {"strength": 20.0, "wind_factor": 1.0, "falloff_power": 1.0}),
    ("VORTEX", {"strength": 4.0}),
    ("TURBULENCE", {"strength": 20.0, "size": 0.5}),
    ("DRAG", {}),
    ("TEXTURE", {"strength": 0.5}),
]


@pytest.mark.parametrize("fps", [24, 30])
@pytest.mark.parametrize(("kind", "settings"), CLOTHS, ids=[f"{at}-{one[0]}" for at, one in enumerate(CLOTHS)])
def test_as_blenders_cloth_a_field_does_what_it_does_to_that(extension, kind, settings, fps):
    """Frame by frame of its own clock, where a second has √1000 frames."""
    bpy.context.scene.render.fps = fps
    fields, force_fields = extension.bridge("read.fields"), extension.module("pbd_addon.air.force_fields")
    obj = add_field(kind, **settings)
    if kind == "TEXTURE":
        obj.field.texture = bpy.data.textures.new("Pattern", "MAGIC")
    one = read(extension, obj)
    seen, triangles = cloth_in_blender(4)
    second = 1.0 / force_fields.FRAMES_PER_SECOND
    x, v = seen[0].copy(), np.zeros_like(seen[0])
    masses = np.full(len(x), MASS)
    for expected in seen[1:]:
        acting = force_fields.FieldForces([one], [one], [1.0], second, fields.outside({}))
        v += second * force_fields.as_blenders_cloth(acting, x, v, 0.0, fps, triangles, masses)
        x += second * v
        moved = np.abs(expected - seen[0]).max()
        assert np.abs(x - expected).max() < 1e-5 * max(moved, 0.1)
    assert moved > 1e-3 or kind == "DRAG"


@pytest.mark.usefixtures("empty_file")
def test_an_old_file_moves_our_cloth_as_it_moved_blenders(extension, tmp_path):
    """A sheet that wind and turbulence carry away, opened again: its middle goes where Blender's cloth brought it.

    Stiffnesses do not move the middle of a free sheet, and both weigh the same; but Blender's vertices are equally
    heavy, ours by the area around them, so that the sheets bend in different ways on their way. It is compared at 20
    quality steps: at its default of 5, Blender's solver loses nearly half of what the fields give in these frames.
    """
    add_field("WIND", strength=100.0)
    add_field("TURBULENCE", strength=100.0, size=0.7)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=14, y_subdivisions=14, size=1.2, location=(0.1, 0.2, 0.6))
    bpy.context.object.name = "Sheet"
    settings = bpy.context.object.modifiers.new("Cloth", "CLOTH").settings
    settings.quality = 20
    settings.mass, settings.air_damping, settings.effector_weights.gravity = MASS, 0.0, 0.0
    path = str(tmp_path / "old.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    scene, sheet = bpy.context.scene, bpy.data.objects["Sheet"]
    theirs = middles(sheet, 12)
    go(1)
    bpy.context.view_layer.objects.active = sheet
    sheet.select_set(True)
    sheet.modifiers.remove(sheet.modifiers["Cloth"])
    bpy.ops.object.pbd_add(type="CLOTH")
    count = len(sheet.data.vertices)
    sheet.pbd.density, sheet.pbd.damping = MASS * count / 1.2**2, 0.0
    sheet.pbd.air_normal = sheet.pbd.air_tangent = 0.0  # Blender's is in a vacuum, but for the fields
    sheet.pbd.field_weights.gravity = 0.0
    scene.pbd.field_reading = "CLOTH"
    scene.pbd.speed = scene.render.fps / extension.module("pbd_addon.air.force_fields").FRAMES_PER_SECOND
    ours = middles(sheet, 12)
    assert np.linalg.norm(theirs[-1] - theirs[0]) > 0.1
    assert np.abs(ours - theirs).max() < 0.05 * np.linalg.norm(theirs[-1] - theirs[0])


def middles(obj, last):
    """Mean of all vertices at each frame up to the last one (frames, 3) [m]."""
    found = []
    for frame in range(1, last + 1):
        go(frame)
        found.append(shown(obj).mean(axis=0))
    return np.array(found, float)
