"""The two engines that draw: the compiled core, or its model in plain Python.

The environment variable DISCRETEGAUSS_PURE_PYTHON=1 forces plain Python; it also serves where the
extension module is missing, as in the wheel that needs no compiler (docs/install.md).
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np

from .._law import LawSpec
from ..errors import ParameterValueError
from .python_engine import PythonSampler, refuse
from .sampler import Sampler


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
    """Return the compiled core; raise where it is missing, as no other engine can do this."""
    if native is None:
        refuse(what)
    return native


@lru_cache(maxsize=256)
def sampler(spec: LawSpec) -> Sampler:
    """Return the law made ready; equal ones are one, and so share what they have paid for."""
    if not spec.kind.in_core:
        from .skellam import SkellamSampler  # which needs certified arithmetic

        return SkellamSampler(spec, sampler)
    made: Sampler = PythonSampler(spec) if native is None else native.NativeSampler(spec)
    return made


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
