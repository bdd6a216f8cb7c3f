"""A law as a distribution of scipy.stats, answering with the law's own functions.

The only module that imports scipy, and only when asked.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from scipy.stats import rv_discrete
except ImportError as error:
    raise ImportError(
        "as_scipy() needs scipy, which is not installed: pip install scipy"
    ) from error

from .._certified import moments as _moments
from .._certified.float_arrays import supported
from .._certified.lattice_sums import canonical, nearest_integer
from .._certified.probability import float_value
from .._inputs.law_parameters import as_array, naming_places
from .._inputs.numbers import exact_rational, not_finite, shown
from .._inputs.parameter_arrays import COMPARED_BY_VALUE
from .._law import Kind
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from .._certified.interval import Interval
    from .._inputs.draw_arguments import Size
    from .._law import Spec
    from .mixin import LawFunctions as _Law

__all__ = ["ScipyLaw", "as_scipy"]

_NO_RANDOM_STATE = "random_state must be None: every bit comes from the operating system"

#: What scipy makes of random_state=None; nothing is drawn from it.
_SCIPYS_NONE = np.random.mtrand._rand

#: Of more integers no sum is taken: these take some seconds, by vectors and one by one.
_MOST_TERMS, _MOST_TERMS_ONE_BY_ONE = 10**7, 4000
_CHUNK = 2**16

#: Up to here the weights of a generalised Gaussian are computed in floats.
_MOST_BETA = 1024

#: Integers up to here are floats.
_EXACT_FLOATS = 2**53

#: exp(-746) rounds to 0: it is below half the smallest float.
_NO_FLOAT = 746

#: Up to here, what a sum leaves out, below every float, counts for nothing: see _reach.
_MOST_ORDER = 100


def as_scipy(law: _Law) -> ScipyLaw:
    """Return the law as a distribution of scipy.stats; see the law's own `as_scipy`."""
    return ScipyLaw(law)


def _moved(law: _Law, loc: object) -> _Law:
    """Return the law of loc more: exact where numpy's integers would wrap and floats round."""
    exact = exact_rational(loc, "loc")
    if exact.denominator != 1:
        raise ParameterValueError(f"loc must be an integer, got {shown(exact)}")
    return replace(law, mu=law._spec.mu + exact) if exact else law  # type: ignore[type-var]


def _small(values: NDArray[Any]) -> bool:
    """Return whether doubles hold all values, and all differences of two such arrays."""
    if values.dtype == object:
        known = set(map(type, values.ravel().tolist())) <= {int, float}
        return known and not any(abs(x) >= _EXACT_FLOATS // 2 for x in values.ravel().tolist())
    ordinary = values.dtype.kind in "iuf" and values.dtype.itemsize <= 8
    return ordinary and not (np.abs(values.astype(np.float64)) >= _EXACT_FLOATS // 2).any()


def _number(value: object, name: str) -> Fraction | float:
    special = not_finite(value)
    return exact_rational(value, name) if special is None else special


def _require_numbers(array: NDArray[Any], name: str) -> None:
    """Refuse elements that are no numbers; numpy's errors would show them."""
    if array.dtype.kind not in "iuf":
        check = partial(_number, name=name)
        naming_places(lambda: [*map(check, array.ravel().tolist())], array, name, check)


def _floats(numbers: NDArray[Any]) -> NDArray[np.float64]:
    if numbers.dtype.kind in "iuf":
        return numbers.astype(np.float64)
    return np.array([float(_number(x, "k")) for x in numbers.tolist()])


def _at_locs(law: _Law, name: str, k: object, loc: object) -> Any:
    """Return a function of the law at k - loc, loc an array or a fraction.

    By integers as they are, also where their types would wrap: the law moves, a value of loc after
    the other. By doubles, as in scipy, where these hold all, and where loc is a fraction.
    """
    given = [as_array(value, what) for value, what in ((k, "k"), (loc, "loc"))]
    ks, locs = (
        np.asarray(value) if array is None else array
        for value, array in zip((k, loc), given, strict=True)
    )
    function = getattr(law, name)
    if not ks.size or not locs.size or (_small(ks) and _small(locs)):
        return function(ks.astype(np.float64) - locs.astype(np.float64))
    _require_numbers(ks, "k")
    _require_numbers(locs, "loc")
    ks, locs = np.broadcast_arrays(ks, locs)
    places: dict[Any, list[int]] = {}
    values = locs.ravel().tolist()
    for place, value in enumerate(values):
        key = value if type(value) in COMPARED_BY_VALUE else (id(value),)
        places.setdefault(key, []).append(place)
    flat, found = ks.ravel(), np.empty(ks.size)
    for at in places.values():
        value = values[at[0]]
        try:
            moved = _moved(law, value)
        except ParameterValueError:  # a fraction, or not finite
            special = not_finite(value)
            number = float(exact_rational(value, "loc")) if special is None else special
            with np.errstate(invalid="ignore"):
                found[at] = function(_floats(flat[at]) - number)
        else:
            found[at] = getattr(moved, name)(flat[at])
    return found.reshape(ks.shape) if ks.ndim else found[0]


def _reach(spec: Spec) -> int:
    """Return a distance from mu beyond which no integer's probability is a float above 0.

    phi is convex in the distance from mu, and 0 there, so that phi(r) - phi(1/2) >= phi(r - 1/2).
    The likeliest integer is at most 1/2 off: P(x) <= exp(-phi(r - 1/2)), r the distance of x.
    """
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        return math.isqrt(math.ceil(2 * _NO_FLOAT * spec.parameter)) + 2
    root = _NO_FLOAT ** float(1 / spec.beta) * (1 + 2**-40)
    return math.ceil(Fraction(root) * spec.parameter) + 1


def _by_weights(spec: Spec) -> bool:
    """Return whether _weighted is good for a law that has no vectors of its own."""
    return 2 * spec.parameter >= 1 and 1 <= spec.beta <= _MOST_BETA


def _weighted(law: _Law) -> Callable[[NDArray[np.int64]], Any]:
    """Return the pmf of a generalised Gaussian, by floats from the certified one of an integer.

    The relative error is some beta phi units of the last place, and phi of what counts for
    anything is below 100 or so: 1e-11 at most, and mostly 1e-14.
    """
    spec = law._spec
    m0 = nearest_integer(spec.mu)
    off, scale, beta = float(m0 - spec.mu), float(spec.parameter), float(spec.beta)
    at_m0, phi_m0 = law.pmf(m0), (abs(off) / scale) ** beta

    def pmf(ks: NDArray[np.int64]) -> Any:
        with np.errstate(all="ignore"):
            return at_m0 * np.exp(phi_m0 - (np.abs((ks - m0) + off) / scale) ** beta)

    return pmf


def _clipped(
    bound: object, name: str, to_integer: Callable[[Fraction], int], moved: Fraction, *ends: int
) -> int:
    """Return the integer next to bound - moved; the nearer end if it is not between the ends."""
    special = not_finite(bound)
    if special is not None and not math.isnan(special):
        return ends[special > 0]
    return min(max(to_integer(exact_rational(bound, name) - moved), ends[0]), ends[1])


def _chunks(
    law: _Law, lb: object, ub: object, moved: Fraction
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the integers from lb - moved to ub - moved and their probabilities, if above 0."""
    spec = canonical(law._spec)
    reach = _reach(spec)
    low, high = math.floor(spec.mu) - reach, math.ceil(spec.mu) + reach
    first = low if lb is None else _clipped(lb, "lb", math.ceil, moved, low, high + 1)
    last = high if ub is None else _clipped(ub, "ub", math.floor, moved, low - 1, high)
    by_weights = not supported(spec) and _by_weights(spec)
    pmf = _weighted(law) if by_weights else law.pmf
    most = _MOST_TERMS if by_weights or supported(spec) else _MOST_TERMS_ONE_BY_ONE
    if last - first >= most:
        raise ParameterOverflowError(
            f"lb and ub must leave at most {most} integers to sum over for {shown(law)}, whose "
            f"probabilities are above 0 as floats on {shown(last - first + 1)}"
        )
    if last >= first and max(abs(first), abs(last)) > _EXACT_FLOATS:
        raise ParameterOverflowError(
            "expect and moments sum in floats, which do not tell integers beyond 2**53 apart, but "
            f"{shown(law)} has probabilities above 0 there; ask for those of X - {shown(spec.mu)}"
        )
    for start in range(first, last + 1, _CHUNK):
        ks = np.arange(start, min(start + _CHUNK, last + 1))
        p = pmf(ks)
        yield ks[p > 0].astype(np.float64), p[p > 0]


class ScipyLaw(rv_discrete):  # type: ignore[misc]
    """scipy's machinery (arrays, expect, frozen distributions) around a law; loc moves the law.

    Floats in, floats out, as everywhere in scipy: quantiles beyond 2**53 are rounded, where the
    law's own ppf and isf return Python integers.
    """

    def __new__(cls, *_: Any, **__: Any) -> ScipyLaw:
        # rv_discrete's own turns the arguments of __init__ into a choice of class
        return object.__new__(cls)

    def __init__(self, law: _Law) -> None:
        name = type(law).__name__
        super().__init__(a=-np.inf, b=np.inf, name=name, longname=name)
        self.law = law

    def _updated_ctor_param(self) -> dict[str, Any]:
        # what a frozen distribution, a copy or a pickle makes another of this from
        return {"law": self.law}

    def __reduce__(self) -> tuple[Any, ...]:
        return ScipyLaw, (self.law,)

    def __dask_tokenize__(self) -> tuple[str, str]:
        return self.law.__dask_tokenize__()

    # --- what is handed to the law

    def _pmf(self, k: Any) -> Any:
        return self.law.pmf(k)

    def _logpmf(self, k: Any) -> Any:
        return self.law.logpmf(k)

    def _cdf(self, k: Any) -> Any:
        return self.law.cdf(k)

    def _logcdf(self, k: Any) -> Any:
        return self.law.logcdf(k)

    def _sf(self, k: Any) -> Any:
        return self.law.sf(k)

    def _logsf(self, k: Any) -> Any:
        return self.law.logsf(k)

    def _ppf(self, q: Any) -> Any:
        return np.asarray(self.law.ppf(q), dtype=np.float64)

    def _isf(self, q: Any) -> Any:
        return np.asarray(self.law.isf(q), dtype=np.float64)

    def _entropy(self) -> float:
        return float(self.law.entropy())

    def _stats(self, moments: str = "mvsk") -> tuple[float | None, ...]:
        """Return mean, variance, skewness and excess kurtosis; None for what is not asked for."""
        by_letter = (
            ("m", _moments.mean),
            ("v", _moments.variance),
            ("s", _moments.skewness),
            ("k", _moments.excess_kurtosis),
        )
        return tuple(
            self._moment(moment) if letter in moments else None for letter, moment in by_letter
        )

    def _moment(self, moment: Callable[[Spec, int], Interval]) -> float:
        spec = self.law._spec
        return float_value(lambda bits: moment(spec, bits))

    def _munp(self, n: Any) -> float:
        """Return E(X**n)."""
        if n > _MOST_ORDER:
            raise ParameterValueError(f"order must be at most {_MOST_ORDER}, got {shown(n)}")
        order, spec = int(n), self.law._spec
        if _moments.has_raw_moments(spec, order):
            found = self._moment(lambda spec, bits: _moments.raw_moment(spec, order, bits))
        else:
            found = self._moment_by_sums(order)
        if order > 4 and math.isinf(found):
            raise ParameterOverflowError(
                f"the moment of order {n} of {shown(self.law)} is beyond every float"
            )
        return found

    def _moment_by_sums(self, order: int) -> float:
        """Return E(X**order), summed in floats; inf if it is beyond every float.

        With Y = X - mu it is, of a symmetric law, the sum over even i of binomial(order, i)
        mu**(order - i) E(Y**i), whose terms have one sign; if mu = 0, no term for an odd order.
        """
        spec = self.law._spec
        if order % 2 and spec.mu == 0:
            return 0.0
        unit = math.ceil(abs(spec.mu)) + _reach(canonical(spec)) + 1  # powers may overflow
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

    # --- loc: where it is one integer the law moves, as scipy's k - loc may wrap or be rounded

    def _at(self, loc: Any) -> tuple[ScipyLaw, Any]:
        """Return the distribution moved by loc, and 0; or this one, and loc for scipy."""
        try:
            law = _moved(self.law, loc)
        except (ParameterTypeError, ParameterValueError):  # scipy takes fractions, and arrays
            return self, loc
        return (self if law is self.law else ScipyLaw(law)), 0

    def _called(self, function: Callable[..., Any], value: Any, loc: Any) -> Any:
        dist, loc = self._at(loc)
        return function(dist, value, loc)

    def _of_law(self, name: str, k: Any, loc: Any) -> Any:
        """Return the law's own function at k - loc, past scipy, which would round or wrap that."""
        try:
            law = _moved(self.law, loc)
        except (ParameterTypeError, ParameterValueError):  # a fraction, or an array
            values = _at_locs(self.law, name, k, loc)
        else:
            values = getattr(law, name)(k)
        return values if isinstance(values, np.ndarray) else np.float64(values)

    def freeze(self, loc: Any = 0) -> Any:
        """Return the distribution with loc, frozen."""
        dist, loc = self._at(loc)
        return rv_discrete.freeze(dist, loc=loc)

    def pmf(self, k: Any, loc: Any = 0) -> Any:
        """Return Pr[X = k]."""
        return self._of_law("pmf", k, loc)

    def logpmf(self, k: Any, loc: Any = 0) -> Any:
        """Return log Pr[X = k]."""
        return self._of_law("logpmf", k, loc)

    def cdf(self, k: Any, loc: Any = 0) -> Any:
        """Return Pr[X <= k]."""
        return self._of_law("cdf", k, loc)

    def logcdf(self, k: Any, loc: Any = 0) -> Any:
        """Return log Pr[X <= k]."""
        return self._of_law("logcdf", k, loc)

    def sf(self, k: Any, loc: Any = 0) -> Any:
        """Return Pr[X > k]."""
        return self._of_law("sf", k, loc)

    def logsf(self, k: Any, loc: Any = 0) -> Any:
        """Return log Pr[X > k]."""
        return self._of_law("logsf", k, loc)

    def ppf(self, q: Any, loc: Any = 0) -> Any:
        """Return the least k with Pr[X <= k] >= q."""
        return self._called(rv_discrete.ppf, q, loc)

    def isf(self, q: Any, loc: Any = 0) -> Any:
        """Return the least k with Pr[X > k] <= q."""
        return self._called(rv_discrete.isf, q, loc)

    # --- sums: scipy's own end after 1000 terms, or at the first few that are small

    def expect(
        self,
        func: Callable[[Any], Any] | None = None,
        args: tuple[()] = (),
        loc: Any = 0,
        lb: Any = None,
        ub: Any = None,
        conditional: bool = False,
        maxcount: int | None = None,
        tolerance: float | None = None,
        chunksize: int | None = None,
    ) -> Any:
        """Return E(func(X)), summed over every integer whose probability is a float above 0.

        Parameters
        ----------
        func : callable, optional
            Of an array of integers, as floats; the identity if None.
        args : tuple
            Empty: the law has no shape parameters.
        loc : number, optional
            What is added to X, one number.
        lb, ub : number, optional
            The sum is over lb <= X <= ub.
        conditional : bool, optional
            True: divide by P(lb <= X <= ub).
        maxcount, tolerance, chunksize : optional
            scipy's, of no effect: they tell when to stop before the end.

        Returns
        -------
        number

        Raises
        ------
        TypeError, ValueError
            If a parameter is wrong, or conditional on a probability that is 0 as a float.
        OverflowError
            If the sum has more than 10**7 terms (where beta is above 1024, 4000), or goes beyond
            2**53, where floats do not tell integers apart.
        """
        if args:
            raise ParameterTypeError(f"args must be empty, got {len(args)} of them")
        exact = exact_rational(loc, "loc")
        whole = math.floor(exact)
        law, rest = _moved(self.law, whole), exact - whole
        sums, total = [], 0.0
        for ks, p in _chunks(law, lb, ub, rest):
            values = ks + float(rest)
            sums.append(np.sum((values if func is None else func(values)) * p))
            total += float(np.sum(p))
        result = np.sum(sums)
        if not conditional:
            return result
        if total == 0:
            raise ParameterValueError(
                "lb and ub must have a probability above 0 as a float between them where "
                f"conditional is True, got {shown(lb)} and {shown(ub)}"
            )
        return result / total

    def moment(self, order: Any, loc: Any = 0) -> Any:
        """Return E(X**order), order up to 100.

        Certified up to order 4, and for Gaussians, Laplaces and scales below 2; else a sum in
        floats, accurate to about 1e-11, or, if 2 mu is no integer, to 1e-11 of E(abs(X)**order).
        Odd ones are exactly 0 if mu = 0.
        """
        dist, loc = self._at(loc)
        # scipy combines floats, 0 and inf too
        if isinstance(loc, int) and order in range(1, _MOST_ORDER + 1):
            return np.float64(dist._munp(order))
        return rv_discrete.moment(dist, order, loc=loc)

    # --- randomness: the operating system's, always

    def rvs(self, loc: Any = 0, size: Size = None, random_state: None = None) -> Any:
        """Draw exactly, as the law's own `sample`; random_state must be None."""
        if random_state is not None:
            raise ParameterTypeError(_NO_RANDOM_STATE)
        return _moved(self.law, loc).sample(size)

    @property
    def random_state(self) -> None:
        """None: there is no state. Setting another is refused, not ignored."""

    @random_state.setter
    def random_state(self, state: Any) -> None:
        if state is not None:
            raise ParameterTypeError(_NO_RANDOM_STATE)

    @property
    def _random_state(self) -> Any:
        # what scipy, and a frozen distribution, set; nothing has a use for it
        return _SCIPYS_NONE

    @_random_state.setter
    def _random_state(self, state: Any) -> None:
        if state is not _SCIPYS_NONE:
            raise ParameterTypeError(_NO_RANDOM_STATE)
