"""The discrete Laplace on -k..k, the best noise to decide which groups to keep."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._certified.floats import float_value
from .._certified.interval import Interval, arithmetic
from .._inputs.draw_arguments import AUTO, Size, checked_size, checked_source, checked_threads
from .._inputs.graphs import outside_of_graphs
from .._inputs.messages import refused, written
from .._inputs.numbers import positive, whole_number
from .._inputs.source import Source
from .._law_functions.pointwise import at_each, checked_point
from ..errors import ParameterOverflowError
from ..laws import DiscreteLaplace
from ..sampling import bernoulli_exp, uniform_below

LARGEST = 2**54
"""For L up to this, DiscreteLaplace(L) fits int64, and so does uniform_below(2 L + 1)."""

_PIECE = 2**17
"""How many draws are made at a time, so that they stay in a core's cache."""


@dataclass(frozen=True, repr=False)
class TruncatedLaplace:
    """The discrete Laplace within -L..L, L = `largest`: P(x) ~ exp(-abs(x) / scale) there, else 0.

    Parameters
    ----------
    scale : number
        The scale, > 0; any number type, kept as the exact Fraction that it means.
    largest : int
        The largest value, at least 1 and at most 2**54.

    Notes
    -----
    Guaranteed: draws have the law exactly. If L >= scale, a discrete Laplace draw is repeated until
    it is within -L..L; else a uniform draw x is kept with probability exp(-abs(x) / scale).

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.selection.TruncatedLaplace(scale=1, largest=14)
    >>> int(abs(law.sample(1000)).max()) <= 14, law.pmf(15)
    (True, 0.0)
    """

    scale: Any
    largest: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "largest", whole_number(self.largest, "largest", minimum=1))
        if self.largest > LARGEST:
            raise refused("largest", "be at most 2**54", self.largest, ParameterOverflowError)

    def __repr__(self) -> str:
        return f"TruncatedLaplace(scale={written(self.scale)}, largest={self.largest})"

    @outside_of_graphs
    def sample(self, size: Size = None, *, source: Source = "chacha20", threads: int = 1) -> Any:
        """Draw from the law, exactly.

        Parameters
        ----------
        size : int or sequence of int, optional
            The shape of the result; None: one Python int.
        source, threads
            As for `discretegauss.discrete_laplace`.

        Returns
        -------
        int or ndarray of int64
            Independent draws.

        Raises
        ------
        TypeError, ValueError, OverflowError, OSError
            As `discretegauss.discrete_laplace`; then nothing is returned.
        """
        shape, bits = checked_size(size), checked_source(source)
        n_threads = checked_threads(threads, bits)
        result = np.empty(1 if shape is None else shape, np.int64)
        flat = result.reshape(-1)
        at_once = _PIECE * n_threads
        scratch = np.empty(min(at_once, flat.size), np.int64)
        try:
            for start in range(0, flat.size, at_once):
                piece = flat[start : start + at_once]
                self._draw(piece, None, flat.size, bits, n_threads)
                np.add(piece, self.largest, out=scratch[: piece.size])
                beyond = np.flatnonzero(scratch[: piece.size].view(np.uint64) > 2 * self.largest)
                while beyond.size:
                    self._draw(piece, beyond, flat.size, bits, n_threads)
                    beyond = beyond[np.abs(piece[beyond]) > self.largest]
        except BaseException:
            flat.fill(0)
            raise
        finally:
            scratch.fill(0)
        return int(flat[0]) if shape is None else result

    def _draw(
        self,
        piece: NDArray[np.int64],
        places: NDArray[np.intp] | None,
        n_draws: int,
        source: Any,
        threads: int,
    ) -> None:
        """Draw all candidates, or those at some places; the caller repeats draws beyond L.

        `n_draws` are drawn in all, which chooses the method.
        """
        n = piece.size if places is None else places.size
        if self.largest >= self.scale:
            by = DiscreteLaplace(self.scale)._engine(AUTO).for_draws(n_draws)
            drawn = piece if places is None else np.empty(n, np.int64)
            by.fill(drawn, source, threads)
            if places is not None:
                piece[places] = drawn
            return
        draws = (
            uniform_below(2 * self.largest + 1, n, source=source, threads=threads) - self.largest
        )
        rates = np.array([abs(x) / self.scale for x in draws.tolist()], object)
        draws[~bernoulli_exp(rates, source=source)] = self.largest + 1
        piece[slice(None) if places is None else places] = draws

    def pmf(self, k: Any) -> Any:
        """Return P(X = k) for a number or an array: the exact value, rounded."""
        return self._at_each(k, lambda x, bits: _mass(self.scale, self.largest, x, bits), pmf=True)

    def sf(self, k: Any) -> Any:
        """Return P(X > k) for a number or an array: the exact value, rounded."""
        return self._at_each(k, lambda x, bits: _tail(self.scale, self.largest, x, bits))

    def _at_each(
        self, k: Any, enclosure: Callable[[int, int], Interval], *, pmf: bool = False
    ) -> Any:
        def answer(one: object) -> float:
            point = checked_point(one)
            if not isinstance(point, Fraction):
                return point if point != point else float(point < 0 and not pmf)
            if pmf and point.denominator != 1:
                return 0.0
            return float_value(lambda bits: enclosure(math.floor(point), bits))

        return at_each(k, answer, checked_point)


def _mass(scale: Fraction, k: int, x: int, bits: int) -> Interval:
    """Return P(X = x): q**abs(x) (1 - q)/(1 + q - 2 q**(k + 1)), q = exp(-1/scale)."""
    at = arithmetic(bits + 20)
    if abs(x) > k:
        return at.rational(0)
    above = at.neg(at.expm1(at.rational(-1 / scale)))
    return at.div(at.mul(_power(scale, abs(x), bits), above), _whole(scale, k, bits))


def _tail(scale: Fraction, k: int, x: int, bits: int) -> Interval:
    """Return P(X > x): (q**(x + 1) - q**(k + 1))/(1 + q - 2 q**(k + 1)) for x >= 0."""
    at = arithmetic(bits + 20)
    if x >= k:
        return at.rational(0)
    if x < 0:
        return at.shift(at.neg(_tail(scale, k, -x - 1, bits)), 1)
    above = at.neg(at.expm1(at.rational((x - k) / scale)))
    return at.div(at.mul(_power(scale, x + 1, bits), above), _whole(scale, k, bits))


def _power(scale: Fraction, n: int, bits: int) -> Interval:
    return arithmetic(bits + 20).exp(arithmetic(bits + 80).rational(-n / scale))


def _whole(scale: Fraction, k: int, bits: int) -> Interval:
    """Return 1 + q - 2 q**(k + 1) = -(q - 1) - 2 (q**(k + 1) - q), each difference by expm1."""
    at = arithmetic(bits + 20)
    first = at.neg(at.expm1(at.rational(-1 / scale)))
    second = at.neg(at.expm1(at.rational(-k / scale)))
    return at.add(first, at.scale(at.mul(_power(scale, 1, bits), second), 2))


def last_mass(scale: Fraction, k: int) -> Interval:
    """Return P(X = k), which is the delta of keeping or dropping one group with its noisy count."""
    return _mass(scale, k, k, 128)
