"""The tools around the tests: progress, the zips' wheels, and what the pages say of the Blenders and of speed."""

import importlib
import os
import re
import subprocess
import sys
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("README.md", "docs/install.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}

pytestmark = pytest.mark.newest

SOME = """
import pytest

@pytest.mark.parametrize("n", range(4))
def test_one(n):
    assert n != 2

@pytest.mark.skip
def test_two(): ...

def test_left_out(): ...
"""


@pytest.fixture
def tool(monkeypatch):
    """A function that imports a module of tools/, which is no package."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module


@pytest.fixture
def some_tests(tmp_path):
    """A file with four tests of which one fails, one that is skipped, and another."""
    path = tmp_path / "test_some.py"
    path.write_text(SOME, encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------ progress


def test_the_plugin_counts_what_is_chosen_finished_and_failed(tool, some_tests, tmp_path):
    progress, file = tool("progress"), tmp_path / "progress"
    assert progress.Progress.read(file) == progress.Progress()
    environment = os.environ | {progress.VARIABLE: str(file)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.progress", "-k", "not left_out", some_tests]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    said = progress.Progress.read(file)
    assert (said.total, said.done, said.passed, said.failed, said.skipped) == (5, 5, 3, 1, 1)
    assert said.ended and said.part == 1.0
    assert 0.0 < said.cpu < 60.0


@pytest.fixture
def runner(tool, monkeypatch):
    """The module run_tests, which keeps its lines in a list."""
    run_tests = tool("run_tests")
    monkeypatch.setattr(run_tests, "lines", [], raising=False)
    monkeypatch.setattr(run_tests, "say", run_tests.lines.append)
    return run_tests


def suites(run_tests, *names, expected=1.0):
    blender = run_tests.select(["4.2"])[0]
    return [run_tests.Suite(blender, name, [], expected) for name in names]


def test_a_suite_has_a_line_at_each_tenth_and_every_half_minute(runner, monkeypatch):
    now = 0.0
    monkeypatch.setattr(runner.time, "monotonic", lambda: now)
    first, second = suites(runner, "physics", "blender")
    second.expected = 3.0
    board = runner.Board([first, second])
    for done, now in ((0, 0.0), (0, 29.0), (0, 31.0), (5, 34.0), (10, 40.0), (19, 60.0), (20, 69.0), (200, 71.0)):
        first.progress = runner.Progress(200 if now > 33.0 else 0, done, failed=1 if done else 0)
        board.look(first)
    first.finished, first.seconds = True, 72.0
    board.look(first)
    assert runner.lines == [
        "Blender 4.2 LTS, physics: collecting tests; all: 0 %, 31 s",
        "Blender 4.2 LTS, physics: 20 of 200 (10 %), 1 failed; all: 2 %, 69 s",
        "Blender 4.2 LTS, physics: 200 of 200 (100 %), 1 failed, took 72 s; all: 25 %, 71 s",
    ]


def test_the_whole_is_100_percent_only_when_nothing_is_left(runner):
    first, second = suites(runner, "physics", "blender")
    first.finished = True
    second.progress = runner.Progress(1000, 999)
    board = runner.Board([first, second])
    assert "all: 99 %" in board.line(second, 0.0)
    second.finished = True
    assert "all: 100 %" in board.line(second, 0.0)


def run_suites(runner, monkeypatch, *arguments):
    """The exit code of run_tests for two Blenders, and what it said."""
    both = runner.select(["4.2", "4.5"])
    monkeypatch.setattr(runner, "find_blenders", lambda *_: (both, {}))
    monkeypatch.setattr(runner, "prepare_blender", lambda _: Path(sys.executable))
    monkeypatch.setattr(sys, "argv", ["run_tests.py", "--", *map(str, arguments)])
    return runner.main(), runner.lines


def test_a_run_tells_its_progress_and_fails_when_a_test_fails(runner, some_tests, monkeypatch):
    code, lines = run_suites(runner, monkeypatch, some_tests)
    assert code == 1
    assert lines[-1] == "8 passed, 2 failed"
    told = [line for line in lines if re.fullmatch(r"Blender .*, physics: 6 of 6 \(100 %\), 1 failed, took .*", line)]
    assert len(told) == 2
    assert told[-1].split("all: ")[1].startswith("100 %")
    rows = [line for line in lines if re.fullmatch(r"4\.[25] LTS .* +\d+ s +\d+ s", line)]
    assert len(rows) == 2


def test_a_run_succeeds_when_all_tests_pass_and_fails_when_none_runs(runner, some_tests, monkeypatch):
    assert run_suites(runner, monkeypatch, "-k left_out", some_tests)[0] == 0
    code, lines = run_suites(runner, monkeypatch, "-k nothing", some_tests)
    assert code == 1
    assert "No test ran." in lines
    assert any(", physics: no tests, took" in line for line in lines)


def test_a_crash_is_told(runner, tmp_path, monkeypatch):
    crash = tmp_path / "test_crash.py"
    crash.write_text("import os\ndef test_it(): ...\ndef test_crash(): os.abort()", encoding="utf-8")
    code, lines = run_suites(runner, monkeypatch, crash)
    assert code == 1
    assert any("1 of 2 (50 %), 0 failed, took" in line for line in lines)
    assert any("crashed with SIGABRT" in line for line in lines)


def test_while_working_the_newest_and_the_oldest_run_and_with_all_every_blender(runner):
    blenders = runner.select([])
    some, all_of_them = (runner.plan(blenders, everything, []) for everything in (False, True))
    assert {suite.blender for suite in some} == {blenders[0], blenders[-1]}
    between = [suite for suite in all_of_them if suite.blender not in (blenders[0], blenders[-1])]
    assert [suite.blender for suite in between] == blenders[1:-1]
    for suite in between:
        assert [path for path in suite.arguments if path.startswith("tests")] == runner.paths_of(runner.COMMON)
    assert all(suite.expected > 0.0 for suite in some + all_of_them)


def test_each_test_file_is_in_a_suite_of_the_newest_blender_that_leaves_out_nothing_marked_with_all(runner):
    """Twice is too often, and none would be a test that runs nowhere."""
    blenders = runner.select([])
    suites = [suite for suite in runner.plan(blenders, True, []) if suite.blender is blenders[-1]]
    assert not any("-m" in suite.arguments for suite in suites)
    for path in (ROOT / "tests").rglob("test_*.py"):
        name = path.relative_to(ROOT).as_posix()
        assert sum(is_in(name, suite.arguments) for suite in suites) == 1, name


def is_in(name, arguments):
    """Whether pytest with these arguments collects a file."""
    left_out = [argument.partition("=")[2] for argument in arguments if argument.startswith("--ignore")]
    if any(fnmatch(name, pattern) or name.startswith(f"{pattern}/") for pattern in left_out):
        return False
    return any(name == path or name.startswith(f"{path}/") for path in arguments)


def test_the_environment_is_made_by_the_suite_that_needs_it_and_a_problem_is_one_of_the_suite(runner, monkeypatch):
    def fail(_):
        raise runner.EnvironmentProblem("pip could not install bpy")

    monkeypatch.setattr(runner, "prepare_blender", fail)
    monkeypatch.setattr(sys, "argv", ["run_tests.py", "--blender", "4.2"])
    monkeypatch.setattr(runner, "python_of", lambda _: Path(sys.executable))
    assert runner.main() == 1
    assert re.fullmatch("0 passed, [1-9] failed", runner.lines[-1])


def test_a_blender_without_its_python_is_left_out_but_not_in_ci(runner, monkeypatch, some_tests):
    def find(blender):
        if blender.version != "4.2":
            raise runner.PythonMissing(f"Blender {blender.label} needs another Python")
        return Path(sys.executable)

    monkeypatch.setattr(runner, "python_of", find)
    monkeypatch.setattr(runner, "prepare_blender", find)
    monkeypatch.setattr(
        sys, "argv", ["run_tests.py", "--blender", "4.2", "4.5", "--", "-k", "left_out", str(some_tests)]
    )
    for ci, code in (("", 0), ("true", 1)):
        monkeypatch.setenv("CI", ci)
        assert runner.main() == code, runner.lines
        assert "Blender 4.5 LTS needs another Python" in runner.lines


# ------------------------------------------------------------------------------------ the zips


def make_wheel(folder, name, *files):
    path = folder / name
    with zipfile.ZipFile(path, "w") as wheel:
        for file in ("package/__init__.py", *files):
            wheel.writestr(file, "")
    return path


@pytest.mark.parametrize(
    ("tags", "library", "bundled"),
    [
        ("cp313-cp313-manylinux_2_28_x86_64", "x/libllvmlite.so", "py3-none-manylinux_2_28_x86_64"),
        ("cp313-cp313-win_amd64", "x/llvmlite.dll", "py3-none-win_amd64"),
        ("cp313-cp313-macosx_12_0_arm64", "x/libllvmlite.dylib", "py3-none-macosx_12_0_arm64"),
        ("cp313-cp313-manylinux_2_28_x86_64", "x/_a.cpython-313-x86_64-linux-gnu.so", None),
        ("cp313-cp313-win_amd64", "x/_a.cp313-win_amd64.pyd", None),
        ("cp313-cp313-macosx_12_0_arm64", "x/_a.cpython-313-darwin.so", None),
        ("cp311-abi3-macosx_12_0_arm64", "x/_a.abi3.so", None),
    ],
)
def test_a_wheel_serves_every_python_unless_it_has_an_extension_module(tool, tmp_path, tags, library, bundled):
    wheel = make_wheel(tmp_path, f"pack-1.0-{tags}.whl", library)
    assert tool("build").bundled_name(wheel) == f"pack-1.0-{bundled or tags}.whl"


def test_each_python_has_its_numba_and_all_share_what_fits_all(tool, tmp_path, monkeypatch):
    build = tool("build")
    monkeypatch.setattr(build, "BUILD", tmp_path)
    asked = []

    def download(python, *arguments):
        version = next(a for a in arguments if a.startswith("--python-version=")).split("=")[1]
        tag, (name, release) = f"cp{version.replace('.', '')}", arguments[-1].split("==")
        asked.append((name, version))
        library = f"{name}/_a.{tag}-win_amd64.pyd" if name == "numba" else f"{name}/{name}.dll"
        make_wheel(Path(arguments[-2]), f"{name}-{release}-{tag}-{tag}-win_amd64.whl", library)
        return subprocess.CompletedProcess(arguments, 0, "")

    monkeypatch.setattr(build, "run", download)
    wheels = build.fetch_wheels(Path("python"), "windows-x64")
    tags = sorted(tuple(name.split("-")[i] for i in (0, 2)) for name in wheels)
    assert tags == [("llvmlite", "py3"), ("numba", "cp311"), ("numba", "cp313"), ("numba", "cp314")]
    assert ("llvmlite", build.BLENDERS[-1].python) in asked
    assert len(asked) == len(wheels)
    assert build.fetch_wheels(Path("python"), "windows-x64") == wheels
    assert len(asked) == len(wheels), "what is there is not downloaded again"
    manifest = build.platform_manifest((ROOT / "blender_manifest.toml").read_text(), "windows-x64", wheels)
    assert all(f'"./wheels/{name}"' in manifest for name in wheels)


def test_without_wheels_a_sentence_names_pin_python_and_reason(tool, tmp_path, monkeypatch):
    build = tool("build")
    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.setattr(build, "run", lambda *a: subprocess.CompletedProcess(a, 1, "ERROR: no network\n\n"))
    pattern = r"No zip for linux-x64: pip could not download numba==\S+ for Python 3.\d+ \(ERROR: no network\)\."
    with pytest.raises(build.WheelsMissing, match=pattern):
        build.fetch_wheels(Path("python"), "linux-x64")


# ------------------------------------------------------------------------------------ what the pages say


def test_the_pages_name_the_supported_blenders(tool):
    blenders = tool("environments").BLENDERS
    assert [b.version for b in blenders] == sorted((b.version for b in blenders), key=float)
    labels = [b.label for b in blenders]
    sentence = f"{', '.join(labels[:-1])} or {labels[-1]}"
    assert f"Blender {sentence}." in PAGES["README.md"]
    assert f"Blender {sentence}." in PAGES["docs/install.md"]
    assert f"for Blender {', '.join(labels[:-1])} and {labels[-1]}." in PAGES["CHANGELOG.md"]
    rows = "".join(f"| {b.label} | {b.python} | {b.numpy} |\n" for b in blenders)
    assert f"| Blender | Python | NumPy |\n|---|---|---|\n{rows}\n" in PAGES["CONTRIBUTING.md"]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    for python in {b.python for b in blenders}:
        assert re.search(rf"^ +{re.escape(python)}$", workflow, flags=re.MULTILINE)


def test_install_names_the_pythons_that_numba_is_bundled_for(tool):
    pythons = sorted(tool("build").PYTHONS)
    assert f"Python {', '.join(pythons[:-1])} or {pythons[-1]}" in PAGES["docs/install.md"]


NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def test_how_much_faster_numba_is_comes_from_the_tables_beside_it():
    """The least and the greatest ratio of NumPy's time to Numba's in the README's tables, to whole numbers."""
    readme = PAGES["README.md"]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in readme.splitlines() if line[:1] == "|"]
    curtain = {row[0]: float(row[1].removesuffix(" ms")) for row in rows if row[0].startswith("PBD Cloth, ")}
    ratios = [curtain["PBD Cloth, NumPy"] / curtain["PBD Cloth, Numba"]]
    head = next(i for i, row in enumerate(rows) if row[1:3] == ["Numba", "NumPy"])
    ratios += [float(row[2]) / float(row[1]) for row in rows[head + 2 :] if len(row) == len(rows[head])]
    assert len(ratios) > 5
    least, most = (NUMBERS[round(ratio(ratios)) - 2] for ratio in (min, max))
    for page in ("README.md", "docs/install.md", "CHANGELOG.md"):
        said = re.findall(r"(\w+)\s+to\s+(\w+)\s+times\s+as\s+fast", PAGES[page])
        assert said == [(least, most)], page
