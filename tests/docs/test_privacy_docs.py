"""The examples of docs/privacy.md print what the page shows."""

from __future__ import annotations

import math
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest
from command import Command

import discretegauss as dg

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "privacy.md").read_text(encoding="utf-8")


def block(start: str) -> list[str]:
    found = re.search(rf"```\w*\n({start}.*?)```", TEXT, re.DOTALL)
    if found is None:
        pytest.fail(f"docs/privacy.md has no block that starts with {start}")
    return found.group(1).splitlines()


def test_the_lines_of_python_return_what_their_comments_say() -> None:
    names = {"dg": dg, "Fraction": Fraction, "DiscreteGaussian": dg.DiscreteGaussian}
    compared = 0
    for line in block("import discretegauss"):
        code, _, comment = line.partition("#")
        value = re.search(r"\b(?:Fraction|DiscreteGaussian)\([\d, /]+\)", comment)
        if value is None:
            exec(code, names)  # noqa: S102
        else:
            expected = value.group().replace("8924/5", "'8924/5'")
            assert eval(code, names) == eval(expected, names)  # noqa: S307
            compared += 1
    assert compared == 5


def test_the_command_prints_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    command, *shown = block(r"\$ discretegauss calibrate")
    done = Command(capsys)(*shlex.split(command)[2:])
    assert (done.code, done.out.splitlines()) == (0, shown)


def test_a_norm_as_a_float_may_be_too_small_and_the_next_float_is_not() -> None:
    law, exact = dg.DiscreteGaussian(100), Fraction(3, 200)
    assert dg.privacy.rho(law, math.sqrt(3)) < exact
    assert exact < dg.privacy.rho(law, math.nextafter(math.sqrt(3), math.inf))
    assert dg.privacy.rho(law, [1, 1, 1]) == exact
