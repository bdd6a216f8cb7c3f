"""Pairs of floats hold tails and elementary functions to the bits that are proven for them."""

from __future__ import annotations

from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from evidence_cases import some
from law_exact import Exact
from law_sums import GG, G
from mpmath import mp, mpf

from discretegauss._certified.double_double import Pairs
from discretegauss._certified.double_double_functions import exponential, logarithm
from discretegauss._law_functions.array_functions import tail_table
from discretegauss._law_functions.array_tails import _polynomials, tails_in_pieces
from discretegauss._law_functions.array_weights import DOUBLINGS, LARGEST


def in_mpfr(pairs: Pairs) -> list[Any]:
    with gmpy2.context(precision=400):
        pairs_of_floats = zip(pairs.high.tolist(), pairs.low.tolist(), strict=True)
        return [gmpy2.mpfr(high) + gmpy2.mpfr(low) for high, low in pairs_of_floats]


@pytest.mark.parametrize("most", [600, 1, 2**-11.4, 1e-9])
def test_exponentials_and_logarithms_are_as_good_as_proven(most: float) -> None:
    high = np.random.default_rng(5).uniform(-most, most, 2000)
    given = Pairs(high, high * 2.0**-54)
    raised = exponential(given)
    back = logarithm(raised)
    with gmpy2.context(precision=400):
        for a, e, b in zip(*map(in_mpfr, (given, raised, back)), strict=True):
            unit = gmpy2.mpfr(2) ** -104 * abs(a)
            assert abs(e / gmpy2.exp(a) - 1) <= gmpy2.mpfr(2) ** -100 + unit
            assert abs(b - gmpy2.log(e)) <= gmpy2.mpfr(2) ** -99 + 2 * unit


@pytest.mark.parametrize(
    "law",
    some(
        [GG(10**6, "3/2"), GG(10**9, "5/2", "1/3"), GG(10**12, "11/10", "-1/3"), GG(10**9, 20)], 2
    ),
    ids=str,
)
def test_tails_of_wide_laws_are_right_to_80_bits(law: Any) -> None:
    """Polynomials give them next to mu, at the ends of pieces, and far out."""
    made, exact = _polynomials(law._spec), Exact(law)
    assert made is not None
    starts, centres = made.pieces.starts, made.pieces.centres
    picked = np.random.default_rng(6).integers(0, starts.size, 3)
    js = [1, 8191, *starts[picked] - 1, *starts[picked], *centres[picked] + 1]
    ms = round(law.mu) + np.array([*js, starts[0], starts[0] + 1, starts[-30]])
    tails = tails_in_pieces(law._spec, ms)
    assert tails is not None
    with mp.workdps(exact.digits):
        for m, high, low in zip(ms.tolist(), tails.high, tails.low, strict=True):
            found = (mpf(float(high)) + mpf(float(low))) * mpf(2) ** -DOUBLINGS
            true = mpmath.exp(exact.probabilities(m - 1)["logsf"])
            assert abs(found / true - 1) <= mpf(2) ** -80


def test_no_table_of_tails_goes_beyond_the_integers_that_floats_hold() -> None:
    mu = LARGEST - 5
    spec = G(100, mu)._spec
    assert tail_table(spec, mu, mu + 3, most=100) is not None
    assert tail_table(spec, mu, mu + 20, most=100) is None
