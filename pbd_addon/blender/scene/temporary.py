"""Settings that are changed for a while."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def changed(*settings: tuple[object, str, object]) -> Iterator[None]:
    """Give attributes, as (owner, name, value), these values in order, and in the end those of before."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _value in settings]
    try:
        for owner, name, value in settings:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)
