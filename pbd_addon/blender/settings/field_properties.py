"""Blender properties made from the fields of ``settings.py``.

Labels, units, ranges and tooltips are written once, beside the physics they steer. Blender has no units for pressure,
stiffness or density: there the tooltip tells the unit. What is shown in another unit: `shown_units`.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

OVERRIDABLE: set[Literal["LIBRARY_OVERRIDABLE"]] = {"LIBRARY_OVERRIDABLE"}

cleared_listeners: list[Callable[[], None]] = []
"""Functions without arguments to call when the name of a vertex group may have been cleared."""


def on_group(_group: Any, _context: Any) -> None:
    """Update callback of a setting that names a vertex group: Blender makes no undo step of a click on its cross."""
    for listener in cleared_listeners:
        listener()


CHOICE_LABELS = {"AUTO": "Automatic", "XPBD": "XPBD", "PBD": "PBD"}


def shown_fields(settings: Any) -> tuple[dataclasses.Field, ...]:
    """The fields of a settings dataclass that a user sees, in order."""
    return tuple(field for field in dataclasses.fields(settings) if "label" in field.metadata)


def property_from(field: dataclasses.Field) -> Any:
    """A Blender property with the label, unit, range and tooltip of a settings field."""
    about = field.metadata
    options = {"name": about["label"], "description": about["description"], "default": field.default}
    if about["choices"]:
        items = [(choice, CHOICE_LABELS.get(choice, choice.capitalize()), "") for choice in about["choices"]]
        return EnumProperty(items=items, override=OVERRIDABLE, **options)
    if isinstance(field.default, bool):
        return BoolProperty(override=OVERRIDABLE, **options)
    limits = {"min": about["low"], "max": about["high"], "soft_max": about["soft_high"]}
    options.update((name, limit) for name, limit in limits.items() if limit is not None)
    if isinstance(field.default, int):
        return IntProperty(override=OVERRIDABLE, **options)
    if about["unit"] == "m":
        return FloatProperty(subtype="DISTANCE", precision=4, override=OVERRIDABLE, **options)
    # A pixel of a drag, or a click on an arrow, is worth a hundredth of a usual value, be it 1e-5 N·m or 5000 N/m.
    options["step"] = field.default or about["soft_high"] or 1.0
    return FloatProperty(precision=decimals(field.default), override=OVERRIDABLE, **options)


def decimals(value: Any) -> int:
    """Digits behind the point that show a default value in full, as many as Blender can."""
    if value == 0.0:
        return 3
    return min(max(2, 1 - math.floor(math.log10(abs(value)))), 6)
