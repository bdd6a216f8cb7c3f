"""Texts that are not ours, in messages. The command line needs this before numpy."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    r"""Return a text that is not ours (the name of a file, say) as a terminal may be given it.

    Line breaks, escape characters and what turns the direction of writing are escaped.

    Examples
    --------
    >>> print(printable("n\n\x1b[2J.csv"))
    n\n\x1b[2J.csv
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
