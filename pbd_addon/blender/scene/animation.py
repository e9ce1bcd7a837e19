"""The animation of data-blocks: F-curves, drivers and NLA strips.

Actions hold F-curves in Blender 4.2, and slots and layers since 4.4. F-curves are sampled at all frames. Drivers and
strips cannot be evaluated at another frame, so they are kept as text: while it is the same, so is their effect.
"""

from typing import Any, NamedTuple, TypeVar, cast

import bpy
import numpy as np

from ..kinds import Animatable, Depsgraph, Keys, Object, Scene

One = TypeVar("One", Object, Scene, Keys)

LAYERED = bpy.app.version >= (4, 4, 0)
"""Whether actions have layers and slots; Blender 4.2 has one collection of curves in each."""

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
"""Properties of a keyframe that shape its F-curve, with type and length."""

DRIVER_TARGET = ("data_path", "bone_target", "transform_type", "transform_space", "rotation_mode", "context_property")
STRIP = (
    *("frame_start", "frame_end", "action_frame_start", "action_frame_end", "scale", "repeat", "blend_type"),
    *("extrapolation", "blend_in", "blend_out", "use_reverse", "use_sync_length", "mute", "type"),
)
"""Properties that decide what a driver's target or a strip does; not every Blender has all of them."""

REFERENCES = ("object", "object_from", "object_to", "target", "pole_target")
"""Properties of constraints and modifiers that point to the objects they follow."""


def animated(owner: One, depsgraph: Depsgraph | None) -> One:
    """The ID to read animated properties from.

    Blender copies animated and driven values back to the originals, and only those have what a script has just set.
    A render has its own scene and copies nothing back.
    """
    return owner.evaluated_get(depsgraph) if depsgraph is not None and depsgraph.mode == "RENDER" else owner


def curves(owner: Animatable) -> Any:
    """The F-curve collection that animates `owner` (any ID), or None."""
    data = owner.animation_data
    if data is None or data.action is None:
        return None
    return curves_of(data.action, data.action_slot if LAYERED else None)


def curves_of(action: bpy.types.Action, slot: Any) -> Any:
    """The F-curve collection of an action for one of its slots, or None; before Blender 4.4 there is no slot."""
    if not LAYERED:
        return action.fcurves
    strips = (cast("bpy.types.ActionKeyframeStrip", strip) for layer in action.layers for strip in layer.strips)
    bags = (strip.channelbag(slot) for strip in strips if slot is not None)
    bag = next((bag for bag in bags if bag is not None), None)
    return None if bag is None else bag.fcurves


def value_path(name: str) -> str:
    """Data path of the value of a shape key, from its Key data-block."""
    return f'key_blocks["{bpy.utils.escape_identifier(name)}"].value'


def animated_paths(owner: Animatable) -> tuple[str, ...] | None:
    """The data paths that an ID's animation may change; None for any."""
    data = owner.animation_data
    if data is None:
        return ()
    return None if data.nla_tracks else tuple(curve.data_path for curve in (*(curves(owner) or ()), *data.drivers))


def channels(owner: Animatable) -> set[tuple[str, int]]:
    """The (data path, array index) pairs that F-curves and drivers of `owner` animate."""
    data = owner.animation_data
    animated = () if data is None else (*(curves(owner) or ()), *data.drivers)
    return {(curve.data_path, curve.array_index) for curve in animated}


def keyframes(curve: bpy.types.FCurve) -> bytes:
    """The data of an F-curve without modifiers, as bytes: while it is equal, so are the values."""
    points = curve.keyframe_points
    parts = [repr((curve.mute, curve.extrapolation)).encode()]
    for name, kind, size in KEYFRAME:
        values = np.empty(size * len(points), kind)
        points.foreach_get(name, values)
        parts.append(values.tobytes())
    return b"".join(parts)


# ------------------------------------------------------------------------------------------ sampling


class Samples(NamedTuple):
    """The values of one F-curve at all frames of the range."""

    keyframes: bytes  # of `keyframes`
    values: np.ndarray  # (frames,)


class Curves(NamedTuple):
    """The animation that a simulation depends on."""

    frames: range
    owners: dict[int, str]  # name of the object that is animated, by uid of the ID that may have curves
    samples: dict[tuple[int, str, int], Samples]  # by that uid, data path and array index
    rules: dict[int, str]  # drivers and strips as text, by that uid


def read(
    scene: Scene, simulated: list[Object], moving: list[Object], frames: range, known: Curves | None = None
) -> Curves:
    """The animation of simulated objects, of the scene, and of everything that moves or shapes the `moving` objects.

    F-curves that are unchanged since `known`, an earlier `Curves` or None, are not evaluated again; if nothing
    changed, `known` itself is returned.
    """
    owners = {owner.session_uid: (owner, obj.name) for obj in moving for owner in _owners_of(obj)}
    owners.update((one.session_uid, (one, one.name)) for one in (*simulated, scene))
    driving = [target for owner, _name in owners.values() if owner.animation_data for target in _driving(owner)]
    owners = {one.session_uid: (one, one.name) for one in driving} | owners
    animated_ones = {uid: owner for uid, (owner, _name) in owners.items() if owner.animation_data}
    samples = {}
    drawn_before = known.samples if known and known.frames == frames else {}
    for uid, owner in animated_ones.items():
        for curve in curves(owner) or ():
            key = (uid, curve.data_path, curve.array_index)
            drawn, old = keyframes(curve), drawn_before.get(key)
            if old is not None and old.keyframes == drawn and not curve.modifiers:
                samples[key] = old
            else:
                samples[key] = Samples(drawn, np.array([curve.evaluate(at) for at in frames]))
    names = {uid: name for uid, (_owner, name) in owners.items()}
    rules = dict.fromkeys(owners, "") | {uid: _rules(owner) for uid, owner in animated_ones.items()}
    found = Curves(frames, names, samples, rules)
    if known is None or found._replace(samples=known.samples) != known or samples.keys() != known.samples.keys():
        return found
    return known if all(one is known.samples[key] for key, one in samples.items()) else found


def _owners_of(obj: Object) -> list[Any]:
    """The IDs whose F-curves move or shape an object: itself, parents, what its stacks refer to, and their keys."""
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


def _rules(owner: Animatable) -> str:
    """The drivers and strips of an ID that has animation data, as text; "" where there are none."""
    data = owner.animation_data
    if not (data.drivers or data.nla_tracks):
        return ""
    added = data.use_nla and (data.action_blend_type, data.action_extrapolation, data.action_influence)
    tracks = [(track.mute, track.is_solo, [_strip(strip) for strip in track.strips]) for track in data.nla_tracks]
    return repr(([_driver(curve) for curve in data.drivers], added, tracks))


def _driving(owner: Animatable) -> list[bpy.types.ID]:
    """The IDs that the drivers of an ID that has animation data read."""
    drivers = (curve.driver for curve in owner.animation_data.drivers)
    found = (target.id for driver in drivers for variable in driver.variables for target in variable.targets)
    return [one for one in found if one is not None]


def _driver(curve: bpy.types.FCurve) -> tuple:
    """Everything that decides what a driver does."""
    driver = curve.driver
    variables = [
        (variable.name, variable.type, [(one.id and one.id.name_full, _values(one, DRIVER_TARGET)) for one in targets])
        for variable, targets in ((one, one.targets) for one in driver.variables)
    ]
    state = (driver.type, driver.expression, driver.use_self, variables)
    return curve.data_path, curve.array_index, state, _curve(curve)


def _strip(strip: bpy.types.NlaStrip) -> tuple:
    """Everything that decides what a strip does; influence and time only if not animated, as animation sets them."""
    free = (
        strip.use_animated_influence or strip.influence,
        strip.use_animated_time or strip.strip_time,
        strip.use_animated_time_cyclic,
    )
    played = () if strip.action is None else curves_of(strip.action, getattr(strip, "action_slot", None)) or ()
    own = [_curve(curve) for curve in strip.fcurves]
    shown = [(curve.data_path, curve.array_index, _curve(curve)) for curve in played]
    return _values(strip, STRIP), free, own, shown, [_strip(inner) for inner in strip.strips]


def _curve(curve: bpy.types.FCurve) -> tuple:
    """Everything that decides the values of an F-curve."""
    modifiers = [
        sorted(
            (prop.identifier, str(getattr(one, prop.identifier)))
            for prop in one.bl_rna.properties
            if prop.type in {"FLOAT", "INT", "BOOLEAN", "ENUM"} and prop.identifier not in {"active", "show_expanded"}
        )
        for one in curve.modifiers
    ]
    return keyframes(curve), modifiers


def _values(owner: bpy.types.bpy_struct, names: tuple[str, ...]) -> list[object]:
    return [getattr(owner, name, None) for name in names]
