"""A vendored discretegauss.py hides the package, and the program and the tests say so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "discretegauss.py").write_text("def sample_dgauss(sigma2): return 0\n")
    return tmp_path


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_the_command_says_so_and_does_its_work(copy: Path) -> None:
    done = run("-P", "-m", "discretegauss", "--version", cwd=copy)
    assert done.returncode == 0
    assert done.stdout.startswith("discretegauss ")
    assert "discretegauss.py in this folder hides the package" in done.stderr
    assert done.stderr.count("\n") == 1


def test_where_there_is_none_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "discretegauss.py").mkdir()
    assert run("-P", "-m", "discretegauss", "--version", cwd=tmp_path).stderr == ""


#: pytest in a process that imports the copy first, however this package is installed.
PYTEST = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("discretegauss", sys.argv[1])
sys.modules["discretegauss"] = importlib.util.module_from_spec(spec)
import pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "tests/compat/test_paper_names.py"]))
"""


def test_the_tests_say_so(copy: Path) -> None:
    """One message replaces hundreds of failures."""
    done = run("-c", PYTEST, str(copy / "discretegauss.py"), cwd=ROOT)
    assert done.returncode == 4
    assert f"{copy / 'discretegauss.py'} hides the package" in done.stdout + done.stderr
