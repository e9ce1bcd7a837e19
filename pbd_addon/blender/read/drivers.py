"""What drivers and strips of the NLA do, as text: as long as it is the same, they do the same.

What they would do at another frame cannot be asked as an F-curve can, so there are no values to compare.
"""

from __future__ import annotations

from typing import Any

from ..scene import animation

DRIVER_TARGET = ("data_path", "bone_target", "transform_type", "transform_space", "rotation_mode", "context_property")
STRIP = (
    *("frame_start", "frame_end", "action_frame_start", "action_frame_end", "scale", "repeat", "blend_type"),
    *("extrapolation", "blend_in", "blend_out", "use_reverse", "use_sync_length", "mute", "type"),
)
"""Properties that say what a driver's target or a strip does; not each Blender has all."""


def read(owner: Any) -> str:
    """The drivers and strips of an ID, as text; "" where there are none."""
    data = owner.animation_data
    if data is None or not (data.drivers or data.nla_tracks):
        return ""
    return repr(([_driver(curve) for curve in data.drivers], _mix(data), [_track(track) for track in data.nla_tracks]))


def targets(owner: Any) -> list[Any]:
    """The IDs that the drivers of an ID look at."""
    data = owner.animation_data
    drivers = () if data is None else (curve.driver for curve in data.drivers)
    found = (target.id for driver in drivers for variable in driver.variables for target in variable.targets)
    return [one for one in found if one is not None]


def _driver(curve: Any) -> Any:
    """What one driver does."""
    driver = curve.driver
    variables = [
        (
            variable.name,
            variable.type,
            [(_name(target.id), _values(target, DRIVER_TARGET)) for target in variable.targets],
        )
        for variable in driver.variables
    ]
    said = (driver.type, driver.expression, driver.use_self, variables)
    return curve.data_path, curve.array_index, said, _curve(curve)


def _mix(data: Any) -> Any:
    """What the action of an ID adds to its strips."""
    return data.use_nla and (data.action_blend_type, data.action_extrapolation, data.action_influence)


def _track(track: Any) -> Any:
    """What one track of the NLA does."""
    return track.mute, track.is_solo, [_strip(strip) for strip in track.strips]


def _strip(strip: Any) -> Any:
    """What one strip does; influence and time count only where they are not animated, as that writes them."""
    free = (
        strip.use_animated_influence or strip.influence,
        strip.use_animated_time or strip.strip_time,
        strip.use_animated_time_cyclic,
    )
    own = [_curve(curve) for curve in strip.fcurves]
    shown = [(curve.data_path, curve.array_index, _curve(curve)) for curve in _action_curves(strip)]
    return _values(strip, STRIP), free, own, shown, [_strip(inner) for inner in strip.strips]


def _action_curves(strip: Any) -> Any:
    """The F-curves that a strip plays."""
    if strip.action is None:
        return ()
    return animation.curves_of(strip.action, getattr(strip, "action_slot", None)) or ()


def _curve(curve: Any) -> Any:
    """How an F-curve runs."""
    modifiers = [
        sorted((prop.identifier, str(getattr(one, prop.identifier))) for prop in one.bl_rna.properties if _is_set(prop))
        for one in curve.modifiers
    ]
    return animation.keyframes(curve), modifiers


def _is_set(prop: Any) -> bool:
    """Whether a property of a modifier says what it does."""
    return prop.type in {"FLOAT", "INT", "BOOLEAN", "ENUM"} and prop.identifier not in {"active", "show_expanded"}


def _values(owner: Any, names: Any) -> Any:
    return [getattr(owner, name, None) for name in names]


def _name(one: Any) -> Any:
    return one and one.name_full
