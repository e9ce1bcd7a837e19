"""How things of ours in a file are told from the user's, also when the object that they were made for is gone.

Attributes have names that begin with `PREFIX`, the node group has a custom property, and the file of a Mesh Cache bake
has a suffix. Blender keeps no custom properties of a shape key, and a user may rename it; so each of ours has a Range
Max that nobody types. It goes along with a key that is renamed, joined into another mesh, copied, appended or saved.
"""

from ..kinds import KeyBlock, Keys

PREFIX = "pbd_"
"""How the names of our attributes begin."""

BAKE_MODIFIER = "PBD Bake"
"""Name of the modifier that plays a Mesh Cache bake."""

BAKE_SUFFIX = "_bake.pc2"
"""How the names of the files of Mesh Cache bakes end."""

LIVE = 1.0 + 2 / 8192
"""Range Max of the live key."""

BAKED = 1.0 + 3 / 8192
"""Range Max of baked keys."""

BASIS = 1.0 + 1 / 8192
"""Range Max of a basis that is ours. All three are exact in 32 bits, and the panel shows them as 1.000."""


def mark(block: KeyBlock, kind: float) -> None:
    """Make a shape key one of ours: `LIVE`, `BAKED` or `BASIS`."""
    block.slider_max = kind


def is_marked(block: KeyBlock, *kinds: float) -> bool:
    """Whether a shape key is ours, of one of these kinds."""
    return block.slider_max in kinds


def give_up(block: KeyBlock) -> None:
    """Let a shape key be the user's."""
    block.slider_max = 1.0


def marked(keys: Keys | None, *kinds: float) -> list[KeyBlock]:
    """The shape keys of a Key data-block, or of None, that are ours, without the reference key."""
    return [] if keys is None else [block for block in keys.key_blocks[1:] if block.slider_max in kinds]
