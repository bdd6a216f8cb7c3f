"""The noise step: counts of any size plus independent draws, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.source import Source
from ..laws import DiscreteGaussian

__all__ = ["with_noise"]

_INT64_UP_TO = 2**112
"""Up to this sigma2, P(a draw does not fit int64) < exp(-2**13); beyond, objects."""


def with_noise(counts: NDArray[Any], law: DiscreteGaussian, source: Source) -> NDArray[Any]:
    """Return count + draw, one draw for each cell, row by row; nothing wraps or rounds.

    Parameters
    ----------
    counts : ndarray
        Of int64 or of Python integers.
    law : DiscreteGaussian
        Of each draw.
    source : "getrandom", "chacha20" or callable
        Bits.

    Returns
    -------
    ndarray
        Of int64 where all of them fit, else of Python integers.
    """
    dtype = np.int64 if law.sigma2 <= _INT64_UP_TO else object
    draws = law.sample(counts.shape, dtype=dtype, source=source)
    if counts.dtype == draws.dtype == np.int64:
        noisy: NDArray[Any] = counts + draws
        # a sum has wrapped if its sign is that of neither term
        if not (((counts ^ noisy) & (draws ^ noisy)) < 0).any():
            return noisy
    exact: NDArray[Any] = counts.astype(object) + draws.astype(object)
    return exact
