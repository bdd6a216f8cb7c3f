"""The loss of a sum of draws on one number that a person changes, by the exact law of the sum.

The law of the sum is enclosed, integer by integer (_certified/convolution.py). A convolution of
symmetric log-concave laws is symmetric and log-concave. So the loss never falls along the integers,
and the largest change is the worst, for both adjacencies, with sampling and without
(_noise_outcomes.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.convolution import tails_of_sum
from .._certified.interval import Interval, arithmetic
from .._law import LawSpec
from ._outcomes import Outcome, Outcomes, mirrored

_BITS = 192
_AT192 = arithmetic(_BITS)

#: More outcomes would take more than a second.
_MOST_OUTCOMES = 2**13


def noise_of_sum(one: LawSpec, clients: int, change: int, rate: Fraction) -> Outcomes | None:
    """Return a release of a sum of draws that one person changes by an integer; None if too wide.

    It dominates the sum, because all mass beyond the integers taken counts as an infinite loss.
    """
    tails = tails_of_sum(one, clients, _BITS) if change < _MOST_OUTCOMES else None
    if tails is None or change - 2 * tails.first > _MOST_OUTCOMES:
        return None
    found, reach, unit = tails, -tails.first, 1 << _BITS

    def enclosed(low: Any, high: Any) -> Interval:
        ends = (gmpy2.mpq(max(low, 0), unit), gmpy2.mpq(high, unit))
        return Interval(_AT192.rational(ends[0]).lower, _AT192.rational(ends[1]).upper)

    def mass(x: int) -> Interval:
        (low, high), (after, after_high) = found.at(x), found.at(x + 1)
        return enclosed(low - after_high, high - after)

    outcomes = []
    far = enclosed(0, found.at(reach + change + 1)[1] + found.missing)  # of either law, at most
    for x in range(-reach, reach + change + 1):
        with_person, without = mass(x - change), mass(x)
        if with_person.lower > 0 or without.lower > 0:
            outcomes.append(Outcome(with_person, without))
        else:
            far = _AT192.add(far, _AT192.add(with_person, without))
    far = _AT192.add(far, enclosed(0, found.missing))
    return Outcomes([*outcomes, *mirrored(far, _AT192.rational(0))], rate)
