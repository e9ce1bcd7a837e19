"""Parts: what a scene has beyond particles, springs and contact. A part is one file in `parts/`.

A part says what it has of the scene when the model is built, and never changes after that. For each frame it returns an
object of its own, which lives as long as that frame, and whose methods the solver calls where the feature acts: the
hooks. All are optional, and only those that such an object has are called.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import Self

    from ..constraints import Constraints
    from ..kernels import Kernels
    from ..kernels.protocol.frames import Call
    from ..settings.fields import Checked, Map
    from ..timing.stopwatch import Stopwatch
    from .model import Model, State, Targets

from ..arrays.arguments import FARTHEST
from ..settings.fields import varies


class Past(NamedTuple):
    """The beginning of the last substep, for one of second order.

    Attributes:
        x: Positions, (3, n) [m].
        slowed: Velocities after damping, drag and air, (3, n) [m/s].
        duration: Length of that substep [s].
        v: Velocities before these acted last, in that substep or the one before it, (3, n) [m/s].
        since: Time from then to the end of that substep [s].
    """

    x: np.ndarray
    slowed: np.ndarray
    duration: float
    v: np.ndarray
    since: float


@dataclasses.dataclass(slots=True)
class Substep:
    """A substep while it is made.

    Attributes:
        x: Where it begins, (3, n) [m]; contact shifts it where an overlap opens, so that it adds no velocity.
        v: Velocities, (3, n) [m/s], which damping and forces change in place.
        h: What positions are stepped with, see `time_stepping`; the duration itself in first order [s].
        duration: Its length [s].
        slowed: Seconds for which damping, drag and air act, see `time_stepping.slowed_for`; 0 if they do not.
        stop: The fraction of the frame at which it ends, in (0, 1].
        couples: Whether springs and contact are projected in turn.
        past: The substep before it; None in first order.
        middle: Velocities that drag and air meet, (3, n) [m/s].
        p: Predicted positions, which constraints correct in place, (3, n) [m].
    """

    x: np.ndarray
    v: np.ndarray
    h: float
    duration: float
    slowed: float
    stop: float
    couples: bool = True
    past: Past | None = None
    middle: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((3, 0)))
    p: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((3, 0)))


class Kept(NamedTuple):
    """What is known of a memory, an array that states carry from frame to frame and files keep.

    Attributes:
        first: With which a run begins, of a model and positions x (3, n) [m].
        any_rows: Whether it may have other rows than the model, which cloth that tears changes: then it says nothing.
        is_single: Whether frames that are not exact keep it as float32.
        is_scene: Whether it is a list of surfaces of the scene, (3, m) [m] each, which files do not keep: others have
            them.
        most: The largest number in it.
        fits: Whether an array of that kind can be it, beside the one with which a run begins; default: it has its shape
            and finite numbers.
    """

    first: Callable[[Model, np.ndarray], Any]
    any_rows: bool = False
    is_single: bool = False
    is_scene: bool = False
    most: float = FARTHEST
    fits: Callable[[np.ndarray, np.ndarray], bool] | None = None


def remembers(**kept: Kept) -> Mapping[str, Kept]:
    """`Part.MEMORY`."""
    return MappingProxyType(kept)


class Plan(NamedTuple):
    """Substeps of a frame that are to be one compiled call, as far as damping, drag and air act in them.

    Attributes:
        slowed: For how long they act in each, (s,) [s].
        late: The fraction of the frame up to which they do, (s,).
    """

    slowed: list[float]
    late: np.ndarray


NOBODY = np.zeros(0, bool)
"""No particle."""

Hook = Callable[[Substep], None]


class Hooks(NamedTuple):
    """What acts in a frame, by when it does, each in the order of `parts.PARTS`.

    Attributes:
        begin_substep: Before anything else.
        damp: Line (6): change velocities without a force from outside.
        push: Line (5), but for gravity: change velocities, that of what moves being `middle`.
        predict: Line (7): correct where particles get by themselves.
        couple: Line (10), once all kinds are projected.
        end_substep: Line (16), on positions, before velocities are made of them.
        rebound: Line (16), on velocities.
        remember: After a substep that counts: take what the next one is to know into the state.
        end_frame: The same at the end of the frame.
    """

    begin_substep: tuple[Hook, ...] = ()
    damp: tuple[Hook, ...] = ()
    push: tuple[Hook, ...] = ()
    predict: tuple[Hook, ...] = ()
    couple: tuple[Hook, ...] = ()
    end_substep: tuple[Hook, ...] = ()
    rebound: tuple[Hook, ...] = ()
    remember: tuple[Callable[[float, float], None], ...] = ()
    end_frame: tuple[Callable[[], None], ...] = ()

    @staticmethod
    def of(acting: Sequence[Acting]) -> Hooks:
        """The hooks that these have."""
        which = _hooks_of(tuple(map(type, acting)))
        return Hooks(*(tuple(getattr(acting[at], name) for at in own) for name, own in zip(Hooks._fields, which)))


@functools.lru_cache(maxsize=64)
def _hooks_of(kinds: tuple[type, ...]) -> list[list[int]]:
    """For each hook, which of some objects have it, by their classes."""
    return [[at for at, kind in enumerate(kinds) if hasattr(kind, name)] for name in Hooks._fields]


@dataclasses.dataclass
class Frame:
    """A frame while it is stepped.

    Attributes:
        model: As it is; another one once cloth has torn.
        state: What is stepped, in place.
        targets: Where pins, planes and rest shapes are at its end; they get there evenly.
        kernels: Those of a backend.
        watch: Takes the time.
        dt: Its length [s].
        second_order: Whether substeps look back, see `time_stepping`.
        fraction: From where on it is stepped: more than 0 if cloth has torn there.
        acting: What its parts do in it; hooks: the same, by when.
        sequence: The kinds of constraints as an iteration solves them; a part may take `Model.rounds`.
        is_driven: Whether somebody moves anything that holds cloth.
        excused: Particles whose edges may be overstretched, (n,) bool, or (0,) for none.
    """

    model: Model
    state: State
    targets: Targets
    kernels: Kernels
    watch: Stopwatch
    dt: float
    second_order: bool = False
    fraction: float = 0.0
    acting: list[Acting] = dataclasses.field(default_factory=list)
    hooks: Hooks = dataclasses.field(default_factory=Hooks)
    sequence: tuple[Constraints, ...] = ()
    is_driven: bool = False
    excused: np.ndarray = dataclasses.field(default_factory=lambda: NOBODY)

    def __enter__(self) -> Frame:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what acts in it, which knows the frame: no circle keeps arrays."""
        self.acting, self.hooks = [], Hooks()

    def begin(self, fraction: float) -> None:
        """Tell everything that moves by itself where it goes, from a fraction of the frame on."""
        self.fraction, self.sequence = fraction, self.model.sequence
        for kind in self.model.kinds:
            kind.lay_out(self.kernels)
        found = (part.begin_frame(self) for part in self.model.acting)
        self.acting = [one for one in found if one is not None]
        self.hooks = Hooks.of(self.acting)
        self.is_driven = any(one.is_driven for one in self.acting)
        self.excused = next((one.excused for one in self.acting if len(one.excused)), NOBODY)


class Acting:
    """What a part does in a frame.

    It has some of `Hooks`, and `compiled(plan)` if it can give `fused` its share of a frame that is one compiled call.

    Attributes:
        is_driven: Whether somebody moves it in this frame.
        excused: Particles whose edges may be overstretched, (n,) bool, or (0,) for none.
    """

    is_driven: bool = False
    excused: np.ndarray = NOBODY

    def __init__(self, part: Part, frame: Frame) -> None:
        self.part, self.frame = part, frame

    @property
    def memory(self) -> dict[str, Any]:
        """What the part remembers, in the state that is stepped."""
        return self.frame.state.memory[self.part.name]

    def prepare(self, h: float) -> bool:
        """Get ready for substeps of h [s] in one compiled call; whether it can be that now."""
        return True

    def predict_calls(self) -> list[Call]:
        """What it calls after the prediction of each such substep, given p, x, v and the velocities before air."""
        return []

    def remember_calls(self) -> list[Call]:
        """What it calls after each such substep, given p, x, v and what x was before planes shifted it."""
        return []

    def ran(self) -> None:
        """Take over what substeps in one compiled call have left."""


class Part:
    """What a scene has of a feature.

    Attributes:
        name: Its name in `State.memory`.
        FIELDS: What a material says of it, if anything; `parts.Fields` has them all.
        MAPS: What of it can vary over a body, by name.
        MEMORY: What it remembers from frame to frame, by name. Arrays are replaced, never changed in place: states
            share them.
        constraints: Its kinds of constraints; `ORDER` of `parts` says when each is projected.
        acts: Whether it does anything with the present materials, set by `settle`; what it remembers stays if not.
        outlives: Whether it is handed to the part of another model with other particles, in `build`.
        reshapes: Whether a frame may leave a state that needs another model.
        reason: One of `model.REASONS`, if it ever asks for substeps.
    """

    name: ClassVar[str] = ""
    FIELDS: ClassVar[type[Checked] | None] = None
    MAPS: ClassVar[Mapping[str, Map]] = varies()
    MEMORY: ClassVar[Mapping[str, Kept]] = remembers()
    outlives: ClassVar[bool] = False
    reshapes: ClassVar[bool] = False
    reason: ClassVar[str] = ""
    constraints: tuple[Constraints, ...] = ()
    acts: bool = True

    def __init__(self, model: Model) -> None:
        """Read what is needed of a model, whose other fields are set."""

    @classmethod
    def is_in(cls, model: Model) -> bool:
        """Whether a model has anything of it; if not, nothing of it is entered."""
        return True

    @classmethod
    def build(cls, model: Model, before: Self | None) -> Part | None:
        """The part of a model; before: that of the same bodies with other materials or settings, used again."""
        return (before or cls(model)) if cls.is_in(model) else None

    def settle(self, model: Model) -> None:
        """Take over what other kinds know, once all have their materials."""

    def place(self, model: Model, state: State) -> None:
        """Take over a state that particles were put in between two frames."""

    def begin_frame(self, frame: Frame) -> Acting | None:
        """What it does in a frame; None if nothing."""
        return None

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        """Whether the next frame has to be one of first order because of it, see `time_stepping`.

        duration: of two substeps of first order [s].
        """
        return False

    def slowing_rate(self, model: Model, state: State) -> float:
        """The share of velocities that it takes in a second, at most [1/s]; infinite if it must act in each substep."""
        return 0.0

    def substeps(self, model: Model, state: State, targets: Targets, quality: int, dt: float) -> float:
        """The substeps that the next frame, of dt seconds, needs for its sake; quality: those of the settings."""
        return 1.0

    def torn(self, frame: Frame, number: int, count: int) -> np.ndarray | None:
        """What `Tearing` remembers once cloth has torn before a substep of `count` in the frame; None if none does."""
        return None

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        """Take over what a state of `before` remembers for a model `after` of which some has torn, itself in it.

        begun: whether a frame is being stepped, so that the model knows more than the state.
        """
