"""Building a model: bodies, colliders and settings become particles, kinds of constraints and parts.

What is changed makes another model, which shares what stays the same. Read `build.py` first; `builders.py` makes each
kind, `tear.py` the model after cloth has torn.
"""
