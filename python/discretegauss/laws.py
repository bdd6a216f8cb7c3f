"""The laws as objects, which check their parameters once and then draw any number of times.

They are frozen, hashable and picklable, and hold no randomness, so threads may share them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Unpack, final, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._drawing.engines import Engine, engine
from ._drawing.fill import empty, fill_array
from ._inputs.draw_arguments import (
    AUTO,
    CHACHA20,
    INT64,
    MOST_ELEMENTS,
    ONE_THREAD,
    IntegerDrawOptions,
    Method,
    Size,
    checked_dtype,
    checked_method,
    checked_size,
    checked_source,
    checked_target,
    checked_threads,
    require_fit,
)
from ._inputs.graphs import outside_of_graphs
from ._inputs.keywords import with_hints
from ._inputs.law_parameters import exact_spec, parameter_name, sigma2_of
from ._inputs.messages import describe, written
from ._inputs.numbers import whole_number
from ._inputs.privacy_arguments import word_count
from ._inputs.source import Source
from ._inputs.tensors import in_memory, is_tensor, require_defaults
from ._law import Kind, LawSpec
from ._law_functions.mixin import LawFunctions
from ._system.progress import Progress
from .errors import ParameterTypeError, ParameterValueError

if TYPE_CHECKING:
    from ._inputs.draw_arguments import Filled, TensorT

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "GeneralizedGaussian",
    "Law",
    "Skellam",
    "centred_simplest",
]
__dir__ = __all__.copy  # dir() and completion show these names alone


def _unpickled(kind: type[_Law], *values: str) -> _Law:
    """Return the law whose parameters are these quotients of hexadecimal integers."""
    return kind(*(Fraction(*(int(n, 16) for n in value.split("/"))) for value in values))


def _number(name: str) -> Any:
    """Return a property that reads an exact parameter from the law's specification."""
    return property(lambda law: getattr(law._spec, name))


class _Law(LawFunctions):
    """Base of the laws: drawing, and the functions of LawFunctions.

    A law never changes after its construction, and its class cannot be derived from.
    """

    __slots__ = ("_auto", "_fitting", "_spec")

    _kind: ClassVar[Kind]
    _spec: LawSpec
    _auto: Engine | None
    """The engine for few draws by the default method, built at the first draw."""
    _fitting: set[np.dtype[Any]]
    """The dtypes that are known to hold the law."""
    __match_args__: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        if "_kind" not in vars(cls):
            raise TypeError(f"{cls.__mro__[1].__name__} is final: no class derives from it")

    def __init__(self, parameter: object, mu: object = 0, beta: object = 1) -> None:
        if hasattr(self, "_spec"):
            self.__setattr__("__init__", None)
        self._keep("_spec", exact_spec(self._kind, parameter, mu, beta))
        self._keep("_auto", None)
        self._keep("_fitting", set())

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name}: a law never changes; make another law")

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    def _numbers(self) -> dict[str, Fraction]:
        return {name: getattr(self, name) for name in self.__match_args__}

    def __eq__(self, other: object) -> bool:
        return self._spec == other._spec if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._spec)

    def __repr__(self) -> str:
        numbers = self._numbers().items()
        arguments = [f"{name}={written(value)}" for name, value in numbers if name != "mu" or value]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # protocols 0 and 1 write integers in decimal, whose length Python limits
        values = (f"{x.numerator:x}/{x.denominator:x}" for x in self._numbers().values())
        return _unpickled, (type(self), *values)

    def __dask_tokenize__(self) -> tuple[str, str]:
        # a new token each time, because Dask computes tasks of equal tokens only once
        return type(self).__name__, os.urandom(16).hex()

    # Adding a law to data is an error: the user forgot to draw, or would add one draw to all of it.
    # The priority and __array_ufunc__ stop pandas and numpy from adding element by element.

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

    # For type checkers: without size and out one draw is an int, otherwise the result is an array.

    @overload
    def sample(
        self, size: None = None, *, out: None = None, **how: Unpack[IntegerDrawOptions]
    ) -> int: ...

    @overload
    def sample(
        self, size: Size = None, *, out: Filled | None = None, **how: Unpack[IntegerDrawOptions]
    ) -> Filled: ...

    @overload
    def sample(
        self, size: Size = None, *, out: TensorT, **how: Unpack[IntegerDrawOptions]
    ) -> TensorT: ...

    def sample(
        self,
        size: Size = None,
        *,
        dtype: DTypeLike = INT64,
        out: Any = None,
        method: Method = AUTO,
        source: Source = CHACHA20,
        threads: int = ONE_THREAD,
    ) -> Any:
        """Draw from the law, exactly.

        Parameters
        ----------
        size, dtype, out, method, source, threads
            As for `discretegauss.discrete_gaussian`. `out` may also be a tensor of torch or CuPy
            on the host or, with int32 or int64, on a GPU (docs/elsewhere/gpu.md).

        Returns
        -------
        int or ndarray
            Independent draws.

        Raises
        ------
        TypeError, ValueError, OverflowError, OSError
            As `discretegauss.discrete_gaussian`.
        ImportError, MemoryError, RuntimeError
            For an array on a GPU: a package, a driver or memory is missing, or the driver fails.
        """
        if source is not CHACHA20:
            source = checked_source(source)
        if threads is not ONE_THREAD:
            threads = checked_threads(threads, source)
        if method is not AUTO:
            method = checked_method(method, self._kind)
        by = self._auto if method is AUTO else None
        if size is None and out is None:
            if dtype is not INT64:  # a Python integer holds any draw, but the user asked for a type
                require_fit(self._spec, checked_dtype(dtype), parameter_name(self._kind))
            return (by or self._engine(method)).draw(source)
        if out is not None and is_tensor(out):
            fill = outside_of_graphs(self._fill_tensor)
            return fill(out, size, dtype=dtype, method=method, source=source, threads=threads)
        if type(size) is int and 0 <= size <= MOST_ELEMENTS and out is None:
            array = np.empty(size, INT64) if dtype is INT64 else empty(size, checked_dtype(dtype))
        else:
            array = self._target(size, dtype, out)
        by = by or self._engine(method)
        if array.dtype not in self._fitting:
            self._require_fit(array.dtype, by)
        if out is None and array.dtype.isnative:
            by.fill(array, source, threads)
        else:
            fill_array(array, by.fill, source, threads)
        return array if out is None else out

    rvs = sample

    def _target(self, size: Size, dtype: DTypeLike, out: Any) -> NDArray[Any]:
        """Return the array to fill: `out`, or a new one."""
        if type(out) is np.ndarray and size is None and dtype is INT64:
            result: NDArray[Any] = out
            if result.dtype in self._fitting and result.flags.carray:
                return result  # writable, without overlaps, and of a type that was checked before
        shape, element_type, target = checked_target(size, dtype, out)
        return empty(shape or (), element_type) if target is None else target

    def _fill_tensor(self, out: Any, size: Size, dtype: DTypeLike, **how: Any) -> Any:
        """Fill a tensor of another library in place, on the host or on a GPU."""
        memory = in_memory(out, "out")
        if isinstance(memory, np.ndarray):
            self.sample(size, dtype=dtype, out=memory, **how)
            return out
        require_defaults(**how)
        shape = checked_size(size)
        if shape is not None and shape != memory.shape:
            raise ParameterValueError("out must have the shape of size")
        if dtype is not INT64 and checked_dtype(dtype) != memory.dtype:
            raise ParameterValueError(f"dtype must be that of out, {memory.dtype}")
        require_fit(self._spec, memory.dtype, parameter_name(self._kind))
        from ._drawing.cuda import fill

        fill(memory, self._spec)
        return out

    def _engine(self, method: Method) -> Engine:
        """Return the engine of a method, and keep the default one."""
        if method is not AUTO:
            return engine(self._spec, method)
        by = self._auto or engine(self._spec, AUTO)
        self._keep("_auto", by)
        return by

    def _require_fit(self, dtype: np.dtype[Any], by: Engine) -> None:
        """Refuse a dtype that does not provably hold the law; remember one that does."""
        if not (by.is_int64 and dtype == INT64):
            require_fit(self._spec, dtype, parameter_name(self._kind))
        self._fitting.add(dtype)

    def stream(
        self,
        total: int,
        chunk: int = 2**20,
        *,
        progress: bool = False,
        dtype: DTypeLike = INT64,
        method: Method = AUTO,
        source: Source = CHACHA20,
        threads: int = ONE_THREAD,
    ) -> Iterator[NDArray[Any]]:
        """Draw from the law, exactly, in chunks, so that memory does not grow with `total`.

        Parameters
        ----------
        total : int
            The number of draws, >= 0.
        chunk : int
            The number of draws in each array; the last array may have fewer.
        progress : bool
            True: show a progress bar on stderr if that is a terminal.
        dtype, method, source, threads
            As for `discretegauss.discrete_gaussian`, for each array.

        Returns
        -------
        iterator of ndarray
            Independent draws, each time in a new array. This call checks all parameters; the
            iterator draws each array when you ask for it.

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
        sample(0)  # checks the other parameters
        return _chunks(sample, total, chunk, show=progress)  # type: ignore[arg-type]  # of a size

    def sum(self, clients: int) -> Any:
        """Return the law of the sum of independent draws, as of noise that clients add in shares.

        Parameters
        ----------
        clients : int
            The number of draws, at least 1; for accounting, the fewest that are in the sum.

        Returns
        -------
        Skellam or SumOfDraws
            A Skellam gives another one. A `SumOfDraws` has moments, draws and probabilities, but
            no probabilities of wide sums of laws other than the discrete Gaussian.
            `discretegauss.privacy` computes what such sums cost.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If clients is not such a number.

        Examples
        --------
        >>> import discretegauss as dg
        >>> total = dg.DiscreteGaussian(4).sum(50)
        >>> total, total.var()
        (DiscreteGaussian(sigma2=4).sum(50), 200.0)
        """
        from ._law_functions.sum_of_draws import SumOfDraws

        n = word_count(clients, "clients")
        return self if n == 1 else SumOfDraws(self, n)

    def as_scipy(self) -> Any:
        """Return the law as a distribution of scipy.stats, without shape parameters.

        Returns
        -------
        scipy.stats distribution
            Its pmf, cdf, ppf, stats, expect and so on call the methods here, and rvs draws exactly.
            It refuses a random_state, because every bit comes from the operating system.

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
        from ._law_functions.scipy_distribution import ScipyLaw

        return ScipyLaw(self)


def _chunks(
    sample: Callable[[int], NDArray[Any]], total: int, chunk: int, *, show: bool
) -> Iterator[NDArray[Any]]:
    with Progress("draws", show=show) as bar:
        for start in range(0, total, chunk):
            drawn = sample(min(chunk, total - start))
            bar.update(start + len(drawn), (start + len(drawn)) / total)
            yield drawn


@final
class DiscreteGaussian(_Law):
    """The discrete Gaussian, P(x) ~ exp(-(x - mu)**2 / (2 sigma2)).

    Parameters
    ----------
    sigma2 : number
        The scale parameter, > 0; any number type, kept as an exact Fraction.
    mu : number, optional
        The centre, any rational.
    sigma : number, optional
        The root of sigma2, > 0, if you give it in place of sigma2. sigma2 is the exact square.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.DiscreteGaussian("355/113", mu=2)
    >>> law
    DiscreteGaussian(sigma2='355/113', mu=2)
    >>> law.sample((2, 3)).shape
    (2, 3)
    """

    __slots__ = ()
    __match_args__ = ("sigma2", "mu")
    _kind = Kind.DISCRETE_GAUSSIAN
    sigma2: Fraction = _number("parameter")
    mu: Fraction = _number("mu")

    @overload
    def __init__(self, sigma2: object, mu: object = 0, *, sigma: None = None) -> None: ...
    @overload
    def __init__(self, sigma2: None = None, mu: object = 0, *, sigma: object) -> None: ...
    @with_hints
    def __init__(self, sigma2: object = None, mu: object = 0, *, sigma: object = None) -> None:
        super().__init__(sigma2_of(sigma2, sigma, arrays=False), mu)


@final
class DiscreteLaplace(_Law):
    """The discrete Laplace, P(x) ~ exp(-abs(x - mu) / scale).

    Parameters
    ----------
    scale : number
        The scale, > 0; any number type, kept as an exact Fraction.
    mu : number, optional
        The centre, any rational.

    Examples
    --------
    >>> import discretegauss as dg
    >>> type(dg.DiscreteLaplace("5/2").sample())
    <class 'int'>
    """

    __slots__ = ()
    __match_args__ = ("scale", "mu")
    _kind = Kind.DISCRETE_LAPLACE
    scale: Fraction = _number("parameter")
    mu: Fraction = _number("mu")

    @with_hints
    def __init__(self, scale: object, mu: object = 0) -> None:
        super().__init__(scale, mu)


@final
class GeneralizedGaussian(_Law):
    """The discrete generalised Gaussian, P(x) ~ exp(-(abs(x - mu) / scale)**beta).

    Parameters
    ----------
    scale : number
        The scale, > 0; any number type, kept as an exact Fraction.
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

    __slots__ = ()
    __match_args__ = ("scale", "beta", "mu")
    _kind = Kind.GENERALIZED_GAUSSIAN
    scale: Fraction = _number("parameter")
    beta: Fraction = _number("beta")
    mu: Fraction = _number("mu")

    @with_hints
    def __init__(self, scale: object, beta: object, mu: object = 0) -> None:
        super().__init__(scale, mu, beta)


@final
class Bernoulli(_Law):
    """1 with probability p, else 0; `sampling.bernoulli` draws it."""

    __slots__ = ()
    __match_args__ = ("p",)
    _kind = Kind.BERNOULLI
    p: Fraction = _number("parameter")


@final
class BernoulliExp(_Law):
    """1 with probability exp(-gamma), else 0; `sampling.bernoulli_exp` draws it."""

    __slots__ = ()
    __match_args__ = ("gamma",)
    _kind = Kind.BERNOULLI_EXP
    gamma: Fraction = _number("parameter")


@final
class Geometric(_Law):
    """P(k) ~ exp(-gamma k), k >= 0; `sampling.geometric_exp` draws it."""

    __slots__ = ()
    __match_args__ = ("gamma",)
    _kind = Kind.GEOMETRIC_EXP
    gamma: Fraction = _number("parameter")


@final
class UniformBelow(_Law):
    """0, 1, ..., n - 1 with equal probabilities; `sampling.uniform_below` draws it."""

    __slots__ = ()
    __match_args__ = ("n",)
    _kind = Kind.UNIFORM_BELOW
    n: Fraction = _number("parameter")


@final
class Skellam(_Law):
    """The law of A - B, with A and B independent Poisson variables of mean variance/2.

    P(X = k) = exp(-variance) I_k(variance), I_k the modified Bessel function. The sum of n
    independent draws is exactly Skellam noise of n times the variance. So the sum of the clients'
    noise has a known law.

    Parameters
    ----------
    variance : number
        Positive and below 2**1024, kept as an exact Fraction. The papers call it mu.

    Notes
    -----
    Up to a variance of 2**28, draws are made by inversion: 64 bits a draw, more if these do not
    decide. The table, of some 9 sqrt(variance) entries, is built once, in up to a few seconds.
    Above 2**28, arrays are drawn by rejection, in some 1 microsecond a draw (3 if steps are beyond
    64 bits, 5 at 10**300), and the law has no probabilities. One thread draws.

    References
    ----------
    Agarwal, Kairouz, Liu, *The Skellam Mechanism for Differentially Private Federated Learning*,
    NeurIPS 2021, arXiv:2110.04995.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.Skellam("5/2")
    >>> law, law.var(), law.sum(4)
    (Skellam(variance=2.5), 2.5, Skellam(variance=10))
    >>> law.sample(3).shape, round(law.pmf(0), 12)
    ((3,), 0.270046441612)
    """

    __slots__ = ()
    __match_args__ = ("variance",)
    _kind = Kind.SKELLAM
    variance: Fraction = _number("parameter")
    mu: Fraction = _number("mu")

    @with_hints
    def __init__(self, variance: object) -> None:
        super().__init__(variance)

    def sum(self, clients: int) -> Skellam:
        """Return the law of the sum of that many independent draws (at least 1): a Skellam."""
        return Skellam(self.variance * word_count(clients, "clients"))


Law = DiscreteGaussian | DiscreteLaplace | GeneralizedGaussian | Skellam
"""The type of all laws, for annotations and isinstance."""


def centred_simplest(law: object) -> LawSpec:
    """Return the law moved to mu = 0; refuse other objects, and laws whose mu is not an integer."""
    if not isinstance(law, Law):
        raise ParameterTypeError(
            "law must be a DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam, "
            f"got {type(law).__name__}"
        )
    if law.mu.denominator != 1:
        raise ParameterValueError(
            "mu must be an integer here (otherwise the law is not symmetric, and its guarantee "
            f"differs), got {describe(law.mu)}"
        )
    return law._simplest._replace(mu=Fraction(0))
