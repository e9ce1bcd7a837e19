"""What Numba compiles takes a minute of CPU time: tests with one Python share it, whoever compiled it first.

Numba itself checks source, processor and its own version before it reads a file.
"""

import shutil
from pathlib import Path

COMPILED = Path(__file__).resolve().parents[2] / "pbd_addon" / "kernels" / "numba" / "__pycache__"
"""Where the physics tests keep it: beside the sources."""


def share(extension):
    """Let the extension read what others compiled from the same sources, and add to it."""
    from numba.core.caching import UserProvidedCacheLocator

    COMPILED.mkdir(exist_ok=True)
    installed = Path(extension.module("pbd_addon.kernels").__file__).parent / "numba" / "compile.py"
    name = UserProvidedCacheLocator.get_suitable_cache_subpath(str(installed))
    (extension.bridge("timeline.backends").find_folder(create=True) / name).symlink_to(COMPILED)


def give(profile):
    """Let others read what was compiled in a profile: an index comes after the data that it names."""
    COMPILED.mkdir(exist_ok=True)
    for kind in ("*.nbc", "*.nbi"):
        for file in profile.rglob(kind):
            if not (COMPILED / file.name).exists():
                shutil.copy(file, COMPILED)
