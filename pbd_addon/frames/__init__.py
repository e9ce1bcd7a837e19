"""What is kept of each frame: its state in a cache, what went into it, and the report of how it was stepped.

Read `frame_cache.py` first.
"""
