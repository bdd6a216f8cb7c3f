"""Look through the memory of another process, as whoever reads it would (Linux).

`found` searches every page that a process can write to (stacks, heap, data, anonymous mappings) for
words of 8 bytes, at any alignment. The searching process holds the words; the one searched needs
none of them, so that nothing is found that the search itself brought in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
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
                memory.seek(start + first * _PAGE)
                content = memory.read((last - first) * _PAGE)
                yield start + first * _PAGE, name, np.frombuffer(content, np.uint8)


def _index(words: Words) -> NDArray[np.int64]:
    return (words & _LOW).view(np.int64)


def found(pid: int, words: Words) -> list[Finding]:
    """Return where the process's writable memory holds any of `words`."""
    wanted = np.sort(words[words != 0])
    if not len(wanted):
        raise ValueError("nothing to search for")
    low = np.zeros(1 << 24, bool)  # most of memory is dismissed by 24 bits of each word
    low[_index(wanted)] = True
    findings = []
    n_words = 0
    for address, name, content in writable_memory(pid):
        n_words += len(content)
        for offset in range(WORD):
            end = len(content) - (len(content) - offset) % WORD
            here = content[offset:end].view(np.uint64)
            candidates = np.flatnonzero(low[_index(here)])
            at = np.searchsorted(wanted, here[candidates])
            at[at == len(wanted)] = 0
            for i in candidates[wanted[at] == here[candidates]].tolist():
                findings.append(Finding(int(here[i]), address + offset + WORD * i, name))
    if n_words < 1 << 20:
        raise RuntimeError(f"only {n_words} bytes of memory were seen")
    return findings
