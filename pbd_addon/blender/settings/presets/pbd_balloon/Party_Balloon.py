import bpy

bpy.context.object.pbd.material = "Party Balloon"
