"""Helpers that know arrays, not physics: checked arguments, coloring of rows, distinct values, lists by owner.

They import nothing of ours. Read `arguments.py` first: it words every refusal of bad input.
"""
