"""The model of a scene of which some has torn."""

from __future__ import annotations

import numpy as np

from ..model.model import Model, State
from ..parts.gas import opened
from ..parts.tearing import Tearing, follow, open_lips
from .build import with_materials


def split(model: Model, state: State, joined: np.ndarray, begun: bool = False) -> Model:
    """The model where only `joined` (n,) int are one any more; the state, which is that of `model`, follows.

    begun: whether a frame is being stepped, whose memory the model has and not the state.
    """
    follow(state)
    after = with_materials(model, model.materials, model.maps, model.settings, sewn=model.sewn._replace(joined=joined))
    for part in after.parts:
        part.inherit(model, state, after, begun)
    burst = opened(after, state)
    if burst.any():
        after = with_materials(after, after.materials, after.maps, after.settings, burst)
    open_lips(model, state, after, joined)
    state.memory[Tearing.name]["joined"] = joined
    return after
