"""Frames that were simulated: what scrubbing reads, and where a run can be taken up again."""

from __future__ import annotations

import math

import numpy as np

from .model import State


class FrameCache:
    """States of a gapless range of frames: 28 bytes per vertex and frame, in float32.

    Attributes:
        first: First frame that is held.
    """

    def __init__(self, frame: int, state: State) -> None:
        self.first = frame
        self._states: list[State] = []
        self.append(state)

    @property
    def last(self) -> int:
        """Last frame that is held."""
        return self.first + len(self._states) - 1

    @property
    def nbytes(self) -> int:
        """Memory of all frames [bytes]."""
        places = {id(place): place.nbytes for state in self._states for place in state.colliders}
        return sum(places.values()) + sum(
            state.x.nbytes + state.v.nbytes + state.pin_targets.nbytes + state.straying.nbytes for state in self._states
        )

    def states(self) -> list[State]:
        """The states of all frames, as they are held."""
        return self._states

    def append(self, state: State) -> None:
        """Hold a copy of the state as the frame after the last."""
        kept = state.copy()
        kept.x, kept.v = kept.x.astype(np.float32), kept.v.astype(np.float32)
        self._states.append(kept)

    def replace_last(self, state: State) -> None:
        """Hold a copy of the state in place of the last frame's."""
        self._states.pop()
        self.append(state)

    def holds(self, frame: float) -> bool:
        """Whether a frame, or both neighbours of a sub-frame, are held."""
        return self.first <= math.floor(frame) and math.ceil(frame) <= self.last

    def positions(self, frame: float) -> np.ndarray:
        """Positions at a frame, linear between two, (3, n) float32 [m]. Not to be written to."""
        before = math.floor(frame) - self.first
        share = np.float32(frame - math.floor(frame))
        x = self._states[before].x
        if share == 0.0:
            return x
        return x + share * (self._states[before + 1].x - x)

    def state(self, frame: int) -> State:
        """The state of a frame, to go on from; float64."""
        state = self._states[frame - self.first].copy()
        state.x, state.v = state.x.astype(float), state.v.astype(float)
        return state

    def truncate(self, frame: int) -> None:
        """Forget all frames after `frame`."""
        del self._states[frame - self.first + 1 :]
