"""What acts on particles from outside: wind, force fields, forces of scripts, and the lift of gas.

Each says how velocities change in a substep. Read `air.py` first: it has the drag and lift of a surface in wind.
"""
