"""Laws summed term by term in 60 digits: the reference for the law functions."""

from __future__ import annotations

from functools import cache
from typing import Any

import mpmath
from mpmath import mp, mpf

import discretegauss as dg

__all__ = ["GG", "LAWS", "G", "L", "close", "encloses", "phi", "weights"]

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


@cache
def weights(law: Any) -> dict[int, Any]:
    """Return the weights exp(-phi), out to where they are below 10^-80 of the largest."""
    with mp.workdps(60):
        middle = round(law.mu)
        found = {middle: mpmath.exp(-phi(law, middle))}
        for step in (1, -1):
            k = middle + step
            while (w := mpmath.exp(-phi(law, k))) > found[middle] * mpf(10) ** -80:
                found[k] = w
                k += step
        return found


def close(value: float, exact: Any) -> bool:
    with mp.workdps(60):
        return bool(abs(mpf(float(value)) - exact) <= abs(exact) * mpf("1e-14"))


def encloses(bounds: tuple[float, float], exact: Any) -> bool:
    with mp.workdps(60):
        lower, upper = (mpf(float(x)) for x in bounds)
        # the sums themselves are right to some 50 digits
        slack = abs(exact) * mpf(10) ** -50
        tight = upper - lower <= abs(exact) * mpf("1e-15")
        return bool(lower - slack <= exact <= upper + slack and tight)
