"""mkl_random's normal, rounded: as `inexact` has numpy's, by Intel's generators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .base import CannotRunError, Case, Contender, Draw, Missing, fits_int64, never

NAME = "mkl_random rint(normal)"


def contenders() -> list[Contender | Missing]:
    """mkl_random, if it is installed."""
    try:
        import mkl_random
    except ImportError as error:
        return [Missing(NAME, str(error), "pip install mkl_random")]
    state: Any = mkl_random.MKLRandomState(brng="SFMT19937")

    def prepare(case: Case) -> Draw:
        if not fits_int64(case):
            raise CannotRunError("int64 does not hold the result")
        sigma = math.sqrt(case.parameter)
        return lambda n: np.rint(state.normal(0.0, sigma, n, method="ICDF")).astype(np.int64)

    return [
        Contender(
            NAME,
            secure=False,
            prepare=prepare,
            exact=never,
            laws=("gaussian",),
            shapes=("vector",),
            note="a rounded float, not the discrete Gaussian; its generator is not cryptographic",
        )
    ]
