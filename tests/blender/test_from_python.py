"""The lines of the page From Python, run as they stand there."""

import re
from pathlib import Path

import bpy
import numpy as np
import pytest

from helpers.scenes import go, shown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from_python.md"

pytestmark = pytest.mark.usefixtures("few_substeps")


def blocks():
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_page(extension):
    names = {}
    cloth, balloon, collider, bake = blocks()
    assert all(len(block.splitlines()) <= 10 for block in (cloth, balloon, collider, bake))
    exec(cloth, names)
    flag = names["flag"]
    assert (flag.pbd.type, flag.pbd.preset, flag.pbd.pin_group) == ("CLOTH", "Silk", "Pins")
    assert flag.pbd.density == pytest.approx(0.069)
    exec(balloon, names)
    foil = names["balloon"]
    assert (foil.pbd.type, foil.pbd.preset) == ("BALLOON", "Foil Balloon")
    exec(collider, names)
    assert names["ball"].pbd_collider.enabled and bpy.context.scene.pbd.use_floor
    before = shown(flag)
    exec(bake, names)
    assert flag.pbd.baked and foil.pbd.baked and not names["ball"].pbd.enabled
    go(24)
    moved = np.linalg.norm(shown(flag) - before, axis=1)
    assert moved[before[:, 0] < -0.49].max() < 1e-5 and moved.max() > 0.2


def test_an_unknown_material_is_refused(extension):
    bpy.ops.mesh.primitive_grid_add()
    bpy.ops.object.pbd_add(type="CLOTH")
    with pytest.raises(ValueError, match=r"There is no material 'Sponge': choose one of Silk, Cotton,"):
        bpy.context.object.pbd.apply_preset("Sponge")
    with pytest.raises(RuntimeError, match="There is no material 'Sponge'"):
        bpy.ops.object.pbd_preset(name="Sponge")
    for given in ({}, {"filepath": __file__, "menu_idname": "NOT_A_MENU"}, {"filepath": "nowhere.py"}):
        with pytest.raises(RuntimeError, match="Choose a material by its name"):
            bpy.ops.object.pbd_preset(**given)


def test_a_material_of_ones_own_by_its_name(extension):
    bpy.ops.mesh.primitive_grid_add()
    bpy.ops.object.pbd_add(type="CLOTH")
    obj = bpy.context.object
    obj.pbd.density = 0.777
    bpy.ops.object.pbd_cloth_preset_add(name="My Felt")
    try:
        bpy.ops.object.pbd_preset(name="Silk")
        assert obj.pbd.density == pytest.approx(0.069)
        bpy.ops.object.pbd_preset(name="My Felt")
        assert obj.pbd.density == pytest.approx(0.777)
        assert obj.pbd.preset == "My Felt"
    finally:
        bpy.ops.object.pbd_cloth_preset_add(name="My Felt", remove_name=True)
