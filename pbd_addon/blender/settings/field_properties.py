"""Blender properties made from the fields of the engine's settings.

Labels, units, ranges and tooltips are written once, in the engine. Blender has no units for pressure, stiffness or
density; there the tooltip names the unit. Settings shown in other units are in `shown_units`.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any, Literal

from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

OVERRIDABLE: set[Literal["LIBRARY_OVERRIDABLE"]] = {"LIBRARY_OVERRIDABLE"}

known: dict[int, Any] = {}
"""What was read of the settings of objects that nothing animates, by uid, until one of them is set."""


def forget_known(group: Any, _context: Any = None) -> None:
    """Update callback: a setting of this group was set, by a user or a script, or put back to its default."""
    known.pop(group.id_data.session_uid, None)


def _maker(kind: Callable[..., Any], **usual: Any) -> Callable[..., Any]:
    """A function that makes properties of a kind: overridable in library overrides, with the words of `setting`."""

    def make(
        label: str,
        description: str = "",
        default: Any = None,
        low: float | None = None,
        high: float | None = None,
        soft_high: float | None = None,
        **more: Any,
    ) -> Any:
        about = {"default": default, "min": low, "max": high, "soft_max": soft_high}
        given = {name: value for name, value in about.items() if value is not None}
        texts = {"name": label, "description": description}
        return kind(**{"override": OVERRIDABLE, "update": forget_known} | texts | usual | given | more)

    return make


Switch, Whole, Real = _maker(BoolProperty), _maker(IntProperty), _maker(FloatProperty)
Length, Vector = _maker(FloatProperty, subtype="DISTANCE", precision=4), _maker(FloatVectorProperty)
Choice, Text, Link = _maker(EnumProperty), _maker(StringProperty), _maker(PointerProperty)


def unset(group: Any, names: Iterable[str] | None = None) -> None:
    """Put settings of a group back to their defaults, by default all of them."""
    every = (prop.identifier for prop in group.bl_rna.properties if not prop.is_readonly)
    for name in every if names is None else names:
        group.property_unset(name)
    forget_known(group)


cleared_listeners: list[Callable[[], None]] = []
"""Functions to call, without arguments, when the name of a vertex group was cleared."""


def on_group(name: str) -> Callable[[Any, Any], None]:
    """Update callback of the setting of this name, a vertex group: Blender makes no undo step when it is cleared."""

    def update(group: Any, _context: Any) -> None:
        forget_known(group)
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
    about, default = field.metadata, field.default
    texts = about["label"], about["description"], default
    if about["choices"]:
        items = [(choice, CHOICE_LABELS.get(choice, choice.capitalize()), "") for choice in about["choices"]]
        return Choice(*texts, items=items)
    if isinstance(default, bool):
        return Switch(*texts)
    limits = about["low"], about["high"], about["soft_high"]
    if isinstance(default, int):
        return Whole(*texts, *limits)
    if about["unit"] == "m":
        return Length(*texts, *limits)
    if about["unit"] == "rad":
        return Real(*texts, *limits, subtype="ANGLE")
    # Dragging by a pixel, or a click on an arrow, changes the value by a hundredth of the default.
    return Real(*texts, *limits, step=default or about["soft_high"] or 1.0, precision=decimals(default))


def decimals(value: Any) -> int:
    """Number of decimals that shows a default value in full; Blender allows at most 6."""
    if value == 0.0:
        return 3
    return min(max(2, 1 - math.floor(math.log10(abs(value)))), 6)
