"""The command line: its output, and one line for each error of arguments or files."""

from __future__ import annotations

import decimal
import hashlib
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from fractions import Fraction
from pathlib import Path
from typing import Self

import pytest
from command import (
    Command,
    Outcome,
    completed,
    descriptor,
    process,
    release,
    without_reader,
)
from evidence_cases import at_once
from gmpy2 import mpz
from programs import printed
from tables import FLIGHTS

from discretegauss import DiscreteGaussian, __version__, data, privacy


def test_a_shell_completes_options(tmp_path: Path) -> None:
    """argcomplete asks the command in this way; what it finds ends with a blank."""
    pytest.importorskip("argcomplete")
    line, found = "discretegauss release --rh", tmp_path / "found"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    process(env=os.environ | asked | {"_ARGCOMPLETE_STDOUT_FILENAME": str(found)})
    assert found.read_text() == "--rho "


def test_python_m_releases_the_real_table_into_the_current_folder(tmp_path: Path) -> None:
    done = process(*release("noisy.csv", "--rho", "0.1"), cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    for line in (
        "rows                5268",
        "other columns       4 (published unchanged)",
        "sigma2              5",
        "written to          noisy.csv",
    ):
        assert line in done.out.splitlines()
    assert len((tmp_path / "noisy.csv").read_text().splitlines()) == 5269
    assert os.listdir(tmp_path) == ["noisy.csv"]


def test_epsilon_and_delta(run: Command, tmp_path: Path) -> None:
    done = run(*release(tmp_path / "o", "--epsilon", 1, "--delta", "0.1", "--sensitivity", 2))
    assert done.code == 0
    assert "(1, 0.1) as asked" in done.out
    assert "by at most 2)" in done.out


def test_numbers_are_exact(run: Command, tmp_path: Path) -> None:
    """0.1 is a tenth (the float near it would give a sigma2 that is not 5), and 1/3 a third."""
    assert "sigma2              5\n" in run(*release(tmp_path / "a", "--rho", "0.1")).out
    assert "sigma2              3/2 = 1.5\n" in run(*release(tmp_path / "b", "--rho", "1/3")).out


def lines_of(done: Outcome) -> dict[str, str]:
    """Return the lines of a report; stderr has its warning, if there is one, and nothing else."""
    lines = {line[:20].rstrip(): line[20:] for line in done.out.splitlines()}
    warned = f"discretegauss: warning: {lines['warning']}\n" if "warning" in lines else ""
    assert (done.code, done.err) == (0, warned)
    return lines


def test_calibrate_by_epsilon_and_delta(run: Command) -> None:
    lines = lines_of(run("calibrate", "--epsilon", 1, "--delta", "1e-6", "--queries", 100))
    law = privacy.calibrate(DiscreteGaussian, epsilon=1, delta="1e-6", queries=100)
    assert lines["sigma2"] == f"{law.sigma2} = 1784.8"
    assert lines["standard deviation"] == "42.2469"
    assert lines["95 % interval"] == "-83 .. 83 (of the noise)"
    assert lines["sensitivity"] == "1 (one person changes at most 100 answers, each by at most 1)"
    assert lines["rho"] == "0.0280144 (zCDP)"
    assert lines["(epsilon, delta)"] == (
        "(1, 1e-6) as asked; achieved: (0.999998, 1e-6), by arXiv 2004.00010, Theorem 7"
    )


def test_calibrate_by_rho(run: Command) -> None:
    lines = lines_of(run("calibrate", "--rho", "1/3", "--sensitivity", 3, "--report-delta", "1e-9"))
    assert lines["sigma2"] == "27/2 = 13.5"
    assert lines["rho"] == "0.333334 (zCDP)"
    assert lines["(epsilon, delta)"].endswith(", 1e-9), by arXiv 2004.00010, Theorem 7")


@pytest.mark.parametrize(
    ("sensitivity", "queries", "text"),
    [
        ("4/3", 1, "1.33333 (the Euclidean norm of all that one person changes is at most that)"),
        (1000001, 1, "1000001 (one person changes at most one answer, by at most 1000001)"),
        (1, 10**12 + 1, "1 (one person changes at most 1e+12 answers, each by at most 1)"),
        (
            10**13 - 1,
            1,
            "9.99999e+12 (one person changes at most one answer, by at most 9.99999e+12)",
        ),
        ("2.9999999", 2, "2.99999 (one person changes at most 2 answers, each by at most 2.99999)"),
    ],
)
def test_a_sensitivity_of_many_digits_is_rounded_down(
    run: Command, sensitivity: object, queries: int, text: str
) -> None:
    """The printed rho would be too low for a sensitivity that is rounded up."""
    of_person = ("--sensitivity", sensitivity, "--queries", queries)
    lines = lines_of(run("calibrate", "--rho", 1, *of_person))
    assert (lines["sensitivity"], lines["rho"]) == (text, "1 (zCDP)")


def test_calibrate_takes_rows_per_person_as_release_does(run: Command) -> None:
    """It is the number of answers that one person changes, and only one option may give it."""
    how = ("calibrate", "--epsilon", 1, "--delta", "1e-6")
    assert run(*how, "--rows-per-person", 3).out == run(*how, "--queries", 3).out
    wrong = run(*how, "--rows-per-person", 3, "--queries", 2)
    assert (wrong.code, wrong.out) == (2, "")
    assert "--queries must not be given with --rows-per-person" in wrong.err


def test_calibrate_with_numbers_that_are_long_or_nothing(run: Command) -> None:
    """If the noise is huge, epsilon is 0. A fraction that is too long to read is rounded."""
    lines = lines_of(run("calibrate", "--rho", "1e-30", "--report-delta", "1e-6"))
    assert lines["(epsilon, delta)"].startswith("(0, 1e-6)")
    lines = lines_of(run("calibrate", "--rho", "1/" + "7" * 70))
    assert lines["sigma2"] == "a fraction of 233 bits ~ 3.88889e+69"


@pytest.mark.parametrize(
    ("arguments", "sigma2", "rho"),
    [
        (["--rho", "1e5000"], "a fraction of 16611 bits = 5e-5001", "1e+5000 (zCDP)"),
        (["--rho", "1e4500", "--queries", "1e4500"], "1/2 = 0.5", "1e+4500 (zCDP)"),
        (
            ["--rho", "1e4500", "--queries", "1" + "0" * 4280 + "1"],
            "a fraction of 14950 bits ~ 5e-220",
            "1e+4500 (zCDP)",
        ),
        (["--rho", "1e-1199"], "a fraction of 3982 bits = 5e+1198", "1e-1199 (zCDP)"),
    ],
)
def test_numbers_of_more_digits_than_python_prints(
    run: Command, tmp_path: Path, arguments: list[str], sigma2: str, rho: str
) -> None:
    """Python refuses to print more than 4300 digits."""
    lines = lines_of(run("calibrate", *arguments))
    assert (lines["sigma2"], lines["rho"]) == (sigma2, rho)
    if "--queries" not in arguments:  # which `release` does not have
        lines = lines_of(run(*release(tmp_path / "o", *arguments)))
        assert (lines["sigma2"], lines["rho"]) == (sigma2, rho)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("0.1", "1e-6"), ("1000000/999999", "1e-9")],
)
def test_what_is_achieved_is_never_above_what_was_asked(
    run: Command, epsilon: str, delta: str
) -> None:
    """Of 100 answers, which get Gaussian noise."""
    asked = ["--epsilon", epsilon, "--delta", delta, "--queries", 100]
    line = lines_of(run("calibrate", *asked))["(epsilon, delta)"]
    found = re.fullmatch(r"\((\S+), .*\) as asked; achieved: \((\S+), .*\), by .*", line)
    assert found is not None
    assert Fraction(found[2]) <= Fraction(found[1])


@pytest.mark.parametrize(("epsilon", "shown"), [("1e300", "1e+300"), ("1e5000", "1e+5000")])
def test_an_epsilon_beyond_floats_is_reported(run: Command, epsilon: str, shown: str) -> None:
    """The float above 1e300 would be rounded up again, to 1.00001e+300."""
    lines = lines_of(run("calibrate", "--epsilon", epsilon, "--delta", f"1e-{epsilon[2:]}"))
    assert lines["epsilon"].startswith(f"{shown} (pure: delta = 0)")
    assert lines["standard deviation"] == "below 1e-160"


def test_the_decimal_context_of_the_caller_changes_nothing(run: Command) -> None:
    arguments = ["calibrate", "--rho", "0.07", "--queries", "3"]
    usual = lines_of(run(*arguments))
    exact = [decimal.Inexact, decimal.Rounded, decimal.Subnormal, decimal.FloatOperation]
    with decimal.localcontext(decimal.Context(prec=3, Emax=2, Emin=-2, traps=exact)):
        assert lines_of(run(*arguments)) == usual
    assert usual["standard deviation"] == "4.6291"


def test_help_warns_of_what_the_noise_does_not_touch(run: Command) -> None:
    text = " ".join(run("release", "--help").out.split())
    for warning in (
        "discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv",
        "all other cells are kept",
        "sorted by its counts",
        "shares or ranks",
        "If the table has a row of totals, each record counts twice",
        "the plot shows no true counts",
    ):
        assert warning in text


def test_the_help_of_calibrate_calls_sigma2_the_least(run: Command) -> None:
    """At (10, 1e-4) sigma2 = 0.15 is enough, too, but 0.08 is not, so the least is printed."""
    text = " ".join(run("calibrate", "--help").out.split())
    assert (
        "sigma2 is the least that does so, rounded up. A larger sigma2 may break the budget" in text
    )
    printed = lines_of(run("calibrate", "--epsilon", 10, "--delta", "1e-4"))["sigma2"]
    assert printed.endswith(" = 0.0499998")
    assert privacy.delta(DiscreteGaussian("2/25"), epsilon=10) > 1e-4


def test_version(run: Command) -> None:
    done = run("--version")
    assert done.code == 0
    assert done.out.startswith(f"discretegauss {__version__} (engine ")


ONE_BUDGET = "either --rho, or --epsilon, alone or with --delta"
ONCE_MORE = "--report-delta needs --rho and must not be given with --epsilon"
PAIR = ["--epsilon", "1", "--delta", "0.1"]

OF_A_BUDGET: list[tuple[list[str], str]] = [
    ([], f"{ONE_BUDGET}; got none"),
    (["--rho", "1", "--epsilon", "1"], "; got --rho and --epsilon"),
    (["--rho", "1", "--delta", "0.1"], ONE_BUDGET),
    (["--epsilon", "0"], "--epsilon must be positive if delta is 0, got 0"),
    (["--epsilon", "1", "--report-delta", "0.1"], ONCE_MORE),
    (["--delta", "0.1"], ONE_BUDGET),
    (["--rho", "0"], "--rho: must be positive, got '0'"),
    (["--rho=-1/3"], "--rho: must be positive"),
    (["--rho", "nan"], "--rho: must be a finite number"),
    (["--rho", "a\nb"], "--rho: must be a finite number"),
    (["--rho", "1e-1300"], "at most 600 digits, got a standard deviation of about 650 digits"),
    (["--epsilon", "-1", "--delta", "0.1"], "--epsilon: must not be negative"),
    (["--epsilon", "1", "--delta", "1"], "--delta: must lie between 0 and 1"),
    ([*PAIR, "--report-delta", "1e-9"], ONCE_MORE),
    ([*PAIR, "--sensitivity", "3/2"], "must be a whole number"),
    (["--rho", "1", "--rows-per-person", "1/2"], "--rows-per-person: must be a whole number"),
    (["--rho", "1", "--seed", "1"], "unrecognized arguments: --seed 1; there is no seed"),
    (["--rh", "1"], "unrecognized arguments: --rh 1"),
    (["--rho"], "expected one argument"),
]

OF_A_RELEASE: list[tuple[list[str], str]] = [
    (["--sensitivity", "0.5"], "--sensitivity: must be at least 1, got '0.5'"),
    (["--column", "no"], "no column 'no'"),
    (["--column", "carrier"], "column 'carrier': the cell is not a whole number"),
    (["--column", "flights", "--column", "flights"], "each column once, got 'flights' twice"),
    (["--plot", "-"], "--plot: must name a file, because a plot cannot go to stdout, got '-'"),
    (["--plot", "p.txt"], "p.txt must end in .png, .pdf or .svg"),
    (["--plot", "no/p.png"], "must be in a folder that exists"),
    (["--out", "o.parquet"], "text cannot be written as Parquet"),
    (["--out", "o.xlsx"], "o.xlsx must end as the table does or in one of .csv"),
    (["--out", "."], "not a regular file"),
    (["--out", ""], "argument --out: must name a file, got ''"),
    (["--out", "no/o.csv"], "must be in a folder that exists"),
    (["--out", str(FLIGHTS)], "is the table itself"),
]

OF_A_SAMPLE: list[tuple[list[object], str]] = [
    ([], "give one of --sigma2, --sigma and --scale"),
    (["--sigma", 1, "--scale", 2], "got --sigma and --scale"),
    (["--sigma2", 1, "--beta", 2], "--beta only with --scale"),
    (["--sigma2", 1, "--size", "0"], "--size: must be a whole number, at least 1"),
    (["--sigma2", 1, "--threads", "0"], "--threads: must be a whole number, at least 1"),
    (["--sigma2", 1, "--source", "seed"], "--source: invalid choice"),
    (["--sigma2", "1e40"], "64-bit integers"),
    (["--sigma2", 1, "--out", ""], "argument --out: must name a file, got ''"),
    (["--sigma2", 1, "--out", "no/n.npy"], "must be in a folder that exists"),
    (["--sigma2", 1, "--out", "o.xlsx"], ".csv, .txt, or have no end"),
    (["--sigma2", 1, "--out", "."], "not a regular file"),
]

WRONG: list[tuple[Sequence[object], str]] = [
    *((release("o.csv", *given), message) for given, message in OF_A_BUDGET),
    *((["calibrate", *given], message) for given, message in OF_A_BUDGET),
    *((release("o.csv", "--rho", 1, *given), message) for given, message in OF_A_RELEASE),
    *(
        (["sample", *completed({"--size": 3, "--out": "n.npy"}, given)], message)
        for given, message in OF_A_SAMPLE
    ),
    (["calibrate", "--rho", 1, "--queries", "1.5"], "--queries: must be a whole number"),
    (["calibrate", "--rho", 1, "counts.csv"], "unrecognized arguments: counts.csv"),
    (["release", "", "--rho", 1], "argument TABLE: must name a file, got ''"),
    (["release", "--plan", ""], "argument --plan: must name a file, got ''"),
    (release("o.csv.gz", "--rho", 1, table="none.csv.zip"), "none.csv.zip: No such file"),
    *((command.split(), "") for command in ("", "releases", "release", "release t.csv")),
]


@at_once(("arguments", "message"), WRONG)
def test_a_wrong_argument_is_one_line_exit_code_2_and_no_file(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: Sequence[object],
    message: str,
) -> None:
    """The line names the option and its rule."""
    monkeypatch.chdir(tmp_path)
    before = FLIGHTS.read_bytes()
    done = run(*arguments)
    assert done.is_refused_with(message), done.err
    assert not list(tmp_path.iterdir())
    assert FLIGHTS.read_bytes() == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "t.csv: No such file or directory"),
        (b"flights\n", "no rows"),
        (b"flights\n31337.5\n", "line 2, column 'flights': the cell is not a whole number"),
    ],
)
def test_a_bad_file_is_one_line_exit_code_2_and_no_output(
    run: Command, tmp_path: Path, data: bytes | None, message: str
) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    if data is not None:
        table.write_bytes(data)
    done = run(*release(out, "--rho", 1, table=table))
    assert done.is_refused_with(message), done.err
    assert "31337" not in done.err
    assert [p.name for p in tmp_path.iterdir()] == ([] if data is None else ["t.csv"])


def test_a_dash_is_stdin_and_stdout(tmp_path: Path) -> None:
    """The report is on stderr, and stdout has only the table."""
    arguments = release("-", "--rho", "1e9", table="-")  # noise that is 0 with a probability near 1
    with FLIGHTS.open("rb") as file:
        done = process(*arguments, stdin=file, cwd=tmp_path)
    assert (done.code, done.out) == (0, FLIGHTS.read_text())
    assert "rows                5268\n" in done.err
    assert not list(tmp_path.iterdir())


def test_a_pipe_that_breaks_has_spent_the_budget(tmp_path: Path) -> None:
    with without_reader() as pipe:
        done = process(*release("-", "--rho", 1), cwd=tmp_path, stdout=pipe)
    assert done.code == 141
    assert done.is_one_line_with(
        "stdout: Broken pipe; part of the table may be written, and the budget is spent"
    )


def test_of_a_bad_table_nothing_is_on_stdout(tmp_path: Path) -> None:
    """The bad row is the last of many, whose noise is already drawn."""
    (tmp_path / "t.csv").write_text("a,flights\n" + f"{'x' * 90},31337\n" * 30_000 + "x,31337.5\n")
    done = process(*release("-", "--rho", 1, table="t.csv"), cwd=tmp_path)
    assert done.is_refused_with("line 30002, column 'flights': the cell is not a whole number")


def test_what_has_to_be_installed_is_said(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    for arguments in (
        release(tmp_path / "o.parquet", "--rho", 1, table=tmp_path / "t.parquet"),
        ["sample", "--sigma2", 1, "--size", 1, "--out", tmp_path / "o.parquet"],
    ):
        done = run(*arguments)
        assert done.is_refused_with("needs pyarrow: pip install pyarrow"), done.err
    assert os.listdir(tmp_path) == ["t.parquet"]


COMMANDS = ["release", "calibrate", "sample", "example", "verify"]


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_fits_a_narrow_terminal(
    run: Command, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """Only a longer word sticks out, and a wrapped command can still be copied."""
    helps = {}
    for columns in (40, 300):
        monkeypatch.setenv("COLUMNS", str(columns))
        helps[columns] = run(*command, "--help").out
    long = [line for line in helps[40].splitlines() if len(line) > 40]
    assert not [line for line in long if " " in line.strip()]
    unfolded = " ".join(helps[40].replace("\\\n", " ").split())
    examples = [line for line in helps[300].splitlines() if line.startswith("  discretegauss ")]
    assert examples
    assert all(line.strip() in unfolded for line in examples)


def test_the_help_names_every_command_and_shows_an_example(run: Command) -> None:
    text = run("--help").out
    assert "discretegauss release counts.csv --column n --rho 0.1 --out noisy.csv" in text
    assert all(f"\n    {name} " in text or f"\n    {name}\n" in text for name in COMMANDS)


def test_an_output_may_end_as_its_table_does(run: Command, tmp_path: Path) -> None:
    """The output may have the table's ending, another ending of text, or none."""
    (tmp_path / "t.dat").write_text("flights\n1\n")
    for out in ("o.dat", "o.txt", "o", "o.tsv.gz"):
        assert run(*release(tmp_path / out, "--rho", 1, table=tmp_path / "t.dat")).code == 0


def test_the_invented_people_are_always_the_same(run: Command) -> None:
    """50 000 people, of whom some 8000 have two to six records."""
    text = run("example", "--people").out
    header, *lines = text.splitlines()
    assert header == "person,town,age"
    records = Counter(line.split(",")[0] for line in lines)
    several = [n for n in records.values() if n > 1]
    assert (len(records), min(several), max(several)) == (50_000, 2, 6)
    assert 8000 < len(several) < 8700
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "3e237c6ec638b061"


def test_the_example_is_the_table_that_the_package_has(run: Command, tmp_path: Path) -> None:
    """A process of its own, which has loaded nothing of the package, prints it, too."""
    assert run("example").out == data.flights().read_text()
    done = process("example", cwd=tmp_path)
    assert (done.code, done.err, done.out) == (0, "", FLIGHTS.read_text())


def test_calibrate_as_json(run: Command) -> None:
    done = run("calibrate", "--rho", "1/3", "--queries", 2, "--json")
    assert (done.code, done.err) == (0, "")
    noise = json.loads(done.out)
    assert (noise["sigma2"], noise["rho"], noise["queries"]) == ("3", "1/3", 2)
    assert noise["epsilon"] == privacy.epsilon(DiscreteGaussian(3), "1e-6", queries=2)


@pytest.mark.parametrize(
    ("arguments", "own"),
    [
        (["calibrate", "--rho", "1/3"], {"rho": "1/3", "rho_decimal": "0.333334"}),
        (["release", FLIGHTS, "--column", "flights", "--rho", "1/3"], {"rho_decimal": "0.333334"}),
        (["sample", "--sigma", 2, "--mu", "1/3", "--size", 7], {"sigma2": "4", "mu": "1/3"}),
        (["verify", "--quick"], {"right": True}),
    ],
)
def test_json_tells_who_wrote_it_and_when(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[object],
    own: dict[str, object],
) -> None:
    """Four commands begin with the same three keys; the time is UTC, with the letter Z."""
    out = ["--out", tmp_path / "o"] if arguments[0] in ("release", "sample") else []

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(86400.5, tz or timezone(timedelta(hours=5)))

    monkeypatch.setattr("discretegauss._system.json_report.datetime", Clock)
    done = run(*arguments, *out, "--json")
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert list(report)[:3] == ["schema", "version", "time"]
    assert (report["schema"], report["version"]) == (1, __version__)
    assert report["time"] == "1970-01-02T00:00:00Z"
    assert report.items() >= own.items()


def test_verify_is_the_module_of_that_name(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("verify", "--quick")
    assert (done.code, done.err) == (0, "")
    assert "right: draws are the specification's, bit for bit\n" in done.out
    monkeypatch.setattr("discretegauss.verify.proof.find_spec", lambda _: None)
    done = run("verify")
    assert (done.code, done.err.partition("needs")[0]) == (2, "discretegauss verify ")


def test_the_command_starts_without_what_only_some_commands_need() -> None:
    code = "import discretegauss.__main__, sys; print({'matplotlib', 'pyarrow'} & {*sys.modules})"
    assert printed(sys.executable, "-c", code) == "set()\n"


def test_the_report_as_json(run: Command, tmp_path: Path) -> None:
    done = run(*release(tmp_path / "o", "--rho", "0.027", "--report-delta", "1e-6", "--json"))
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["columns"], report["rows"], report["other_columns"]) == (["flights"], 5268, 4)
    law = DiscreteGaussian(Fraction(report["sigma2"]))
    assert privacy.epsilon(law, Fraction(report["delta"])) == report["epsilon"]
    assert 0.9 < report["epsilon"] < 1
    assert report["interval95"] == [-law.interval(0.95)[1], law.interval(0.95)[1]]
    done = run(*release(tmp_path / "p", "--rho", "1e5000", "--json"))
    report = json.loads(done.out)
    assert Fraction(*map(int, _digits(report["sigma2"]))) == Fraction(1, 2 * 10**5000)


def _digits(ratio: str) -> list[mpz]:
    """Return numerator and denominator; Python itself reads at most 4300 digits."""
    return [mpz(part) for part in ratio.split("/")]


def test_files_whose_name_is_a_dash(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_text("flights\n1\n")
    done = run(*release("./o-", "--rho", 1, table="./-"))
    assert (done.code, done.err) == (0, "")
    assert sorted(os.listdir(tmp_path)) == ["-", "o-"]


def test_a_table_may_come_by_stdin_or_another_pipe(run: Command, tmp_path: Path) -> None:
    """``... | discretegauss release /dev/stdin`` and ``discretegauss release <(...)`` work."""
    for name in ("/dev/stdin", "/dev/fd/0"):
        reading, writing = os.pipe()
        os.write(writing, b"flights\n1\n2\n")
        os.close(writing)
        out = tmp_path / "o.csv"
        with open(reading, "rb") as pipe, descriptor(0, pipe):
            done = run(*release(out, "--rho", 1, "--force", table=name))
        assert (done.code, done.err) == (0, "")
        assert len(out.read_text().splitlines()) == 3


def test_the_output_may_not_be_the_table_that_comes_by_stdin(run: Command, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("flights\n1\n")
    with table.open() as file, descriptor(0, file):
        done = run(*release(table, "--rho", 1, "--force", table="/dev/stdin"))
    assert done.is_refused_with("t.csv is the table itself")
    assert table.read_text() == "flights\n1\n"


def test_a_folder_as_the_table(run: Command, tmp_path: Path) -> None:
    arguments = release(tmp_path / "o.csv", "--rho", 1, table=tmp_path)
    assert run(*arguments).is_refused_with("Is a directory")


def test_a_folder_that_cannot_be_written(run: Command) -> None:
    """Nobody can create files in /proc, not even root."""
    assert run(*release("/proc/o.csv", "--rho", 1)).is_refused_with(" /proc/o.csv: ")


def test_names_that_the_terminal_cannot_show(run: Command, tmp_path: Path) -> None:
    table, terminal = tmp_path / "zähl.csv", io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    table.write_text("größe\n1\n", encoding="utf-8")
    arguments = ("release", table, "--column", "größe", "--rho", 1, "--out", tmp_path / "ö.csv")
    done = run(*arguments, stdout=terminal)
    assert (done.code, done.err) == (0, "")
    terminal.seek(0)
    assert "gr\\xf6\\xdfe" in terminal.read()
