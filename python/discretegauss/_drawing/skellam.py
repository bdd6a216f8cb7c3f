"""Exact Skellam draws, many at a time: by inversion, or by rejection if a table would be long.

Every bit comes from an engine's draws, and so from the caller's source. No float is used.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._certified.skellam import LARGEST_TABLE, probabilities_up_to
from .._inputs.draw_arguments import Method
from .._inputs.graphs import outside_of_graphs
from .._inputs.messages import refused
from .._inputs.source import Source
from .._law import LawSpec
from ..errors import RangeError
from .python_engine import PythonSampler
from .skellam_wide import Draws, by_rejection

__all__ = ["SkellamSampler"]

_WORD = 64
_PIECE = 2**18


class SkellamSampler(PythonSampler):
    """A Skellam law. Its bits are draws of other laws, by the engines that `engine_of` returns."""

    def __init__(
        self, spec: LawSpec, method: Method, engine_of: Callable[[LawSpec, Method], Any]
    ) -> None:
        if method in ("cells", "isochronous"):
            raise refused("method", "be 'auto' or 'reference' for this law", method)
        super().__init__(spec, method)
        self._is_reference = method == "reference"
        self._engine_of = engine_of

    @outside_of_graphs
    def draw(self, source: Source) -> int:
        """Return one draw."""
        return super().draw(source) if self._is_reference else int(self._draw_all(1, source)[0])

    @outside_of_graphs
    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out` with draws, by one thread."""
        if self._is_reference:
            super().fill(out, source, threads)
        else:
            self._fill_all(out.reshape(-1), source)

    def _draw_all(self, n: int, source: Source) -> NDArray[Any]:
        """Return n draws, as int64 or as objects."""
        draws = Draws(self._engine_of, source)
        by = by_inversion if self.spec.parameter <= LARGEST_TABLE else by_rejection
        return by(self.spec.parameter, n, draws)

    def _fill_all(self, out: NDArray[Any], source: Source) -> None:
        result = self._draw_all(out.size, source)
        try:
            if out.dtype != object:
                info = np.iinfo(out.dtype)
                _require_within(result, int(info.min), int(info.max))
            out[:] = result
        finally:
            result.fill(0)


def _require_within(result: NDArray[Any], low: int, high: int) -> None:
    if result.size and not low <= int(result.min()) <= int(result.max()) <= high:
        raise RangeError("a draw did not fit the output type; nothing is returned")


class _InversionTable(NamedTuple):
    """Bounds of P(abs(X) <= k) over 2**63: rounded down, and up."""

    lower: NDArray[np.uint64]
    upper: NDArray[np.uint64]


@lru_cache(maxsize=16)
def inversion_table(variance: Fraction) -> _InversionTable:
    """Return the bounds as arrays; the last few tables are cached (they hold no secrets)."""
    lower, upper = probabilities_up_to(variance, _WORD - 1)
    return _InversionTable(np.array(lower, np.uint64), np.array(upper, np.uint64))


def by_inversion(variance: Fraction, n: int, draws: Draws) -> NDArray[np.int64]:
    """Return n draws: abs(X) by inversion of its distribution, and a fair sign.

    The sign is the first bit of a word, and the other 63 begin a uniform real U: it lies in [u, u +
    1)/2**63. abs(X) is the k with P(abs(X) < k) <= U < P(abs(X) <= k). Until the bounds of the
    probabilities determine k, U and the bounds get 64 more bits. So the law is exact for bounds of
    any width.
    """
    result = np.empty(n, np.int64)
    try:
        for start in range(0, n, _PIECE):
            _invert(variance, result[start : start + _PIECE], draws)
    except BaseException:
        result.fill(0)
        raise
    return result


def _invert(variance: Fraction, out: NDArray[np.int64], draws: Draws) -> None:
    lower, upper = inversion_table(variance)
    words = draws.words(out.size)
    try:
        u = words >> np.uint64(1)
        # the least k with u + 1 <= lower[k]; for a smaller k, U may reach P(abs(X) <= k)
        k = np.searchsorted(lower, u, side="right")
        beyond = k == lower.size
        known = ~beyond & ((k == 0) | (u >= upper[np.maximum(k, 1) - 1]))
        out[:] = k
        for i in np.flatnonzero(~known):
            out[i] = _refined(variance, int(u[i]), _WORD - 1, draws)
        np.negative(out, out=out, where=(words & np.uint64(1)).astype(bool))
        k.fill(0)
        u.fill(0)
    finally:
        words.fill(0)


def _refined(variance: Fraction, u: int, bits: int, draws: Draws) -> int:
    """Return abs(X) for U in [u, u + 1)/2**bits, decided by the next bits of U."""
    while True:
        u = u << _WORD | draws.word()
        bits += _WORD
        lower, upper = probabilities_up_to(variance, bits)
        k = bisect_right(lower, u)
        if k < len(lower) and (k == 0 or u >= upper[k - 1]):
            return k
