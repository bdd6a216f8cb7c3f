"""Prove cell tables right: ``python -m discretegauss.verify``."""

from ._proof import Proven, VerificationError, main, verify
from ._table import copy_out

__all__ = ["Proven", "VerificationError", "copy_out", "main", "verify"]
