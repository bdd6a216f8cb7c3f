"""A file ``discretegauss.py`` in the current folder: programs there import it, and not the package.

While Python finds that file first, nothing of this package runs, so nothing can be said. What can
speak is what is started in another way: the command ``discretegauss``, ``python -P -m
discretegauss`` and pytest (tests/conftest.py).
"""

from __future__ import annotations

import os
from pathlib import Path


def note_of_shadow(folder: Path) -> str | None:
    """Return what to say of a file there that hides the package, if there is one."""
    if not os.path.isfile(folder / "discretegauss.py"):  # False also where it cannot be read
        return None
    return (
        "discretegauss: note: the file discretegauss.py in this folder hides the package from "
        "Python programs here: delete it, its functions are in the package"
    )
