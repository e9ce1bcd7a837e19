"""Checksums of what a simulation was made from: frames on disk belong to a scene only if all of them match."""

import zlib

import numpy as np

from ..settings import maps, raw_settings
from ..settings.raw_settings import ObjectSettings
from .record import Record
from .simulated_object import SimulatedObject


def pins(member: SimulatedObject) -> int:
    """A checksum of a member's pins and of what slides: vertices, weights, offsets and the attach group."""
    group = member.attached_to and member.attached_to[1]
    body, offsets = member.body, member.pin_offsets.tolist()
    slides = (body.slide_ids.tolist(), body.slide_weights.tolist()) if len(body.slide_ids) else ()
    return zlib.crc32(repr((body.pin_ids.tolist(), body.pin_weights.tolist(), offsets, group, *slides)).encode())


def shape_check(member: SimulatedObject) -> int:
    """A checksum of the mesh that a member was built from, in world space; the first frame may differ from it."""
    return zlib.crc32(member.body.vertices.astype(np.float32).tobytes())


def painted(member: SimulatedObject, raw: ObjectSettings) -> dict[str, int]:
    """Checksums of the weights of a member's maps, by vertex group, for its raw settings."""
    names = maps.groups(raw_settings.maps_from(raw))
    return {names[kind]: weights_check(weights) for kind, weights in member.weights.items()}


def weights_check(weights: np.ndarray) -> int:
    """A checksum of weights (n,)."""
    return zlib.crc32(weights.astype(np.float32).tobytes())


def undeformed(member: SimulatedObject) -> int:
    """A checksum of a member's shape without modifiers, and of whether modifiers pose it at the start."""
    return zlib.crc32(repr(member.follows).encode(), zlib.crc32(member.undeformed.astype(np.float32).tobytes()))


def curve_checks(record: Record) -> dict[str, int]:
    """Checksums of the F-curves, drivers and strips, by name of the object they animate."""
    found: dict[str, int] = {}
    for key in sorted(record.curves.samples, key=lambda key: (record.curves.owners[key[0]], *key[1:])):
        name = record.curves.owners[key[0]]
        drawn = record.curves.samples[key].keyframes + f"{key[1]} {key[2]}".encode()
        found[name] = zlib.crc32(drawn, found.get(name, 0))
    rules = sorted((record.curves.owners[uid], text) for uid, text in record.curves.rules.items() if text)
    for name, text in rules:
        found[name] = zlib.crc32(text.encode(), found.get(name, 0))
    return found
