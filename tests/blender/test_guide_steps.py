"""The steps of docs/character.md and docs/export.md, taken as they are written; what they promise comes true."""

import json
import re
import struct
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

from helpers import rigs, scenes
from helpers.exports import SHARED, read_back
from helpers.rigs import pinned
from helpers.scenes import go, play, shown

DOCS = Path(__file__).resolve().parents[2] / "docs"

LAST = 12


class Steps:
    """The numbered steps of a section of a page."""

    def __init__(self, name, heading):
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        section = re.split(r"^#+ ", text.partition(f"## {heading}\n")[2], flags=re.MULTILINE)[0]
        self.left = [
            " ".join(step.split()) for step in re.split(r"^\d\. ", section.strip().split("\n\n")[0], flags=re.M)[1:]
        ]

    def reads(self, *words):
        """The next step has just these words in bold and in italics."""
        assert [word.rstrip(".") for word in re.findall(r"\*{1,2}([^*]+)\*{1,2}", self.left.pop(0))] == list(words)


def select(*objects):
    """Select objects; the last one is the active one."""
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def undressed():
    """A rig, a body that it poses, and a sheet behind it that nothing poses yet."""
    rig = rigs.add_rig(last=LAST)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=12, radius=0.08)
    body = bpy.context.object
    body.data.transform(Matrix.Translation((0.0, 0.0, 0.6)) @ Matrix.Diagonal((1.0, 1.0, 5.0, 1.0)))
    heights = np.array([vertex.co.z for vertex in body.data.vertices])
    for bone, weights in (("Chest", np.clip(2.0 * heights - 0.6, 0, 1)), ("Hip", np.clip(1.6 - 2.0 * heights, 0, 1))):
        group = body.vertex_groups.new(name=bone)
        for vertex, weight in enumerate(weights):
            group.add([vertex], float(weight), "REPLACE")
    rigs.arm(body, rig)
    garment = rigs.add_cape("Cape", pbd=False)
    garment.vertex_groups.clear()
    return rig, body, garment


def test_a_garment_on_a_character(extension, tmp_path):
    steps, scene = Steps("character", "Step by step"), bpy.context.scene
    scene.frame_end = LAST
    rig, body, garment = undressed()

    steps.reads(
        *("Dress the character", "Armature", "Object › Parent › Armature Deform", "Data Transfer"),
        *("Mirror", "Subdivision", "Solidify", "Mirror"),
    )
    select(garment, rig)
    assert bpy.ops.object.parent_set(type="ARMATURE") == {"FINISHED"}
    select(garment, body)
    layers = {"layers_select_src": "ALL", "layers_select_dst": "NAME"}
    bpy.ops.object.data_transfer(data_type="VGROUP_WEIGHTS", vert_mapping="POLYINTERP_NEAREST", **layers)
    assert {group.name for group in garment.vertex_groups} == {"Chest", "Hip"}
    twin = garment.copy()
    twin.data = garment.data.copy()
    scene.collection.objects.link(twin)
    garment.modifiers.new("Thick", "SOLIDIFY").thickness = 0.002

    steps.reads("Make it cloth", "N › PBD › Add Cloth", "PBD Output")
    select(garment)
    bpy.ops.object.pbd_add(type="CLOTH")
    assert [modifier.name for modifier in garment.modifiers] == ["Armature", "PBD Output", "Thick"]

    steps.reads("Pin it", "Pin Selected")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in pinned().tolist():
        garment.data.vertices[vertex].select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.pbd_pin_selected()
    bpy.ops.object.mode_set(mode="OBJECT")

    steps.reads("Let it meet the body", "Add Collider")
    select(body)
    bpy.ops.object.pbd_collider_add()

    steps.reads("Play")
    select(garment)
    seen = {}
    for frame in range(1, LAST + 1):
        go(frame)
        seen[frame] = [shown(garment)]
        count = len(twin.data.vertices)  # Solidify puts its other side behind them
        assert np.abs(seen[frame][0][:count][pinned()] - shown(twin)[pinned()]).max() < SHARED, frame
        if frame == 1:
            assert np.abs(seen[1][0][:count] - shown(twin)).max() < SHARED
    running = extension.bridge("timeline.session").get(scene)
    assert running.message == "" and list(running.scene_sim.colliders) == [body.session_uid]
    assert np.abs(seen[LAST][0][:count] - shown(twin)).max() > 0.02

    steps.reads("Bake", "PBD Output", "Delete Bake", "PBD Output")
    bpy.ops.object.pbd_bake(mode="ABSOLUTE")
    assert [modifier.show_viewport for modifier in garment.modifiers] == [False, False, True]
    extension.disable()
    for frame in (LAST, 1, 5):
        go(frame)
        assert np.abs(shown(garment) - seen[frame][0]).max() < SHARED, frame
    extension.enable()

    steps.reads("Export", "N › PBD › Export")
    select(garment)
    path = tmp_path / "cape.abc"
    bpy.ops.object.pbd_export(format="ALEMBIC", filepath=str(path))
    bpy.ops.object.pbd_delete_bake()
    assert [modifier.show_viewport for modifier in garment.modifiers] == [True, True, True]
    assert garment.data.shape_keys is None
    again = play([garment], 1, LAST)
    assert np.abs(again[LAST][0] - seen[LAST][0]).max() < SHARED
    back = read_back(extension, path)
    for frame in range(1, LAST + 1):
        go(frame)
        assert np.abs(shown(back) - seen[frame][0]).max() < SHARED, frame
    assert not steps.left


def parts_of_glb(path):
    """The document and the binary part of a .glb file, as its specification has them."""
    content = path.read_bytes()
    assert content[:4] == b"glTF"
    (size,) = struct.unpack_from("<I", content, 12)
    return json.loads(content[20 : 20 + size]), content[20 + size + 8 :]


def numbers(document, binary, accessor):
    """What an accessor of 32-bit numbers holds, as one row."""
    found = document["accessors"][accessor]
    view = document["bufferViews"][found["bufferView"]]
    start = view.get("byteOffset", 0) + found.get("byteOffset", 0)
    return np.frombuffer(binary, "<f4", found["count"], start)


def test_for_a_game(extension, tmp_path):
    steps, scene = Steps("export", "For a game, step by step"), bpy.context.scene
    obj, body = scenes.add_grid(rx=9, ry=7), scenes.add_grid("Body", pbd=False)
    scenes.pin(obj, [0, 8])
    scenes.animate_location(body, 3, LAST, (0.4, 0.0, 0.0))

    steps.reads("Simulation Range")
    scene.use_custom_simulation_range = True
    scene.simulation_frame_start, scene.simulation_frame_end = 3, LAST

    steps.reads("Cache and Bake › Export", "Reduce By", "Error", "Largest Error", "Number of Keys")
    settings = obj.pbd.bl_rna.properties
    assert [item.name for item in settings["reduce_by"].enum_items] == ["Error", "Number of Keys"]
    obj.pbd.reduce_by, obj.pbd.reduce_error = "ERROR", 0.01

    steps.reads("Count Keys")
    select(obj)
    plans = []
    for error in (0.01, 0.002):
        obj.pbd.reduce_error = error
        assert extension.bridge("baking.key_plan").get(scene, obj) is None
        bpy.ops.object.pbd_count_keys()
        plans.append(extension.bridge("baking.key_plan").get(scene, obj))
        assert 0.0 < plans[-1].error <= error
    assert plans[0].total < plans[1].total

    steps.reads("glTF")
    select(body, obj)
    for name in ("clip.glb", "clip.gltf"):
        bpy.ops.object.pbd_export(format="GLTF", filepath=str(tmp_path / name))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clip.bin", "clip.glb", "clip.gltf"]
    document, binary = parts_of_glb(tmp_path / "clip.glb")
    assert {node["name"] for node in document["nodes"]} == {"Flag", "Body"}

    assert steps.left.pop(0).startswith(
        "In the engine the cloth is a mesh with morph targets and one animation of their"
    )
    assert not steps.left
    nodes = {node["name"]: place for place, node in enumerate(document["nodes"])}
    mesh = document["meshes"][document["nodes"][nodes["Flag"]]["mesh"]]
    assert len(mesh["primitives"][0]["targets"]) == plans[1].total
    found = {}
    for animation in document["animations"]:
        for channel in animation["channels"]:
            sampler, target = animation["samplers"][channel["sampler"]], channel["target"]
            found.setdefault((target["node"], target["path"]), []).append(sampler)
    (sampler,) = found[nodes["Flag"], "weights"]
    assert sampler.get("interpolation", "LINEAR") == "LINEAR"
    times = numbers(document, binary, sampler["input"])
    assert times[0] == 0.0 and abs(times[-1] - (LAST - 3) / scenes.FPS) < 1e-5
    weights = numbers(document, binary, sampler["output"])
    assert 0.0 <= weights.min() < weights.max() <= 1.0
    assert (nodes["Body"], "translation") in found
    play([obj], 3, LAST)
    assert extension.bridge("timeline.session").get(scene).message == ""
