"""One task in a process of its own, begun by `processes`: a job as JSON on stdin, what came out as JSON at the end.

A job is {"task": name of a function of `TASKS`, ...its arguments}. The last line that is printed is MARK and what the
function returned; or {"left_out": why} if it cannot be done on this machine, or {"trouble": what went wrong}.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Callable
from typing import Any

from .contestants import LeftOut

MARK = "RESULT "


def curtain(
    scene: dict[str, Any], maker: str, options: dict[str, Any], frames: int, patience: float
) -> dict[str, object]:
    """One solver hangs one curtain."""
    from . import curtain as curtains

    sheet = curtains.Curtain.of_size(**scene)
    return curtains.measure(sheet, named(maker)(sheet, **options), frames, patience)


def contact(
    scene: dict[str, Any], maker: str, options: dict[str, Any], frames: int, patience: float
) -> dict[str, object]:
    """One solver in one scene of contact."""
    from . import contact_race, contact_scenes

    setting = contact_scenes.of_kind(**scene, **({"frames": frames} if frames else {}))
    return contact_race.measure(setting, named(maker)(setting, **options), patience)


def detail(name: str, **options: Any) -> dict[str, object]:
    """A function of `details`, or of `in_blender`, which installs the extension."""
    module, _, function = name.partition(":")
    return dict(named(f"benchmarks.{module}:{function}")(**options))


def truth(subject: str, kernels: str, automatic: bool, quick: bool, full: bool) -> dict[str, object]:
    """One subject of `truth` in one setting; full: with what it is compared with made anew, where that is stored."""
    from .truth.check import timed

    module = importlib.import_module(f"benchmarks.truth.{subject}")
    if full and hasattr(module, "remake"):
        module.remake(kernels)
    return {"checks": [check._asdict() for check in timed(module.checks(kernels, automatic, quick))]}


def bodies(row: str, kernels: str, **options: Any) -> dict[str, object]:
    """A row of `bodies`, with the load of the machine meanwhile; options as of `bodies.rows.play`."""
    from .bodies import rows
    from .ours import need

    need(kernels)
    checks, seen = rows.play(row, kernels, **options)
    series = {name: getattr(seen, name) for name in ("cpu", "crossings", "hits", "strain", "rms", "counts")}
    return {"checks": [check._asdict() for check in checks], "load": os.getloadavg()[0], **series}


TASKS: dict[str, Callable[..., dict[str, object]]] = {
    "curtain": curtain,
    "contact": contact,
    "detail": detail,
    "truth": truth,
    "bodies": bodies,
}


def named(name: str) -> Any:
    """What "module:name" means."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def versions() -> dict[str, str]:
    """Versions of all that this process has loaded and that may matter."""
    found = {"Python": platform.python_version()}
    if "bpy" in sys.modules:
        found["Blender"] = sys.modules["bpy"].app.version_string
    for module, name in (("numpy", "NumPy"), ("numba", "Numba"), ("pypbd", "pyPBD")):
        if module in sys.modules:
            found[name] = importlib.metadata.version(module)
    return found


def main() -> None:
    """Do the job."""
    job = json.load(sys.stdin)
    try:
        result = TASKS[job.pop("task")](**job)
    except LeftOut as reason:
        result = {"left_out": str(reason)}
    except Exception as error:
        result = {"trouble": f"{type(error).__name__}: {error}"}
    print(f"\n{MARK}{json.dumps({**result, 'versions': versions()})}", flush=True)


if __name__ == "__main__":
    main()
