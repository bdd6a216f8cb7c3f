"""The command line."""

from .entry import main, program

__all__ = ["main", "program"]
