"""Names for Blender's types in signatures."""

from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import (
        IconItems as Icon,
        OperatorReturnItems as Ending,
        OperatorTypeFlagItems as Option,
    )
else:
    Icon = Ending = Option = str

Scene = bpy.types.Scene
Object = bpy.types.Object
Mesh = bpy.types.Mesh
Keys = bpy.types.Key
KeyBlock = bpy.types.ShapeKey
Modifier = bpy.types.Modifier
Depsgraph = bpy.types.Depsgraph
ViewLayer = bpy.types.ViewLayer

Animatable = Object | Scene | Keys
"""Data-blocks that may have animation."""

Group = Any
"""A group of our properties, which the stubs do not know."""

Context = bpy.types.Context
Layout = bpy.types.UILayout
Event = bpy.types.Event
Options = set[Option]
Result = set[Ending]
"""The `bl_options` and the return value of an operator."""
