"""What settings are: values with the words of a user interface, and what is refused.

Every field has the label, unit, range and tooltip that the panels show, so the words are the same here and in Blender.
`Part.FIELDS` are those of a feature, `Part.MAPS` what varies over a body; `parts.Fields` and `parts.MAPS` have all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..arrays import arguments


def setting(
    default: Any,
    label: str,
    description: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    soft_high: float | None = None,
    choices: tuple[str, ...] = (),
    panel: str = "",
    short: str = "",
    rigid: Any = None,
) -> Any:
    """A dataclass field with metadata for a user interface and a validator.

    Args:
        default: Default value.
        label: Label in a panel, without unit.
        description: One sentence for the tooltip, with a typical value.
        unit: SI unit, "" for pure numbers.
        low: Smallest legal value.
        high: Largest legal value.
        soft_high: Where a slider ends.
        choices: Legal values of a text field.
        panel: The group of settings beside which it stands in the panels, if they do not name it themselves.
        short: Label where room is short, if another one.
        rigid: What a rigid body has instead, whatever is given; None for the value itself.
    """
    metadata = {
        "label": label,
        "description": description,
        "unit": unit,
        "low": low,
        "high": high,
        "soft_high": soft_high,
        "choices": choices,
        "panel": panel,
        "short": short,
        "rigid": rigid,
    }
    return dataclasses.field(default=default, metadata=metadata)


class Checked:
    """Refuses values of another type or out of range."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            about = field.metadata
            if "label" not in about:
                continue
            value = getattr(self, field.name)
            where = f"{type(self).__name__}.{field.name}"
            if about["choices"]:
                value = arguments.choice(where, value, about["choices"])
            elif isinstance(field.default, bool):
                value = arguments.switch(where, value)
            elif isinstance(field.default, int):
                value = arguments.whole(where, value, about["low"], about["high"])
            else:
                value = arguments.number(where, value, about["low"], about["high"], about["unit"])
            object.__setattr__(self, field.name, value)


class Map(NamedTuple):
    """What can vary over a body: factors per vertex on its material, such as painted weights.

    Attributes:
        label: Label in a panel.
        about: What it does, one sentence.
        group: Tooltip of the vertex group that is painted.
        factor: Tooltip of the factors at weights 0 and 1, of which {weight} is one.
        low: Usual factor at weight 0; it is 1 at weight 1.
        chooses: Whether it says what takes part, by factors from `factors.TAKES_PART` on.
        is_positive: Whether factors must be above 0.
        panel: The group of settings below which it stands in the panels, if they do not name it themselves.
    """

    label: str
    about: str
    group: str
    factor: str
    low: float = 0.0
    chooses: bool = False
    is_positive: bool = False
    panel: str = ""


def multiplies(label: str, target: str, low: float, typical: str, *, is_positive: bool = False, panel: str = "") -> Map:
    """A map that multiplies its target, with typical factors."""
    group = f"Vertex group that multiplies {target}: by Low at weight 0, by High at weight 1. None: the same everywhere"
    factor = f"Factor on {target} where the weight is {{weight}}. {typical}"
    return Map(label, f"Multiplies {target}", group, factor, low, False, is_positive, panel)


LEFT_OUT = "vertices take part from 0.5 on. Exchange 0 and 1 to have the group left out; key it to let go"
"""What both factors do where weight 0 is left out."""


def chooses(label: str, about: str, group: str, ends: str = LEFT_OUT, low: float = 0.0, *, panel: str = "") -> Map:
    """A map that chooses; ends: what both factors do."""
    return Map(label, about, group, f"Factor where the weight is {{weight}}: {ends}", low, chooses=True, panel=panel)


def varies(**maps: Map) -> Mapping[str, Map]:
    """`Part.MAPS`."""
    return MappingProxyType(maps)
