"""Write vectors.json, or with --check compare it with what would be written.

    python tests/vectors/generate.py [--check]

Draws of the algorithms come from the specification, ``discretegauss.reference``; cells of tables
and draws from them from cell_twin.py, which has nothing of the C code. The compiled core is asked
for what it is free to choose: the geometry of each table (`Facts`), and its lines. Without it these
are taken from the file as it stands.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from cases import ALGORITHMS, HAND_MADE, TABLES, TableCase, shown
from cell_twin import CellTwin, Facts
from keystream import Tape, key_tape

from discretegauss import _engine
from discretegauss._spec import Spec

FILE = Path(__file__).with_name("vectors.json")
SHOWN = 12  # draws that a vector shows
DRAWS = 200  # that a vector of an algorithm has
IN_DOUBT = 40  # that a vector has whose tape makes a comparison go on

Case = dict[str, Any]

HEADER: Case = {
    "format": "discretegauss test vectors",
    "version": 1,
    "licence": "MIT",
    "about": "Bytes in, draws out, for exact samplers of the discrete Gaussian and its relatives."
    " README.md, beside this file, has the algorithms. One vector a line.",
    "conventions": "Numbers that may be long are decimal strings: integers, or num/den in lowest"
    " terms. A digest is the SHA-256, in hex, of the numbers in decimal ASCII, each followed by a"
    " newline (byte 10).",
    "fields": {
        "law": "which algorithm, or the law that the table is of",
        "p": "bernoulli: 1 with probability p, else 0",
        "n_values": "uniform_below: 0 ... n_values - 1, all alike",
        "gamma": "bernoulli_exp: 1 with probability exp(-gamma), else 0;"
        " geometric_exp: k >= 0 with probability proportional to exp(-gamma k)",
        "sigma2": "discrete_gaussian: x with probability proportional to exp(-(x - mu)^2/2/sigma2)",
        "scale": "discrete_laplace: proportional to exp(-|x - mu|/scale);"
        " generalized_gaussian: proportional to exp(-(|x - mu|/scale)^beta)",
        "mu": "the centre of the law",
        "beta": "the exponent of a generalized_gaussian",
        "tape": "the bytes that are read, in hex: all of them, and no more",
        "chacha20_key": "or the key, in hex, of the stream of bytes that is read: the blocks of"
        " ChaCha20 (RFC 8439) with nonce 0 and counter 0, 1, 2, ...",
        "n": "how many draws are made, one after the other, in one call",
        "draws": "the first of them, at most " + str(SHOWN),
        "draws_sha256": "the digest of all n",
        "bytes_used": "how many bytes they read",
        "index_bits": "a table has 2^index_bits cells",
        "block_bits": "a block has 2^block_bits integers",
        "tail_bits": "a tail block has 2^tail_bits blocks",
        "height": "H: the law at its likeliest integer is H cells high",
        "first_block": "of the core",
        "last_block": "of the core",
        "n_full": "how many cells are full",
        "n_partial": "how many cells are partial",
        "cells": "the numbers of cells_sha256 themselves, of one small table",
        "cells_sha256": "the digest of the cells: the block of each full one,"
        " then block and level of each partial one",
        "coded_first": "the first block that rows have a code for",
        "coded_last": "the last; less than coded_first if there is none",
        "rows_sha256": "the digest of the rows: of each two ends, three codes, special (README.md)",
        "lines_sha256": "the digest of the bounds that this library decides most partial cells by;"
        " other implementations may do without (README.md)",
    },
}


def digest(numbers: Iterable[int]) -> str:
    """Return the SHA-256 of the numbers in decimal, each followed by a newline."""
    return hashlib.sha256("".join(f"{number}\n" for number in numbers).encode()).hexdigest()


def drawn(draws: list[int], tape: Tape) -> Case:
    """Return what a vector tells about its draws."""
    return {
        "n": len(draws),
        "draws": [str(draw) for draw in draws[:SHOWN]],
        "draws_sha256": digest(draws),
        "bytes_used": tape.used,
    }


def keys() -> Iterator[bytes]:
    """Return key after key: the number of the vector, least significant byte first."""
    number = 0
    while True:
        number += 1
        yield number.to_bytes(32, "little")


def algorithm_cases(key: Iterator[bytes]) -> Iterator[Case]:
    """Return the vectors of the algorithms, from the specification."""
    for spec in ALGORITHMS:
        draw, tape_key = reference_draw(spec), next(key)
        tape = key_tape(tape_key)
        draws = [draw(tape) for _ in range(DRAWS)]
        yield {**shown(spec), "chacha20_key": tape_key.hex(), **drawn(draws, tape)}
    for spec, data in HAND_MADE:
        tape = Tape(data)
        draws = [reference_draw(spec)(tape)]
        if tape.used != len(data):
            raise ValueError(f"{spec}: {tape.used} bytes of {len(data)} were read: {data.hex()}")
        yield {**shown(spec), "tape": data.hex(), **drawn(draws, tape)}


def reference_draw(spec: Spec) -> Callable[[Tape], int]:
    """Return the specification's function of a tape."""
    return _engine._reference_draw(spec)


class DoubtfulTwin(CellTwin):
    """Draws from a tape that it changes: the first height that is read decides nothing."""

    def __init__(self, spec: Spec, facts: Facts) -> None:
        super().__init__(spec, facts)
        self.doubtful: bytes | None = None
        self._at = 0

    def read_height(self, tape: Tape, doubtful: Callable[[], int]) -> int:
        """As the parent; the first time, note where, and what had to be read."""
        height, in_doubt = super().read_height(tape, doubtful), doubtful()
        if self.doubtful is None and in_doubt >> 56 == 0:  # else every height decides
            self._at, self.doubtful = tape.used, in_doubt.to_bytes(7, "little")
            return in_doubt
        return height

    def written(self, tape: Tape) -> bytes:
        """Return the bytes that were read, the doubtful ones in their place."""
        data = bytearray(tape.everything())
        data[self._at - 7 : self._at] = self.doubtful or b""
        return bytes(data)


def table_cases(key: Iterator[bytes], chosen: list[Case]) -> Iterator[Case]:
    """Return the vectors of the tables; `chosen` has what the core chose for each."""
    for case, choice in zip(TABLES, chosen, strict=True):
        facts = Facts(*(choice[name] for name in Facts._fields))
        twin = CellTwin(case.spec, facts)
        tape_key = next(key)
        tape = key_tape(tape_key)
        cells = [*twin.full, *chain.from_iterable(twin.partial)]
        rows = [number for row in twin.rows for number in (*row.end, *row.code, row.special)]
        table = {
            **shown(case.spec),
            **facts._asdict(),
            "n_full": len(twin.full),
            "n_partial": len(twin.partial),
            **({"cells": cells} if case.index_bits == 4 else {}),
            "cells_sha256": digest(cells),
            "rows_sha256": digest(rows),
            "lines_sha256": choice["lines_sha256"],
        }
        draws = twin.draw(2 * twin.chunk + 450, tape)
        yield {**table, "chacha20_key": tape_key.hex(), **drawn(draws, tape)}
        if case.index_bits < 16:
            yield {**table, **doubtful_draw(case.spec, facts, next(key))}


def doubtful_draw(spec: Spec, facts: Facts, key: bytes) -> Case:
    """Return the end of a vector of a few draws of which one height has to be refined."""
    twin, tape = DoubtfulTwin(spec, facts), key_tape(key)
    twin.draw(IN_DOUBT, tape)
    data = twin.written(tape)
    again = Tape(data)
    draws = CellTwin(spec, facts).draw(IN_DOUBT, again)
    if again.used != len(data) or twin.doubtful is None:
        raise ValueError(f"{spec}: no height was refined")
    return {"tape": data.hex(), **drawn(draws, again)}


def chosen_by_the_core(case: TableCase) -> Case:
    """Return what the core chose for a table."""
    from discretegauss._verify_table import copy_out

    block_bits = -1 if case.block_bits is None else case.block_bits
    table = copy_out(case.spec, index_bits=case.index_bits, block_bits=block_bits)
    lines = [
        *(table.centre, table.tail_lines, table.tail_line_bits),
        *(partial.line for partial in table.partial),
        *chain.from_iterable(table.lines),
    ]
    facts = {name: getattr(table, name) for name in Facts._fields if name != "coded_last"}
    n_coded = table.n_coded
    facts["coded_last"] = table.full[n_coded - 1] if n_coded > 0 else table.coded_first - 1
    return {**facts, "lines_sha256": digest(lines)}


def chosen_before(file: Case) -> list[Case]:
    """Return the same from the file."""
    return [case for case in file["tables"] if "chacha20_key" in case]


def build(*, file: Case | None = None) -> Case:
    """Return what vectors.json holds; with `file`, what the core chose is taken from there."""
    key = keys()
    algorithms = list(algorithm_cases(key))
    chosen = chosen_before(file) if file else [chosen_by_the_core(case) for case in TABLES]
    return {**HEADER, "algorithms": algorithms, "tables": list(table_cases(key, chosen))}


def text_of(file: Case) -> str:
    """Return the file's text: one vector a line, so that a program without JSON can read it."""
    parts = []
    for name, value in file.items():
        if isinstance(value, list):
            lines = ",\n".join("    " + json.dumps(case) for case in value)
            parts.append(f"  {json.dumps(name)}: [\n{lines}\n  ]")
        else:
            whole = json.dumps(value, indent=2).replace("\n", "\n  ")
            parts.append(f"  {json.dumps(name)}: {whole}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    """Run the command. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 on a difference"
    )
    check = parser.parse_args().check
    before = FILE.read_text(encoding="ascii") if FILE.exists() else ""
    if _engine.native is None:
        print("without the compiled core: what it chooses is taken from the file", file=sys.stderr)
    text = text_of(build(file=json.loads(before) if _engine.native is None else None))
    if text == before:
        print(f"{FILE.name}: as it should be")
        return 0
    if check:
        print(f"{FILE.name} differs from what generate.py writes", file=sys.stderr)
        return 1
    FILE.write_text(text, encoding="ascii")
    print(f"{FILE.name}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
