"""Where pins, rest shapes, planes, colliders and rails are to be at the end of the next frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import arguments
from ..bodies.body import Body
from ..building import build
from ..constraints import Plane
from ..constraints.plane import checked_place
from ..contact import Collider
from ..frames.frame_inputs import FrameInputs
from ..model.obstacles import planes_and_surfaces
from .readings import Readings


class Inputs(Readings):
    """What is set for the next frame."""

    _plane_number: dict[Plane, int]
    _collider_number: dict[Collider, int]

    def set_pin_targets(self, body: Body, targets: np.ndarray) -> None:
        """Set the targets of a body's pins at the end of the next frame, (k, 3) [m], in the order of `Body.pin_ids`.

        Raises:
            ValueError: The shape is wrong or a number is not finite.
        """
        pins = self._model.pin_slices[self._number[self._body("body", body)]]
        self._targets.pins[:, pins] = arguments.vectors(f"targets of {body.name}", targets, len(body.pin_ids)).T

    def set_rest_shape(self, body: Body, vertices: np.ndarray) -> None:
        """Set the rest shape of a body with `dynamic_mesh` at the end of the next frame, (n, 3) [m].

        Rest lengths, angles and volumes get there evenly. Masses, stiffnesses and the distance of self-collision stay.

        Raises:
            ValueError: The body has none that can change, the shape is wrong or a number is not finite.
        """
        part = self._part(self._body("body", body))
        if not body.dynamic_mesh:
            raise ValueError(f"body {body.name} must have dynamic_mesh to get another rest shape")
        rest = self._targets.rest.copy()
        own = (self._model.follows >= part.start) & (self._model.follows < part.stop)
        rest[:, own] = arguments.vectors(f"vertices of {body.name}", vertices, len(body.vertices)).T
        if not np.array_equal(rest, self._targets.rest):
            self._targets.rest = rest

    def move_plane(self, plane: Plane, point: Sequence[float], normal: Sequence[float]) -> None:
        """Set where a plane is at the end of the next frame; `point` and `normal` as in `Plane`."""
        number = self._plane_number[arguments.member("plane", plane, self._plane_number)]
        self._targets.planes[number] = checked_place(point, normal)

    def move_collider(self, collider: Collider, vertices: np.ndarray) -> None:
        """Set where a collider's vertices are at the end of the next frame, (m, 3) [m]; they move there in a line.

        Raises:
            ValueError: The shape is wrong or a number is not finite.
        """
        number = self._collider_number[arguments.member("collider", collider, self._collider_number)]
        wanted = arguments.vectors(f"vertices of {collider.name}", vertices, len(collider.vertices))
        if not np.array_equal(self._targets.colliders[number], wanted.T):
            self._targets.colliders[number] = wanted.T

    def move_rail(self, body: Body, vertices: np.ndarray) -> None:
        """Set where the vertices of a body's rail are at the end of the next frame, (m, 3) [m].

        Raises:
            ValueError: The body has no rail, the shape is wrong or a number is not finite.
        """
        self._body("body", body)
        if body.rail is None:
            raise ValueError(f"body {body.name} must have a rail to move it")
        number = [one for one in self.bodies if one.rail is not None].index(body)
        wanted = arguments.vectors(f"vertices of {body.rail.name}", vertices, len(body.rail.vertices))
        if not np.array_equal(self._targets.rails[number], wanted.T):
            self._targets.rails[number] = wanted.T

    def set_colliders(self, colliders: Sequence[Plane | Collider]) -> None:
        """Use these colliders from the next step on; state and cached frames stay.

        Planes must be those of the beginning. A new collider is where its vertices are.

        Raises:
            ValueError: An item is not a collider, occurs twice, or is a plane that was not there before.
        """
        planes, surfaces = planes_and_surfaces(colliders)
        if planes != list(self._model.planes):
            raise ValueError("colliders must hold the planes of the beginning, in their order, and no others")
        known = self._model.colliders
        for state in {id(one): one for one in (self._state, *self.frames.states())}.values():
            here = state.memory["obstacles"]
            stood, went = dict(zip(known, here["colliders"])), dict(zip(known, here["penetrated"].T))
            here["colliders"] = [stood.get(one, one.vertices.T) for one in surfaces]
            nothing = np.zeros(len(here["penetrated"]), bool)
            columns = [went.get(one, nothing) for one in surfaces]
            here["penetrated"] = np.array(columns, bool).reshape(len(surfaces), len(nothing)).T
            here["is_apart"] = np.array(False)
        asked = dict(zip(known, self._targets.colliders))
        self._targets.colliders = [asked.get(one, one.vertices.T) for one in surfaces]
        self._model = build.with_colliders(self._model, surfaces)
        self._collider_number = {collider: number for number, collider in enumerate(surfaces)}

    def take_inputs(self, inputs: FrameInputs) -> None:
        """Set the targets of the next frame."""
        arguments.instance("inputs", inputs, FrameInputs)
        for body, targets in inputs.pin_targets.items():
            self.set_pin_targets(body, targets)
        for body, vertices in inputs.rest_shapes.items():
            self.set_rest_shape(body, vertices)
        for plane, place in inputs.planes.items():
            if not isinstance(place, Sequence) or len(place) != 2:
                arguments.refuse("FrameInputs.planes", "a point and a normal", place)
            self.move_plane(plane, *place)
        for collider, vertices in inputs.colliders.items():
            self.move_collider(collider, vertices)
        for body, vertices in inputs.rails.items():
            self.move_rail(body, vertices)
