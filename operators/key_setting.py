"""Key a setting that the panel shows in another unit: Blender's own dot, key and menu know the shown one only."""

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Object, Options
from ..pbd_addon.blender.settings import shown_units
from . import checks
from .base import Action

HIDDEN: Options = {"UNDO", "INTERNAL"}
"""Neither operator is one to redo or to search for, as Blender's own for keys of fields are not."""

FIELDS = "User Interface"
"""Blender's keymap of fields, whatever the editor."""


class OBJECT_OT_pbd_key_setting(Action, bpy.types.Operator):
    """Insert a key for this setting at this frame, or remove the one that is there"""

    bl_idname = "object.pbd_key_setting"
    bl_label = "Key Setting"
    bl_options = HIDDEN
    needs = (checks.is_active_body,)

    setting: bpy.props.EnumProperty(
        name="Setting",
        description="What is keyed",
        items=[
            ("density", "Density", "Mass of one square meter"),
            ("bend", "Bending", "Resistance to folding"),
            ("bend_friction", "Bend Friction", "Resistance of folds to being changed"),
        ],
    )

    def run(self, context: Context) -> None:
        obj, path = context.object, f"pbd.{self.setting}"
        if shown_units.is_keyed(obj, self.setting, context.scene.frame_current):
            obj.keyframe_delete(path)
        else:
            obj.keyframe_insert(path)


class OBJECT_OT_pbd_key_field(Action, bpy.types.Operator):
    """Insert a key for the setting under the mouse, or delete it: what I and Alt I do over other fields"""

    bl_idname = "object.pbd_key_field"
    bl_label = "Key Field"
    bl_options = HIDDEN

    delete: bpy.props.BoolProperty(
        name="Delete", description="Delete the key at this frame instead", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        return field_under_mouse(context) is not None  # Else Blender's own operator has the key.

    def run(self, context: Context) -> None:
        obj, name = field_under_mouse(context)
        if not self.delete:
            obj.keyframe_insert(f"pbd.{name}")
        elif shown_units.is_keyed(obj, name, context.scene.frame_current):
            obj.keyframe_delete(f"pbd.{name}")
        for area in context.screen.areas:
            area.tag_redraw()


def field_under_mouse(context: Context) -> tuple[Object, str] | None:
    """The object and the stored setting whose shown twin the mouse is over, or None."""
    found = getattr(context, "property", None)
    if found is None or not isinstance(found[0], bpy.types.Object):
        return None
    last = found[1].rpartition(".")[2]  # Before Blender 5.0 the path begins at the group, not at the object.
    name = next((name for name, shown in shown_units.SHOWN_AS.items() if last == shown.name), None)
    return None if name is None else (found[0], name)


def draw_context_menu(self: bpy.types.Menu, context: Context) -> None:
    """In the menu of a right click on such a field: what Blender offers for others."""
    prop = getattr(context, "button_prop", None)
    name = next((name for name, shown in shown_units.SHOWN_AS.items() if prop and prop.identifier == shown.name), None)
    if name is None or context.object is None:
        return
    self.layout.separator()
    keyed = shown_units.is_keyed(context.object, name, context.scene.frame_current)
    text = iface("Delete Keyframe", "Operator") if keyed else iface("Insert Keyframe", "Operator")
    entry = self.layout.operator("object.pbd_key_setting", text=text, icon="KEY_HLT", translate=False)
    entry.setting = name


_keys: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []
"""Of our keymap: pairs of a keymap and an item."""


def register() -> None:
    """Give fields in other units the keys that Blender gives to all others."""
    bpy.types.UI_MT_button_context_menu.append(draw_context_menu)
    ours = bpy.context.window_manager.keyconfigs.addon
    if ours is None:  # Without a window there are no keys.
        return
    fields = ours.keymaps.new(name=FIELDS)
    for delete in (False, True):
        item = fields.keymap_items.new("object.pbd_key_field", "I", "PRESS", alt=delete)
        item.properties.delete = delete
        _keys.append((fields, item))


def unregister() -> None:
    """Undo `register`."""
    for fields, item in _keys:
        fields.keymap_items.remove(item)
    _keys.clear()
    bpy.types.UI_MT_button_context_menu.remove(draw_context_menu)
