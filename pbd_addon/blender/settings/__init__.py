"""What a user can set, and how the bridge reads it.

To read in this order: `field_properties` makes Blender properties from the fields of the physics, `maps` the weight
maps, `properties` registers them all, `raw_settings` reads them for a run, and `presets` are the menus of materials.
"""
