"""Prove the tables of the compiled core right, by independent ball arithmetic.

examples:
  discretegauss verify --quick
  discretegauss verify --random 100
"""

from __future__ import annotations

import argparse

from .options import Command, goes_without

_NOTES = """\
--quick draws from fixed bits instead, compares with what is published, and needs a second.
The proof takes minutes and needs python-flint: pip install python-flint.
Exit codes: 0 all right, 1 something is wrong or not proven, 2 wrong arguments or no python-flint, \
3 the results could not be written.
"""


_OPTIONS = """
--quick  flag  that draws are as published, in a second
--random N  whole  also prove N laws picked at random
"""


def _run(arguments: argparse.Namespace) -> int:
    from ..verify.proof import main

    if arguments.quick:
        goes_without("--quick", arguments, ("random",), "it proves nothing")
    random = [] if arguments.random is None else ["--random", str(arguments.random)]
    return main(["--quick"] if arguments.quick else random, "discretegauss verify")


VERIFY = Command(
    "verify",
    "check that what is installed is right",
    _run,
    "verify",
    __doc__,
    _NOTES,
    "%(prog)s [--quick | --random N]",
    _OPTIONS,
)
