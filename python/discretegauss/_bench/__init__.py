"""How fast it is on this machine, beside the alternatives: ``discretegauss bench``.

contenders/ has one module for each project that takes part, rounds.py the clock, machine.py what
it was measured on; run.py measures, table.py and picture.py show. Nothing else of the package
imports this, and peers that are not installed are named, with the line that installs them.
"""

from .picture import require_matplotlib, write_picture
from .run import Measured, all_steps, measure_all
from .table import as_json, table_text

__all__ = [
    "Measured",
    "all_steps",
    "as_json",
    "measure_all",
    "require_matplotlib",
    "table_text",
    "write_picture",
]
