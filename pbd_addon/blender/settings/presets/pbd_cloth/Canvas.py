import bpy

bpy.context.object.pbd.material = "Canvas"
