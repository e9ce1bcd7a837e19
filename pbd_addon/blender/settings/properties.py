"""``Object.pbd``, ``Object.pbd_collider`` and ``Scene.pbd``: what a user can set.

Materials and solver settings are made from the fields of ``settings.py``; all others are here.
"""

import math
from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import FloatVectorProperty, IntProperty, PointerProperty, StringProperty

from ...bodies.settings import Material, SolverSettings
from ..kinds import Object
from . import borrowed, gases, maps, presets, shown_units, wind
from .field_properties import (
    OVERRIDABLE,
    Choice,
    Length,
    Link,
    Real,
    Switch,
    Text,
    Whole,
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


def telling(listeners: list[Callable[[], None]]) -> Callable[[Any, Any], None]:
    """Update callback that calls these functions, because scripts may set a property too, not only operators."""

    def update(_group: Any, _context: Any) -> None:
        for listener in listeners:
            listener()

    return update


def is_other_mesh(group: Any, obj: Object) -> bool:
    """Poll of a pointer: any other mesh object."""
    return obj.type == "MESH" and obj != group.id_data


def is_other_support(group: Any, obj: Object) -> bool:
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
    return Real(
        name=name,
        description=description,
        default=0.4,
        min=0.0,
        soft_max=2.0,
        step=0.4,  # type: ignore[arg-type]  # As in maps.py.
    )


class PBD_PG_object(bpy.types.PropertyGroup):
    """The material of a cloth or balloon, its pins, and the notes that undo its bake."""

    enabled: Switch(
        name="PBD",
        description="This object is PBD cloth, a PBD balloon or a PBD rigid body",
        update=telling(enabled_listeners),
    )
    active: Switch(name="Simulate", description="Simulate this object while frames play", default=True)
    type: Choice(
        name="Type",
        description="What the object is: this decides which settings are shown",
        items=TYPES,
    )
    pin_group: Text(
        name="Pin Group",
        description="Vertex group of the vertices that follow the object. Weight 1 holds firmly, less is a spring",
        update=on_group("pin_group"),
    )
    attach_object: Link(
        name="Attach To",
        description="Mesh or curve that the attached vertices follow as it moves and deforms: a body, a sail's mast",
        type=bpy.types.Object,
        poll=is_other_support,
    )
    attach_group: Text(
        name="Attach Group",
        description="Vertex group of the vertices that follow the surface of that mesh. "
        "Weight 1 holds firmly, less is a spring",
        update=on_group("attach_group"),
    )
    attach_slide: Switch(
        name="Slide",
        description="Attached vertices keep their distance from that mesh and slide along it without friction: rings "
        "on a curtain rod, a skirt on the hips. They slide along edges where there are no faces. Press Reset to see a "
        "change",
        options=set(),
    )
    output: Choice(
        name="Output",
        description="What shows the simulated shape",
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
        name="Rest Shape",
        description="The shape in which nothing is stretched or bent. Press Reset to see a change",
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
    rest_key: Text(name="Rest Key", description="The shape key in which nothing is stretched or bent")
    rest_object: Link(
        name="Rest Object",
        description="The object in whose shape nothing is stretched or bent. It has the same vertices and faces: "
        "duplicate the mesh and reshape the copy",
        type=bpy.types.Object,
        poll=is_other_mesh,
    )
    layer: Whole(
        name="Layer",
        description="Which cloth lies outside where objects are tangled at the start: the one with the higher number, "
        "on the side to which the faces of the other look. A shirt 1, a jacket over it 2; 0 leaves it where it is",
        default=0,
        min=0,
        soft_max=10,
        options=set(),
    )
    velocity: FloatVectorProperty(
        name="Velocity",
        description="Speed along the axes of the world at which it starts. A thrown towel 4 m/s",
        min=-1000.0,
        max=1000.0,
        soft_min=-20.0,
        soft_max=20.0,
        subtype="VELOCITY",
        options=set(),
        override=OVERRIDABLE,
    )
    angular_velocity: FloatVectorProperty(
        name="Angular Velocity",
        description="Degrees per second (in scripts, radians) by which it starts to turn about its center of mass, "
        "around the axes of the world. A spinning balloon 360°/s",
        soft_min=-8.0 * math.pi,
        soft_max=8.0 * math.pi,
        subtype="EULER",
        options=set(),
        override=OVERRIDABLE,
    )
    bake_mode: Choice(
        name="Bake As",
        description="How the bake is kept and played",
        items=BAKE_MODES,
    )
    reduce_by: Choice(
        name="Reduce By",
        description="What decides how many reduced keys there are",
        items=(
            ("ERROR", "Error", "As few keys as keep every vertex of every frame within an error"),
            ("COUNT", "Number of Keys", "This many keys, as exact as they can be"),
        ),
    )
    reduce_error: Length(
        name="Largest Error",
        description="How far any vertex may be from where it was simulated, in any frame. "
        "Close to the camera 0.001 m, cloth in a game 0.005 m to 0.02 m",
        default=0.005,
        min=1e-5,
        soft_max=0.02,
    )
    reduce_count: Whole(
        name="Keys",
        description="How many shape keys there are at most, including one that all frames share. Games: 8 to 64",
        default=32,
        min=1,
        soft_max=256,
    )
    field_weights: PointerProperty(
        name="Field Weights",
        description="How much of each type of force field, and of gravity, this object feels",
        type=PBD_PG_field_weights,
        override=OVERRIDABLE,
    )

    # What the add-on needs to remove what it has added. These are not settings: scripts should leave them alone.
    material: StringProperty(name="Material", options={"HIDDEN"}, get=lambda pbd: pbd.preset, set=presets.apply)
    preset: Text(name="Preset", options={"HIDDEN"})
    preset_mark: Text(name="Material of the Preset", options={"HIDDEN"})
    live_key: Text(name="Live Shape Key", options={"HIDDEN"})
    output_after: Text(name="Modifiers Known to Pose the Mesh", options={"HIDDEN"})
    baked: Switch(name="Baked", options={"HIDDEN"})
    baked_as: Text(name="Mode of the Bake", options={"HIDDEN"})
    bake_start: Whole(name="First Baked Frame", options={"HIDDEN"})
    bake_end: Whole(name="Last Baked Frame", options={"HIDDEN"})
    bake_keys: Text(name="Names of the Baked Keys", options={"HIDDEN"})
    bake_action: Link(name="Action of the Bake", type=bpy.types.Action, options={"HIDDEN"})
    made_animation_data: Switch(name="Animation Data Is Ours", options={"HIDDEN"})
    bake_modifier: Text(name="Modifier of the Bake", options={"HIDDEN"})
    bake_file: Text(name="File of the Bake", subtype="FILE_PATH", options={"HIDDEN", *RELATIVE_PATHS})
    bake_switched_off: Text(name="Modifiers Switched Off by the Bake", options={"HIDDEN"})
    bake_parent_type: Text(name="Parent Type Before the Bake", options={"HIDDEN"})
    key_use_relative: Switch(name="Relative Before the Bake", default=True, options={"HIDDEN"})
    key_eval_time: Real(name="Evaluation Time Before the Bake", options={"HIDDEN"})
    color_before: Text(name="Active Color Before the Heat Map", options={"HIDDEN"})
    key_active_index: Whole(name="Active Key Before the Bake", options={"HIDDEN"})


class PBD_PG_collider(bpy.types.PropertyGroup):
    """The settings of an object as a collider."""

    enabled: Switch(
        name="Collider",
        description="PBD cloth and balloons collide with this object, as its modifiers leave it",
        update=telling(collider_listeners),
    )
    thickness: Length(
        name="Distance",
        description="How far cloth stays away from this surface, in addition to its own Distance. "
        "Skin 0.002 m, rough ground 0.01 m",
        default=0.002,
        min=0.0,
        soft_max=0.02,
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
        name="Bounce",
        description="Share of the speed of approach that a bounce gives back. Cloth on wood 0, on a trampoline 0.7",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    inside: Switch(
        name="Keep Inside",
        description="Keep cloth inside of this closed surface, as in a drum or a box, instead of outside",
    )


class PBD_PG_scene(bpy.types.PropertyGroup):
    """The settings of all cloth and balloons of a scene."""

    speed: Real(
        name="Speed",
        description="How fast simulated time runs. 1 is real time, 0.5 slow motion",
        default=1.0,
        min=0.001,
        soft_max=4.0,
        step=1,
    )
    collider_collection: Link(
        name="Collection",
        description="Every object of this collection that is not simulated is a collider too, "
        "with settings of its own if it is marked as one",
        type=bpy.types.Collection,
        update=telling(collider_listeners),
    )
    kernels: Choice(
        name="Kernels",
        description="What computes the simulation. The result is the same up to rounding",
        items=(
            ("AUTO", "Automatic", "Numba where the extension includes it, once it is compiled; otherwise NumPy"),
            ("NUMPY", "NumPy", "Always NumPy, as on a computer without Numba"),
        ),
        options=set(),
    )
    bake_folder: Text(
        name="Folder",
        description="Where Mesh Cache bakes write their PC2 files; // is the folder of the saved .blend file",
        default="//cache_pbd/",
        subtype="DIR_PATH",
        options=RELATIVE_PATHS,
    )
    cache_limit: Whole(
        name="Memory Limit",
        description="Memory in MB that cached frames may take. When it is full no more are simulated; with Disk Cache, "
        "those on disk leave the memory. 10,000 vertices take 70 MB in 250 frames",
        default=4000,
        min=1,
        soft_max=64000,
        options=set(),
    )
    use_disk_cache: Switch(
        name="Disk Cache",
        description="Write simulated frames into the folder cache_pbd beside the saved .blend file, "
        "so that they are there when it is opened again",
        options=set(),
    )
    frames_on_disk: IntProperty(name="Frames on Disk When Saved", options={"HIDDEN"})
    settle: Whole(
        name="Settle",
        description="Frames that cloth hangs before the first one, hidden from the timeline, while all else stands "
        "still. A curtain takes 50, a garment 100; with 0 nothing settles",
        min=0,
        soft_max=250,
    )
    show_overlay: Switch(
        name="PBD Floor and Pins",
        description="Draw the floor as a grid, pinned vertices as orange points and attached ones as blue points",
        default=True,
        options=set(),
    )
    hand_count: IntProperty(name="Uses of the Hand", options={"HIDDEN"})
    heat_map: Choice(
        name="Heat Map",
        description="What the colors of the vertices show while frames play",
        items=(
            ("OFF", "Off", "No colors"),
            ("STRAIN", "Strain", "How much edges are longer or shorter than at rest"),
            ("CONTACT", "Contact", "Where vertices have touched an obstacle or cloth"),
        ),
    )
    heat_full: Real(
        name="Full Scale",
        description="Strain that is shown in red. Woven cloth 2 %, knitwear 10 %, a balloon 100 %",
        default=5.0,
        min=0.01,
        soft_max=20.0,
        subtype="PERCENTAGE",
        precision=1,
    )
    shading_before: StringProperty(name="Color of Solid Shading Before the Heat Map", options={"HIDDEN"})
    use_floor: Switch(name="Floor", description="An infinite horizontal floor")
    floor_height: Length(
        name="Height",
        description="Height of the floor. The ground of most scenes is at 0 m",
    )
    floor_friction: coulomb("Friction", "Coulomb coefficient of the floor. Ice 0.05, wood 0.4, rubber 1")


for group, settings in ((PBD_PG_object, Material), (PBD_PG_scene, SolverSettings)):
    group.__annotations__.update({field.name: property_from(field) for field in shown_fields(settings)})

PBD_PG_object.__annotations__.update(shown_units.properties() | maps.properties() | gases.properties())
PBD_PG_scene.__annotations__.update(borrowed.properties() | wind.properties())

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
