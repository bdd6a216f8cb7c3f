"""Draws as bytes, in two's complement."""

from __future__ import annotations

import weakref
from math import prod

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import checked_size, checked_source, checked_threads
from .._inputs.law_parameters import parameter_name
from .._inputs.messages import describe, refused
from .._inputs.numbers import MAX_BITS, whole_number
from .._law import fits_range
from ..errors import ParameterOverflowError
from .fill import empty
from .sampler import Sampler


def draw_bytes(
    law: Sampler, *, size: object, n_bytes: object, source: object, threads: object
) -> NDArray[np.uint8]:
    """Return draws as rows of bytes: the body of `sample_bytes`."""
    bits = checked_source(source)
    n_threads = checked_threads(threads, bits)
    shape = checked_size(size) or ()
    width = whole_number(n_bytes, "n_bytes", minimum=1)
    if width > MAX_BITS:
        raise refused("n_bytes", f"be at most {MAX_BITS}, which hold every law", width)
    checked_size((*shape, width))
    half = 1 << (8 * width - 1)
    if not fits_range(law.spec, -half, half - 1):
        mu = f", mu = {describe(law.spec.mu)}" if law.spec.mu else ""
        raise ParameterOverflowError(
            f"n_bytes must hold the law with Pr[outside] < 2**-128, but {width} do not for "
            f"{parameter_name(law.spec.kind)} = {describe(law.spec.parameter)}{mu}"
        )
    rows = empty((prod(shape), width), np.uint8)
    held = weakref.ref(rows)  # as in fill_array
    law.fill_bytes(rows, bits, n_threads)
    del held
    return rows.reshape(*shape, width)
