"""A law that can be drawn from, whichever engine draws."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import AUTO, INT64, Method, require_fit
from .._inputs.law_parameters import parameter_name
from .._inputs.source import Source
from .._law import LawSpec
from .add import add_exactly
from .fill import NO_MEMORY

__all__ = ["Sampler"]


class Sampler:
    """A law whose parameters were checked, and every way to draw from it.

    No randomness is in it. Which way ``method="auto"`` takes, its engine decides.

    Parameters
    ----------
    spec : LawSpec
        What to draw.
    """

    def __init__(self, spec: LawSpec) -> None:
        self.spec = spec
        #: Where the C core's handle is, if there is one; and the same for sample.h, once int64 is
        #: known to hold one draw, or all.
        self._address: int | None = None
        self._one: int | None = None
        self._few: int | None = None
        self._fitting: set[int] = set()  # the numbers of dtypes, of which there are few

    def require_fit(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype that does not provably hold the law."""
        if dtype.num not in self._fitting:
            require_fit(self.spec, dtype, parameter_name(self.spec.kind))
            self._fitting.add(dtype.num)

    @abstractmethod
    def require(self, method: Method) -> None:
        """Refuse a method by which the law cannot be drawn."""

    @abstractmethod
    def draw(self, source: Source, method: Method = AUTO) -> int:
        """Return one draw, of any size."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.spec,)  # what it found out is this process's

    @abstractmethod
    def fill(
        self, out: NDArray[Any], source: Source, threads: int = 1, method: Method = AUTO
    ) -> None:
        """Fill `out` with draws: one axis, contiguous, native integers or objects.

        By `threads` threads at most. After an error no integer in it is a draw, and nobody writes
        to it any more.
        """

    def add(
        self,
        out: NDArray[np.int64],
        values: NDArray[np.int64],
        nulls: NDArray[np.bool_] | None,
        source: Source,
        threads: int = 1,
        method: Method = AUTO,
    ) -> None:
        """Let `out` hold `values` plus draws, exactly, and 0 where `nulls` are; else as `fill`.

        All have one axis and are contiguous, and none shares memory with `out`.
        """
        self.fill(out, source, threads, method)
        add_exactly(out, values, nulls)

    @abstractmethod
    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out`, contiguous: two's complement, least significant byte first."""

    def int64s(self, n: int, source: Source) -> NDArray[Any]:
        """Return n draws, few, with bits of the system."""
        if self._few is None:
            self.require_fit(INT64)
            self._few = self._address
        try:
            out = np.empty(n, INT64)
        except MemoryError:
            raise MemoryError(NO_MEMORY) from None
        self.fill(out, source)
        return out
