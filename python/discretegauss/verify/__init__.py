"""Prove cell tables right: ``python -m discretegauss.verify``."""

from .._inputs.keywords import explain_keywords
from .proof import VerificationError, verify

__all__ = ["VerificationError", "verify"]

explain_keywords(globals())
