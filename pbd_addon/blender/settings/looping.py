"""The loop of a scene's bakes."""

from .field_properties import Length, Switch, Whole


def properties() -> dict[str, object]:
    """The properties of a scene, by name."""
    return {
        "use_loop": Switch(
            "Loop",
            "Bakes repeat themselves: two frames of the range that are most alike are joined by a fade",
            options=set(),
        ),
        "loop_length": Whole(
            "Length",
            "Number of frames of the loop, such as a walk cycle has. With 0 the best is found, a third of "
            "the range or more, and a multiple of the wind's Loop",
            low=0,
            soft_high=250,
            options=set(),
        ),
        "loop_fade": Whole(
            "Fade",
            "Number of frames over which the end goes over into the beginning. Slow cloth 12, a flag 6",
            8,
            low=2,
            soft_high=48,
            options=set(),
        ),
        "loop_gap": Length(
            "Largest Gap",
            "How far apart the two frames may be, as the root mean square over all vertices. "
            "What hangs 0.02 m, what flutters 0.2 m",
            0.1,
            low=0.0,
            soft_high=1.0,
            options=set(),
        ),
    }
