"""Positive control: plant faults in a copy of the C core and let a fuzz target, or a script that
quotes the line, find each.

    python tests/fuzz/planted.py [--seconds 60] [NAME ...]

It prints the report on each fault. It fails if a fault is not found, or if the source no longer has
the line that a fault replaces.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

# Not a fuzz target: the scripts beside the code (tools/prove.py --lines), which quote it.
LINES = "lines"


class Fault(NamedTuple):
    """A line of csrc, its replacement, and the target that finds it."""

    name: str
    target: str
    file: str
    old: str
    new: str


FAULTS = [
    Fault(
        "the whole cells on the way out are halved in words",
        "mechanisms",
        "mechanisms/leave_cell.c",
        "low_bits > 0 ? way >> low_bits :",
        "low_bits > 0 ? way >> (low_bits + 1) :",
    ),
    Fault(
        "a Bernoulli reads on after it is decided",
        "words",
        "exact/words.c",
        "while (remainder > 0 && remainder < (dg_i128)b) {",
        "while (remainder > 0 && remainder <= (dg_i128)b) {",
    ),
    Fault(
        "a fill asks for bytes that it does not use",
        "words",
        "api/draw_items.c",
        "look_ahead(&session->bits, end - 1 - i, beyond, law);",
        "look_ahead(&session->bits, end - i, beyond, law);",
    ),
    Fault(
        "the tail is cut at some 6 sigma",
        "cells",
        "cells/decide.c",
        "    const dg_arc arc = dg_tail_arc(place, &reach, left, cell, level, table);",
        "    if (level > 12) {\n        *accepted = false;\n        return DG_OK;\n    }\n"
        "    const dg_arc arc = dg_tail_arc(place, &reach, left, cell, level, table);",
    ),
    Fault(
        "a draw into machine integers forgets its low bytes",
        "cells",
        "cells/output.c",
        "y.low |= to->rest[i * to->rest_stride + k - 1];",
        "y.low |= 0 * to->rest[i * to->rest_stride + k - 1];",
    ),
    Fault(
        "the left core's tick is not flipped",
        "cells",
        "cells/decide.h",
        "dg_reach(dg_ticks_inwards(place, table), table->tick_bits);",
        "dg_reach(place->tick, table->tick_bits);",
    ),
    Fault(
        "a refined height makes room for 63 bits of 64",
        "cells",
        "bounds/refine.c",
        "mpz_mul_2exp(f, f, 64);",
        "mpz_mul_2exp(f, f, 63);",
    ),
    Fault(
        "a doubtful draw that fails is not drawn again",
        "cells",
        "cells/draw.c",
        "        if (accepted) {\n            state->failed",
        "        if (accepted || of != NULL) {\n            state->failed",
    ),
    Fault(
        "the loop for AVX-512 takes ticks on the left for ticks on the right",
        "loops",
        "cells/decide_avx512.c",
        "_mm512_srai_epi64(block, 63), last_tick",
        "_mm512_srli_epi64(block, 63), last_tick",
    ),
    Fault(
        "a piece of a row ends one position too late",
        "loops",
        "cells/look_up_avx512_vbmi2.c",
        "_mm512_mask_cmpge_epu8_mask(mixed, position, look_up_bytes(row, &end0, quarters))",
        "_mm512_mask_cmpgt_epu8_mask(mixed, position, look_up_bytes(row, &end0, quarters))",
    ),
    Fault(
        "the AVX2 loop chooses codes of the second half by positions of the first",
        "loops",
        "cells/look_up_avx2.c",
        "at_least(position.b, end.b)",
        "at_least(position.a, end.b)",
    ),
    Fault(
        "the portable loop spreads bits backwards",
        "loops",
        "cells/look_up_portable.c",
        "0x8040201008040201",
        "0x0102040810204080",
    ),
    Fault(
        "heights of lanes are assumed to be at most 1 unit too low, not 6",
        "lanes",
        "isochronous/lane_laws.c",
        ": DG_LANE_BELOW,",
        ": 1,",
    ),
    Fault(
        "the tail's step is not lifted",
        "lanes",
        "isochronous/lane_attempt.h",
        "lanes) - (step << DG_LANE_BITS);",
        "lanes) - (0 * step << DG_LANE_BITS);",
    ),
    Fault(
        "kernels in vectors take the first piece's length for the second one's",
        "lanes",
        "isochronous/silent_vectors.h",
        "length = (end ^ is_second) - is_second;",
        "length = end;",
    ),
    Fault(
        "the AVX-512 kernel lets choices count that should not",
        "lanes",
        "isochronous/lane_attempt_avx512.h",
        "_mm512_cmpge_epu64_mask(_mm512_and_si512(product",
        "_mm512_cmpge_epu64_mask(_mm512_or_si512(product",
    ),
    Fault(
        "the first integers of blocks are never reached by the portable kernel",
        "lanes",
        "isochronous/silent_portable.c",
        "tick >> (8 * n_planes - silent->block_bits);",
        "(tick >> (8 * n_planes - silent->block_bits) | (silent->block_bits > 0));",
    ),
    Fault(
        "a draw is from the law before its own",
        "laws",
        "api/laws_api.c",
        "DG_TRY(dg_read_law(&parameter, &centre, laws, item));",
        "DG_TRY(dg_read_law(&parameter, &centre, laws, item - (item > 0)));",
    ),
    Fault(
        "the AVX-512 kernel takes centres of eight laws for their opposites",
        "laws",
        "isochronous/lane_laws_avx512_ifma.c",
        "is_positive = _mm512_test_epi64_mask(centre, one);",
        "is_positive = (__mmask8)~_mm512_test_epi64_mask(centre, one);",
    ),
    Fault(
        "a type that does not exist",
        "api",
        "base/dtype.h",
        "return (unsigned)dtype <= DG_UINT64;",
        "return (unsigned)dtype <= DG_UINT64 + 1;",
    ),
    Fault(
        "a sampler that was refused looks like one",
        "api",
        "api/sampler_api.c",
        "    *sampler = NULL;\n",
        "",
    ),
    Fault(
        "log 2 of lanes is a unit too large",
        LINES,
        "isochronous/lanes.h",
        "UINT64_C(0xB17217F7D1CF7)",
        "UINT64_C(0xB17217F7D1CF8)",
    ),
    Fault(
        "heights of lanes have 7 terms of the series, not 8",
        LINES,
        "isochronous/lane_attempt.h",
        "DG_LANE_TERM(8, 40320);\n    }\n    DG_LANE_ADD(7, 5040)\n",
        "DG_LANE_TERM(7, 5040);\n    }\n",
    ),
    Fault(
        "logarithms of lanes have 11 terms of the series, not 12",
        LINES,
        "isochronous/lane_power.h",
        "DG_LANE_LOG_TERM(12);\n    sum = DG_LANE_LOG_TERM(11) + high(u, sum);\n",
        "DG_LANE_LOG_TERM(11);\n",
    ),
    Fault(
        "an arc of the silent engine is trusted a unit too far",
        LINES,
        "isochronous/arcs_silent.c",
        "of_heights + 2 * PART + PART / 8",
        "of_heights + 1 * PART + PART / 8",
    ),
    Fault(
        "f' of the silent engine ends a unit too early",
        LINES,
        "isochronous/silent_decide.h",
        "((dg_u128)word + 1) * c",
        "((dg_u128)word + 0) * c",
    ),
    Fault(
        "log 2 of 128 bits is a unit too large",
        LINES,
        "bounds/elementary.c",
        "0xC9E3B39803F2F6AF",
        "0xC9E3B39803F2F6B0",
    ),
    Fault(
        "a difference of powers takes the wrong bound",
        LINES,
        "bounds/enclosure.c",
        "up ? e->centre_lower : e->centre_upper,",
        "up ? e->centre_upper : e->centre_lower,",
    ),
    Fault(
        "an arc's error is a unit too small",
        LINES,
        "cells/build_arcs.c",
        "(slope >> DG_REACH_BITS) + 6;",
        "(slope >> DG_REACH_BITS) + 5;",
    ),
    Fault(
        "a parabola's least curvature is that of the wrong end",
        LINES,
        "cells/build_chord.c",
        "c->second[!most]",
        "c->second[most]",
    ),
    Fault(
        "fine heights have a place too few",
        LINES,
        "cells/build_chord.h",
        "DG_FINE_BITS = 56",
        "DG_FINE_BITS = 55",
    ),
    Fault(
        "the bulge of an arc is cut before it is multiplied",
        LINES,
        "cells/decide.h",
        "reach * (one - reach) >> DROP;",
        "reach * ((one - reach) >> DROP);",
    ),
]


def found_by(fault: Fault, seconds: int, tree: Path) -> str:
    """Run the target on the copy with the fault; return its first report, or an empty text."""
    file = tree / "csrc" / fault.file
    source = file.read_text()
    if source.count(fault.old) != 1:
        sys.exit(f"{fault.file} has no single place for {fault.name!r}: {fault.old!r}")
    file.write_text(source.replace(fault.old, fault.new))
    command = [str(tree / "tests/fuzz/run.sh"), str(seconds), fault.target]
    if fault.target == LINES:
        command = [sys.executable, str(tree / "tools/prove.py"), "--lines"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    file.write_text(source)
    lines = (run.stdout + run.stderr).splitlines()
    telling = (
        "does not hold",
        "runtime error",
        ": requires ",
        "SUMMARY: ",
        "does not go on",
        " is not ",
    )
    reports = [line for line in lines if any(mark in line for mark in telling)]
    if run.returncode != 0 and not reports:
        sys.exit(f"{fault.name}: no fuzzing\n{run.stdout}{run.stderr}")
    return reports[0].removeprefix(f"{tree}/") if reports else ""


def not_found(fault: Fault) -> str:
    """Return the text for a fault that nothing found, and what running its file needs."""
    needs_avx512 = fault.file.endswith(("avx512.c", "vbmi2.c", "ifma.c"))
    return f"NOT FOUND{': it runs with AVX-512 VBMI2 only' if needs_avx512 else ''}"


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(description="Plant faults; the fuzz targets must find them.")
    parser.add_argument("names", nargs="*", help="only these; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each, at most")
    options = parser.parse_args()
    unknown = set(options.names) - {fault.name for fault in FAULTS}
    if unknown:
        parser.error(f"no such faults: {sorted(unknown)}")
    missed = 0
    with tempfile.TemporaryDirectory() as work:
        tree = Path(work)
        for name in ("csrc", "cmake", "tests/fuzz", "tools"):
            shutil.copytree(ROOT / name, tree / name)
        for name in ("CMakeLists.txt", "CMakePresets.json", "python/discretegauss/_version.py"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
        (tree / "build").mkdir()
        for fault in FAULTS:
            if options.names and fault.name not in options.names:
                continue
            report = found_by(fault, options.seconds, tree)
            missed += not report
            print(f"{fault.target}: {fault.name}: {report or not_found(fault)}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
