import bpy

material = bpy.context.object.pbd
material.density = 0.8
material.stretch = 5000.0
material.compression = 5000.0
material.shear = 100.0
material.bend = 0.0001
material.bend_model = "AUTO"
material.stretch_damping = 0.0
material.bend_damping = 0.0
material.damping = 2.0
material.drag = 0.5
material.tethers = True
material.pressure_mode = "OVERPRESSURE"
material.pressure = 1.0
material.overpressure = 50.0
material.thickness = 0.001
material.friction = 0.5
material.k_stretch = 0.9
material.k_compression = 0.9
material.k_shear = 0.5
material.k_bend = 0.1
material.k_volume = 1.0
