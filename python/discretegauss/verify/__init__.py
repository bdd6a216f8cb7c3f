"""Prove cell tables right: ``python -m discretegauss.verify``."""

from .proof import verify

__all__ = ["verify"]
