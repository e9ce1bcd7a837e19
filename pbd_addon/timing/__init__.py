"""How work that takes long is cut into slices, so that a window stays responsive, and how its time is taken.

Whatever may take long is a generator, and `slices.finish` runs one to its end.
"""
