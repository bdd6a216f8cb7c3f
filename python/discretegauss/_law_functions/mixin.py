"""The methods of law objects that compute, with scipy's names and meanings and certified results.

The functions behind them are imported on first use, so workers that only draw never load them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, overload

from numpy.typing import NDArray

from .._inputs.numbers import Number
from .._law import LawSpec

if TYPE_CHECKING:
    from .._certified.floats import Bounds


@cache  # it holds no lock during the import
def _answers() -> Any:
    from . import answers

    return answers


class _AtK(Protocol):
    """A function of k, for type checkers: a number gives a float, anything else an array."""

    @overload
    def __call__(self, k: Number, *, bounds: Literal[False] = ...) -> float: ...
    @overload
    def __call__(self, k: Number, *, bounds: Literal[True]) -> Bounds: ...
    @overload
    def __call__(self, k: Any, *, bounds: Literal[False] = ...) -> NDArray[Any]: ...
    @overload
    def __call__(self, k: Any, *, bounds: Literal[True]) -> tuple[NDArray[Any], NDArray[Any]]: ...
    @overload
    def __call__(self, k: Any, *, bounds: bool) -> Any: ...


class _AtQ(Protocol):
    """A quantile, for type checkers, which accept an int (if no float holds it) as a float."""

    @overload
    def __call__(self, q: Number) -> float: ...
    @overload
    def __call__(self, q: Any) -> NDArray[Any]: ...


class _Ends(Protocol):
    """The ends of an interval, for type checkers."""

    @overload
    def __call__(self, confidence: Number) -> tuple[float, float]: ...
    @overload
    def __call__(self, confidence: Any) -> tuple[NDArray[Any], NDArray[Any]]: ...


def _at_k(method: Callable[..., Any]) -> _AtK:
    """Return the method unchanged; type checkers see a result that depends on the argument."""
    return cast(_AtK, method)


def _at_q(method: Callable[..., Any]) -> _AtQ:
    return cast(_AtQ, method)


def _interval(method: Callable[..., Any]) -> _Ends:
    return cast(_Ends, method)


class LawFunctions:
    """Probabilities, quantiles and moments of a law.

    Every float differs from the true value by at most one unit of the last place. The values are
    those of the law that is drawn: no table is cut off, and the normal law approximates nothing.
    (Logarithms in arrays have a relative error of at most 1e-14.) With ``bounds=True``, methods
    that accept it return floats (lower, upper) that certainly enclose the true value and are at
    most two units of the last place apart.
    """

    __slots__ = ()

    _spec: LawSpec

    @property
    def _simplest(self) -> LawSpec:
        """The specification in the form that `_certified` expects."""
        return self._spec.simplest()

    def _repr_html_(self) -> str:
        shown: str = _answers().as_html(repr(self), self._simplest)
        return shown

    # --- at k

    @_at_k
    def pmf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return P(X = k).

        Parameters
        ----------
        k : number or array_like
            Any number; Python integers may have any size, also in arrays of objects. Between
            integers the result is 0.
        bounds : bool, optional
            True: return a certified (lower, upper) instead.

        Returns
        -------
        float or ndarray, or a tuple of two
            With the shape of k; NaN if k is NaN.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If k has an element that is not a number, or a number of more than 65536 bits.

        Notes
        -----
        The time does not depend on sigma2 or scale. Arrays give the same floats as numbers, bit for
        bit, except for logarithms, whose relative error in arrays is at most 1e-14.

        Examples
        --------
        >>> import discretegauss as dg
        >>> law = dg.DiscreteGaussian(100)
        >>> round(law.pmf(3), 12)
        0.038138781546
        >>> lower, upper = law.pmf([0, 10**30], bounds=True)
        >>> upper.tolist()
        [0.039894228040143274, 5e-324]
        """
        return self._at("PMF", k, bounds)

    @_at_k
    def logpmf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return log P(X = k), even if P(X = k) is below every float.

        Parameters and results are those of `pmf`.

        Examples
        --------
        >>> import discretegauss as dg
        >>> dg.DiscreteGaussian(1).logpmf(10**6)
        -500000000000.91895
        """
        return self._at("LOGPMF", k, bounds)

    @_at_k
    def cdf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return P(X <= k).

        Parameters and results are those of `pmf`. Between integers the result is the value at the
        integer below.

        Examples
        --------
        >>> import discretegauss as dg
        >>> dg.DiscreteGaussian(10**100).cdf([-(10**50), 0, 10**50]).round(6).tolist()
        [0.158655, 0.5, 0.841345]
        """
        return self._at("CDF", k, bounds)

    @_at_k
    def logcdf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return log P(X <= k); parameters and results are those of `cdf`."""
        return self._at("LOGCDF", k, bounds)

    @_at_k
    def sf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return P(X > k), with full relative precision even if it is tiny.

        Parameters and results are those of `cdf`.
        """
        return self._at("SF", k, bounds)

    @_at_k
    def logsf(self, k: Any, *, bounds: bool = False) -> Any:
        """Return log P(X > k); parameters and results are those of `cdf`.

        Examples
        --------
        >>> import discretegauss as dg
        >>> dg.DiscreteGaussian(1).logsf(10**6)
        -500001000001.41895
        """
        return self._at("LOGSF", k, bounds)

    def _at(self, name: str, k: Any, bounds: bool) -> Any:
        ask = _answers()
        return ask.evaluate(getattr(ask, name), self._simplest, k, bounds=bounds)

    def tail_bound(self, k: Any) -> Any:
        """Return an upper bound on P(X >= k): the tail of the continuous law at k - 1.

        This is for proofs and comparisons. The exact tail, ``law.sf(k - 1)``, is less.

        Parameters
        ----------
        k : number or array_like
            Any number; a number between integers counts as the integer above.

        Returns
        -------
        float or ndarray
            P(Y >= k - 1), rounded up, where Y has a density proportional to exp(-phi(y)) with the
            law's phi; for the discrete Gaussian, Y is normal. 1 if k - 1 < mu; NaN if k is NaN.

        Notes
        -----
        The paper proves the bound for the discrete Gaussian with an integer mu. For other laws and
        other mu the same proof holds after multiplication by the integral of exp(-phi) over its
        sum, if that is above 1. This function multiplies by it.

        References
        ----------
        arXiv:2004.00010, Proposition 25.

        Examples
        --------
        >>> import discretegauss as dg
        >>> law = dg.DiscreteGaussian(100)
        >>> law.sf(29) <= law.tail_bound(30) < 0.002
        True
        >>> dg.DiscreteLaplace(10).tail_bound([0, 1, 30]).round(3).tolist()
        [1.0, 0.5, 0.028]
        """
        return _answers().bound_tails(self._simplest, k)

    # --- quantiles

    @_at_q
    def ppf(self, q: Any) -> Any:
        """Return the smallest integer k with P(X <= k) >= q, exactly.

        Parameters
        ----------
        q : number or array_like
            Probabilities; a float means exactly its binary value. As in scipy, 0 gives -inf, 1
            gives inf, and a number outside [0, 1] gives NaN.

        Returns
        -------
        float, int or ndarray
            Floats, as in scipy, if all results are within 2**53 of 0; else exact Python integers
            (in an array, all elements are then objects).

        Raises
        ------
        ArithmeticError
            If q is so near to a value of the distribution function that 2**18 bits do not tell on
            which side it is. This happens for no float, unless the law is nearly uniform (beta
            above 10**5) and q a simple fraction. Or if it would take more than minutes.

        Examples
        --------
        >>> import discretegauss as dg
        >>> dg.DiscreteGaussian(100).ppf([0, 0.025, 0.5, 0.975]).tolist()
        [-inf, -20.0, 0.0, 20.0]
        >>> dg.DiscreteGaussian(10**100).ppf(0.975) // 10**40
        19599639845
        """
        return _answers().quantiles(self._simplest, q, upper=False)

    @_at_q
    def isf(self, q: Any) -> Any:
        """Return the smallest integer k with P(X > k) <= q, exactly.

        It is the quantile of 1 - q, which is not rounded. Parameters and results are those of
        `ppf`, but 0 gives inf and 1 gives -inf.
        """
        return _answers().quantiles(self._simplest, q, upper=True)

    @_interval
    def interval(self, confidence: Any) -> tuple[Any, Any]:
        """Return the ends of a central interval: the quantiles of (1 -+ confidence)/2.

        Parameters
        ----------
        confidence : number or array_like
            Between 0 and 1.

        Returns
        -------
        tuple of float, int or ndarray
            Numbers as from `ppf`. X is below the first, and above the second, each with a
            probability of at most (1 - confidence)/2.

        Examples
        --------
        >>> import discretegauss as dg
        >>> dg.DiscreteGaussian(100).interval(0.95)
        (-20.0, 20.0)
        """
        ends: tuple[Any, Any] = _answers().central_interval(self._simplest, confidence)
        return ends

    def median(self) -> Any:
        """Return the median, ``ppf(1/2)``."""
        return self.ppf(0.5)

    def support(self) -> tuple[float, float]:
        """Return the ends of the support, (-inf, inf): it is all integers."""
        return -math.inf, math.inf

    # --- moments

    def mean(self, *, bounds: bool = False) -> Any:
        """Return the mean, which is mu if 2 mu is an integer, and near mu otherwise.

        Parameters
        ----------
        bounds : bool, optional
            True: return a certified (lower, upper) instead.

        Returns
        -------
        float or tuple of float

        Examples
        --------
        >>> import discretegauss as dg
        >>> dg.DiscreteGaussian(1, mu=0.25).mean(), dg.DiscreteGaussian("1/9", mu=0.25).mean()
        (0.24999996638..., 0.094...)
        """
        return self._number("mean", bounds)

    def var(self, *, bounds: bool = False) -> Any:
        """Return the variance; parameters and results are those of `mean`.

        The variance of the discrete Gaussian with mu = 0 is below sigma2 (arXiv:2004.00010,
        Proposition 21). From about sigma2 = 3 on, no float shows the difference.

        Examples
        --------
        >>> import discretegauss as dg
        >>> dg.DiscreteGaussian("1/4").var() < 0.25
        True
        """
        return self._number("variance", bounds)

    def std(self, *, bounds: bool = False) -> Any:
        """Return the standard deviation; parameters and results are those of `mean`."""
        return self._number("standard_deviation", bounds)

    def entropy(self, *, bounds: bool = False) -> Any:
        """Return the entropy in nats; parameters and results are those of `mean`."""
        return self._number("entropy", bounds)

    def _number(self, name: str, bounds: bool) -> Any:
        ask = _answers()
        moment = getattr(ask.moments, name)

        def enclosure(bits: int) -> Any:
            return moment(self._simplest, bits)

        return ask.float_bounds(enclosure) if bounds else ask.float_value(enclosure)
