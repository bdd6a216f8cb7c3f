"""The registry: everything that takes part in the benchmark.

One module for each project. To add a contender, write a module with a function
``contenders() -> list[Contender | Missing]`` and add it to `MODULES`.
Knows nothing about clocks, tables or files.
"""

from __future__ import annotations

from . import (
    diffprivlib_peer,
    inexact,
    mkl_peer,
    opendp_peer,
    ours,
    paper,
    tf_privacy_peer,
    tumult_peer,
)
from .base import CASES, CannotRunError, Case, Contender, Draw, Missing

MODULES = (
    ours,
    opendp_peer,
    diffprivlib_peer,
    tumult_peer,
    tf_privacy_peer,
    paper,
    mkl_peer,
    inexact,
)


def all_contenders() -> tuple[list[Contender], list[Missing]]:
    """Those that can run here, and those that are not installed."""
    found = [contender for module in MODULES for contender in module.contenders()]
    return (
        [contender for contender in found if isinstance(contender, Contender)],
        [contender for contender in found if isinstance(contender, Missing)],
    )


__all__ = [
    "CASES",
    "CannotRunError",
    "Case",
    "Contender",
    "Draw",
    "Missing",
    "all_contenders",
]
