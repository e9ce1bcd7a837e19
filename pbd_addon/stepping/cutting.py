"""How a frame is cut: substeps of second or first order, tried, judged, and made again in halves.

A frame that is smooth looks back (see `time_stepping`); as soon as anything in it is not, it is begun anew in first
order. There a substep whose result is unsound is undone and cut in halves, and so is one in which something crosses or
cloth is overstretched, while that helps and the frame has not spent its budget.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator

import numpy as np

from ..building.tear import split
from ..contact.stretch_coupling import FREE_EXCESS, OVERRUN_STRAIN, excess_of_overrun
from ..model.part import Frame, Past, Substep
from . import adaptive, carrying, time_stepping
from .fused import FusedSubsteps
from .viscosity import Viscosity

RETRIES = 4
"""How often a bad substep is cut in halves before the step is given up."""

PINCHED_RETRIES = 2
"""How often a substep is cut in halves because colliders pinch cloth."""

OVERRUN_RETRIES = 3
"""How often a substep is cut in halves because it overstretched an edge: at most, and no more often than it takes until
what goes fastest (see `adaptive.reach`) goes no farther than `ENOUGH`. Where nothing does, constraints contradict each
other, and shorter substeps throw edges to and fro as far, only faster: a towel that is twisted by two turns takes 2.1 s
a frame in the end where all are cut up to three times, 1.5 s where that depends on what moves. Once they always may:
without it, cloth crosses the rolls of a mangle.

With 2 and 3, six starts of a curtain that a ball hits at 50 m/s are strained by 39 to 60 and 12 to 20 %."""

ENOUGH = 0.05
"""How far what goes fastest may go in a substep that need not be shorter, in edges: a quarter of `OVERRUN`. With half,
a sheet that two bodies tear crosses itself in three frames of 23 instead of one at most, and the towel above takes
0.4 s; with all of it, a bar at 24 m/s strains a curtain by 10 instead of 6 %."""

BUDGET = 8
"""A frame that has tried so many times the substeps it was planned with no longer repeats those that overstretch cloth.

All of them cut three times take 9; where that is needed throughout, the next frame starts no better."""

VIOLENT = 1.5
"""A frame that has tried so many times the substeps of the settings, and still overstretches cloth, is violent:
velocities are evened out from there on, see `viscosity`.

Where it begins with the first edge that is overstretched, a cape that begins in a figure takes 1.3 times as long."""

Make = Callable[[Frame, Substep], bool]
"""What makes a substep, see `solver.substep`."""


class UnstableError(ArithmeticError):
    """A step gave no sound result even with much smaller substeps.

    Attributes:
        body: The `Body` that broke.
        vertex: Number of a vertex of it that did.
    """

    def __init__(self, body: object, vertex: int) -> None:
        name = getattr(body, "name", "Body")
        super().__init__(f"{name} became unstable at vertex {vertex}: use more substeps or less stiffness")
        self.body, self.vertex = body, vertex


class CutFrame:
    """A frame, and how it is cut.

    Args:
        frame: What is stepped.
        substep: Makes one substep; whether its result is sound.
        count: Substeps of first order that were asked for.

    Attributes:
        planned, tried: Number of substeps without repeating any, and of all until now.
    """

    def __init__(self, frame: Frame, substep: Make, count: int) -> None:
        self.frame, self.substep, self.count = frame, substep, count
        self.planned = self.tried = self._halvings = 0
        self._past: Past | None = None
        self._viscosity: Viscosity | None = None

    def run(self) -> Generator[float, None, bool]:
        """The frame, in slices; whether it is done: one of second order has to be smooth.

        Yields:
            The share of it that is done, after each substep but the last; no share yet where contact looks for all that
            intersects before the first one.
        """
        frame, second_order = self.frame, self.frame.second_order
        longest = max((family.longest for family in frame.model.stretch.families), default=0)
        gently = functools.partial(adaptive.is_slowed_gently, frame.model, frame.state)
        past = carrying.recall(frame) if second_order else None
        last = past.duration if past else 0.0
        schedule = time_stepping.schedule(self.count, second_order, longest, frame.dt, gently, last)
        self._past = past if schedule.goes_on else None
        count, k, stop = len(schedule.ends), 0, 0.0
        self.planned = count
        while k < count:
            torn = self._torn(k, count)
            if torn is not None and second_order:
                return False
            if torn is not None:
                frame.model, self._viscosity = split(frame.model, frame.state, torn, begun=k > 0), None
                frame.watch.lap("tearing")
            if torn is not None or not k:
                for _part in self._begin(stop):
                    yield stop
                    frame.watch.resume()
                fused = FusedSubsteps(frame)
            done = 0
            if self._halvings < 2:  # the next one is whole
                done, self._past = fused.run(schedule, k, self._past)
            if done:
                self._halvings, self.tried = 0, self.tried + done * (not second_order)
            k += max(done, 1)
            start, stop = stop, schedule.ends[k - 1]
            if not done and not second_order:
                self._advance(start, stop, schedule.h)
            elif not done and not self._try_second_order(stop, schedule.h, *schedule.lengths[k - 1]):
                return False
            if k < count:
                try:
                    yield stop
                except GeneratorExit:
                    frame.model.contact.rewind(0.0)
                    raise
                frame.watch.resume()
        carrying.leave(frame, self._past)
        return True

    def _torn(self, number: int, count: int) -> np.ndarray | None:
        """What is joined after cloth has torn before a substep of a frame with `count` of them; None if none does."""
        found = (part.torn(self.frame, number, count) for part in self.frame.model.acting)
        return next((joined for joined in found if joined is not None), None)

    def _begin(self, fraction: float) -> Generator[None, None, None]:
        """Begin the frame, or the rest of it from a fraction on, in slices."""
        frame, contact = self.frame, self.frame.model.contact
        frame.begin(fraction)
        x, way, past = frame.state.x, frame.dt * frame.state.v, frame.state.memory["obstacles"]
        yield from contact.begin_frame(
            frame.kernels, x, way, frame.model.stretch.pushed, past["prediction_error"], past["penetrated"]
        )
        frame.watch.lap(contact.name)

    def _try_second_order(self, stop: float, h: float, duration: float, slowed: float) -> bool:
        """One substep of second order to `stop`; whether nothing but smooth forces acted."""
        frame, state = self.frame, self.frame.state
        x, v = state.x, state.v
        step = Substep(x, v, h, duration, slowed, stop, past=self._past)
        is_sound = self.substep(frame, step)
        smooth = not frame.model.pushed().any() and frame.model.contact.is_crossing_free
        smooth = smooth and not self._is_overrun(x)
        if smooth and is_sound:
            earlier = (v, duration) if slowed or not self._past else (self._past.v, self._past.since + duration)
            self._past = Past(x, step.v, duration, *earlier)
            self._remember(duration, stop)
            return True
        return False

    def _advance(self, start: float, stop: float, h: float) -> None:
        """One substep of h seconds from `start` to `stop`, fractions of the frame; in halves if the result is unsound.

        The next one begins with parts twice as long as the last ones of this, which saves most that would be discarded.
        """
        done, couples, self._halvings = 0.0, True, max(self._halvings - 1, 0)
        while done < 1.0:
            part = 0.5**self._halvings
            begin = start + done * (stop - start)
            end = start + (done + part) * (stop - start) if done + part < 1.0 else stop
            if self._try(begin, end, part * h, couples):
                done += part
                continue
            self._halvings += 1
            couples &= self.frame.model.contact.is_crossing_free  # it would throw pinched cloth to and fro

    @property
    def is_spent(self) -> bool:
        """Whether the frame has taken more than `BUDGET` times what was planned: the rest has to be cheap."""
        return self.tried > BUDGET * self.planned

    def _try(self, start: float, stop: float, h: float, couples: bool) -> bool:
        """One substep, unless its result is unsound: then the state stays as it is."""
        frame, model, state, contact = self.frame, self.frame.model, self.frame.state, self.frame.model.contact
        before = state.x, state.v
        contact.keeps_unresolved = self._halvings >= PINCHED_RETRIES
        is_sound = self.substep(frame, Substep(*before, h, h, h, stop, couples))
        self.tried += 1
        fault = "" if is_sound else "unsound"
        if not fault and not contact.is_crossing_free:
            fault = "" if contact.keeps_unresolved else "crossing"
        elif (
            not fault
            and self._halvings < OVERRUN_RETRIES
            and self._is_overrun(before[0])
            and self._can_be_cut(before[0])
        ):
            fault = "cut short" if self.is_spent else "overrun"
        if fault:
            frame.watch.counts[fault] += 1
        if fault == "overrun" and self.tried > VIOLENT * model.settings.substeps:
            strained = model.stretch.strains(state.x) > OVERRUN_STRAIN
            bodies = np.bincount(model.stretch.rows.body[strained], minlength=len(model.bodies)) > 0
            self._viscosity = Viscosity.of(model, bodies, self._viscosity)
        if fault in ("", "cut short"):
            if self._viscosity:
                state.v = self._viscosity.even_out(state.v, 0.5**self._halvings)
            self._remember(h, stop)
            return True
        if self._halvings >= RETRIES:
            worst = int(np.argmax(np.nan_to_num(np.abs(state.v), nan=np.inf).max(axis=0)))
            raise UnstableError(*model.owner(worst))
        state.x, state.v = before
        contact.rewind(start)
        return False

    def _can_be_cut(self, x: np.ndarray) -> bool:
        """Whether shorter substeps than that from x (3, n) [m] may strain cloth less, see `OVERRUN_RETRIES`."""
        frame, going = self.frame, (x, self.frame.state.v)
        reach = adaptive.reach(frame.model, going, frame.state.memory, frame.targets, frame.dt)
        return not self._halvings or reach > ENOUGH * 2.0**self._halvings * self.planned

    def _remember(self, duration: float, stop: float) -> None:
        for remember in self.frame.hooks.remember:
            remember(duration, stop)

    def _is_overrun(self, x: np.ndarray) -> bool:
        """Whether the substep from x (3, n) [m] was too long, where anything but springs can have caused it.

        What starts pulled apart and free snaps by the same way in any substep, and so the faster the shorter it is.
        """
        model, state = self.frame.model, self.frame.state
        if not len(model.pins) and not model.contact.active:
            return False
        excused, beside = self.frame.excused, model.contact.penetration.beside
        if len(beside):
            excused = excused | beside[: len(excused)] if len(excused) else beside
        usual = model.contact.usual_edges
        excess = excess_of_overrun(self.frame.kernels, model.springs, x, state.x, excused, usual)
        if not 0.0 < excess <= FREE_EXCESS or self.frame.is_driven:
            return excess > 0.0
        pushed = state.memory["springs"]["pushed"]
        return bool(pushed.any() or model.stretch.pushed.any() or model.pushed().any())
