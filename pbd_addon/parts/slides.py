"""Sliding pins: vertices that stay on a rail and slide along it. How they are solved is in `constraints/slide.py`."""

from __future__ import annotations

import numpy as np

from ..constraints import SlideConstraints, Sliding
from ..model.model import Model
from ..model.part import Acting, Frame, Kept, Part, remembers


class Slides(Part):
    """What slides in a scene; it remembers where the rails were at the end of the last frame."""

    name = "slides"
    MEMORY = remembers(
        rails=Kept(
            lambda model, x: [body.rail.vertices.T for body in model.bodies if body.rail is not None], is_scene=True
        )
    )

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
    def is_in(cls, model: Model) -> bool:
        return any(body.rail is not None for body in model.bodies)

    def begin_frame(self, frame: Frame) -> SlidesInFrame:
        self.slides.begin_frame(
            frame.state.x, frame.state.memory[self.name]["rails"], frame.targets.rails, frame.fraction
        )
        return SlidesInFrame(self, frame)


class SlidesInFrame(Acting):
    """Rails in a frame."""

    def __init__(self, part: Slides, frame: Frame) -> None:
        super().__init__(part, frame)
        rails = zip(self.memory["rails"], frame.targets.rails)
        self.is_driven = not all(np.array_equal(here, there) for here, there in rails)

    def end_frame(self) -> None:
        self.memory["rails"] = self.frame.targets.rails
