import bpy

bpy.context.object.pbd.material = "Knit Jersey"
