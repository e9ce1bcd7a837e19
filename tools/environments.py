"""The supported Blenders, the Python and NumPy of each, and a virtual environment for each.

Runs with the standard library of any Python from 3.11 on; everything else is installed into `.venvs/`.

    python tools/environments.py setup [VERSION ...]     make the environments, or those of these Blenders
    python tools/environments.py run SCRIPT [ARG ...]    run a script in the newest Blender there is
    python tools/environments.py run -m MODULE [ARG ...]   the same; the module finds pbd_addon
    python tools/environments.py bench [ARG ...]         the benchmark, in the newest Blender and beside pyPBD
    python tools/environments.py lint                    ruff: rules and format; import-linter: who imports whom
    python tools/environments.py format                  ruff: mend what it can, write the format
    python tools/environments.py types                   mypy against Blender's stubs
    python tools/environments.py missing                 Debian packages that Blender needs and that are absent
"""

from __future__ import annotations

import ctypes
import dataclasses
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import stubs

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".venvs"


@dataclasses.dataclass(frozen=True)
class Blender:
    """One supported Blender.

    `bpy` is the newest patch on the package index. `numpy` is the version that this Blender ships, which users have,
    not the newest, which that wheel would install.
    The figures are NUMPY_VERSION in build_files/build_environment/cmake/versions.cmake of Blender's sources.
    """

    version: str
    label: str
    python: str
    bpy: str
    numpy: str


BLENDERS = (
    Blender("4.2", "4.2 LTS", python="3.11", bpy="4.2.23", numpy="1.24.3"),
    Blender("4.5", "4.5 LTS", python="3.11", bpy="4.5.15", numpy="1.26.4"),
    Blender("5.0", "5.0", python="3.11", bpy="5.0.1", numpy="1.26.4"),
    Blender("5.2", "5.2 LTS", python="3.13", bpy="5.2.3", numpy="2.3.4"),
    Blender("5.3", "5.3", python="3.13", bpy="5.3.0", numpy="2.3.4"),
)

# System libraries that the bpy wheels need, and their packages on Debian and Ubuntu.
SYSTEM_LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libICE.so.6": "libice6",
    "libSM.so.6": "libsm6",
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libXrender.so.1": "libxrender1",
    "libXt.so.6": "libxt6",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libgomp.so.1": "libgomp1",
    "libxkbcommon.so.0": "libxkbcommon0",
}


class EnvironmentProblem(Exception):
    """Something is missing on this machine; one sentence that says what to do about it."""


class PythonMissing(EnvironmentProblem):
    """This machine has no Python of the version that a Blender needs."""


def say(text: str) -> None:
    """Print a line at once, even if the output is a file."""
    sys.stdout.write(f"{text}\n")  # In one call, because several threads of the test runner print.
    sys.stdout.flush()


def pins(group: str) -> list[str]:
    """Pinned requirements of a dependency group of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["dependency-groups"][group])


def select(versions: list[str]) -> list[Blender]:
    """The Blenders of these versions ("4.5" or "4.5 LTS"), in the table's order; all when the list is empty."""
    wanted = {re.sub(r"\s*LTS$", "", version.strip()) for version in versions if version.strip()}
    unknown = wanted - {blender.version for blender in BLENDERS}
    if unknown:
        known = ", ".join(blender.version for blender in BLENDERS)
        raise EnvironmentProblem(f"There is no Blender {', '.join(sorted(unknown))} in the table, only {known}.")
    return [blender for blender in BLENDERS if not wanted or blender.version in wanted]


# --------------------------------------------------------------------------------------- Pythons


def python_works(candidate: Path, version: str) -> bool:
    """Whether this program is that Python and can create environments.

    This can only be tested by running it: version managers put shims on PATH for every installed version, which fail
    unless it is selected; Debian's python3 may lack ensurepip.
    """
    check = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [candidate, "-c", check], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.strip() == version


@functools.cache
def find_python(version: str) -> Path | None:
    """A Python of that version ("3.11"), or None."""
    name = f"python{version}"
    home = Path.home()
    candidates = [Path(folder) / name for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    candidates.append(Path(sys.executable))
    for pyenv in dict.fromkeys((Path(os.environ.get("PYENV_ROOT") or home / ".pyenv"), home / ".pyenv")):
        candidates += sorted(pyenv.glob(f"versions/{version}*/bin/{name}"), reverse=True)
    candidates += sorted((home / ".local/share/uv/python").glob(f"cpython-{version}.*/bin/{name}"), reverse=True)
    candidates += [Path("/usr/local/bin") / name, Path("/opt/homebrew/bin") / name]
    for candidate in dict.fromkeys(candidates):
        if candidate.exists() and python_works(candidate, version):
            return candidate
    return None


# --------------------------------------------------------------------------------------- environments


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command without input and capture its output."""
    return subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options,
    )  # fmt: skip


def prepare(name: str, python: Path, requirements: list[str], finish: Callable[[Path], None] | None = None) -> Path:
    """The environment `.venvs/<name>` with these requirements; created or recreated if needed.

    A stamp file with the hash of the requirements is written last, so that an interrupted installation is not taken
    for a complete one.

    Args:
        name: Its folder's name.
        python: The Python to make it with.
        requirements: What pip installs.
        finish: What else to do to its folder, once.

    Returns:
        The environment's Python.
    """
    folder = VENVS / name
    stamp = folder / "complete"
    executable = folder / "bin" / "python"
    version = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
    finishing = [Path(stubs.__file__).read_text(encoding="utf-8")] if finish else []
    digest = hashlib.sha256("\n".join([version, *requirements, *finishing]).encode()).hexdigest()

    VENVS.mkdir(exist_ok=True)
    with (VENVS / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Another `make` in this folder may do the same.
        complete = stamp.exists() and stamp.read_text() == digest and executable.exists()
        if complete and run(executable, "-c", "").returncode == 0:
            return executable
        say(f"Installing {', '.join(requirements)} into .venvs/{name} (Python {version})")
        started = time.monotonic()
        stamp.unlink(missing_ok=True)
        made = run(python, "-m", "venv", "--clear", folder)
        if made.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            raise EnvironmentProblem(f"{python} could not make .venvs/{name}:\n{made.stdout.strip()}")
        # The machine's configuration decides about the index. No cache: bpy wheels are huge and used once. Nothing is
        # compiled but what is imported: of three thousand files in bpy that is a tenth.
        installed = run(
            executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
            "--no-cache-dir", "--no-compile", "--progress-bar", "off", *requirements,
        )  # fmt: skip
        if installed.returncode:
            raise EnvironmentProblem(f"pip could not install {', '.join(requirements)}:\n{installed.stdout.strip()}")
        if finish:
            finish(folder)
        stamp.write_text(digest)
        say(f"    {name} took {time.monotonic() - started:.0f} s")
    return executable


def python_of(blender: Blender) -> Path:
    """The Python to make a Blender's environment with.

    Raises:
        PythonMissing: It is not on this machine.
    """
    python = find_python(blender.python)
    if python is None:
        raise PythonMissing(
            f"Blender {blender.label} needs Python {blender.python} with venv, which was not found "
            f"(Debian: python{blender.python} and python{blender.python}-venv; or pyenv install {blender.python})."
        )
    return python


@functools.cache
def prepare_blender(blender: Blender) -> Path:
    """The Python of an environment in which `import bpy` is this Blender.

    Raises:
        PythonMissing: Its Python is not on this machine.
        EnvironmentProblem: Pip failed, or a system library is missing.
    """
    executable = prepare(
        f"blender-{blender.version}",
        python_of(blender),
        [f"bpy=={blender.bpy}", f"numpy=={blender.numpy}", *pins("test"), *pins("numba")],
    )
    tried = run(executable, "-c", "import bpy, numba, pytest")
    if tried.returncode:
        raise EnvironmentProblem(explain_import(blender, tried.stdout))
    return executable


def prepare_tool(group: str, finish: Callable[[Path], None] | None = None) -> Path:
    """The Python of an environment with a dependency group's tools; any Python from 3.11 on will do."""
    python = find_python(f"{sys.version_info.major}.{sys.version_info.minor}") or find_python("3.11")
    return prepare(group, python or Path(sys.executable), pins(group), finish)


def newest() -> tuple[Blender, Path]:
    """The newest Blender that this machine can run, and its Python."""
    problems = []
    for blender in reversed(BLENDERS):
        try:
            return blender, prepare_blender(blender)
        except EnvironmentProblem as problem:
            problems.append(str(problem))
    raise EnvironmentProblem("\n".join(problems))


# --------------------------------------------------------------------------------------- system libraries


def missing_packages() -> list[str]:
    """Debian packages of system libraries that bpy needs and the loader cannot find."""
    missing = []
    for library, package in SYSTEM_LIBRARIES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    return missing if sys.platform == "linux" else []


def explain_import(blender: Blender, output: str) -> str:
    """One sentence about a failed `import bpy`, with the package to install if a library is missing."""
    lost = re.search(r"(lib\S+\.so[.\d]*): cannot open shared object file", output)
    if not lost:
        return f"Blender {blender.label} does not start in .venvs/blender-{blender.version}:\n{output.strip()}"
    packages = missing_packages() or [SYSTEM_LIBRARIES.get(lost[1], f"that contains {lost[1]}")]
    noun = "package" if len(packages) == 1 else "packages"
    return (
        f"Blender {blender.label} needs the system library {lost[1]}: "
        f"install the Debian {noun} {' '.join(packages)} (apt-get install {' '.join(packages)})."
    )


# --------------------------------------------------------------------------------------- commands


def bench(arguments: list[str]) -> int:
    """Run the benchmark; a peer that cannot be installed is left out and noted in the table."""
    blender, python = newest()
    options: list[object] = []
    try:
        options = [
            "--pypbd",
            prepare("bench", find_python(blender.python) or python, [*pins("bench"), "--only-binary=pyPBD"]),
        ]
    except EnvironmentProblem as problem:
        say(str(problem))
    say(f"Benchmark in Blender {blender.label}")
    command = [python, "-m", "benchmarks.run", *options, *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def ruff(*runs: list[str]) -> int:
    """Run ruff several times over the repository, even after failures."""
    python = prepare_tool("lint")
    return max(
        subprocess.run([python, "-m", "ruff", *options, "."], cwd=ROOT, check=False).returncode for options in runs
    )


def mend_stubs(environment: Path) -> None:
    """Fix errors in Blender's stubs."""
    for site_packages in environment.glob("lib/python*/site-packages"):
        if trouble := stubs.mend(site_packages):
            raise EnvironmentProblem(trouble)


def run_on_package(*command: object) -> int:
    """Run a program in a folder where the repository is the package pbd_cloth; returns its exit code.

    The repository's root is a package whose folder may have any name, even one that is not a Python identifier, and
    `from ..pbd_addon` must resolve as in Blender.
    """
    with tempfile.TemporaryDirectory(prefix="view-") as view:
        (Path(view) / "pbd_cloth").symlink_to(ROOT, target_is_directory=True)
        return subprocess.run([str(part) for part in command], cwd=view, check=False).returncode


def lint() -> int:
    """Run ruff, and import-linter's contracts in pyproject.toml."""
    python = prepare_tool("lint")
    contracts = [python.parent / "lint-imports", "--config", ROOT / "pyproject.toml", "--no-cache", "--no-logo"]
    return max(ruff(["check"], ["format", "--check"]), run_on_package(*contracts))


def types() -> int:
    """Run mypy on the shipped code."""
    return run_on_package(
        prepare_tool("types", mend_stubs), "-m", "mypy", "--explicit-package-bases",
        "--config-file", ROOT / "pyproject.toml", "--cache-dir", VENVS / "mypy_cache",
        *(f"pbd_cloth/{name}" for name in ("pbd_addon", "operators", "panels")),
    )  # fmt: skip


def main(arguments: list[str]) -> int:
    """Run the command line described above; returns the exit code."""
    match arguments:
        case ["setup", *versions]:
            found = 0
            for blender in select(versions):
                try:
                    say(f"Blender {blender.label}: {prepare_blender(blender)}")
                    found += 1
                except EnvironmentProblem as problem:
                    say(str(problem))
            return 0 if found else 1
        case ["run", "-m", module, *rest]:
            blender, python = newest()
            say(f"{module} in Blender {blender.label}")
            return subprocess.run([python, "-m", module, *rest], cwd=ROOT, check=False).returncode
        case ["run", script, *rest]:
            if not (ROOT / script).exists():
                raise EnvironmentProblem(f"There is no {script} yet.")
            blender, python = newest()
            say(f"{script} in Blender {blender.label}")
            return subprocess.run([python, script, *rest], cwd=ROOT, check=False).returncode
        case ["bench", *rest]:
            return bench(rest)
        case ["lint"]:
            return lint()
        case ["format"]:
            return ruff(["check", "--fix"], ["format"])
        case ["types"]:
            return types()
        case ["missing"]:
            print(" ".join(missing_packages()))
            return 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except EnvironmentProblem as problem:
        sys.exit(str(problem))
