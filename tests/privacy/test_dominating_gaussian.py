"""The terms of Theorem 2 (shares.py) are the formulas rounded up, and rounds multiply them.

The true deltas of small cases lie too far below to tell a term that is left out.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
from evidence_cases import at_once
from privacy_reference import mp

import discretegauss as dg
from discretegauss import privacy
from discretegauss.privacy import shares
from discretegauss.privacy._known_sample import Sample
from discretegauss.privacy.sensitivity import Sensitivity

#: sigma2 of a share, shares, norm, dimension. Norms are short and long beside the dimension, or
#: not whole; sums are narrow or wide.
CASES: list[tuple[Any, int, Any, int]] = [
    ("3/2", 50, 5, 100),
    (1, 30, 2, 100),
    (2, 2, 3, 4),
    ("9/4", 7, "5/2", 9),
    (3, 1, 1, 5),
]


def terms(s: Any, n: int, norm: Any, d: int, b: Fraction) -> tuple[Any, Any, Any, Any]:
    """Return log(m), the same with the bound 2 q/(1 - q) on eta, kappa, and the variance."""
    s, norm, width = (mp(Fraction(x)) for x in (s, norm, b))
    total, k = n * s, min(d, int(norm**2))
    tau = 10 * mpmath.fsum(mpmath.exp(-2 * mpmath.pi**2 * s * i / (i + 1)) for i in range(1, n))
    q = mpmath.exp(-2 * mpmath.pi**2 * total * width / (total + width))
    eta = 2 * mpmath.fsum(q ** (j * j) for j in range(1, 20))
    kappa = norm**2 * width / (2 * total**2) + k * tau
    log_m, more = (k * (mpmath.log1p(x) + tau / 2) for x in (eta, 2 * q / (1 - q)))
    return log_m, more, kappa, total**2 / (norm**2 * (total + width))


@at_once("case", CASES)
@at_once("b", [Fraction(1, 5), Fraction(1, 2), Fraction(4)])
def test_each_term_is_the_formula_rounded_up(case: tuple[Any, int, Any, int], b: Fraction) -> None:
    """Both sides: places that change, tau and eta, with everybody and on a sample."""
    change = Sensitivity.of_vector(*case[2:])
    rounds = shares.Rounds(dg.DiscreteGaussian(case[0])._spec, case[1], change, 1)
    found = shares._of_width(rounds, b, Sample(Fraction(1)))
    sampled = shares._of_width(rounds, b, Sample(Fraction(3, 10)))
    with mpmath.workdps(60):
        log_m, more, kappa, _ = terms(*case, b)
        if max(more, kappa) > 1:  # which says nothing
            assert found is sampled is None
            return
        assert found is not None
        assert sampled is not None
        above = 1 + mpmath.mpf(2) ** -120
        grown = mpmath.expm1(kappa)
        a, c = (1 + mp(q) * grown for q in (Fraction(3, 10), Fraction(7, 10)))
        wanted = [
            (found[0], kappa, kappa, 1),
            (sampled[0], mpmath.log(a), mpmath.log(a), mp(Fraction(3, 10)) * (1 + grown) / a),
            (sampled[1], kappa, kappa - mpmath.log(c), mp(Fraction(3, 10)) / c),
        ]
        assert found[0] == found[1]
        for one, beside, shift, rate in wanted:
            assert log_m + beside <= mpmath.mpf(one.log_factor) <= (more + beside) * above
            assert shift * (1 - mpmath.mpf(2) ** -150) <= mpmath.mpf(one.shift) <= shift * above
            assert rate <= mp(one.rate) <= rate * (1 + mpmath.mpf(2) ** -51)


def test_delta_of_many_rounds_is_that_of_the_gaussian_with_its_terms() -> None:
    """Several at once: m and kappa of all 20 rounds count, also of rounds that differ."""
    s, n, norm, d = CASES[0]
    law, how = dg.DiscreteGaussian(s), {"sensitivity": norm, "dimension": d}
    found = privacy.epsilon(law.sum(n), "1e-6", queries=20, **how)
    at = privacy.delta([law.sum(n)] * 4, found, queries=5, **how)
    split = privacy.delta([law.sum(n)] * 2 + [law.sum(n + 10)] * 2, found, queries=5, **how)

    def delta_of(clients: tuple[int, int], b: Fraction) -> Any:
        """Return (2) of ten rounds with so many clients, and ten with so many."""
        mu2 = log = shift = mpmath.mpf(0)
        for one in clients:
            _, log_m, kappa, variance = terms(s, one, norm, d, b)
            mu2, log, shift = mu2 + 10 / variance, log + 10 * (log_m + kappa), shift + 10 * kappa
        mu, e = mpmath.sqrt(mu2), mp(Fraction(found)) - shift
        near = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
        return mpmath.exp(log) * near

    widths = [Fraction(tenths, 10) for tenths in range(3, 8)]
    with mpmath.workdps(40):
        for delta, clients in ((at, (n, n)), (split, (n, n + 10))):
            deltas = [delta_of(clients, b) for b in widths]
            assert any(one <= delta <= one * (1 + 1e-5) for one in deltas)
            assert delta < 1.02 * min(deltas)  # no other width is better by much
    assert 0.99999e-6 < at <= 1e-6 < privacy.zcdp_delta(20 * privacy.rho(law.sum(n), **how), found)
