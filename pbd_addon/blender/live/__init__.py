"""The simulation that follows the timeline.

To read in this order: `running` brings a scene's shown frame to its objects, `session` keeps one for each scene and is
what all others call; `shaping` changes a frame in place, `hand` takes hold of cloth, `heat_map` colors it; `backends`
chooses the kernels, and `expected_cost` tells what a large mesh will take.
"""
