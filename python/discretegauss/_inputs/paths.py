"""Checks of the paths of files and folders that the user gives."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import ParameterTypeError
from .messages import refused


def path_text(value: object, name: str, noun: str) -> str:
    """Return the path of a file, or of another noun, as text, which must not be empty."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):  # bytes, also those of an os.PathLike
        raise ParameterTypeError(
            f"{name} must be a path (a str, or an os.PathLike of one), got {type(value).__name__}"
        )
    if not text or "\0" in text:
        raise refused(name, f"name {noun}", text)
    return text


def named_path(value: object, name: str) -> Path:
    """Return the path of a file as a Path, checked by `path_text`."""
    return Path(path_text(value, name, "a file"))
