"""A law as a distribution of scipy.stats that calls the law's own functions.

No other module imports scipy; `as_scipy` imports this one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from scipy.stats import rv_discrete
except ImportError as error:
    raise ImportError(
        "as_scipy() needs scipy, which is not installed: pip install scipy"
    ) from error

from .._certified import moments as _moments
from .._certified.floats import float_value
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational, not_finite
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from .array_functions import supported

#: The object that scipy substitutes for random_state=None. Nothing is drawn from it.
_SCIPYS_NONE = np.random.mtrand._rand

#: A probability that rounds to 0, because it is below half the smallest float.
_NO_FLOAT = Fraction(1, 2**1080)

#: The most terms of a sum, computed in vectors or one by one; both take some seconds.
_MOST_TERMS, _MOST_TERMS_ONE_BY_ONE = 10**7, 4000
_CHUNK = 2**16

_MOST_ORDER = 100


def _refuse(loc: object) -> None:
    """Refuse any loc but 0: scipy's k - loc wraps and rounds, and the law has its own centre."""
    if not (np.isscalar(loc) and loc == 0):
        raise ParameterValueError(
            f"loc must be 0, got {describe(loc)}: use mu, the law's own centre"
        )


def _refuse_random_state(state: object) -> None:
    if state is not None:
        raise ParameterTypeError(
            "random_state must be None: every bit comes from the operating system"
        )


def _answer(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return two methods that call the law's function: with loc for users, without for scipy."""

    def for_scipy(self: ScipyLaw, k: Any) -> Any:
        return getattr(self.law, name)(k)

    def function(self: ScipyLaw, k: Any, loc: Any = 0) -> Any:
        _refuse(loc)
        values = getattr(self.law, name)(k)
        return values if isinstance(values, np.ndarray) else np.float64(values)

    function.__doc__ = f"Return the law's own `{name}`."
    return function, for_scipy


def _ends(law: Any, lb: Any, ub: Any) -> tuple[int, int]:
    """Return the first and the last integer to sum over; all others have probability 0.0."""
    low, high = int(law.ppf(_NO_FLOAT)), int(law.isf(_NO_FLOAT))

    def clipped(bound: Any, name: str, whole: Callable[[Fraction], int], *ends: int) -> int:
        special = not_finite(bound)
        if special in (-math.inf, math.inf):
            return ends[special == math.inf]
        return min(max(whole(exact_rational(bound, name)), ends[0]), ends[1])

    return (
        low if lb is None else clipped(lb, "lb", math.ceil, low, high + 1),
        high if ub is None else clipped(ub, "ub", math.floor, low - 1, high),
    )


def _chunks(law: Any, first: int, last: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield integers from first to last as floats, with their probabilities, if above 0."""
    spec = law._simplest
    most = _MOST_TERMS if supported(spec) else _MOST_TERMS_ONE_BY_ONE
    if last - first >= most:
        raise ParameterOverflowError(
            f"lb and ub must leave at most {most} integers to sum over for {describe(law)}, whose "
            f"probabilities are above 0 as floats on {describe(last - first + 1)}"
        )
    if last >= first and max(abs(first), abs(last)) > 2**53:
        raise ParameterOverflowError(
            "expect and moments sum floats, which cannot distinguish integers beyond 2**53, but "
            f"{describe(law)} has probabilities above 0 there; "
            f"compute those of X - {describe(spec.mu)}"
        )
    for start in range(first, last + 1, _CHUNK):
        ks = np.arange(start, min(start + _CHUNK, last + 1))
        p = law.pmf(ks)
        yield ks[p > 0].astype(np.float64), p[p > 0]


class ScipyLaw(rv_discrete):  # type: ignore[misc]
    """A law with scipy's machinery (frozen distributions, expect, stats), without a loc.

    As everywhere in scipy, arguments and results are floats. So quantiles beyond 2**53 are rounded,
    while the law's own ppf and isf return Python integers.
    """

    def __new__(cls, *_: Any, **__: Any) -> ScipyLaw:
        # rv_discrete.__new__ would choose a class by the arguments of __init__
        return object.__new__(cls)

    def __init__(self, law: Any) -> None:
        name = type(law).__name__
        super().__init__(a=-np.inf, b=np.inf, name=name, longname=name)
        self.law = law

    def _updated_ctor_param(self) -> dict[str, Any]:
        # scipy makes frozen distributions, copies and pickles with these arguments
        return {"law": self.law}

    def __reduce__(self) -> tuple[Any, ...]:
        return ScipyLaw, (self.law,)

    def __dask_tokenize__(self) -> Any:
        return self.law.__dask_tokenize__()

    # --- how scipy parses arguments; there are no shape parameters

    def _attach_argparser_methods(self) -> None:
        """Keep the parsers below, because scipy's own would accept a loc."""

    def _parse_args(self, loc: Any = 0) -> tuple[tuple[()], int, int]:
        _refuse(loc)
        return (), 0, 1

    def _parse_args_stats(self, loc: Any = 0, moments: str = "mv") -> tuple[Any, ...]:
        return *self._parse_args(loc), moments

    # --- methods that call the law's own

    pmf, _pmf = _answer("pmf")
    logpmf, _logpmf = _answer("logpmf")
    cdf, _cdf = _answer("cdf")
    logcdf, _logcdf = _answer("logcdf")
    sf, _sf = _answer("sf")
    logsf, _logsf = _answer("logsf")

    def _ppf(self, q: Any) -> Any:
        return np.asarray(self.law.ppf(q), dtype=np.float64)

    def _isf(self, q: Any) -> Any:
        return np.asarray(self.law.isf(q), dtype=np.float64)

    def _entropy(self) -> float:
        return float(self.law.entropy())

    def rvs(self, loc: Any = 0, size: Any = None, random_state: None = None) -> Any:
        """Draw exactly, by the law's own `sample`; random_state must be None."""
        _refuse(loc)
        _refuse_random_state(random_state)
        return self.law.sample(size)

    @property
    def random_state(self) -> None:
        """None, because there is no state. Any other value is refused, not ignored."""

    @random_state.setter
    def random_state(self, state: Any) -> None:
        _refuse_random_state(state)

    @property
    def _random_state(self) -> Any:
        # scipy and frozen distributions set this attribute; nothing uses it
        return _SCIPYS_NONE

    @_random_state.setter
    def _random_state(self, state: Any) -> None:
        _refuse_random_state(None if state is _SCIPYS_NONE else state)

    # --- moments and sums, because scipy's sums stop after 1000 terms or at a few small ones

    def _stats(self, moments: str = "mvsk") -> tuple[float | None, ...]:
        """Return mean, variance, skewness and excess kurtosis; None for those not in `moments`."""
        functions = _moments.mean, _moments.variance, _moments.skewness, _moments.excess_kurtosis
        named = zip("mvsk", functions, strict=True)
        return tuple(self._moment(each) if letter in moments else None for letter, each in named)

    def _moment(self, moment: Callable[[Any, int], Any]) -> float:
        return float_value(lambda bits: moment(self.law._simplest, bits))

    def _munp(self, n: Any) -> float:
        """Return E(X**n)."""
        if n > _MOST_ORDER:
            raise ParameterValueError(f"order must be at most {_MOST_ORDER}, got {describe(n)}")
        order = int(n)
        if _moments.has_raw_moments(self.law._simplest, order):
            found = self._moment(lambda spec, bits: _moments.raw_moment(spec, order, bits))
        else:
            found = self._moment_by_sums(order)
        if order > 4 and math.isinf(found):
            raise ParameterOverflowError(
                f"the moment of order {n} of {describe(self.law)} is beyond every float"
            )
        return found

    def _moment_by_sums(self, order: int) -> float:
        """Return E(X**order), summed in floats; inf if it is beyond every float.

        For a symmetric law and Y = X - mu it is the sum over even i of binomial(order, i)
        mu**(order - i) E(Y**i), whose terms have one sign. If mu = 0, odd orders have no term.
        """
        spec = self.law._simplest
        if order % 2 and spec.mu == 0:
            return 0.0
        unit = max(map(abs, _ends(self.law, None, None))) + 1  # powers of k may overflow
        if _moments.is_symmetric(spec):
            mu, even = float(spec.mu / unit), range(0, order + 1, 2)
            terms = [math.comb(order, i) * mu ** (order - i) for i in even]
            scaled = self.expect(
                lambda k: np.polynomial.polynomial.polyval((k / unit - mu) ** 2, terms)
            )
        else:
            scaled = self.expect(lambda k: (k / unit) ** order)
        try:
            return float(Fraction(float(scaled)) * unit**order)
        except OverflowError:
            return math.inf

    def moment(self, order: Any, loc: Any = 0) -> Any:
        """Return E(X**order), order up to 100.

        The result is certified up to order 4, and for Gaussians, Laplaces and scales below 2.
        Otherwise it is a sum in floats, accurate to about 1e-11 (if 2 mu is not an integer, to
        1e-11 of E(abs(X)**order)). Odd moments are exactly 0 if mu = 0.
        """
        _refuse(loc)
        if order in range(1, _MOST_ORDER + 1):
            return np.float64(self._munp(order))
        return super().moment(order)  # 1 for order 0, else scipy's errors

    def expect(
        self,
        func: Callable[[Any], Any] | None = None,
        args: tuple[()] = (),
        loc: Any = 0,
        lb: Any = None,
        ub: Any = None,
        conditional: bool = False,
        **_: Any,
    ) -> Any:
        """Return E(func(X)), summed over every integer whose probability is a float above 0.

        Parameters
        ----------
        func : callable, optional
            A function of an array of integers, as floats; the identity if None.
        args : tuple
            Must be empty, because the law has no shape parameters.
        loc : number
            Must be 0, because the law has its own centre, mu.
        lb, ub : number, optional
            The sum is over lb <= X <= ub.
        conditional : bool, optional
            True: divide by P(lb <= X <= ub).
        **_ : optional
            scipy's parameters for stopping early; they have no effect.

        Returns
        -------
        number

        Raises
        ------
        TypeError, ValueError
            If a parameter is wrong, or if `conditional` is True and the probability is 0.0.
        OverflowError
            If the sum has more than 10**7 terms (4000 if beta is above 1024), or goes beyond 2**53,
            where floats cannot hold all integers.
        """
        if args:
            raise ParameterTypeError(f"args must be empty, got {len(args)} entries")
        _refuse(loc)
        sums, total = [], 0.0
        for ks, p in _chunks(self.law, *_ends(self.law, lb, ub)):
            sums.append(np.sum((ks if func is None else func(ks)) * p))
            total += float(np.sum(p))
        if not conditional:
            return np.sum(sums)
        if total == 0:
            raise ParameterValueError(
                "lb and ub must have a probability above 0 as a float between them if "
                f"conditional is True, got {describe(lb)} and {describe(ub)}"
            )
        return np.sum(sums) / total
