"""The laws as objects: parameters checked once, then drawn from any number of times.

Frozen, hashable, picklable, shareable between threads and processes: no randomness is in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._arguments import Method, Size, checked_source
from ._engine import ScalarLaw, prepare_scalar
from ._law_functions import LawFunctions
from ._source import Source
from ._spec import Kind, Spec
from .errors import MissingCoreError
from .sampling import draw, exact_spec

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "GeneralizedGaussian"]


# The defaults of sample, each a single object: whoever gives none is recognised by identity.
_INT64: Final = np.int64
_AUTO: Final = "auto"
_SYSTEM: Final = "getrandom"
_ONE_THREAD: Final = 1


class _Undrawable:
    """In the place of a sampler that needs the compiled core, where that is missing."""

    def __init__(self, missing: MissingCoreError) -> None:
        self._message = str(missing)

    def draw(self, source: Source) -> int:
        """Refuse."""
        raise MissingCoreError(self._message)


class _Law(LawFunctions):
    """What the laws share: drawing."""

    _kind: ClassVar[Kind]
    _spec: Spec
    _one: ScalarLaw
    _draw_now: Callable[[], int]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def _prepare(self, parameter: object, mu: object, beta: object = 1) -> Spec:
        """Check the parameters and make single draws ready; return the exact parameters."""
        spec = exact_spec(self._kind, parameter, mu, beta)
        try:
            one = prepare_scalar(spec)
        except MissingCoreError as missing:  # the law has its probabilities all the same
            one = _Undrawable(missing)
        # past the frozen dataclass: no fields, so that compare, hash, repr and pickle skip them
        object.__setattr__(self, "_spec", spec)
        object.__setattr__(self, "_one", one)
        draw_now = getattr(one, "draw_now", None) or partial(one.draw, "getrandom")
        object.__setattr__(self, "_draw_now", draw_now)
        return spec

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def sample(
        self,
        size: Size = None,
        *,
        dtype: DTypeLike = _INT64,
        out: NDArray[Any] | None = None,
        method: Method = _AUTO,
        source: Source = _SYSTEM,
        threads: int = _ONE_THREAD,
    ) -> Any:
        """Draw from the law, exactly.

        Parameters
        ----------
        size, dtype, out, method, source, threads
            As for `discretegauss.discrete_gaussian`.

        Returns
        -------
        int or ndarray
            Independent draws.

        Raises
        ------
        TypeError, ValueError, OverflowError, OSError
            As `discretegauss.discrete_gaussian`.
        """
        if (
            size is None
            and out is None
            and dtype is _INT64
            and method is _AUTO
            and threads is _ONE_THREAD
        ):
            if source is _SYSTEM:
                return self._draw_now()
            return self._one.draw(checked_source(source))
        return draw(
            *self._spec,
            size=size,
            dtype=dtype,
            out=out,
            method=method,
            source=source,
            threads=threads,
        )

    rvs = sample


@dataclass(frozen=True)
class DiscreteGaussian(_Law):
    """The discrete Gaussian, P(x) ~ exp(-(x - mu)**2 / (2 sigma2)).

    Parameters
    ----------
    sigma2 : number
        The scale parameter, > 0; any number type, kept as the exact Fraction that it means.
    mu : number, optional
        The centre, any rational.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.DiscreteGaussian("355/113", mu=2)
    >>> law
    DiscreteGaussian(sigma2=Fraction(355, 113), mu=Fraction(2, 1))
    >>> law.sample((2, 3)).shape
    (2, 3)
    """

    _kind: ClassVar[Kind] = Kind.DISCRETE_GAUSSIAN
    sigma2: Any
    mu: Any = Fraction(0)

    def __post_init__(self) -> None:
        spec = self._prepare(self.sigma2, self.mu)
        object.__setattr__(self, "sigma2", spec.parameter)
        object.__setattr__(self, "mu", spec.mu)


@dataclass(frozen=True)
class DiscreteLaplace(_Law):
    """The discrete Laplace, P(x) ~ exp(-abs(x - mu) / scale).

    Parameters
    ----------
    scale : number
        The scale, > 0; any number type, kept as the exact Fraction that it means.
    mu : number, optional
        The centre, any rational.

    Examples
    --------
    >>> import discretegauss as dg
    >>> type(dg.DiscreteLaplace("5/2").sample())
    <class 'int'>
    """

    _kind: ClassVar[Kind] = Kind.DISCRETE_LAPLACE
    scale: Any
    mu: Any = Fraction(0)

    def __post_init__(self) -> None:
        spec = self._prepare(self.scale, self.mu)
        object.__setattr__(self, "scale", spec.parameter)
        object.__setattr__(self, "mu", spec.mu)


@dataclass(frozen=True)
class GeneralizedGaussian(_Law):
    """The discrete generalised Gaussian, P(x) ~ exp(-(abs(x - mu) / scale)**beta).

    Parameters
    ----------
    scale : number
        The scale, > 0; any number type, kept as the exact Fraction that it means.
    beta : number
        The exponent, >= 1.
    mu : number, optional
        The centre, any rational.

    Examples
    --------
    >>> import discretegauss as dg
    >>> if dg.build_info()["engine"] == "native":  # cell tables are in the compiled core
    ...     noise = dg.GeneralizedGaussian(10, "3/2").sample(5)
    """

    _kind: ClassVar[Kind] = Kind.GENERALIZED_GAUSSIAN
    scale: Any
    beta: Any
    mu: Any = Fraction(0)

    def __post_init__(self) -> None:
        spec = self._prepare(self.scale, self.mu, self.beta)
        object.__setattr__(self, "scale", spec.parameter)
        object.__setattr__(self, "beta", spec.beta)
        object.__setattr__(self, "mu", spec.mu)
