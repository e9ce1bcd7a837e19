"""Checksums of what a simulation was made from: frames on disk are only those of a scene for which all are the same."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from ..settings import maps, raw_settings
from .record import Record
from .simulated_object import SimulatedObject


def held(member: SimulatedObject) -> int:
    """A checksum of which vertices of a member are held, how firmly, where a hand has left them, and by which group."""
    group = member.attached_to and member.attached_to[1]
    body, offsets = member.body, member.pin_offsets.tolist()
    return zlib.crc32(repr((body.pin_ids.tolist(), body.pin_weights.tolist(), offsets, group)).encode())


def shape_check(member: SimulatedObject) -> int:
    """A checksum of the mesh that a member was built from, in world space; its first frame may be another."""
    return zlib.crc32(member.body.vertices.astype(np.float32).tobytes())


def painted(member: SimulatedObject, raw: Any) -> dict[str, int]:
    """Checksums of the weights that its maps were made from, by vertex group, for its raw settings."""
    names = maps.groups(raw_settings.maps_from(raw))
    return {names[kind]: weights_check(weights) for kind, weights in member.weights.items()}


def weights_check(weights: np.ndarray) -> int:
    """A checksum of weights (n,)."""
    return zlib.crc32(weights.astype(np.float32).tobytes())


def undeformed(member: SimulatedObject) -> int:
    """A checksum of the shape that the user made of a member, and of whether modifiers pose it at the start."""
    return zlib.crc32(repr(member.follows).encode(), zlib.crc32(member.undeformed.astype(np.float32).tobytes()))


def curve_checks(record: Record) -> dict[str, int]:
    """Checksums of the F-curves, by what they move or set."""
    found: dict[str, int] = {}
    for key in sorted(record.curves.samples, key=lambda key: (record.curves.owners[key[0]], *key[1:])):
        name = record.curves.owners[key[0]]
        drawn = record.curves.samples[key].keyframes + f"{key[1]} {key[2]}".encode()
        found[name] = zlib.crc32(drawn, found.get(name, 0))
    rules = sorted((record.curves.owners[uid], said) for uid, said in record.curves.rules.items() if said)
    for name, said in rules:
        found[name] = zlib.crc32(said.encode(), found.get(name, 0))
    return found
