"""Look through the memory of another process, as whoever reads it would (Linux).

`Scanner.found` searches every page that a process can write to (stacks, heap, data, anonymous
mappings) for words of 8 bytes, at any alignment. The searching process holds the words; the one
searched needs none of them, so that nothing is found that the search itself brought in.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

WORD = 8
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LIVE = np.uint64(3 << 62)  # in /proc/PID/pagemap: the page is in memory, or swapped out
_LOW = np.uint64((1 << 24) - 1)


class Finding(NamedTuple):
    """A word of those searched for, where it lies, and in what."""

    word: int
    address: int
    region: str


def windows(data: bytes | Bytes) -> Words:
    """Return the words of 8 bytes that begin at each byte of `data`."""
    array = np.frombuffer(data, np.uint8)
    if len(array) < WORD:
        return np.empty(0, np.uint64)
    every = np.lib.stride_tricks.sliding_window_view(array, WORD)
    return np.ascontiguousarray(every).view(np.uint64).ravel()


def _writable_regions(pid: int) -> Iterator[tuple[int, int, str]]:
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            addresses, permissions, _offset, _device, _inode, *name = line.split(maxsplit=5)
            if permissions.startswith("rw"):
                start, end = (int(address, 16) for address in addresses.split("-"))
                yield start, end, name[0].strip() if name else "anonymous"


def writable_memory(pid: int) -> Iterator[tuple[int, str, Bytes]]:
    """Yield address, name and content of each run of pages that the process can write to.

    Pages that were never touched are left out: they are zero.
    """
    with (
        open(f"/proc/{pid}/mem", "rb", buffering=0) as memory,
        open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap,
    ):
        for start, end, name in _writable_regions(pid):
            pagemap.seek(start // _PAGE * 8)
            entries = np.frombuffer(pagemap.read((end - start) // _PAGE * 8), np.uint64)
            live = np.concatenate([[False], (entries & _LIVE) != 0, [False]])
            edges = np.flatnonzero(live[1:] != live[:-1])
            for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
                content = _read(memory, start + first * _PAGE, (last - first) * _PAGE)
                yield start + first * _PAGE, name, np.frombuffer(content, np.uint8)


def _read(memory: FileIO, address: int, n_bytes: int) -> bytearray:
    """Return memory from `address` on, with zeros for the pages that nobody can read.

    The guard pages of threads are such, and with new kernels and C libraries look like others.
    """
    content = bytearray(n_bytes)
    done = 0
    while done < n_bytes:
        memory.seek(address + done)
        try:  # up to such a page, or the error if it is the first
            part = memory.read(n_bytes - done)
        except OSError:
            part = b""
        content[done : done + len(part)] = part
        done = done + len(part) if part else (done // _PAGE + 1) * _PAGE
    return content


class Scanner:
    """Searches with memory_scan.c, compiled: every byte of a process is looked at many times."""

    def __init__(self, library: Path) -> None:
        scan = ctypes.CDLL(str(library)).dg_scan
        scan.argtypes = [
            *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p),
            *(ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p, ctypes.c_size_t),
        ]
        scan.restype = ctypes.c_size_t
        self._scan = scan
        self._at = np.empty(1 << 16, np.intp)

    def found(self, pid: int, words: Words) -> list[Finding]:
        """Return where the process's writable memory holds any of `words`."""
        wanted = np.sort(words[words != 0])
        if not len(wanted):
            raise ValueError("nothing to search for")
        low = np.zeros(1 << 24, bool)
        low[(wanted & _LOW).view(np.int64)] = True
        listed = np.packbits(low, bitorder="little")
        findings = []
        n_bytes = 0
        for address, name, content in writable_memory(pid):
            n_bytes += len(content)
            for at in self._candidates(content, listed):
                here = content[at[:, np.newaxis] + np.arange(WORD)].view(np.uint64).ravel()
                nearest = np.minimum(np.searchsorted(wanted, here), len(wanted) - 1)
                for i in np.flatnonzero(wanted[nearest] == here).tolist():
                    findings.append(Finding(int(here[i]), address + int(at[i]), name))
        if n_bytes < 1 << 20:
            raise RuntimeError(f"only {n_bytes} bytes of memory were seen")
        return findings

    def _candidates(self, content: Bytes, listed: Bytes) -> Iterator[NDArray[np.intp]]:
        """Yield at which bytes a word begins whose lowest bits are listed."""
        place, at = ctypes.c_size_t(0), self._at
        while place.value + WORD <= len(content):
            n = self._scan(
                content.ctypes.data,
                len(content),
                listed.ctypes.data,
                ctypes.byref(place),
                at.ctypes.data,
                len(at),
            )
            yield at[:n]
