"""Sources of bits for tests: they make draws repeatable, and so must never protect real data."""

from __future__ import annotations

__all__ = ["TapeSource"]


class TapeSource:
    """A source that hands out the bytes of a tape, in order, and counts them.

    Parameters
    ----------
    tape : bytes
        What draws read. Reading beyond its end raises EOFError.

    Examples
    --------
    >>> import discretegauss as dg
    >>> tape = TapeSource(bytes(range(256)))
    >>> first = dg.discrete_gaussian(100, source=tape)
    >>> first == dg.discrete_gaussian(100, source=TapeSource(bytes(range(256))))
    True
    >>> 0 < tape.used <= 256
    True
    """

    def __init__(self, tape: bytes) -> None:
        self.tape = tape
        self.used = 0

    def __call__(self, buffer: memoryview) -> None:
        """Fill `buffer` with the next bytes of the tape."""
        end = self.used + len(buffer)
        if end > len(self.tape):
            raise EOFError("the tape is at its end")
        buffer[:] = self.tape[self.used : end]
        self.used = end
