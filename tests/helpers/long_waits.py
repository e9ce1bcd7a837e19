"""Run by test_long_waits.py: `python long_waits.py ZIP HOW` simulates far, as a script does that nobody watches.

Ctrl+C is pressed by its parent, or not. It prints "simulating", and last the frames that were kept.
"""

import importlib
import os
import signal
import sys
from pathlib import Path

from installing import installer

FAR = 1_048_574


installer.clean_profile()
os.environ.setdefault("PBD_KERNELS", "numpy")

import bpy  # noqa: E402  # Blender reads its profile when it is imported
import scenes  # noqa: E402


def bridge(name):
    return importlib.import_module(f"{installer.PACKAGE}.pbd_addon.blender.{name}")


def kept():
    record = bridge("timeline.session").of(bpy.context.scene)
    return record.first_frame, record.last_frame, record.message


def main(archive, how):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell lets what runs in the background ignore it.
    installer.install(Path(archive))
    bridge("timeline.progress").EVERY = 0.5
    scene = bpy.context.scene
    scene.frame_end = FAR
    scenes.let_through()
    obj = scenes.add_grid(rx=20, ry=20)
    scenes.pin(obj, [0])
    if how == "heavy":  # a frame of minutes, after a first one that is said to take as long
        scene.pbd.substeps = 500
        scene.pbd.iterations = 100
        bridge("timeline.cost_estimate").BUILD = 1.0
    scenes.go(1)
    print("simulating", flush=True)
    if how == "loop":
        for frame in range(2, 2000):
            scene.frame_set(frame)
    else:
        scene.frame_set(FAR)
    print("kept", *kept(), flush=True)
    scene.frame_set(kept()[1] + 3)
    print("kept", *kept(), flush=True)
    if how != "heavy":
        scene.frame_set(kept()[1])
        scene.frame_set(kept()[1] + 1)
        print("kept", *kept(), flush=True)
    bpy.ops.preferences.addon_disable(module=installer.PACKAGE)
    print("handler", signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:  # It was pressed while the script itself ran, which is Python's to say.
        print("Python's", flush=True)
    # bpy may crash when it ends with an extension that was installed; what had to be said is said.
    os._exit(0)
