"""The simulation that follows the timeline: detect purely, act once.

To read in this order: `record` is what was simulated of a scene, `changes` finds what of it does not hold any more, and
`step`, which alone writes the record, truncates it and steps what is missing. `follow` leads from a frame that Blender
shows through these to what is shown; `replay` is its short way for a frame that is as before. `scene_simulation` and
`simulated_object` are the simulation that is stepped; `session` keeps one record for each scene and is what all others
call.
"""
