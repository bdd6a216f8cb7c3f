"""Exact Skellam draws, many at a time: by inversion, and where that table is long by rejection.

Every bit comes from draws of an engine, so from the source that the caller names. No float is used.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.interval import Arithmetic, Interval, arithmetic
from .._certified.skellam import LARGEST_TABLE, probabilities_up_to
from .._inputs.draw_arguments import Method
from .._inputs.messages import refused
from .._inputs.source import Source
from .._law import Kind, LawSpec
from ..errors import RangeError
from .python_engine import PythonSampler

__all__ = ["SkellamSampler"]

_WORD = 64
_PIECE = 2**18

_HALF_WORDS = LawSpec(Kind.UNIFORM_BELOW, Fraction(2**32))
_WORDS = LawSpec(Kind.UNIFORM_BELOW, Fraction(2**_WORD))


class SkellamSampler(PythonSampler):
    """A Skellam law. Its bits are draws of other laws, by the engines that `engine_of` returns."""

    def __init__(
        self, spec: LawSpec, method: Method, engine_of: Callable[[LawSpec, Method], Any]
    ) -> None:
        if method in ("cells", "isochronous"):
            raise refused("method", "be 'auto' or 'reference' for this law", method)
        super().__init__(spec, method)
        self._is_reference = method == "reference"
        self._engine_of = engine_of

    def draw(self, source: Source) -> int:
        """Return one draw."""
        return super().draw(source) if self._is_reference else int(self._drawn(1, source)[0])

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out` with draws, by one thread."""
        if self._is_reference:
            super().fill(out, source, threads)
        else:
            self._fill_all(out.reshape(-1), source)

    def _drawn(self, n: int, source: Source) -> NDArray[Any]:
        """Return n draws, as int64 or as objects."""
        draws = _Draws(self._engine_of, source)
        by = by_inversion if self.spec.parameter <= LARGEST_TABLE else by_rejection
        return by(self.spec.parameter, n, draws)

    def _fill_all(self, out: NDArray[Any], source: Source) -> None:
        drawn = self._drawn(out.size, source)
        try:
            if out.dtype != object:
                info = np.iinfo(out.dtype)
                _require_within(drawn, int(info.min), int(info.max))
            out[:] = drawn
        finally:
            drawn.fill(0)


def _require_within(drawn: NDArray[Any], low: int, high: int) -> None:
    if drawn.size and not low <= int(drawn.min()) <= int(drawn.max()) <= high:
        raise RangeError("a draw did not fit the output type; nothing is returned")


class _Draws(NamedTuple):
    """Where bits come from: draws of an engine."""

    engine_of: Callable[[LawSpec, Method], Any]
    source: Source

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return n independent uniform words; halves are what the core draws fastest."""
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
        """Return one of 64 bits."""
        return int(self.engine_of(_WORDS, "auto").draw(self.source))

    def laplace(self, scale: int, n: int) -> NDArray[Any]:
        """Return draws of the discrete Laplace, as objects."""
        drawn = np.empty(n, object)
        spec = LawSpec(Kind.DISCRETE_LAPLACE, Fraction(scale))
        self.engine_of(spec, "auto").fill(drawn, self.source)
        return drawn


class _Table(NamedTuple):
    """Bounds of P(abs(X) <= k) over 2**63: rounded down, and up."""

    lower: NDArray[np.uint64]
    upper: NDArray[np.uint64]


@lru_cache(maxsize=16)
def inversion_table(variance: Fraction, bits: int = _WORD - 1) -> _Table:
    """Return the bounds as an array; the last ones are kept (they are no secrets)."""
    lower, upper = probabilities_up_to(variance, bits)
    return _Table(np.array(lower, np.uint64), np.array(upper, np.uint64))


def by_inversion(variance: Fraction, n: int, draws: _Draws) -> NDArray[np.int64]:
    """Return n draws: abs(X) by inversion of its distribution, and a fair sign.

    The sign is the first bit of a word, and the other 63 begin a uniform real U: it lies in [u, u +
    1)/2**63. abs(X) is the k with P(abs(X) < k) <= U < P(abs(X) <= k). If the bounds of the
    probabilities do not tell k, U and they get 64 bits more, as often as needed. So the law is
    exact whatever the bounds' width.
    """
    drawn = np.empty(n, np.int64)
    try:
        for start in range(0, n, _PIECE):
            _invert(variance, drawn[start : start + _PIECE], draws)
    except BaseException:
        drawn.fill(0)
        raise
    return drawn


def _invert(variance: Fraction, out: NDArray[np.int64], draws: _Draws) -> None:
    lower, upper = inversion_table(variance)
    words = draws.words(out.size)
    try:
        u = words >> np.uint64(1)
        # the least k with u + 1 <= lower[k]: below it u/2**63 may reach P(abs(X) <= k)
        k = np.searchsorted(lower, u, side="right")
        beyond = k == lower.size
        known = ~beyond & ((k == 0) | (u >= upper[np.maximum(k, 1) - 1]))
        out[:] = k
        for i in np.flatnonzero(~known):
            out[i] = _refined(variance, int(u[i]), _WORD - 1, draws)
        np.negative(out, out=out, where=(words & np.uint64(1)).astype(bool))
        k.fill(0)
        u.fill(0)
    finally:
        words.fill(0)


def _refined(variance: Fraction, u: int, bits: int, draws: _Draws) -> int:
    """Return abs(X) for U in [u, u + 1)/2**bits, which its next bits decide."""
    while True:
        u = u << _WORD | draws.word()
        bits += _WORD
        lower, upper = probabilities_up_to(variance, bits)
        k = bisect_right(lower, u)
        if k < len(lower) and (k == 0 or u >= upper[k - 1]):
            return k


# --- wide laws: the difference of two Poisson draws, each by rejection


def by_rejection(variance: Fraction, n: int, draws: _Draws) -> NDArray[Any]:
    """Return n draws, as objects: each the difference of two Poisson draws of mean variance/2."""
    drawn = np.empty(n, object)
    drawn[:] = poisson(variance / 2, n, draws)
    other = np.empty(n, object)
    other[:] = poisson(variance / 2, n, draws)
    drawn -= other
    other.fill(0)
    return drawn


class _Envelope(NamedTuple):
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
def _envelope(mean: Fraction) -> _Envelope:
    """Return the envelope of a mean of at least 1.

    On each side of the centre log(P) is concave and log(q) linear, so their difference g is
    concave. To the right it rises from k to k + 1 while mean/(k + 1) > exp(-1/scale), so it is
    largest at ceil(mean exp(1/scale)) - 1; to the left while k/mean > exp(-1/scale), so at
    floor(mean exp(-1/scale)). Of all integers that these may be by their bounds the largest g, from
    above, is the top.
    """
    at = arithmetic(_bits(mean))
    scale = max(1, isqrt(int(mean)))
    bare = _Envelope(mean, int(mean), scale, gmpy2.mpq(0))
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
    """Return the precision at which logarithms, about mean log(mean), are good to some 2**-90."""
    return 2 * int(mean).bit_length() + 104


def poisson(mean: Fraction, n: int, draws: _Draws) -> list[int]:
    """Return n Poisson draws of a mean of at least 1, by rejection from a discrete Laplace law.

    A proposal k is kept with probability exp(g(k) - top): about 3 of 4 are.
    """
    envelope = _envelope(mean)
    kept: list[int] = []
    while len(kept) < n:
        missing = min(n - len(kept), _PIECE)
        steps = draws.laplace(envelope.scale, missing)
        words = draws.words(missing)
        for step, word in zip(steps.tolist(), words.tolist(), strict=True):
            k = envelope.centre + step
            if k >= 0 and _keeps(envelope, k, word, draws):
                kept.append(k)
        steps.fill(0)
        words.fill(0)
    return kept


def _keeps(envelope: _Envelope, k: int, word: int, draws: _Draws) -> bool:
    """Return True with probability exp(g(k) - top), U in [word, word + 1)/2**64 at first."""
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
