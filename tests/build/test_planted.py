"""The positive control of the fuzz targets (fuzz/planted.py, twenty minutes) can still be run."""

from __future__ import annotations

import base64
import runpy
import shutil
from pathlib import Path

FUZZ = Path(__file__).parents[1] / "fuzz"
ROOT = FUZZ.parents[1]


def test_every_planted_fault_has_its_place_in_the_source() -> None:
    """Each line that a fault replaces occurs exactly once."""
    faults = runpy.run_path(str(FUZZ / "planted.py"))["FAULTS"]
    assert len(faults) >= 18
    for fault in faults:
        source = (ROOT / "csrc" / fault.file).read_text(encoding="utf-8")
        assert source.count(fault.old) == 1, fault.name


def test_scripts_reject_every_change_of_what_they_quote(tmp_path: Path) -> None:
    """A wrong constant, term or order of operations differs from the lemma's code, and is found."""
    planted = runpy.run_path(str(FUZZ / "planted.py"))
    lines = runpy.run_path(str(ROOT / "tools" / "code_lines.py"))
    faults = [None, *(f for f in planted["FAULTS"] if f.target == planted["LINES"])]
    assert len(faults) > 8
    for i, fault in enumerate(faults):
        core = tmp_path / str(i)
        for room in ("bounds", "cells", "isochronous"):
            shutil.copytree(ROOT / "csrc" / room, core / room)
        if fault is not None:
            file = core / fault.file
            file.write_text(file.read_text(encoding="utf-8").replace(fault.old, fault.new))
        scripts = sorted(core.glob("*/*.gappa"))
        found = [w for s in scripts for w in lines["misquoted"](s) + lines["inexact"](s)]
        assert (found != []) == (fault is not None), (fault, found)


def test_every_fuzz_target_has_seeds() -> None:
    """A run in CI starts from inputs that reach most of the code."""
    targets = [file.stem.removeprefix("fuzz_") for file in FUZZ.glob("fuzz_*.c")]
    assert len(targets) >= 5
    for target in targets:
        lines = (FUZZ / "seeds" / f"{target}.txt").read_text(encoding="ascii").splitlines()
        assert len({base64.b64decode(line, validate=True) for line in lines}) >= 40, target
