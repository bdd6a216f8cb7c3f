"""Prove cell tables right: ``python -m discretegauss.verify``."""

from .._inputs.keywords import explain_keywords
from .proof import Proven, VerificationError, verify

__all__ = ["Proven", "VerificationError", "verify"]

explain_keywords(globals())
