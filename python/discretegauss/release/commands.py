"""Functions of a release that the command line calls, and users do not."""

from ._calibration import budget_for_error, calibration
from ._destinations import File, checked_destinations
from ._files import column_file, unbuffered_stdout
from ._plan import FilePlan, plan_of_one, read_plan
from ._report import calibration_json, calibration_text, plan_json, plan_text, release_json
from ._run import execute
from ._unknown_groups import release_groups

__all__ = [
    "File",
    "FilePlan",
    "budget_for_error",
    "calibration",
    "calibration_json",
    "calibration_text",
    "checked_destinations",
    "column_file",
    "execute",
    "plan_json",
    "plan_of_one",
    "plan_text",
    "read_plan",
    "release_groups",
    "release_json",
    "unbuffered_stdout",
]
__dir__ = __all__.copy  # dir() and completion show these names alone
