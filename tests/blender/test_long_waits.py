"""Simulating far without a window tells how far it is, and Ctrl+C ends it with one sentence and all frames."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "helpers" / "long_waits.py"


@pytest.fixture(scope="module")
def archive(build_zip, tmp_path_factory):
    return build_zip(tmp_path_factory.mktemp("waits"))


@pytest.mark.parametrize("how", ["jump", "loop", "heavy"])
def test_signs_of_life_and_an_end(archive, how):
    """A real process and a real signal, in a jump to the last frame, in a loop over frames, and in a heavy frame."""
    command = [sys.executable, SCRIPT, archive, how]
    kernels = os.environ | {"PBD_KERNELS": "numpy"}  # compiled ones would be compiled anew, in a profile of its own
    process = subprocess.Popen(command, env=kernels, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    try:
        for line in process.stdout:
            lines.append(line.strip())
            if re.search(r"PBD Cloth: frame \d+ of \d+", line) or (how == "loop" and line == "simulating\n"):
                time.sleep(2.0 if how == "loop" else 0.0)
                break
        process.send_signal(signal.SIGINT)
        lines += process.communicate(timeout=200)[0].splitlines()
    finally:
        process.kill()
    said = "\n".join(lines)
    assert process.returncode == 0, said
    assert "Traceback" not in said, said
    if "Python's" in said:  # The loop itself ran: nothing was to be kept from Python.
        assert how == "loop"
        return
    stopped = re.findall(
        r"^PBD Cloth: Stopped by Ctrl\+C at frame (\d+) of \d+; frames 1 to (\d+) are kept", said, re.M
    )
    assert len(stopped) == 1, said
    last = int(stopped[0][1])
    assert int(stopped[0][0]) == last + 1
    kept = re.findall(r"^kept 1 (\d+) ?(.*)$", said, re.MULTILINE)
    assert [int(frame) for frame, _ in kept[:2]] == [last, last], said
    assert all("Stopped by Ctrl+C" in message for _, message in kept[:2]), said
    assert kept[2:] == ([] if how == "heavy" else [(str(last + 1), "")]), said
    assert "handler True" in said, "Ctrl+C was not given back"
    if how == "heavy":
        assert "PBD Cloth: frame 1 is prepared, 400 vertices: about 400 s" in said
