#!/usr/bin/env python3
"""Check the proofs of csrc/*/proof by Coq, and tables that the C core builds: `tools/coq.py`.

It fails if a file does not compile or leaves something unproven, or if a theorem's axioms are not
those of csrc/cells/proof/axioms.txt. Then it checks the tables of ten laws; with --whole those of
all laws that the verifier checks, and of three in Coq's own integers. It copies each table out of
the memory where the core built it, and compares it with the core's functions. Coq reads the bytes
and checks them. As a control, Coq must reject bytes with planted faults.

It needs Coq with Interval and Coquelicot (Debian: coq libcoq-interval libcoq-coquelicot), a C
compiler, the headers of GMP and MPFR, and discretegauss with its extension, on a little-endian
machine of 64 bits.
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from discretegauss._law import Kind, LawSpec
from discretegauss.verify._cases import fixed_cases, one_line
from discretegauss.verify._table import CellTable, copy_out, sampler_of

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "csrc"
AXIOMS = CORE / "cells" / "proof" / "axioms.txt"
FOLDERS = ("exact", "cells", "isochronous")
UNPROVEN = (
    r"\b(Admitted|Axioms?|Parameters?|Conjecture|admit|give_up|Admit Obligations|bypass_check)\b"
)


# --- Coq ---------------------------------------------------------------------------------------


class Coq:
    """Coq, which compiles files in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        folder = self.folder
        self.paths = [part for name in FOLDERS for part in ("-Q", str(folder / name), f"DG.{name}")]
        self.paths += ["-Q", str(folder / "tables"), "DG.tables"]
        for name in (*FOLDERS, "tables"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *self.paths, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,  # its caches stay there
        )

    def compile(self, file: Path) -> str:
        """Compile a file, and return what Coq prints; raise Rejected if Coq rejects it."""
        done = self.run("coqc", "-w", "-ambiguous-paths", str(file))
        if done.returncode != 0:
            raise Rejected(f"{file.name}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def compile_text(self, name: str, text: str) -> str:
        """Compile a text as tables/NAME.v."""
        file = self.folder / "tables" / f"{name}.v"
        file.write_text(text)
        return self.compile(file)

    def library(self) -> None:
        """Compile csrc/*/proof/*.v."""
        for name in FOLDERS:
            for file in sorted((CORE / name / "proof").glob("*.v")):
                text = file.read_text()
                stripped = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
                if found := re.search(UNPROVEN, stripped):
                    raise Rejected(f"{file}: {found[0]}")
                copy = self.folder / name / file.name
                if not copy.exists() or copy.read_text() != text:
                    copy.write_text(text)
        files = [str(file) for name in FOLDERS for file in (self.folder / name).glob("*.v")]
        newest = 0.0
        for file in map(Path, self.run("coqdep", "-sort", *files).stdout.split()):
            built = file.with_suffix(".vo")
            newest = max(newest, file.stat().st_mtime)
            if not built.exists() or built.stat().st_mtime < newest:
                start = time.perf_counter()
                self.compile(file)
                newest = built.stat().st_mtime
                print(f"{file.parent.name}/{file.name}: {time.perf_counter() - start:.0f} s")


class Rejected(Exception):
    """Raised if Coq does not accept a file."""


# --- tables as Coq reads them ------------------------------------------------------------------

STRUCT = ("rows", "block_bits", "centre_bytes", "block_of", "partial", "tail_arcs")


def places() -> dict[str, int]:
    """Return the offsets of the members of dg_table, and of a sampler's table."""
    wanted = ", ".join(f"offsetof(dg_table, {name})" for name in STRUCT)
    wanted += ", offsetof(dg_sampler, table)"
    code = f"""#include "sampler/prepare.h"
        #include <stdio.h>
        int main(void) {{
            size_t at[] = {{{wanted}, sizeof(dg_rows), sizeof(dg_partial), sizeof(dg_arc)}};
            for (size_t i = 0; i < sizeof at / sizeof *at; i++) printf("%zu ", at[i]); }}"""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "places.c", Path(folder) / "places"
        source.write_text(code)
        subprocess.run(["gcc", f"-I{CORE}", f"-I{CORE}/include", source, "-o", program], check=True)
        numbers = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    names = (*STRUCT, "table", "n_rows", "n_partial", "n_arc")
    return dict(zip(names, map(int, numbers.split()), strict=True))


class Memory(NamedTuple):
    """A table as bytes."""

    in_table: bytearray
    in_rows: bytearray
    in_block_of: bytearray
    in_partial: bytearray
    in_tail_arcs: bytearray


def memory_of(spec: LawSpec, index_bits: int, at: dict[str, int]) -> Memory:
    """Build a table and copy its bytes out."""
    from discretegauss._native import ffi, lib

    sampler, info = sampler_of(spec, index_bits, -1), ffi.new("dg_sampler_info *")
    lib.dg_sampler_describe(info, sampler)

    def copied(address: int, n: int) -> bytearray:
        return bytearray(ffi.buffer(ffi.cast("char *", address), n)) if n else bytearray()

    def address(at: int) -> int:
        return int.from_bytes(copied(at, 8), "little")

    start = address(int(ffi.cast("uintptr_t", sampler)) + at["table"])

    def pointed(name: str) -> int:
        return address(start + at[name])

    return Memory(
        copied(start + at["block_bits"], at["centre_bytes"] - at["block_bits"]),
        copied(start + at["rows"], at["n_rows"]),
        copied(pointed("block_of") + 2 * info.n_coded, 2 * (info.n_full - info.n_coded)),
        copied(pointed("partial"), at["n_partial"] * info.n_partial),
        copied(pointed("tail_arcs"), at["n_arc"] * info.n_tail_arcs),
    )


def agrees(memory: Memory, table: CellTable) -> bool:
    """Return whether the bytes agree with the core's own functions."""
    head = struct.unpack("<QQ4I4i5I", memory.in_table[:68])
    said: tuple[int, ...] = (
        table.block_bits,
        table.rest_bytes,
        table.index_bits,
        table.tick_bits,
        table.tail_bits,
    )
    said += (table.height, table.first_block, table.last_block, table.coded_first)
    sizes = (table.n_coded, len(table.full), len(table.partial), table.n_tail_side)
    arcs = [tuple(arc) for arc in table.arcs]
    partial = [(*cell, *arc) for cell, arc in zip(table.partial, arcs, strict=False)]
    rows = memory.in_rows
    columns = [rows[12 + 256 * i : 268 + 256 * i] for i in range(5)]
    specials = struct.unpack("<256H", rows[12 + 6 * 256 :])
    return (
        head[:9] == said
        and head[10:] == (*sizes, table.tail_arc_bits)
        and list(struct.iter_unpack("<h", memory.in_block_of))
        == [(block,) for block in table.full[table.n_coded :]]
        and list(struct.iter_unpack("<hHiIHh", memory.in_partial)) == partial
        and list(struct.iter_unpack("<iIHh", memory.in_tail_arcs)) == arcs[len(partial) :]
        and all(
            (*row.end, *row.code) == tuple(column[i] for column in columns)
            and (255 not in row.code or row.special == specials[i])
            for i, row in enumerate(table.rows)
        )
    )


def law_of(spec: LawSpec) -> str:
    """Return the law in the form of law.v."""
    kind = {
        Kind.DISCRETE_GAUSSIAN: "Gaussian",
        Kind.DISCRETE_LAPLACE: "Laplace",
        Kind.GENERALIZED_GAUSSIAN: f"(Power {spec.beta.numerator} {spec.beta.denominator})",
    }[spec.kind]
    f = spec.mu - (spec.mu + Fraction(1, 2)).__floor__()
    s, u = spec.parameter.numerator, spec.parameter.denominator
    k, d = f.numerator, f.denominator
    return f"{{| kind := {kind}; s := {s:#x}; u := {u:#x}; k := ({k:#x}); d := {d:#x} |}}"


def lines(value: bytearray) -> str:
    """Return bytes in the form of bytes.v."""
    return (
        "[" + "; ".join(f'"{value[i : i + 48].hex()}"' for i in range(0, len(value), 48)) + "]%text"
    )


def record(memory: Memory) -> str:
    """Return the bytes of a table in the form of bytes.v."""
    parts = (f"{name} := {lines(value)}" for name, value in memory._asdict().items())
    return f"{{| {'; '.join(parts)} |}}"


def statement(spec: LawSpec, memory: Memory, plain: bool = False) -> str:
    """Return a Coq file with the bytes, the proof that they are accepted, and the theorem."""
    checker = "Plain" if plain else "Big"
    return f"""From Coq Require Import ZArith List.
From DG.exact Require Import laws.
From DG.cells Require Import law bytes checker whole {checker.lower()}.
Import ListNotations.
Open Scope Z_scope.
Definition the_law : law := {law_of(spec)}.
Definition the_memory : memory := {record(memory)}.
Lemma accepted : {checker}.whole_ok the_law the_memory precisions = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Theorem the_draws_have_the_law :
  forall lower upper, let c := decider_of the_memory lower upper in
  bounds_right the_law (table_of the_memory) c ->
  has_law (weight the_law) (draws (table_of the_memory) c).
Proof. exact ({checker}.whole_right precisions _ _ accepted). Qed.
"""


class Case(NamedTuple):
    """A law and the number of bits of its table's index."""

    spec: LawSpec
    index_bits: int = 16


def case(kind: Kind, parameter: str, mu: str, beta: str = "1", index_bits: int = 16) -> Case:
    """Return it from text."""
    return Case(LawSpec(kind, Fraction(parameter), Fraction(mu), Fraction(beta)), index_bits)


#: Laws of every kind. Tables are small if the law is so wide that y has a remainder, or if it needs
#: logarithms.
TEN = [
    case(Kind.DISCRETE_GAUSSIAN, "1/10", "1/3"),
    case(Kind.DISCRETE_GAUSSIAN, "4", "0"),
    case(Kind.DISCRETE_GAUSSIAN, "100", "1/3"),
    case(Kind.DISCRETE_GAUSSIAN, f"{10**100}", "1/7", index_bits=6),
    case(Kind.DISCRETE_LAPLACE, "10", "0"),
    case(Kind.DISCRETE_LAPLACE, f"{2**64}", "1/3", index_bits=6),
    case(Kind.GENERALIZED_GAUSSIAN, "10", "-1/2", "10"),
    case(Kind.GENERALIZED_GAUSSIAN, "10", "1/3", "3"),
    case(Kind.GENERALIZED_GAUSSIAN, f"{2**70}", "0", "3", index_bits=6),
    case(Kind.GENERALIZED_GAUSSIAN, "1000", "1/3", "3/2", index_bits=6),
]
PLAIN = [TEN[1], TEN[6], case(Kind.DISCRETE_LAPLACE, "1", "0", index_bits=10)]


def check_table(coq: Coq, name: str, case: Case, at: dict[str, int], plain: bool = False) -> None:
    """Have Coq prove that draws by the law's table have the law."""
    spec, index_bits = case
    memory = memory_of(spec, index_bits, at)
    if not agrees(memory, copy_out(spec, index_bits=index_bits)):
        raise Rejected(f"{one_line(spec)}: its bytes are not what the core says of it")
    start = time.perf_counter()
    coq.compile_text(name, statement(spec, memory, plain))
    seconds = time.perf_counter() - start
    print(f"proven: {one_line(spec)}, {index_bits} bits: {seconds:.1f} s", flush=True)


def check_tables(coq: Coq, name: str, cases: list[Case], plain: bool = False) -> None:
    """Prove many laws in parallel, then combine them to one theorem, and check its axioms."""
    at = places()
    names = [f"{name}_{i}" for i in range(len(cases))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = [
            pool.submit(check_table, coq, table, case, at, plain)
            for table, case in zip(names, cases, strict=True)
        ]
        for one in done:
            one.result()
    laws = ", ".join(f"{table}.the_draws_have_the_law" for table in names)
    required = f"From DG.tables Require {' '.join(names)}.\n"
    coq.compile_text(name, f"{required}Definition draws_have_their_laws := ({laws}).\n")


# --- axioms ------------------------------------------------------------------------------------


def expected_axioms() -> dict[str, set[str]]:
    """Read AXIOMS: theorem -> names."""
    groups: dict[str, set[str]] = {}
    theorems: dict[str, set[str]] = {}
    for line in AXIOMS.read_text().splitlines():
        if line and not line.startswith("#"):
            name, words = line.split(":")
            if "." in name:
                theorems[name] = set().union(*(groups[word] for word in words.split()))
            else:
                groups[name] = set(words.split())
    return theorems


def check_axioms(coq: Coq, names: list[str]) -> None:
    """Fail if a theorem uses other axioms than those of AXIOMS."""
    expected = expected_axioms()
    parts = [name.split(".", 2) for name in names]
    files = "".join(f"From DG.{folder} Require {file}.\n" for folder, file, _ in parts)
    prints = "".join(f"Print Assumptions {file}.{theorem}.\n" for _, file, theorem in parts)
    said = coq.compile_text("axioms", files + prints)
    printed = re.split("Axioms:|Closed under the global context", said)[1:]
    for name, text in zip(names, printed, strict=True):
        found = set(re.findall(r"^([A-Za-z][\w.]*)\s*:", text, flags=re.MULTILINE))
        if found != expected[name]:
            raise Rejected(
                f"{name}: axioms {sorted(found - expected[name])} are not in {AXIOMS.name},"
                f" {sorted(expected[name] - found)} are not used"
            )
        print(f"{name}: {len(found)} axioms, as listed", flush=True)


# --- planted faults ----------------------------------------------------------------------------

HEAD = {"rest_bytes": 8, "tail_bits": 24, "height": 28, "last_block": 36}
HEAD |= {"n_full": 52, "n_partial": 56, "n_tail_side": 60}


def added(part: bytearray, at: int, step: int = 1) -> bytearray:
    """Return the bytes with one changed."""
    copy = bytearray(part)
    copy[at] = (copy[at] + step) % 256
    return copy


def parabola_faults(memory: Memory) -> Iterator[tuple[str, Memory]]:
    """Return a table of wide blocks with one wrong arc."""
    yield "an arc's slope", memory._replace(in_partial=added(memory.in_partial, 10))


def faults(memory: Memory) -> Iterator[tuple[str, Memory]]:
    """Return tables with one fault each."""

    def changed(**parts: bytearray) -> Memory:
        return memory._replace(**parts)

    def head(**steps: int) -> bytearray:
        copy = bytearray(memory.in_table)
        for name, step in steps.items():
            (value,) = struct.unpack_from("<I", copy, HEAD[name])
            struct.pack_into("<I", copy, HEAD[name], value + step)
        return copy

    end0, codes, whole, special = 12, 12 + 512, 12 + 1280, 12 + 1536
    mixed = next(i for i in range(256) if 255 in memory.in_rows[codes + i : codes + 768 : 256])
    last = 255
    sides = struct.unpack_from("<I", memory.in_table, HEAD["n_tail_side"])[0]
    yield "a height more", changed(in_table=head(height=1))
    yield "a height less", changed(in_table=head(height=-1))
    yield "a block more", changed(in_table=head(last_block=1))
    yield "a tail bit less", changed(in_table=head(tail_bits=-1, n_tail_side=-sides // 2))
    yield "a rest byte more", changed(in_table=head(rest_bytes=1))
    yield "an arc's base", changed(in_partial=added(memory.in_partial, 4, 64))
    yield "an arc's error", changed(in_partial=added(memory.in_partial, 12, -memory.in_partial[12]))
    yield "a tail arc's base", changed(in_tail_arcs=added(memory.in_tail_arcs, 1, 1))
    yield "a level", changed(in_partial=added(memory.in_partial, 2))
    yield "a partial cell's block", changed(in_partial=added(memory.in_partial, 0))
    yield "a row's end", changed(in_rows=added(memory.in_rows, end0 + mixed))
    yield "a special row's number", changed(in_rows=added(memory.in_rows, special + 2 * mixed))
    yield (
        "a whole row's code",
        changed(in_rows=added(added(memory.in_rows, whole + last, -1), codes + 512 + last, -1)),
    )
    yield (
        "a full cell too many",
        changed(
            in_table=head(n_full=1, n_partial=-1),
            in_block_of=memory.in_block_of + memory.in_partial[:2],
            in_partial=memory.in_partial[16:],
        ),
    )


def check_faults(
    coq: Coq, case: Case, plant: Callable[[Memory], Iterator[tuple[str, Memory]]]
) -> None:
    """Plant each fault; Coq must reject it, and accept the table without it."""
    spec, index_bits = case
    memory = memory_of(spec, index_bits, places())
    named = [("no fault", memory), *plant(memory)]
    wrong = LawSpec(spec.kind, spec.parameter * Fraction(1001, 1000), spec.mu, spec.beta)
    every = ";\n".join(f"({law_of(spec)}, {record(table)})" for _, table in named)
    printed = coq.compile_text(
        "faults",
        f"""From Coq Require Import ZArith List.
From DG.cells Require Import law bytes checker whole big.
Import ListNotations.
Open Scope Z_scope.
Definition table_ok (x : law * memory) : bool := Big.whole_ok (fst x) (snd x) (firstn 1 precisions).
Eval vm_compute in map table_ok
[{every};
({law_of(wrong)}, {record(memory)})].
""",
    )
    verdicts = re.findall("true|false", printed)
    for (name, _), verdict in zip([*named, ("another law", memory)], verdicts, strict=True):
        print(f"planted: {name}: {'accepted' if verdict == 'true' else 'rejected'}")
        if (verdict == "true") != (name == "no fault"):
            raise Rejected(f"planted: {name}: {verdict}")


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--whole", action="store_true", help="all tables")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "coq", help="for what Coq makes"
    )
    options = parser.parse_args()
    coq = Coq(options.folder)
    try:
        coq.library()
        names = list(expected_axioms())
        if options.whole:
            check_tables(coq, "all", [Case(spec) for spec in fixed_cases()])
            check_tables(coq, "all_plain", PLAIN, plain=True)
        else:
            check_tables(coq, "all", TEN)
            names = [name for name in names if not name.startswith("tables.all_plain")]
        check_axioms(coq, names)
        check_faults(coq, TEN[2], faults)
        check_faults(coq, TEN[8], parabola_faults)
    except Rejected as error:
        print(f"REJECTED: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
