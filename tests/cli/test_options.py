"""Every option of the command line takes the numbers it should, and refuses others in one line.

Each option must be in OPTIONS, or in NO_NUMBERS if another test covers it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from command import Command
from engine import ENGINE
from inputs_table import is_far

TEXTS: dict[str, Fraction | None] = {
    "0": Fraction(0),
    "-0.0": Fraction(0),
    "1": Fraction(1),
    "+1": Fraction(1),
    "-1": Fraction(-1),
    "1/3": Fraction(1, 3),
    " 0.25 ": Fraction(1, 4),
    "5e-324": Fraction("5e-324"),
    "1e308": Fraction("1e308"),
    str(2**4000): Fraction(2**4000),
    "1e999999999": None,
    "1" * 5000: None,
    "nan": None,
    "-inf": None,
    "1/0": None,
    "": None,
    "one": None,
    "True": None,
    "None": None,
    "1j": None,
    "b'1'": None,
    "[1, 2]": None,
    "½": None,
    "1_0": None,
    "\u0661": None,
    "1\0": None,
}


def positive(x: Fraction) -> bool:
    return x > 0


def not_negative(x: Fraction) -> bool:
    return x >= 0


def probability(x: Fraction) -> bool:
    return 0 < x < 1


def at_least_1(x: Fraction) -> bool:
    return x >= 1


def whole(x: Fraction) -> bool:
    return x.denominator == 1 and x >= 1


OPTIONS: dict[tuple[str, str], tuple[Callable[[Fraction], bool], list[str]]] = {
    ("calibrate", "--rho"): (positive, []),
    ("calibrate", "--epsilon"): (not_negative, ["--delta", "0.001"]),
    ("calibrate", "--delta"): (probability, ["--epsilon", "1"]),
    ("calibrate", "--report-delta"): (probability, ["--rho", "1"]),
    ("calibrate", "--sensitivity"): (at_least_1, ["--rho", "1"]),
    ("calibrate", "--queries"): (whole, ["--rho", "1"]),
    ("calibrate", "--rows-per-person"): (whole, ["--rho", "1"]),
    ("calibrate", "--records"): (whole, ["--rho", "1"]),
    ("calibrate", "--error"): (not_negative, []),
    ("calibrate", "--confidence"): (probability, ["--error", "5"]),
    ("sample", "--sigma2"): (positive, []),
    ("sample", "--sigma"): (positive, []),
    ("sample", "--scale"): (positive, []),
    ("sample", "--beta"): (at_least_1, ["--scale", "1"]),
    ("sample", "--mu"): (lambda x: True, ["--sigma2", "1"]),
    ("release", "--rho"): (positive, []),
    ("release", "--epsilon"): (not_negative, ["--delta", "0.001"]),
    ("release", "--delta"): (probability, ["--epsilon", "1"]),
    ("release", "--report-delta"): (probability, ["--rho", "1"]),
    ("release", "--sensitivity"): (at_least_1, ["--rho", "1"]),
    ("release", "--rows-per-person"): (whole, ["--rho", "1"]),
    ("release", "--records"): (whole, ["--rho", "1"]),
    ("verify", "--random"): (whole, []),
    ("ledger", "--rho"): (positive, []),
    ("ledger", "--epsilon"): (positive, ["--delta", "0.001"]),
    ("ledger", "--delta"): (probability, ["--epsilon", "1"]),
    ("ledger", "--own-delta"): (probability, ["--rho", "1"]),
}
"""For each option, the condition on its number, and other arguments that make the call valid."""

NO_NUMBERS = {"-h", "--people", "--help", "--version", "--column", "--out", "--force"}
NO_NUMBERS |= {"--json", "--plot", "--plan", "--disjoint", "--size", "--source", "--threads"}
NO_NUMBERS |= {
    "--apart",
    "--consistent",
    "--day",
    "--days",
    "--delimiter",
    "--gpu",
    "--has",
    "--integral-floats",
    "--ledger",
    "--neighbours",
    "--one-per-row",
    "--period",
    "--quick",
    "--running",
    "--start",
    "--unit",
    "--unknown-groups",
}
"""Other tests in tests/cli cover these options."""


@pytest.fixture
def listed(run: Command, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """Return the placeholder of each option that the help of a command lists, or nothing."""
    monkeypatch.setenv("COLUMNS", "300")
    return {
        (command, option): placeholder
        for command in re.findall(r"^    (\w+)", run("--help").out, re.MULTILINE)
        for option, placeholder in re.findall(
            r"^  (?:-h, )?(--[\w-]+) ?(\S*)", run(command, "--help").out, re.MULTILINE
        )
    }


def test_every_option_is_in_the_table(listed: dict[tuple[str, str], str]) -> None:
    """Each option has a line in the table, and each line an option."""
    assert {key for key in listed if key[1] not in NO_NUMBERS} == set(OPTIONS)


def test_an_option_that_is_given_twice_is_refused(
    run: Command, listed: dict[tuple[str, str], str]
) -> None:
    """Otherwise only the second would count, and a second budget would replace the first."""
    for (command, option), placeholder in listed.items():
        if placeholder and option != "--column":
            holds, _ = OPTIONS.get((command, option), (whole, []))
            right = "getrandom" if option == "--source" else "1/2" if holds is probability else 1
            done = run(command, f"{option}={right}", f"{option}={right}")
            assert done.is_refused_with(f"argument {option}: must be given only once"), done.err


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_an_option_takes_what_the_table_says(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, option: str
) -> None:
    """A right number gives exit code 0 and a file; a wrong one gives 2 and one line that names it.

    A right number far from 1 may need noise that is too large. Then the line says so.
    """
    if ENGINE == "python" and (command, option) == ("sample", "--beta"):
        pytest.skip("a generalised Gaussian needs the compiled core")
    monkeypatch.setattr("discretegauss.verify.proof.main", lambda *_: 0)  # each would take minutes
    holds, others = OPTIONS[command, option]
    (tmp_path / "counts.csv").write_text("n\n1\n2\n")
    out = tmp_path / "noisy.csv"
    files = {
        "release": [tmp_path / "counts.csv", "--column", "n", "--out", out],
        "sample": ["--size", "2", "--out", out],
        "ledger": ["start", out, "--unit", "a person"],
    }
    for text, exact in TEXTS.items():
        done = run(command, *files.get(command, []), *others, f"{option}={text}")
        right = exact is not None and holds(exact)
        if done.code == 0:
            assert right, text
            warned = r"(discretegauss: warning: the noise is 0 in .*\n)?"
            assert re.fullmatch(warned, done.err), text
            assert out.exists() == (command in files)
            out.unlink(missing_ok=True)
            continue
        assert done.is_refused_with(""), text
        assert option in done.err or (right and " must " in done.err), done.err
        assert not right or is_far(exact or Fraction(0)), f"{text}: {done.err}"
        assert len(done.err) < 400
        assert not out.exists()
