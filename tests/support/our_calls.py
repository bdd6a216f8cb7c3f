"""What a call costs without a clock: the package's functions that it runs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import discretegauss

PACKAGE = str(Path(discretegauss.__file__).parent)


def calls(call: Callable[[], object]) -> list[str]:
    """Return the package's functions that a call runs."""
    called: list[str] = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            called.append(f"{Path(frame.f_code.co_filename).name}: {frame.f_code.co_name}")

    was_on = gc.isenabled()
    gc.disable()  # a collection would run other objects' callbacks
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        if was_on:
            gc.enable()
    return called
