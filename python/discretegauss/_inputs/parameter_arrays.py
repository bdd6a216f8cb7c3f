"""Arrays of parameters: the distinct laws in them, and which draws are of which.

Arrays of integers and floats are taken apart by numpy, all elements at once, and most laws stay
rows of four 64-bit integers, of which the C core draws any number in one call. Other elements
(fractions, strings, long numbers) are converted one by one, each distinct one once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, TypeVar

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._law import Kind, LawSpec
from .._system.threads import interruptible
from .int64_ratios import as_int64_ratios
from .numbers import DENORMALS_WORK

__all__ = [
    "COMPARED_BY_VALUE",
    "DistinctLaws",
    "ParameterColumn",
    "indexed",
    "interruptible_if_long",
]

#: Types whose equal values mean the same number. Others, derived ones too, may see it otherwise.
COMPARED_BY_VALUE = frozenset(
    {int, float, Fraction, Decimal, str, gmpy2.mpz, gmpy2.mpq, gmpy2.mpfr}
    | set(np.sctypeDict.values())
)

_T = TypeVar("_T")

_WORDS = np.iinfo(np.int64)

#: Numpy sorts or copies fewer elements than this before Ctrl-C is missed.
_LONG_FROM = 2**20


def interruptible_if_long(call: Callable[[], _T], n: int) -> _T:
    """Return what `call` returns, which has numpy look at n elements at once; Ctrl-C is heard."""
    return interruptible(call) if n >= _LONG_FROM else call()


def _plain(flat: NDArray[Any]) -> NDArray[Any] | None:
    """Return elements as numpy's integers or floats, if they are such, with their values kept."""
    if flat.dtype == object:
        kinds = set(map(type, flat))
        if kinds == {float}:
            return flat.astype(np.float64)
        if kinds == {int} and _WORDS.min <= min(flat) and max(flat) <= _WORDS.max:
            return flat.astype(np.int64)
        return None
    return flat if flat.dtype.kind in "iu" or flat.dtype in ("f2", "f4", "f8") else None


def _has_denormals(floats: NDArray[Any]) -> bool:
    """Return whether numpy would take some of these floats for 0: see DENORMALS_WORK."""
    if floats.dtype not in ("f4", "f8"):
        return False
    words = floats.view(f"i{floats.itemsize}")
    return bool(((floats == 0) & (words << 1 != 0)).any())


def _numbered(elements: list[object]) -> tuple[list[int], list[object]]:
    """Return which of the distinct elements each is, and these. Types keep True apart from 1."""
    places: dict[tuple[type, object], int] = {}
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


class ParameterColumn:
    """The distinct values of one parameter.

    Parameters
    ----------
    array : ndarray
        Numbers of any type, as the user gave them.
    exact : callable
        Returns the exact rational that an element is, or raises what is wrong with it.
    minimum : int or None
        An element whose numerator is at least this breaks no rule of the parameter.

    Attributes
    ----------
    index : ndarray
        For each element of the array, which of the values it is.
    numbers, small : ndarray
        The values: as `as_int64_ratios` returns them.
    """

    def __init__(
        self, array: NDArray[Any], exact: Callable[[object], Fraction], minimum: int | None
    ) -> None:
        #: Values as Fractions: at least those that are not small.
        self._exact: dict[int, Fraction] = {}
        plain = interruptible_if_long(lambda: _plain(array.ravel()), array.size)
        if plain is not None and not DENORMALS_WORK and _has_denormals(plain):
            plain = None
        self._sorted = plain is not None
        if plain is None:
            self._convert(array, exact)
            return
        values, index = interruptible_if_long(
            lambda: np.unique(plain, return_inverse=True), array.size
        )
        self.index = index.reshape(array.shape)
        self.numbers, self.small = interruptible_if_long(
            lambda: as_int64_ratios(values), values.size
        )
        checked = self.small.copy()
        if minimum is not None:
            checked &= self.numbers[:, 0] >= minimum
        for i in np.flatnonzero(~checked).tolist():
            self._exact[i] = exact(values[i].item())

    def _convert(self, array: NDArray[Any], exact: Callable[[object], Fraction]) -> None:
        """Convert the distinct elements one by one."""
        elements = interruptible_if_long(lambda: array.ravel().tolist(), array.size)
        if not COMPARED_BY_VALUE.issuperset(map(type, elements)):
            elements = [exact(x) for x in elements]
        elif not DENORMALS_WORK:  # denormals would be equal, and those of float32 are 0 by now
            elements = [exact(x) for x in array.ravel()]
        try:
            index, values = _numbered(elements)
        except (TypeError, ValueError):  # no hash: a NaN that signals
            index, values = _numbered([exact(x) for x in elements])
        self.index = np.array(index, np.int64).reshape(array.shape)
        self.numbers = np.ones((len(values), 2), np.int64)
        self.small = np.zeros(len(values), np.bool_)
        for i, value in enumerate(values):
            rational = exact(value)
            self._exact[i] = rational
            if _WORDS.min <= rational.numerator <= _WORDS.max >= rational.denominator:
                self.numbers[i] = rational.numerator, rational.denominator
                self.small[i] = True

    def __len__(self) -> int:
        return len(self.numbers)

    def exact(self, i: int) -> Fraction:
        """Return a value."""
        rational = self._exact.get(i)
        if rational is None:
            rational = Fraction(*self.numbers[i].tolist())
        return rational

    def place(self, i: int) -> str:
        """Return where in the array a value is first, as an index; nothing if it is no array."""
        if not self.index.ndim:
            return ""
        first = int(np.flatnonzero(self.index.ravel() == i)[0])
        return indexed(first, self.index.shape)

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return the least and the greatest value."""
        if self._sorted:
            return self.exact(0), self.exact(len(self) - 1)
        return min(self._exact.values()), max(self._exact.values())


class DistinctLaws:
    """The distinct laws that arrays of parameters ask for.

    Parameters
    ----------
    kind : Kind
        Of all of them.
    columns : sequence of Column
        The kind's own parameter, mu, beta.
    shape : tuple of int
        What their arrays are broadcast to.

    Attributes
    ----------
    which : ndarray
        For each draw, flat, its law.
    small : ndarray of bool
        Which laws are rows of `numbers`.
    """

    def __init__(
        self, kind: Kind, columns: Sequence[ParameterColumn], shape: tuple[int, ...]
    ) -> None:
        self.kind = kind
        self._columns = columns
        which, rows = np.zeros(shape, np.int64).ravel(), [np.zeros(1, np.int64)]
        for column in columns:
            pairs = np.arange(len(rows[0]))
            if len(column) != 1:
                own = np.broadcast_to(column.index, shape).ravel()
                # neither factor is above the number of draws
                pairs, which = np.unique(which * len(column) + own, return_inverse=True)
            first, last = divmod(pairs, len(column))
            rows = [*(row[first] for row in rows), last]
        self.which = which
        self._rows = rows[1:]
        self.small = columns[0].small[rows[1]] & columns[1].small[rows[2]]

    def __len__(self) -> int:
        return len(self.small)

    def numbers(self) -> NDArray[np.int64]:
        """Return a row for each law: numerator and denominator of its parameter, then of mu."""
        return np.hstack(
            [self._columns[0].numbers[self._rows[0]], self._columns[1].numbers[self._rows[1]]]
        )

    def spec(self, law: int) -> LawSpec:
        """Return a law."""
        values = (
            column.exact(int(row[law]))
            for column, row in zip(self._columns, self._rows, strict=True)
        )
        return LawSpec(self.kind, *values)

    def mu_place(self, law: int) -> str:
        """Return which element of an array of mu a law has, as "mu[3]"; nothing of a single mu."""
        place = self._columns[1].place(int(self._rows[1][law]))
        return place and f"mu{place}"

    def parameter_place(self, law: int, name: str) -> str:
        """Return the same of the kind's own parameter."""
        place = self._columns[0].place(int(self._rows[0][law]))
        return place and f"{name}{place}"

    def corners(self) -> Iterator[LawSpec]:
        """Generate laws of the least and the greatest value of each parameter, in all pairings."""
        for values in product(*(column.ends() for column in self._columns)):
            yield LawSpec(self.kind, *values)
