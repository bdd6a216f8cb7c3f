"""The two engines that draw: the compiled core, or its twin in plain Python.

An engine makes a law ready (`prepare`) and draws from it. The environment variable
DISCRETEGAUSS_PURE_PYTHON=1 forces the twin; it also serves where the extension module is missing,
as in the wheel that needs no compiler (README, Install).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import reference
from .._inputs.source import Source
from .._law import Kind, LawSpec
from .._system.threads import in_one_process
from ..errors import MissingCoreError, ParameterValueError, RangeError
from .table_cache import TableCache

__all__ = [
    "ONE_BY_ONE_UNITS",
    "REFERENCE_UNITS",
    "Filler",
    "PreparedLaw",
    "ScalarLaw",
    "build_info",
    "cached_table",
    "core",
    "lane_units",
    "lanes_hold",
    "native",
    "prepare",
    "prepare_cells",
    "prepare_few",
    "prepare_isochronous",
    "prepare_scalar",
    "require_source",
    "tables",
]


def _plain_python_is_forced() -> bool:
    value = os.environ.get("DISCRETEGAUSS_PURE_PYTHON", "")
    if value not in ("", "0", "1"):
        raise ParameterValueError(f"DISCRETEGAUSS_PURE_PYTHON must be 1 or 0, got {value!a}")
    return value == "1"


native: Any = None
if not _plain_python_is_forced():
    try:
        from . import native
    except ModuleNotFoundError as error:
        if error.name != "discretegauss._native":
            raise
        native = None


def core(what: str) -> Any:
    """Return the compiled core, for what there is no other engine."""
    if native is None:
        raise MissingCoreError(f"{what} needs the compiled core, which is not in use")
    return native


class ScalarLaw(Protocol):
    """A law made ready for single draws: immutable, no randomness in it."""

    def draw(self, source: Source) -> int:
        """Return one draw, of any size."""


class Filler(Protocol):
    """What fills arrays with draws: immutable, no randomness in it."""

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`: one axis, contiguous, native integers or objects; by threads, at most.

        After an error no integer in it is a draw, and nobody writes to it any more.
        """


class PreparedLaw(ScalarLaw, Filler, Protocol):
    """A law made ready for drawing."""

    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out`, contiguous: two's complement, least significant byte first."""


class ReferenceLaw:
    """A law drawn by the plain-Python twin."""

    def __init__(self, spec: LawSpec) -> None:
        self._draw = _reference_draw(spec)

    def draw(self, source: Source) -> int:
        """Return one draw."""
        return self._draw(_reference_bytes(source))

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out` with draws, by one thread."""
        draw = partial(self._draw, _reference_bytes(source))
        in_one_process(partial(_fill_one_by_one, out, draw))

    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out` with draws, by one thread."""
        draw = partial(self._draw, _reference_bytes(source))
        in_one_process(partial(_fill_rows_one_by_one, out, draw))


def _fill_one_by_one(out: NDArray[Any], draw: Callable[[], int]) -> None:
    # asked here, not of numpy: before its version 2 it wraps
    info = None if out.dtype == object else np.iinfo(out.dtype)
    values = None if info is None else range(int(info.min), int(info.max) + 1)
    i = 0
    try:
        for i in range(out.size):
            out[i] = _fitting(draw(), values)
    except BaseException:
        out[: i + 1].fill(0)  # out may be larger than memory
        raise


def _fill_rows_one_by_one(out: NDArray[np.uint8], draw: Callable[[], int]) -> None:
    n_bytes = out.shape[1]
    values = range(-(1 << (8 * n_bytes - 1)), 1 << (8 * n_bytes - 1))
    try:
        for row in out:
            one = _fitting(draw(), values).to_bytes(n_bytes, "little", signed=True)
            row[:] = np.frombuffer(one, np.uint8)
    except BaseException:
        out.fill(0)
        raise


def _fitting(drawn: int, values: range | None) -> int:
    """Return a draw, which must be one of the values if there are any."""
    if values is not None and drawn not in values:
        del drawn  # the error has this frame
        raise RangeError("a draw did not fit the output type; nothing is returned")
    return drawn


def require_source(source: Source) -> None:
    """Refuse a source that the engine in use does not have."""
    if isinstance(source, str) and source == "chacha20":
        core("source='chacha20'")


def _reference_bytes(source: Source) -> reference.Bytes:
    require_source(source)
    return reference.CallableBytes(source) if callable(source) else reference.SystemBytes()


def _reference_draw(spec: LawSpec) -> Callable[[reference.Bytes], int]:
    if not spec.kind.has_reference:
        raise MissingCoreError(
            "a generalised Gaussian is drawn by samplers of the compiled core, which is not in use"
        )
    num, den = spec.parameter.numerator, spec.parameter.denominator
    draws: dict[Kind, Callable[[reference.Bytes], int]] = {
        Kind.BERNOULLI: lambda source: int(reference.bernoulli(num, den, source)),
        Kind.UNIFORM_BELOW: lambda source: reference.uniform_below(num, source),
        Kind.BERNOULLI_EXP: lambda source: int(reference.bernoulli_exp(num, den, source)),
        Kind.GEOMETRIC_EXP: lambda source: reference.geometric_exp(num, den, source),
        Kind.DISCRETE_LAPLACE: lambda source: reference.discrete_laplace(
            spec.parameter, spec.mu, source
        ),
        Kind.DISCRETE_GAUSSIAN: lambda source: reference.discrete_gaussian(
            spec.parameter, spec.mu, source
        ),
    }
    return draws[spec.kind]


@lru_cache(maxsize=256)
def prepare(spec: LawSpec) -> PreparedLaw:
    """Return the law made ready for Algorithms 1-3; the last few are kept, without randomness."""
    if native is not None:
        return native.NativeLaw(spec)  # type: ignore[no-any-return]
    return ReferenceLaw(spec)


#: All cell tables at hand.
tables = TableCache()


def cached_table(spec: LawSpec) -> PreparedLaw | None:
    """Return the law with its cell table if that is at hand."""
    kept = tables.find(spec)
    return None if kept is None else tables.use(kept)


def prepare_cells(spec: LawSpec) -> PreparedLaw:
    """Return the law with its cell table; those used last are kept."""
    with_tables = core("method='cells'" if spec.kind.has_reference else "a generalised Gaussian")
    table = cached_table(spec)
    if table is None:
        table = with_tables.NativeTable(spec)
        # the one of another thread, if that was faster; or this one, if none has room
        table = tables.keep(spec, table, table.memory).table or table
    return table


class TableWhenDrawn:
    """A law drawn from its cell table, which it does not hold: the cache alone says which stay."""

    def __init__(self, spec: LawSpec) -> None:
        self._spec = spec

    def draw(self, source: Source) -> int:
        """Return one draw."""
        return prepare_cells(self._spec).draw(source)

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out` with draws."""
        prepare_cells(self._spec).fill(out, source, threads)

    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out` with draws."""
        prepare_cells(self._spec).fill_bytes(out, source, threads)


@lru_cache(maxsize=256)
def prepare_scalar(spec: LawSpec) -> ScalarLaw:
    """Return the law made ready for single draws, whose time does not tell the value if it can."""
    if native is not None and spec.kind.has_cells:
        try:
            return native.NativeIsochronous(spec)  # type: ignore[no-any-return]
        except ParameterValueError:  # outside of what the isochronous sampler was made for
            pass
    return prepare(spec) if spec.kind.has_reference else TableWhenDrawn(spec)


@lru_cache(maxsize=256)
def prepare_isochronous(spec: LawSpec) -> PreparedLaw:
    """Return the law made ready for arrays whose time does not tell their values."""
    with_lanes = core("method='isochronous'")
    return with_lanes.NativeLanes(spec)  # type: ignore[no-any-return]


#: A draw by Algorithms 1-3 is worth so many units; one in lanes, beyond a table's, by source:
#: with the kernel for AVX-512, and with others.
REFERENCE_UNITS = 24
_FAST_UNITS = {"getrandom": 6, "chacha20": 1}
_SLOW_UNITS = {"getrandom": 12, "chacha20": 6}

#: One of a generalised Gaussian, which has no such algorithm, where lanes do not hold it either.
ONE_BY_ONE_UNITS = 240


def lane_units(source: Source) -> int:
    """Return what a draw in lanes costs, in units of which one by Algorithms 1-3 costs 24."""
    return (_FAST_UNITS if _lanes_are_fast() else _SLOW_UNITS)[str(source)]


@lru_cache(maxsize=1)
def _lanes_are_fast() -> bool:
    return bool(native.NativeLanes(LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100))).is_fast)


#: Parameters and centres of which the lanes surely hold the law (csrc/isochronous/build_lanes.c).
_LANE_PARAMETERS = (Fraction(1, 16), 2**50)
_LANE_CENTRE = 2**60
_LANE_BETA = 32


def lanes_hold(spec: LawSpec) -> bool:
    """Return whether arrays of the law are surely drawn many attempts at once."""
    least, greatest = _LANE_PARAMETERS
    return (
        native is not None
        and spec.kind.has_cells
        and (spec.kind.has_reference or (spec.parameter >= 1 and spec.beta <= _LANE_BETA))
        and least <= spec.parameter <= greatest
        and abs(spec.mu) <= _LANE_CENTRE
        and spec.parameter.denominator.bit_length() + spec.mu.denominator.bit_length() <= 2048
    )


def prepare_few(spec: LawSpec) -> PreparedLaw:
    """Return the law made ready for few draws, without a table if there is a way without."""
    if spec.kind.has_reference:
        return prepare(spec)
    one = prepare_scalar(spec)
    if isinstance(one, TableWhenDrawn):
        prepare_cells(spec)  # which may refuse the law: before anything is drawn
        return one
    return prepare_isochronous(spec)  # many attempts at once


def build_info() -> dict[str, str]:
    """Return which engine draws and the versions of what it stands on.

    ``libraries`` tells of GMP and MPFR whether they came with the package (``bundled``) or are the
    ``system``'s.

    Examples
    --------
    >>> build_info()["engine"] in ("native", "python")
    True
    """
    info = {"engine": "python", "numpy": np.__version__}
    if native is not None:
        info = {"engine": "native", "numpy": np.__version__, **native.versions()}
    return info
