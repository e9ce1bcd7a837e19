import bpy

bpy.context.object.pbd.material = "Beach Ball"
