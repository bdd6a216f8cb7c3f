"""Programs that tests start have the fault, too, and say which functions they reach."""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import mutant_planting as planting

sys.path.pop()

_package, _hits = os.environ[planting.PACKAGE], os.environ.get(planting.HITS)
_right, _, _faulty = os.environ.get(planting.FAULTY, "").partition("=")


def _source_of(path: Path) -> str:
    return Path(_faulty if str(path) == _right else path).read_text("utf-8")


def _tell() -> None:
    with open(str(_hits), "a", encoding="utf-8") as file:
        file.write("".join(f"{hit}\n" for hit in planting.hits))


planting.watch_imports(Path(_package), _source_of)
if _hits is not None:
    atexit.register(_tell)
