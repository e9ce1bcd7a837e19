import bpy

material = bpy.context.object.pbd
material.density = 0.163
material.stretch = 5000.0
material.compression = 5000.0
material.shear = 40.0
material.bend = 6.6e-06
material.bend_model = "AUTO"
material.stretch_damping = 0.0
material.bend_damping = 0.0
material.stretch_yield = 0.0
material.bend_yield = 0.0
material.plastic_rate = 100.0
material.damping = 0.2
material.drag = 0.0
material.air_normal = 1.2
material.air_tangent = 0.03
material.tethers = True
material.thickness = 0.001
material.friction = 0.5
material.k_stretch = 0.9
material.k_compression = 0.9
material.k_shear = 0.5
material.k_bend = 0.1
