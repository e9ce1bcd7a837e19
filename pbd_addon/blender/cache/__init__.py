"""Which simulated frames still hold when the scene changes, and the frames on disk.

To read in this order: `changed_settings`, `hand_placed`, `animation_rules` and `watched_curves` each see one kind of
change, `validity` draws the line; `disk_cache` writes the frames beside the .blend, `cache_adoption` takes them up.
"""
