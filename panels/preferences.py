"""The preferences of the extension: which panels there are."""

from typing import Any

import bpy

from ..pbd_addon.blender.kinds import Context, Layout

PACKAGE = __package__.rpartition(".")[0]
"""Blender's name of the extension."""


class PBD_AP_preferences(bpy.types.AddonPreferences):
    """What holds for all files."""

    bl_idname = PACKAGE

    panels: bpy.props.EnumProperty(
        name="Panels",
        description="Which panels are shown",
        items=(
            ("SIMPLE", "Simple", "Those that most scenes need, and others once they are used"),
            ("FULL", "Full", "All, with maps, field weights, plasticity, internal springs and tearing too"),
        ),
    )

    def draw(self, _context: Context) -> None:
        self.layout.row().prop(self, "panels", expand=True)


def chosen(context: Context) -> PBD_AP_preferences | None:
    """The preferences, or None where the extension is not registered as one."""
    known: Any = context.preferences.addons.get(PACKAGE)
    return None if known is None else known.preferences


def shows_all(context: Context) -> bool:
    """Whether all panels are shown."""
    found = chosen(context)
    return found is not None and found.panels == "FULL"


def draw_choice(context: Context, layout: Layout) -> None:
    """The choice, for those who look for a panel."""
    found = chosen(context)
    if found is not None:
        layout.row().prop(found, "panels", expand=True)
