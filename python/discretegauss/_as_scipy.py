"""A law as a distribution of scipy.stats, answering with the law's own functions.

The only module that imports scipy, and only when asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from scipy.stats import rv_discrete
except ImportError as error:
    raise ImportError(
        "as_scipy() needs scipy, which is not installed: pip install scipy"
    ) from error

from . import _moments
from ._probability import float_value
from .errors import ParameterTypeError

if TYPE_CHECKING:
    from .laws import _Law

__all__ = ["ScipyLaw", "as_scipy"]

_NO_RANDOM_STATE = "random_state must be None: every bit comes from the operating system"

#: What scipy makes of random_state=None; nothing is drawn from it.
_SCIPYS_NONE = np.random.mtrand._rand


def as_scipy(law: _Law) -> ScipyLaw:
    """Return the law as a distribution of scipy.stats; see the law's own `as_scipy`."""
    return ScipyLaw(law)


class ScipyLaw(rv_discrete):  # type: ignore[misc]
    """scipy's machinery (loc, arrays, expect, frozen distributions) around a law.

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

    # --- randomness: the operating system's, always

    def rvs(self, *args: Any, **kwds: Any) -> Any:
        """Draw exactly; loc and size as in scipy, random_state must be None."""
        if kwds.get("random_state") is not None:
            raise ParameterTypeError(_NO_RANDOM_STATE)
        return super().rvs(*args, **kwds)

    @property
    def random_state(self) -> None:
        """None: there is no state. Setting another is refused, not ignored."""

    @random_state.setter
    def random_state(self, state: Any) -> None:
        if state is not None:
            raise ParameterTypeError(_NO_RANDOM_STATE)

    @property
    def _random_state(self) -> Any:
        # what scipy, and a frozen distribution, set and hand to _rvs, which has no use for it
        return _SCIPYS_NONE

    @_random_state.setter
    def _random_state(self, state: Any) -> None:
        if state is not _SCIPYS_NONE:
            raise ParameterTypeError(_NO_RANDOM_STATE)

    def _rvs(self, *_: Any, size: Any = None, random_state: Any = None) -> Any:
        return self.law.sample(size if size != () else None)
