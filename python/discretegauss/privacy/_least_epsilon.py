"""The least epsilon for a delta: the lines of _hockey_stick.py solved backwards."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import gmpy2

from .._certified.families import family_of
from .._certified.floats import float_at_least
from .._certified.interval import ZERO, Interval, arithmetic
from .._certified.search import first_true, float_at, ordinal
from .._law import LawSpec
from ._facts import cancelling_bits
from ._hockey_stick import delta_enclosed, line_at, relative_bits
from ._privacy_loss import LossTooFarError, loss_exceeds_from, phi_near
from ._root_finding import search_precision, solve_increasing
from .zcdp import minus_log_upper

#: To how many bits a delta may agree with the one asked for before it counts as larger.
_MOST_AIM = 480

#: Newton's method passes about one line a step: so many need no search for a guess.
_FEW_LINES = 8

#: The last step of a guess of log(epsilon): the next is about its square, and lines do the rest.
_CLOSE = 1e-6

#: So many, and the rest is left to bisection.
_MOST_LINES = 200

_LARGEST_FLOAT = math.nextafter(math.inf, 0.0)

#: exp of this is above every float, exp of minus this below.
_BEYOND_FLOATS = 750


def delta_is_at_most(spec: LawSpec, epsilon: Any, change: int, delta: Any) -> bool:
    """Return whether the noise is proven to have (epsilon, delta), two mpq; delta > 0."""
    aim = 60
    while True:
        try:
            enclosed = delta_enclosed(spec, epsilon, change, aim)
        except LossTooFarError:  # a delta below all that can be asked for
            return True
        if enclosed is None:
            return True
        known = enclosed.is_at_most(delta, aim + 20)
        if known is not None or aim >= _MOST_AIM:
            return known is True
        aim *= 2


def least_epsilon(spec: LawSpec, change: int, delta: Any) -> float:
    """Return the least float at which the noise is proven to have (epsilon, delta); maybe inf.

    delta is convex in exp(epsilon), so the line of any epsilon reaches ``delta`` no later than
    delta does, and the lines there, one after the other, come to it from below: Newton's method. A
    guess spares it the far tail, where it would creep. Where a line reaches it on the line's own
    piece, it is delta that does.
    """

    @cache
    def holds(n: int) -> bool:
        x = float_at(n)
        return not x <= _LARGEST_FLOAT or delta_is_at_most(spec, gmpy2.mpq(x), change, delta)

    guess, lower = _guess(spec, change, delta), 0.0
    for _ in range(_MOST_LINES):
        reached, is_it = _line_reaches(spec, guess, change, delta)
        if is_it:
            return reached
        close = abs(reached - guess) <= 1e-9 * reached  # the next step would be about its square
        if reached <= lower or (close and holds(ordinal(reached))):
            break
        guess = lower = reached
    return float_at(first_true(holds, ordinal(max(reached, lower) or guess), low=0))


def _line_reaches(spec: LawSpec, epsilon: float, change: int, delta: Any) -> tuple[float, bool]:
    """Return where the line at epsilon reaches delta, and whether that is sure to be the answer.

    A float from 0 on, but finite.
    """
    at = arithmetic(64)
    try:
        first = loss_exceeds_from(spec, gmpy2.mpq(epsilon), change)
    except LossTooFarError:  # no cover: a guess is where delta is about the one asked for
        return 0.0, False
    if first is None:  # past the pure epsilon, where delta is 0
        pure = family_of(spec).pure_epsilon(spec, change)
        return float_at_least(at.rational(pure).upper), False
    aim, bits = 60, 70 + cancelling_bits(spec, change)
    while True:
        reached = line_at(spec, first[0], change, bits).solved_for(delta, bits)
        missing = aim - relative_bits(reached)
        if reached.upper <= 0:
            return 0.0, False
        if missing <= 0 or bits > 2000 or reached.lower >= _LARGEST_FLOAT:
            break
        bits += missing + 8
    found = min(float_at_least(max(reached.lower, 0)), _LARGEST_FLOAT)
    is_it = (
        reached.lower > 0
        and first[0] == first[1]
        and found == float_at_least(reached.upper)
        and all(loss_exceeds_from(spec, gmpy2.mpq(end), change) == first for end in reached)
    )
    return found, is_it


def _guess(spec: LawSpec, change: int, delta: Any) -> float:
    """Return about the epsilon looked for, to nine digits or so."""
    if family_of(spec).pure_epsilon(spec, change) is not None:  # few lines, if any, are passed
        return 0.0
    goal = minus_log_upper(delta)
    with search_precision():
        # Where phi(x) = -log(delta) the tail, and so delta, is about as large as it should be.
        x = _where_phi_is(spec, goal)
        if x <= _FEW_LINES:
            # P(X >= -y) is above delta: a line from before -y reaches it.
            y = _where_phi_is(spec, minus_log_upper(1 - delta))
            before = gmpy2.mpfr(phi_near(spec, change - y - 1) - phi_near(spec, -y - 1))
            return min(float(max(before, 0)), _LARGEST_FLOAT)
        start = gmpy2.log(gmpy2.mpfr(phi_near(spec, x + change) - phi_near(spec, x)))

        def balance(u: Any) -> tuple[Any, Any]:
            epsilon = gmpy2.exp(u)
            try:
                log_delta, hazard = log_delta_about(spec, gmpy2.mpq(epsilon), change)
            except LossTooFarError:  # so epsilon is too large
                return 1, None
            return gmpy2.log(-log_delta / goal), epsilon * hazard / -log_delta

        epsilon = gmpy2.exp(solve_increasing(balance, start, _CLOSE, _BEYOND_FLOATS))
    return min(float(epsilon), _LARGEST_FLOAT)


def _where_phi_is(spec: LawSpec, goal: Any) -> int:
    """Return the integer about, or before, where phi is the goal."""
    return int(family_of(spec).distance_of(spec, Interval(goal, goal), arithmetic(64)).lower)


def log_delta_about(spec: LawSpec, epsilon: Any, change: int) -> tuple[Any, Any]:
    """Return about log(delta), and minus its slope in epsilon, as two mpfr."""
    first = loss_exceeds_from(spec, epsilon, change)
    if first is None:  # no cover: only a discrete Laplace, which needs no guess
        raise ValueError("delta is 0")
    bits = 50 + cancelling_bits(spec, change)
    while True:
        line = line_at(spec, first[0], change, bits)
        enclosed = line.at(epsilon, bits)
        if relative_bits(enclosed.factor) > 35 or bits > 2000:
            break
        bits *= 2
    down = arithmetic(64).down
    exponent = down.add(epsilon + enclosed.shift - line.b_shift, ZERO)
    taken = down.mul(down.exp(exponent), line.b_factor.lower)
    return enclosed.log_upper(), down.div(taken, enclosed.factor.upper)
