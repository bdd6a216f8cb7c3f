"""The parts of the package that no public call asks for alone: the tests' one door to them.

A law is a public object, of `discretegauss` or of `discretegauss.laws`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discretegauss._drawing import engines
from discretegauss._drawing.add import Addend, add_objects
from discretegauss._drawing.python_engine import PythonSampler
from discretegauss._inputs.source import Source
from discretegauss._law import fits_range
from discretegauss.compat import SystemBits
from discretegauss.errors import ParameterValueError, RangeError

if TYPE_CHECKING:  # tests/vectors/generate.py runs without it
    import pytest

native = engines.native
if native is not None:
    from discretegauss._native import ffi, lib

_Native: Any = object if native is None else native.NativeSampler

#: The instruction sets, with their numbers; AUTO is the best of the machine's.
_ISAS = {} if native is None else {n[7:]: getattr(lib, n) for n in dir(lib) if n[:7] == "DG_ISA_"}


def keystream(key: bytes, first_block: int, n_blocks: int) -> bytes:
    """Return blocks of the core's ChaCha20 stream under a key of 32 bytes."""
    blocks = ffi.new("uint8_t[]", 64 * n_blocks)
    lib.dg_keystream(blocks, n_blocks, ffi.from_buffer("uint8_t[]", key), first_block)
    return bytes(ffi.buffer(blocks))


class _Sampler(_Native):  # type: ignore[misc]
    """The package's sampler for a method and options (dg_options); `info` describes it."""

    def __init__(self, law: Any, method: int, isa: str = "AUTO", **options: int) -> None:
        spec = law._spec
        handle, self.info = ffi.new("dg_sampler **"), ffi.new("dg_sampler_info *")
        usual = {"index_bits": 16, "block_bits": -1, "isa": _ISAS[isa]}
        given = *native.c_texts(spec), method, ffi.new("dg_options *", usual | options)
        native.raise_for_status(lib.dg_sampler_new_with(handle, int(spec.kind), *given))
        self._spec, self._handle = spec, ffi.gc(handle[0], lib.dg_sampler_free)
        self._width = int(lib.dg_sampler_wide_bytes(self._handle))
        self.is_int64 = bool(lib.dg_sampler_fits_int64(self._handle))
        self.chunk = int(lib.dg_sampler_chunk(self._handle))
        lib.dg_sampler_describe(self.info, self._handle)

    @property
    def isa(self) -> str:
        """The instruction set that draws."""
        return next(name for name in _ISAS if name != "AUTO" and _ISAS[name] == self.info.isa)


def method_of_auto(law: Any, n: int) -> str:
    """Return the method by which "auto" draws n draws."""
    number = lib.dg_sampler_method(native.NativeSampler(law._spec)._handle, n)
    names: dict[int, str] = {code: name for name, code in native._METHODS.items()}
    return names[number]


class NativeLaw(_Sampler):
    """A law drawn by Algorithms 1-3; with words=False always by GMP."""

    def __init__(self, law: Any, *, words: bool = True) -> None:
        arithmetic = lib.DG_ARITHMETIC_AUTO if words else lib.DG_ARITHMETIC_GMP
        super().__init__(law, lib.DG_REFERENCE, arithmetic=arithmetic)
        self.uses_words = bool(self.info.uses_words)


class NativeTable(_Sampler):
    """A law drawn from a cell table of a size, by an instruction set."""

    def __init__(
        self, law: Any, *, index_bits: int = 16, block_bits: int = -1, isa: str = "AUTO"
    ) -> None:
        super().__init__(law, lib.DG_CELLS, isa, index_bits=index_bits, block_bits=block_bits)


class NativeSilent(_Sampler):
    """A law drawn isochronously, by an instruction set."""

    def __init__(self, law: Any, *, isa: str = "AUTO") -> None:
        super().__init__(law, lib.DG_ISOCHRONOUS, isa)


def by_each_loop(sampler: Callable[..., Any], law: Any, **options: Any) -> dict[str, Any]:
    """Return the law's samplers by the instruction sets of this machine, and by "AUTO"."""
    made = {}
    for isa in _ISAS:
        try:
            made[isa] = sampler(law, isa=isa, **options)
        except ParameterValueError:
            if isa in ("AUTO", "PORTABLE"):
                raise
    assert made["AUTO"].isa in made  # a best one that the machine lacks
    return made


def python_sampler(law: Any) -> PythonSampler:
    """Return the sampler that draws the law where the core is missing."""
    return PythonSampler(law._spec)


def without_core(patch: pytest.MonkeyPatch) -> None:
    """Let plain Python draw, as if the core were missing."""
    patch.setattr(engines, "native", None)


def copied_table(law: Any, **sizes: int) -> Any:
    """Return a cell table of the core as the verifier reads it; `sizes` as of NativeTable."""
    return importlib.import_module("discretegauss.verify._table").copy_out(law._spec, **sizes)


class LookingBits(SystemBits):
    """SystemBits on a system that does not wipe memory in forked children."""

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self._bits = native.bits_behind(self.capsule, source, looks=True)


def fill_in_lanes(
    out: NDArray[Any], law: type[Any], columns: list[NDArray[Any]], source: Source, threads: int
) -> None:
    """Fill `out` by dg_laws_fill, law i of the class by item i."""
    parameter, centre = (native._c_column(words) for words in columns)
    kind = int(law._kind)
    laws = ffi.new("dg_laws *", {"kind": kind, "parameter": parameter, "centre": centre})
    buffer = ffi.from_buffer("char[]", out, require_writable=True)
    native.Call(source, threads)(lib.dg_laws_fill, buffer, out.size, lib.DG_INT64, laws, ffi.NULL)


def sums(
    law: Any, values: NDArray[Any], dtype: str, source: Source, *, in_core: bool, **rule: Any
) -> list[int] | None:
    """Return integers plus draws by Algorithms 1-3, added by C or by Python; None: one is too long.

    `rule` has the other fields of an Addend.
    """
    sampler, out, addend = NativeLaw(law), np.empty(values.size, dtype), Addend(values, **rule)
    try:
        if in_core:
            sampler.add(out, addend, source)
        else:
            add_objects(out, addend, lambda draws: sampler.fill(draws, source))
    except RangeError:
        return None
    return out.tolist()


def fits(law: Any, low: int, high: int) -> bool:
    """Return whether the package takes a type of the integers low ... high for a law."""
    return fits_range(law._spec, low, high)


def most_threads(asked: int) -> int:
    """Return how many threads a call that asks for so many may start."""
    return int(native.Call("getrandom", asked).run.threads)


def before_each_call(patch: pytest.MonkeyPatch, name: str, act: Callable[..., object]) -> None:
    """Call `act` with the arguments of each `fill` or `add` of a sampler, before it."""
    sampler: Any = PythonSampler if native is None else native.NativeSampler
    real = getattr(sampler, name)

    def acting(self: Any, *arguments: Any, **options: Any) -> None:
        act(*arguments)
        real(self, *arguments, **options)

    patch.setattr(sampler, name, acting)


def forget_gpus(
    patch: pytest.MonkeyPatch, driver: str | None = None, items_a_launch: int | None = None
) -> None:
    """Forget GPUs, their kernels and laws; take a library for the driver; draw so many a launch."""
    cuda = importlib.import_module("discretegauss._drawing.cuda")
    of = importlib.import_module("discretegauss._drawing.cuda_driver")
    for cached in (cuda._law_on, cuda._kernels, of._device, of._library):
        cached.cache_clear()
    if driver is not None:
        patch.setattr(of, "_LIBRARY", driver)
    if items_a_launch is not None:
        patch.setattr(cuda, "_LAUNCH", items_a_launch)


def cuda_driver() -> Any:
    """Return the module that calls the driver of GPUs."""
    return importlib.import_module("discretegauss._drawing.cuda_driver")


def gpu_launches() -> Any:
    """Return the class of a call's launches on a GPU."""
    return importlib.import_module("discretegauss._drawing.cuda")._KernelCall


def native_sampler() -> Any:
    """Return the class of the core's samplers."""
    return native.NativeSampler


def kernel_folder() -> str:
    """Return where the package has the source of its GPU kernel."""
    return str(native.FOLDER)
