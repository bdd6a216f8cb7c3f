"""Integer noise as the privacy calculus sees it: its tails, and where it gives a lot away.

The noise X is symmetric about 0 with weights exp(-phi(x)), phi convex: discrete Gaussian, discrete
Laplace, generalised Gaussian (beta >= 1). A law with another integer mu is the same noise, moved by
a number that everybody knows.

If one person changes the query by D, the outcome x away from the one value is x + D away from the
other, and the privacy loss there is

    loss(x) = phi(x + D) - phi(x),

which never falls in x, as phi is convex, and is 0 at x = -D/2, as phi is symmetric.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2

from .._interval import Interval, arithmetic
from .._lattice import canonical, normaliser, phi_at, tail_ratio
from .._parameters import shown
from .._spec import Kind, Spec
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law

__all__ = [
    "Law",
    "LossTooFarError",
    "centred",
    "loss_exceeds_from",
    "phi_near",
    "tail_weight",
    "total_weight",
]

_FARTHEST = 2**512
"""No outcome is looked for beyond so many scales, where phi(x) >= x/scale."""

_UNDECIDED_BITS = 2048
"""Two losses of a generalised Gaussian that agree so far may be equal; both cases are tried."""


class LossTooFarError(ParameterValueError):
    """An epsilon is lost only so far out that what lies there has next to no probability.

    Less than exp(-2**511), which is below every delta that can be asked for.
    """


def centred(law: object) -> Spec:
    """Return the law moved to mu = 0; refuse what is no law, or one whose mu is no integer."""
    if isinstance(law, DiscreteGaussian):
        spec = Spec(Kind.DISCRETE_GAUSSIAN, law.sigma2)
    elif isinstance(law, DiscreteLaplace):
        spec = Spec(Kind.DISCRETE_LAPLACE, law.scale)
    elif isinstance(law, GeneralizedGaussian):
        spec = canonical(Spec(Kind.GENERALIZED_GAUSSIAN, law.scale, beta=law.beta))
    else:
        raise ParameterTypeError(
            "law must be a DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian, "
            f"got {type(law).__name__}"
        )
    if law.mu.denominator != 1:
        raise ParameterValueError(
            "mu must be an integer here (off the integers the law is not symmetric, and its "
            f"guarantee another), got {shown(law.mu)}"
        )
    return spec


def phi_near(spec: Spec, x: int) -> Any:
    """Return phi(x) as an mpq: exactly, but for generalised Gaussians within 2**-60, below."""
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return x * x / (2 * gmpy2.mpq(spec.parameter))
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return abs(x) / gmpy2.mpq(spec.parameter)
    rough = phi_at(spec, x, arithmetic(64)).upper
    bits = 64 + 32 * (gmpy2.mpz(rough).bit_length() // 32 + 1)
    return gmpy2.mpq(phi_at(spec, x, arithmetic(bits)).lower)


def tail_weight(spec: Spec, m: int, bits: int) -> Interval:
    """Return the weight of all x >= m, m >= 0, in units of exp(-phi_near(m))."""
    ratio = tail_ratio(spec, m, bits)
    if spec.kind is not Kind.GENERALIZED_GAUSSIAN:
        return ratio
    shift = phi_near(spec, m)
    at = arithmetic(bits + 10 + gmpy2.mpz(shift).bit_length())
    difference = at.shift(at.neg(phi_at(spec, m, at)), shift)
    return at.mul(ratio, at.exp(difference))


@lru_cache(maxsize=128)
def total_weight(spec: Spec, bits: int) -> Interval:
    """Return the weight of all integers, in units of that of 0."""
    return normaliser(spec, bits)[1]


def loss_exceeds_from(spec: Spec, epsilon: Any, change: int) -> tuple[int, int] | None:
    """Return the least x with loss(x) > epsilon, between two bounds; None if there is none.

    Parameters
    ----------
    spec : Spec
        The law, centred.
    epsilon : mpq
        At least 0.
    change : int
        D, at least 1.

    Returns
    -------
    (int, int)
        That x is neither below the first nor above the second. They differ for a generalised
        Gaussian only, and only by an x at which the loss agrees with epsilon to 2048 bits.

    Notes
    -----
    Discrete Gaussian: loss(x) = (2 x D + D**2)/(2 sigma2). Discrete Laplace: (2 x + D)/scale on
    -D <= x <= 0, and D/scale on x >= 0.
    """
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        first = _above(epsilon * gmpy2.mpq(spec.parameter) / change - gmpy2.mpq(change, 2))
        return first, first
    if spec.kind is Kind.DISCRETE_LAPLACE:
        scaled = epsilon * gmpy2.mpq(spec.parameter)
        if scaled >= change:
            return None
        first = _above((scaled - change) / 2)
        return first, first
    return _by_bisection(spec, Fraction(int(epsilon.numerator), int(epsilon.denominator)), change)


def _above(value: Any) -> int:
    """Return the least integer above the mpq."""
    return int(value.numerator // value.denominator) + 1


def _by_bisection(spec: Spec, epsilon: Fraction, change: int) -> tuple[int, int]:
    low = -((change + 1) // 2)  # loss(low) <= 0 <= epsilon, as low <= -D/2
    reach = 1
    while _loss_exceeds(spec, low + reach, epsilon, change) is not True:
        if reach > _FARTHEST * (change + spec.parameter):
            raise LossTooFarError(
                "epsilon must be a loss that occurs within 2**512 scales of the centre; "
                "what lies beyond has a probability below exp(-2**512)"
            )
        reach *= 2 * reach
    high = low + reach
    while high - low > 1:
        middle = (low + high) // 2
        exceeds = _loss_exceeds(spec, middle, epsilon, change)
        if exceeds is None:
            # phi is strictly convex (beta > 1), so the losses beside this one differ
            beside = (_loss_exceeds(spec, x, epsilon, change) for x in (middle - 1, middle + 1))
            if tuple(beside) != (False, True):  # no cover: by less than 2**-2048, if beta is near 1
                raise ParameterValueError("epsilon must be farther from a loss that occurs")
            return middle, middle + 1
        low, high = (low, middle) if exceeds else (middle, high)
    return high, high


def _loss_exceeds(spec: Spec, x: int, epsilon: Fraction, change: int) -> bool | None:
    """Whether loss(x) > epsilon; None where they agree to _UNDECIDED_BITS."""
    cancelled = 2 * max(0, x.bit_length() - change.bit_length())  # phi(x) against the loss, roughly
    bits = 64
    while bits <= _UNDECIDED_BITS:
        at = arithmetic(bits + cancelled)
        loss = at.sub(phi_at(spec, x + change, at), phi_at(spec, x, at))
        if loss.lower > epsilon:
            return True
        if loss.upper <= epsilon:
            return False
        bits *= 2
    return None
