"""Make an object a PBD cloth, balloon or rigid body, take that away again, copy its settings."""

import dataclasses

import bpy
from bpy.app.translations import pgettext_iface as iface, pgettext_tip as tip

from ..pbd_addon.blender import about, handlers
from ..pbd_addon.blender.kinds import Context, Event, Object, Result
from ..pbd_addon.blender.output import output, output_modifier, shape_keys
from ..pbd_addon.blender.read import pins
from ..pbd_addon.blender.scene import linked
from ..pbd_addon.blender.settings import presets, properties
from ..pbd_addon.blender.settings.field_properties import unset
from ..pbd_addon.blender.timeline import cost_estimate, heat_map, session
from ..pbd_addon.bodies.material import Material
from . import checks
from .base import Action, rpt

MATERIAL_FIELDS = tuple(field.name for field in dataclasses.fields(Material))

FIRST_PRESETS = {"CLOTH": "Cotton", "BALLOON": "Party Balloon"}
"""What a new cloth and a new balloon are made of."""


def make_body(obj: Object, kind: str) -> None:
    """Make an object PBD, or turn a PBD cloth into a balloon or a rigid body and back.

    A new cloth is cotton, a new balloon a party balloon; no air slows a new rigid body down. A balloon that was cloth
    before keeps its fabric, as a cushion would; so does a cloth that was a balloon. An object that is of that kind
    already is left alone. A simulation that runs goes on without a new object until it starts again.
    """
    settings = obj.pbd
    if settings.enabled and (settings.type, settings.rigid) == (kind, kind == "RIGID"):
        return
    if not settings.enabled and kind == "RIGID":
        settings.drag = 0.0
    elif not settings.enabled:
        presets.apply(settings, FIRST_PRESETS[kind])
    settings.pressure_mode = "VOLUME" if kind == "BALLOON" else "OFF"
    settings.rigid = kind == "RIGID"
    settings.type = kind
    settings.fit = True
    settings.enabled = True
    settings.active = True
    output.ensure(obj)


def lock_interface(scene: bpy.types.Scene) -> str:
    """Switch on what keeps renders of live cloth from crashing Blender; a sentence if it was off, else ""."""
    if scene.render.use_lock_interface:
        return ""
    scene.render.use_lock_interface = True
    return iface("Render › Lock Interface is switched on: rendering live cloth is safe with it")


def forget_settings(obj: Object) -> None:
    """Put everything of `Object.pbd` back to its default: the object is not PBD any more."""
    for group in (obj.pbd, obj.pbd.field_weights):
        unset(group)


class OBJECT_OT_pbd_add(Action, bpy.types.Operator):
    """Simulate the active and the selected mesh objects as cloth, as balloons or as rigid bodies"""

    bl_idname = "object.pbd_add"
    bl_label = "Add PBD Cloth, Balloon or Rigid Body"

    type: bpy.props.EnumProperty(
        name="Type", description="What the objects become", items=properties.TYPES, default="CLOTH"
    )

    @classmethod
    def description(cls, _context: Context, properties: bpy.types.OperatorProperties) -> str:
        """One tooltip per button."""
        if properties.type == "BALLOON":
            return tip("Simulate the active and the selected meshes as balloons that keep their volume")
        if properties.type == "RIGID":
            return tip("Simulate the active and the selected meshes as solids that cloth pushes and that push cloth")
        return tip("Simulate the active and the selected meshes as cloth")

    @staticmethod
    def has_mesh(context: Context) -> checks.Why:
        return "" if checks.meshes(context) else "Select a mesh object"

    needs = (checks.in_object_mode, has_mesh)

    def invoke(self, context: Context, event: Event) -> Result:
        """Ask first where a window would stand still for long; Esc leaves all as it was."""
        takes = cost_estimate.sentence(context.scene, self.fit(context))
        if not takes or bpy.app.background:
            return self.execute(context)
        titles = {"CLOTH": iface("Add Cloth"), "BALLOON": iface("Add Balloon"), "RIGID": iface("Add Rigid Body")}
        title = titles[self.type]
        return context.window_manager.invoke_confirm(
            self, event, title=title, message=takes, confirm_text=iface("Add", "Operator"), translate=False
        )

    @staticmethod
    def fit(context: Context) -> list[Object]:
        """The objects that will be simulated."""
        return [obj for obj in checks.meshes(context) if not (checks.mesh_problem(obj) or obj.pbd.baked)]

    def run(self, context: Context) -> None:
        problems, done = [], 0
        takes = cost_estimate.sentence(context.scene, self.fit(context))
        for obj in checks.meshes(context):
            problem = checks.mesh_problem(obj)
            if not problem and obj.pbd.baked:
                problem = f"'{obj.name}' is baked: delete the bake first"
            if problem:
                problems.append(problem)
                continue
            make_body(obj, self.type)
            done += 1
        note = lock_interface(context.scene) if done else ""
        checks.warn_of_left_out(self, problems, done)
        for sentence in filter(None, (takes, note)):
            self.report({"INFO"}, sentence)


class OBJECT_OT_pbd_remove(Action, bpy.types.Operator):
    """Stop simulating these objects and forget their settings. Baked shape keys stay as ordinary animation"""

    bl_idname = "object.pbd_remove"
    bl_label = "Remove PBD"

    @classmethod
    def description(cls, _context: Context, _chosen: bpy.types.OperatorProperties) -> str:
        """With the version, because Blender shows no tooltip for a panel's name and this button stands beside it."""
        return f"{tip(cls.__doc__ or '')}.\nPBD Cloth & Balloons {about.version()}"

    @staticmethod
    def has_body(context: Context) -> checks.Why:
        name = f"'{context.object.name}' is not PBD" if context.object else "select a PBD cloth or balloon"
        return "" if checks.bodies(context) else f"Nothing to remove: {name}"

    needs = (checks.in_object_mode, has_body)

    def run(self, context: Context) -> str | None:
        objects = checks.bodies(context)
        for obj in objects:
            if obj.library is not None:
                linked.check(obj)
        baked = [obj for obj in objects if obj.pbd.baked]
        for obj in objects:
            if obj.pbd.baked:
                shape_keys.give_up_all(obj)
                output_modifier.remove(obj)
            else:
                output.remove(obj)
            heat_map.remove(obj)
            pins.forget_offsets(obj.data)
            forget_settings(obj)
        handlers.arm_if_needed()
        if not baked:
            return None
        said = rpt("The baked shape keys of {objects} stay as ordinary animation")
        return said.format(objects=checks.describe(baked))


class OBJECT_OT_pbd_make_override(Action, bpy.types.Operator):
    """Make the linked object a library override with a mesh of this file, which can be simulated and saved here"""

    bl_idname = "object.pbd_make_override"
    bl_label = "Make Override That Plays"

    @staticmethod
    def is_foreign(context: Context) -> checks.Why:
        obj = context.object
        found = obj is not None and obj.type == "MESH" and linked.problem(obj)
        return "" if found else "The active object is not linked from another file"

    needs = (checks.in_object_mode, is_foreign)

    def run(self, context: Context) -> str:
        made = linked.make_override(context.scene, context.view_layer, context.object)
        checks.select_only(context, [made])
        session.clear_cache(context.scene)
        handlers.arm_if_needed()
        return rpt("'{name}' is an override with a mesh of this file").format(name=made.name)


class OBJECT_OT_pbd_copy_to_selected(Action, bpy.types.Operator):
    """Copy the material and pressure of the active object to the other selected meshes"""

    bl_idname = "object.pbd_copy_to_selected"
    bl_label = "Copy to Selected"

    @staticmethod
    def has_others(context: Context) -> checks.Why:
        return "Select other meshes too" if len(checks.meshes(context)) < 2 else ""

    needs = (checks.is_active_body, has_others, checks.in_object_mode)

    def run(self, context: Context) -> str:
        source, *targets = checks.meshes(context)
        problems, done = [], []
        for target in targets:
            problem = linked.problem(target) or ("" if target.pbd.enabled else checks.mesh_problem(target))
            if problem:
                problems.append(problem)
                continue
            make_body(target, source.pbd.type)
            for name in (*MATERIAL_FIELDS, "preset", "preset_mark"):
                setattr(target.pbd, name, getattr(source.pbd, name))
            done.append(target)
        checks.warn_of_left_out(self, problems, len(done))
        said = rpt("Settings of '{name}' copied to {objects}")
        return said.format(name=source.name, objects=checks.describe(done))
