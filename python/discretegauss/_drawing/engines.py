"""The two engines that draw: the compiled core, or its model in plain Python.

The environment variable DISCRETEGAUSS_PURE_PYTHON=1 forces plain Python. Plain Python also draws if
the extension module is missing, as in the wheel that needs no compiler (docs/install.md).
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._inputs.draw_arguments import Method
from .._inputs.source import Source
from .._law import LawSpec
from ..errors import ParameterValueError
from .add import Addend
from .python_engine import PythonSampler, refuse


class Engine(Protocol):
    """A law and one method of drawing from it. It holds no randomness, and threads may share it."""

    is_int64: bool
    """Whether int64 is known to hold the law. False means that it is not known."""

    def draw(self, source: Source) -> int:
        """Return one draw, of any size."""

    def fill(self, out: NDArray[Any], source: Source, threads: int = 1) -> None:
        """Fill `out`, C-contiguous: native integers that hold the law, or objects."""

    def add(self, out: NDArray[Any], addend: Addend, source: Source, threads: int = 1) -> None:
        """Set `out` to integers plus draws, exactly; otherwise as `fill`."""

    def for_draws(self, n: int) -> Engine:
        """Return the engine that draws n draws in parts by the method that draws them at once."""


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


def core(feature: str) -> Any:
    """Return the compiled core, or raise MissingCoreError if `feature` needs it."""
    if native is None:
        refuse(feature)
    return native


@lru_cache(maxsize=256)
def engine(spec: LawSpec, method: Method) -> Engine:
    """Return the engine for a law and one of its methods; equal requests share it."""
    if not spec.kind.in_core:
        from .skellam import SkellamSampler  # it imports certified arithmetic

        return SkellamSampler(spec, method, engine)
    return PythonSampler(spec, method) if native is None else native.NativeSampler(spec, method)


def build_info() -> dict[str, str]:
    """Return which engine draws, and the versions of its libraries.

    ``libraries`` says whether GMP and MPFR came with the package (``bundled``) or are the
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
