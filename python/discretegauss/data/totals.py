"""Totals among the rows or columns of a table in which a person is said to be counted once.

A margin counts everybody again, so its table costs more than the statement says. A total row is in
every column exactly the sum of the other rows. Among rows with several keys a value of some keys is
a total if its rows are the sums of the rows that agree with them in the other keys, such as "All"
in a crosstab in long form, or the null of a rollup.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations, count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscreteGaussError, ParameterValueError
from .cells import Cells

MOST_ROWS = 20_000
"""Tables with more rows are not looked at for totals of some keys, which takes more time."""

MOST_KEYS = 8
"""Nor are tables with more keys."""

_IN_PLAN = "leave it out and add up noisy counts, or make it a table of a plan"

Codes = Sequence[NDArray[np.intp]]
"""For each key, a number from 0 on for each row; equal numbers mean equal values."""


class Alone(NamedTuple):
    """Among what a person is said to be counted only once."""

    rows: bool  # each record is counted in one row
    columns: bool  # each record is counted in one column
    has_person: bool  # a statement about a person says so


def require_no_total(
    cells: Sequence[Cells],
    alone: Alone,
    names: Sequence[object] = (),
    codes: Callable[[], Codes] = tuple,
    error: type[DiscreteGaussError] = ParameterValueError,
    place: tuple[str, int] | None = None,
) -> None:
    """Refuse a table with a total, by the place of its row or the name of its column.

    If an array of `cells` has several axes, it is the only one, and its first axis has the rows.
    `names` and `codes` are of the keys. `place` is of a table in a file: what the error counts, and
    the number of the first row.
    """
    columns = _Columns(cells)
    if columns.n_rows < 3 and not alone.columns:
        return
    if alone.rows or alone.has_person:
        at, of = total_row(columns) if alone.rows else None, ""
        if at is None and 1 < len(names) <= MOST_KEYS and 3 < columns.n_rows <= MOST_ROWS:
            found = total_of_keys(columns, codes())
            if found is not None:
                at, keys = found
                others = ", ".join(str(name) for i, name in enumerate(names) if i not in keys)
                of = f" that agree with it in {others}"
        if at is not None:
            raise error(refusal_of_row(at, alone, of, place))
    if alone.columns and (at := total_column(columns)) is not None:
        label = columns.label(at)
        if_none = "" if alone.has_person else " without disjoint, or"
        hint = f"give the noise{if_none} as a law, which privacy.calibrate gives"
        if place is not None:
            hint = "do not say that nobody is counted in two of the columns"
        raise error(
            f"column {label} is in every row the sum of the other columns, so it counts everybody "
            f"again: {_IN_PLAN}; if it is no total, {hint}"
        )


def refusal_of_row(
    at: int, alone: Alone, of: str = "", place: tuple[str, int] | None = None
) -> str:
    """Return the message about the total in this row; see `require_no_total` about `place`."""
    what, start = place or ("rows", 1)
    hint = "rows_per_person=2"
    if alone.has_person:
        hint += " in place of the statement about a person"
    if place is None:
        hint += ", or pass a law, which privacy.calibrate gives"
    return (
        f"{what.removesuffix('s')} {at + start} is in every column of counts the sum of the other "
        f"rows{of}, so it counts everybody again: {_IN_PLAN}; if it is no total, say {hint}"
    )


class _Columns(Sequence[NDArray[Any]]):
    """Columns of counts as arrays whose sums cannot wrap, with 0 at nulls; made when asked for."""

    def __init__(self, cells: Sequence[Cells]) -> None:
        self._cells = cells
        first = cells[0].integers
        self.n_rows = first.shape[0] if first.ndim else 1
        self._width = max(1, first[0].size) if first.ndim > 1 and self.n_rows else 1

    def __len__(self) -> int:
        return len(self._cells) * self._width

    def __getitem__(self, i: Any) -> Any:
        integers, nulls, *_ = self._cells[i // self._width]
        if integers.ndim != 1:
            integers = integers.reshape(self.n_rows, -1)[:, i % self._width]
            nulls = None if nulls is None else nulls.reshape(self.n_rows, -1)[:, i % self._width]
        if nulls is not None:
            integers = integers * ~nulls
        if integers.dtype == object or not integers.size:
            return integers
        most = 2**61 // (self.n_rows * len(self))
        if integers.max() > most or integers.min() < -most:
            return integers.astype(object)
        return integers.astype(np.int64, copy=False)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[i] for i in range(len(self)))

    def label(self, i: int) -> str:
        """Return the name of a column, or its number."""
        label = self._cells[i // self._width].label
        return f"{i + 1}" if label is None else repr(label)


def total_row(columns: Sequence[NDArray[Any]]) -> int | None:
    """Return the place of a row that is in every column the sum of the others.

    It is not zero, and two other rows are not. Nearly always the first column shows that there is
    none.
    """
    found: NDArray[np.intp] | None = None
    for numbers in columns:
        half, odd = divmod(numbers.sum(), 2)
        if odd:
            return None
        found = np.flatnonzero(numbers == half) if found is None else found[numbers[found] == half]
        if not found.size:
            return None
    if found is None:
        return None
    is_nonzero = np.zeros(len(columns[0]), np.bool_)
    for numbers in columns:
        is_nonzero |= numbers != 0
    is_total = bool(is_nonzero[found[-1]]) and np.count_nonzero(is_nonzero) >= 3
    return int(found[-1]) if is_total else None


def total_column(columns: Sequence[NDArray[Any]]) -> int | None:
    """Return the place of a column that is in every row the sum of the others, as `total_row`."""
    if len(columns) < 3:
        return None
    sums: Any = sum(columns)
    found = [i for i, one in enumerate(columns) if np.array_equal(2 * one, sums)]
    if not found or not sums.any() or sum(bool(one.any()) for one in columns) < 3:
        return None
    return found[-1]


def total_of_keys(
    columns: Sequence[NDArray[Any]], codes: Codes
) -> tuple[int, tuple[int, ...]] | None:
    """Return the place of the first row with a total value of some keys, and the keys' places.

    The value is a total in all groups of rows that agree in the other keys, if it and others are
    there. To be no coincidence, it is one in at least two groups, and in half of those that have
    two others which are not zero.
    """
    n_keys = len(codes)
    sizes = range(1, n_keys) if n_keys <= 3 else (1,)
    for keys in (keys for size in sizes for keys in combinations(range(n_keys), size)):
        value = joined([codes[i] for i in keys])
        rest = joined([code for i, code in enumerate(codes) if i not in keys])
        if (at := _total_value(columns, value, rest)) is not None:
            return at, keys
    return None


def _total_value(
    columns: Sequence[NDArray[Any]], value: NDArray[np.intp], rest: NDArray[np.intp]
) -> int | None:
    """Return the place of the first row of a value that is a total in the groups of `rest`."""
    sizes = np.bincount(rest)
    if np.count_nonzero(sizes >= 3) < 2:
        return None
    is_equal, is_nonzero = sizes[rest] >= 2, np.zeros(len(rest), np.bool_)
    has_others = is_equal.copy()
    for numbers in columns:
        sums = np.zeros(len(sizes), numbers.dtype)
        np.add.at(sums, rest, numbers)
        is_equal &= 2 * numbers == sums[rest]
        is_nonzero |= numbers != 0
        if not is_equal.any():
            return None
    addends = np.bincount(rest[is_nonzero], minlength=len(sizes))
    is_clear = is_equal & is_nonzero & (addends[rest] >= 3)
    n_values = int(value.max()) + 1
    wrong = np.bincount(value[has_others & ~is_equal], minlength=n_values)
    right = np.bincount(value[is_clear], minlength=n_values)
    enough = max(2, (int(np.count_nonzero(addends >= 3)) + 1) // 2)
    at = np.flatnonzero(((wrong == 0) & (right >= enough))[value] & is_clear)
    return int(at[0]) if at.size else None


def codes_of(values: Iterable[Hashable]) -> NDArray[np.intp]:
    """Return a number from 0 on for each value; equal values have equal numbers."""
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.fromiter(map(numbers.__getitem__, values), np.intp)


def joined(codes: Codes) -> NDArray[np.intp]:
    """Return one code for the codes of several keys; equal rows have equal codes."""
    both = codes[0]
    for code in codes[1:]:
        both = both * (int(code.max(initial=0)) + 1) + code
        both = np.unique(both, return_inverse=True)[1]
    return both


class RunningTotal:
    """Looks for a total row in a table that is read in chunks and not held.

    For counts that are not negative. A total is the largest row in every column, so it is the row
    of the largest counts, and half of the sums.
    """

    def __init__(self) -> None:
        self._sums: list[int] = []
        self._largest: list[int] = []
        self._at: int | None = None
        self._n_nonzero = self._n_rows = 0
        self._is_negative = False

    def add(self, cells: Sequence[Cells]) -> None:
        """Take the next rows."""
        columns = _Columns(cells)
        n = columns.n_rows
        if self._is_negative or not n:
            return
        largest, sums = [], []
        is_nonzero = np.zeros(n, np.bool_)
        for numbers in columns:
            self._is_negative = self._is_negative or bool(numbers.min() < 0)
            largest.append(int(numbers.max()))
            sums.append(int(numbers.sum()))
            if self._n_nonzero < 3:
                is_nonzero |= numbers != 0
        if not self._sums:
            self._sums, self._largest = [0] * len(sums), [-1] * len(sums)
        self._sums = [x + y for x, y in zip(self._sums, sums, strict=True)]
        both = [max(x, y) for x, y in zip(self._largest, largest, strict=True)]
        if both != self._largest or self._at is None:
            self._at = None
            if both == largest:
                self._at = self._place(columns, largest)
        self._largest = both
        self._n_nonzero += int(np.count_nonzero(is_nonzero))
        self._n_rows += n

    def _place(self, columns: _Columns, row: list[int]) -> int | None:
        """Return the place of this row."""
        found = np.arange(columns.n_rows)
        for numbers, largest in zip(columns, row, strict=True):
            found = found[numbers[found] == largest]
            if not found.size:
                return None
        return self._n_rows + int(found[0])

    @property
    def total(self) -> int | None:
        """Return the place of the total row."""
        if self._is_negative or self._n_nonzero < 3 or self._at is None:
            return None
        is_total = all(2 * x == y for x, y in zip(self._largest, self._sums, strict=True))
        return self._at if is_total else None
