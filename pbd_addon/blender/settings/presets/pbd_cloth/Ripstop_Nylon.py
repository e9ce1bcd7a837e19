import bpy

bpy.context.object.pbd.material = "Ripstop Nylon"
