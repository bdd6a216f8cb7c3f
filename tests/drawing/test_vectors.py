"""The published test vectors: what generate.py writes, and what every engine draws."""

from __future__ import annotations

import json
import struct
from functools import partial
from typing import Any

import generate
import numpy as np
import parts
import pytest
from cases import LAWS, law_of
from engine import ENGINE
from evidence_cases import at_once
from keystream import Tape, chacha20_block, key_tape

import discretegauss as dg

FILE = json.loads(generate.FILE.read_text(encoding="ascii"))
needs_core = pytest.mark.usefixtures("native_engine")

#: The isochronous sampler needs a C long of 64 bits (csrc/base/int128.h), which Windows lacks.
IS_ISOCHRONOUS = ENGINE == "native" and struct.calcsize("P") == 8


def tape_of(case: dict[str, Any]) -> Tape:
    if "tape" in case:
        return Tape(bytes.fromhex(case["tape"]))
    return key_tape(bytes.fromhex(case["chacha20_key"]))


def replay(law: Any, case: dict[str, Any], dtype: Any = object) -> None:
    """Require that the law draws what the vector says, and reads as many bytes."""
    tape, out = tape_of(case), np.empty(case["n"], dtype)
    law.fill(out, tape)
    assert generate.drawn(out.tolist(), tape) == {name: case[name] for name in DRAWN}


DRAWN = ("n", "draws", "draws_sha256", "bytes_used")


@pytest.mark.evidence
def test_the_file_is_what_the_generator_writes() -> None:
    """Specification, twin of the cell sampler and tables of the core have not changed."""
    built = generate.build(file=None if IS_ISOCHRONOUS else FILE)
    assert generate.text_of(built) == generate.FILE.read_text(encoding="ascii")


def test_the_file_describes_itself() -> None:
    """Every field of a vector is explained in the header, and no other."""
    used = {
        name for part in ("algorithms", "tables", "fills") for case in FILE[part] for name in case
    }
    assert used == set(FILE["fields"])


def test_the_stream_is_that_of_rfc_8439() -> None:
    """Its vectors are 1 and 2 of appendix A.1, and that of 2.3.2 with counter and nonce."""
    first, second = "76b8e0ada0f13d90405d6ae55386bd28", "9f07e7be5551387a98ba977c732d080d"
    assert key_tape(bytes(32)).read(80).hex()[:32] == first
    assert key_tape(bytes(32)).read(80).hex()[128:] == second
    block = chacha20_block(bytes(range(32)), 1, bytes.fromhex("000000090000004a00000000"))
    assert block.hex()[:32] == "10f1e7e4d13b5915500fdd1fa32071c4"


@at_once("case", FILE["algorithms"])
def test_the_plain_python_engine_replays_the_algorithms(case: dict[str, Any]) -> None:
    replay(parts.python_sampler(law_of(case)), case)


@needs_core
@pytest.mark.parametrize("words", [True, False], ids=["words", "gmp"])
@at_once("case", FILE["algorithms"])
def test_the_compiled_core_replays_the_algorithms(case: dict[str, Any], words: bool) -> None:
    replay(parts.NativeLaw(law_of(case), words=words), case)


@needs_core
@at_once("case", FILE["tables"])
def test_the_compiled_core_replays_the_tables(case: dict[str, Any]) -> None:
    """Every loop that this machine has replays them, and so it does into int64 if they fit."""
    sizes = {name: case[name] for name in ("index_bits", "block_bits")}
    laws = parts.by_each_loop(
        parts.NativeTable, law_of(case), **(sizes if case["index_bits"] < 16 else {})
    )
    for law in laws.values():
        replay(law, case)
        # a fill of a wider law may end in an error, which is no vector
        if max(abs(int(draw)) for draw in case["draws"]) < 2**58:
            replay(law, case, np.int64)


@needs_core
@at_once("case", FILE["fills"])
def test_the_compiled_core_replays_the_isochronous_fills(case: dict[str, Any]) -> None:
    """Every kernel that this machine has replays them, into int64 and into objects."""
    laws = parts.by_each_loop(parts.NativeSilent, law_of(case))
    for law in laws.values():
        assert law.info.block_bits == case["block_bits"]
        assert law.info.height == case["height"]
        replay(law, case)
        replay(law, case, np.int64)
    assert laws["PORTABLE"].isa == "PORTABLE"


def public(case: dict[str, Any], **how: Any) -> Any:
    """Call the public function of a vector's law; the parameters are the strings of the file."""
    parameters = {name: case[name] for name in LAWS[case["law"]][1]}
    return getattr(dg, case["law"])(**parameters, **how)


WITH_METHODS = ("discrete_laplace", "discrete_gaussian")
FOR_PUBLIC: list[tuple[Any, dict[str, Any]]] = [
    (case, {"method": "reference"} if case["law"] in WITH_METHODS else {})
    for case in FILE["algorithms"]
    if case["law"] in (*WITH_METHODS, "geometric_exp")
]
if ENGINE == "native":
    FOR_PUBLIC += [
        (case, {"method": "cells"}) for case in FILE["tables"] if case["index_bits"] == 16
    ]
    FOR_PUBLIC += [(case, {"method": "isochronous"}) for case in FILE["fills"]]


@at_once(("case", "how"), FOR_PUBLIC)
def test_functions_and_law_objects_replay_the_vectors(case: dict[str, Any], how: Any) -> None:
    for draw in (partial(public, case), law_of(case).sample):
        tape = tape_of(case)
        out = draw(size=case["n"], dtype=object, source=tape, **how)
        assert generate.drawn(out.tolist(), tape) == {name: case[name] for name in DRAWN}
