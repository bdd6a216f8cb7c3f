"""The command line: `main` for Python, `program` for the process."""

from .entry import main, program

__all__ = ["main", "program"]
