"""What a law's kind tells of its privacy besides its tails: rho, and how it is called elsewhere.

Of a kind without a line here nothing else is needed: `delta`, `log_delta`, `epsilon` of one query,
and `loss`, need no more than its `Family`.

*Discrete Gaussian.* rho = D**2/(2 sigma2) for a query that changes by D (CKS 2020, Theorem 4).

*Discrete Laplace.* Its scale is t. Noise that is epsilon-differentially private costs at most
epsilon**2/2, epsilon = D/t; the least rho is smaller:

    rho = (D - 2 r (1 - r**D)/(1 - r**2))/t,    r = exp(-1/t),                               (1)

the Kullback-Leibler divergence of the noise P from the noise Q moved by D. *Proof.* rho-zCDP asks
for K(a) <= a (a - 1) rho for all a > 1, K(a) the logarithm of the sum of P**a Q**(1 - a). As K(1)
= 0 and K'(1) is the divergence, none below (1) will do. That it does: with b = a - 1/2, exp(K) is
a sum of w_j cosh(b l_j) over the losses l_j = (D - 2 j)/t, j = 0..D, with equal weights w_j but for
j = 0 and j = D, which have 1/(1 - r) times as much. As a function of v = b**2 it is entire, of
order 1/2; and its zeros are real and negative, because those of f(s) = sum of w_j cos((D - 2 j) s)
are real: with c = r/(1 - r),

    f(s) sin(s) = const ((1 + c) sin((D + 1) s) - c sin((D - 1) s))

has the sign of sin((D + 1) s) where that is 1 or -1, at 2 (D + 1) points of a period, and so as
many zeros in it as a trigonometric polynomial of degree D + 1 can have. So exp(K) is const times a
product of (1 + v/v_i), v_i > 0, and K is concave in v. At v = 1/4, K is 0 and dK/dv is K'(1), hence
K <= K'(1) (v - 1/4) = K'(1) a (a - 1).  (The result is that of Harrison and Manurangsi, arXiv
2510.25746.)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic, fraction_of
from .._inputs.messages import describe
from .._inputs.privacy_arguments import positive_number, whole_sensitivity
from .._law import Kind, LawSpec
from ..errors import ParameterValueError

_MOST_BITS = 10_000


def rho_of_law(spec: LawSpec, sensitivity: object) -> Fraction:
    """Return what a centred law costs in zCDP, never too little; as a user gives a sensitivity."""
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return positive_number(sensitivity, "sensitivity") ** 2 / (2 * spec.parameter)
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return _least_rho(spec.parameter, whole_sensitivity(sensitivity))
    which = f"generalised Gaussian, got beta = {describe(spec.beta)}"
    if spec.kind is Kind.SKELLAM:
        which = f"Skellam law, got variance = {describe(spec.parameter)}"
    raise ParameterValueError(
        f"law must be a discrete Gaussian or Laplace: no rho is known for a {which}"
    )


def event_of_law(events: Any, spec: LawSpec, sensitivity: object) -> Any:
    """Return the noise as one of dp-accounting's ``events``."""
    if spec.kind is Kind.DISCRETE_LAPLACE:
        parameter = _float_above(1 / gmpy2.mpq(spec.parameter))
        return events.DiscreteLaplaceDpEvent(parameter, whole_sensitivity(sensitivity))
    return events.ZCDpEvent(rho=_float_above(rho_of_law(spec, sensitivity)), xi=0.0)


def cancelling_bits(spec: LawSpec, change: int) -> int:
    """Return about how many bits cancel in delta; too few cost time alone.

    Of what is nearly a Gaussian that is the logarithm of sigma/change.
    """
    if spec.kind not in (Kind.DISCRETE_GAUSSIAN, Kind.SKELLAM):
        return 8
    log_variance = spec.parameter.numerator.bit_length() - spec.parameter.denominator.bit_length()
    return max(0, log_variance // 2 - change.bit_length()) + 6


def _float_above(value: Any) -> float:
    """Return the smallest float that is at least the rational."""
    return float_at_least(arithmetic(64).rational(value).upper)


def _least_rho(scale: Fraction, change: int) -> Fraction:
    """Return (1), rounded up; at most epsilon**2/2."""
    pure = change / scale
    # The difference in (1) is about change/(2 scale) of its first term.
    bits = 80 + max(0, scale.numerator.bit_length() - scale.denominator.bit_length())
    if bits > _MOST_BITS:  # so wide that nothing tells it from epsilon**2/2
        return pure**2 / 2
    at = arithmetic(bits)
    r = at.exp(at.rational(-1 / scale))
    one_minus_power = at.neg(at.expm1(at.rational(-pure)))
    one_minus_square = at.neg(at.expm1(at.rational(-2 / scale)))
    mean = at.div(at.scale(at.mul(r, one_minus_power), 2), one_minus_square)
    found = at.scale(at.shift(at.neg(mean), change), 1 / scale)
    return min(fraction_of(arithmetic(64).up.plus(found.upper)), pure**2 / 2)
