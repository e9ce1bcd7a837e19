"""Numbers that keep quotients finite."""

TINY = 1e-12
"""Added to lengths [m], and the least of what else depends on the size of a scene and is divided by: far below any
edge, and 5000 times the rounding error of a coordinate of 1 m."""

SMALLEST = 1e-300
"""The least of what may have any size and is divided by: its inverse is finite; normal numbers end at 2e-308."""
