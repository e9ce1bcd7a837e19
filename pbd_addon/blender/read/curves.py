"""The animation that a simulation depends on: F-curves, and from which frame on they have other values; drivers and
strips of the NLA, and whether they do something else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kinds import Object, Scene
from ..scene import animation
from ..scene.scene_objects import objects_of
from . import drivers, mesh_io
from .watched import Watched

REFERENCES = ("object", "object_from", "object_to", "target", "pole_target")
"""How constraints and modifiers call the objects that they follow."""


class Samples(NamedTuple):
    """The values of one F-curve at all frames of the range."""

    keyframes: bytes  # what it is drawn from: when this is the same, so are the values
    values: np.ndarray  # (frames,)


class Curves(NamedTuple):
    """The F-curves that a simulation depends on, as they were at one time."""

    owners: dict[int, str]  # what is moved or set, by uid of what may have curves
    samples: dict[tuple[int, str, int], Samples]  # by that uid, data path and array index
    rules: dict[int, str]  # by that uid: what its drivers and strips do


def read(scene: Scene, watched: Watched, first: int, last: int, known: Curves | None = None) -> Curves:
    """The animation that what is watched depends on, over the frames from `first` to `last`.

    F-curves that are drawn as in `known`, an earlier `Curves` or None, are not evaluated again.
    """
    simulated = objects_of(scene, watched.members)
    objects = [obj for obj in simulated if obj.session_uid in watched.pinned and not obj.pbd.baked]
    objects += objects_of(scene, watched.obstacles)
    objects += [obj.pbd.attach_object for obj in simulated if mesh_io.attached_to(obj)]
    owners = {owner.session_uid: (owner, obj.name) for obj in objects for owner in _owners_of(obj)}
    owners.update((one.session_uid, (one, one.name)) for one in (*simulated, scene))
    driving = [target for owner, _name in owners.values() for target in drivers.targets(owner)]
    owners = {one.session_uid: (one, one.name) for one in driving} | owners
    samples = {}
    drawn_before = known.samples if known else {}
    for uid, (owner, _name) in owners.items():
        for curve in animation.curves(owner) or ():
            key = (uid, curve.data_path, curve.array_index)
            drawn, old = animation.keyframes(curve), drawn_before.get(key)
            same = old is not None and old.keyframes == drawn and not curve.modifiers
            if not (same and len(old.values) == last - first + 1):
                values = [curve.evaluate(at) for at in range(first, last + 1)]
                samples[key] = Samples(drawn, np.array(values))
            else:
                samples[key] = old
    rules = {uid: drivers.read(owner) for uid, (owner, _name) in owners.items()}
    return Curves({uid: name for uid, (_owner, name) in owners.items()}, samples, rules)


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
