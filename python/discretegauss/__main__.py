"""Run ``python -m discretegauss``, which is the same as the command ``discretegauss``."""

import sys

from ._cli import program

if __name__ == "__main__":
    sys.exit(program())
