"""Cloth on bodies from outside, many objects, and frames that must not take forever: see `rows`.

python -m benchmarks.bodies                          all rows, with Numba
python -m benchmarks.bodies --row cape --frames 12   one of them, frame by frame
"""
