"""The repository holds the files that belong to it, and opens on every system."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import ended

ROOT = Path(__file__).resolve().parents[2]

FOLDERS = ".ci .github benchmarks cmake csrc docs examples licenses python tests tools"
FILES = (
    ".clang-format .gitignore .importlinter CHANGELOG.md CITATION.cff CMakeLists.txt "
    "CMakePresets.json CONTRIBUTING.md LICENSE README.md SECURITY.md noxfile.py pyproject.toml"
)


@pytest.fixture(scope="module")
def modes() -> dict[str, str]:
    """Return the mode of each file that git keeps."""
    done = ended("git", "-c", "safe.directory=*", "ls-files", "--stage", "-z", cwd=ROOT)
    if done.returncode != 0:
        pytest.skip("this is no clone of the repository")
    entries = (entry.split("\t") for entry in done.stdout.split("\0")[:-1])
    return {name: facts.split()[0] for facts, name in entries}


def test_the_root_has_these_entries_and_no_others(modes: dict[str, str]) -> None:
    """A stray file at the root is found; who adds one on purpose adds it here, too."""
    assert {name.partition("/")[0] for name in modes} == {*FOLDERS.split(), *FILES.split()}


def test_every_file_is_a_plain_file(modes: dict[str, str]) -> None:
    """A symbolic link breaks in a ZIP and on Windows."""
    assert {name for name, mode in modes.items() if mode not in ("100644", "100755")} == set()
