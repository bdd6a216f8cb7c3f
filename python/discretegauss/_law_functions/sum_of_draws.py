"""The law of a sum of independent draws of one law, as an object."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import DTypeLike

from .._certified import moments
from .._certified.convolution import density_ratio_upper, tails_of_sum
from .._certified.floats import float_bounds, float_value
from .._certified.interval import Interval, arithmetic
from .._certified.probability import pmf, probability, tail_above
from .._certified.search import first_true
from .._inputs.draw_arguments import CHACHA20, INT64, Size, checked_dtype
from .._inputs.messages import describe, refused
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import checked_probability
from .._inputs.source import Source
from .._law import Kind, LawSpec, fits_range
from ..errors import ParameterOverflowError
from .pointwise import at_each

#: A factor up to this changes a float by less than its rounding error.
_NEXT_TO_1 = 1 + gmpy2.mpq(1, 2**64)
_LEAST_BITS = 192


@dataclass(frozen=True, repr=False, slots=True)
class SumOfDraws:
    """The law of the sum of ``clients`` independent draws of a law; ``law.sum(clients)`` makes it.

    Attributes
    ----------
    law : Law
        The law of each draw.
    clients : int
        The number of draws.

    Examples
    --------
    >>> import discretegauss as dg
    >>> total = dg.DiscreteGaussian(4).sum(50)
    >>> round(total.pmf(0), 12), total.interval(0.95)
    (0.028209479177, (-28, 28))
    """

    law: Any
    clients: int

    def __repr__(self) -> str:
        return f"{self.law!r}.sum({self.clients})"

    def mean(self) -> float:
        """Return the mean."""
        return self._moment(moments.mean, self.clients)

    def var(self) -> float:
        """Return the variance."""
        return self._moment(moments.variance, self.clients)

    def std(self) -> float:
        """Return the standard deviation."""
        return float_value(
            lambda bits: arithmetic(bits).sqrt(
                arithmetic(bits).scale(moments.variance(self.law._simplest, bits), self.clients)
            )
        )

    def _moment(self, moment: Callable[[LawSpec, int], Interval], factor: int) -> float:
        return float_value(
            lambda bits: arithmetic(bits + 8).scale(moment(self.law._simplest, bits + 8), factor)
        )

    def sample(
        self, size: Size = None, *, dtype: DTypeLike = INT64, source: Source = CHACHA20
    ) -> Any:
        """Draw from the law, exactly, by adding the draws of all clients."""
        result_dtype = checked_dtype(dtype)
        if (size is not None or result_dtype != INT64) and not self._fits(result_dtype):
            raise ParameterOverflowError(
                "dtype must hold the sum with Pr[outside] < 2**-128, but "
                f"{result_dtype.name} does not for {describe(repr(self))}; dtype=object gives "
                "Python integers of any size"
            )
        draw = partial(self.law.sample, size, source=source)
        if size is not None:
            draw = partial(draw, dtype=INT64 if self._fits(INT64) else object)
        total = draw()
        for _ in range(self.clients - 1):
            total += draw()
        return total if size is None else total.astype(result_dtype, copy=False)

    def _fits(self, dtype: np.dtype[Any]) -> bool:
        """Return whether each draw fits half of its share of the range.

        At twice that distance a tail is at most the square of 2**-128. So even the sum of the tails
        of 2**128 clients is at most 2**-128.
        """
        if dtype.kind == "O":
            return True
        info, spec = np.iinfo(dtype), self.law._spec
        least, most = -(-int(info.min) // self.clients), int(info.max) // self.clients
        return fits_range(spec, math.ceil((spec.mu + least) / 2), math.floor((spec.mu + most) / 2))

    def pmf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return P(X = k) for integers k, as floats or with ``bounds`` as certified (lower, upper).

        Raises
        ------
        TypeError, ValueError, OverflowError
            If k or mu is not an integer. If the sum is too wide, unless its draws are discrete
            Gaussians with a sigma2 from about 3 on.
        """
        return self._at(self._pmf, k, bounds)

    def sf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return P(X > k); parameters and errors are those of `pmf`."""
        return self._at(self._sf, k, bounds)

    def cdf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return P(X <= k); parameters and errors are those of `pmf`."""
        return self._at(lambda m, bits: self._sf(-m - 1, bits), k, bounds)

    def interval(self, confidence: object) -> tuple[int, int]:
        """Return the ends of the shortest central interval with at least this probability."""
        level = checked_probability(confidence, "confidence")
        beyond = gmpy2.mpq((1 - level) / 2)
        bits = _LEAST_BITS + int(1 / beyond).bit_length()  # the error of a tail is less
        reach = first_true(
            lambda k: bool(self._sf(k, bits).upper <= beyond), int(self.std()), low=0
        )
        centre = self._centre
        return centre - reach, centre + reach

    @property
    def _centre(self) -> int:
        mu: Fraction = self.law.mu
        if mu.denominator != 1:
            raise refused("mu", "be an integer here", mu)
        return self.clients * mu.numerator

    def _at(self, enclosure: Callable[[int, int], Interval], k: Any, bounds: bool) -> Any:
        answer, centre = float_bounds if bounds else float_value, self._centre

        def checked(place: object) -> int:
            return whole_number(place, "k", minimum=-(2**4300)) - centre

        def at(place: object) -> Any:
            m = checked(place)
            return answer(lambda bits: enclosure(m, bits))

        return at_each(k, at, checked, pairs=bounds)

    def _of_one(self) -> LawSpec:
        law: LawSpec = self.law._simplest
        return law._replace(mu=Fraction(0))

    def _nearly(self) -> tuple[LawSpec, Any] | None:
        """Return a single law that is the sum's up to a factor next to 1, and that factor."""
        one = self._of_one()
        if one.kind is not Kind.DISCRETE_GAUSSIAN:
            return None
        factor = density_ratio_upper(one.parameter, self.clients)
        if factor is None or factor > _NEXT_TO_1:
            return None
        return one._replace(parameter=one.parameter * self.clients), factor

    def _pmf(self, k: int, bits: int) -> Interval:
        """Return P(X = k) of the centred law."""
        if (nearly := self._nearly()) is not None:
            return _within(pmf(nearly[0], k, bits), nearly[1])
        at, (first, after, missing) = self._tails(abs(k), bits)
        mass = first - after
        return Interval(at.rational(mass).lower, at.rational(mass + missing).upper)

    def _sf(self, k: int, bits: int) -> Interval:
        """Return P(X > k) of the centred law."""
        if (nearly := self._nearly()) is not None:
            return _within(probability(tail_above(nearly[0], k), bits), nearly[1])
        at, (first, _, missing) = self._tails(k + 1, bits)
        return Interval(at.rational(first).lower, at.rational(first + missing).upper)

    def _tails(self, m: int, bits: int) -> tuple[Any, tuple[Any, Any, Any]]:
        """Return lower bounds on P(X >= m) and P(X >= m + 1), and a bound on their error."""
        one = self._of_one()
        precision = max(bits, _LEAST_BITS)
        found = tails_of_sum(one, self.clients, precision)
        if found is None:
            raise ParameterOverflowError(
                "clients must be fewer, or the law narrower, for probabilities of "
                f"{describe(repr(self))}"
            )
        lower = (gmpy2.mpq(found.at(x)[0], 1 << precision) for x in (m, m + 1))
        return arithmetic(bits), (*lower, gmpy2.mpq(found.missing, 1 << precision))


def _within(value: Interval, factor: Any) -> Interval:
    """Return the interval from value/factor to value times factor."""
    at = arithmetic(value.lower.precision + 8)
    lower = at.down.div(value.lower, at.rational(factor).upper)
    return Interval(lower, at.up.mul(value.upper, factor))
