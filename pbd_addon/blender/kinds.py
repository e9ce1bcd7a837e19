"""Names for Blender's own types in signatures; its stubs know nothing of the properties that we add to them."""

from typing import Any

import bpy

Scene = Any
Object = Any
Depsgraph = bpy.types.Depsgraph
