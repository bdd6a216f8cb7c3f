"""The laws as objects: parameters checked once; then drawn from, and asked, any number of times.

Frozen, hashable, picklable, shareable between threads and processes: no randomness is in them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from fractions import Fraction
from functools import partial
from types import MemberDescriptorType
from typing import Any, ClassVar, Final, NoReturn, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._drawing.draw import draw
from ._drawing.engines import native, sampler
from ._drawing.raw_bytes import draw_bytes
from ._drawing.sampler import Sampler
from ._inputs.draw_arguments import (
    AUTO,
    CHACHA20,
    FEW,
    INT64,
    ONE_THREAD,
    SYSTEM,
    Method,
    Shape,
    Size,
    checked_source,
)
from ._inputs.keywords import names_instead
from ._inputs.law_parameters import exact_spec, sigma2_of
from ._inputs.messages import describe, written
from ._inputs.numbers import whole_number
from ._inputs.source import Source
from ._law import Kind, LawSpec
from ._law_functions.mixin import LawFunctions
from ._system.progress import Progress
from .errors import ParameterTypeError, ParameterValueError

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "GeneralizedGaussian", "Law", "centred"]


_Array = TypeVar("_Array", bound=NDArray[Any])
_LawType = TypeVar("_LawType", bound="_Law")


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


#: What a law keeps beside its numbers: their exact form, and what is made ready from that.
_MADE_READY: Final = frozenset({"_sampler"})
_AWAITS_STATE: Final = "_awaits_state"


def _made_already(name: str) -> FrozenInstanceError:
    return FrozenInstanceError(f"{name}: a law is made once, and stays as it is; make another one")


class _Number:
    """A parameter of a law: a field of a dataclass, read from the law's one specification.

    Parameters
    ----------
    name, part : str
        The field, and that of LawSpec.
    default : Fraction or MISSING
        The default of the field.
    """

    def __init__(self, name: str, part: str, default: Any) -> None:
        self._name, self._part, self._default = name, part, default

    def __get__(self, law: Any, owner: object) -> Any:
        if law is None:
            if self._default is MISSING:
                raise AttributeError(self._name)
            return self._default
        if "_spec" in vars(law):
            return getattr(law._spec, self._part)
        try:
            return vars(law)[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, law: Any, value: object) -> None:
        if "_spec" not in vars(law):  # as given; __post_init__ makes the law of it
            vars(law)[self._name] = value
        elif type(value) is not Fraction or value != getattr(law._spec, self._part):
            raise _made_already(self._name)


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
    law._make(_unpickled(kind, *values)._spec)
    vars(law)[_AWAITS_STATE] = True
    return law


class _Law(LawFunctions):
    """What the laws share: drawing, and the functions of LawFunctions."""

    _kind: ClassVar[Kind]
    _spec: LawSpec
    __dataclass_fields__: ClassVar[dict[str, Any]]

    _parts: ClassVar[dict[str, str]]
    """The names of the law's numbers, and of the same in LawSpec."""

    def __init_subclass__(cls) -> None:
        # a derived dataclass with slots=True makes slots for these, which would hold other numbers
        for name in getattr(cls, "_parts", ()):
            if isinstance(vars(cls).get(name), MemberDescriptorType):
                delattr(cls, name)

    def __post_init__(self) -> None:
        given = {part: getattr(self, name) for name, part in self._parts.items()}
        if "_spec" in vars(self):
            self._make(self._spec)  # where a derived class has numbers of its own
            raise _made_already("__init__")
        self._make(exact_spec(self._kind, **given))

    def _make(self, spec: LawSpec) -> None:
        """Keep the exact law, once and for all."""
        # no field, so that compare, hash, repr and pickle skip it
        vars(self)["_spec"] = spec
        for name, part in self._parts.items():
            vars(self).pop(name, None)  # as it was given
            object.__setattr__(self, name, getattr(spec, part))

    # Made ready when the first draw is asked for: what a law can be asked needs no core.

    @_AtFirstUse
    def _sampler(self) -> Sampler:
        return sampler(self._spec)

    def __repr__(self) -> str:
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        said = [f"{name}={written(value)}" for name, value in values if name != "mu" or value]
        return f"{type(self).__name__}({', '.join(said)})"

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
            state = _without(state, {*names, "_spec", *_MADE_READY, _AWAITS_STATE})
        return _unpickled_as, (cls, kind, *values), state

    def __setstate__(self, state: Any) -> None:
        # of a pickle or copy of a class derived from a law, which has its numbers already
        if not vars(self).pop(_AWAITS_STATE, False):
            raise _made_already("__setstate__")
        # past the frozen dataclass; of slots too
        for part in state if isinstance(state, tuple) else (state,):
            for name, value in (part or {}).items():
                if name == "_spec" and value != self._spec:
                    raise _made_already(name)
                if name not in _MADE_READY:
                    object.__setattr__(self, name, value)

    def __dask_tokenize__(self) -> tuple[str, str]:
        # never equal: Dask computes tasks of equal tokens once, so two calls would be one draw
        return type(self).__name__, os.urandom(16).hex()

    # A law beside data is a forgotten draw, or one draw for all of it. pandas leaves a sum to us
    # for the priority, numpy for __array_ufunc__; else both would try element by element.

    __pandas_priority__: ClassVar[int] = 5000

    def __add__(self, other: object) -> NoReturn:
        raise ParameterTypeError(
            "a law cannot be added to anything: write add_noise(values, law), "
            "which draws once for each value"
        )

    __radd__ = __sub__ = __rsub__ = __add__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc in (np.add, np.subtract):
            self.__add__(inputs)
        as_arrays = (np.asarray(x, object) if isinstance(x, _Law) else x for x in inputs)
        return getattr(ufunc, method)(*as_arrays, **options)

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

    @names_instead
    def sample(
        self,
        size: Size = None,
        *,
        dtype: DTypeLike = INT64,
        out: NDArray[Any] | None = None,
        method: Method = AUTO,
        source: Source = SYSTEM,
        threads: int = ONE_THREAD,
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
        one = threads is ONE_THREAD
        if out is None and dtype is INT64 and method is AUTO and (one or type(threads) is int):
            if size is None and one:
                return self._sampler.draw(checked_source(source))
            # so few draws are one thread's, however many there may be
            if (
                type(size) is int
                and 0 <= size <= FEW
                and threads > 0
                and (source is SYSTEM or source is CHACHA20)
            ):
                return self._sampler.int64s(size, source)
        return draw(
            self._sampler,
            size=size,
            dtype=dtype,
            out=out,
            method=method,
            source=source,
            threads=threads,
        )

    rvs = sample

    def sample_bytes(
        self,
        size: Size = None,
        *,
        n_bytes: int,
        source: Source = SYSTEM,
        threads: int = ONE_THREAD,
    ) -> NDArray[np.uint8]:
        """Draw from the law, exactly; return the integers as bytes, for protocols and bignums.

        Parameters
        ----------
        size, source, threads
            As for `sample`. From given bits the draws are those of ``dtype=object``.
        n_bytes : int
            The length of each integer, at most 65536. The law must provably fit, as for a dtype.

        Returns
        -------
        ndarray of uint8
            Of shape ``(*size, n_bytes)``: each integer in two's complement, the least significant
            byte first. ``.view("<i8")`` reads 8 bytes, ``.view("V32")`` keeps 32 together.

        Raises
        ------
        TypeError, ValueError, OverflowError, OSError
            As `sample`; OverflowError also if n_bytes do not hold the law.

        Examples
        --------
        >>> import discretegauss as dg
        >>> law = dg.DiscreteGaussian(10**40)
        >>> noise = law.sample_bytes(1000, n_bytes=32)
        >>> noise.shape, -(10**22) < int.from_bytes(noise[0].tobytes(), "little", signed=True)
        ((1000, 32), True)
        """
        return draw_bytes(self._sampler, size=size, n_bytes=n_bytes, source=source, threads=threads)

    def stream(
        self,
        total: int,
        chunk: int = 2**20,
        *,
        progress: bool = False,
        dtype: DTypeLike = INT64,
        method: Method = AUTO,
        source: Source = SYSTEM,
        threads: int = ONE_THREAD,
    ) -> Iterator[NDArray[Any]]:
        """Draw from the law, exactly, a chunk at a time, in memory that does not grow with `total`.

        Parameters
        ----------
        total : int
            How many draws, >= 0.
        chunk : int
            How many draws an array has; the last one has the rest.
        progress : bool
            Whether a bar on stderr, if that is a terminal, says how far it is.
        dtype, method, source, threads
            As for `discretegauss.discrete_gaussian`, for each array.

        Returns
        -------
        iterator of ndarray
            Independent draws; each array is a new one. All parameters are checked by this call;
            an array is drawn when it is asked for.

        Raises
        ------
        TypeError, ValueError, OverflowError, OSError
            As `discretegauss.discrete_gaussian`.

        Examples
        --------
        >>> import discretegauss as dg
        >>> [len(draws) for draws in dg.DiscreteGaussian(100).stream(2500, 1000)]
        [1000, 1000, 500]
        """
        total = whole_number(total, "total", minimum=0)
        chunk = whole_number(chunk, "chunk", minimum=1)
        if not isinstance(progress, bool):
            raise ParameterTypeError(f"progress must be True or False, got {describe(progress)}")
        sample = partial(self.sample, dtype=dtype, method=method, source=source, threads=threads)
        sample(0)  # which refuses what is wrong with the others
        return _chunks(sample, total, chunk, show=progress)  # type: ignore[arg-type]  # of a size

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
        from ._law_functions.scipy_distribution import as_scipy

        return as_scipy(self)


if native is not None:  # the same with fewer calls, where what is asked for is plain
    _Law.sample = native.built_in_sample(_Law, _Law.sample)  # type: ignore[method-assign]
    _Law.rvs = _Law.sample


def _chunks(
    sample: Callable[[int], NDArray[Any]], total: int, chunk: int, *, show: bool
) -> Iterator[NDArray[Any]]:
    with Progress("draws", show=show) as bar:
        for done in range(0, total, chunk):
            drawn = sample(min(chunk, total - done))
            bar.update(done + len(drawn), (done + len(drawn)) / total)
            yield drawn


def _numbers_from_spec(kind: type[_LawType]) -> type[_LawType]:
    """Have the numbers of a law, fields of a dataclass, read from its one specification.

    And its __init__ say what to write for keywords of others.
    """
    for name, part in kind._parts.items():
        setattr(kind, name, _Number(name, part, getattr(kind, name, MISSING)))
    setattr(kind, "__init__", names_instead(vars(kind)["__init__"]))  # noqa: B010
    return kind


@_numbers_from_spec
@dataclass(frozen=True, repr=False, init=False)
class DiscreteGaussian(_Law):
    """The discrete Gaussian, P(x) ~ exp(-(x - mu)**2 / (2 sigma2)).

    Parameters
    ----------
    sigma2 : number
        The scale parameter, > 0; any number type, kept as the exact Fraction that it means.
    mu : number, optional
        The centre, any rational.
    sigma : number, optional
        In the place of sigma2: its root, > 0. sigma2 is the exact square.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.DiscreteGaussian("355/113", mu=2)
    >>> law
    DiscreteGaussian(sigma2='355/113', mu=2)
    >>> law.sample((2, 3)).shape
    (2, 3)
    """

    _kind: ClassVar[Kind] = Kind.DISCRETE_GAUSSIAN
    _parts: ClassVar[dict[str, str]] = {"sigma2": "parameter", "mu": "mu"}
    sigma2: Any
    mu: Any = Fraction(0)

    def __init__(self, sigma2: Any = None, mu: Any = Fraction(0), *, sigma: Any = None) -> None:
        # past the frozen dataclass, as the __init__ is that it makes for the other laws
        object.__setattr__(self, "sigma2", sigma2_of(sigma2, sigma, arrays=False))
        object.__setattr__(self, "mu", mu)
        self.__post_init__()


@_numbers_from_spec
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
    _parts: ClassVar[dict[str, str]] = {"scale": "parameter", "mu": "mu"}
    scale: Any
    mu: Any = Fraction(0)


@_numbers_from_spec
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
    _parts: ClassVar[dict[str, str]] = {"scale": "parameter", "beta": "beta", "mu": "mu"}
    scale: Any
    beta: Any
    mu: Any = Fraction(0)


Law = DiscreteGaussian | DiscreteLaplace | GeneralizedGaussian
"""Any of the laws: what to annotate a parameter with that takes one."""


def centred(law: object) -> LawSpec:
    """Return the law moved to mu = 0; refuse what is no law, or one whose mu is no integer."""
    if not isinstance(law, Law):
        raise ParameterTypeError(
            "law must be a DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian, "
            f"got {type(law).__name__}"
        )
    if law.mu.denominator != 1:
        raise ParameterValueError(
            "mu must be an integer here (off the integers the law is not symmetric, and its "
            f"guarantee another), got {describe(law.mu)}"
        )
    from ._certified.lattice_sums import canonical  # which its callers have loaded

    return canonical(law._spec._replace(mu=Fraction(0)))
