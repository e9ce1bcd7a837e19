"""Parts: a feature is one file and a line in the registry, and what a scene does not have is not entered."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.inside import state_of
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Material, Simulation
from pbd_addon.building import build
from pbd_addon.frames import frame_cache
from pbd_addon.io import state_files
from pbd_addon.kernels import available
from pbd_addon.model.inertia import WEIGHT_MAPS, Weight
from pbd_addon.model.model import Model
from pbd_addon.model.part import Acting, Frame, Kept, Part, Substep, remembers
from pbd_addon.parts import KEPT, MAPS, ORDER, PARTS

DT = 1 / 24


def curtain(**options: object) -> Body:
    vertices, quads = grid(8, 8, 0.5, 0.5)
    return Body(vertices, quads, Material.preset("Cotton"), pins=(72, 80), **options)


class Magnet(Part):
    """Pulls all particles along x, harder with each frame."""

    name = "magnet"
    MEMORY = remembers(frames=Kept(lambda model, x: np.zeros(1)))

    @classmethod
    def is_in(cls, model: Model) -> bool:
        return model.bodies[0].name == "Iron"

    def begin_frame(self, frame: Frame) -> Pull:
        return Pull(self, frame)


class Pull(Acting):
    def push(self, substep: Substep) -> None:
        substep.v[0] += np.where(self.frame.model.w > 0.0, self.memory["frames"] * substep.slowed, 0.0)

    def end_frame(self) -> None:
        self.memory["frames"] = self.memory["frames"] + 1.0


@pytest.fixture
def registered(monkeypatch):
    parts = (*PARTS, Magnet)
    monkeypatch.setattr(build, "PARTS", parts)
    for module in (frame_cache, state_files):
        monkeypatch.setattr(module, "KEPT", KEPT | {"magnet": dict(Magnet.MEMORY)})
    monkeypatch.setattr(state_files, "NAMES", (*state_files.NAMES, "magnet.frames"))


@pytest.mark.parametrize("kernels", available())
def test_a_new_part_acts_remembers_and_goes_on(registered, kernels):
    body = curtain(name="Iron")
    simulation = Simulation([body], kernels=kernels, self_collision=False)
    simulation.frames.keeps_all = True
    for _ in range(4):
        simulation.step(DT)
    x = simulation.positions(body).copy()
    assert x[:, 0].mean() > 0.002
    assert state_of(simulation).memory["magnet"]["frames"] == [4.0]
    arrays = state_files.arrays_of(simulation.frames.state(2))
    assert arrays["magnet.frames"] == [2.0]
    simulation.restore(2, simulation.state_from(arrays, [], []))
    simulation.step(DT)
    simulation.step(DT)
    np.testing.assert_array_equal(simulation.positions(body), x)


def test_a_scene_without_it_has_nothing_of_it(registered):
    simulation = Simulation([curtain()], self_collision=False)
    simulation.step(DT)
    assert "magnet" not in state_of(simulation).memory


def entered(simulation: Simulation) -> set[str]:
    """Files of parts that a frame enters."""
    found = set()

    def watch(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.parent.name == "parts":
            found.add(path.stem)

    simulation.step(DT)
    sys.setprofile(watch)
    try:
        simulation.step(DT)
    finally:
        sys.setprofile(None)
    return found


def test_what_a_scene_does_not_have_is_not_entered():
    always = {"pins", "springs", "obstacles", "air", "plasticity", "skin", "rounds", "buckling"}
    plain = Body(*grid(4, 4, 0.5, 0.5), Material(damping=0.0, drag=0.0))
    assert entered(Simulation([plain], self_collision=False)) <= always
    assert entered(Simulation([curtain()], self_collision=False)) <= always | {"damping", "tethers", "resilience"}
    ball = Body(*icosphere(1, 0.2), Material.preset("Party Balloon"))
    assert {"gas", "skin"} < entered(Simulation([ball]))


def test_what_a_material_says_belongs_to_one_part():
    """Besides what it weighs."""
    named = [part.FIELDS for part in PARTS if part.FIELDS]
    own = [field.name for group in (*named, Weight) for field in dataclasses.fields(group)]
    assert sorted(own) == sorted(field.name for field in dataclasses.fields(Material))


def test_a_map_belongs_to_one_part():
    """Besides that of what it weighs."""
    own = [*WEIGHT_MAPS, *(name for part in PARTS for name in part.MAPS)]
    assert sorted(own) == sorted(MAPS)
    vertices, quads = grid(2, 2, 1.0, 1.0)
    assert Body(vertices, quads, maps=dict.fromkeys(own, 1.0)).maps.keys() == MAPS.keys()


def test_every_kind_of_constraints_has_a_place_in_the_order():
    assert len(set(ORDER)) == len(ORDER)
    assert len({part.name for part in PARTS if part.MEMORY}) == len([part for part in PARTS if part.MEMORY])
