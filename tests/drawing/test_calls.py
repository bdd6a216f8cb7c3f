"""No detours: how many Python functions a draw calls, once its law is known. Counts, no times."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss._drawing import engines as _engine

pytestmark = pytest.mark.skipif(_engine.native is None, reason="the C core is not in use")


def calls(call: Callable[[], object]) -> list[str]:
    """The Python functions called."""
    called: list[str] = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call":
            called.append(f"{frame.f_code.co_filename}: {frame.f_code.co_name}")

    gc.disable()  # a collection runs callbacks of others, and is nobody's call
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return called


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (partial(dg.discrete_gaussian, 100, size=10**6, source="chacha20", threads=2), 16),
        (partial(dg.discrete_gaussian, np.int64(100), size=10**6), 11),
        (partial(dg.discrete_gaussian, 100, size=4), 6),
        (partial(dg.discrete_gaussian, np.int32(100)), 7),
        (partial(dg.DiscreteGaussian(100).sample, 4), 0),
        (partial(dg.DiscreteGaussian(100).sample, 4, source="chacha20"), 0),
        (partial(dg.DiscreteGaussian(100).sample, out=np.empty(4, np.int64)), 10),
        (partial(dg.DiscreteLaplace("1/3", mu="1/7").sample, 4, dtype=np.int32), 12),
        (dg.DiscreteGaussian(100).sample, 0),
    ],
    ids=["threads", "array", "few", "one", "law", "chacha20", "out", "law of a dtype", "law's one"],
)
def test_a_draw_takes_no_detour(call: Callable[[], object], most: int) -> None:
    """A law is checked once and passes itself down; a plain call is a built-in method's alone."""
    for _ in range(3):  # all is looked up that will be
        call()
    called = calls(call)
    assert len(called) <= most, "\n".join(called)


def test_a_first_draw_takes_no_detour() -> None:
    """Of a law that is new: made ready once, by the core."""
    dg.DiscreteGaussian(12344).sample(1000)  # what imports something when first used
    called = calls(partial(dg.DiscreteGaussian(12345).sample, 1000))
    assert len(called) <= 30, "\n".join(called)
