"""Exact draws of wide Skellam laws: differences of two Poisson draws, each by rejection.

A Poisson draw of mean m is c + s, c = floor(m). A discrete Laplace law of scale b = floor(sqrt(m))
proposes the step s, which is kept with probability f(s) = exp(G(s) + log P(c) - top), G(s) = log
P(c + s) - log P(c) + abs(s)/b. Thresholds that hold for every m decide nearly all proposals
(`thresholds`). Bounds of f(s) itself, as narrow as necessary, decide the others (`keeps`).
Thresholds save time, and never change a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.interval import Arithmetic, Interval, arithmetic
from .._certified.skellam import LARGEST_TABLE
from .._inputs.draw_arguments import INT64, Method
from .._inputs.source import Source
from .._law import Kind, LawSpec

__all__ = ["Draws", "by_rejection"]

_WORD = 64
_PIECE = 2**17

_HALF_WORDS = LawSpec(Kind.UNIFORM_BELOW, Fraction(2**32))
_WORDS = LawSpec(Kind.UNIFORM_BELOW, Fraction(2**_WORD))

_HALF = 2**62
"""int64 holds the difference of two numbers that are smaller than this in size."""

_CELLS = 128
"""Thresholds have this many cells to a scale."""

_SCALES = 6
"""One cell holds all steps of this many scales or more."""

_LEAST_SCALE = isqrt(LARGEST_TABLE // 2)
"""The least b of a law that is drawn here, whose variance is above LARGEST_TABLE."""

_SCALE_BITS = 40
"""This many leading bits of a scale determine the cell of a step."""


class Draws(NamedTuple):
    """Uniform words and Laplace draws, made by an engine from a source."""

    engine_of: Callable[[LawSpec, Method], Any]
    source: Source

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return n independent uniform words, each of two halves, which the core draws fastest."""
        halves = np.empty(2 * n, np.uint32)
        try:
            self.engine_of(_HALF_WORDS, "auto").fill(halves, self.source)
            wide: NDArray[np.uint64] = halves[::2].astype(np.uint64)
            wide <<= np.uint64(32)
            wide |= halves[1::2]
            return wide
        finally:
            halves.fill(0)

    def word(self) -> int:
        """Return one uniform word of 64 bits."""
        return int(self.engine_of(_WORDS, "auto").draw(self.source))

    def laplace(self, scale: int, n: int) -> NDArray[Any]:
        """Return n draws of the discrete Laplace, as int64 if that holds the law."""
        spec = LawSpec(Kind.DISCRETE_LAPLACE, Fraction(scale))
        by = self.engine_of(spec, "auto")
        steps = np.empty(n, INT64 if by.is_int64 else object)
        by.fill(steps, self.source)
        return steps


def by_rejection(variance: Fraction, n: int, draws: Draws) -> NDArray[Any]:
    """Return n draws, as int64 or as objects. The variance must be above LARGEST_TABLE."""
    envelope = envelope_of(variance / 2)
    pieces: list[NDArray[Any]] = [np.empty(0, INT64)]
    for start in range(0, n, _PIECE):
        count = min(n - start, _PIECE)
        steps = poisson_steps(envelope, 2 * count, draws)
        pieces.append(_differences(steps[:count], steps[count:]))
        steps.fill(0)
    return np.concatenate(pieces)


def _differences(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return first - second, as objects if int64 might not hold it."""
    both = (first, second)
    if first.dtype != object and not all(-_HALF < x.min() <= x.max() < _HALF for x in both):
        first, second = (x.astype(object) for x in both)
    differences: NDArray[Any] = first - second
    return differences


def poisson_steps(envelope: Envelope, n: int, draws: Draws) -> NDArray[Any]:
    """Return n Poisson draws minus the envelope's centre; about 3 of 4 proposals are kept."""
    pieces: list[NDArray[Any]] = []
    missing = n
    while missing:
        steps = draws.laplace(envelope.scale, missing)
        words = draws.words(missing)
        pieces.append(steps[are_kept(envelope, steps, words, draws)])
        missing -= pieces[-1].size
        steps.fill(0)
        words.fill(0)
    return np.concatenate(pieces)


class Envelope(NamedTuple):
    """P(k) <= exp(top) q(k), q(k) = exp(-abs(k - centre)/scale), for Poisson's P."""

    mean: Fraction
    centre: int
    scale: int
    top: Any

    def log_excess(self, k: int, at: Arithmetic) -> Interval:
        """Return log(P(k)) + abs(k - centre)/scale, k >= 0."""
        log_mean = at.log(at.rational(self.mean))
        one_more = at.rational(k + 1)
        # MPFR rounds the logarithm of the gamma function correctly; it rises from 2 on
        log_factorial = Interval(at.down.lngamma(one_more.lower), at.up.lngamma(one_more.upper))
        log_power = at.scale(log_mean, k)
        shift = Fraction(abs(k - self.centre), self.scale) - self.mean
        return at.shift(at.sub(log_power, log_factorial), shift)


@lru_cache(maxsize=16)
def envelope_of(mean: Fraction) -> Envelope:
    """Return the envelope of a mean of at least 1.

    On each side of the centre log(P) is concave and log(q) linear, so their difference g is
    concave. To the right it rises from k to k + 1 while mean/(k + 1) > exp(-1/scale), so it is
    largest at ceil(mean exp(1/scale)) - 1; to the left while k/mean > exp(-1/scale), so at
    floor(mean exp(-1/scale)). Bounds leave a few candidates for these integers. The top is the
    largest upper bound of g at a candidate.
    """
    at = arithmetic(_bits(mean))
    scale = max(1, isqrt(int(mean)))
    bare = Envelope(mean, int(mean), scale, gmpy2.mpq(0))
    up = at.scale(at.exp(at.rational(Fraction(1, scale))), mean)
    down = at.scale(at.exp(at.rational(Fraction(-1, scale))), mean)
    right = range(_ceil(up.lower) - 1, _ceil(up.upper))
    left = range(_floor(down.lower), _floor(down.upper) + 1)
    top = max(bare.log_excess(k, at).upper for k in (bare.centre, *right, *left))
    return bare._replace(top=gmpy2.mpq(top))


def _floor(x: Any) -> int:
    return int(gmpy2.mpq(x) // 1)


def _ceil(x: Any) -> int:
    return -int(-gmpy2.mpq(x) // 1)


def _bits(mean: Fraction) -> int:
    """Return a precision that gives logarithms, about mean log(mean), to about 2**-90."""
    return 2 * int(mean).bit_length() + 104


class Thresholds(NamedTuple):
    """Bounds of 2**64 f in each cell; the upper one is less 1, so that a word holds it."""

    lower: NDArray[np.uint64]
    upper_less_1: NDArray[np.uint64]


@lru_cache(maxsize=1)
def thresholds() -> Thresholds:
    """Return the thresholds for every scale of at least B = _LEAST_SCALE.

    Let t = abs(s)/b, n = abs(s) and t <= 7.

    1.  P(c + n)/P(c) is the product of m/(c + i), i = 1, ..., n, and P(c - n)/P(c) that of (c -
        i)/m, i = 0, ..., n - 1. With m = c + r, 0 <= r < 1, the logarithms are -log(1 + y) of y =
        (i - r)/m and log(1 - x) of x = (i + r)/m. Because y >= 0 and 0 <= x <= 1/2, they are within
        y**2 of -y and x**2 of -x. The sums of y and of x are within n/(2 m) of n**2/(2 m). Those of
        the squares are at most n (n + 1) (2 n + 1)/(6 m**2).
    2.  b**2 <= m < (b + 1)**2, so n**2/(2 m) is within t**2/b of t**2/2. Also n = t b, and
        t**2/(2 b) <= (t + t**3)/(4 b). Together these give
        abs(G(s) - (t - t**2/2)) <= (t + t**2 + t**3)/b.
    3.  So G(b) >= 1/2 - 3/b. If t <= 3/2, G(s) <= 1/2 + 8/b. If 3/2 < t <= 2, G(s) <= 3/8 + 14/b,
        which is less than G(b). G is concave on each side, so it falls from there on, and its
        largest value lies between 1/2 - 3/b and 1/2 + 8/b. `Envelope.top` minus log P(c) is above
        that by less than 2**-80, and so by less than 1/(2 B) (`_bits`).
    4.  Steps 2 and 3 give abs(log f(s) + (t - 1)**2/2) <= (9 + t + t**2 + t**3)/B.
    5.  `_cells` finds the j with j <= t _CELLS < j + 1, up to an error of 2**-36 in t. That
        changes (t - 1)**2/2 by less than 1/(2 B), so 10 replaces 9. In a cell (t - 1)**2 lies
        between its values at the ends, because t = 1 is an end. The right-hand side is largest at
        the right end.
    6.  The last cell has all t >= 6. f falls from t = 2 on, so the upper bound of the cell before
        holds there, too.
    """
    at, one = arithmetic(_WORD + 32), 1 << _WORD
    ends = [
        at.scale(at.exp(at.rational(Fraction(-((j - _CELLS) ** 2), 2 * _CELLS**2))), one)
        for j in range(_SCALES * _CELLS + 1)
    ]
    lower, upper_less_1 = [], []
    for j, (left, right) in enumerate(pairwise(ends), start=1):
        sum_of_powers = 10 * _CELLS**3 + j * _CELLS**2 + j**2 * _CELLS + j**3
        slack = one * sum_of_powers // (_CELLS**3 * _LEAST_SCALE) + 1  # over 2**64
        # 1 - d <= exp(-d), and exp(d) <= 1 + d + d**2 for d <= 1
        lower.append(_floor(min(left.lower, right.lower)) * (one - slack) // one)
        up = _ceil(max(left.upper, right.upper)) * (one**2 + slack * one + slack**2)
        upper_less_1.append(min(-(-up // one**2), one) - 1)
    lower.append(0)
    upper_less_1.append(upper_less_1[-1])
    return Thresholds(np.array(lower, np.uint64), np.array(upper_less_1, np.uint64))


def _cells(scale: int, steps: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the cell of each step.

    u and v are abs(s) and b, both shifted right until v has at most _SCALE_BITS. If bits are lost,
    t lies between u/(v + 1) and (u + 1)/v, and so within 2**-36 of u/v; else t = u/v. The cell is
    floor(_CELLS u/v), exactly.
    """
    cut = max(0, scale.bit_length() - _SCALE_BITS)
    v = scale >> cut
    beyond = (_SCALES + 1) * v
    sizes = np.abs(steps)
    if sizes.dtype == object:
        u = np.minimum(sizes >> cut, beyond).astype(np.uint64)
    else:  # as unsigned, the size of -2**63 is right
        u = np.minimum(sizes.view(np.uint64) >> np.uint64(cut), np.uint64(beyond))
    cells: NDArray[np.uint64] = u * np.uint64(_CELLS) // np.uint64(v)
    return np.minimum(cells, np.uint64(_SCALES * _CELLS), out=cells)


def are_kept(
    envelope: Envelope, steps: NDArray[Any], words: NDArray[np.uint64], draws: Draws
) -> NDArray[np.bool_]:
    """Return which steps are kept: s with probability f(s). U is in [word, word + 1)/2**64."""
    lower, upper_less_1 = thresholds()
    cells = _cells(envelope.scale, steps)
    accepted = words < lower[cells]  # word + 1 <= lower: U is below f(s)
    is_open = ~accepted & (words <= upper_less_1[cells])
    for i in np.flatnonzero(is_open):
        k = envelope.centre + int(steps[i])
        accepted[i] = k >= 0 and keeps(envelope, k, int(words[i]), draws)
    return accepted


def keeps(envelope: Envelope, k: int, word: int, draws: Draws) -> bool:
    """Return True with probability exp(g(k) - top). At first U is in [word, word + 1)/2**64."""
    known = _WORD
    bits = _bits(max(envelope.mean, Fraction(k)))
    while True:
        at = arithmetic(bits)
        keep = at.exp(at.shift(envelope.log_excess(k, at), -envelope.top))
        if gmpy2.mpq(word + 1, 1 << known) <= gmpy2.mpq(keep.lower):
            return True
        if gmpy2.mpq(word, 1 << known) >= gmpy2.mpq(keep.upper):
            return False
        word = word << _WORD | draws.word()
        known += _WORD
        bits += _WORD
