"""Choose the tab of a sidebar in a saved file.

Blender knows the tabs of a sidebar only after it has drawn it, so without a window `Region.active_panel_category` takes
no value. A file holds the choice as a block of its own that the region points to; here that block is added. The layout
of blocks and of their fields is what the file itself tells in its last block, DNA1.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from pathlib import Path

MAGIC = b"BLENDER-v"
"""Begins an uncompressed file with 8-byte pointers, little-endian, as Blender saves before 5.0."""

HEADER = struct.Struct("<4siQii")
"""Of a block: code, bytes of its content, address it had in memory, number of its structure, how many of these."""

NAME_SIZE = 64
"""Bytes of the tab's name in a PanelCategoryStack, behind two pointers."""


def choose(path: Path, region: int, tab: str) -> None:
    """Have a region of a saved, uncompressed file show a tab when the file is opened.

    Args:
        path: Of the file.
        region: Address of the region when it was saved, as `as_pointer()` returns it.
        tab: Name of the tab.

    Raises:
        ValueError: If the file is of another format, or no such region is in it.
    """
    data = bytearray(path.read_bytes())
    if not data.startswith(MAGIC):
        raise ValueError(f"{path.name} must begin with {MAGIC!r}, got {bytes(data[: len(MAGIC)])!r}")
    found = list(blocks(data))
    start, length = next((start, length) for start, code, length, _ in found if code == b"DNA1")
    numbers, offsets = read_structures(data[start : start + length])
    place = next(((start, length) for start, _, length, address in found if address == region), None)
    if place is None:
        raise ValueError(f"{path.name} has no block of the address {region:#x}")
    start, length = place
    address = max(address for *_, address in found) + 0x10000  # of no other block
    listed = start + offsets["ARegion"]["panels_category_active"]
    struct.pack_into("<QQ", data, listed, address, address)  # a list of one: its first and its last
    content = struct.pack(f"<QQ{NAME_SIZE}s", 0, 0, tab.encode())
    added = HEADER.pack(b"DATA", len(content), address, numbers["PanelCategoryStack"], 1) + content
    data[start + length : start + length] = added
    path.write_bytes(data)


def blocks(data: bytearray) -> Iterator[tuple[int, bytes, int, int]]:
    """All blocks of a file: where the content starts, code, length of the content, address."""
    place = len(MAGIC) + 3
    while place < len(data):
        code, length, address, _number, _count = HEADER.unpack_from(data, place)
        place += HEADER.size
        yield place, code, length, address
        place += length


def read_structures(dna: bytearray) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Number of each structure, and where its fields begin, by their names, from the content of the block DNA1."""
    place = 4 + 4  # "SDNA", "NAME"
    names, place = read_words(dna, place)
    types, place = read_words(dna, place + 4)
    place += 4  # "TLEN"
    lengths = struct.unpack_from(f"<{len(types)}h", dna, place)
    place = -(-(place + 2 * len(types)) // 4) * 4 + 4  # "STRC"
    (count,) = struct.unpack_from("<i", dna, place)
    place += 4
    numbers, offsets = {}, {}
    for number in range(count):
        kind, members = struct.unpack_from("<2h", dna, place)
        place += 4
        numbers[types[kind]] = number
        offset, inside = 0, {}
        for _ in range(members):
            of, named = struct.unpack_from("<2h", dna, place)
            place += 4
            inside[names[named]] = offset
            offset += field_size(names[named], lengths[of])
        offsets[types[kind]] = inside
    return numbers, offsets


def read_words(dna: bytearray, place: int) -> tuple[list[str], int]:
    """Zero-terminated words behind their number, and where the next part starts, at a multiple of 4."""
    (count,) = struct.unpack_from("<i", dna, place)
    place += 4
    words = []
    for _ in range(count):
        end = dna.index(0, place)
        words.append(dna[place:end].decode())
        place = end + 1
    return words, -(-place // 4) * 4


def field_size(name: str, length: int) -> int:
    """Bytes of a field: of a pointer, or of a type of a length; times what stands in brackets."""
    count = math.prod(int(digits) for digits in re.findall(r"\[(\d+)\]", name))
    return count * (8 if name.startswith(("*", "(*")) else length)
