"""Puts the models and the package's parts on the path when generate.py is run by itself."""

import sys
from pathlib import Path

for _name in ("support", "oracles"):
    sys.path.append(str(Path(__file__).resolve().parents[1] / _name))
