"""The law of the exact snapping mechanism, with certified answers.

In units of the grid, from the cell n of the value, x/grid = n + phi, with t = grid/scale:

    P(output >= (n + j) grid) = exp(-(j - 1/2 - phi) t)/2            for j >= 1,
                                1 - exp(-(1/2 + phi - j) t)/2        for j <= 0,

the probability that the Laplace variable is above the border between two cells. Summation by parts
gives moments as geometric series: E f(Y) = f(lower) + sum over outputs y of
(f(y) - f(the output before)) P(Y >= y).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from .._certified.floats import float_at_least, float_bounds, float_value
from .._certified.interval import Arithmetic, Interval, arithmetic
from .._certified.search import first_true
from .._inputs.draw_arguments import Size, checked_size
from .._inputs.numbers import Number
from .._inputs.privacy_arguments import checked_probability
from .._inputs.source import Source
from .._law_functions.pointwise import at_each, checked_point
from ._doubles import as_double
from ._parameters import checked_range, exact_parameters
from ._snap import snapping_laplace

_HALF = Fraction(1, 2)


class SnappedLaplace:
    """The law of `snapping_laplace` for one value, by the exact method.

    Parameters
    ----------
    value : number
        A double.
    epsilon, bound, sensitivity, grid, lower, upper
        As for `snapping_laplace`.

    Attributes
    ----------
    value : float
        The value.
    scale, grid, lower, upper : Fraction
        The scale of the noise, the grid of the outputs, and the ends of the range.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.snapping.SnappedLaplace(0.3, epsilon=1, bound=100)
    >>> law.pmf(0), law.pmf(1), law.pmf(0.5)
    (0.36597014140239825, 0.25876827058288987, 0.0)
    >>> round(law.error_quantile("1/20"), 6)
    3.3
    """

    def __init__(
        self,
        value: Number,
        epsilon: Number,
        bound: Number | None = None,
        *,
        sensitivity: Number = 1,
        grid: Number | None = None,
        lower: Number | None = None,
        upper: Number | None = None,
    ) -> None:
        ends = checked_range(bound, lower, upper)
        settings = exact_parameters(epsilon, ends, sensitivity, grid)
        self.value = as_double(value, "value")
        self.scale, self.grid = settings.scale, settings.grid
        self.lower, self.upper = ends
        self._arguments: dict[str, Any] = {"epsilon": epsilon, "sensitivity": sensitivity}
        self._arguments |= {"grid": self.grid, "lower": self.lower, "upper": self.upper}
        x = min(max(self.value, float(self.lower)), float(self.upper))
        self._x = Fraction(x)
        self._cell = math.floor(self._x / self.grid + _HALF)
        self._phi = self._x / self.grid - self._cell
        self._t = self.grid / self.scale
        #: The first and the last multiple of the grid strictly within the range.
        self._first = math.floor(self.lower / self.grid) + 1
        self._last = math.ceil(self.upper / self.grid) - 1

    def __repr__(self) -> str:
        return (
            f"SnappedLaplace({self.value!r}, scale={float(self.scale)!r}, "
            f"grid={float(self.grid)!r}, lower={float(self.lower)!r}, upper={float(self.upper)!r})"
        )

    # --- tails

    def _at_least(self, k: int, at: Arithmetic, *, below: bool = False) -> Interval:
        """Return P(output >= k grid), or P(output < k grid) if `below`, without the clamp."""
        j = k - self._cell
        away = j - _HALF - self._phi if j >= 1 else _HALF + self._phi - j
        half = at.scale(at.exp(at.rational(-away * self._t)), _HALF)
        return at.sub(at.rational(1), half) if below == (j >= 1) else half

    def _below(self, k: int, at: Arithmetic) -> Interval:
        """Return P(output < k grid), without cancellation."""
        return self._at_least(k, at, below=True)

    # --- probabilities

    def pmf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return P(output = k).

        Parameters
        ----------
        k : number or array_like
            Any number.
        bounds : bool, optional
            True: return certified bounds (lower, upper) instead.

        Returns
        -------
        float or ndarray, or a tuple of two
            The rounded value, shaped like k; NaN where k is NaN.

        Raises
        ------
        TypeError, ValueError, OverflowError
            k holds something that is not a number.
        """
        return self._at_each(self._pmf, k, bounds)

    def cdf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return P(output <= k). Parameters and results are those of `pmf`."""
        return self._at_each(self._cdf, k, bounds)

    def _at_each(self, function: Callable[..., Any], k: Any, bounds: bool) -> Any:
        return at_each(
            k, lambda one: _answer_at(function, one, bounds), checked_point, pairs=bounds
        )

    def _pmf(self, y: Fraction | float) -> Callable[[Arithmetic], Interval] | Fraction:
        if not isinstance(y, Fraction):
            return Fraction(0)
        if y == self.lower:
            return lambda at: self._below(self._first, at)
        if y == self.upper:
            return lambda at: self._at_least(self._last + 1, at)
        k = y / self.grid
        if k.denominator != 1 or not self.lower < y < self.upper:
            return Fraction(0)
        n = k.numerator
        if n > self._cell:
            return lambda at: at.sub(self._at_least(n, at), self._at_least(n + 1, at))
        return lambda at: at.sub(self._below(n + 1, at), self._below(n, at))

    def _cdf(self, y: Fraction | float) -> Callable[[Arithmetic], Interval] | Fraction:
        if y >= self.upper:
            return Fraction(1)
        if not y >= self.lower:
            return Fraction(0)
        k = min(max(math.floor(Fraction(y) / self.grid), self._first - 1), self._last)
        return lambda at: self._below(k + 1, at)

    # --- moments

    def support(self) -> tuple[float, float]:
        """Return the ends of the range. Both are outputs."""
        return float(self.lower), float(self.upper)

    def _is_symmetric(self) -> bool:
        """Return whether the outputs lie symmetrically around the value."""
        return self.upper - self._x == self._x - self.lower and 2 * self._phi in (0, -1)

    def _powers(self, first: int, last: int, power: int, at: Arithmetic) -> Interval:
        """Return the sum over first <= k <= last of w(k) P(Y >= k grid).

        w(k) is the rise of f from (k - 1) grid to k grid, in units of grid**power: 1 for the first
        moment, 2 (k - x/grid) - 1 for the second around x.
        """
        total = at.rational(0)
        start, end = max(first, self._cell + 1), last
        if start <= end:  # above the value's cell: falling terms
            tail = self._at_least(start, at)
            total = at.add(total, at.mul(tail, self._series(start, 1, end - start + 1, power, at)))
        start, end = first, min(last, self._cell)
        if start <= end:  # 1 minus the probability to be below, which falls from the end on
            n = end - start + 1
            every = Fraction(n)
            if power == 2:
                every = n * (self._rise(start) + self._rise(end)) / 2
            total = at.shift(total, every)
            below = at.mul(self._below(end, at), self._series(end, -1, n, power, at))
            total = at.sub(total, below)
        return total

    def _rise(self, k: int) -> Fraction:
        return 2 * (k - self._x / self.grid) - 1

    def _series(self, k: int, step: int, n: int, power: int, at: Arithmetic) -> Interval:
        """Return the sum over 0 <= i < n of w(k + step i) r**i, r = exp(-t)."""
        one_less_r = at.neg(at.expm1(at.rational(-self._t)))
        one_less_rn = at.neg(at.expm1(at.rational(-n * self._t)))
        geometric = at.div(one_less_rn, one_less_r)
        if power == 1:
            return geometric
        # (1 - r) sum of i r**i = sum of r**i over 1 <= i < n, minus (n - 1) r**n
        rn = at.exp(at.rational(-n * self._t))
        weighted = at.div(at.sub(at.shift(geometric, -1), at.scale(rn, n - 1)), one_less_r)
        return at.add(at.scale(geometric, self._rise(k)), at.scale(weighted, 2 * step))

    def _moment(self, power: int, at: Arithmetic) -> Interval:
        """Return E (Y - x)**power."""
        x, lower, upper, grid = self._x, self.lower, self.upper, self.grid
        first, last = self._first, self._last
        total = at.rational((lower - x) ** power)
        if last < first:  # no multiple of the grid within the range
            rise = (upper - x) ** power - (lower - x) ** power
            return at.add(total, at.scale(self._at_least(last + 1, at), rise))
        rise = (first * grid - x) ** power - (lower - x) ** power
        total = at.add(total, at.scale(self._at_least(first, at), rise))
        inner = self._powers(first + 1, last, power, at)
        total = at.add(total, at.scale(inner, grid**power))
        rise = (upper - x) ** power - (last * grid - x) ** power
        return at.add(total, at.scale(self._at_least(last + 1, at), rise))

    def bias(self, *, bounds: bool = False) -> Any:
        """Return the mean of the output minus the clamped value, as a float or as bounds."""
        if self._is_symmetric():
            return (0.0, 0.0) if bounds else 0.0
        return _answer(lambda at: self._moment(1, at), bounds)

    def mean(self, *, bounds: bool = False) -> Any:
        """Return the mean of the output, as a float or as bounds."""
        if self._is_symmetric():
            return _answer(self._x, bounds)
        return _answer(lambda at: at.shift(self._moment(1, at), self._x), bounds)

    def var(self, *, bounds: bool = False) -> Any:
        """Return the variance of the output, as a float or as bounds."""

        def variance(at: Arithmetic) -> Interval:
            bias = at.rational(0) if self._is_symmetric() else self._moment(1, at)
            return at.sub(self._moment(2, at), at.mul(bias, bias))

        return _answer(variance, bounds)

    # --- errors

    def error_quantile(self, alpha: Number) -> float:
        """Return the least a with P(abs(output - value) > a) <= alpha, rounded up.

        Parameters
        ----------
        alpha : number
            Strictly between 0 and 1.

        Returns
        -------
        float
            A distance from the value, clamped to the range.

        Raises
        ------
        TypeError, ValueError, OverflowError
            alpha is not a number, or not between 0 and 1.
        """
        share = checked_probability(alpha, "alpha")

        def is_enough(a: Fraction) -> bool:
            at = arithmetic(128)
            above, below = self._x + a, self._x - a
            p = at.rational(0)
            if above < self.upper:
                k = min(math.floor(above / self.grid) + 1, self._last + 1)
                p = at.add(p, self._at_least(max(k, self._first), at))
            if below > self.lower:
                k = max(math.ceil(below / self.grid), self._first)
                p = at.add(p, self._below(min(k, self._last + 1), at))
            return bool(p.upper <= at.rational(share).lower)

        ends = [abs(self.lower - self._x), abs(self.upper - self._x)]
        candidates = [a for a in ends if is_enough(a)]
        for side in (1, -1):  # try the distances of multiples of the grid on each side
            n = self._last - self._cell if side > 0 else self._cell - self._first
            steps = partial(self._distance, side)
            nearest = 0 if self._first <= self._cell <= self._last else 1
            if nearest <= n and is_enough(steps(n)):
                k = first_true(lambda i, to=steps: is_enough(to(i)), nearest, low=nearest)  # type: ignore[misc]
                candidates.append(steps(k))
        least = min(candidates)
        return float_at_least(arithmetic(2200).rational(least).upper)

    def _distance(self, side: int, i: int) -> Fraction:
        """Return the distance of the i-th multiple of the grid on a side of the value's cell."""
        return abs((self._cell + side * i) * self.grid - self._x)

    # --- drawing

    def sample(self, size: Size = None, *, source: Source = "chacha20", threads: int = 1) -> Any:
        """Draw outputs of `snapping_laplace` for the value, in the shape `size`."""
        if size is None:
            return snapping_laplace(self.value, **self._arguments, source=source, threads=threads)
        values = np.full(checked_size(size) or (), self.value)
        return snapping_laplace(values, **self._arguments, source=source, threads=threads)


def _answer_at(function: Callable[..., Any], k: object, bounds: bool) -> Any:
    point = checked_point(k)
    if point != point:
        return (math.nan, math.nan) if bounds else math.nan
    return _answer(function(point), bounds)


def _answer(value: Callable[[Arithmetic], Interval] | Fraction, bounds: bool) -> Any:
    def enclosure(bits: int) -> Interval:
        at = arithmetic(bits)
        return at.rational(value) if isinstance(value, Fraction) else value(at)

    return float_bounds(enclosure) if bounds else float_value(enclosure)
