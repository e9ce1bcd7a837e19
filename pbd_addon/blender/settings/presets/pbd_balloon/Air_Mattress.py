import bpy

bpy.context.object.pbd.material = "Air Mattress"
