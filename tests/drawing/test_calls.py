"""No detours: how many functions of the package's Python a draw calls. Counts, no times.

The bars are what Python 3.11 counts, each comprehension as a function; later ones count fewer.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss._drawing import engines as _engine

pytestmark = pytest.mark.skipif(_engine.native is None, reason="the C core is not in use")

PACKAGE = str(Path(dg.__file__).parent)


def calls(call: Callable[[], object]) -> list[str]:
    """The package's functions that are called."""
    called: list[str] = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            called.append(f"{Path(frame.f_code.co_filename).name}: {frame.f_code.co_name}")

    gc.disable()  # a collection runs callbacks of others, and is nobody's call
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return called


LAW, COUNTS, SIGMA2 = dg.DiscreteGaussian(100), np.arange(1000), np.linspace(1, 9, 1000)
NEW = (dg.DiscreteGaussian(12345 + i) for i in count())


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda: partial(dg.discrete_gaussian, 100, 1000), 4),
        (lambda: partial(LAW.sample, 1000), 2),
        (lambda: partial(next(NEW).sample, 1000), 15),
        (lambda: partial(dg.add_noise, COUNTS, LAW), 32),
        (lambda: partial(dg.discrete_gaussian, SIGMA2, dtype=np.int32), 35),
    ],
    ids=["function", "law", "first call of a law", "add_noise", "array of sigma2"],
)
def test_a_draw_takes_no_detour(make: Callable[[], Callable[[], object]], most: int) -> None:
    """Between a user's call and the C core there are so many functions of ours, and no more."""
    make()()  # all is looked up that will be
    called = calls(make())
    assert len(called) <= most, "\n".join(called)
