"""The functions of the code that was published with the paper, for projects with a copy of it.

Replace ``import discretegauss`` by ``from discretegauss import compat as discretegauss``, or by
``from discretegauss.compat import *``, and delete the copy. The functions draw the laws of the
paper (arXiv 2004.00010) by this package, and every bit comes from the operating system unless
``rng`` is given.

A float means its exact binary value, and a text such as "1/3" that fraction.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from typing import Any, Protocol

from .._certified.floats import float_value
from .._certified.laws_of_integers import normaliser
from .._inputs.numbers import exact_rational, not_negative
from ..laws import DiscreteGaussian
from ..sampling import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    geometric_exp,
    uniform_below,
)
from ..testing import NotPrivateWarning

__all__ = [
    "floorsqrt",
    "normalizing_constant",
    "sample_bernoulli",
    "sample_bernoulli_exp",
    "sample_bernoulli_exp1",
    "sample_dgauss",
    "sample_dlaplace",
    "sample_geometric_exp_fast",
    "sample_geometric_exp_slow",
    "sample_uniform",
    "variance",
]


class RandRange(Protocol):
    """A generator of random integers, such as `random.SystemRandom`."""

    def randrange(self, n: int, /) -> int:
        """Return an integer from 0 to n - 1 with equal probabilities."""


def _source(rng: RandRange | None) -> Any:
    """Return the source of bits: the system, or a function that takes whole bytes of ``rng``."""
    if rng is None:
        return "getrandom"
    randrange: Callable[[int], int] | None = getattr(rng, "randrange", None)
    if randrange is None:
        raise TypeError(f"rng must have a method randrange, got {type(rng).__name__}")
    if isinstance(rng, random.Random) and not isinstance(rng, random.SystemRandom):
        warnings.warn(
            "draws from this rng can be repeated: use it for tests, never for private data",
            NotPrivateWarning,
            stacklevel=3,
        )

    def fill(buffer: memoryview) -> None:
        n = len(buffer)
        buffer[:] = randrange(1 << 8 * n).to_bytes(n, "little")

    return fill


def sample_uniform(m: object, rng: RandRange | None = None) -> int:
    """Return an integer from 0 to m - 1 with equal probabilities."""
    return int(uniform_below(m, source=_source(rng)))


def sample_bernoulli(p: object, rng: RandRange | None = None) -> int:
    """Return 1 with probability p, else 0."""
    return int(bernoulli(p, source=_source(rng)))


def sample_bernoulli_exp(x: object, rng: RandRange | None = None) -> int:
    """Return 1 with probability exp(-x), x >= 0, else 0."""
    return int(bernoulli_exp(x, source=_source(rng)))


sample_bernoulli_exp1 = sample_bernoulli_exp


def sample_geometric_exp_fast(x: object, rng: RandRange | None = None) -> int:
    """Return k >= 0 with probability (1 - exp(-x)) exp(-k x), x > 0."""
    return int(geometric_exp(x, source=_source(rng)))


sample_geometric_exp_slow = sample_geometric_exp_fast


def sample_dlaplace(scale: object, rng: RandRange | None = None) -> int:
    """Return one draw of the discrete Laplace."""
    return int(discrete_laplace(scale, source=_source(rng)))


def sample_dgauss(sigma2: object, rng: RandRange | None = None) -> int:
    """Return one draw of the discrete Gaussian; 0 if sigma2 is 0."""
    source = _source(rng)
    return (
        0 if not_negative(sigma2, "sigma2") == 0 else int(discrete_gaussian(sigma2, source=source))
    )


def floorsqrt(x: object) -> int:
    """Return the largest integer whose square is at most x >= 0."""
    exact = not_negative(x, "x")
    return math.isqrt(exact.numerator // exact.denominator)


def normalizing_constant(sigma2: object) -> float:
    """Return the sum over all integers x of exp(-x**2/(2 sigma2)), correctly rounded; 1 for 0."""
    exact = not_negative(sigma2, "sigma2")
    if exact == 0:
        return 1.0
    spec = DiscreteGaussian(exact)._spec
    return float_value(lambda bits: normaliser(spec, bits)[1])


def variance(sigma2: object) -> float:
    """Return the variance of the discrete Gaussian, correctly rounded; 0 for 0."""
    exact = exact_rational(sigma2, "sigma2")
    return 0.0 if exact == 0 else float(DiscreteGaussian(exact).var())
