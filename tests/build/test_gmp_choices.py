"""Which GMP CMake takes: the system's, else gmpy2's; with neither it names both remedies."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
needs_gmp = pytest.mark.skipif(
    not list(Path("/usr/include").rglob("mpfr.h")), reason="needs the headers of GMP and MPFR"
)


@pytest.fixture(scope="module")
def hidden() -> str:
    """Return an option that hides the system's GMP from CMake."""
    shown = ["gcc", "-print-multiarch"]
    triple = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.strip()
    return f"-DCMAKE_IGNORE_PATH=/usr/include;/usr/include/{triple};/usr/lib;/usr/lib/{triple}"


def configured(folder: Path, *options: str) -> str:
    """Return the output of CMake in one line; the default Python is that of the tests."""
    python = f"-DPython_EXECUTABLE={sys.executable}"
    command = ["cmake", "-S", str(ROOT), "-B", str(folder), python, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return " ".join((done.stdout + done.stderr).split())


pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


@needs_gmp
def test_the_systems_is_taken_if_it_is_whole(tmp_path: Path) -> None:
    """Without mpfr.h, which alone is missing, it is not, and CMake says so."""
    assert "AUTO -> SYSTEM" in configured(tmp_path / "whole")
    warned = configured(tmp_path / "part", "-DDG_SYSTEM_MPFR_INCLUDE=NO")
    assert "AUTO -> WHEEL" in warned
    assert "no mpfr.h. " in warned


def test_gmpy2s_is_taken_without_it_or_if_it_is_asked_for(tmp_path: Path, hidden: str) -> None:
    assert "AUTO -> WHEEL" in configured(tmp_path / "hidden", hidden)
    assert "WHEEL -> WHEEL" in configured(tmp_path / "asked", "-DDG_GMP=WHEEL")


def test_with_neither_both_remedies_are_named(tmp_path: Path, hidden: str) -> None:
    """By a Python that has no gmpy2."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    bare = f"-DPython_EXECUTABLE={tmp_path}/bare/bin/python"
    said = configured(tmp_path / "neither", bare, hidden)
    assert "apt-get install libgmp-dev libmpfr-dev" in said
    assert "pip install --only-binary gmpy2" in said
