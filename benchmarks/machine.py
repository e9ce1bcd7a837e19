"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
import tomllib
from pathlib import Path

MANIFEST = Path(__file__).resolve().parent.parent / "blender_manifest.toml"


def processor() -> str:
    """Model of the processor, as far as the system tells."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def describe() -> dict[str, str]:
    """What can be told before anything runs; versions of solvers are added when they have run."""
    return {
        "PBD Cloth": tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"],
        "System": f"{platform.system()} {platform.machine()}",
        "Processor": f"{processor()}, {os.cpu_count()} cores",
        "Load": f"{os.getloadavg()[0]:.1f} processes wanted a core when this began",
    }
