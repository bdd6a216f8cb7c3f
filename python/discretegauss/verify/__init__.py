"""Prove cell tables right: ``python -m discretegauss.verify``."""

from ._proof import Proven, VerificationError, copy_out, main, verify

__all__ = ["Proven", "VerificationError", "copy_out", "main", "verify"]
