"""F-curves of a data-block, the same in Blender 4.2 (actions hold curves) and 4.4 and later (slots and layers)."""

from collections.abc import Collection
from typing import Any

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ..kinds import ID, Depsgraph

LAYERED = bpy.app.version >= (4, 4, 0)
LINEAR = 1
"""Value of the interpolation of a keyframe when it is written in bulk (BEZT_IPO_LIN)."""

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


def ensure_curves(owner: ID, name: str) -> Any:
    """The F-curve collection of `owner`; makes animation data, an action called `name` and a slot as needed."""
    found = curves(owner)
    if found is not None:
        return found
    data = owner.animation_data or owner.animation_data_create()
    if data.action is None:
        data.action = bpy.data.actions.new(name)
    if not LAYERED:
        return data.action.fcurves
    action = data.action
    if data.action_slot is None:
        data.action_slot = action.slots.new(id_type=owner.id_type, name=owner.name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(data.action_slot, ensure=True).fcurves


def add_linear_curve(collection: Any, data_path: str, frames: ArrayLike, values: ArrayLike) -> None:
    """A new F-curve with straight lines between its keyframes, constant outside.

    Args:
        collection: From `ensure_curves`.
        data_path: What the curve animates.
        frames: (k,) frame numbers, ascending.
        values: (k,) values at those frames.
    """
    curve = collection.new(data_path)
    points = curve.keyframe_points
    at = np.stack((frames, values), axis=-1).astype(np.float32)
    points.add(len(at))
    points.foreach_set("co", at.ravel())
    points.foreach_set("interpolation", np.full(len(at), LINEAR, np.int32))
    curve.update()


def remove_curves(owner: ID, data_paths: Collection[str]) -> None:
    """Take away the F-curves of `owner` that animate one of `data_paths`."""
    collection = curves(owner)
    if collection is None:
        return
    for curve in [curve for curve in collection if curve.data_path in data_paths]:
        collection.remove(curve)


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
