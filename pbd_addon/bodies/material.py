"""Materials. What one says of each feature is in the file of the part, presets have their figures."""

from __future__ import annotations

import dataclasses

from ..arrays import arguments
from ..parts import Fields
from .presets import FIGURES


@dataclasses.dataclass(frozen=True)
class Material(Fields):
    """The material of a cloth, balloon or rigid body. SI units; immutable; a stiffness of 0 removes the constraint.

    One that is `rigid` has no stiffness, pressure or seams, whatever is given: it keeps its shape.

    The method "XPBD" uses the stiffnesses [N/m, N·m], "PBD" the pure numbers ``k_*`` of Müller et al. 2007.

    Raises:
        ValueError: A value is out of range.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in dataclasses.fields(self) if self.rigid else ():
            if field.metadata["rigid"] is not None:
                object.__setattr__(self, field.name, field.metadata["rigid"])

    @staticmethod
    def preset(name: str) -> Material:
        """The material of that name in `PRESETS`.

        Raises:
            ValueError: There is none; the sentence lists the names.
        """
        return PRESETS[arguments.choice("a preset's name", name, PRESETS)]


PRESETS: dict[str, Material] = {name: Material(**figures) for name, figures in FIGURES.items()}
"""Materials by name."""
