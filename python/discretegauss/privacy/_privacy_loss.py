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
from itertools import count
from typing import Any, NamedTuple

import gmpy2

from .._certified.formulas import RationalFormulas
from .._certified.generalized_tail import log_quotient, quotient
from .._certified.interval import Arithmetic, Interval, arithmetic, fraction_of
from .._certified.laws_of_integers import formulas_of, log_weight_ratio, phi_at, tail_ratio
from .._inputs.messages import describe, refused
from .._law import Kind, LawSpec
from ..errors import ParameterValueError

_FARTHEST = 2**512
"""No outcome is looked for beyond so many scales, where phi(x) >= x/scale."""

_UNDECIDED_BITS = 2048
"""A loss that agrees with epsilon so far, beyond what tells neighbours apart, may equal it: both
cases are tried."""

FAR: Any = gmpy2.mpq(2**1100)
"""exp(-phi) of a larger phi is below every delta, and its logarithm below every float."""

_NEXT_TO_0: Any = gmpy2.mpq(1, 2**1100)
"""A smaller phi is taken for 0."""

_GUARD = 40
"""No power loses more bits (`exponent_guard`)."""

_FEW_STEPS = 64
"""Among 2 to that many integers one is looked for by halving."""

_INFINITY: Any = gmpy2.inf()


class LossTooFarError(ParameterValueError):
    """An epsilon is lost only so far out that what lies there has next to no probability.

    Less than exp(-2**511), which is below every delta that can be asked for.
    """


def phi_near(spec: LawSpec, x: int, most: Any = FAR) -> Any:
    """Return phi(x) as an mpq: exact, except for generalised Gaussians: within 2**-60, below.

    For these it is ``most`` where phi is more: of a large beta phi may have 2**40 bits.
    """
    family = formulas_of(spec)
    if isinstance(family, RationalFormulas):
        return family.exact_phi(spec, x)
    rough = phi_at(spec, x, arithmetic(64 + _GUARD))
    if rough.upper < _NEXT_TO_0:
        return gmpy2.mpq(0)
    if rough.lower >= most:
        return most
    bits = 64 + _GUARD + 32 * (max(0, gmpy2.get_exp(rough.upper)) // 32 + 1)
    return gmpy2.mpq(phi_at(spec, x, arithmetic(bits)).lower)


def tail_weight(spec: LawSpec, m: int, bits: int, most: Any = FAR) -> Interval:
    """Return the weight of all x >= m, m >= 0, in units of exp(-phi_near(m, most))."""
    ratio = tail_ratio(spec, m, bits)
    if isinstance(formulas_of(spec), RationalFormulas):
        return ratio
    shift = phi_near(spec, m, most)
    at = arithmetic(bits + 10 + _GUARD + gmpy2.mpz(shift).bit_length())
    difference = at.shift(at.neg(phi_at(spec, m, at)), shift)
    return at.mul(ratio, at.exp(difference))


def loss_exceeds_from(spec: LawSpec, epsilon: Any, change: int) -> tuple[int, int] | None:
    """Return the least x with loss(x) > epsilon, between two bounds; None if there is none.

    Parameters
    ----------
    spec : LawSpec
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
    """
    family = formulas_of(spec)
    if isinstance(family, RationalFormulas):
        first = family.loss_exceeds_from(spec, epsilon, change)
        return None if first is None else (first, first)
    if spec.kind is Kind.SKELLAM:
        return _of_skellam(spec, epsilon, change)
    return _by_bisection(spec, fraction_of(epsilon), change)


def _of_skellam(spec: LawSpec, epsilon: Any, change: int) -> tuple[int, int]:
    """Return `loss_exceeds_from` of a Skellam law: the losses beside one another differ."""
    low = -((change + 1) // 2)  # where the loss is at most 0
    if epsilon == 0:
        return low + 1, low + 1

    def exceeds(x: int) -> bool | None:
        for bits in (_FEW_STEPS, _FEW_STEPS * 4, _UNDECIDED_BITS):
            loss = log_weight_ratio(spec, x, x + change, bits)
            if loss.lower > epsilon or loss.upper <= epsilon:
                return bool(loss.lower > epsilon)
        return None

    step = 1
    while exceeds(low + step) is not True:
        step *= 2
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        is_above = exceeds(middle)
        if is_above is None:
            return middle, middle + 1
        low, high = (low, middle) if is_above else (middle, high)
    return high, high


def _by_bisection(spec: LawSpec, epsilon: Fraction, change: int) -> tuple[int, int]:
    low = -((change + 1) // 2)  # loss(low) <= 0 <= epsilon, as low <= -D/2
    if epsilon == 0:  # and beyond -D/2 it is more than that
        return low + 1, low + 1
    reach = 1
    while _compare(spec, low + reach, epsilon, change).exceeds is not True:
        if reach > _FARTHEST * (change + spec.parameter):
            raise LossTooFarError(
                "epsilon must be a loss that occurs within 2**512 scales of the centre (what lies "
                f"beyond has a probability below exp(-2**511)), got {describe(epsilon)}"
            )
        reach *= 2 * reach
    high = low + reach
    at_low, at_high = -_INFINITY, _INFINITY
    before: bool | None = None
    for tries in count():
        if high - low == 1:
            return high, high
        middle = _between(low, high, at_low, at_high, change, halve=tries % 3 == 2)
        exceeds, log = _compare(spec, middle, epsilon, change, _gained(low, high, change))
        if exceeds is None:
            # phi is strictly convex (beta > 1), so the losses beside this one differ
            beside = [_compare(spec, x, epsilon, change).exceeds for x in (middle - 1, middle + 1)]
            if beside != [False, True]:  # no cover: they differ by far more than is asked for
                raise refused("epsilon", "be farther from a loss that occurs", epsilon)
            return middle, middle + 1
        again, before = exceeds is before, exceeds
        if exceeds:
            high, at_high, at_low = middle, log, _halved(at_low) if again else at_low
        else:
            low, at_low, at_high = middle, log, _halved(at_high) if again else at_high
    raise AssertionError  # count never ends


def _between(low: int, high: int, at_low: Any, at_high: Any, change: int, *, halve: bool) -> int:
    """Return an integer between the two, where the logarithm of loss/epsilon may be about 0.

    With the logarithms at both, one halved while only the other end moves (the Illinois method):
    far fewer steps than halving, where there are very many integers. First sizes are made alike.
    """
    size_low, size_high = (low + change).bit_length(), (high + change).bit_length()
    if size_high - size_low > 1:
        return (1 << (size_low + size_high - 1) // 2) - change
    width = high - low
    if width.bit_length() > _FEW_STEPS and not halve:
        up = arithmetic(width.bit_length() + 32).up
        share = up.div(up.minus(at_low), up.sub(at_high, at_low))
        if gmpy2.is_finite(share):
            return min(max(low + int(gmpy2.mpz(up.mul(share, width))), low + 1), high - 1)
    return (low + high) // 2


def _halved(value: Any) -> Any:
    return arithmetic(value.precision).up.div_2exp(value, 1)


def _gained(low: int, high: int, change: int) -> int:
    """Return how many bits the logarithms need for a step of `_between`."""
    width = (high - low).bit_length()
    if width <= _FEW_STEPS:
        return _FEW_STEPS
    return _FEW_STEPS + 2 * min(max(0, (high + change).bit_length() - width), width)


class _Compared(NamedTuple):
    """Whether a loss exceeds epsilon, None if that is not known; about the logarithm of both."""

    exceeds: bool | None
    log: Any


def _compare(
    spec: LawSpec, x: int, epsilon: Fraction, change: int, bits: int = _FEW_STEPS
) -> _Compared:
    """Compare loss(x) with epsilon > 0, for 2 x + D > 0; with more and more bits."""
    beta = spec.beta
    # the next losses are about so near to it: relative to it by (beta - 1)/x, or (beta - 1)/D
    near = max(x.bit_length(), change.bit_length()) + 8
    near += max(0, beta.denominator.bit_length() - (beta - 1).numerator.bit_length())
    while True:
        at = arithmetic(bits + _GUARD)
        log = at.sub(_log_loss(spec, x, change, at), at.log(at.rational(epsilon)))
        exceeds = True if log.lower > 0 else False if log.upper <= 0 else None
        if exceeds is not None or bits > _UNDECIDED_BITS + near:
            return _Compared(exceeds, log.upper)
        bits *= 2


def _log_loss(spec: LawSpec, x: int, change: int, at: Arithmetic) -> Interval:
    """Return log(loss(x)), for 2 x + D > 0.

    With y = abs(x + D) > z = abs(x) the loss is phi(y) (1 - (z/y)**beta): nothing cancels, and
    logarithms need no long exponents. What cancels in their sum is no more than log(beta D/y).
    """
    scale, beta = spec.parameter, spec.beta
    y, z = abs(x + change), abs(x)
    log_phi = at.scale(log_quotient(y, scale, at), beta)
    if z == 0:
        return log_phi
    rest = at.neg(at.expm1(at.scale(at.log1p(quotient(z - y, y, at)), beta)))
    return at.add(log_phi, at.log(rest))
