"""How a frame is cut into substeps: their number, the order of the scheme, and smooth frames as one compiled call.

The solver's loop says what a substep does. Read `time_stepping.py` first.
"""
