"""What the bulk draws are measured against: numpy, mkl_random, OpenDP, and getrandom(2) itself."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from bench.contenders import Case, Contender, Draw, opendp_peer

MKL_PIECE = 100_000
"""mkl_random is also called for so many at a time, where its output stays in the cache."""

_GETRANDOM_PIECE = 2**18


def numpy_rint(sigma: float) -> Draw:
    """numpy's normal, rounded, as people write it."""
    rng = np.random.default_rng()
    return lambda n: np.rint(rng.normal(0, sigma, n)).astype(np.int64)


def mkl_normals(sigma: float) -> dict[str, Draw]:
    """mkl_random's fastest generator and method, in one call and in pieces; empty: not installed.

    Rounded to int64 ("mkl rint") in one expression, as numpy's, and in pieces into a reused array.
    """
    try:
        import mkl_random
    except ImportError:
        return {}
    state: Any = mkl_random.MKLRandomState(brng="SFMT19937")
    whole = np.empty(0, np.int64)

    def normal(n: int) -> object:
        return state.normal(0.0, sigma, n, method="ICDF")

    def normal_pieces(n: int) -> None:
        for start in range(0, n, MKL_PIECE):
            normal(min(MKL_PIECE, n - start))

    def rint(n: int) -> object:
        return np.rint(state.normal(0.0, sigma, n, method="ICDF")).astype(np.int64)

    def rint_pieces(n: int) -> None:
        nonlocal whole
        if whole.size != n:
            whole = np.empty(n, np.int64)
        for start in range(0, n, MKL_PIECE):
            piece = whole[start : start + MKL_PIECE]
            values = state.normal(0.0, sigma, piece.size, method="ICDF")
            np.rint(values, out=values)
            np.copyto(piece, values, casting="unsafe")

    return {
        "mkl normal": normal,
        "mkl normal, pieces": normal_pieces,
        "mkl rint": rint,
        "mkl rint, pieces": rint_pieces,
    }


def opendp_vector(sigma2: int) -> Draw | None:
    """OpenDP's vector call; None: not installed."""
    peer = opendp_peer.contenders()[0]
    return peer.prepare(Case("gaussian", sigma2)) if isinstance(peer, Contender) else None


def getrandom_alone(bytes_per_draw: float) -> Draw:
    """getrandom(2) for the bytes that n draws take, into one reused buffer and by large calls."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.getrandom.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint)
    libc.getrandom.restype = ctypes.c_ssize_t
    buffer = ctypes.create_string_buffer(_GETRANDOM_PIECE)

    def fetch(n: int) -> None:
        left = round(n * bytes_per_draw)
        while left > 0:
            got = libc.getrandom(buffer, min(left, _GETRANDOM_PIECE), 0)
            if got <= 0:
                raise OSError(ctypes.get_errno(), "getrandom failed")
            left -= got

    return fetch


class CountingSource:
    """A caller's source of the system's bits that counts them."""

    def __init__(self) -> None:
        self.used = 0

    def __call__(self, buffer: memoryview) -> None:
        self.used += len(buffer)
        buffer[:] = os.urandom(len(buffer))
