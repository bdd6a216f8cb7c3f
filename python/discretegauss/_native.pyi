"""What the compiled extension offers; ``Any`` enters the package here and nowhere else.

``lib`` mirrors the headers of csrc/include. tests/build/test_build.py compares them.
"""

from collections.abc import Callable
from typing import Any, Final

class _CData:
    """A C value, pointer or array: opaque, except for what cffi lets one do with it."""

    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __getitem__(self, index: int) -> Any: ...
    def __setitem__(self, index: int, value: Any) -> None: ...
    def __len__(self) -> int: ...
    def __int__(self) -> int: ...
    def __bool__(self) -> bool: ...

class _FFI:
    NULL: Final[_CData]
    error: Final[type[Exception]]
    errno: int
    CData: Final[type[Any]]

    def addressof(self, cdata: object, *fields: str) -> _CData: ...
    def buffer(self, cdata: _CData, size: int = -1, /) -> Any: ...
    def cast(self, ctype: str, value: object, /) -> _CData: ...
    def from_buffer(
        self, ctype: object, python_buffer: object = ..., require_writable: bool = False
    ) -> _CData: ...
    def gc(
        self, cdata: _CData, destructor: Callable[[_CData], None] | None, size: int = 0
    ) -> _CData: ...
    def memmove(self, dest: object, src: object, n: int) -> None: ...
    def new(self, ctype: str, init: object = None) -> _CData: ...
    def release(self, cdata: _CData, /) -> None: ...
    def sizeof(self, cdata: str | _CData, /) -> int: ...
    def string(self, cdata: _CData, maxlen: int = -1) -> bytes: ...
    def typeof(self, cdata: str | _CData | Callable[..., Any], /) -> Any: ...
    def unpack(self, cdata: _CData, length: int) -> Any: ...

class _Lib:
    DG_MAX_PARAMETER_BITS: Final[int]
    DG_PYTHON_STATUSES: Final[int]

    DG_OK: Final[int]
    DG_ERR_ENTROPY: Final[int]
    DG_ERR_SOURCE: Final[int]
    DG_ERR_NOMEM: Final[int]
    DG_ERR_RANGE: Final[int]
    DG_ERR_STOPPED: Final[int]
    DG_ERR_KIND: Final[int]
    DG_ERR_PROBABILITY: Final[int]
    DG_ERR_N_VALUES: Final[int]
    DG_ERR_NEGATIVE: Final[int]
    DG_ERR_NOT_POSITIVE: Final[int]
    DG_ERR_MU: Final[int]
    DG_ERR_NO_CENTRE: Final[int]
    DG_ERR_BETA: Final[int]
    DG_ERR_LONG_PARAMETER: Final[int]
    DG_ERR_LONG_MU: Final[int]
    DG_ERR_LONG_BETA: Final[int]
    DG_ERR_METHOD: Final[int]
    DG_ERR_STEEP_BETA: Final[int]
    DG_ERR_DTYPE: Final[int]
    DG_ERR_SIGNED: Final[int]
    DG_ERR_N_BYTES: Final[int]
    DG_ERR_ADDEND_DTYPE: Final[int]
    DG_ERR_OVERFLOW: Final[int]
    DG_ERR_NOISE_SAMPLER: Final[int]
    DG_ERR_LAST_ITEM: Final[int]
    DG_ERR_LAWS_KIND: Final[int]
    DG_ERR_LAWS_PARAMETER: Final[int]
    DG_ERR_LAWS_CENTRE: Final[int]
    DG_ERR_SELECTION_KIND: Final[int]
    DG_ERR_RATE: Final[int]
    DG_ERR_LONG_RATE: Final[int]
    DG_ERR_GAP_BYTES: Final[int]
    DG_ERR_K: Final[int]
    DG_ERR_GAPS: Final[int]
    DG_ERR_N_ROWS: Final[int]
    DG_ERR_STEP: Final[int]
    DG_ERR_LONG_STEP: Final[int]
    DG_ERR_SHORT_STEP: Final[int]
    DG_ERR_DOUBLINGS: Final[int]

    DG_BERNOULLI: Final[int]
    DG_UNIFORM_BELOW: Final[int]
    DG_BERNOULLI_EXP: Final[int]
    DG_GEOMETRIC_EXP: Final[int]
    DG_DISCRETE_LAPLACE: Final[int]
    DG_DISCRETE_GAUSSIAN: Final[int]
    DG_GENERALIZED_GAUSSIAN: Final[int]

    DG_ISA_AUTO: Final[int]
    DG_ISA_PORTABLE: Final[int]
    DG_ISA_AVX2: Final[int]
    DG_ISA_AVX512: Final[int]
    DG_ISA_AVX512_VBMI2: Final[int]
    DG_ISA_NEON: Final[int]
    DG_ISA_SSE41: Final[int]
    DG_SPECIAL_CODE: Final[int]

    DG_PERMUTE_AND_FLIP: Final[int]
    DG_EXPONENTIAL: Final[int]

    DG_AUTO: Final[int]
    DG_REFERENCE: Final[int]
    DG_CELLS: Final[int]
    DG_ISOCHRONOUS: Final[int]

    DG_SOURCE_GETRANDOM: Final[int]
    DG_SOURCE_CHACHA20: Final[int]
    DG_SOURCE_CALLER: Final[int]

    DG_ARITHMETIC_AUTO: Final[int]
    DG_ARITHMETIC_GMP: Final[int]

    DG_INT8: Final[int]
    DG_INT16: Final[int]
    DG_INT32: Final[int]
    DG_INT64: Final[int]
    DG_UINT8: Final[int]
    DG_UINT16: Final[int]
    DG_UINT32: Final[int]
    DG_UINT64: Final[int]

    DG_INTEGERS: Final[int]
    DG_FLOATS: Final[int]
    DG_RATIOS: Final[int]
    DG_ROOTS: Final[int]

    DG_REFUSE: Final[int]
    DG_CLAMP: Final[int]
    DG_REDUCE: Final[int]

    def dg_python_fill(
        self,
        out: _CData,
        n: int,
        dtype: int,
        sampler: _CData,
        threads: int,
        source: _CData,
        errors: int,
        /,
    ) -> int: ...
    def dg_python_pause(self, errors: _CData, /) -> int: ...
    def dg_laws_fill(
        self,
        out: _CData,
        n: int,
        dtype: int,
        laws: _CData,
        bad: _CData,
        run: _CData,
        source: _CData,
        /,
    ) -> int: ...
    def dg_silent_row(
        self,
        end: _CData,
        alias: _CData,
        c: _CData,
        err: _CData,
        i: int,
        sampler: _CData,
        /,
    ) -> None: ...
    def dg_silent_share(self, i: int, q: int, sampler: _CData, /) -> int: ...
    def dg_table_cell(self, block: _CData, level: _CData, i: int, sampler: _CData, /) -> None: ...
    def dg_table_row(
        self, end: _CData, code: _CData, special: _CData, i: int, sampler: _CData, /
    ) -> None: ...
    def dg_table_arc(
        self,
        base: _CData,
        slope: _CData,
        error: _CData,
        bulge: _CData,
        i: int,
        sampler: _CData,
        /,
    ) -> None: ...
    def dg_sampler_new(
        self,
        sampler: _CData,
        kind: int,
        parameter: bytes | _CData,
        mu: bytes | _CData,
        beta: bytes | _CData,
        method: int,
        /,
    ) -> int: ...
    def dg_sampler_free(self, sampler: _CData, /) -> None: ...
    def dg_sampler_describe(self, info: _CData, sampler: _CData, /) -> None: ...
    def dg_sampler_wide_bytes(self, sampler: _CData, /) -> int: ...
    def dg_sampler_fill(
        self, out: _CData, n: int, dtype: int, sampler: _CData, run: _CData, source: _CData, /
    ) -> int: ...
    def dg_sampler_fill_wide(
        self, out: _CData, n: int, n_bytes: int, sampler: _CData, run: _CData, source: _CData, /
    ) -> int: ...
    def dg_sampler_add(
        self, out: _CData, n: int, addend: _CData, sampler: _CData, run: _CData, source: _CData, /
    ) -> int: ...
    def dg_addend_ends(
        self, ends: _CData, n: int, addend: _CData, exactly: int, run: _CData, /
    ) -> int: ...
    def dg_sampler_fits_int64(self, sampler: _CData, /) -> int: ...
    def dg_words_fill(
        self, out: _CData, n: int, dtype: int, run: _CData, source: _CData, /
    ) -> int: ...
    def dg_selection_new(
        self,
        selection: _CData,
        kind: int,
        rate: bytes | _CData,
        gaps: _CData,
        gap_bytes: int,
        n_rows: int,
        k: int,
        which: _CData,
        /,
    ) -> int: ...
    def dg_selection_free(self, selection: _CData, /) -> None: ...
    def dg_selection_fill(
        self, out: _CData, n: int, dtype: int, selection: _CData, run: _CData, source: _CData, /
    ) -> int: ...
    def dg_snapping_new(
        self,
        snapping: _CData,
        step: bytes | _CData,
        doublings: int,
        offset: _CData,
        shift: _CData,
        /,
    ) -> int: ...
    def dg_snapping_free(self, snapping: _CData, /) -> None: ...
    def dg_snapping_fill(
        self, out: _CData, n: int, dtype: int, snapping: _CData, run: _CData, source: _CData, /
    ) -> int: ...
    def dg_keystream(
        self, out: _CData, n_blocks: int, key: _CData, first_block: int, /
    ) -> None: ...
    def dg_csv_counts(
        self,
        counts: _CData,
        n_rows: _CData,
        text: _CData,
        n_bytes: int,
        delimiter: int,
        width: int,
        columns: _CData,
        n_columns: int,
        /,
    ) -> int: ...
    def dg_csv_rewrite(
        self,
        out: _CData,
        counts: _CData,
        text: _CData,
        n_bytes: int,
        delimiter: int,
        out_delimiter: int,
        line_end: _CData,
        line_end_bytes: int,
        width: int,
        columns: _CData,
        n_columns: int,
        /,
    ) -> int: ...
    def dg_noise_at(
        self, out: _CData, n: int, dtype: int, sampler: _CData, first_item: int, key: _CData, /
    ) -> int: ...
    def dg_noise_pack(self, out: _CData, n_bytes: _CData, sampler: _CData, /) -> int: ...
    def dg_version(self) -> _CData: ...
    def dg_gmp_version(self) -> _CData: ...
    def dg_mpfr_version(self) -> _CData: ...
    def dg_mpfr_is_thread_local(self) -> int: ...
    def dg_laws_fill_by(
        self,
        out: _CData,
        n: int,
        dtype: int,
        laws: _CData,
        bad: _CData,
        isa: int,
        run: _CData,
        source: _CData,
        /,
    ) -> int: ...
    def dg_python_bits_type(self, functions: _CData, /) -> int: ...
    def dg_python_draw(self, sampler: _CData, source: _CData, /) -> int: ...
    def dg_python_source(self, context: _CData, out: _CData, n: int, /) -> int: ...
    def dg_sampler_chunk(self, sampler: _CData, /) -> int: ...
    def dg_sampler_for(self, by: _CData, n: int, sampler: _CData, /) -> int: ...
    def dg_sampler_method(self, sampler: _CData, n: int, /) -> int: ...
    def dg_sampler_new_with(
        self,
        sampler: _CData,
        kind: int,
        parameter: bytes | _CData,
        mu: bytes | _CData,
        beta: bytes | _CData,
        method: int,
        options: _CData,
        /,
    ) -> int: ...
    def dg_status_text(self, status: int, /) -> _CData: ...

ffi: Final[_FFI]
lib: Final[_Lib]
