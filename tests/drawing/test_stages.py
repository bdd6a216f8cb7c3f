"""Algorithms 1-3 stage by stage, each with the layer below replaced by its exact law.

The bits of a whole sampler cannot be enumerated, because half of the mass is open after 19 of them.
A stage can be. An oracle replaces the layer that the stage calls, branches on each outcome, and
multiplies the probabilities. The lowest layer, from bits to Bernoulli(a/b) and the uniform
integers, is enumerated in tests/c/test_exhaustive.c. The stages are those of reference.py. The C
core makes the same draws from the same bits (test_twin.py).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import pytest
from evidence_cases import evidence, some
from mpmath import mp, mpf

from discretegauss import reference

#: Outcomes and paths less probable than this are not walked.
_TINY = mpf(10) ** -48
#: The most that may be missing from a stage's law.
_OPEN = mpf(10) ** -40

#: The outcomes of a random choice, with their probabilities.
Outcomes = list[tuple[Any, Any]]


class Rejected(Exception):
    """A second attempt begins, because the first has failed."""


class Cut(Exception):
    """A path has become too improbable."""


class Oracle:
    """Makes the choices of one path; the next path differs in the last choice that can."""

    def __init__(self) -> None:
        self._path: list[int] = []
        self._sizes: list[int] = []
        self.restart()

    def restart(self) -> None:
        """Begin the path."""
        self._at, self.weight, self._begun = 0, mpf(1), False

    def choose(self, outcomes: Outcomes) -> Any:
        """Return the outcome that this path takes."""
        if self._at == len(self._path):
            self._path.append(0)
            self._sizes.append(len(outcomes))
        value, probability = outcomes[self._path[self._at]]
        self._at += 1
        self.weight *= probability
        if self.weight < _TINY:
            raise Cut
        return value

    def begin(self) -> None:
        """Begin an attempt; only one is walked."""
        if self._begun:
            raise Rejected
        self._begun = True

    def advance(self) -> bool:
        """Go to the next path; False if there is none."""
        while self._path:
            self._path[-1] += 1
            if self._path[-1] < self._sizes[-1]:
                return True
            self._path.pop()
            self._sizes.pop()
        return False


def law_of(stage: Callable[[], Any], oracle: Oracle) -> dict[Any, Any]:
    """Return the law of one attempt that succeeds; all but _OPEN of the mass is accounted for."""
    shares: dict[Any, Any] = defaultdict(mpf)
    rejected = mpf(0)
    while True:
        oracle.restart()
        try:
            value = stage()
            shares[value] += oracle.weight
        except Rejected:
            rejected += oracle.weight
        except Cut:
            pass
        if not oracle.advance():
            break
    accepted = sum(shares.values())
    assert 1 - accepted - rejected < _OPEN
    return {value: share / accepted for value, share in shares.items()}


def coin(probability: Any) -> Outcomes:
    """Return the outcomes True, with this probability, and False."""
    return [(True, probability), (False, 1 - probability)]


def number(value: Fraction) -> Any:
    """Return the value as an mpf, at the precision in force."""
    return mpf(value.numerator) / value.denominator


def likely(weights: Iterator[tuple[int, Any]], total: Any) -> Outcomes:
    """Return the outcomes down to _TINY. The weights must fall."""
    return list(itertools.takewhile(lambda o: o[1] > _TINY, ((v, w / total) for v, w in weights)))


@lru_cache(maxsize=4096)
def exactly(name: str, first: int, second: int) -> Outcomes:
    """Return a layer's law by its function's name and arguments, at the oracle's precision."""
    if name == "uniform_below":
        return [(u, 1 / mpf(first)) for u in range(first)]
    if name == "bernoulli":
        return coin(mpf(first) / second)
    if name == "bernoulli_exp":
        return coin(mpmath.exp(-mpf(first) / second))
    if name == "geometric_exp":  # of s, t
        q = mpmath.exp(-mpf(first) / second)
        return likely(((k, q**k) for k in itertools.count()), 1 / (1 - q))
    q = mpmath.exp(-mpf(second) / first)  # _centred_laplace, of t, s
    by_size = ((y, q ** abs(y)) for k in itertools.count() for y in sorted({k, -k}))
    return likely(by_size, (1 + q) / (1 - q))


class NoBytes:
    """A source that nothing may be read from."""

    def read(self, n: int) -> bytes:
        raise AssertionError(f"{n} bytes are read")


NOTHING = NoBytes()


@pytest.fixture
def oracle() -> Iterator[Oracle]:
    with mp.workdps(60):
        yield Oracle()


@pytest.fixture
def replace(monkeypatch: pytest.MonkeyPatch, oracle: Oracle) -> Callable[..., None]:
    """Return a function that replaces layers by exact laws; `attempt` begins an attempt."""

    def replace(*names: str, attempt: str | None = None) -> None:
        for name in names:

            def layer(*arguments: Any, name: str = name) -> Any:
                if name == attempt:
                    oracle.begin()
                first, second = (*arguments[:-1], 1)[:2]  # the last one is the source
                return oracle.choose(exactly(name, first, second))

            monkeypatch.setattr(reference, name, layer)

    return replace


def follows(law: dict[int, Any], weight: Callable[[int], Any]) -> bool:
    """Return whether the probabilities have the ratios of the weights."""
    best = max(law, key=lambda x: law[x])
    return all(abs(p / law[best] - weight(x) / weight(best)) < _OPEN * 1000 for x, p in law.items())


def spread_of(law: dict[int, Any]) -> int:
    """Count the values with some probability, because a law of one value follows any weights."""
    return sum(p > mpf(10) ** -20 for p in law.values())


@pytest.mark.parametrize("gamma", ["0", "1/7", "3/2", "7/3", *evidence("1/2", "1", "3")])
def test_algorithm_1(gamma: str, replace: Callable[..., None], oracle: Oracle) -> None:
    """Bernoulli(exp(-gamma)), from Bernoulli(gamma/k)."""
    replace("bernoulli")
    g = Fraction(gamma)
    law = law_of(lambda: reference.bernoulli_exp(g.numerator, g.denominator, NOTHING), oracle)
    assert abs(law[True] - mpmath.exp(-number(g))) < _OPEN


@pytest.mark.parametrize("scale", ["1/3", "5/2", *evidence("1", "7", "20/3")])
def test_the_geometric_half_of_algorithm_2(
    scale: str, replace: Callable[..., None], oracle: Oracle
) -> None:
    """Geometric, from a uniform integer and Bernoulli(exp(-gamma))."""
    replace("uniform_below", "bernoulli_exp", attempt="uniform_below")
    b = Fraction(scale)
    law = law_of(lambda: reference.geometric_exp(b.denominator, b.numerator, NOTHING), oracle)
    assert follows(law, lambda k: mpmath.exp(-k / number(b)))
    assert spread_of(law) > 10


@pytest.mark.parametrize("scale", some(["1/3", "1", "5/2", "20/3"], 2))
@pytest.mark.parametrize("mu", some(["0", "5", "1/3", "-2/5", "1/2", "-7/2"], 4))
def test_algorithm_2(scale: str, mu: str, replace: Callable[..., None], oracle: Oracle) -> None:
    """Discrete Laplace, from a geometric, a fair coin and, off centre, the choice of the side."""
    b, m = Fraction(scale), Fraction(mu)
    begins = "geometric_exp" if m.denominator == 1 else "bernoulli"
    replace("geometric_exp", "bernoulli", "bernoulli_exp", attempt=begins)
    law = law_of(lambda: reference.discrete_laplace(b, m, NOTHING), oracle)
    assert follows(law, lambda x: mpmath.exp(-abs(number(x - m)) / number(b)))
    assert spread_of(law) > 20


@pytest.mark.parametrize("sigma2", some(["1/4", "1", "355/113", "30"], 2))
@pytest.mark.parametrize("mu", some(["0", "-3", "1/3", "-2/5", "1/2", "-7/2"], 4))
def test_algorithm_3(sigma2: str, mu: str, replace: Callable[..., None], oracle: Oracle) -> None:
    """Discrete Gaussian, from a discrete Laplace and Bernoulli(exp(-gamma))."""
    replace("_centred_laplace", "bernoulli_exp", attempt="_centred_laplace")
    s, m = Fraction(sigma2), Fraction(mu)
    law = law_of(lambda: reference.discrete_gaussian(s, m, NOTHING), oracle)
    assert follows(law, lambda x: mpmath.exp(-(number(x - m) ** 2) / (2 * number(s))))
    assert not follows(law, lambda x: mpmath.exp(-(number(x - m) ** 2) / (2.000001 * number(s))))
    assert spread_of(law) > 5


def test_a_stage_with_a_known_fault_is_rejected(
    replace: Callable[..., None], oracle: Oracle
) -> None:
    """The faults are Algorithm 1 with swapped parity, and Algorithm 3 without the square."""
    replace("bernoulli")

    def swapped() -> bool:
        k = 1
        while reference.bernoulli(1, 2 * k, NOTHING):
            k += 1
        return k % 2 == 0

    assert abs(law_of(swapped, oracle)[True] - mpmath.exp(mpf(-1) / 2)) > 0.1
    replace("_centred_laplace", "bernoulli_exp", attempt="_centred_laplace")

    def without_the_square() -> int:
        while True:
            y = reference._centred_laplace(3, 1, NOTHING)
            if reference.bernoulli_exp(abs(3 * abs(y) - 4), 24, NOTHING):
                return y

    law = law_of(without_the_square, oracle)
    assert not follows(law, lambda x: mpmath.exp(-mpf(x * x) / 8))
