"""Prove cell tables right: ``python -m discretegauss.verify``."""

from .proof import verify

__all__ = ["verify"]
__dir__ = __all__.copy  # dir() and completion show these names alone
