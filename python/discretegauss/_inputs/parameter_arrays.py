"""Arrays of parameters: the law of each draw, and which draws have the same.

Arrays of integers and floats stay what numpy holds, of which the C core makes laws by itself. Other
elements (fractions, strings, long numbers) are converted one by one, each distinct one once.

Numbers that numpy would repeat take turns instead: see `Numbers`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._law import Kind, LawSpec
from .draw_arguments import fits_dtype, require_fit
from .messages import if_loaded
from .numbers import DENORMALS_WORK

#: Types whose equal values mean the same number. Others, derived ones too, may see it otherwise.
COMPARED_BY_VALUE = frozenset({int, float, Fraction, Decimal, str} | set(np.sctypeDict.values()))

_T = TypeVar("_T")

_WORDS = np.iinfo(np.int64)

_PIECE = 2**16


def _plain(flat: NDArray[Any]) -> NDArray[Any] | None:
    """Return elements as int64, or as floats of numpy's, if these have the same values."""
    if flat.dtype == object:
        kinds = set(map(type, flat))
        if kinds == {float}:
            return flat.astype(np.float64)
        if kinds == {int} and _are_words(flat.tolist()):
            return flat.astype(np.int64)
        return None
    if flat.dtype.kind == "i" or (
        flat.dtype.kind == "u" and (not flat.size or np.maximum.reduce(flat) <= _WORDS.max)
    ):
        return flat.astype(np.int64, copy=False)
    return flat if flat.dtype in ("f2", "f4", "f8") else None


def _are_words(integers: Sequence[int]) -> bool:
    """Return whether integers, if there are any, are between the ends of int64."""
    return not integers or (_WORDS.min <= min(integers) and max(integers) <= _WORDS.max)


def _extremes(values: NDArray[Any]) -> tuple[Any, Any]:
    """Return the least and the greatest value, or NaN. In pieces, which stay in a core's cache."""
    pieces = [values[i : i + _PIECE] for i in range(0, values.size, _PIECE)]
    ends = [(np.minimum.reduce(piece), np.maximum.reduce(piece)) for piece in pieces]
    least, greatest = zip(*ends, strict=True)
    return np.minimum.reduce(least), np.maximum.reduce(greatest)


def _has_denormals(floats: NDArray[Any]) -> bool:
    """Return whether numpy would take some of these floats for 0: see DENORMALS_WORK."""
    if floats.dtype not in ("f4", "f8"):
        return False
    words = floats.view(f"i{floats.itemsize}")
    return bool(((floats == 0) & (words << 1 != 0)).any())


def _numbered(elements: Sequence[_T]) -> tuple[list[int], list[_T]]:
    """Return which of the distinct elements each is, and these. Types keep True apart from 1."""
    places: dict[tuple[type, _T], int] = {}
    index = [places.setdefault((type(x), x), len(places)) for x in elements]
    return index, [x for _, x in places]


def indexed(place: int, shape: tuple[int, ...]) -> str:
    """Return the index of an element, by its place in C order.

    Examples
    --------
    >>> indexed(5, (2, 3))
    '[1, 2]'
    """
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(place, shape))}]"


class Numbers(NamedTuple):
    """The numbers of the draws' laws, as the C core reads them (``dg_column``).

    Draw i has number 0 if there is one only; else number i; or, where `n` is not 0, number
    i // repeat % n.

    Parameters
    ----------
    words : ndarray
        float64 or int64 with one axis; or rows of int64, numerator and denominator in lowest terms.
    """

    words: NDArray[Any]
    repeat: int = 0
    n: int = 0


@dataclass(eq=False)
class ParameterColumn:
    """The values of one parameter.

    Attributes
    ----------
    shape : tuple of int
        That of the array.
    words : ndarray
        The values: float64 or int64 with one axis; or rows of int64, numerator and denominator.
    index : ndarray or None
        For each element, flat, which of the values it is; values are in order of first appearance.
        None: element i is value i.
    fractions : list of Fraction or None
        The values, where `words` are rows; a long number's is its place and 0.
    ends : tuple or None
        The least and the greatest value, exact numbers of any type, where they are known.
    """

    shape: tuple[int, ...]
    words: NDArray[Any]
    index: NDArray[np.intp] | None = None
    fractions: list[Fraction] | None = None
    ends: tuple[Any, Any] | None = None

    @classmethod
    def read(
        cls,
        array: NDArray[Any],
        exact: Callable[[object], Fraction],
        obeys: Callable[[Any], Any],
        *,
        each: bool = False,
    ) -> ParameterColumn:
        """Return the values of an array as the user gave it, of any type.

        Parameters
        ----------
        array : ndarray
            Numbers of any type.
        exact : callable
            Returns the exact rational that an element is, or raises what is wrong with it.
        obeys : callable
            Whether a number obeys the parameter's rule, or which of an array do; false of NaN.
        each : bool
            Whether the least number may obey it, and another not.
        """
        if not array.ndim:
            return cls.of_fractions((), [exact(array[()])])
        with np.errstate(invalid="ignore"):  # of a NaN that signals, which is refused by name
            plain = _plain(array.reshape(-1))
            if plain is None or not (DENORMALS_WORK or not _has_denormals(plain)):
                return cls._converted(array, exact)
            if plain.dtype != np.int64:
                plain = plain.astype(np.float64, copy=False)  # exact
                if not np.logical_and.reduce(plain):  # -0.0 is equal to 0.0, but has other bits
                    plain = np.where(plain == 0, 0.0, plain)
            if not (plain.flags.c_contiguous and plain.flags.aligned):
                plain = plain.copy()  # as the C core reads it
            if not plain.size:
                return cls(array.shape, plain)
            least, greatest = _extremes(plain)
            if not ((obeys(plain).all() if each else obeys(least)) and greatest < math.inf):
                exact(plain[~(obeys(plain) & (plain < math.inf))][0].item())
        return cls(array.shape, plain, ends=(least.item(), greatest.item()))

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
        return cls(shape, words, index, values, ends)

    @classmethod
    def _converted(
        cls, array: NDArray[Any], exact: Callable[[object], Fraction]
    ) -> ParameterColumn:
        """Convert the distinct elements one by one."""
        elements = array.ravel().tolist()
        of_gmpy2 = {if_loaded("gmpy2", name) for name in ("mpz", "mpq", "mpfr")}
        if set(map(type, elements)) - COMPARED_BY_VALUE - of_gmpy2:
            elements = [exact(x) for x in elements]
        elif not DENORMALS_WORK:  # denormals would be equal, and those of float32 are 0 by now
            elements = [exact(x) for x in array.ravel()]
        try:
            index, values = _numbered(elements)
        except (TypeError, ValueError):  # no hash: a NaN that signals
            index, values = _numbered([exact(x) for x in elements])
        # again: equal numbers of different types are one value
        number, fractions = _numbered([exact(x) for x in values])
        return cls.of_fractions(
            array.shape, fractions, np.array(number, np.intp)[np.array(index, np.intp)]
        )

    def __len__(self) -> int:
        return len(self.words)

    def exact(self, value: int) -> Fraction:
        """Return a value."""
        if self.fractions is not None:
            return self.fractions[value]
        return Fraction(self.words[value].item())

    def value_at(self, place: int, shape: tuple[int, ...]) -> int:
        """Return which value a draw has, flat, where the array is broadcast to a shape."""
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
        """Return what to call the element of such a draw, "mu[3]"; nothing if it is no array."""
        if not self.shape:
            return ""
        return name + indexed(self._element_at(place, shape), self.shape)

    def of_each(self, of_values: NDArray[Any]) -> NDArray[Any]:
        """Return, of something that each value has, that of each element, flat."""
        return of_values if self.index is None else of_values[self.index]

    def numbers(self, shape: tuple[int, ...]) -> Numbers:
        """Return the values of draws, where the array is broadcast to a shape."""
        if len(self) == 1:
            return Numbers(self.words)
        own = self.of_each(self.words)
        if len(own) == math.prod(shape):
            return Numbers(own)
        padded = (1,) * (len(shape) - len(self.shape)) + self.shape
        mine = [axis for axis, length in enumerate(padded) if length != 1]
        end = mine[-1] + 1
        if padded[mine[0] : end] == shape[mine[0] : end]:
            return Numbers(own, math.prod(shape[end:]), len(own))
        row = own.shape[1:]
        every = np.broadcast_to(own.reshape(self.shape + row), shape + row)
        return Numbers(np.ascontiguousarray(every).reshape(-1, *row))

    @property
    def are_integers(self) -> bool:
        """Whether the words are the values, int64."""
        return self.fractions is None and self.words.dtype == np.int64

    @property
    def core_splits(self) -> bool:
        """Whether the C core finds the nearest integers, and these are int64."""
        if self.fractions is not None:
            return all(word[1] for word in self.words.tolist())
        return self.are_integers or not self.ends or max(-self.ends[0], self.ends[1]) < 2.0**62


def nearest(x: Fraction) -> int:
    """Return the nearest integer, halves up."""
    return math.floor(x + Fraction(1, 2))


class Laws:
    """The laws that arrays of parameters ask for, one for each draw.

    Parameters
    ----------
    kind : Kind
        Of all of them.
    columns : sequence of ParameterColumn
        The kind's own parameter, mu, beta.
    shape : tuple of int
        What their arrays are broadcast to.
    """

    def __init__(
        self, kind: Kind, columns: Sequence[ParameterColumn], shape: tuple[int, ...]
    ) -> None:
        self.kind, self.shape = kind, shape
        self.parameter, self.mu, self.beta = self._columns = tuple(columns)
        self.n_draws = math.prod(shape)

    def spec_at(self, place: int) -> LawSpec:
        """Return the law of a draw, flat."""
        return LawSpec(self.kind, *(c.exact(c.value_at(place, self.shape)) for c in self._columns))

    @property
    def are_plain(self) -> bool:
        """Whether all values that differ are numpy's own."""
        return all(len(column) == 1 or column.fractions is None for column in self._columns)

    def is_short_at(self, place: int) -> bool:
        """Return whether words hold the numbers of a draw's law."""
        return all(
            c.fractions is None or c.words[c.value_at(place, self.shape), 1] != 0
            for c in self._columns
        )

    def corners(self) -> Iterator[LawSpec]:
        """Generate laws of the least and the greatest value of each parameter, in all pairings."""
        ends = ({Fraction(x) for x in column.ends or ()} for column in self._columns)
        for values in product(*ends):
            yield LawSpec(self.kind, *values)

    def all_fit(self, dtype: np.dtype[Any]) -> bool:
        """Return whether all provably fit `dtype`, because the widest ones there might be do."""
        return self.n_draws == 0 or all(fits_dtype(spec, dtype) for spec in self.corners())

    def require_fit(self, dtype: np.dtype[Any], name: str) -> None:
        """Refuse a dtype that some law does not provably fit; name: what users call its number."""
        if self.all_fit(dtype):
            return
        seen: set[LawSpec] = set()
        for i in range(self.n_draws):
            spec = self.spec_at(i)
            if spec not in seen:
                mu = self.mu.name_at(i, self.shape, "mu")
                require_fit(spec, dtype, name, mu, self.parameter.name_at(i, self.shape, name))
                seen.add(spec)

    def numbers(self) -> list[Numbers]:
        """Return the numbers of each column."""
        return [column.numbers(self.shape) for column in self._columns]
