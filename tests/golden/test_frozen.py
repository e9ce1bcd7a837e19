"""A model and its parts stay as they were built: a frame writes only into the scratch that is named here.

Model, layout and parts are what a scene is. Kinds of constraints are the solver's tables: beside their rows they hold
values for the length of a substep, for the lengths at rest of the moment, and for the memory layout of a backend. All
of that follows from the model, the state and the backend. What is remembered is in the state.
"""

from __future__ import annotations

import pytest

from golden.contents import contents
from golden.scenes import SCENES
from helpers.inside import model_of
from pbd_addon import Simulation

EVERY = ("h", "kernels", "is_laid_out", "multipliers")
"""Of all kinds: length of a substep, backend, multipliers."""

SPRINGS = (
    "rows alpha gamma compliance softness released sweep swept sweeps chains way_back both_ways fresh kept pushed "
    "inverse_masses rest_lengths yielded _reweighed _divided_for _pin_rows _swept_rows _strain_of_one _lengthening "
    "_measured _is_stale"
)
HINGES = "rows alpha gamma colored rest_angles yielded weights held"
SCRATCH = {
    "Model": "scratch folds",  # `Folds.current` follows the rest shape
    "Skin": "pressurized",
    "InflationConstraints": "pressurized",
    "AttachmentConstraints": "alpha path targets",
    "ContactConstraints": "candidate_list penetration unprojected keeps_unresolved is_crossing_free _coefficients "
    "_contacts _counted _fraction _is_far _is_first_pass _near _p _x _path _rounds _start _touched _was_pinched",
    "DihedralConstraints": HINGES,
    "SeamFoldConstraints": HINGES,
    "DistanceConstraints": SPRINGS,
    "StrutConstraints": SPRINGS,
    "GrabConstraints": "grabs",  # where hands are
    "IsometricConstraints": "rows alpha gamma colored hinges fresh kept rubbing held _given",
    "LevelConstraints": "strain reach lengths grown _before _calls _moved _q",
    "PlaneConstraints": "path place push velocity stands weights",
    "Resilience": "_own",
    "PlateConstraints": "plates fresh _reached",
    "RopeBendConstraints": "curls factors blocks grown _moved _reached _known",
    "SeamConstraints": "rows alpha lengths path late",
    "SlideConstraints": "alpha at begun fraction gaps normals path targets",
    "TetherConstraints": "particles anchors body weights lengths strain slack fallen grown",
    "VolumeConstraints": "aim flat gas last most pumped push pushed_away pieces side sizes smallest target "
    "piece_of_particle _closed",
}

PLAYED = (
    *("irregular", "dihedral", "plate", "pins", "planes", "collider", "helium", "struts", "wind", "forces", "grabs"),
    *("slides", "seams", "tearing", "torn_balloon", "plasticity", "rest_shapes", "rigid", "ropes", "constrained"),
)
"""Scenes in which every part occurs."""


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
def test_a_frame_writes_only_into_scratch(monkeypatch):
    written, frames = set(), []
    step = Simulation.step

    def watched(simulation, *arguments):
        model = model_of(simulation)
        before = contents(model)
        step(simulation, *arguments)
        if model_of(simulation) is model:  # else kinds have been taken over by another model
            frames.append(model)
            written.update(key for key, value in contents(model).items() if before.get(key) != value)

    monkeypatch.setattr(Simulation, "step", watched)
    for scene in PLAYED:
        for _ in SCENES[scene]("auto"):
            pass
    assert len(frames) > 80
    assert not [key for key in sorted(written) if key[1] not in (*EVERY, *SCRATCH.get(key[0], "").split())]


@pytest.mark.newest
def test_nothing_in_the_memory_of_a_state_is_changed_in_place(monkeypatch):
    """Frames share it."""
    step = Simulation.step

    def sealed(simulation, *arguments):
        for state in simulation.frames.states():
            for own in state.memory.values():
                for value in own.values():
                    for array in value if isinstance(value, list) else [value]:
                        array.flags.writeable = False
        return step(simulation, *arguments)

    monkeypatch.setattr(Simulation, "step", sealed)
    for scene in ("irregular", "planes", "collider", "slides", "seams", "torn_balloon", "resumed"):
        for _ in SCENES[scene]("numpy"):
            pass
