"""The two places of every panel, and the factory that puts one drawing into both."""

import re
import types

import bpy

from ..pbd_addon.blender.kinds import Context, Layout, Object
from .preferences import shows_all


class Place:
    """Where a panel stands."""

    prefix = ""


class Sidebar(Place):
    """The tab "PBD" of the 3D View's sidebar."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "PBD"
    prefix = "VIEW3D_PT_pbd"


class PhysicsTab(Place):
    """Properties > Physics."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    prefix = "PHYSICS_PT_pbd"


PLACES = (Sidebar, PhysicsTab)


class BodyPanel:
    """Base of the drawings: shown while the active object is a PBD object, greyed when it is baked.

    A drawing is called as its class, closed unless `is_open`, and gives `draw_settings` and `parent` (the class of
    another drawing, in lower case) unless it is the root. Those that are not `of_rigid` bodies are not shown for them;
    those that are `is_rare` are shown where they are used, or where the preferences ask for all.
    """

    parent = ""
    is_open = False
    of_rigid = True
    is_rare = False
    bl_label = ""
    layout: bpy.types.UILayout

    def __init_subclass__(cls) -> None:
        """Derive the label, unless there is one."""
        cls.bl_label = cls.__dict__.get("bl_label", words(cls).title())

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        if obj is None or obj.type != "MESH" or not obj.pbd.enabled or (obj.pbd.rigid and not cls.of_rigid):
            return False
        return not cls.is_rare or shows_all(context) or cls.is_used(obj)

    @classmethod
    def is_used(cls, _obj: Object) -> bool:
        """Whether what a rare panel is for is in use."""
        return False

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.active = is_live(context.object)
        self.draw_settings(context, layout)

    def draw_settings(self, context: Context, layout: Layout) -> None:
        """Draw the rows of the panel."""
        raise NotImplementedError


def is_live(obj: Object) -> bool:
    """Whether the settings of the object act: it is switched on and not baked."""
    return obj.pbd.active and not obj.pbd.baked


def words(drawing: type) -> str:
    """The words of the name of a class, "self collisions"."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", drawing.__name__).lower()


def in_both_places(*drawings: type[BodyPanel]) -> tuple[type, ...]:
    """Panel classes, ready to be registered: every drawing in the sidebar and in Properties > Physics."""
    return tuple(panel_class(drawing, place) for place in PLACES for drawing in drawings)


def panel_class(drawing: type[BodyPanel], place: type[Place]) -> type:
    """One drawing in one place."""
    contents = {
        "__doc__": drawing.__doc__,
        "__module__": drawing.__module__,
        "bl_label": drawing.bl_label,
        "bl_options": set() if drawing.is_open else {"DEFAULT_CLOSED"},
    }
    if drawing.parent:
        contents["bl_parent_id"] = f"{place.prefix}_{drawing.parent}"
    return types.new_class(
        f"{place.prefix}_{words(drawing).replace(' ', '_')}",
        (drawing, place, bpy.types.Panel),
        exec_body=lambda body: body.update(contents),
    )
