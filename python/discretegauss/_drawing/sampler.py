"""A law that can be drawn from, whichever engine draws."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import AUTO, INT64, Method, require_fit
from .._inputs.law_parameters import parameter_name
from .._inputs.source import Source
from .._law import LawSpec
from .add import Addend
from .fill import NO_MEMORY, empty, in_one_process

#: So many sums are made of Python's integers at a time.
_PIECE = 2**17


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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.spec,)  # what it found out is this process's

    def require_fit(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype that does not provably hold the law."""
        if dtype.num not in self._fitting:
            require_fit(self.spec, dtype, parameter_name(self.spec.kind))
            self._fitting.add(dtype.num)

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

    @abstractmethod
    def require(self, method: Method) -> None:
        """Refuse a method by which the law cannot be drawn."""

    @abstractmethod
    def draw(self, source: Source, method: Method = AUTO) -> int:
        """Return one draw, of any size."""

    @abstractmethod
    def fill(
        self, out: NDArray[Any], source: Source, threads: int = 1, method: Method = AUTO
    ) -> None:
        """Fill `out` with draws: one axis, contiguous, native integers or objects.

        By `threads` threads at most. After an error no integer in it is a draw, and nobody writes
        to it any more.
        """

    @abstractmethod
    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out`, contiguous: two's complement, least significant byte first."""

    def ends(self, addend: Addend, *, exactly: bool) -> tuple[int, int]:
        """Return between which numbers integers are; if not `exactly`, perhaps not the nearest."""
        del exactly
        return addend.ends()

    def add(
        self,
        out: NDArray[Any],
        addend: Addend,
        source: Source,
        threads: int = 1,
        method: Method = AUTO,
    ) -> None:
        """Let `out` hold integers plus draws, exactly; else as `fill`.

        It has room for the sums, and shares no memory with the integers.
        """
        in_one_process(partial(self._add_integers, out, addend, source, threads, method))

    def _add_integers(
        self, out: NDArray[Any], addend: Addend, source: Source, threads: int, method: Method
    ) -> None:
        draws, zero_drawn = empty(min(out.size, _PIECE), object), out[:0].fill
        try:
            for start in range(0, out.size, _PIECE):
                which = slice(start, start + _PIECE)
                part, zero_drawn = out[which], out[: which.stop].fill
                self.fill(draws[: part.size], source, threads, method)
                part[:] = np.array(addend.part(which).sums(draws[: part.size].tolist()), object)
        except BaseException:
            zero_drawn(0)
            raise
        finally:
            draws.fill(0)
