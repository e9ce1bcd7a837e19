"""Scenes in Blender: each contestant gets one of its own, so that a frame evaluates nobody else's mesh."""

from __future__ import annotations

import bpy
import numpy as np

from .curtain import FRAME_RATE, FRAMES


def empty() -> None:
    """Forget the start-up file: no cube, no light, no handlers and no settings of whoever uses this machine."""
    bpy.ops.wm.read_factory_settings(use_empty=True)


class Stage:
    """A scene with one mesh that is simulated, and others.

    Args:
        name: Name of the scene, the object and the mesh.
        vertices: (n, 3) [m].
        faces: (f, k) int.
    """

    def __init__(self, name: str, vertices: np.ndarray, faces: np.ndarray) -> None:
        self.scene = bpy.data.scenes.new(name)
        self.scene.render.fps = FRAME_RATE
        self.scene.frame_start, self.scene.frame_end = 1, FRAMES + 1
        self.mesh = bpy.data.meshes.new(name)
        self.mesh.from_pydata(vertices.tolist(), [], faces.tolist())
        self.object = bpy.data.objects.new(name, self.mesh)
        self.scene.collection.objects.link(self.object)
        self.others: list[bpy.types.Mesh] = []

    def add(self, name: str, vertices: np.ndarray, faces: np.ndarray) -> bpy.types.Object:
        """Another mesh in this scene: vertices (n, 3) [m], faces (f, k) int."""
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(vertices.tolist(), [], faces.tolist())
        added = bpy.data.objects.new(name, mesh)
        self.scene.collection.objects.link(added)
        self.others.append(mesh)
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
        """Positions of the evaluated mesh, (n, 3) float64 [m]."""
        depsgraph = self.scene.view_layers[0].depsgraph
        position = self.object.evaluated_get(depsgraph).data.attributes["position"].data
        flat = np.empty(3 * len(position), np.float32)
        position.foreach_get("vector", flat)
        return flat.reshape(-1, 3).astype(float)

    def close(self) -> None:
        """Take the scene and all that is in it out of Blender."""
        bpy.data.scenes.remove(self.scene)
        for mesh in (self.mesh, *self.others):
            bpy.data.meshes.remove(mesh)  # takes its object along
