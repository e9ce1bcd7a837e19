"""Keep the shape that the simulation shows now: as the mesh itself, as a shape key, as a new object."""

import bpy
import numpy as np
from bpy.app.translations import pgettext_tip as tip

from ..pbd_addon.blender.baking import mesh_cache
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, KeyBlock, Modifier, Object
from ..pbd_addon.blender.output import output, output_modifier, shape_keys
from ..pbd_addon.blender.read import mesh_io, pins
from ..pbd_addon.blender.scene import user_keys
from ..pbd_addon.blender.scene.temporary import changed
from ..pbd_addon.blender.timeline import heat_map, session
from . import body, checks
from .base import Action

RESULTS = (
    ("BASE", "Base", "The mesh takes this shape and the simulation starts from it"),
    ("SHAPE_KEY", "Shape Key", "A new shape key of yours holds this shape"),
    ("MESH", "New Mesh", "A new object holds this shape; it is not simulated"),
)

KEY_NAME = "PBD Shape"


def add_mixed_key(obj: Object, name: str) -> KeyBlock:
    """A new shape key, switched off, that holds what all keys of the object show together now."""
    block = obj.shape_key_add(name=name, from_mix=True)
    block.value = 0.0
    return block


def apply_base(obj: Object) -> None:
    """Move the mesh and all of the user's keys by what the simulation added to them.

    The shape at the present values of the user's keys becomes the simulated one; what each key does stays.
    """
    live = shape_keys.live_key(obj)
    moved = user_keys.read_points(live) - user_keys.read_points(live.relative_key)
    shape_keys.remove_live_key(obj)
    if obj.data.shape_keys is not None:
        for block in obj.data.shape_keys.key_blocks:
            block.points.foreach_set("co", (user_keys.read_points(block) + moved).ravel())
    shape = user_keys.read_vertices(obj.data) + moved
    obj.data.attributes["position"].data.foreach_set("vector", shape.ravel())
    pins.forget_offsets(obj.data)  # The mesh is there now.
    obj.data.update()


def apply_mesh(context: Context, obj: Object) -> Object:
    """A copy of the object without PBD and shape keys, in the present shape; modifiers after the simulation stay."""
    copy = obj.copy()
    copy.name = f"{obj.name} Shape"
    copy.data = obj.data.copy()
    copy.data.name = copy.name
    own = [one for one in obj.users_collection if one.library is None and one.override_library is None]
    for collection in own or [context.scene.collection]:
        collection.objects.link(copy)
    player = mesh_cache.find_modifier(copy) if obj.pbd.baked else None
    if player is not None:
        shape = played_shape(context, copy, player)
        copy.modifiers.remove(player)
    elif obj.pbd.baked or output_modifier.read(obj) is None:
        shape = None if obj.data.shape_keys is None else user_keys.read_points(add_mixed_key(copy, KEY_NAME))
    else:
        shape = output_modifier.read(obj)
    if output_modifier.find(copy) is not None:
        for modifier in output_modifier.before(copy):
            copy.modifiers.remove(modifier)
    output_modifier.remove(copy)
    heat_map.remove(copy)
    pins.forget_offsets(copy.data)
    body.forget_settings(copy)
    if shape is not None:
        if copy.data.shape_keys is not None:
            shape_keys.clear(copy)
        copy.data.attributes["position"].data.foreach_set("vector", shape.ravel())
        copy.data.update()
    return copy


def played_shape(context: Context, obj: Object, player: Modifier) -> np.ndarray:
    """Coordinates (n, 3) float32 of a mesh as the modifier that plays a bake leaves it, object space [m]."""
    later = list(obj.modifiers)[obj.modifiers.find(player.name) + 1 :]
    with changed((obj, "hide_viewport", False), *((modifier, "show_viewport", False) for modifier in later)):
        return user_keys.read_vertices(obj.evaluated_get(context.evaluated_depsgraph_get()).data)


class OBJECT_OT_pbd_apply(Action, bpy.types.Operator):
    """Keep the shape that the simulation shows at this frame"""

    bl_idname = "object.pbd_apply"
    bl_label = "Apply Shape"
    needs = (checks.in_object_mode, checks.has_body)

    result: bpy.props.EnumProperty(name="Result", description="What takes the shape", items=RESULTS, default="BASE")

    @classmethod
    def description(cls, _context: Context, properties: bpy.types.OperatorProperties) -> str:
        """One tooltip per button."""
        return tip(next(sentence for name, _label, sentence in RESULTS if name == properties.result))

    def refuse(self, obj: Object) -> None:
        """Raise a `PBDError` if the shape of this object cannot be applied."""
        if self.result != "MESH" and obj.pbd.baked:
            raise PBDError(f"'{obj.name}' is baked: delete the bake first")
        if not obj.pbd.baked and not output.is_shown(obj):
            raise PBDError(f"'{obj.name}' is not simulated yet: play some frames first")
        if self.result != "MESH" and shape_keys.live_key(obj) is None:
            raise PBDError(
                f"'{obj.name}' is shown by a modifier, which other modifiers pose: apply its shape as a new mesh"
            )
        if obj.pbd.baked and mesh_cache.find_modifier(obj) is not None:
            mesh_cache.baked_shape(obj, session.last_shown(bpy.context.scene))
        elif self.result != "MESH":
            mesh_io.check_mesh(obj)

    def run(self, context: Context) -> None:
        objects = checks.bodies(context)
        for obj in objects:
            self.refuse(obj)
        if self.result == "BASE":
            for obj in objects:
                apply_base(obj)
            session.drop(context.scene)
            session.go_to_first(context.scene)
        elif self.result == "SHAPE_KEY":
            for obj in objects:
                add_mixed_key(obj, KEY_NAME)
        else:
            checks.select_only(context, [apply_mesh(context, obj) for obj in objects])
