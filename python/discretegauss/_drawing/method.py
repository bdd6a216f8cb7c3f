"""Which way to draw: by Algorithms 1-3, or from a cell table. The law is the same."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from .._inputs.draw_arguments import AUTO, SYSTEM, Method, require_fit
from .._inputs.law_parameters import parameter_name
from .._inputs.source import Source
from .._law import WITH_CELLS, Kind, LawSpec
from ..errors import ParameterValueError
from .engines import (
    PreparedLaw,
    ScalarLaw,
    cached_table,
    native,
    prepare,
    prepare_cells,
    prepare_scalar,
    require_source,
)

__all__ = ["LEAST_CELLS_FROM", "OneLaw", "cells_from", "choose", "has_cells", "table_pays_off"]

#: No law's table is repaid by fewer draws.
LEAST_CELLS_FROM = 16

#: A table that is at hand already is used from so many draws on.
_KEPT_FROM = 16


def has_cells(kind: Kind) -> bool:
    """Return whether laws of this kind can be drawn from cell tables."""
    return kind in WITH_CELLS


def _bits(*numbers: int) -> int:
    return sum(number.bit_length() for number in numbers)


def _outgrows_words(spec: LawSpec) -> bool:
    """Return whether Algorithm 2 or 3 needs GMP for the law (csrc/exact/words.h), about."""
    p, q, d = spec.parameter.numerator, spec.parameter.denominator, spec.mu.denominator
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return _bits(p) > 55 or _bits(q) > 62 or _bits(d) > 62
    t_bits = max(0, _bits(p) - _bits(q)) // 2 + 1  # of sigma
    return (_bits(p, q) + 2 * t_bits if d == 1 else _bits(p, d, d) + t_bits) > 110


def cells_from(spec: LawSpec) -> int:
    """Return from how many draws on a new cell table is repaid, about.

    Both ways take a time a + b n, where a is the table's building; they cross at n = a /
    (b_reference - b_cells). a grows with the number of the table's blocks, and so with the law's
    width while a block is one integer, and not beyond. b_reference is about the same for all laws
    that machine words hold, and grows with the length of the numbers where they do not.

    Parameters
    ----------
    spec : LawSpec
        A discrete Laplace or Gaussian.

    Notes
    -----
    Measured crossings, with bits of getrandom, and this function beside them; again by ``python
    benchmarks/throughput.py --bulk --only crossing``:

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
    ========================  ============  ======
    """
    whole = spec.parameter.numerator // spec.parameter.denominator
    if spec.kind is Kind.DISCRETE_GAUSSIAN:
        crossing = min(11_500, 200 + 90 * isqrt(min(whole, 10**6)))
    else:
        crossing = min(18_000, 600 + 300 * min(whole, 100))
    if _outgrows_words(spec):
        crossing = crossing * 100 // (500 + _bits(spec.parameter.numerator))
    return max(crossing, LEAST_CELLS_FROM)


def table_pays_off(spec: LawSpec, n: int, source: Source) -> bool:
    """Return whether method="auto" draws n times from a cell table.

    Notes
    -----
    Where the source is a caller's it depends on the law and n alone, so that the same bits give the
    same draws. With bits of the operating system a table that is at hand from an earlier call is
    used, too: that cannot be seen in the draws, whose law is the same, only in their time.
    """
    if native is None or not has_cells(spec.kind):
        return False
    if n >= cells_from(spec):
        return True
    return n >= _KEPT_FROM and not callable(source) and cached_table(spec) is not None


def choose(spec: LawSpec, method: Method, n: int, source: Source) -> PreparedLaw:
    """Return the law made ready for n draws."""
    require_source(source)
    if spec.kind is Kind.GENERALIZED_GAUSSIAN or method == "cells":
        return prepare_cells(spec)
    if method == "auto" and table_pays_off(spec, n, source):
        try:
            return prepare_cells(spec)
        except ParameterValueError:  # no table of 2**16 cells fits this law
            pass
    return prepare(spec)


class OneLaw:
    """A law whose parameters were checked, and what its draws ask of them, found out once.

    Immutable but for that; threads that find out the same at once find the same.
    """

    def __init__(self, spec: LawSpec) -> None:
        self.spec = spec
        self._fitting: set[int] = set()  # the numbers of dtypes, of which there are few
        self._one: ScalarLaw | None = None
        self._few: PreparedLaw | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return OneLaw, (self.spec,)  # what it found out refers to the C core

    def require_fit(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype that does not provably hold the law."""
        if dtype.num not in self._fitting:
            require_fit(self.spec, dtype, parameter_name(self.spec.kind))
            self._fitting.add(dtype.num)

    def single(self, method: Method, source: Source) -> ScalarLaw:
        """Return the law made ready for one draw."""
        if method is not AUTO and method != AUTO:
            return self.ready(method, 1, source)
        if self._one is None:
            self._one = prepare_scalar(self.spec)
        return self._one

    def ready(self, method: Method, n: int, source: Source) -> PreparedLaw:
        """Return the law made ready for n draws."""
        if (
            n >= LEAST_CELLS_FROM
            or method == "cells"
            or self.spec.kind is Kind.GENERALIZED_GAUSSIAN  # its table is large: not kept here
        ):
            return choose(self.spec, method, n, source)
        if source is not SYSTEM:
            require_source(source)
        if self._few is None:
            self._few = prepare(self.spec)
        return self._few
