"""The public functions for noise on data, and the choice of the law."""

from __future__ import annotations

import os
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    NotRequired,
    Protocol,
    SupportsIndex,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from .._inputs.budget import Budget
from .._inputs.draw_arguments import AUTO, CHACHA20, ONE_THREAD, Method, checked_out
from .._inputs.graphs import outside_of_graphs
from .._inputs.keywords import with_hints
from .._inputs.messages import if_loaded
from .._inputs.numbers import checked_flag, whole_number
from .._inputs.privacy_arguments import integer_sensitivity, require_rows, whole_sensitivity
from .._inputs.source import Source
from .._inputs.tensors import is_tensor
from .._law_functions.narrow import WIDE_FROM, warn_of_narrow
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import Law
from .addition import AddOptions, Overflow, noisy
from .cells import Container, is_integer
from .labelled_table import read_once
from .lists_and_arrays import open_array, open_objects
from .tensors import add_to_tensor, open_tensor
from .totals import Alone

if TYPE_CHECKING:
    from .._inputs.draw_arguments import TensorT
    from ..privacy.joint import Joint

    class _Frame(Protocol):
        @property
        def columns(self) -> Any: ...

    class _Column(Protocol):  # an array or a tensor, too
        @property
        def dtype(self) -> Any: ...

    class _ArrowColumn(Protocol):
        @property
        def type(self) -> Any: ...

    class _Stream(Protocol):
        def __arrow_c_stream__(self, requested_schema: Any = ..., /) -> Any: ...

    _Array = NDArray[Any]
    _Builtin = list[Any] | tuple[Any, ...] | dict[Any, Any] | SupportsIndex | Decimal
    _Values = TypeVar("_Values", bound=_Builtin | _Frame | _Column | _ArrowColumn | _Stream)

_LIBRARIES = ("pandas", "polars", "xarray", "pyarrow")
"""Libraries with a module that opens their containers; the first that matches is used."""


class _Common(TypedDict, total=False):
    sensitivity: object
    rows_per_person: int
    disjoint: bool
    overflow: Overflow
    modulus: int | None
    integral_floats: bool
    method: Method
    source: Source


class NoiseOptions(_Common, total=False):
    """The options that `add_noise` shares with `spark.add_noise`."""

    rho: object
    epsilon: object
    delta: object


class _Options(_Common, total=False):
    threads: int


class _Rho(_Options):
    rho: object


class _EpsilonDelta(_Options):
    epsilon: object
    delta: NotRequired[object]
    rho: NotRequired[object]  # None, from a function that passes all three on


# Overloads tell type checkers what comes back, and that there must be a law, rho, or epsilon: each
# for a numpy array, for a tensor, and for all other containers.


@overload
def add_noise(
    values: _Array, law: Law | Budget, *, out: _Array | None = ..., **options: Unpack[_Options]
) -> _Array: ...
@overload
def add_noise(
    values: _Array, law: None = None, *, out: _Array | None = ..., **options: Unpack[_Rho]
) -> _Array: ...
@overload
def add_noise(
    values: _Array, law: None = None, *, out: _Array | None = ..., **options: Unpack[_EpsilonDelta]
) -> _Array: ...
@overload
def add_noise(
    values: TensorT, law: Law | Budget, *, out: TensorT, **options: Unpack[_Options]
) -> TensorT: ...
@overload
def add_noise(
    values: TensorT, law: None = None, *, out: TensorT, **options: Unpack[_Rho]
) -> TensorT: ...
@overload
def add_noise(
    values: TensorT, law: None = None, *, out: TensorT, **options: Unpack[_EpsilonDelta]
) -> TensorT: ...
@overload
def add_noise(
    values: _Values, law: Law | Budget, *, columns: object = ..., **options: Unpack[_Options]
) -> _Values: ...
@overload
def add_noise(
    values: _Values, law: None = None, *, columns: object = ..., **options: Unpack[_Rho]
) -> _Values: ...
@overload
def add_noise(
    values: _Values, law: None = None, *, columns: object = ..., **options: Unpack[_EpsilonDelta]
) -> _Values: ...


@outside_of_graphs
@with_hints
def add_noise(
    values: Any,
    law: Law | Budget | None = None,
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    rows_per_person: int = 1,
    columns: object = None,
    disjoint: bool = False,
    overflow: Overflow = "raise",
    modulus: int | None = None,
    integral_floats: bool = False,
    out: Any = None,
    method: Method = AUTO,
    source: Source = CHACHA20,
    threads: int = ONE_THREAD,
) -> Any:
    """Return a copy of values with exact noise, one draw for each.

    Parameters
    ----------
    values : list, tuple, dict, ndarray, or a column or table of another library
        Integers, or Decimals that are whole numbers. They are not changed. Libraries are pandas
        (Series, Index, array, DataFrame), polars (a LazyFrame is collected, once), pyarrow, xarray
        (DataArray), and all that stream a table in Arrow's form, such as DuckDB's relations. The
        values of a dict, such as a Counter, get the noise. Masks of numpy stay.
    law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Skellam or Budget, optional
        The noise, or the budget of all values together.
    rho, epsilon, delta : number, optional
        The budget by name. rho asks for discrete Gaussian noise, and epsilon alone, which is pure,
        for discrete Laplace noise. epsilon with delta takes the law with the smaller standard
        deviation. `noise_for` returns the law.
    sensitivity : number, optional
        With a budget: the most by which one person changes one value.
    rows_per_person : int, optional
        With a budget: the most rows that one person changes, at most the number of rows. If several
        records of a person may fall in one row, give their number as `sensitivity`. A person may
        change every value of these rows: the columns that get noise, and in arrays with several
        axes all but the first.
    columns : label, several labels, or selector of polars, optional
        The columns of a frame or table that get noise. None means all, which must be integers. The
        others come back unchanged. A tuple that is a label is that one label.
    disjoint : bool, optional
        With a budget: nobody is in two columns, so that a person changes `rows_per_person` values.
    overflow : "raise" or "saturate", optional
        If a sum might be beyond int64 (or the type of Int128 and Decimals): raise an error before
        anything is drawn, or clamp the sum to the end of the type.
    modulus : int, optional
        Return sums mod this number, at least 2, in 0 .. modulus - 1.
    integral_floats : bool, optional
        True: also accept floats that are whole numbers; NaN in pandas is a null.
    out : ndarray, optional
        For an array: an array for the result, which is also returned. It has the shape of `values`
        and the dtype of the result, and shares no memory with `values`. Both may be
        ``numpy.memmap``. For a tensor of torch or CuPy (on a GPU: int32 or int64,
        docs/elsewhere/gpu.md): a tensor of the same type, shape and device, or `values` itself for
        sums in place.
    method, source, threads
        As for `discretegauss.discrete_gaussian`.

    Returns
    -------
    As `values`
        A new container with the same kind, shape, labels, metadata and nulls. Nothing is left in
        memory under the nulls of a frame or table (of polars, if pyarrow is installed). A relation
        of DuckDB, and any other stream of a table, becomes a Table of pyarrow. Integers of any
        width become int64 (Int128 stays), or uint64 if the modulus is above 2**63. Lists, tuples,
        dicts and arrays of objects hold Python integers of any size; Decimals stay Decimals.

    Raises
    ------
    TypeError, ValueError, OverflowError, OSError
        As `discretegauss.discrete_gaussian`; if values are not integers; if there are both a law
        and a budget, or neither; or if a sum might not fit. With a budget also if a labelled row or
        column is the total of the others, though a person is said to be counted once, or if a
        column of identifiers says that rows are people (docs/data.md). In all cases nothing was
        drawn. No message shows a value or a draw.
    RangeError
        If a draw did not fit after all, with a probability below 2**-128. Nothing is returned.
    ImportError, MemoryError, RuntimeError
        For a tensor on a GPU, as `Law.sample`.

    Warns
    -----
    PrivacyWarning
        If the noise is the same number in more than 999 of 1000 draws.

    Notes
    -----
    ``overflow="saturate"`` clamps the sum after the exact noise was added, so the privacy is that
    of the noise. Values at the ends of int64 are biased.

    References
    ----------
    arXiv:2004.00010, Theorem 14: the rho of several values, each with its own noise. The pure
    epsilon of several values: docs/concepts/accounting.md.

    Examples
    --------
    >>> import numpy as np
    >>> import discretegauss as dg
    >>> counts = np.array([1204, 87, 0, 5530], dtype=np.uint64)
    >>> noisy = dg.add_noise(counts, rho="0.1")
    >>> noisy.shape, noisy.dtype
    ((4,), dtype('int64'))
    >>> len(dg.add_noise([3, None, 2**70], dg.DiscreteLaplace(2)))
    3
    """
    how = AddOptions(
        overflow=overflow,
        modulus=modulus,
        floats=integral_floats,
        method=method,
        source=source,
        threads=threads,
    )
    check_law(law)
    budget = {"rho": rho, "epsilon": epsilon, "delta": delta}
    memory, is_lazy = None, False
    if type(values) is np.ndarray:
        container = open_container(values, columns, floats=integral_floats)
    elif is_tensor(values):
        if columns is not None or modulus is not None or overflow != "raise" or integral_floats:
            raise ParameterTypeError(
                "columns, modulus, overflow and integral_floats must not be given with a tensor"
            )
        container, memory = open_tensor(values)
    else:
        is_lazy = isinstance(values, if_loaded("polars", "LazyFrame"))
        values = read_once(values)  # the law needs the rows, too
        container = open_container(values, columns, floats=integral_floats)
    who = Who(sensitivity, rows_per_person, disjoint)
    law = law_for(values, container, law, budget, who)
    if memory is not None:
        return add_to_tensor(out, memory, law, how)
    result = None if out is None else _checked_out(out, values)
    results = noisy(container.cells, law, how, out=result)
    if out is not None:
        return out
    return container.close(results).lazy() if is_lazy else container.close(results)


@outside_of_graphs
@with_hints
def noise_for(
    values: Any,
    law: Law | Budget | None = None,
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    rows_per_person: int = 1,
    columns: object = None,
    disjoint: bool = False,
    integral_floats: bool = False,
) -> Law:
    """Return the law of the noise that `add_noise` adds for the same arguments: for error bars.

    Parameters
    ----------
    values, law, rho, epsilon, delta, sensitivity, rows_per_person, columns, disjoint, \
integral_floats
        As for `add_noise`. Nothing is drawn, and the law does not depend on the values.

    Returns
    -------
    DiscreteGaussian, DiscreteLaplace, or the law that was passed
        The law of each value's noise.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `add_noise`.

    Examples
    --------
    >>> import discretegauss as dg
    >>> rows = [[310, 894], [24, 63]]
    >>> import numpy as np
    >>> law = dg.noise_for(np.array(rows), rho="0.1", rows_per_person=2)
    >>> law, law.interval(0.95)
    (DiscreteGaussian(sigma2=20), (-9.0, 9.0))
    >>> dg.noise_for(np.array(rows), epsilon=1)
    DiscreteLaplace(scale=2)
    """
    check_law(law)
    if is_tensor(values):
        container, _ = open_tensor(values)
    else:
        values = read_once(values)
        container = open_container(values, columns, floats=integral_floats)
    budget = {"rho": rho, "epsilon": epsilon, "delta": delta}
    who = Who(sensitivity, rows_per_person, disjoint)
    return law_for(values, container, law, budget, who)


class Who(NamedTuple):
    """What one person changes, as the user of `add_noise` says it."""

    sensitivity: object = 1
    rows_per_person: object = 1
    disjoint: object = False

    def given(self) -> list[str]:
        """Return the parameters with other values than their defaults; all are checked."""
        if self.disjoint is not False:
            checked_flag(self.disjoint, "disjoint")
        rows = whole_number(self.rows_per_person, "rows_per_person", minimum=1)
        of_one = type(self.sensitivity) is int and self.sensitivity == 1
        named = {"sensitivity": not of_one, "rows_per_person": rows != 1, "disjoint": self.disjoint}
        return [name for name, is_given in named.items() if is_given]

    def joint(self, values: Any, container: Container, *, whole: bool) -> Joint:
        """Return how far one person changes these values; refuse totals, and rows of people.

        `whole`: refuse a sensitivity that is not a whole number.
        """
        # here, because workers have a law and do not need these
        from ..privacy.joint import Joint
        from ..privacy.sensitivity import Sensitivity
        from .groups import require_counts

        rows = whole_number(self.rows_per_person, "rows_per_person", minimum=1)
        require_rows(rows, container.n_rows, self.sensitivity)
        checked = whole_sensitivity if whole else integer_sensitivity
        each = Fraction(checked(self.sensitivity))
        if not isinstance(values, np.ndarray | list):
            # another sensitivity than a whole number is the norm of several changes
            one_row = rows == 1 and each.denominator == 1
            require_counts(values, container, Alone(one_row, bool(self.disjoint), has_person=False))
        columns = 1 if self.disjoint else container.n_columns
        return Joint([Sensitivity.of_parts(each, rows * columns)])


def law_for(
    values: Any,
    container: Container,
    law: Law | Budget | None,
    numbers: dict[str, object],
    who: Who,
) -> Law:
    """Return the law that was passed, or that a budget for all cells allows; warn if it is narrow.

    `values` are as the user passed them, and `numbers` those of the budget.
    """
    given = who.given()
    named = [name for name, number in numbers.items() if number is not None]
    if law is None and not named:
        raise ParameterTypeError("give a law, or a budget: rho, or epsilon, alone or with delta")
    if law is not None and not isinstance(law, Budget):
        if named := given + named:
            raise ParameterTypeError(
                f"give either a law or a budget: {named[0]} belongs to a budget"
            )
        found: Law = law
    else:
        budget = Budget.of(law, **numbers)
        whole = budget.epsilon is not None
        [found] = who.joint(values, container, whole=whole).noise(budget, [Fraction(1)]).laws
    if found._spec.parameter < WIDE_FROM:
        warn_of_narrow([found])
    return found


def check_law(law: object) -> None:
    """Refuse an object that is neither a law, nor a budget, nor None."""
    if law is None or isinstance(law, Budget):
        return
    if isinstance(law, type) and issubclass(law, Law):
        raise ParameterTypeError(f"law must be a law such as {law.__name__}(5), got the class")
    if not isinstance(law, Law):
        raise ParameterTypeError(
            "law must be a DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam, got "
            f"{type(law).__name__}; pass a budget by name, rho=... or epsilon=..., delta=..."
        )


def _checked_out(out: object, values: Any) -> NDArray[Any]:
    """Return `out` as an ndarray for the sums; `noisy` checks its dtype."""
    if not isinstance(values, np.ndarray) or isinstance(
        values, if_loaded("numpy.ma", "MaskedArray")
    ):
        raise ParameterTypeError(
            "out needs a numpy array without a mask as values, got values of type "
            f"{type(values).__name__}"
        )
    result = checked_out(out, None)
    if result.shape != values.shape:
        raise ParameterValueError(
            f"out must have the shape of values, got an array of shape {result.shape}"
        )
    # memory maps have the attribute
    file, of_values = (getattr(array, "filename", None) for array in (out, values))
    if np.may_share_memory(result, values) or (
        file and of_values and os.path.samefile(file, of_values)
    ):
        raise ParameterValueError(
            "out must share no memory and no file with values: it would hold draws before they are "
            "read"
        )
    return result


def library_of(values: object) -> str:
    """Return the library whose module opens these values; "" for others."""
    libraries = {base.__module__.partition(".")[0] for base in type(values).__mro__}
    if hasattr(type(values), "__arrow_c_stream__"):
        libraries.add("pyarrow")
    return next((known for known in _LIBRARIES if known in libraries), "")


def open_container(
    values: Any, columns: object = None, *, floats: bool, name: str = "values"
) -> Container:
    """Open a container of any supported kind; errors call the parameter `name`."""
    try:
        return _open(values, columns, floats=floats)
    except (ParameterTypeError, ParameterValueError) as error:
        if name == "values":
            raise
        raise type(error)(str(error).replace("values", name, 1)) from None


def _open(values: Any, columns: object, *, floats: bool) -> Container:
    if floats is not False:
        checked_flag(floats, "integral_floats")
    if type(values) is np.ndarray and columns is None:
        return open_array(values, floats=floats)
    container: Container | None = None
    if library := library_of(values):
        open_any = import_module(f".from_{library}", __package__).open_values
        container = open_any(values, columns, floats=floats)
    elif columns is not None:
        raise ParameterTypeError(
            "columns needs a frame or table of pandas, polars, pyarrow or DuckDB, got "
            f"values of type {type(values).__name__}"
        )
    elif isinstance(values, list | tuple | dict | Decimal) or is_integer(values):
        container = open_objects(values, floats=floats)
    elif isinstance(values, np.ndarray):
        container = open_array(values, floats=floats)
    if container is None:
        hint = ""
        if isinstance(values, Law):
            hint = "; the law is the second argument"
        elif isinstance(values, str):
            hint = "; discretegauss.release takes files"
        elif type(values).__module__ == "builtins" and isinstance(values, Iterable):
            hint = "; pass list(values)"
        raise ParameterTypeError(
            "values must be a list, tuple, dict or numpy array, or a column or table of pandas, "
            f"polars, pyarrow, DuckDB or xarray, got {type(values).__name__}{hint}"
        )
    return container
