"""Run by test_backends.py: `python in_a_blender_of_its_own.py STORY [ZIP]` tells a story and prints what it saw.

A process of its own, because what is installed for one story would be there in all tests that follow. The last line is
a dictionary in JSON.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path

import bpy
import numpy as np
import scenes
from installing import installer

PROFILE = Path(os.environ["BLENDER_USER_RESOURCES"])
LAST = 24


def bridge(name):
    return importlib.import_module(f"{installer.PACKAGE}.pbd_addon.blender.{name}")


def curtain():
    """A curtain that hangs by its whole upper edge, which swings without wrinkling."""
    scenes.let_through()
    obj = scenes.add_grid(rx=12, ry=12)
    scenes.pin(obj, range(132, 144))
    return obj


def written():
    """All files in the extension's user folder, with the times of their last change."""
    folder = PROFILE / "extensions" / ".user" / "user_default" / "pbd_cloth"
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def compiled():
    """All compiled kernels, wherever they are in the profile, with the times of their last change."""
    return {str(path): path.stat().st_mtime_ns for path in PROFILE.rglob("*.nb[ci]")}


def running():
    return bridge("timeline.session").get(bpy.context.scene)


def run(kernels):
    """Simulate from the first frame; which kernels did it, and the last positions (n, 3) [m]."""
    bpy.context.scene.pbd.kernels = kernels
    scenes.go(1)
    bridge("timeline.session").clear_cache(bpy.context.scene)
    names = set()
    for frame in range(2, LAST + 1):
        scenes.go(frame)
        names.add(running().kernels_name)
    scene_sim = running().scene_sim
    return sorted(names), scene_sim.simulation.positions(scene_sim.members[0].body).copy()


def install_and_play(archive):
    """A window's story: install, play, and go on playing while Numba is compiled."""
    installer.install(Path(archive))
    backends = bridge("timeline.backends")
    backends.WAITS = False
    curtain()
    scene = bpy.context.scene
    seen = {"status": [backends.status(scene)], "written before": len(written())}
    scenes.go(1)
    scenes.go(2)
    seen["status"].append(backends.status(scene))
    seen["first kernels"] = running().kernels_name
    seen["timer"] = bpy.app.timers.is_registered(backends.watch)
    began = time.monotonic()
    frame, before = 2, {}
    while bpy.app.timers.is_registered(backends.watch):
        time.sleep(0.05)
        if frame < 8:
            frame += 1
            scenes.go(frame)
        before = compiled()
        if backends.watch() is None:  # Blender runs no timers without a window
            bpy.app.timers.unregister(backends.watch)
    seen["seconds"] = time.monotonic() - began
    seen["last numpy frame"] = frame
    seen["status"].append(backends.status(scene))
    seen["compiled"] = sorted(written())
    seen["compiled in Blender"] = sorted(compiled().items() - before.items())
    scenes.go(frame + 1)
    seen["next kernels"] = running().kernels_name
    seen["cached"] = [running().first_frame, running().last_frame]
    names, numba = run("AUTO")
    others, numpy = run("NUMPY")
    seen["kernels"] = [names, others]
    seen["status"].append(backends.status(scene))
    seen["apart"] = float(np.abs(numba - numpy).max())
    seen["fallen"] = float(-numba[:, 2].min())
    seen["numba"] = str(getattr(sys.modules.get("numba"), "__file__", ""))
    seen["variable"] = os.environ.get("NUMBA_CACHE_DIR")
    return seen


def play_with_numpy_alone(archive):
    """The zip for all platforms."""
    installer.install(Path(archive))
    backends = bridge("timeline.backends")
    curtain()
    names, _ = run("AUTO")
    return {
        "kernels": names,
        "status": backends.status(bpy.context.scene),
        "timer": bpy.app.timers.is_registered(backends.watch),
        "written": sorted(written()),
        "imported": sorted({"numba", "llvmlite"} & set(sys.modules)),
    }


def come_again():
    """Without a window, with kernels that were compiled before: the first frame is Numba's."""
    bpy.ops.preferences.addon_enable(module=installer.PACKAGE)
    curtain()
    before = written()
    began = time.monotonic()
    scenes.go(1)
    scenes.go(2)
    seen = {"kernels": running().kernels_name, "seconds": time.monotonic() - began}
    changed = written()
    bpy.ops.preferences.addon_disable(module=installer.PACKAGE)
    bpy.ops.preferences.addon_enable(module=installer.PACKAGE)
    seen["again"] = bridge("timeline.backends").status(bpy.context.scene)
    scenes.go(3)
    seen["written again"] = written() != changed
    return seen | {"changed": sorted(name for name, at in changed.items() if before.get(name) != at)}


def come_again_with_a_window():
    """With kernels that were compiled before, all is ready before anyone presses Space."""
    bpy.ops.preferences.addon_enable(module=installer.PACKAGE)
    backends = bridge("timeline.backends")
    backends.WAITS = False
    scene = bpy.context.scene
    seen = {"timer before": bpy.app.timers.is_registered(backends.watch)}
    curtain()
    seen["timer"] = bpy.app.timers.is_registered(backends.watch)
    slices = []
    for compilation in backends._compilations:
        compilation.process.wait(300)
    while bpy.app.timers.is_registered(backends.watch):
        began = time.process_time()
        if backends.watch() is None:  # Blender runs no timers without a window
            bpy.app.timers.unregister(backends.watch)
        slices.append(time.process_time() - began)
    seen["slices"], seen["status"] = slices, backends.status(scene)
    began = time.process_time()
    scenes.go(1)
    scenes.go(2)
    return seen | {"kernels": running().kernels_name, "seconds": time.process_time() - began}


def switch_off():
    """The extension is switched off while the process runs."""
    bpy.ops.preferences.addon_enable(module=installer.PACKAGE)
    backends = bridge("timeline.backends")
    backends.WAITS = False
    curtain()
    scenes.go(1)
    scenes.go(2)
    process = backends._compilations[0].process
    seen = {"ran": process.poll() is None, "timer": bpy.app.timers.is_registered(backends.watch)}
    bpy.ops.preferences.addon_disable(module=installer.PACKAGE)
    return seen | {"code": process.poll(), "timer after": bpy.app.timers.is_registered(backends.watch)}


def meet_a_broken_numba():
    """Numba is there but cannot be imported: NumPy goes on and the panel says why."""
    bpy.ops.preferences.addon_enable(module=installer.PACKAGE)
    file = Path(importlib.util.find_spec("numba").origin)
    sound = file.read_bytes()
    file.write_text('raise ImportError("it was built for another Python")\n')
    curtain()
    names, shape = run("AUTO")
    file.write_bytes(sound)
    return {
        "kernels": names,
        "status": bridge("timeline.backends").status(bpy.context.scene),
        "message": running().message,
        "fallen": float(-shape[:, 2].min()),
    }


def replace_it(archive):
    """The zip for all platforms is installed over the one that brought Numba, which is loaded."""
    bpy.ops.preferences.addon_enable(module=installer.PACKAGE)
    curtain()
    before, _ = run("AUTO")
    installer.install(Path(archive))
    after, _ = run("AUTO")
    return {"kernels": [before, after], "status": bridge("timeline.backends").status(bpy.context.scene)}


def play_in_a_copy(archive, kind):
    """Cloth plays in a copy of its scene, where its collider gets another mesh; and then in the first scene again."""
    installer.install(Path(archive))
    scenes.add_grid()
    ground = scenes.add_grid("Ground", pbd=False)
    ground.location.z, ground.scale, ground.pbd_collider.enabled = -0.3, (2.0, 2.0, 2.0), True
    first = bpy.context.scene
    play(3)
    bpy.ops.scene.new(type=kind)
    frames = [play(4)]
    bpy.ops.object.select_all(action="DESELECT")
    ground = next(obj for obj in bpy.context.scene.objects if obj.name.startswith("Ground"))
    ground.select_set(True)
    bpy.context.view_layer.objects.active = ground
    bpy.ops.object.transform_apply()
    old = ground.data
    ground.data = old.copy()
    bpy.data.meshes.remove(old)
    bpy.context.window.scene = first
    return {"frames": [*frames, play(6)]}


def play(last):
    """Play from the second frame; the frames that are simulated then."""
    for frame in range(2, last + 1):
        scenes.go(frame)
    return [running().first_frame, running().last_frame]


if __name__ == "__main__":
    story, *arguments = sys.argv[1:]
    tales = (install_and_play, play_with_numpy_alone, come_again, come_again_with_a_window, switch_off)
    tales = (*tales, meet_a_broken_numba, replace_it, play_in_a_copy)
    told = {tale.__name__: tale for tale in tales}
    try:
        result = told[story](*arguments)
    finally:
        # A handler that is registered when the interpreter ends keeps the process going.
        bpy.ops.preferences.addon_disable(module=installer.PACKAGE)
    print(json.dumps(result))
