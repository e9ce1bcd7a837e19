"""What a frame of second order leaves to the next one, so that it looks back too: where its last substep began.

A frame that is opened by a substep of first order takes 2 (ω h)² of the angular momentum of what turns at ω: a free
disc at 10 rad/s loses 7.5 % in two seconds at the default, and 0.24 % where each frame goes on from the last one. That
takes 36 bytes a vertex of a frame, so only frames in which something turns quickly leave it. It is dropped where
anything else has put particles elsewhere since, and where somebody moves what holds them, in leaps of velocity.
"""

from __future__ import annotations

import numpy as np

from ..model.model import Model, State
from ..model.part import Frame, Past

QUICK = 0.15
"""Turn of a body in a frame from which on it is left [rad]. At less, a second of 24 frames that begin in first order
takes less than 0.5 % of the angular momentum. Curtains that fall and swing turn by up to 0.13 rad."""

LOOKED_AT = 256
"""Most vertices of a body by which that is seen."""


def recall(frame: Frame) -> Past | None:
    """What the last frame has left, if this one may go on from there."""
    memory = frame.state.memory["pace"]
    arrays, (duration, since, token) = memory["past"], memory["span"]
    if not arrays.size or arrays.shape != (9, frame.state.x.shape[1]) or token != _token(frame.state):
        return None
    x, slowed, v = arrays.reshape(3, 3, -1).astype(float)
    return Past(x, slowed, float(duration), v, float(since))


def leave(frame: Frame, past: Past | None) -> None:
    """Remember for the next frame where the last substep of this one began, if it is worth it."""
    memory, state = frame.state.memory["pace"], frame.state
    if past and not frame.is_driven and _turns(frame.model, state, frame.dt):
        memory["past"] = np.concatenate([past.x, past.slowed, past.v])
        memory["span"] = np.array([past.duration, past.since, _token(state)])
    elif memory["past"].size:
        memory["past"], memory["span"] = np.zeros((9, 0)), np.zeros(3)


def _turns(model: Model, state: State, dt: float) -> bool:
    """Whether any body turns quickly: the inner motion of some of its vertices over their distances from the middle."""
    some, starts, counts = model.scratch.get("seen") or model.scratch.setdefault("seen", _seen(model))
    q = np.concatenate([state.x.take(some, axis=1), state.v.take(some, axis=1)])
    q -= (np.add.reduceat(q, starts, axis=1) / counts).repeat(counts, axis=1)
    size, inner = np.add.reduceat(np.einsum("aik,aik->ak", *[q.reshape(2, 3, -1)] * 2), starts, axis=1)
    return bool((dt**2 * inner > QUICK**2 * size).any())


def _seen(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some vertices of each body, one after another, (k,), where each body's begin, and their numbers."""
    found = [np.arange(part.start, part.stop, 1 + (part.stop - part.start) // LOOKED_AT) for part in model.slices]
    counts = np.array([len(each) for each in found])
    return np.concatenate(found), np.cumsum(counts) - counts, counts


def _token(state: State) -> float:
    """A number that tells whether positions and velocities are the same, as float32, in which frames keep them."""
    bits = (array.astype(np.float32).view(np.uint32) for array in (state.x, state.v))
    return float(sum(int(each.sum(dtype=np.uint64)) % 2**32 for each in bits))
