import bpy

bpy.context.object.pbd.material = "Foil Balloon"
