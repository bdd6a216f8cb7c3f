"""python -m discretegauss.verify."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
