"""The simulation that follows the timeline.

To read in this order: `running` brings the shown frame of a scene to its objects and has `stepping` simulate what is
missing; `session` keeps one for each scene and is what all others call; `shaping` changes a frame in place, `hand`
takes hold of cloth, `heat_map` colors it; `backends` chooses the kernels, `expected_cost` tells what a large mesh will
take.
"""
