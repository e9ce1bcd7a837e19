"""The animation that a simulation depends on: F-curves, and from which frame on they have other values; drivers and
strips of the NLA, and whether they do something else.
"""

from typing import NamedTuple

import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..input import mesh_io
from ..scene import animation
from . import animation_rules
from .hand_placed import pinned

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


def watch(running, scene, last):
    """Know the F-curves as they are, over the frames up to `last`."""
    running.curves_edited = False
    running.curves = read(running, scene, last)


def read(running, scene, last):
    """The F-curves as they are, over the frames up to `last`."""
    simulated = [obj for _, obj in running.world.objects(scene)]
    objects = [*pinned(running, scene), *running.obstacles(scene)]
    objects += [obj.pbd.attach_object for obj in simulated if mesh_io.attached_to(obj)]
    owners = {owner.session_uid: (owner, obj.name) for obj in objects for owner in _owners_of(obj)}
    owners.update((one.session_uid, (one, one.name)) for one in (*simulated, scene))
    driving = [target for owner, _name in owners.values() for target in animation_rules.targets(owner)]
    owners = {one.session_uid: (one, one.name) for one in driving} | owners
    samples = {}
    known = running.curves.samples if running.curves else {}
    for uid, (owner, _name) in owners.items():
        for curve in animation.curves(owner) or ():
            key = (uid, curve.data_path, curve.array_index)
            drawn, old = animation.keyframes(curve), known.get(key)
            same = old is not None and old.keyframes == drawn and not curve.modifiers
            if not (same and len(old.values) == last - running.first_frame + 1):
                values = [curve.evaluate(at) for at in range(running.first_frame, last + 1)]
                samples[key] = Samples(drawn, np.array(values))
            else:
                samples[key] = old
    rules = {uid: animation_rules.read(owner) for uid, (owner, _name) in owners.items()}
    return Curves({uid: name for uid, (_owner, name) in owners.items()}, samples, rules)


def _owners_of(obj):
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


def notice(running, scene):
    """Forget the frames from the first on at which an F-curve has another value than before.

    Where drivers or strips do something else, that is the first frame.
    """
    before, first = running.curves, running.first_frame
    watch(running, scene, max([running.last_frame, *(first + len(one.values) - 1 for one in before.samples.values())]))
    now, changes = running.curves, []
    for key in before.samples.keys() | now.samples.keys():
        old, new = before.samples.get(key), now.samples.get(key)
        if old is new or not (key[0] in before.owners and key[0] in now.owners):
            continue
        if old is None or new is None:  # What was there instead is not known, but that it stood still.
            differ = np.array([np.ptp((old or new).values) > 0.0])
        else:
            differ = old.values != new.values[: len(old.values)]
            differ = np.append(differ, old.keyframes != new.keyframes and len(new.values) > len(old.values))
        if differ.any():
            changes.append((first + int(np.argmax(differ)), now.owners[key[0]]))
    both = before.rules.keys() & now.rules.keys()
    changes += [(first, now.owners[uid]) for uid in both if before.rules[uid] != now.rules[uid]]
    if changes:
        frame, owner = min(changes)
        running.truncate(frame - 1, iface("animation of '{name}' changed").format(name=owner))
