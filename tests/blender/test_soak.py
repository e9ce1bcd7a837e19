"""Random sequences of what users do lose nothing and leave nothing behind; `soak.py` replays one by its seed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[1] / "helpers" / "soak.py"


@pytest.fixture(scope="module")
def archive(build_zip, tmp_path_factory):
    return build_zip(tmp_path_factory.mktemp("soak"))


@pytest.mark.parametrize(("first", "count"), [(0, 8), pytest.param(8, 40, marks=pytest.mark.slow)])
def test_random_sequences_of_actions(archive, first, count):
    """No crash, no traceback, no lost vertex, no handler that stays; most actions are not refused."""
    command = [sys.executable, SOAK, archive, "--seeds", str(first), str(count)]
    kernels = os.environ | {"PBD_KERNELS": "numpy"}  # compiled ones would be compiled anew, in a profile of its own
    done = subprocess.run(command, env=kernels, capture_output=True, text=True, timeout=1200, check=False)
    said = f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert done.returncode == 0, f"exit code {done.returncode}; the last seed named is the one to replay\n{said}"
    assert "Traceback" not in done.stdout + done.stderr, said
    sequences, actions, refused = map(int, re.findall(r"\d+", done.stdout.splitlines()[-1]))
    assert sequences == count
    assert actions > 2 * refused
