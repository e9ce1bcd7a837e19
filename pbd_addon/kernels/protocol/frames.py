"""Several substeps in one compiled call, see docs/kernels.md."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from .air import Sails
from .arrays import (
    Booleans,
    Bytes,
    Columns,
    Cubes,
    DenseIds,
    DenseIndexColumns,
    DenseIndices,
    DenseNumbers,
    IdColumns,
    IndexColumns,
    Indices,
    Numbers,
    Vectors,
)
from .motion import Islands


class Call(NamedTuple):
    """A call of a kernel that each substep repeats with the same arrays.

    Attributes:
        kernel: Its name.
        given: How many of its first arguments the substep gives: the positions p, packed between `pack` and `unpack`,
            and x; or, of a kernel of this file, what it says.
        arguments: The others, of which records count as one.
    """

    kernel: str
    given: int
    arguments: tuple[object, ...]

    def spread(self) -> list[object]:
        """The arguments, with what is in a record instead of it."""
        found: list[object] = []
        for one in self.arguments:
            if isinstance(one, tuple):
                found += one
            else:
                found.append(one)
        return found


class Damping(NamedTuple):
    """What slows velocities down; rows s are those substeps in which anything does.

    Attributes:
        islands: As for `island_motion`.
        taken: Share of each island, as for `approach`, (s, islands); (0, islands) where nothing is damped.
        dragged: Share that drag takes of each particle, (s, n); (0, n) where there is none.
    """

    islands: Islands
    taken: Vectors
    dragged: Vectors


class Pins(NamedTuple):
    """Firm pins: particles (f,) int, places at the beginning of the frame and ways in it, (3, f) [m] each."""

    particles: DenseIds
    start: Columns
    way: Columns


class Wind(NamedTuple):
    """Air that pushes in those substeps.

    Attributes:
        mean: Velocity everywhere, (s, 3, 1) [m/s].
        strength: Factor on the gusts, (s,) [m/s]; none are asked for at 0.
        period: In which `phases` a substep is, (s,) int: gusts are those where particles are when it begins.
        vectors, amplitudes: As for `gusts`.
        phases: Of each period, (periods, k) [rad].
        known: The period that `gusts` are of, (1,) int, in and out.
        gusts: For a strength of 1, (3, n), in and out; (3, 0) where none are asked for.
        sails: As for `push_by_air`, triangles (3, 0) for none.
    """

    mean: Cubes
    strength: DenseNumbers
    period: DenseIds
    vectors: Vectors
    amplitudes: Vectors
    phases: Vectors
    known: DenseIds
    gusts: Vectors
    sails: Sails


class Strain(NamedTuple):
    """The elastic strain that tethers and levels remember, see `TetherConstraints.remembered_strain`.

    Attributes:
        memory: Of each body, (bodies,), in and out.
        of_one: Strain of a row by a multiplier of 1, (m,); (0,) where nothing remembers.
        multipliers: Of the rows, (m,).
        body: Of each row, (m,) int32; (0,) for a single body.
    """

    memory: DenseNumbers
    of_one: Numbers
    multipliers: DenseNumbers
    body: Indices


class Limits(NamedTuple):
    """Where a substep has to be looked at.

    Attributes:
        speed: As for `velocities` [m/s].
        indices, rest_lengths, strain: As for `strained`; rest_lengths (0,) where it is not asked.
        share: Of its length by which the ends of such an edge have to move apart, or around each other.
    """

    speed: float
    indices: IndexColumns
    rest_lengths: Numbers
    strain: float
    share: float


class Floors(NamedTuple):
    """Planes that nothing may come to.

    Attributes:
        particles: Those that they stop, (m,) int.
        normals: (k, 3).
        least: How far along the normal of each plane each of these has to be, (k, m) [m].
    """

    particles: DenseIds
    normals: Vectors
    least: Vectors


class WatchedMotion(NamedTuple):
    """Bounds on the motion of N particles, of which bodies have the first n, in k surfaces.

    Attributes:
        start, step, owner, counts: As for `deviations`, of all N.
        origin: As there.
        steps: The same after each substep of the plan, (s, k).
        drifts: How far the mean of each surface was to go until then, (s, 3, k) [m].
        margins: How far particles may be from where they were to be, (n,) [m].
        drift_margins: The same of each mean, along each axis, (k,) [m].
        observes: Of which surfaces errors are observed, and of which means, (2, k) bool.
        errors, errors_of_means: Those per substep, (N,) and (k,) [m], in and out.
        decay: Share of these that is left at the next observation.
    """

    start: Vectors
    step: Vectors
    owner: DenseIds
    counts: DenseIds
    origin: Vectors
    steps: Vectors
    drifts: Cubes
    margins: DenseNumbers
    drift_margins: DenseNumbers
    observes: Booleans
    errors: DenseNumbers
    errors_of_means: DenseNumbers
    decay: float


class WatchedCones(NamedTuple):
    """As for `outside_cones`."""

    faces: DenseIndexColumns
    first: DenseIndices
    stop: DenseIndices
    axes: Vectors
    cosines: DenseNumbers


class WatchedRows(NamedTuple):
    """Candidates, of which none may come near, as for `near_candidates`.

    Attributes:
        before, closed: Where particles were, (3, N) [m], and how much closer they can have come until then, (1,) [m],
            in and out.
    """

    particles: IdColumns
    normals: Columns
    kind: Bytes
    distance: Numbers
    spare: DenseNumbers
    before: Vectors
    closed: DenseNumbers


class Watch(NamedTuple):
    """What has to stay true for contact to have nothing to do.

    p: where particles are, (3, N) [m], out but for those of colliders; (3, 0) where nothing can meet.
    """

    p: Vectors
    motion: WatchedMotion
    cones: WatchedCones
    rows: WatchedRows


class Around(NamedTuple):
    """What acts in addition; words of calls, (0,) for none.

    Attributes:
        predicting: Behind the prediction of each substep, given p, x, v and what v was before air acted on it.
        leaving: Behind each substep, given p, x, v and what x was before planes shifted it.
        touches: Whether planes do.
    """

    predicting: DenseIds
    leaving: DenseIds
    touches: bool


class Motion(NamedTuple):
    """Positions and velocities, (3, n) each, of now and of the past, see `time_stepping.Past`."""

    x: Vectors
    v: Vectors
    past_x: Vectors
    past_slowed: Vectors
    past_v: Vectors


class Substep(NamedTuple):
    """The numbers of a substep; columns of a plan, (k, 7) float64.

    Attributes:
        fraction: Of the frame at which it ends.
        slowed: See `time_stepping.slowed_for` [s].
        row: Which of the rows s it is.
        ahead: The `share` for which `extrapolate` takes velocities to the middle; negative without a past.
        share, early: As for `predict`.
        decay: Factor on the strain that is remembered.
    """

    fraction: float
    slowed: float
    row: float
    ahead: float
    share: float
    early: float
    decay: float


class Encode(Protocol):
    """The type of `Frames.encode`."""

    def __call__(self, call: Call) -> np.ndarray | None: ...


class RunSubsteps(Protocol):
    """The type of `Frames.run_substeps`."""

    def __call__(
        self,
        usual: DenseIds,
        last: DenseIds,
        plan: Vectors,
        ends: bool,
        motion: Motion,
        gravity: tuple[float, float, float],
        fraction: DenseNumbers,
        h: float,
        damping: Damping,
        pins: Pins,
        wind: Wind,
        strain: Strain,
        limits: Limits,
        floors: Floors,
        watch: Watch,
        around: Around,
    ) -> tuple[int, Motion]: ...


class Frames(Protocol):
    """Substeps in one call.

    Attributes:
        encode: The words by which `run_substeps` repeats a call, (k,) int64, while its arrays live; None if it cannot.
            Besides kernels, which get p and x, there are these, for what `begin_substep` does each time:
            clear(values): values (m,) = 0.
            aim(fraction, start, end, targets): targets (3, m) = start + fraction (end - start).
            slacken(strain, least, shares, slack): slack (2, bodies) = shares max(strain, least).
            extend(strain, least, margin, used, lengths, body, reach): reach (m,) of rows that are `used` (m,) bool is
            their length (1 + margin max(strain, least) of their body), of others infinite.
        run_substeps: Substeps of h, see `solver`, by the words of their calls: `usual`, and `last` for the last one if
            it `ends` the frame. It runs all of the plan or up to the first one that is over the limits, or in which
            planes or contact may have something to do, of which no motion stays; how many, and the motion then. None
            for both where a backend cannot.
    """

    encode: Encode | None
    run_substeps: RunSubsteps | None
