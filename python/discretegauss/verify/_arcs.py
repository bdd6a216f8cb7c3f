"""Proof that an arc of a cell table bounds what it claims to bound, at every distance in a range.

The claim (csrc/cells/table.h, dg_arc). For every integer y of the range, with
t = 2**16 (2**i H g(y) - m) and C the clamp to [0, 2**16],

    C(v - error) <= C(t) <= C(v + error)
    v = base - floor(slope q / 2**24) + floor(bulge M / 2**16),  M = floor(q (2**24 - q) / 2**30)

where q = floor(p), p = 2**24 n / width. The range has `width` integers, a power of two; n of them
are nearer to the centre than y.

From v to a parabola. Let u = p/2**24 and l = base - slope u + 4 bulge u (1 - u). If
width <= 2**24, p is an integer, and p = q; otherwise 0 <= p - q < 1. Let s = 0 if p = q, else
s = slope/2**24. Then

    slope u - floor(slope q / 2**24)  is in  [0, s + 1),  and is 0 if slope is 0.

With M(p) = p (2**24 - p) / 2**30, the last term of l is bulge M(p) / 2**16. M differs from M(q) by
less than 1. M(q) differs from M(p) by at most (p - q)/64, because abs(M') <= 1/64 on [0, 2**24].
Let k = abs(bulge) / 2**16 if p = q, else 1 + 1/64 times that. Then

    floor(bulge M / 2**16) - bulge M(p) / 2**16  is in  (-1 - k, k],  and is 0 if bulge is 0.

Their sum is v - l, so

    v - error <= l - below,  below = error - (0 if slope == 0 else 1) - s - k
    v + error >= l + above,  above = error - (0 if bulge == 0 else 1) - k

and it suffices that C(l - below) <= C(t) <= C(l + above).

From integers to distances. On one side of the centre, the distance D grows by a fixed step from
integer to integer, and n by 1. So u = (D - D0)/W, where D0 is the distance of the first integer and
W is `width` steps long, and l is a parabola in D with l'' = -8 bulge / W**2. The bounds are proven
at all real D from the nearest to the farthest integer of the range. If f > 0, the centre lies
between y = 0 and the other integers of its range. Then y = 0 is proven alone, and D0 = -f for the
others. t falls as D grows. l need not fall, but on [a, b] its extremes are among its values at a,
at b and at its turn, moved to a or b if it is not between them.

The ends. If g is a known ratio, so is D, because phi has an inverse. So a distance `top` is known
below which t >= 2**16 is certain, and a distance `zero` above which t <= 0 is certain. Up to `top`
only C(l + above) = 2**16 has to be proven, and from `zero` on only C(l - below) = 0.

Between the ends, l - below <= t <= l + above has to be proven on [a, b] (or, for either bound, that
the arc's side is clamped). Let q = t - l; q'' = t'' - l''. If K_low <= q'' <= K_high on [a, b], q
differs from its own chord by -q''(x) (D - a)(b - D)/2 for some x in (a, b), so

    q <= max(q(a), q(b)) + max(0, -K_low)  (b - a)**2 / 8
    q >= min(q(a), q(b)) - max(0,  K_high) (b - a)**2 / 8.

Two values of g and a ball for g'' thus bound q on all of [a, b], not at sampled points. If they do
not suffice, the piece is cut in half. A violation at an end of a piece ends the proof at once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ._table import REACH_BITS, Arc, CellTable
from ._weight import Weight, ball

if TYPE_CHECKING:
    from flint import arb

_ONE = 2**16  # the height of a cell
_REACHES = 2**REACH_BITS
_MOST_ERROR = 2**16 - 1
_MOST_BASE = _MOST_SLOPE = 2**30
_MOST_BULGE = 2**14
_MOST_PIECES = 400


class Use(NamedTuple):
    """The target of an arc: 2**tail_level H g - level, from integer `near` outwards to `far`."""

    level: int
    tail_level: int
    near: int
    far: int


class _Claim:
    """l, t and both margins, at the precision in force."""

    def __init__(self, arc: Arc, use: Use, table: CellTable, weight: Weight) -> None:
        self.weight = weight
        self.use = use
        self.factor = table.height * 2**use.tail_level
        self._arc = arc
        width = abs(use.far - use.near) + 1
        self._start = self.signed_distance(use.near)
        self._width = weight.length(width)
        self.second = -8 * ball(arc.bulge) / (self._width * self._width)
        self._turn = self._start
        if arc.bulge != 0:  # move to where l' = 0
            self._turn += self._width * ball(Fraction(1, 2) - Fraction(arc.slope, 8 * arc.bulge))
        is_cut = width > _REACHES  # q is p rounded down
        fall = Fraction(arc.slope, _REACHES) if is_cut else 0
        bend = (Fraction(65, 64) if is_cut else 1) * Fraction(abs(arc.bulge), _ONE)
        self.below = ball(arc.error - int(arc.slope != 0) - fall - bend)
        self.above = ball(arc.error - int(arc.bulge != 0) - bend)

    def signed_distance(self, y: int) -> arb:
        """Return the distance of y, negative if y is not on the range's side of the centre."""
        return self.weight.signed_distance(y, self.use.far < self.use.near)

    def arc(self, distance: arb) -> arb:
        """Return l."""
        u = (distance - self._start) / self._width
        value: arb = self._arc.base - self._arc.slope * u + 4 * self._arc.bulge * u * (1 - u)
        return value

    def extremes(self, a: arb, b: arb) -> tuple[arb, arb, arb]:
        """Return three values of l on [a, b], its least and its greatest among them."""
        return self.arc(a), self.arc(b), self.arc(self._turn.max(a).min(b))

    def height(self, g: arb) -> arb:
        """Return t."""
        value: arb = _ONE * (self.factor * g - self.use.level)
        return value


def _half(claim: _Claim, a: arb, b: arb, q: tuple[arb, arb], spread: tuple[arb, arb]) -> bool:
    """Return whether both bounds are proven on [a, b]; q holds its values at a and b."""
    arcs = claim.extremes(a, b)
    upper = all(at + spread[0] <= claim.above for at in q) or all(
        arc + claim.above >= _ONE for arc in arcs
    )
    lower = all(at - spread[1] >= -claim.below for at in q) or all(
        arc - claim.below <= 0 for arc in arcs
    )
    return bool(upper and lower)


def _violated(claim: _Claim, at: arb, t: arb, q: arb) -> bool:
    """Return whether a bound is certainly broken at one distance."""
    upper = q > claim.above and claim.arc(at) + claim.above < _ONE and t > 0
    lower = q < -claim.below and claim.arc(at) - claim.below > 0 and t < _ONE
    return bool(upper or lower)


def _between(claim: _Claim, near: arb, far: arb) -> bool | None:
    """Prove both bounds on [near, far], exact ends. None means that nothing is certain."""
    pieces = [(near, far, claim.weight.weight(near), claim.weight.weight(far))]
    for _ in range(_MOST_PIECES):
        if not pieces:
            return True
        a, b, g_a, g_b = pieces.pop()
        t = claim.height(g_a), claim.height(g_b)
        q = t[0] - claim.arc(a), t[1] - claim.arc(b)
        if _violated(claim, a, t[0], q[0]) or _violated(claim, b, t[1], q[1]):
            return False
        second = _ONE * claim.factor * claim.weight.second(a, b, g_a, g_b) - claim.second
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


def _at_integer(claim: _Claim, y: int) -> bool | None:
    """Prove both bounds at one integer."""
    at = claim.signed_distance(y)
    t = claim.height(claim.weight.weight_at(y))
    arc = claim.arc(at)
    q = t - arc
    if _violated(claim, at, t, q):
        return False
    upper = q <= claim.above or arc + claim.above >= _ONE or t <= 0
    lower = q >= -claim.below or arc - claim.below <= 0 or t >= _ONE
    return True if upper and lower else None


def _from(claim: _Claim, y: int) -> bool | None:
    """Prove both bounds from y, which is on the range's side of the centre, to the range's end."""
    weight, use = claim.weight, claim.use
    if y == use.far:
        return _at_integer(claim, y)
    near, far = weight.distance(y).lower(), weight.distance(use.far).upper()
    if _reaches_one(claim, near, far) and _reaches_zero(claim, near, far):
        return True  # the arc bounds nothing, and so claims nothing false
    holds: list[bool | None] = []
    start, end = near, far
    if use.level + 1 <= claim.factor and use.tail_level == 0:
        top = weight.distance_where(Fraction(use.level + 1, claim.factor)).lower()
        if not top.is_finite():
            return None
        if near < top:
            start = top.min(far)
            holds.append(_reaches_one(claim, near, start))
    if use.level > 0:
        zero = weight.distance_where(Fraction(use.level, claim.factor)).upper()
        if not zero.is_finite():
            return None
        if zero < far:
            end = zero.max(near)
            holds.append(_reaches_zero(claim, end, far))
    if start < end:
        holds.append(_between(claim, start, end))
    return _all(holds)


def _reaches_one(claim: _Claim, a: arb, b: arb) -> bool | None:
    """Return whether C(l + above) = 2**16 on all of [a, b]."""
    least = [arc + claim.above for arc in claim.extremes(a, b)]
    return _certainty(all(x >= _ONE for x in least), any(x < _ONE for x in least))


def _reaches_zero(claim: _Claim, a: arb, b: arb) -> bool | None:
    """Return whether C(l - below) = 0 on all of [a, b]."""
    most = [arc - claim.below for arc in claim.extremes(a, b)]
    return _certainty(all(x <= 0 for x in most), any(x > 0 for x in most))


def _certainty(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


def _all(holds: list[bool | None]) -> bool | None:
    return False if False in holds else None if None in holds else True


def arc_holds(arc: Arc, use: Use, table: CellTable, weight: Weight) -> bool | None:
    """Decide whether an arc keeps its claim over its range of integers.

    The integers of `use`, the target of the arc, are y >= 0 or y < 0, not both. True means proven,
    False refuted at some distance, and None undecided at this precision.
    """
    if not (0 <= arc.error <= _MOST_ERROR and 0 <= arc.slope <= _MOST_SLOPE):
        return False
    if abs(arc.base) > _MOST_BASE or abs(arc.bulge) > _MOST_BULGE:
        return False
    claim = _Claim(arc, use, table, weight)
    if use.near == 0 < use.far and weight.f > 0:
        return _all([_at_integer(claim, 0), _from(claim, 1)])
    return _from(claim, use.near)
