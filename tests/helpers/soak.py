"""Random sequences of what users do, in real Blender; each is given by its seed and can be replayed.

    python soak.py ZIP --seeds 0 20 [--actions 25] [--say] [--go-on] [--without ACTION ...]

After every action nothing of the user's may be lost, and nothing of ours may be left without an owner: each mesh
remembers checksums of its own shape and keys, which Blender's undo, save and duplicate carry along. At the end of a
sequence all bakes and all PBD settings are taken away, and nothing of the add-on may be left. A line for each seed; the
last one is "N sequences, N actions, N refused".
"""

import argparse
import faulthandler
import os
import random
import shutil
import sys
import traceback
from pathlib import Path

import soak_truth  # It prepares a profile before Blender is imported.

# isort: split
import soak_actions
import soak_changes  # noqa: F401  # It registers its actions.
import soak_features  # noqa: F401  # It too.
import soak_makers  # noqa: F401  # It too.

# isort: split
import bpy
import numpy as np
import scenes
from soak_truth import (
    ACTIONS,
    LAST_FRAME,
    Refused,
    bodies,
    bridge,
    call,
    check,
    folder,
    installer,
    is_local,
    leave_mode,
    meshes,
    ours_among,
    ours_of,
    remember,
    render_small,
)

# Sequences


def begin(rng):
    """A new file with a sheet, a ball and a camera for small renders; in every fourth cloth meets itself exactly."""
    bpy.ops.wm.read_homefile(use_empty=True)
    for cache in folder.glob(f"{bridge('timeline.disk_cache').ROOT}*"):
        shutil.rmtree(cache)  # of another sequence, which the add-on would leave alone
    scene = bpy.context.scene
    scene.frame_end = LAST_FRAME
    scene.pbd.substeps = 5
    scene.pbd.collisions = rng.choice(("OFF", "OFF", "FAST", "ACCURATE"))
    render_small(scene)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -3.0, 0.3), (1.4, 0.0, 0.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    attic = bpy.data.collections.new("Attic")
    scene.collection.children.link(attic)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=5, radius=0.3, location=(0.0, 0.0, -0.6))
    remember(bpy.context.object)
    attic.objects.link(scenes.add_grid(rx=6, ry=6))
    remember(bpy.data.objects["Flag"])
    bpy.ops.ed.undo_push(message="begin")


def end():
    """Take away all that is ours; nothing of it may be left."""
    leave_mode()
    for scene in list(bpy.data.scenes):
        if scene != bpy.context.scene:
            bpy.data.scenes.remove(scene)
    for obj in list(bpy.data.objects):
        if not obj.users_scene or obj.library or (obj.type == "MESH" and not is_local(obj)):
            bpy.data.objects.remove(obj)
    for child in bpy.context.view_layer.layer_collection.children:
        child.exclude = False
    for obj in bodies():
        if obj.data.users > 1:  # the add-on asks for that, with a sentence
            obj.data = obj.data.copy()
        if obj.pbd.baked:
            bridge("baking.bake").delete(bpy.context.scene, [obj])
        obj.hide_viewport = False
    for obj in bodies():
        bpy.context.view_layer.objects.active = obj
        for other in bpy.context.view_layer.objects:
            other.select_set(other == obj)
        call(bpy.ops.object.pbd_remove)
    check()
    scenes.go(1)
    bridge("handlers").arm_if_needed()  # the timer that calls it needs a window
    assert not bodies()
    marks = bridge("scene.marks")
    for obj in meshes():
        left = [block.name for block in marks.marked(obj.data.shape_keys, marks.LIVE, marks.BAKED)]
        left += ours_of(obj.data, [obj])
        left += [one.name for one in obj.modifiers if one.name.startswith("PBD Output")]
        assert not left, f"{obj.name} keeps {left}"
    armed = {function.__qualname__ for _, function in bridge("handlers").ARMED}
    left = armed & {*ours_among(bpy.app.handlers.frame_change_pre), *ours_among(bpy.app.handlers.frame_change_post)}
    assert not left, f"handlers are left: {left}"


def sequence(seed, length, aloud):
    """Play one sequence; returns how many actions were done and how many refused."""
    rng = random.Random(seed)
    actions, weights = zip(*ACTIONS, strict=True)
    begin(rng)
    done = refused = 0
    for number in range(length):
        chosen = rng.choices(actions, weights)[0]
        # The action has a source of its own, so that a refusal does not change all that follows.
        own = random.Random(rng.random())
        if aloud:
            print(f"seed {seed}, action {number}: {chosen.__name__}", flush=True)
        try:
            try:
                chosen(own)
                done += 1
            except Refused as error:
                refused += 1
                if aloud:
                    print(f"    {error}", flush=True)
            check()
        except BaseException as error:
            error.add_note(f"seed {seed}, action {number}: {chosen.__name__}")
            raise
        if chosen not in (soak_actions.undo, soak_actions.redo):
            bpy.ops.ed.undo_push(message=chosen.__name__)
    end()
    return done, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 20), metavar=("FIRST", "COUNT"))
    parser.add_argument("--actions", type=int, default=25)
    parser.add_argument("--say", action="store_true", help="print every action before it is done")
    parser.add_argument("--go-on", action="store_true", help="tell of sequences that fail, and go on with the next")
    parser.add_argument("--without", nargs="*", default=[], metavar="ACTION", help="names of actions that are left out")
    options = parser.parse_args()
    ACTIONS[:] = [one for one in ACTIONS if one[0].__name__ not in options.without]
    faulthandler.enable(sys.__stderr__)
    installer.install(options.archive)
    total, failed = np.zeros(2, int), []
    first, count = options.seeds
    for seed in range(first, first + count):
        print(f"seed {seed}", flush=True)  # before, so that a crash can be told too
        try:
            total += sequence(seed, options.actions, options.say)
        except Exception:
            if not options.go_on:
                raise
            traceback.print_exc()
            soak_truth.listener.failed = False
            failed.append(seed)
    bpy.ops.preferences.addon_disable(module=installer.PACKAGE)
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        assert not (isinstance(handlers, list) and ours_among(handlers)), f"{name} is left after switching off"
    if failed:
        print(f"seeds that failed: {failed}")
    print(f"{count} sequences, {total[0]} actions, {total[1]} refused", flush=True)
    # bpy may crash when it ends with an extension that was installed; what had to be said is said.
    sys.stdout.flush()
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
