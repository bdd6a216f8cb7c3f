"""The verifier: it proves the core's tables right, and rejects tables with one thing wrong.

The default run looks at a dozen tables; `pytest tests/test_verify.py -m evidence` at the whole list
of ``python -m discretegauss.verify`` and 200 random laws.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

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

SINGLE = Spec(GAUSSIAN, Q(10), Q(1, 3))  # blocks of one integer
WIDE = Spec(LAPLACE, Q(1000), Q(1, 3))
CUBIC = Spec(GENERALIZED, Q(10**6), Q(1, 3), Q(3))
HUGE = Spec(GAUSSIAN, 2**4000 + Q(1, 3), Q(-1, 2))

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


def _with_line(table: Table, i: int, line: Line) -> Table:
    lines = list(table.lines)
    lines[i] = line
    return replace(table, lines=tuple(lines))


def _first_full(table: Table, block: int) -> int:
    return table.full.index(block)


def _moved_cell(table: Table) -> Table:
    full = list(table.full)
    full[_first_full(table, 1)] = 0
    return replace(table, full=tuple(full))


def _full_cell_twice(table: Table) -> Table:
    return replace(table, full=(*table.full, 1))


def _partial_made_full(table: Table) -> Table:
    """The lowest partial cell of a block becomes full: a consistent layout, and a wrong law."""
    cell = min((c for c in table.partial if c.block == 2), key=lambda c: c.level)
    partial = tuple(c for c in table.partial if c != cell)
    return replace(table, full=(*table.full, cell.block), partial=partial)


def _top_cell_dropped(table: Table) -> Table:
    """The highest partial cell of a block is missing: the law loses its top there."""
    cell = max((c for c in table.partial if c.block == 2), key=lambda c: c.level)
    return replace(table, partial=tuple(c for c in table.partial if c != cell))


def _level_off(table: Table) -> Table:
    partial = list(table.partial)
    partial[0] = partial[0]._replace(level=partial[0].level + 1)
    return replace(table, partial=tuple(partial))


def _partial_of_other_line(table: Table) -> Table:
    partial = list(table.partial)
    i = len(partial) // 2
    partial[3], partial[i] = (
        partial[3]._replace(line=partial[i].line),
        partial[i]._replace(line=partial[3].line),
    )
    return replace(table, partial=tuple(partial))


def _core_cut(table: Table) -> Table:
    """The last block is given to the tail, whose first integer then has H g > 1."""
    last = table.last_block
    return replace(
        table,
        last_block=last - 1,
        full=tuple(block for block in table.full if block != last),
        partial=tuple(cell for cell in table.partial if cell.block != last),
    )


def _narrow_tails(table: Table) -> Table:
    bits = max(0, table.tail_bits - 1)
    return replace(table, tail_bits=bits, n_tail_side=table.n_tail_side // 2)


CORRUPTIONS: dict[str, Callable[[Table], Table]] = {
    "one cell moved to another block": _moved_cell,
    "one full cell twice": _full_cell_twice,
    "a partial cell made full": _partial_made_full,
    "a top cell dropped": _top_cell_dropped,
    "a level off by one": _level_off,
    "two cells with each other's lines": _partial_of_other_line,
    "height one more": lambda table: replace(table, height=table.height + 1),
    "height one less": lambda table: replace(table, height=table.height - 1),
    "a core block fewer": _core_cut,
    "tails half as wide, or none": _narrow_tails,
    "too few tail cells": lambda table: replace(table, n_tail_side=table.n_tail_side - 1),
    "one index bit fewer": lambda table: replace(table, index_bits=table.index_bits - 1),
    "one tick bit fewer": lambda table: replace(table, tick_bits=table.tick_bits - 1),
    "a law half a percent wider": lambda table: replace(
        table, spec=table.spec._replace(parameter=table.spec.parameter * Q(201, 200))
    ),
}


@pytest.mark.parametrize("spec", [SINGLE, WIDE, CUBIC], ids=described)
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_table_with_one_thing_wrong_is_rejected(name: str, spec: Spec) -> None:
    with pytest.raises(VerificationError):
        verify(CORRUPTIONS[name](copy_out(spec)))


@pytest.mark.parametrize("spec", [WIDE, CUBIC], ids=described)
def test_a_centre_stored_wrong_is_rejected(spec: Spec) -> None:
    """By a quarter of a block. (Blocks of one integer do not look at it: their lines are flat.)"""
    table = copy_out(spec)
    with pytest.raises(VerificationError):
        verify(replace(table, centre=table.centre + 2**46))


LINE_CORRUPTIONS: dict[str, Callable[[Line], Line]] = {
    "no error": lambda line: line._replace(error=0),
    "a negative error": lambda line: line._replace(error=-1),
    "base too high": lambda line: line._replace(base=line.base + 2 * line.error + 1),
    "base too low": lambda line: line._replace(base=line.base - 2 * line.error - 1),
}


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
        with pytest.raises(VerificationError, match=f"line {i} "):
            verify(_with_line(table, i, LINE_CORRUPTIONS[name](table.lines[i])))


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
