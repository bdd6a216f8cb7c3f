"""ChaCha20 of RFC 8439 in plain Python, and the tapes that vectors are drawn from."""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import chain

__all__ = ["Tape", "chacha20_block", "key_tape"]

_MASK = 0xFFFFFFFF
_QUARTERS = [
    *[(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)],
    *[(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)],
]


@lru_cache(maxsize=2**15)  # several engines read the same streams
def chacha20_block(key: bytes, counter: int, nonce: bytes) -> bytes:
    """Return one block of 64 bytes (RFC 8439, 2.3)."""
    start = struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce)
    x = list(start)
    for a, b, c, d in chain.from_iterable([_QUARTERS] * 10):
        for p, q, r, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] = (x[p] + x[q]) & _MASK
            x[r] ^= x[p]
            x[r] = (x[r] << turn | x[r] >> 32 - turn) & _MASK
    return struct.pack("<16I", *((i + j) & _MASK for i, j in zip(x, start, strict=True)))


class Tape:
    """Bytes that draws read in order: those of a list, or of a ChaCha20 stream without end."""

    def __init__(self, data: bytes, key: bytes | None = None) -> None:
        self._data = bytearray(data)
        self._key = key
        self._next_block = 0
        self.used = 0

    def read(self, n: int) -> bytes:
        """Return the next n bytes; EOFError past the end of a list."""
        end = self.used + n
        while len(self._data) < end:
            if self._key is None:
                raise EOFError("the tape is at its end")
            self._data += chacha20_block(self._key, self._next_block, bytes(12))
            self._next_block += 1
        part = bytes(self._data[self.used : end])
        self.used = end
        return part

    def everything(self) -> bytes:
        """Return the bytes that were read."""
        return bytes(self._data[: self.used])

    def __call__(self, buffer: memoryview) -> None:
        """Fill `buffer`, as a source of the package does."""
        buffer[:] = self.read(len(buffer))


def key_tape(key: bytes) -> Tape:
    """Return the stream of a key: nonce 0, blocks 0, 1, 2, ..."""
    return Tape(b"", key)
