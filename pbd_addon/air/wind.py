"""Wind: a mean velocity and gusts that travel with it.

Gusts are a sum of waves, each at a right angle to the way it runs, so that what blows in somewhere blows out there too
(Kraichnan 1970); the wind carries them along unchanged (Taylor's hypothesis of frozen turbulence, 1938):

    w(x, t) = U + I |U| sum a_k cos(k . x - ∫ k . U dt + phase_k),    a_k . k = 0
"""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np

from ..arrays import arguments

TRIADS = 8
"""Lengths of waves, from twice an eddy to a quarter of one, each in three directions at right angles to each other.

A third of these 24 waves leave steps in the gusts that a flag shows; twice as many cost twice as much and look the
same. With a wave of equal length along each axis, all three components of the gusts are equally strong to the digit."""

MODES = 3 * TRIADS
"""Number of waves."""

DECAY = -5.0 / 6.0
"""Power of the wave number with which amplitudes fall: equal steps of log k with Kolmogorov's spectrum, k^(-5/3)."""

FASTEST = 1000.0
"""Largest wind [m/s]: a tenth of what the solver takes for a runaway, and three times the speed of sound."""


@dataclasses.dataclass(frozen=True)
class Wind:
    """Wind of a scene. Immutable.

    Args:
        velocity: Mean velocity of the air, (3,) [m/s].
        turbulence: Root mean square of the gusts along each axis, over the speed [1]. Over open ground 0.1 to 0.2,
            between houses and trees 0.3.
        eddy_size: Length of the strongest gusts [m]. About as long as the cloth moves it most.
        seed: Which gusts.
        loop_seconds: Time after which steady wind repeats itself [s]; 0 never.

    Raises:
        ValueError: A value is not finite or out of range.
    """

    velocity: tuple[float, float, float]
    turbulence: float = 0.25
    eddy_size: float = 1.0
    seed: int = 0
    loop_seconds: float = 0.0

    def __post_init__(self) -> None:
        x, y, z = arguments.vector("Wind.velocity", self.velocity).tolist()
        if math.hypot(x, y, z) > FASTEST:
            raise ValueError(f"Wind.velocity must be at most {FASTEST:g} m/s, not {math.hypot(x, y, z):g}")
        set_field = functools.partial(object.__setattr__, self)
        set_field("velocity", (x, y, z))
        set_field("turbulence", arguments.number("Wind.turbulence", self.turbulence, low=0.0, high=10.0))
        set_field("eddy_size", arguments.number("Wind.eddy_size", self.eddy_size, low=1e-3, unit="m"))
        set_field("seed", arguments.whole("Wind.seed", self.seed, low=0, high=2**32 - 1))
        set_field("loop_seconds", arguments.number("Wind.loop_seconds", self.loop_seconds, low=0.0, unit="s"))

    def frequencies(self, velocity: np.ndarray) -> np.ndarray:
        """How quickly a mean velocity (3,) [m/s] carries each wave past a point, (MODES,) [rad/s].

        A loop takes the nearest multiple of its own frequency, so that each wave is where it began after it; waves then
        travel by up to half a wave in a loop faster or slower than the wind.
        """
        rates = self.waves.vectors.T @ velocity
        if self.loop_seconds:
            whole = 2.0 * math.pi / self.loop_seconds
            rates = whole * np.round(rates / whole)
        return rates

    @property
    def waves(self) -> Waves:
        """The waves that the gusts are made of."""
        return _waves(self.seed, self.eddy_size)


@dataclasses.dataclass(frozen=True, eq=False)
class Waves:
    """Waves of gusts with a root mean square of 1 along each axis.

    Attributes:
        vectors: Wave vectors, (3, MODES) [rad/m].
        amplitudes: (3, MODES), each at a right angle to its wave vector.
        phases: (MODES,) [rad].
    """

    vectors: np.ndarray
    amplitudes: np.ndarray
    phases: np.ndarray


@functools.lru_cache(maxsize=8)
def _waves(seed: int, eddy_size: float) -> Waves:
    """The waves of a seed and a size of eddies [m]."""
    # RandomState's numbers are the same in every version of NumPy, which those of newer generators need not be.
    draw = np.random.RandomState(seed)
    numbers = 0.5 * 2.0 ** (3.0 * (np.arange(TRIADS) + 0.5) / TRIADS)
    strengths = numbers**DECAY
    strengths *= math.sqrt(2.0 / (strengths**2).sum())
    vectors, amplitudes = [], []
    for number, strength in zip(numbers, strengths):
        axes = np.linalg.qr(draw.normal(size=(3, 3)))[0]  # any rotation, or reflection, is as likely as any other
        vectors.append(2.0 * math.pi / eddy_size * number * axes)
        amplitudes.append(strength * np.roll(axes, -1, axis=1))
    phases = draw.uniform(0.0, 2.0 * math.pi, MODES)
    return Waves(np.hstack(vectors), np.hstack(amplitudes), phases)
