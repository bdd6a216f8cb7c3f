"""Integer noise on an answer that a person changes by a random number.

docs/concepts/accounting.md proves that several sampled records of a person are of this kind.
With a probability w_j the change is j, for a few j >= 0. So P(k) is the sum of w_j Q(k - j), and Q
is the law of the noise. Mass beyond the listed integers counts as of infinite losses.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from .._certified.interval import ZERO, Interval, arithmetic
from .._certified.probability import pmf
from .._certified.quantile import lower_quantile
from .._law import LawSpec
from ..errors import ParameterOverflowError
from ._outcomes import Outcome, Outcomes

_AT192 = arithmetic(192)

#: The mass of the noise beyond the listed integers, on one side.
_BEYOND = Fraction(1, 2**110)

#: The most integers that are listed; they take about a minute.
_MOST = 2**17


def mixture_of_moves(spec: LawSpec, chances: Mapping[int, Fraction]) -> Outcomes:
    """Return centred noise, moved by each number with its probability, beside the noise."""
    likely = {move: chance for move, chance in chances.items() if chance}
    reach, largest = lower_quantile(spec, 1 - _BEYOND), max(likely)
    if 2 * reach + largest >= _MOST:
        raise ParameterOverflowError(
            "law must be narrower, or changes smaller: more than 2**17 integers have mass"
        )
    mass = [pmf(spec, x, 160) for x in range(reach + largest + 1)]
    outcomes = []
    for k in range(-reach, reach + largest + 1):
        p = _AT192.rational(0)
        for move, chance in likely.items():
            if abs(k - move) < len(mass):
                p = _AT192.add(p, _AT192.scale(mass[abs(k - move)], chance))
        outcomes.append(Outcome(p, mass[abs(k)]))
    p_beyond, q_beyond = _AT192.rational(1), _AT192.rational(1)
    for one in outcomes:
        p_beyond, q_beyond = _AT192.sub(p_beyond, one.p), _AT192.sub(q_beyond, one.q)
    none = _AT192.rational(0)
    for p, q in ((p_beyond, none), (none, q_beyond)):
        outcomes.append(Outcome(Interval(ZERO, p.upper), Interval(ZERO, q.upper)))
    return Outcomes(outcomes, Fraction(1))
