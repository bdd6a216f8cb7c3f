"""The functions of laws agree with law_exact.py, for random laws and points."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from evidence_cases import at_once, evidence, some
from law_exact import Exact, in_mp
from law_sums import GG, LAWS, G, L
from mpmath import mp, mpf

NAMES = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
MOMENTS = ("mean", "var", "std", "entropy")
LARGEST = sys.float_info.max

#: The relative error of the oracle; moments of wide laws cancel.
SLACK, SLACK_OF_MOMENTS = mpf(10) ** -38, mpf(10) ** -25


# --- laws, points and levels


def log_uniform(rnd: random.Random, low: float, high: float) -> Any:
    """Return a number of any type between powers of ten, short or with many digits."""
    exponent = rnd.uniform(low, high)
    value = Fraction(float(10 ** mpf(exponent)))
    below = rnd.getrandbits(rnd.choice((8, 40, 200))) | 1
    return rnd.choice(
        (
            float(value),
            value.limit_denominator(10 ** rnd.randrange(1, 9)) or value,
            Fraction(int(value * below) or 1, below),
            max(1, int(value)) if exponent >= 0 else Fraction(1, int(1 / value)),
            f"{10 ** (exponent % 1):.{rnd.randrange(1, 15)}f}e{math.floor(exponent)}",
        )
    )


def random_mu(rnd: random.Random) -> Any:
    sign, whole = rnd.choice((-1, 1)), rnd.randrange(-5, 6)
    return rnd.choice(
        (
            0,
            0,
            whole + Fraction(1, 2),
            whole + Fraction(1, 3),
            Fraction(rnd.randrange(-(10**6), 10**6), rnd.randrange(1, 10**6)),
            sign * rnd.getrandbits(200),
            whole + sign * Fraction(1, 10**30),
            whole + Fraction(1, 2) + sign * Fraction(1, 10 ** rnd.choice((10, 17, 30))),
            rnd.uniform(-5, 5),
            sign * rnd.choice((2**53 + 1, 2**61, 2**62 + Fraction(1, 3), 2**63 - 1, 2**63)),
            -Fraction(rnd.getrandbits(80), 10**15 + rnd.randrange(100)),
        )
    )


def random_law(rnd: random.Random, kind: Any) -> Any:
    ordinary, mu = rnd.random() < 0.4, random_mu(rnd)
    if kind is not GG:
        return kind(log_uniform(rnd, -2, 4) if ordinary else log_uniform(rnd, -6, 60), mu)
    beta = rnd.choice(
        (
            1 + Fraction(1, 10 ** rnd.randrange(1, 17)),
            2 + rnd.choice((-1, 1)) * Fraction(1, 10 ** rnd.randrange(1, 17)),
            rnd.choice((1, 2, 3, 4, Fraction(3, 2), Fraction(5, 2), 1.1)),
            1 + 10 ** rnd.uniform(-3, 4) if rnd.random() < 0.99 else 10**4,
            1 + Fraction(10 ** rnd.uniform(-3, 1)).limit_denominator(50),
        )
    )
    return GG(log_uniform(rnd, -1, 3) if ordinary else log_uniform(rnd, -4, 40), beta, mu)


def random_points(rnd: random.Random, exact: Exact, n: int) -> list[int]:
    """Return integers at the centre, within some deviations, at the ends of the floats, far."""
    scale = max(1, int(exact.s))

    def at(level: float) -> int:  # where phi is about that
        return int(exact.s * mpf(level) ** (1 / exact.beta))

    ways: list[Callable[[], int]] = [
        lambda: rnd.randrange(-2, 3),
        lambda: at(rnd.uniform(0, 2)),
        lambda: at(rnd.uniform(0, 40)),
        lambda: at(rnd.uniform(700, 760)),
        lambda: int(scale * mpf(10) ** rnd.uniform(-3, 3)),
        lambda: rnd.choice((1, 8, 40, 10**6)) * scale,
        lambda: rnd.getrandbits(rnd.choice((8, 63, 70, 300))),
    ]
    return [exact.m0 + rnd.choice((-1, 1)) * rnd.choice(ways)() for _ in range(n)]


def random_level(rnd: random.Random, law: Any, k: int) -> Any:
    level = rnd.choice(
        (
            rnd.random(),
            10.0 ** -rnd.uniform(0, 300),
            rnd.choice((5e-324, 2.0**-1022, math.nextafter(0.5, 0), 0.5, 0.75, 1 - 2**-53)),
            1 - 2.0 ** -rnd.uniform(1, 53),
            Fraction(rnd.getrandbits(100) + 1, 2**100 + 7),
            Fraction(1, 10 ** rnd.randrange(1, 400)),
            law.cdf(k),
        )
    )
    return level if 0 < level < 1 else 0.5


# --- comparisons


def _in_mp(value: float) -> Any:
    # an infinite float stands for a value beyond every float
    return mpf(value) if math.isfinite(value) else mpf(math.copysign(1, value)) * mpf(10) ** 10**9


def is_enclosed(bounds: tuple[float, float], exact: Any, slack: Any) -> bool:
    """Return whether the true value is within bounds, at most two floats apart."""
    lower, upper = bounds
    near = math.nextafter(math.nextafter(lower, math.inf), math.inf) >= upper
    return near and _in_mp(lower) - slack <= exact <= _in_mp(upper) + slack


def is_rounded(value: float, exact: Any, slack: Any) -> bool:
    """Return whether a value is the true one, or one of the two floats around it."""
    if math.isinf(value):
        return bool(abs(exact) > LARGEST and (exact > 0) == (value > 0))
    below, above = (math.nextafter(value, end) for end in (-math.inf, math.inf))
    if abs(_in_mp(value) - exact) <= slack:
        return True
    return bool(_in_mp(below) - slack < exact < _in_mp(above) + slack)


def is_near(value: float, exact: Any) -> bool:
    """Return whether an element of an array is right to 1e-14, or to the smallest float."""
    if math.isinf(value):
        return is_rounded(value, exact, 0)
    return bool(abs(mpf(value) - exact) <= abs(exact) * mpf("1e-14") + mpf(5e-324))


class Planted(NamedTuple):
    """A fault in the numbers, the bounds or the arrays that some functions of a law return."""

    names: tuple[str, ...]
    form: str
    change: Callable[[Any], Any]


class Faulty:
    """A law with a fault."""

    def __init__(self, law: Any, planted: Planted) -> None:
        self._law, self._planted = law, planted

    def __getattr__(self, name: str) -> Callable[..., Any]:
        names, form, change = self._planted

        def answer(*k: Any, **bounds: bool) -> Any:
            found = getattr(self._law, name)(*k, **bounds)
            of = "bounds" if bounds else "arrays" if isinstance(found, np.ndarray) else "numbers"
            return change(found) if name in names and of == form else found

        return answer


oracle, moments_of = lru_cache(1)(Exact), lru_cache(1)(Exact.moments)


def disagreements(
    law: Any, rnd: random.Random, moments: float = 0.4, planted: Planted | None = None
) -> Iterator[tuple[object, ...]]:
    """Yield the wrong answers of a law; it is asked for moments with this probability."""
    exact, law = oracle(law), law if planted is None else Faulty(law, planted)
    with mp.workdps(exact.digits):
        ks = random_points(rnd, exact, 2)
        found = {k: exact.probabilities(k) for k in ks}
        for k in ks:
            yield from _at_one_point(law, k, found[k])
        yield from _in_an_array(law, rnd, exact, found)
        name, q = rnd.choice(("ppf", "isf")), random_level(rnd, law, ks[0])
        k = int(getattr(law, name)(q))
        if not _is_quantile(exact, name, Fraction(q), k):
            yield name, q, k
        if rnd.random() < moments:
            yield from _wrong_moments(law, exact)


def _at_one_point(law: Any, k: int, found: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    for name in NAMES:
        value, bounds = getattr(law, name)(k), getattr(law, name)(k, bounds=True)
        slack = abs(found[name]) * SLACK
        if not is_rounded(value, found[name], slack) or not bounds[0] <= value <= bounds[1]:
            yield name, k, value, found[name]
        if not is_enclosed(bounds, found[name], slack):
            yield name, k, bounds, found[name]


def _in_an_array(
    law: Any, rnd: random.Random, exact: Exact, found: dict[int, dict[str, Any]]
) -> Iterator[tuple[object, ...]]:
    """Compare at the same points among others: near the centre, or from all over the law."""
    wide = 1 if rnd.random() < 0.5 else max(1, min(int(exact.s), 2**49))
    general = isinstance(exact.law, GG)
    many = 16 if general else rnd.choice((16, 16, 300))
    ks = [*found, *(exact.m0 + int(wide * rnd.gauss(0, 8)) for _ in range(many))]
    rnd.shuffle(ks)
    narrow = all(-(2**63) <= k < 2**63 for k in ks)
    array = np.array(ks, np.int64 if narrow else object)
    for name in rnd.sample(NAMES, 2) if general else NAMES:  # one by one, or by vectors
        values = getattr(law, name)(array)
        for k, at_k in found.items():
            if not is_near(float(values[ks.index(k)]), at_k[name]):
                yield name, k, array, values[ks.index(k)], at_k[name]


def _is_quantile(exact: Exact, name: str, q: Fraction, k: int) -> bool:
    """Return whether k is the smallest integer with P(X <= k) >= q, or with P(X > k) <= q.

    The smaller tail decides. The oracle's digits do not tell ties.
    """
    level = q if name == "ppf" else 1 - q
    smaller, sign = (level, 1) if level <= Fraction(1, 2) else (1 - level, -1)
    tail = "logcdf" if sign == 1 else "logsf"
    log = mpmath.log(in_mp(smaller))
    before, here = (exact.probabilities(m)[tail] for m in (k - 1, k))
    return bool(sign * (here - log) >= -SLACK and sign * (before - log) <= SLACK)


def _wrong_moments(law: Any, exact: Exact) -> Iterator[tuple[object, ...]]:
    expected = moments_of(exact)
    for name in MOMENTS:
        value, bounds = getattr(law, name)(), getattr(law, name)(bounds=True)
        slack = abs(expected[name]) * SLACK_OF_MOMENTS
        if name == "mean":  # of mu and what rounds away in sums of y
            slack += exact.s * SLACK
        if not is_rounded(value, expected[name], slack):
            yield name, value, expected[name]
        if not is_enclosed(bounds, expected[name], slack):
            yield name, bounds, expected[name]


# --- the oracle itself


@pytest.mark.parametrize(
    ("law", "far"),
    [
        (G(400, "1/2"), 20),
        (GG(20, "3/2", "1/3"), 3),
        *evidence((G(1000, "1/3"), 3), (L(25, "1/3"), 3), (GG(30, "1.001", "1/3"), 2)),
        *evidence((GG(3000, 10), 1), (GG(2500, 100, "1/7"), 1)),
    ],
    ids=str,
)
def test_two_ways_of_the_oracle_agree(law: Any, far: int) -> None:
    """Sums term by term and by Abel and Plana's formula agree to 1e-40, moments to 1e-38."""
    terms, strip = Exact(law, most_terms=10**9), Exact(law, most_terms=500)
    with mp.workdps(60):
        for d, powers in ((law.mu, (0, 4)), (law.mu + far * int(law.std()), (1, "phi"))):
            for e in powers:
                one, other = terms.tail(Fraction(d), e), strip.tail(Fraction(d), e)
                assert abs(one - other) <= one * mpf("1e-40")
        one, other = terms.moments(), strip.moments()
        for name, value in one.items():
            assert abs(value - other[name]) <= max(1, abs(value)) * mpf("1e-38")


@pytest.mark.parametrize("sigma2", ["1/10", 1, 37, 10**6, 10**12])
@pytest.mark.parametrize("mu", ["1/2", "1/3", "1e-30"])
def test_the_oracles_sum_is_the_theta_function(sigma2: Any, mu: str) -> None:
    """mpmath has Jacobi's theta function in the form for wide laws."""
    law = G(sigma2, mu)
    exact = Exact(law)
    with mp.workdps(60):
        s2, offset = in_mp(law.sigma2), in_mp(law.mu)
        theta = mpmath.jtheta(3, mp.pi * offset, mpmath.exp(-2 * mp.pi**2 * s2))
        phi0 = exact.phi(abs(exact.m0 - law.mu))
        expected = mpmath.sqrt(2 * mp.pi * s2) * theta * mpmath.exp(phi0)
        assert abs(exact.total - expected) <= expected * mpf("1e-40")


# --- planted faults


def up(x: float, floats: int) -> float:
    return up(math.nextafter(x, math.inf), floats - 1) if floats else x


FAULTS = [
    *(Planted((name,), "numbers", lambda x: up(x, 2)) for name in (*NAMES, *MOMENTS)),
    *(Planted((name,), "bounds", lambda b: (up(b[0], 3), b[1])) for name in (*NAMES, *MOMENTS)),
    Planted(("pmf",), "bounds", lambda b: (b[0], up(b[1], 3))),
    Planted(NAMES, "arrays", lambda values: values * (1 + 2e-14)),  # twice what is promised
    Planted(("ppf", "isf"), "numbers", lambda k: k + 1),
]


@at_once("planted", [None, *FAULTS])
@pytest.mark.parametrize(
    "law", [L(11, "1/7"), *evidence(G(400, "1/3"), GG(30, "5/2", "1/3"))], ids=str
)
def test_an_error_of_two_floats_is_found(law: Any, planted: Planted | None) -> None:
    """Each fault is planted alone: two floats, or a bound by three, or a quantile by one."""
    wrong = disagreements(law, random.Random(0), 1, planted)
    assert any(True for _ in wrong) == (planted is not None)


# --- the laws


def run(seed: int, kind: Any, laws: int) -> None:
    rnd = random.Random(seed)
    for _ in range(laws):
        law = random_law(rnd, kind)
        wrong = list(disagreements(law, rnd))
        assert not wrong, (law, wrong)


@pytest.mark.parametrize("law", some(LAWS), ids=str)
def test_laws_are_as_computed_another_way(law: Any) -> None:
    """These are narrow, so the other way is a sum term by term."""
    rnd = random.Random(1)
    assert [wrong for _ in range(4) for wrong in disagreements(law, rnd, 0.25)] == []
    assert [*disagreements(law, rnd, 1)] == []


@pytest.mark.parametrize("kind", [G, L, GG])
def test_random_laws_are_as_computed_another_way(kind: Any) -> None:
    run(0, kind, 3)


@pytest.mark.evidence
@pytest.mark.parametrize("seed", range(1, 21))
@pytest.mark.parametrize(("kind", "laws"), [(G, 35), (L, 50), (GG, 15)])
def test_more_random_laws_are_as_computed_another_way(kind: Any, laws: int, seed: int) -> None:
    run(seed, kind, laws)
