"""The two engines that draw: the compiled core, or its twin in plain Python.

An engine makes a law ready (`prepare`) and draws from it. The environment variable
DISCRETEGAUSS_PURE_PYTHON=1 forces the twin; it also serves where the extension module is missing,
as in the wheel that needs no compiler (README, Install).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import reference
from .._inputs.source import Source
from .._law import WITH_CELLS, Kind, LawSpec
from ..errors import MissingCoreError, ParameterValueError, RangeError

__all__ = [
    "PreparedLaw",
    "ScalarLaw",
    "build_info",
    "cached_table",
    "core",
    "native",
    "prepare",
    "prepare_cells",
    "prepare_scalar",
    "require_source",
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


class PreparedLaw(ScalarLaw, Protocol):
    """A law made ready for drawing: immutable, no randomness in it."""

    #: A fill may be cut at multiples of this without changing what it draws from given bits.
    chunk: int

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`: one axis, contiguous, native integers or objects; by threads, at most.

        After an error no integer in it is a draw, and nobody writes to it any more.
        """

    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out`, contiguous: two's complement, least significant byte first."""


class ReferenceLaw:
    """A law drawn by the plain-Python twin."""

    chunk = 1

    def __init__(self, spec: LawSpec) -> None:
        self._draw = _reference_draw(spec)

    def draw(self, source: Source) -> int:
        """Return one draw."""
        return self._draw(_reference_bytes(source))

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out` with draws, by one thread."""
        stream = _reference_bytes(source)
        # asked here, not of numpy: before its version 2 it wraps
        info = None if out.dtype == object else np.iinfo(out.dtype)
        values = None if info is None else range(int(info.min), int(info.max) + 1)
        i = 0
        try:
            for i in range(out.size):
                out[i] = _fitting(self._draw(stream), values)
        except BaseException:
            out[: i + 1].fill(0)  # out may be larger than memory
            raise

    def fill_bytes(self, out: NDArray[np.uint8], source: Source, threads: int = 1) -> None:
        """Fill the rows of `out` with draws, by one thread."""
        stream, n_bytes = _reference_bytes(source), out.shape[1]
        half = 1 << (8 * n_bytes - 1)
        try:
            for row in out:
                one = _fitting(self._draw(stream), range(-half, half))
                row[:] = np.frombuffer(one.to_bytes(n_bytes, "little", signed=True), np.uint8)
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
    num, den = spec.parameter.numerator, spec.parameter.denominator
    if spec.kind is Kind.BERNOULLI:
        return lambda source: int(reference.bernoulli(num, den, source))
    if spec.kind is Kind.UNIFORM_BELOW:
        return lambda source: reference.uniform_below(num, source)
    if spec.kind is Kind.BERNOULLI_EXP:
        return lambda source: int(reference.bernoulli_exp(num, den, source))
    if spec.kind is Kind.GEOMETRIC_EXP:
        return lambda source: reference.geometric_exp(num, den, source)
    if spec.kind is Kind.GENERALIZED_GAUSSIAN:
        raise MissingCoreError("a generalised Gaussian is drawn by the compiled core's cell tables")
    if spec.kind is Kind.DISCRETE_LAPLACE:
        return lambda source: reference.discrete_laplace(spec.parameter, spec.mu, source)
    return lambda source: reference.discrete_gaussian(spec.parameter, spec.mu, source)


@lru_cache(maxsize=256)
def prepare(spec: LawSpec) -> PreparedLaw:
    """Return the law made ready for Algorithms 1-3; the last few are kept, without randomness."""
    if native is not None:
        return native.NativeLaw(spec)  # type: ignore[no-any-return]
    return ReferenceLaw(spec)


@dataclass(slots=True)
class _Kept:
    """A table at hand, and the number of its last use."""

    table: PreparedLaw
    last_use: int


#: The cell tables used last; some 200 KiB each. No lock: the operations of a dict are whole under
#: the interpreter's, and one of our own might be held where a process forks. Not an OrderedDict,
#: whose order and contents part for good if other threads run while its keys are compared, which
#: Python does for fractions. What two threads at once can cost is a table built twice.
_tables: dict[LawSpec, _Kept] = {}
_uses = count()
_MOST_TABLES = 32


def cached_table(spec: LawSpec) -> PreparedLaw | None:
    """Return the law with its cell table if that is at hand."""
    kept = _tables.get(spec)
    if kept is None:
        return None
    kept.last_use = next(_uses)
    return kept.table


def prepare_cells(spec: LawSpec) -> PreparedLaw:
    """Return the law with its cell table; the last few are kept."""
    generalized = spec.kind is Kind.GENERALIZED_GAUSSIAN  # which has no other method
    with_tables = core("a generalised Gaussian" if generalized else "method='cells'")
    table = cached_table(spec)
    if table is None:
        table = with_tables.NativeTable(spec)
        _tables[spec] = _Kept(table, next(_uses))
        # of a copy, which no other thread changes meanwhile
        by_use = sorted(_tables.copy().items(), key=lambda item: item[1].last_use)
        for oldest, _ in by_use[:-_MOST_TABLES]:
            _tables.pop(oldest, None)
    return table


@lru_cache(maxsize=256)
def prepare_scalar(spec: LawSpec) -> ScalarLaw:
    """Return the law made ready for single draws, whose time does not tell the value if it can."""
    if native is not None and spec.kind in WITH_CELLS:
        try:
            return native.NativeIsochronous(spec)  # type: ignore[no-any-return]
        except ParameterValueError:  # outside of what the isochronous sampler was made for
            pass
    return prepare_cells(spec) if spec.kind is Kind.GENERALIZED_GAUSSIAN else prepare(spec)


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
