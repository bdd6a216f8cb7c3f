"""Consistent tables: several noisy tables, made to add up by weighted least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._inputs.messages import describe
from .._inputs.numbers import checked_flag
from ..data.cells import Cells
from ..data.entry import open_container
from ..data.labelled_table import LabelledTable
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import Law
from ._checks import miss, unshifted
from ._contradictions import refuse_contradictions
from ._crossed import fit_any, fit_product
from ._nested import Floats, Index, fit, sums, whole
from ._radii import Fit, floats_err, nested_shapes, radii

_EXACT_FLOATS = 2**53
_MOST_NAMED = 3
"""The most rows or keys that an error names."""


class _Fitted(NamedTuple):
    """The estimates of all tables, from coarse to fine."""

    values: list[Floats]
    errors: list[Floats]
    shapes: list[Index] | None  # as `radii` takes them
    fit: Fit  # returns the estimates from other counts


def consistent(
    tables: Sequence[Any],
    laws: Any,
    count: Any = None,
    *,
    integers: bool = False,
    confidence: object = 0.95,
    check: bool = True,
) -> list[Any]:
    """Return the tables with counts that add up, nearer to the truth, with errors and intervals.

    Parameters
    ----------
    tables : list of frames of pandas or polars, tables of pyarrow, or dicts of columns
        Noisy tables of the same people, in any order. One, the finest, has all columns of the
        others. Each row of another table is the sum of the finest table's rows that agree with it
        in its columns. All columns except the count say what is counted.
    laws : law, or a list of laws
        The noise of all tables, or of each; with mu = 0.
    count : label
        The column of noisy counts. A null is a count that was not released; the finest table has
        none.
    integers : bool, optional
        Return whole numbers >= 0. If tables are nested, totals stay unbiased, but their smallest
        parts do not: counts of 0 rise (by 1.6 on average in the example table) and large ones fall.
        If tables cross, the cells of the finest table are rounded and then summed, so totals rise
        with each cell that was below 0.
    confidence : number, optional
        Between 0 and 1, for each interval by itself.
    check : bool, optional
        False goes on if tables contradict each other.

    Returns
    -------
    list
        The tables in the same order. ``count`` has the estimates, floats unless ``integers``. New
        columns are "error", their standard errors, and "low" and "high", between which the truth is
        with the confidence.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If counts are not integers; if rows overlap, lack their whole or have no parts; if tables
        contradict each other by more than noise does in one of 10**9 cases; if there are not as
        many laws as tables; if tables cross, combinations are missing, and variances are so far
        apart that the result's digits are not proven (from a factor of 10**12 to 10**18 on).

    Notes
    -----
    The weights of the least squares are the inverse variances of the laws, which gives the linear
    unbiased estimate of least variance. Nested tables (each has all columns of the one before) take
    two passes. Tables that cross are solved by the analysis of variance if every combination is a
    row. Both use floats, whose rounding is some 1e-14 of the largest count: 1e-4 of 10**10. If
    combinations are missing, tables that cross are solved by their equations. Then values are
    proven to 1e-9 standard errors, besides their rounding to floats. Errors are exact, except that
    those of such equations have 1e-4 relative error, and with more than 2000 cells are those of the
    noisy counts, an upper bound. With ``integers`` an error is also an upper bound: it includes the
    distance of a count from its estimate, or from 0 if the estimate is below 0.

    Guaranteed: an interval contains the true count with at least the confidence, by the law of the
    weighted sum of draws that is the estimate's noise, for all laws. Its radius is that of `total`,
    some 2 errors for 95 %, in all rows if every combination of keys is a row. In nested tables rows
    whose parts, wholes and neighbours are alike have one radius, in the 32 most frequent shapes of
    each table. All other rows have the radius for any weights. For 95 % it is 2.72 errors if all
    laws are discrete Gaussians with sigma2 >= 1/2, else up to 3.4 for scales from 1 on, and more
    for less noise. Intervals of ``integers`` are those of the estimates, made whole and at least 0,
    and reach the count.

    Before anything is fitted, tables are compared. Each row of another table must be the sum of its
    parts, and each pair of tables must agree in their common columns, as far as noise allows in all
    but one of 10**9 cases. One row and its two parts may differ by 6.7 standard deviations of their
    difference.

    References
    ----------
    Hay, Rastogi, Miklau, Suciu, arXiv:0904.0942; ``_nested.py``, ``_crossed.py``, ``_radii.py``,
    ``_ring.py`` and ``_contradictions.py``.

    Examples
    --------
    >>> import discretegauss as dg
    >>> towns = {"state": ["N", "N", "S"], "town": ["Aix", "Bex", "Dax"], "n": [1204, 87, 5530]}
    >>> states = {"state": ["N", "S"], "n": [1298, 5533]}
    >>> states, towns = dg.estimate.consistent([states, towns], dg.DiscreteGaussian(5), "n")
    >>> [round(x, 2) for x in states["n"]], [round(x, 2) for x in towns["n"]]
    ([1295.67, 5531.5], [1206.33, 89.33, 5531.5])
    >>> [round(x, 2) for x in states["error"]]
    [1.83, 1.58]
    >>> [round(x, 2) for x in states["low"]], [round(x, 2) for x in states["high"]]
    ([1292.0, 5528.5], [1299.33, 5534.5])
    """
    checked_flag(integers, "integers")
    checked_flag(check, "check")
    missed = miss(confidence)
    opened = Tables(tables, laws, count)
    if check:
        opened.refuse_contradictions()
    fitted = opened.fitted()
    distances = radii(
        opened.noisy,
        opened.variances,
        opened.laws,
        fitted.errors,
        fitted.shapes,
        fitted.fit,
        missed,
        opened.floats_err,
    )
    made_whole = opened.whole(fitted) if integers else None
    results = [None] * len(tables)
    for level, (x, error, far) in enumerate(
        zip(fitted.values, fitted.errors, distances, strict=True)
    ):
        columns = {count: x, "error": error, "low": x - far, "high": x + far}
        if made_whole is not None:
            columns = _made_whole(columns, count, made_whole[level])
        results[opened.order[level]] = opened.with_columns(level, columns)
    return results


class Tables:
    """Noisy tables of the same people, from coarse to fine.

    `order` has the place of each table in the arguments. `named` has the columns that say what each
    counts. `variances` are infinite at nulls. `wholes` has, for each table, the row to which each
    row of the finest one belongs. `parents` is None unless the tables are nested. It has, for each
    table but the first, the row of the table before it to which each row belongs.
    """

    def __init__(self, tables: Sequence[Any], laws: Any, count: Any) -> None:
        if not isinstance(tables, list | tuple) or not tables:
            raise ParameterTypeError("tables must be a list of at least one table")
        laws = _each_law(laws, len(tables))
        self._views = [_NoisyTable(table, f"table {i}") for i, table in enumerate(tables, 1)]
        keys = [_keys(table, count, f"table {i}") for i, table in enumerate(self._views, 1)]
        counts = [view.cells(count) for view in self._views]
        # of the tables with most columns, one without nulls is the finest
        self.order = order = sorted(
            range(len(tables)), key=lambda i: (len(keys[i]), not _has_nulls(counts[i]))
        )
        finest = keys[order[-1]]
        for i, named in enumerate(keys, 1):
            if missing := [label for label in named if label not in finest]:
                raise ParameterValueError(
                    "one table, the finest, must have the columns of all others, but the table "
                    f"with most columns has no {describe(missing[0])}, a column of table {i}"
                )
        # labels in the order of the finest table's columns
        self.named = [[label for label in finest if label in keys[i]] for i in order]
        self.laws = [laws[i] for i in order]
        self.noisy, self.variances = zip(*(_level(counts[i], laws[i]) for i in order), strict=True)
        if not np.isfinite(self.variances[-1]).all():
            raise ParameterValueError(f"table {order[-1] + 1}, the finest, must have no nulls")
        lengths, last = [y.size for y in self.noisy], len(tables) - 1
        self.rows = rows = _RowKeys(
            [self._views[i] for i in order], self.named, lengths, [i + 1 for i in order]
        )
        self.wholes = [*(rows.places(level, last) for level in range(last)), np.arange(lengths[-1])]
        self.parents = None
        if all(set(up) < set(down) for up, down in pairwise(self.named)):
            self.parents = [rows.places(level, level + 1) for level in range(last)]

    @property
    def floats_err(self) -> Fraction:
        """A bound on the error of a fit in floats, in parts of the largest sum of sizes."""
        return floats_err(len(self.named), len(self.named[-1]))

    def refuse_contradictions(self) -> None:
        """Raise ContradictionError if two tables differ by more than chance explains."""
        refuse_contradictions(self.rows, self.noisy, self.variances, self.laws)

    def fitted(self) -> _Fitted:
        """Return the estimates."""
        if self.parents is not None:
            return _nested(self.noisy, self.variances, self.parents)
        return _crossed(self.rows, self.named, self.wholes, self.noisy, self.variances)

    def whole(self, fitted: _Fitted) -> list[NDArray[np.int64]]:
        """Return whole numbers that add up, none below 0."""
        if self.parents is not None:
            return whole(self.noisy, self.variances, self.parents)
        return _whole_cells(fitted.values[-1], self.wholes, self.noisy)

    def with_columns(self, level: int, columns: dict[Any, Any]) -> Any:
        """Return a new table of the same kind, with these arrays as columns."""
        return self._views[self.order[level]].with_columns(columns)


class _NoisyTable(LabelledTable):
    """A table with columns of counts."""

    def cells(self, label: Any) -> Cells:
        """Return the cells of a column of counts."""
        is_dict = isinstance(self.table, dict)
        values, columns = (self.table[label], None) if is_dict else (self.table, [label])
        return open_container(values, columns, floats=True).cells[0]


def _each_law(laws: Any, n: int) -> list[Any]:
    """Return the law of each table's noise."""
    each = [laws] * n if isinstance(laws, Law) or not isinstance(laws, list | tuple) else laws
    if len(each) != n or not all(isinstance(law, Law) for law in each):
        raise ParameterValueError(f"laws must be one law, or {n} laws, one for each table")
    if not all(1e-300 < float(unshifted(law, "laws").var()) < 1e300 for law in each):
        raise ParameterOverflowError("laws must have variances from 1e-300 to 1e300")
    return list(each)


def _has_nulls(cells: Cells) -> bool:
    return cells.nulls is not None and bool(np.any(cells.nulls))


def _some(values: list[Any]) -> str:
    """Return the first values as text for an error."""
    more = len(values) - _MOST_NAMED
    shown = [describe(value) for value in values[:_MOST_NAMED]]
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _keys(table: _NoisyTable, count: Any, name: str) -> list[Any]:
    """Return the labels of the columns that say what is counted."""
    labels = table.labels()
    if labels.count(count) != 1:
        raise ParameterValueError(f"{name} must have one column {describe(count)}, of counts")
    for label in ("share", "error", "low", "high"):
        if label in labels:
            raise ParameterValueError(f"{name} must have no column {label!r}: results have one")
    return [label for label in labels if label != count]


def _level(cells: Cells, law: Any) -> tuple[Floats, Floats]:
    """Return counts as floats, and their variances, which are infinite at nulls."""
    integers, nulls = cells.integers, cells.nulls
    if integers.ndim != 1:
        raise ParameterTypeError(f"counts must have one axis, got {integers.ndim}")
    most = max(abs(int(integers.min())), abs(int(integers.max()))) if integers.size else 0
    if most > _EXACT_FLOATS:
        raise ParameterOverflowError("counts must be within 2**53, where floats are exact")
    variances = np.full(integers.size, float(law.var()))
    if nulls is not None:
        variances[nulls] = np.inf
    return integers.astype(np.float64), variances


class _RowKeys:
    """The rows of tables, from coarse to fine, as codes: equal keys have equal codes."""

    def __init__(
        self,
        tables: Sequence[_NoisyTable],
        named: Sequence[list[Any]],
        lengths: Sequence[int],
        numbers: Sequence[int],
    ) -> None:
        self._lengths, self._named, self._numbers = lengths, named, numbers
        finest = {label: tables[-1].codes(label) for label in named[-1]}
        self._values = {label: values for label, (_, values) in finest.items()}
        self.levels = {label: len(values) for label, values in self._values.items()}
        self.codes: list[dict[Any, Index]] = []
        for level, (table, labels) in enumerate(zip(tables[:-1], named, strict=False)):
            of_labels = {label: table.column(label) for label in labels}
            self.codes.append({x: self._codes(level, x, col) for x, col in of_labels.items()})
        self.codes.append({label: codes for label, (codes, _) in finest.items()})
        self._sorted_keys(len(named) - 1)

    def _codes(self, level: int, label: Any, column: list[Any]) -> Index:
        """Return the codes that these keys have in the finest table."""
        at = {value: i for i, value in enumerate(self._values[label])}
        if lost := [value for value in dict.fromkeys(column) if value not in at]:
            raise ParameterValueError(
                f"each row of table {self._numbers[level]} must have parts in table "
                f"{self._numbers[-1]}, the finest, but no row there has {_some(lost)} in column "
                f"{describe(label)}"
            )
        return np.array([at[value] for value in column], np.intp)

    def _named_rows(self, level: int, places: Index, labels: list[Any]) -> str:
        """Return the first of these rows as text for an error, by their keys in these columns."""
        rows = [
            ", ".join(describe(self._values[x][self.codes[level][x][i]]) for x in labels)
            for i in places[:_MOST_NAMED]
        ]
        more = f" and {places.size - len(rows)} more" if places.size > len(rows) else ""
        return " and ".join(f"({row})" for row in rows) + more

    def places(self, up: int, down: int) -> Index:
        """Return the place of each row's whole in a coarser table."""
        order, keys = self._sorted_keys(up)
        wanted = self._keys(down, self._named[up])
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        fine, coarse = f"table {self._numbers[down]}", f"table {self._numbers[up]}"
        labels = self._named[up]
        if (lost := np.flatnonzero(keys[at] != wanted)).size:
            lost = lost[np.sort(np.unique(wanted[lost], return_index=True)[1])]
            raise ParameterValueError(
                f"each row of {fine} must be a part of a row of {coarse}, but there is none for "
                f"{self._named_rows(down, lost, labels)}"
            )
        found: Index = order[at]
        if (lost := np.flatnonzero(np.bincount(found, minlength=keys.size) == 0)).size:
            raise ParameterValueError(
                f"each row of {coarse} must have parts in {fine}, but there are none of "
                f"{self._named_rows(up, lost, labels)}"
            )
        return found

    def groups_of(self, level: int, labels: list[Any]) -> Index:
        """Return the group of each row of a table: equal if they agree in these columns."""
        return np.unique(self._keys(level, labels), return_inverse=True)[1]

    def groups(self, level: int, other: int) -> tuple[Index, Index]:
        """Return the group of each row of two tables: equal if they agree in all common columns."""
        common = self._common(level, other)
        keys = [self._keys(at, common) for at in (level, other)]
        of_all = np.unique(np.concatenate(keys), return_inverse=True)[1]
        return of_all[: keys[0].size], of_all[keys[0].size :]

    def in_common(self, level: int, other: int, row: int) -> tuple[str, str]:
        """Return, for an error, the tables' names, and what they have in common with this row."""
        first, second = sorted((self._numbers[level], self._numbers[other]))
        where = (
            f"{x} = {describe(self._values[x][self.codes[level][x][row]])}"
            for x in self._common(level, other)
        )
        return f"table {first} and table {second}", " and ".join(where)

    def _common(self, level: int, other: int) -> list[Any]:
        return [label for label in self._named[level] if label in self._named[other]]

    def _sorted_keys(self, level: int) -> tuple[Index, Index]:
        """Return the order of the rows by their keys, and the keys in this order."""
        keys = self._keys(level, self._named[level])
        if (np.diff(keys) > 0).all():
            return np.arange(keys.size), keys
        order = np.argsort(keys)
        keys = keys[order]
        if (np.diff(keys) == 0).any():
            raise ParameterValueError(
                f"rows of table {self._numbers[level]} must not overlap, but some agree in all "
                "columns except the count; reset_index() makes columns of an index of pandas"
            )
        return order, keys

    def _keys(self, level: int, labels: list[Any]) -> Index:
        """Return one integer for each row that encodes its keys in these columns."""
        keys, size = np.zeros(self._lengths[level], np.intp), 1
        for label in labels:
            base = self.levels[label] + 1
            size *= base
            if size >= 2**62:
                raise ParameterOverflowError("columns must have fewer than 2**62 combinations")
            keys = keys * base + self.codes[level][label]
        return keys


def _nested(noisy: Sequence[Floats], var: Sequence[Floats], parents: Sequence[Index]) -> _Fitted:
    values, variances = fit(noisy, var, parents)
    return _Fitted(
        values,
        [np.sqrt(v) for v in variances],
        nested_shapes(var, parents),
        lambda counts: fit(counts, var, parents)[0],
    )


def _made_whole(columns: dict[Any, Floats], count: Any, whole: NDArray[Any]) -> dict[Any, Any]:
    """Return these whole counts, with errors that include the distances from the estimates."""
    moved = np.abs(whole - np.maximum(columns[count], 0))
    low, high = (
        np.maximum(end, 0).astype(np.int64)
        for end in (np.ceil(columns["low"]), np.floor(columns["high"]))
    )
    return {
        count: whole,
        "error": columns["error"] + moved,
        "low": np.minimum(low, whole),
        "high": np.maximum(high, whole),
    }


def _whole_cells(
    estimates: Floats, members: Sequence[Index], noisy: Sequence[Floats]
) -> list[NDArray[np.int64]]:
    """Return rounded cells, none below 0, and their sums."""
    cells = np.maximum(np.rint(estimates), 0)
    if not math.fsum(cells) <= _EXACT_FLOATS:
        raise ParameterOverflowError("counts of integers=True must have sums within 2**53")
    return [
        sums(member, cells, y.size).astype(np.int64)
        for member, y in zip(members, noisy, strict=True)
    ]


def _crossed(
    rows: _RowKeys,
    named: Sequence[list[Any]],
    members: Sequence[Index],
    noisy: Sequence[Floats],
    var: Sequence[Floats],
) -> _Fitted:
    """Return the estimates of tables that cross. members: the place of each cell in each table."""
    codes, shape = list(rows.codes[-1].values()), list(rows.levels.values())
    if math.prod(shape) != noisy[-1].size or not all(np.isfinite(v).all() for v in var):
        values, variances = fit_any(members, noisy, var)
        return _Fitted(values, [np.sqrt(v) for v in variances], None, list)
    margins = [tuple(named[-1].index(label) for label in labels) for labels in named]
    places = []
    for margin, member, y in zip(margins, members, noisy, strict=True):
        place = np.zeros(y.size, np.intp)
        if margin:
            of_cells = np.ravel_multi_index([codes[i] for i in margin], [shape[i] for i in margin])
            place[member] = of_cells
        places.append(place)
    of_tables = [float(v[0]) for v in var]

    def fitted(counts: Sequence[Floats]) -> tuple[list[Floats], list[float]]:
        tables = [np.empty_like(y) for y in counts]
        for table, place, y in zip(tables, places, counts, strict=True):
            table[place] = y
        found, variances = fit_product(shape, margins, tables, of_tables)
        return [x[place] for x, place in zip(found, places, strict=True)], variances

    values, of_margins = fitted(noisy)
    errors = [np.full(y.size, math.sqrt(v)) for y, v in zip(noisy, of_margins, strict=True)]
    shapes = [np.zeros(y.size, np.intp) for y in noisy]
    return _Fitted(values, errors, shapes, lambda counts: fitted(counts)[0])
