"""CMake takes the system's GMP, or else gmpy2's; without both it names both remedies."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from programs import ended, printed

ROOT = Path(__file__).resolve().parents[2]
needs_gmp = pytest.mark.skipif(
    not list(Path("/usr/include").rglob("mpfr.h")), reason="needs the headers of GMP and MPFR"
)


@pytest.fixture(scope="module")
def hidden() -> str:
    """Hide the system's GMP from CMake."""
    triple = printed("gcc", "-print-multiarch").strip()
    return f"-DCMAKE_IGNORE_PATH=/usr/include;/usr/include/{triple};/usr/lib;/usr/lib/{triple}"


def configured(folder: Path, *options: str) -> str:
    """Return CMake's output in one line; its Python is that of the tests, unless one is named."""
    python = f"-DPython_EXECUTABLE={sys.executable}"
    done = ended("cmake", "-S", ROOT, "-B", folder, python, *options)
    return " ".join((done.stdout + done.stderr).split())


pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


@needs_gmp
def test_the_systems_is_taken_if_it_is_whole(tmp_path: Path) -> None:
    """If only mpfr.h is missing, CMake does not take the system's libraries, and says so."""
    assert "AUTO -> SYSTEM" in configured(tmp_path / "whole")
    warned = configured(tmp_path / "part", "-DDG_SYSTEM_MPFR_INCLUDE=NO")
    assert "AUTO -> WHEEL" in warned
    assert "no mpfr.h. " in warned


def test_gmpy2s_is_taken_without_it_or_if_it_is_asked_for(tmp_path: Path, hidden: str) -> None:
    assert "AUTO -> WHEEL" in configured(tmp_path / "hidden", hidden)
    assert "WHEEL -> WHEEL" in configured(tmp_path / "asked", "-DDG_GMP=WHEEL")


def test_with_neither_both_remedies_are_named(tmp_path: Path, hidden: str) -> None:
    """A Python without gmpy2 gets a message with both remedies."""
    printed(sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare")
    bare = f"-DPython_EXECUTABLE={tmp_path}/bare/bin/python"
    said = configured(tmp_path / "neither", bare, hidden)
    assert "apt-get install libgmp-dev libmpfr-dev" in said
    assert "pip install --only-binary gmpy2" in said
