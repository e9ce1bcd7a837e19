"""Blender properties made from the fields of ``settings.py``.

Labels, units, ranges and tooltips are written once, in the engine. Blender has no units for pressure, stiffness or
density; there the tooltip names the unit. Settings shown in other units are in `shown_units`.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, Literal

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

OVERRIDABLE: set[Literal["LIBRARY_OVERRIDABLE"]] = {"LIBRARY_OVERRIDABLE"}

Switch = functools.partial(BoolProperty, override=OVERRIDABLE)
Whole = functools.partial(IntProperty, override=OVERRIDABLE)
Real = functools.partial(FloatProperty, override=OVERRIDABLE)
Length = functools.partial(FloatProperty, override=OVERRIDABLE, subtype="DISTANCE", precision=4)
Choice = functools.partial(EnumProperty, override=OVERRIDABLE)
Text = functools.partial(StringProperty, override=OVERRIDABLE)
Link = functools.partial(PointerProperty, override=OVERRIDABLE)
"""Blender's properties, made overridable in library overrides."""

cleared_listeners: list[Callable[[], None]] = []
"""Functions to call, without arguments, when the name of a vertex group was cleared."""


def on_group(name: str) -> Callable[[Any, Any], None]:
    """Update callback of the setting of this name, a vertex group: Blender makes no undo step when it is cleared."""

    def update(group: Any, _context: Any) -> None:
        if not getattr(group, name):  # Choosing one is an undo step of Blender, or of the operator that does it.
            for listener in cleared_listeners:
                listener()

    return update


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
        return Choice(items=items, **options)
    if isinstance(field.default, bool):
        return Switch(**options)
    limits = {"min": about["low"], "max": about["high"], "soft_max": about["soft_high"]}
    options.update((name, limit) for name, limit in limits.items() if limit is not None)
    if isinstance(field.default, int):
        return Whole(**options)
    if about["unit"] == "m":
        return Length(**options)
    if about["unit"] == "rad":
        return Real(subtype="ANGLE", **options)
    # Dragging by a pixel, or a click on an arrow, changes the value by a hundredth of the default.
    options["step"] = field.default or about["soft_high"] or 1.0
    return Real(precision=decimals(field.default), **options)


def decimals(value: Any) -> int:
    """Number of decimals that shows a default value in full; Blender allows at most 6."""
    if value == 0.0:
        return 3
    return min(max(2, 1 - math.floor(math.log10(abs(value)))), 6)
