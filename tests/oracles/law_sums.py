"""Laws and their exponents, for sums term by term."""

from __future__ import annotations

from typing import Any

from mpmath import mpf

import discretegauss as dg

__all__ = ["GG", "LAWS", "G", "L", "phi"]

G, L, GG = dg.DiscreteGaussian, dg.DiscreteLaplace, dg.GeneralizedGaussian

LAWS = [
    *(G(s2, mu) for s2 in ("1/100", "1/4", 1, 10, 400, 10**4) for mu in (0, "1/3", "-1/2")),
    *(L(scale, mu) for scale in ("1/10", 1, "5/2", 40) for mu in (0, "1/3", "-1/2")),
    *(
        GG(scale, beta, mu)
        for scale in (1, 20)
        for beta in (1, "3/2", 2, 3, 4)
        for mu in (0, "1/3")
    ),
    GG(5, 100),
]


def phi(law: Any, k: int) -> Any:
    # products of integers, and one division: sums have a hundred thousand terms
    far, per = abs(k * law.mu.denominator - law.mu.numerator), law.mu.denominator
    if isinstance(law, G):
        return mpf(far * far * law.sigma2.denominator) / (2 * per * per * law.sigma2.numerator)
    z = mpf(far * law.scale.denominator) / (per * law.scale.numerator)
    return z if isinstance(law, L) else z ** (mpf(law.beta.numerator) / law.beta.denominator)
