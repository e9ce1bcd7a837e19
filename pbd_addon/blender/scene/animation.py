"""The animation of data-blocks: F-curves, drivers and strips of the NLA, and what they do.

Actions hold F-curves in Blender 4.2, and slots and layers since 4.4. What F-curves do is known at all frames. What
drivers and strips would do at another frame cannot be asked, so they are kept as text: as long as it is the same, they
do the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np

from ..kinds import ID, Depsgraph, Object, Scene

LAYERED = bpy.app.version >= (4, 4, 0)

KEYFRAME = (
    ("co", np.float32, 2),
    ("handle_left", np.float32, 2),
    ("handle_right", np.float32, 2),
    ("interpolation", np.int32, 1),
    ("easing", np.int32, 1),
    ("amplitude", np.float32, 1),
    ("back", np.float32, 1),
    ("period", np.float32, 1),
)
"""What of a keyframe shapes its F-curve, with type and length."""

DRIVER_TARGET = ("data_path", "bone_target", "transform_type", "transform_space", "rotation_mode", "context_property")
STRIP = (
    *("frame_start", "frame_end", "action_frame_start", "action_frame_end", "scale", "repeat", "blend_type"),
    *("extrapolation", "blend_in", "blend_out", "use_reverse", "use_sync_length", "mute", "type"),
)
"""Properties that say what a driver's target or a strip does; not each Blender has all."""

REFERENCES = ("object", "object_from", "object_to", "target", "pole_target")
"""How constraints and modifiers call the objects that they follow."""


def animated(owner: ID, depsgraph: Depsgraph | None) -> Any:
    """The ID to read animated properties from.

    Blender hands the values of animation and drivers back to the originals, and only those know what a script has
    just set; a render has a scene of its own and hands nothing back.
    """
    return owner.evaluated_get(depsgraph) if depsgraph is not None and depsgraph.mode == "RENDER" else owner


def curves(owner: ID) -> Any:
    """The F-curve collection that animates `owner` (any ID), or None."""
    data = owner.animation_data
    if data is None or data.action is None:
        return None
    return curves_of(data.action, data.action_slot if LAYERED else None)


def curves_of(action: Any, slot: Any) -> Any:
    """The F-curve collection of an action for one of its slots, or None; before Blender 4.4 there is no slot."""
    if not LAYERED:
        return action.fcurves
    bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips if slot is not None)
    bag = next((bag for bag in bags if bag is not None), None)
    return None if bag is None else bag.fcurves


def value_path(name: str) -> str:
    """Data path of the value of a shape key, from its Key data-block."""
    return f'key_blocks["{bpy.utils.escape_identifier(name)}"].value'


def beginnings(owner: ID) -> tuple[str, ...] | None:
    """The data paths that animation of an ID may change, () where nothing does, or None for any."""
    data = owner.animation_data
    if data is None:
        return ()
    return None if data.nla_tracks else tuple(curve.data_path for curve in (*(curves(owner) or ()), *data.drivers))


def channels(owner: ID) -> set[tuple[str, int]]:
    """What F-curves and drivers of `owner` animate: data paths with array indices."""
    data = owner.animation_data
    animated = () if data is None else (*(curves(owner) or ()), *data.drivers)
    return {(curve.data_path, curve.array_index) for curve in animated}


def keyframes(curve: Any) -> bytes:
    """What an F-curve without modifiers is drawn from, as bytes: equal as long as its values are."""
    points = curve.keyframe_points
    parts = [repr((curve.mute, curve.extrapolation)).encode()]
    for name, kind, size in KEYFRAME:
        values = np.empty(size * len(points), kind)
        points.foreach_get(name, values)
        parts.append(values.tobytes())
    return b"".join(parts)


# ------------------------------------------------------------------------------------------ what depends on it


class Samples(NamedTuple):
    """The values of one F-curve at all frames of the range."""

    keyframes: bytes  # what it is drawn from: when this is the same, so are the values
    values: np.ndarray  # (frames,)


class Curves(NamedTuple):
    """The animation that a simulation depends on, as it was at one time."""

    frames: range
    owners: dict[int, str]  # what is moved or set, by uid of what may have curves
    samples: dict[tuple[int, str, int], Samples]  # by that uid, data path and array index
    rules: dict[int, str]  # by that uid: what its drivers and strips do


def read(
    scene: Scene, simulated: list[Object], moving: list[Object], frames: range, known: Curves | None = None
) -> Curves:
    """What animates the settings of simulated objects and the scene, and the places and shapes of what moves.

    F-curves that are drawn as in `known`, an earlier `Curves` or None, are not evaluated again; if all is as it was,
    that is returned.
    """
    owners = {owner.session_uid: (owner, obj.name) for obj in moving for owner in _owners_of(obj)}
    owners.update((one.session_uid, (one, one.name)) for one in (*simulated, scene))
    driving = [target for owner, _name in owners.values() for target in _driving(owner)]
    owners = {one.session_uid: (one, one.name) for one in driving} | owners
    samples = {}
    drawn_before = known.samples if known and known.frames == frames else {}
    for uid, (owner, _name) in owners.items():
        for curve in curves(owner) or ():
            key = (uid, curve.data_path, curve.array_index)
            drawn, old = keyframes(curve), drawn_before.get(key)
            if old is not None and old.keyframes == drawn and not curve.modifiers:
                samples[key] = old
            else:
                samples[key] = Samples(drawn, np.array([curve.evaluate(at) for at in frames]))
    names = {uid: name for uid, (_owner, name) in owners.items()}
    found = Curves(frames, names, samples, {uid: _rules(owner) for uid, (owner, _name) in owners.items()})
    return known if known is not None and _is_same(found, known) else found


def _is_same(found: Curves, known: Curves) -> bool:
    """Whether both are alike; F-curves that are the same share their samples."""
    alike = found._replace(samples={}) == known._replace(samples={}) and found.samples.keys() == known.samples.keys()
    return alike and all(one is known.samples[key] for key, one in found.samples.items())


def _owners_of(obj: Object) -> list[Any]:
    """The IDs whose F-curves move or shape an object: itself, its keys, parents, and what its stacks refer to."""
    found, waiting = {}, [obj]
    while waiting:
        one = waiting.pop()
        if one is None or one.session_uid in found:
            continue
        found[one.session_uid] = one
        bones = one.pose.bones if one.pose else ()
        limits = [*one.constraints, *(part for bone in bones for part in bone.constraints)]
        waiting.append(one.parent)
        waiting += [getattr(part, name, None) for part in (*limits, *one.modifiers) for name in REFERENCES]
    keys = [getattr(one.data, "shape_keys", None) for one in found.values()]
    return [*found.values(), *(one for one in keys if one is not None)]


# ------------------------------------------------------------------------------------------ drivers and strips


def _rules(owner: Any) -> str:
    """The drivers and strips of an ID, as text; "" where there are none."""
    data = owner.animation_data
    if data is None or not (data.drivers or data.nla_tracks):
        return ""
    added = data.use_nla and (data.action_blend_type, data.action_extrapolation, data.action_influence)
    tracks = [(track.mute, track.is_solo, [_strip(strip) for strip in track.strips]) for track in data.nla_tracks]
    return repr(([_driver(curve) for curve in data.drivers], added, tracks))


def _driving(owner: Any) -> list[Any]:
    """The IDs that the drivers of an ID look at."""
    data = owner.animation_data
    drivers = () if data is None else (curve.driver for curve in data.drivers)
    found = (target.id for driver in drivers for variable in driver.variables for target in variable.targets)
    return [one for one in found if one is not None]


def _driver(curve: Any) -> Any:
    """What one driver does."""
    driver = curve.driver
    variables = [
        (variable.name, variable.type, [(one.id and one.id.name_full, _values(one, DRIVER_TARGET)) for one in targets])
        for variable, targets in ((one, one.targets) for one in driver.variables)
    ]
    said = (driver.type, driver.expression, driver.use_self, variables)
    return curve.data_path, curve.array_index, said, _curve(curve)


def _strip(strip: Any) -> Any:
    """What one strip does; influence and time count only where they are not animated, as that writes them."""
    free = (
        strip.use_animated_influence or strip.influence,
        strip.use_animated_time or strip.strip_time,
        strip.use_animated_time_cyclic,
    )
    played = () if strip.action is None else curves_of(strip.action, getattr(strip, "action_slot", None)) or ()
    own = [_curve(curve) for curve in strip.fcurves]
    shown = [(curve.data_path, curve.array_index, _curve(curve)) for curve in played]
    return _values(strip, STRIP), free, own, shown, [_strip(inner) for inner in strip.strips]


def _curve(curve: Any) -> Any:
    """How an F-curve runs."""
    modifiers = [
        sorted(
            (prop.identifier, str(getattr(one, prop.identifier)))
            for prop in one.bl_rna.properties
            if prop.type in {"FLOAT", "INT", "BOOLEAN", "ENUM"} and prop.identifier not in {"active", "show_expanded"}
        )
        for one in curve.modifiers
    ]
    return keyframes(curve), modifiers


def _values(owner: Any, names: tuple[str, ...]) -> list[Any]:
    return [getattr(owner, name, None) for name in names]
