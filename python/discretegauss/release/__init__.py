"""Release a table of counts with differential privacy.

What ``__all__`` does not name is there for the command line.
"""

from .._inputs.keywords import explain_keywords
from ..errors import OutputError, TableError
from ._arrow_table import arrow_file as arrow_file
from ._csv_table import column_text as column_text
from ._destination import checked_destination as checked_destination
from ._destination import unbuffered_stdout as unbuffered_stdout
from ._interface import Sink as Sink
from ._noise_for_budget import DEFAULT_REPORT_DELTA as DEFAULT_REPORT_DELTA
from ._noise_for_budget import calibration as calibration
from ._npy_table import npy_header as npy_header
from ._plan_file import read_plan as read_plan
from ._plan_report import PlanRelease
from ._plan_report import plan_json as plan_json
from ._plan_report import plan_noise_json as plan_noise_json
from ._plan_report import plan_noise_text as plan_noise_text
from ._plan_report import plan_text as plan_text
from ._plan_run import execute_plan as execute_plan
from ._plan_run import release_plan
from ._report import Release
from ._report import calibration_json as calibration_json
from ._report import calibration_text as calibration_text
from ._report import report_json as report_json
from ._report import report_text as report_text
from ._report import time_text as time_text
from ._run import execute as execute
from ._run import plan_release as plan_release
from ._run import release_table

__all__ = ["OutputError", "PlanRelease", "Release", "TableError", "release_plan", "release_table"]

explain_keywords(globals())
