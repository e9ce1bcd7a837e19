"""The installer in `tools/`, for scripts beside this file that run in a process of their own."""

import importlib.util
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location(
    "extension", Path(__file__).resolve().parents[2] / "tools" / "extension.py"
)
installer = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(installer)
