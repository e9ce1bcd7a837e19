"""Showing the simulated shape: as a shape key, before all modifiers, or by our modifier among them."""

import numpy as np

from ..errors import PBDError
from ..kinds import Object
from ..scene import linked, poses, surfaces
from ..scene.poses import Pose
from . import output_modifier, shape_keys
from .output_choice import is_modifier


def check(obj: Object) -> None:
    """Raise a `PBDError` if a modifier that the pins should follow prevents that."""
    if not is_modifier(obj):
        return
    first = next((modifier for modifier in obj.modifiers if modifier.type in output_modifier.FIRST), None)
    if first is not None:
        raise PBDError(
            f"Modifier '{first.name}' of '{obj.name}' needs the mesh itself, so 'PBD Output' cannot stand before it: "
            "apply it, or choose the output Shape Key"
        )
    earlier, ours = output_modifier.before(obj), output_modifier.find(obj)
    for modifier in earlier:
        if not modifier.show_viewport:
            continue
        if modifier.type in output_modifier.GROWERS:
            last = ours or earlier[-1]
            raise PBDError(
                f"Modifier '{modifier.name}' of '{obj.name}' changes the number of vertices before the simulation: "
                f"apply it, or move it after '{last.name}'"
            )
        target = getattr(modifier, "target", None) or getattr(modifier, "object", None)
        if target is not None and target.type == "MESH" and surfaces.is_simulated(target):
            raise PBDError(
                f"Modifier '{modifier.name}' of '{obj.name}' follows '{target.name}', which is simulated itself: "
                f"bake '{target.name}' first, or move the modifier after the simulation"
            )


def prepare(objects: list[Object]) -> bool:
    """Prepare the output of objects; returns whether Blender must evaluate them again."""
    changed = [ensure(obj) for obj in objects]
    return any(changed)


def ensure(obj: Object) -> bool:
    """Prepare the chosen output of an object, if it can be changed; returns whether anything changed."""
    if linked.problem(obj) or obj.mode == "EDIT" or obj.pbd.baked:
        return False
    if not is_modifier(obj) or any(modifier.type in output_modifier.FIRST for modifier in obj.modifiers):
        return output_modifier.remove(obj)
    had_key = shape_keys.live_key(obj) is not None
    if had_key:
        shape_keys.remove_live_key(obj)
    return output_modifier.ensure(obj) or had_key


def write(obj: Object, positions: np.ndarray, pose: Pose, masks: dict[str, np.ndarray]) -> None:
    """Show world positions (n, 3) float32 [m] as the object's shape under its pose."""
    if output_modifier.find(obj) is None:
        shape_keys.write_live_key(obj, positions, pose, masks)
    else:
        output_modifier.write(obj, poses.to_object(positions, pose.matrix))


def show_user_shape(obj: Object) -> None:
    """Show the user's shape, because none is simulated."""
    shape_keys.show_user_shape(obj)
    output_modifier.show_input(obj)


def remove(obj: Object) -> None:
    """Remove the output of an object that is not baked."""
    shape_keys.remove_live_key(obj)
    output_modifier.remove(obj)


def is_shown(obj: Object) -> bool:
    """Whether a simulated shape was shown since the object became PBD."""
    return shape_keys.live_key(obj) is not None or output_modifier.read(obj) is not None
