"""Baked shape keys, one per frame or fewer, the animation that plays them, and their removal.

Absolute keys are played by one animated Evaluation Time. Relative keys each have an animated value that rises to 1 at
their frame. Reduced keys are relative too, but fewer, and several act at a time. All play without the add-on. What is
added is noted on ``Object.pbd``, so that deleting the bake restores the previous state.
"""

from collections.abc import Collection
from typing import Any, cast

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ...io.key_reduction import Reduction
from ..errors import PBDError
from ..kinds import Animatable, Keys, Object
from ..output import output_modifier, shape_keys
from ..scene import animation, marks, user_keys
from ..settings.field_properties import unset

SPACING = 12.5
"""Evaluation Time from one absolute key to the next: an eighth in Blender's internal unit, so it is not rounded."""

LINEAR = 1
"""The value of linear interpolation when keyframes are written in bulk (BEZT_IPO_LIN)."""

NOTES = (
    *("baked", "baked_as", "bake_start", "bake_end", "bake_keys", "bake_action", "made_animation_data"),
    *("bake_switched_off", "bake_parent_type", "key_use_relative", "key_eval_time", "key_active_index"),
    *("bake_modifier", "bake_file", "bake_loop", "bake_apart"),
)
"""The properties of ``Object.pbd`` that a bake writes."""


def key_name(frame: int) -> str:
    """The name of a frame's key."""
    return f"PBD {frame:04d}"


def check_absolute(obj: Object) -> None:
    """Raise a `PBDError` if absolute keys would break the user's keys or their animation."""
    if user_keys.user_keys(obj):
        raise PBDError(f"'{obj.name}' has shape keys of its own, which absolute keys would hide: bake relative keys")
    keys = obj.data.shape_keys
    if keys is not None and keys.animation_data is not None:
        raise PBDError(f"The shape keys of '{obj.name}' are animated: bake relative keys")


def bake_absolute(obj: Object, frames: range, shapes: list[np.ndarray]) -> None:
    """Bake consecutive frames to absolute keys, of shapes (n, 3) float32 in object space [m]; drops the live key.

    Raises a `PBDError` if the user has shape keys or key animation on the mesh.
    """
    check_absolute(obj)
    keys = _prepare(obj, frames)
    keys.use_relative = False
    names = []
    for place, (frame, shape) in enumerate(zip(frames, shapes, strict=True), start=1):
        keys.eval_time = SPACING * place
        names.append(_add_key(obj, key_name(frame), shape))
    _finish(obj, names)
    times = (SPACING, SPACING * len(frames))
    ends = (frames[0], frames[-1]) if len(frames) > 1 else (frames[0],)
    add_linear_curve(_curves(obj), "eval_time", ends, times[: len(ends)])


def bake_relative(obj: Object, frames: range, shapes: list[np.ndarray]) -> None:
    """Bake to relative keys; the user's keys still play, so the shapes must not include them."""
    _prepare(obj, frames)
    names = [_add_key(obj, key_name(frame), shape) for frame, shape in zip(frames, shapes, strict=True)]
    _finish(obj, names)
    curves = _curves(obj)
    last = len(frames) - 1
    for place, name in enumerate(names):
        near = np.arange(max(place - 1, 0), min(place + 1, last) + 1)
        add_linear_curve(curves, animation.value_path(name), frames[0] + near, near == place)


def bake_reduced(obj: Object, frames: range, reduction: Reduction) -> None:
    """Bake to a few relative keys; the user's keys still play, so the shapes must not include them."""
    _prepare(obj, frames)
    names = add_reduced_keys(obj, reduction)
    _finish(obj, names)
    animate_reduced_keys(_curves(obj), names, frames, reduction)


def add_reduced_keys(obj: Object, reduction: Reduction) -> list[str]:
    """Add the keys of a reduction to an object; returns their names, the offset's first."""
    basis = user_keys.basis_shape(obj)
    names = [_add_key(obj, "PBD Offset", reduction.offset)]
    names += [_add_key(obj, f"PBD Key {place:03d}", basis + key) for place, key in enumerate(reduction.keys, start=1)]
    return names


def animate_reduced_keys(curves: Any, names: list[str], frames: range, reduction: Reduction) -> None:
    """Animate the values of the keys from `add_reduced_keys`; the offset's is always 1."""
    values = np.column_stack((np.ones(len(frames), np.float32), reduction.values))
    for name, column in zip(names, values.T, strict=True):
        add_linear_curve(curves, animation.value_path(name), frames, column)


def repeat(obj: Object) -> None:
    """Let the animation of the baked keys repeat itself before and after its frames."""
    pbd, keys = obj.pbd, obj.data.shape_keys
    paths = {"eval_time", *map(animation.value_path, pbd.bake_keys.split("\n"))}
    for curve in animation.curves(keys):
        if curve.data_path in paths:
            known = {round(point.co.x) for point in curve.keyframe_points}
            ends = [(frame, curve.evaluate(frame)) for frame in {pbd.bake_start, pbd.bake_end} - known]
            for frame, value in ends:  # A cycle is as long as the keyframes of its curve.
                curve.keyframe_points.insert(frame, value).interpolation = "LINEAR"
            curve.modifiers.new("CYCLES")
            curve.update()


def delete_bake(obj: Object) -> None:
    """Remove everything that a bake added; keys, key settings and actions are as before it."""
    pbd = obj.pbd
    keys = obj.data.shape_keys
    baked = marks.marked(keys, marks.BAKED)
    if baked:
        _remove_animation(obj, keys, {"eval_time", *(animation.value_path(block.name) for block in baked)})
        shape_keys.remove_keys(obj, baked)
        keys.use_relative = pbd.key_use_relative
        keys.eval_time = pbd.key_eval_time
        obj.active_shape_key_index = pbd.key_active_index
        shape_keys.remove_own_basis(obj)
    forget(obj)


def forget(obj: Object) -> None:
    """Switch on what a bake has switched off, and clear its notes."""
    output_modifier.switch_on(obj)
    unset(obj.pbd, NOTES)
    obj.data.update()


def _prepare(obj: Object, frames: range) -> Keys:
    """Prepare for baked keys: ensure a Basis, remove the live key, and note the state of the Key data-block."""
    shape_keys.ensure_basis(obj)
    shape_keys.drop_live_key(obj)
    keys = obj.data.shape_keys
    pbd = obj.pbd
    pbd.baked = True
    pbd.bake_start, pbd.bake_end = frames[0], frames[-1]
    pbd.key_use_relative = keys.use_relative
    pbd.key_eval_time = keys.eval_time
    pbd.key_active_index = obj.active_shape_key_index
    output_modifier.switch_off(obj)
    return keys


def _add_key(obj: Object, name: str, shape: np.ndarray) -> str:
    """Add a key; returns its name, which Blender makes unique."""
    block = obj.shape_key_add(name=name, from_mix=False)
    marks.mark(block, marks.BAKED)
    block.value = 0.0
    block.interpolation = "KEY_LINEAR"
    block.points.foreach_set("co", np.ascontiguousarray(shape, np.float32).ravel())
    return block.name


def _finish(obj: Object, names: list[str]) -> None:
    """Note the names of the keys, and update the mesh."""
    obj.pbd.bake_keys = "\n".join(names)
    obj.active_shape_key_index = obj.pbd.key_active_index
    obj.data.update()


def _curves(obj: Object) -> Any:
    """The F-curve collection for the bake: of the user's action, or of a new one, which is noted."""
    keys = obj.data.shape_keys
    data = keys.animation_data
    obj.pbd.made_animation_data = data is None
    had_action = data is not None and data.action is not None
    found = ensure_curves(keys, f"PBD {obj.name}")
    if not had_action:
        obj.pbd.bake_action = keys.animation_data.action
    return found


def _remove_animation(obj: Object, keys: Keys, data_paths: Collection[str]) -> None:
    """Remove the curves of the bake, and the action it made, unless the user has added to it.

    A duplicate of the object plays the same action, so it is removed only with its last user.
    """
    data, action = keys.animation_data, obj.pbd.bake_action
    obj.pbd.bake_action = None
    if data is None:
        return
    others = [curve for curve in animation.curves(keys) or () if curve.data_path not in data_paths]
    if action is not None and data.action == action and not others:
        data.action = None
        if action.users == 0:
            bpy.data.actions.remove(action)
    else:
        remove_curves(keys, data_paths)
    if obj.pbd.made_animation_data and data.action is None and not data.drivers and not data.nla_tracks:
        keys.animation_data_clear()


# ------------------------------------------------------------------------------------------ F-curves


def ensure_curves(owner: Animatable, name: str) -> Any:
    """The F-curve collection of `owner`; creates animation data, an action called `name` and a slot as needed."""
    found = animation.curves(owner)
    if found is not None:
        return found
    data = owner.animation_data or owner.animation_data_create()
    if data.action is None:
        data.action = bpy.data.actions.new(name)
    if not animation.LAYERED:
        return data.action.fcurves
    action = data.action
    if data.action_slot is None:
        data.action_slot = action.slots.new(id_type=owner.id_type, name=owner.name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return cast("bpy.types.ActionKeyframeStrip", strip).channelbag(data.action_slot, ensure=True).fcurves


def add_linear_curve(collection: Any, data_path: str, frames: ArrayLike, values: ArrayLike) -> None:
    """Add an F-curve with linear interpolation, constant outside, to a collection of `ensure_curves`.

    It has `values` (k,) at `frames` (k,), which ascend.
    """
    curve = collection.new(data_path)
    points = curve.keyframe_points
    at = np.stack((frames, values), axis=-1).astype(np.float32)
    points.add(len(at))
    points.foreach_set("co", at.ravel())
    points.foreach_set("interpolation", np.full(len(at), LINEAR, np.int32))
    curve.update()


def remove_curves(owner: Animatable, data_paths: Collection[str]) -> None:
    """Remove the F-curves of `owner` that animate one of `data_paths`."""
    collection = animation.curves(owner)
    if collection is None:
        return
    for curve in [curve for curve in collection if curve.data_path in data_paths]:
        collection.remove(curve)
