"""The verifier: it proves the core's tables right, and rejects tables with one thing wrong.

The default run looks at a dozen tables; `pytest tests/test_verify.py -m evidence` at the whole list
of ``python -m discretegauss.verify`` and 200 random laws.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from broken_tables import (
    CORRUPTIONS,
    CUBIC,
    HUGE,
    LINE_CORRUPTIONS,
    SINGLE,
    WIDE,
    Corruption,
    with_line,
)

from discretegauss import verify as verifier
from discretegauss._spec import Kind, Spec
from discretegauss._verify_cases import described, fixed_cases, random_cases
from discretegauss._verify_law import Weight, precision
from discretegauss._verify_lines import Use, line_holds
from discretegauss._verify_table import SLOPE_BITS, Line, Table
from discretegauss.verify import VerificationError, copy_out, verify

pytest.importorskip("flint", reason="the verifier needs python-flint")
pytestmark = pytest.mark.usefixtures("native_engine")

Q = Fraction
GAUSSIAN, LAPLACE, GENERALIZED = (
    Kind.DISCRETE_GAUSSIAN,
    Kind.DISCRETE_LAPLACE,
    Kind.GENERALIZED_GAUSSIAN,
)

CHOSEN = [
    SINGLE,
    WIDE,
    CUBIC,
    HUGE,
    Spec(GAUSSIAN, Q(1, 10**17)),
    Spec(GAUSSIAN, Q(10**12), 10**12 + Q(1, 7)),
    Spec(LAPLACE, Q(1, 10**20)),
    Spec(LAPLACE, Q(10**9, 7), Q(1, 2)),
    Spec(GENERALIZED, Q(1000), Q(1, 3), Q(11, 10)),
    Spec(GENERALIZED, Q(10**6), Q(0), Q(1000)),
    Spec(GENERALIZED, Q(1, 1000), Q(1, 3), Q(17)),
    Spec(GENERALIZED, Q(1, 3), Q(0), Q(50)),
]


@pytest.mark.parametrize("spec", CHOSEN, ids=described)
def test_a_table_of_the_core_is_right(spec: Spec) -> None:
    proven = verify(copy_out(spec))
    assert proven.lines >= 32  # those of the tails at least
    assert proven.full_cells > 2**14


@pytest.mark.parametrize(("index_bits", "block_bits"), [(4, 0), (6, 2), (8, 0), (8, 5), (12, 60)])
def test_small_tables_and_forced_blocks_are_right(index_bits: int, block_bits: int) -> None:
    for kind in (GAUSSIAN, LAPLACE, GENERALIZED):
        scale = Q(3) * 2**block_bits if block_bits > 0 else Q(2)
        parameter = scale * scale if kind == GAUSSIAN else scale
        spec = Spec(kind, parameter, Q(2, 5), Q(3))
        verify(copy_out(spec, index_bits=index_bits, block_bits=block_bits))


@pytest.mark.parametrize("spec", [SINGLE, WIDE, CUBIC], ids=described)
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.name)
def test_a_table_with_one_thing_wrong_is_rejected(corruption: Corruption, spec: Spec) -> None:
    with pytest.raises(VerificationError, match=re.escape(corruption.reason)):
        verify(corruption.change(copy_out(spec)))


@pytest.mark.parametrize("spec", [WIDE, CUBIC], ids=described)
def test_a_centre_stored_wrong_is_rejected(spec: Spec) -> None:
    """By a quarter of a block. (Blocks of one integer do not look at it: their lines are flat.)"""
    table = copy_out(spec)
    with pytest.raises(VerificationError):
        verify(replace(table, centre=table.centre + 2**46))


@pytest.mark.parametrize("spec", [SINGLE, WIDE, CUBIC, HUGE], ids=described)
@pytest.mark.parametrize("name", LINE_CORRUPTIONS)
def test_one_wrong_line_among_all_is_rejected(name: str, spec: Spec) -> None:
    """In the core and in the tails: at three lines of each, drawn from those that say something."""
    table = copy_out(spec)
    used = {cell.line for cell in table.partial} | set(range(table.tail_lines, len(table.lines)))
    telling = sorted(i for i in used if table.lines[i].error < 2**50)
    core = [i for i in telling if i < table.tail_lines]
    tails = [i for i in telling if i >= table.tail_lines]
    rng = random.Random(name)
    for i in rng.sample(core, 3) + rng.sample(tails, 3):
        _, change = LINE_CORRUPTIONS[name]
        with pytest.raises(VerificationError, match=f"line {i} "):
            verify(with_line(table, i, change(table.lines[i])))


def _breaks_somewhere(line: Line, use: Use, table: Table, weight: Weight) -> bool:
    """The claim itself at every integer of a use, with v as decide.c computes it."""
    one, w = 2**56, 1 << table.block_bits
    step = 1 if use.near <= use.far else -1
    for y in range(use.near, use.far + step, step):
        block, tick = divmod(y, w)
        at = block * 2**48 + (tick << (48 - table.tick_bits)) - table.centre
        v = line.base + (((line.far - abs(at)) * line.slope) >> SLOPE_BITS)
        low, high = (min(max(v + sign * line.error, 0), one) for sign in (-1, 1))
        t = one * (table.height * weight.weight_at(y) - use.level)
        if (t < low and low > 0) or (t > high and high < one):
            return True
    return False


def test_a_line_that_is_wrong_at_any_integer_is_never_proven() -> None:
    """Against the claim checked integer by integer, over 900 lines bent at random."""
    table = copy_out(Spec(GAUSSIAN, Q(10**4 * 16**2), Q(1, 3)))
    rng = random.Random(3)
    wrong = proven = 0
    with precision(256):
        weight = Weight(table.spec, table.block_bits)
        w = 1 << table.block_bits
        for cell in rng.sample(table.partial, 300):
            ends = (cell.block * w, cell.block * w + w - 1)
            use = Use(cell.level, 0, *(ends if cell.block >= 0 else ends[::-1]))
            line = table.lines[cell.line]
            if line.error >= 2**50:
                continue
            for bent in (
                line._replace(error=int(line.error * rng.random())),
                line._replace(base=line.base + int(line.error * rng.uniform(-2, 2))),
                line._replace(slope=int(line.slope * rng.uniform(0.9999, 1.0001))),
            ):
                holds = line_holds(bent, use, table, weight)
                if _breaks_somewhere(bent, use, table, weight):
                    wrong += 1
                    assert not holds, (bent, use)
                elif holds:
                    proven += 1
    assert wrong > 100
    assert proven > 100


def test_what_is_missing_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verifier, "find_spec", lambda name: None)
    assert verifier.main([]) == 2
    assert capsys.readouterr().err == (
        "python -m discretegauss.verify needs python-flint: pip install discretegauss[verify]\n"
    )


def test_the_program_reports_wrong_tables_by_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verifier, "fixed_cases", lambda: [SINGLE])
    assert verifier.main(["--random", "1"]) == 0
    assert "2 tables proven" in capsys.readouterr().out
    monkeypatch.setattr(
        verifier, "copy_out", lambda spec: replace(copy_out(spec), height=copy_out(spec).height + 1)
    )
    assert verifier.main([]) == 1
    assert "1 wrong or not proven" in capsys.readouterr().out


def test_a_number_of_random_laws_below_0_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        verifier.main(["--random", "-1"])
    assert refused.value.code == 2
    assert "--random must be at least 0, got -1" in capsys.readouterr().err


def test_the_list_is_long_enough() -> None:
    assert len(fixed_cases()) >= 100


@pytest.mark.evidence
@pytest.mark.parametrize("spec", fixed_cases(), ids=described)
def test_every_table_of_the_list_is_right(spec: Spec) -> None:
    verify(copy_out(spec))


@pytest.mark.evidence
def test_tables_of_random_laws_are_right() -> None:
    for spec in random_cases(200, random.SystemRandom()):
        try:
            verify(copy_out(spec))
        except VerificationError as error:
            pytest.fail(f"{spec!r}: {error}")
