"""What runs the steps of .ci/run and tools/nightly passes over none that failed or never ended."""

from __future__ import annotations

import subprocess
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"

RUN = f"""
first=(begin)
lanes=("a: good bad after lacks" "b: killed late")
known=(good bad after lacks killed late older)
table=TABLE
source {TOOLS}/steps.sh
begin() {{ echo a-commit >"$work/commit"; }}
good() {{ :; }}
bad() {{ false; true; }}
after() {{ :; }}
lacks() {{ return 77; }}
killed() {{ kill -9 $$; }}
late() {{ :; }}
main "$@"
"""


def run(folder: Path, *steps: str) -> tuple[int, str, dict[str, str]]:
    """Return the exit code, the last line, and the verdicts of the table."""
    table = folder / "table.md"
    if not table.exists():
        table.write_text("| older | 5 | 6 | passed | its-commit | 2020-01-01 |\n")
    program = folder / "run"
    program.write_text(RUN.replace("TABLE", str(table)))
    ended = subprocess.run(["bash", program, *steps], capture_output=True, text=True, check=False)
    rows = [row.split(" | ") for row in table.read_text().splitlines() if "-commit | " in row]
    return ended.returncode, ended.stdout.splitlines()[-1], {row[0][2:]: row[3] for row in rows}


def test_lanes_go_on_after_a_step_that_fails_and_name_it(tmp_path: Path) -> None:
    """A lane that is killed leaves steps that were not run, and that is no success either."""
    code, last, verdicts = run(tmp_path)
    assert code == 1
    assert last.startswith("ci: FAILED: bad killed late; ")
    assert verdicts == {
        "begin": "passed",
        "good": "passed",
        "bad": "FAILED",
        "after": "passed",
        "lacks": "skipped",
        "killed": "not run",
        "late": "not run",
        "older": "passed",
    }


def test_steps_by_name_leave_the_rows_of_others(tmp_path: Path) -> None:
    """Their exit code is 0 if they passed; a failure stays in the table until its step passes."""
    code, last, verdicts = run(tmp_path, "good", "lacks")
    assert code == 0
    assert last.startswith("ci: all 3 steps passed but skipped: lacks; in ")
    assert verdicts == {"begin": "passed", "good": "passed", "lacks": "skipped", "older": "passed"}
    assert run(tmp_path, "bad")[0] == 1
    assert run(tmp_path, "good")[2]["bad"] == "FAILED"
