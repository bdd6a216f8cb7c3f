"""Which way to draw: by Algorithms 1-3, one by one, or from a cell table. The law is the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import (
    AUTO,
    CHACHA20,
    INT64,
    SYSTEM,
    Method,
    require_fit,
)
from .._inputs.law_parameters import parameter_name
from .._inputs.source import Source
from .._law import Kind, LawSpec
from ..errors import ParameterValueError
from .engines import (
    ONE_BY_ONE_UNITS,
    REFERENCE_UNITS,
    PreparedLaw,
    ScalarLaw,
    cached_table,
    lane_units,
    lanes_hold,
    native,
    prepare_cells,
    prepare_few,
    prepare_isochronous,
    prepare_scalar,
    require_source,
    tables,
)
from .fill import NO_MEMORY
from .table_cache import KeptTable

__all__ = [
    "LANES_FROM",
    "LEAST_CELLS_FROM",
    "OneLaw",
    "cells_from",
    "choose",
    "has_cells",
    "lanes_pay_off",
    "one_law",
    "table_pays_off",
]

#: No law's table is repaid by fewer draws.
LEAST_CELLS_FROM = 16

#: The lanes of a law (10 microseconds) are repaid by so many draws.
LANES_FROM = 128

#: A table that is at hand already is used from so many draws on.
_KEPT_FROM = 16


def has_cells(kind: Kind) -> bool:
    """Return whether laws of this kind can be drawn from cell tables."""
    return kind.has_cells


def _bits(*numbers: int) -> int:
    return sum(number.bit_length() for number in numbers)


def _outgrows_words(spec: LawSpec) -> bool:
    """Return whether Algorithm 2 or 3 needs GMP for the law (csrc/exact/words.h), about."""
    p, q, d = spec.parameter.numerator, spec.parameter.denominator, spec.mu.denominator
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return _bits(p) > 55 or _bits(q) > 62 or _bits(d) > 62
    t_bits = max(0, _bits(p) - _bits(q)) // 2 + 1  # of sigma
    return (_bits(p, q) + 2 * t_bits if d == 1 else _bits(p, d, d) + t_bits) > 110


#: Where the table of a law in machine words crosses its other way, by the whole part of its
#: parameter, 10**6 at most.
_CROSSINGS: dict[Kind, Callable[[int], int]] = {
    Kind.DISCRETE_GAUSSIAN: lambda sigma2: min(11_500, 200 + 90 * isqrt(sigma2)),
    Kind.DISCRETE_LAPLACE: lambda scale: min(18_000, 600 + 300 * scale),
    Kind.GENERALIZED_GAUSSIAN: lambda scale: min(11_400, 300 + 110 * scale),
}


def _units(spec: LawSpec, source: Source | None) -> int:
    """Return what a draw costs without a table, if lanes are at hand.

    Without a source, or with a caller's, it is the same on all machines.
    """
    if lanes_hold(spec):
        return lane_units(source) if isinstance(source, str) else REFERENCE_UNITS
    return REFERENCE_UNITS if spec.kind.has_reference else ONE_BY_ONE_UNITS


def cells_from(spec: LawSpec, source: Source | None = None) -> int:
    """Return from how many draws on a new cell table is repaid, about.

    With bits of the operating system the table's other way may be the lanes, whose draws cost less:
    see `lane_units`. Without a source, or with a caller's, it is Algorithms 1-3.

    Both ways take a time a + b n, where a is the table's building; they cross at n = a /
    (b_reference - b_cells). a grows with the number of the table's blocks, and so with the law's
    width while a block is one integer, and not beyond. b_reference is about the same for all laws
    that machine words hold, and grows with the length of the numbers where they do not.

    Parameters
    ----------
    spec : LawSpec
        A discrete Laplace, Gaussian or generalised Gaussian.

    Notes
    -----
    Measured crossings, with bits of getrandom, and this function beside them; again by ``python
    benchmarks/throughput.py --developer --bulk --only crossing``:

    ========================  ============  ======
    Gaussian, sigma = 1                270     290
    10                                 750    1100
    30                                3300    2900
    100                              11900    9200
    1000, 10**6              11300 - 11700   11500
    10**9 (GMP)                       2500    2053
    10**50 (GMP)                      1700    1380
    Laplace, scale = 1                 930     900
    10                                3100    3600
    100                              20400   18000
    10**6                            17300   18000
    Generalised, by lanes
    scale = 1                         1600    1640
    10                                5200    5600
    100                              45500   45200
    1000, 10**6              47700 - 53100   45600
    10**30 (one by one)                715    1140
    ========================  ============  ======

    The generalised Gaussian has no Algorithm; its rows are not that command's, but those of lanes
    with AVX-512 and bits of getrandom.
    """
    whole = spec.parameter.numerator // spec.parameter.denominator
    crossing = _CROSSINGS[spec.kind](min(whole, 10**6))
    if spec.kind.has_reference and _outgrows_words(spec):
        crossing = crossing * 100 // (500 + _bits(spec.parameter.numerator))
    crossing = -(-crossing * REFERENCE_UNITS // _units(spec, source))
    return max(crossing, LEAST_CELLS_FROM)


def lanes_pay_off(spec: LawSpec, n: int, source: Source) -> bool:
    """Return whether method="auto" draws n times in lanes, where a table does not pay.

    Where the source is a caller's it never does: what such bytes give stays as it was published.
    """
    return n >= LANES_FROM and not callable(source) and lanes_hold(spec)


def table_pays_off(spec: LawSpec, n: int, source: Source) -> bool:
    """Return whether method="auto" draws n times from a cell table.

    Notes
    -----
    Where the source is a caller's it depends on the law and n alone, so that the same bits give the
    same draws. With bits of the operating system a table that is at hand from an earlier call is
    used, too: that cannot be seen in the draws, whose law is the same, only in their time.
    """
    if native is None or not spec.kind.has_cells:
        return False
    if n >= cells_from(spec, source):
        return True
    return n >= _KEPT_FROM and not callable(source) and cached_table(spec) is not None


def choose(spec: LawSpec, method: Method, n: int, source: Source) -> PreparedLaw:
    """Return the law made ready for n draws, by its numbers and what is at hand.

    `OneLaw.ready` also counts the draws of earlier calls.
    """
    require_source(source)
    if method == "cells":
        return prepare_cells(spec)
    if method == "isochronous":
        return prepare_isochronous(spec)
    if method == "auto" and table_pays_off(spec, n, source):
        try:
            return prepare_cells(spec)
        except ParameterValueError:  # no table of 2**16 cells fits this law
            pass
    if method == "auto" and lanes_pay_off(spec, n, source):
        return prepare_isochronous(spec)
    return prepare_few(spec)


class OneLaw:
    """A law whose parameters were checked, and what its draws ask of them, found out once.

    Immutable but for that; threads that find out the same at once find the same.

    Notes
    -----
    With bits of the operating system, method="auto" rents before it buys. The law counts what the
    draws that it made without a table have cost, over all calls, and builds one in the call whose
    draws make it as much as a table costs (`cells_from`). Until then it has paid no more than the
    table's price, so all calls together take at most twice the time of the best choice in hindsight
    (Karlin, Manasse, Rudolph, Sleator, *Competitive snoopy caching*, 1988). Where the cache gave
    the table up, it counts anew. In the same way it comes to the lanes, which cost less, and stay.
    """

    def __init__(self, spec: LawSpec) -> None:
        self.spec = spec
        self._fitting: set[int] = set()  # the numbers of dtypes, of which there are few
        self._fits_int64 = False
        self._one: ScalarLaw | None = None
        self._draw_now: Callable[[], int] | None = None
        self._few: PreparedLaw | None = None
        self._lanes: PreparedLaw | None = None
        self._lanes_from: int | None = None  # None: they do not hold it
        self._units: dict[str, int] | None = None  # what a draw costs; None: not found out yet
        self._table: KeptTable | None = None
        self._cells_from: int | None = None  # None: there are no tables for it
        self._looked_at = -1  # tables.n_kept when this law had none
        self._rent = 0  # what draws without a table cost so far, in units of a 24th draw

    def __reduce__(self) -> tuple[Any, ...]:
        return one_law, (self.spec,)  # what it found out refers to the C core

    def require_fit(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype that does not provably hold the law."""
        if dtype.num not in self._fitting:
            require_fit(self.spec, dtype, parameter_name(self.spec.kind))
            self._fitting.add(dtype.num)

    def single(self, method: Method, source: Source) -> ScalarLaw:
        """Return the law made ready for one draw."""
        if method == "isochronous":
            prepare_isochronous(self.spec)  # or it is refused
        elif method is not AUTO and method != AUTO:
            return self.ready(method, 1, source)
        if self._one is None:
            self._one = prepare_scalar(self.spec)
        return self._one

    def one(self, source: Source) -> int:
        """Return one draw, with bits of the system."""
        if source is not SYSTEM:
            return self.single(AUTO, source).draw(source)
        if self._draw_now is None:
            one = self.single(AUTO, source)
            self._draw_now = getattr(one, "draw_now", None) or partial(one.draw, SYSTEM)
        return self._draw_now()

    def int64s(self, n: int, source: Source) -> NDArray[Any]:
        """Return n <= `FEW` draws, a Python int, with bits of the system: the shortest way."""
        if not self._fits_int64:
            self.require_fit(INT64)
            self._fits_int64 = True
        try:
            out = np.empty(n, INT64)
        except MemoryError:
            raise MemoryError(NO_MEMORY) from None
        kept = self._table
        if kept is not None and (table := kept.table) is not None:  # with two calls fewer
            kept.last_use = tables.next_use()
            table.fill(out, source)
        else:
            self._ready_for_system(n, source).fill(out, source)
        return out

    def ready(self, method: Method, n: int, source: Source) -> PreparedLaw:
        """Return the law made ready for n draws."""
        if source is not SYSTEM:
            require_source(source)
        if method == AUTO and not callable(source):
            return self._ready_for_system(n, source)
        if method == "cells" or (method == AUTO and table_pays_off(self.spec, n, source)):
            table = self._table_at_hand()
            return choose(self.spec, method, n, source) if table is None else table
        if method == "isochronous":
            return prepare_isochronous(self.spec)
        return self._without_table()

    def _without_table(self) -> PreparedLaw:
        if self._few is None:
            self._few = prepare_few(self.spec)
        return self._few

    def _table_at_hand(self) -> PreparedLaw | None:
        kept = self._table  # which another thread may change
        table: PreparedLaw | None = None if kept is None else tables.use(kept)
        if kept is not None and table is None:
            self._table, self._rent = None, 0
        if table is None and self._looked_at != tables.n_kept:
            if self._looked_at < 0 and native is not None and self.spec.kind.has_cells:
                self._cells_from = cells_from(self.spec)
            self._looked_at = tables.n_kept
            self._table = tables.find(self.spec)  # that another call built
            return self._table_at_hand()
        return table

    def _ready_for_system(self, n: int, source: Source) -> PreparedLaw:
        table = self._table_at_hand()
        if table is not None:
            return table
        if self._units is None:
            self._units = {name: _units(self.spec, name) for name in (SYSTEM, CHACHA20)}
            self._lanes_from = LANES_FROM if lanes_hold(self.spec) else None
        in_lanes = self._lanes is not None or (
            self._lanes_from is not None
            and self._rent + n * REFERENCE_UNITS >= self._lanes_from * REFERENCE_UNITS
        )
        at_first = self._lanes_from is not None and not in_lanes
        self._rent += n * (REFERENCE_UNITS if at_first else self._units[str(source)])
        if self._cells_from is not None and self._rent >= REFERENCE_UNITS * self._cells_from:
            try:
                table = prepare_cells(self.spec)
            except ParameterValueError:  # no table of 2**16 cells fits this law
                self._cells_from = None
            else:
                self._table, self._rent = tables.find(self.spec), 0
                return table
        if not in_lanes:
            return self._without_table()
        if self._lanes is None:
            self._lanes = prepare_isochronous(self.spec)
        return self._lanes


@lru_cache(maxsize=256)
def one_law(spec: LawSpec) -> OneLaw:
    """Return the law of these numbers: equal ones count their draws together."""
    return OneLaw(spec)
