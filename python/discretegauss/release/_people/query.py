"""Count the records of frames of people by one query, in the library that has them.

narwhals gives one interface to frames of pandas, polars, pyarrow, DuckDB, Spark and Dask. Only what
`tests/release/test_people_engines.py` compares with loops is used: ``len().over()``, `filter`,
`select`, `when`, and ``group_by().agg()`` of `len` and of sums of columns. Its ordered windows are
wrong on pandas, so records are kept by `kept.py`.

People with few records need no names: their records are counted together. Those of people with many
come back by name and combination. The query is evaluated once, because a lazy frame may have other
rows each time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._inputs.messages import describe
from ...data.keys import places_in_order
from ...data.labelled_table import LabelledTable
from ...errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from .._person import Person
from .categories import Categories, Codes, Column
from .column_types import require_types
from .kept import Records

_OURS = "__dg_"
_N, _ID, _MANY, _EACH, _SUM = (_OURS + name for name in ("n", "id", "many", "each_", "sum_"))

Sums = Mapping[str, tuple[int, int]]
"""The columns that are summed, and the values to which those of each record are clipped."""


class Combinations:
    """What the codes of records stand for: a listed combination, and values of unknown keys.

    Which number a code is depends on everybody. The order of two codes depends on these two alone:
    it is that of the listed combinations and of the unknown keys. So a tie between two records of a
    person tells nothing about others.

    `found` has the rows of the query, `cells` the listed combination of each, and `columns` the
    columns of unknown tables.
    """

    def __init__(
        self, categories: Categories, cells: Codes, columns: Mapping[str, Column], found: Any
    ) -> None:
        self._categories, self.codes = categories, cells
        self._cells: Codes | None = None
        if not columns:
            return
        ranks = {name: _ranks(*column) for name, column in columns.items()}
        self.codes, first = _numbered([cells, *ranks.values()])
        self._cells = cells[first]
        self._ranks = {name: one[first] for name, one in ranks.items()}
        self._keys = found.select(*columns)[first]

    def rows(self, by: Sequence[str], codes: Codes) -> Codes:
        """Return the row of each code in a table by listed columns."""
        return self._categories.rows(by, codes if self._cells is None else self._cells[codes])

    def agreeing(self, columns: Sequence[str], codes: Codes) -> Codes:
        """Return a number for each code: the same for those that agree in the columns."""
        listed = self.rows(columns, codes)
        free = [self._ranks[name][codes] for name in columns if name in self._categories.free]
        return _numbered([listed, *free])[0] if free else listed

    def groups(self, by: Sequence[str]) -> tuple[Codes, Any]:
        """Return the group of each code in an unknown table, and the keys of the groups."""
        numbers, first = _numbered([self._ranks[name] for name in by])
        return numbers, self._keys.select(*by)[first]


class Counted(NamedTuple):
    """The records that the query found: of people with few together, of others by name."""

    few: Records
    named: Records
    ids: NDArray[np.integer[Any]]  # whose the named records are
    combinations: Combinations  # what the codes of records stand for


def narwhals() -> Any:
    """Return the module."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise ImportError("counting people needs narwhals: pip install narwhals") from None
    return nw


def open_people(people: Any) -> Any:
    """Return a frame of narwhals. Nothing of it is read."""
    nw = narwhals()
    try:
        frame = nw.from_native(people)
        of = frame.implementation
        eager = of.is_pandas() or of.is_polars() or of.is_pyarrow()
        if not (
            eager or of.is_duckdb() or of.is_dask() or of.is_pyspark() or of.is_pyspark_connect()
        ):
            raise TypeError
    except TypeError:
        raise ParameterTypeError(
            "people must be a frame of pandas, polars, pyarrow, DuckDB, Spark or Dask, with a row "
            f"for each record, got {describe(people)}"
        ) from None
    return frame


def query(frame: Any, person: Person, categories: Categories, sums: Sums, few: int) -> Any:
    """Return the query, whose columns are checked. Nothing is read but the types of columns.

    People with at most `few` records are not named.
    """
    nw = narwhals()
    who = [] if person.id is None else [person.id]
    needed = list(dict.fromkeys([*categories.columns, *categories.free, *sums, *who]))
    for name in needed:
        if name.startswith(_OURS):
            raise ParameterValueError(f"columns must not begin with {_OURS!r}, got {name!r}")
    names = frame.collect_schema().names()
    for name in needed:
        if name not in names:
            raise ParameterValueError(
                f"people must have a column {name!r}, but have {', '.join(map(repr, names))}"
            )
    frame = frame.select(*needed)
    if isinstance(frame, nw.DataFrame):
        # one pass of polars, which has the windows that pyarrow lacks
        of = frame.implementation
        if of.is_polars() or (of.is_pyarrow() and find_spec("polars") is not None):
            frame = frame.lazy(backend="polars")
    schema = frame.collect_schema()
    kinds = {name: _kind(nw, frame, name, schema[name]) for name in needed}
    require_types(nw, kinds, categories, sums, person.id)
    columns = [
        nw.col(name) for one in categories.dimensions if one.edges is None for name in one.columns
    ]
    for one in categories.dimensions:
        if one.edges is not None:
            binned = _binned(nw, nw.col(one.columns[0]), kinds[one.columns[0]], one.edges)
            columns.append(binned.alias(one.queried[0]))
    for i, (name, ends) in enumerate(sums.items()):
        columns.append(_clipped(nw, name, ends).alias(f"{_SUM}{i}"))
    columns += [nw.col(name) for name in categories.free]
    of_sums = [f"{_SUM}{i}" for i in range(len(sums))]
    by = [*categories.queried, *categories.free]
    if person.id is not None:
        frame = frame.filter(~nw.col(person.id).is_null()).select(
            *columns, nw.col(person.id).alias(_ID)
        )
        frame = frame.with_columns((nw.len().over(_ID) > few).alias(_MANY))
        name = nw.col(_ID) if kinds[person.id].is_integer() else nw.col(_ID).cast(nw.String)
        # never null, because pandas turns integers with nulls into floats
        blank = nw.lit(0, kinds[person.id]) if kinds[person.id].is_integer() else nw.lit("")
        is_many, zero = nw.col(_MANY), nw.lit(0, nw.Int64)
        each = [nw.when(is_many).then(nw.col(x)).otherwise(zero) for x in of_sums]
        rest = [nw.when(is_many).then(zero).otherwise(nw.col(x)) for x in of_sums]
        frame = frame.select(
            *by,
            is_many,
            nw.when(is_many).then(name).otherwise(blank).alias(_ID),
            *(one.alias(f"{_EACH}{i}") for i, one in enumerate(each)),
            *(one.alias(x) for x, one in zip(of_sums, rest, strict=True)),
        )
        by += [_MANY, _ID, *(f"{_EACH}{i}" for i in range(len(sums)))]
    else:
        frame = frame.select(*columns)
    totals = [nw.len().alias(_N), *(nw.col(name).sum() for name in of_sums)]
    return frame.group_by(by).agg(*totals) if by else frame.select(*totals)


def evaluated(found: Any, person: Person, categories: Categories, sums: Sums) -> Counted:
    """Return what the query finds."""
    nw = narwhals()
    found = found if isinstance(found, nw.DataFrame) else found.collect()
    table, n = LabelledTable(found.to_native(), "people"), len(found)
    number = _integers(found[_N])
    for name, ends in sums.items():
        if int(number.sum()) * max(map(abs, ends)) >= 2**63:
            raise ParameterOverflowError(f"sums of {name!r} might not fit 64 bits")
    cells = categories.codes(table.codes, n)
    totals = [_integers(found[f"{_SUM}{i}"]) for i in range(len(sums))]
    inside = cells >= 0
    columns = {name: table.codes(name) for name in categories.unknown}
    combinations = Combinations(categories, cells, columns, found)
    cells = combinations.codes
    if person.id is None:
        few = Records(cells, number, totals).where(inside)
        nobody = few.where(np.zeros(few.cells.size, np.bool_))
        return Counted(few, nobody, np.zeros(0, np.int64), combinations)
    many = found[_MANY].to_numpy().astype(np.bool_)
    each = [number * _integers(found[f"{_EACH}{i}"]) for i in range(len(sums))]
    of_many = many & inside
    few = Records(cells, number, totals).where(inside & ~many)
    names = found[_ID]
    ids = names.to_numpy() if names.dtype.is_integer() else table.factorized(_ID)[0]
    named = Records(cells, number, each).where(of_many)
    return Counted(few, named, ids[of_many], combinations)


def _kind(nw: Any, frame: Any, name: str, kind: Any) -> Any:
    """Return the type of a column's values: categories of pandas may be of any type."""
    if kind == nw.Categorical and isinstance(frame, nw.DataFrame):
        return frame[name].cat.get_categories().dtype
    return kind


def _integers(series: Any) -> Codes:
    """Return integers, or sums of them that a library holds as decimals; null sums are 0."""
    values: NDArray[Any] = series.to_numpy()
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    return np.array([0 if x is None or x != x else int(x) for x in values.tolist()], np.int64)


def _clipped(nw: Any, name: str, ends: tuple[int, int]) -> Any:
    """Return what each record adds to a sum; a null adds nothing."""
    column, zero = nw.col(name).cast(nw.Int64), nw.lit(0, nw.Int64)
    low, high = (nw.lit(end, nw.Int64) for end in ends)
    clipped = nw.when(column > high).then(high).otherwise(column)
    clipped = nw.when(column < low).then(low).otherwise(clipped)
    return nw.when(column.is_null()).then(zero).otherwise(clipped)


def _binned(nw: Any, column: Any, kind: Any, edges: Sequence[Any]) -> Any:
    """Return the number of each value's bin, or -1."""
    ends = [edge for edge in edges if abs(edge) != math.inf]
    first = 0 if edges[0] == -math.inf else -1
    places = [*range(first, first + len(ends)), -1 if edges[-1] != math.inf else len(edges) - 2]
    if kind.is_integer():  # exact, whatever the integer
        ends = [math.ceil(edge) for edge in ends]
        column = column.cast(nw.Int64)
    else:
        ends, column = [float(edge) for edge in ends], column.cast(nw.Float64)

    def place(low: int, high: int) -> Any:
        """Return the place of a value that is not below end low - 1, but below end high."""
        if low == high:
            return nw.lit(places[low], nw.Int64)
        middle = (low + high) // 2
        below, above = place(low, middle), place(middle + 1, high)
        return nw.when(column < ends[middle]).then(below).otherwise(above)

    outside = column.is_null() if kind.is_integer() else column.is_null() | column.is_nan()
    return nw.when(outside).then(nw.lit(-1, nw.Int64)).otherwise(place(0, len(ends)))


def _ranks(codes: Codes, values: Sequence[Any]) -> Codes:
    """Return the place of each row's value in the order of the values."""
    ranks = np.empty(len(values), np.int64)
    ranks[places_in_order([values], [0] * len(values))] = np.arange(len(values))
    return ranks[codes]


def _numbered(columns: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Number the distinct rows of columns in their order; also return a place of each."""
    order = np.lexsort(columns[::-1])
    new = np.zeros(order.size, np.bool_)
    new[:1] = True
    for one in columns:
        new[1:] |= np.diff(one[order]) != 0
    numbers = np.empty(order.size, np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]
