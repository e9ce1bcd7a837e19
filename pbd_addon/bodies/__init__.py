"""What is simulated, as the user gives it: a `Body` is a mesh with a material, pins, maps and seams.

Nothing here knows of a step. Read `body.py` first, then `settings.py` for materials and the solver's settings.
"""
