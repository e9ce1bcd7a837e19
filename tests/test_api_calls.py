"""The public API under random calls: it does what it is asked or refuses by name, and never gives nonsense."""

from __future__ import annotations

from helpers.api_calls import Caller

CALLS = 400
"""Enough for each kind of call some nine times; ten thousand find no more."""


def test_random_calls_are_done_or_refused_by_name():
    """No exception but a `ValueError` that names an argument or an `UnstableError`, and no NaN."""
    caller = Caller(seed=12)
    for _ in range(CALLS):
        caller.call()
    assert not caller.verdict.faults, "\n".join(caller.verdict.faults)
    assert caller.verdict.counts["done"] > CALLS // 4
    assert caller.verdict.counts["refused"] > CALLS // 4
