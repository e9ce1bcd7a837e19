"""Paint the vertex groups that say where settings count more or less."""

from typing import Any

import bpy

from ..pbd_addon.blender.kinds import Context, Object
from ..pbd_addon.blender.read import pins
from ..pbd_addon.blender.scene import linked
from ..pbd_addon.parts import MAPS
from . import checks
from .base import Action, rpt

PIN = "PIN"

ITEMS = (
    *((kind.upper(), one.label, one.about) for kind, one in MAPS.items()),
    (PIN, "Pin", "Which vertices are held, and how firmly"),
)


def group_of(obj: Object, which: str) -> Any:
    """The vertex group of a map or of the pins, or None."""
    return obj.vertex_groups.get(obj.pbd.pin_group if which == PIN else getattr(obj.pbd, f"{which.lower()}_group"))


def new_group(obj: Object, which: str) -> Any:
    """A new vertex group for it: of a map, with weight 1 everywhere, which changes nothing; of pins, empty."""
    if which == PIN:
        return pins.ensure_group(obj, "pin_group")
    kind = which.lower()
    name = getattr(obj.pbd, f"{kind}_group") or MAPS[kind].label
    group = obj.vertex_groups.new(name=name)
    group.add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    setattr(obj.pbd, f"{kind}_group", group.name)
    return group


class OBJECT_OT_pbd_paint_map(Action, bpy.types.Operator):
    """Paint where a setting counts, in Weight Paint Mode: High times at weight 1, Low times at weight 0"""

    bl_idname = "object.pbd_paint_map"
    bl_label = "Paint Map"

    map: bpy.props.EnumProperty(
        name="Map", description="What the painted weights are for", items=ITEMS, default="STRETCH"
    )

    @staticmethod
    def is_local(context: Context) -> checks.Why:
        if linked.problem(context.object):
            return "The active object is linked: make a local copy (Object > Relations > Make Local)"
        return ""

    needs = (checks.is_active_body, is_local, checks.in_object_mode)

    def run(self, context: Context) -> str | None:
        obj = context.object
        group = group_of(obj, self.map)
        said = None
        if obj.mode == "WEIGHT_PAINT" and group is not None and obj.vertex_groups.active == group:
            bpy.ops.object.mode_set(mode="OBJECT")
            return said
        if group is None:
            group = new_group(obj, self.map)
            if self.map != PIN:
                said = rpt("'{name}' is 1 everywhere, which changes nothing: paint with less Weight")
        obj.vertex_groups.active_index = group.index
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        return said and said.format(name=group.name)
