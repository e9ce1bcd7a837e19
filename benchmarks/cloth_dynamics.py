"""Blender's "Cloth Dynamics (Experimental)" on the curtain: a node group with an XPBD solver, in 5.2 and newer."""

from __future__ import annotations

import time
from pathlib import Path

import bpy
import numpy as np

from .contestants import LeftOut
from .curtain import Curtain
from .stage import Stage

ASSETS = "assets/nodes/geometry_nodes_dynamics_assets.blend"
"""Where Blender keeps it, in its own data files."""

GROUP = "Cloth Dynamics (Experimental)"
INPUTS = ("Pin Group", "Substeps", "Constraint Steps")


class ClothDynamics:
    """The node group with its default settings but for these.

    Args:
        curtain: What it simulates.
        substeps: Of a frame; None leaves the default.
        iterations: Of a substep, "Constraint Steps"; None leaves the default.

    Raises:
        LeftOut: This Blender has no such node group.
    """

    def __init__(self, curtain: Curtain, substeps: int | None = None, iterations: int | None = None) -> None:
        self.stage = Stage(curtain.vertices, curtain.faces)
        start = time.process_time()
        pins = self.stage.object.vertex_groups.new(name="Pins")
        pins.add(list(curtain.pins), 1.0, "REPLACE")
        modifier = self.stage.object.modifiers.new("Cloth Dynamics", "NODES")
        modifier.node_group = group = bundled()
        sockets = {item.name: item.identifier for item in group.interface.items_tree if item.item_type == "SOCKET"}
        pinned, coarse, fine = (getattr(modifier.properties.inputs, sockets[name]) for name in INPUTS)
        pinned.type, pinned.attribute_name = "ATTRIBUTE", pins.name
        coarse.value = coarse.value if substeps is None else substeps
        fine.value = fine.value if iterations is None else iterations
        self.stage.show(1)
        self.setup = time.process_time() - start

    def step(self, frame: int) -> None:
        self.stage.show(1 + frame)

    def positions(self) -> np.ndarray:
        return self.stage.read()


def bundled() -> bpy.types.NodeTree:
    """The node group, appended from the assets that Blender ships."""
    folder = bpy.utils.system_resource("DATAFILES")
    path = Path(folder, ASSETS)
    if not path.exists():
        raise LeftOut(f"Blender {bpy.app.version_string} does not ship {GROUP}")
    with bpy.data.libraries.load(str(path)) as (there, here):
        if GROUP not in there.node_groups:
            raise LeftOut(f"{path.name} of Blender {bpy.app.version_string} has no {GROUP}")
        here.node_groups = [GROUP]
    return here.node_groups[0]
