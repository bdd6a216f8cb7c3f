"""The cffi build script: ``python -m cffi.gen_src exec-python build_native.py _native.c``.

The declarations are the regions between the two "cffi" marks of the headers
in csrc/include, as they stand but for the word DG_API. Nothing is copied by hand: a copy that
said ``long`` where the header says ``int`` would compile and truncate.
"""

from __future__ import annotations

import re
from pathlib import Path

from cffi import FFI

INCLUDE = Path(__file__).resolve().parent.parent / "csrc" / "include"
HEADERS = [INCLUDE / f"discretegauss{part}.h" for part in ("", "_mechanisms", "_parts")]
BEGIN = "/* cffi: begin */"
END = "/* cffi: end */"

#: C code in csrc/python: the core's calls into Python, fills, and bits for numpy.
OF_PYTHON = """
int dg_python_source(void *context, uint8_t *out, size_t n);
int dg_python_pause(void *errors);
int dg_python_fill(void *out, size_t n, int dtype, const dg_sampler *sampler, size_t threads,
                   const dg_source *source, uintptr_t errors);
int64_t dg_python_draw(const dg_sampler *sampler, const dg_source *source);
#define DG_PYTHON_STATUSES 64
int dg_python_bits_type(void *list);
"""


def declarations(header: str) -> str:
    """Return the marked region of a header as cffi reads it."""
    if header.count(BEGIN) != 1 or header.count(END) != 1:
        raise ValueError(f"the header must hold {BEGIN} and {END} once each")
    region = header.partition(BEGIN)[2].partition(END)[0]
    if not region.strip():
        raise ValueError(f"the header holds nothing between {BEGIN} and {END}")
    return re.sub(r"\bDG_API\b", "", region)


ffibuilder = FFI()
for header in HEADERS:
    ffibuilder.cdef(declarations(header.read_text(encoding="utf-8")))
ffibuilder.cdef(OF_PYTHON)
ffibuilder.set_source(
    "discretegauss._native",
    '#include "discretegauss_parts.h"\n#include "python/bit_generator.h"',
)
