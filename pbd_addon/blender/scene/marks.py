"""How our data in a file is told from the user's, even after the object it was made for is gone.

Names of attributes begin with `PREFIX`, the node group has a custom property, and the file of a Mesh Cache bake has a
suffix. Shape keys have no custom properties and can be renamed, so each of ours has a Range Max that nobody types. It
survives renaming, joining, copying, appending and saving.
"""

from ..kinds import KeyBlock, Keys

PREFIX = "pbd_"
"""Prefix of the names of our attributes."""

BAKE_MODIFIER = "PBD Bake"
"""Name of the modifier that plays a Mesh Cache bake."""

BAKE_SUFFIX = "_bake.pc2"
"""Suffix of the files of Mesh Cache bakes."""

LIVE = 1.0 + 2 / 8192
"""Range Max of the live key."""

BAKED = 1.0 + 3 / 8192
"""Range Max of baked keys."""

BASIS = 1.0 + 1 / 8192
"""Range Max of a Basis that we made. All three are exact in 32 bits, and the panel shows them as 1.000."""


def mark(block: KeyBlock, kind: float) -> None:
    """Mark a shape key as ours: `LIVE`, `BAKED` or `BASIS`."""
    block.slider_max = kind


def is_marked(block: KeyBlock, *kinds: float) -> bool:
    """Whether a shape key is ours, of one of these kinds."""
    return block.slider_max in kinds


def give_up(block: KeyBlock) -> None:
    """Remove the mark, so that the shape key is the user's."""
    block.slider_max = 1.0


def marked(keys: Keys | None, *kinds: float) -> list[KeyBlock]:
    """The shape keys of a Key data-block, or of None, that are ours, without the reference key."""
    return [] if keys is None else [block for block in keys.key_blocks[1:] if block.slider_max in kinds]
