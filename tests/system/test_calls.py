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
    """The Python functions called, the second time."""
    called: list[str] = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call":
            called.append(f"{frame.f_code.co_filename}: {frame.f_code.co_name}")

    call()
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
        (partial(dg.discrete_gaussian, 100, size=10**6, source="chacha20", threads=2), 26),
        (partial(dg.discrete_gaussian, np.int64(100), size=10**6), 16),
        (partial(dg.discrete_gaussian, 100, size=4), 7),
        (partial(dg.discrete_gaussian, np.int32(100)), 10),
        (partial(dg.DiscreteGaussian(100).sample, 4), 4),
        (partial(dg.DiscreteGaussian(100).sample, 4, source="chacha20"), 4),
        (partial(dg.DiscreteGaussian(100).sample, out=np.empty(4, np.int64)), 14),
        (partial(dg.DiscreteLaplace("1/3", mu="1/7").sample, 4, dtype=np.int32), 14),
        (dg.DiscreteGaussian(100).sample, 1),
    ],
    ids=["threads", "array", "few", "one", "law", "chacha20", "out", "law of a dtype", "law's one"],
)
def test_a_draw_takes_no_detour(call: Callable[[], object], most: int) -> None:
    """A law is checked once and passes itself down (was 165, 169 and 8 for array, law and one)."""
    called = calls(call)
    assert len(called) <= most, "\n".join(called)
