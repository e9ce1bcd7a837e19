"""What a model holds, told apart by the object and the attribute that hold it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping

import numpy as np

from pbd_addon.bodies.body import Body
from pbd_addon.constraints import Constraints
from pbd_addon.model.model import Model
from pbd_addon.model.part import Part


def contents(model: Model) -> dict[tuple[str, str], bytes]:
    """Hashes of what a model, its parts and its kinds of constraints hold, by the class and the attribute."""
    own = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
    holders = [("Model", own), *((type(one).__name__, vars(one)) for one in (*model.parts, *model.kinds))]
    found: dict[tuple[str, str], bytes] = {}
    for name, attributes in holders:
        for attribute, value in attributes.items():
            found[name, attribute] = found.get((name, attribute), b"") + hashed(value)
    return found


def hashed(value: object) -> bytes:
    """A hash of all arrays and numbers that can be reached, without entering other objects of a model."""
    digest = hashlib.blake2b(digest_size=16)
    for each in _flat(value, set()):
        digest.update(each)
    return digest.digest()


def _flat(value: object, seen: set[int]) -> Iterator[bytes]:
    if isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield b"["
        for each in value:
            yield from _flat(each, seen)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield repr(key).encode()
            yield from _flat(each, seen)
    elif isinstance(value, (Constraints, Part, Model, Body)) or callable(value):
        yield str(id(value)).encode()
    elif getattr(type(value), "__module__", "").startswith("pbd_addon") and hasattr(value, "__dict__"):
        if id(value) not in seen:
            seen.add(id(value))
            yield from _flat(vars(value), seen)
    else:
        yield repr(value).encode()
