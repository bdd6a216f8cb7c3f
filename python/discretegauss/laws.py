"""The laws as objects: parameters checked once; then drawn from, and asked, any number of times.

Frozen, hashable, picklable, shareable between threads and processes: no randomness is in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final, TypeVar, overload

from numpy.typing import DTypeLike, NDArray

from ._arguments import INT64, Method, Shape, Size, checked_source
from ._engine import ScalarLaw, prepare_scalar
from ._law_functions import LawFunctions
from ._parameters import shown
from ._source import Source
from ._spec import Kind, Spec
from .sampling import draw, exact_spec

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "GeneralizedGaussian", "Law"]


_Array = TypeVar("_Array", bound=NDArray[Any])

# The defaults of sample, and INT64, are single objects: whoever gives none is recognised by them.
_AUTO: Final = "auto"
_SYSTEM: Final = "getrandom"
_ONE_THREAD: Final = 1


def _written(value: Fraction) -> str:
    """Return the repr of a number: what it means for short, if it is longer than Python writes."""
    try:
        return repr(value)
    except ValueError:
        return shown(value)


class _AtFirstUse:
    """An attribute that is computed when it is first asked for, and then kept.

    As functools.cached_property, which up to Python 3.11 has all laws wait for one lock: a process
    forked while another thread made a law ready would wait for ever. Two threads at once may make
    the same law ready twice; one of the two is kept.
    """

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute, self._name = compute, compute.__name__

    def __get__(self, law: Any, owner: object) -> Any:
        if law is None:
            return self
        return vars(law).setdefault(self._name, self._compute(law))


def _unpickled(kind: type[_Law], *values: str) -> _Law:
    """Return the law of numbers in hexadecimal."""
    return kind(*(Fraction(*(int(n, 16) for n in value.split("/"))) for value in values))


def _without(state: Any, names: set[str]) -> Any:
    """Return what object.__getstate__ gives, a dict or that and a dict of slots, without names."""
    own, slots = state if isinstance(state, tuple) else (state, None)
    own = {name: value for name, value in own.items() if name not in names}
    return (own, slots) if slots else own


def _unpickled_as(cls: type[_Law], kind: type[_Law], *values: str) -> _Law:
    """Return the law of a class derived from `kind`, whose __init__ may be any; without its state.

    Numbers in hexadecimal.
    """
    law: _Law = object.__new__(cls)
    plain = _unpickled(kind, *values)
    for name in (*(field.name for field in fields(kind)), "_spec"):
        object.__setattr__(law, name, getattr(plain, name))
    return law


class _Law(LawFunctions):
    """What the laws share: drawing, and the functions of LawFunctions."""

    _kind: ClassVar[Kind]
    _spec: Spec
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def _check(self, parameter: object, mu: object, beta: object = 1) -> Spec:
        """Check the parameters; keep and return the exact ones."""
        spec = exact_spec(self._kind, parameter, mu, beta)
        # past the frozen dataclass: no field, so that compare, hash, repr and pickle skip it
        object.__setattr__(self, "_spec", spec)
        return spec

    # Made ready when the first draw is asked for: what a law can be asked needs no core.

    @_AtFirstUse
    def _one(self) -> ScalarLaw:
        return prepare_scalar(self._spec)

    @_AtFirstUse
    def _draw_now(self) -> Callable[[], int]:
        return getattr(self._one, "draw_now", None) or partial(self._one.draw, "getrandom")

    def __repr__(self) -> str:
        values = (f"{f.name}={_written(getattr(self, f.name))}" for f in fields(self))
        return f"{type(self).__name__}({', '.join(values)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # in hexadecimal, which has no limit: protocols 0 and 1 write integers in decimal
        cls = type(self)
        kind = next(base for base in cls.__mro__ if "_kind" in vars(base))
        names = [field.name for field in fields(kind)]
        numbers = (getattr(self, name) for name in names)
        values = (f"{x.numerator:x}/{x.denominator:x}" for x in numbers)
        if cls is kind:
            return _unpickled, (kind, *values)
        state = self.__getstate__()
        if cls.__getstate__ is object.__getstate__:  # no class has one of its own
            state = _without(state, {*names, "_spec", "_one", "_draw_now"})
        return _unpickled_as, (cls, kind, *values), state

    def __setstate__(self, state: Any) -> None:
        # past the frozen dataclass; of classes derived from a law, and of their slots too
        for part in state if isinstance(state, tuple) else (state,):
            for name, value in (part or {}).items():
                object.__setattr__(self, name, value)

    # One draw, an array, or what was given to be filled: for type checkers.

    @overload
    def sample(
        self,
        size: None = None,
        *,
        dtype: DTypeLike = ...,
        out: None = None,
        method: Method = ...,
        source: Source = ...,
        threads: int = ...,
    ) -> int: ...

    @overload
    def sample(
        self,
        size: Shape,
        *,
        dtype: DTypeLike = ...,
        out: None = None,
        method: Method = ...,
        source: Source = ...,
        threads: int = ...,
    ) -> NDArray[Any]: ...

    @overload
    def sample(
        self,
        size: Size = None,
        *,
        dtype: DTypeLike = ...,
        out: _Array,
        method: Method = ...,
        source: Source = ...,
        threads: int = ...,
    ) -> _Array: ...

    def sample(
        self,
        size: Size = None,
        *,
        dtype: DTypeLike = INT64,
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
            and dtype is INT64
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

    def as_scipy(self) -> Any:
        """Return the law as a distribution of scipy.stats, without shape parameters.

        Returns
        -------
        scipy.stats distribution
            With pmf, cdf, ppf, stats, expect and so on, all by the methods here, and rvs, which
            draws exactly; a random_state is refused, as every bit comes from the operating system.

        Raises
        ------
        ImportError
            If scipy is not installed.

        Examples
        --------
        >>> import discretegauss as dg
        >>> dist = dg.DiscreteGaussian(100).as_scipy()
        >>> dist.rvs(size=5).shape
        (5,)
        """
        from ._as_scipy import as_scipy

        return as_scipy(self)


@dataclass(frozen=True, repr=False)
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
        spec = self._check(self.sigma2, self.mu)
        object.__setattr__(self, "sigma2", spec.parameter)
        object.__setattr__(self, "mu", spec.mu)


@dataclass(frozen=True, repr=False)
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
        spec = self._check(self.scale, self.mu)
        object.__setattr__(self, "scale", spec.parameter)
        object.__setattr__(self, "mu", spec.mu)


@dataclass(frozen=True, repr=False)
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
        spec = self._check(self.scale, self.mu, self.beta)
        object.__setattr__(self, "scale", spec.parameter)
        object.__setattr__(self, "beta", spec.beta)
        object.__setattr__(self, "mu", spec.mu)


Law = DiscreteGaussian | DiscreteLaplace | GeneralizedGaussian
"""Any of the laws: what to annotate a parameter with that takes one."""
