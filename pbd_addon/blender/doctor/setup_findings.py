"""Checks of an object's setup: position and size, settings, groups, modifiers."""

from collections.abc import Collection

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ...contact.contact_scene import AUTO_DISTANCE
from ...parts import MAPS
from ..kinds import Modifier, Object, Scene
from ..output.output_modifier import GROWERS
from ..scene import user_keys
from . import misplaced
from .mesh_exam import MeshExam, usual_edge

SMALL_SIZE, LARGE_SIZE = 0.01, 50.0
"""An object smaller or larger than this was probably not modeled in meters [m]."""

ADD_GEOMETRY = GROWERS - {"BEVEL", "EDGE_SPLIT", "EXPLODE", "SOLIDIFY", "SUBSURF"}
"""Modifiers that add or remove parts unknown to the simulation; refining or thickening does no harm."""

COARSE = {"CLOTH": 250, "BALLOON": 100, "RIGID": 0}
"""A mesh with fewer vertices than this is reported as coarse. Draping cloth makes about eight folds around its border,
and a fold of fewer than eight edges looks like a polygon; a square grid with 64 border edges has 17 x 17 vertices.
Among icospheres, one of 162 vertices looks round and one of 42 like a polyhedron. A box may have eight."""

FINE = 1000
"""Number of vertices that makes good folds: that of *New Cloth Grid*, 32 x 32."""

MOST_MEASURED = 50_000
"""Largest number of vertices whose edges a panel may measure while drawing; it takes two milliseconds."""

SIMULATE = ("CLOTH", "SOFT_BODY")
"""Blender's modifiers that simulate the same vertices."""


def no_scale(exam: MeshExam) -> str:
    """World positions cannot be converted back to the space of a flattened object."""
    return iface("The object has a scale of zero") if exam.is_flat else ""


def too_coarse(exam: MeshExam) -> str:
    """A mesh with few vertices cannot fold: a default cube falls as a box."""
    return coarse_sentence(exam.obj) if len(exam.polygons.starts) > 1 else ""


def coarse_sentence(obj: Object) -> str:
    """A sentence about a mesh with too few vertices to bend, or ""; fast enough for a panel."""
    count = len(obj.data.vertices)
    if count >= COARSE[obj.pbd.type]:
        return ""
    return iface("Only {count} vertices: folds need about {fine}").format(count=count, fine=f"{FINE:,}")


def unusual_size(exam: MeshExam) -> str:
    """Cloth moves according to its real size."""
    if exam.is_flat or not len(exam.positions):
        return ""
    size = float(np.ptp(exam.positions, axis=0).max())
    if SMALL_SIZE <= size <= LARGE_SIZE:
        return ""
    sentence = iface("It is {size:.3g} m large and will move accordingly: scale it if it was not modeled in meters")
    return sentence.format(size=size)


def unit_scale(exam: MeshExam) -> str:
    """Blender shows lengths times Unit Scale; the simulation takes them as meters."""
    return unit_sentence(bpy.context.scene, exam.obj)


def unit_sentence(scene: Scene, obj: Object) -> str:
    """A sentence about a Unit Scale that makes an object another size than is shown, or ""; fast enough for a panel."""
    units = scene.unit_settings
    if units.system == "NONE" or abs(units.scale_length - 1.0) < 1e-6:
        return ""
    size = max(obj.dimensions.to_tuple())
    sentence = iface("Unit Scale {scale:.4g}: what is shown as {shown:.3g} m is simulated as {size:.3g} m")
    return sentence.format(scale=units.scale_length, shown=size * units.scale_length, size=size)


def uneven_scale(exam: MeshExam) -> str:
    """The simulation runs in meters at any scale; Solidify measures in object space."""
    scale = np.abs(exam.obj.matrix_world.to_scale().to_tuple())
    thick = [modifier.name for modifier in exam.obj.modifiers if modifier.type == "SOLIDIFY"]
    if not thick or scale.max() - scale.min() <= 1e-3 * scale.max():
        return ""
    sentence = iface("The scale differs between the axes, so that modifier '{name}' is not equally thick everywhere")
    return sentence.format(name=thick[0])


def wide_distance(exam: MeshExam) -> str:
    """A collision distance longer than the edges makes cloth hover in folds."""
    distance, edge = exam.obj.pbd.thickness, exam.usual_edge
    if not 0.0 < edge < distance:
        return ""
    sentence = iface("Distance, {distance:.3g} mm, is more than the usual edge, {edge:.3g} mm")
    return sentence.format(distance=1e3 * distance, edge=1e3 * edge)


def wide_self_distance(exam: MeshExam) -> str:
    """Layers cannot be kept farther apart than the edges are long."""
    settings, edge = exam.obj.pbd, exam.usual_edge
    if not settings.self_collision or not 0.0 < edge < settings.self_distance:
        return ""
    sentence = iface("Self Distance, {distance:.3g} mm, is more than the usual edge, {edge:.3g} mm")
    return sentence.format(distance=1e3 * settings.self_distance, edge=1e3 * edge)


def automatic_distance(obj: Object) -> str:
    """The value that a Self Distance of 0 means; fast enough for a panel."""
    if obj.mode == "EDIT" or not obj.data.polygons or len(obj.data.vertices) > MOST_MEASURED:
        return iface("0 = automatic: half of the usual edge")
    distance = AUTO_DISTANCE * usual_edge(obj)
    return iface("0 = automatic: {distance:.3g} mm").format(distance=1e3 * distance)


def lost_pins(exam: MeshExam) -> str:
    """A pin group that is missing or empty."""
    obj, name = exam.obj, exam.obj.pbd.pin_group
    if not name:
        return ""
    if name not in obj.vertex_groups:
        return iface("The pin group '{name}' does not exist").format(name=name)
    empty = not user_keys.read_weights(obj, name).any()
    return iface("The pin group '{name}' is empty: nothing is held").format(name=name) if empty else ""


def lost_attached(exam: MeshExam) -> str:
    """An attach group that is missing."""
    obj, name = exam.obj, exam.obj.pbd.attach_group
    if not name or obj.pbd.attach_object is None or name in obj.vertex_groups:
        return ""
    return iface("The attach group '{name}' does not exist").format(name=name)


def lost_maps(exam: MeshExam) -> str:
    """A weight map whose group is missing."""
    lost = missing_maps(exam.obj)
    sentence = iface("The group '{name}' of a weight map does not exist")
    return sentence.format(name=next(iter(lost.values()))) if lost else ""


def missing_maps(obj: Object) -> dict[str, str]:
    """Names of the groups of weight maps that do not exist, by map."""
    named = ((kind, getattr(obj.pbd, f"{kind}_group")) for kind in MAPS)
    return {kind: name for kind, name in named if name and name not in obj.vertex_groups}


def all_held(exam: MeshExam) -> str:
    """Some vertex must be free to move."""
    obj = exam.obj
    weights = np.zeros(len(exam.positions), np.float32)
    firm = obj.pbd.attach_object is not None and not obj.pbd.attach_slide
    for name in (obj.pbd.pin_group, obj.pbd.attach_group if firm else ""):
        if name in obj.vertex_groups:
            weights = np.maximum(weights, user_keys.read_weights(obj, name))
    return iface("All vertices are held: nothing can move") if len(weights) and (weights >= 1.0).all() else ""


def wrong_side(exam: MeshExam) -> str:
    """Cloth that begins inside a solid collider is pushed out, often through other cloth."""
    found = misplaced.on_wrong_side(exam.obj, exam.beginning) if exam.beginning else None
    if found is None:
        return ""
    if found.is_container:
        one = iface("{count} vertex begins outside of '{name}', which keeps cloth inside")
        many = iface("{count} vertices begin outside of '{name}', which keeps cloth inside")
    else:
        one = iface("{count} vertex begins inside of '{name}' and will be pushed out")
        many = iface("{count} vertices begin inside of '{name}' and will be pushed out")
    return (one if len(found.ids) == 1 else many).format(count=len(found.ids), name=found.other)


def on_a_surface(exam: MeshExam) -> str:
    """For cloth that begins on a surface, contact does not know which side to keep it on."""
    found = misplaced.on_a_surface(exam.obj, exam.usual_edge, exam.beginning) if exam.beginning else None
    if found is None:
        return ""
    one = iface("{count} vertex begins on '{name}', on neither of its sides: move one of them")
    many = iface("{count} vertices begin on '{name}', on neither of its sides: move one of them")
    return (one if len(found.ids) == 1 else many).format(count=len(found.ids), name=found.other)


def second_simulation(exam: MeshExam) -> str:
    """Blender's own simulation would move the vertices a second time."""
    found = first_modifier(exam.obj, SIMULATE)
    sentence = iface("Modifier '{name}' simulates the same vertices again")
    return sentence.format(name=found.name) if found else ""


def added_geometry(exam: MeshExam) -> str:
    """The simulation does not see geometry that later modifiers add."""
    expected = {"WELD"} if exam.obj.pbd.tear_strength else set()
    found = first_modifier(exam.obj, ADD_GEOMETRY - expected)
    sentence = iface("Modifier '{name}' comes after the simulation, which does not see what it changes")
    return sentence.format(name=found.name) if found else ""


def first_modifier(obj: Object, types: Collection[str]) -> Modifier | None:
    """The first modifier of one of these types that is switched on, or None."""
    return next((one for one in obj.modifiers if one.type in types and (one.show_viewport or one.show_render)), None)
