"""What the simulation takes from Blender; nothing but `pins` changes a scene.

To read in this order: `mesh_io` reads a mesh, `pins` its pins, `deformed_input` its shape after its first modifiers;
`user_state` reads what the user has set, `snapshot` the whole scene at a frame. `quick_look` tells whether to read.
"""
