"""The engine in plain Python: Algorithms 1-3 as the paper writes them, and nothing else.

It draws by `reference`, the specification of the C core's draws, if the C core is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import reference
from .._inputs.draw_arguments import Method
from .._inputs.graphs import refuse_recorded
from .._inputs.source import Source
from .._law import Kind, LawSpec
from ..errors import MissingCoreError, RangeError
from .add import NO_FIT, Addend, add_objects
from .fill import Fill


def refuse(feature: str) -> NoReturn:
    """Refuse a feature that only the compiled core has."""
    raise MissingCoreError(f"{feature} needs the compiled core, which is not in use")


def bits_of(source: Source) -> reference.Bytes:
    """Return the bits of a source; for "chacha20", too, plain Python reads the kernel's bytes."""
    refuse_recorded()
    return reference.CallableBytes(source) if callable(source) else reference.SystemBytes()


def one_by_one(draw: Callable[[int, reference.Bytes], int]) -> Fill:
    """Return a `Fill` that draws for each place of an array with one axis, by one thread."""

    def fill(out: NDArray[Any], source: Source, threads: int = 1) -> None:
        del threads
        stream = bits_of(source)
        for i in range(out.size):
            out[i] = draw(i, stream)

    return fill


class PythonSampler:
    """A law drawn by Algorithms 1-3, one draw after the other."""

    is_int64 = False

    def __init__(self, spec: LawSpec, method: Method = "auto") -> None:
        if method in ("cells", "isochronous"):
            refuse(f"method={method!r}")
        self.spec = spec
        self._draw = _reference_draw(spec)

    def draw(self, source: Source) -> int:
        """Return one draw."""
        return self._draw(bits_of(source))

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out` with draws, by one thread."""
        del threads
        # checked here, because numpy before version 2 wraps
        info = None if out.dtype == object else np.iinfo(out.dtype)
        values = None if info is None else range(int(info.min), int(info.max) + 1)
        bits, flat = bits_of(source), out.reshape(-1)
        for i in range(flat.size):
            flat[i] = _fitting(self._draw(bits), values)

    def add(self, out: NDArray[Any], addend: Addend, source: Source, threads: int = 1) -> None:
        """Set `out` to integers plus draws."""
        add_objects(out, addend, lambda draws: self.fill(draws, source, threads))

    def for_draws(self, n: int) -> PythonSampler:
        """Return itself: it draws any number in the same way."""
        del n
        return self


def _fitting(draw: int, values: range | None) -> int:
    """Return a draw; raise RangeError if it is not among the values of the output type."""
    if values is not None and draw not in values:
        del draw  # the traceback holds this frame
        raise RangeError(NO_FIT)
    return draw


def _reference_draw(spec: LawSpec) -> Callable[[reference.Bytes], int]:
    parameter, mu = spec.parameter, spec.mu
    num, den = parameter.numerator, parameter.denominator
    draws: dict[Kind, Callable[[reference.Bytes], int]] = {
        Kind.BERNOULLI: lambda bits: int(reference.bernoulli(num, den, bits)),
        Kind.UNIFORM_BELOW: lambda bits: reference.uniform_below(num, bits),
        Kind.BERNOULLI_EXP: lambda bits: int(reference.bernoulli_exp(num, den, bits)),
        Kind.GEOMETRIC_EXP: lambda bits: reference.geometric_exp(num, den, bits),
        Kind.DISCRETE_LAPLACE: lambda bits: reference.discrete_laplace(parameter, mu, bits),
        Kind.DISCRETE_GAUSSIAN: lambda bits: reference.discrete_gaussian(parameter, mu, bits),
        Kind.SKELLAM: lambda bits: reference.skellam(parameter, bits),
    }
    if spec.kind not in draws:
        refuse("a generalised Gaussian")
    return draws[spec.kind]
