"""Prove cell tables right: ``python -m discretegauss.verify``."""

from .._inputs.keywords import explain_keywords
from .proof import verify

__all__ = ["verify"]

explain_keywords(globals())
