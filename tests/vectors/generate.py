"""Write vectors.json, or with --check compare it with what would be written.

    python tests/vectors/generate.py [--check]

Draws of the algorithms come from the specification, ``discretegauss.reference``; cells of tables
and draws from them from oracles/cell_model.py, which has nothing of the C code. The compiled core
is asked for what it is free to choose: the geometry of each table (`Facts`), and its arcs. Without
it these are taken from the file as it stands. Isochronous fills come from oracles/silent_twin.py.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import beside  # noqa: F401  # where the next ones are
import parts
from cases import ALGORITHMS, FILLS, HAND_MADE, TABLES, TableCase, shown
from cell_model import CellModel, Facts, Height
from keystream import Tape, key_tape
from silent_twin import SilentTwin

import discretegauss as dg
from discretegauss import reference

FILE = Path(__file__).with_name("vectors.json")
SHOWN = 12  # draws that a vector shows
DRAWS = 200  # that a vector of an algorithm has
FILLED = 3000  # that a vector of an isochronous fill has: batches of two sizes or more
PLANTED = 30  # that a vector has whose tape was made
IN_DOUBT = 40  # that a vector has whose tape makes comparisons go on
PAST_CHUNK = 450  # that a vector of a table has beyond the first chunk

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
        "block_bits": "a block has 2^block_bits integers; of isochronous fills, too",
        "tail_bits": "a tail block has 2^tail_bits blocks",
        "height": "H: the law at its likeliest integer is H cells, or positions, high",
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
        "arcs_sha256": "the digest of the bounds that this library decides most attempts by;"
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
    for law in ALGORITHMS:
        tape_key = next(key)
        tape = key_tape(tape_key)
        draws = [specified(law, tape) for _ in range(DRAWS)]
        yield {**shown(law), "chacha20_key": tape_key.hex(), **drawn(draws, tape)}
    for law, data in HAND_MADE:
        tape = Tape(data)
        draws = [specified(law, tape)]
        if tape.used != len(data):
            raise ValueError(f"{law}: {tape.used} bytes of {len(data)} were read: {data.hex()}")
        yield {**shown(law), "tape": data.hex(), **drawn(draws, tape)}


def specified(law: Any, tape: Tape) -> int:
    """Return the specification's next draw from a tape."""
    name, *parameters = shown(law).values()
    values = [Fraction(value) for value in parameters]
    if name in ("discrete_laplace", "discrete_gaussian"):
        return int(getattr(reference, name)(*values, tape))
    whole, den = values[0].as_integer_ratio()
    given = (whole,) if name == "uniform_below" else (whole, den)
    return int(getattr(reference, name)(*given, tape))


class DoubtfulTwin(CellModel):
    """Draws from a tape that it changes: every other height that might decides nothing.

    Those between do, so that draws that read on and draws that do not follow one another.
    """

    def __init__(self, law: Any, facts: Facts) -> None:
        super().__init__(law, facts)
        self.doubtful: dict[int, int] = {}  # by their place on the tape
        self._n_seen = 0

    def bits_of(self, height: Height, doubtful: Callable[[], int], tape: Tape) -> int:
        """As the parent; of every other one, note where, and what had to be read."""
        in_doubt = doubtful()
        if in_doubt >> 16 != 0:  # every height decides
            return height.bits
        self._n_seen += 1
        if self._n_seen % 2 == 0:
            return height.bits
        self.doubtful[height.at] = in_doubt
        return in_doubt

    def written(self, tape: Tape) -> bytes:
        """Return the bytes that were read, the doubtful ones in their place."""
        data = bytearray(tape.everything())
        for at, bits in self.doubtful.items():
            data[at : at + 2] = bits.to_bytes(2, "little")
        return bytes(data)


def table_cases(key: Iterator[bytes], chosen: list[Case]) -> Iterator[Case]:
    """Return the vectors of the tables; `chosen` has what the core chose for each."""
    for case, choice in zip(TABLES, chosen, strict=True):
        facts = Facts(*(choice[name] for name in Facts._fields))
        twin = CellModel(case.law, facts)
        tape_key = next(key)
        tape = key_tape(tape_key)
        cells = [*twin.full, *chain.from_iterable(twin.partial)]
        rows = [number for row in twin.rows for number in (*row.end, *row.code, row.special)]
        table = {
            **shown(case.law),
            **facts._asdict(),
            "n_full": len(twin.full),
            "n_partial": len(twin.partial),
            **({"cells": cells} if case.index_bits == 4 else {}),
            "cells_sha256": digest(cells),
            "rows_sha256": digest(rows),
            "arcs_sha256": choice["arcs_sha256"],
        }
        draws = twin.draw(twin.chunk + PAST_CHUNK, tape)
        yield {**table, "chacha20_key": tape_key.hex(), **drawn(draws, tape)}
        if case.index_bits < 16:
            yield {**table, **doubtful_draw(case.law, facts, next(key))}


def doubtful_draw(law: Any, facts: Facts, key: bytes) -> Case:
    """Return the end of a vector of a few draws of which many heights have to be refined."""
    twin, tape = DoubtfulTwin(law, facts), key_tape(key)
    twin.draw(IN_DOUBT, tape)
    data = twin.written(tape)
    again = Tape(data)
    draws = CellModel(law, facts).draw(IN_DOUBT, again)
    if again.used != len(data) or len(twin.doubtful) < 2:
        raise ValueError(f"{law}: no height was refined")
    return {"tape": data.hex(), **drawn(draws, again)}


def chosen_by_the_core(case: TableCase) -> Case:
    """Return what the core chose for a table."""
    block_bits = -1 if case.block_bits is None else case.block_bits
    table = parts.copied_table(case.law, index_bits=case.index_bits, block_bits=block_bits)
    facts = {name: getattr(table, name) for name in Facts._fields if name != "coded_last"}
    n_coded = table.n_coded
    facts["coded_last"] = table.full[n_coded - 1] if n_coded > 0 else table.coded_first - 1
    arcs = chain.from_iterable(table.arcs)
    return {**facts, "arcs_sha256": digest([table.tail_arc_bits, *arcs])}


def chosen_before(cases: list[Case]) -> list[Case]:
    """Return the same from the file."""
    return [case for case in cases if "chacha20_key" in case]


def fill_cases(key: Iterator[bytes]) -> Iterator[Case]:
    """Return the vectors of isochronous fills."""
    for law in FILLS:
        twin, tape_key = SilentTwin.of(law), next(key)
        tape = key_tape(tape_key)
        about = {**shown(law), "block_bits": twin.block_bits, "height": twin.height}
        yield {**about, "chacha20_key": tape_key.hex(), **drawn(twin.draws(FILLED, tape), tape)}
        tape = Tape(planted(twin, next(key)))
        draws = twin.draws(PLANTED, tape)
        yield {**about, "tape": tape.everything().hex(), **drawn(draws, tape)}


def planted(twin: SilentTwin, key: bytes) -> bytes:
    """Return a tape whose first batch has tails, and places next to where acceptance ends.

    More of them need a word of f' than the batch has, and some read on.
    """
    m, stream = twin.attempts(PLANTED), key_tape(key)
    columns = [bytearray(stream.read(m)) for _ in range(3 + twin.planes)]
    for i in range(0, m, 3):
        row = columns[0][i] = 127 + 128 * (i % 2) if i < 9 else columns[0][i] % 8 + 128 * (i % 2)
        tick = int.from_bytes(bytes(column[i] for column in columns[3:]), "little")
        z = (row % 128 << twin.block_bits) + (tick >> (8 * twin.planes - twin.block_bits))
        whole = twin.law.floor(twin.end[row] * twin.height, -1 - z if row > 127 else z)[0]
        position = min(max(whole // twin.c[row] + i % 4 - 1, 0), twin.end[row] - 1)
        columns[1][i], columns[2][i] = divmod(0 if i < 9 else position, 256)
    words = [0, 2**26 - 1, 0, 0, 2**64 - 1, 2**63, 1, 2**26]
    f = b"".join(word.to_bytes(8, "little") for word in words)
    return b"".join(map(bytes, columns)) + f + stream.read(1 << 14)


def build(*, file: Case | None = None) -> Case:
    """Return what vectors.json holds; with `file`, what the core chose is taken from there."""
    key = keys()
    algorithms = list(algorithm_cases(key))
    if file:
        tables = chosen_before(file["tables"])
    else:
        tables = [chosen_by_the_core(case) for case in TABLES]
    return {
        **HEADER,
        "algorithms": algorithms,
        "tables": list(table_cases(key, tables)),
        "fills": list(fill_cases(key)),
    }


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
    without_core = dg.build_info()["engine"] != "native"
    if without_core:
        print("without the compiled core: what it chooses is taken from the file", file=sys.stderr)
    text = text_of(build(file=json.loads(before) if without_core else None))
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
