"""Functions of arrays return what they return for single numbers, bit for bit."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from evidence_cases import crossed, some
from law_sums import GG, G, L

from discretegauss._certified import array_tails
from discretegauss._certified.array_functions import array_values
from discretegauss._certified.array_weights import certified_tail
from discretegauss._certified.double_double import Pairs
from discretegauss._certified.double_double_functions import (
    exponential,
    logarithm,
)

LAWS = [
    GG(100, "3/2"),
    GG(30, "5/2", "1/3"),
    GG(40, "1.1", "1e-30"),
    GG("1/2", 3, "1/2"),
    GG("1/20", "3/2", "9/20"),
    GG(9, 60, "1/2"),
    GG(20, 3000, -(2**40)),
    GG(10**12, "3/2", "1/7"),
    GG("1/1000", "3/2", "2/5"),
    GG("1/1000", 5000, "1/2"),  # its exponents are beyond all floats
    GG(300, 2**17),
    G(100),
    G("1/3", "1/7"),
    G(10**17, "-1/3"),
    G(10**40, "2/5"),  # floats hold only its middle
    L("5/2", "1/3"),
    L(10**9),
]


def points(law: Any, rng: np.random.Generator, n: int) -> Any:
    """Return integers in no order, some twice: near mu, in the tails, and beyond all floats."""
    m0, s = round(law.mu), max(1, min(int(law.std()), 2**50))
    reach = max(1, min(int(s * 700 ** float(1 / law._spec.beta)), 2**52))
    ks = np.concatenate(
        [
            m0 + rng.integers(-3, 4, n),
            m0 + np.rint(rng.normal(0, s, n)).astype(np.int64),
            m0 + rng.integers(-reach, reach + 1, n),
            m0 + np.array([-1, 1]) * (reach * 2 + 3),
            [-(2**63), 2**63 - 1, 2**61],
        ]
    )
    rng.shuffle(ks)
    return ks


@pytest.mark.parametrize(("law", "name"), crossed(LAWS, ["pmf", "cdf", "sf"], n=len(LAWS)))
def test_arrays_are_rounded_as_numbers_are(law: Any, name: str) -> None:
    ks = points(law, np.random.default_rng(1), 12)
    function = getattr(law, name)
    assert function(ks).tolist() == [function(k) for k in ks.tolist()]


@pytest.mark.evidence
@pytest.mark.parametrize("seed", range(12))
def test_arrays_of_random_laws_are_rounded_as_numbers_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(4):
        beta = 1 + Fraction(10 ** rng.uniform(-3, 2)).limit_denominator(50) + Fraction(1, 101)
        scale = Fraction(10 ** rng.uniform(-1, 9)).limit_denominator(100)
        law = GG(scale, beta, Fraction(int(rng.integers(-99, 99)), int(rng.integers(1, 99))))
        ks = points(law, rng, 100)
        for function in (law.pmf, law.cdf, law.sf):
            values = function(ks)
            some = rng.integers(0, ks.size, 40)
            assert values[some].tolist() == [function(k) for k in ks[some].tolist()], law


@pytest.mark.parametrize(("law", "name"), crossed(LAWS[:7], ["pmf", "cdf", "sf"], n=7))
def test_next_to_none_are_left_to_the_certified_functions(law: Any, name: str) -> None:
    """About one in 2**11 is close to where rounding changes, and none is beyond phi = 600."""
    m0, reach = round(law.mu), int(law.scale * 500 ** (1 / law.beta))
    ks = m0 + np.random.default_rng(2).integers(-reach, reach + 1, 20000)
    _, decided = array_values(name, law._spec, ks)
    assert (~decided).sum() <= 60


@pytest.mark.parametrize("law", some(LAWS[:7], 2), ids=str)
def test_quantiles_are_those_of_numbers(law: Any) -> None:
    """This holds next to the jumps, too, where the floats beside a value of the cdf decide."""
    rng = np.random.default_rng(3)
    jumps = np.array([law.cdf(k) for k in points(law, rng, 2).tolist()])
    q = np.concatenate(
        [jumps, np.nextafter(jumps, 0), np.nextafter(jumps, 1), rng.random(6), [0, 1, 0.5, 2]]
    )
    q = np.append(q, [math.nan, 1e-300, 5e-324, 1 - 2**-53])
    rng.shuffle(q)
    for function in (law.ppf, law.isf):
        expected = [function(x) for x in q.tolist()]
        np.testing.assert_array_equal(function(q), np.array(expected))


def test_quantiles_of_wide_laws_are_those_of_numbers() -> None:
    """Newton's steps from a first guess find them, for tails from 1/2 down to 1e-300."""
    rng = np.random.default_rng(4)
    some = [1 - 2.0 ** -rng.uniform(1, 53, 300), 10.0 ** -rng.uniform(0, 300, 300), rng.random(300)]
    q = np.concatenate(some)
    for law in (G(10**12), G(10**18, "-1/3"), GG(10**9, "3/2", "1/3")):
        for function in (law.ppf, law.isf):
            values = function(q)
            for i in rng.integers(0, q.size, 6):
                assert values[i] == function(q.tolist()[i])


def test_a_logarithm_next_to_0_is_not_above_it() -> None:
    """The law is nearly all at one integer, whose exponent is 0 up to an error."""
    law = GG("1/81", "201/100", mu=-1 - Fraction(1, 10**30))
    ks = np.arange(-9, 9)
    assert law.logpmf(ks)[ks == -1].tolist() == [law.logpmf(-1)] == [0.0]


def test_a_sum_in_rows_is_the_sum() -> None:
    """The tails of a wide law at many integers are the certified ones at some of them."""
    law = GG(20000, "3/2", "1/3")
    ks = np.arange(-60000, 90000)
    for function in (law.cdf, law.sf):
        values = function(ks)
        for k in (-60000, -54321, -1, 0, 1, 2, 54321, 89999):
            assert values[k + 60000] == function(k)


@pytest.mark.parametrize(
    "law",
    some(
        [
            GG(10**6, "3/2"),
            GG(10**9, "5/2", "1/3"),
            GG(10**12, "11/10", "-1/3"),
            GG(10**9, 20, "1/2"),
        ],
        2,
    ),
    ids=str,
)
def test_tails_of_wide_laws_are_those_certified(law: Any) -> None:
    """Polynomials give them to 2**-80 next to mu, at the ends of pieces, and far out."""
    spec, rng = law._spec, np.random.default_rng(6)
    made = array_tails._polynomials(spec)
    assert made is not None
    pieces = made.pieces
    some = rng.integers(0, pieces.starts.size, 5)
    js = [1, 8191, *pieces.starts[some] - 1, *pieces.starts[some], *pieces.centres[some] + 1]
    js = [*js, pieces.starts[0], pieces.starts[0] + 1, pieces.starts[-30]]
    ms = round(law.mu) + np.array(js)
    tails = array_tails.tails_in_pieces(spec, ms)
    assert tails is not None
    with gmpy2.context(precision=400):
        for m, tail in zip(ms.tolist(), _exact(tails), strict=True):
            certified = certified_tail(spec, m)
            exact = gmpy2.mpfr(certified.high) + gmpy2.mpfr(certified.low)
            assert abs(tail / exact - 1) <= gmpy2.mpfr(2) ** -80


def test_many_of_a_wide_law_are_those_of_numbers() -> None:
    """Polynomials give nearly all of them, rounded as those of numbers are."""
    law = GG(10**8, "3/2", "1/3")
    ks = np.rint(np.random.default_rng(7).normal(0, 3e8, 3000)).astype(np.int64)
    for name in ("cdf", "sf"):
        function = getattr(law, name)
        assert array_values(name, law._spec, ks)[1].sum() > 2980
        assert function(ks)[:20].tolist() == [function(k) for k in ks[:20].tolist()]


# --- pairs


def _exact(pairs: Pairs) -> list[Any]:
    with gmpy2.context(precision=400):
        pairs_of_floats = zip(pairs.high.tolist(), pairs.low.tolist(), strict=True)
        return [gmpy2.mpfr(high) + gmpy2.mpfr(low) for high, low in pairs_of_floats]


@pytest.mark.parametrize("most", [600, 1, 2**-11.4, 1e-9])
def test_exponentials_and_logarithms_of_pairs_are_as_good_as_proven(most: float) -> None:
    high = np.random.default_rng(5).uniform(-most, most, 2000)
    given = Pairs(high, high * 2.0**-54)
    raised = exponential(given)
    back = logarithm(raised)
    with gmpy2.context(precision=400):
        for a, e, b in zip(*map(_exact, (given, raised, back)), strict=True):
            unit = gmpy2.mpfr(2) ** -104 * abs(a)
            assert abs(e / gmpy2.exp(a) - 1) <= gmpy2.mpfr(2) ** -100 + unit
            assert abs(b - gmpy2.log(e)) <= gmpy2.mpfr(2) ** -99 + 2 * unit
