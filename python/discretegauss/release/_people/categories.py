"""The categories that a count of people may have. They are declared, never read from the records.

A dimension is a column, or several that belong together, with the list of its values. The rows of a
table are the combinations of the values of its dimensions, whether anybody has them or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._inputs.messages import describe
from ...errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from .._person import names_of

Codes = NDArray[np.int64]

Column = tuple[Codes, list[Any]]
"""The values of a column: a code for each row, and the value of each code."""

BIN = "__dg_bin_"
OTHERS = "all others"
"""The text that stands for `...` in a result."""

_MOST_ROWS = 2**27


class Dimension:
    """A column, or several with a list of their combinations, and the values that are declared.

    `rows` has the values as the result shows them, in its order. `index` has the place of each
    declared value, as a tuple; of a bin, of its number. `others` is the place of all values that
    are not declared, or -1 if they are not counted. Bin i has the values from `edges[i]` on, below
    `edges[i + 1]`. `queried` has the columns that hold the values in the query: of bins a column of
    their places.
    """

    def __init__(self, columns: tuple[str, ...], values: Iterable[Any]) -> None:
        self.columns = columns
        alone = columns[0] if len(columns) == 1 else columns
        self.name = name = f"categories[{alone!r}]"
        listed = [_plain(value) for value in values]
        known = [value for value in listed if value is not ...]
        if not known:
            raise ParameterValueError(f"{name} must have at least one value")
        self.edges = None
        if len(columns) == 1 and any(isinstance(value, list | tuple) for value in known):
            self.edges = _edges(known, name)
        rows = iter([_row(value, columns, name) for value in known])
        self.index: dict[Any, int] = {}
        self.others = -1
        for place, value in enumerate(listed):
            if value is ...:
                again, self.others = self.others >= 0, place
            else:
                key = (len(self.index),) if self.edges else next(rows)
                again = self.index.setdefault(key, place) != place
            if again:
                said = "..." if value is ... else describe(value)
                raise ParameterValueError(f"{name} must differ, but {said} is there twice")
        self.rows = self._shown(listed)
        self.queried = columns if self.edges is None else (f"{BIN}{columns[0]}",)

    def _shown(self, listed: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the values as a result shows them. With `...` all are text, to be of one type."""
        if self.edges is not None:
            ends = iter(pairwise(self.edges))
            return [(OTHERS if x is ... else "[{}, {})".format(*next(ends)),) for x in listed]
        if self.others < 0:
            return list(self.index)
        rows = [tuple(x if x is None else str(x) for x in row) for row in self.index]
        rows.insert(self.others, (OTHERS,) * len(self.columns))
        if len(set(rows)) < len(rows):
            raise ParameterValueError(f"{self.name} must differ as text, and from {OTHERS!r}")
        return rows

    @property
    def values(self) -> list[list[Any]]:
        """Return the declared values of each column, without `...`; none of bins."""
        rows = list(self.index) if self.edges is None else []
        return [[row[i] for row in rows] for i in range(len(self.columns))]

    def part(self, columns: Sequence[str]) -> tuple[list[str], list[tuple[Any, ...]], Codes]:
        """Return those of the columns that are here, their distinct values, and each row's."""
        at = [i for i, name in enumerate(self.columns) if name in columns]
        index: dict[Any, int] = {}
        codes = [index.setdefault(tuple(row[i] for i in at), len(index)) for row in self.rows]
        return [self.columns[i] for i in at], list(index), np.array(codes, np.int64)

    def codes(self, column: Callable[[str], Column]) -> Codes:
        """Return the place of each row's value, or -1 if it is not declared."""
        found, listed = column(self.queried[0])
        rows: list[tuple[Any, ...]] = [(value,) for value in listed]
        for name in self.queried[1:]:
            codes, values = column(name)
            occurring, found = np.unique(found * len(values) + codes, return_inverse=True)
            pairs = (divmod(int(x), len(values)) for x in occurring)
            rows = [(*rows[i], values[j]) for i, j in pairs]
        places = np.array([self.index.get(row, self.others) for row in rows], np.int64)
        return places[found]


class Categories:
    """The combinations of declared categories.

    `categories` has the values of each column, or tuple of columns. Listed tables group by the
    `needed` columns, and others are ignored. Tables of unknown groups group by the `unknown` ones:
    if one of them has a list, records with other values are not counted.
    """

    def __init__(self, categories: Any, needed: Sequence[str], unknown: Sequence[str] = ()) -> None:
        if not isinstance(categories, Mapping):
            raise ParameterTypeError(
                f"categories must be a dict from columns to values, got {describe(categories)}"
            )
        self.dimensions = []
        named: set[str] = set()
        for key, values in categories.items():
            columns = names_of(key, "categories")
            if again := named.intersection(columns):
                raise ParameterValueError(f"categories must name {min(again)!r} once")
            if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
                raise ParameterTypeError(
                    f"categories[{key!r}] must be a list of values, got {describe(values)}"
                )
            named.update(columns)
            if set(columns).intersection((*needed, *unknown)):
                self.dimensions.append(one := Dimension(columns, values))
                if set(columns).intersection(unknown) and (one.edges or one.others >= 0):
                    raise ParameterValueError(
                        f"{one.name} must not have bins or ..., because a table of unknown groups "
                        "has the values themselves: give the bins a column of their own"
                    )
        self.unknown = list(dict.fromkeys(unknown))
        # those that are not listed
        self.free = [name for name in self.unknown if name not in named]
        for name in needed:
            if name not in named:
                raise ParameterValueError(
                    f"categories must list the values of {name!r}, because values that occur would "
                    f"give somebody away; it has {', '.join(map(repr, categories)) or 'no columns'}"
                )
        if math.prod(len(one.rows) for one in self.dimensions) >= 2**62:
            raise ParameterOverflowError("categories must have fewer than 2**62 combinations")

    @property
    def columns(self) -> list[str]:
        """Return all columns of people that are read."""
        return [name for one in self.dimensions for name in one.columns]

    @property
    def queried(self) -> list[str]:
        """Return the columns by which the query groups."""
        return [name for one in self.dimensions for name in one.queried]

    def codes(self, column: Callable[[str], Column], n: int) -> Codes:
        """Return the combination of each of n rows, or -1 if a value is not declared."""
        found = np.zeros(n, np.int64)
        outside = np.zeros(n, np.bool_)
        for one in self.dimensions:
            codes = one.codes(column)
            outside |= codes < 0
            found = found * len(one.rows) + codes
        found[outside] = -1
        return found

    def rows(self, by: Sequence[str], codes: Codes) -> Codes:
        """Return the row in a table of each combination. No columns are one row."""
        found, factor = np.zeros(codes.size, np.int64), 1
        for one in reversed(self.dimensions):  # the last varies fastest
            codes, of_one = np.divmod(codes, len(one.rows))
            _, values, places = one.part(by)
            found += factor * places[of_one]
            factor *= len(values)
        return found

    def n_rows(self, by: Sequence[str]) -> int:
        """Return the number of rows of a table, or refuse it."""
        n = math.prod(len(one.part(by)[1]) for one in self.dimensions)
        if n > _MOST_ROWS:
            raise ParameterOverflowError(
                f"categories must give a table at most 2**27 rows, but by = {list(by)} gives {n}"
            )
        return n

    def keys(self, by: Sequence[str]) -> dict[str, list[Any]]:
        """Return the key columns of a table, its rows in the order of declaration."""
        places = np.arange(self.n_rows(by))
        found: dict[str, list[Any]] = {}
        for one in reversed(self.dimensions):
            names, values, _ = one.part(by)
            if not names:
                continue
            places, at = np.divmod(places, len(values))
            for i, name in enumerate(names):
                found[name] = [values[j][i] for j in at.tolist()]
        return {name: found[name] for name in by}


def _plain(value: Any) -> Any:
    """Return a scalar of numpy as the object of Python that it is."""
    return value.item() if isinstance(value, np.generic) else value


def _row(value: Any, columns: tuple[str, ...], name: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] = (value,)
    if len(columns) > 1:
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != len(columns):
            raise ParameterValueError(
                f"{name} must be tuples of {len(columns)} values, got {describe(value)}"
            )
        row = tuple(map(_plain, value))
    for one in row:
        if type(one).__name__ in ("NAType", "NaTType") or (isinstance(one, float) and one != one):
            raise ParameterValueError(f"{name} must not have NaN: write None")
        if len(columns) == 1 and isinstance(one, list | tuple):
            continue  # a bin
        try:
            hash(one)
        except TypeError:
            raise ParameterTypeError(f"{name} must be values, got {describe(one)}") from None
        if one is ...:
            raise ParameterValueError(f"{name} must have ... alone, not in a tuple")
    return row


def _edges(pairs: Sequence[Any], name: str) -> list[Any]:
    """Return the ends of bins, each of which begins where the one before ends."""
    rule = f"{name} must be pairs (low, high), low <= value < high"
    found: list[Any] = []
    for i, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ParameterTypeError(f"{rule}, got {describe(pair)}")
        low, high = map(_plain, pair)
        if low is None and i == 0:
            low = -math.inf
        if high is None and i == len(pairs) - 1:
            high = math.inf
        for end in (low, high):
            if isinstance(end, bool) or not isinstance(end, int | float) or end != end:
                raise ParameterTypeError(f"{rule}, of integers or floats, got {describe(pair)}")
        if not low < high:
            raise ParameterValueError(f"{rule}, got {describe(pair)}")
        if found and found[-1] != low:
            raise ParameterValueError(
                f"{rule}, and each must begin where the one before ends, but {describe(low)} "
                f"follows {describe(found[-1])}"
            )
        found = [*(found or [low]), high]
    return found
