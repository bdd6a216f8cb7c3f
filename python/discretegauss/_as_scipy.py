"""A law as a distribution of scipy.stats: scipy's interface, our probabilities and draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ParameterTypeError

try:
    from scipy.stats import rv_discrete
except ModuleNotFoundError as missing:
    raise ImportError(
        "as_scipy() needs scipy, which is not installed: pip install scipy"
    ) from missing

if TYPE_CHECKING:
    from ._law_functions import LawFunctions

__all__ = ["ScipyLaw", "as_scipy"]


class ScipyLaw(rv_discrete):  # type: ignore[misc]
    """A distribution of scipy.stats without shape parameters; ``loc`` shifts it, as usual."""

    def __new__(cls, *_args: Any, **_given: Any) -> ScipyLaw:  # rv_discrete's knows its own only
        made: ScipyLaw = object.__new__(cls)
        return made

    def __init__(self, law: LawFunctions, **given: Any) -> None:
        given.setdefault("name", type(law).__name__)
        super().__init__(a=-np.inf, b=np.inf, **given)
        self._law: Any = law

    def _updated_ctor_param(self) -> dict[str, Any]:
        return {"law": self._law, "name": self.name}

    def _pmf(self, k: Any) -> Any:
        return self._law.pmf(k)

    def _logpmf(self, k: Any) -> Any:
        return self._law.logpmf(k)

    def _cdf(self, k: Any) -> Any:
        return self._law.cdf(k)

    def _logcdf(self, k: Any) -> Any:
        return self._law.logcdf(k)

    def _sf(self, k: Any) -> Any:
        return self._law.sf(k)

    def _logsf(self, k: Any) -> Any:
        return self._law.logsf(k)

    def _ppf(self, q: Any) -> Any:
        return np.asarray(self._law.ppf(q), float)

    def _isf(self, q: Any) -> Any:
        return np.asarray(self._law.isf(q), float)

    def _stats(self) -> tuple[Any, ...]:
        symmetric = (2 * self._law.mu).denominator == 1
        return self._law.mean(), self._law.var(), 0.0 if symmetric else None, None

    def _entropy(self) -> Any:
        return self._law.entropy()

    def rvs(self, *args: Any, **options: Any) -> Any:
        """Draw exactly, with bits from the operating system; a random_state is refused."""
        if options.get("random_state") is not None:
            raise ParameterTypeError(
                "random_state must not be given: every bit comes from the operating system"
            )
        return super().rvs(*args, **options)

    def _rvs(self, size: Any = None, random_state: Any = None) -> Any:
        return self._law.sample(size)


def as_scipy(law: LawFunctions) -> ScipyLaw:
    """Return the law as a distribution of scipy.stats; see `LawFunctions.as_scipy`."""
    return ScipyLaw(law)
