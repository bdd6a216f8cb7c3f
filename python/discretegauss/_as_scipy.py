"""A law as a distribution of scipy.stats, answering with the law's own functions.

The only module that imports scipy, and only when asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from scipy.stats import rv_discrete
except ImportError as error:
    raise ImportError(
        "as_scipy() needs scipy, which is not installed: pip install scipy"
    ) from error

from . import _moments
from ._parameters import exact_rational, shown
from ._probability import float_value
from .errors import ParameterTypeError, ParameterValueError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._arguments import Size
    from .laws import _Law

__all__ = ["ScipyLaw", "as_scipy"]

_NO_RANDOM_STATE = "random_state must be None: every bit comes from the operating system"

#: What scipy makes of random_state=None; nothing is drawn from it.
_SCIPYS_NONE = np.random.mtrand._rand


def as_scipy(law: _Law) -> ScipyLaw:
    """Return the law as a distribution of scipy.stats; see the law's own `as_scipy`."""
    return ScipyLaw(law)


def _moved(law: _Law, loc: object) -> _Law:
    """Return the law of loc more: exact where numpy's integers would wrap and floats round."""
    exact = exact_rational(loc, "loc")
    if exact.denominator != 1:
        raise ParameterValueError(f"loc must be an integer, got {shown(exact)}")
    return replace(law, mu=law._spec.mu + exact) if exact else law


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

    def _stats(self) -> tuple[float, float, float, float]:
        spec = self.law._spec
        skewness = float_value(lambda bits: _moments.skewness(spec, bits))
        kurtosis = float_value(lambda bits: _moments.excess_kurtosis(spec, bits))
        return self.law.mean(), self.law.var(), skewness, kurtosis

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

    def freeze(self, loc: Any = 0) -> Any:
        """Return the distribution with loc, frozen."""
        dist, loc = self._at(loc)
        return rv_discrete.freeze(dist, loc=loc)

    def pmf(self, k: Any, loc: Any = 0) -> Any:
        """Return Pr[X = k]."""
        return self._called(rv_discrete.pmf, k, loc)

    def logpmf(self, k: Any, loc: Any = 0) -> Any:
        """Return log Pr[X = k]."""
        return self._called(rv_discrete.logpmf, k, loc)

    def cdf(self, k: Any, loc: Any = 0) -> Any:
        """Return Pr[X <= k]."""
        return self._called(rv_discrete.cdf, k, loc)

    def logcdf(self, k: Any, loc: Any = 0) -> Any:
        """Return log Pr[X <= k]."""
        return self._called(rv_discrete.logcdf, k, loc)

    def sf(self, k: Any, loc: Any = 0) -> Any:
        """Return Pr[X > k]."""
        return self._called(rv_discrete.sf, k, loc)

    def logsf(self, k: Any, loc: Any = 0) -> Any:
        """Return log Pr[X > k]."""
        return self._called(rv_discrete.logsf, k, loc)

    def ppf(self, q: Any, loc: Any = 0) -> Any:
        """Return the least k with Pr[X <= k] >= q."""
        return self._called(rv_discrete.ppf, q, loc)

    def isf(self, q: Any, loc: Any = 0) -> Any:
        """Return the least k with Pr[X > k] <= q."""
        return self._called(rv_discrete.isf, q, loc)

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
