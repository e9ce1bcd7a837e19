"""What acts on particles from outside: wind with its gusts, force fields, and forces of scripts.

Each says what moves where at a time. What the air does to a surface is a part, in `parts/air.py`. Read `wind.py` first.
"""
