"""Sliding pins: vertices that stay on a rail and slide along it. How they are solved is in `constraints/slide.py`."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from ..constraints import SlideConstraints, Sliding
from ..model.model import Model
from ..model.part import Frame, Kept, Part


class Slides(Part):
    """What slides in a scene; it remembers where the rails were at the end of the last frame."""

    name = "slides"
    MEMORY = MappingProxyType({"rails": Kept(is_scene=True)})

    def __init__(self, model: Model) -> None:
        self.slides = SlideConstraints(
            [
                Sliding(
                    number, body.slide_ids + part.start, body.slide_weights, body.rail.vertices, body.rail.elements,
                    body.vertices[body.slide_ids],
                )
                for number, (body, part) in enumerate(zip(model.bodies, model.slices))
                if body.rail is not None
            ]
        )  # fmt: skip
        self.constraints = (self.slides,)

    @classmethod
    def build(cls, model: Model, before: Slides | None) -> Slides | None:
        return (before or cls(model)) if any(body.rail is not None for body in model.bodies) else None

    def first_memory(self, model: Model, x: np.ndarray) -> dict[str, Any]:
        return {"rails": [body.rail.vertices.T for body in model.bodies if body.rail is not None]}

    def begin_frame(self, frame: Frame) -> SlidesInFrame:
        self.slides.begin_frame(
            frame.state.x, frame.state.memory[self.name]["rails"], frame.targets.rails, frame.fraction
        )
        return SlidesInFrame(frame)


class SlidesInFrame:
    """Rails in a frame."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        rails = zip(frame.state.memory[Slides.name]["rails"], frame.targets.rails)
        self.is_driven = not all(np.array_equal(here, there) for here, there in rails)

    def end_frame(self) -> None:
        self.frame.state.memory[Slides.name]["rails"] = self.frame.targets.rails
