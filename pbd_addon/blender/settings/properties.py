"""``Object.pbd``, ``Object.pbd_collider`` and ``Scene.pbd``: what a user can set.

Materials and solver settings are made from the fields of the engine's settings; all others are here.
"""

import math
from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import IntProperty, PointerProperty, StringProperty

from ...bodies.material import Material
from ...settings.solver_settings import SolverSettings
from ..kinds import Context, Group, Object
from . import borrowed, gases, looping, maps, presets, shown_units, wind
from .field_properties import (
    OVERRIDABLE,
    Choice,
    Length,
    Link,
    Real,
    Switch,
    Text,
    Vector,
    Whole,
    forget_known,
    on_group,
    property_from,
    shown_fields,
)
from .field_weights import PBD_PG_field_weights

RELATIVE_PATHS = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()
"""Options of a path that may begin with //; before Blender 4.5 all paths may."""

enabled_listeners: list[Callable[[], None]] = []
"""Functions to call, without arguments, when an object becomes PBD or stops being it."""

collider_listeners: list[Callable[[], None]] = []
"""Functions to call, without arguments, when an object may have become a collider or stopped being one."""


def telling(listeners: list[Callable[[], None]]) -> Callable[[Group, Context], None]:
    """Update callback that calls these functions, because scripts may set a property too, not only operators."""

    def update(group: Group, _context: Context) -> None:
        forget_known(group)
        for listener in listeners:
            listener()

    return update


def is_other_mesh(group: Group, obj: Object) -> bool:
    """Poll of a pointer: any other mesh object."""
    return obj.type == "MESH" and obj != group.id_data


def is_other_support(group: Group, obj: Object) -> bool:
    """Poll of a pointer: any other mesh or curve."""
    return obj.type in ("MESH", "CURVE") and obj != group.id_data


TYPES = (
    ("CLOTH", "Cloth", "A sheet: fabric, paper, leather", "MOD_CLOTH", 0),
    ("BALLOON", "Balloon", "A skin around a volume: a balloon, a ball, a cushion", "MESH_UVSPHERE", 1),
    ("RIGID", "Rigid Body", "A solid that cloth pushes and that pushes cloth: a ball, a box, a tray", "RIGID_BODY", 2),
)
"""What an object can be, as items of an enumeration."""

BAKE_MODES = (
    ("ABSOLUTE", "Absolute Keys", "One animated value, Evaluation Time, plays the keys in order: small and smooth"),
    ("RELATIVE", "Relative Keys", "Every frame is a key with its own animated value"),
    ("REDUCED", "Reduced Keys", "A few keys with animated values that stay within an error: for games and glTF"),
    ("MESH_CACHE", "Mesh Cache", "A PC2 file that a Mesh Cache modifier plays: for long or large animations"),
)
"""The ways to keep a bake, as items of an enumeration."""


def coulomb(name: str, description: str) -> Any:
    """A friction coefficient."""
    return Real(name, description, 0.4, low=0.0, soft_high=2.0, step=0.4)


class PBD_PG_object(bpy.types.PropertyGroup):
    """The material of a cloth or balloon, its pins, and the notes that undo its bake."""

    enabled: Switch(
        "PBD", "This object is PBD cloth, a PBD balloon or a PBD rigid body", update=telling(enabled_listeners)
    )
    active: Switch("Simulate", "Simulate this object while frames play", True)
    type: Choice("Type", "What the object is: this decides which settings are shown", items=TYPES)
    pin_group: Text(
        "Pin Group",
        "Vertex group of the vertices that follow the object. Weight 1 holds firmly, less is a spring",
        update=on_group("pin_group"),
    )
    attach_object: Link(
        "Attach To",
        "Mesh or curve that the attached vertices follow as it moves and deforms: a body, a sail's mast",
        type=bpy.types.Object,
        poll=is_other_support,
    )
    attach_group: Text(
        "Attach Group",
        "Vertex group of the vertices that follow the surface of that mesh. Weight 1 holds firmly, less is a spring",
        update=on_group("attach_group"),
    )
    attach_slide: Switch(
        "Slide",
        "Attached vertices keep their distance from that mesh and slide along it without friction: rings "
        "on a curtain rod, a skirt on the hips. They slide along edges where there are no faces. Press Reset to see a "
        "change",
        options=set(),
    )
    output: Choice(
        "Output",
        "What shows the simulated shape",
        items=(
            ("AUTO", "Automatic", "A modifier where modifiers such as Armature pose the mesh, else a shape key"),
            ("SHAPE_KEY", "Shape Key", "A shape key; it stands before all modifiers, which deform the simulated shape"),
            (
                "MODIFIER",
                "Modifier",
                "The modifier 'PBD Output': pins follow the modifiers before it, those after it act on the cloth",
            ),
        ),
    )
    rest_shape: Choice(
        "Rest Shape",
        "The shape in which nothing is stretched or bent. Press Reset to see a change",
        items=(
            ("BASIS", "Mesh", "The mesh with its shape keys, before modifiers: what a pose stretches pulls back"),
            (
                "DEFORMED",
                "First Frame",
                "The shape of the first frame, as modifiers leave it: that pose strains nothing",
            ),
            ("KEY", "Shape Key", "One of its shape keys: the mesh starts as it is and strives for that shape"),
            ("OBJECT", "Object", "Another object with the same vertices and faces, in its own size: a flat pattern"),
            (
                "DYNAMIC",
                "Dynamic Mesh",
                "The shape of each frame, by its shape keys, its scale and the modifiers before the simulation: "
                "what grows or deforms",
            ),
        ),
    )
    rest_key: Text("Rest Key", "The shape key in which nothing is stretched or bent")
    rest_object: Link(
        "Rest Object",
        "The object in whose shape nothing is stretched or bent. It has the same vertices and faces: "
        "duplicate the mesh and reshape the copy",
        type=bpy.types.Object,
        poll=is_other_mesh,
    )
    warp: Choice(
        "Warp",
        "Where the threads run that Tension and Bending are for; those of the weft run across. "
        "Press Reset to see a change",
        items=(
            ("X", "X Axis", "Along the X axis of the object, and its edges: the Y axis where faces look along X"),
            (
                "UV",
                "UV Map",
                "Along U of the active UV map, as a pattern lies on the cloth: cuts on the bias stretch more",
            ),
        ),
        options=set(),
    )
    layer: Whole(
        "Layer",
        "Which cloth lies outside where objects are tangled at the start: the one with the higher number, "
        "on the side to which the faces of the other look. A shirt 1, a jacket over it 2; 0 leaves it where it is",
        0,
        low=0,
        soft_high=10,
        options=set(),
    )
    fit: Switch(
        "Fit",
        "Bring what begins inside of a closed collider, or goes through one, out before the first frame. Usually on. "
        "Press Reset to see a change",
        options=set(),
    )
    velocity: Vector(
        "Velocity",
        "Speed along the axes of the world at which it starts. A thrown towel 4 m/s",
        low=-1000.0,
        high=1000.0,
        soft_min=-20.0,
        soft_high=20.0,
        subtype="VELOCITY",
        options=set(),
    )
    angular_velocity: Vector(
        "Angular Velocity",
        "Degrees per second (in scripts, radians) by which it starts to turn about its center of mass, "
        "around the axes of the world. A spinning balloon 360°/s",
        soft_min=-8.0 * math.pi,
        soft_high=8.0 * math.pi,
        subtype="EULER",
        options=set(),
    )
    bake_mode: Choice("Bake As", "How the bake is kept and played", items=BAKE_MODES)
    reduce_by: Choice(
        "Reduce By",
        "What decides how many reduced keys there are",
        items=(
            ("ERROR", "Error", "As few keys as keep every vertex of every frame within an error"),
            ("COUNT", "Number of Keys", "This many keys, as exact as they can be"),
        ),
    )
    reduce_error: Length(
        "Largest Error",
        "How far any vertex may be from where it was simulated, in any frame. "
        "Close to the camera 0.001 m, cloth in a game 0.005 m to 0.02 m",
        0.005,
        low=1e-5,
        soft_high=0.02,
    )
    reduce_count: Whole(
        "Keys",
        "How many shape keys there are at most, including one that all frames share. Games: 8 to 64",
        32,
        low=1,
        soft_high=256,
    )
    field_weights: PointerProperty(
        name="Field Weights",
        description="How much of each type of force field, and of gravity, this object feels",
        type=PBD_PG_field_weights,
        override=OVERRIDABLE,
    )

    # What the add-on needs to remove what it has added. These are not settings: scripts should leave them alone.
    material: StringProperty(name="Material", options={"HIDDEN"}, get=lambda pbd: pbd.preset, set=presets.apply)
    preset: Text("Preset", options={"HIDDEN"})
    preset_mark: Text("Material of the Preset", options={"HIDDEN"})
    live_key: Text("Live Shape Key", options={"HIDDEN"})
    output_after: Text("Modifiers Known to Pose the Mesh", options={"HIDDEN"})
    baked: Switch("Baked", options={"HIDDEN"})
    baked_as: Text("Mode of the Bake", options={"HIDDEN"})
    bake_start: Whole("First Baked Frame", options={"HIDDEN"})
    bake_end: Whole("Last Baked Frame", options={"HIDDEN"})
    bake_loop: Whole("Frames of the Baked Loop", options={"HIDDEN"})
    bake_apart: Real("Distance of the Frames That the Loop Joins", options={"HIDDEN"})
    bake_keys: Text("Names of the Baked Keys", options={"HIDDEN"})
    bake_action: Link("Action of the Bake", type=bpy.types.Action, options={"HIDDEN"})
    made_animation_data: Switch("Animation Data Is Ours", options={"HIDDEN"})
    bake_modifier: Text("Modifier of the Bake", options={"HIDDEN"})
    bake_file: Text("File of the Bake", subtype="FILE_PATH", options={"HIDDEN", *RELATIVE_PATHS})
    bake_switched_off: Text("Modifiers Switched Off by the Bake", options={"HIDDEN"})
    bake_parent_type: Text("Parent Type Before the Bake", options={"HIDDEN"})
    key_use_relative: Switch("Relative Before the Bake", default=True, options={"HIDDEN"})
    key_eval_time: Real("Evaluation Time Before the Bake", options={"HIDDEN"})
    color_before: Text("Active Color Before the Heat Map", options={"HIDDEN"})
    key_active_index: Whole("Active Key Before the Bake", options={"HIDDEN"})

    def apply_preset(self, name: str) -> None:
        """Take the settings of a shipped material, such as "Foil Balloon".

        Raises:
            ValueError: There is no material of that name.
        """
        if name not in presets.PRESETS:
            raise ValueError(f"There is no material {name!r}: choose one of {', '.join(presets.PRESETS)}")
        presets.apply(self, name)


class PBD_PG_collider(bpy.types.PropertyGroup):
    """The settings of an object as a collider."""

    enabled: Switch(
        "Collider",
        "PBD cloth and balloons collide with this object, as its modifiers leave it",
        update=telling(collider_listeners),
    )
    thickness: Length(
        "Distance",
        "How far cloth stays away from this surface, in addition to its own Distance. "
        "Skin 0.002 m, rough ground 0.01 m",
        0.002,
        low=0.0,
        soft_high=0.02,
    )
    friction: coulomb(
        "Friction",
        "Coulomb coefficient while cloth slides; the mean of this and the cloth's counts. Ice 0.05, wood 0.4, rubber 1",
    )
    static_friction: coulomb(
        "Static Friction",
        "Coulomb coefficient that must be overcome before cloth begins to slide; "
        "at least Friction counts. Wood 0.5, rubber 1.2",
    )
    restitution: Real(
        "Bounce",
        "Share of the speed of approach that a bounce gives back. Cloth on wood 0, on a trampoline 0.7",
        low=0.0,
        high=1.0,
        subtype="FACTOR",
    )
    group: Text(
        "Vertex Group",
        "Cloth meets only faces whose vertices are all in this group: a body without its arms. None: all faces. "
        "Press Reset to see changed weights",
        update=on_group("group"),
    )
    inside: Switch("Keep Inside", "Keep cloth inside of this closed surface, as in a drum or a box, instead of outside")
    join_borders: Switch(
        "Join Borders",
        "Make borders that start at the same place one surface, as UV seams of imported figures are. "
        "Off where they part",
        True,
    )


class PBD_PG_scene(bpy.types.PropertyGroup):
    """The settings of all cloth and balloons of a scene."""

    speed: Real(
        "Speed", "How fast simulated time runs. 1 is real time, 0.5 slow motion", 1.0, low=0.001, soft_high=4.0, step=1
    )
    collider_collection: Link(
        "Collection",
        "Every object of this collection that is not simulated is a collider too, "
        "with settings of its own if it is marked as one",
        type=bpy.types.Collection,
        update=telling(collider_listeners),
    )
    kernels: Choice(
        "Kernels",
        "What computes the simulation. The result is the same up to rounding",
        items=(
            ("AUTO", "Automatic", "Numba where the extension includes it, once it is compiled; otherwise NumPy"),
            ("NUMPY", "NumPy", "Always NumPy, as on a computer without Numba"),
        ),
        options=set(),
    )
    bake_folder: Text(
        "Folder",
        "Where Mesh Cache bakes write their PC2 files; // is the folder of the saved .blend file",
        "//cache_pbd/",
        subtype="DIR_PATH",
        options=RELATIVE_PATHS,
    )
    cache_limit: Whole(
        "Memory Limit",
        "Memory in MB that cached frames may take. When it is full no more are simulated; with Disk Cache, "
        "those on disk leave the memory. 10,000 vertices take 70 MB in 250 frames",
        4000,
        low=1,
        soft_high=64000,
        options=set(),
    )
    use_disk_cache: Switch(
        "Disk Cache",
        "Write simulated frames into the folder cache_pbd beside the saved .blend file, "
        "so that they are there when it is opened again",
        options=set(),
    )
    frames_on_disk: IntProperty(name="Frames on Disk When Saved", options={"HIDDEN"})
    settle: Whole(
        "Settle",
        "Frames that cloth hangs before the first one, hidden from the timeline, while all else stands "
        "still. A curtain takes 50, a garment 100; with 0 nothing settles",
        low=0,
        soft_high=250,
    )
    show_overlay: Switch(
        "PBD Floor and Pins",
        "Draw the floor as a grid, pinned vertices as orange points and attached ones as blue points",
        True,
        options=set(),
    )
    hand_count: IntProperty(name="Uses of the Hand", options={"HIDDEN"})
    heat_map: Choice(
        "Heat Map",
        "What the colors of the vertices show while frames play",
        items=(
            ("OFF", "Off", "No colors"),
            ("STRAIN", "Strain", "How much edges are longer or shorter than at rest"),
            ("CONTACT", "Contact", "Where vertices have touched an obstacle or cloth"),
        ),
    )
    heat_full: Real(
        "Full Scale",
        "Strain that is shown in red. Woven cloth 2 %, knitwear 10 %, a balloon 100 %",
        5.0,
        low=0.01,
        soft_high=20.0,
        subtype="PERCENTAGE",
        precision=1,
    )
    shading_before: StringProperty(name="Color of Solid Shading Before the Heat Map", options={"HIDDEN"})
    use_floor: Switch("Floor", "An infinite horizontal floor")
    floor_height: Length("Height", "Height of the floor. The ground of most scenes is at 0 m")
    floor_friction: coulomb("Friction", "Coulomb coefficient of the floor. Ice 0.05, wood 0.4, rubber 1")


for group, settings in ((PBD_PG_object, Material), (PBD_PG_scene, SolverSettings)):
    group.__annotations__.update({field.name: property_from(field) for field in shown_fields(settings)})

PBD_PG_object.__annotations__.update(shown_units.properties() | maps.properties() | gases.properties())
PBD_PG_scene.__annotations__.update(borrowed.properties() | wind.properties() | looping.properties())

register_classes, unregister_classes = bpy.utils.register_classes_factory(
    (PBD_PG_field_weights, PBD_PG_object, PBD_PG_collider, PBD_PG_scene)
)


def register() -> None:
    """Register the groups and attach them to objects and scenes."""
    register_classes()
    bpy.types.Object.pbd = PointerProperty(type=PBD_PG_object, override=OVERRIDABLE)
    bpy.types.Object.pbd_collider = PointerProperty(type=PBD_PG_collider, override=OVERRIDABLE)
    bpy.types.Scene.pbd = PointerProperty(type=PBD_PG_scene, override=OVERRIDABLE)


def unregister() -> None:
    """Undo `register`."""
    del bpy.types.Scene.pbd
    del bpy.types.Object.pbd_collider
    del bpy.types.Object.pbd
    unregister_classes()
