"""What a simulation can be asked of its bodies: where they are, what they touch and hold, now or at a cached frame."""

from __future__ import annotations

import numpy as np

from .. import collider_fitting
from ..arrays import arguments
from ..bodies.body import Body
from ..constraints import Constraints, Grab
from ..frames.frame_cache import FrameCache
from ..frames.report import Judgment
from ..model.model import Model, State, Targets
from ..parts.dynamic_mesh import rest_shape
from ..parts.sewing import waiting_bodies
from ..parts.tearing import joined_in
from ..settings.solver_settings import SolverSettings
from ..stepping.time_stepping import LONGEST_FRAME


class Readings:
    """What can be read; see `Simulation` for the attributes."""

    bodies: list[Body]
    frames: FrameCache
    fitted: collider_fitting.Fitted
    _model: Model
    _state: State
    _targets: Targets
    _number: dict[Body, int]
    _grabs: list[Grab]
    _judgment: Judgment

    @property
    def constraints(self) -> list[Constraints]:
        """The kinds of constraints that are active with the current materials."""
        return list(self._model.constraints)

    @property
    def settings(self) -> SolverSettings:
        """The current settings; `set_settings` changes them."""
        return self._model.settings

    @property
    def is_held(self) -> bool:
        """Whether anything is grabbed."""
        return bool(self._grabs)

    def particles(self, body: Body) -> slice:
        """Which of all particles, in the order of `bodies`, are the vertices of a body."""
        return self._part(self._body("body", body))

    def positions(self, body: Body) -> np.ndarray:
        """Current positions of a body, a view (n, 3) float64 [m]."""
        return self._state.x[:, self._part(body)].T

    def velocities(self, body: Body) -> np.ndarray:
        """Current velocities of a body, a view (n, 3) float64 [m/s]."""
        return self._state.v[:, self._part(body)].T

    def touching(self, body: Body) -> np.ndarray:
        """Vertices of a body that touched a collider or cloth in the last frame, or a plane at its end; (k,) int."""
        part, contact = self._part(body), self._model.contact
        planes = (plane.touching() for plane in self._model.plane_constraints)
        met = [contact.touching(True), contact.touching(False), *planes]
        ids = np.unique(np.concatenate(met))
        joined = joined_in(self._state)
        if len(joined):
            ids = np.flatnonzero(np.isin(joined, ids))
        return np.asarray(ids[(ids >= part.start) & (ids < part.stop)] - part.start)

    def pressure(self, body: Body) -> tuple[float, ...]:
        """Overpressure in each closed island of a body in the last substep [Pa]; empty without pressure."""
        number = self._number[self._body("body", body)]
        volume = self._model.volume
        if not volume.active:
            return ()
        return tuple(
            pressure
            for piece, pressure, works in zip(volume.pieces, volume.forces().tolist(), volume.working)
            if piece.body == number and works
        )

    def maps(self, body: Body) -> dict[str, np.ndarray]:
        """The current maps of a body, (n,) float64 each."""
        return dict(self._model.maps[self._number[self._body("body", body)]])

    def is_sewn(self, body: Body) -> bool:
        """Whether the edges of a body that can be seams are no ropes: it is sewn, or has been."""
        return not self._model.sewn.roped[self._number[self._body("body", body)]]

    def is_sewn_first(self, body: Body) -> bool:
        """Whether gravity and wind do not act on a body yet, as its seams are still open."""
        return self._number[self._body("body", body)] in waiting_bodies(self._model, self._state)

    def brought_out(self, body: Body) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of a body that were brought out of colliders at the start, and those that could not be, (k,) int."""
        part = self._part(body)
        of_body = [ids[(ids >= part.start) & (ids < part.stop)] - part.start for ids in self.fitted]
        return of_body[0], of_body[1]

    def met_by(self, body: Body) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Vertices of a body inside of closed colliders, and those of edges and faces that go through any, (k,) int.

        By the collider's name; when that was looked for last.
        """
        return self._model.contact.penetration.met_by(self._part(body))

    def cached_positions(self, body: Body, frame: float) -> np.ndarray:
        """Positions of a body at a cached frame, interpolated linearly, (n, 3) float32 [m].

        Raises:
            ValueError: The frame is not cached.
        """
        return np.ascontiguousarray(self.frames.positions(frame)[:, self._part(body)].T)

    def cached_rest_shape(self, body: Body, frame: int) -> np.ndarray:
        """Rest shape of a body at a cached frame, (n, 3) [m].

        Raises:
            ValueError: The frame is not cached.
        """
        part = self._part(self._body("body", body))
        return rest_shape(self._model, self.frames.state(frame))[part]

    def coasting_positions(self, body: Body, seconds: float) -> np.ndarray:
        """Positions of a body extrapolated from the last frame by its velocities, (n, 3) float32 [m]."""
        part, state = self._part(body), self._state
        seconds = arguments.number("seconds", seconds, -LONGEST_FRAME, LONGEST_FRAME, "s")
        return np.ascontiguousarray((state.x[:, part] + seconds * state.v[:, part]).T, np.float32)

    def _body(self, where: str, body: Body) -> Body:
        return arguments.member(where, body, self._number)

    def _part(self, body: Body) -> slice:
        """The range of a body's particles."""
        return self._model.slices[self._number[self._body("body", body)]]
