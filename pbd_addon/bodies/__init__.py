"""What is simulated, as the user gives it: a `Body` is a mesh with a material, pins, maps and seams.

A material has the fields of all parts, so this stands above them; they know bodies and materials by their attributes.
Read `body.py` first, then `material.py`.
"""
