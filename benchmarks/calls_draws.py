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

#: How many draws: what `law.sample` owes with chacha20, and with its default source.
SMALL = {1: (0.6, 0.5), 10: (0.6, 0.5), 100: (1.2, 0.8), 1000: (5.0, 2.0), 10**4: (12.0, 3.0)}


def questions() -> Iterator[Question]:
    """Every row about draws."""
    yield from _small_arrays()
    yield from _several_laws()
    yield from _arrays_of_parameters()
    yield from _objects()
    yield from _threads()
    yield from _single_draws()
    yield from _bits_for_numpy()


def _numpy(mu: Any, sigma: Any, n: int) -> Callable[[], object]:
    rng = np.random.default_rng()
    return lambda: np.rint(rng.normal(mu, sigma, n)).astype(np.int64)


def _law(sigma2: int = SIGMA2) -> dg.DiscreteGaussian:
    """Return a law with its table at hand."""
    law = dg.DiscreteGaussian(sigma2)
    law.sample(16, method="cells", dtype=object)
    return law


def _small_arrays() -> Iterator[Question]:
    for place, source in enumerate(("chacha20", "getrandom")):
        for n, bounds in SMALL.items():

            def sides(n: int = n, source: Any = source) -> Sides:
                keywords = {} if source == "getrandom" else {"source": source}
                ours = partial(_law().sample, n, **keywords)
                return Sides(ours, _numpy(0, SIGMA2**0.5, n))

            yield Question(f"law.sample({n}), {source}", NUMPY, sides, bounds[place])


def _several_laws() -> Iterator[Question]:
    new = itertools.count(10**4)

    def cold() -> Sides:
        def ours() -> None:
            law = dg.DiscreteGaussian(next(new))
            for _ in range(1000):
                law.sample(1000)

        peer = _numpy(0, 100, 1000)

        def theirs() -> None:
            for _ in range(1000):
                peer()

        return Sides(ours, theirs)

    yield Question("1000 times law.sample(1000), a new law", NUMPY, cold, 2)

    def in_turn(n_laws: int) -> Sides:
        laws = [_law(SIGMA2 + i) for i in range(n_laws)]

        def ours() -> None:
            for law in laws:
                law.sample(1000)

        peers = [_numpy(0, float(law.sigma2) ** 0.5, 1000) for law in laws]

        def theirs() -> None:
            for peer in peers:
                peer()

        return Sides(ours, theirs)

    for n_laws, bound in ((33, None), (200, 1.5)):
        case = f"{n_laws} laws in turn, 1000 draws each"
        yield Question(case, NUMPY, partial(in_turn, n_laws), bound)


def _arrays_of_parameters() -> Iterator[Question]:
    rng = np.random.default_rng(1)

    def sides(make: Callable[[], tuple[Any, Any]], n: int, source: Any = "getrandom") -> Sides:
        sigma2, mu = make()
        ours = partial(dg.discrete_gaussian, sigma2, n, mu=mu, source=source)
        return Sides(ours, _numpy(mu, np.sqrt(sigma2), n))

    def counts(n: int) -> tuple[Any, Any]:
        return SIGMA2, rng.permutation(n)

    def real(n: int) -> tuple[Any, Any]:
        return SIGMA2, rng.uniform(0, 1000, n)

    def some(n_distinct: int, n: int) -> tuple[Any, Any]:
        return 100 + rng.integers(n_distinct, size=n), 0

    def floats(n: int) -> tuple[Any, Any]:
        return rng.uniform(1, 1000, n), 0

    for n, bound in ((N, None), (10**6, 5)):
        call = partial(sides, partial(counts, n), n, "chacha20")
        yield Question(f"mu=counts, {_power(n)} distinct, chacha20", NUMPY, call, bound)
    call = partial(sides, partial(real, N), N)
    yield Question("mu: 10^5 distinct floats", NUMPY, call, 0.1)
    for n_distinct, owed in ((2, 3), (10, 2), (1000, 0.3)):
        call = partial(sides, partial(some, n_distinct, N), N)
        yield Question(f"sigma2: 10^5 elements, {n_distinct} distinct", NUMPY, call, owed)
    call = partial(sides, partial(floats, N), N)
    yield Question("sigma2: 10^5 distinct floats", NUMPY, call, 0.1)
    few: dict[str, Callable[[int], tuple[Any, Any]]] = {
        "mu=counts": counts,
        "mu: floats": real,
        "sigma2: 2 distinct": partial(some, 2),
        "sigma2: floats": floats,
    }
    for name, make in few.items():
        call = partial(sides, partial(make, 100), 100)
        yield Question(f"100 draws, {name}", NUMPY, call, 0.1)


def _objects() -> Iterator[Question]:
    for exponent, times, within in ((4, 1.5, 30e-9), (100, 3, 60e-9)):

        def sides(exponent: int = exponent) -> Sides:
            integers = dg.discrete_gaussian(2**80, N)
            ours = partial(_law(10**exponent).sample, N, dtype=object, source="chacha20")
            return Sides(ours, lambda: integers.astype(object), N, N)

        yield Question(
            f"dtype=object, sigma2 = 10^{exponent}, a draw, chacha20",
            "int64.astype(object)",
            sides,
            times,
            "at most",
            within,
        )


def _threads() -> Iterator[Question]:
    for n in (26_000, N):

        def sides(n: int = n) -> Sides:
            draw = partial(_law().sample, n, source="chacha20")
            return Sides(partial(draw, threads=2), draw)

        yield Question(
            f"threads=2, {_power(n)} draws, chacha20",
            "one thread",
            sides,
            0.9,
            clock=time.perf_counter,
        )


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
    return f"10^{exponent}" if n == 10**exponent else str(n)


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
