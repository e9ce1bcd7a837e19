"""What the simulation takes from Blender; nothing but `pins` changes a scene.

Read in this order: `mesh_io` reads a mesh, `pins` its pins, `deformed_input` its shape after the first modifiers;
`user_state` reads the user's settings, `snapshot` the whole scene at a frame. `quick_look` detects unchanged frames.
"""
