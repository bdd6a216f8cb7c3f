"""Options of the programs, refused before anything is measured and not minutes later."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def json_file(text: str) -> Path:
    """For ``--json``: a file that can be written, for all that can be told without writing it."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"no file can be written at {text}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"no permission to write {text}")
    return path


def positive_int(text: str) -> int:
    """A whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return number
