import bpy

bpy.context.object.pbd.material = "Rubber Sheet"
