"""The name of a file or folder as a user gives it."""

from __future__ import annotations

from pathlib import Path

from .messages import refused


def named_path(text: str, name: str, what: str) -> Path:
    """Return the path of `what` ("a file"), which must have a name."""
    if not text or "\0" in text:
        raise refused(name, f"name {what}", text)
    return Path(text)
