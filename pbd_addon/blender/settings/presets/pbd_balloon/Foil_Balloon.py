import bpy

material = bpy.context.object.pbd
material.density = 0.042
material.stretch = 54000.0
material.compression = 54000.0
material.shear = 20000.0
material.bend = 1.2e-05
material.bend_model = "AUTO"
material.stretch_damping = 0.0
material.bend_damping = 0.0
material.damping = 2.0
material.drag = 4.0
material.tethers = True
material.pressure_mode = "VOLUME"
material.pressure = 1.0
material.overpressure = 300.0
material.thickness = 0.001
material.friction = 0.3
material.k_stretch = 0.9
material.k_compression = 0.9
material.k_shear = 0.5
material.k_bend = 0.1
material.k_volume = 1.0
