"""Check the arguments that every draw takes: size, dtype, out, method, source, threads."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from math import prod
from numbers import Integral
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypedDict, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._law import Kind, LawSpec, fits_range
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from .messages import describe, if_loaded, refused
from .numbers import whole_number
from .source import Source

_Length = int | np.integer[Any]
Shape = (
    _Length
    | tuple[_Length, ...]
    | list[int]
    | list[np.integer[Any]]
    | list[_Length]
    | NDArray[np.integer[Any]]
)
Size = Shape | None
Method = Literal["auto", "reference", "cells", "isochronous"]

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    class Tensor(Protocol):
        """An array of torch, CuPy or numba, on any device."""

        @property
        def __cuda_array_interface__(self) -> Any: ...

    #: The type of `out`, or of a new array.
    Filled = TypeVar("Filled", bound=NDArray[Any], default=NDArray[Any])
    TensorT = TypeVar("TensorT", bound=Tensor)


class DrawOptions(TypedDict, total=False):
    """The options of a draw that do not depend on the law or the array."""

    method: Method
    source: Source
    threads: int


class IntegerDrawOptions(DrawOptions, total=False):
    """The options of a draw, with the dtype of the result."""

    dtype: DTypeLike


#: The default dtype. It equals the int64 that a user may pass, but it is another object: one draw
#: is a Python integer, which holds any law, and must fit int64 only if the user passes that.
INT64: Final[np.dtype[Any]] = np.dtype(np.int64, copy=True)

# Each default, like INT64, is a single object. `is` recognises it, so it needs no check.
AUTO: Final = "auto"
SYSTEM: Final = "getrandom"
CHACHA20: Final = "chacha20"
ONE_THREAD: Final = 1

#: The limit of numpy 1. The limit of numpy 2 is 64, but some of its functions still have 32.
MOST_AXES = 32

#: The most objects or 64-bit integers that an address space holds. Axes of length 0 do not count,
#: because numpy too multiplies only the others.
MOST_ELEMENTS = int(np.iinfo(np.intp).max) // 8


def _length(n: object, place: int | None) -> int:
    """Return `n` as a length. Of several, which may be data, an error names only the place."""
    if type(n) is int and n >= 0:  # the usual case
        return n
    try:
        return whole_number(n, "size", minimum=0)
    except (ParameterTypeError, ParameterValueError) as error:
        if place is None:
            raise
        kind, rule = type(error), str(error).partition(", got ")[0]
    raise kind(f"{rule}, but size[{place}] breaks it")


def checked_size(size: object) -> tuple[int, ...] | None:
    """Return `size` as a shape."""
    if size is None:
        return None
    if type(size) is int and 0 <= size <= MOST_ELEMENTS:  # the usual case
        return (size,)
    if isinstance(size, np.ndarray) and size.ndim == 0:
        size = size[()]
    several = isinstance(size, tuple | list) or (
        isinstance(size, np.ndarray) and size.ndim == 1 and size.dtype.kind in "iuO"
    )
    if not several and not isinstance(size, Integral):
        raise refused("size", "be an integer or a tuple of integers", size, ParameterTypeError)
    lengths: Iterable[object] = cast(Iterable[object], size) if several else (size,)
    shape = tuple(_length(n, i if several else None) for i, n in enumerate(lengths))
    if len(shape) > MOST_AXES:
        raise ParameterValueError(f"size must have at most {MOST_AXES} axes, got {len(shape)}")
    if (n_elements := prod(n for n in shape if n)) > MOST_ELEMENTS:
        several_of = "an array" if isinstance(size, np.ndarray) else f"a {type(size).__name__}"
        got = f"{several_of} of {len(shape)} integers" if several else describe(n_elements)
        raise ParameterOverflowError(
            f"size must be a shape of at most {MOST_ELEMENTS} elements, got {got}"
        )
    return shape


def checked_dtype(dtype: DTypeLike, name: str = "dtype") -> np.dtype[Any]:
    """Return the dtype of the parameter `name`, which must be an integer type or object."""
    try:
        checked = np.dtype(dtype)
    except Exception:  # numpy reads attributes and the repr of any object, which may raise
        got = describe(dtype)
    else:
        if checked.kind in "iuO" and checked.names is None:  # an integer dtype may have fields
            return checked
        got = "an array of one" if checked.shape else str(checked)  # the shape may be counts
    of = " of" if name != "dtype" else ""
    raise ParameterTypeError(f"{name} must be{of} an integer type or object, got {got}")


def checked_target(
    size: object, dtype: DTypeLike, out: object
) -> tuple[tuple[int, ...] | None, np.dtype[Any], NDArray[Any] | None]:
    """Return the shape and the dtype of the result, and `out` as an ndarray."""
    shape = checked_size(size)
    checked = dtype if dtype is INT64 else checked_dtype(dtype)
    if out is None:
        return shape, checked, None
    result = checked_out(out, shape)
    own = checked_dtype(result.dtype, "out")
    if dtype is not INT64 and checked != own:
        raise ParameterValueError(f"dtype must be that of out, {own}, got {checked}")
    return result.shape, own, result


def _overlaps_itself(array: NDArray[Any]) -> bool:
    """Return whether two elements of `array` may share memory; if in doubt, True."""
    end = array.itemsize
    for stride, n in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if n > 1:
            if stride < end:
                return True
            end += stride * (n - 1)
    return False


def checked_out(out: object, size: tuple[int, ...] | None) -> NDArray[Any]:
    """Return `out` as an ndarray, which must be writable, of this size, without overlaps."""
    if type(out) is not np.ndarray:
        if not isinstance(out, np.ndarray) or isinstance(out, if_loaded("numpy.ma", "MaskedArray")):
            raise ParameterTypeError(
                f"out must be a numpy array without a mask, got {type(out).__name__}"
            )
        out = out.view(np.ndarray)  # a matrix, for example, has other rules for shapes
    if size is not None and out.shape != size:
        # the message omits size, which may be counts
        raise ParameterValueError(
            f"out must have the shape of size, got an array of shape {out.shape}"
        )
    if not out.flags.writeable:
        raise ParameterValueError("out must be writable, got a read-only array")
    if not out.flags.c_contiguous and out.size and _overlaps_itself(out):
        raise ParameterValueError("out must not hold any element twice, got overlapping strides")
    return out


def checked_method(method: object, kind: Kind) -> Method:
    """Return `method`, which must be one for laws of this kind."""
    if method is AUTO:
        return AUTO
    rule = "method must be 'auto', 'reference', 'cells' or 'isochronous'"
    if not isinstance(method, str):
        raise ParameterTypeError(f"{rule}, got {type(method).__name__}")
    if method not in ("auto", "reference", "cells", "isochronous"):
        raise ParameterValueError(f"{rule}, got {describe(method)}")
    if not kind.has_cells and method in ("cells", "isochronous"):
        rule = "method must be 'auto' or 'reference' for this law"
        raise ParameterValueError(f"{rule}, got {method!r}")
    if not kind.has_reference and method == "reference":
        rule = "method must be 'auto', 'cells' or 'isochronous' for this law"
        raise ParameterValueError(f"{rule}, got 'reference'")
    return AUTO if method == AUTO else cast(Method, method)


def _other_generator(source: Any) -> str | None:
    """Return the name of a known function of Python or numpy that does not fill its argument.

    ``len`` returns the length of a buffer but leaves it unchanged. ``os.urandom`` and ``bytes`` of
    numpy's generators take a number.
    """
    owner, name = getattr(source, "__self__", None), getattr(source, "__name__", "")
    of_owner = type(owner).__module__
    if of_owner == "random" or of_owner.startswith("numpy.random"):
        return f"{type(owner).__name__}.{name}"
    if source is if_loaded("secrets", "token_bytes"):
        return "secrets.token_bytes"
    module = owner.__name__ if isinstance(owner, ModuleType) else None
    return f"{module}.{name}" if module in sys.stdlib_module_names else None


def _hint(source: object) -> str:
    """Return advice for users who pass a seeded generator of numpy or Python."""
    if type(source).__module__.partition(".")[0] not in ("numpy", "random"):
        return ""
    return "; for tests write testing.seeded_source(...), which can repeat its draws"


def checked_source(source: object) -> Source:
    """Return `source`, which must be a name of a source or a function that fills a buffer."""
    rule = "source must be 'getrandom', 'chacha20' or a function that fills the buffer it is given"
    if isinstance(source, str):
        if source is SYSTEM or source == SYSTEM:
            return SYSTEM
        if source is CHACHA20 or source == CHACHA20:
            return CHACHA20
        raise ParameterValueError(f"{rule}, got {describe(source)}")
    if not callable(source):
        raise ParameterTypeError(f"{rule}, got {type(source).__name__}{_hint(source)}")
    if (other := _other_generator(source)) is not None:
        hint = _hint(getattr(source, "__self__", None))
        raise ParameterTypeError(
            f"{rule}, source(buffer); got {other}, which fills no buffer{hint}"
        )
    return source


def checked_threads(threads: object, source: Source) -> int:
    """Return `threads`; several threads cannot share a caller's source."""
    checked = whole_number(threads, "threads", minimum=1)
    if checked > 1 and callable(source):
        raise ParameterValueError(
            f"threads must be 1 with a source of your own, got {describe(threads)}"
        )
    return checked


def checked_how(
    kind: Kind, method: object, source: object, threads: object
) -> tuple[Method, Source, int]:
    """Return method, source and threads for laws of a kind; defaults need no check."""
    by = AUTO if method is AUTO else checked_method(method, kind)
    bits = CHACHA20 if source is CHACHA20 else checked_source(source)
    return by, bits, ONE_THREAD if threads is ONE_THREAD else checked_threads(threads, bits)


def fits_dtype(spec: LawSpec, dtype: np.dtype[Any]) -> bool:
    """Return whether a law provably fits `dtype`, an integer type or object."""
    if dtype.kind == "O":
        return True
    info = np.iinfo(dtype)
    return fits_range(spec, int(info.min), int(info.max))


def require_fit(
    spec: LawSpec, dtype: np.dtype[Any], name: str, mu: str = "", parameter: str = ""
) -> None:
    """Refuse a law that does not provably fit `dtype`.

    If the numbers are elements of arrays, pass their names, "mu[3]", as mu and parameter: the
    elements may be data, so no message may show them.
    """
    if not fits_dtype(spec, dtype):
        loses_signs = dtype.kind == "u" and spec.kind.has_cells
        mu = mu or (f"mu = {describe(spec.mu)}" if spec.mu else "")
        raise ParameterOverflowError(
            f"dtype must hold the law with Pr[outside] < 2**-128, but {dtype.name} does not for "
            + (parameter or f"{name} = {describe(spec.parameter)}")
            + (f", {mu}" if mu else "")
            + ("; unsigned types cannot hold negative noise" if loses_signs else "")
            + "; dtype=object gives Python integers of any size"
        )
