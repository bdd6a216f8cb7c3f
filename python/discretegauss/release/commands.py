"""Functions of a release that the command line calls. They are no public names."""

from ._calibration import budget_for_error as budget_for_error
from ._calibration import calibration as calibration
from ._destinations import File as File
from ._destinations import checked_destinations as checked_destinations
from ._files import column_file as column_file
from ._files import unbuffered_stdout as unbuffered_stdout
from ._people_file import count_file as count_file
from ._people_file import counts_people as counts_people
from ._people_file import people_json as people_json
from ._people_file import read_people_plan as read_people_plan
from ._plan import FilePlan as FilePlan
from ._plan import plan_of_one as plan_of_one
from ._plan import read_plan as read_plan
from ._report import calibration_json as calibration_json
from ._report import calibration_text as calibration_text
from ._report import draws_json as draws_json
from ._report import plan_json as plan_json
from ._report import plan_text as plan_text
from ._report import release_json as release_json
from ._run import execute as execute
from ._running.table import as_label as as_label
from ._running.table import release_day as release_day
from ._unknown_groups import release_groups as release_groups
