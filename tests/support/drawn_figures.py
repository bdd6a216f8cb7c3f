"""The figures as the command draws them, once for all tests that look at them: conftest.written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

#: The command where matplotlib has a style of the caller's own: what becomes of that, as the last
#: line on stderr.
RED = """
import json, sys
import matplotlib
matplotlib.rcParams["figure.facecolor"] = "red"
settings = lambda: dict(dict.items(matplotlib.rcParams))  # as stored: asking finds a backend
before = settings()
from discretegauss._cli import entry as cli
code = cli.main(["figures", "--out", sys.argv[1]])
left = {"as it was": settings() == before, "pyplot": "matplotlib.pyplot" in sys.modules}
print(json.dumps(left), file=sys.stderr)
sys.exit(code)
"""


class Written(NamedTuple):
    """The folder that the command wrote to, and what it printed."""

    folder: Path
    out: str
    err: str


def write(folder: Path) -> Written:
    """Run the command."""
    done = subprocess.run(
        [sys.executable, "-c", RED, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return Written(folder, done.stdout, done.stderr)
