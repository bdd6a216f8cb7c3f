"""Prove tables right, by arithmetic that shares nothing with the code that builds them.

``python -m discretegauss.verify [--random N]`` takes tables from the C core as data and proves, by
ball arithmetic (python-flint's arb), the facts on which the exactness of draws depends
(csrc/cells/PROOF.md). With w = 2**block_bits, H = height, y = x - floor(mu + 1/2), g(0) = 1:

1. *Core.* The blocks are first_block ... last_block, block 0 among them; block j has n_j cells,
   levels 0 ... n_j - 1, each once, and n_j >= H max g on the block.
2. *Full cells* of a block are its levels 0 ... full_j - 1, and full_j <= H min g on the block.
3. *Arcs.* Every arc keeps its claim at every integer of its range, which may have 2**2000 integers;
   ``discretegauss.verify._arcs`` has the argument.
4. *Tails.* On both sides H g <= 1 at the first integer outside the core, r0, and
   g(r0 + W) <= g(r0)/2, W = w 2**tail_bits. phi is convex, so phi(r + W) - phi(r) grows with r, and
   H g <= 2**-i on the whole i-th tail block. A side has 2 * 2**tail_bits cells.
5. *Count.* A cell is an index. Full, partial, left tail and right tail cells follow one another and
   fit 2**index_bits; indices beyond them reject. So each of the 2**index_bits is of one kind.

Facts 1, 2 and 4 need g at single integers, because abs(y - f) grows from y = 0 outwards: g is
largest and least on a block at its ends. Comparisons are made at ever higher precision until they
are certain. They end, because exp of an algebraic number other than 0 is never rational, and
because the weight is exactly 1 if the exponent is 0.

The numbers of isochronous draws are proven as ``discretegauss.verify._silent`` says.

``--quick`` proves nothing about tables. It draws from fixed bits and compares (``_quick``), in a
second, and needs neither python-flint nor the compiled core. ``--gpu`` asks each GPU for items of
random keys, and compares them with the CPU's (``_gpu``).

The proof needs python-flint (``pip install python-flint``). Exit codes: 0 all proven; 1 a table is
wrong or not proven; 2 wrong arguments, or python-flint or the compiled core is missing. 3 (results
could not be written) and 141 (their reader is gone) say nothing about the tables.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

from .._drawing.engines import build_info
from .._law import LawSpec
from .._system.json_report import json_report
from .._version import __version__
from ..errors import ParameterValueError
from ._arcs import Use, arc_holds
from ._cases import fixed_cases, one_line, random_cases
from ._silent import Units, copy_out_units, facts_of
from ._table import REACH_BITS, SPECIAL_CODE, CellTable, copy_out
from ._weight import Weight, at_most, ball, precision

_UNREAD = 141  # 128 + SIGPIPE
_TAIL_LEVELS = 16  # DG_TAIL_LEVELS: tail blocks with arcs
_REQUIREMENTS = {
    "flint": "python-flint: pip install python-flint",
    "discretegauss._native": "the compiled core, whose tables it checks",
}
_FIRST_PRECISION = 192
_LAST_PRECISION = 2**17


class VerificationError(Exception):
    """A fact does not hold for a table, or could not be proven."""


class Proven(NamedTuple):
    """How many blocks, full cells and arcs were proven right."""

    blocks: int
    full_cells: int
    arcs: int


class _WeightsOfIntegers:
    """The law's weight at each precision that a question needed, made once and kept."""

    def __init__(self, spec: LawSpec, block_bits: int) -> None:
        self._spec, self._block_bits = spec, block_bits
        self._by_precision: dict[int, Weight] = {}

    def certain(self, question: Callable[[Weight], bool | None]) -> bool | None:
        """Return the answer at the first precision that gives one, or None if none does."""
        n_bits = _FIRST_PRECISION
        while n_bits <= _LAST_PRECISION:
            with precision(n_bits):
                if n_bits not in self._by_precision:
                    self._by_precision[n_bits] = Weight(self._spec, self._block_bits)
                answer = question(self._by_precision[n_bits])
            if answer is not None:
                return answer
            n_bits *= 2
        return None


def _under(height: int, y: int, n: int, weight: Weight) -> bool | None:
    if n >= height:
        return True  # g <= 1, even if it would take 10**5 bits to see that g < 1
    return at_most(height * weight.weight_at(y), ball(n))


def _over(height: int, y: int, n: int, weight: Weight) -> bool | None:
    if n == 0:
        return True  # g > 0, even if it is very small
    return at_most(ball(n), height * weight.weight_at(y))


def _require(answer: bool | None, fact: str) -> None:
    if answer is None:
        raise VerificationError(f"not proven: {fact}")
    if not answer:
        raise VerificationError(f"does not hold: {fact}")


def _ends(block: int, table: CellTable) -> tuple[int, int]:
    """Return the first and the last integer of a block, counted outwards from the centre."""
    first = block << table.block_bits
    last = first + (1 << table.block_bits) - 1
    return (first, last) if block >= 0 else (last, first)


def _verify_layout(table: CellTable) -> None:
    """Prove the counts in facts 1, 2 and 5, and the sizes that facts 3 and 4 use."""
    n_cells = len(table.full) + len(table.partial) + 2 * table.n_tail_side
    _require(n_cells <= 2**table.index_bits, "the cells fit 2**index_bits")
    _require(table.n_tail_side == 2 * 2**table.tail_bits, "n_tail_side = 2 * 2**tail_bits")
    _require(table.first_block <= 0 <= table.last_block, "block 0 is in the core")
    _require(table.height >= 1, "height >= 1")
    _require(
        table.tick_bits + 8 * table.rest_bytes == table.block_bits and table.tick_bits <= 48,
        "tick and rest make up the low bits of y",
    )
    part_bits = table.tail_bits + table.tick_bits - table.tail_arc_bits
    _require(part_bits >= 0, "the arcs of a tail block divide its ticks")
    _require(
        table.rest_bytes == 0 or min(table.tick_bits, part_bits) >= REACH_BITS,
        "ticks alone tell how far outwards an integer lies in its range",
    )
    n_arcs = len(table.partial) + (2 * _TAIL_LEVELS << table.tail_arc_bits)
    _require(len(table.arcs) == n_arcs, "partial cells and parts of tails have an arc each")
    blocks = set(table.full) | {cell.block for cell in table.partial}
    _require(
        blocks == set(range(table.first_block, table.last_block + 1)),
        "the core's blocks are first_block ... last_block, and no others have cells",
    )


def _verify_core(table: CellTable, weights: _WeightsOfIntegers) -> None:
    """Prove facts 1 and 2."""
    full = Counter(table.full)
    partial_levels: dict[int, list[int]] = {}
    for cell in table.partial:
        partial_levels.setdefault(cell.block, []).append(cell.level)
    for block in range(table.first_block, table.last_block + 1):
        n_full, levels = full[block], sorted(partial_levels.get(block, []))
        _require(
            levels == list(range(n_full, n_full + len(levels))),
            f"the partial cells of block {block} are the levels above its full ones, each once",
        )
        n_cells = n_full + len(levels)
        near, far = _ends(block, table)
        _require(
            weights.certain(partial(_under, table.height, near, n_cells)),
            f"the {n_cells} cells of block {block} cover the law",
        )
        _require(
            weights.certain(partial(_over, table.height, far, n_full)),
            f"the {n_full} full cells of block {block} lie under the law",
        )


def _verify_rows(table: CellTable) -> None:
    """Prove fact 5: each pair of row and position leads to one cell, and each cell has one pair."""
    size = 1 << table.position_bits
    _require(len(table.rows) * size == 1 << table.index_bits, "as many positions as cells")
    coded: Counter[int] = Counter()
    special: list[int] = []
    for row in table.rows:
        _require(0 <= row.end[0] <= row.end[1] < size, "the pieces of a row are in order")
        _require(
            row.end[0] > 0 or (row.end[1] == 0 and row.code[2] != SPECIAL_CODE),
            "a row without a position is one block's",
        )
        for position in range(size):
            code = row.code[(position >= row.end[0]) + (position >= row.end[1])]
            if code == SPECIAL_CODE:
                special.append(table.n_coded + (position + row.special) % 2**16)
            else:
                coded[table.coded_first + code] += 1
    _require(coded == Counter(table.full[: table.n_coded]), "blocks have their full cells")
    _require(
        sorted(special) == list(range(table.n_coded, 1 << table.index_bits)),
        "one row and position leads to each other cell",
    )


def _tail_start(left: bool, table: CellTable) -> int:
    if left:
        return (table.first_block << table.block_bits) - 1
    return (table.last_block + 1) << table.block_bits


def _halves(start: int, beyond: int, weight: Weight) -> bool | None:
    from flint import arb

    growth = weight.phi(weight.distance(beyond)) - weight.phi(weight.distance(start))
    return at_most(arb.const_log2(), growth)


def _verify_tails(table: CellTable, weights: _WeightsOfIntegers) -> None:
    """Prove fact 4."""
    width = 1 << (table.block_bits + table.tail_bits)
    for left in (True, False):
        start = _tail_start(left, table)
        beyond = start - width if left else start + width
        side = "left" if left else "right"
        _require(
            weights.certain(partial(_under, table.height, start, 1)),
            f"height * g <= 1 where the {side} tail starts",
        )
        _require(
            weights.certain(partial(_halves, start, beyond)),
            f"the {side} tail halves from block to block",
        )


def _uses(table: CellTable) -> Iterator[Use]:
    """Generate the targets of the arcs, in the order of the arcs."""
    for cell in table.partial:
        yield Use(cell.level, 0, *_ends(cell.block, table))
    parts = 1 << table.tail_arc_bits
    width = 1 << (table.block_bits + table.tail_bits - table.tail_arc_bits)
    for left in (True, False):
        start = _tail_start(left, table)
        outwards = -1 if left else 1
        for i in range(_TAIL_LEVELS * parts):
            near = start + outwards * i * width
            yield Use(0, i // parts, near, near + outwards * (width - 1))


def _verify_arcs(table: CellTable, weights: _WeightsOfIntegers) -> None:
    """Prove fact 3."""
    for number, (arc, use) in enumerate(zip(table.arcs, _uses(table), strict=True)):
        _require(
            weights.certain(partial(arc_holds, arc, use, table)),
            f"arc {number} {tuple(arc)} bounds 2**{use.tail_level} H g - {use.level}"
            f" on the integers from {use.near} to {use.far}",
        )


def verify(table: CellTable) -> Proven:
    """Prove a table right.

    Parameters
    ----------
    table : CellTable
        A table as data; ``copy_out(spec)`` returns the C core's.

    Returns
    -------
    Proven
        How much the proof covers.

    Raises
    ------
    VerificationError
        A fact does not hold, or no proof was found; the message names the fact.
    """
    weights = _WeightsOfIntegers(table.spec, table.block_bits)
    _verify_layout(table)
    _verify_core(table, weights)
    _verify_tails(table, weights)
    _verify_rows(table)
    _verify_arcs(table, weights)
    return Proven(table.last_block - table.first_block + 1, len(table.full), len(table.arcs))


def verify_units(units: Units) -> None:
    """Prove the numbers of isochronous draws right.

    Parameters
    ----------
    units : Units
        The numbers; ``copy_out_units(spec)`` returns the C core's.

    Raises
    ------
    VerificationError
        A fact does not hold, or no proof was found; the message names the fact.
    """
    weights = _WeightsOfIntegers(units.spec, units.block_bits)
    for question, fact in facts_of(units):
        _require(weights.certain(question), fact)


def _is_isochronous(spec: LawSpec) -> bool:
    """Prove the numbers of a law's isochronous draws; return whether there are such draws."""
    try:
        units = copy_out_units(spec)
    except ParameterValueError:
        return False
    verify_units(units)
    return True


def _print(line: str) -> None:
    if sys.stdout is None:  # stdout was closed when the process began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    print(line, flush=True)  # flush, so that a failure raises here and not when Python ends


def _run(cases: Iterable[LawSpec], *, as_json: bool = False) -> int:
    n_right = n_wrong = n_refused = n_arcs = n_isochronous = 0
    start = time.perf_counter()
    say = _silent if as_json else _print
    tables: list[dict[str, object]] = []
    for spec in cases:
        table: dict[str, object] = {"law": one_line(spec)}
        try:
            proven, is_isochronous = verify(copy_out(spec)), _is_isochronous(spec)
        except ParameterValueError:
            n_refused += 1
            table["result"] = "no table"
            say(f"no table: {one_line(spec)}")
        except VerificationError as error:
            n_wrong += 1
            table |= {"result": "wrong", "error": str(error), "spec": repr(spec)}
            say(f"WRONG: {one_line(spec)}: {error}\n  {spec!r}")
        else:
            n_right += 1
            n_arcs += proven.arcs
            n_isochronous += is_isochronous
            table |= {"result": "proven", "blocks": proven.blocks, "arcs": proven.arcs}
            table["isochronous"] = is_isochronous
            also = ", isochronous draws" if is_isochronous else ""
            say(f"proven: {one_line(spec)} ({proven.blocks} blocks, {proven.arcs} arcs{also})")
        tables.append(table)
    seconds, is_right = time.perf_counter() - start, n_wrong == 0 < n_right
    say(
        f"{n_right} tables proven ({n_arcs} arcs), {n_wrong} wrong or not proven, "
        f"{n_refused} without a table, {n_isochronous} with isochronous draws, {seconds:.0f} s"
    )
    if as_json:
        found = {"right": is_right, "build": build_info(), "tables": tables}
        _print(json_report(found | {"seconds": round(seconds, 3)}))
    return 0 if is_right else 1


def _run_facts(checks: Iterable[tuple[str, bool]], *, as_json: bool = False) -> int:
    say = _silent if as_json else _print
    say(f"discretegauss {__version__}: {build_info()}")
    facts = []
    for fact, holds in checks:
        facts.append({"fact": fact, "right": bool(holds)})
        say(f"{'right' if holds else 'WRONG'}: {fact}")
    is_right = bool(facts) and all(one["right"] for one in facts)
    if as_json:
        _print(json_report({"right": is_right, "build": build_info(), "facts": facts}))
    return 0 if is_right else 1


def _silent(_line: str) -> None:
    """Print nothing: JSON is one document, at the end."""


def _written(run: Callable[[], int], name: str) -> int:
    """Return the exit code of `run`, which prints its results; 3 if they cannot be written."""
    try:
        return run()
    except OSError as error:
        # otherwise the interpreter would try again to write when it ends, and complain again
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return _UNREAD
        print(f"{name}: cannot write the results: {error.strerror}", file=sys.stderr)
        return 3


def main(
    arguments: Sequence[str] | None = None, name: str = "python -m discretegauss.verify"
) -> int:
    """Run the command line, and return its exit code."""
    parser = argparse.ArgumentParser(
        prog=name,
        description="Prove the C core's tables right, by independent ball arithmetic.",
    )
    parser.add_argument(
        "--random", type=int, default=0, metavar="N", help="prove N random laws, too"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="only check, in a second and without python-flint, that draws are as specified",
    )
    parser.add_argument(
        "--gpu", action="store_true", help="only compare what GPUs draw with what the CPU draws"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    options = parser.parse_args(arguments)
    if options.random < 0:
        parser.error(f"--random must be at least 0, got {options.random}")
    if options.quick + options.gpu + bool(options.random) > 1:
        parser.error("give only one of --quick, --gpu and --random")
    if options.quick:
        from ._quick import quick_checks

        return _written(partial(_run_facts, quick_checks(), as_json=options.json), name)
    if options.gpu:
        from ._gpu import known_answers

        try:
            answers = known_answers()
        except (ImportError, RuntimeError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
        return _written(partial(_run_facts, answers, as_json=options.json), name)
    for module, advice in _REQUIREMENTS.items():
        if find_spec(module) is None:
            print(f"{name} needs {advice}", file=sys.stderr)
            return 2
    rng = random.SystemRandom()  # no seed is needed, because a wrong law is printed in full
    cases = [*fixed_cases(), *random_cases(options.random, rng)]
    return _written(partial(_run, cases, as_json=options.json), name)


if __name__ == "__main__":
    sys.exit(main())
