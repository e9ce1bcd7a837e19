"""Names for Blender's own types in signatures.

Its stubs know nothing of the properties that we add to objects and scenes, nor which modifier or data a thing has.
"""

from typing import Any

import bpy

Scene = Any
Object = Any
ID = Any
Mesh = Any
Keys = Any
KeyBlock = Any
Modifier = Any
Depsgraph = bpy.types.Depsgraph

Context = Any
"""Its stubs call a scene and a window optional, which operators always have."""

Layout = Any
Event = bpy.types.Event
Result = set[Any]
"""What an operator returns."""
