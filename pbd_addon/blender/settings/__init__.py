"""The user's settings, and how the bridge reads them.

Read in this order: `field_properties` makes Blender properties from the fields of the engine's settings, `maps` makes
those of the weight maps, `properties` registers all. `raw_settings` has a table of them, from which records, changes
and what files may say are made; `groups` says which stand together in panels, `presets` are the material presets.
"""
