"""Settings that are shown in another unit than they are stored in.

Scripts, presets and animation use SI units throughout. In a panel, 0.000012 N·m has too many zeros to read and too few
digits to be told from 0.0000115, so a twin property in µN·m reads and writes the setting. Densities are shown in g/m²,
the unit in which cloth is sold. A twin cannot be animated; keyframes go to the setting itself.
"""

import dataclasses
from typing import Any, NamedTuple, cast

from ...bodies.material import Material
from ..kinds import Group, Icon, Object
from ..scene import animation
from .field_properties import Real, shown_fields


class Shown(NamedTuple):
    """The twin of a setting."""

    name: str  # of the property that shows it
    unit: str
    factor: float  # from the stored unit to the shown one
    description: str


SHOWN_AS = {
    "density": Shown(
        "density_shown",
        "g/m²",
        1e3,
        "Mass of one square meter in g/m². Silk 70, cotton 120, denim 370, leather 600. Key it by the dot",
    ),
    "bend": Shown(
        "bend_shown",
        "µN·m",
        1e6,
        "Flexural rigidity, resistance to folding, in µN·m. Silk 3, cotton 12, denim 60, paper 270. Key it by the dot",
    ),
    "bend_friction": Shown(
        "bend_friction_shown",
        "µN",
        1e6,
        "Moment per width, in µN, by which folds resist being changed: cloth keeps soft folds and comes to rest. "
        "Faille 34, wool 160, cotton 600. Key it by the dot",
    ),
}
"""The twins by name of the stored setting."""


def properties() -> dict[str, object]:
    """Blender properties of the twins, by name."""
    fields = {field.name: field for field in shown_fields(Material)}
    return {shown.name: _twin(fields[name], name, shown) for name, shown in SHOWN_AS.items()}


KEYED_HERE: Icon = "DECORATE_KEYFRAME"
"""Blender's icon for a setting with a keyframe at this frame."""


def key_icon(obj: Object, name: str, frame: int) -> Icon:
    """The icon that Blender draws beside a setting: driven, animated, or keyed at this frame."""
    path, data = f"pbd.{name}", obj.animation_data
    if data is None:
        return "DECORATE"
    if any(driver.data_path == path for driver in data.drivers):
        return "DECORATE_DRIVER"
    curve = next((one for one in animation.curves(obj) or () if one.data_path == path), None)
    if curve is None:
        return "DECORATE"
    return KEYED_HERE if any(point.co[0] == frame for point in curve.keyframe_points) else "DECORATE_ANIMATE"


def is_keyed(obj: Object, name: str, frame: int) -> bool:
    """Whether a setting has a keyframe at a frame."""
    return key_icon(obj, name, frame) == KEYED_HERE


def _twin(field: dataclasses.Field[float], name: str, shown: Shown) -> Any:
    """A property that reads and writes the setting `name` of its group."""
    about, factor = field.metadata, shown.factor

    def read(group: Group) -> float:
        return getattr(group, name) * factor

    def write(group: Group, value: float) -> None:
        setattr(group, name, value / factor)

    usual = cast(float, field.default)
    default, limits = factor * usual, {"low": factor * about["low"], "soft_high": factor * about["soft_high"]}
    more: dict[str, Any] = {
        "step": default or 0.05 * limits["soft_high"],
        "precision": 2,
        "options": set(),
        "get": read,
        "set": write,
    }
    return Real(about["short"] or about["label"], shown.description, default, **limits, **more)
