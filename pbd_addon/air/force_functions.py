"""Forces and air that a caller gives as functions of all particles at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import arguments

Function = Callable[[np.ndarray, np.ndarray, float], np.ndarray]
"""f(x, v, t): positions [m] and velocities [m/s] of all particles, (n, 3) float64 each, and the time since the first
frame [s]; it returns (n, 3)."""

EVERY = ("SUBSTEP", "FRAME")
"""How often a function can be asked, its attribute `every`."""


class AirVelocity:
    """A function f(x, v, t) that returns velocities of the air, (n, 3) [m/s], which enter the aerodynamics.

    Functions that are not wrapped return accelerations, (n, 3) [m/s²].

    Args:
        function: See `Function`. Velocities of several such functions and of the wind add up.

    Attributes:
        every: "SUBSTEP", or "FRAME" if the function says so by an attribute of that name.

    Raises:
        ValueError: It is not callable.
    """

    def __init__(self, function: Function) -> None:
        if not callable(function):
            arguments.refuse("AirVelocity", "made of a function f(x, v, t)", function)
        self.function = function
        self.every: str = getattr(function, "every", EVERY[0])

    def __call__(self, x: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """As the function."""
        return self.function(x, v, t)


def checked_forces(forces: object) -> tuple[Function, ...]:
    """Functions of forces; raises `ValueError`."""
    found = tuple(arguments.sequence("forces", forces))
    for number, force in enumerate(found):
        if not callable(force):
            arguments.refuse(f"forces[{number}]", "a function f(x, v, t)", force)
        arguments.choice(f"forces[{number}].every", getattr(force, "every", EVERY[0]), EVERY)
    return found


class ForcesOfFrame:
    """What functions say in one frame.

    Args:
        forces: The functions.
    """

    def __init__(self, forces: Sequence[Function]) -> None:
        self.forces = list(enumerate(forces))
        self.gives_air = any(isinstance(force, AirVelocity) for force in forces)
        self._held: dict[int, np.ndarray] = {}
        self._seen: set[int] = set()

    def ask(self, x: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Accelerations and velocities of the air at x (3, n) with v (3, n) at t [s], (3, n) each; None if none acts.

        Raises:
            ValueError: A function fails, or returns something else.
        """
        acceleration = air = None
        points = velocities = None
        for number, force in self.forces:
            if number in self._held:
                found = self._held[number]
            else:
                if points is None or velocities is None:
                    points, velocities = np.array(x.T, order="C"), np.array(v.T, order="C")
                    points.flags.writeable = velocities.flags.writeable = False  # the next function gets them too
                found = self._call(number, force, points, velocities, t)
                if getattr(force, "every", EVERY[0]) == "FRAME":
                    self._held[number] = found
            if isinstance(force, AirVelocity):
                air = found if air is None else air + found
            else:
                acceleration = found if acceleration is None else acceleration + found
        return acceleration, air

    def _call(self, number: int, force: Function, x: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        inner = force.function if isinstance(force, AirVelocity) else force
        where = f"forces[{number}] ({getattr(inner, '__name__', type(inner).__name__)})"
        try:
            given = force(x, v, t)
        except Exception as error:
            raise ValueError(f"{where} failed: {type(error).__name__}: {error}") from error
        arguments.unmasked(f"what {where} returns", given)
        found = np.asarray(given)
        if number not in self._seen:  # once a frame
            self._seen.add(number)
            if found.shape != x.shape or found.dtype.kind not in "fiu":
                got = type(given).__name__ if given is None else f"{found.dtype} of shape {found.shape}"
                raise ValueError(f"{where} must return numbers of shape {x.shape}, not {got}")
            if not np.isfinite(found).all():
                row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
                raise ValueError(f"{where} must return finite numbers, but does not for particle {row}")
        return np.array(found.T, float, order="C")
