"""tools/mutants*.py tell faults that a test sees from those that no test sees."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from programs import ended

TOOL = Path(__file__).parents[2] / "tools" / "mutants.py"

PACKAGE = '''
"""A package whose function `held` is asked on both sides, while `loose` is only called."""
import functools, subprocess, sys

@functools.lru_cache
def held(x):
    """Return whether x is above 5."""
    return x > 5

def loose(x):
    return x > 5

def counted(n):
    while n > 0:
        n = n - 1
    return n

class Kept:
    @property
    def seven(self):
        return 6 + 1

def program():
    code = "import planted; sys = planted.sys; sys.exit(planted.of_program(3))"
    return subprocess.run([sys.executable, "-c", code]).returncode

def of_program(x):
    return x * 4

def unreached(x):
    return -x
'''

TESTS = """
import planted

held = [planted.held(x) for x in (5, 6)]

def test_held():
    assert [planted.held(x) for x in (5, 6)] == held == [False, True]

def test_loose():
    assert planted.loose(7)

def test_counted():
    assert planted.counted(3) == 0

def test_kept():
    assert planted.Kept().seven == 7

def test_program():
    assert planted.program() == 12

def test_fails_without_a_fault():
    assert planted.loose(5)
"""

NOTE = """
[[seen]]
file = "__init__.py"
function = "unreached"
text = "return -x"
operator = "USub to UAdd"
reason = "nothing calls it"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "test_planted.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "seen.toml").write_text("")
    return tmp_path


def run(folder: Path, *more: object) -> subprocess.CompletedProcess[str]:
    how = ("--package", "planted", "--seen", folder / "seen.toml", "--seed", 1, "--limit", 2)
    code = f"import sys, runpy; sys.path[:0] = [{str(TOOL.parent)!r}, {str(folder)!r}]; "
    code += f"sys.argv[0] = {str(TOOL)!r}; runpy.run_path(sys.argv[0], run_name='__main__')"
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder)}
    return ended(sys.executable, "-c", code, *how, *more, cwd=folder, env=environment)


def test_a_fault_is_found_where_a_test_asks_and_survives_where_none_does(folder: Path) -> None:
    """In functions, behind caches and properties, in programs; a loop without an end is found."""
    done = run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = [line.split() for line in done.stdout.splitlines() if "__init__.py:" in line]
    told = {words[2].rstrip(":"): words[0] for words in verdicts}
    found = dict.fromkeys(("held", "counted", "Kept.seven", "of_program"), "found")
    assert told == found | dict.fromkeys(("loose", "unreached"), "SURVIVED")
    assert "fails without a fault, and is left out: test_planted.py::test_fails" in done.stdout
    left = tomllib.loads(done.stdout[done.stdout.index("[[seen]]") :].rpartition("\n\n")[0])
    assert {one["function"] for one in left["seen"]} == {"loose", "unreached"}


def test_a_survivor_that_is_noted_is_told_no_more_and_does_not_count(folder: Path) -> None:
    tests = TESTS.replace("test_counted", "counted")  # which would take a few seconds more
    (folder / "test_planted.py").write_text(tests)
    before = run(folder).stdout
    (folder / "seen.toml").write_text(NOTE)
    after = run(folder).stdout
    assert before.count("[[seen]]") == after.count("[[seen]]") + 1
    assert before.split("found: ")[1] < after.split("found: ")[1]


def test_a_rate_below_the_least_is_an_exit_code(folder: Path) -> None:
    """The tests that ask are gone."""
    (folder / "test_planted.py").write_text("import planted\ndef test_it(): planted.held(3)\n")
    done = run(folder)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "found: 0.0%" in done.stdout


def test_notes_are_of_lines_that_are_there() -> None:
    """A note whose line has changed is taken out, or written anew."""
    listed = tomllib.loads((TOOL.parents[1] / "tests" / "mutants_seen.toml").read_text("utf-8"))
    for one in listed["seen"]:
        folder = TOOL.parents[1] / (
            "csrc" if one["file"].endswith(".c") else "python/discretegauss"
        )
        lines = (folder / one["file"]).read_text("utf-8").splitlines()
        assert one["text"] in map(str.strip, lines), one
        assert one["reason"]


CORE = """int f(int a, int b)
{
    if (a < b && a + 1 != 3) {
        return a < b; // no condition
    }
}
"""


def test_a_condition_of_c_is_another_one_only_if_its_number_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(TOOL.parent))
    tool = importlib.import_module("mutants_c")
    (tmp_path / "f.c").write_text(CORE)
    line = CORE.splitlines()[2]
    right = "(a < b && a + 1 != 3)) {"
    assert [tool.with_fault(line, one, 7) for one in tool.conditions(tmp_path)] == [
        f"    if (dg_mutant == 7 ? (a <= b && a + 1 != 3) : {right}",
        f"    if (dg_mutant == 7 ? (a < b || a + 1 != 3) : {right}",
        f"    if (dg_mutant == 7 ? (a < b && a - 1 != 3) : {right}",
        f"    if (dg_mutant == 7 ? (a < b && a + 1 == 3) : {right}",
    ]
