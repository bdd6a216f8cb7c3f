"""Answers do not depend on the caller's gmpy2 context, and leave it unchanged."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import gmpy2
import numpy as np
import pytest

import discretegauss as dg
from discretegauss import privacy, utility

Call = Callable[[], object]

TRAPS = {
    f"trap_{what}": True
    for what in ("inexact", "underflow", "overflow", "invalid", "erange", "divzero")
}
FEW_NUMBERS = {"emin": -9, "emax": 9, "subnormalize": True}
ALL_AT_ONCE = {"all at once": {"precision": 2, "round": gmpy2.RoundUp} | FEW_NUMBERS | TRAPS}
DEFAULT: dict[str, dict[str, Any]] = {"default": {}}
ONE_BY_ONE: dict[str, dict[str, Any]] = {
    "inexact results raise": {"trap_inexact": True},
    "everything raises": TRAPS,
    "two bits, rounded up": {"precision": 2, "round": gmpy2.RoundUp},
    "no numbers below 1": {"emin": 1, "emax": 10**6},
    "few numbers": FEW_NUMBERS,
    "no numbers above 1/2": {"emin": -(10**6), "emax": -1, "trap_overflow": True},
}

GAUSSIANS: list[dg.Law] = [
    dg.DiscreteGaussian(2),
    dg.DiscreteGaussian("1/7", mu="1/3"),
    dg.DiscreteGaussian(10**30, mu="1/3"),
]
OTHERS: list[dg.Law] = [
    dg.DiscreteLaplace("5/2"),
    dg.DiscreteLaplace(10**12, mu="1/3"),
    dg.GeneralizedGaussian(2, "3/2"),
    dg.GeneralizedGaussian(10**9, 4, mu="1/3"),
    dg.GeneralizedGaussian(3, 10**4),
]


def of_laws() -> Iterator[Call]:
    """Yield calls of the functions of laws."""
    for law in [*GAUSSIANS, *OTHERS]:
        width = int(law.std()) + 1
        for k in (-width, 0, 40 * width, 10**40):
            for name in ("pmf", "logpmf", "logcdf", "sf"):
                yield partial(getattr(law, name), k, bounds=True)
            yield partial(law.tail_bound, k)
        yield partial(law.cdf, np.linspace(-9, 9, 8) * width)
        yield partial(law.ppf, ["1/1000", 0.5, 1 - 2**-53])
        yield partial(law.interval, "0.95")
        for name in ("mean", "var", "std", "entropy"):
            yield partial(getattr(law, name), bounds=True)


def of_privacy() -> Iterator[Call]:
    """Yield calls that compute costs of noise, and calibrate it."""
    for law in [dg.DiscreteGaussian("1/10"), *(one for one in [*GAUSSIANS, *OTHERS] if not one.mu)]:
        for change, epsilon in product((1, 7), (0, "1/1000", 50)):
            yield partial(privacy.delta, law, epsilon, change)
            yield partial(privacy.log_delta, law, epsilon, change)
        for change, delta in product((1, 7), ("0.9", "1e-300")):
            yield partial(privacy.epsilon, law, delta, change)
        if isinstance(law, dg.DiscreteGaussian):
            yield partial(privacy.delta, law, 1, queries=10)
            yield partial(privacy.epsilon, law, "1e-6", queries=10)
        if not isinstance(law, dg.GeneralizedGaussian):
            yield partial(privacy.rho, law, 3)
    for rho in ("1e-9", 100, 10**40):
        for delta in ("1e-6", "1e-400"):
            yield partial(privacy.zcdp_epsilon, rho, delta)
        for epsilon in (0, 3, 10**40):
            yield partial(privacy.zcdp_delta, rho, epsilon)
            yield partial(privacy.zcdp_delta_standard, rho, epsilon)
    for epsilon, delta in product((0, "1e-3", 10**6), ("0.9", "1e-400")):
        yield partial(privacy.zcdp_rho, epsilon, delta)
    for loss in (
        privacy.loss(dg.DiscreteGaussian(20)) ** 100,
        privacy.loss(dg.GeneralizedGaussian(2, "3/2"), sampling="1/10") ** 20,
        privacy.PrivacyLoss.of_pure("0.1", "1e-9") ** 50,
        privacy.PrivacyLoss.of_gaussian(100) ** 10,
        privacy.PrivacyLoss.of_laplace(10, cut=100),
    ):
        yield partial(loss.delta, 1, bounds=True)
        yield partial(loss.epsilon, "1e-6", bounds=True)
    for epsilon, delta, n in ((1, "1e-6", 1), (0, "1e-6", 1), (1, "1e-6", 10), (1, "1e-400", 1)):
        calibrated = partial(privacy.calibrate, dg.DiscreteGaussian, queries=n)
        yield partial(calibrated, epsilon=epsilon, delta=delta)
    if importlib.util.find_spec("dp_accounting") is not None:
        yield lambda: privacy.pld(
            dg.DiscreteGaussian(5), value_discretization_interval=0.125
        ).get_delta_for_epsilon(0.5)


def of_utility() -> Iterator[Call]:
    """Yield calls that compare noises."""
    for sigma2 in ("1/9", 1, 10**6):
        noise = utility.compare_noise(sigma2)
        yield from (
            partial(utility.compare_noise, sigma2),
            noise.variances,
            partial(noise.tails, 3),
        )
        for epsilon in (0, 1):
            yield partial(utility.continuous_gaussian_delta, sigma2, epsilon)
    yield partial(privacy.calibrate, dg.DiscreteLaplace, epsilon=1, delta="1e-6", queries=20)
    yield partial(privacy.delta, dg.DiscreteLaplace(9), 1, queries=20)
    yield partial(utility.compare_queries, epsilon=1, delta="1e-6", queries=5)


def answer(call: Call) -> object:
    """Return the result of a call in a form that == compares."""
    found = call()
    return found.tolist() if isinstance(found, np.ndarray) else found


def forget() -> None:
    """Empty all caches, so that everything is computed again."""
    for name, module in list(sys.modules.items()):
        if name.startswith("discretegauss"):
            for function in list(vars(module).values()):
                if hasattr(function, "cache_clear"):
                    function.cache_clear()


def state(context: Any) -> dict[str, object]:
    """Return the settings and flags of a context."""
    return {
        name: getattr(context, name)
        for name in dir(context)
        if not name.startswith("_") and not callable(getattr(context, name))
    }


@pytest.mark.parametrize(
    "contexts",
    [ALL_AT_ONCE, pytest.param(ONE_BY_ONE, marks=pytest.mark.evidence)],
    ids=["all at once", "one by one"],
)
@pytest.mark.parametrize(
    "calls", [of_laws, of_privacy, of_utility], ids=lambda calls: calls.__name__
)
def test_answers_do_not_depend_on_the_context_of_gmpy2_nor_touch_it(
    calls: Callable[[], Iterator[Call]], contexts: dict[str, dict[str, Any]]
) -> None:
    """Traps, precision, rounding and range of exponents vary. Flags stay, too."""
    asked = list(calls())
    expected: list[object] = []
    for name, settings in (DEFAULT | contexts).items():
        forget()
        ours, theirs = gmpy2.get_context(), gmpy2.context(**settings)
        gmpy2.set_context(theirs)
        try:
            told = state(theirs)
            answers = list(map(answer, asked))
            assert gmpy2.get_context() is theirs, name
            assert state(theirs) == told, name
        finally:
            gmpy2.set_context(ours)
        expected = expected or answers
        assert answers == expected, name
