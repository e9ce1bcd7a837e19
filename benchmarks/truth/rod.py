"""The elastica: a rod in a plane that bends by any angle, but neither stretches nor shears.

It is cut into straight segments with the angles θ; what is least is

    ½ Σ (Δθ)² / d  +  load Σ y d      d: their length, half of it from a clamped end to the first middle
                                      y: height of the middles; load: weight per area over B [1/m³]

found by Newton's method, with the distance of the ends as a constraint where it is given.
"""

from __future__ import annotations

import numpy as np

SEGMENTS, LOADS, ROUNDS = 400, 8, 60
"""Segments of a rod, steps in which its weight is added, and most rounds of Newton's method in each. Twice as many
segments move a width by less than 0.01 %."""


def elastica(
    length: float, load: float, start: float, end: float | None, across: float | None, guess: np.ndarray
) -> np.ndarray:
    """Ends of the segments of a rod from (0, 0), (n + 1, 2) [m].

    Args:
        length: Of it [m].
        load: Weight per area over B [1/m³]; y is up.
        start: Angle to the x axis in which it is clamped [rad].
        end: The same of its end; None if that is free.
        across: Where it ends along x [m]; None if anywhere.
        guess: Angles of the segments to begin with, (n,) [rad].
    """
    n = len(guess)
    d, angles, pull = length / n, guess.copy(), 0.0
    below = load * d * (length - d * (np.arange(n) + 0.5))  # dE/dy of what a segment carries
    stiffness = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    stiffness[0, 0] = 3.0
    stiffness[-1, -1] = 1.0 if end is None else 3.0
    held = np.zeros(n)
    held[0] += 2.0 * start
    held[-1] += 0.0 if end is None else 2.0 * end
    for share in np.linspace(0.0, 1.0, LOADS + 1) if load else (0.0,):
        for _ in range(ROUNDS):
            sine, cosine = np.sin(angles), np.cos(angles)
            force = (stiffness @ angles - held) / d + share * below * cosine - pull * d * sine
            matrix = stiffness / d + np.diag(-share * below * sine - pull * d * cosine)
            left = force
            if across is not None:
                matrix = np.block([[matrix, -d * sine[:, None]], [-d * sine[None], np.zeros((1, 1))]])
                left = np.append(force, d * cosine.sum() - across)
            step = -np.linalg.solve(matrix, left)
            step *= min(1.0, 0.3 / max(np.abs(step[:n]).max(), 1e-300))
            angles += step[:n]
            pull += step[n] if across is not None else 0.0
            if np.abs(step[:n]).max() < 1e-9:
                break
        else:
            raise ArithmeticError("no shape of the rod was found")
    return np.concatenate([np.zeros((1, 2)), np.cumsum(d * np.column_stack([np.cos(angles), np.sin(angles)]), axis=0)])


def hanging(length: float, load: float) -> float:
    """Depth of the tip of a rod that is clamped level [m]."""
    return -float(elastica(length, load, 0.0, None, None, np.zeros(SEGMENTS))[-1, 1])


def pear(length: float, load: float) -> np.ndarray:
    """The right half of a loop whose ends are clamped side by side and point down, from there on, (n + 1, 2) [m]."""
    t = (np.arange(SEGMENTS) + 0.5) / SEGMENTS
    guess = 0.5 * np.pi * (np.sin(np.pi * t) - 1.0 - t**2)
    return elastica(0.5 * length, load, -0.5 * np.pi, -np.pi, 0.0, guess)


def buckled(length: float, closer: float) -> np.ndarray:
    """Half of a rod clamped level at both ends that are closer than its length by a share, (n + 1, 2) [m]."""
    t = (np.arange(SEGMENTS) + 0.5) / SEGMENTS
    guess = 2.0 * np.sqrt(closer) * np.sin(np.pi * t)
    return elastica(0.5 * length, 0.0, 0.0, 0.0, 0.5 * length * (1.0 - closer), guess)
