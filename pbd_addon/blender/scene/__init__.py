"""Reading and writing a scene's data; nothing here knows of a simulation.

Read in this order: `scene_objects` finds the objects that take part, `simulated_range` the frames; `linked` detects
data of other .blend files, `animation` reads F-curves and drivers, `user_keys` the user's shape keys, `poses` the
transforms of objects, and `surfaces` the evaluated shapes of other objects. `marks` identifies data of ours.
"""
