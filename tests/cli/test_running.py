"""`discretegauss release --running` writes a day with its totals, once."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from command import Command, Outcome

from discretegauss import _cli as cli
from discretegauss.release import Running

FIRST = ["--start", "--column", "n", "--rho", "0.1", "--days", "2", "--apart", "30"]


class Days:
    """A folder with the tables of some days, and the command that releases them."""

    def __init__(self, folder: Path, run: Command) -> None:
        self.folder, self._run = folder, run
        self.out, self.state = folder / "out.csv", folder / "s.state"

    def __call__(self, day: object, table: str, *more: object) -> Outcome:
        path = self.folder / "table.csv"
        path.write_text(table)
        how = {"--running": self.state, "--day": day, "--out": self.out}
        usual = [part for name in how if name not in more for part in (name, how[name])]
        return self._run("release", path, *usual, *more)

    def rows(self) -> list[list[str]]:
        with self.out.open(newline="") as file:
            return list(csv.reader(file))


@pytest.fixture
def days(tmp_path: Path, run: Command) -> Days:
    """Return the command, after the first day of two towns."""
    found = Days(tmp_path, run)
    assert found("2026-11-28", "town,age,n\nA,1,10\nB,2,2000\n", *FIRST).code == 0
    return found


def test_days_add_up_to_totals_in_any_order_of_rows(days: Days) -> None:
    header, first, second = days.rows()
    assert header == ["day", "town", "age", "n", "n_total"]
    assert [first[:3], second[:3]] == [["2026-11-28", "A", "1"], ["2026-11-28", "B", "2"]]
    assert first[3] == first[4]
    before = {row[1]: int(row[4]) for row in days.rows()[1:]}
    done = days("2026-11-29", "town,age,n\nB,2,1000\nA,1,20\n")
    assert done.code == 0
    for day, town, _, number, total in days.rows()[1:]:
        assert day == "2026-11-29"
        assert int(total) == before[town] + int(number)
    assert abs(before["B"] - 2000) < 100  # twenty deviations
    for said in ("2026-11-29", "on at most 2 days, at least 30", "fresh noise", "out.csv", "1e-6"):
        assert said in done.out
    assert "2000" not in done.out
    run = Running(days.state)
    assert run.rho * 10 == 1
    assert (run.column, run.keys) == ("n", (("A", "1"), ("B", "2")))


def test_the_same_command_again_writes_the_same_file(days: Days) -> None:
    """Also after the file is gone, and after a day that was not written."""
    written, state = days.out.read_bytes(), days.state.read_bytes()
    table = "town,age,n\nA,1,10\nB,2,2000\n"
    days.out.unlink()
    for _ in range(2):
        assert days("2026-11-28", table).code == 0
        assert days.out.read_bytes() == written
        assert days.state.read_bytes() == state
    assert days("2026-11-28", table.replace("2000", "2001")).is_refused_with("other counts")
    assert days.out.read_bytes() == written


def test_a_write_that_fails_says_that_the_day_is_in_the_state(
    days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", "out.csv")

    table = "town,age,n\nA,1,10\nB,2,2000\n"
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", fail)
        done = days("2026-11-29", table)
    assert done.is_refused_with("the same command again writes the same file")
    assert days.rows()[1][0] == "2026-11-28"
    assert days("2026-11-29", table).code == 0
    assert days.rows()[1][0] == "2026-11-29"


def test_a_state_that_is_older_than_the_output_is_refused(days: Days) -> None:
    """An old copy, and a second start, would measure the day again. --force does not help."""
    table = "town,age,n\nA,1,10\nB,2,2000\n"
    old = days.state.read_bytes()
    assert days("2026-11-29", table).code == 0
    days.state.write_bytes(old)
    other = days.folder / "other.state"
    for more in ([], ["--force"], ["--running", other, *FIRST]):
        for day in ("2026-11-29", "2026-11-30"):
            assert days(day, table, *more).is_refused_with("the state is an old copy")
    assert days("2026-11-29", table, "--running", other).is_refused_with("other.state: No such")
    assert days.state.read_bytes() == old
    assert not other.exists()


def test_another_file_is_replaced_only_with_force(days: Days) -> None:
    table, written = "town,age,n\nA,1,10\nB,2,2000\n", days.out.read_text()
    for content in (
        "a,b\n1,2\n",
        "",
        written.replace("2026-11-28,A,1,", "2026-11-28,A,1,1"),
        "\x00",
    ):
        days.out.write_text(content)
        assert days("2026-11-28", table).is_refused_with("out.csv already exists")
        assert days("2026-11-28", table, "--force").code == 0
        assert days.out.read_text() == written


def test_one_number_a_day_needs_no_names(tmp_path: Path, run: Command) -> None:
    days = Days(tmp_path, run)
    records = ["--start", "--column", "n", "--rho", "1", "--records", "3", "--period", "30"]
    assert days(7, "n\n5\n", *records).code == 0
    assert days(8, "n\n6\n").code == 0
    assert days.rows()[0] == ["day", "n", "n_total"]
    assert Running(days.state)._settings.change2 == 9
    assert days(9, "n\n6\n7\n").is_refused_with("columns that name its rows, got 2 rows")
    assert days(9, "town,n\nA,6\n").is_refused_with("those of the first day")


@pytest.mark.parametrize(
    ("table", "more", "said"),
    [
        ("town,age,n\nA,1,10\nC,2,2\n", [], "keys of the first day"),
        ("town,age,n\nA,1,10\n", [], "keys of the first day"),
        ("town,age,n\nA,1,10\nA,1,10\n", [], "names, but two are the same"),
        ("town,age,n\nA,1,10\nB,2,\n", [], "line 3"),
        ("town,age,n\nA,1,10\nB,2,1.5\n", [], "line 3"),
        ("town,age,m\nA,1,10\nB,2,2\n", [], "'n'"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--column", "age"], "--column must be 'n'"),
        ("town,n_total,n\nA,1,10\nB,2,2\n", [], "no other column may be named"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--rho", "1"], "--rho needs --start"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--days", "1"], "--days needs --start"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--json"], "--json must not be given with --running"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--plan", "p"], "--plan must not be given"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--day", "soon"], "--day must be a date"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--day", "2026-12-01"], "--day must be at most"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--out", "-"], "must be files"),
        ("town,age,n\nA,1,10\nB,2,2\n", ["--out", "o.tsv"], "must end in .csv"),
        ("town,age,n\nA,1,10\nB,2,2\n", FIRST, "already exists"),
    ],
)
def test_what_is_wrong_is_said_before_the_state_changes(
    days: Days, table: str, more: list[str], said: str
) -> None:
    before, written = days.state.read_bytes(), days.out.read_bytes()
    days.out.unlink() if more == FIRST else None
    done = days("2026-11-29", table, *more)
    assert done.is_refused_with(said), done.err
    assert days.state.read_bytes() == before
    assert more == FIRST or days.out.read_bytes() == written


def test_a_state_is_neither_input_nor_output(days: Days, run: Command) -> None:
    done = run("release", days.folder / "table.csv", "--running", days.out, "--out", days.out)
    assert done.is_refused_with("--day")
    done = days("2026-11-29", "town,age,n\nA,1,10\nB,2,2\n", "--out", days.state)
    assert done.is_refused_with("must be another file")
    assert cli.main(["release", "t.csv", "--day", "1", "--out", "o.csv"]) == 2
