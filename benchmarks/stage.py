"""A scene in Blender with nothing in it but what is measured."""

from __future__ import annotations

import bpy
import numpy as np

from .curtain import FRAME_RATE, FRAMES


class Stage:
    """Blender's scene, emptied: no cube, no light, no handlers and no settings of whoever uses this machine.

    It is the scene of Blender's window, because Blender simulates nodes in no other.

    Args:
        vertices: Of the mesh that is simulated, (n, 3) [m].
        faces: (f, k) int.
        frames: How many frames come after the first.
    """

    def __init__(self, vertices: np.ndarray, faces: np.ndarray, frames: int = FRAMES) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.scene.render.fps = FRAME_RATE
        self.scene.frame_start, self.scene.frame_end = 1, 1 + frames
        self.object = self.add("Cloth", vertices, faces)
        self.mesh = self.object.data

    def add(self, name: str, vertices: np.ndarray, faces: np.ndarray) -> bpy.types.Object:
        """Another mesh in this scene: vertices (n, 3) [m], faces (f, k) int."""
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(vertices.tolist(), [], faces.tolist())
        added = bpy.data.objects.new(name, mesh)
        self.scene.collection.objects.link(added)
        return added

    def show(self, frame: int) -> None:
        """Evaluate the scene at a frame."""
        self.scene.frame_set(frame)

    def write(self, x: np.ndarray) -> None:
        """Give the mesh positions x, (n, 3) [m]."""
        position = self.mesh.attributes["position"].data
        position.foreach_set("vector", np.ascontiguousarray(x, np.float32).ravel())
        self.mesh.update()

    def read(self) -> np.ndarray:
        """Positions of the evaluated mesh, (n, 3) float64 [m].

        Raises:
            ArithmeticError: One of them is not finite.
        """
        depsgraph = self.scene.view_layers[0].depsgraph
        position = self.object.evaluated_get(depsgraph).data.attributes["position"].data
        flat = np.empty(3 * len(position), np.float32)
        position.foreach_get("vector", flat)
        if not np.isfinite(flat).all():
            raise ArithmeticError("positions are not finite")
        return flat.reshape(-1, 3).astype(float)
