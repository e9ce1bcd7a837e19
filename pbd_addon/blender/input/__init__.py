"""From a scene to bodies of the solver.

To read in this order: `mesh_io` reads a mesh, `pins` its pins, `deformed_input` its shape after its first modifiers;
`moments` reads the whole scene at a frame; `members` are the objects as they were when the simulation was built, and
`world` builds it from them. `tangles` finds the faces that go through each other at the start.
"""
