"""Arrays of parameters: the law of each draw, and the groups of draws with equal laws.

Arrays of integers and floats stay numpy arrays, and the C core makes laws of them by itself. Other
elements (fractions, strings, long numbers) are converted one by one, each distinct one once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product, starmap
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._law import KINDS, Kind, LawSpec
from .draw_arguments import require_fit
from .messages import if_loaded

#: Types whose equal values mean the same number. Other types, and subclasses, may redefine ==.
COMPARED_BY_VALUE = frozenset({int, float, Fraction, Decimal, str} | set(np.sctypeDict.values()))

_T = TypeVar("_T")

_WORDS = np.iinfo(np.int64)

#: Up to this number float64 holds every integer.
_EXACT = 2**53

_PIECE = 2**16
_PART = 2**20


def _machine_numbers(flat: NDArray[Any]) -> NDArray[Any] | None:
    """Return elements as int64 or as numpy floats if that changes no value, else None."""
    if flat.dtype == object:
        kinds = set(map(type, flat))
        if kinds == {float}:
            return flat.astype(np.float64)
        if kinds == {int} and _fit_words(flat.tolist()):
            return flat.astype(np.int64)
        return None
    if flat.dtype.kind == "i" or (
        flat.dtype.kind == "u" and (not flat.size or np.maximum.reduce(flat) <= _WORDS.max)
    ):
        return flat.astype(np.int64, copy=False)
    return flat if flat.dtype in ("f2", "f4", "f8") else None


def _fit_words(integers: Sequence[int]) -> bool:
    """Return whether int64 holds all of the integers."""
    return not integers or (_WORDS.min <= min(integers) and max(integers) <= _WORDS.max)


def _extremes(values: NDArray[Any]) -> tuple[Any, Any]:
    """Return the least and the greatest value, or NaN, by pieces that fit a processor's cache."""
    if values.size <= _PIECE:
        return np.minimum.reduce(values), np.maximum.reduce(values)
    pieces = [values[i : i + _PIECE] for i in range(0, values.size, _PIECE)]
    ends = [(np.minimum.reduce(piece), np.maximum.reduce(piece)) for piece in pieces]
    least, greatest = zip(*ends, strict=True)
    return np.minimum.reduce(least), np.maximum.reduce(greatest)


def _numbered(elements: Sequence[_T]) -> tuple[list[int], list[_T]]:
    """Return an index into the distinct elements, and these; True and 1 are distinct."""
    places: dict[tuple[type, _T], int] = {}
    index = [places.setdefault((type(x), x), len(places)) for x in elements]
    return index, [x for _, x in places]


def indexed(place: int, shape: tuple[int, ...]) -> str:
    """Return the text of an element's index, given its place in C order.

    Examples
    --------
    >>> indexed(5, (2, 3))
    '[1, 2]'
    """
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(place, shape))}]"


@dataclass(eq=False)
class ParameterColumn:
    """The values of one parameter."""

    shape: tuple[int, ...]
    #: The values: float64 or int64 with one axis, or rows of int64 (numerator, denominator). A
    #: number that is too long for int64 has the row (its place in `fractions`, 0).
    words: NDArray[Any]
    #: For each element in C order, its place among the values. None: element i is value i.
    index: NDArray[np.intp] | None = None
    #: The values if `words` has rows, else None.
    fractions: list[Fraction] | None = None
    #: The least and the greatest value, exact numbers of any type, if they are known.
    ends: tuple[Any, Any] | None = None
    #: Whether the C core can read `words`: no long numbers, and no floats beyond 2**62.
    fit_words: bool = True
    #: Whether the values are the exact squares of `words`, which are floats.
    are_roots: bool = False

    @classmethod
    def read(
        cls,
        array: NDArray[Any],
        exact: Callable[[object], Fraction],
        obeys: Callable[[Any], Any],
        *,
        each: bool = False,
    ) -> ParameterColumn:
        """Return the column of an array of any type, as the user gave it.

        `exact` returns an element as an exact rational, or raises an error if it breaks its rule.
        `obeys` returns whether a number obeys the rule, or which of an array; NaN does not. The
        rule is tested for the least element, or with `each` for each of them.
        """
        if not array.ndim:
            return cls.of_fractions((), [exact(array[()])])
        with np.errstate(invalid="ignore"):  # signalling NaNs are refused below
            numbers = _machine_numbers(array.reshape(-1))
            if numbers is None:
                return cls._converted(array, exact)
            if numbers.dtype != np.int64:
                numbers = numbers.astype(np.float64, copy=False)  # exact
                if not np.logical_and.reduce(numbers):  # -0.0 must get the bits of 0.0
                    numbers = np.where(numbers == 0, 0.0, numbers)
            if not (numbers.flags.c_contiguous and numbers.flags.aligned):
                numbers = numbers.copy()  # the C core reads contiguous, aligned memory
            if not numbers.size:
                return cls(array.shape, numbers)
            least, greatest = _extremes(numbers)
            if not ((obeys(numbers).all() if each else obeys(least)) and greatest < math.inf):
                exact(numbers[~(obeys(numbers) & (numbers < math.inf))][0].item())
        ends = least.item(), greatest.item()
        fit_words = numbers.dtype == np.int64 or max(-ends[0], ends[1]) < 2.0**62
        return cls(array.shape, numbers, ends=ends, fit_words=fit_words)

    @classmethod
    def of_fractions(
        cls, shape: tuple[int, ...], values: list[Fraction], index: NDArray[np.intp] | None = None
    ) -> ParameterColumn:
        """Return a column of values of any size."""
        words = np.zeros((len(values), 2), np.int64)
        for i, value in enumerate(values):
            is_short = _WORDS.min <= value.numerator <= _WORDS.max >= value.denominator
            words[i] = (value.numerator, value.denominator) if is_short else (i, 0)
        ends = (min(values), max(values)) if values else None
        return cls(shape, words, index, values, ends, all(words[:, 1].tolist()))

    @classmethod
    def _converted(
        cls, array: NDArray[Any], exact: Callable[[object], Fraction]
    ) -> ParameterColumn:
        """Convert the distinct elements one by one."""
        elements = array.ravel().tolist()
        of_gmpy2 = {if_loaded("gmpy2", name) for name in ("mpz", "mpq", "mpfr")}
        if set(map(type, elements)) - COMPARED_BY_VALUE - of_gmpy2:
            elements = [exact(x) for x in elements]
        try:
            index, values = _numbered(elements)
        except (TypeError, ValueError):  # a signalling NaN has no hash
            index, values = _numbered([exact(x) for x in elements])
        # number them again, because equal numbers of different types are one value
        number, fractions = _numbered([exact(x) for x in values])
        return cls.of_fractions(
            array.shape, fractions, np.array(number, np.intp)[np.array(index, np.intp)]
        )

    def __len__(self) -> int:
        return len(self.words)

    def exact(self, value: int) -> Fraction:
        """Return a value as an exact fraction."""
        if self.fractions is not None:
            return self.fractions[value]
        number = Fraction(self.words[value].item())
        return number * number if self.are_roots else number

    def value_at(self, place: int, shape: tuple[int, ...]) -> int:
        """Return the index into `words` for draw number `place` of a shape."""
        element = self._element_at(place, shape)
        return element if self.index is None else int(self.index[element])

    def _element_at(self, place: int, shape: tuple[int, ...]) -> int:
        axes = len(self.shape)
        at = np.unravel_index(place, shape)[len(shape) - axes :] if axes else ()
        element = 0
        for i, length in zip(at, self.shape, strict=True):
            element = element * length + (int(i) if length != 1 else 0)
        return element

    def name_at(self, place: int, shape: tuple[int, ...], name: str) -> str:
        """Return the name of that draw's element, "mu[3]"; "" if the column is a single number."""
        if not self.shape:
            return ""
        return name + indexed(self._element_at(place, shape), self.shape)

    def expanded(self, of_values: NDArray[Any]) -> NDArray[Any]:
        """Return the entry of each element, given an array with an entry for each value."""
        return of_values if self.index is None else of_values[self.index]

    def numbers(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return the words of each draw of a shape; if there is only one value, return it once."""
        if len(self.words) == 1:
            return self.words
        own = self.words if self.index is None else self.words[self.index]
        if len(own) == math.prod(shape):
            return own
        row = own.shape[1:]
        every = np.broadcast_to(own.reshape(self.shape + row), shape + row)
        return np.ascontiguousarray(every).reshape(-1, *row)

    def squared(self) -> ParameterColumn | None:
        """Return the column of the exact squares, or None unless floats hold the values."""
        if self.fractions is not None or not self.fit_words:
            return None
        if self.words.dtype == np.int64 and self.ends is not None and self.ends[1] > _EXACT:
            return None
        ends = self.ends and (Fraction(self.ends[0]) ** 2, Fraction(self.ends[1]) ** 2)
        words = self.words.astype(np.float64, copy=False)
        return replace(self, words=words, ends=ends, are_roots=True)

    def rows(self, first: int, end: int, axes: int) -> ParameterColumn:
        """Return the column for rows [first, end) of draws that have `axes` axes."""
        if len(self.shape) < axes or self.shape[0] == 1:
            return self
        shape = end - first, *self.shape[1:]
        row = math.prod(self.shape[1:])
        if self.index is not None:
            return replace(self, shape=shape, index=self.index[first * row : end * row])
        return replace(self, shape=shape, words=self.words[first * row : end * row])

    def integers(self) -> NDArray[np.int64] | None:
        """Return the values as int64 if all are whole numbers, else None."""
        if self.words.dtype == np.int64:
            if self.fractions is None:
                return self.words
            return self.words[:, 0] if (self.words[:, 1] == 1).all() else None
        is_whole = self.fit_words and bool((np.floor(self.words) == self.words).all())
        return self.words.astype(np.int64) if is_whole else None


class Laws:
    """The laws that arrays of parameters describe, one for each draw.

    The columns are those of the main parameter, mu and beta. They are broadcast to `shape`, that of
    the draws.
    """

    def __init__(
        self, kind: Kind, columns: Sequence[ParameterColumn], shape: tuple[int, ...]
    ) -> None:
        self.kind, self.shape = kind, shape
        self.parameter, self.mu, self.beta = self._columns = tuple(columns)
        self.n_draws = math.prod(shape)

    def spec_at(self, place: int) -> LawSpec:
        """Return the law of the draw at a place in C order."""
        return LawSpec(self.kind, *(c.exact(c.value_at(place, self.shape)) for c in self._columns))

    def places(self) -> list[NDArray[np.intp]]:
        """Return the places of each distinct law's draws, ordered by the first of them."""
        group = np.zeros(self.n_draws, np.intp)
        for column in self._columns:
            words = column.numbers(self.shape)
            if len(words) > 1:
                _, own = np.unique(words, axis=0, return_inverse=True)
                pairs = group * self.n_draws + own.reshape(-1)
                group = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group))
        return sorted(np.split(order, ends[:-1]), key=itemgetter(0))

    def parts(self) -> list[tuple[slice, Laws]]:
        """Return parts of whole rows, some 2**20 draws each: their places and their laws.

        Broadcasting a part takes little time, so Ctrl-C is heard soon, and little memory.
        """
        if self.n_draws <= _PART:
            return [(slice(None), self)]
        n_rows, *row_shape = self.shape
        row = self.n_draws // n_rows
        step = max(1, _PART // row)
        found = []
        for first in range(0, n_rows, step):
            end = min(first + step, n_rows)
            columns = [column.rows(first, end, len(self.shape)) for column in self._columns]
            laws = Laws(self.kind, columns, (end - first, *row_shape))
            found.append((slice(first * row, end * row), laws))
        return found

    @property
    def is_one_law_shifted(self) -> bool:
        """Return whether all are one law, moved by whole numbers."""
        one = len(self.parameter.words) * len(self.beta.words) == 1
        return one and self.kind >= Kind.DISCRETE_LAPLACE and self.mu.integers() is not None

    def moved(self) -> tuple[LawSpec, NDArray[np.int64]]:
        """Return the one law and its shift for each draw; `is_one_law_shifted` must be true."""
        centres: Any = self.mu.integers()
        each = (centres if self.mu.index is None else centres[self.mu.index]).reshape(self.mu.shape)
        spec = LawSpec(self.kind, self.parameter.exact(0), Fraction(0), self.beta.exact(0))
        return spec, np.ascontiguousarray(np.broadcast_to(each, self.shape)).reshape(-1)

    def corners(self) -> list[LawSpec]:
        """Return the laws of all combinations of the parameters' least and greatest values."""
        ends: list[set[Fraction]] = [set(), set(), set()]
        for values, column in zip(ends, self._columns, strict=True):
            values.update(map(Fraction, column.ends or ()))
        return list(starmap(partial(LawSpec, self.kind), product(*ends)))

    @property
    def _are_int64(self) -> bool:
        """Return whether int64 holds all laws because its ends are at least 2**12 scales away."""
        if self.kind not in (Kind.DISCRETE_LAPLACE, Kind.DISCRETE_GAUSSIAN):
            return False
        parameters, centres = self.parameter.ends, self.mu.ends
        if parameters is None or centres is None:
            return False
        return bool(parameters[1] <= 2**50 and centres[0] >= -(2**62) and centres[1] <= 2**62)

    def all_fit(self, dtype: np.dtype[Any]) -> bool:
        """Return whether the widest laws that there might be, hence all, provably fit `dtype`."""
        if self.n_draws == 0 or dtype.kind == "O" or (dtype == np.int64 and self._are_int64):
            return True
        info, fits = np.iinfo(dtype), KINDS[self.kind].fits
        low, high = int(info.min), int(info.max)
        return all(fits(spec, low, high) for spec in self.corners())

    def require_fit(self, dtype: np.dtype[Any], name: str) -> None:
        """Refuse a dtype that some law does not provably fit; `name` is the main parameter's."""
        seen: set[LawSpec] = set()
        for i in range(self.n_draws):
            spec = self.spec_at(i)
            if spec not in seen:
                mu = self.mu.name_at(i, self.shape, "mu")
                require_fit(spec, dtype, name, mu, self.parameter.name_at(i, self.shape, name))
                seen.add(spec)
