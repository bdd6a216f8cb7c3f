"""NVIDIA's run-time compiler, from pip. It needs no GPU and no driver.

    pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvrtc

The first, of CUDA 12, compiles for sm_70 and later; the second, of CUDA 13, for sm_75 and later.
"""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

__all__ = ["Compiled", "Nvrtc", "installed"]


class Compiled(NamedTuple):
    """Code for a device: PTX, machine code, and the compiler's log."""

    ptx: str
    cubin: bytes
    log: str


def installed() -> list[Path]:
    """Return the compilers that are installed."""
    spec = find_spec("nvidia")
    folders = map(Path, spec.submodule_search_locations or []) if spec is not None else []
    return sorted(path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.1*"))


class Nvrtc:
    """A compiler, loaded from its library."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def archs(self) -> list[int]:
        """Return the devices that it compiles for: 90 is sm_90."""
        n = ctypes.c_int()
        self._call("GetNumSupportedArchs", ctypes.byref(n))
        found = (ctypes.c_int * n.value)()
        self._call("GetSupportedArchs", found)
        return list(found)

    def compile(self, source: str, headers: dict[str, str], *options: str) -> Compiled:
        """Compile a source; raise a ValueError with the log if that fails."""
        program, n = ctypes.c_void_p(), len(headers)
        texts = (ctypes.c_char_p * n)(*(text.encode() for text in headers.values()))
        names = (ctypes.c_char_p * n)(*(name.encode() for name in headers))
        given = ctypes.byref(program), source.encode(), b"program.cu", n, texts, names
        self._call("CreateProgram", *given)
        try:
            passed = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            status = self._library.nvrtcCompileProgram(program, len(options), passed)
            log = self._text("ProgramLog", program).decode()
            if status:
                raise ValueError(log)
            ptx, cubin = self._text("PTX", program), self._text("CUBIN", program)
            return Compiled(ptx.decode(), cubin, log)
        finally:
            self._call("DestroyProgram", ctypes.byref(program))

    def _text(self, what: str, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"Get{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self._call(f"Get{what}", program, text)
        return text.raw.rstrip(b"\0") if what != "CUBIN" else text.raw

    def _call(self, name: str, *given: object) -> None:
        if status := self._library[f"nvrtc{name}"](*given):
            raise ValueError(f"nvrtc{name} returned {status}")
