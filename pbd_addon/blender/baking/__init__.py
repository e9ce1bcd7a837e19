"""Simulated frames that outlive the session: in the mesh, in a file, or for another program.

To read in this order: `bake` and `recording` step through a range, `baked_keys` and `mesh_cache` write it down,
`key_plan` tells beforehand how many keys it takes; `export` and `whole_files` write for other programs; `command_line`
bakes without a window, `background_bake` in a second Blender.
"""
