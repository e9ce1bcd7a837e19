"""Arguments: what looks like an answer to the question and is none is refused, with what it got."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Collider, FrameInputs, Material, Plane, Polygons, Simulation, SolverSettings
from pbd_addon.arrays.arguments import FARTHEST, number, vectors

VERTICES, QUADS = grid(2, 2, 1.0, 1.0)
QUADS = np.array(QUADS)


def body(**more) -> Body:
    return Body(**{"vertices": VERTICES, "faces": QUADS, "name": "Flag", **more})


def scene() -> tuple[Simulation, Body]:
    cloth = body(pins=[0])
    return Simulation([cloth], [Plane()]), cloth


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        # What would be read as something else.
        (lambda: body(pins=VERTICES[:, 0] > 0.0), r"Flag: pins must be integers, not bool of shape \(9,\)"),
        (lambda: body(pins=[True, False, True]), r"Flag: pins must be integers, not \[True, False, True\]"),
        (lambda: body(pins=[0.7, 1.9]), r"Flag: pins must be integers, not \[0.7, 1.9\]"),
        (lambda: body(pins={0.5: 1.0}), r"Flag: pins must be integers, not \[0.5\]"),
        (lambda: body(pins={0: "firmly"}), "Flag: pin weights must be real numbers"),
        (lambda: body(edges=[0, 5, 3, 8]), r"Flag: edges must have shape \(k, 2\), not \(4,\)"),
        (lambda: body(edges=[[0.0, 5.0]]), r"Flag: edges must be integers, not \[\[0.0, 5.0\]\]"),
        (lambda: body(edges=[[0, 5], [1]]), r"Flag: edges must have shape \(k, 2\)"),
        (lambda: body(edges=[[1, 1]], compliances=[0.1]), "Flag: edges must join different vertices"),
        (lambda: body(faces=np.array([[0, 1, 2**32 + 4]])), "Flag: faces names vertex 4294967300, but there are 9"),
        (lambda: body(faces=[0, 1, 4]), "Flag: faces must be a list of faces"),
        (lambda: body(faces=Polygons(np.array([0.0, 1, 4]), np.array([0, 3]))), "Flag: faces.corners must be integers"),
        (lambda: body(faces=Polygons(np.array([0, 1, 4]), np.array([0, 9]))), "Flag: faces.starts must be integers"),
        (lambda: body(vertices=VERTICES + 1j), "Flag: vertices must be real numbers, not complex128"),
        (lambda: body(vertices=VERTICES * 1e200), r"Flag: vertices must be at most 4.5e\+12 m from the origin, row 0"),
        (lambda: body(vertices=[[0.0, 1.0], [2.0]]), "Flag: vertices must be an array of numbers"),
        (lambda: body(vertices="abc"), "Flag: vertices must be real numbers, not 'abc'"),
        (lambda: body(material="Cotton"), "Flag: material must be a Material, not 'Cotton'"),
        (lambda: body(maps=[1.0]), r"Flag: maps must be a Mapping, not \[1.0\]"),
        (lambda: Material(tethers="no"), "Material.tethers must be True or False, not 'no'"),
        (lambda: Material(density="heavy"), "Material.density must be a number, not 'heavy'"),
        (lambda: Material(stretch=1e300), "Material.stretch must be 0 or of a size from"),
        (lambda: SolverSettings(substeps=2.0), "SolverSettings.substeps must be a whole number, not 2.0"),
        (lambda: SolverSettings(substeps=True), "SolverSettings.substeps must be a whole number, not True"),
        (lambda: SolverSettings(gravity=(0.0, 0.0, -9.81, 3.0)), "SolverSettings.gravity must be three .*, -9.81, 3.0"),
        (lambda: Collider(VERTICES, QUADS, inside="no"), "Collider: inside must be True or False, not 'no'"),
        (lambda: Collider(VERTICES, QUADS, friction=1j), "Collider: friction must be a number, not 1j"),
        (lambda: FrameInputs(planes=[]), r"FrameInputs.planes must be a Mapping, not \[\]"),
        # What would be another thing than it is.
        (lambda: Simulation(body()), "bodies must be a list, not <"),
        (lambda: Simulation([b := body(), b]), r"bodies\[1\] is there twice"),
        (lambda: Simulation([body(), "Flag"]), r"bodies\[1\] must be a Body, not 'Flag'"),
        (lambda: Simulation([body()], gravity=(0.0, -9.81)), "SolverSettings.gravity must be three"),
        (lambda: Simulation([body()], [p := Plane(), p]), r"colliders\[1\] is there twice"),
    ],
)  # fmt: skip
def test_nothing_is_guessed(make, sentence):
    """Nothing is rounded, cut off, wrapped or read as something else."""
    with pytest.raises(ValueError, match=sentence) as refusal:
        make()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda s, b: s.positions(body()), "body must be one of this simulation, not 'Flag'"),
        (lambda s, b: s.set_material([], b.material), r"body must be one of this simulation, not \[\]"),
        (lambda s, b: s.set_material(b, "Cotton"), "material must be a Material, not 'Cotton'"),
        (lambda s, b: s.set_settings(None), "settings must be a SolverSettings, not None"),
        (lambda s, b: s.set_maps(b, 2.0), "Flag: maps must be a Mapping, not 2.0"),
        (lambda s, b: s.move_plane(Plane(), (0, 0, 0), (0, 0, 1)), "plane must be one of this simulation"),
        (lambda s, b: s.move_plane(b, (0, 0, 0), (0, 0, 1)), "plane must be one of this simulation, not 'Flag'"),
        (lambda s, b: s.keep_apart(b, [99], b, [1], 0.1), "vertices names vertex 99, but there are 9 vertices"),
        (lambda s, b: s.keep_apart(b, [0], b, [-1], 0.1), "other_vertices names vertex -1, but there are 9"),
        (
            lambda s, b: s.keep_apart(b, [0, 3], b, [1, 3], 0.1),
            r"vertices must be different in each row, not \[3, 3\] \(row 1\)",
        ),
        (lambda s, b: s.grab(b, [0.7, 1.9]), r"vertices must be integers, not \[0.7, 1.9\]"),
        (lambda s, b: s.step("1/24"), "dt must be a number, not '1/24'"),
        (lambda s, b: s.step(1e30), r"dt must be at most 10 s, not 1e\+30"),
        (lambda s, b: s.step(1 / 24, in_place="no"), "in_place must be True or False, not 'no'"),
        (lambda s, b: s.cached_positions(b, float("nan")), "frame must be a finite number, not nan"),
        (lambda s, b: s.frames.state(-1), "frame -1 is not simulated; frames 0 to 0 are"),
        (lambda s, b: s.truncate(-1), "frame must be at least 0, not -1"),
        (lambda s, b: s.begin(1.5), "frame must be a whole number, not 1.5"),
        (lambda s, b: s.advance_to(1, None, 1 / 24), "read_inputs must be a function of a frame, not None"),
        (lambda s, b: s.take_inputs({}), r"inputs must be a FrameInputs, not {}"),
        (lambda s, b: s.use_kernels(None), "kernels must be a str, not None"),
    ],
)
def test_calls_refuse_by_name(act, sentence):
    """A simulation refuses what it does not know."""
    with pytest.raises(ValueError, match=sentence) as refusal:
        act(*scene())
    assert "\n" not in str(refusal.value)


def test_what_numpy_and_python_offer_is_taken():
    """Numbers and switches of NumPy's types, unsigned ids, ranges, sets and generators are what they say."""
    taken = body(pins=np.array([3, 1], np.uint8), edges=((0, 4),), vertices=VERTICES.astype(np.float32))
    assert taken.pin_ids.tolist() == [1, 3]
    assert body(pins=(k for k in (2, 2, 0))).pin_ids.tolist() == [0, 2]
    assert body(pins={5, 6}).pin_ids.tolist() == [5, 6]
    settings = SolverSettings(substeps=np.int64(3), automatic=np.True_, gravity=np.array([0, 0, -1]))
    assert settings == SolverSettings(substeps=3, automatic=True, gravity=(0.0, 0.0, -1.0))
    assert Material(density=np.float32(0.5), stretch=10) == Material(density=0.5, stretch=10.0)


def test_the_ends_of_the_range():
    """The farthest coordinate is taken, the next is not; what is nearer to 0 than any length is 0."""
    assert vectors("x", [[FARTHEST, 0.0, 1e-200]]).tolist() == [[FARTHEST, 0.0, 0.0]]
    with pytest.raises(ValueError, match="x must be at most"):
        vectors("x", [[np.nextafter(FARTHEST, np.inf), 0.0, 0.0]])
    with pytest.raises(ValueError, match="x must be a finite number, not inf"):
        number("x", 10**400)
