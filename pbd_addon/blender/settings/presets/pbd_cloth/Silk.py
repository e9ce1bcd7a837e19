import bpy

material = bpy.context.object.pbd
material.density = 0.069
material.stretch = 4000.0
material.compression = 4000.0
material.shear = 20.0
material.bend = 3e-06
material.bend_model = "AUTO"
material.stretch_damping = 0.0
material.bend_damping = 0.0
material.stretch_yield = 0.0
material.bend_yield = 0.0
material.plastic_rate = 100.0
material.damping = 0.2
material.drag = 0.0
material.air_normal = 1.2
material.air_tangent = 0.02
material.tethers = True
material.thickness = 0.001
material.friction = 0.2
material.k_stretch = 0.9
material.k_compression = 0.9
material.k_shear = 0.5
material.k_bend = 0.1
