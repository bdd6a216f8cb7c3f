"""The verifier proves the core's tables right, and rejects tables with one thing wrong.

The default run verifies a dozen tables; `-m evidence` verifies the whole list of
``python -m discretegauss.verify`` and 200 random laws.
"""

from __future__ import annotations

import functools
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import mpmath
import pytest
from broken_tables import (
    ARC_CORRUPTIONS,
    CORRUPTIONS,
    CUBIC,
    HUGE,
    LAYOUT_CORRUPTIONS,
    REST_CORRUPTIONS,
    SHAPE_CORRUPTIONS,
    SINGLE,
    WIDE,
    Corruption,
    arc_height,
    made_wrong,
    telling,
    with_arc,
)
from evidence_cases import evidence, some
from law_sums import GG, G, L
from parts import copied_table

from discretegauss.errors import ParameterValueError
from discretegauss.verify import proof as verifier
from discretegauss.verify import verify
from discretegauss.verify._arcs import Use, arc_holds
from discretegauss.verify._cases import fixed_cases, one_line, random_cases
from discretegauss.verify._table import Arc, CellTable, copy_out
from discretegauss.verify._weight import Weight, precision
from discretegauss.verify.proof import VerificationError

ctx = pytest.importorskip("flint", reason="the verifier needs python-flint").ctx
pytestmark = pytest.mark.usefixtures("native_engine")

Q = Fraction

CHOSEN = [
    SINGLE,
    WIDE,
    CUBIC,
    G(10**12, 10**12 + Q(1, 7)),
    HUGE,
    *(G(Q(1, 10**17)), L(Q(1, 10**20)), GG(100, "11/10", "1/3"), L(Q(10**9, 7), "1/2")),
    *(GG(10**6, 1000), GG("1/1000", 17, "1/3"), GG("1/3", 50)),
]


SMALL = G(4, "2/5")


def ids(law: Any) -> str:
    return law.name if isinstance(law, Corruption) else str(law)[:60]


copied_once = functools.lru_cache(maxsize=8)(copied_table)
"""Tests never change a table: the broken ones are copies."""


@pytest.mark.parametrize("law", some(CHOSEN, 7), ids=ids)
def test_a_table_of_the_core_is_right(law: Any) -> None:
    proven = verify(copied_table(law))
    assert proven.arcs >= 32  # the tails alone have 32
    assert proven.full_cells > 2**14


@pytest.mark.parametrize(
    "law",
    [
        *(G(sigma**2) for sigma in (10, 100, 1000, 10**6, 10**9)),
        *(G(10**4, "1/3"), L(100), L(Q(10**9, 7)), L(2**40)),
        *(GG(10**6, beta) for beta in ("3/2", 3, 10, 50)),
    ],
    ids=ids,
)
def test_arcs_leave_little_in_doubt(law: Any) -> None:
    """An arc that bounds nothing is right, too, but a fill with such arcs takes many times as long.

    Most of these tables refine 1 attempt in 10^5, and none more than 1 in 7000.
    """
    table = copied_table(law)
    errors = [arc.error for arc in table.arcs[: len(table.partial)]]
    in_doubt = Q(sum(min(2 * error, 2**16) for error in errors), 2 ** (16 + table.index_bits))
    assert in_doubt < Q(1, 7000), float(in_doubt)


@pytest.mark.parametrize(
    ("index_bits", "block_bits"), [(4, 0), (6, 2), (8, 0), (8, 5), *evidence((12, 60))]
)
def test_small_tables_and_forced_blocks_are_right(index_bits: int, block_bits: int) -> None:
    scale = 3 * 2**block_bits if block_bits > 0 else 2
    for law in (G(scale**2, "2/5"), L(scale, "2/5"), GG(scale, 3, "2/5")):
        verify(copied_table(law, index_bits=index_bits, block_bits=block_bits))


@pytest.mark.parametrize(
    "around",
    [partial(L, Q(1, 2**60)), partial(G, Q(1, 2**62)), partial(GG, Q(1, 2**21), 3)],
    ids=["laplace", "gaussian", "generalized"],
)
def test_steep_laws_with_forced_blocks_are_refused_or_right(around: Callable[..., Any]) -> None:
    """These laws draw only two neighbouring integers (PROOF.md, lemma 19)."""
    centre = Q(1, 2) - Q(1, 2**60)
    verify(copied_table(around(centre), index_bits=8, block_bits=1))
    for mu, block_bits in [(centre, 2), (-centre, 1), (-centre, 4)]:
        with pytest.raises(ParameterValueError):
            copied_table(around(mu), index_bits=8, block_bits=block_bits)


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        *((corruption, SINGLE) for corruption in CORRUPTIONS),
        *((CORRUPTIONS[0], law) for law in (WIDE, CUBIC)),
        *evidence(*product(CORRUPTIONS[1:], (WIDE, CUBIC))),
    ],
    ids=ids,
)
def test_a_table_with_one_thing_wrong_is_rejected(corruption: Corruption, law: Any) -> None:
    with pytest.raises(VerificationError, match=re.escape(corruption.reason)):
        verify(corruption.change(copied_once(law)))


@pytest.mark.parametrize("corruption", LAYOUT_CORRUPTIONS, ids=lambda corruption: corruption.name)
def test_a_small_table_with_one_thing_wrong_is_rejected(corruption: Corruption) -> None:
    """Counts of cells do not reveal these errors; only the fact that is broken does."""
    table = copied_once(SMALL, index_bits=6, block_bits=0)
    with pytest.raises(VerificationError, match=re.escape(corruption.reason)):
        verify(corruption.change(table))


@pytest.mark.parametrize("corruption", REST_CORRUPTIONS, ids=lambda corruption: corruption.name)
def test_a_table_of_wide_blocks_with_one_thing_wrong_is_rejected(corruption: Corruption) -> None:
    with pytest.raises(VerificationError, match=re.escape(corruption.reason)):
        verify(corruption.change(copied_once(HUGE)))


_ANSWERS: dict[CellTable, dict[Any, bool | None]] = {}
_TAKEN: set[Any] = set()


@pytest.fixture
def _proofs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the verifier take each step of a proof once, because such tables differ in one arc only.

    A step gets only what it depends on: the table without its arcs, or one arc.
    """

    def once(name: str) -> None:
        step = getattr(verifier, name)

        def taken(table: CellTable, *weights: Any) -> None:
            bare = replace(table, arcs=())
            if (name, bare) not in _TAKEN:
                step(bare, *weights)
                _TAKEN.add((name, bare))

        monkeypatch.setattr(verifier, name, taken)

    looked_at = bare = copied_once(SINGLE)
    answers: dict[Any, bool | None] = {}

    def holds(arc: Arc, use: Use, table: CellTable, weight: Weight) -> bool | None:
        nonlocal looked_at, bare, answers
        if table is not looked_at:
            looked_at, bare = table, replace(table, arcs=(), full=(), partial=(), rows=())
            answers = _ANSWERS.setdefault(bare, {})
        claim = (arc, use, ctx.prec)
        if claim not in answers:
            answers[claim] = arc_holds(arc, use, bare, weight)
        return answers[claim]

    for name in ("_verify_core", "_verify_tails", "_verify_rows"):
        once(name)
    monkeypatch.setattr(verifier, "arc_holds", holds)


@pytest.mark.usefixtures("_proofs_are_kept")
@pytest.mark.parametrize(
    ("name", "law"),
    [
        *((name, SINGLE) for name in ARC_CORRUPTIONS),  # one integer has no shape
        *((name, CUBIC) for name in [*ARC_CORRUPTIONS, *SHAPE_CORRUPTIONS]),
        *evidence(*product([*ARC_CORRUPTIONS, *SHAPE_CORRUPTIONS], (WIDE, HUGE))),
    ],
    ids=ids,
)
def test_one_wrong_arc_among_all_is_rejected(name: str, law: Any) -> None:
    """One arc is changed in the core, then one in the tails, of those that bound something.

    One of another shape becomes wrong at the middle integer.
    """
    table = copied_once(law)
    change = (ARC_CORRUPTIONS | SHAPE_CORRUPTIONS)[name]
    of = telling(table) if name in ARC_CORRUPTIONS else made_wrong(table, change)
    n, rng = len(table.partial), random.Random(name)
    for among in ([i for i in of if i < n], [i for i in of if i >= n]):
        i = rng.choice(among)
        with pytest.raises(VerificationError, match=f"does not hold: arc {i} "):
            verify(with_arc(table, i, change(table.arcs[i])))


def _heights(use: Use, table: CellTable, weight: Weight) -> list[Any]:
    """Return t at every integer of a range, outwards."""
    step = 1 if use.near <= use.far else -1
    return [
        2**16 * (table.height * weight.weight_at(y) - use.level)
        for y in range(use.near, use.far + step, step)
    ]


def _breaks_somewhere(arc: Arc, heights: list[Any]) -> bool:
    """Return whether the claim fails at an integer of a range, with v as decide.h computes it."""
    one, width = 2**16, len(heights)
    for offset, t in enumerate(heights):
        v = arc_height(offset * 2**24 // width, arc)
        low, high = (min(max(v + sign * arc.error, 0), one) for sign in (-1, 1))
        if (low > 0 and t < low) or (high < one and t > high):
            return True
    return False


def _bent(arc: Arc, rng: random.Random) -> list[Arc]:
    """Return arcs, each with a number of the arc changed by about its error."""
    by = [int(arc.error * rng.uniform(-3, 3)) for _ in range(3)]
    return [
        arc._replace(error=int(arc.error * rng.random())),
        arc._replace(base=arc.base + by[0]),
        arc._replace(slope=max(0, arc.slope + by[1])),
        arc._replace(bulge=arc.bulge + by[2]),
        arc._replace(slope=0, bulge=by[2] - arc.slope // 2),  # the arc turns
    ]


@pytest.mark.parametrize("law", [G(10**4 * 16**2, "1/3"), L(1000, "-1/2")], ids=ids)
@pytest.mark.parametrize("n", [8, *evidence(200)])
def test_an_arc_that_is_wrong_at_any_integer_is_never_proven(law: Any, n: int) -> None:
    """About 5 n arcs, bent at random, are checked against the claim integer by integer."""
    table = copied_table(law)
    rng = random.Random(3)
    wrong = proven = 0
    uses = list(verifier._uses(table))
    centre = [i for i, cell in enumerate(table.partial) if cell.block in (-1, 0)]
    with precision(256):
        weight = Weight(table.spec, table.block_bits)
        for i in rng.sample(range(len(table.partial)), n) + centre:
            arc, use = table.arcs[i], uses[i]
            if arc.error >= 2**12:
                continue
            heights = _heights(use, table, weight)
            assert not _breaks_somewhere(arc, heights)
            for bent in _bent(arc, rng):
                holds = arc_holds(bent, use, table, weight)
                if _breaks_somewhere(bent, heights):
                    wrong += 1
                    assert not holds, (bent, use)
                elif holds:
                    proven += 1
    assert wrong > n / 2
    assert proven > n / 2


@pytest.mark.parametrize(
    "law",
    [G(100, "1/3"), L(10, "-2/5"), GG(12, "5/2", "1/3"), GG(30, "11/10"), GG(20, 17, "1/2")],
    ids=ids,
)
def test_the_second_derivative_of_a_weight_is_enclosed(law: Any) -> None:
    """At one distance it is the derivative; over a range it holds the derivatives everywhere."""
    gaussian = isinstance(law, G)
    with precision(200), mpmath.workdps(40):
        weight = Weight(copied_table(law).spec, 3)
        f, scale, beta = (
            mpmath.mpf(x.numerator) / x.denominator
            for x in (
                weight.f,
                getattr(law, law.__match_args__[0]),
                Q(2) if gaussian else getattr(law, "beta", Q(1)),
            )
        )
        scale = mpmath.sqrt(2 * scale) if gaussian else scale

        def g(y: Any) -> Any:
            return mpmath.exp((abs(f) / scale) ** beta - ((y - f) / scale) ** beta)

        unit = 2 ** (48 - 3)  # the length of an integer
        for near in (1, 2, 5, 9, 17, 25):
            for far in (near, near + 1, near + 8):
                ends = [weight.distance(y) for y in (near, far)]
                found = weight.second(*ends, *map(weight.weight, ends)) * unit**2
                lower, upper = (
                    mpmath.mpf(end.str(50, radius=False)) for end in (found.lower(), found.upper())
                )
                for y in (near, (near + far) / mpmath.mpf(2), far):
                    true = mpmath.diff(g, y, 2)
                    slack = mpmath.mpf(10) ** -30
                    assert lower - slack <= true <= upper + slack
                    if near == far:
                        assert upper - lower < slack


@pytest.mark.parametrize(
    ("whole", "arc", "holds"),
    [
        (True, Arc(2**16, 0, 0, 0), True),
        (True, Arc(2**16 - 1, 0, 0, 0), False),
        (True, Arc(2**16 - 1, 0, 1, 0), True),
        (True, Arc(2**16 + 10, 20, 0, 0), False),  # too low only at its end
        (True, Arc(2**16, 0, 0, -10), False),  # only in its middle
        (True, Arc(2**16 + 12, 0, 0, -10), True),
        (False, Arc(0, 0, 0, 0), True),
        (False, Arc(1, 0, 0, 0), False),
        (False, Arc(1, 0, 1, 0), True),
        (False, Arc(5, 10, 0, 0), False),  # too high only at its start
        (False, Arc(0, 0, 0, 10), False),  # only in its middle
        (False, Arc(-12, 0, 0, 10), True),
    ],
)
def test_arc_at_clamped_ends(whole: bool, arc: Arc, holds: bool) -> None:
    """The clamped height is 2**16, or 0, at such an end, so only one bound can be wrong."""
    table = copied_once(WIDE)
    use = Use(0 if whole else table.height, 0, 32, 63)
    with precision(192):
        assert arc_holds(arc, use, table, Weight(table.spec, table.block_bits)) is holds


@pytest.mark.parametrize(
    ("arc", "holds"),
    [
        (Arc(30000, 0, 2**16 - 1, 0), True),
        (Arc(30000, 0, 2**16, 0), False),
        (Arc(30000, -1, 2**16 - 1, 0), False),
        (Arc(30000, 0, 2**16 - 1, 2**14), True),
        (Arc(30000, 0, 2**16 - 1, 2**14 + 1), False),
        (Arc(30000, 0, 2**16 - 1, -(2**14) - 1), False),
    ],
)
def test_arc_that_says_nothing_is_proven(arc: Arc, holds: bool) -> None:
    """An arc whose numbers are beyond csrc/cells/table.h is refused, even if it bounds nothing."""
    table = copied_once(SMALL, index_bits=6, block_bits=0)
    with precision(192):
        weight = Weight(table.spec, table.block_bits)
        for use in verifier._uses(table):
            assert arc_holds(arc, use, table, weight) is holds


def test_what_is_missing_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verifier, "find_spec", lambda name: None)
    assert verifier.main([]) == 2
    assert capsys.readouterr().err == (
        "python -m discretegauss.verify needs python-flint: pip install python-flint\n"
    )


def test_the_program_reports_wrong_tables_by_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verifier, "fixed_cases", lambda: [copied_once(SINGLE).spec])
    assert verifier.main(["--random", "1"]) == 0
    assert "2 tables proven" in capsys.readouterr().out
    monkeypatch.setattr(
        verifier, "copy_out", lambda spec: replace(copy_out(spec), height=copy_out(spec).height + 1)
    )
    assert verifier.main([]) == 1
    assert "1 wrong or not proven" in capsys.readouterr().out


def test_one_wrong_table_among_right_ones_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = copied_once(SMALL, index_bits=6, block_bits=0)
    tables = {Q(1): small, Q(2): replace(small, height=small.height + 1), Q(3): small}
    specs = [small.spec._replace(parameter=p) for p in tables]
    monkeypatch.setattr(verifier, "fixed_cases", lambda: specs)
    monkeypatch.setattr(verifier, "copy_out", lambda spec: tables[spec.parameter])
    assert verifier.main([]) == 1
    assert "2 tables proven" in capsys.readouterr().out
    assert verifier.main(["--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["right"] is False
    assert [table["result"] for table in report["tables"]] == ["proven", "wrong", "proven"]


@pytest.mark.parametrize("where", ["a full disk", "a closed pipe", "nowhere"])
def test_results_that_cannot_be_written_are_no_wrong_table(where: str) -> None:
    """They have their own exit code and one line that says why, or none if the reader is gone."""
    if where == "a full disk":
        stdout = os.open("/dev/full", os.O_WRONLY)
    elif where == "nowhere":
        stdout = os.open(os.devnull, os.O_WRONLY)
    else:
        reader, stdout = os.pipe()
        os.close(reader)
    closed = ">&-" if where == "nowhere" else ""
    run = subprocess.run(
        ["sh", "-c", f'exec "$0" -m discretegauss.verify {closed}', sys.executable],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=600,
        check=False,
    )
    os.close(stdout)
    if where == "a closed pipe":
        assert (run.returncode, run.stderr) == (141, "")
        return
    assert run.returncode == 3
    assert run.stderr.startswith("python -m discretegauss.verify: cannot write the results: ")
    assert run.stderr.count("\n") == 1


def test_a_number_of_random_laws_below_0_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        verifier.main(["--random", "-1"])
    assert refused.value.code == 2
    assert "--random must be at least 0, got -1" in capsys.readouterr().err


def test_the_list_is_long_enough() -> None:
    assert len(fixed_cases()) >= 100


@pytest.mark.evidence
@pytest.mark.parametrize("spec", fixed_cases(), ids=one_line)
def test_every_table_of_the_list_is_right(spec: Any) -> None:
    verify(copy_out(spec))


@pytest.mark.evidence
def test_tables_of_random_laws_are_right() -> None:
    for spec in random_cases(200, random.SystemRandom()):
        try:
            verify(copy_out(spec))
        except VerificationError as error:
            pytest.fail(f"{spec!r}: {error}")


def test_quick_needs_nothing_else_and_finds_wrong_draws(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verifier.main(["--quick"]) == 0
    assert "WRONG" not in capsys.readouterr().out
    monkeypatch.setattr("discretegauss.reference.geometric_exp", lambda *_: -1)
    assert verifier.main(["--quick"]) == 1
    assert "WRONG: draws are the specification's" in capsys.readouterr().out
    assert verifier.main(["--quick", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["right"], [one["right"] for one in report["facts"]].count(False)) == (False, 1)
