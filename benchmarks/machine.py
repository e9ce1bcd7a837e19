"""What a figure was measured with: versions and processor."""

from __future__ import annotations

import os
import platform
import tomllib
from pathlib import Path

import bpy
import numpy as np

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
    """Name and version of all that matters."""
    return {
        "PBD Cloth": tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"],
        "Blender": bpy.app.version_string,
        "NumPy": np.__version__,
        "Python": platform.python_version(),
        "System": f"{platform.system()} {platform.machine()}",
        "Processor": f"{processor()}, {os.cpu_count()} cores",
    }
