"""What the bridge reads off a scene, with nothing of the simulation in it.

To read in this order: `scene_objects` finds the objects that take part and `simulated_range` the frames, `linked` tells
what is of another .blend, `animation` what moves a data-block by itself, `user_keys` the shape keys of the user,
`poses` the places of objects and `surfaces` the shapes of others.
"""
