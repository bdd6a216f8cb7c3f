"""The command ``python -m discretegauss.verify``."""

import sys

from .proof import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
