"""The scene as arrays: bodies become one set of particles with constraints.

`layout.py` says which particle belongs to what, `build.py` makes the `Model` of it, and all that changes is `State`.
Read `model.py` first.
"""
