"""How a frame is cut into substeps: order of the scheme, retries, their number, smooth frames as one compiled call.

The solver's loop says what a substep does. Read `cutting.py` first, then `time_stepping.py`.
"""
