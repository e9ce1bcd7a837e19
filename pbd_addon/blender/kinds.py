"""Names for Blender's types in signatures.

The stubs do not know the properties that we add to objects and scenes, or the type of a modifier or of object data.
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
"""In the stubs its scene and window are optional, but operators always have both."""

Layout = Any
Event = bpy.types.Event
Result = set[Any]
"""The return value of an operator."""
