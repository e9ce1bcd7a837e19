"""What holds vertices: pin and unpin those that are selected in Edit Mode, attach them to another object."""

from typing import Any, NamedTuple

import bmesh
import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Object, Result
from ..pbd_addon.blender.read.pins import PIN_OFFSET, ensure_group
from ..pbd_addon.blender.scene import poses, surfaces, user_keys
from ..pbd_addon.blender.scene.arrays import edge_vertices, values
from ..pbd_addon.blender.scene.temporary import changed
from ..pbd_addon.blender.settings import field_properties
from ..pbd_addon.blender.timeline import session
from ..pbd_addon.meshes.mesh import fans
from ..pbd_addon.meshes.surface_points import nearest_points
from . import checks
from .base import Action, rpt

FAR_EDGES = 2.0
"""A vertex that is attached is at most this far from its surface, in edges of the cloth: farther away, the nearest
surface is often another than was meant, as the forearm beside a waistband."""

HOLDS = "1 holds firmly; less is a spring, 0.5 has the Pin Stiffness"


def hold_weight(description: str) -> Any:
    """The property of a weight of vertices."""
    return bpy.props.FloatProperty(
        name="Weight", description=description, default=1.0, min=0.001, max=1.0, subtype="FACTOR"
    )


def selected(obj: Object, sentence: str) -> int:
    """The number of vertices that are selected in Edit Mode; raises a `PBDError` with this sentence if none is."""
    if not obj.data.total_vert_sel:
        raise PBDError(sentence)
    return obj.data.total_vert_sel


def assign(context: Context, obj: Object, setting: str, weight: float) -> None:
    """Put the selected vertices into the group that a setting names, see `ensure_group`."""
    obj.vertex_groups.active_index = ensure_group(obj, setting).index
    # Blender's own operator assigns in one go, which a script in Edit Mode can only do vertex by vertex.
    with changed((context.scene.tool_settings, "vertex_group_weight", weight)):
        bpy.ops.object.vertex_group_assign()


def forget_places(obj: Object) -> None:
    """Hold the selected vertices of an object in Edit Mode at their places in the mesh again, wherever a hand was."""
    geometry = bmesh.from_edit_mesh(obj.data)
    layer = geometry.verts.layers.float_vector.get(PIN_OFFSET)
    if layer is not None:
        for vertex in geometry.verts:
            if vertex.select:
                vertex[layer] = (0.0, 0.0, 0.0)
        bmesh.update_edit_mesh(obj.data)


class OBJECT_OT_pbd_pin_selected(Action, bpy.types.Operator):
    """Pin the selected vertices: they follow the object and its animation. A weight below 1 holds them softly"""

    bl_idname = "object.pbd_pin_selected"
    bl_label = "Pin Selected"
    needs = (checks.is_edited_body,)

    weight: hold_weight(HOLDS)

    def run(self, context: Context) -> str:
        obj = context.object
        count = selected(obj, "Select the vertices to pin first")
        assign(context, obj, "pin_group", self.weight)
        forget_places(obj)
        session.clear_cache(context.scene)
        return rpt("{count} vertices pinned in group '{group}'").format(count=count, group=obj.pbd.pin_group)


class OBJECT_OT_pbd_unpin_selected(Action, bpy.types.Operator):
    """Take the selected vertices out of the pin group"""

    bl_idname = "object.pbd_unpin_selected"
    bl_label = "Unpin Selected"

    @staticmethod
    def has_pins(context: Context) -> checks.Why:
        obj = context.object
        return "" if obj.pbd.pin_group in obj.vertex_groups else "There is no pin group yet"

    needs = (checks.is_edited_body, has_pins)

    def run(self, context: Context) -> None:
        obj = context.object
        selected(obj, "Select the vertices to unpin first")
        obj.vertex_groups.active_index = obj.vertex_groups[obj.pbd.pin_group].index
        bpy.ops.object.vertex_group_remove_from()
        forget_places(obj)
        session.clear_cache(context.scene)


def pair(context: Context) -> tuple[list[Object], list[Object]]:
    """The cloths to attach and the objects that may be what to attach them to, of the active and the selected."""
    objects = checks.meshes(context)
    if context.mode == "EDIT_MESH":  # Several objects may be edited at once; the panel shows the active one.
        cloths = [context.object] if context.object.pbd.enabled else []
    else:
        cloths = [obj for obj in objects if surfaces.is_simulated(obj)]
    curves = [obj for obj in context.selected_objects if obj.type == "CURVE"]
    return cloths, [obj for obj in (*objects, *curves) if not surfaces.is_simulated(obj)]


class Reach(NamedTuple):
    """How far what is attached is from its target.

    Attributes:
        farthest: Of all vertices [m].
        far: Number of those that are farther than `FAR_EDGES`.
        usual: Median edge of the cloth [m].
    """

    farthest: float
    far: int
    usual: float


def reach(context: Context, obj: Object, target: Object) -> Reach | None:
    """How far the vertices of a cloth that are to be attached are from a target now; None if it has no faces."""
    layer = context.view_layer
    layer.update()
    surface = surfaces.read(target, layer.depsgraph)
    if obj.mode == "EDIT":
        obj.update_from_editmode()
        chosen = values(obj.data.vertices, "select", bool)
    else:
        name = obj.pbd.attach_group or obj.pbd.pin_group
        chosen = user_keys.read_weights(obj, name) > 0.0 if name in obj.vertex_groups else np.zeros(0, bool)
    if not surface.has_faces or not chosen.any():
        return None
    shown = surfaces.read(obj, layer.depsgraph)
    places = shown.world()
    if len(places) != len(chosen):
        places = poses.to_world(user_keys.read_vertices(obj.data), np.array(obj.matrix_world))
    ends = places[edge_vertices(obj.data)]
    usual = float(np.median(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)))
    around, triangles = surface.world(), fans(surface.faces)
    nearest, weights = nearest_points(places[chosen], around, triangles)
    feet = np.einsum("ki,kij->kj", weights, around[triangles[nearest]])
    away = np.linalg.norm(places[chosen] - feet, axis=1)
    return Reach(float(away.max()), int((away > FAR_EDGES * usual).sum()), usual)


class OBJECT_OT_pbd_attach_selected(Action, bpy.types.Operator):
    """Let the selected vertices, or those of the attach or the pin group, follow the surface of the other object"""

    bl_idname = "object.pbd_attach_selected"
    bl_label = "Attach Selected"

    weight: hold_weight(
        "1 holds firmly; less is a spring, 0.5 has the Pin Stiffness. For vertices selected in Edit Mode"
    )

    @staticmethod
    def has_pair(context: Context) -> checks.Why:
        cloths, targets = pair(context)
        if not cloths:
            return "Select a PBD cloth or balloon and the object to attach it to"
        return "" if len(targets) == 1 else "Select one mesh that is not simulated too, to attach the vertices to"

    needs = (has_pair,)

    def invoke(self, context: Context, event: Event) -> Result:
        """Ask first where what is attached is far from the nearest surface, which may be another than was meant."""
        cloths, (target,) = pair(context)
        try:
            found = list(filter(None, (reach(context, obj, target) for obj in cloths)))
        except PBDError as error:
            return self.fail(context, error)
        far = sum(one.far for one in found)
        if not far or bpy.app.background:
            return self.execute(context)
        said = iface(
            "{count} vertices are more than two edges away from '{other}', up to {far} m: it will hold them there"
        )
        said = said.format(count=far, other=target.name, far=f"{max(one.farthest for one in found):.2g}")
        return context.window_manager.invoke_confirm(
            self, event, title=iface("Attach Selected"), message=said, confirm_text=iface("Attach"), translate=False
        )

    def run(self, context: Context) -> str:
        cloths, (target,) = pair(context)
        found = list(filter(None, (reach(context, obj, target) for obj in cloths)))
        if context.mode == "EDIT_MESH":
            selected(cloths[0], "Select the vertices to attach first")
            assign(context, cloths[0], "attach_group", self.weight)
        else:
            self.choose_groups(cloths)
        for obj in cloths:
            obj.pbd.attach_object = target
        session.clear_cache(context.scene)
        said = rpt("{objects} attached to '{other}'")
        if found:
            said = rpt("{objects} attached to '{other}', at most {far} m away")
        far = f"{max((one.farthest for one in found), default=0.0):.2g}"
        return said.format(objects=checks.describe(cloths), other=target.name, far=far)

    @staticmethod
    def choose_groups(cloths: list[Object]) -> None:
        """Take the groups that there are; raises `PBDError`."""
        groups = {obj: obj.pbd.attach_group or obj.pbd.pin_group for obj in cloths}
        for obj, name in groups.items():
            if name not in obj.vertex_groups:
                raise PBDError(f"'{obj.name}' has no attach group and no pin group: select vertices in Edit Mode")
        for obj, name in groups.items():
            obj.pbd.attach_group = name


def note_cleared() -> None:
    """A vertex group was cleared in a panel: make the undo step that Blender leaves out for its cross."""
    if not bpy.app.background and not bpy.app.timers.is_registered(push_undo):
        bpy.app.timers.register(push_undo, first_interval=0.0)  # Not in the middle of what sets it.


def push_undo() -> None:
    """Timer: an undo step, so that the next redo panel, which undoes first, does not bring the group back."""
    for window in bpy.context.window_manager.windows:
        with bpy.context.temp_override(window=window):
            undo: Any = bpy.ops.ed
            if undo.undo_push.poll():
                undo.undo_push(message="Vertex Group")
                return


def register() -> None:
    """Listen to cleared groups."""
    field_properties.cleared_listeners.append(note_cleared)


def unregister() -> None:
    """Undo `register`."""
    field_properties.cleared_listeners.remove(note_cleared)
    if bpy.app.timers.is_registered(push_undo):
        bpy.app.timers.unregister(push_undo)
