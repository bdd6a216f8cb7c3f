"""A release with a ledger has a line on disk before a bit is drawn, and after every check."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import ledger_kills
import pandas as pd
import pytest
from command import Command
from evidence_cases import evidence
from programs import printed

import discretegauss as dg
from discretegauss.errors import LedgerError, TableError
from discretegauss.privacy import Ledger
from discretegauss.release import Person, Plan, Table, release_plan, release_table
from discretegauss.release.commands import release_groups

NOTE = "the ledger has line 1 of this release, so its budget is spent"


def breaks(_: memoryview) -> None:
    """Be a source that has nothing."""
    raise RuntimeError("the source broke")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Return a ledger in the working folder, beside a table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("k,n\n" + "".join(f"r{i},{7 * i}\n" for i in range(30)))
    return Ledger.start("p.ledger", unit="a person", rho=1, own_delta="1e-5")


def test_a_release_is_a_line_and_its_report_names_it(ledger: Ledger, run: Command) -> None:
    release = release_table("t.csv", "n", "o.csv", rho="0.1", ledger="p.ledger")
    entry = Ledger("p.ledger").entries[0]
    assert release.ledger == entry
    assert (entry.n, entry.rho) == (1, Fraction(1, 10))
    assert entry.what["tables"][0]["law"] == "DiscreteGaussian(sigma2=5)"
    assert f"{entry.path}, line 1, {entry.hash[:16]}" in str(release)
    done = run(
        *[
            "release",
            "t.csv",
            "--column",
            "n",
            "--rho",
            "0.2",
            "--out",
            "p.csv",
            "--json",
            "--ledger",
            "p.ledger",
        ]
    )
    ledger.refresh()
    last = ledger.entries[1]
    assert json.loads(done.out)["ledger"] == {
        "path": str(ledger.path), "line": 2, "hash": last.hash
    }  # fmt: skip
    assert ledger.spent[0] == Fraction(3, 10)
    assert run("ledger", "p.ledger", "--has", last.hash[:16]).out == f"{last}\n"
    assert run("ledger", "p.ledger").out == f"{ledger}\n"


def test_the_line_of_a_plan_stands_at_its_total(ledger: Ledger) -> None:
    Path("u.csv").write_text(Path("t.csv").read_text())
    Path("plan.toml").write_text(PLAN)
    release = release_plan("plan.toml", ledger=ledger, consistent="added_up")
    entry = Ledger(ledger.path).entries[0]
    assert entry.rho == release.rho
    assert entry.rho == Fraction(1, 10)
    assert [one["table"] for one in entry.what["tables"]] == ["t.csv", "u.csv"]
    assert str(release).endswith(f"\nledger              {entry}")
    fields = json.loads(dg.release.commands.release_json(release))
    assert fields["ledger"]["hash"] == entry.hash
    assert not any("ledger" in one for one in fields["tables"])


def test_frames_and_groups_are_lines_too(tmp_path: Path, ledger: Ledger) -> None:
    person = Person(2, distinct=["k"])
    plan = Plan(person, {"rows": Table(by=["k"], columns="n")}, rho="0.1")
    frame = pd.read_csv("t.csv")
    plan.add_noise({"rows": frame}, ledger="p.ledger")
    groups = release_groups("t.csv", "n", "g.csv", epsilon="0.1", delta="1e-6", ledger=ledger)
    ledger.refresh()
    first, second = ledger.entries
    assert (first.rho, first.what["person"]) == (Fraction(1, 10), str(person))
    assert second.rho == dg.privacy.rho(dg.DiscreteLaplace(10))
    assert 0 < second.delta <= Fraction(1, 10**6)
    assert str(second) in str(groups)
    replaced = Plan(Person(1, neighbours="replace"), {"rows": Table(by=["k"])}, rho="0.1")
    with pytest.raises(LedgerError, match="'replace': their costs do not add up"):
        replaced.add_noise({"rows": frame}, "n", ledger=ledger)
    with pytest.raises(RuntimeError) as broke:
        plan.add_noise({"rows": frame}, ledger=ledger, source=breaks)
    assert broke.value.__notes__ == [NOTE.replace("line 1", "line 3")]
    assert len(Ledger("p.ledger").entries) == 3


PLAN = """rho = 0.1
[person]
records = 1
[[tables]]
table = "t.csv"
column = "n"
by = "k"
out = "o.csv"
[[tables]]
table = "u.csv"
column = "n"
by = "k"
out = "o2.csv"
"""


def _table(**how: Any) -> Callable[[], object]:
    arguments = {"table": "t.csv", "column": "n", "out": "o.csv", "rho": "0.1", **how}
    return lambda: release_table(ledger="p.ledger", **arguments)


def _plan(text: str, plan: str = PLAN, **more: Any) -> Callable[[], object]:
    def call() -> object:
        Path("u.csv").write_text(text)
        Path("plan.toml").write_text(plan)
        return release_plan("plan.toml", ledger="p.ledger", **more)

    return call


def _frames(**more: Any) -> Callable[[], object]:
    plan = Plan(Person(1), {"rows": Table(by=["k"])}, rho="0.1")
    frame = pd.DataFrame({"k": ["a", "b"], "n": [3, 4]})
    how = {"frames": {"rows": frame}, "columns": "n", **more}
    return lambda: plan.add_noise(ledger="p.ledger", **how)


def _groups(**more: Any) -> Callable[[], object]:
    how = {"table": "t.csv", "column": "n", "out": "o.csv", "epsilon": 1, "delta": "1e-6", **more}
    return lambda: release_groups(ledger="p.ledger", **how)


BY_K = {"person": Person(2, distinct=["k"]), "by": ["k"]}
REFUSED: dict[str, Callable[[], object]] = {
    "a bad last cell": _table(table="bad.csv"),
    "a short row": _table(table="short.csv"),
    "no rows": _table(table="none.csv"),
    "a table that is missing": _table(table="gone.csv"),
    "a folder as table": _table(table="folder"),
    "no such column": _table(column="zz"),
    "an output that is there": _table(out="there.csv"),
    "no folder for the output": _table(out="gone/o.csv"),
    "too many rows of a person": _table(rows_per_person=31),
    "more than the limit": _table(rho=2),
    "two rows of a group": _table(table="twice.csv", **BY_K),
    "the ledger as output": _table(out="p.ledger", force=True, table="t.ledger"),
    "a source of another type": _table(source=3),
    "a total row of many": _table(table="total.csv"),
    "a bad second table": _plan("k,n\na,x\n"),
    "another grouping in the second table": _plan("k,n\nr0,1\nother,2\n"),
    "tables that do not add up": _plan(
        "k,n\nr0,1\nother,2\n",
        PLAN.replace('by = "k"\n', "").replace("[person]\nrecords = 1\n", ""),
        consistent="folder",
    ),
    "frames: no such column": _frames(columns="zz"),
    "frames: a source of another type": _frames(source=3),
    "frames: two rows of a group": _frames(
        frames={"rows": pd.DataFrame({"k": ["a", "a"], "n": [3, 4]})}
    ),
    "groups: a negative count": _groups(table="negative.csv"),
    "groups: a source of another type": _groups(source=3),
    "groups: more than the limit": _groups(delta="1e-2"),
    "groups: an output that is there": _groups(out="there.csv"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_spends_nothing(
    tmp_path: Path, ledger: Ledger, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these stands in the ledger with +0 lines, and leaves no file."""
    rows = "".join(f"r{i},{i}\n" for i in range(4000))
    texts = {
        "bad.csv": f"k,n\n{rows}z,x\n",
        "short.csv": "k,n\na,1\nb\n",
        "none.csv": "k,n\n",
        "twice.csv": "k,n\na,1\na,2\n",
        "t.ledger": "k,n\na,1\n",
        "negative.csv": "k,n\na,-1\n",
        "there.csv": "there",
        "total.csv": f"k,n\n{rows}all,{sum(range(4000))}\n",
    }
    for file, text in texts.items():
        (tmp_path / file).write_text(text)
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("discretegauss.release._first_look._MOST_COUNTS", 1000)
    with pytest.raises((ValueError, TypeError, OSError)) as refused:
        REFUSED[name]()
    assert not getattr(refused.value, "__notes__", [])
    assert Ledger("p.ledger").entries == ()
    assert not [x for x in os.listdir() if x.startswith((".discretegauss", "o.csv", "o2.csv"))]


LATE: dict[str, Callable[[], object]] = {
    "table": _table(source=breaks),
    "plan": _plan("k,n\n" + "".join(f"r{i},{7 * i}\n" for i in range(30)), source=breaks),
    "groups": _groups(source=breaks),
    "frames": _frames(source=breaks),
}


@pytest.mark.parametrize("name", LATE)
def test_an_error_of_the_draws_has_spent_and_says_so(ledger: Ledger, name: str) -> None:
    with pytest.raises(RuntimeError, match="the source broke") as broke:
        LATE[name]()
    assert broke.value.__notes__ == [NOTE]
    assert len(Ledger("p.ledger").entries) == 1
    assert not Path("o.csv").exists()


def test_an_output_that_another_makes_meanwhile_has_the_note(ledger: Ledger) -> None:
    """Its error is made anew, and keeps the note."""

    def makes(buffer: memoryview) -> None:
        Path("o.csv").write_text("another's")
        buffer[:] = os.urandom(len(buffer))

    with pytest.raises(dg.release.OutputError, match="already exists") as refused:
        _table(source=makes)()
    assert refused.value.__notes__ == [NOTE]


def test_a_folder_without_rights_spends_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are made before the line, to see that they can be."""

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("discretegauss._system.atomic_file._create", denied)
    for call in (_table(), _groups()):
        with pytest.raises(PermissionError):
            call()
    assert Ledger("p.ledger").entries == ()


def test_a_bad_cell_in_a_pipe_spends_and_says_so(ledger: Ledger) -> None:
    """A pipe can be read only once."""
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_text, args=("k,n\na,1\nb,x\n",))
    writer.start()
    with pytest.raises(TableError, match="not a whole number") as refused:
        _table(table="pipe")()
    writer.join()
    assert refused.value.__notes__ == [NOTE]


def test_the_rehearsal_writes_no_count(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is written to nowhere once, with zeros."""
    seen: list[bytes] = []
    monkeypatch.setattr(
        "discretegauss.release._run._nowhere", lambda data: seen.append(bytes(data))
    )
    _table()()
    assert b"".join(seen).splitlines() == [b"k,n", *(f"r{i},0".encode() for i in range(30))]


# --- the command -----------------------------------------------------------------------------


def test_the_command_starts_shows_and_finds(tmp_path: Path, ledger: Ledger, run: Command) -> None:
    unit = "a resident of the register of 2026"
    done = run("ledger", "start", "new", "--epsilon", "2", "--unit", unit, "--own-delta", "1e-6")
    assert done.code == 0
    assert done.out == f"{Ledger('new')}\n"
    assert "limit epsilon 2, own delta 1e-6" in done.out
    started = ("ledger", "start", "newer", "--unit", unit, "--neighbours")
    assert run(*started, "replace", "--rho", "1").code == 0
    assert Ledger("newer").neighbours == "replace"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("start x --rho 1", "the following arguments are required: --unit (help: discretegauss le"),
        ("start x --unit u", "a limit must be rho, or epsilon with or without delta"),
        ("start x --unit u --rho 1 --own-delta 2", "argument --own-delta: must lie between"),
        ("start x --unit u --rho 1 --neighbours 3", "--neighbours must be 'add or remove'"),
        ("start p.ledger --unit u --rho 1", "exists already; a ledger is started once"),
        ("begin x", "give LEDGER, or start LEDGER; got 'begin'"),
        ("p.ledger --rho 1", "--rho must not be given with LEDGER alone"),
        ("p.ledger --has 0123456789abcdef", "has no line '0123456789abcdef': it may be an old"),
        ("none", "none does not exist; start makes a new ledger"),
        ("start x --unit u --rho 1 --has 3", "--has must not be given with start"),
    ],
)
def test_the_command_refuses_in_one_line(
    ledger: Ledger, run: Command, words: str, error: str
) -> None:
    done = run("ledger", *words.split())
    assert done.is_refused_with(error), done.err
    assert not Path("x").exists()


def test_the_command_says_that_a_late_error_has_spent(
    ledger: Ledger, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error", "o.csv")

    monkeypatch.setattr("discretegauss.release._run.place_together", fails)
    words = "release t.csv --column n --rho 0.1 --out o.csv --ledger p.ledger"
    assert run(*words.split()).is_refused_with(f"o.csv: Input/output error; {NOTE}")
    words = "release t.csv --column n --rho 2 --out o.csv --ledger p.ledger"
    assert run(*words.split()).is_refused_with("rho = 2 is more than what is left: 0.9 of 1")


# --- kills -----------------------------------------------------------------------------------


def ends(folder: Path, kind: str, *more: object) -> list[dict[str, Any]]:
    program = Path(ledger_kills.__file__)
    lines = printed(sys.executable, program, folder, kind, *more).splitlines()
    return [json.loads(line) for line in lines]


EVERY = [("exit", 0, 1), ("kill", 0, 1), ("int", 0, 1)]


@pytest.mark.parametrize(
    ("kind", "first", "by"), [("exit", 1, 7), ("int", 2, 7), *evidence(*EVERY)]
)
def test_nothing_is_drawn_before_its_line_wherever_a_release_ends(
    tmp_path: Path, kind: str, first: int, by: int
) -> None:
    """It ends before and after each call of the system: 105 places, of which some by default."""
    found = ends(tmp_path, kind, first, by)
    assert len(found) > 80 / by
    for one in found:
        assert one["lines"] in (0, 1), one
        assert one["lines"] or not (one["drawn"] or one["out"]), one
        assert one["drawn"] or not one["out"], one
        interrupted = "KeyboardInterrupt" in one["error"]
        assert interrupted == (kind == "int" and one["status"] == 1), one
        assert (NOTE in one["error"]) == (interrupted and one["lines"] == 1), one
    states = {(one["lines"], one["drawn"], one["out"]) for one in found}
    assert {(0, False, False), (1, False, False)} < states
    if kind == "int":
        assert {0, 1} == {one["lines"] for one in found if one["error"]}


@pytest.mark.process
@pytest.mark.parametrize("lock", ["flock", "file"])
def test_four_processes_spend_the_limit_and_no_more(tmp_path: Path, lock: str) -> None:
    """They try 160 times a hundredth of 1."""
    (each,) = ends(tmp_path, "four", lock)
    assert sum(map(int, each)) == 100
    found = Ledger(tmp_path / "p.ledger")
    assert found.spent[0] == 1
    assert json.loads(found.path.read_text().splitlines()[0])["lock"] == lock


@pytest.mark.process
def test_two_threads_do_not_both_spend_what_is_there_once(ledger: Ledger) -> None:
    results: list[object] = []

    def one(i: int) -> None:
        try:
            results.append(_table(rho="0.6", out=f"o{i}.csv")())
        except LedgerError as error:
            results.append(str(error))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [text for text in results if isinstance(text, str)]
    assert len(refused) == 1
    assert "rho = 0.6 is more than what is left: 0.4 of 1" in refused[0]
    assert Ledger("p.ledger").spent[0] == Fraction(3, 5)
