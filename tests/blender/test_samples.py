"""The sample scenes: opened, played in the viewport's own way, and judged by what they show."""

import pathlib
import subprocess
import sys

import bpy
import numpy as np
import pytest
from scenes import go, shown

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "sample_blends"
NAMES = ("balloon", "curtain", "cushion", "flag", "stiffness_grid")
LARGEST = 200_000  # [bytes]: they are part of every clone


class Sample:
    """An open sample: its simulated objects, and measures of them that do not ask the solver."""

    def __init__(self, extension, path):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        self.session = extension.bridge("session")
        self.scene = bpy.context.scene
        self.objects = {obj.name: obj for obj in self.session.bodies(self.scene)}
        for obj in self.objects.values():  # what comes after the simulation is not judged
            for modifier in obj.modifiers:
                modifier.show_viewport = False
        go(self.scene.frame_start)
        self.rest = {name: shown(obj) for name, obj in self.objects.items()}

    def play(self, last):
        """Play from the first frame; yields each frame."""
        for frame in range(self.scene.frame_start, last + 1):
            go(frame)
            running = self.session.get(self.scene)
            assert running is None or not running.message, running.message
            for obj in self.objects.values():
                assert np.isfinite(shown(obj)).all()
            yield frame

    def play_to(self, last):
        for _frame in self.play(last):
            pass

    def only(self):
        (obj,) = self.objects.values()
        return obj

    def strain(self, name):
        """Lengthening of all edges since the first frame (e,) [1]."""
        mesh = self.objects[name].data
        edges = np.empty(2 * len(mesh.edges), np.int32)
        mesh.edges.foreach_get("vertices", edges)
        lengths = [
            np.linalg.norm(np.diff(positions[edges.reshape(-1, 2)], axis=1)[:, 0], axis=1)
            for positions in (self.rest[name].astype(float), shown(self.objects[name]).astype(float))
        ]
        return lengths[1] / lengths[0] - 1.0

    def pins(self, name):
        """Ids of the pinned vertices."""
        obj = self.objects[name]
        group = obj.vertex_groups[obj.pbd.pin_group].index
        return np.array([v.index for v in obj.data.vertices if any(g.group == group for g in v.groups)])


def triangles(obj, positions):
    """The three corners of all triangles of a mesh at positions (n, 3), (3, t, 3) float64 [m]."""
    mesh = obj.data
    mesh.calc_loop_triangles()
    ids = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", ids)
    return positions.astype(float)[ids.reshape(-1, 3)].swapaxes(0, 1)


def volume(obj, positions):
    """Volume that a closed mesh encloses at positions (n, 3) [m³]."""
    a, b, c = triangles(obj, positions)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0


def roundness(obj, positions):
    """36 pi V² / A³ of a closed mesh at positions (n, 3) [m]: 1 for a ball, less for all else."""
    a, b, c = triangles(obj, positions)
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    return 36.0 * np.pi * volume(obj, positions) ** 2 / area**3


@pytest.fixture
def open_sample(extension):
    return lambda name: Sample(extension, FOLDER / f"{name}.blend")


def test_every_sample_is_tested():
    assert sorted(path.stem for path in FOLDER.glob("*.blend")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_files_are_small_and_open_as_they_should(open_sample, name):
    assert (FOLDER / f"{name}.blend").stat().st_size < LARGEST
    sample = open_sample(name)
    assert sample.scene.camera is not None
    assert sample.objects
    assert all(not obj.pbd.baked and obj.data.materials for obj in sample.objects.values())
    assert not list(bpy.data.libraries)
    paths = bpy.utils.blend_paths(absolute=False)
    assert not [path for path in paths if not path.startswith("//")]
    assert sample.scene.render.filepath == "//"


def test_curtain_hangs_from_its_corners(open_sample):
    sample = open_sample("curtain")
    cloth = sample.only()
    corners = sample.pins("Curtain")
    assert len(corners) == 2
    sample.play_to(72)
    positions = shown(cloth)
    assert np.abs(positions[corners] - sample.rest["Curtain"][corners]).max() < 1e-5
    top = positions[corners, 2].min()
    assert positions[:, 2].min() < top - 1.6  # a hem that was 1.7 m away from the rod
    assert positions[:, 2].min() > 0.05  # but no rubber: it does not reach the floor
    middle = positions.reshape(40, 48, 3)[-1, 24]
    assert top - 0.7 < middle[2] < top - 0.2  # the upper hem sags between the corners
    assert np.percentile(np.abs(sample.strain("Curtain")), 95) < 0.01


def test_flag_follows_its_pole_and_trails(open_sample):
    sample = open_sample("flag")
    flag = sample.only()
    pole = flag.parent
    hoist = sample.pins("Flag")
    local = np.linalg.inv(np.array(flag.matrix_world)) @ np.c_[sample.rest["Flag"], np.ones(len(sample.rest["Flag"]))].T
    turns, sides = [], []
    for _frame in sample.play(84):
        positions = shown(flag)
        matrix = np.array(flag.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
        assert np.abs(positions[hoist] - (matrix @ local)[:3, hoist].T).max() < 1e-4
        now = np.linalg.inv(matrix) @ np.c_[positions, np.ones(len(positions))].T
        turns.append(pole.rotation_euler.z)
        sides.append(now[1].mean())
    assert np.ptp(turns) > 1.0
    # In the pole's own space the cloth lies on the side that the pole turns away from.
    speed = np.gradient(turns)[20:]
    assert np.corrcoef(speed, np.array(sides)[20:])[0, 1] < -0.3
    assert np.percentile(np.abs(sample.strain("Flag")), 95) < 0.02


def test_stiffness_grid_shows_figure_3(open_sample):
    """Müller et al. 2007, Fig. 3: one stiffness stretches, the other bends, and neither does the other's work."""
    sample = open_sample("stiffness_grid")
    assert len(sample.objects) == 6
    sample.play_to(60)
    stretch, bend = (1.0, 0.5, 0.01), (0.0, 1.0)
    names = [[f"Stretch {s:g} Bend {b:g}" for s in stretch] for b in bend]
    strain = np.array([[np.abs(sample.strain(name)).mean() for name in row] for row in names])
    drop = np.array([[np.ptp(shown(sample.objects[name])[:, 2]) for name in row] for row in names])
    curl = np.array([[curvature(shown(sample.objects[name])) for name in row] for row in names])
    assert (strain[:, 0] * 1.5 < strain[:, 1]).all() and (strain[:, 1] * 5.0 < strain[:, 2]).all()
    assert (drop[:, 2] > drop[:, 0] + 0.3).all() and (drop[:, 2] > drop[:, 1] + 0.3).all()
    assert (curl[1] < 0.7 * curl[0]).all()


def curvature(positions):
    """Mean angle between neighboring faces of a cloth of 20 x 20 vertices [rad]."""
    p = positions.astype(float).reshape(20, 20, 3)
    normals = np.cross(p[1:, 1:] - p[:-1, :-1], p[1:, :-1] - p[:-1, 1:])
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    turns = [(normals[1:] * normals[:-1]).sum(axis=-1), (normals[:, 1:] * normals[:, :-1]).sum(axis=-1)]
    return np.mean([np.arccos(np.clip(turn, -1.0, 1.0)).mean() for turn in turns])


def test_balloon_is_round_at_last(open_sample):
    sample = open_sample("balloon")
    monkey = sample.only()
    sample.play_to(84)
    positions, rest = shown(monkey), sample.rest["Monkey"]
    assert monkey.pbd.pressure == 4.0
    assert volume(monkey, positions) == pytest.approx(4.0 * volume(monkey, rest), rel=0.01)
    assert roundness(monkey, rest) < 0.45
    assert roundness(monkey, positions) > 0.7
    knot = sample.pins("Monkey")
    assert np.abs(positions[knot] - rest[knot]).max() < 1e-5
    # The pressure is keyed, so a look back shows the volume of that frame, and so does playing on.
    go(30)
    assert 1.2 < volume(monkey, shown(monkey)) / volume(monkey, rest) < 2.2


def test_cushion_is_blown_up_and_comes_to_rest_on_the_floor(open_sample):
    sample = open_sample("cushion")
    cushion = sample.only()
    floor = sample.scene.pbd.floor_height + cushion.pbd.thickness
    lowest, positions = [], sample.rest["Cushion"]
    for _frame in sample.play(96):
        before, positions = positions, shown(cushion)
        lowest.append(positions[:, 2].min())
    assert volume(cushion, positions) > 10.0 * volume(cushion, sample.rest["Cushion"])
    assert min(lowest) > floor - 1e-3
    assert lowest[-1] == pytest.approx(floor, abs=1e-3)
    speed = np.linalg.norm(positions - before, axis=1) * sample.scene.render.fps
    assert speed.max() < 0.05
    assert np.percentile(np.abs(sample.strain("Cushion")), 95) < 0.03
    assert sample.session.get(sample.scene).notes[cushion.session_uid] == ()  # closed, no edge with three faces


def test_a_sample_bakes(open_sample):
    sample = open_sample("flag")
    flag = sample.only()
    sample.scene.frame_end = 12
    sample.play_to(12)
    live = shown(flag)
    assert bpy.ops.object.pbd_bake(mode="ABSOLUTE") == {"FINISHED"}
    go(12)
    assert np.abs(shown(flag) - live).max() < 1e-5


def test_samples_are_what_the_script_builds(open_sample, tmp_path, extension):
    """Built anew by this Blender, the scenes have the same meshes, settings and animation as the files here."""
    command = [sys.executable, FOLDER / "make_samples.py", "--output", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in NAMES:
        kept = contents(Sample(extension, FOLDER / f"{name}.blend"))
        built = contents(Sample(extension, tmp_path / f"{name}.blend"))
        assert built.keys() == kept.keys()
        for key, value in kept.items():
            assert built[key] == pytest.approx(value, abs=2e-5) if key.endswith("rest") else built[key] == value, key


def contents(sample):
    """What a sample holds that matters: objects, counts, settings, first shape, animated properties."""
    found = {"scene": settings(sample.scene), "range": (sample.scene.frame_start, sample.scene.frame_end)}
    found |= {obj.name: obj.type for obj in sample.scene.objects}
    for name, obj in sample.objects.items():
        mesh = obj.data
        found[f"{name} counts"] = len(mesh.vertices), len(mesh.edges), len(mesh.polygons)
        found[f"{name} settings"] = settings(obj)
        found[f"{name} rest"] = sample.rest[name]
        found[f"{name} pins"] = sample.pins(name).tolist() if obj.pbd.pin_group else []
        found[f"{name} materials"] = [material.name for material in mesh.materials]
    return found


def settings(owner):
    """All plain settings of `Object.pbd` or `Scene.pbd` by name."""
    properties = [prop.identifier for prop in owner.pbd.bl_rna.properties if prop.type != "POINTER"]
    return {name: getattr(owner.pbd, name) for name in properties}


def test_only_the_oldest_blender_may_overwrite_the_files():
    if bpy.app.version[:2] == (4, 2):
        pytest.skip("this is the oldest Blender")
    done = subprocess.run([sys.executable, FOLDER / "make_samples.py"], capture_output=True, text=True)
    assert done.returncode != 0
    assert "cannot open" in done.stderr
