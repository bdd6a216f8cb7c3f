"""The laws as objects: parameters checked once, then drawn from any number of times.

Frozen, hashable, picklable, shareable between threads and processes: no randomness is in them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._arguments import Method, Size
from ._engine import PreparedLaw, prepare, prepare_cells
from ._source import Source
from ._spec import Kind, Spec
from .sampling import draw, exact_spec

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "GeneralizedGaussian"]


class _Law:
    """What the laws share: drawing."""

    _kind: ClassVar[Kind]
    _spec: Spec
    _one: PreparedLaw
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def _prepare(self, parameter: object, mu: object, beta: object = 1) -> Spec:
        """Check the parameters and make single draws ready; return the exact parameters."""
        spec = exact_spec(self._kind, parameter, mu, beta)
        make = prepare_cells if self._kind is Kind.GENERALIZED_GAUSSIAN else prepare
        # past the frozen dataclass: no fields, so that compare, hash, repr and pickle skip them
        object.__setattr__(self, "_spec", spec)
        object.__setattr__(self, "_one", make(spec))
        return spec

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def sample(
        self,
        size: Size = None,
        *,
        dtype: DTypeLike = np.int64,
        out: NDArray[Any] | None = None,
        method: Method = "auto",
        source: Source = "getrandom",
        threads: int = 1,
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
            and dtype is np.int64
            and isinstance(method, str)  # an array compares to an array
            and isinstance(source, str)
            and method == "auto"
            and source == "getrandom"
            and type(threads) is int
            and threads == 1
        ):
            return self._one.draw("getrandom")
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
