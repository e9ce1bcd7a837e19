"""The heat map: strain or contact in the shown frame as vertex colors.

The colors are a mesh attribute; Blender's viewport shows it if its Shading has Color set to Attribute.
"""

import numpy as np

from ... import Body
from ...parts.dynamic_mesh import SHORTEST
from ..kinds import Object, Scene
from ..scene.simulated_range import shown_frame
from .record import Record
from .simulated_object import fits

ATTRIBUTE = "pbd_strain"

STOPS = np.array([[0.02, 0.05, 0.8], [0.05, 0.7, 0.1], [1.0, 0.8, 0.0], [0.9, 0.0, 0.0]])
"""Linear colors (r, g, b) from 0 to full scale: blue, green, yellow, red."""


def colors(share: np.ndarray) -> np.ndarray:
    """Colors (n, 4) float32 for fractions (n,) of the full scale, clipped to [0, 1]."""
    place = np.clip(share, 0.0, 1.0) * (len(STOPS) - 1)
    result = np.ones((len(place), 4), np.float32)
    for channel in range(3):
        result[:, channel] = np.interp(place, np.arange(len(STOPS)), STOPS[:, channel])
    return result


def strain_of_vertices(
    body: Body,
    maps: dict[str, np.ndarray],
    positions: np.ndarray,
    is_sewn: bool = False,
    rest: np.ndarray | None = None,
) -> np.ndarray:
    """Largest |length / rest length - 1| of the edges at each vertex, (n,); not of seams if they are sewn.

    `maps`, `is_sewn` and `rest`, the rest shape if it is not the body's own, are those of `Simulation`.
    """
    strain = body.edge_strain(positions)
    if rest is not None:
        shorter = body.rest_lengths / np.maximum(body.mesh.edge_lengths(rest), SHORTEST * body.rest_lengths)
        strain = (1.0 + strain) * shorter - 1.0
    if "shrink" in maps:
        strain = (1.0 + strain) / maps["shrink"][body.mesh.edges].mean(axis=1) - 1.0
    strain[body.is_seam & is_sewn] = 0.0
    result = np.zeros(len(body.vertices))
    for ends in body.mesh.edges.T:
        np.maximum.at(result, ends, np.abs(strain))
    return result


def write(obj: Object, share: np.ndarray) -> None:
    """Color the vertices of a mesh in Object Mode by fractions (n,) of the full scale."""
    mesh = obj.data
    attribute = mesh.attributes.get(ATTRIBUTE)
    if attribute is None:
        chosen = mesh.color_attributes.active_color
        obj.pbd.color_before = chosen.name if chosen else ""
        attribute = mesh.attributes.new(ATTRIBUTE, "FLOAT_COLOR", "POINT")
        mesh.color_attributes.active_color = attribute
    attribute.data.foreach_set("color", colors(share).ravel())
    mesh.update()


def remove(obj: Object) -> None:
    """Remove the colors, and restore the user's active color attribute."""
    mesh = obj.data
    attribute = mesh.attributes.get(ATTRIBUTE)
    if attribute is None or obj.mode == "EDIT" or mesh.library is not None:
        return
    mesh.attributes.remove(attribute)
    before = mesh.color_attributes.get(obj.pbd.color_before)
    if before is not None:
        mesh.color_attributes.active_color = before
    obj.pbd.color_before = ""
    mesh.update()


def color(record: Record, scene: Scene) -> None:
    """Update the colors of all objects to the shown frame, or remove them where the heat map is off."""
    kind, simulation = scene.pbd.heat_map, record.scene_sim.simulation
    shown = min(max(shown_frame(scene), record.first_frame), record.last_frame)
    for member, obj in record.scene_sim.objects(scene):
        if kind == "OFF" or obj.pbd.baked:
            remove(obj)
        elif fits(member, obj):
            share = np.zeros(len(member.body.vertices))
            if kind == "STRAIN":
                x = simulation.cached_positions(member.body, shown)
                rest = simulation.cached_rest_shape(member.body, int(shown)) if member.body.dynamic_mesh else None
                strain = strain_of_vertices(
                    member.body, simulation.maps(member.body), x, simulation.is_sewn(member.body), rest
                )
                share = 100.0 * strain / scene.pbd.heat_full
            else:
                share[record.contacts.get(int(shown), {}).get(member.uid, [])] = 1.0
            write(obj, share)
