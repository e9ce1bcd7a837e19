"""Warp and weft in Blender: along the X axis of the object or U of its UV map, and what is said where that is none."""

import bpy
import numpy as np
import pytest

from helpers import scenes


def add_sheet(**settings):
    """Blender's own grid of 0.4 m, turned by 30° about Z, as new cloth."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=0.4, rotation=(0.0, 0.0, np.radians(30.0)))
    sheet = bpy.context.object
    sheet.pbd.enabled = True
    for name, value in settings.items():
        setattr(sheet.pbd, name, value)
    bpy.context.view_layer.update()
    return sheet


def turn_uv(obj, degrees, faces=None):
    """Turn the UV map about its corner: the whole, or some faces flattened to a point."""
    uv = obj.data.uv_layers.active.uv
    found = np.empty(2 * len(uv), np.float32)
    uv.foreach_get("vector", found)
    t = np.radians(degrees)
    found = found.reshape(-1, 2) @ np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]])
    for face in faces or ():
        found[obj.data.polygons[face].loop_indices] = 0.5
    uv.foreach_set("vector", found.astype(np.float32).ravel())


def direction(angle):
    return np.cos(np.radians(angle)), np.sin(np.radians(angle)), 0.0


def test_the_warp_is_the_x_axis_or_u(extension):
    read = extension.bridge("read.bodies").read_body
    sheet = add_sheet()
    np.testing.assert_allclose(read(sheet).warp, direction(30.0), atol=1e-6)
    sheet.pbd.warp = "UV"
    for turn in (0.0, 45.0):
        turn_uv(sheet, turn)
        warp = read(sheet).warp
        along = np.abs(warp @ direction(30.0 - turn))  # Where the map is turned one way, U lies the other way.
        np.testing.assert_allclose(along, np.ones(len(sheet.data.polygons)), atol=1e-5)


def test_a_uv_map_without_a_direction_is_named(extension):
    read = extension.bridge("read.bodies").read_body
    sheet = add_sheet(warp="UV")
    turn_uv(sheet, 0.0, faces=[3, 5])
    body = read(sheet)
    assert (~body.warp.any(axis=1)).nonzero()[0].tolist() == [3, 5]
    assert body.notes == ("2 faces have no direction in the UV map: there the warp runs along the X axis",)
    missing = ("No UV map says where the warp runs: it runs along the X axis",)
    turn_uv(sheet, 0.0, faces=range(len(sheet.data.polygons)))
    assert read(sheet).notes == missing
    sheet.data.uv_layers.remove(sheet.data.uv_layers[0])
    body = read(sheet)
    assert body.notes == missing
    np.testing.assert_allclose(body.warp, direction(30.0), atol=1e-6)


def test_another_direction_is_another_cloth(extension):
    """Changed after the first frame it is known at the next start; the sheet then hangs another way."""
    sheet = add_sheet(weft_bend=0.05, bend=0.02, drag=4.0)
    group = sheet.vertex_groups.new(name="Pins")
    group.add([vertex.index for vertex in sheet.data.vertices if vertex.co.x < -0.05], 1.0, "REPLACE")
    sheet.pbd.pin_group = "Pins"
    found = []
    for turn in (0.0, 90.0):
        turn_uv(sheet, turn)
        sheet.pbd.warp = "UV"
        scenes.play([sheet], 1, 12)
        found.append(scenes.shown(sheet)[:, 2].min())
        scenes.go(1)
    assert found[1] < found[0] - 0.05


def test_a_test_sheet_becomes_settings(extension):
    """As the page says; what was not measured stays, and contradictions change nothing."""
    sheet = add_sheet(shear=77.0)
    bpy.ops.object.pbd_test_sheet(
        system="KES", kes_weight=12.4, kes_bending=(0.118, 0.059), kes_hysteresis=(0.124, 0.0)
    )
    pbd = sheet.pbd
    found = pbd.density, pbd.bend * 1e5, pbd.weft_bend, pbd.bend_friction * 1e4, pbd.shear
    np.testing.assert_allclose(found, (0.124, 1.157, 0.5, 6.08, 77.0), rtol=1e-3)
    with pytest.raises(RuntimeError, match="2HB of the weft, 0.9, is more than B, 0.1"):
        bpy.ops.object.pbd_test_sheet(system="KES", kes_weight=99.0, kes_bending=(0.1, 0.1), kes_hysteresis=(0.0, 0.9))
    assert abs(pbd.density - 0.124) < 1e-6
    bpy.ops.object.pbd_test_sheet(system="FAST", fast_weight=168.0, fast_length=(15.0, 14.5))
    np.testing.assert_allclose((pbd.bend * 1e6, pbd.bend * pbd.weft_bend * 1e6), (5.56, 5.02), rtol=2e-3)
