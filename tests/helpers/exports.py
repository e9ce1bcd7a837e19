"""How exported files are read back."""

import bpy
import numpy as np

SHARED = 1e-5
"""How far a vertex may be off where the file holds it in 32-bit numbers [m]."""


def read_back(extension, path):
    """Read a file into an empty scene without the extension; returns the mesh object."""
    extension.disable()
    bpy.ops.wm.read_homefile(use_empty=True)
    if path.suffix == ".abc":
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    elif path.suffix in (".usdc", ".usdz"):
        bpy.ops.wm.usd_import(filepath=str(path))
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
    (found,) = (obj for obj in bpy.data.objects if obj.type == "MESH")
    return found


def counterparts(positions, others):
    """For each of positions (m, 3) the nearest of others (n, 3), which must be at the same place."""
    distances = np.linalg.norm(positions[:, None] - others[None], axis=2)
    assert distances.min(axis=1).max() < 1e-4
    return distances.argmin(axis=1)
