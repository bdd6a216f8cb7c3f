"""What people use when nobody told them: fast, and neither exact nor secure.

They stand in the table to show what exactness costs, not as something to copy: a rounded float
normal is not a discrete Gaussian, and numpy's generator is not cryptographic.
"""

from __future__ import annotations

import math

import numpy as np

from .base import CannotRunError, Case, Contender, Draw, Missing, fits_int64, never

NUMPY = "numpy rint(normal)"


def contenders() -> list[Contender | Missing]:
    """Numpy's rounded normal and scipy's dlaplace."""
    return [_numpy_rint(), _scipy_dlaplace()]


def _numpy_rint() -> Contender:
    name = NUMPY
    generator = np.random.default_rng()

    def prepare(case: Case) -> Draw:
        sigma = math.sqrt(case.parameter)
        if not fits_int64(case):
            raise CannotRunError("int64 does not hold the result")

        def draw_vector(n: int) -> object:
            return np.rint(generator.normal(0.0, sigma, n)).astype(np.int64)

        def draw_scalars(n: int) -> None:
            for _ in range(n):
                round(generator.normal(0.0, sigma))

        return draw_vector if case.shape == "vector" else draw_scalars

    note = "a rounded float, not the discrete Gaussian; its generator is not cryptographic"
    return Contender(
        name, secure=False, prepare=prepare, exact=never, laws=("gaussian",), note=note
    )


def _scipy_dlaplace() -> Contender | Missing:
    name = "scipy dlaplace"
    try:
        from scipy.stats import dlaplace
    except ImportError as error:
        return Missing(name, str(error), "pip install scipy")

    def prepare(case: Case) -> Draw:
        law = dlaplace(1 / case.parameter)

        def draw(n: int) -> object:
            return law.rvs(size=n)

        return draw

    return Contender(name, secure=False, prepare=prepare, exact=never, laws=("laplace",))
