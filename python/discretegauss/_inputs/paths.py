"""The name of a file or folder as a user gives it."""

from __future__ import annotations

from pathlib import Path

from ..errors import ParameterValueError
from .messages import describe


def named_path(text: str, name: str, what: str) -> Path:
    """Return the path of `what` ("a file"), which must have a name."""
    if not text or "\0" in text:
        raise ParameterValueError(f"{name} must name {what}, got {describe(text)}")
    return Path(text)
