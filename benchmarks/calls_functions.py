"""Functions of laws on arrays, against scipy's of continuous laws and dp-accounting's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import discretegauss as dg
from calls_rows import Question, Sides

N = 10**5
SCALE = 10**4

#: Seconds; what would take longer is asked of fewer elements.
_MOST = 0.5
_FEWEST = 50


def questions() -> Iterator[Question]:
    """Every row about functions."""
    for name, bound in (("pmf", 0.02), ("cdf", 0.02), ("ppf", 0.005)):
        case = f"GeneralizedGaussian(10^4, 3/2).{name}, an element of 10^5"
        yield Question(case, "scipy gennorm", partial(_generalized, name), bound)
    case = "DiscreteGaussian(10^12).ppf, an element of 10^5"
    yield Question(case, "scipy norm, rounded", _wide_ppf, 0.1)
    yield Question("privacy.pld, sigma = 100", "dp-accounting's own", _pld, 3, "at most")


def _generalized(name: str) -> Sides:
    from scipy.stats import gennorm

    points = (
        np.random.default_rng(1).random(N) if name == "ppf" else np.arange(N, dtype=int) - N // 2
    )

    def ours(x: Any) -> object:
        return getattr(dg.GeneralizedGaussian(SCALE, "3/2"), name)(x)

    continuous = gennorm(1.5, scale=SCALE)
    theirs = continuous.pdf if name == "pmf" else getattr(continuous, name)
    return _elements(ours, theirs, points)


def _wide_ppf() -> Sides:
    from scipy.stats import norm

    def theirs(q: Any) -> object:
        return np.rint(norm.ppf(q, scale=10**6))

    points = np.random.default_rng(1).random(N)
    return _elements(lambda q: dg.DiscreteGaussian(10**12).ppf(q), theirs, points)


def _elements(ours: Callable[[Any], object], theirs: Callable[[Any], object], points: Any) -> Sides:
    """Both sides in elements: of all the points in each call, or of as many as there is time for.

    Four times as many are tried while there is time, or while that takes less than twice as long:
    what a call does once is no element's.
    """
    spread = np.random.default_rng(2).permutation(points)

    def seconds(n: int) -> float:
        start = time.process_time()
        ours(spread[:n])
        return time.process_time() - start

    n, took = _FEWEST, seconds(_FEWEST)
    while n < len(points):
        more = seconds(4 * n)
        if more > max(_MOST, 2 * took):
            break
        n, took = min(4 * n, len(points)), more
    return Sides(partial(ours, spread[:n]), partial(theirs, spread), n, len(spread))


def _pld() -> Sides:
    from dp_accounting.pld import privacy_loss_distribution

    law = dg.DiscreteGaussian(10**4)
    own = privacy_loss_distribution.from_discrete_gaussian_mechanism
    return Sides(partial(dg.privacy.pld, law), partial(own, 100))
