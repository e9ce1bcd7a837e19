"""The guide's pages whose steps are in `walkthrough`: their words exist, and what they promise comes true."""

import ast
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.crossings import count_between
from helpers.inside import model_of
from helpers.scenes import go, shown

DOCS = Path(__file__).resolve().parents[2] / "docs"

BLENDERS_OWN = {
    "File", "New", "Import", "General", "Delete", "Add", "Mesh", "UV Sphere", "Cube", "Radius", "Size", "Location Z",
    "Edit Mode", "Object Mode", "Subdivide", "Number of Cuts", "Cone", "Radius 1", "Radius 2", "Depth", "Grid",
    "X Subdivisions", "Y Subdivisions", "Location Y", "Rotation X", "Flip", "Gravity", "Select", "Select Loops",
    "Boundary of Selected", "Vertices", "Base Fill Type", "Location", "Assign to New Group", "Cylinder", "Location X",
    "Cap Fill Type",
    "Rotation Y", "Faces", "3D Cursor",
}  # fmt: skip


ROUNDING = 1e-6
"""Vertices that are one are shown so far apart at most, in 32 bits and by a shape key [m]."""


def load(name):
    """A module of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Page:
    """A page of the guide, read as far as the steps have come."""

    def __init__(self, name):
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
        self.sections = dict(zip(parts[1::2], parts[2::2], strict=True))
        self.words = re.findall(r"\*\*(.+?)\*\*", text)
        self.read = 0

    def reads(self, *labels):
        """The steps' next bold words."""
        assert self.words[self.read : self.read + len(labels)] == list(labels)
        self.read += len(labels)

    def number(self, section, pattern):
        """A number of a section's text, found by a pattern with one group."""
        found = re.search(pattern, " ".join(self.sections[section].split()))
        assert found, f"{section}: {pattern}"
        return float(found.group(1).replace("−", "-"))


def walk(name, outcomes):
    """Take the steps of a page; look at the outcome of each of its sections."""
    page = Page(name)
    bpy.ops.wm.read_homefile(app_template="")
    taken = []
    for section in getattr(load("walkthrough"), name)(page.reads):
        taken.append(section)
        outcomes[section](page)
    assert [section for section in taken if section in page.sections] == [
        section for section, text in page.sections.items() if "**" in text
    ]
    assert page.read == len(page.words)


def labels(extension):
    """Every word that the registered extension shows."""
    for name in dir(bpy.types):
        kind = getattr(bpy.types, name)
        if not getattr(kind, "__module__", "").startswith(extension):
            continue
        yield getattr(kind, "bl_label", "")
        yield getattr(kind, "bl_category", "")
    owners = [
        bpy.types.Object.bl_rna.properties["pbd"].fixed_type,
        bpy.types.Object.bl_rna.properties["pbd_collider"].fixed_type,
        bpy.types.Scene.bl_rna.properties["pbd"].fixed_type,
        bpy.ops.mesh.primitive_pbd_cloth_add.get_rna_type(),
        bpy.ops.mesh.primitive_pbd_balloon_add.get_rna_type(),
        bpy.ops.mesh.primitive_pbd_balloon_text_add.get_rna_type(),
        bpy.ops.object.pbd_set_crease.get_rna_type(),
        bpy.ops.object.pbd_split.get_rna_type(),
        bpy.ops.mesh.pbd_garment_from_selection.get_rna_type(),
        bpy.ops.object.pbd_import_pattern.get_rna_type(),
        *(one.preferences.bl_rna for one in bpy.context.preferences.addons if one.module == extension),
    ]
    for prop in (prop for owner in owners for prop in owner.properties):
        yield prop.name.partition(" (")[0]
        yield from (item.name for item in getattr(prop, "enum_items", ()))
    for name in [name for name in sys.modules if name.startswith((f"{extension}.panels.", f"{extension}.operators."))]:
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[name]))):
            if isinstance(node, ast.keyword) and node.arg == "text" and isinstance(node.value, ast.Constant):
                yield node.value.value
    yield from extension.module("pbd_addon.blender.settings.groups").SHORT_LABELS.values()
    for name in extension.module("pbd_addon.bodies.material").PRESETS:
        yield name
        yield f"{name}, changed"


@pytest.fixture(scope="module")
def our_words(extension):
    return {*labels(extension), *BLENDERS_OWN}


@pytest.mark.parametrize("name", ["first_cloth", "first_balloon", "garments", "letters", "tearing", "inner_structure"])
def test_every_bold_word_is_to_be_found_in_blender(our_words, name):
    for path in Page(name).words:
        for word in path.split(" › "):
            assert word in our_words, word


def blenders_words():
    """The labels of all that Blender itself registers: types, settings, choices, operators."""
    known = [getattr(bpy.types, name).bl_rna for name in dir(bpy.types) if hasattr(getattr(bpy.types, name), "bl_rna")]
    for group in dir(bpy.ops):
        known += [getattr(getattr(bpy.ops, group), name).get_rna_type() for name in dir(getattr(bpy.ops, group))]
    for struct in known:
        yield struct.name
        for prop in struct.properties:
            yield prop.name
            yield from (item.name for item in getattr(prop, "enum_items_static", ()))


IN_BLENDERS_MENUS = {
    "Edit", "Preferences", "Get Extensions", "˅", "Install from Disk…", "N", "Armature Deform", "Make Local",
    "Relations", "Parent", "Time Stretching", "Recalculate Outside",
}  # fmt: skip
"""Texts that menus of Blender's give to what has another name."""

QUOTED = {
    "It goes through, or hovers?", "It stands still?", "From frame 20 on: Tension of 'Flag' changed", "Apply as Base",
    "PBD Output", "PBD Proxy", "PBD Flange", "Basis", "19 seams added", "25 seams added", "96 seams added",
    "48 edges creased", "Tension 21 % off", "Max Force", "1,089 vertices are 4,096 now", "Tear Weld", "Edit Mode",
}  # fmt: skip
"""Headings that a page sends its reader to, what the panel says, and names of modifiers and keys."""


@pytest.fixture(scope="module")
def all_words(our_words):
    return {*our_words, *blenders_words(), *IN_BLENDERS_MENUS}


@pytest.mark.parametrize(
    "name",
    [
        *("character", "contact", "export", "hands_on", "timeline", "troubleshooting", "first_cloth", "garments"),
        *("letters", "tearing", "inner_structure"),
    ],
)
def test_every_word_in_italics_is_to_be_found_in_blender(all_words, name):
    """What the pages call by a label is called so in this Blender: ours, and Blender's own."""
    text = re.sub(r"`[^`]*`", "", (DOCS / f"{name}.md").read_text(encoding="utf-8"))
    found = [" ".join(one.split()) for one in re.findall(r"(?<!\*)\*(?![*\s])([^*]+?)\*(?!\*)", text)]
    words = {word for one in found if one not in QUOTED for word in re.split(" › |: ", one)}
    unknown = {word for word in words if word[0].isupper()} - all_words
    assert not unknown, unknown


def body():
    return bpy.context.object


def depth(frame):
    """How far the lowest vertex is below the world's origin at a frame [m]."""
    go(frame)
    return -float(shown(body())[:, 2].min())


def litres(places):
    """What the active object's mesh encloses when its vertices (n, 3) [m] are there."""
    mesh = body().data
    mesh.calc_loop_triangles()
    ids = np.array([triangle.vertices[:] for triangle in mesh.loop_triangles])
    a, b, c = places[ids].astype(float).swapaxes(0, 1)
    return 1000.0 * (np.cross(a, b) * c).sum() / 6.0


def rest():
    """The vertices (n, 3) [m] of the active object's mesh, not of its shape keys."""
    places = np.empty((len(body().data.vertices), 3), np.float32)
    body().data.attributes["position"].data.foreach_get("vector", places.ravel())
    return places


@pytest.mark.newest
def test_first_cloth(extension):
    scene, running = lambda: bpy.context.scene, extension.bridge("timeline.session")
    kept = {}

    def stretched():
        return 100.0 * running.get(scene()).report.strain_p95

    def hangs(page):
        heading = "Hang a cloth"
        assert stretched() == pytest.approx(
            page.number("Choose what it is made of", r"first section had ([\d.]+) %"), abs=0.05
        )
        frame = int(page.number(heading, r"at frame (\d+)"))
        assert depth(frame) == pytest.approx(page.number(heading, r"hangs ([\d.]+) m below"), abs=0.1)
        corners = shown(body())[[-32, -1]]
        assert corners == pytest.approx(np.array([[-1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]), abs=1e-5)

    def is_softer(page):
        heading = "Choose what it is made of"
        assert body().pbd.stretch == page.number(heading, r"to (\d+) N/m")
        assert stretched() == pytest.approx(page.number(heading, r"Here (\d+) % at frame 60"), abs=0.6)

    def holds_its_edge(page):
        count = int(page.number("Pin an edge", r"(\d+) vertices pinned"))
        edge = np.flatnonzero(rest()[:, 1] > 0.999)
        assert len(edge) == count
        for frame in (8, 40):
            go(frame)
            assert shown(body())[edge] == pytest.approx(rest()[edge], abs=1e-5)
        assert depth(40) > 1.0

    def lies_on_the_ball(page):
        heading = "Drop it on something"
        frame = int(page.number(heading, r"At frame (\d+)"))
        assert depth(frame) == pytest.approx(page.number(heading, r"ball and ([\d.]+) m below"), abs=0.1)
        ball = bpy.data.objects["Sphere"]
        assert ball.location.z == pytest.approx(page.number(heading, r"to (−[\d.]+) m"))
        heights = []
        for place in (shown(body()) - np.array(ball.location)).tolist():
            _, nearest, normal, _ = ball.closest_point_on_mesh(place)
            away = np.array(place) - nearest
            if np.linalg.norm(away) < 0.1:
                heights.append(float(away @ normal))
        assert len(heights) > 100
        assert min(heights) > 0.002

    def lies_on_the_floor(page):
        heading = "Give it a floor"
        height = page.number(heading, r"to (−[\d.]+) m")
        above = page.number(heading, r"([\d.]+) mm above") / 1000.0
        assert above == pytest.approx(body().pbd.thickness)
        go(50)
        lowest = shown(body())[:, 2]
        assert lowest.min() == pytest.approx(height + above, abs=1e-4)
        assert (lowest < height + above + 1e-3).sum() > 10
        kept["mesh"] = scenes.mesh_bytes(body())[0]
        kept["frames"] = {}
        for frame in (1, 20, 50):
            go(frame)
            kept["frames"][frame] = shown(body())

    def is_baked(page):
        count = int(page.number("Bake it", r"now has (\d+) shape keys"))
        assert scene().simulation_frame_end == page.number("Bake it", r"to (\d+)\.")
        assert body().pbd.baked
        assert len(body().data.shape_keys.key_blocks) == count + 1
        extension.disable()
        for frame, before in kept["frames"].items():
            go(frame)
            assert shown(body()) == pytest.approx(before, abs=1e-5)
        extension.enable()

    def is_live_again(_page):
        assert not body().pbd.baked
        assert scenes.mesh_bytes(body())[0] == kept["mesh"]
        assert [key.name for key in body().data.shape_keys.key_blocks] == ["Basis", "PBD"]  # the live one alone

    walk(
        "first_cloth",
        {
            "Hang a cloth": hangs,
            "Choose what it is made of": is_softer,
            "Pin an edge": holds_its_edge,
            "Drop it on something": lies_on_the_ball,
            "Give it a floor": lies_on_the_floor,
            "Bake it": is_baked,
            "Take the bake back": is_live_again,
        },
    )


@pytest.mark.newest
def test_first_balloon(extension):
    running = extension.bridge("timeline.session")

    def measured():
        session = running.get(bpy.context.scene)
        (member,) = session.scene_sim.members
        return float(session.scene_sim.simulation.pressure(member.body)[0])

    def lies_on_the_floor(page):
        held = page.number("Drop a ball", r"holds (\d+) litres")
        for frame in (1, 12, 96):
            go(frame)
            assert litres(shown(body())) == pytest.approx(held, abs=0.5)
        assert depth(96) == pytest.approx(-body().pbd.thickness, abs=1e-4)
        assert depth(14) == pytest.approx(-body().pbd.thickness, abs=1e-4)
        assert min(depth(frame) for frame in range(17, 28)) < -0.05  # it bounced

    def is_larger(page):
        assert body().pbd.pressure == pytest.approx(page.number("Hold a volume", r"to ([\d.]+)\.\s"))
        assert litres(shown(body())) == pytest.approx(page.number("Hold a volume", r"([\d.]+) litres"), abs=0.1)

    def is_blown_up(page):
        heading = "Blow with a pressure"
        assert measured() == page.number(heading, r"to (\d+) Pa")
        assert litres(shown(body())) == pytest.approx(page.number(heading, r"(\d+) litres"), abs=1.0)
        assert running.get(bpy.context.scene).report.substeps > bpy.context.scene.pbd.substeps

    def pushes_back(page):
        assert body().pbd.overpressure == page.number("Lock the air in", r"to (\d+) Pa")
        percent = page.number("Lock the air in", r"within (\d+) %")
        go(int(page.number("Lock the air in", r"At frame (\d+)")))
        assert depth(14) == pytest.approx(-body().pbd.thickness, abs=1e-4)
        assert litres(shown(body())) == pytest.approx(litres(rest()), rel=percent / 100.0)
        assert measured() > 1.0

    def rises(page):
        way = page.number("Let it rise", r"by ([\d.]+) m")
        go(25)
        assert shown(body())[:, 2].mean() - body().location.z == pytest.approx(way, abs=0.2)
        assert body().pbd.gas_density == pytest.approx(0.17)

    def bulges(_page):
        assert litres(shown(body())) > 1.05 * litres(rest())
        assert depth(30) == pytest.approx(-body().pbd.thickness, abs=1e-3)

    walk(
        "first_balloon",
        {
            "Drop a ball": lies_on_the_floor,
            "Hold a volume": is_larger,
            "Blow with a pressure": is_blown_up,
            "Lock the air in": pushes_back,
            "Let it rise": rises,
            "Blow up a mesh of your own": bulges,
        },
    )


@pytest.mark.slow
def test_garments(extension):
    def gaps(frame):
        """How long the seams of the active object are at a frame [m]."""
        go(frame)
        pairs = np.array([edge.vertices for edge in body().data.edges if edge.is_loose])
        places = shown(body())
        return np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)

    def is_sewn(page):
        heading = "Sew a skirt around a body"
        closed = int(page.number(heading, r"At frame (\d+) all"))
        assert len(gaps(closed)) == page.number(heading, r"all (\d+) pairs")
        assert 2 * page.number(heading, r"says \*(\d+) seams") == len(gaps(closed))
        assert gaps(closed).max() < ROUNDING < gaps(closed - 1).max()
        assert gaps(60).max() < ROUNDING
        assert body().pbd.closing_time == page.number(heading, r"\*Closing Time\*, (\d+) s")

    def is_open(_page):
        assert gaps(60).max() < ROUNDING
        assert gaps(80).min() > 0.05

    def is_a_cushion(page):
        heading = "Sew a cushion"
        assert len(gaps(1)) == page.number(heading, r"says \*(\d+) seams")
        assert gaps(int(page.number(heading, r"At frame (\d+) the seam"))).max() < ROUNDING
        frame = int(page.number(heading, r"at frame (\d+) the cushion"))
        assert gaps(frame).max() < ROUNDING
        thick = float(np.ptp(shown(body())[:, 2]))
        assert 100.0 * thick == pytest.approx(page.number(heading, r"is (\d+) cm thick"), abs=2.0)

    def is_a_shirt(page):
        heading = "Sew a shirt from four panels"
        assert len(gaps(1)) == page.number(heading, r"all (\d+) pairs")
        assert gaps(int(page.number(heading, r"At frame (\d+) all"))).max() < ROUNDING
        assert gaps(48).max() < ROUNDING
        places = shown(body())
        assert places[:, 2].max() > 0.23  # on the shoulders, with the sleeves around the arms
        assert np.abs(places[:, 0]).max() > 0.5

    def is_a_bag(page):
        heading = "Import a pattern"
        closed = int(page.number(heading, r"At frame (\d+) all"))
        assert len(gaps(closed)) == page.number(heading, r"all (\d+) pairs")
        assert gaps(closed).max() < ROUNDING < gaps(closed // 2).max()
        heights = [go(frame) or shown(body())[:, 2].mean() for frame in (1, closed // 2, closed + 12)]
        assert abs(heights[0] - heights[1]) < 0.01
        assert heights[1] - heights[2] > 0.2

    def is_outside(page):
        jacket, shirt = body(), bpy.data.objects["Cylinder"]
        assert (jacket.name, jacket.pbd.layer, shirt.pbd.layer) == ("Cylinder.001", 2, 1)
        corners = np.array([polygon.vertices for polygon in jacket.data.polygons])
        triangles = np.concatenate([corners[:, :3], corners[:, [0, 2, 3]]])
        through = [in_world(obj, obj.data.vertices) for obj in (jacket, shirt)]
        assert count_between(through[0], triangles, through[1], triangles) > 50
        deep = np.ptp(through[1][:, :2], axis=0)
        said = page.number("Put one garment over another", r"by up to (\d+) cm")
        assert 50.0 * (deep[0] - deep[1]) == pytest.approx(said, abs=0.1)
        for frame in (1, 12, 48):
            go(frame)
            assert count_between(shown(jacket), triangles, shown(shirt), triangles) == 0, frame
            out, within = (np.hypot(*shown(obj)[:, :2].T).mean() for obj in (jacket, shirt))
            assert out > within

    def in_world(obj, vertices):
        return np.array([obj.matrix_world @ vertex.co for vertex in vertices])

    def has_pleats(page):
        heading = "Fold pleats into a skirt"
        pleats = folds(60)
        assert pleats.mean() == pytest.approx(page.number(heading, r"fold by (\d+)°"), abs=4.0)
        assert pleats.min() > 60.0
        for name in ("pbd_crease_angle", "pbd_crease_stiffness"):
            body().data.attributes.remove(body().data.attributes[name])
        bpy.ops.object.pbd_reset()
        for frame in range(1, 61):
            go(frame)
        assert folds(60).min() < 20.0

    def folds(frame):
        """Angles between the faces beside the upright edges of the lower half [degrees]."""
        go(frame)
        ids = np.lexsort((rest()[:, 2], np.arctan2(rest()[:, 1], rest()[:, 0]).round(4)))
        rows = shown(body())[ids].reshape(48, 17, 3)[:, :8]
        across = np.roll(rows, -1, axis=0) - rows
        along = rows[:, 1:] - rows[:, :-1]
        normals = np.cross(across[:, :-1], along)
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
        return np.degrees(np.arccos((normals * np.roll(normals, 1, axis=0)).sum(axis=-1).clip(-1.0, 1.0)))

    def follows(page):
        heading = "Simulate a coarse copy of a fine mesh"
        coarse, fine = body(), bpy.data.objects["Cloth"]
        for obj, pattern in ((coarse, r"has ([\d,]+) vertices"), (fine, r"instead of ([\d,]+)")):
            assert f"{len(obj.data.vertices):,}" == re.search(pattern, page.sections[heading])[1]
        go(12)
        low = [shown(obj)[:, 2].min() for obj in (coarse, fine)]
        assert low[0] < -0.3
        assert low[1] == pytest.approx(low[0], abs=0.02)

    outcomes = (is_sewn, is_open, is_a_cushion, is_a_shirt, is_a_bag, is_outside, has_pleats, follows)
    walk("garments", dict(zip(Page("garments").sections, outcomes, strict=True)))


@pytest.mark.newest
def test_tearing(extension):
    running = extension.bridge("timeline.session")

    def one_by_one(frame):
        """Number of vertices that move on their own at a frame."""
        frames = running.get(bpy.context.scene).scene_sim.simulation.frames
        return len(np.unique(frames.state(frame).memory["tearing"]["joined"]))

    def is_torn(page):
        heading = "Send a ball through a sheet"
        assert "*1,089 vertices are 4,096 now*" in page.sections[heading]
        assert len(body().data.vertices) == 4096
        assert body().pbd.tear_strength == page.number(heading, r"is\s+(\d+) N/m, a tenth")
        begins = int(page.number(heading, r"At frame (\d+) it begins"))
        assert one_by_one(begins - 1) == 1089 < one_by_one(begins)
        go(24)
        simulation = running.get(bpy.context.scene).scene_sim.simulation
        islands = model_of(simulation).islands
        held = islands == islands[model_of(simulation).pinned[0]]  # without what has come off
        assert simulation.frames.state(24).x[2, held].min() > bpy.data.objects["Sphere"].location.z + 0.15, (
            "the ball is through"
        )

    walk("tearing", {"Send a ball through a sheet": is_torn})


@pytest.mark.newest
def test_letters(extension):
    def fills(page):
        heading = "Fill a word"
        pascals = page.number(heading, r"up to (\d+) Pa")
        assert body().pbd.overpressure == pytest.approx(pascals)
        sizes = 100.0 * np.ptp(shown(body()), axis=0)
        flat = 100.0 * np.ptp([vertex.co[2] for vertex in body().data.vertices])
        assert flat == pytest.approx(page.number(heading, r"they are (\d+) cm high"), abs=0.6)
        assert sizes[2] == pytest.approx(page.number(heading, r"48, (\d+) cm"), abs=1.0)
        assert sizes[1] == pytest.approx(page.number(heading, r"and (\d+) cm thick"), abs=1.0)

    def is_hidden(_page):
        assert not bpy.data.objects["Letter"].visible_get() and body().name != "Letter"

    walk("letters", {"Fill a word": fills, "Use a font or a shape of your own": is_hidden})


@pytest.mark.newest
def test_inner_structure(extension):
    def heights(among=lambda x, y: True):
        """Of the upper side, of the inner vertices where `among` holds, above the lower side's lowest vertex [cm]."""
        inner = [max(abs(p.x), abs(p.y)) < 0.4 and p.z > 0.1 and among(p.x, p.y) for p in rest_places()]
        return 100.0 * (shown(body())[inner, 2] - shown(body())[:, 2].min())

    def rest_places():
        return [vertex.co for vertex in body().data.vertices]

    def swells(page):
        heading = "Keep a mattress flat"
        assert 100.0 * np.ptp(shown(body())[:, 2]) == pytest.approx(page.number(heading, r"cushion, (\d+) cm"), abs=4.0)

    def is_flat(page):
        thick = page.number("Keep a mattress flat", r"mattress is (\d+) cm thick")
        assert heights().min() == pytest.approx(thick, abs=0.6)
        assert heights().max() == pytest.approx(thick, abs=0.6)

    def has_tubes(page):
        heading = "Hold it together in rows"
        group = body().vertex_groups[body().pbd.internal_group].index
        held = [vertex for vertex in body().data.vertices if any(one.group == group for one in vertex.groups)]
        assert len(held) == 2 * 5 * page.number(heading, r"inner (\d+) vertices")
        furrows = heights(lambda x, _y: abs(x * 16.0 / 3.0 % 1.0 - 0.5) > 0.4)
        assert heights().max() == pytest.approx(page.number(heading, r"is (\d+) cm thick"), abs=1.0)
        assert np.median(furrows) == pytest.approx(page.number(heading, r"and (\d+) cm high"), abs=1.0)

    def holds(page):
        heading = "Fill it with foam"
        assert heights(lambda x, y: max(abs(x), abs(y)) < 0.1).mean() == pytest.approx(
            page.number(heading, r"is (\d+) cm high"), abs=0.5
        )
        body().pbd.internal_springs = False
        bpy.ops.object.pbd_reset()
        for frame in range(1, 13):
            go(frame)
        assert heights(lambda x, y: max(abs(x), abs(y)) < 0.1).mean() == pytest.approx(
            page.number(heading, r"sunk to (\d+) cm"), abs=1.0
        )

    walk(
        "inner_structure",
        {
            "Keep a mattress flat, step 4": swells,
            "Keep a mattress flat": is_flat,
            "Hold it together in rows": has_tubes,
            "Fill it with foam": holds,
        },
    )
