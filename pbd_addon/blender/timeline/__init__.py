"""The simulation that follows the timeline: detect purely, act once.

Read in this order: `record` holds what was simulated of a scene, `changes` finds which frames of it are out of date,
and `step`, the only writer, truncates the record and steps missing frames. `follow` runs these for the frame that
Blender shows and writes the result; `replay` is its shortcut for an unchanged frame. `scene_simulation` and
`simulated_object` are what is stepped. `session` keeps one record per scene; other packages call it.
"""
