"""Sources of bits for tests. They make draws repeatable, so they must never protect real data."""

from __future__ import annotations

import hashlib
import warnings

from ._drawing.engines import core
from ._inputs.numbers import whole_number
from .errors import ParameterTypeError

__all__ = ["NotPrivateWarning", "TapeSource", "seeded_source"]
__dir__ = __all__.copy  # dir() and completion show these names alone


class NotPrivateWarning(UserWarning):
    """Anyone who knows the seed can repeat the draws of this source, so they protect nothing."""


class TapeSource:
    """A source that hands out the bytes of a tape, in order, and counts them.

    Parameters
    ----------
    tape : bytes, bytearray or memoryview
        The bytes that draws read; a memoryview is copied. Reading beyond its end raises EOFError.

    Attributes
    ----------
    used : int
        The number of bytes that were read.

    Raises
    ------
    TypeError
        If tape has another type.

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

    def __init__(self, tape: bytes | bytearray | memoryview) -> None:
        if not isinstance(tape, bytes | bytearray | memoryview):
            raise ParameterTypeError(f"tape must be bytes, got {type(tape).__name__}")
        # a copy of a memoryview has one axis and items of one byte
        self.tape = bytes(tape) if isinstance(tape, memoryview) else tape
        self.used = 0

    def __call__(self, buffer: memoryview) -> None:
        """Fill `buffer` with the next bytes of the tape."""
        end = self.used + len(buffer)
        if end > len(self.tape):
            raise EOFError("the tape has no bytes left")
        buffer[:] = self.tape[self.used : end]
        self.used = end


class SeededSource:
    """The ChaCha20 stream under a key that a seed determines. `seeded_source` makes it."""

    def __init__(self, seed: int) -> None:
        checked = whole_number(seed, "seed", minimum=0)
        n_bytes = max(1, (checked.bit_length() + 7) // 8)
        self._key = hashlib.sha256(checked.to_bytes(n_bytes, "little")).digest()
        self.used = 0

    def __call__(self, buffer: memoryview) -> None:
        """Fill `buffer` with the next bytes of the stream."""
        native = core("seeded_source")
        first, skip = divmod(self.used, 64)
        n_blocks = -(-(skip + len(buffer)) // 64)
        blocks = native.ffi.new("uint8_t[]", 64 * n_blocks)
        native.lib.dg_keystream(blocks, n_blocks, self._key, first)
        buffer[:] = native.ffi.buffer(blocks)[skip : skip + len(buffer)]
        self.used += len(buffer)


def seeded_source(seed: int) -> SeededSource:
    """Return a source whose bits follow from a seed, for tests and papers, never for private data.

    Parameters
    ----------
    seed : int
        At least 0. The stream is ChaCha20 (RFC 8439) under the SHA-256 of the seed's bytes.

    Returns
    -------
    SeededSource
        For ``source=``; ``used`` counts its bytes.

    Raises
    ------
    TypeError, ValueError
        If seed is not a whole number of at least 0. Draws raise MissingCoreError in plain Python.

    Warns
    -----
    NotPrivateWarning
        Always.

    Examples
    --------
    >>> import warnings
    >>> import discretegauss as dg
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", NotPrivateWarning)
    ...     one, other = seeded_source(2026), seeded_source(2026)
    >>> if dg.build_info()["engine"] == "native":  # ChaCha20 is in the compiled core
    ...     draws = [dg.discrete_gaussian(100, source=source) for source in (one, other)]
    ...     same = draws[0] == draws[1]
    """
    source = SeededSource(seed)
    warnings.warn(
        "draws from a seeded source can be repeated: use it for tests, never for private data",
        NotPrivateWarning,
        stacklevel=2,
    )
    return source
