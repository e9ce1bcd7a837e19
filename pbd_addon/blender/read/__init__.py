"""What the simulation takes from Blender; nothing but `pins` changes a scene.

To read in this order: `mesh_io` reads a mesh, `pins` its pins, `deformed_input` its shape after its first modifiers;
`curves` and `drivers` read the animation, `user_state` what the user has set, `snapshot` the whole scene at a frame.
"""
