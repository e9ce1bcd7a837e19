"""The simulation that follows the timeline: detect purely, act once.

To read in this order: `record` is what was simulated of a scene, `changes` finds what of it does not hold any more, and
`step`, which alone writes the record, truncates it, steps what is missing and shows it. `scene_simulation` and
`simulated_object` are the simulation that is stepped; `session` keeps one record for each scene and is what all others
call.
"""
