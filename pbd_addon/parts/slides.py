"""Sliding pins: vertices that stay on a rail and slide along it. How they are solved is in `constraints/slide.py`."""

from __future__ import annotations

import numpy as np

from ..constraints import SlideConstraints, Sliding
from ..model.model import Model
from ..model.part import Frame, Part


class Slides(Part):
    """What slides in a scene, on rails that somebody may move."""

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

    def begin_frame(self, frame: Frame) -> SlidesInFrame:
        self.slides.begin_frame(frame.state.x, frame.state.rails, frame.targets.rails, frame.fraction)
        return SlidesInFrame(frame)


class SlidesInFrame:
    """Rails in a frame."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        rails = zip(frame.state.rails, frame.targets.rails)
        self.is_driven = not all(np.array_equal(here, there) for here, there in rails)

    def end_frame(self) -> None:
        self.frame.state.rails = self.frame.targets.rails
