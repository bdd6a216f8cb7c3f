"""Calls that draw as users make them, against numpy's rounded normal with the same arguments."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import discretegauss as dg
from calls_rows import Question, Sides

NUMPY = "numpy rint(normal)"
SIGMA2 = 100
N = 10**5

#: How many draws, and how many times numpy's speed `law.sample` and `dg.discrete_gaussian` owe.
SMALL = {
    1: (0.65, 0.5),
    10: (0.75, 0.55),
    100: (1.1, 0.85),
    1000: (2.4, 2.2),
    10**4: (3.0, None),
    10**6: (14.0, None),
}


def questions() -> Iterator[Question]:
    """Every row about draws."""
    yield from _small_arrays()
    yield from _arrays_of_parameters()
    yield from _objects()
    yield from _threads()
    yield from _single_draws()
    yield from _bits_for_numpy()


def _numpy(mu: Any, sigma: Any, n: int) -> Callable[[], object]:
    rng = np.random.default_rng()
    return lambda: np.rint(rng.normal(mu, sigma, n)).astype(np.int64)


def _small_arrays() -> Iterator[Question]:
    for n, (of_law, of_function) in SMALL.items():

        def sides(call: Callable[..., object], n: int = n) -> Sides:
            return Sides(partial(call, n), _numpy(0, SIGMA2**0.5, n))

        law = dg.DiscreteGaussian(SIGMA2).sample
        function = partial(dg.discrete_gaussian, SIGMA2)
        size = _power(n)
        yield Question(f"law.sample({size})", NUMPY, partial(sides, law), of_law)
        case = f"discrete_gaussian(100, {size})"
        yield Question(case, NUMPY, partial(sides, function), of_function)
        by_getrandom = partial(law, source="getrandom")
        case = f"law.sample({size}), getrandom"
        yield Question(case, NUMPY, partial(sides, by_getrandom))
    new = itertools.count(10**4)

    def first() -> Sides:
        return Sides(lambda: dg.discrete_gaussian(next(new), 1000), _numpy(0, 100, 1000))

    yield Question("discrete_gaussian(sigma2, 1000), a new law", NUMPY, first)


def _arrays_of_parameters() -> Iterator[Question]:
    rng = np.random.default_rng(1)

    def sides(make: Callable[[], tuple[Any, Any]], n: int) -> Sides:
        sigma2, mu = make()
        return Sides(
            partial(dg.discrete_gaussian, sigma2, n, mu=mu), _numpy(mu, np.sqrt(sigma2), n)
        )

    def counts(n: int) -> tuple[Any, Any]:
        return SIGMA2, rng.permutation(n)

    def real(n: int) -> tuple[Any, Any]:
        return SIGMA2, rng.uniform(0, 1000, n)

    def some(n_distinct: int, n: int) -> tuple[Any, Any]:
        return 100 + rng.integers(n_distinct, size=n), 0

    def floats(n: int) -> tuple[Any, Any]:
        return rng.uniform(1, 1000, n), 0

    for n in (N, 10**6):
        call = partial(sides, partial(counts, n), n)
        yield Question(f"mu=counts, {_power(n)} distinct", NUMPY, call)
    yield Question("mu: 10^5 distinct floats", NUMPY, partial(sides, partial(real, N), N))
    call = partial(sides, partial(some, 2, N), N)
    yield Question("sigma2: 10^5 elements, 2 distinct", NUMPY, call)
    call = partial(sides, partial(floats, N), N)
    yield Question("sigma2: 10^5 distinct floats", NUMPY, call, 0.5)
    few: dict[str, Callable[[int], tuple[Any, Any]]] = {
        "mu=counts": counts,
        "mu: floats": real,
        "sigma2: floats": floats,
    }
    for name, make in few.items():
        call = partial(sides, partial(make, 100), 100)
        yield Question(
            f"100 draws, {name}", NUMPY, call, 0.25 if name == "sigma2: floats" else None
        )


def _objects() -> Iterator[Question]:
    for exponent, times, within in ((4, 1.5, 30e-9), (100, 3, 60e-9)):

        def sides(exponent: int = exponent) -> Sides:
            integers = dg.discrete_gaussian(2**80, N)
            ours = partial(dg.DiscreteGaussian(10**exponent).sample, N, dtype=object)
            return Sides(ours, lambda: integers.astype(object), N, N)

        yield Question(
            f"dtype=object, sigma2 = 10^{exponent}, a draw",
            "int64.astype(object)",
            sides,
            times,
            "at most",
            within,
        )


def _threads() -> Iterator[Question]:
    def sides() -> Sides:
        draw = partial(dg.DiscreteGaussian(SIGMA2).sample, 10**6)
        return Sides(partial(draw, threads=2), draw)

    yield Question("threads=2, 10^6 draws", "one thread", sides, 0.9, clock=time.perf_counter)


def _single_draws() -> Iterator[Question]:
    rng = np.random.default_rng()

    def numpy_draw() -> int:
        return int(np.rint(rng.normal(0, 10)))

    given: dict[str, tuple[Callable[[], object], float | None]] = {
        "law.sample()": (dg.DiscreteGaussian(SIGMA2).sample, 1e-6),
        "discrete_gaussian(100)": (partial(dg.discrete_gaussian, 100), None),
        "discrete_gaussian(np.int64(100))": (partial(dg.discrete_gaussian, np.int64(100)), None),
    }
    for name, (call, within) in given.items():

        def sides(call: Callable[[], object] = call) -> Sides:
            return Sides(call, numpy_draw)

        yield Question(name, "numpy, one number", sides, within=within)


def _power(n: int) -> str:
    exponent = len(str(n)) - 1
    return f"10^{exponent}" if n == 10**exponent >= 10**4 else str(n)


def _bits_for_numpy() -> Iterator[Question]:
    """numpy's own methods: what SystemBits costs in the place of PCG64."""

    def sides(method: str, arguments: tuple[int, ...], source: Any) -> Sides:
        from discretegauss.compat import SystemBits

        ours, theirs = np.random.Generator(SystemBits(source)), np.random.default_rng()
        return Sides(
            partial(getattr(ours, method), *arguments), partial(getattr(theirs, method), *arguments)
        )

    for source, bound in (("chacha20", 0.8), ("getrandom", None)):
        for case in (
            "random()",
            f"random({N})",
            f"integers(0, 100, {N})",
            f"integers(0, {10**12}, {N})",
        ):
            method, _, rest = case.strip(")").partition("(")
            arguments = tuple(int(x) for x in rest.split(",") if x)
            make = partial(sides, method, arguments, source)
            yield Question(f"SystemBits, {case}, {source}", "the same by PCG64", make, bound)
