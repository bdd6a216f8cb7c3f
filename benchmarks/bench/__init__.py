"""How fast it is on this machine, beside the alternatives: throughput.py and the others use it.

contenders/ has one module for each project that takes part, rounds.py the clock, machine.py what
it was measured on; run.py measures, table.py and picture.py show. Peers that are not installed are
named, with the line that installs them.
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
