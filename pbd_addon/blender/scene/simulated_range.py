"""The range of simulated frames, the shown frame, and how to go to one.

Frames here are frames of the animation, in which F-curves and keyframes count. With Time Stretching they differ from
the timeline's: with Old 200 and New 100, frame 10 of the timeline shows frame 20 of the animation.
"""

import math

from ..kinds import Scene

SAME_FRAME = 1e-3
"""Tolerance for whole frames [frames]: Blender rounds stretched ones to 32 bits."""


def time_stretch(scene: Scene) -> float:
    """Frames of animation per frame of the timeline."""
    return scene.render.frame_map_old / scene.render.frame_map_new


def shown_frame(scene: Scene) -> float:
    """The shown frame, perhaps a fraction."""
    frame = scene.frame_current_final
    whole = round(frame)
    return float(whole) if time_stretch(scene) != 1.0 and abs(frame - whole) < SAME_FRAME else frame


def last_shown(scene: Scene) -> int:
    """The shown frame, rounded down."""
    return math.floor(shown_frame(scene))


def go_to(scene: Scene, frame: int) -> None:
    """Show a whole frame of the animation, even one between two of the timeline."""
    place = frame / time_stretch(scene)
    whole = math.floor(place)
    scene.frame_set(whole, subframe=place - whole)


def go_to_first(scene: Scene) -> None:
    """Go to the first frame of the timeline that shows the simulation."""
    scene.frame_set(timeline_frames(scene, *frame_range(scene))[0])


def timeline_frames(scene: Scene, first: int, last: int) -> tuple[int, int]:
    """First and last frame of the timeline that show simulated frames `first` to `last`."""
    if not scene.use_custom_simulation_range and (first, last) == frame_range(scene):
        return _played(scene)
    stretch = time_stretch(scene)
    start = math.ceil((first - SAME_FRAME) / stretch)
    return start, max(math.floor((last + SAME_FRAME) / stretch), start)


def frame_range(scene: Scene) -> tuple[int, int]:
    """First and last frame of the simulation: the custom range if the scene has one, else the played range."""
    if scene.use_custom_simulation_range:
        return scene.simulation_frame_start, scene.simulation_frame_end
    return _stretched(scene, *_played(scene))


def last_live_frame(scene: Scene) -> int:
    """The last frame that is stepped; after it the shape stays."""
    if scene.use_custom_simulation_range:
        return scene.simulation_frame_end
    return _stretched(scene, scene.frame_start, max(scene.frame_end, _played(scene)[1]))[1]


def _played(scene: Scene) -> tuple[int, int]:
    """First and last played frame of the timeline."""
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def _stretched(scene: Scene, first: int, last: int) -> tuple[int, int]:
    """First and last whole frame needed to show timeline frames `first` to `last`."""
    stretch = time_stretch(scene)
    return math.floor(first * stretch + SAME_FRAME), math.ceil(last * stretch - SAME_FRAME)
