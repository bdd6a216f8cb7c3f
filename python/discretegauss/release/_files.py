"""Files of tables as they are read and written: whole or compressed, by the end of their name."""

from __future__ import annotations

import gzip
import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from .._system.atomic_file import Sink, errors_name
from ..errors import TableError

Compression = Literal["gzip", "zstd", None]

COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
"""By the last suffix of a name."""

_GZIP_LEVEL = 6
"""As the program gzip has it. Of 9 the gain is small, and the time twice that."""


def pyarrow(what: str) -> Any:
    """Return pyarrow, or say how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{what} needs pyarrow: pip install pyarrow") from None
    return pyarrow


class _CountedFile(io.FileIO):
    """A file that is read through a buffer, to its end, and knows how far that has come."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._path, self._read = path, 0
        status = os.fstat(self.fileno())
        self._size = status.st_size if stat.S_ISREG(status.st_mode) else 0

    def readinto(self, buffer: Any) -> int | None:
        with errors_name(self._path):
            n = super().readinto(buffer)
        self._read += n or 0
        return n

    def fraction(self) -> float | None:
        return self._read / self._size if self._size else None


class Readable(Protocol):
    """What is read from its beginning to its end."""

    def read(self, size: int, /) -> bytes:
        """Return so many bytes, or fewer; none at the end."""


class _Decompressed:
    """The content of a compressed file; what is wrong with it is a TableError."""

    def __init__(self, file: Any, compression: Compression) -> None:
        self._file, self._compression = file, compression

    def read(self, size: int) -> bytes:
        try:
            return bytes(self._file.read(size))
        except Exception as error:
            of_system = isinstance(error, OSError) and error.errno is not None
            if of_system or isinstance(error, MemoryError):
                raise
            raise TableError(
                f"the file is not a whole file compressed by {self._compression}"
            ) from None


@contextmanager
def opened(
    path: Path, compression: Compression
) -> Iterator[tuple[Readable, Callable[[], float | None]]]:
    """Open a file to read what is in it, and a function that tells which part of it is read."""
    with closing(_CountedFile(path)) as raw:
        file = io.BufferedReader(raw, 2**16)
        if compression is None:
            yield file, raw.fraction
            return
        inner: Any = gzip.GzipFile(fileobj=file) if compression == "gzip" else _zstd(file, "r")
        with closing(inner):
            yield _Decompressed(inner, compression), raw.fraction


def read_all(file: Readable, size: int) -> bytes:
    """Read so many bytes, or to the end: a pipe gives what there is."""
    parts = []
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _zstd(file: Any, mode: Literal["r", "w"]) -> Any:
    """Return what reads or writes the content of a file."""
    try:
        from compression.zstd import ZstdFile  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        pa = pyarrow("a table compressed by zstd")
        by = pa.CompressedInputStream if mode == "r" else pa.CompressedOutputStream
        return by(file, "zstd")
    return ZstdFile(file, mode)  # no cover: from Python 3.14 on


class SinkFile(io.RawIOBase):
    """A file to write to, for libraries that want one."""

    def __init__(self, sink: Sink) -> None:
        self._sink: Sink | None = sink
        self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: Any) -> int:
        n = memoryview(data).nbytes
        if self._sink is not None:
            self._sink(data)
            self._written += n
        return n

    def abandon(self) -> None:
        """Let nothing be written any more: what closes a library's file is not to write its end."""
        self._sink = None


@contextmanager
def compressed(sink: Sink, compression: Compression) -> Iterator[Sink]:
    """Give a sink that compresses; nothing is written after an error."""
    if compression is None:
        yield sink
        return
    file = SinkFile(sink)
    if compression == "gzip":  # without a name and a time
        inner: Any = gzip.GzipFile("", "wb", _GZIP_LEVEL, cast("Any", file), mtime=0)
    else:
        inner = _zstd(file, "w")
    try:
        yield inner.write
        inner.close()
    except BaseException:
        file.abandon()
        inner.close()
        raise
