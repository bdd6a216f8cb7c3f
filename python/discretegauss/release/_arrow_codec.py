"""The compression of an Arrow IPC file. pyarrow does not tell it, so its flatbuffers are read.

A field of a table is found by its number in the schema of the format (format/*.fbs of Arrow).
"""

from __future__ import annotations

from pathlib import Path
from struct import unpack_from
from typing import Any

import pyarrow as pa

_FOOTER_BATCHES, _MESSAGE_HEADER, _BATCH_COMPRESSION, _COMPRESSION_CODEC = 3, 2, 3, 0
_ZSTD = 1
_END = 10
"""Bytes at the end of a file: the length of the footer, and a magic word."""


def codec_of(path: Path, *, is_stream: bool) -> str | None:
    """Return the compression of the first record batch: "lz4", "zstd" or None."""
    with pa.OSFile(str(path)) as file:
        message = _first_batch_of_stream(file) if is_stream else _first_batch_of_file(file)
    if message is None:
        return None
    data = message.metadata.to_pybytes()
    batch = _pointed(data, _field(data, _pointed(data, 0), _MESSAGE_HEADER))
    if not (at := _field(data, batch, _BATCH_COMPRESSION)):
        return None
    codec = _field(data, _pointed(data, at), _COMPRESSION_CODEC)
    return "zstd" if codec and data[codec] == _ZSTD else "lz4"


def _first_batch_of_stream(file: Any) -> Any:
    messages = pa.ipc.MessageReader.open_stream(file)
    return next((message for message in messages if message.type == "record batch"), None)


def _first_batch_of_file(file: Any) -> Any:
    end = file.size() - _END
    file.seek(end)
    length = unpack_from("<i", file.read(4), 0)[0]
    file.seek(end - length)
    footer = file.read(length)
    at = _field(footer, _pointed(footer, 0), _FOOTER_BATCHES)
    if not at or not unpack_from("<I", footer, _pointed(footer, at))[0]:
        return None
    file.seek(unpack_from("<q", footer, _pointed(footer, at) + 4)[0])
    return pa.ipc.read_message(file)


def _pointed(data: bytes, at: int) -> int:
    return int(at + unpack_from("<I", data, at)[0])


def _field(data: bytes, table: int, number: int) -> int:
    """Return where a field of a table is; 0 if the table lacks it."""
    fields = table - unpack_from("<i", data, table)[0]
    at = 4 + 2 * number
    if at >= unpack_from("<H", data, fields)[0]:
        return 0
    offset = unpack_from("<H", data, fields + at)[0]
    return table + int(offset) if offset else 0
