"""Release tables of counts with differential privacy."""

from ..errors import OutputError, TableError
from ._frames import Plan, Table
from ._people.counts import Counts
from ._person import Person
from ._report import PlanRelease, Release
from ._run import release_plan, release_table
from ._running.running import Running

__all__ = [
    "Counts",
    "OutputError",
    "Person",
    "Plan",
    "PlanRelease",
    "Release",
    "Running",
    "Table",
    "TableError",
    "release_plan",
    "release_table",
]
__dir__ = __all__.copy  # dir() and completion show these names alone
