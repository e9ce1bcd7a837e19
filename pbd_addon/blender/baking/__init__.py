"""Saving simulated frames: in the mesh, in a file, or for another program.

Read in this order: `bake` and `recording` step through a range, `baked_keys` and `mesh_cache` write it, `key_plan`
counts keys beforehand; `export` writes for other programs; `command_line` bakes without a window,
`background_bake` in a second Blender.
"""
