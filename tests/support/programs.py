"""Programs that tests run to their end."""

from __future__ import annotations

import subprocess
from typing import Any


def ended(*command: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Return a program that has ended, whatever its status, with its output as text."""
    words = list(map(str, command))
    return subprocess.run(words, capture_output=True, text=True, check=False, **how)


def printed(*command: object, **how: Any) -> str:
    """Return the output of a program that must succeed."""
    done = ended(*command, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
