"""Shared by the tests of inputs: the functions, a source that must not be read, a tape."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss.testing import TapeSource

Function = Callable[..., Any]

FUNCTIONS: list[tuple[Function, str]] = [
    (dg.discrete_gaussian, "sigma2"),
    (dg.discrete_laplace, "scale"),
    (dg.geometric_exp, "gamma"),
    (dg.bernoulli_exp, "gamma"),
]
CENTRED: list[Function] = [dg.discrete_gaussian, dg.discrete_laplace]

each_function = pytest.mark.parametrize(
    ("function", "name"), FUNCTIONS, ids=[function.__name__ for function, _ in FUNCTIONS]
)
each_centred = pytest.mark.parametrize("function", CENTRED, ids=lambda f: f.__name__)


class DrawnTooSoonError(BaseException):
    """Bits were read too early. It is a BaseException, so no `except Exception` hides it."""


def must_not_draw(_buffer: memoryview) -> None:
    raise DrawnTooSoonError


def tape() -> TapeSource:
    """Return a source of 200 kB, the same each time."""
    return TapeSource(random.Random(2004).randbytes(200_000))


def label(value: object) -> str:
    """Return a test's name for any value, even an integer too long for decimal text."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"int of {value.bit_length()} bits"
    try:
        text = f"{type(value).__name__} {value!r}"
    except ValueError:  # Python's limit of 4300 digits
        return f"long {type(value).__name__}"
    text = re.sub(" at 0x[0-9a-f]+", "", text)  # the same in every process of `pytest -n 2`
    return text if len(text) <= 40 else text[:37] + "..."


INTEGER_CODES = "bBhHiIlLqQ"
"""Every integer dtype of numpy."""


def layouts(dtype: Any) -> list[np.ndarray[Any, Any]]:
    """Return arrays of shape (4, 6) in memory layouts of all kinds."""
    swapped = np.dtype(dtype).newbyteorder("S")
    room = bytearray(24 * np.dtype(dtype).itemsize + 1)
    unaligned = [] if dtype == "O" else [np.frombuffer(room, dtype, 24, 1).reshape(4, 6)]
    return [
        np.empty((4, 6), dtype),
        np.empty((4, 6), swapped),
        np.empty((8, 6), dtype)[::2],
        np.empty((4, 12), dtype)[:, ::2],
        np.empty((4, 6), dtype)[::-1, ::-1],
        np.empty((4, 3, 6), dtype)[:, 1],
        np.empty((6, 8), swapped)[:, 1:8:2].T,
        *unaligned,
    ]
