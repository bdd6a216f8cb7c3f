"""No output of a release is a file that it reads, or another output, whatever its name is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import process
from inputs import must_not_draw
from tables import write_counts, write_plan

from discretegauss.errors import OutputError
from discretegauss.release import release_plan, release_table
from discretegauss.release.commands import release_groups

Files = dict[str, tuple[int, bytes]]


def files_in(folder: Path) -> Files:
    """Return the inode and the bytes of each file in the folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.stat().st_ino, path.read_bytes()) for path in files}


def another_name(path: Path, kind: str) -> Path:
    """Return a name of the file, which is made if it is a link."""
    folder = path.parent / "sub"
    folder.mkdir()
    if kind == "name":
        return path
    if kind == "spelling":
        return folder / ".." / path.name
    link = folder / path.name
    if kind == "symbolic link":
        link.symlink_to(path)
    elif kind == "hard link":
        link.hardlink_to(path)
    return link


NAMES = ["name", "spelling", "symbolic link", "hard link"]


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("used", ["table 1", "table 2", "the plan", "the output of table 2"])
@pytest.mark.parametrize("role", ["output", "plot", "consistent"])
def test_each_file_of_a_plan_as_each_output(
    tmp_path: Path, role: str, used: str, kind: str
) -> None:
    """It is refused by the name of what it is, before anything is drawn, and all files stay."""
    if role == "plot":
        pytest.importorskip("matplotlib")
    names = {
        "table 1": "a.csv",
        "table 2": "b.svg" if role == "plot" else "b.csv",  # its output ends as it does
        "the plan": "plan.toml",
        "the output of table 2": "b_noisy.csv",
    }
    names[used] = "x.svg" if role == "plot" else "x.csv"
    for table in ("table 1", "table 2", "the output of table 2"):
        write_counts(tmp_path / names[table], [31337])
    plan = tmp_path / names["the plan"]
    plan.touch()  # so that it can have a second name
    given = another_name(tmp_path / names[used], kind)
    out, how = "a_noisy.csv", dict[str, Any]()
    if role == "output":
        out = str(given)
    elif role == "plot":
        how = {"plot": given}
    else:
        how = {"consistent": given.parent}
        out = f"elsewhere/{given.name}"
        (tmp_path / "elsewhere").mkdir()
    tables = [
        {"table": names["table 1"], "out": out},
        {"table": names["table 2"], "out": names["the output of table 2"]},
    ]
    plan.write_text(write_plan(tmp_path, "rho = 1", *tables).read_text())
    if role == "output":  # outputs are compared in their order
        used = used.replace("output of table 2", "output of table 1")
    before = files_in(tmp_path)
    with pytest.raises(OutputError, match=rf"\.(csv|svg) is {used}.*; the .* must be another"):
        release_plan(plan, force=True, source=must_not_draw, **how)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("role", ["output", "plot", "plot over output", "groups"])
def test_the_table_and_the_output_of_one_table(tmp_path: Path, role: str, kind: str) -> None:
    pytest.importorskip("matplotlib")
    table, out = tmp_path / "t.svg", tmp_path / "old.svg"
    for path in (table, out):
        write_counts(path, [31337])
    given = another_name(out if role == "plot over output" else table, kind)
    rule, budget = "is the table itself; the output must", {"epsilon": 1, "delta": "1e-6"}
    call: Any = release_table
    how: dict[str, Any] = {"source": must_not_draw}
    if role == "groups":
        call, how, out = release_groups, {}, given
    elif role == "output":
        out = given
    else:
        rule = f"is the {'output' if 'over' in role else 'table itself'}; the plot must"
        how["plot"] = given
    before = files_in(tmp_path)
    with pytest.raises(OutputError, match=rule):
        call(table, "n", out, force=True, **budget, **how)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["noisy", "link", "noisy/../noisy"])
def test_new_files_in_one_folder_are_one_file(tmp_path: Path, name: str, force: bool) -> None:
    """The outputs do not exist yet, so only their folder tells that they are the same."""
    (tmp_path / "noisy").mkdir()
    (tmp_path / "link").symlink_to("noisy")
    for i in range(2):
        write_counts(tmp_path / f"{i}.csv", [31337])
    tables = [{"out": f"noisy/{i}.csv"} for i in range(2)]
    plan = write_plan(tmp_path, "rho = 1", *tables)
    how: dict[str, Any] = {"force": force, "source": must_not_draw}
    rule = r"0\.csv is the output of table 1; the consistent table 1 must be another file"
    with pytest.raises(OutputError, match=rule):
        release_plan(plan, consistent=tmp_path / name, **how)
    plan = write_plan(tmp_path, "rho = 1", {"out": "noisy/0.csv"}, {"out": f"{name}/0.csv"})
    rule = r"table 2: .*0\.csv is the output of table 1; the output of table 2 must"
    with pytest.raises(OutputError, match=rule):
        release_plan(plan, **how)
    assert not list((tmp_path / "noisy").iterdir())


def test_stdout_may_not_be_appended_to_the_table(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    write_counts(table, [31337])
    with table.open("a") as stdout:
        done = process(
            *("release", table, "--column", "n", "--rho", 1, "--out", "-"), stdout=stdout
        )
    assert done.is_refused_with("/dev/stdout is the table itself; the output must be another file")
    assert table.read_text() == "n\n31337\n"
