"""Exact addition of noise to cells. Every refusal comes before the first draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._drawing.add import Addend
from .._drawing.engines import native
from .._inputs.draw_arguments import AUTO, CHACHA20, ONE_THREAD, Method, checked_how
from .._inputs.messages import describe, refused
from .._inputs.numbers import whole_number
from .._inputs.source import Source
from .._law import fits_range
from ..errors import ParameterOverflowError, ParameterValueError
from ..laws import Law
from .cells import INT64_RANGE, INT128_RANGE, Cells

Overflow = Literal["raise", "saturate"]

_INT64: Final[np.dtype[Any]] = np.dtype(np.int64)
_OBJECT: Final[np.dtype[Any]] = np.dtype(object)


class _Addition(NamedTuple):
    """Checked cells, and the way to add their noise."""

    integers: NDArray[Any]  # of the cells, in one block of memory
    addend: Addend  # the same integers in the order of that memory
    result: np.dtype[Any]  # of the sums


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """The options of `add_noise` besides the values and the law. Tasks of clusters get it, too.

    It checks `overflow` and `modulus`; `open_container` checks `floats`, and `noisy` the rest.
    """

    overflow: Overflow = "raise"
    modulus: int | None = None
    floats: bool = False
    method: Method = AUTO
    source: Source = CHACHA20
    threads: int = ONE_THREAD

    def __post_init__(self) -> None:
        if not isinstance(self.overflow, str) or self.overflow not in ("raise", "saturate"):
            raise refused("overflow", "be 'raise' or 'saturate'", self.overflow)
        if self.modulus is not None:
            modulus = whole_number(self.modulus, "modulus", minimum=2)
            if self.overflow == "saturate":
                raise ParameterValueError("overflow must be 'raise' with a modulus, got 'saturate'")
            object.__setattr__(self, "modulus", modulus)


def noisy(
    columns: Sequence[Cells], law: Law, how: AddOptions, *, out: NDArray[Any] | None = None
) -> list[NDArray[Any]]:
    """Return the cells with noise, one draw for each, also for nulls.

    With `out`, which receives the sums, there is only one column, and `out` has its shape. The
    results are new arrays: int64 (uint64 for a modulus above 2**63), or objects if the cells are
    objects or if they have no range and int64 might not hold the sums. If a sum or the modulus
    might not fit, or `out` has another dtype, an error says so before anything is drawn. After an
    error of a draw, the contents of `out` mean nothing.
    """
    by, source, threads = checked_how(law._kind, how.method, how.source, how.threads)
    plans = []
    for cells in columns:
        plans.append(_plan(cells, law, how.overflow, how.modulus))
    if out is not None and out.dtype.newbyteorder("=") != plans[0].result:
        raise ParameterValueError(f"out must have dtype {plans[0].result} here, got {out.dtype}")
    results: list[NDArray[Any]] = []
    for plan in plans:
        sums = np.empty_like(plan.integers, plan.result, subok=False)
        if out is not None and _is_block(out, plan):
            sums = out
        law._engine(by).add(sums.reshape(-1, order="A"), plan.addend, source, threads)
        if out is not None and sums is not out:
            out[...] = sums
        results.append(sums)
    return results


def _plan(cells: Cells, law: Law, overflow: Overflow, modulus: int | None) -> _Addition:
    """Return the plan for these cells, or refuse them."""
    integers, nulls, bounds, label = cells
    if nulls is not None or not integers.flags.f_contiguous:
        integers = np.asarray(integers, order="C")
    nulls = None if nulls is None else np.asarray(nulls, order="C").reshape(-1)
    addend = Addend(integers.reshape(-1, order="A"), nulls, bounds, modulus=modulus)
    of_objects = integers.dtype == object
    result = _OBJECT if of_objects else _INT64
    if modulus is not None:
        most = (bounds and bounds[1] + 1) if of_objects else 2**64
        if most is not None and modulus > most:
            raise ParameterOverflowError(
                f"modulus must be at most {most} for these values; for a larger one pass a list, "
                "or an array of objects"
            )
        of_words = _INT64 if modulus <= 2**63 else np.dtype(np.uint64)
        return _Addition(integers, addend, _OBJECT if of_objects else of_words)
    if bounds is None and not of_objects:
        if _fits(addend, law, INT64_RANGE):
            return _Addition(integers, addend._replace(bounds=INT64_RANGE), _INT64)
        addend = addend._replace(values=addend.values.astype(object))
    if bounds is None:
        return _Addition(integers, addend, _OBJECT)
    if _fits(addend, law, bounds):
        return _Addition(integers, addend, result)
    if overflow == "saturate":
        return _Addition(integers, addend._replace(is_clamped=True), result)
    names = {INT64_RANGE: "int64", INT128_RANGE: "Int128"}
    held = names.get(bounds, "decimals of this precision")
    where = "" if label is None else f" (column {describe(label)})"
    raise ParameterOverflowError(
        f"values with noise must fit {held} with Pr[outside] < 2**-128, but they might not{where}; "
        "overflow='saturate' clamps the sums, a list or an array of objects has room for any"
    )


def require_room(columns: Sequence[Cells], law: Law) -> None:
    """Refuse cells if a sum might not fit, as `noisy` does with "raise". Nothing is drawn."""
    for cells in columns:
        _plan(cells, law, "raise", None)


def has_room(cells: Cells, law: Law) -> bool:
    """Return whether a sum is beyond the cells' range with a probability below 2**-128.

    The cells have one axis. Nothing is drawn: the answer depends only on the cells and the law.
    """
    integers, nulls, bounds, _ = cells
    if bounds is None:
        return True
    return _fits(Addend(np.ascontiguousarray(integers), nulls, bounds), law, bounds)


def _fits(addend: Addend, law: Law, bounds: tuple[int, int]) -> bool:
    """Return whether all sums provably stay within bounds."""
    spec, (least, greatest) = law._spec, bounds
    if native is None or addend.values.dtype == object:
        low, high = addend.ends()
        return fits_range(spec, least - low, greatest - high)
    # Powers of two around the ends take a third of the time of the ends, and usually suffice.
    for exactly in (False, True):
        low, high = native.addend_ends(addend, exactly=exactly)
        if fits_range(spec, least - low, greatest - high):
            return True
    return False


def _is_block(out: NDArray[Any], plan: _Addition) -> bool:
    """Return whether draws may go straight into `out`: it is one block in the cells' layout."""
    mine, of_cells = out.flags, plan.integers.flags
    same_order = (mine.c_contiguous and of_cells.c_contiguous) or (
        mine.f_contiguous and of_cells.f_contiguous
    )
    return same_order and mine.aligned and out.dtype == plan.result and out.dtype.isnative
