"""Proof that a line of a cell table bounds what it claims to bound, at every distance in a range.

The claim (csrc/cells/table.h, dg_line). For every integer y that is decided by the line, with
t = 2**56 (2**i H g(y) - m) and C the clamp to [0, 2**56],

    C(v - error) <= C(t) <= C(v + error)

where v is what the C code computes from the block and the tick of y. It holds v's second term, the
rise from base, within 2**62, which changes neither side, as 0 <= error <= 2**60 and
abs(base) <= 2**61 + 2**57 (checked).

From v to a straight line. Let D be the true distance of y and `at` the code's. They differ by the
rounding of the stored centre and by the rest bytes, which the code does not look at:

    abs(at - D) <= delta = abs(centre - f 2**48/w) + (1 - 2**(-8 rest_bytes)) 2**(48 - tick_bits)

and v = base + floor((far - at) slope / 2**40). So with l(D) = base + (far - D) slope / 2**40,

    v - error <= l(D) - below,  below = error - slope delta / 2**40
    v + error >= l(D) + above,  above = below - 1 (below where the slope is 0: the floor is exact)

and it is enough that C(l - below) <= C(t) <= C(l + above) at all real D from the nearest to the
farthest integer of the range. There t falls as D grows, and so does l (slope >= 0, checked).

The ends. Where g is a known ratio, so is D: phi has an inverse. So a distance `top` is known below
which t >= 2**56 is certain, and a distance `zero` above which t <= 0 is certain. Up to `top` only
C(l + above) = 2**56 is to be shown, from `zero` on only C(l - below) = 0; each follows from one
end, as l is monotone.

Between them, l - below <= t <= l + above on [a, b] (or, for either half of it, that the line's
side is clamped). Let q = t - l; q'' = t''. Where K_low <= t'' <= K_high on [a, b], q differs from
its own chord by -q''(x) (D - a)(b - D)/2 for some x in (a, b), so

    q <= max(q(a), q(b)) + max(0, -K_low)  (b - a)**2 / 8
    q >= min(q(a), q(b)) - max(0,  K_high) (b - a)**2 / 8.

Two values of g and a ball for g'' thus bound q on all of [a, b], not at sampled points. If the
bounds do not do, the piece is cut in half. A violation at an end of a piece ends the proof at once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ._verify_law import DISTANCE_BITS, Weight, ball
from ._verify_table import SLOPE_BITS, Line, Table

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Use", "line_holds"]

_ONE = 2**56  # the height of a cell
_MOST_ERROR = 2**60
_MOST_BASE = 2**61 + 2**57
_MOST_PIECES = 400


class Use(NamedTuple):
    """A use of a line: for 2**tail_level H g - level, from integer `near` outwards to `far`."""

    level: int
    tail_level: int
    near: int
    far: int


class _Claim:
    """l, t and both margins, at the precision in force."""

    def __init__(self, line: Line, use: Use, table: Table, weight: Weight) -> None:
        self.weight = weight
        self.use = use
        self.factor = table.height * 2**use.tail_level
        self._base, self._far = line.base, line.far
        self._slope = ball(Fraction(line.slope, 2**SLOPE_BITS))
        rest = Fraction(0)
        if table.rest_bytes > 0:
            rest = (1 - Fraction(1, 256**table.rest_bytes)) * 2 ** (DISTANCE_BITS - table.tick_bits)
        delta = abs(ball(table.centre) - weight.centre()) + ball(rest)
        self.below = line.error - self._slope * delta
        self.above = self.below if line.slope == 0 else self.below - 1

    def line(self, distance: arb) -> arb:
        value: arb = self._base + (self._far - distance) * self._slope
        return value

    def height(self, g: arb) -> arb:
        value: arb = _ONE * (self.factor * g - self.use.level)
        return value


def _half(claim: _Claim, a: arb, b: arb, q: tuple[arb, arb], spread: tuple[arb, arb]) -> bool:
    """Return whether both bounds are proven on [a, b]; q: its values at the ends of the piece."""
    upper = claim.line(b) + claim.above >= _ONE or all(at + spread[0] <= claim.above for at in q)
    lower = claim.line(a) - claim.below <= 0 or all(at - spread[1] >= -claim.below for at in q)
    return bool(upper and lower)


def _violated(claim: _Claim, at: arb, t: arb, q: arb) -> bool:
    """Return whether a bound is certainly broken at one distance."""
    upper = q > claim.above and claim.line(at) + claim.above < _ONE and t > 0
    lower = q < -claim.below and claim.line(at) - claim.below > 0 and t < _ONE
    return bool(upper or lower)


def _between(claim: _Claim, near: arb, far: arb) -> bool | None:
    """Prove both bounds on [near, far], exact ends. Returns: None where nothing is certain."""
    pieces = [(near, far, claim.weight.weight(near), claim.weight.weight(far))]
    for _ in range(_MOST_PIECES):
        if not pieces:
            return True
        a, b, g_a, g_b = pieces.pop()
        t = claim.height(g_a), claim.height(g_b)
        q = t[0] - claim.line(a), t[1] - claim.line(b)
        if _violated(claim, a, t[0], q[0]) or _violated(claim, b, t[1], q[1]):
            return False
        second = _ONE * claim.factor * claim.weight.second(a, b, g_a, g_b)
        eighth = (b - a) * (b - a) / 8
        zero = ball(0)
        spread = (-second.lower()).max(zero) * eighth, second.upper().max(zero) * eighth
        if _half(claim, a, b, q, spread):
            continue
        middle = ((a + b) / 2).mid()
        if not a < middle < b:
            return None
        g_middle = claim.weight.weight(middle)
        pieces += [(a, middle, g_a, g_middle), (middle, b, g_middle, g_b)]
    return None


def _at_one_integer(claim: _Claim) -> bool | None:
    distance = claim.weight.distance(claim.use.near)
    t = claim.height(claim.weight.weight_at(claim.use.near))
    q = t - claim.line(distance)
    if _violated(claim, distance, t, q):
        return False
    upper = q <= claim.above or claim.line(distance) + claim.above >= _ONE or t <= 0
    lower = q >= -claim.below or claim.line(distance) - claim.below <= 0 or t >= _ONE
    return True if upper and lower else None


def line_holds(line: Line, use: Use, table: Table, weight: Weight) -> bool | None:
    """Decide whether a line keeps its claim over a range of integers on one side of the centre.

    Returns
    -------
    bool or None
        True: proven. False: refuted at some distance. None: not decided at this precision.
    """
    if not (0 <= line.error <= _MOST_ERROR and 0 <= line.slope < 2**63 and 0 <= line.far < 2**63):
        return False
    if abs(line.base) > _MOST_BASE:
        return False
    claim = _Claim(line, use, table, weight)
    if use.near == use.far:
        return _at_one_integer(claim)
    near, far = weight.distance(use.near).lower(), weight.distance(use.far).upper()
    if claim.line(far) + claim.above >= _ONE and claim.line(near) - claim.below <= 0:
        return True  # says nothing, and nothing false
    holds: list[bool | None] = []
    start, end = near, far
    if use.level + 1 <= claim.factor and use.tail_level == 0:
        top = weight.distance_where(Fraction(use.level + 1, claim.factor)).lower()
        if not top.is_finite():
            return None
        if near < top:
            start = top.min(far)
            reached = claim.line(start) + claim.above
            holds.append(_certainty(reached >= _ONE, reached < _ONE))
    if use.level > 0:
        zero = weight.distance_where(Fraction(use.level, claim.factor)).upper()
        if not zero.is_finite():
            return None
        if zero < far:
            end = zero.max(near)
            left = claim.line(end) - claim.below
            holds.append(_certainty(left <= 0, left > 0))
    if start < end:
        holds.append(_between(claim, start, end))
    if False in holds:
        return False
    return None if None in holds else True


def _certainty(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None
