"""The scene as arrays: bodies become one set of particles with constraints and parts.

`layout.py` says which particle belongs to what, `Model` is all that stays while frames are stepped, and `State` all
that changes; `part.py` says what a part is. Read `model.py` first.
"""
