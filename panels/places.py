"""The two places of every panel, and the factory that puts one drawing into both."""

from __future__ import annotations

import types
from typing import Any

import bpy

from ..pbd_addon.blender.kinds import Context, Layout, Object


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

    A drawing gives `name`, `bl_label`, `draw_settings`, and `parent` (the name of another drawing) unless it is
    the root. `bl_options` as in Blender.
    """

    name = ""
    parent = ""
    bl_options: frozenset[str] = frozenset()
    layout: bpy.types.UILayout

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.pbd.enabled

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


def in_both_places(*drawings: Any) -> tuple[type, ...]:
    """Panel classes, ready to be registered: every drawing in the sidebar and in Properties > Physics."""
    return tuple(panel_class(drawing, place) for place in PLACES for drawing in drawings)


def panel_class(drawing: Any, place: Any) -> type:
    """One drawing in one place."""
    contents = {
        "__doc__": drawing.__doc__,
        "__module__": drawing.__module__,
        "bl_options": set(drawing.bl_options),
    }
    if drawing.parent:
        contents["bl_parent_id"] = panel_id(drawing.parent, place)
    return types.new_class(
        panel_id(drawing.name, place), (drawing, place, bpy.types.Panel), exec_body=lambda body: body.update(contents)
    )


def panel_id(name: str, place: type[Place]) -> str:
    """The name under which Blender knows a drawing in a place."""
    return f"{place.prefix}_{name}"
