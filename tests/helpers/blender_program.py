"""`python blender_program.py --background --addons NAME --command NAME ARGUMENTS`: Blender's program, made of bpy.

As much of its command line as starts an extension's command. The profile is the one in the environment.
"""

import importlib
import sys

import bpy

_, background, addons, package, command, name, *arguments = sys.argv
assert (background, addons, command) == ("--background", "--addons", "--command")
bpy.ops.preferences.addon_enable(module=package)
command_line = importlib.import_module(f"{package}.pbd_addon.blender.baking.command_line")
assert name == command_line.COMMAND
try:
    code = command_line.main(arguments)
finally:
    # A handler that is registered when the interpreter ends keeps the process going.
    bpy.ops.preferences.addon_disable(module=package)
sys.exit(code)
