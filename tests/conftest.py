"""What all tests share. The tests in blender/ are left out where there is no Blender."""

from importlib.util import find_spec

# Not importorskip: at this level it may skip the whole run.
collect_ignore = [] if find_spec("bpy") else ["blender"]
